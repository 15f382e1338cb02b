//! The registry: what it has, and what was asked for in vain.

use super::sorted;
use crate::{ids::short_image, session::Session};
use kubestep_cluster::{Brain, Image, World};
use kubestep_model::{Event, Instant, Kind, Pod};
use kubestep_protocol::{Image as ImageRow, ImageLook, age};
use std::{collections::BTreeMap, sync::Arc};

/// The images that the registry has or that a pod wants, in the order of first sight.
pub(super) fn images(session: &mut Session, world: &World) -> Vec<Arc<ImageRow>> {
    let mut wanted: BTreeMap<&str, (Option<&Image>, u32)> = BTreeMap::new();
    for (name, image) in &world.registry().0 {
        wanted.insert(short_image(name), (Some(image), 0));
    }
    for pod in world.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>()) {
        for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
            let row = || (world.registry().get(&container.image), 0);
            wanted.entry(short_image(&container.image)).or_insert_with(row);
        }
    }
    let events = world.store().list(Kind::Event, None).filter_map(|o| o.get::<Event>());
    for event in events.filter(|e| e.reason == "Pulling") {
        let image = event.message.split('"').nth(1).unwrap_or("");
        if let Some((_, asked)) = wanted.get_mut(short_image(image)) {
            *asked = asked.saturating_add(u32::try_from(event.count).unwrap_or(1));
        }
    }
    let rows = wanted.into_iter().map(|(reference, (image, asked))| {
        let next = next_pull(world, reference).filter(|at| *at > world.now());
        ImageRow { next: next.map(|at| session.at(at)), ..row(session, reference, image, asked) }
    });
    sorted(rows.collect(), |r| r.id)
}

/// When the first of the kubelets that wait asks for it again.
fn next_pull(world: &World, reference: &str) -> Option<Instant> {
    let kubelets = world.processes().filter_map(|(_, p)| match &p.brain {
        Brain::Kubelet(kubelet) => kubelet.next_pull(reference),
        Brain::Loops(_) | Brain::Scheduler(_) => None,
    });
    kubelets.min()
}

fn row(session: &mut Session, reference: &str, image: Option<&Image>, asked: u32) -> ImageRow {
    let id = session.ids.of(&format!("image:{reference}"));
    let name =
        reference.split_once('/').filter(|(host, _)| host.contains('.')).map_or(reference, |(_, rest)| rest);
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
