//! Audit records: who asked what of the API server, and the code it answered.

use kubestep_model::{Answer, Body, Instant, Key, Kind, Reply, Request, Revision, Verb};
use std::sync::Arc;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The program, as `kubectl`, `deployment-controller` or `kubelet node-1`.
    pub user_agent: Arc<str>,
    /// The user it is logged in as, as `kubernetes-admin` or `system:node:node-1`.
    pub user: Arc<str>,
}

impl Actor {
    /// A program and its user.
    pub fn new(user_agent: impl Into<Arc<str>>, user: impl Into<Arc<str>>) -> Self {
        Actor { user_agent: user_agent.into(), user: user.into() }
    }
}

/// One request that was answered.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Audit {
    pub at: Instant,
    pub who: Arc<str>,
    pub user: Arc<str>,
    pub verb: &'static str,
    pub kind: Kind,
    pub namespace: Arc<str>,
    /// Empty when a list was asked for, or when a name was to be drawn and the request was refused before.
    pub name: Arc<str>,
    pub subresource: &'static str,
    pub code: u16,
    /// The revision of the write, if one was made.
    pub revision: Option<Revision>,
}

/// The record of the request itself.
pub(crate) fn of_request(
    request: &Request,
    who: &Actor,
    at: Instant,
    reply: &Reply,
    wrote: Option<Revision>,
    created: bool,
) -> Audit {
    let verb = &request.verb;
    let (namespace, asked) = place(verb);
    let name = match reply {
        Ok(Answer::Object { object, .. }) => object.meta().name.clone(),
        Ok(Answer::Json { .. } | Answer::List { .. } | Answer::Chunk { .. }) | Err(_) => asked,
    };
    let code = match reply {
        Err(status) => status.code,
        Ok(_) if created || matches!(verb.name(), "create") => 201,
        Ok(_) => 200,
    };
    Audit {
        at,
        who: who.user_agent.clone(),
        user: who.user.clone(),
        verb: if request.list.as_ref().is_some_and(|l| l.watch) { "watch" } else { verb.name() },
        kind: verb.kind(),
        namespace,
        name,
        subresource: verb.subresource().name(),
        code,
        revision: wrote,
    }
}

/// Namespace and name that a request is about.
fn place(verb: &Verb) -> (Arc<str>, Arc<str>) {
    let of = |key: &Key| (key.namespace.clone(), key.name.clone());
    match verb {
        Verb::Get { key, .. }
        | Verb::Replace { key, .. }
        | Verb::Patch { key, .. }
        | Verb::Delete { key, .. }
        | Verb::Bind { pod: key, .. }
        | Verb::Evict { pod: key, .. }
        | Verb::Token { account: key } => of(key),
        Verb::List { namespace, .. } => (namespace.clone().unwrap_or_default(), Arc::default()),
        Verb::DeleteCollection { namespace, .. } => (namespace.clone(), Arc::default()),
        Verb::Create { namespace, body, .. } => (namespace.clone(), name_of(body)),
    }
}

fn name_of(body: &Body) -> Arc<str> {
    match body {
        Body::Typed(object) => object.meta().name.clone(),
        Body::Json(value) => value["metadata"]["name"].as_str().unwrap_or_default().into(),
    }
}
