//! Takes one request to the code that answers it, and writes the audit record.

use crate::{
    Actor, Audit, Store, aggregation, apply, audit, conversion, create, defined, delete, eviction, patching,
    rbac, read, token, turn::Turn, update,
};
use kubestep_model::{Answer, Dice, Instant, Kind, Reply, Request, Status, Verb};
use std::sync::Arc;

/// What the world may switch off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether a Deployment's and a ReplicaSet's selector is immutable and has to match the template's labels.
    /// Switched off only in the marked what-if world.
    pub selector_check: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { selector_check: true }
    }
}

/// What a request led to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The store after it; as before if the request was refused.
    pub store: Store,
    /// The answer.
    pub reply: Reply,
    /// The request itself, then what the API server did on its own.
    pub audit: Vec<Audit>,
}

/// Serves one request.
///
/// The store is taken, not copied: what is written into one that nobody else holds needs no copy first.
pub fn serve(
    store: Store,
    request: &Request,
    who: &Actor,
    now: Instant,
    dice: &mut Dice,
    settings: &Settings,
) -> Outcome {
    let revision = store.revision();
    let adds = matches!(
        request.verb,
        Verb::Create { .. } | Verb::Patch { .. } | Verb::Replace { .. } | Verb::Bind { .. }
    );
    let before = (!adds || store.is_near_full()).then(|| store.clone());
    let mut turn = Turn {
        store,
        who,
        now,
        dice,
        settings,
        dry_run: request.dry_run,
        strict: request.strict,
        warnings: vec![],
        side: vec![],
        wrote: None,
        created: false,
        version: None,
        spoken: None,
        manager: request.field_manager.clone(),
        force: request.force,
        part: request.verb.subresource().name(),
        by: None,
        rewrite: false,
        user: request.user.clone(),
        list: request.list.clone(),
    };
    let reply = match allowed(&turn.store, request) {
        Err(status) => Err(status),
        Ok(()) if request.review.is_some() => {
            Ok(Answer::Json { value: Arc::new(true.into()), warnings: vec![] })
        }
        Ok(()) => in_version(&mut turn, request).map(|answer| with_owners(&turn, request, answer)),
    };
    let reply = reply.map_err(|status| Status { warnings: std::mem::take(&mut turn.warnings), ..status });
    if reply.is_ok() && turn.wrote.is_some() && request.verb.kind() == rbac::CLUSTER_ROLE {
        rbac::sum_up(&mut turn);
    }
    if reply.is_ok() && turn.wrote.is_some() && request.verb.kind() == aggregation::API_SERVICE {
        aggregation::settle(&mut turn);
    }
    if reply.is_ok() && turn.wrote.is_some() && defined::concerns(request.verb.kind()) {
        defined::settle(&mut turn);
    }
    let first =
        audit::of_request(request, who, now, &reply, turn.wrote.filter(|_| reply.is_ok()), turn.created);
    let mut audit = vec![first];
    let store = if reply.is_ok() {
        audit.append(&mut turn.side);
        turn.store
    } else {
        // What was written on the way to a refusal is taken back.
        before.unwrap_or_else(|| turn.store.taken_back_to(revision))
    };
    Outcome { store, reply, audit }
}

/// What the answer would be, without keeping anything: for an editor that asks while a person types.
pub fn check(store: &Store, request: &Request, who: &Actor, now: Instant, settings: &Settings) -> Reply {
    let request = Request { dry_run: true, ..request.clone() };
    serve(store.clone(), &request, who, now, &mut Dice::new(0), settings).reply
}

/// Whether somebody in whose name it is asked may ask it.
fn allowed(store: &Store, request: &Request) -> Result<(), Status> {
    match &request.user {
        Some(user) => {
            let watch = request.list.as_ref().is_some_and(|l| l.watch).then_some("watch");
            rbac::authorize(store, user, &request.verb, request.review.as_deref().or(watch))
        }
        None => Ok(()),
    }
}

/// Said by components, not stored: it is only read.
const COMPONENT_STATUS: Kind = Kind::other("", "ComponentStatus");

/// The answer in the version of the kind that the request speaks.
fn in_version(turn: &mut Turn<'_>, request: &Request) -> Reply {
    let kind = request.verb.kind();
    if kind.is_defined() {
        let spoken = defined::spoken(turn, &request.verb)?;
        turn.version = Some(kind);
        turn.spoken = Some(spoken.clone());
        let reply = answer(turn, &conversion::renamed(&request.verb, spoken.stored()));
        return conversion::reply(reply, &|object| defined::in_version(object, &spoken));
    }
    match conversion::request(&request.verb) {
        None => answer(turn, &request.verb),
        Some(verb) => {
            let version = request.verb.kind();
            turn.version = Some(version);
            let reply = answer(turn, &verb).map_err(|status| conversion::status(status, version));
            conversion::reply(reply, &|object| conversion::shown(object, version))
        }
    }
}

/// The answer to a read with the owners of all fields, if they are wanted.
fn with_owners(turn: &Turn<'_>, request: &Request, mut answer: Answer) -> Answer {
    if request.owners {
        match &mut answer {
            Answer::Object { object, .. } => apply::show_owners(turn, object),
            Answer::List { items, .. } | Answer::Chunk { items, .. } => {
                items.iter_mut().for_each(|o| apply::show_owners(turn, o))
            }
            Answer::Json { .. } => {}
        }
    }
    answer
}

fn answer(turn: &mut Turn<'_>, verb: &Verb) -> Reply {
    if verb.kind() == COMPONENT_STATUS && !matches!(verb, Verb::Get { .. } | Verb::List { .. }) {
        return Err(Status::method_not_allowed());
    }
    match verb {
        Verb::Get { key, subresource } => read::get(turn, key, *subresource),
        Verb::List { kind, namespace, labels, fields } => {
            read::list(turn, *kind, namespace.as_deref(), labels.as_ref(), fields.as_ref())
        }
        Verb::Create { kind, namespace, body } => create::create(turn, *kind, namespace, body),
        Verb::Replace { key, subresource, body } => update::replace(turn, key, *subresource, body),
        Verb::Bind { pod, uid, node } => update::bind(turn, pod, uid, node),
        Verb::Delete { key, options } => delete::delete(turn, key, options),
        Verb::DeleteCollection { kind, namespace, labels, fields, options } => {
            delete::collection(turn, *kind, namespace, labels.as_ref(), fields.as_ref(), options)
        }
        Verb::Patch { key, subresource, kind, patch } => {
            patching::patch(turn, key, *subresource, *kind, patch)
        }
        Verb::Evict { pod, options } => eviction::evict(turn, pod, options),
        Verb::Token { account } => token::create(turn, account),
    }
}
