//! Notes on each node how long its kubelet may cache secrets and config maps. Upstream: pkg/controller/ttl (v1.37).

use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::{Key, Kind, Node, PatchKind, Subresource};
use serde_json::json;

const ANNOTATION: &str = "node.alpha.kubernetes.io/ttl";
/// Seconds by the size of the cluster: up to so many nodes.
const BOUNDARIES: [(usize, i64); 5] = [(100, 0), (500, 15), (1000, 30), (2000, 60), (10_000, 300)];

/// The ttl controller.
#[derive(Debug)]
pub struct Ttl;

static WATCHES: [Watch; 1] = [Watch { kind: Kind::Node, wakes }];

fn wakes(change: &Change, _: &View) -> Vec<Wake> {
    if change.new.is_some() { vec![Wake::now(change.key.clone())] } else { vec![] }
}

impl Controller for Ttl {
    fn name(&self) -> &'static str {
        "ttl"
    }
    fn actor(&self) -> &'static str {
        "ttl-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(node) = cx.get::<Node>("", &key.name) else { return Ok(Done::Settled) };
        let count = cx.view().count(Kind::Node);
        let seconds = BOUNDARIES.iter().find(|(most, _)| count <= *most).map_or(300, |(_, s)| *s).to_string();
        if node.metadata.annotations.get(ANNOTATION) == Some(&seconds) {
            return Ok(Done::Settled);
        }
        cx.because("node.ttl", vec![("node", key.name.to_string())]);
        let patch = json!({"metadata": {"annotations": {ANNOTATION: seconds}}});
        match cx.try_patch(key.clone(), Subresource::None, PatchKind::Strategic, patch)? {
            Ok(_) => Ok(Done::Settled),
            Err(status) => Err(cx.fail(status)),
        }
    }
}
