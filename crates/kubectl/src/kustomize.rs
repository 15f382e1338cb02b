//! Kustomize: a folder's `kustomization.yaml`, its resources and overlays, as the objects that they make.
//!
//! Upstream: sigs.k8s.io/kustomize/api (v5.8.1), as kubectl uses it. What is not understood is refused by its name.

mod change;
mod generate;
pub(crate) mod hash;
mod patches;
mod references;

use crate::kc::Kc;
use kubestep_model::{Kind, arrange::Arrange, yaml};
use serde_json::{Map, Value};

const FILES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
/// Overlays of overlays are followed so deep.
const DEEPEST: usize = 16;

/// One object on its way through the folders.
#[derive(Clone, Debug)]
struct Res {
    value: Value,
    /// The names it had below, the first one first.
    names: Vec<String>,
    /// Whether its name ends in a hash of its content.
    hashed: bool,
}

impl Res {
    fn new(value: Value) -> Res {
        let name = value["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        Res { value, names: vec![name], hashed: false }
    }

    fn kind(&self) -> &str {
        self.value["kind"].as_str().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.value["metadata"]["name"].as_str().unwrap_or_default()
    }

    fn rename(&mut self, name: String) {
        if name != self.name() {
            self.names.push(name.clone());
            put(&mut self.value, "metadata/name", Value::String(name));
        }
    }

    /// The group and version of its `apiVersion`.
    fn group_version(&self) -> (&str, &str) {
        let text = self.value["apiVersion"].as_str().unwrap_or_default();
        text.rsplit_once('/').unwrap_or(("", text))
    }

    fn namespaced(&self) -> bool {
        let version = self.value["apiVersion"].as_str().unwrap_or_default();
        Kind::of_manifest(version, self.kind()).is_none_or(Kind::namespaced)
    }
}

/// What stands in `kustomization.yaml`, and where its folder is.
struct Layer<'a> {
    folder: &'a str,
    says: &'a Map<String, Value>,
}

impl Layer<'_> {
    fn list(&self, field: &str) -> &[Value] {
        self.says.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn text(&self, field: &str) -> &str {
        self.says.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    fn map(&self, field: &str) -> Option<&Map<String, Value>> {
        self.says.get(field).and_then(Value::as_object).filter(|m| !m.is_empty())
    }

    /// The text of a file that the folder names.
    fn file<'k>(&self, kc: &Kc<'k>, name: &str) -> Result<&'k str, String> {
        let path = join(self.folder, name)?;
        kc.file(&path).ok_or_else(|| format!("evalsymlink failure on '{path}' : no such file or directory"))
    }
}

/// The fields that are understood, and those that only say what the file is.
const KNOWN: [&str; 20] = [
    "apiVersion",
    "kind",
    "metadata",
    "resources",
    "bases",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "labels",
    "commonLabels",
    "commonAnnotations",
    "images",
    "replicas",
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "configMapGenerator",
    "secretGenerator",
    "generatorOptions",
    "buildMetadata",
];
const REFUSED: [&str; 13] = [
    "components",
    "replacements",
    "vars",
    "helmCharts",
    "helmChartInflationGenerator",
    "helmGlobals",
    "transformers",
    "generators",
    "validators",
    "configurations",
    "crds",
    "openapi",
    "sortOptions",
];

/// The objects of a folder, sorted as upstream prints them. Errors: in upstream's words where they are short.
pub(crate) fn build(kc: &Kc<'_>, folder: &str) -> Result<Vec<Value>, String> {
    if folder.contains("://") || folder.starts_with("github.com") {
        return Err(format!("{folder}: Kubestep does not read from the network"));
    }
    let root = join("", folder)?;
    if !root.is_empty()
        && !kc.files().any(|(name, _)| name.strip_prefix(root.as_str()).is_some_and(|n| n.starts_with('/')))
    {
        return Err(format!(
            "must build at directory: not a valid directory: evalsymlink failure on '{folder}' : lstat /{root}: no such file or directory"
        ));
    }
    let mut all = layer(kc, &root, 0)?;
    for res in all.iter_mut().filter(|r| r.hashed) {
        let name = format!("{}-{}", res.name(), hash::suffix(&res.value, ""));
        res.rename(name);
    }
    references::mend(&mut all);
    all.arrange_by_key(|r| {
        let (group, version) = r.group_version();
        let place = ORDER.iter().position(|k| *k == r.kind()).unwrap_or(match r.kind() {
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => ORDER.len() + 1,
            _ => ORDER.len(),
        });
        let namespace = r.value["metadata"]["namespace"].as_str().unwrap_or_default();
        [
            format!("{place:02}"),
            r.kind().into(),
            group.into(),
            version.into(),
            namespace.into(),
            r.name().into(),
        ]
    });
    Ok(all.into_iter().map(|r| r.value).collect())
}

/// The kinds that come first. Upstream: legacy order.
const ORDER: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

/// The objects of a folder as the folder above it sees them.
fn layer(kc: &Kc<'_>, folder: &str, depth: usize) -> Result<Vec<Res>, String> {
    if depth > DEEPEST {
        return Err("cycle detected: overlays are nested too deep".into());
    }
    let found = FILES.iter().filter_map(|name| kc.file(&join(folder, name).ok()?)).collect::<Vec<_>>();
    let text = match found.as_slice() {
        [text] => text,
        [] => {
            let shown = if folder.is_empty() { "." } else { folder };
            return Err(format!(
                "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '{shown}'"
            ));
        }
        _ => return Err(format!("Found multiple kustomization files under: {folder}")),
    };
    let documents = documents(text, "kustomization.yaml")?;
    let Some(Value::Object(says)) = documents.first() else {
        return Err("kustomization.yaml is empty".into());
    };
    for field in says.keys() {
        if REFUSED.contains(&field.as_str()) {
            return Err(format!("kustomization.yaml: {field}: Kubestep does not do this"));
        }
        if !KNOWN.contains(&field.as_str()) {
            return Err(format!("invalid Kustomization: json: unknown field \"{field}\""));
        }
    }
    let layer = Layer { folder, says };
    let mut all = resources(kc, &layer, depth)?;
    generate::add(kc, &layer, &mut all)?;
    patches::apply(kc, &layer, &mut all)?;
    change::apply(&layer, &mut all)?;
    references::mend(&mut all);
    Ok(all)
}

fn resources(kc: &Kc<'_>, layer: &Layer<'_>, depth: usize) -> Result<Vec<Res>, String> {
    let mut all: Vec<Res> = Vec::new();
    for entry in layer.list("resources").iter().chain(layer.list("bases")) {
        let Some(entry) = entry.as_str() else { return Err("resources: a path is expected".into()) };
        if entry.contains("://") || entry.starts_with("github.com") {
            return Err(format!("{entry}: Kubestep does not read from the network"));
        }
        let path = join(layer.folder, entry)?;
        let new = match kc.file(&path) {
            Some(text) => documents(text, entry)?.into_iter().flat_map(items).map(Res::new).collect(),
            None if kc.files().any(|(name, _)| path.is_empty() || name.starts_with(&format!("{path}/"))) => {
                self::layer(kc, &path, depth + 1)?
            }
            None => {
                return Err(format!(
                    "accumulating resources: accumulation err='accumulating resources from '{entry}': evalsymlink failure on '{path}' : no such file or directory'"
                ));
            }
        };
        for res in new {
            if res.kind().is_empty() || res.value["apiVersion"].as_str().is_none_or(str::is_empty) {
                return Err(format!("accumulating resources from '{entry}': missing Resource metadata"));
            }
            let same = |r: &Res| {
                r.kind() == res.kind()
                    && r.group_version() == res.group_version()
                    && r.name() == res.name()
                    && r.value["metadata"]["namespace"] == res.value["metadata"]["namespace"]
            };
            if all.iter().any(same) {
                return Err(format!(
                    "accumulating resources from '{entry}': may not add resource with an already registered id: {}.{}",
                    res.kind(),
                    res.name()
                ));
            }
            all.push(res);
        }
    }
    Ok(all)
}

/// A `List`'s items, or the object itself.
fn items(value: Value) -> Vec<Value> {
    match value.get("items").and_then(Value::as_array) {
        Some(items) if value["kind"].as_str().is_some_and(|k| k.ends_with("List")) => items.clone(),
        _ => vec![value],
    }
}

/// The documents of a YAML text.
fn documents(text: &str, name: &str) -> Result<Vec<Value>, String> {
    let read = yaml::read(text);
    match read.error {
        Some(error) => Err(format!("{name}: {}", error.text)),
        None => Ok(read.documents.into_iter().map(|d| d.value).filter(|v| !v.is_null()).collect()),
    }
}

/// Writes a value at a path, making the maps on the way; nothing where something else stands there.
fn put(value: &mut Value, path: &str, new: Value) {
    let mut at = value;
    for part in path.split('/') {
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        let Some(map) = at.as_object_mut() else { return };
        at = map.entry(part).or_insert(Value::Null);
    }
    *at = new;
}

/// The elements of a list at a path (a JSON pointer); none if it is not there.
fn elements<'v>(value: &'v mut Value, path: &str) -> impl Iterator<Item = &'v mut Value> {
    value.pointer_mut(path).and_then(Value::as_array_mut).into_iter().flatten()
}

/// A path in a folder, without `.` and `..`.
fn join(folder: &str, path: &str) -> Result<String, String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty() && *p != ".").collect();
    for part in path.split('/').filter(|p| !p.is_empty() && *p != ".") {
        if part == ".." {
            parts.pop().ok_or_else(|| format!("'{path}' leads out of the editor's files"))?;
        } else {
            parts.push(part);
        }
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests;
