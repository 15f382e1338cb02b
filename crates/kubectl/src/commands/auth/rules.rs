//! `kubectl auth can-i --list`: every rule that is for somebody. Upstream: kubectl/pkg/cmd/auth, cani.go (v1.37).

use crate::{
    fields::Fields,
    kc::{Flow, Kc},
    output::tabs::Tabs,
};
use kubestep_model::{Key, Kind, Object, User, arrange::Arrange};
use serde_json::Value;
use std::sync::Arc;

const CLUSTER_BINDING: Kind = Kind::other("rbac.authorization.k8s.io", "ClusterRoleBinding");
const BINDING: Kind = Kind::other("rbac.authorization.k8s.io", "RoleBinding");
const CLUSTER_ROLE: Kind = Kind::other("rbac.authorization.k8s.io", "ClusterRole");
const ROLE: Kind = Kind::other("rbac.authorization.k8s.io", "Role");

/// One right: a resource with its group, or an address, and what may be done.
#[derive(Clone, Debug, Default, PartialEq)]
struct Rule {
    group: String,
    resource: String,
    names: Vec<String>,
    url: String,
    verbs: Vec<String>,
}

pub(super) fn list(kc: &mut Kc<'_>, no_headers: bool) -> Flow<i32> {
    let mut all: Vec<Rule> = Vec::new();
    // The administrator reads what is bound to whom.
    let user = kc.user.take();
    let admin = || Arc::new(User { name: "kubernetes-admin".into(), groups: vec!["system:masters".into()] });
    let who = user.clone().unwrap_or_else(admin);
    bound(kc, &who, &mut all)?;
    kc.user = user;
    all.arrange_by_key(|r| {
        format!("[{}] [{}] [{}] [{}] [{}]", r.verbs.join(" "), r.group, r.resource, r.names.join(" "), r.url)
    });
    let head = "Resources\tNon-Resource URLs\tResource Names\tVerbs\n";
    let mut text = if no_headers { String::new() } else { head.to_owned() };
    for r in &all {
        let dot = if r.group.is_empty() { "" } else { "." };
        let (names, verbs) = (r.names.join(" "), r.verbs.join(" "));
        text += &format!("{}{dot}{}\t[{}]\t[{names}]\t[{verbs}]\n", r.resource, r.group, r.url);
    }
    kc.out(Tabs::TABLE.align(&text));
    Ok(0)
}

/// Whether some rule lets a person do something with an address. Upstream: NonResourceURLMatches.
pub(super) fn allows_address(kc: &mut Kc<'_>, verb: &str, address: &str) -> Flow<bool> {
    let Some(user) = kc.user.take() else { return Ok(true) };
    let mut all = Vec::new();
    let read = bound(kc, &user, &mut all);
    kc.user = Some(user);
    read?;
    let fits = |url: &str| {
        url == "*" || url == address || url.strip_suffix('*').is_some_and(|start| address.starts_with(start))
    };
    Ok(all.iter().any(|r| {
        !r.url.is_empty() && r.url.split(' ').any(fits) && r.verbs.iter().any(|v| v == verb || v == "*")
    }))
}

fn resource(group: &str, name: &str, verbs: &[&str]) -> Rule {
    let verbs = verbs.iter().map(ToString::to_string).collect();
    Rule { group: group.into(), resource: name.into(), verbs, ..Rule::default() }
}

fn address(url: &str, verb: &str) -> Rule {
    Rule { url: url.into(), verbs: vec![verb.into()], ..Rule::default() }
}

/// Rules of one resource become one. Upstream: CompactRules.
fn add(all: &mut Vec<Rule>, rule: Rule) {
    let same = |r: &&mut Rule| {
        r.url.is_empty() && r.names.is_empty() && r.group == rule.group && r.resource == rule.resource
    };
    match all.iter_mut().find(same).filter(|_| rule.names.is_empty() && rule.url.is_empty()) {
        Some(old) => {
            for verb in rule.verbs {
                if !old.verbs.contains(&verb) {
                    old.verbs.push(verb);
                }
            }
        }
        None => all.push(rule),
    }
}

/// The rules of the roles that bindings give to somebody, everywhere and in the namespace.
fn bound(kc: &mut Kc<'_>, user: &User, all: &mut Vec<Rule>) -> Flow<()> {
    for (kind, namespace) in [(CLUSTER_BINDING, None), (BINDING, Some(kc.namespace.clone()))] {
        let Ok((bindings, _)) = kc.list(kind, namespace.clone(), None, None)? else { continue };
        for binding in bindings.iter().map(Object::to_value) {
            if !binding.list("subjects").iter().any(|s| is(s, user, namespace.as_deref().unwrap_or_default()))
            {
                continue;
            }
            let role = if binding.text("roleRef.kind") == "Role" { ROLE } else { CLUSTER_ROLE };
            let place: Arc<str> = if role == ROLE { kc.namespace.clone() } else { "".into() };
            let key = Key::new(role, place, binding.text("roleRef.name"));
            if let Ok(role) = kc.get(key)? {
                role.to_value().list("rules").iter().for_each(|rule| broken_down(rule, all));
            }
        }
    }
    Ok(())
}

/// Whether a subject of a binding is this person, one of its groups, or this service account.
fn is(subject: &Value, user: &User, namespace: &str) -> bool {
    let name = subject.text("name");
    match subject.text("kind") {
        "User" => *user.name == *name,
        "Group" => {
            let account =
                user.name.strip_prefix("system:serviceaccount:").map(|n| n.split(':').next().unwrap_or(""));
            let of_accounts = |place: &str| {
                name == "system:serviceaccounts"
                    || name.strip_prefix("system:serviceaccounts:") == Some(place)
            };
            name == "system:authenticated"
                || user.groups.iter().any(|g| **g == *name)
                || account.is_some_and(of_accounts)
        }
        "ServiceAccount" => {
            let place = subject.text_or("namespace", namespace);
            *user.name == *format!("system:serviceaccount:{place}:{name}")
        }
        _ => false,
    }
}

fn broken_down(rule: &Value, all: &mut Vec<Rule>) {
    let owned = |field: &str| -> Vec<String> { rule.texts(field).into_iter().map(str::to_owned).collect() };
    let (verbs, names) = (owned("verbs"), owned("resourceNames"));
    for group in rule.texts("apiGroups") {
        for name in rule.texts("resources") {
            let new = Rule { verbs: verbs.clone(), ..resource(group, name, &[]) };
            if names.is_empty() {
                add(all, new);
            } else {
                all.extend(names.iter().map(|n| Rule { names: vec![n.clone()], ..new.clone() }));
            }
        }
    }
    for url in rule.texts("nonResourceURLs") {
        all.push(Rule { verbs: verbs.clone(), ..address(url, "") });
    }
}
