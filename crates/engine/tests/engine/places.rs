//! Every refused case of the recorded corpus, checked as a draft: what was said is said while typing, and every error
//! that names a field stands in the line of that field, or of the nearest one above it that is there.

use crate::page::Page;
use kubestep_model::yaml;
use kubestep_protocol::{Doc, Problem, Severity};
use serde_json::Value;
use std::collections::BTreeMap;

/// Cases whose check is another than the recorded answer, each with its reason.
const KNOWN: [(&str, &str); 1] =
    [("kind-lowercase", "a kind in lower case is read as kubectl's mapper would")];

/// One refused apply of a file.
struct Case {
    name: String,
    text: String,
    file: String,
    setup: String,
    /// Commands that ran before it.
    before: Vec<String>,
    files: BTreeMap<String, String>,
    stderr: String,
    /// The fields that the server named, with its words.
    causes: Vec<(String, String)>,
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// `${repeat:x:300000}`, written out.
fn expand(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${repeat:") {
        let (inner, tail) = after.split_once('}').unwrap_or((after, ""));
        let (what, count) = inner.rsplit_once(':').unwrap_or((inner, "0"));
        out.push_str(before);
        out.push_str(&what.repeat(count.parse().unwrap_or(0)));
        rest = tail;
    }
    out + rest
}

/// The file of a plain `kubectl apply -f FILE`.
fn applied(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words.as_slice() {
        ["kubectl", "apply", "-f", file] => Some((*file).to_owned()),
        _ => None,
    }
}

fn causes(record: &Value) -> Vec<(String, String)> {
    let requests = record["http"].as_array().into_iter().flatten();
    let refused = requests.filter(|r| r["code"].as_i64().is_some_and(|c| c >= 400));
    let causes = refused.flat_map(|r| r["causes"].as_array().into_iter().flatten());
    causes.map(|c| (text(c, "field"), text(c, "message"))).filter(|(field, _)| !field.is_empty()).collect()
}

/// The refused applies of one area.
fn cases(area: &str) -> Vec<Case> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/verdicts");
    let read = |end: &str| std::fs::read_to_string(format!("{folder}/{area}.{end}")).expect("the recording");
    let corpus = yaml::read(&read("yaml")).documents.remove(0).value;
    let records: Value = serde_json::from_str(&read("json")).expect("JSON");
    let mut found = vec![];
    for (case, record) in
        corpus["cases"].as_array().expect("a list").iter().zip(records["cases"].as_array().expect("a list"))
    {
        assert_eq!(case["name"], record["name"]);
        let one = |command: &str, before: Vec<String>, record: &Value| {
            let file = applied(command).filter(|_| record["exit"].as_i64() != Some(0))?;
            let files: BTreeMap<String, String> = (case["files"].as_object().into_iter().flatten())
                .map(|(name, t)| (name.clone(), expand(t.as_str().unwrap_or_default())))
                .chain(case["manifest"].as_str().map(|t| ("m.yaml".to_owned(), expand(t))))
                .collect();
            Some(Case {
                name: format!("{area}/{}", text(case, "name")),
                text: files.get(&file)?.clone(),
                file,
                setup: expand(&text(case, "setup")),
                before,
                files,
                stderr: text(record, "stderr"),
                causes: causes(record),
            })
        };
        match record["commands"].as_array() {
            Some(commands) => {
                let lines: Vec<String> = commands.iter().map(|c| text(c, "command")).collect();
                let each = commands.iter().enumerate();
                found.extend(each.filter_map(|(i, c)| one(&lines[i], lines[..i].to_vec(), c)));
            }
            None => {
                let command = case["command"].as_str().unwrap_or("kubectl apply -f m.yaml");
                found.extend(one(command.trim(), vec![], record));
            }
        }
    }
    found
}

/// The steps of a field's name: `spec.ports[0].name` and `metadata.labels[a.b/c]`.
fn steps(field: &str) -> Vec<String> {
    let mut found = vec![];
    let mut rest = field;
    while !rest.is_empty() {
        rest = rest.trim_start_matches('.');
        if let Some((inside, after)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
            found.push(format!("[{}", inside.trim_matches('"')));
            rest = after;
            continue;
        }
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        found.push(rest[..end].to_owned());
        rest = &rest[end..];
    }
    found
}

/// The words of which one must stand in the marked line: the last key of the way that is there, and for an element of a
/// list that has no key of its own also its value or its dash.
fn signs(object: &Value, field: &str) -> Vec<String> {
    let (mut at, mut key, mut element) = (object, None, None);
    let path = steps(field);
    let mut i = 0;
    while i < path.len() {
        let step = path[i].trim_start_matches('[');
        if path[i].starts_with('[')
            && let (Some(list), Ok(place)) = (at.as_array(), step.parse::<usize>())
        {
            let Some(next) = list.get(place) else { break };
            (at, element) = (next, Some(next));
            i += 1;
            continue;
        }
        // A key may hold dots.
        let names = (i + 1..=path.len()).rev().map(|end| {
            let joined = path[i..end].join(".").trim_start_matches('[').to_owned();
            (joined, end)
        });
        let Some((name, end)) = names.into_iter().find(|(name, _)| at.get(name.as_str()).is_some()) else {
            break;
        };
        (at, key, element, i) = (&at[name.as_str()], Some(name), None, end);
    }
    let mut signs: Vec<String> = key.into_iter().collect();
    if let Some(element) = element {
        signs.push("-".into());
        signs.extend(element.as_str().map(str::to_owned));
    }
    if signs.is_empty() {
        signs.extend(["kind", "apiVersion", "metadata", "{"].map(str::to_owned));
    }
    signs
}

/// Whether the line that a problem marks is the field's.
fn in_line(case: &Case, field: &str, problem: &Problem) -> bool {
    let reading = yaml::read(&case.text);
    let place = problem.place.line as usize;
    // A key in quotes with escapes reads otherwise than it is written; none of the corpus does.
    let Some(line) = case.text.split('\n').nth(place.saturating_sub(1)) else { return false };
    let document = reading.documents.iter().rev().find(|d| d.line <= place).or(reading.documents.first());
    let Some(document) = document else { return false };
    let objects: Vec<&Value> = match document.value["items"].as_array() {
        Some(items) => items.iter().collect(),
        None => vec![&document.value],
    };
    let named = objects.iter().any(|o| signs(o, field).iter().any(|sign| line.contains(sign.as_str())));
    named || holds_value(case, field, problem, line)
}

/// Whether the line holds the very value that the message quotes, in the block of the field that it names: of a bad label
/// the line of the label is better than that of `labels`.
fn holds_value(case: &Case, field: &str, problem: &Problem, line: &str) -> bool {
    let quoted = problem.message.split("Invalid value: \"").nth(1).and_then(|rest| rest.split('"').next());
    let key = field.rsplit('.').next().unwrap_or(field);
    quoted.is_some_and(|value| !value.is_empty() && line.contains(value))
        && in_block(&case.text, key, problem.place.line as usize)
}

/// Whether a line lies in the block of a key: everything between is further to the right. Decoding errors name fields
/// without the places in lists and maps, so the mark may stand at an entry.
fn in_block(text: &str, key: &str, place: usize) -> bool {
    let lines: Vec<&str> = text.split('\n').take(place).collect();
    let indent = |l: &str| l.len() - l.trim_start_matches([' ', '-']).len();
    let holds = |l: &&str| l.contains(&format!("{key}:")) || l.contains(&format!("\"{key}\""));
    lines.iter().enumerate().filter(|(_, l)| holds(l)).any(|(k, head)| {
        let below = lines[k + 1..].iter().filter(|l| !l.trim().is_empty());
        below
            .into_iter()
            .all(|l| indent(l) > indent(head) || l.trim_start().starts_with('-') && indent(l) >= indent(head))
    })
}

/// The field that a message names by itself, where the server sent no causes.
fn unknown(message: &str) -> Option<String> {
    message.split("unknown field \"").nth(1)?.split('"').next().map(str::to_owned)
}

/// The last name of the field that a value of a wrong type was meant for.
fn decoded(message: &str) -> Option<String> {
    let path = message.split("Go struct field ").nth(1)?.split(" of type").next()?;
    path.rsplit('.').next().map(str::to_owned)
}

fn faults(case: &Case) -> Vec<String> {
    let mut page = Page::open("empty");
    let doc = |name: &str, text: &str| Doc { name: name.to_owned(), text: text.to_owned() };
    if !case.setup.is_empty() {
        // A quota is in force once its controller has counted; what it counts comes after it.
        if case.setup.contains("kind: ResourceQuota") {
            page.apply(doc("setup.yaml", case.setup.split("\n---").next().unwrap_or_default()));
            page.send(kubestep_protocol::Command::Advance { millis: 10_000 });
        }
        page.apply(doc("setup.yaml", &case.setup));
    }
    let files: Vec<Doc> = case.files.iter().map(|(n, t)| doc(n, t)).collect();
    for line in &case.before {
        page.send(kubestep_protocol::Command::Kubectl {
            terminal: 0,
            line: line.clone(),
            files: files.clone(),
        });
    }
    let checked = page.check_as(&case.file, &case.text);
    let errors: Vec<&Problem> = checked.problems.iter().filter(|p| p.severity == Severity::Error).collect();
    let mut found = vec![];
    if errors.is_empty() {
        found.push(format!("not refused <- {}", case.stderr));
    }
    // `patch` is no field of the file: the field that the message goes on to name is looked for below.
    for (field, message) in case.causes.iter().filter(|(field, _)| field != "patch") {
        let said = format!("{field}: {message}");
        // Uids are drawn by the server.
        let drawn = message.contains("uid-1").then(|| said.split("uid-1").next().unwrap_or_default());
        let is = |p: &&&Problem| p.message == said || drawn.is_some_and(|start| p.message.starts_with(start));
        match errors.iter().find(is) {
            None => found.push(format!("not said: {said}")),
            Some(p) if !in_line(case, field, p) => {
                found.push(format!("{field} marked at {}:{}", p.place.line, p.place.column));
            }
            Some(_) => {}
        }
    }
    for p in &errors {
        let wrong = unknown(&p.message).filter(|field| !in_line(case, field, p));
        let wrong =
            wrong.or(decoded(&p.message).filter(|key| !in_block(&case.text, key, p.place.line as usize)));
        found.extend(wrong.map(|field| format!("{field} marked at {}:{}", p.place.line, p.place.column)));
    }
    let lines = case.text.split('\n').count();
    if let Some(p) =
        errors.iter().find(|p| p.place.line < 1 || p.place.column < 1 || p.place.line as usize > lines)
    {
        found.push(format!("outside of the file: {:?}", p.place));
    }
    found
}

#[test]
fn every_refused_case_is_told_in_the_line_that_it_is_about() {
    let areas = [
        "batch",
        "config",
        "deployment",
        "metadata",
        "pod",
        "policy",
        "sequences",
        "service",
        "stateful",
        "storage",
        "typos",
    ];
    let (mut right, mut all, mut wrong) = (0, 0, vec![]);
    for area in areas {
        let (mut good, mut seen) = (0, 0);
        for case in cases(area).iter().filter(|c| !c.text.is_empty()) {
            if KNOWN.iter().any(|(name, _)| case.name.ends_with(name)) {
                continue;
            }
            seen += 1;
            let faults = faults(case);
            good += usize::from(faults.is_empty());
            wrong.extend(faults.into_iter().map(|f| format!("{}: {f}", case.name)));
        }
        println!("{area}: {good} of {seen}");
        (right, all) = (right + good, all + seen);
    }
    println!("in the right line: {right} of {all}");
    assert!(all > 400, "{all}");
    assert!(wrong.is_empty(), "{right} of {all}:\n{}", wrong.join("\n"));
}
