//! Kinds without a description of their own: every field below its name. Upstream: genericDescriber.

use super::{Page, events};
use crate::{
    fault::Fault,
    kc::{Flow, Kc},
    output::go_print,
};
use kubestep_model::Object;
use serde_json::{Map, Value};

const SKIPPED: &[&str] = &[
    ".metadata.managedFields",
    ".metadata.name",
    ".metadata.namespace",
    ".metadata.labels",
    ".metadata.annotations",
];

pub(super) fn describe(
    kc: &mut Kc<'_>,
    page: &mut Page,
    object: &Object,
    events: bool,
) -> Flow<Result<(), Fault>> {
    let meta = object.meta();
    page.field(0, "Name", &meta.name);
    page.field(0, "Namespace", &meta.namespace);
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    if let Value::Object(map) = object.to_value() {
        fields(page, 0, &map, "");
    }
    self::events::show(kc, page, object, events)?;
    Ok(Ok(()))
}

fn fields(page: &mut Page, level: usize, map: &Map<String, Value>, path: &str) {
    for (name, value) in map {
        let path = format!("{path}.{name}");
        if SKIPPED.contains(&path.as_str()) {
            continue;
        }
        let title = title(name);
        match value {
            _ if level > 100 => page.field(level, &title, go_print(value)),
            Value::Object(inner) => {
                page.line(level, format!("{title}:"));
                fields(page, level + 1, inner, &path);
            }
            Value::Array(items) => {
                page.line(level, format!("{title}:"));
                for item in items {
                    match item {
                        Value::Object(inner) => fields(page, level + 1, inner, &path),
                        other => page.line(level + 1, go_print(other)),
                    }
                }
            }
            other => page.field(level, &title, go_print(other)),
        }
    }
}

/// `holderIdentity` as `Holder Identity`; acronyms stay in capitals. Upstream: smartLabelFor.
fn title(field: &str) -> String {
    if field.chars().any(|c| !c.is_alphabetic() && c != '-') {
        return field.to_owned();
    }
    let words = split_camel(field);
    let show = |word: &String| match word.to_ascii_uppercase().as_str() {
        upper @ ("API" | "URL" | "UID" | "GUID") => upper.to_owned(),
        _ if word.to_ascii_lowercase() == *word => {
            let mut chars = word.chars();
            chars
                .next()
                .map(|first| std::iter::once(first.to_ascii_uppercase()).chain(chars).collect())
                .unwrap_or_default()
        }
        _ => word.clone(),
    };
    words.iter().map(show).collect::<Vec<_>>().join(" ")
}

/// The words of a name in camel case: `podCIDRBlock` as `pod`, `CIDR`, `Block`.
fn split_camel(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    for (at, c) in chars.iter().enumerate() {
        // A dash is a word of its own.
        if *c == '-' || at.checked_sub(1).is_some_and(|b| chars[b] == '-') {
            words.push(c.to_string());
            continue;
        }
        let before = at.checked_sub(1).map(|b| chars[b]);
        let after_lower = before.is_some_and(char::is_lowercase);
        let before_lower =
            before.is_some_and(char::is_uppercase) && chars.get(at + 1).is_some_and(|n| n.is_lowercase());
        let starts = c.is_uppercase() && (after_lower || before_lower);
        match words.last_mut() {
            Some(word) if !starts => word.push(*c),
            _ => words.push(c.to_string()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn titles_read_as_words() {
        for (field, want) in [
            ("holderIdentity", "Holder Identity"),
            ("apiVersion", "API Version"),
            ("uid", "UID"),
            ("a.b", "a.b"),
            ("podCIDR", "Pod CIDR"),
        ] {
            assert_eq!(title(field), want);
        }
    }
}
