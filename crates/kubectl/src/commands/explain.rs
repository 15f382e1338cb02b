//! `kubectl explain`: the fields of kinds, what they hold, and Kubernetes' own descriptions.
//! Upstream: kubectl/pkg/explain/v2 (v1.37).

use super::explain_defined;
use crate::{
    args::{Args, Flag, Takes, flag, short},
    docs,
    kc::{Flow, Kc, Stop},
    resources,
};
use kubestep_model::{
    Kind,
    schema::{Explained, explain},
};

pub(super) const FLAGS: &[Flag] = &[
    short("recursive", 'R', Takes::Bool),
    flag("max-depth", Takes::Int),
    flag("api-version", Takes::Text),
    flag("output", Takes::Text),
];

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let word = match args.words.as_slice() {
        [] => {
            let text = "You must specify the type of resource to explain. Use \"kubectl api-resources\" for a complete list of supported resources.\n";
            return Err(kc.fail(text));
        }
        [word] => word,
        _ => return Err(kc.fail("We accept only this format: explain RESOURCE\n")),
    };
    let deepest = args.int("max-depth").unwrap_or(0);
    if deepest > 0 && !args.on("recursive") {
        return Err(kc.fail("--max-depth requires --recursive"));
    }
    if deepest < 0 {
        return Err(kc.fail("--max-depth must be non-negative"));
    }
    let output = args.text_or_empty("output");
    if !matches!(output, "" | "plaintext") {
        return Err(kc.not_done(&format!("explain --output={output}")));
    }
    let (kind, path) = split(kc, word)?;
    if word.trim_end_matches('.').contains("..") {
        return Err(kc.fail("invalid jsonpath syntax, first node must be field node"));
    }
    if kind.is_defined() {
        return explain_defined::explain(kc, args, kind, &path);
    }
    let asked = args.text_or_empty("api-version");
    let older = Kind::of_manifest(asked, kind.name()).filter(|_| !asked.is_empty());
    let kind = older.unwrap_or(kind);
    let version = kind.api_version();
    if !asked.is_empty() && asked != version {
        let slash = if asked.contains('/') { "" } else { "/" };
        return Err(
            kc.fail(format!("couldn't find resource for \"{slash}{asked}, Resource={}\"", kind.resource()))
        );
    }
    let levels = match (args.on("recursive"), deepest) {
        (false, _) => 1,
        (true, 0) => usize::MAX,
        (true, deepest) => usize::try_from(deepest).unwrap_or(usize::MAX),
    };
    let Some(found) = explain(&version, kind.name(), &path, levels) else {
        return Err(kc.not_done(&format!("explain {}", kind.resource())));
    };
    if !kind.group().is_empty() {
        kc.out(format!("GROUP:      {}\n", kind.group()));
    }
    kc.out(format!("KIND:       {}\nVERSION:    {}\n\n", kind.name(), kind.version()));
    let found = found.map_err(|name| kc.fail(format!("field \"{name}\" does not exist")))?;
    if !found.name.is_empty() {
        kc.out(format!("FIELD: {} <{}>\n\n\n", found.name, found.holds));
    }
    let description = docs::mark(found.owner, found.name, found.inner, 76, 4);
    kc.out(format!("DESCRIPTION:\n{description}"));
    if !found.fields.is_empty() {
        let mut text = "FIELDS:\n".to_owned();
        lines(&mut text, &found.fields, 1, args.on("recursive"));
        kc.out(text);
    }
    kc.out("\n");
    Ok(0)
}

fn lines(text: &mut String, fields: &[Explained], level: usize, short: bool) {
    for field in fields {
        let required = if field.required { " -required-" } else { "" };
        text.push_str(&format!("{}{}\t<{}>{required}\n", "  ".repeat(level), field.name, field.holds));
        if !short {
            text.push_str(&docs::mark(field.owner, field.name, docs::IN_LIST, 78 - level * 2, level * 2 + 2));
            text.push('\n');
        }
        lines(text, &field.fields, level + 1, short);
    }
}

/// `deployments.apps.spec.replicas` as a kind and a path: the longest part that names a kind with its group counts.
fn split<'w>(kc: &mut Kc<'_>, word: &'w str) -> Flow<(Kind, Vec<&'w str>)> {
    let parts: Vec<&str> = word.split('.').filter(|p| !p.is_empty()).collect();
    let first = parts.first().copied().unwrap_or_default();
    let definitions = if resources::resolve(first).is_ok() { Default::default() } else { kc.definitions()? };
    for end in (2..=parts.len()).rev() {
        let (head, group) = (parts[..end].join("."), parts[1..end].join("."));
        if let Ok(kind) = resources::resolve_defined(&head, &definitions)
            && (kind.group() == group || format!("{}.{}", kind.version(), kind.group()) == group)
        {
            return Ok((kind, parts[end..].to_vec()));
        }
    }
    match resources::resolve_defined(first, &definitions) {
        Ok(kind) => Ok((kind, parts[1..].to_vec())),
        Err(fault) => {
            // Upstream prints this one without a word before it.
            kc.err(format!("{}\n", fault.text()));
            Err(Stop::Exit(1))
        }
    }
}
