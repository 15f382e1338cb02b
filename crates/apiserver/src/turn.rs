//! What one request works on: the store so far, who asks, the clock, the dice and what is to be told besides.

use crate::{
    Actor, Audit, Settings, Store,
    defined::Spoken,
    store::{Signed, Write},
    strategy,
};
use kubestep_model::{Answer, Dice, Instant, Kind, Object, Revision, Status, text::random_name};
use std::sync::Arc;

/// How the API server names itself where it acts on its own.
const OWN_AGENT: &str = "kube-apiserver";
const OWN_USER: &str = "system:apiserver";

/// One request's working state.
pub(crate) struct Turn<'a> {
    pub(crate) store: Store,
    pub(crate) who: &'a Actor,
    pub(crate) now: Instant,
    pub(crate) dice: &'a mut Dice,
    pub(crate) settings: &'a Settings,
    pub(crate) dry_run: bool,
    pub(crate) strict: bool,
    /// Warnings for the answer, in order.
    pub(crate) warnings: Vec<String>,
    /// Requests that the API server made on its own.
    pub(crate) side: Vec<Audit>,
    /// The revision that the request itself wrote.
    pub(crate) wrote: Option<Revision>,
    /// Whether an object was made where the verb alone does not say so.
    pub(crate) created: bool,
    /// The older version of a kind in which the request speaks.
    pub(crate) version: Option<Kind>,
    /// If the kind is one that somebody defined: how.
    pub(crate) spoken: Option<Arc<Spoken>>,
    /// Who owns the fields that are written, if the client gave itself a name.
    pub(crate) manager: Option<Arc<str>>,
    /// Whether an apply takes fields from their owners.
    pub(crate) force: bool,
    /// The part of the object that is written.
    pub(crate) part: &'static str,
    /// How the write is signed, if in another way than by the manager.
    pub(crate) by: Option<Arc<Write>>,
    /// Whether a write that changes nothing is a write all the same, because its owners change.
    pub(crate) rewrite: bool,
    /// In whose name it is asked, if not in the program's own.
    pub(crate) user: Option<Arc<kubestep_model::User>>,
    /// How much of a list is wanted, and of which time.
    pub(crate) list: Option<Arc<kubestep_model::ListOptions>>,
}

impl Turn<'_> {
    /// Writes an object, or in a dry run only shows it.
    pub(crate) fn put(&mut self, object: Object) -> Object {
        if self.dry_run {
            return object;
        }
        let named = || self.manager.as_ref().map(|m| Arc::new(Write::Updated(m.clone())));
        let by = self.by.clone().or_else(named);
        let signed = Signed { who: &self.who.user_agent, part: self.part, by };
        let object = self.store.put(object, self.now, signed);
        self.wrote = Some(self.store.revision());
        object
    }

    /// Removes an object, or in a dry run only shows it.
    pub(crate) fn remove(&mut self, object: &Object) -> Object {
        if self.dry_run {
            return object.clone();
        }
        let gone = self.store.remove(&object.key(), self.now, &self.who.user_agent);
        self.wrote = Some(self.store.revision());
        gone.unwrap_or_else(|| object.clone())
    }

    /// A write that the API server makes on its own.
    pub(crate) fn put_own(
        &mut self,
        object: Object,
        verb: &'static str,
        subresource: &'static str,
        code: u16,
    ) {
        if self.dry_run {
            return;
        }
        let object = self.store.put(object, self.now, &OWN_AGENT.into());
        self.tell_own(&object, verb, subresource, code);
    }

    /// A write that a small loop makes at once, for which there is no program here.
    pub(crate) fn put_for(&mut self, agent: &'static str, object: Object, verb: &'static str) {
        if self.dry_run {
            return;
        }
        let object = self.store.put(object, self.now, &agent.into());
        self.tell_own(&object, verb, "", 200);
        if let Some(told) = self.side.last_mut() {
            told.who = agent.into();
            told.user = format!("system:serviceaccount:kube-system:{agent}").into();
        }
    }

    /// A removal that the API server makes on its own.
    pub(crate) fn remove_own(&mut self, object: &Object) {
        if self.dry_run || self.store.remove(&object.key(), self.now, &OWN_AGENT.into()).is_none() {
            return;
        }
        self.tell_own(object, "delete", "", 200);
    }

    fn tell_own(&mut self, object: &Object, verb: &'static str, subresource: &'static str, code: u16) {
        let meta = object.meta();
        self.side.push(Audit {
            at: self.now,
            who: OWN_AGENT.into(),
            user: OWN_USER.into(),
            verb,
            kind: object.kind(),
            namespace: meta.namespace.clone(),
            name: meta.name.clone(),
            subresource,
            code,
            revision: Some(self.store.revision()),
        });
    }

    /// Whether the kind has a status of its own to write.
    pub(crate) fn has_status(&self, kind: Kind) -> bool {
        match &self.spoken {
            Some(spoken) => spoken.subresource("status").is_some(),
            None => strategy::has_status(kind),
        }
    }

    /// The answer that shows an object.
    pub(crate) fn show(&mut self, object: Object) -> Answer {
        Answer::Object { object, warnings: std::mem::take(&mut self.warnings) }
    }

    /// Draws the end of a name.
    pub(crate) fn draw_name(&mut self, base: &str) -> Arc<str> {
        random_name::generate_name(base, &mut |bound| self.dice.below("name", bound)).into()
    }

    /// Draws a uid.
    pub(crate) fn draw_uid(&mut self) -> Arc<str> {
        self.dice.uuid().into()
    }

    /// The object of a key, or 404.
    pub(crate) fn find(&self, key: &kubestep_model::Key) -> Result<Object, Status> {
        self.store.get(key).cloned().ok_or_else(|| Status::not_found(key.kind, &key.name))
    }
}
