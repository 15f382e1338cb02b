//! Kinds that people define: whether a request about one is served, and what becomes of its objects.
//!
//! Upstream: apiextensions-apiserver, pkg/apiserver/customresource_handler.go and pkg/registry/customresource (v1.37).
//! Left out: rules in CEL (`x-kubernetes-validations` are kept and not run) and conversion by webhooks.

mod embedded;
mod formats;
mod items;
mod names;
mod prune;
#[cfg(test)]
mod tests;
mod values;

use crate::{Store, decode::Decoded, turn::Turn, validation::field::Errors};
use kubestep_model::{
    Custom, Instant, Kind, Object, Request, Status, Time, Verb,
    arrange::Arrange,
    defined::{DEFINITION, Definition, definition_key},
    schema,
    yaml::Spans,
};
use serde_json::{Map, Value};
use std::{sync::Arc, time::Duration};

pub(crate) use formats::is_known as is_known_format;
pub(crate) use names::{mark, settle};
pub(crate) use prune::prune;
pub(crate) use values::{Fault, check as check_values, shown};

/// Schemas are not followed deeper than this.
pub(crate) const DEEPEST: usize = 100;

/// A request about a defined kind: the definition, and the version that is spoken.
#[derive(Clone, Debug)]
pub(crate) struct Spoken {
    definition: Arc<Custom>,
    /// The kind in the version of the request.
    pub(crate) kind: Kind,
}

impl Spoken {
    fn definition(&self) -> Definition<'_> {
        Definition::of_custom(&self.definition)
    }

    /// The kind under which objects are kept.
    pub(crate) fn stored(&self) -> Kind {
        self.definition().stored_kind()
    }

    fn version(&self) -> &Value {
        let name = self.kind.version();
        self.definition().versions().iter().find(|v| v["name"] == name).unwrap_or(&Value::Null)
    }

    /// What the version says of the shape of its objects.
    pub(crate) fn schema(&self) -> &Value {
        &self.version()["schema"]["openAPIV3Schema"]
    }

    /// The same of the version that is stored now: its defaults are filled in when an object is read.
    fn stored_schema(&self) -> &Value {
        let storage = self.definition().versions().iter().find(|v| v["storage"] == true);
        storage.map_or(&Value::Null, |v| &v["schema"]["openAPIV3Schema"])
    }

    /// One of the subresources, if it is there; the status' own is an empty map.
    pub(crate) fn subresource(&self, name: &str) -> Option<&Value> {
        self.version()["subresources"].get(name).filter(|s| !s.is_null())
    }

    /// Whether fields that the schema does not know are kept.
    fn keeps_all(&self) -> bool {
        self.definition().spec()["preserveUnknownFields"] == true
    }

    /// The fields by which objects can be selected, as paths without the first dot.
    pub(crate) fn selectable(&self) -> Vec<&str> {
        let fields = self.version()["selectableFields"].as_array().into_iter().flatten();
        fields.filter_map(|f| f["jsonPath"].as_str()).map(|p| p.trim_start_matches('.')).collect()
    }

    /// What is said to everybody who uses this version.
    fn deprecation(&self) -> Option<String> {
        let version = self.version();
        if version["deprecated"] != true {
            return None;
        }
        let kind = self.kind;
        Some(match version["deprecationWarning"].as_str() {
            Some(text) => text.to_owned(),
            None => self.replaced().map_or_else(
                || format!("{} {} is deprecated", kind.api_version(), kind.name()),
                |new| format!("{0} {1} is deprecated; use {new} {1}", kind.api_version(), kind.name()),
            ),
        })
    }

    /// The newer version that is not deprecated.
    fn replaced(&self) -> Option<String> {
        let newer = self.definition().served().into_iter().take_while(|k| *k != self.kind);
        let fresh =
            |k: &Kind| self.definition().version(k.version()).is_some_and(|v| v["deprecated"] != true);
        newer.filter(fresh).map(Kind::api_version).next()
    }

    fn is_ending(&self) -> bool {
        self.definition.metadata.is_terminating() || self.definition().is("Terminating")
    }
}

/// The definition of a kind in the store.
fn definition_of(store: &Store, kind: Kind) -> Option<Arc<Custom>> {
    match store.get(&definition_key(kind)) {
        Some(Object::Custom(custom)) => Some(custom.clone()),
        _ => None,
    }
}

/// Whether a request about a defined kind is served, and by which definition.
pub(crate) fn spoken(turn: &mut Turn<'_>, verb: &Verb) -> Result<Arc<Spoken>, Status> {
    let kind = verb.kind();
    let spoken = definition_of(&turn.store, kind)
        .map(|definition| Spoken { definition, kind })
        // The API server's own loops know objects by the kind under which they are kept.
        .filter(|s| s.definition().served().contains(&kind) || s.stored() == kind)
        .ok_or_else(Status::no_such_resource)?;
    turn.warnings.extend(spoken.deprecation());
    if spoken.is_ending() && matches!(verb, Verb::Create { .. }) {
        let mut status = Status::method_not_allowed();
        status.message = "create not allowed while custom resource definition is terminating".into();
        return Err(status);
    }
    Ok(Arc::new(spoken))
}

/// Reads JSON as an object of the kind: without what its schema does not know, with its defaults.
///
/// # Errors
/// What makes it no such object, and with strict reading what is not known.
pub(crate) fn read(turn: &mut Turn<'_>, spoken: &Spoken, value: &Value) -> Result<Object, String> {
    let mut value = value.clone();
    let mut unknown = vec![];
    if let Value::Object(map) = &mut value
        && let Some(metadata) = map.remove("metadata")
    {
        // Metadata has the same shape in all kinds.
        let holder = serde_json::json!({"metadata": metadata});
        let read = schema::strict("ConfigMap", "v1", &holder, &Spans::default())?;
        if let Some(error) = read.error {
            return Err(error.text);
        }
        unknown.extend(read.unknown_fields.into_iter().map(|note| note.text));
        if let Some(metadata) = read.value.get("metadata") {
            map.insert("metadata".into(), metadata.clone());
        }
    }
    if !spoken.keeps_all() {
        unknown.extend(prune(&mut value, spoken.schema(), true));
        prune::nulls(&mut value, spoken.schema());
    }
    unknown.extend(embedded::coerce(&mut value, spoken.schema()));
    if turn.strict && !unknown.is_empty() {
        return Err(format!("strict decoding error: {}", unknown.join(", ")));
    }
    turn.warnings.extend(unknown);
    prune::fill(&mut value, spoken.schema(), 0);
    Object::from_value(spoken.stored(), value)
}

/// A body or a patched object as what will be stored.
pub(crate) fn decoded(turn: &mut Turn<'_>, spoken: &Spoken, value: &Value) -> Result<Decoded, String> {
    Ok(Decoded { object: read(turn, spoken, value)?, checked: false })
}

/// A stored object as the version of the request shows it.
pub(crate) fn in_version(object: &Object, spoken: &Spoken) -> Object {
    let Object::Custom(custom) = object else { return object.clone() };
    if custom.kind != spoken.stored() {
        return object.clone();
    }
    let mut rest = Value::Object(custom.rest.clone());
    prune::fill(&mut rest, spoken.stored_schema(), 0);
    if !spoken.keeps_all() {
        prune(&mut rest, spoken.schema(), true);
    }
    let rest = rest.as_object().cloned().unwrap_or_default();
    Object::Custom(Arc::new(Custom { kind: spoken.kind, metadata: custom.metadata.clone(), rest }))
}

/// Before a new object is stored.
pub(crate) fn prepare_for_create(spoken: &Spoken, object: &mut Custom) {
    if spoken.subresource("status").is_some() {
        object.rest.remove("status");
    }
    object.metadata.generation = 1;
}

/// Before a changed object is stored: whatever changes beside the metadata counts.
pub(crate) fn prepare_for_update(spoken: &Spoken, new: &mut Custom, old: &Custom) {
    if spoken.subresource("status").is_some() {
        copy(&mut new.rest, &old.rest, "status");
    }
    if new.rest != old.rest {
        new.metadata.generation = old.metadata.generation + 1;
    }
}

/// Before a changed status is stored: all else stays, its metadata too but for who manages it.
///
/// Upstream: pkg/registry/customresource/status_strategy.go (v1.37).
pub(crate) fn prepare_for_status(new: &mut Custom, old: &Custom) {
    let status = new.rest.remove("status");
    new.rest = old.rest.clone();
    new.rest.remove("status");
    new.rest.extend(status.map(|status| ("status".to_owned(), status)));
    let version = std::mem::take(&mut new.metadata.resource_version);
    new.metadata = old.metadata.clone();
    new.metadata.resource_version = version;
}

fn copy(new: &mut Map<String, Value>, old: &Map<String, Value>, name: &str) {
    match old.get(name) {
        Some(value) => drop(new.insert(name.to_owned(), value.clone())),
        None => drop(new.remove(name)),
    }
}

/// What is wrong with an object beside its metadata; of a status write only the status is looked at.
pub(crate) fn check(spoken: &Spoken, new: &Custom, old: Option<&Custom>, only_status: bool) -> Errors {
    let mut errors = Errors::new();
    let (schema, whole) = (spoken.schema(), Object::Custom(Arc::new(new.clone())).to_value());
    if only_status {
        if let Some(status) = new.rest.get("status") {
            let before = old.and_then(|old| old.rest.get("status"));
            let faults = values::check_changed(&schema["properties"]["status"], status, before, "");
            report(&mut errors, "status", faults);
        }
    } else {
        let before =
            old.map(|old| Object::Custom(Arc::new(Custom { kind: new.kind, ..old.clone() })).to_value());
        report(&mut errors, "", values::check_changed(schema, &whole, before.as_ref(), ""));
        check_scale(&mut errors, spoken, &whole, "specReplicasPath");
    }
    check_scale(&mut errors, spoken, &whole, "statusReplicasPath");
    embedded::check(&mut errors, schema, &whole, "", 0);
    let before = old.map(|old| items::check(schema, &Value::Object(old.rest.clone()), "", 0));
    if before.is_none_or(|before| before.is_empty()) {
        errors.append(items::check(schema, &whole, "", 0));
    }
    errors
}

/// Faults of values as refusals of fields.
///
/// Upstream: pkg/apiserver/validation, kubeOpenAPIResultToFieldErrors (v1.37).
pub(crate) fn report(errors: &mut Errors, root: &str, faults: Vec<Fault>) {
    for fault in faults {
        let path = fault.path.trim_start_matches('.');
        let field = match (root.is_empty(), path.is_empty()) {
            (_, true) => root.to_owned(),
            (true, _) => path.to_owned(),
            (false, false) => format!("{root}.{path}"),
        };
        fault.what.tell(errors, if field.is_empty() { "<nil>" } else { &field });
    }
}

/// The number that a path of the scale leads to has to be one.
fn check_scale(errors: &mut Errors, spoken: &Spoken, whole: &Value, which: &str) {
    let Some(path) = spoken.subresource("scale").and_then(|s| s[which].as_str()) else { return };
    let found = at(whole, path);
    if found.is_null() {
        return;
    }
    match found.as_i64() {
        None => errors.invalid(
            path,
            "0",
            &format!(
                "{path} accessor error: {} is of the type {}, expected int64",
                go_shown(found),
                go_type(found)
            ),
        ),
        Some(n) if n < 0 => errors.invalid(path, &n.to_string(), "should be a non-negative integer"),
        Some(n) if n > i64::from(i32::MAX) => {
            errors.invalid(path, &n.to_string(), "should be less than or equal to 2147483647");
        }
        Some(_) => {}
    }
}

fn go_shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// What a path like `.spec.replicas` leads to.
pub(crate) fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.trim_start_matches('.').split('.').fold(value, |value, step| &value[step])
}

/// What is said of finalizers that nobody can tell from others', where they are new.
///
/// Upstream: pkg/registry/customresource/validator.go, validateKubeFinalizerName (v1.37).
pub(crate) fn finalizer_warnings(new: &Object, old: Option<&Object>) -> Vec<String> {
    const STANDARD: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];
    let before = old.map(|o| o.meta().finalizers.as_slice()).unwrap_or_default();
    let all = &new.meta().finalizers;
    let mut fresh: Vec<&String> = all.iter().filter(|f| !before.contains(f)).collect();
    fresh.arrange();
    let plain = |f: &&&String| !f.contains('/') && !STANDARD.contains(&f.as_str());
    let said = |f: &&String| {
        let path = if f.contains('.') { " including a path (/)" } else { "" };
        format!(
            "metadata.finalizers: \"{f}\": prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"
        )
    };
    fresh.iter().filter(plain).map(said).collect()
}

/// Writes what a path leads to, making the maps on its way.
pub(crate) fn put_at(rest: &mut Map<String, Value>, path: &str, new: Value) {
    let mut steps: Vec<&str> = path.trim_start_matches('.').split('.').collect();
    let Some(last) = steps.pop() else { return };
    let mut map = rest;
    for step in steps {
        let next = map.entry(step).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(next) = next else { return };
        map = next;
    }
    map.insert(last.to_owned(), new);
}

/// Whether an object is a definition or is made by one, so that what the API server does on its own may follow.
pub(crate) fn concerns(kind: Kind) -> bool {
    kind == DEFINITION || kind.is_defined()
}

/// How long a creation waits that comes right after its definition, so that every API server may have heard of it.
pub const SETTLING: Duration = Duration::from_secs(2);

/// Whether a request creates an object of a kind that is served for less than [`SETTLING`].
///
/// Upstream: customresource_handler.go, ServeHTTP, the case of `create` (v1.37).
pub fn waits_for_definition(store: &Store, request: &Request, now: Instant) -> bool {
    let Verb::Create { kind, .. } = &request.verb else { return false };
    if !kind.is_defined() {
        return false;
    }
    let Some(definition) = definition_of(store, *kind) else { return false };
    let conditions = &Definition::of_custom(&definition).status()["conditions"];
    let established = conditions
        .as_array()
        .into_iter()
        .flatten()
        .find(|c| c["type"] == "Established" && c["status"] == "True");
    let since = established.and_then(|c| c["lastTransitionTime"].as_str()).and_then(Time::parse);
    since.is_some_and(|since| now.to_time().0.saturating_sub(since.0) < SETTLING.as_secs().cast_signed())
}
