//! Reading objects that have no struct: fields by their path, empty where they are absent or of another type.

use kubestep_model::arrange::Gather;
use kubestep_model::{LabelSelector, Labels, Quantity, Time};
use serde_json::{Map, Value};

static NULL: Value = Value::Null;

/// Fields by a path as `spec.template.spec`; names with dots in them are read with `get`.
pub(crate) trait Fields {
    /// The value itself; null if it is absent.
    fn at(&self, path: &str) -> &Value;

    /// Whether it is there and not null.
    fn has(&self, path: &str) -> bool {
        !self.at(path).is_null()
    }

    /// A text; empty if it is absent.
    fn text(&self, path: &str) -> &str {
        self.at(path).as_str().unwrap_or_default()
    }

    /// A text, or another where it is empty.
    fn text_or<'a>(&'a self, path: &str, otherwise: &'a str) -> &'a str {
        Some(self.text(path)).filter(|t| !t.is_empty()).unwrap_or(otherwise)
    }

    /// A whole number; zero if it is absent.
    fn int(&self, path: &str) -> i64 {
        self.at(path).as_i64().unwrap_or_default()
    }

    /// Whether it is true.
    fn on(&self, path: &str) -> bool {
        self.at(path).as_bool().unwrap_or_default()
    }

    /// The elements of a list.
    fn list(&self, path: &str) -> &[Value] {
        self.at(path).as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The texts of a list.
    fn texts(&self, path: &str) -> Vec<&str> {
        self.list(path).iter().filter_map(Value::as_str).collect()
    }

    /// A map; None if it is absent.
    fn map(&self, path: &str) -> Option<&Map<String, Value>> {
        self.at(path).as_object()
    }

    /// A map of texts.
    fn labels(&self, path: &str) -> Labels {
        let text = |(k, v): (&String, &Value)| v.as_str().map(|v| (k.clone(), v.to_owned()));
        self.map(path).into_iter().flatten().filter_map(text).gather()
    }

    /// A point in time.
    fn time(&self, path: &str) -> Option<Time> {
        Time::parse(self.text(path))
    }

    /// A number or text as a person reads it, as an `IntOrString` prints itself.
    fn shown(&self, path: &str) -> String {
        shown(self.at(path))
    }

    /// A quantity in its canonical form; `0` if it is absent.
    fn quantity(&self, path: &str) -> String {
        quantity(self.at(path)).to_string()
    }

    /// A label selector as tables show it. Upstream: metav1.FormatLabelSelector.
    fn selector(&self, path: &str) -> String {
        label_selector(self.at(path)).map_or_else(|| "<none>".to_owned(), |s| s.format())
    }
}

impl Fields for Value {
    fn at(&self, path: &str) -> &Value {
        path.split('.').try_fold(self, |value, name| value.get(name)).unwrap_or(&NULL)
    }
}

/// A number or a text without quotes.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => kubestep_model::yaml::json::encode(other),
    }
}

/// A quantity; zero if it is none.
pub(crate) fn quantity(value: &Value) -> Quantity {
    Quantity::parse(&shown(value)).unwrap_or_default()
}

/// A label selector; None if there is none.
pub(crate) fn label_selector(value: &Value) -> Option<LabelSelector> {
    if value.is_null() { None } else { serde_json::from_value(value.clone()).ok() }
}
