//! Gives each node its range of pod addresses: 10.244.N.0/24. Upstream: pkg/controller/nodeipam (v1.37).

use super::ACTOR;
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::arrange::Arrange;
use kubestep_model::{Key, Kind, Node, PatchKind, Subresource};
use serde_json::{Value, json};

/// The range allocator.
#[derive(Debug)]
pub struct NodeIpam;

static WATCHES: [Watch; 1] = [Watch { kind: Kind::Node, wakes }];

fn wakes(change: &Change, _: &View) -> Vec<Wake> {
    let bare = change.new.as_ref().and_then(|o| o.get::<Node>()).is_some_and(|n| n.spec.pod_cidr.is_empty());
    if bare { vec![Wake::now(change.key.clone())] } else { vec![] }
}

/// The number of a range, of those of this cluster.
fn number(cidr: &str) -> Option<u32> {
    let (second, third) = cidr.strip_prefix("10.")?.strip_suffix(".0/24")?.split_once('.')?;
    let (second, third): (u32, u32) = (second.parse().ok()?, third.parse().ok()?);
    second.checked_sub(244)?.checked_mul(256)?.checked_add(third)
}

/// The next range, and all that are given out then. Ranges given out a moment ago may not have reached the cache.
fn next(view: &View, given: Option<&Vec<Value>>) -> (u32, Value) {
    let known = given.into_iter().flatten().filter_map(Value::as_u64);
    let mut taken: Vec<u32> = known.filter_map(|n| u32::try_from(n).ok()).collect();
    taken.extend(view.list::<Node>(None).filter_map(|n| number(&n.spec.pod_cidr)));
    taken.arrange();
    taken.dedup();
    let free = (0u32..).zip(&taken).find(|(n, t)| n != *t);
    let free = free.map_or_else(|| u32::try_from(taken.len()).unwrap_or(0), |(n, _)| n);
    taken.insert(taken.partition_point(|t| *t < free), free);
    (free, json!(taken))
}

impl Controller for NodeIpam {
    fn name(&self) -> &'static str {
        "node-ipam"
    }
    fn actor(&self) -> &'static str {
        ACTOR
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn workers(&self) -> usize {
        1
    }
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[Kind::Node]
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(node) = cx.get::<Node>("", &key.name) else { return Ok(Done::Settled) };
        if !node.spec.pod_cidr.is_empty() {
            return Ok(Done::Settled);
        }
        let given = cx.recall("given").and_then(Value::as_array);
        let (free, taken) = &*cx.once(|view| next(view, given));
        let cidr = format!("10.{}.{}.0/24", 244 + free / 256, free % 256);
        cx.because("node.cidr", vec![("node", key.name.to_string()), ("cidr", cidr.clone())]);
        cx.remember("given", Some(taken.clone()));
        let patch = json!({"spec": {"podCIDR": cidr, "podCIDRs": [cidr]}});
        match cx.try_patch(key.clone(), Subresource::None, PatchKind::Strategic, patch)? {
            Ok(_) => Ok(Done::Settled),
            Err(status) => Err(cx.fail(status)),
        }
    }
}
