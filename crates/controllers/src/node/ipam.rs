//! Gives each node its range of pod addresses: 10.244.N.0/24, and behind 10.255.255.0/24 the ranges from 10.0.0.0/24 on.
//! Upstream: pkg/controller/nodeipam (v1.37), which takes no more than the cluster's range holds.

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
    let (second, third): (u8, u8) = (second.parse().ok()?, third.parse().ok()?);
    Some(u32::from(second.wrapping_sub(FIRST)) * 256 + u32::from(third))
}

fn range(number: u32) -> String {
    format!("10.{}.{}.0/24", (number / 256 + u32::from(FIRST)) % 256, number % 256)
}

/// The second number of the first range.
const FIRST: u8 = 244;
/// So many ranges there are.
const ALL: u32 = 1 << 16;

/// The next range, and all that are taken then: those that were given out (a moment ago, they may not have reached the
/// cache), and before the first of them those that nodes have. `None` when there is none left.
fn next(view: &View, given: Option<&Vec<Value>>) -> Option<(u32, Value)> {
    let mut taken: Vec<u32> = match given {
        Some(given) => given.iter().filter_map(|n| u32::try_from(n.as_u64()?).ok()).collect(),
        None => view.list::<Node>(None).filter_map(|n| number(&n.spec.pod_cidr)).collect(),
    };
    if given.is_none() {
        taken.arrange();
        taken.dedup();
    }
    loop {
        let gap = (0u32..).zip(&taken).find(|(n, t)| n != *t);
        let free = gap.map_or_else(|| u32::try_from(taken.len()).unwrap_or(0), |(n, _)| n);
        taken.insert(taken.partition_point(|t| *t < free), free);
        if free >= ALL {
            return None;
        }
        if !view.has_range(&range(free)) {
            return Some((free, json!(taken)));
        }
    }
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
        let Some((free, taken)) = next(cx.view(), given) else { return Ok(Done::Settled) };
        let cidr = range(free);
        cx.because("node.cidr", vec![("node", key.name.to_string()), ("cidr", cidr.clone())]);
        cx.remember("given", Some(taken));
        let patch = json!({"spec": {"podCIDR": cidr, "podCIDRs": [cidr]}});
        match cx.try_patch(key.clone(), Subresource::None, PatchKind::Strategic, patch)? {
            Ok(_) => Ok(Done::Settled),
            Err(status) => Err(cx.fail(status)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::Resource;

    fn view(ranges: &[&str]) -> View {
        let mut view = View::default();
        for (i, range) in ranges.iter().enumerate() {
            let mut node = Node::default();
            node.metadata.name = format!("node-{i}").into();
            node.spec.pod_cidr = (*range).into();
            view.apply(&node.key(), Some(node.into()));
        }
        view
    }

    #[test]
    fn a_range_says_its_number_in_clusters_of_every_size() {
        let shown = [0, 255, 256, 3071, 3072].map(range);
        let want = ["10.244.0.0/24", "10.244.255.0/24", "10.245.0.0/24", "10.255.255.0/24", "10.0.0.0/24"];
        assert_eq!(shown, want);
        assert!((0..ALL).step_by(257).all(|n| number(&range(n)) == Some(n)));
        assert_eq!(["", "10.244.0.0/16", "10.300.0.0/24", "11.244.0.0/24"].map(number), [None; 4]);
    }

    #[test]
    fn the_next_range_is_the_first_that_nobody_has() {
        let next = |ranges: &[&str], given: Option<&[u32]>| {
            let given = given.map(|g| g.iter().map(|n| json!(n)).collect());
            next(&view(ranges), given.as_ref())
        };
        assert_eq!(next(&[], None), Some((0, json!([0]))));
        assert_eq!(next(&["10.244.2.0/24", "10.244.0.0/24"], None), Some((1, json!([0, 1, 2]))));
        assert_eq!(next(&["10.244.0.0/24"], Some(&[0, 1])), Some((2, json!([0, 1, 2]))), "not seen yet");
        assert_eq!(next(&["10.244.1.0/24", ""], Some(&[0])), Some((2, json!([0, 1, 2]))), "not given");
        assert_eq!(next(&[], Some(&(0..ALL).collect::<Vec<_>>())), None);
    }
}
