//! Empties a namespace that is being deleted, then lets it go.
//!
//! Upstream: pkg/controller/namespace (v1.37): namespace_controller.go waits five seconds before it begins;
//! deletion/namespaced_resources_deleter.go deletes kind by kind. Simplified: conditions are left out.

use crate::sentences::Sentence;
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::{DeleteOptions, Key, Kind, Namespace, PatchKind, Propagation, Subresource, Verb};
use serde_json::json;
use std::time::Duration;

/// How long the API server's caches get to learn that the namespace is going.
const GRACE: Duration = Duration::from_secs(5);
/// How long to wait while pods end.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The namespace controller.
#[derive(Debug)]
pub struct NamespaceController;

static WATCHES: [Watch; 1] = [Watch { kind: Kind::Namespace, wakes }];

fn wakes(change: &Change, _: &View) -> Vec<Wake> {
    match &change.new {
        Some(new) if new.meta().is_terminating() => vec![Wake::after(change.key.clone(), GRACE)],
        _ => vec![],
    }
}

impl Controller for NamespaceController {
    fn name(&self) -> &'static str {
        "namespace"
    }
    fn actor(&self) -> &'static str {
        "namespace-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn workers(&self) -> usize {
        10
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(namespace) = cx.get::<Namespace>("", &key.name) else { return Ok(Done::Settled) };
        if !namespace.metadata.is_terminating() {
            return Ok(Done::Settled);
        }
        let mut left = 0;
        for kind in Kind::all().filter(|k| k.namespaced()) {
            let listed = match cx.live_list(kind, Some(key.name.clone()))? {
                Ok(items) => items,
                Err(status) => return Err(cx.fail(status)),
            };
            if listed.is_empty() {
                continue;
            }
            cx.because(
                "namespace.empty",
                vec![
                    ("namespace", key.name.to_string()),
                    ("kind", kind.resource().into()),
                    ("count", listed.len().to_string()),
                ],
            );
            let options = DeleteOptions { propagation: Some(Propagation::Background), ..Default::default() };
            let verb = Verb::DeleteCollection {
                kind,
                namespace: key.name.clone(),
                labels: None,
                fields: None,
                options,
            };
            if let Err(status) = cx.ask(verb)? {
                return Err(cx.fail(status));
            }
            match cx.live_list(kind, Some(key.name.clone()))? {
                Ok(items) => left += items.len(),
                Err(status) => return Err(cx.fail(status)),
            }
        }
        if left > 0 {
            return Ok(Done::Again(LOOK_AGAIN));
        }
        cx.because("namespace.let-go", vec![("namespace", key.name.to_string())]);
        let patch = json!({"spec": {"finalizers": null}});
        match cx.try_patch(key.clone(), Subresource::None, PatchKind::Merge, patch)? {
            Ok(_) => Ok(Done::Settled),
            Err(status) if status.is_not_found() => Ok(Done::Settled),
            Err(status) => Err(cx.fail(status)),
        }
    }
}

/// What the codes above mean.
pub static SENTENCES: &[Sentence] = &[
    Sentence {
        code: "namespace.empty",
        text: "The namespace controller deletes all {kind} ({count}) of {namespace}.",
        upstream: "pkg/controller/namespace/deletion/namespaced_resources_deleter.go, deleteAllContent",
    },
    Sentence {
        code: "namespace.let-go",
        text: "The namespace {namespace} is empty: it may go.",
        upstream: "pkg/controller/namespace/deletion/namespaced_resources_deleter.go, finalizeNamespace",
    },
];
