//! From what a person types to a kind: short names, plurals, `kind.group`, `resource.version.group`, `all`.

use crate::fault::Fault;
use kubestep_model::{Kind, Object, defined::Definition, kind::OLDER};

/// What `all` stands for, in the order in which it is shown.
const ALL: &[&str] = &[
    "pods",
    "replicationcontrollers",
    "services",
    "daemonsets.apps",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "horizontalpodautoscalers.autoscaling",
    "cronjobs.batch",
    "jobs.batch",
];

/// Replaces `all` in a comma-separated list of resources.
pub fn expand(list: &str) -> String {
    list.split(',')
        .map(|word| if word == "all" { ALL.join(",") } else { word.to_owned() })
        .collect::<Vec<_>>()
        .join(",")
}

/// As [`expand`], with the kinds that people defined: they are in `all` and in other categories if they say so.
pub fn expand_defined(list: &str, definitions: &[Object]) -> String {
    let of = |word: &str| -> Vec<String> {
        let said = |d: &Definition<'_>| d.list_of_names("categories").contains(&word);
        let found = definitions.iter().filter_map(Definition::of).filter(said);
        found.filter_map(|d| d.served().first().map(|k| k.qualified())).collect()
    };
    let one = |word: &str| {
        let more = of(word);
        match word {
            "all" => ALL.iter().map(|w| (*w).to_owned()).chain(more).collect::<Vec<_>>().join(","),
            _ if more.is_empty() || resolve(word).is_ok() => word.to_owned(),
            _ => more.join(","),
        }
    };
    list.split(',').map(one).collect::<Vec<_>>().join(",")
}

/// As [`resolve`], among the kinds that people defined, too.
pub fn resolve_defined(word: &str, definitions: &[Object]) -> Result<Kind, Fault> {
    resolve(word).or_else(|fault| find_defined(word, definitions).ok_or(fault))
}

/// The defined kind that a word names: `widgets`, `wd`, `Widget`, each with `.group` or `.version.group` behind it.
pub fn find_defined(word: &str, definitions: &[Object]) -> Option<Kind> {
    let lower = word.to_ascii_lowercase();
    let fits = |definition: Definition<'_>| -> Option<Kind> {
        let names = definition.names();
        let own = ["plural", "singular", "kind"]
            .map(|n| names[n].as_str().unwrap_or_default().to_ascii_lowercase());
        let short = definition.list_of_names("shortNames");
        let is_name = |w: &str| own.iter().any(|n| n == w) || short.contains(&w);
        let served = definition.served();
        let first = *served.first()?;
        if is_name(&lower) {
            return Some(first);
        }
        let (name, rest) = lower.split_once('.')?;
        if !is_name(name) {
            return None;
        }
        let exact = |k: &&Kind| rest == format!("{}.{}", k.version(), k.group());
        if let Some(kind) = served.iter().find(exact) {
            return Some(*kind);
        }
        first.group().starts_with(rest).then_some(first)
    };
    definitions.iter().filter_map(Definition::of).find_map(fits)
}

/// The kind that a word names. Upstream: cli-runtime/pkg/resource, Builder.mappingFor.
pub fn resolve(word: &str) -> Result<Kind, Fault> {
    let dots: Vec<&str> = word.splitn(3, '.').collect();
    if let [resource, version, group] = dots.as_slice()
        && let Some(kind) = find(resource, group, Some(version))
    {
        return Ok(kind);
    }
    let (resource, group) = word.split_once('.').unwrap_or((word, ""));
    find(resource, group, None).ok_or_else(|| {
        let place = if group.is_empty() { String::new() } else { format!(" in group \"{group}\"") };
        Fault::Text(format!("the server doesn't have a resource type \"{resource}\"{place}"))
    })
}

fn find(resource: &str, group: &str, version: Option<&str>) -> Option<Kind> {
    let lower = resource.to_ascii_lowercase();
    let named = |kind: &Kind| {
        let row = kind.row();
        let fits = row.resource == lower || row.singular == lower || row.short.contains(&lower.as_str());
        (fits || row.kind == resource) && version.is_none_or(|v| v == row.version)
    };
    let all = || Kind::all().chain(OLDER.iter().map(Kind::Other)).filter(named);
    if group.is_empty() && version.is_none() {
        return all().next();
    }
    all()
        .find(|k| k.group() == group)
        .or_else(|| all().find(|k| !group.is_empty() && k.group().starts_with(group)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_kinds() {
        for (word, want) in [
            ("po", "Pod"),
            ("Pods", "Pod"),
            ("deploy", "Deployment"),
            ("deployment.apps", "Deployment"),
            ("deployments.v1.apps", "Deployment"),
            ("Deployment.v1.apps", "Deployment"),
            ("rs.app", "ReplicaSet"),
            ("ev", "Event"),
            ("events.events.k8s.io", "Event"),
            ("hpa.v1.autoscaling", "HorizontalPodAutoscaler"),
            ("hpa", "HorizontalPodAutoscaler"),
        ] {
            assert_eq!(resolve(word).map(Kind::name), Ok(want), "{word}");
        }
        let text = |word: &str| resolve(word).map_err(|f| f.text());
        assert_eq!(text("depoyments").unwrap_err(), "the server doesn't have a resource type \"depoyments\"");
        assert_eq!(
            text("x.apps").unwrap_err(),
            "the server doesn't have a resource type \"x\" in group \"apps\""
        );
        assert!(expand("all").split(',').all(|word| resolve(word).is_ok()));
    }
}
