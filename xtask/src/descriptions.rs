//! Kubernetes' own descriptions of its fields, for `kubectl explain` and the editor: a file of the site, fetched when it
//! is first needed. They are read from the published crate k8s-openapi when the site is built and are not part of this
//! repository.
//!
//! The crate is generated from Kubernetes' API description. Beside each type it carries that type's JSON schema; the
//! names and texts there are Kubernetes' to the letter, so only this part is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::tools::{self, cargo_command, root, target_dir};

/// The release of the crate, and the folder in it that belongs to the Kubernetes modelled here.
const RELEASE: &str = "0.29.0";
const FOLDER: &str = "v1_37";
/// The name of the file in the site.
pub(crate) const FILE: &str = "descriptions.txt";

/// A type's own description, and those of its fields by their names in JSON.
#[derive(Debug, Default, PartialEq, Eq)]
struct Described {
    text: String,
    fields: BTreeMap<String, String>,
}

/// Writes the file into a folder; its size.
pub(crate) fn write(made: &Path) -> Result<usize, String> {
    let text = cached()?;
    let file = made.join(FILE);
    fs::write(&file, &text).map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(text.len())
}

/// The file's text; from an earlier build where there was one.
fn cached() -> Result<String, String> {
    let folder = target_dir()?.join("descriptions");
    let kept = folder.join(format!("{RELEASE}-{FOLDER}.txt"));
    if let Ok(text) = fs::read_to_string(&kept) {
        return Ok(text);
    }
    let text = generate(&source(&folder)?.join("src").join(FOLDER))?;
    fs::write(&kept, &text).map_err(|e| format!("{}: {e}", kept.display()))?;
    Ok(text)
}

/// Where cargo keeps the crate's source; it is fetched if it is not there.
fn source(folder: &Path) -> Result<PathBuf, String> {
    let problem = |e: std::io::Error| format!("{}: {e}", folder.display());
    fs::create_dir_all(folder.join("src")).map_err(problem)?;
    fs::write(folder.join("src/lib.rs"), "").map_err(problem)?;
    let manifest = folder.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"descriptions\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n\
         k8s-openapi = {{ version = \"={RELEASE}\", default-features = false }}\n"
    );
    fs::write(&manifest, text).map_err(problem)?;
    let mut cargo = cargo_command();
    let json =
        tools::output(cargo.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(&manifest))
            .map_err(|e| format!("{e}\nThe descriptions of fields come from the crate k8s-openapi {RELEASE}, which cargo has to fetch once."))?;
    let wanted = format!("k8s-openapi-{RELEASE}");
    let mut places = json.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let place =
        places.find(|p| p.contains(&wanted)).ok_or(format!("cargo metadata does not name {wanted}"))?;
    let place = PathBuf::from(place.replace("\\\\", "\\"));
    Ok(place.parent().unwrap_or(root()).to_owned())
}

/// The file's text, from the folder of one version of the API: for each type a line with its name and description,
/// then one with a blank before it for each field. `\n` stands for a line's end.
fn generate(folder: &Path) -> Result<String, String> {
    let mut types: BTreeMap<String, Described> = BTreeMap::new();
    for file in crate::site::files(folder)? {
        let path = folder.join(&file);
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        if let Some((name, described)) = read(&text) {
            types.insert(name, described);
        }
    }
    let named =
        named(&fs::read_to_string(root().join("crates/model/src/schema/types.txt")).unwrap_or_default());
    types.retain(|name, _| named.contains(name) || name.starts_with("apiextensions/"));
    if types.len() < 100 {
        return Err(format!("{}: only {} types are described", folder.display(), types.len()));
    }
    let mut out = String::new();
    for (name, described) in &types {
        out.push_str(&format!("{name}\t{}\n", one_line(&described.text)));
        for (field, text) in &described.fields {
            out.push_str(&format!(" {field}\t{}\n", one_line(text)));
        }
    }
    Ok(out)
}

fn one_line(text: &str) -> String {
    text.trim().replace('\n', "\\n")
}

/// The types that kinds of the schema are made of.
fn named(schema: &str) -> BTreeSet<String> {
    schema
        .split_whitespace()
        .filter(|w| w.contains('.'))
        .flat_map(|w| w.split(['[', ']', '*']))
        .map(str::to_owned)
        .collect()
}

/// The type that a file declares, and what its schema says.
fn read(source: &str) -> Option<(String, Described)> {
    let definition = source.lines().find_map(|l| l.strip_prefix("// Generated from definition "))?;
    let start = source.find("json_schema!(")?;
    Some((type_name(definition.trim())?, schema(&source[start..])))
}

/// `io.k8s.api.core.v1.Container` as the schema names it: `core/v1.Container`.
fn type_name(definition: &str) -> Option<String> {
    let mut parts = definition.rsplit('.');
    let (name, last, before) = (parts.next()?, parts.next()?, parts.next()?);
    let versioned = last.starts_with('v') && last.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    Some(if versioned { format!("{before}/{last}.{name}") } else { format!("{last}.{name}") })
}

/// Reads the object in the macro: every `"description": "…"` by the keys above it.
fn schema(text: &str) -> Described {
    let mut found = Described::default();
    // The key of each open brace, and the key that the next value belongs to.
    let (mut above, mut key): (Vec<String>, String) = (vec![], String::new());
    let mut rest = text.find('{').map_or("", |at| &text[at..]);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '{' => above.push(std::mem::take(&mut key)),
            '}' => {
                above.pop();
                if above.is_empty() {
                    break;
                }
            }
            '"' => {
                let (word, after) = literal(rest);
                rest = after;
                // A field that is a type of its own is a block, which inserts its description into that type's schema.
                let inserts = rest.starts_with(".into()") && word == "description" && key != word;
                if inserts || rest.starts_with(':') {
                    key = word;
                    continue;
                }
                let keys: Vec<&str> = above.iter().skip(1).map(String::as_str).collect();
                match (keys.as_slice(), key.as_str()) {
                    ([], "description") => found.text = word,
                    (["properties", field], "description") => {
                        found.fields.insert((*field).to_owned(), word);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    found
}

/// A Rust string after its opening quote, and what follows its closing one.
fn literal(text: &str) -> (String, &str) {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (out, &text[at + 1..]),
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') | None => {}
                Some('u') => {
                    let code: String =
                        chars.by_ref().map(|(_, c)| c).skip(1).take_while(|c| *c != '}').collect();
                    out.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
                }
                Some(other) => out.push(other),
            },
            other => out.push(other),
        }
    }
    (out, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_read_from_the_schema_beside_a_type() {
        let source = r#"// Generated from definition io.k8s.api.core.v1.Thing
            pub struct Thing {}
            crate::schemars::json_schema!({
                "description": "A \"thing\".\n\nIt is \u{2026}.",
                "type": "object",
                "properties": {
                    "size": { "description": "How large.", "type": "integer", },
                    "parts": { "type": "array", "items": ({ let mut s = a(); s.insert("description".into()); s }), },
                    "description": { "description": "In words.", "type": "string", },
                    "whole": ({ let mut s = a(); s.insert("description".into(), "All.".into()); s }),
                },
                "required": [ "size", ],
            })"#;
        let (name, thing) = read(source).unwrap();
        assert_eq!((name.as_str(), thing.text.as_str()), ("core/v1.Thing", "A \"thing\".\n\nIt is …."));
        let fields: Vec<_> = thing.fields.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(fields, [("description", "In words."), ("size", "How large."), ("whole", "All.")]);
        assert_eq!(type_name("io.k8s.apimachinery.pkg.api.resource.Quantity").unwrap(), "resource.Quantity");
        assert_eq!(type_name("io.k8s.apimachinery.pkg.apis.meta.v1.Time").unwrap(), "meta/v1.Time");
        assert_eq!(one_line("a\n b\tc\n"), "a\\n b\tc");
    }
}
