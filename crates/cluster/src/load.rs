//! What pods use, as a person says it, and the metrics server that measures it.
//!
//! There is a metrics server from the moment at which somebody says what a pod uses. It looks at all nodes every
//! fifteen seconds and answers with what it saw then; nothing of it is stored.
//! Upstream: sigs.k8s.io/metrics-server, and k8s.io/metrics/pkg/apis/metrics/v1beta1 (v1.37).

use crate::{Machine, World, acts::Pods};
use kubestep_control::{RuntimeContainer, RuntimeState};
use kubestep_model::text::{Format, Selector};
use kubestep_model::{Answer, Instant, Key, Kind, Pod, Quantity, Reply, Status, Verb};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

/// How often the metrics server looks. Upstream: its flag metric-resolution.
const RESOLUTION: Duration = Duration::from_secs(15);
/// What a container uses of which nobody said anything: thousandths of a core, and bytes.
const IDLE: [i64; 2] = [1, 8 << 20];
/// What a node uses beside its pods.
const SYSTEM: [i64; 2] = [60, 400 << 20];
/// So many sayings are remembered.
const MOST_LOADS: usize = 64;

/// What the pods use that it is about.
#[derive(Clone, Debug)]
pub struct Load {
    /// Which pods.
    pub pods: Pods,
    /// Which of their containers; the first if none is named.
    pub container: Option<String>,
    /// In thousandths of a core.
    pub cpu: Option<i64>,
    /// In bytes.
    pub memory: Option<i64>,
    /// The pods that are ready share it, as they share the requests to a Service; else each uses so much.
    pub shared: bool,
}

/// A load and since when it holds.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    load: Load,
    since: Instant,
}

/// A pod that is measured, and its containers.
struct Measured<'w> {
    pod: &'w Pod,
    containers: Vec<&'w RuntimeContainer>,
}

impl Load {
    fn is_about(&self, pod: &Pod, container: &str) -> bool {
        let named = self.container.as_deref();
        let named = named.or_else(|| pod.spec.containers.first().map(|c| c.name.as_str()));
        named == Some(container) && self.pods.has(pod)
    }
    fn amount(&self, resource: usize) -> Option<i64> {
        [self.cpu, self.memory][resource]
    }
}

impl World {
    /// Whether somebody measures what pods use.
    pub fn measures(&self) -> bool {
        !self.loads.is_empty()
    }

    pub(crate) fn set_load(&mut self, load: Load) {
        let since = self.now;
        let loads = Arc::make_mut(&mut self.loads);
        loads.push(Said { load, since });
        if loads.len() > MOST_LOADS {
            loads.remove(0);
        }
    }

    /// What a request for metrics is answered with.
    pub(crate) fn measured(&self, verb: &Verb) -> Reply {
        if !self.measures() {
            let mut status = Status::no_such_resource();
            status.message = format!("{} ({} {})", status.message, of(verb), verb.kind().qualified());
            return Err(status);
        }
        let kind = verb.kind();
        match verb {
            Verb::List { namespace, labels, .. } => {
                let items = self.metrics(kind, namespace.as_deref(), labels.as_ref());
                let list = json!({
                    "kind": format!("{}List", kind.name()), "apiVersion": kind.api_version(), "metadata": {}, "items": items,
                });
                Ok(Answer::Json { value: Arc::new(list), warnings: vec![] })
            }
            Verb::Get { key, .. } => {
                let found = self.metrics(kind, Some(&key.namespace), None);
                let mut named = found.into_iter().filter(|one| one["metadata"]["name"] == *key.name);
                let Some(mut value) = named.next() else { return Err(absent(key)) };
                value["kind"] = kind.name().into();
                value["apiVersion"] = kind.api_version().into();
                Ok(Answer::Json { value: Arc::new(value), warnings: vec![] })
            }
            _ => Err(Status::method_not_allowed()),
        }
    }

    fn metrics(&self, kind: Kind, namespace: Option<&str>, labels: Option<&Selector>) -> Vec<Value> {
        let step = i64::try_from(RESOLUTION.as_nanos()).unwrap_or(i64::MAX);
        let passed = self.now.nanos_since(self.booted).max(0);
        let at = Instant(self.now.0 - passed % step);
        let seen = self.seen_at(at);
        if kind == Kind::NODE_METRICS {
            return self.of_nodes(&seen, at, labels);
        }
        let wanted = |one: &&Measured<'_>| {
            namespace.is_none_or(|n| n.is_empty() || *n == *one.pod.metadata.namespace)
                && labels.is_none_or(|l| l.matches(&one.pod.metadata.labels))
        };
        seen.iter().filter(wanted).map(|one| self.of_pod(&seen, one, at)).collect()
    }

    /// The pods that ran when the metrics server looked last, and whose nodes it reaches.
    fn seen_at(&self, at: Instant) -> Vec<Measured<'_>> {
        let pods = self.store.list(Kind::Pod, None).filter_map(|o| o.get::<Pod>());
        let reached = |node: &Arc<str>| !self.faults.cut.contains(node);
        let machine = |pod: &Pod| -> Option<&Machine> {
            self.machines.get(&pod.spec.node_name).filter(|_| reached(&pod.spec.node_name)).map(|m| &**m)
        };
        let of = |pod| {
            let runs = |c: &&RuntimeContainer| {
                c.state == RuntimeState::Running && c.started.is_some_and(|started| started < at)
            };
            let all = machine(pod)?.containers();
            let containers: Vec<_> =
                all.filter(|(uid, _)| **uid == pod.metadata.uid).map(|(_, c)| c).filter(runs).collect();
            (!containers.is_empty()).then_some(Measured { pod, containers })
        };
        pods.filter_map(of).collect()
    }

    /// What a container uses: as it was said last, at most what its limit lets it have of a core.
    fn usage(&self, seen: &[Measured<'_>], pod: &Pod, container: &str, at: Instant) -> [i64; 2] {
        let mut usage = IDLE;
        for (resource, amount) in usage.iter_mut().enumerate() {
            let about = |said: &&Said| {
                said.since <= at && said.load.amount(resource).is_some() && said.load.is_about(pod, container)
            };
            let Some(said) = self.loads.iter().rev().find(about) else { continue };
            let whole = said.load.amount(resource).unwrap_or(0);
            *amount = match said.load.shared {
                false => whole,
                true if !pod.is_ready() => continue,
                true => {
                    let sharers =
                        seen.iter().filter(|m| m.pod.is_ready() && said.load.pods.has(m.pod)).count();
                    whole / i64::try_from(sharers).unwrap_or(i64::MAX).max(1)
                }
            };
        }
        let spec = pod.spec.containers.iter().find(|c| c.name == container);
        if let Some(limit) = spec.and_then(|c| c.resources.limits.get("cpu")) {
            usage[0] = usage[0].min(limit.milli_value());
        }
        usage
    }

    fn of_pod(&self, seen: &[Measured<'_>], one: &Measured<'_>, at: Instant) -> Value {
        let meta = &one.pod.metadata;
        let usage = |c: &&RuntimeContainer| json!({"name": &*c.name, "usage": written(self.usage(seen, one.pod, &c.name, at))});
        let containers: Vec<Value> = one.containers.iter().map(usage).collect();
        // A container that is younger than that was measured since its start.
        let since = one.containers.iter().filter_map(|c| c.started).max().unwrap_or(at);
        let window = at.since(since).min(RESOLUTION);
        json!({
            "metadata": {"name": meta.name, "namespace": meta.namespace, "creationTimestamp": self.now.to_time(), "labels": meta.labels},
            "timestamp": at.to_time(),
            "window": format!("{}.{:03}s", window.as_secs(), window.subsec_millis()),
            "containers": containers,
        })
    }

    fn of_nodes(&self, seen: &[Measured<'_>], at: Instant, labels: Option<&Selector>) -> Vec<Value> {
        let nodes = self.store.list(Kind::Node, None);
        let reached = |name: &Arc<str>| self.machines.contains_key(name) && !self.faults.cut.contains(name);
        let wanted = nodes.filter(|node| {
            reached(&node.meta().name) && labels.is_none_or(|l| l.matches(&node.meta().labels))
        });
        let of = |node: &kubestep_model::Object| {
            let (name, mut sum) = (&node.meta().name, SYSTEM);
            for one in seen.iter().filter(|one| one.pod.spec.node_name == *name) {
                for container in &one.containers {
                    let used = self.usage(seen, one.pod, &container.name, at);
                    sum = [sum[0].saturating_add(used[0]), sum[1].saturating_add(used[1])];
                }
            }
            json!({
                "metadata": {"name": name, "creationTimestamp": self.now.to_time(), "labels": node.meta().labels},
                "timestamp": at.to_time(), "window": "15.000s", "usage": written(sum),
            })
        };
        wanted.map(of).collect()
    }
}

fn of(verb: &Verb) -> &'static str {
    if matches!(verb, Verb::List { .. }) { "get" } else { verb.name() }
}

fn written(usage: [i64; 2]) -> Value {
    let cpu = Quantity::from_milli(usage[0], Format::DecimalSI);
    json!({"cpu": cpu.to_string(), "memory": format!("{}Ki", usage[1] / 1024)})
}

/// Upstream: metrics-server's pkg/api/pod.go.
fn absent(key: &Key) -> Status {
    let name =
        if key.kind.namespaced() { format!("{}/{}", key.namespace, key.name) } else { key.name.to_string() };
    let mut status = Status::not_found(key.kind, &name);
    let resource = if key.kind.namespaced() { "podmetrics" } else { "nodemetrics" };
    status.message = format!("{resource}.metrics.k8s.io \"{name}\" not found");
    status
}
