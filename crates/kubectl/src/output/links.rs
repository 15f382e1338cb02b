//! Names of objects in texts that are no tables: what a page can link.

use crate::resources;
use kubestep_model::{
    Key, Kind,
    client::{Sense, Span},
};
use std::sync::Arc;

/// Titles of a description behind which names stand.
const TITLES: [(&str, Kind); 5] = [
    ("Namespace:", Kind::Namespace),
    ("Node:", Kind::Node),
    ("Service Account:", Kind::ServiceAccount),
    ("NewReplicaSet:", Kind::ReplicaSet),
    ("OldReplicaSets:", Kind::ReplicaSet),
];

/// The span of a name that begins at a place.
fn span(start: usize, name: &str, key: Key) -> Span {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Span { start: number(start), end: number(start + name.len()), means: Sense::Object(key) }
}

fn key(kind: Kind, namespace: &Arc<str>, name: &str) -> Key {
    let namespace = if kind.namespaced() { namespace.clone() } else { "".into() };
    Key::new(kind, namespace, name)
}

/// The words of a line, each with its place in it.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    line.split([' ', '\t', '\n', ',', '(', ')', '"']).filter_map(move |word| {
        let at = from;
        from += word.len() + 1;
        (!word.is_empty()).then_some((at, word))
    })
}

/// Whether a word can be an object's name.
fn is_name(word: &str) -> bool {
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.' | b':');
    !word.is_empty() && word.bytes().all(good)
}

/// `kind/name` in a word: where the name begins, and of what kind it is.
fn pair(word: &str) -> Option<(usize, Kind)> {
    let (kind, name) = word.split_once('/')?;
    // Whatever names a kind is longer than a number of ready pods.
    if kind.len() < 2 || !kind.as_bytes()[0].is_ascii_alphabetic() || !is_name(name) {
        return None;
    }
    Some((kind.len() + 1, resources::resolve(kind).ok()?))
}

/// `KIND/NAME` wherever it stands in a text, of objects in a namespace.
pub(crate) fn pairs(text: &str, namespace: &Arc<str>) -> Vec<Span> {
    let found = words(text).filter_map(|(at, word)| {
        let (skip, kind) = pair(word)?;
        let name = word[skip..].trim_end_matches([':', '.']);
        Some(span(at + skip, name, key(kind, namespace, name)))
    });
    found.collect()
}

/// The names in the description of an object: its own, those behind some titles, and in the table of a node's pods.
pub(crate) fn described(text: &str, of: &Key) -> Vec<Span> {
    let (mut spans, mut start, mut pods) = (vec![], 0, false);
    for line in text.split_inclusive('\n') {
        if !line.starts_with(' ') {
            pods = of.kind == Kind::Node && line.starts_with("Non-terminated Pods:");
        }
        let title = TITLES.iter().find(|(title, _)| line.starts_with(title));
        if pods && line.starts_with(' ') {
            let mut cells = words(line);
            if let (Some((_, space)), Some((at, name))) = (cells.next(), cells.next())
                && is_name(space)
                && is_name(name)
                && !name.starts_with('-')
            {
                spans.push(span(start + at, name, Key::new(Kind::Pod, space, name)));
            }
        } else if let Some(rest) = line.strip_prefix("Name:") {
            let name = rest.trim();
            if name == &*of.name {
                spans.push(span(start + line.len() - rest.trim_start().len(), name, of.clone()));
            }
        } else if let Some((title, kind)) = title {
            let kind = *kind;
            for (at, word) in words(&line[title.len()..]) {
                // A node's address stands behind its name.
                let name = word.split('/').next().unwrap_or(word);
                let counted = kind == Kind::ReplicaSet && !name.contains('-');
                if is_name(name) && !counted {
                    spans.push(span(start + title.len() + at, name, key(kind, &of.namespace, name)));
                }
            }
        } else {
            spans.extend(pairs(line, &of.namespace).into_iter().map(|s| moved(s, start)));
        }
        start += line.len();
    }
    spans
}

/// A span as it stands so many bytes further.
pub(crate) fn moved(span: Span, by: usize) -> Span {
    let by = u32::try_from(by).unwrap_or(u32::MAX);
    Span { start: span.start.saturating_add(by), end: span.end.saturating_add(by), ..span }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, spans: &[Span]) -> Vec<String> {
        let word = |s: &Span| match &s.means {
            Sense::Object(key) => {
                format!("{}={} {}", &text[s.start as usize..s.end as usize], key.kind.name(), key.namespace)
            }
            other => format!("{other:?}"),
        };
        spans.iter().map(word).collect()
    }

    #[test]
    fn pairs_are_found_where_they_stand() {
        let text = "LAST SEEN   TYPE     OBJECT\n3s          Normal   Pod/web-1   0/1 nodes: registry/web:1 batch/v1\ndeployment.apps/web scaled\n";
        let found = shown(text, &pairs(text, &"shop".into()));
        assert_eq!(found, ["web-1=Pod shop", "web=Deployment shop"]);
    }

    #[test]
    fn descriptions_name_their_objects() {
        let of = Key::new(Kind::Pod, "shop", "web-1");
        let text = "Name:             web-1\nNamespace:        shop\nNode:             node-1/10.0.0.1\nControlled By:  ReplicaSet/web\nEvents:  <none>\n";
        let want = ["web-1=Pod shop", "shop=Namespace ", "node-1=Node ", "web=ReplicaSet shop"];
        assert_eq!(shown(text, &described(text, &of)), want);
        let of = Key::new(Kind::Node, "", "node-1");
        let text = "Name:               node-1\nNon-terminated Pods:          (1 in total)\n  Namespace                   Name    CPU Requests  Age\n  ---------                   ----    ------------  ---\n  shop                        web-1   0 (0%)        5s\nAllocated resources:\n  cpu 0\n";
        assert_eq!(shown(text, &described(text, &of)), ["node-1=Node ", "web-1=Pod shop"]);
    }
}
