//! The registry: what it has, and what was asked for in vain.

use super::{board::Board, head::registry_host, sorted};
use crate::{ids::short_image, session::Session};
use kubestep_cluster::{Brain, Image, Store, World};
use kubestep_model::arrange::Gather;
use kubestep_model::{Event, Instant, Kind, Object, Pod};
use kubestep_protocol::{Id, Image as ImageRow, ImageLook, age};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The images that the registry has, that a pod or a template wants, in the order of first sight; then those that only
/// the editor's files name.
pub(super) fn images(session: &mut Session, board: &Board<'_>) -> Vec<Arc<ImageRow>> {
    let world = board.world;
    let mut wanted: BTreeMap<&str, Option<&Image>> = BTreeMap::new();
    for (name, image) in &world.registry().0 {
        wanted.insert(short_image(name), Some(image));
    }
    let mut want = |image| {
        wanted.entry(short_image(image)).or_insert_with(|| world.registry().get(image));
    };
    let mut last = "";
    for pod in board.all_pods.iter().filter_map(|o| o.get::<Pod>()) {
        for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
            // Most pods have the image of the one before.
            if container.image != last {
                last = &container.image;
                want(last);
            }
        }
    }
    board.others.iter().flat_map(|o| of_template(o)).for_each(&mut want);
    let named: BTreeSet<String> = session.named().map(|n| short_image(n).to_string()).gather();
    let typed: Vec<&String> = named.iter().filter(|n| !wanted.contains_key(n.as_str())).collect();
    session.pulls.follow(world.store());
    let pulls = next_pulls(world);
    let home = registry_host(session);
    let mut rows: Vec<ImageRow> = vec![];
    for (reference, image) in wanted {
        let id = session.ids.image(reference);
        let next = pulls.get(reference).filter(|at| **at > world.now()).map(|at| session.at(*at));
        rows.push(ImageRow { next, ..row(id, reference, image, session.pulls.of(reference), &home) });
    }
    for reference in typed {
        let id = session.ids.image(reference);
        rows.push(row(id, reference, world.registry().get(reference), 0, &home));
    }
    sorted(rows, |r| r.id)
}

/// How often each image was asked for, by the events of one store. Events are the most of what is stored: where the next
/// picture is of a store that grew from this one, only those that came or went are looked at.
#[derive(Debug, Default)]
pub(crate) struct Pulls {
    store: Store,
    times: BTreeMap<String, i64>,
}

impl Pulls {
    fn follow(&mut self, store: &Store) {
        let times = &mut self.times;
        let mut count = |object: Option<&Object>, sign: i64| {
            let Some((image, count)) = object.and_then(pull) else { return };
            let sum = match times.get_mut(image) {
                Some(sum) => sum,
                None => times.entry(image.into()).or_default(),
            };
            *sum += sign * i64::from(count);
        };
        match store.written_since(&self.store) {
            Some(writes) => {
                for write in writes.filter(|write| write.key.kind == Kind::Event) {
                    count(write.old.as_ref(), -1);
                    count(write.new.as_ref(), 1);
                }
            }
            None => store.differences(&self.store, &mut |old, new| {
                count(old, -1);
                count(new, 1);
            }),
        }
        self.store = store.clone();
    }

    fn of(&self, reference: &str) -> u32 {
        self.times.get(reference).map_or(0, |n| u32::try_from(*n).unwrap_or(u32::MAX))
    }
}

/// The image that an event says is being pulled, and how often it has said so.
fn pull(object: &Object) -> Option<(&str, u32)> {
    let event = object.get::<Event>().filter(|e| e.reason == "Pulling")?;
    let image = event.message.split('"').nth(1).unwrap_or("");
    Some((short_image(image), u32::try_from(event.count).unwrap_or(1)))
}

/// How often an image was asked for, and when it will be asked for again.
pub(crate) fn asked(world: &World, image: &str) -> (u32, Option<Instant>) {
    let reference = short_image(image);
    let pulls = world.store().stored(Kind::Event).filter_map(pull);
    let times = pulls.filter(|(of, _)| *of == reference).map(|(_, n)| n).fold(0, u32::saturating_add);
    (times, next_pulls(world).remove(reference).filter(|at| *at > world.now()))
}

/// The images of the pods that an object makes, or would make.
fn of_template(object: &Object) -> Vec<&str> {
    let template = match object {
        Object::Deployment(d) => Some(&d.spec.template),
        Object::ReplicaSet(s) if s.replicas() > 0 => Some(&s.spec.template),
        _ => None,
    };
    if let Object::Custom(custom) = object {
        let spec = custom.rest.get("spec");
        let job = spec.and_then(|s| s.get("jobTemplate")).and_then(|j| j.get("spec"));
        let pod = job.or(spec).and_then(|s| s.get("template")).and_then(|t| t.get("spec"));
        let lists =
            ["containers", "initContainers"].into_iter().filter_map(|name| pod?.get(name)?.as_array());
        return lists.flatten().filter_map(|c| c.get("image")?.as_str()).collect();
    }
    let containers = template.iter().flat_map(|t| t.spec.containers.iter().chain(&t.spec.init_containers));
    containers.map(|c| &*c.image).filter(|i| !i.is_empty()).collect()
}

/// When the first of the kubelets that wait asks for an image again, for each that one waits for.
fn next_pulls(world: &World) -> BTreeMap<&str, Instant> {
    let mut found: BTreeMap<&str, Instant> = BTreeMap::new();
    for (_, process) in world.processes() {
        let Brain::Kubelet(kubelet) = &process.brain else { continue };
        kubelet.next_pulls(&mut |image, at| {
            let first = found.entry(image).or_insert(at);
            *first = at.min(*first);
        });
    }
    found
}

fn row(id: Id, reference: &str, image: Option<&Image>, asked: u32, home: &str) -> ImageRow {
    let name =
        reference.split_once('/').filter(|(host, _)| *host == home).map_or(reference, |(_, rest)| rest);
    let (look, words) = match image {
        None => (ImageLook::Missing, "not there".to_string()),
        Some(i) if i.denied => (ImageLook::Denied, "access denied".into()),
        Some(i) => {
            let millis = u64::try_from(i.pull.as_millis()).unwrap_or(0);
            let ends = match i.exit {
                Some(code) => {
                    format!("ends with {code} after {}", age(u64::try_from(i.after.as_millis()).unwrap_or(0)))
                }
                None if i.grows > 0 => format!(
                    "needs {} more MiB of memory each second",
                    i.grows as f64 / kubestep_cluster::MEBIBYTE
                ),
                None => "runs until stopped".into(),
            };
            (
                if millis >= 10_000 { ImageLook::Slow } else { ImageLook::There },
                format!("pulls in {} · {ends}", age(millis)),
            )
        }
    };
    let behaviour = image.map_or(vec![], crate::act::behaviour);
    ImageRow { id, reference: reference.into(), name: name.into(), look, words, behaviour, asked, next: None }
}
