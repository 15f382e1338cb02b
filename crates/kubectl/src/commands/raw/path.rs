//! What a path of the API stands for. Upstream: apiserver/pkg/endpoints/request, RequestInfoFactory (v1.37).

use crate::commands::info;
use kubestep_model::{Kind, Object, defined::Definition};
use std::sync::Arc;

/// A path of the API.
pub(super) struct Target {
    pub(super) kind: Kind,
    /// None: all namespaces, or a kind that is in none.
    pub(super) namespace: Option<Arc<str>>,
    /// Whether the path itself asks for a watch.
    pub(super) watch: bool,
    pub(super) what: What,
}

pub(super) enum What {
    List,
    Object { name: String, part: String },
}

/// The parts of a query, unescaped.
pub(super) fn query(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (unescape(&name.replace('+', " ")), unescape(&value.replace('+', " ")))
    };
    text.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

/// `%20` as a blank, and so on. What is no such sign stays as it is.
pub(super) fn unescape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                rest = ahead;
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// The kind whose objects have such a path.
fn kind_of(group: &str, version: &str, resource: &str, definitions: &[Object]) -> Option<Kind> {
    let own = Kind::all().find(|k| k.group() == group && k.resource() == resource);
    if let Some(kind) = own {
        let api = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        return Kind::of_manifest(&api, kind.name());
    }
    let served = definitions.iter().filter_map(Definition::of).flat_map(Definition::served);
    served.into_iter().find(|k| k.group() == group && k.version() == version && k.resource() == resource)
}

/// The target of a path; none if nothing is served there.
pub(super) fn target(words: &[&str], definitions: &[Object]) -> Option<Target> {
    let (group, version, rest) = match words {
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => return None,
    };
    let (watch, rest) = match rest {
        ["watch", rest @ ..] if !rest.is_empty() => (true, rest),
        rest => (false, rest),
    };
    let (namespace, rest): (Option<&str>, &[&str]) = match rest {
        ["namespaces", _, "status" | "finalize"] => (None, rest),
        ["namespaces", namespace, inner @ ..] if !inner.is_empty() => (Some(*namespace), inner),
        rest => (None, rest),
    };
    let (resource, what) = match rest {
        [resource] => (*resource, What::List),
        [resource, name, part @ ..] if part.len() < 2 => {
            let part = part.first().copied().unwrap_or_default();
            (*resource, What::Object { name: (*name).to_owned(), part: part.to_owned() })
        }
        _ => return None,
    };
    let kind = kind_of(group, version, resource, definitions)?;
    let astray = matches!(
        (kind.namespaced(), namespace, &what),
        (true, None, What::Object { .. }) | (false, Some(_), _)
    );
    (!astray).then(|| Target { kind, namespace: namespace.map(Into::into), watch, what })
}

/// Whether a kind has such a part.
pub(super) fn has_part(kind: Kind, part: &str) -> bool {
    info::parts(kind).iter().any(|p| p.name == part)
}

/// Whether such a part of a kind can be written and not be read.
pub(super) fn is_written_only(kind: Kind, part: &str) -> bool {
    info::parts(kind).iter().any(|p| p.name == part && !p.verbs.contains(&"get"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_kinds() {
        let read = |path: &str| {
            let words: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
            target(&words, &[]).map(|t| {
                let what = match t.what {
                    What::List => String::new(),
                    What::Object { name, part } => format!("{name} {part}"),
                };
                format!("{} {} {what}", t.kind.name(), t.namespace.as_deref().unwrap_or("-"))
            })
        };
        for (path, want) in [
            ("/api/v1/pods", Some("Pod - ")),
            ("/api/v1/namespaces/a/pods", Some("Pod a ")),
            ("/api/v1/namespaces/a/pods/x/log", Some("Pod a x log")),
            ("/api/v1/namespaces/a", Some("Namespace - a ")),
            ("/api/v1/namespaces/a/status", Some("Namespace - a status")),
            ("/api/v1/namespaces", Some("Namespace - ")),
            ("/apis/apps/v1/watch/deployments", Some("Deployment - ")),
            ("/apis/autoscaling/v1/horizontalpodautoscalers", Some("HorizontalPodAutoscaler - ")),
            ("/api/v1/pods/x", None),
            ("/api/v1/namespaces/a/nodes", None),
            ("/apis/apps/v2/deployments", None),
        ] {
            assert_eq!(read(path).as_deref(), want, "{path}");
        }
        assert_eq!(
            query("a=b%3Dc&d=e+f&g"),
            [("a", "b=c"), ("d", "e f"), ("g", "")].map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
        assert_eq!(unescape("%zz%4"), "%zz%4");
    }
}
