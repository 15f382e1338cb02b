//! The cases of a corpus.

use kubestep_model::yaml;
use serde_json::Value;
use std::collections::BTreeMap;

/// One case: a manifest, what is there before it, and the commands that are run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) manifest: String,
    pub(crate) setup: String,
    /// Further files by name.
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) commands: Vec<String>,
    /// Whether each command has a record of its own.
    pub(crate) several: bool,
    /// Whether the server lists its errors in the order of a map.
    pub(crate) unordered: bool,
    /// All the texts of the case together: what stands there was not drawn by the server.
    pub(crate) given: String,
}

/// Reads a corpus.
pub(crate) fn read(corpus: &str) -> Result<Vec<Case>, String> {
    let value = yaml::yaml_to_json(corpus, false).map_err(|e| e.to_string())?;
    let cases = value["cases"].as_array().ok_or("no cases")?;
    Ok(cases.iter().map(case).collect())
}

fn case(value: &Value) -> Case {
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let command = match text("command") {
        command if command.is_empty() => "kubectl apply -f m.yaml".to_owned(),
        command => command,
    };
    let lines = |list: &Vec<Value>| list.iter().filter_map(|c| c.as_str().map(str::to_owned)).collect();
    let commands: Vec<String> = value["commands"].as_array().map(lines).unwrap_or_default();
    let several = !commands.is_empty();
    Case {
        name: text("name"),
        manifest: text("manifest"),
        setup: text("setup"),
        files: value["files"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, text)| (name.clone(), text.as_str().unwrap_or_default().to_owned()))
            .collect(),
        commands: if several { commands } else { command.trim().lines().map(str::to_owned).collect() },
        several,
        unordered: value["unordered"] == true,
        given: value.to_string(),
    }
}

/// Writes out what stands for a long run: `${repeat:x:300000}`.
pub(crate) fn expand(text: &str) -> String {
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

/// The reverse, for every run of a thousand or more.
pub(crate) fn squeeze(text: &str) -> String {
    if text.len() < 1000 {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        let mut run = 1;
        while chars.next_if_eq(&first).is_some() {
            run += 1;
        }
        if run >= 1000 {
            out.push_str(&format!("${{repeat:{first}:{run}}}"));
        } else {
            out.extend(std::iter::repeat_n(first, run));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_written_out_and_back() {
        let short = "a${repeat:x:1200}b";
        assert_eq!(expand(short).len(), 1202);
        assert_eq!(squeeze(&expand(short)), short);
        assert_eq!(squeeze("xxx"), "xxx");
    }

    #[test]
    fn a_command_may_be_several_lines_and_stays_one_record() {
        let corpus =
            "cases: [{name: a, command: \"kubectl get po\\nkubectl get svc\"}, {name: b, commands: [x]}]";
        let cases = read(corpus).expect("cases");
        assert_eq!((cases[0].commands.len(), cases[0].several), (2, false));
        assert_eq!((cases[1].commands.len(), cases[1].several), (1, true));
    }
}
