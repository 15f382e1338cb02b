//! Which crate may depend on which: the manifests against the table in ARCHITECTURE.md.

use super::document;
use crate::golden::root;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

/// The rows of the table: folder, purpose, dependencies.
fn table() -> BTreeMap<String, (String, BTreeSet<String>)> {
    let text = document("ARCHITECTURE.md");
    let rows =
        text.lines().skip_while(|l| !l.starts_with("| crate |")).skip(2).take_while(|l| l.starts_with('|'));
    rows.filter_map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [folder, purpose, edges] = cells.as_slice() else { return None };
        let edges = edges.split(',').map(str::trim).filter(|e| !e.is_empty() && *e != "—");
        let edges = edges.map(ToOwned::to_owned).collect();
        Some((folder.trim_matches('`').to_owned(), ((*purpose).to_owned(), edges)))
    })
    .collect()
}

fn packages() -> Vec<Value> {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    let value: Value = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
    value["packages"].as_array().cloned().unwrap_or_default()
}

fn folder(package: &Value) -> String {
    let root = root().canonicalize().expect("the root");
    let manifest = std::path::PathBuf::from(package["manifest_path"].as_str().unwrap_or_default());
    let manifest = manifest.canonicalize().expect("a manifest");
    let folder = manifest.parent().expect("a folder").strip_prefix(root).expect("a folder of the workspace");
    folder.to_string_lossy().into_owned()
}

fn short(name: &str) -> String {
    name.strip_prefix("kubestep-").unwrap_or(name).to_owned()
}

fn normal_edges(package: &Value) -> BTreeSet<String> {
    let all = package["dependencies"].as_array().into_iter().flatten();
    all.filter(|d| d["kind"].is_null()).filter_map(|d| d["name"].as_str()).map(short).collect()
}

#[test]
fn crates_depend_on_what_the_table_says() {
    let mut table = table();
    let packages = packages();
    assert!(packages.len() >= 14, "only {} packages were found", packages.len());
    let mut wrong = vec![];
    for package in &packages {
        let folder = folder(package);
        let Some((_, edges)) = table.remove(&folder) else {
            wrong.push(format!("{folder} has no row in ARCHITECTURE.md"));
            continue;
        };
        let found = normal_edges(package);
        if found != edges {
            wrong.push(format!("{folder}: the table says {edges:?}, the manifest {found:?}"));
        }
    }
    wrong.extend(
        table.keys().map(|folder| format!("ARCHITECTURE.md has a row for {folder}, which is not there")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A controller cannot cheat: the store is not among what it can name, whatever the kind of dependency.
#[test]
fn controllers_cannot_name_the_store() {
    for package in packages() {
        let name = short(package["name"].as_str().unwrap_or_default());
        if matches!(name.as_str(), "control" | "controllers" | "kubectl") {
            let all = package["dependencies"].as_array().into_iter().flatten();
            let named: Vec<String> =
                all.filter(|d| d["kind"] != "dev").filter_map(|d| d["name"].as_str()).map(short).collect();
            for banned in ["apiserver", "cluster", "insight", "engine"] {
                assert!(!named.iter().any(|n| n == banned), "{name} can name {banned}");
            }
        }
    }
}

#[test]
fn the_first_paragraph_of_a_crate_is_its_row() {
    let mut wrong = vec![];
    for (folder, (purpose, _)) in table() {
        let place = ["src/lib.rs", "lib.rs", "src/main.rs"].map(|f| root().join(&folder).join(f));
        let Some(text) = place.iter().find_map(|p| std::fs::read_to_string(p).ok()) else {
            wrong.push(format!("{folder} has no lib.rs and no main.rs"));
            continue;
        };
        let lines = text.lines().take_while(|l| l.starts_with("//! "));
        let first: Vec<&str> = lines.map(|l| l.trim_start_matches("//! ")).collect();
        if first.join(" ") != purpose {
            wrong.push(format!("{folder}:\n  table {purpose}\n  crate {}", first.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
