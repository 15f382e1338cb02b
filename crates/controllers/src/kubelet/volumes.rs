//! A pod's volumes and the ConfigMaps and Secrets that its containers name.
//! Upstream: pkg/kubelet/volumemanager, and the environment in pkg/kubelet/kubelet_pods.go.

use super::{
    Ask, Cx, Kubelet, Timer, Uid, pod_reference,
    worker::{Activity, Stage},
};
use crate::volume::CLAIM;
use kubestep_control::Files;
use kubestep_model::arrange::Gather;
use kubestep_model::{
    Answer, ConfigMap, Container, Instant, Key, Kind, Object, PersistentVolumeClaim, Pod, Reply, Secret,
    Status, Subresource, Verb, Whole,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

/// The reconciler begins to mount so long after a pod came: two loops of 100 ms each, some time within them.
const MOUNT: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(150));
/// A sync that waits for volumes looks again after this long.
const POLL: Duration = Duration::from_millis(300);
/// A sync waits no longer than this.
const PATIENCE: Duration = Duration::from_secs(123);
/// First and longest wait between two tries to mount.
const RETRY: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(122));

/// Where the mounting of a pod's volumes stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mounting {
    #[default]
    NotBegun,
    /// The mount is tried at this moment.
    At(Instant),
    /// Answers are still missing.
    Asked,
    Done,
}

/// What a pod mounts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Volumes {
    mounting: Mounting,
    missing: BTreeSet<String>,
    failed: bool,
    /// Volumes that cannot even be asked for, and why.
    unprocessed: BTreeMap<String, String>,
    tries: u32,
    /// When the sync that waits began, and when it looks again.
    waits: Option<(Instant, Instant)>,
    /// Volume to files.
    files: BTreeMap<String, BTreeMap<String, Arc<str>>>,
    /// Objects that the environment of the container being started names; `None`: not there.
    pub(super) config: BTreeMap<(Kind, String), Option<Object>>,
    pub(super) config_left: usize,
}

impl Volumes {
    /// Whether anything is mounted.
    pub(super) fn mounted(&self) -> bool {
        self.mounting == Mounting::Done
    }

    pub(super) fn unmount(&mut self) {
        *self = Volumes::default();
    }

    /// The files that a container sees on its mounts.
    pub(super) fn files_of(&self, container: &Container) -> Files {
        let mut all = BTreeMap::new();
        for mount in &container.volume_mounts {
            for (name, text) in self.files.get(&mount.name).into_iter().flatten() {
                let path = if mount.sub_path.is_empty() {
                    format!("{}/{name}", mount.mount_path.trim_end_matches('/'))
                } else if mount.sub_path == *name {
                    mount.mount_path.clone()
                } else {
                    continue;
                };
                all.insert(path, text.clone());
            }
        }
        Arc::new(all)
    }
}

/// One thing that a volume needs from the API.
#[derive(Clone, Debug, PartialEq)]
struct Source {
    volume: String,
    kind: Kind,
    name: String,
    optional: bool,
    items: Vec<(String, String)>,
}

fn source(volume: &str, kind: Kind, value: &Value, key: &str) -> Option<Source> {
    let name = value[key].as_str()?.to_string();
    let item = |i: &Value| Some((i["key"].as_str()?.to_string(), i["path"].as_str()?.to_string()));
    let items = value["items"].as_array().into_iter().flatten().filter_map(item).collect();
    Some(Source { volume: volume.into(), kind, name, optional: value["optional"] == true, items })
}

/// What a pod's volumes need. The cluster's own CA bundle is taken as given.
fn sources(pod: &Pod) -> Vec<Source> {
    let mut found = vec![];
    for volume in &pod.spec.volumes {
        let rest = &volume.rest;
        let get = |k: &str| rest.get(k).unwrap_or(&Value::Null);
        found.extend(source(&volume.name, Kind::ConfigMap, get("configMap"), "name"));
        found.extend(source(&volume.name, Kind::Secret, get("secret"), "secretName"));
        found.extend(source(&volume.name, CLAIM, get("persistentVolumeClaim"), "claimName"));
        if rest.contains_key("ephemeral") {
            let name = format!("{}-{}", pod.metadata.name, volume.name);
            found.push(Source {
                volume: volume.name.clone(),
                kind: CLAIM,
                name,
                optional: false,
                items: vec![],
            });
        }
        for part in get("projected")["sources"].as_array().into_iter().flatten() {
            if !part["serviceAccountToken"].is_null() {
                let account = if pod.spec.service_account_name.is_empty() {
                    "default"
                } else {
                    &pod.spec.service_account_name
                };
                found.push(Source {
                    volume: volume.name.clone(),
                    kind: Kind::ServiceAccount,
                    name: account.into(),
                    optional: false,
                    items: vec![],
                });
            }
            let config = source(&volume.name, Kind::ConfigMap, &part["configMap"], "name");
            found.extend(config.filter(|s| s.name != "kube-root-ca.crt"));
            found.extend(source(&volume.name, Kind::Secret, &part["secret"], "name"));
        }
    }
    found
}

/// The entries of a ConfigMap or Secret, as text.
pub(super) fn data(object: &Object) -> BTreeMap<String, String> {
    match object {
        Object::ConfigMap(map) => ConfigMap::clone(map).data,
        Object::Secret(secret) => {
            let secret: &Secret = secret;
            secret.data.iter().map(|(k, v)| (k.clone(), decode(v))).gather()
        }
        _ => BTreeMap::new(),
    }
}

/// Base64, as far as it is text.
fn decode(text: &str) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut bytes) = (0u32, 0u32, vec![]);
    for b in text.bytes() {
        let Some(value) = ALPHABET.iter().position(|a| *a == b) else { continue };
        bits = (bits << 6) | u32::try_from(value).unwrap_or(0);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 0xff).unwrap_or(0));
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(super) fn object_of(reply: Reply) -> Result<Option<Object>, Box<Status>> {
    match reply? {
        Answer::Object { object, .. } => Ok(Some(object)),
        Answer::List { .. } | Answer::Chunk { .. } | Answer::Json { .. } => Ok(None),
    }
}

impl Kubelet {
    /// Whether all volumes are mounted; a pod without volumes has nothing to wait for.
    pub(super) fn volumes_ready(&self, uid: &Uid) -> bool {
        self.workers.get(uid).is_some_and(|w| w.pod.spec.volumes.is_empty() || w.volumes.mounted())
    }

    /// The sync waits for the volumes.
    pub(super) fn await_volumes(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let now = cx.now;
        let mount = MOUNT.0 + Self::jitter(cx, "kubelet.mount", MOUNT.1);
        let Some(worker) = self.worker(uid) else { return };
        worker.activity = Activity::Volumes;
        if worker.volumes.mounting == Mounting::NotBegun {
            worker.volumes.mounting = Mounting::At(now + mount);
        }
        worker.volumes.waits = Some((now, now + POLL));
        self.set_pod_timer(cx, uid);
    }

    /// The next moment: a mount is tried, a sync that waits sees that all is there, or gives up.
    fn set_pod_timer(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let Some(worker) = self.workers.get(uid) else { return };
        let waits = worker.volumes.waits.filter(|_| matches!(worker.activity, Activity::Volumes));
        let seen = worker.volumes.mounted() || !worker.volumes.unprocessed.is_empty();
        let poll = waits.map(|(since, at)| if seen { at } else { since + PATIENCE });
        // A pod that has ended mounts nothing any more.
        let mount = match worker.volumes.mounting {
            Mounting::At(at) if worker.stage < Stage::Terminated => Some(at),
            _ => None,
        };
        if let Some(at) = poll.into_iter().chain(mount).min() {
            cx.wake_at(Timer::Pod(uid.clone()), at.max(cx.now));
        }
    }

    /// The pod's timer has come.
    pub(super) fn volumes_due(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let now = cx.now;
        let Some(worker) = self.worker(uid) else { return };
        if worker.activity == Activity::Unmounting {
            return self.finished(cx, uid);
        }
        if let Mounting::At(at) = worker.volumes.mounting
            && at <= now
            && worker.stage < Stage::Terminated
        {
            self.mount(cx, uid);
        }
        let ready = self.volumes_ready(uid);
        let Some(worker) = self.worker(uid) else { return };
        let waits = worker.volumes.waits.filter(|_| matches!(worker.activity, Activity::Volumes));
        if let Some((since, at)) = waits {
            if ready && at <= now {
                worker.volumes.waits = None;
                return self.sync_containers(cx, uid);
            }
            if !worker.volumes.unprocessed.is_empty() && at <= now {
                return self.refuse_volumes(cx, uid);
            }
            if now.since(since) >= PATIENCE {
                worker.volumes.waits = None;
                self.complete(cx, uid, &super::worker::Outcome::Failed(None));
            }
        }
        self.set_pod_timer(cx, uid);
    }

    /// The sync ends: a claim cannot be used. Upstream: WaitForAttachAndMount, PopPodErrors.
    fn refuse_volumes(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let Some(worker) = self.worker(uid) else { return };
        let unprocessed = std::mem::take(&mut worker.volumes.unprocessed);
        worker.volumes.mounting = Mounting::NotBegun;
        worker.volumes.waits = None;
        let pod = worker.pod.clone();
        let unmounted: Vec<&str> = pod.spec.volumes.iter().map(|v| v.name.as_str()).collect();
        let names: Vec<&str> = unprocessed.keys().map(String::as_str).collect();
        let why: Vec<&str> = unprocessed.values().map(String::as_str).collect();
        let text = format!(
            "Unable to attach or mount volumes: unmounted volumes=[{}], unattached volumes=[], failed to process volumes=[{}]: {}",
            unmounted.join(" "),
            names.join(" "),
            why.join("; ")
        );
        cx.because("kubelet.mount-failed", vec![("volume", names.join(", ")), ("text", why.join("; "))]);
        cx.event(pod_reference(&pod, None), "Warning", "FailedMount", text);
        self.complete(cx, uid, &super::worker::Outcome::Failed(None));
    }

    fn mount(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let Some(worker) = self.worker(uid) else { return };
        let pod = worker.pod.clone();
        let needed = sources(&pod);
        worker.volumes.failed = false;
        worker.volumes.unprocessed.clear();
        worker.volumes.missing.clear();
        if needed.is_empty() {
            worker.volumes.mounting = Mounting::Done;
            return;
        }
        worker.volumes.mounting = Mounting::Asked;
        let namespace = pod.metadata.namespace.clone();
        let mut asked = vec![];
        for (i, source) in needed.iter().enumerate() {
            let key = Key::new(source.kind, namespace.clone(), source.name.as_str());
            let verb = if source.kind == Kind::ServiceAccount {
                Verb::Token { account: key }
            } else {
                Verb::Get { key, subresource: Subresource::None }
            };
            asked.push((cx.ask(verb), i.to_string()));
        }
        for (ticket, name) in asked {
            if let Some(worker) = self.worker(uid) {
                worker.volumes.missing.insert(name.clone());
            }
            self.asks.insert(ticket, Ask::Volume(uid.clone(), name));
        }
    }

    /// The API has answered what a volume needs.
    pub(super) fn volume_answered(&mut self, cx: &mut Cx<'_>, uid: &Uid, index: &str, reply: Reply) {
        let Some(worker) = self.worker(uid) else { return };
        let pod = worker.pod.clone();
        if !worker.volumes.missing.remove(index) {
            return;
        }
        let needed = sources(&pod);
        let Some(source) = index.parse::<usize>().ok().and_then(|i| needed.get(i)) else { return };
        let reply = object_of(reply);
        if source.kind == CLAIM {
            if let Some(why) = unusable(&pod, source, &reply) {
                worker.volumes.unprocessed.insert(source.volume.clone(), why);
            }
            return self.answered_all(cx, uid);
        }
        match reply {
            Ok(Some(object)) if absent_key(&object, source).is_some() => {
                worker.volumes.failed = true;
                let key = absent_key(&object, source).unwrap_or_default();
                let what = if source.kind == Kind::Secret { "secret" } else { "config" };
                let why = format!("references non-existent {what} key: {key}");
                self.mount_failed(cx, &pod, &source.volume, &why);
            }
            Ok(object) => {
                let all = object.as_ref().map(data).unwrap_or_default();
                let chosen: BTreeMap<String, Arc<str>> = if source.items.is_empty() {
                    all.into_iter().map(|(k, v)| (k, v.into())).gather()
                } else {
                    source
                        .items
                        .iter()
                        .filter_map(|(k, p)| Some((p.clone(), all.get(k)?.as_str().into())))
                        .gather()
                };
                worker.volumes.files.entry(source.volume.clone()).or_default().extend(chosen);
            }
            Err(status) if status.is_not_found() && source.optional => {}
            Err(status) => {
                worker.volumes.failed = true;
                self.mount_failed(cx, &pod, &source.volume, &said(source, &status));
            }
        }
        self.answered_all(cx, uid);
    }

    fn mount_failed(&self, cx: &mut Cx<'_>, pod: &Arc<Pod>, volume: &str, why: &str) {
        let text = format!("MountVolume.SetUp failed for volume \"{volume}\" : {why}");
        cx.event(pod_reference(pod, None), "Warning", "FailedMount", text);
        cx.because("kubelet.mount-failed", vec![("volume", volume.into()), ("text", why.into())]);
    }

    /// What comes next once no answer is missing.
    fn answered_all(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let now = cx.now;
        let Some(worker) = self.worker(uid) else { return };
        if !worker.volumes.missing.is_empty() {
            return;
        }
        worker.volumes.mounting = if !worker.volumes.unprocessed.is_empty() {
            Mounting::Asked
        } else if worker.volumes.failed {
            let doubled = RETRY.0.saturating_mul(1u32.checked_shl(worker.volumes.tries).unwrap_or(u32::MAX));
            worker.volumes.tries = worker.volumes.tries.saturating_add(1);
            Mounting::At(now + doubled.min(RETRY.1))
        } else {
            Mounting::Done
        };
        if let Some((since, at)) = worker.volumes.waits
            && at <= now
        {
            let polls = u32::try_from(now.since(since).as_millis() / POLL.as_millis()).unwrap_or(u32::MAX);
            let polls = polls.saturating_add(1);
            worker.volumes.waits = Some((since, since + POLL * polls));
        }
        self.set_pod_timer(cx, uid);
    }
}

/// Why a claim cannot be used. Upstream: getPVCExtractPV.
fn unusable(pod: &Pod, source: &Source, reply: &Result<Option<Object>, Box<Status>>) -> Option<String> {
    let named = format!("{}/{}", pod.metadata.namespace, source.name);
    let claim = match reply {
        Ok(object) => object.as_ref().and_then(PersistentVolumeClaim::read),
        Err(status) => {
            let why = format!("failed to fetch PVC from API server: {}", status.message);
            return Some(format!("error processing PVC {named}: {why}"));
        }
    };
    let claim = claim?;
    if claim.metadata.is_terminating() {
        return Some(format!("error processing PVC {named}: PVC is being deleted"));
    }
    let bound = claim.status.phase == "Bound" && !claim.spec.volume_name.is_empty();
    (!bound).then(|| format!("error processing PVC {named}: PVC is not bound"))
}

/// A key that a volume names and the object does not have.
fn absent_key(object: &Object, source: &Source) -> Option<String> {
    if source.optional || source.items.is_empty() {
        return None;
    }
    let has = data(object);
    let binary =
        if let Object::ConfigMap(map) = object { map.binary_data.clone() } else { Default::default() };
    let mut named = source.items.iter().map(|(key, _)| key);
    named.find(|k| !has.contains_key(*k) && !binary.contains_key(*k)).cloned()
}

fn said(source: &Source, status: &Status) -> String {
    match source.kind {
        Kind::ServiceAccount => format!("failed to fetch token: {}", status.message),
        _ if status.is_not_found() => format!("{} \"{}\" not found", source.kind.singular(), source.name),
        _ => status.message.clone(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn secrets_are_read() {
        assert_eq!(super::decode("aGVsbG8gd29ybGQ="), "hello world");
        assert_eq!(super::decode(""), "");
    }
}
