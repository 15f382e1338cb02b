//! Deletes all objects of one kind in a namespace. Upstream: deleteAllContentForGroupVersionResource (v1.37).

use kubestep_control::{Cx, Halt};
use kubestep_model::{DeleteOptions, Kind, Namespace, Object, Pod, Propagation, Status, Verb};
use std::{collections::BTreeMap, sync::Arc};

/// How long objects with finalizers are given. Upstream: finalizerEstimateSeconds.
const FINALIZERS_TAKE: u64 = 15;

/// What is left of a kind.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Left {
    pub(super) count: usize,
    /// How long it may take.
    pub(super) seconds: u64,
    /// How many objects each finalizer holds back.
    pub(super) finalizers: BTreeMap<String, usize>,
}

/// An error is what is written into the status.
pub(super) fn delete_all(
    cx: &mut Cx<'_>,
    namespace: &Namespace,
    kind: Kind,
) -> Result<Result<Left, Status>, Halt> {
    let name = namespace.metadata.name.clone();
    let grace = if kind == Kind::Pod {
        match list(cx, kind, name.clone())? {
            Ok(pods) => grace_left(cx, namespace, &pods),
            Err(status) => return Ok(Err(status)),
        }
    } else {
        0
    };
    let options = DeleteOptions { propagation: Some(Propagation::Background), ..Default::default() };
    let verb = Verb::DeleteCollection { kind, namespace: name.clone(), labels: None, fields: None, options };
    if let Err(status) = cx.ask(verb)? {
        return Ok(Err(status));
    }
    let items = match list(cx, kind, name.clone())? {
        Ok(items) => items,
        Err(status) => return Ok(Err(status)),
    };
    let mut left = Left { count: items.len(), ..Left::default() };
    for finalizer in items.iter().flat_map(|o| &o.meta().finalizers) {
        *left.finalizers.entry(finalizer.clone()).or_insert(0) += 1;
    }
    left.seconds = match (items.is_empty(), grace, left.finalizers.is_empty()) {
        (true, ..) => 0,
        (false, 1.., _) => grace,
        (false, 0, false) => FINALIZERS_TAKE,
        (false, 0, true) => {
            let group = kind.group();
            let which = format!("{group}/{}, Resource={}", kind.version(), kind.resource());
            return Ok(Err(crate::stop::error(format!(
                "unexpected items still remain in namespace: {name} for gvr: {which}"
            ))));
        }
    };
    Ok(Ok(left))
}

fn list(cx: &mut Cx<'_>, kind: Kind, namespace: Arc<str>) -> Result<Result<Vec<Object>, Status>, Halt> {
    cx.live_list(kind, Some(namespace))
}

/// How long the pods may take to end; nothing once that time has passed. Upstream: estimateGracefulTermination.
fn grace_left(cx: &Cx<'_>, namespace: &Namespace, pods: &[Object]) -> u64 {
    let of = |pod: &Pod| pod.spec.termination_grace_period_seconds.and_then(|s| u64::try_from(s).ok());
    let longest = pods
        .iter()
        .filter_map(|o| o.get::<Pod>())
        .filter(|p| !p.is_terminal())
        .filter_map(of)
        .max()
        .unwrap_or(0);
    let since = namespace.metadata.deletion_timestamp.map_or(cx.now(), |t| t.instant());
    if cx.now().since(since).as_secs() >= longest { 0 } else { longest }
}
