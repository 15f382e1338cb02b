//! One demand on a label, and the list of them that makes a selector.

use crate::arrange::Arrange;
use std::collections::BTreeMap;
use std::fmt;

use crate::text::{go, names};

/// How a requirement relates a label to its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    In,
    NotIn,
    Equals,
    DoubleEquals,
    NotEquals,
    GreaterThan,
    LessThan,
    Exists,
    DoesNotExist,
}

/// One demand on one label.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

impl Requirement {
    /// A checked requirement, or every fault of it in one text.
    ///
    /// Upstream: k8s.io/apimachinery/pkg/labels, NewRequirement (v1.37).
    pub fn new(key: &str, operator: Operator, values: Vec<String>) -> Result<Requirement, String> {
        let mut errors = Vec::new();
        errors.extend(key_error(key, "key"));
        let list = || if values.is_empty() { "null".to_owned() } else { json_list(&values) };
        let wrong = |reason: &str| format!("values: Invalid value: {}: {reason}", list());
        match operator {
            Operator::In | Operator::NotIn => {
                if values.is_empty() {
                    errors.push(wrong("for 'in', 'notin' operators, values set can't be empty"));
                }
            }
            Operator::Equals | Operator::DoubleEquals | Operator::NotEquals => {
                if values.len() != 1 {
                    errors.push(wrong("exact-match compatibility requires one single value"));
                }
            }
            Operator::Exists | Operator::DoesNotExist => {
                if !values.is_empty() {
                    errors.push(wrong("values set must be empty for exists and does not exist"));
                }
            }
            Operator::GreaterThan | Operator::LessThan => {
                if values.len() != 1 {
                    errors.push(wrong("for 'Gt', 'Lt' operators, exactly one value is required"));
                }
                for (i, value) in values.iter().enumerate() {
                    if go::parse_int(value).is_err() {
                        let value = go::quote(value);
                        let reason = "for 'Gt', 'Lt' operators, the value must be an integer";
                        errors.push(format!("values[{i}]: Invalid value: {value}: {reason}"));
                    }
                }
            }
        }
        for (i, value) in values.iter().enumerate() {
            let messages = names::is_valid_label_value(value);
            if !messages.is_empty() {
                let (value, reason) = (go::quote(value), messages.join("; "));
                errors.push(format!("values[{i}][{key}]: Invalid value: {value}: {reason}"));
            }
        }
        match aggregate(errors) {
            Some(error) => Err(error),
            None => Ok(Requirement { key: key.to_owned(), operator, values }),
        }
    }

    pub fn key(&self) -> &str {
        &self.key
    }

    pub fn operator(&self) -> Operator {
        self.operator
    }

    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Whether labels meet this demand. A label that is not there is not in any list.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let found = labels.get(&self.key);
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => {
                found.is_some_and(|value| self.values.contains(value))
            }
            Operator::NotIn | Operator::NotEquals => !found.is_some_and(|value| self.values.contains(value)),
            Operator::Exists => found.is_some(),
            Operator::DoesNotExist => found.is_none(),
            Operator::GreaterThan | Operator::LessThan => {
                let number = found.and_then(|value| go::parse_int(value).ok());
                let bound = match self.values.as_slice() {
                    [only] => go::parse_int(only).ok(),
                    _ => None,
                };
                match (number, bound) {
                    (Some(number), Some(bound)) if self.operator == Operator::GreaterThan => number > bound,
                    (Some(number), Some(bound)) => number < bound,
                    _ => false,
                }
            }
        }
    }
}

/// What is wrong with a label's key, as a field error at `path`.
pub(super) fn key_error(key: &str, path: &str) -> Option<String> {
    let messages = names::is_qualified_name(key);
    if messages.is_empty() {
        return None;
    }
    Some(format!("{path}: Invalid value: {}: {}", go::quote(key), messages.join("; ")))
}

/// Texts in a row as Go's JSON writes them, which also spells out what HTML would trip over.
fn json_list(values: &[String]) -> String {
    serde_json::to_string(values)
        .unwrap_or_default()
        .replace('&', "\\u0026")
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
}

/// Several errors as one: each text once, in brackets where there are more.
fn aggregate(errors: Vec<String>) -> Option<String> {
    let mut once: Vec<String> = Vec::with_capacity(errors.len());
    for error in errors {
        if !once.contains(&error) {
            once.push(error);
        }
    }
    match once.len() {
        0 => None,
        1 => once.pop(),
        _ => Some(format!("[{}]", once.join(", "))),
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sorted: Vec<&str> = self.values.iter().map(String::as_str).collect();
        sorted.arrange();
        let (key, values) = (&self.key, sorted.join(","));
        match self.operator {
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
        }
    }
}

/// A selector ready for matching: all its requirements must be met, sorted by key.
///
/// Upstream: k8s.io/apimachinery/pkg/labels, Selector (v1.37).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selector {
    /// None: matches nothing.
    requirements: Option<Vec<Requirement>>,
}

impl Selector {
    /// Matches every object.
    pub fn everything() -> Selector {
        Selector { requirements: Some(Vec::new()) }
    }

    /// Matches no object: what an absent selector means.
    pub fn nothing() -> Selector {
        Selector { requirements: None }
    }

    /// The selector of these requirements; those with the same key keep their order.
    pub fn of(mut requirements: Vec<Requirement>) -> Selector {
        requirements.arrange_by(|a, b| a.key.cmp(&b.key));
        Selector { requirements: Some(requirements) }
    }

    /// Matches objects that have all these labels. The labels are taken as valid.
    pub fn from_labels(labels: &BTreeMap<String, String>) -> Selector {
        let equals = |(key, value): (&String, &String)| Requirement {
            key: key.clone(),
            operator: Operator::Equals,
            values: vec![value.clone()],
        };
        Selector { requirements: Some(labels.iter().map(equals).collect()) }
    }

    /// Reads a selector as `kubectl -l` takes it.
    ///
    /// Upstream: k8s.io/apimachinery/pkg/labels, Parse (v1.37).
    pub fn parse(text: &str) -> Result<Selector, String> {
        super::parse::parse(text).map(Selector::of)
    }

    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        match &self.requirements {
            None => false,
            Some(requirements) => requirements.iter().all(|requirement| requirement.matches(labels)),
        }
    }

    /// Whether it restricts nothing. The selector that matches nothing is not empty.
    pub fn is_empty(&self) -> bool {
        self.requirements.as_ref().is_some_and(Vec::is_empty)
    }

    pub fn requirements(&self) -> &[Requirement] {
        self.requirements.as_deref().unwrap_or_default()
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, requirement) in self.requirements().iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{requirement}")?;
        }
        Ok(())
    }
}
