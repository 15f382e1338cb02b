//! Takes a wasm file apart by what its functions belong to: `xtask-parts IN.wasm OUT_DIR` writes one file for each crate
//! (and for each module of our own crates), which holds the bytes of its functions, and one for each other section.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use wasmparser::{KnownCustom, Name, Parser, Payload, TypeRef};

type Parts = BTreeMap<String, Vec<u8>>;

/// The part that a function's name puts it in: the crate and module of ours that it speaks of first, else its crate.
fn part(mangled: &str) -> String {
    let name = format!("{:#}", rustc_demangle::demangle(mangled));
    let ours = name.find("kubestep_").map(|at| &name[at..]);
    let path = ours.unwrap_or(name.trim_start_matches(['<', '&', '[', '(', '*']));
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = path.split("::").map(|w| w.split(|c| !word(c)).next().unwrap_or_default());
    let owner = words.next().unwrap_or_default().trim_start_matches("kubestep_").to_owned();
    match (ours, words.next()) {
        (Some(_), Some(module))
            if module.chars().all(|c| c.is_lowercase() || c == '_') && !module.is_empty() =>
        {
            format!("{owner}.{module}")
        }
        _ if owner.is_empty() => "(other)".into(),
        _ => owner,
    }
}

fn parts(wasm: &[u8]) -> Result<Parts, wasmparser::BinaryReaderError> {
    let (mut imported, mut bodies, mut names) = (0, Vec::new(), BTreeMap::new());
    let mut parts = Parts::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    imported += usize::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(body.range()),
            Payload::DataSection(data) => {
                parts.entry("(data)".into()).or_default().extend_from_slice(&wasm[data.range()]);
            }
            Payload::CustomSection(section) => {
                let KnownCustom::Name(section) = section.as_known() else { continue };
                for table in section {
                    let Name::Function(functions) = table? else { continue };
                    for function in functions {
                        let function = function?;
                        names.insert(function.index as usize, function.name);
                    }
                }
            }
            _ => {}
        }
    }
    for (place, range) in bodies.into_iter().enumerate() {
        let part = names.get(&(imported + place)).map_or("(no name)".into(), |name| part(name));
        parts.entry(part).or_default().extend_from_slice(&wasm[range]);
    }
    Ok(parts)
}

fn run(input: &str, out: &str) -> Result<(), String> {
    let wasm = std::fs::read(input).map_err(|e| e.to_string())?;
    for (part, bytes) in parts(&wasm).map_err(|e| e.to_string())? {
        std::fs::write(Path::new(out).join(part), bytes).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [input, out] = args.as_slice() else {
        eprintln!("usage: xtask-parts IN.wasm OUT_DIR");
        return ExitCode::FAILURE;
    };
    match run(input, out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{input}: {e}");
            ExitCode::FAILURE
        }
    }
}
