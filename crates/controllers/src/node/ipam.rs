//! Gives each node its range of pod addresses: 10.244.N.0/24. Upstream: pkg/controller/nodeipam (v1.37).

use super::ACTOR;
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::arrange::Gather;
use kubestep_model::{Key, Kind, Node, PatchKind, Subresource};
use serde_json::json;
use std::collections::BTreeSet;

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
    let octets: Vec<u32> =
        cidr.strip_suffix(".0/24")?.split('.').map(|o| o.parse().ok()).collect::<Option<_>>()?;
    if let [10, second, third] = octets[..] { Some((second.checked_sub(244)?) * 256 + third) } else { None }
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
        let mut taken: BTreeSet<u32> =
            cx.list::<Node>(None).filter_map(|n| number(&n.spec.pod_cidr)).gather();
        // Ranges given out a moment ago may not have reached the cache.
        taken.extend(
            cx.recall("given")
                .and_then(|v| v.as_array())
                .into_iter()
                .flatten()
                .filter_map(|v| v.as_u64())
                .filter_map(|n| u32::try_from(n).ok()),
        );
        let free = (0..).find(|n| !taken.contains(n)).unwrap_or(0);
        let cidr = format!("10.{}.{}.0/24", 244 + free / 256, free % 256);
        cx.because("node.cidr", vec![("node", key.name.to_string()), ("cidr", cidr.clone())]);
        taken.insert(free);
        cx.remember("given", Some(json!(taken)));
        let patch = json!({"spec": {"podCIDR": cidr, "podCIDRs": [cidr]}});
        match cx.try_patch(key.clone(), Subresource::None, PatchKind::Strategic, patch)? {
            Ok(_) => Ok(Done::Settled),
            Err(status) => Err(cx.fail(status)),
        }
    }
}
