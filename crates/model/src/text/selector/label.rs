//! The selector as it stands in an object's spec.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::requirement::{Operator, Requirement, Selector};
use crate::text::go;

/// Which labels an object wants, as written in a manifest; empty wants everything, absent wants nothing.
///
/// Upstream: k8s.io/apimachinery/pkg/apis/meta/v1, LabelSelector (v1.37).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "null_as_default")]
    pub match_labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

/// One line of `matchExpressions`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelectorRequirement {
    #[serde(deserialize_with = "null_as_default")]
    pub key: String,
    #[serde(deserialize_with = "null_as_default")]
    pub operator: String,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub values: Vec<String>,
}

/// Go reads `null` into a field as leaving it empty.
fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

impl LabelSelector {
    /// The selector that asks for exactly these labels.
    pub fn from_labels(labels: &BTreeMap<String, String>) -> LabelSelector {
        LabelSelector { match_labels: labels.clone(), match_expressions: Vec::new() }
    }

    /// Whether the selector asks for nothing at all, and so matches everything.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// The selector ready for matching, or why it cannot be one.
    ///
    /// Upstream: k8s.io/apimachinery/pkg/apis/meta/v1, LabelSelectorAsSelector (v1.37), which reads `matchLabels`
    /// in no order; here the first wrong one by key is named.
    pub fn to_selector(&self) -> Result<Selector, String> {
        let mut requirements = Vec::with_capacity(self.match_labels.len() + self.match_expressions.len());
        for (key, value) in &self.match_labels {
            requirements.push(Requirement::new(key, Operator::Equals, vec![value.clone()])?);
        }
        for expression in &self.match_expressions {
            let operator = match expression.operator.as_str() {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                other => return Err(format!("{} is not a valid label selector operator", go::quote(other))),
            };
            requirements.push(Requirement::new(&expression.key, operator, expression.values.clone())?);
        }
        Ok(Selector::of(requirements))
    }

    /// Whether the labels are what is asked for; a selector that cannot be read matches nothing.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && (self.match_expressions.is_empty()
                || self.to_selector().is_ok_and(|selector| selector.matches(labels)))
    }

    /// The text that kubectl shows: `<none>` for a selector that asks for nothing, `<error>` for a wrong one.
    ///
    /// Upstream: k8s.io/apimachinery/pkg/apis/meta/v1, FormatLabelSelector (v1.37).
    pub fn format(&self) -> String {
        match self.to_selector() {
            Err(_) => "<error>".to_owned(),
            Ok(selector) if selector.is_empty() => "<none>".to_owned(),
            Ok(selector) => selector.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn json_as_go_writes_it() {
        let whole =
            json!({"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "x", "operator": "Exists"}]});
        let read: LabelSelector = from_value(whole.clone()).expect("reads");
        assert_eq!(to_value(&read).expect("writes"), whole);
        let nulls: LabelSelector =
            from_value(json!({"matchLabels": null, "matchExpressions": []})).expect("reads");
        assert_eq!(to_value(&nulls).expect("writes"), json!({}));
    }

    #[test]
    fn shows_empty_and_wrong_ones() {
        assert_eq!(LabelSelector::default().format(), "<none>");
        let wrong = LabelSelector::from_labels(&BTreeMap::from([("bad key".to_owned(), String::new())]));
        assert_eq!(wrong.format(), "<error>");
    }
}
