//! The teacher's remarks about a draft: what Apply does not look at.

use super::{
    place::{number, of_field, of_key, of_span},
    remedy::{did_you_mean, nearest},
};
use crate::{
    parts::{Part, pairs},
    session::Session,
};
use kubestep_model::{Key, Kind, Node, Quantity, yaml::Span};
use kubestep_protocol::{Note, Place};
use serde_json::Value;

/// Everything the teacher sees in these objects.
pub(super) fn notes(session: &Session, text: &str, all: &[Part<'_>]) -> Vec<Note> {
    let mut found: Vec<Note> = vec![];
    let mut last_document = usize::MAX;
    for part in all {
        if part.document.line != last_document {
            last_document = part.document.line;
            found.extend(part.document.notes.iter().map(|note| duplicate(text, note)));
        }
        found.extend(images(session, text, part));
        found.extend(selector(session, part, all));
        found.extend(cpu(session, part));
        found.extend(references(session, part, all));
        found.extend(no_loop(part));
    }
    found
}

fn note(place: Place, words: &str) -> Note {
    Note { place, words: crate::words::marked(words), remedy: None }
}

/// `line 4: key "name" already set in map`.
fn duplicate(text: &str, note: &kubestep_model::yaml::Note) -> Note {
    let key = note.text.split("key ").nth(1).and_then(|rest| rest.split(" already").next());
    let key = key.unwrap_or("").trim_matches('"');
    let mut place = Place { length: number(key.chars().count()), ..of_span(note.span) };
    // The reader stands behind the key.
    let line = text.split('\n').nth(note.span.line.saturating_sub(1)).unwrap_or("");
    let before: String = line.chars().take(note.span.column.saturating_sub(1)).collect();
    if let Some(at) = before.rfind(key) {
        place.column = number(before[..at].chars().count() + 1);
    }
    self::note(place, &format!("`{key}` stands here twice. The last one counts; kubectl does not say so."))
}

/// Images that cannot be pulled: the mark stands at the tag.
fn images(session: &Session, text: &str, part: &Part<'_>) -> Vec<Note> {
    let one = |path: String| {
        let path = format!("{path}.image");
        let image = part.at(&path)?.as_str().filter(|i| !i.is_empty())?;
        let words = match session.world().registry().get(image) {
            None => "Not in the registry. Apply does not look there.",
            Some(row) if row.denied => "The registry denies it. Apply does not look there.",
            Some(_) => return None,
        };
        Some(note(tag(text, part.exactly(&path)?.value, image), words))
    };
    part.containers().into_iter().filter_map(one).collect()
}

/// Where an image's tag stands, or the image if it has none.
fn tag(text: &str, span: Span, image: &str) -> Place {
    let whole = of_span(span);
    let line = text.split('\n').nth(span.line.saturating_sub(1)).unwrap_or("");
    let raw: String = line.chars().skip(span.column.saturating_sub(1)).take(whole.length as usize).collect();
    let found = image
        .rsplit_once(':')
        .filter(|(_, tag)| !tag.contains('/'))
        .and_then(|(_, tag)| Some((raw.rfind(tag)?, tag)));
    match found {
        Some((at, tag)) => {
            let before = raw.get(..at).map_or(0, |r| r.chars().count());
            Place { column: whole.column + number(before), length: number(tag.chars().count()), ..whole }
        }
        None => whole,
    }
}

/// A Service that will select nothing.
fn selector(session: &Session, part: &Part<'_>, all: &[Part<'_>]) -> Option<Note> {
    if part.kind() != "Service" {
        return None;
    }
    let wanted = pairs(part.at("spec.selector")?);
    let has = |labels: &[(&str, &str)]| wanted.iter().all(|pair| labels.contains(pair));
    let here: Vec<Vec<(&str, &str)>> =
        all.iter().filter(|p| p.namespace() == part.namespace()).filter_map(Part::pod_labels).collect();
    let own = |o: &kubestep_model::Object| {
        o.meta().labels.iter().map(|(k, v)| (k.clone(), v.clone())).collect::<Vec<_>>()
    };
    let pods: Vec<Vec<(String, String)>> =
        session.world().store().list(Kind::Pod, Some(part.namespace())).map(own).collect();
    let others: Vec<Vec<(&str, &str)>> =
        pods.iter().map(|l| l.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect()).collect();
    if wanted.is_empty() || here.iter().chain(&others).any(|l| has(l)) {
        return None;
    }
    // The first that nobody has, whoever has the others.
    let held = here.iter().chain(&others).flatten();
    let (key, value) =
        wanted.iter().find(|pair| !held.clone().any(|held| held == *pair)).copied().unwrap_or(wanted[0]);
    let field = part.exactly(&format!("spec.selector.{key}")).or_else(|| part.exactly("spec.selector"))?;
    let other = here.iter().flatten().find(|(k, _)| *k == key);
    let words = match other {
        Some((k, v)) => format!(
            "No pod has these labels; the template in this file has `{k}: {v}`. A Service may select nothing, and nobody says so."
        ),
        None => "No pod here has these labels. A Service may select nothing, and nobody says so.".into(),
    };
    let same = held.clone().filter(|(k, _)| *k == key).map(|(_, v)| *v);
    let meant = match nearest(value, same) {
        Some(near) => Some(did_you_mean(of_field(field), near)),
        None => {
            let keys = held.filter(|(_, v)| *v == value).map(|(k, _)| *k);
            nearest(key, keys).map(|near| did_you_mean(of_key(field), near))
        }
    };
    Some(Note { remedy: meant, ..note(of_field(field), &words) })
}

/// More cpu than the biggest node has.
fn cpu(session: &Session, part: &Part<'_>) -> Vec<Note> {
    let nodes = session.world().store().list(Kind::Node, None).filter_map(|o| o.get::<Node>());
    let biggest = nodes.filter_map(|n| n.status.allocatable.get("cpu")).max_by_key(|cpu| cpu.milli_value());
    let Some(biggest) = biggest else { return vec![] };
    let one = |path: String| {
        let asked = ["requests", "limits"]
            .map(|side| format!("{path}.resources.{side}.cpu"))
            .into_iter()
            .find(|p| part.at(p).is_some())?;
        let cpu: Quantity = serde_json::from_value(part.at(&asked)?.clone()).ok()?;
        let words = format!(
            "The biggest node has {biggest} cpu. No node will fit, and the pod will wait; apply does not look."
        );
        (cpu.milli_value() > biggest.milli_value())
            .then(|| part.exactly(&asked))
            .flatten()
            .map(|place| note(of_field(place), &words))
    };
    part.containers().into_iter().filter_map(one).collect()
}

/// Config maps and secrets that are neither in the file nor in the cluster.
fn references(session: &Session, part: &Part<'_>, all: &[Part<'_>]) -> Vec<Note> {
    let mut found = vec![];
    let mut look = |kind: Kind, path: String| {
        let Some(name) = part.at(&path).and_then(Value::as_str) else { return };
        let there = session.world().store().get(&Key::new(kind, part.namespace(), name)).is_some();
        let here = all
            .iter()
            .any(|p| p.kind() == kind.name() && p.name() == name && p.namespace() == part.namespace());
        let optional = path.rsplit_once('.').and_then(|(of, _)| part.at(&format!("{of}.optional")))
            == Some(&Value::Bool(true));
        if let Some(place) = part.exactly(&path).filter(|_| !there && !here && !optional) {
            let words = format!(
                "There is no {} `{name}`. The container will wait for it; apply does not look.",
                kind.name()
            );
            found.push(note(of_field(place), &words));
        }
    };
    for container in part.containers() {
        for (list, path, map, secret) in [
            ("envFrom", "", "configMapRef", "secretRef"),
            ("env", "valueFrom.", "configMapKeyRef", "secretKeyRef"),
        ] {
            let count = part
                .at(&format!("{container}.{list}"))
                .and_then(Value::as_array)
                .map_or(0, Vec::len)
                .min(100);
            for i in 0..count {
                look(Kind::ConfigMap, format!("{container}.{list}[{i}].{path}{map}.name"));
                look(Kind::Secret, format!("{container}.{list}[{i}].{path}{secret}.name"));
            }
        }
    }
    if let Some(template) = part.template() {
        let count = part
            .at(&format!("{template}spec.volumes"))
            .and_then(Value::as_array)
            .map_or(0, Vec::len)
            .min(100);
        for i in 0..count {
            look(Kind::ConfigMap, format!("{template}spec.volumes[{i}].configMap.name"));
            look(Kind::Secret, format!("{template}spec.volumes[{i}].secret.secretName"));
        }
    }
    found
}

/// A kind that is stored, and that is all.
fn no_loop(part: &Part<'_>) -> Option<Note> {
    let kind = Kind::of_manifest(part.api_version(), part.kind())?;
    let read = Kind::TYPED.contains(&kind) || kubestep_cluster::loops::acts_on(kind);
    let place = of_field(part.find("kind")?);
    (!read).then(|| note(place, "An object with no loop behind it: it is stored, and nothing acts on it."))
}
