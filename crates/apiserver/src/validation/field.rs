//! Refusals of single fields, in Kubernetes' words.
//!
//! Upstream: k8s.io/apimachinery/pkg/util/validation/field (v1.37).

use kubestep_model::{Cause, arrange::Arrange, text::go, text::names};
use serde_json::Value;

/// What was found wrong so far, in order.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    causes: Vec<Cause>,
    /// What upstream declares beside the fields of its types; such checks come after all others.
    declared: Vec<Cause>,
}

impl Errors {
    pub(crate) fn new() -> Self {
        Errors::default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.declared.is_empty()
    }

    /// In order; what was said twice is said once.
    pub(crate) fn into_causes(self) -> Vec<Cause> {
        let mut causes: Vec<Cause> = vec![];
        for cause in self.causes.into_iter().chain(self.declared) {
            if !causes.contains(&cause) {
                causes.push(cause);
            }
        }
        causes
    }

    /// By their texts, where upstream sorts what it found in maps.
    pub(crate) fn arrange(&mut self) {
        self.causes.arrange_by_key(|c| format!("{}: {}", c.field, c.message));
    }

    pub(crate) fn append(&mut self, mut other: Errors) {
        self.causes.append(&mut other.causes);
        self.declared.append(&mut other.declared);
    }

    /// What was found by checks that upstream declares: it is told last.
    pub(crate) fn append_declared(&mut self, mut other: Errors) {
        self.declared.append(&mut other.causes);
        self.declared.append(&mut other.declared);
    }

    /// Tells last, in the words that `as_declared` gives, what another version of a kind declares.
    pub(crate) fn declare(&mut self, as_declared: &dyn Fn(&Cause) -> Option<String>) {
        for cause in std::mem::take(&mut self.causes) {
            match as_declared(&cause) {
                Some(message) => self.declared.push(Cause { message, ..cause }),
                None => self.causes.push(cause),
            }
        }
    }

    /// One check that upstream declares.
    pub(crate) fn declared(&mut self, check: &dyn Fn(&mut Errors)) {
        let mut own = Errors::new();
        check(&mut own);
        self.append_declared(own);
    }

    fn push(&mut self, reason: &str, field: &str, message: String) {
        self.causes.push(Cause { reason: reason.into(), message, field: field.into() });
    }

    /// Something has to stand there.
    pub(crate) fn required(&mut self, field: &str, detail: &str) {
        let message =
            if detail.is_empty() { "Required value".to_owned() } else { format!("Required value: {detail}") };
        self.push("FieldValueRequired", field, message);
    }

    /// What stands there is wrong; `shown` is how Go prints it.
    pub(crate) fn invalid(&mut self, field: &str, shown: &str, detail: &str) {
        let message = if detail.is_empty() {
            format!("Invalid value: {shown}")
        } else {
            format!("Invalid value: {shown}: {detail}")
        };
        self.push("FieldValueInvalid", field, message);
    }

    /// As `invalid`, of a value whose type is wrong.
    pub(crate) fn type_invalid(&mut self, field: &str, shown: &str, detail: &str) {
        self.push("FieldValueTypeInvalid", field, format!("Invalid value: {shown}: {detail}"));
    }

    /// As `invalid`, where the value itself is not shown.
    pub(crate) fn invalid_unshown(&mut self, field: &str, detail: &str) {
        self.push("FieldValueInvalid", field, format!("Invalid value: {detail}"));
    }

    /// As `invalid`, for a text.
    pub(crate) fn invalid_text(&mut self, field: &str, text: &str, detail: &str) {
        self.invalid(field, &go::quote(text), detail);
    }

    /// One refusal for each message of a check.
    pub(crate) fn invalid_each(&mut self, field: &str, text: &str, messages: Vec<String>) {
        for message in messages {
            self.invalid_text(field, text, &message);
        }
    }

    /// One refusal for each message of a check of a number.
    pub(crate) fn invalid_number(&mut self, field: &str, number: i64, messages: Vec<String>) {
        for message in messages {
            self.invalid(field, &number.to_string(), &message);
        }
    }

    /// Only some values are known.
    pub(crate) fn not_supported(&mut self, field: &str, shown: &str, known: &[&str]) {
        let known: Vec<String> = known.iter().map(|k| go::quote(k)).collect();
        let message = format!("Unsupported value: {shown}: supported values: {}", known.join(", "));
        self.push("FieldValueNotSupported", field, message);
    }

    /// As `not_supported`, for a text.
    pub(crate) fn not_supported_text(&mut self, field: &str, text: &str, known: &[&str]) {
        self.not_supported(field, &go::quote(text), known);
    }

    /// It stands there twice; `shown` is how Go prints it.
    pub(crate) fn duplicate(&mut self, field: &str, shown: &str) {
        self.push("FieldValueDuplicate", field, format!("Duplicate value: {shown}"));
    }

    /// It may not stand there.
    pub(crate) fn forbidden(&mut self, field: &str, detail: &str) {
        self.push("FieldValueForbidden", field, format!("Forbidden: {detail}"));
    }

    /// As `forbidden`, without a word why.
    pub(crate) fn forbidden_bare(&mut self, field: &str) {
        self.push("FieldValueForbidden", field, "Forbidden".into());
    }

    /// It names something that is not there.
    pub(crate) fn not_found(&mut self, field: &str, text: &str) {
        self.push("FieldValueNotFound", field, format!("Not found: {}", go::quote(text)));
    }

    /// As `not_found`, with a word about what there is.
    pub(crate) fn not_found_because(&mut self, field: &str, text: &str, why: &str) {
        self.push("FieldValueNotFound", field, format!("Not found: {}: {why}", go::quote(text)));
    }

    /// As `duplicate`, with a word about what has to be unique.
    pub(crate) fn duplicate_because(&mut self, field: &str, shown: &str, why: &str) {
        self.push("FieldValueDuplicate", field, format!("Duplicate value: {shown}: {why}"));
    }

    /// Something went wrong while checking.
    pub(crate) fn internal(&mut self, field: &str, why: &str) {
        self.push("InternalError", field, format!("Internal error: {why}"));
    }

    /// It is too long.
    pub(crate) fn too_long(&mut self, field: &str, bytes: usize) {
        self.push("FieldValueTooLong", field, format!("Too long: may not be more than {bytes} bytes"));
    }

    /// There are too many of them.
    pub(crate) fn too_many(&mut self, field: &str, there: usize, most: usize) {
        let message = format!("Too many: {there}: must have at most {most} items");
        self.push("FieldValueTooMany", field, message);
    }

    /// As `not_negative`, for a field that may be absent.
    pub(crate) fn not_negative_in(&mut self, parent: &Value, name: &str, field: &str) {
        if let Some(number) = parent[name].as_i64() {
            self.not_negative(&format!("{field}.{name}"), number);
        }
    }

    /// A field that is for life; `shown` is how Go prints its new value.
    pub(crate) fn immutable(&mut self, field: &str, new: &Value, old: &Value, shown: &str) {
        if same(new, old) {
            return;
        }
        self.invalid(field, shown, IMMUTABLE);
    }

    /// Numbers below zero are refused.
    pub(crate) fn not_negative(&mut self, field: &str, number: i64) {
        if number < 0 {
            self.invalid(field, &number.to_string(), NEGATIVE);
        }
    }

    /// A choice among few, if one is made.
    pub(crate) fn choice(&mut self, field: &str, value: &Value, known: &[&str]) {
        if given(value) && !known.contains(&text(value)) {
            self.not_supported_text(field, text(value), known);
        }
    }

    /// As [`Errors::choice`], where one has to be made.
    pub(crate) fn needed_choice(&mut self, field: &str, value: &Value, known: &[&str]) {
        if text(value).is_empty() { self.required(field, "") } else { self.choice(field, value, known) }
    }

    /// A name that has to be a DNS subdomain.
    pub(crate) fn subdomain(&mut self, field: &str, text: &str) {
        self.invalid_each(field, text, names::is_dns1123_subdomain(text));
    }

    /// A label's key, or what looks like one.
    pub(crate) fn qualified_name(&mut self, field: &str, text: &str) {
        self.invalid_each(field, text, names::is_qualified_name(text));
    }

    /// One refusal with all messages of a check.
    pub(crate) fn invalid_joined(&mut self, field: &str, text: &str, messages: &[String]) {
        if !messages.is_empty() {
            self.invalid_text(field, text, &messages.join(","));
        }
    }

    /// As [`Errors::too_long`], where letters are counted.
    pub(crate) fn too_many_letters(&mut self, field: &str, letters: usize) {
        self.push("FieldValueTooLong", field, format!("Too long: may not be more than {letters} characters"));
    }

    /// The name of a driver. Upstream: ValidateCSIDriverName.
    pub(crate) fn driver(&mut self, field: &str, name: &str) {
        if name.is_empty() {
            self.required(field, "");
            return;
        }
        if name.len() > names::LABEL_MAX {
            self.too_long(field, names::LABEL_MAX);
        }
        self.invalid_each(field, name, names::is_dns1123_subdomain(&name.to_ascii_lowercase()));
    }

    /// The name of a driver where upstream declares what it has to be: in other words, and told last.
    pub(crate) fn declared_driver(&mut self, field: &str, name: &str) {
        self.declared(&|errors: &mut Errors| errors.caseless_driver(field, name));
    }

    /// The same among others that are declared.
    pub(crate) fn caseless_driver(&mut self, field: &str, name: &str) {
        if name.is_empty() {
            self.required(field, "");
            return;
        }
        self.invalid_each(field, name, names::is_caseless_subdomain(name));
        if name.chars().count() > names::LABEL_MAX {
            self.too_many_letters(field, names::LABEL_MAX);
        }
    }

    /// A selector of labels, if there is one.
    pub(crate) fn label_selector(&mut self, field: &str, selector: &Value) {
        if given(selector) {
            let selector = serde_json::from_value(selector.clone()).unwrap_or_default();
            super::workload::label_selector(self, &selector, field);
        }
    }

    /// A name that has to be a DNS label.
    pub(crate) fn dns_label(&mut self, field: &str, text: &str) {
        self.invalid_each(field, text, names::is_dns1123_label(text));
    }
}

pub(crate) const NEGATIVE: &str = "must be greater than or equal to 0";
pub(crate) const IMMUTABLE: &str = "field is immutable";

/// A text, empty where none stands.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A number, 0 where none stands.
pub(crate) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

/// The items of a list, none where no list stands.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The entries of a map, sorted by key.
pub(crate) fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// Whether a field is set to true.
pub(crate) fn flag(value: &Value) -> bool {
    value.as_bool().unwrap_or(false)
}

/// Whether a field is there.
pub(crate) fn given(value: &Value) -> bool {
    !value.is_null()
}

/// Whether two values are the same to Go, which does not tell an empty list or map from none.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    let empty = |v: &Value| match v {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    a == b || (empty(a) && empty(b))
}

/// What a path in a URL may not hold.
///
/// Upstream: k8s.io/apimachinery/pkg/api/validation/path, IsValidPathSegmentName (v1.37).
pub(crate) fn path_segment(name: &str) -> Vec<String> {
    if name == "." || name == ".." {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"].iter().filter(|c| name.contains(**c)).map(|c| format!("may not contain '{c}'")).collect()
}
