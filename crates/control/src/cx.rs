//! What a reconcile can see and do, and how it is run again against the replies so far.

use crate::{Controller, EventNote, Note, View, note::reference};
use kubestep_model::tree::OrdMap;
use kubestep_model::{
    Answer, Body, DeleteOptions, Dice, Instant, Key, Kind, Object, ObjectReference, PatchKind, Reply,
    Request, Resource, Status, Subresource, Verb,
};
use serde_json::Value;
use std::{
    any::Any,
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

/// What a controller remembers between reconciles; lost in a crash.
pub type Memory = OrdMap<Arc<str>, Arc<Value>>;

/// One ask (with one or several requests at once) and its replies, in request order.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Told {
    pub requests: Vec<Request>,
    pub replies: Vec<Reply>,
}

/// A reconcile under way, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    /// The key it looks at.
    pub key: Key,
    /// What the process had been told when it began.
    pub view: View,
    /// When it began.
    pub now: Instant,
    /// The chance it may draw.
    pub dice: Dice,
    /// What it remembers from earlier reconciles.
    pub memory: Memory,
    /// What it was told since.
    pub told: Vec<Arc<Told>>,
    /// How many of its effects have been carried out.
    pub committed: usize,
    /// What it worked out before it asked for the first time.
    pub worked_out: WorkedOut,
}

/// A value that follows from what a reconcile sees when it begins: run again, it need not be worked out again.
/// It makes no difference to anything but time, so all are equal.
#[derive(Clone, Default)]
pub struct WorkedOut(OnceLock<Arc<dyn Any + Send + Sync>>);

impl PartialEq for WorkedOut {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for WorkedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorkedOut")
    }
}

/// Something a reconcile does besides asking; carried out once, in order.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Effect {
    Note(Note),
    Event(EventNote),
    /// Look at a key again after a while. Upstream: AddAfter.
    Again(Key, Duration),
    Remember(Arc<str>, Option<Arc<Value>>),
}

/// How a reconcile ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Nothing more to do for this key; its failures are forgotten.
    Settled,
    /// As `Settled`, and look at it again after a while.
    Again(Duration),
    /// As after a failure, but without one: look again after the rate limiter's wait.
    Limited,
}

/// Why a reconcile stopped early. Controllers pass it on with `?` and cannot look inside.
#[derive(Debug)]
pub struct Halt(Why);

#[derive(Debug)]
enum Why {
    Awaiting(Vec<Request>),
    Failed(Status),
}

/// What a reconcile returns.
pub type Flow = Result<Done, Halt>;

/// Where a run ended.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Progress {
    Done(Done),
    /// The key is tried again after the rate limiter's wait.
    Failed(Status),
    /// Waits for the replies to these requests.
    Awaiting(Vec<Request>),
}

/// Runs a reconcile from its start against what it was told so far.
pub fn run(controller: &dyn Controller, running: &Running) -> (Progress, Vec<Effect>) {
    let mut cx = Cx {
        view: &running.view,
        now: running.now,
        dice: running.dice.clone(),
        memory: running.memory.clone(),
        worked_out: &running.worked_out,
        told: &running.told,
        next: 0,
        halted: false,
        effects: vec![],
        name: controller.name(),
    };
    let flow = controller.reconcile(&mut cx, &running.key);
    let progress = match flow {
        Ok(done) => Progress::Done(done),
        Err(Halt(Why::Failed(status))) => Progress::Failed(status),
        Err(Halt(Why::Awaiting(requests))) => Progress::Awaiting(requests),
    };
    (progress, cx.effects)
}

/// What a reconcile can see and do.
#[derive(Debug)]
pub struct Cx<'a> {
    view: &'a View,
    now: Instant,
    dice: Dice,
    memory: Memory,
    worked_out: &'a WorkedOut,
    told: &'a [Arc<Told>],
    next: usize,
    halted: bool,
    effects: Vec<Effect>,
    name: &'static str,
}

impl<'a> Cx<'a> {
    /// Everything the process has been told, as it was when this reconcile began.
    pub fn view(&self) -> &'a View {
        self.view
    }
    /// An object from the cache.
    pub fn get<R: Resource>(&self, namespace: &str, name: &str) -> Option<&'a R> {
        self.view.get::<R>(namespace, name)
    }
    /// All objects of a kind in the cache, in one namespace or in all.
    pub fn list<R: Resource + 'a>(
        &self,
        namespace: Option<&str>,
    ) -> impl Iterator<Item = &'a R> + use<'a, R> {
        self.view.list::<R>(namespace)
    }
    /// The time at which this reconcile began.
    pub fn now(&self) -> Instant {
        self.now
    }
    /// Chance for this reconcile.
    pub fn dice(&mut self) -> &mut Dice {
        &mut self.dice
    }
    /// Says why something is done or left.
    pub fn because(&mut self, code: &'static str, about: Vec<(&'static str, String)>) {
        self.effects.push(Effect::Note(Note { code, about }));
    }
    /// Tells the cluster something about an object.
    pub fn event(&mut self, about: &Object, r#type: &'static str, reason: &str, message: String) {
        self.event_on(reference(about), r#type, reason, message);
    }
    /// As [`Cx::event`], for a controller that makes the reference itself, with less in it.
    pub fn event_on(
        &mut self,
        regarding: ObjectReference,
        r#type: &'static str,
        reason: &str,
        message: String,
    ) {
        let note = EventNote { regarding, r#type, reason: reason.into(), message, action: "" };
        self.effects.push(Effect::Event(note));
    }
    /// Looks at a key again after a while.
    pub fn again(&mut self, key: Key, after: Duration) {
        self.effects.push(Effect::Again(key, after));
    }
    /// What this controller remembers under a name.
    pub fn recall(&self, name: &str) -> Option<&Value> {
        self.memory.get(name).map(|v| &**v)
    }
    /// What this controller remembers under names that begin like this, in order, by the rest of the name.
    pub fn recall_under<'m>(&'m self, prefix: &'m str) -> impl Iterator<Item = (&'m str, &'m Value)> {
        let names = self
            .memory
            .between(&|name| **name < *prefix, &|name| **name < *prefix || name.starts_with(prefix));
        names.map(|(name, value)| (name.get(prefix.len()..).unwrap_or(""), &**value))
    }
    /// Works something out from the cache, once for all the runs of this reconcile.
    pub fn once<T: Send + Sync + 'static>(&self, make: impl FnOnce(&View) -> T) -> Arc<T> {
        let known = self.worked_out.0.get().cloned().and_then(|value| value.downcast().ok());
        known.unwrap_or_else(|| {
            let made = Arc::new(make(self.view));
            // Another value that stands here stays: this one is then worked out each time.
            drop(self.worked_out.0.set(made.clone()));
            made
        })
    }
    /// Remembers a value under a name, or (with `None`) forgets it. Lost in a crash.
    pub fn remember(&mut self, name: &str, value: Option<Value>) {
        let value = value.map(Arc::new);
        let name: Arc<str> = name.into();
        match &value {
            Some(v) => self.memory.insert(name.clone(), v.clone()),
            None => self.memory.remove(&*name),
        };
        self.effects.push(Effect::Remember(name, value));
    }

    /// The one primitive: answered already? Hand over the answers. Not yet? Stop here and ask.
    /// Several requests are in flight at once; the replies come in request order.
    ///
    /// # Panics
    /// If the reconcile is not repeatable (a run again asks something else), or asks on after it was stopped.
    pub fn ask_all(&mut self, requests: Vec<Request>) -> Result<Vec<Reply>, Halt> {
        assert!(!self.halted, "controller `{}` asks again after it was stopped", self.name);
        if requests.is_empty() {
            return Ok(vec![]);
        }
        let index = self.next;
        self.next += 1;
        let Some(told) = self.told.get(index) else {
            self.halted = true;
            return Err(Halt(Why::Awaiting(requests)));
        };
        assert!(
            told.requests == requests,
            "controller `{}` is not repeatable: call {index} asked {:?}, now asks {requests:?}",
            self.name,
            told.requests
        );
        Ok(told.replies.clone())
    }

    /// One request.
    pub fn ask(&mut self, verb: Verb) -> Result<Reply, Halt> {
        let mut replies = self.ask_all(vec![verb.into()])?;
        Ok(replies.pop().unwrap_or_else(|| Err(Status::bad_request("no reply"))))
    }

    fn ask_object<R: Resource>(&mut self, verb: Verb) -> Result<Result<R, Status>, Halt> {
        Ok(self.ask(verb)?.and_then(as_object))
    }

    /// Creates an object; the answer may be a refusal to look at.
    pub fn try_create<R: Resource>(&mut self, object: R) -> Result<Result<R, Status>, Halt> {
        self.ask_object(create_verb(object.into()))
    }
    /// Creates an object; a refusal ends the reconcile as failed.
    pub fn create<R: Resource>(&mut self, object: R) -> Result<R, Halt> {
        self.try_create(object)?.map_err(|s| self.fail(s))
    }
    /// Creates several objects at once: all are in flight together.
    pub fn create_all<R: Resource>(&mut self, objects: Vec<R>) -> Result<Vec<Result<R, Status>>, Halt> {
        let requests = objects.into_iter().map(|o| create_verb(o.into()).into()).collect();
        Ok(self.ask_all(requests)?.into_iter().map(|r| r.and_then(as_object)).collect())
    }
    /// Deletes several objects at once.
    pub fn delete_all(
        &mut self,
        objects: Vec<(Key, DeleteOptions)>,
    ) -> Result<Vec<Result<(), Status>>, Halt> {
        let requests =
            objects.into_iter().map(|(key, options)| Verb::Delete { key, options }.into()).collect();
        Ok(self.ask_all(requests)?.into_iter().map(|r| r.map(drop)).collect())
    }
    /// Replaces an object (PUT); the answer may be a refusal to look at.
    pub fn try_replace<R: Resource>(&mut self, object: R) -> Result<Result<R, Status>, Halt> {
        self.try_put(object, Subresource::None)
    }
    /// Replaces an object (PUT); a refusal ends the reconcile as failed.
    pub fn replace<R: Resource>(&mut self, object: R) -> Result<R, Halt> {
        self.try_replace(object)?.map_err(|s| self.fail(s))
    }
    /// Replaces an object's status; the answer may be a refusal to look at.
    pub fn try_set_status<R: Resource>(&mut self, object: R) -> Result<Result<R, Status>, Halt> {
        self.try_put(object, Subresource::Status)
    }
    /// Replaces an object's status; a refusal ends the reconcile as failed.
    pub fn set_status<R: Resource>(&mut self, object: R) -> Result<R, Halt> {
        self.try_set_status(object)?.map_err(|s| self.fail(s))
    }
    fn try_put<R: Resource>(
        &mut self,
        object: R,
        subresource: Subresource,
    ) -> Result<Result<R, Status>, Halt> {
        let object: Object = object.into();
        self.ask_object(Verb::Replace { key: object.key(), subresource, body: Body::Typed(object) })
    }
    /// Creates an object of any kind; the answer may be a refusal to look at.
    pub fn try_create_object(&mut self, object: Object) -> Result<Result<Object, Status>, Halt> {
        Ok(self.ask(create_verb(object))?.and_then(any_object))
    }
    /// Replaces an object of any kind, or a part of it (PUT); the answer may be a refusal to look at.
    pub fn try_replace_object(
        &mut self,
        object: Object,
        subresource: Subresource,
    ) -> Result<Result<Object, Status>, Halt> {
        let reply = self.ask(Verb::Replace { key: object.key(), subresource, body: Body::Typed(object) })?;
        Ok(reply.and_then(any_object))
    }
    /// Patches an object; the answer may be a refusal to look at.
    pub fn try_patch(
        &mut self,
        key: Key,
        subresource: Subresource,
        kind: PatchKind,
        patch: Value,
    ) -> Result<Result<Object, Status>, Halt> {
        let reply = self.ask(Verb::Patch { key, subresource, kind, patch: Arc::new(patch) })?;
        Ok(reply.and_then(any_object))
    }
    /// Deletes an object; the answer may be a refusal to look at.
    pub fn try_delete(&mut self, key: Key, options: DeleteOptions) -> Result<Result<(), Status>, Halt> {
        Ok(self.ask(Verb::Delete { key, options })?.map(drop))
    }
    /// Reads an object from the API server itself, not from the cache.
    pub fn live<R: Resource>(&mut self, namespace: &str, name: &str) -> Result<Result<R, Status>, Halt> {
        self.ask_object(Verb::Get { key: Key::new(R::KIND, namespace, name), subresource: Subresource::None })
    }
    /// Reads an object of any kind from the API server itself.
    pub fn live_object(&mut self, key: Key) -> Result<Result<Object, Status>, Halt> {
        let reply = self.ask(Verb::Get { key, subresource: Subresource::None })?;
        Ok(reply.and_then(any_object))
    }
    /// Lists a kind from the API server itself.
    pub fn live_list(
        &mut self,
        kind: Kind,
        namespace: Option<Arc<str>>,
    ) -> Result<Result<Vec<Object>, Status>, Halt> {
        let reply = self.ask(Verb::List { kind, namespace, labels: None, fields: None })?;
        Ok(reply.map(|a| if let Answer::List { items, .. } = a { items } else { vec![] }))
    }
    /// Ends the reconcile as failed: the key is tried again after the rate limiter's wait.
    pub fn fail(&self, status: Status) -> Halt {
        Halt(Why::Failed(status))
    }
}

fn create_verb(object: Object) -> Verb {
    Verb::Create {
        kind: object.kind(),
        namespace: object.meta().namespace.clone(),
        body: Body::Typed(object),
    }
}

fn any_object(answer: Answer) -> Result<Object, Status> {
    match answer {
        Answer::Object { object, .. } => Ok(object),
        Answer::List { .. } | Answer::Chunk { .. } | Answer::Json { .. } => {
            Err(Status::bad_request("the answer is not an object"))
        }
    }
}

fn as_object<R: Resource>(answer: Answer) -> Result<R, Status> {
    let object = any_object(answer)?;
    R::of(&object).cloned().ok_or_else(|| Status::bad_request("the answer is of another kind"))
}
