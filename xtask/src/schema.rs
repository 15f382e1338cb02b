//! `cargo xtask schema`: the shape of every kind, read from Kubernetes' own Go types.
//!
//! Why from there and not from an OpenAPI document: a wrong type in a manifest is refused with the names of Go's types
//! (`into Go struct field Container.ports of type []v1.ContainerPort`), and how lists are patched is written in the
//! fields' tags. Neither is complete anywhere else. Only names, types and tags are taken; no code and no comment.
//!
//! The Go modules are looked for in the folder that `KUBERNETES_API_SOURCE` names (`api`, `apimachinery` and
//! `apiextensions-apiserver` in it), else fetched by `go mod download`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release of the modules that belongs to the Kubernetes modelled here.
const RELEASE: &str = "v0.37.2";

/// The groups whose kinds the API serves: folder in the module, and group name.
const GROUPS: [(&str, &str); 22] = [
    ("core/v1", ""),
    ("apps/v1", "apps"),
    ("batch/v1", "batch"),
    ("autoscaling/v1", "autoscaling"),
    ("autoscaling/v2", "autoscaling"),
    ("policy/v1", "policy"),
    ("networking/v1", "networking.k8s.io"),
    ("discovery/v1", "discovery.k8s.io"),
    ("events/v1", "events.k8s.io"),
    ("storage/v1", "storage.k8s.io"),
    ("rbac/v1", "rbac.authorization.k8s.io"),
    ("scheduling/v1", "scheduling.k8s.io"),
    ("coordination/v1", "coordination.k8s.io"),
    ("node/v1", "node.k8s.io"),
    ("resource/v1", "resource.k8s.io"),
    ("admissionregistration/v1", "admissionregistration.k8s.io"),
    ("authentication/v1", "authentication.k8s.io"),
    ("authorization/v1", "authorization.k8s.io"),
    ("certificates/v1", "certificates.k8s.io"),
    ("flowcontrol/v1", "flowcontrol.apiserver.k8s.io"),
    ("storagemigration/v1", "storagemigration.k8s.io"),
    (EXTENSIONS, "apiextensions.k8s.io"),
];

/// The group that is declared in a module of its own.
const EXTENSIONS: &str = "apiextensions/v1";

/// Types that read themselves: they are written down by name only.
const OPAQUE: [&str; 12] = [
    "resource.Quantity",
    "intstr.IntOrString",
    "meta/v1.Time",
    "meta/v1.MicroTime",
    "meta/v1.Duration",
    "meta/v1.FieldsV1",
    "runtime.RawExtension",
    "runtime.Object",
    "apiextensions/v1.JSON",
    "apiextensions/v1.JSONSchemaPropsOrArray",
    "apiextensions/v1.JSONSchemaPropsOrBool",
    "apiextensions/v1.JSONSchemaPropsOrStringArray",
];

/// What a Go type declaration says.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Declared {
    /// The fields, in Go's order.
    Struct(Vec<Field>),
    /// Another type under a new name.
    Named(String),
    /// Another type under another name that means the same.
    Alias(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Field {
    /// The name in JSON; empty for an embedded struct, whose fields count as the outer one's.
    json: String,
    ty: String,
    /// `?` left out when empty, `!` a struct is left out too when all in it is, or nothing.
    omit: &'static str,
    strategy: String,
    merge_key: String,
}

type Types = BTreeMap<String, Declared>;

/// Generates the schema and writes it to its place in the model.
pub(crate) fn run() -> Result<(), String> {
    let [api, machinery, extensions] = sources()?;
    let text = generate(&api, &machinery, &extensions)?;
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/model/src/schema/types.txt");
    fs::write(&target, &text).map_err(|e| format!("{}: {e}", target.display()))?;
    println!("{}: {} bytes", target.display(), text.len());
    Ok(())
}

/// The folders of the modules.
fn sources() -> Result<[PathBuf; 3], String> {
    if let Some(folder) = std::env::var_os("KUBERNETES_API_SOURCE") {
        let folder = PathBuf::from(folder);
        return Ok(["api", "apimachinery", "apiextensions-apiserver"].map(|module| folder.join(module)));
    }
    Ok([
        download("k8s.io/api")?,
        download("k8s.io/apimachinery")?,
        download("k8s.io/apiextensions-apiserver")?,
    ])
}

fn download(module: &str) -> Result<PathBuf, String> {
    let help = "install Go, or name a folder that holds the modules in KUBERNETES_API_SOURCE";
    let output = Command::new("go")
        .args(["mod", "download", "-json", &format!("{module}@{RELEASE}")])
        .current_dir(std::env::temp_dir())
        .output()
        .map_err(|e| format!("go: {e}; {help}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let folder = text.lines().find_map(|line| line.trim().strip_prefix("\"Dir\": \"")?.split('"').next());
    folder
        .map(PathBuf::from)
        .ok_or_else(|| format!("go mod download {module}@{RELEASE} failed: {text}; {help}"))
}

/// The schema as text, from the folders of the modules `k8s.io/api`, `k8s.io/apimachinery` and
/// `k8s.io/apiextensions-apiserver`.
pub(crate) fn generate(api: &Path, machinery: &Path, extensions: &Path) -> Result<String, String> {
    let mut types = Types::new();
    read_package(&machinery.join("pkg/apis/meta/v1"), "meta/v1", &mut types)?;
    read_package(&machinery.join("pkg/types"), "types", &mut types)?;
    for (folder, _) in GROUPS {
        let root = if folder == EXTENSIONS { extensions.join("pkg/apis") } else { api.to_owned() };
        read_package(&root.join(folder), folder, &mut types)?;
    }
    let mut out = format!(
        "# The kinds of Kubernetes and their fields, from k8s.io/api {RELEASE}. Written by `cargo xtask schema`.\n\
         # kind: GROUP/VERSION NAME TYPE | struct: TYPE, then its fields: NAME[?|!] TYPE [patch strategy [merge key]]\n\
         # (? = left out when empty, ! = a struct too; ~ TYPE = its fields are the outer one's) | name: TYPE = TYPE\n"
    );
    let mut wanted = BTreeSet::new();
    for (folder, group) in GROUPS {
        let version = folder.rsplit('/').next().unwrap_or_default();
        let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        for (name, declared) in &types {
            if name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('.')) && is_kind(declared) {
                let kind = name.rsplit('.').next().unwrap_or_default();
                out.push_str(&format!("kind: {api_version} {kind} {name}\n"));
                wanted.insert(name.clone());
            }
        }
    }
    out.push_str("kind: v1 List meta/v1.List\n");
    wanted.insert("meta/v1.List".to_owned());
    let found = loop {
        match reachable(&types, &wanted) {
            Ok(found) => break found,
            // A kind may use types of a version that serves no kind here.
            Err(missing) => {
                let (package, _) = missing.rsplit_once('.').unwrap_or((&missing, ""));
                let known = types.len();
                read_package(&api.join(package), package, &mut types)?;
                if types.len() == known {
                    return Err(format!("the type {missing} is used and not declared"));
                }
            }
        }
    };
    for name in found {
        write_type(&mut out, &name, &types);
    }
    Ok(out)
}

fn is_kind(declared: &Declared) -> bool {
    matches!(declared, Declared::Struct(fields)
        if fields.iter().any(|f| f.json.is_empty() && f.ty == "meta/v1.TypeMeta"))
}

/// All types that the wanted ones are made of, or one that is not declared.
fn reachable(types: &Types, wanted: &BTreeSet<String>) -> Result<BTreeSet<String>, String> {
    let mut queue: Vec<String> = wanted.iter().cloned().collect();
    let mut found = BTreeSet::new();
    while let Some(name) = queue.pop() {
        if OPAQUE.contains(&name.as_str()) || !found.insert(name.clone()) {
            continue;
        }
        match types.get(&name) {
            Some(Declared::Struct(fields)) => {
                queue.extend(fields.iter().flat_map(|field| names_in(&field.ty)));
            }
            Some(Declared::Named(ty) | Declared::Alias(ty)) => queue.extend(names_in(ty)),
            None => return Err(name),
        }
    }
    Ok(found)
}

/// The names with a package in a type: those of `map[core/v1.A]*core/v1.B` are two.
fn names_in(ty: &str) -> Vec<String> {
    ty.split(['[', ']', '*']).filter(|part| part.contains('.')).map(str::to_owned).collect()
}

fn write_type(out: &mut String, name: &str, types: &Types) {
    match types.get(name) {
        Some(Declared::Struct(fields)) => {
            out.push_str(&format!("struct: {name}\n"));
            for field in fields {
                let ty = resolve_alias(&field.ty, types);
                if field.json.is_empty() {
                    out.push_str(&format!("~ {ty}\n"));
                    continue;
                }
                let line =
                    format!("{}{} {ty} {} {}", field.json, field.omit, field.strategy, field.merge_key);
                out.push_str(&format!("{}\n", line.trim_end()));
            }
        }
        Some(Declared::Named(ty)) => {
            out.push_str(&format!("name: {name} = {}\n", resolve_alias(ty, types)));
        }
        Some(Declared::Alias(_)) | None => {}
    }
}

fn resolve_alias(ty: &str, types: &Types) -> String {
    match types.get(ty) {
        Some(Declared::Alias(target)) => target.clone(),
        _ => ty.to_owned(),
    }
}

fn read_package(folder: &Path, package: &str, types: &mut Types) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|e| e.path())).collect();
    files.sort();
    for file in files {
        let name = file.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let generated =
            name.starts_with("zz_") || name.starts_with("generated") || name.ends_with("_test.go");
        if name.ends_with(".go") && !generated {
            let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            read_file(&text, package, types);
        }
    }
    Ok(())
}

/// Reads the type declarations of one Go file.
fn read_file(text: &str, package: &str, types: &mut Types) {
    let imports = read_imports(text);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(rest) = line.strip_prefix("type ") else { continue };
        let Some((name, rest)) = rest.split_once(' ') else { continue };
        let name = format!("{package}.{name}");
        let rest = rest.trim();
        if rest == "struct {" {
            let fields = lines.by_ref().take_while(|line| *line != "}");
            let fields = fields.filter_map(|line| read_field(line, package, &imports)).collect();
            types.insert(name, Declared::Struct(fields));
        } else if rest == "struct{}" {
            types.insert(name, Declared::Struct(vec![]));
        } else if rest.starts_with("struct{") || rest.starts_with("interface") || rest.starts_with("func") {
            continue;
        } else if let Some(target) = rest.strip_prefix("= ") {
            types.insert(name, Declared::Alias(qualify(word(target), package, &imports)));
        } else {
            types.insert(name, Declared::Named(qualify(word(rest), package, &imports)));
        }
    }
}

fn word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// The packages a file names, by the name it gives them: `metav1` is `meta/v1`.
fn read_imports(text: &str) -> BTreeMap<String, String> {
    let mut imports = BTreeMap::new();
    for line in text.lines().take_while(|line| !line.starts_with("type ")) {
        let line = line.trim().trim_start_matches("import ");
        let Some((alias, path)) = line.split_once('"') else { continue };
        let path = path.trim_end_matches('"');
        let short = match path.strip_prefix("k8s.io/") {
            Some(path) => path.trim_start_matches("apimachinery/pkg/apis/").trim_start_matches("api/"),
            None => path,
        };
        let short = if short.starts_with("apimachinery/") {
            short.rsplit('/').next().unwrap_or(short)
        } else {
            short
        };
        let alias = alias.trim();
        let alias = if alias.is_empty() { path.rsplit('/').next().unwrap_or(path) } else { alias };
        imports.insert(alias.to_owned(), short.to_owned());
    }
    imports
}

/// A field of a struct; none for comments and for fields that JSON does not hold.
fn read_field(line: &str, package: &str, imports: &BTreeMap<String, String>) -> Option<Field> {
    let line = line.trim();
    if line.starts_with("//") {
        return None;
    }
    let (declaration, tag) = line.split_once('`')?;
    let tag = tag.split('`').next().unwrap_or_default();
    let json = tag_value(tag, "json")?;
    let mut parts = json.split(',');
    let json = parts.next().unwrap_or_default().to_owned();
    if json == "-" {
        return None;
    }
    let options: Vec<&str> = parts.collect();
    let omit = match (options.contains(&"omitzero"), options.contains(&"omitempty")) {
        (true, _) => "!",
        (false, true) => "?",
        (false, false) => "",
    };
    let words: Vec<&str> = declaration.split_whitespace().collect();
    let ty = match words[..] {
        [embedded] => embedded,
        [_, ty] => ty,
        _ => return None,
    };
    Some(Field {
        json,
        ty: qualify(ty, package, imports),
        omit,
        strategy: tag_value(tag, "patchStrategy").unwrap_or_default().to_owned(),
        merge_key: tag_value(tag, "patchMergeKey").unwrap_or_default().to_owned(),
    })
}

fn tag_value<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_whitespace().find_map(|part| part.strip_prefix(name)?.strip_prefix(":\"")?.strip_suffix('"'))
}

/// A type with the package of every name written out.
fn qualify(ty: &str, package: &str, imports: &BTreeMap<String, String>) -> String {
    if let Some(rest) = ty.strip_prefix('*') {
        return format!("*{}", qualify(rest, package, imports));
    }
    if let Some(rest) = ty.strip_prefix("[]") {
        return format!("[]{}", qualify(rest, package, imports));
    }
    if let Some((key, value)) = ty.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
        return format!("map[{}]{}", qualify(key, package, imports), qualify(value, package, imports));
    }
    match ty.split_once('.') {
        Some((alias, name)) => format!("{}.{name}", imports.get(alias).map_or(alias, String::as_str)),
        None if ty.starts_with(|c: char| c.is_ascii_uppercase()) => format!("{package}.{ty}"),
        None => ty.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "package v1\n\nimport (\n\tmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\t\"k8s.io/apimachinery/pkg/util/intstr\"\n)\n\n\
        // A widget.\ntype Widget struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n\t// Parts of it.\n\tParts []Part `json:\"parts,omitempty\" patchStrategy:\"merge\" patchMergeKey:\"name\" protobuf:\"x\"`\n\
        \tPort intstr.IntOrString `json:\"port\"`\n\tHidden string `json:\"-\"`\n\tBy map[Name]*Part `json:\"by\"`\n}\n\ntype Name string\n\ntype Old = Name\n";

    #[test]
    fn go_types_are_read_with_their_packages_and_tags() {
        let mut types = Types::new();
        read_file(SOURCE, "toys/v1", &mut types);
        let mut out = String::new();
        for name in types.keys() {
            write_type(&mut out, name, &types);
        }
        assert_eq!(
            out,
            "name: toys/v1.Name = string\nstruct: toys/v1.Widget\n~ meta/v1.TypeMeta\n\
             parts? []toys/v1.Part merge name\nport intstr.IntOrString\nby map[toys/v1.Name]*toys/v1.Part\n"
        );
        assert!(types.get("toys/v1.Widget").is_some_and(is_kind));
        assert_eq!(names_in("map[a/v1.B]*c.D"), ["a/v1.B", "c.D"]);
    }
}
