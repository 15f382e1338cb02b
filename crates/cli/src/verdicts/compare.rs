//! What differs between a recorded verdict and ours, part by part.

use serde_json::Value;

/// The parts of a verdict that differ, each with its first difference. Empty when they say the same.
///
/// Where in the build of the real server a scheme was made says nothing, and neither does the order of errors where
/// the case says that it is left to chance.
pub fn differences(want: &Value, ours: &Value, unordered: bool) -> Vec<String> {
    let mut found = vec![];
    match (want["commands"].as_array(), ours["commands"].as_array()) {
        (Some(want), Some(ours)) => {
            if want.len() != ours.len() {
                found.push(format!("{} commands, want {}", ours.len(), want.len()));
            }
            for (i, (want, ours)) in want.iter().zip(ours).enumerate() {
                let label = format!("[{i}: {}] ", want["command"].as_str().unwrap_or_default());
                found.extend(of_command(want, ours, unordered).into_iter().map(|d| format!("{label}{d}")));
            }
        }
        (None, None) => found.extend(of_command(want, ours, unordered)),
        _ => found.push("one has several commands and the other has not".into()),
    }
    if let Some(at) = first_difference(&want["stored"], &ours["stored"], "stored") {
        found.push(at);
    }
    found
}

fn of_command(want: &Value, ours: &Value, unordered: bool) -> Vec<String> {
    let mut found = vec![];
    for part in ["exit", "stdout", "stderr", "http", "warnings"] {
        let (mut want, mut ours) = (said(&want[part]), said(&ours[part]));
        if unordered {
            (want, ours) = (sorted(&want), sorted(&ours));
        }
        if let Some(at) = first_difference(&want, &ours, part) {
            found.push(at);
        }
    }
    found
}

/// Without the line of code where a scheme was made.
fn said(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.split_once(" in scheme ") {
            Some((head, rest)) => {
                let tail = rest.find('\n').map_or("", |at| &rest[at..]);
                format!("{head}{tail}").into()
            }
            None => text.as_str().into(),
        },
        Value::Array(items) => items.iter().map(said).collect(),
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), said(v))).collect()),
        other => other.clone(),
    }
}

/// Texts with their words in order, lists in order: for what the server says in the order of a map.
fn sorted(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let mut parts: Vec<&str> =
                text.split([',', ' ', '\n', '[', ']']).filter(|p| !p.is_empty()).collect();
            parts.sort_unstable();
            parts.join(" ").into()
        }
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(sorted).collect();
            items.sort_by_key(Value::to_string);
            items.into()
        }
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), sorted(v))).collect()),
        other => other.clone(),
    }
}

fn first_difference(want: &Value, ours: &Value, path: &str) -> Option<String> {
    if want == ours {
        return None;
    }
    match (want, ours) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().find_map(|k| first_difference(&want[k], &ours[k], &format!("{path}.{k}")))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(i, (a, b))| first_difference(a, b, &format!("{path}[{i}]"))),
        _ => Some(format!("{path}:\n    ours {ours}\n    want {want}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_part_counts() {
        let want = json!({"name": "a", "exit": 1, "stdout": "x", "stderr": "", "http": [{"code": 400}], "warnings": [], "stored": null});
        assert!(differences(&want, &want, false).is_empty());
        for (part, other) in [
            ("exit", json!(0)),
            ("stdout", json!("y")),
            ("http", json!([])),
            ("warnings", json!(["w"])),
            ("stored", json!({})),
        ] {
            let mut ours = want.clone();
            ours[part] = other;
            assert_eq!(differences(&want, &ours, false).len(), 1, "{part}");
        }
    }

    #[test]
    fn only_the_order_of_unordered_errors_is_left_to_chance() {
        let say = |text: &str| json!({"exit": 1, "stdout": "", "stderr": text, "http": [], "warnings": [], "stored": null});
        let (a, b) = (say("[x: is bad, y: is odd]"), say("[y: is odd, x: is bad]"));
        assert!(differences(&a, &b, true).is_empty());
        assert_eq!(differences(&a, &b, false).len(), 1);
        assert_eq!(differences(&a, &say("[y: is odd]"), true).len(), 1);
    }
}
