//! Tab in a terminal: commands, kinds, names in the cluster, flags, files.

use crate::session::Session;
use kubestep_kubectl::{Following, following, makes, resources};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    Kind, Object,
    defined::{self, DEFINITION, Definition},
    schema,
};
use kubestep_protocol::Completions;

/// So many choices are offered.
const MOST: usize = 50;
/// A longer line is left as it is.
const LONGEST: usize = 4_000;

/// What the line may become.
pub(crate) fn complete(session: &Session, line: &str) -> Completions {
    let same = Completions { line: line.into(), completed: line.into(), choices: vec![] };
    if line.len() > LONGEST {
        return same;
    }
    let at =
        line.rfind(char::is_whitespace).map_or(0, |i| i + line[i..].chars().next().map_or(1, char::len_utf8));
    let (before, partial) = line.split_at(at);
    let words: Vec<&str> = before.split_whitespace().collect();
    // What stands before a pipe or another sign between commands is another command.
    let sign = words.iter().rposition(|w| matches!(*w, "|" | "||" | "&&" | ";" | "do") || w.ends_with(';'));
    let (piped, words) = match sign {
        Some(at) => (words[at] == "|", &words[at + 1..]),
        None => (false, words.as_slice()),
    };
    let mut words = words.to_vec();
    if let Some(at) = words.iter().rposition(|w| w.contains("$(")) {
        words.drain(..at);
        words[0] = words[0].rsplit("$(").next().unwrap_or_default();
    }
    let words = words.as_slice();
    if piped && words.is_empty() {
        return finish(same, before, partial, FILTERS.iter().map(ToString::to_string).collect());
    }
    let found = candidates(session, words, partial);
    finish(same, before, partial, found)
}

/// What may stand behind a pipe.
const FILTERS: &[&str] = &["cut", "grep", "head", "kubectl", "sort", "tail", "uniq", "wc"];

/// The line with what all choices have in common.
fn finish(same: Completions, before: &str, partial: &str, mut found: Vec<String>) -> Completions {
    found.retain(|c| c.starts_with(partial));
    found.arrange();
    found.dedup();
    match found.as_slice() {
        [] => same,
        [one] => {
            let space = if one.ends_with(['/', '=', '.']) { "" } else { " " };
            Completions { completed: format!("{before}{one}{space}"), ..same }
        }
        many => {
            let shared = shared_start(many);
            let choices = many.iter().take(MOST).cloned().collect();
            Completions { completed: format!("{before}{shared}"), choices, ..same }
        }
    }
}

/// What all of them begin with.
fn shared_start(all: &[String]) -> &str {
    let Some(first) = all.first() else { return "" };
    let mut end = first.len();
    for other in all {
        let same = first.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        end = end.min(same);
    }
    while !first.is_char_boundary(end) {
        end -= 1;
    }
    &first[..end]
}

/// Everything that could stand in the place of the last word.
fn candidates(session: &Session, words: &[&str], partial: &str) -> Vec<String> {
    let Some((program, words)) = words.split_first() else {
        let all: &[&str] = if partial.is_empty() { &["kubectl"] } else { &["kubectl", "watch"] };
        return all.iter().map(ToString::to_string).collect();
    };
    // `watch kubectl …`: what is watched is completed.
    if *program == "watch" {
        return candidates(session, words, partial);
    }
    let reads = *program == "cat" || FILTERS.contains(program) && *program != "kubectl";
    // The first word of grep is what it looks for.
    if reads && (*program != "grep" || words.iter().any(|w| !w.starts_with('-'))) {
        return session.files.iter().cloned().collect();
    }
    if !matches!(*program, "kubectl" | "k") {
        return vec![];
    }
    let (plain, open) = arguments(words);
    let command = following(&plain);
    let flags = match &command {
        Some(Following::Command(_, flags)) => flags.as_slice(),
        _ => &[],
    };
    if let Some(flag) = open.filter(|flag| takes_value(flag, flags)) {
        return values(session, &flag, &plain, words);
    }
    if partial.starts_with('-') {
        return flags
            .iter()
            .map(|(name, value)| if *value { format!("--{name}=") } else { format!("--{name}") })
            .collect();
    }
    match &command {
        None => vec![],
        Some(Following::Commands(names)) => names.iter().map(ToString::to_string).collect(),
        Some(Following::Command(path, _)) => {
            let depth = path.split(' ').count();
            positional(session, path, plain.get(depth..).unwrap_or_default(), partial, &namespace(words))
        }
    }
}

/// The words that are no flags nor values of flags, and a flag at the end that may still want its value.
fn arguments<'w>(words: &[&'w str]) -> (Vec<&'w str>, Option<String>) {
    let mut plain: Vec<&str> = vec![];
    let mut open: Option<String> = None;
    for word in words {
        if word.starts_with('-') && word.len() > 1 {
            open = (!word.contains('=')).then(|| word.trim_start_matches('-').to_string());
        } else if let Some(flag) = open.take() {
            // Whether the flag took this word depends on the command, which the plain words so far name.
            let known = match following(&plain) {
                Some(Following::Command(_, flags)) => takes_value(&flag, &flags),
                _ => matches!(flag.as_str(), "n" | "namespace"),
            };
            if !known {
                plain.push(word);
            }
        } else {
            plain.push(word);
        }
    }
    (plain, open)
}

fn takes_value(flag: &str, flags: &[(&str, bool)]) -> bool {
    matches!(flag, "n" | "f" | "o" | "l" | "c" | "p")
        || flags.iter().any(|(name, value)| *name == flag && *value)
        || flag == "namespace"
}

/// The namespace that the line names, or the usual one.
fn namespace(words: &[&str]) -> String {
    let mut found = "default";
    for (i, word) in words.iter().enumerate() {
        if let Some(name) = word.strip_prefix("--namespace=").or_else(|| word.strip_prefix("-n=")) {
            found = name;
        } else if matches!(*word, "-n" | "--namespace") {
            found = words.get(i + 1).copied().unwrap_or(found);
        }
    }
    found.to_string()
}

/// What a flag's value can be.
fn values(session: &Session, flag: &str, plain: &[&str], words: &[&str]) -> Vec<String> {
    match flag {
        "f" | "filename" => session.files.iter().cloned().collect(),
        "n" | "namespace" => names(session, Kind::Namespace, ""),
        "o" | "output" => {
            ["json", "name", "wide", "yaml", "jsonpath=", "custom-columns="].map(Into::into).to_vec()
        }
        "c" | "container" => containers(session, plain, &namespace(words)),
        _ => vec![],
    }
}

fn names(session: &Session, kind: Kind, namespace: &str) -> Vec<String> {
    let within = kind.namespaced().then_some(namespace);
    // What somebody defined is kept under one version.
    let definition = session.world().store().get(&defined::definition_key(kind)).and_then(Definition::of);
    let kind = definition.map_or(kind, Definition::stored_kind);
    session.world().store().list(kind, within).map(|o| o.meta().name.to_string()).collect()
}

fn containers(session: &Session, plain: &[&str], namespace: &str) -> Vec<String> {
    let pods = session
        .world()
        .store()
        .list(Kind::Pod, Some(namespace))
        .filter_map(|o| o.get::<kubestep_model::Pod>());
    let named = pods.filter(|p| {
        plain.iter().any(|w| w.trim_start_matches("pod/").trim_start_matches("pods/") == &*p.metadata.name)
    });
    named.flat_map(|p| p.spec.containers.iter().map(|c| c.name.clone())).collect()
}

/// The definitions of kinds that people added.
fn definitions(session: &Session) -> Vec<Object> {
    session.world().store().list(DEFINITION, None).cloned().collect()
}

/// Kinds by the names that kubectl itself offers.
fn kinds(session: &Session) -> Vec<String> {
    let definitions = definitions(session);
    let defined = definitions.iter().filter_map(Definition::of);
    let served: Vec<Kind> = defined.filter_map(|d| d.served().first().copied()).collect();
    Kind::all()
        .chain(served)
        .map(|k| {
            if k.group().is_empty() {
                k.resource().to_string()
            } else {
                format!("{}.{}", k.resource(), k.group())
            }
        })
        .collect()
}

/// What stands in the place of a command's own words.
fn positional(session: &Session, path: &str, words: &[&str], partial: &str, namespace: &str) -> Vec<String> {
    match path.split(' ').next().unwrap_or("") {
        "create" if path == "create" && words.is_empty() => makes().iter().map(ToString::to_string).collect(),
        "apply" | "create" | "replace" | "run" => vec![],
        "explain" if !words.is_empty() => vec![],
        "explain" if partial.contains('.') => {
            let mut all = explained(partial);
            all.extend(kinds(session));
            all
        }
        "cordon" | "uncordon" | "drain" => names(session, Kind::Node, ""),
        "logs" | "exec" if words.is_empty() => names(session, Kind::Pod, namespace),
        "logs" | "exec" => vec![],
        "rollout" | "set" => slashed(session, TEMPLATED, partial, namespace, words.is_empty()),
        _ => named(session, words, partial, namespace),
    }
}

/// The fields below `deploy.spec.` or `deployments.apps.spec.`; a dot behind those that have fields themselves.
fn explained(partial: &str) -> Vec<String> {
    let Some((typed, _)) = partial.rsplit_once('.') else { return vec![] };
    let parts: Vec<&str> = typed.split('.').collect();
    let found = (1..=parts.len().min(4)).rev().find_map(|end| {
        let kind = resources::resolve(&parts[..end].join(".")).ok()?;
        schema::explain(&kind.api_version(), kind.name(), &parts[end..], 2)?.ok()
    });
    let fields = found.map(|f| f.fields).unwrap_or_default();
    let dot = |inner: &[schema::Explained]| if inner.is_empty() { "" } else { "." };
    fields.iter().map(|f| format!("{typed}.{}{}", f.name, dot(&f.fields))).collect()
}

/// The kinds whose pods are made from a template and rolled out.
const TEMPLATED: &[Kind] =
    &[Kind::Deployment, Kind::other("apps", "StatefulSet"), Kind::other("apps", "DaemonSet")];

/// A kind, then names of it; or `kind/name` in one word.
fn named(session: &Session, words: &[&str], partial: &str, namespace: &str) -> Vec<String> {
    if let Some((kind, _)) = partial.split_once('/') {
        let Ok(found) = resources::resolve_defined(kind, &definitions(session)) else { return vec![] };
        return names(session, found, namespace).into_iter().map(|n| format!("{kind}/{n}")).collect();
    }
    match words.first() {
        None => {
            let short = Kind::all()
                .filter(|k| k.row().short.contains(&partial) || k.singular() == partial)
                .map(|_| partial.to_string());
            kinds(session).into_iter().chain(short).collect()
        }
        Some(first) if first.contains('/') => vec![],
        Some(first) => resources::resolve_defined(first, &definitions(session)).map_or(vec![], |kind| {
            let given = &words[1..];
            names(session, kind, namespace).into_iter().filter(|n| !given.contains(&n.as_str())).collect()
        }),
    }
}

/// `deployment/checkout` for the kinds that a command acts on.
fn slashed(session: &Session, kinds: &[Kind], partial: &str, namespace: &str, first: bool) -> Vec<String> {
    if !first {
        return vec![];
    }
    let typed = partial.split_once('/').map(|(kind, _)| kind);
    let prefix = |kind: Kind| match typed.filter(|t| resources::resolve(t) == Ok(kind)) {
        Some(typed) => typed.to_string(),
        None => kind.singular().to_string(),
    };
    kinds
        .iter()
        .flat_map(|kind| {
            names(session, *kind, namespace).into_iter().map(|n| format!("{}/{n}", prefix(*kind)))
        })
        .collect()
}
