//! Commands about the cluster and its API as a whole: version, cluster-info, api-resources, api-versions, options, top.

use super::common::OUTPUT;
use crate::{
    args::{self, Args, Flag, Takes, flag},
    kc::{Flow, Kc},
    output::{json, tabs::Tabs},
};
use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{Kind, Object, defined::Definition, yaml};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The version of Kubernetes that is modelled.
const VERSION: &str = "v1.37.2";
const KUSTOMIZE: &str = "v5.8.1";
/// Where the API server is said to be.
pub(super) const SERVER: &str = "https://127.0.0.1:6443";

pub(super) const VERSION_FLAGS: &[Flag] = &[OUTPUT, flag("client", Takes::Bool)];

/// The parts of a version, in the order of its struct. Upstream: apimachinery/pkg/version, Info.
const INFO: [&str; 13] = [
    "major",
    "minor",
    "emulationMajor",
    "emulationMinor",
    "minCompatibilityMajor",
    "minCompatibilityMinor",
    "gitVersion",
    "gitCommit",
    "gitTreeState",
    "buildDate",
    "goVersion",
    "compiler",
    "platform",
];

/// All versions on one line, in the order of their structs.
fn written(value: &Value) -> String {
    let info = |info: &Value| {
        let part = |name: &&str| Some(format!("\"{name}\":{}", info.get(*name)?));
        INFO.iter().filter_map(part).collect::<Vec<_>>().join(",")
    };
    let (client, kustomize) = (info(&value["clientVersion"]), &value["kustomizeVersion"]);
    let server = value.get("serverVersion").map(|server| format!(",\"serverVersion\":{{{}}}", info(server)));
    format!(
        "{{\"clientVersion\":{{{client}}},\"kustomizeVersion\":{kustomize}{}}}",
        server.unwrap_or_default()
    )
}

pub(super) fn version(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if !args.words.is_empty() {
        return Err(kc.fail(format!("extra arguments: [{}]", args.words.join(" "))));
    }
    let client = json!({
        "buildDate": "1970-01-01T00:00:00Z", "compiler": "gc", "gitCommit": "0000000000000000000000000000000000000000",
        "gitTreeState": "clean", "gitVersion": VERSION, "goVersion": "go1.26.8", "major": "1", "minor": "37",
        "platform": "linux/amd64",
    });
    let mut value = json!({ "clientVersion": client, "kustomizeVersion": KUSTOMIZE });
    if !args.on("client") {
        let mut server = client;
        for (name, number) in [("emulationMajor", "1"), ("emulationMinor", "37")] {
            server[name] = number.into();
        }
        server["minCompatibilityMajor"] = "1".into();
        server["minCompatibilityMinor"] = "36".into();
        value["serverVersion"] = server;
    }
    match args.text_or_empty("output") {
        "" => {
            kc.out(format!("Client Version: {VERSION}\nKustomize Version: {KUSTOMIZE}\n"));
            if !args.on("client") {
                kc.out(format!("Server Version: {VERSION}\n"));
            }
        }
        "yaml" => kc.out(yaml::to_yaml(&value) + "\n"),
        "json" => kc.out(json::spread(&written(&value), "  ")),
        _ => return Err(kc.fail("--output must be 'yaml' or 'json'")),
    }
    Ok(0)
}

pub(super) const CLUSTER_FLAGS: &[Flag] = &[];

pub(super) fn cluster(kc: &mut Kc<'_>, _: &Args) -> Flow<i32> {
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

/// What can be done with a kind.
fn verbs(resource: &str, kind: &str) -> Vec<&'static str> {
    match resource {
        "componentstatuses" => vec!["get", "list"],
        "namespaces" => VERBS.iter().copied().filter(|v| *v != "deletecollection").collect(),
        _ if kind.ends_with("Review") || kind == "Binding" => vec!["create"],
        _ => VERBS.to_vec(),
    }
}

/// A line of the list.
pub(super) struct Line {
    pub(super) resource: &'static str,
    pub(super) singular: String,
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
    pub(super) short: String,
    pub(super) namespaced: bool,
    pub(super) verbs: Vec<&'static str>,
    pub(super) categories: Vec<String>,
}

impl Line {
    /// A kind that is served.
    fn of(kind: Kind) -> Line {
        let (resource, group) = (kind.resource(), kind.group());
        Line {
            resource,
            singular: kind.singular().to_owned(),
            group,
            version: kind.version(),
            kind: kind.name(),
            short: kind.row().short.join(","),
            namespaced: kind.namespaced(),
            verbs: verbs(resource, kind.name()),
            categories: categories(resource, group),
        }
    }

    /// A kind that people defined.
    fn defined(definition: Definition<'_>) -> Option<Line> {
        let kind = definition.served().first().copied()?;
        let own = |field: &str| -> Vec<String> {
            definition.list_of_names(field).iter().map(ToString::to_string).collect()
        };
        let short = own("shortNames").join(",");
        Some(Line { short, verbs: DEFINED_VERBS.to_vec(), categories: own("categories"), ..Line::of(kind) })
    }

    /// `apps/v1`.
    fn api_version(&self) -> String {
        let slash = if self.group.is_empty() { "" } else { "/" };
        format!("{}{slash}{}", self.group, self.version)
    }
}

/// Resources that the API of v1.37 names, and that are not stored here: resource, group, kind, whether it is in namespaces.
const UNSTORED: [(&str, &str, &str, bool); 8] = [
    ("bindings", "", "Binding", true),
    ("selfsubjectreviews", "authentication.k8s.io", "SelfSubjectReview", false),
    ("tokenreviews", "authentication.k8s.io", "TokenReview", false),
    ("localsubjectaccessreviews", "authorization.k8s.io", "LocalSubjectAccessReview", true),
    ("selfsubjectaccessreviews", "authorization.k8s.io", "SelfSubjectAccessReview", false),
    ("selfsubjectrulesreviews", "authorization.k8s.io", "SelfSubjectRulesReview", false),
    ("subjectaccessreviews", "authorization.k8s.io", "SubjectAccessReview", false),
    ("events", "events.k8s.io", "Event", true),
];

/// Everything that the API names.
pub(super) fn all(definitions: &[Object]) -> Vec<Line> {
    let mut all: Vec<Line> = Kind::all().map(Line::of).collect();
    for (resource, group, kind, namespaced) in UNSTORED {
        if !all.iter().any(|l| l.resource == resource && l.group == group) {
            let short = if resource == "events" { "ev".to_owned() } else { String::new() };
            let (verbs, categories) = (verbs(resource, kind), categories(resource, group));
            let singular = kind.to_ascii_lowercase();
            all.push(Line {
                resource,
                singular,
                group,
                version: "v1",
                kind,
                short,
                namespaced,
                verbs,
                categories,
            });
        }
    }
    all.extend(definitions.iter().filter_map(Definition::of).filter_map(Line::defined));
    all
}

/// A part of objects that is read or written on its own.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) name: &'static str,
    /// The kind of what is read or written; the object's own, if it is empty.
    pub(super) kind: &'static str,
    /// Group and version of that kind, if they are others.
    pub(super) api: Option<(&'static str, &'static str)>,
    pub(super) verbs: &'static [&'static str],
}

const fn part(name: &'static str, kind: &'static str, verbs: &'static [&'static str]) -> Part {
    Part { name, kind, api: None, verbs }
}

const WRITTEN: &[&str] = &["get", "patch", "update"];
const STATUS: Part = part("status", "", WRITTEN);
const SCALE: Part = Part { api: Some(("autoscaling", "v1")), ..part("scale", "Scale", WRITTEN) };
const PROXIED: &[&str] = &["create", "delete", "get", "patch", "update"];

const OF_PODS: &[Part] = &[
    part("attach", "PodAttachOptions", &["create", "get"]),
    part("binding", "Binding", &["create"]),
    part("ephemeralcontainers", "", WRITTEN),
    Part { api: Some(("policy", "v1")), ..part("eviction", "Eviction", &["create"]) },
    part("exec", "PodExecOptions", &["create", "get"]),
    part("log", "", &["get"]),
    part("portforward", "PodPortForwardOptions", &["create", "get"]),
    part("proxy", "PodProxyOptions", PROXIED),
    part("resize", "", WRITTEN),
    STATUS,
];

/// The parts of a resource's objects.
pub(super) fn parts_of(group: &str, resource: &str) -> &'static [Part] {
    match (group, resource) {
        ("", "pods") => OF_PODS,
        ("", "nodes") => const { &[part("proxy", "NodeProxyOptions", PROXIED), STATUS] },
        ("", "services") => const { &[part("proxy", "ServiceProxyOptions", PROXIED), STATUS] },
        ("", "namespaces") => const { &[part("finalize", "", &["update"]), STATUS] },
        ("", "serviceaccounts") => {
            const {
                &[Part {
                    api: Some(("authentication.k8s.io", "v1")),
                    ..part("token", "TokenRequest", &["create"])
                }]
            }
        }
        ("", "replicationcontrollers") | ("apps", "deployments" | "replicasets" | "statefulsets") => {
            const { &[SCALE, STATUS] }
        }
        ("certificates.k8s.io", "certificatesigningrequests") => {
            const { &[part("approval", "", WRITTEN), STATUS] }
        }
        ("", "persistentvolumeclaims" | "persistentvolumes" | "resourcequotas")
        | ("apps", "daemonsets")
        | ("batch" | "policy" | "apiextensions.k8s.io" | "flowcontrol.apiserver.k8s.io", _)
        | ("autoscaling", "horizontalpodautoscalers")
        | ("apiregistration.k8s.io", "apiservices")
        | ("networking.k8s.io", "ingresses" | "servicecidrs")
        | ("admissionregistration.k8s.io", "validatingadmissionpolicies")
        | ("storagemigration.k8s.io", _)
        | ("resource.k8s.io", "resourceclaims" | "devicetaintrules") => const { &[STATUS] },
        _ => &[],
    }
}

/// The parts of a kind's objects.
pub(super) fn parts(kind: Kind) -> &'static [Part] {
    parts_of(kind.group(), kind.resource())
}

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

fn categories(resource: &str, group: &str) -> Vec<String> {
    match group {
        _ if ALL.contains(&resource) => vec!["all".to_owned()],
        "admissionregistration.k8s.io" | "apiextensions.k8s.io" | "apiregistration.k8s.io" => {
            vec!["api-extensions".to_owned()]
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
    if !matches!(output, "" | "wide" | "name" | "json" | "yaml" | "kyaml") {
        return Err(kc.fail(format!(
            "unable to match a printer suitable for the output format \"{output}\", allowed formats are: json,kyaml,name,wide,yaml"
        )));
    }
    if !matches!(output, "" | "wide" | "name") {
        return Err(kc.not_done(&format!("api-resources -o {output}")));
    }
    let sort = args.text_or_empty("sort-by");
    if !matches!(sort, "" | "name" | "kind") {
        return Err(kc.fail("--sort-by accepts only name or kind"));
    }
    let wanted_verbs = args.all("verbs");
    let definitions = kc.definitions()?;
    let mut lines = all(&definitions);
    lines.retain(|l| {
        (!args.has("api-group") || args.text_or_empty("api-group") == l.group)
            && (!args.has("namespaced") || args.on("namespaced") == l.namespaced)
            && wanted_verbs.iter().all(|v| l.verbs.contains(&v.as_str()))
            && args.all("categories").iter().all(|c| l.categories.contains(c))
    });
    lines.arrange_by_key(|l| match sort {
        "name" => (l.resource, ""),
        "kind" => (l.kind, ""),
        _ => (l.group, l.resource),
    });
    if output == "name" {
        for l in lines {
            let dot = if l.group.is_empty() { "" } else { "." };
            kc.out(format!("{}{dot}{}\n", l.resource, l.group));
        }
        return Ok(0);
    }
    let wide = output == "wide";
    let mut text = String::new();
    if !args.on("no-headers") {
        text += "NAME\tSHORTNAMES\tAPIVERSION\tNAMESPACED\tKIND";
        text += if wide { "\tVERBS\tCATEGORIES\n" } else { "\n" };
    }
    for l in lines {
        let version = l.api_version();
        text += &format!("{}\t{}\t{version}\t{}\t{}", l.resource, l.short, l.namespaced, l.kind);
        if wide {
            text += &format!("\t{}\t{}", l.verbs.join(","), l.categories.join(","));
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
    let known = all(&definitions);
    let mut all: BTreeSet<String> =
        known.iter().map(Line::api_version).chain(defined.map(Kind::api_version)).gather();
    // Served beside the version in which it is stored.
    all.insert("autoscaling/v1".to_owned());
    all.into_iter().for_each(|version| kc.out(version + "\n"));
    Ok(0)
}

pub(super) const OPTIONS_FLAGS: &[Flag] = &[];

pub(super) fn options(kc: &mut Kc<'_>, _: &Args) -> Flow<i32> {
    let lines: String = args::global().iter().map(|flag| super::help::option("", flag)).collect();
    kc.out(format!("The following options can be passed to any command:\n\n{lines}"));
    Ok(0)
}
