//! Deletes all objects of some kinds in a namespace. Upstream: deleteAllContentForGroupVersionResource (v1.37).

use kubestep_control::{Cx, Halt};
use kubestep_model::{
    Answer, DeleteOptions, Kind, Namespace, Object, Pod, Propagation, Reply, Request, Status, Verb,
};
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

/// Deletes all objects of some kinds, and looks what is left of each; an error is what is written into the status.
/// Upstream takes one kind after the other; here all are asked for at once, which takes about as long as one.
pub(super) fn delete_all(
    cx: &mut Cx<'_>,
    namespace: &Namespace,
    kinds: &[Kind],
) -> Result<Vec<(Kind, Result<Left, Status>)>, Halt> {
    let name = namespace.metadata.name.clone();
    let grace = if kinds.contains(&Kind::Pod) {
        match list(cx, Kind::Pod, name.clone())? {
            Ok(pods) => grace_left(cx, namespace, &pods),
            Err(status) => return Ok(vec![(Kind::Pod, Err(status))]),
        }
    } else {
        0
    };
    let delete = |kind: &Kind| {
        let options = DeleteOptions { propagation: Some(Propagation::Background), ..Default::default() };
        let verb = Verb::DeleteCollection {
            kind: *kind,
            namespace: name.clone(),
            labels: None,
            fields: None,
            options,
        };
        Request::from(verb)
    };
    let look = |kind: &Kind| {
        Request::from(Verb::List { kind: *kind, namespace: Some(name.clone()), labels: None, fields: None })
    };
    let deleted = cx.ask_all(kinds.iter().map(delete).collect())?;
    let listed = cx.ask_all(kinds.iter().map(look).collect())?;
    let judge = |((kind, deleted), listed): ((&Kind, Reply), Reply)| {
        let items =
            deleted.and(listed).map(|a| if let Answer::List { items, .. } = a { items } else { vec![] });
        let grace = if *kind == Kind::Pod { grace } else { 0 };
        (*kind, items.and_then(|items| left(&name, *kind, &items, grace)))
    };
    Ok(kinds.iter().zip(deleted).zip(listed).map(judge).collect())
}

/// What these objects mean that are still there.
fn left(namespace: &str, kind: Kind, items: &[Object], grace: u64) -> Result<Left, Status> {
    let mut left = Left { count: items.len(), ..Left::default() };
    for finalizer in items.iter().flat_map(|o| &o.meta().finalizers) {
        *left.finalizers.entry(finalizer.clone()).or_insert(0) += 1;
    }
    left.seconds = match (items.is_empty(), grace, left.finalizers.is_empty()) {
        (true, ..) => 0,
        (false, 1.., _) => grace,
        (false, 0, false) => FINALIZERS_TAKE,
        (false, 0, true) => {
            let which = format!("{}/{}, Resource={}", kind.group(), kind.version(), kind.resource());
            let text = format!("unexpected items still remain in namespace: {namespace} for gvr: {which}");
            return Err(crate::stop::error(text));
        }
    };
    Ok(left)
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
