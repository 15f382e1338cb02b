//! What the API says of itself: versions, groups, resources.
//! Upstream: apiserver/pkg/endpoints/discovery and pkg/server/routes (v1.37).

use super::health;
use crate::{commands::info, kustomize::hash::sha256};
use kubestep_model::{Object, defined::Definition};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const SERVER: &str = "172.18.0.2:6443";

const VERSION: &str = "{
  \"major\": \"1\",
  \"minor\": \"37\",
  \"emulationMajor\": \"1\",
  \"emulationMinor\": \"37\",
  \"minCompatibilityMajor\": \"1\",
  \"minCompatibilityMinor\": \"36\",
  \"gitVersion\": \"v1.37.2\",
  \"gitCommit\": \"0000000000000000000000000000000000000000\",
  \"gitTreeState\": \"clean\",
  \"buildDate\": \"1970-01-01T00:00:00Z\",
  \"goVersion\": \"go1.26.8\",
  \"compiler\": \"gc\",
  \"platform\": \"linux/amd64\"
}";

/// The answer to a path that asks for discovery; none if it is none.
pub(super) fn answer(words: &[&str], definitions: &[Object]) -> Option<String> {
    match words {
        [] => Some(paths(definitions)),
        ["version"] => Some(VERSION.to_owned()),
        ["api"] => Some(format!(
            "{{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],\"serverAddressByClientCIDRs\":[{{\"clientCIDR\":\"0.0.0.0/0\",\"serverAddress\":\"{SERVER}\"}}]}}\n"
        )),
        ["apis"] => {
            let groups = groups(definitions);
            let all: Vec<String> = groups.iter().map(|(name, versions)| group(name, versions, "")).collect();
            let all = all.join(",");
            Some(format!("{{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[{all}]}}\n"))
        }
        ["apis", name] => {
            let groups = groups(definitions);
            let head = "\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",";
            groups.get(*name).map(|versions| group(name, versions, head) + "\n")
        }
        ["api", "v1"] => resources("", "v1", definitions),
        ["apis", group, version] => resources(group, version, definitions),
        _ => None,
    }
}

/// All groups with their versions, the one that is preferred first.
fn groups(definitions: &[Object]) -> BTreeMap<String, Vec<String>> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |group: &str, version: &str| {
        let versions = groups.entry(group.to_owned()).or_default();
        if !versions.iter().any(|v| v == version) {
            versions.push(version.to_owned());
        }
    };
    for line in info::all(definitions).iter().filter(|l| !l.group.is_empty()) {
        add(line.group, line.version);
    }
    for kind in definitions.iter().filter_map(Definition::of).flat_map(Definition::served) {
        add(kind.group(), kind.version());
    }
    add("autoscaling", "v1");
    groups
}

fn group(name: &str, versions: &[String], head: &str) -> String {
    let one =
        |version: &String| format!("{{\"groupVersion\":\"{name}/{version}\",\"version\":\"{version}\"}}");
    let all: Vec<String> = versions.iter().map(one).collect();
    let first = all.first().cloned().unwrap_or_default();
    format!("{{{head}\"name\":\"{name}\",\"versions\":[{}],\"preferredVersion\":{first}}}", all.join(","))
}

fn resources(group: &str, version: &str, definitions: &[Object]) -> Option<String> {
    let api = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let own = |l: &info::Line| {
        let older = group == "autoscaling" && version == "v1";
        l.group == group && (l.version == version || older)
    };
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for line in info::all(definitions).into_iter().filter(own) {
        let mut about = json!({ "name": line.resource, "singularName": line.singular, "namespaced": line.namespaced,
            "kind": line.kind, "verbs": line.verbs });
        if !line.short.is_empty() {
            about["shortNames"] = line.short.split(',').collect();
        }
        if !line.categories.is_empty() {
            about["categories"] = line.categories.clone().into();
        }
        if line.verbs.len() > 1 && line.resource != "componentstatuses" {
            about["storageVersionHash"] = hash(&line).into();
        }
        found.insert(line.resource.to_owned(), text(&about));
        for part in info::parts_of(line.group, line.resource) {
            let name = format!("{}/{}", line.resource, part.name);
            let mut about = json!({ "name": name, "singularName": "", "namespaced": line.namespaced,
                "kind": if part.kind.is_empty() { line.kind } else { part.kind }, "verbs": part.verbs });
            if let Some((group, version)) = part.api {
                about["group"] = group.into();
                about["version"] = version.into();
            }
            found.insert(name, text(&about));
        }
    }
    if found.is_empty() {
        return None;
    }
    let all: Vec<String> = found.into_values().collect();
    let head = if group.is_empty() { "" } else { "\"apiVersion\":\"v1\"," };
    let all = all.join(",");
    Some(format!("{{\"kind\":\"APIResourceList\",{head}\"groupVersion\":\"{api}\",\"resources\":[{all}]}}\n"))
}

/// Fields in the order in which Go declares them. Upstream: metav1.APIResource.
fn text(about: &Value) -> String {
    const ORDER: [&str; 10] = [
        "name",
        "singularName",
        "namespaced",
        "group",
        "version",
        "kind",
        "verbs",
        "shortNames",
        "categories",
        "storageVersionHash",
    ];
    let field = |name: &&str| about.get(*name).map(|v| format!("\"{name}\":{v}"));
    format!("{{{}}}", ORDER.iter().filter_map(field).collect::<Vec<_>>().join(","))
}

/// Upstream: apiserver/pkg/endpoints/discovery, StorageVersionHash.
fn hash(line: &info::Line) -> String {
    let stored = format!("{}/{}/{}", line.group, line.version, line.kind);
    crate::base64::encode(&sha256(stored.as_bytes())[..8])
}

/// The paths that are served.
fn paths(definitions: &[Object]) -> String {
    let mut all: BTreeSet<String> = BTreeSet::new();
    for path in
        ["/.well-known/openid-configuration", "/api", "/api/v1", "/apis", "/apis/", "/flagz", "/metrics"]
    {
        all.insert(path.to_owned());
    }
    for path in [
        "/metrics/slis",
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/",
        "/openid/v1/jwks",
        "/statusz",
        "/version",
    ] {
        all.insert(path.to_owned());
    }
    for (group, versions) in groups(definitions) {
        all.extend(versions.iter().map(|v| format!("/apis/{group}/{v}")));
        all.insert(format!("/apis/{group}"));
    }
    for which in ["healthz", "livez", "readyz"] {
        all.insert(format!("/{which}"));
        all.extend(health::checks(which).into_iter().map(|check| format!("/{which}/{check}")));
    }
    let lines: Vec<String> = all.iter().map(|path| format!("    \"{path}\"")).collect();
    format!("{{\n  \"paths\": [\n{}\n  ]\n}}", lines.join(",\n"))
}
