//! Commands about the cluster and its API as a whole: version, cluster-info, api-resources, api-versions, options, top.

use super::common::OUTPUT;
use crate::{
    args::{self, Args, Flag, Takes, flag},
    kc::{Flow, Kc},
    output::{json, tabs::Tabs},
};
use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{Kind, defined::Definition, yaml};
use serde_json::json;
use std::collections::BTreeSet;

/// The version of Kubernetes that is modelled.
const VERSION: &str = "v1.37.2";
const KUSTOMIZE: &str = "v5.8.1";
/// Where the API server is said to be.
pub(super) const SERVER: &str = "https://127.0.0.1:6443";

pub(super) const VERSION_FLAGS: &[Flag] = &[OUTPUT, flag("client", Takes::Bool)];

pub(super) fn version(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let client = json!({ "major": "1", "minor": "37", "gitVersion": VERSION });
    let mut value = json!({ "clientVersion": client, "kustomizeVersion": KUSTOMIZE });
    if !args.on("client") {
        value["serverVersion"] = client;
    }
    match args.text_or_empty("output") {
        "" => {
            kc.out(format!("Client Version: {VERSION}\nKustomize Version: {KUSTOMIZE}\n"));
            if !args.on("client") {
                kc.out(format!("Server Version: {VERSION}\n"));
            }
        }
        "yaml" => kc.out(yaml::to_yaml(&value)),
        "json" => kc.out(json::pretty(&value)),
        _ => return Err(kc.fail("--output must be 'yaml' or 'json'")),
    }
    Ok(0)
}

pub(super) const CLUSTER_FLAGS: &[Flag] = &[];

pub(super) fn cluster(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if let Some(word) = args.words.first() {
        return Err(kc.usage(&args.path, &format!("unknown command \"{word}\"")));
    }
    kc.out(format!(
        "Kubernetes control plane is running at {SERVER}\n\nTo further debug and diagnose cluster problems, use 'kubectl cluster-info dump'.\n"
    ));
    Ok(0)
}

pub(super) const RESOURCES_FLAGS: &[Flag] = &[
    OUTPUT,
    flag("api-group", Takes::Text),
    flag("namespaced", Takes::Bool),
    flag("no-headers", Takes::Bool),
    flag("sort-by", Takes::Text),
    flag("verbs", Takes::List),
    flag("categories", Takes::List),
    flag("cached", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    super::common::TEMPLATE,
];

const VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// The same of kinds that people defined, in their order.
const DEFINED_VERBS: &[&str] =
    &["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/// The kinds that `all` stands for.
const ALL: &[&str] = &[
    "pods",
    "replicationcontrollers",
    "services",
    "daemonsets",
    "deployments",
    "replicasets",
    "statefulsets",
    "horizontalpodautoscalers",
    "cronjobs",
    "jobs",
];

fn categories(kind: Kind) -> Vec<&'static str> {
    match kind.group() {
        _ if ALL.contains(&kind.resource()) => vec!["all"],
        "admissionregistration.k8s.io" | "apiextensions.k8s.io" | "apiregistration.k8s.io" => {
            vec!["api-extensions"]
        }
        _ => vec![],
    }
}

pub(super) fn resources(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if !args.words.is_empty() {
        let words = args.words.join(" ");
        return Err(kc.usage(&args.path, &format!("unexpected arguments: [{words}]")));
    }
    let output = args.text_or_empty("output");
    if !matches!(output, "" | "wide" | "name") {
        return Err(kc.not_done(&format!("api-resources -o {output}")));
    }
    let sort = args.text_or_empty("sort-by");
    if !matches!(sort, "" | "name" | "kind") {
        return Err(kc.fail("--sort-by accepts only name or kind"));
    }
    let wanted_verbs = args.all("verbs");
    let definitions = kc.definitions()?;
    let defined = || definitions.iter().filter_map(Definition::of);
    let about = |kind: Kind| defined().find(|d| d.served().first() == Some(&kind));
    let categories = |kind: Kind| match about(kind) {
        Some(definition) => definition.list_of_names("categories"),
        None => categories(kind),
    };
    let mut kinds: Vec<Kind> = Kind::all()
        .chain(defined().filter_map(|d| d.served().first().copied()))
        .filter(|k| !args.has("api-group") || args.text_or_empty("api-group") == k.group())
        .filter(|k| !args.has("namespaced") || args.on("namespaced") == k.namespaced())
        .filter(|_| wanted_verbs.iter().all(|v| VERBS.contains(&v.as_str())))
        .filter(|k| args.all("categories").iter().all(|c| categories(*k).contains(&c.as_str())))
        .collect();
    kinds.arrange_by_key(|k| match sort {
        "name" => (k.resource(), ""),
        "kind" => (k.name(), ""),
        _ => (k.group(), k.resource()),
    });
    if output == "name" {
        kinds.iter().for_each(|k| kc.out(k.qualified() + "\n"));
        return Ok(0);
    }
    let wide = output == "wide";
    let mut text = String::new();
    if !args.on("no-headers") {
        text += "NAME\tSHORTNAMES\tAPIVERSION\tNAMESPACED\tKIND";
        text += if wide { "\tVERBS\tCATEGORIES\n" } else { "\n" };
    }
    for kind in kinds {
        let short = match about(kind) {
            Some(definition) => definition.list_of_names("shortNames").join(","),
            None => kind.row().short.join(","),
        };
        let (version, namespaced) = (kind.api_version(), kind.namespaced());
        text += &format!("{}\t{short}\t{version}\t{namespaced}\t{}", kind.resource(), kind.name());
        if wide {
            let verbs = if kind.is_defined() { DEFINED_VERBS } else { VERBS };
            text += &format!("\t{}\t{}", verbs.join(","), categories(kind).join(","));
        }
        text.push('\n');
    }
    kc.out(Tabs::TABLE.align(&text));
    Ok(0)
}

pub(super) const VERSIONS_FLAGS: &[Flag] = &[];

pub(super) fn versions(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if !args.words.is_empty() {
        let words = args.words.join(" ");
        return Err(kc.usage(&args.path, &format!("unexpected arguments: [{words}]")));
    }
    let definitions = kc.definitions()?;
    let defined = definitions.iter().filter_map(Definition::of).flat_map(Definition::served);
    let all: BTreeSet<String> = Kind::all().chain(defined).map(Kind::api_version).gather();
    all.into_iter().for_each(|version| kc.out(version + "\n"));
    Ok(0)
}

pub(super) const OPTIONS_FLAGS: &[Flag] = &[];

pub(super) fn options(kc: &mut Kc<'_>, _: &Args) -> Flow<i32> {
    let lines: String = args::global().iter().map(super::help::option).collect();
    kc.out(format!("The following options can be passed to any command:\n\n{lines}"));
    Ok(0)
}

/// What `top` knows of flags; there is nothing to show, as in a cluster without the metrics server.
pub(super) const TOP_FLAGS: &[Flag] = &[
    super::common::SELECTOR,
    OUTPUT,
    flag("field-selector", Takes::Text),
    flag("sort-by", Takes::Text),
    flag("no-headers", Takes::Bool),
    flag("containers", Takes::Bool),
    flag("sum", Takes::Bool),
    flag("show-capacity", Takes::Bool),
    flag("show-swap", Takes::Bool),
    flag("use-protocol-buffers", Takes::Bool),
    args::short("all-namespaces", 'A', Takes::Bool),
];

pub(super) fn top(kc: &mut Kc<'_>, _: &Args) -> Flow<i32> {
    Err(kc.fail("Metrics API not available"))
}
