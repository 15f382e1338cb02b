//! The roles and bindings that every cluster has, and a few objects besides. They are there from the start, as objects; what somebody writes or
//! deletes takes their place.
//!
//! Upstream: plugin/pkg/auth/authorizer/rbac/bootstrappolicy and the clusterrole-aggregation-controller (v1.37). The
//! table holds what a real server shows: `C` a cluster role, `R` a role, `B` and `N` their bindings; below a role its
//! rules, as groups, resources, verbs and names. `+x` is a label `aggregate-to-x`, `<x` the sum of the roles with it.

mod others;

use super::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use kubestep_model::{Custom, Instant, Key, Kind, Object, ObjectMeta, text::hash};
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

const TABLE: &str = include_str!("bootstrap.txt");
const GROUP: &str = "rbac.authorization.k8s.io";
const LABEL: &str = "rbac.authorization.k8s.io/aggregate-to-";
const CONTROLLER: &str = "system:controller:";

static ALL: LazyLock<BTreeMap<Key, Object>> = LazyLock::new(read);

/// Whether there can be such objects of a kind at all; asked before anything else, for it is asked often.
pub(crate) fn is_of_roles(kind: Kind) -> bool {
    [ROLE, CLUSTER_ROLE, ROLE_BINDING, CLUSTER_ROLE_BINDING].contains(&kind) || others::KINDS.contains(&kind)
}

/// The object of a key.
pub(crate) fn get(key: &Key) -> Option<&'static Object> {
    if is_of_roles(key.kind) { ALL.get(key) } else { None }
}

/// All objects of a kind, by namespace and name.
pub(crate) fn list(kind: Kind) -> impl Iterator<Item = (&'static Key, &'static Object)> {
    let all = is_of_roles(kind).then(|| ALL.range(Key::new(kind, "", "")..));
    all.into_iter().flatten().take_while(move |(key, _)| key.kind == kind)
}

fn read() -> BTreeMap<Key, Object> {
    let mut all: BTreeMap<Key, Custom> = BTreeMap::new();
    let mut sums: Vec<(Key, String)> = vec![];
    let mut last: Option<Key> = None;
    for line in TABLE.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let made = match words.as_slice() {
            ["C", name, flags @ ..] => {
                let key = role(&mut all, CLUSTER_ROLE, "", name);
                for flag in flags {
                    if let Some(to) = flag.strip_prefix('+')
                        && let Some(role) = all.get_mut(&key)
                    {
                        role.metadata.labels.insert(format!("{LABEL}{to}"), "true".into());
                    } else if let Some(of) = flag.strip_prefix('<') {
                        sums.push((key.clone(), format!("{LABEL}{of}")));
                    }
                }
                if let Some(controller) = name.strip_prefix(CONTROLLER) {
                    let account = format!("Skube-system/{controller}");
                    binding(&mut all, CLUSTER_ROLE_BINDING, "", name, "C", &[&account]);
                }
                Some(key)
            }
            ["R", namespace, name] => Some(role(&mut all, ROLE, namespace, name)),
            ["B", name, role, subjects @ ..] => {
                binding(&mut all, CLUSTER_ROLE_BINDING, "", name, role, subjects);
                None
            }
            ["N", namespace, name, role, subjects @ ..] => {
                binding(&mut all, ROLE_BINDING, namespace, name, role, subjects);
                None
            }
            _ => {
                let rules =
                    last.as_ref().and_then(|key| all.get_mut(key)).and_then(|r| r.rest.get_mut("rules"));
                if let Some(Value::Array(rules)) = rules {
                    rules.push(rule(line));
                }
                continue;
            }
        };
        last = made;
    }
    // One sum may be part of another: the smaller ones stand further down.
    for (key, label) in sums.iter().rev() {
        let rules = sum(all.values().filter(|c| c.kind == CLUSTER_ROLE), label);
        if let Some(role) = all.get_mut(key) {
            role.rest.insert("rules".into(), rules.into());
            let selectors = json!({"clusterRoleSelectors": [{"matchLabels": {label.as_str(): "true"}}]});
            role.rest.insert("aggregationRule".into(), selectors);
        }
    }
    for (kind, name, rest) in others::all() {
        let key = insert(&mut all, kind, "", name, rest);
        if let Some(custom) = all.get_mut(&key) {
            mark(custom);
        }
    }
    all.into_iter().map(|(key, custom)| (key, Object::Custom(Arc::new(custom)))).collect()
}

/// The metadata of what is no role.
fn mark(custom: &mut Custom) {
    let (annotation, finalizer) = others::marks(custom.kind);
    let meta = &mut custom.metadata;
    meta.labels.clear();
    meta.annotations.clear();
    meta.annotations.extend(annotation.map(|(key, value)| (key.to_owned(), value.to_owned())));
    meta.finalizers.extend(finalizer.map(Into::into));
    if annotation.is_some() {
        meta.generation = 1;
    } else if finalizer.is_none() {
        // Nobody stores it: the server makes it up when it is asked.
        meta.creation_timestamp = None;
        meta.resource_version.clear();
    }
}

/// The rules of all roles with a label, each once.
fn sum<'a>(roles: impl Iterator<Item = &'a Custom>, label: &str) -> Vec<Value> {
    let mut rules: Vec<Value> = vec![];
    for role in roles.filter(|role| role.metadata.labels.contains_key(label)) {
        for rule in role.rest.get("rules").and_then(Value::as_array).into_iter().flatten() {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    rules
}

fn insert(all: &mut BTreeMap<Key, Custom>, kind: Kind, namespace: &str, name: &str, rest: Value) -> Key {
    let key = Key::new(kind, namespace, name);
    let mut metadata = ObjectMeta { namespace: namespace.into(), name: name.into(), ..ObjectMeta::default() };
    metadata.labels.insert("kubernetes.io/bootstrapping".into(), "rbac-defaults".into());
    metadata.annotations.insert("rbac.authorization.kubernetes.io/autoupdate".into(), "true".into());
    metadata.creation_timestamp = Some(Instant::START.to_time());
    metadata.resource_version = (all.len() + 1).to_string();
    metadata.uid = uid(&format!("{}/{namespace}/{name}", kind.resource())).into();
    let rest = if let Value::Object(rest) = rest { rest } else { Map::new() };
    all.insert(key.clone(), Custom { kind, metadata, rest });
    key
}

/// Always the same for the same name, and in the form of all uids.
fn uid(name: &str) -> String {
    let part = |salt: &str| hash::fnv32a(format!("{salt}{name}").as_bytes());
    let (a, b, c, d) = (part("a"), part("b"), part("c"), part("d"));
    format!("{a:08x}-{:04x}-4{:03x}-8{:03x}-{c:08x}{:04x}", b >> 16, b & 0xfff, (d >> 16) & 0xfff, d & 0xffff)
}

fn role(all: &mut BTreeMap<Key, Custom>, kind: Kind, namespace: &str, name: &str) -> Key {
    insert(all, kind, namespace, name, json!({"rules": []}))
}

fn rule(line: &str) -> Value {
    let parts: Vec<&str> = line.split('|').collect();
    let words = |part: &str| -> Vec<String> {
        part.split(' ').map(|w| if w == "-" { String::new() } else { w.to_owned() }).collect()
    };
    let mut rule = json!({"verbs": verbs(parts.get(2).copied().unwrap_or_default())});
    if parts[0] == "u" {
        rule["nonResourceURLs"] = words(parts.get(1).copied().unwrap_or_default()).into();
        return rule;
    }
    rule["apiGroups"] = words(parts[0]).into();
    rule["resources"] = words(parts.get(1).copied().unwrap_or_default()).into();
    if let Some(names) = parts.get(3) {
        rule["resourceNames"] = words(names).into();
    }
    rule
}

/// Verbs by name, or after a colon the common ones by letter.
fn verbs(text: &str) -> Vec<&str> {
    let short = |letter: char| match letter {
        'g' => "get",
        'l' => "list",
        'w' => "watch",
        'c' => "create",
        'd' => "delete",
        'D' => "deletecollection",
        'p' => "patch",
        _ => "update",
    };
    let mut out = vec![];
    for word in text.split(' ') {
        match word.strip_prefix(':') {
            Some(letters) => out.extend(letters.chars().map(short)),
            None => out.push(word),
        }
    }
    out
}

fn binding(
    all: &mut BTreeMap<Key, Custom>,
    kind: Kind,
    namespace: &str,
    name: &str,
    role: &str,
    subjects: &[&str],
) {
    let of = if role.starts_with('C') { "ClusterRole" } else { "Role" };
    let role = if role.len() > 1 { &role[1..] } else { name };
    let subject = |text: &&str| match (text.get(..1), text.get(1..).unwrap_or_default()) {
        (Some("S"), account) => {
            let (namespace, name) = account.split_once('/').unwrap_or(("", account));
            json!({"kind": "ServiceAccount", "name": name, "namespace": namespace})
        }
        (Some("U"), name) => json!({"kind": "User", "apiGroup": GROUP, "name": name}),
        (_, name) => json!({"kind": "Group", "apiGroup": GROUP, "name": name}),
    };
    let mut rest = json!({"roleRef": {"apiGroup": GROUP, "kind": of, "name": role}});
    if !subjects.is_empty() {
        rest["subjects"] = subjects.iter().map(subject).collect();
    }
    insert(all, kind, namespace, name, rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_whole() {
        let count = |kind| list(kind).count();
        assert_eq!(count(CLUSTER_ROLE), 73);
        assert_eq!(count(CLUSTER_ROLE_BINDING), 54);
        assert_eq!((count(ROLE), count(ROLE_BINDING)), (7, 7));
        assert_eq!(count(Kind::Pod), 0);
        let uids: std::collections::BTreeSet<_> = ALL.values().map(|o| o.meta().uid.clone()).collect();
        assert_eq!(uids.len(), ALL.len());
        assert!(uids.iter().all(|uid| uid.len() == 36));
    }

    #[test]
    fn sums_hold_what_their_parts_hold() {
        let rules = |name: &str| {
            let role = get(&Key::new(CLUSTER_ROLE, "", name)).map(Object::to_value).unwrap_or_default();
            role["rules"].as_array().cloned().unwrap_or_default()
        };
        let (view, edit, admin) = (rules("view"), rules("edit"), rules("admin"));
        assert!(view.iter().all(|rule| edit.contains(rule)) && edit.iter().all(|rule| admin.contains(rule)));
        assert!(!view.is_empty() && view.len() < edit.len() && edit.len() < admin.len());
        assert_eq!(rules("cluster-admin").len(), 2);
    }
}
