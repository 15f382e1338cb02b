//! Before a pod is bound its volumes are. Upstream: plugins/volumebinding, BindPodVolumes (v1.37).

use super::{
    Flight, Scheduler, Sight, Timer,
    kinds::CLAIM,
    plugins::volume_binding::{Bindings, is_fully_bound},
    queue::Waiting,
};
use crate::volume::{SELECTED_NODE, with_claim};
use kubestep_model::{
    Body, Instant, Key, Object, PatchKind, PersistentVolumeClaim, Reply, Resource, Subresource, Verb, Whole,
};
use serde_json::json;
use std::{sync::Arc, time::Duration};

/// How often the claims of a placed pod are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How long they may take. Upstream: DefaultBindTimeoutSeconds.
const TIMEOUT: Duration = Duration::from_secs(600);

/// A placed pod whose volumes are being bound.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Work {
    waiting: Arc<Waiting>,
    node: Arc<str>,
    /// What is still to be written.
    bindings: Option<Bindings>,
    /// Writes whose answers are missing.
    missing: usize,
    claims: Vec<Key>,
    until: Instant,
    /// When the claims are looked at next; `None` while answers are missing.
    look: Option<Instant>,
}

fn put(object: Object) -> Verb {
    Verb::Replace { key: object.key(), subresource: Subresource::None, body: Body::Typed(object) }
}

fn claim_key(claim: &PersistentVolumeClaim) -> Key {
    Key::new(CLAIM, claim.metadata.namespace.clone(), claim.metadata.name.clone())
}

impl Scheduler {
    /// The pod waits for its volumes; until then it says where it is to run. Upstream: AssumePodVolumes,
    /// NominatedNodeNameForExpectation.
    pub(super) fn bind_volumes(
        &mut self,
        cx: Sight<'_, '_>,
        uid: Arc<str>,
        waiting: Arc<Waiting>,
        node: Arc<str>,
        bindings: Bindings,
    ) {
        let wanted = bindings.found.iter().map(|(c, _)| c).chain(&bindings.provisioned);
        let claims: Vec<Key> = wanted.map(claim_key).collect();
        for (_, volume) in &bindings.found {
            self.cache.promise_volume(volume.metadata.name.clone(), uid.clone());
        }
        cx.because(
            "scheduler.volumes",
            vec![
                ("pod", waiting.info.pod.metadata.name.to_string()),
                ("node", node.to_string()),
                ("claims", claims.iter().map(|k| k.name.to_string()).collect::<Vec<_>>().join(", ")),
            ],
        );
        let said = waiting.info.pod.status.nominated_node_name == *node;
        let pod = waiting.info.pod.key();
        let until = cx.now + TIMEOUT;
        let work = Work {
            waiting,
            node: node.clone(),
            bindings: Some(bindings),
            missing: 1,
            claims,
            until,
            look: None,
        };
        self.binding.insert(uid.clone(), Arc::new(work));
        if said {
            self.write_volumes(cx, &uid);
        } else {
            let patch = Arc::new(json!({"status": {"nominatedNodeName": &*node}}));
            let kind = PatchKind::Strategic;
            let ticket = cx.ask(Verb::Patch { key: pod, subresource: Subresource::Status, kind, patch });
            self.flights.insert(ticket, Flight::Volume { pod: uid });
        }
        self.set_volume_timer(cx);
    }

    /// Writes which volume is whose, and where volumes are to be made. Upstream: bindAPIUpdate.
    fn write_volumes(&mut self, cx: Sight<'_, '_>, uid: &Arc<str>) {
        let Some(work) = self.binding.get_mut(uid).map(Arc::make_mut) else { return };
        let bindings = work.bindings.take().unwrap_or_default();
        let mut writes = vec![];
        for (claim, volume) in bindings.found {
            writes.extend(with_claim(volume, &claim).map(|v| put(v.to_object())));
        }
        for mut claim in bindings.provisioned {
            let known = claim.metadata.annotations.insert(SELECTED_NODE.into(), work.node.to_string());
            if known.as_deref() != Some(&*work.node) {
                writes.push(put(claim.to_object()));
            }
        }
        work.missing = writes.len();
        work.look = writes.is_empty().then_some(cx.now + LOOK);
        for write in writes {
            let ticket = cx.ask(write);
            self.flights.insert(ticket, Flight::Volume { pod: uid.clone() });
        }
    }

    fn set_volume_timer(&self, cx: Sight<'_, '_>) {
        match self.binding.values().filter_map(|w| w.look).min() {
            Some(at) => cx.wake_at(Timer::Volumes, at),
            None => cx.cancel(Timer::Volumes),
        }
    }

    pub(super) fn volume_written(&mut self, cx: Sight<'_, '_>, uid: &Arc<str>, reply: &Reply) {
        let Some(work) = self.binding.get_mut(uid).map(Arc::make_mut) else { return };
        if work.bindings.is_some() {
            // Whether it could be said where the pod is to run makes no difference.
            self.write_volumes(cx, uid);
        } else if let Err(status) = reply {
            let text = format!("running PreBind plugin \"VolumeBinding\": {}", status.message);
            self.give_up(cx, uid, text);
        } else {
            work.missing = work.missing.saturating_sub(1);
            if work.missing == 0 {
                work.look = Some(cx.now + LOOK);
            }
        }
        self.set_volume_timer(cx);
    }

    fn give_up(&mut self, cx: Sight<'_, '_>, uid: &Arc<str>, text: String) {
        if let Some(work) = self.binding.remove(uid) {
            self.unplaced(cx, &work.waiting, text);
        }
    }

    /// Pods whose claims are all bound by now are bound themselves. Upstream: checkBindings.
    pub(super) fn check_volumes(&mut self, cx: Sight<'_, '_>) {
        let now = cx.now;
        let due: Vec<Arc<str>> = self
            .binding
            .iter()
            .filter(|(_, w)| w.look.is_some_and(|at| at <= now))
            .map(|(u, _)| u.clone())
            .collect();
        for uid in due {
            let Some(work) = self.binding.get(&uid).cloned() else { continue };
            // It was deleted meanwhile.
            if self.cache.placed(&uid).is_none_or(|p| !p.assumed) {
                self.binding.remove(&uid);
                self.cache.drop_promises(&uid);
                continue;
            }
            match all_bound(cx, &work) {
                Ok(true) => {
                    self.binding.remove(&uid);
                    self.cache.drop_promises(&uid);
                    self.bind(cx, work.waiting.clone(), work.node.clone());
                }
                Ok(false) if now >= work.until => {
                    let text = "running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded";
                    self.give_up(cx, &uid, text.into());
                }
                Ok(false) => {
                    let later = Work { look: Some(now + LOOK), ..Work::clone(&work) };
                    self.binding.insert(uid, Arc::new(later));
                }
                Err(text) => {
                    let text = format!("running PreBind plugin \"VolumeBinding\": binding volumes: {text}");
                    self.give_up(cx, &uid, text);
                }
            }
        }
        self.set_volume_timer(cx);
    }
}

fn all_bound(cx: Sight<'_, '_>, work: &Work) -> Result<bool, String> {
    let mut all = true;
    for key in &work.claims {
        let Some(claim) = cx.view.object(key).and_then(PersistentVolumeClaim::read) else {
            return Err(format!("persistentvolumeclaim {:?} not found", &*key.name));
        };
        all &= is_fully_bound(&claim);
    }
    Ok(all)
}
