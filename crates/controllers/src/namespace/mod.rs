//! Empties a namespace that is being deleted, then lets it go.
//!
//! Upstream: pkg/controller/namespace (v1.37): namespace_controller.go waits five seconds before it begins;
//! deletion/namespaced_resources_deleter.go deletes the pods first and then all other kinds, and says in the status what
//! is left.

mod conditions;
mod content;

use crate::sentences::Sentence;
use conditions::Report;
use content::Left;
use kubestep_control::{Change, Controller, Cx, Done, Flow, Halt, View, Wake, Watch};
use kubestep_model::{
    Body, Key, Kind, Namespace, Object, Resource, Status, Subresource, Verb,
    defined::{DEFINITION, Definition},
};
use std::time::Duration;

/// How long the API server's caches get to learn that the namespace is going. Upstream: namespaceDeletionGracePeriod.
const GRACE: Duration = Duration::from_secs(5);

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
        if cx.get::<Namespace>("", &key.name).is_none() {
            return Ok(Done::Settled);
        }
        // The cache is not asked twice: what counts is how the namespace is now.
        let namespace = match cx.live::<Namespace>("", &key.name)? {
            Ok(namespace) => namespace,
            Err(status) if status.is_not_found() => return Ok(Done::Settled),
            Err(status) => return Err(cx.fail(status)),
        };
        if !namespace.metadata.is_terminating() || namespace.spec.finalizers.is_empty() {
            return Ok(Done::Settled);
        }
        match empty(cx, &namespace)? {
            Err(status) => Err(cx.fail(status)),
            // Half the time that what is left may take, and a second. Upstream: worker.
            Ok(seconds) if seconds > 0 => Ok(Done::Again(Duration::from_secs(seconds / 2 + 1))),
            Ok(_) => let_go(cx, namespace),
        }
    }
}

/// Deletes what is in the namespace; answers for how many seconds something may still be left.
/// Upstream: deleteAllContent.
fn empty(cx: &mut Cx<'_>, namespace: &Namespace) -> Result<Result<u64, Status>, Halt> {
    let mut report = Report::default();
    let (mut seconds, mut pods_left) = (0, false);
    let (pods, others): (Vec<Kind>, Vec<Kind>) = kinds(cx.view()).into_iter().partition(|k| *k == Kind::Pod);
    for kinds in [pods, others] {
        for (kind, left) in content::delete_all(cx, namespace, &kinds)? {
            match left {
                Ok(left) => {
                    seconds = seconds.max(left.seconds);
                    note(cx, namespace, kind, &left);
                    pods_left |= kind == Kind::Pod && left.count > 0;
                    report.left(kind, left);
                }
                Err(status) => report.failed(status.message),
            }
        }
        // Nothing else is deleted while pods are there, and the status does not count them.
        if pods_left || report.failure().is_some() {
            report.count_nothing();
            break;
        }
    }
    if let Some(fresh) = report.written_on(namespace, cx.now().to_time())
        && let Err(status) = cx.try_set_status(fresh)?
    {
        return Ok(Err(status));
    }
    Ok(match report.failure() {
        Some(text) => Err(crate::stop::error(text)),
        None => Ok(seconds),
    })
}

/// Every kind whose objects live in namespaces and can be deleted all at once.
fn kinds(view: &View) -> Vec<Kind> {
    let definitions = view.objects_of(DEFINITION, None).filter_map(Definition::of);
    let defined = definitions.filter_map(|d| d.served().first().copied());
    Kind::all().chain(defined).filter(|k| k.namespaced()).collect()
}

fn note(cx: &mut Cx<'_>, namespace: &Namespace, kind: Kind, left: &Left) {
    if left.count > 0 {
        cx.because(
            "namespace.left",
            vec![
                ("namespace", namespace.metadata.name.to_string()),
                ("kind", kind.resource().into()),
                ("count", left.count.to_string()),
            ],
        );
    }
}

/// Upstream: finalizeNamespace, retryOnConflictError.
fn let_go(cx: &mut Cx<'_>, mut namespace: Namespace) -> Flow {
    cx.because("namespace.let-go", vec![("namespace", namespace.metadata.name.to_string())]);
    let uid = namespace.metadata.uid.clone();
    for _ in 0..5 {
        namespace.spec.finalizers.retain(|f| f != "kubernetes");
        let key = namespace.key();
        let body = Body::Typed(Object::from(namespace.clone()));
        match cx.ask(Verb::Replace { key: key.clone(), subresource: Subresource::Finalize, body })? {
            Ok(_) => return Ok(Done::Settled),
            Err(status) if status.is_not_found() => return Ok(Done::Settled),
            Err(status) if status.is_conflict() => {}
            Err(status) => return Err(cx.fail(status)),
        }
        match cx.live::<Namespace>("", &key.name)? {
            Ok(live) if live.metadata.uid == uid => namespace = live,
            Ok(_) => return Ok(Done::Settled),
            Err(status) if status.is_not_found() => return Ok(Done::Settled),
            Err(status) => return Err(cx.fail(status)),
        }
    }
    Err(cx.fail(Status::conflict(Kind::Namespace, &namespace.metadata.name)))
}

/// What the codes above mean.
pub static SENTENCES: &[Sentence] = &[
    Sentence {
        code: "namespace.left",
        text: "The namespace {namespace} is being emptied; {count} {kind} are still there.",
        upstream: "pkg/controller/namespace/deletion/namespaced_resources_deleter.go, deleteAllContent",
    },
    Sentence {
        code: "namespace.let-go",
        text: "The namespace {namespace} is empty: it may go.",
        upstream: "pkg/controller/namespace/deletion/namespaced_resources_deleter.go, finalizeNamespace",
    },
];
