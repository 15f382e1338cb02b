//! The registry: what it has, and what was asked for in vain.

use super::{board::Board, head::registry_host, sorted};
use crate::{ids::short_image, session::Session};
use kubestep_cluster::{Brain, Image, World};
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
    let mut wanted: BTreeMap<&str, (Option<&Image>, u32)> = BTreeMap::new();
    for (name, image) in &world.registry().0 {
        wanted.insert(short_image(name), (Some(image), 0));
    }
    let mut last = "";
    for pod in board.all_pods.iter().filter_map(|o| o.get::<Pod>()) {
        for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
            // Most pods have the image of the one before.
            if std::mem::replace(&mut last, &container.image) == container.image {
                continue;
            }
            let row = || (world.registry().get(&container.image), 0);
            wanted.entry(short_image(&container.image)).or_insert_with(row);
        }
    }
    for object in &board.others {
        for image in of_template(object) {
            let row = || (world.registry().get(image), 0);
            wanted.entry(short_image(image)).or_insert_with(row);
        }
    }
    let named: BTreeSet<String> = session.named().map(|n| short_image(n).to_string()).gather();
    let typed: Vec<&String> = named.iter().filter(|n| !wanted.contains_key(n.as_str())).collect();
    for event in &board.pulling {
        let image = event.message.split('"').nth(1).unwrap_or("");
        if let Some((_, asked)) = wanted.get_mut(short_image(image)) {
            *asked = asked.saturating_add(u32::try_from(event.count).unwrap_or(1));
        }
    }
    let home = registry_host(session);
    let mut rows: Vec<ImageRow> = vec![];
    for (reference, (image, asked)) in wanted {
        let id = session.ids.image(reference);
        let next = next_pull(world, reference).filter(|at| *at > world.now());
        rows.push(ImageRow {
            next: next.map(|at| session.at(at)),
            ..row(id, reference, image, asked, &home)
        });
    }
    for reference in typed {
        let id = session.ids.image(reference);
        rows.push(row(id, reference, world.registry().get(reference), 0, &home));
    }
    sorted(rows, |r| r.id)
}

/// How often an image was asked for, and when it will be asked for again.
pub(crate) fn asked(world: &World, image: &str) -> (u32, Option<Instant>) {
    let reference = short_image(image);
    let events = world.store().list(Kind::Event, None).filter_map(|o| o.get::<Event>());
    let pulls = events.filter(|e| {
        e.reason == "Pulling" && e.message.split('"').nth(1).is_some_and(|i| short_image(i) == reference)
    });
    let times = pulls.map(|e| u32::try_from(e.count).unwrap_or(1)).fold(0, u32::saturating_add);
    (times, next_pull(world, reference).filter(|at| *at > world.now()))
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

/// When the first of the kubelets that wait asks for it again.
fn next_pull(world: &World, reference: &str) -> Option<Instant> {
    let kubelets = world.processes().filter_map(|(_, p)| match &p.brain {
        Brain::Kubelet(kubelet) => kubelet.next_pull(reference),
        Brain::Loops(_) | Brain::Scheduler(_) => None,
    });
    kubelets.min()
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
                None => "runs until stopped".into(),
            };
            (
                if millis >= 10_000 { ImageLook::Slow } else { ImageLook::There },
                format!("pulls in {} · {ends}", age(millis)),
            )
        }
    };
    ImageRow { id, reference: reference.into(), name: name.into(), look, words, asked, next: None }
}
