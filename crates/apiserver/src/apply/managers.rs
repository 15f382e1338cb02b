//! Who owns which fields of an object, found from how it came to be: the log of writes.
//!
//! Upstream: k8s.io/apimachinery/pkg/util/managedfields and structured-merge-diff, merge/update.go. There every object
//! carries its owners; here they are worked out when somebody asks, which is when something is applied.

use super::fields::{self, Set};
use crate::{Store, store::LogEntry, store::Write, strategy};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    Key, Kind, Object,
    patch::LAST_APPLIED,
    schema::{self, Place},
};
use serde_json::{Value, json};

/// One who owns fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manager {
    pub(crate) name: String,
    /// Whether it applies, or writes in any other way.
    pub(crate) applies: bool,
    pub(crate) subresource: String,
    pub(crate) set: Set,
    /// When it began to own.
    pub(crate) time: Option<String>,
}

impl Manager {
    /// As conflicts name it; `version` is the one in which it writes.
    pub(crate) fn shown(&self, version: &str) -> String {
        let mut out = format!("\"{}\"", self.name);
        if !self.subresource.is_empty() {
            out.push_str(&format!(" with subresource \"{}\"", self.subresource));
        }
        if !self.applies {
            out.push_str(&format!(" using {version}"));
        }
        out
    }

    /// As owners are told apart and sorted upstream: an entry of `managedFields` as JSON, without fields and times.
    pub(crate) fn identifier(&self, version: &str) -> String {
        let (operation, version) = if self.applies {
            ("Apply", String::new())
        } else {
            ("Update", format!(",\"apiVersion\":\"{version}\""))
        };
        let part = match self.subresource.as_str() {
            "" => String::new(),
            part => format!(",\"subresource\":\"{part}\""),
        };
        format!("{{\"manager\":\"{}\",\"operation\":\"{operation}\"{version}{part}}}", self.name)
    }

    pub(crate) fn is(&self, name: &str, applies: bool, subresource: &str) -> bool {
        self.name == name && self.applies == applies && self.subresource == subresource
    }
}

/// All owners of an object, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Managers(pub(crate) Vec<Manager>);

impl Managers {
    /// The set of one owner; empty if it owns nothing.
    pub(crate) fn of(&self, name: &str, applies: bool, subresource: &str) -> Set {
        let found = self.0.iter().find(|m| m.is(name, applies, subresource));
        found.map(|m| m.set.clone()).unwrap_or_default()
    }

    fn put(&mut self, name: &str, applies: bool, subresource: &str, set: Set) {
        match self.0.iter_mut().find(|m| m.is(name, applies, subresource)) {
            Some(there) => there.set = set,
            None => self.0.push(Manager {
                name: name.into(),
                applies,
                subresource: subresource.into(),
                set,
                time: None,
            }),
        }
        self.0.retain(|m| !m.set.is_empty());
    }

    /// What somebody changed is no longer the others'.
    fn take_from_others(&mut self, name: &str, applies: bool, subresource: &str, gone: &Set) {
        for other in self.0.iter_mut().filter(|m| !m.is(name, applies, subresource)) {
            other.set.retain(|path| !gone.contains(path));
        }
    }

    /// A write that is no apply.
    /// Answers whether it took any fields.
    fn update(&mut self, place: Place, kind: Kind, old: &Value, new: &Value, name: &str, part: &str) -> bool {
        let mut found = fields::compare(place, old, new);
        for set in [&mut found.added, &mut found.modified, &mut found.removed] {
            fields::strip(set, strategy::has_status(kind), part);
        }
        let changed: Set = found.added.union(&found.modified).cloned().collect();
        let all: Set = changed.union(&found.removed).cloned().collect();
        self.take_from_others(name, false, part, &all);
        let mut own = self.of(name, false, part);
        own.retain(|path| !found.removed.contains(path));
        let took = !changed.is_empty();
        own.extend(changed);
        self.put(name, false, part, own);
        took
    }

    /// An apply that went through: others lose what it changed.
    pub(crate) fn apply(
        &mut self,
        place: Place,
        kind: Kind,
        old: &Value,
        new: &Value,
        applied: &Value,
        (name, part): (&str, &str),
    ) {
        let found = fields::compare(place, old, new);
        let mut changed: Set = found.added.union(&found.modified).chain(&found.removed).cloned().collect();
        // The server itself keeps the annotation of client-side apply true; that makes it nobody else's.
        if name == super::KUBECTL {
            let step = |name: &str| fields::Step::Field(name.into());
            changed.remove(&vec![step("metadata"), step("annotations"), step(LAST_APPLIED)]);
        }
        self.take_from_others(name, true, part, &changed);
        self.put(name, true, part, set_of(place, kind, applied, part));
    }

    /// As an object's `managedFields` shows them.
    pub(crate) fn to_json(&self, kind: Kind) -> Value {
        let one = |m: &Manager| {
            let mut entry = json!({
                "manager": m.name, "operation": if m.applies { "Apply" } else { "Update" }, "apiVersion": kind.api_version(),
                "fieldsType": "FieldsV1", "fieldsV1": fields::to_json(&m.set),
            });
            if !m.subresource.is_empty() {
                entry["subresource"] = m.subresource.as_str().into();
            }
            if let Some(time) = &m.time {
                entry["time"] = time.as_str().into();
            }
            entry
        };
        let mut sorted: Vec<&Manager> = self.0.iter().collect();
        sorted.arrange_by_key(|m| (!m.applies, m.time.clone(), m.name.clone(), m.subresource.clone()));
        sorted.into_iter().map(one).collect()
    }

    /// From an object's `managedFields`.
    pub(crate) fn from_json(value: &Value) -> Managers {
        let text = |m: &Value, name: &str| m[name].as_str().unwrap_or_default().to_owned();
        let one = |m: &Value| Manager {
            name: text(m, "manager"),
            applies: m["operation"] == "Apply",
            subresource: text(m, "subresource"),
            set: fields::from_json(&m["fieldsV1"]),
            time: m["time"].as_str().map(str::to_owned),
        };
        Managers(value.as_array().into_iter().flatten().map(one).filter(|m| !m.set.is_empty()).collect())
    }
}

/// What an applied object sets, without what nobody owns.
pub(crate) fn set_of(place: Place, kind: Kind, applied: &Value, part: &str) -> Set {
    let mut set = fields::of_object(place, applied);
    fields::strip(&mut set, strategy::has_status(kind), part);
    set
}

/// The owners of an object's fields.
pub(crate) fn of(store: &Store, key: &Key, place: Place) -> Managers {
    until(store, key, place, kubestep_model::Revision::MAX)
}

/// The owners of an object's fields as they were at a revision.
pub(crate) fn until(store: &Store, key: &Key, place: Place, last: kubestep_model::Revision) -> Managers {
    let mut managers = Managers::default();
    let mut known = false;
    let entries = store.log_after(store.oldest_revision()).take_while(|e| e.revision <= last);
    for entry in entries.filter(|e| e.key == *key) {
        let Some(new) = &entry.new else {
            managers = Managers::default();
            known = false;
            continue;
        };
        let (kind, mut new) = (key.kind, new.to_value());
        if entry.old.is_none() && kind == Kind::Service {
            without_given(&mut new);
        }
        if entry.old.is_none() {
            managers = Managers::default();
        } else if !known {
            // Older than what is remembered.
            let there = entry.old.as_ref().map(Object::to_value).unwrap_or_default();
            managers.update(place, kind, &nothing(kind), &there, "before-first-apply", "");
        }
        known = true;
        let old = entry.old.as_ref().map_or_else(|| nothing(kind), Object::to_value);
        replay(&mut managers, entry, place, &old, &new);
    }
    if !known && let Some(there) = store.get(key) {
        let began = there.meta().creation_timestamp.and_then(|t| serde_json::to_value(t).ok());
        managers.update(place, key.kind, &nothing(key.kind), &there.to_value(), maker(key), "");
        for manager in &mut managers.0 {
            manager.time = began.as_ref().and_then(Value::as_str).map(str::to_owned);
        }
    }
    managers
}

fn replay(managers: &mut Managers, entry: &LogEntry, place: Place, old: &Value, new: &Value) {
    let kind = entry.key.kind;
    let before = managers.0.clone();
    match entry.by.as_deref() {
        Some(Write::Applied { manager, object }) => {
            managers.apply(place, kind, old, new, object, (manager, entry.part));
        }
        Some(Write::Managers(there)) => *managers = Managers::from_json(there),
        Some(Write::Updated(manager)) => updated(managers, entry, place, old, new, manager),
        None => updated(managers, entry, place, old, new, name_of(&entry.who)),
    }
    // An apply that changes nothing in the object has no time.
    let time = serde_json::to_value(entry.at.to_time()).unwrap_or_default();
    let changed = compared(place, old, new);
    for manager in managers.0.iter_mut().filter(|m| changed && m.time.is_none() && m.subresource != "scale") {
        if !before.iter().any(|b| b.is(&manager.name, manager.applies, &manager.subresource)) {
            manager.time = time.as_str().map(str::to_owned);
        }
    }
}

/// A write that is no apply: who took a field by it, took it now. The scale has no times.
fn updated(managers: &mut Managers, entry: &LogEntry, place: Place, old: &Value, new: &Value, name: &str) {
    let took = managers.update(place, entry.key.kind, old, new, name, entry.part);
    let own = managers.0.iter_mut().find(|m| m.is(name, false, entry.part));
    if let Some(own) = own.filter(|_| took && entry.part != "scale") {
        let time = serde_json::to_value(entry.at.to_time()).unwrap_or_default();
        own.time = time.as_str().map(str::to_owned);
    }
}

/// Who made what was there before anything was written.
fn maker(key: &Key) -> &'static str {
    match key.kind {
        Kind::Node | Kind::Lease => "kubelet",
        Kind::ServiceAccount | Kind::ConfigMap => "kube-controller-manager",
        _ => "kube-apiserver",
    }
}

/// Whether a write changed anything that somebody may own.
fn compared(place: Place, old: &Value, new: &Value) -> bool {
    let mut found = fields::compare(place, old, new);
    let sets = [&mut found.added, &mut found.modified, &mut found.removed];
    sets.into_iter().any(|set| {
        fields::strip(set, false, "");
        !set.is_empty()
    })
}

/// How the loops of the controller manager are called that are no "controller".
const LOOPS: [&str; 4] = ["-collector", "-autoscaler", "-binder", "-publisher"];

/// A program's own name, where its request names no manager.
fn name_of(who: &str) -> &str {
    match who {
        "kubectl" | "kube-apiserver" | "kube-scheduler" => who,
        _ if who.starts_with("kubectl") => who,
        _ if who.starts_with("kubelet") => "kubelet",
        _ if who.ends_with("scheduler") => "kube-scheduler",
        _ if who.contains("controller") || LOOPS.iter().any(|end| who.ends_with(end)) => {
            "kube-controller-manager"
        }
        other => other,
    }
}

/// What the server gives to a new service after it has noted who asked for what is nobody's.
fn without_given(service: &mut Value) {
    let Some(spec) = service["spec"].as_object_mut() else { return };
    for name in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        spec.remove(name);
    }
    if spec.get("clusterIP").is_some_and(|ip| ip != "None") {
        spec.remove("clusterIP");
    }
}

/// A new object of a kind before anything is set: what Go writes of an empty struct.
fn nothing(kind: Kind) -> Value {
    schema::encode(&kind.api_version(), kind.name(), &json!({}))
}
