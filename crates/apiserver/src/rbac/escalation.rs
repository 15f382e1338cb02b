//! Nobody gives away what he does not have: roles may hold, and bindings may refer to, only what their writer may do
//! himself, unless a role lets him `escalate` or `bind`. And the sums of cluster roles are kept.
//!
//! Upstream: pkg/registry/rbac/{role,rolebinding,clusterrole,clusterrolebinding}/policybased, pkg/registry/rbac/validation
//! (ConfirmNoEscalation, Covers) and pkg/controller/clusterroleaggregation (v1.37).

use super::{
    Asked, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, Found, MASTERS, ROLE, ROLE_BINDING, allows, groups, items,
    part, text,
};
use crate::turn::Turn;
use kubestep_model::{Custom, Key, Kind, Object, Status, User, text::go};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Refuses a role or a binding that gives more than its writer has.
pub(crate) fn check(turn: &Turn<'_>, new: &Object, old: Option<&Object>) -> Result<(), Status> {
    let Some(user) = turn.user.clone() else { return Ok(()) };
    let Object::Custom(custom) = new else { return Ok(()) };
    let groups = groups(&user);
    if groups.iter().any(|g| g == MASTERS) {
        return Ok(());
    }
    let namespace = &*custom.metadata.namespace;
    let old = if let Some(Object::Custom(old)) = old { Some(&**old) } else { None };
    let rules: Vec<Value> = match custom.kind {
        ROLE | CLUSTER_ROLE => {
            let same = |name: &str| old.is_some_and(|old| old.rest.get(name) == custom.rest.get(name));
            if same("rules") && same("aggregationRule") {
                return Ok(());
            }
            if may(turn, &user, &groups, "escalate", custom.kind, namespace, &custom.metadata.name) {
                return Ok(());
            }
            let mut rules = part(custom, "rules").to_vec();
            if custom.rest.get("aggregationRule").is_some_and(|a| !a.is_null()) {
                rules.push(json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}));
                rules.push(json!({"nonResourceURLs": ["*"], "verbs": ["*"]}));
            }
            rules
        }
        ROLE_BINDING | CLUSTER_ROLE_BINDING => {
            let same = |name: &str| old.is_some_and(|old| old.rest.get(name) == custom.rest.get(name));
            if same("roleRef") && same("subjects") {
                return Ok(());
            }
            let role = custom.rest.get("roleRef").cloned().unwrap_or_default();
            let (kind, at) =
                if text(&role, "kind") == "Role" { (ROLE, namespace) } else { (CLUSTER_ROLE, "") };
            if may(turn, &user, &groups, "bind", kind, namespace, text(&role, "name")) {
                return Ok(());
            }
            let key = Key::new(kind, at, text(&role, "name"));
            match turn.store.get(&key) {
                Some(Object::Custom(role)) => part(role, "rules").to_vec(),
                // The error of the role is told as one of the binding.
                _ => return Err(Status::not_found(custom.kind, &key.name)),
            }
        }
        _ => return Ok(()),
    };
    let mut found = Found::default();
    let own = super::rules_of(&turn.store, &user, &groups, namespace, &mut found);
    let missing: Vec<Single> = rules.iter().flat_map(singles).filter(|s| !s.covered(&own)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Status::forbidden(custom.kind, &custom.metadata.name, &refusal(&user, &groups, &missing, &found)))
}

fn may(
    turn: &Turn<'_>,
    user: &User,
    groups: &[String],
    verb: &str,
    kind: Kind,
    namespace: &str,
    name: &str,
) -> bool {
    // A binding in a namespace may be allowed there, also to a cluster role.
    let asked = Asked { verb, kind, subresource: "", namespace, name };
    allows(&turn.store, user, groups, &asked, &mut Found::default())
}

fn refusal(user: &User, groups: &[String], missing: &[Single], found: &Found) -> String {
    let mut compact: BTreeMap<(&str, &str, &str, &str), Vec<&str>> = BTreeMap::new();
    for one in missing {
        let verbs = compact.entry((&one.group, &one.resource, &one.url, &one.name)).or_default();
        verbs.push(&one.verb);
    }
    let list = |name: &str, value: &str| format!("{name}:[{}]", go::quote(value));
    let lines: BTreeSet<String> = compact
        .into_iter()
        .map(|((group, resource, url, name), verbs)| {
            let mut parts = vec![];
            if url.is_empty() {
                parts.push(list("APIGroups", group));
                parts.push(list("Resources", resource));
            } else {
                parts.push(list("NonResourceURLs", url));
            }
            if !name.is_empty() {
                parts.push(list("ResourceNames", name));
            }
            let verbs: Vec<String> = verbs.into_iter().map(go::quote).collect();
            parts.push(format!("Verbs:[{}]", verbs.join(" ")));
            format!("{{{}}}", parts.join(", "))
        })
        .collect();
    let groups: Vec<String> = groups.iter().map(|g| go::quote(g)).collect();
    let mut out = format!(
        "user {} (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}",
        go::quote(&user.name),
        groups.join(" "),
        lines.into_iter().collect::<Vec<String>>().join("\n")
    );
    if !found.faults.is_empty() {
        out.push_str(&format!("; resolution errors: [{}]", found.faults.join(" ")));
    }
    out
}

/// One verb on one thing.
struct Single {
    group: String,
    resource: String,
    name: String,
    url: String,
    verb: String,
}

/// A rule taken apart. Upstream: BreakdownRule.
fn singles(rule: &Value) -> Vec<Single> {
    let words = |name: &str| -> Vec<String> {
        items(&rule[name]).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut out = vec![];
    for group in words("apiGroups") {
        for resource in words("resources") {
            for verb in words("verbs") {
                let mut names = words("resourceNames");
                if names.is_empty() {
                    names.push(String::new());
                }
                out.extend(names.into_iter().map(|name| Single {
                    group: group.clone(),
                    resource: resource.clone(),
                    name,
                    url: String::new(),
                    verb: verb.clone(),
                }));
            }
        }
    }
    for url in words("nonResourceURLs") {
        out.extend(words("verbs").into_iter().map(|verb| Single {
            group: String::new(),
            resource: String::new(),
            name: String::new(),
            url: url.clone(),
            verb,
        }));
    }
    out
}

impl Single {
    /// Upstream: ruleCovers.
    fn covered(&self, own: &[Value]) -> bool {
        own.iter().any(|rule| {
            let has = |part: &str, wanted: &str| {
                items(&rule[part]).iter().filter_map(Value::as_str).any(|w| w == "*" || w == wanted)
            };
            if !has("verbs", &self.verb) {
                return false;
            }
            if !self.url.is_empty() {
                let fits = |own: &str| {
                    own == self.url || own.strip_suffix('*').is_some_and(|s| self.url.starts_with(s))
                };
                return items(&rule["nonResourceURLs"]).iter().filter_map(Value::as_str).any(fits);
            }
            let names = items(&rule["resourceNames"]);
            let part = self.resource.split_once('/').map(|(_, part)| format!("*/{part}"));
            has("apiGroups", &self.group)
                && (has("resources", &self.resource) || part.is_some_and(|part| has("resources", &part)))
                && (names.is_empty() || names.iter().any(|n| n.as_str() == Some(self.name.as_str())))
        })
    }
}

/// Cluster roles that are sums get the rules of their parts.
pub(crate) fn sum_up(turn: &mut Turn<'_>) {
    // A sum may be part of a sum; the default ones are three deep.
    for _ in 0..4 {
        let mut changed: Vec<Custom> = vec![];
        for role in super::customs(&turn.store, CLUSTER_ROLE, None) {
            let Some(selectors) = super::selectors(role) else { continue };
            let mut rules: Vec<Value> = vec![];
            for selector in &selectors {
                for other in super::customs(&turn.store, CLUSTER_ROLE, None) {
                    if other.metadata.name == role.metadata.name || !selector.matches(&other.metadata.labels)
                    {
                        continue;
                    }
                    for rule in part(other, "rules") {
                        if !rules.contains(rule) {
                            rules.push(rule.clone());
                        }
                    }
                }
            }
            if part(role, "rules") != rules.as_slice() {
                let mut role = role.clone();
                role.rest.insert("rules".into(), if rules.is_empty() { Value::Null } else { rules.into() });
                changed.push(role);
            }
        }
        if changed.is_empty() {
            return;
        }
        for role in changed {
            turn.put_for("clusterrole-aggregation-controller", Object::Custom(Arc::new(role)), "patch");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_cover_single_wishes() {
        let own = [json!({"apiGroups": [""], "resources": ["pods", "*/log"], "verbs": ["get", "list"]})];
        let covered = |rule: Value| singles(&rule).iter().all(|s| s.covered(&own));
        let rule =
            |resource: &str, verb: &str| json!({"apiGroups": [""], "resources": [resource], "verbs": [verb]});
        for (resource, verb, good) in [
            ("pods", "get", true),
            ("pods/log", "list", true),
            ("pods", "delete", false),
            ("secrets", "get", false),
        ] {
            assert_eq!(covered(rule(resource, verb)), good, "{resource} {verb}");
        }
        assert!(!covered(json!({"nonResourceURLs": ["/healthz"], "verbs": ["get"]})));
    }
}
