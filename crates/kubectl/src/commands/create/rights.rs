//! `kubectl create role`, `clusterrole`, their bindings, and `serviceaccount`. Upstream: kubectl/pkg/cmd/create (v1.37).

use super::make::{created, flags, name, required};
use crate::{
    args::{Args, Flag, Takes, flag},
    kc::{Flow, Kc, Stop},
    resources,
};
use kubestep_model::{Kind, Object};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const GROUP: &str = "rbac.authorization.k8s.io";
const VERBS: &[&str] = &[
    "*",
    "get",
    "delete",
    "list",
    "create",
    "update",
    "patch",
    "watch",
    "proxy",
    "deletecollection",
    "use",
    "bind",
    "escalate",
    "impersonate",
];
const URL_VERBS: &[&str] = &["*", "get", "post", "put", "delete", "patch", "head", "options"];

/// Verbs that are meant for some resources only.
const SPECIAL: &[(&str, &[(&str, &str)])] = &[
    ("use", &[("policy", "podsecuritypolicies"), ("extensions", "podsecuritypolicies")]),
    ("bind", &[(GROUP, "roles"), (GROUP, "clusterroles")]),
    ("escalate", &[(GROUP, "roles"), (GROUP, "clusterroles")]),
    (
        "impersonate",
        &[("", "users"), ("", "serviceaccounts"), ("", "groups"), ("authentication.k8s.io", "userextras")],
    ),
];

pub(super) const ROLE: &[Flag] =
    flags![flag("verb", Takes::List), flag("resource", Takes::List), flag("resource-name", Takes::Each)];
pub(super) const CLUSTER_ROLE: &[Flag] = flags![
    flag("verb", Takes::List),
    flag("resource", Takes::List),
    flag("resource-name", Takes::Each),
    flag("non-resource-url", Takes::List),
    flag("aggregation-rule", Takes::List),
];

fn once(list: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for item in list {
        if !found.contains(item) {
            found.push(item.clone());
        }
    }
    found
}

/// A resource as it was written: its name, its group, what is below it.
struct Target {
    resource: String,
    group: String,
    below: String,
}

fn targets(args: &Args) -> Vec<Target> {
    let mut all = Vec::new();
    for word in args.all("resource") {
        let (head, below) = word.split_once('/').unwrap_or((word, ""));
        let (resource, group) = head.split_once('.').unwrap_or((head, ""));
        let target = |resource: &str, group: &str| Target {
            resource: resource.to_owned(),
            group: group.to_owned(),
            below: below.to_owned(),
        };
        if word == "*" {
            return vec![target("*", "")];
        }
        all.push(target(resource, group));
    }
    all
}

/// The kind's own resource and group, where the word names one.
fn mapped(target: &Target, definitions: &[Object]) -> (String, String, Option<String>) {
    let word = if target.group.is_empty() {
        target.resource.clone()
    } else {
        format!("{}.{}", target.resource, target.group)
    };
    match resources::resolve_defined(&word, definitions) {
        Ok(kind) => (kind.resource().to_owned(), kind.group().to_owned(), None),
        Err(fault) => (target.resource.clone(), target.group.clone(), Some(fault.text())),
    }
}

fn verbs(args: &Args) -> Vec<String> {
    let all = args.all("verb");
    if all.iter().any(|v| v == "*") { vec!["*".to_owned()] } else { once(all) }
}

fn warn_of(kc: &mut Kc<'_>, verbs: &[String]) {
    for verb in verbs.iter().filter(|v| !VERBS.contains(&v.as_str())) {
        kc.err(format!("Warning: '{verb}' is not a standard resource verb\n"));
    }
}

fn check(kc: &mut Kc<'_>, verbs: &[String], targets: &[Target]) -> Flow<()> {
    for target in targets {
        if target.resource.is_empty() {
            return Err(kc.fail("resource must be specified if apiGroup/subresource specified"));
        }
        if target.resource == "*" {
            return Ok(());
        }
        let definitions = kc.definitions()?;
        let (resource, group, mut fault) = mapped(target, &definitions);
        for (verb, fit) in SPECIAL.iter().filter(|(special, _)| verbs.iter().any(|v| v == special)) {
            if !fit.contains(&(group.as_str(), resource.as_str())) {
                return Err(kc.fail(format!("can not perform '{verb}' on '{resource}' in group '{group}'")));
            }
            fault = None;
        }
        if let Some(fault) = fault {
            // Upstream prints this one without a word before it.
            kc.err(format!("{fault}\n"));
            return Err(Stop::Exit(1));
        }
    }
    Ok(())
}

/// One rule for each group, in the order of the groups' names. Upstream: generateResourcePolicyRules.
fn rules(verbs: &[String], targets: &[Target], names: &[String], definitions: &[Object]) -> Vec<Value> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for target in targets {
        let (resource, group, _) = mapped(target, definitions);
        let full = if target.below.is_empty() { resource } else { format!("{resource}/{}", target.below) };
        let list = groups.entry(group).or_default();
        if !list.contains(&full) {
            list.push(full);
        }
    }
    let rule = |(group, resources): (String, Vec<String>)| {
        let mut rule = json!({ "verbs": verbs, "apiGroups": [group], "resources": resources });
        if !names.is_empty() {
            rule["resourceNames"] = json!(names);
        }
        rule
    };
    groups.into_iter().map(rule).collect()
}

pub(super) fn role(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let name = name(kc, args)?;
    let (verbs, targets) = (verbs(args), targets(args));
    if verbs.is_empty() {
        return Err(kc.fail("at least one verb must be specified"));
    }
    warn_of(kc, &verbs);
    if targets.is_empty() {
        return Err(kc.fail("at least one resource must be specified"));
    }
    check(kc, &verbs, &targets)?;
    let definitions = kc.definitions()?;
    let rules = rules(&verbs, &targets, &once(args.all("resource-name")), &definitions);
    let value = json!({ "metadata": { "name": name }, "rules": rules });
    created(kc, args, Kind::other(GROUP, "Role"), value, "")
}

pub(super) fn cluster_role(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let name = name(kc, args)?;
    let (verbs, targets, urls) = (verbs(args), targets(args), once(args.all("non-resource-url")));
    if !args.all("aggregation-rule").is_empty() {
        if !(verbs.is_empty()
            && targets.is_empty()
            && urls.is_empty()
            && args.all("resource-name").is_empty())
        {
            return Err(kc.fail(
                "aggregation rule must be specified without nonResourceURLs, verbs, resources or resourceNames",
            ));
        }
        return aggregated(kc, args, name);
    }
    if verbs.is_empty() {
        return Err(kc.fail("at least one verb must be specified"));
    }
    if targets.is_empty() && urls.is_empty() {
        return Err(kc.fail("one of resource or nonResourceURL must be specified"));
    }
    if !targets.is_empty() {
        warn_of(kc, &verbs);
        check(kc, &verbs, &targets)?;
    }
    if !urls.is_empty()
        && let Some(verb) = verbs.iter().find(|v| !URL_VERBS.contains(&v.as_str()))
    {
        return Err(kc.fail(format!("invalid verb: '{verb}' for nonResourceURL")));
    }
    for url in urls.iter().filter(|u| *u != "*") {
        if !url.starts_with('/') {
            return Err(kc.fail("nonResourceURL should start with /"));
        }
        if url.strip_suffix('*').unwrap_or(url).contains('*') {
            return Err(kc.fail("nonResourceURL only supports wildcard matches when '*' is at the end"));
        }
    }
    let definitions = kc.definitions()?;
    let mut rules = rules(&verbs, &targets, &once(args.all("resource-name")), &definitions);
    if !urls.is_empty() {
        rules.push(json!({ "verbs": verbs, "nonResourceURLs": urls }));
    }
    let value = json!({ "metadata": { "name": name }, "rules": rules });
    created(kc, args, Kind::other(GROUP, "ClusterRole"), value, "")
}

/// A cluster role that is made of others. Upstream: CreateClusterRoleOptions, AggregationRule.
fn aggregated(kc: &mut Kc<'_>, args: &Args, name: String) -> Flow<i32> {
    let mut labels = serde_json::Map::new();
    for pair in args.all("aggregation-rule") {
        let Some((key, value)) = pair.split_once('=') else {
            let given = kubestep_model::text::go::quote(&args.all("aggregation-rule").join(","));
            return Err(kc.fail(format!(
                "invalid argument {given} for \"--aggregation-rule\" flag: malformed pair, expect string=string\nSee 'kubectl create clusterrole --help' for usage."
            )));
        };
        labels.insert(key.to_owned(), json!(value));
    }
    let rule = json!({ "clusterRoleSelectors": [{ "matchLabels": labels }] });
    let value = json!({ "aggregationRule": rule, "metadata": { "name": name }, "rules": null });
    created(kc, args, Kind::other(GROUP, "ClusterRole"), value, "")
}

pub(super) const ROLE_BINDING: &[Flag] = flags![
    flag("clusterrole", Takes::Text),
    flag("role", Takes::Text),
    flag("user", Takes::Each),
    flag("group", Takes::Each),
    flag("serviceaccount", Takes::Each),
];
pub(super) const CLUSTER_ROLE_BINDING: &[Flag] = flags![
    flag("clusterrole", Takes::Text),
    flag("user", Takes::Each),
    flag("group", Takes::Each),
    flag("serviceaccount", Takes::Each),
];

fn subjects(kc: &mut Kc<'_>, args: &Args) -> Flow<Vec<Value>> {
    let mut all = Vec::new();
    for (flag, kind) in [("user", "User"), ("group", "Group")] {
        all.extend(args.all(flag).iter().map(|n| json!({ "kind": kind, "apiGroup": GROUP, "name": n })));
    }
    for account in args.all("serviceaccount") {
        match account.split(':').collect::<Vec<_>>().as_slice() {
            [namespace, name] if !namespace.is_empty() && !name.is_empty() => {
                all.push(json!({ "kind": "ServiceAccount", "namespace": namespace, "name": name }));
            }
            _ => return Err(kc.fail("serviceaccount must be <namespace>:<name>")),
        }
    }
    Ok(all)
}

pub(super) fn role_binding(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let name = name(kc, args)?;
    let (cluster, role) = (args.text_or_empty("clusterrole"), args.text_or_empty("role"));
    if cluster.is_empty() == role.is_empty() {
        return Err(kc.fail("exactly one of clusterrole or role must be specified"));
    }
    let (kind, of) = if role.is_empty() { ("ClusterRole", cluster) } else { ("Role", role) };
    let role = json!({ "apiGroup": GROUP, "kind": kind, "name": of });
    let value = json!({ "metadata": { "name": name }, "roleRef": role, "subjects": subjects(kc, args)? });
    created(kc, args, Kind::other(GROUP, "RoleBinding"), value, "failed to create rolebinding: ")
}

pub(super) fn cluster_role_binding(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    required(kc, args, &["clusterrole"])?;
    let name = name(kc, args)?;
    let role = json!({ "apiGroup": GROUP, "kind": "ClusterRole", "name": args.text_or_empty("clusterrole") });
    let value = json!({ "metadata": { "name": name }, "roleRef": role, "subjects": subjects(kc, args)? });
    created(
        kc,
        args,
        Kind::other(GROUP, "ClusterRoleBinding"),
        value,
        "failed to create clusterrolebinding: ",
    )
}

pub(super) const SERVICE_ACCOUNT: &[Flag] = flags![];

pub(super) fn service_account(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let value = json!({ "metadata": { "name": name(kc, args)? } });
    created(kc, args, Kind::ServiceAccount, value, "failed to create serviceaccount: ")
}
