//! Session scripts: a start, files, and steps in order, as plain data.

use crate::question::Question;
use kubestep_cluster::{Image, Load, NodeAct, NodeSpec, Registry};
use kubestep_model::{
    text::{Quantity, Selector},
    yaml,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A session script.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Script {
    pub id: String,
    pub title: String,
    pub about: String,
    pub nodes: Vec<NodeSpec>,
    pub registry: Registry,
    pub files: BTreeMap<String, String>,
    pub steps: Vec<ScriptStep>,
}

/// One step, with the author's note.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct ScriptStep {
    pub note: Option<String>,
    /// The exit code that its command is meant to end with, where that is not 0.
    pub exit: Option<i32>,
    pub act: ScriptAct,
}

/// What a step does.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ScriptAct {
    /// kubectl lines, one after another.
    Kubectl(Vec<String>),
    /// A line of a program beside kubectl, in a terminal of its own; one that goes on for ever goes on.
    Program(String),
    /// Until no object changed for so many seconds.
    Settle(f64),
    /// So many seconds.
    Wait(f64),
    /// A kubectl line again and again until its output matches.
    Until {
        line: String,
        matches: String,
        within: f64,
    },
    Edit {
        file: String,
        replace: String,
        with: String,
    },
    Files(BTreeMap<String, String>),
    Images(Vec<(String, Image)>),
    Node {
        act: NodeAct,
        text: String,
    },
    Probe {
        pods: Selector,
        container: Option<String>,
        live: Option<bool>,
        ready: Option<bool>,
        started: Option<bool>,
        text: String,
    },
    Exit {
        pods: Selector,
        container: Option<String>,
        code: i32,
        oom: bool,
        text: String,
    },
    /// What pods use from now on.
    Load {
        load: Load,
        text: String,
    },
    /// Until a question about the world is true.
    Await {
        question: Question,
        within: f64,
    },
    /// A fault by the name that the page's menu uses, on or off.
    Fault {
        id: String,
        on: bool,
    },
    /// The marked what-if: the check of selectors off or on.
    WhatIf(bool),
    /// Lines of steps that run at the same time.
    Parallel(Vec<Vec<ScriptStep>>),
}

impl Script {
    /// Reads a script. Errors: the place and what is wrong with it.
    pub fn read(text: &str) -> Result<Script, String> {
        let reading = yaml::read(text);
        if let Some(error) = reading.error {
            return Err(format!("line {}: {}", error.line, error.text));
        }
        let document = reading.documents.into_iter().next().ok_or("the script is empty")?;
        let Value::Object(mut map) = document.value else { return Err("a script is a map".into()) };
        let text_of = |map: &Map<String, Value>, key: &str| {
            map.get(key).and_then(Value::as_str).unwrap_or("").to_string()
        };
        let steps = map.remove("steps").unwrap_or_default();
        Ok(Script {
            id: text_of(&map, "id"),
            title: text_of(&map, "title"),
            about: text_of(&map, "about"),
            nodes: nodes(map.remove("nodes"))?,
            registry: registry(images(map.remove("images").unwrap_or_default())?),
            files: files(map.remove("files").unwrap_or_default())?,
            steps: read_steps(&steps)?,
        })
    }
}

pub(crate) fn nodes(value: Option<Value>) -> Result<Vec<NodeSpec>, String> {
    match value {
        None => Ok((1..=3).map(|i| NodeSpec { name: format!("node-{i}"), ..NodeSpec::default() }).collect()),
        Some(rows) => serde_json::from_value(rows).map_err(|e| format!("nodes: {e}")),
    }
}

pub(crate) fn images(value: Value) -> Result<Vec<(String, Image)>, String> {
    let Value::Object(rows) = value else {
        return if value.is_null() { Ok(vec![]) } else { Err("images: must be a map".into()) };
    };
    let read = |(name, row): (String, Value)| {
        let row = if row.is_null() { Value::Object(Map::new()) } else { row };
        serde_json::from_value(row)
            .map(|image| (name.clone(), image))
            .map_err(|e| format!("images.{name}: {e}"))
    };
    rows.into_iter().map(read).collect()
}

pub(crate) fn registry(images: Vec<(String, Image)>) -> Registry {
    let mut registry = Registry::default();
    for (name, image) in images {
        registry.push(&name, image);
    }
    registry
}

fn files(value: Value) -> Result<BTreeMap<String, String>, String> {
    if value.is_null() {
        Ok(BTreeMap::new())
    } else {
        serde_json::from_value(value).map_err(|e| format!("files: {e}"))
    }
}

/// Reads a list of steps. Errors: the step and what is wrong with it.
pub(crate) fn read_steps(value: &Value) -> Result<Vec<ScriptStep>, String> {
    let steps = value.as_array().map_or(&[][..], Vec::as_slice);
    steps.iter().enumerate().map(|(i, s)| read_step(s).map_err(|e| format!("step {i}: {e}"))).collect()
}

/// Reads one step as [`crate::stage::acts`] writes it. Errors: what is wrong with it.
pub fn one(text: &str) -> Result<ScriptStep, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    read_step(&value)
}

fn read_step(value: &Value) -> Result<ScriptStep, String> {
    let map = value.as_object().ok_or("a step is a map")?;
    let note = map.get("note").and_then(Value::as_str).map(Into::into);
    let exit = map.get("exit").and_then(Value::as_i64).and_then(|c| i32::try_from(c).ok());
    let beside = |k: &str| k == "note" || (k == "exit" && map.contains_key("kubectl"));
    let mut keys = map.iter().filter(|(k, _)| !beside(k));
    let (key, body) = keys.next().ok_or("a step has one key")?;
    if let Some((second, _)) = keys.next() {
        return Err(format!("unknown or second key {second:?}"));
    }
    Ok(ScriptStep { note, exit, act: read_act(key, body)? })
}

fn read_act(key: &str, body: &Value) -> Result<ScriptAct, String> {
    let number = || {
        let seconds = body.as_f64().filter(|s| *s >= 0.0);
        seconds.ok_or(format!("{key}: seconds as a number from 0 on"))
    };
    Ok(match key {
        "kubectl" => ScriptAct::Kubectl(vec![body.as_str().ok_or("kubectl: a line")?.into()]),
        "show" => ScriptAct::Kubectl(serde_json::from_value(body.clone()).map_err(|e| format!("show: {e}"))?),
        "program" => ScriptAct::Program(said(body, "program")?),
        "settle" => ScriptAct::Settle(number()?),
        "wait" => ScriptAct::Wait(number()?),
        "until" => ScriptAct::Until {
            line: text(body, "kubectl")?,
            matches: text(body, "matches")?,
            within: body.get("within").and_then(Value::as_f64).unwrap_or(60.0),
        },
        "edit" => ScriptAct::Edit {
            file: text(body, "file")?,
            replace: text(body, "replace")?,
            with: text(body, "with")?,
        },
        "files" => ScriptAct::Files(files(body.clone())?),
        "image" => ScriptAct::Images(images(body.clone())?),
        "node" => ScriptAct::Node { act: node_act(body)?, text: body.to_string() },
        "probe" => ScriptAct::Probe {
            pods: selector(body)?,
            container: optional(body, "container"),
            live: body.get("live").and_then(Value::as_bool),
            ready: body.get("ready").and_then(Value::as_bool),
            started: body.get("started").and_then(Value::as_bool),
            text: body.to_string(),
        },
        "exit" => ScriptAct::Exit {
            pods: selector(body)?,
            container: optional(body, "container"),
            code: body.get("code").and_then(Value::as_i64).and_then(|c| i32::try_from(c).ok()).unwrap_or(0),
            oom: body.get("oom").and_then(Value::as_bool).unwrap_or(false),
            text: body.to_string(),
        },
        "load" => ScriptAct::Load { load: load(body)?, text: body.to_string() },
        "await" => {
            let text = body.as_str().map(Into::into).map_or_else(|| text(body, "question"), Ok)?;
            let question = Question::parse(&text).map_err(|e| format!("await: {e}"))?;
            let within = body.get("within").and_then(Value::as_f64).unwrap_or(3600.0);
            ScriptAct::Await { question, within }
        }
        "fault" => ScriptAct::Fault { id: said(body, "fault")?, on: true },
        "heal" => ScriptAct::Fault { id: said(body, "heal")?, on: false },
        "whatIf" => ScriptAct::WhatIf(body.as_bool().ok_or("whatIf: true or false")?),
        "parallel" => {
            let lines = body.as_array().ok_or("parallel: a list")?;
            let line = |v: &Value| if v.is_array() { read_steps(v) } else { Ok(vec![read_step(v)?]) };
            ScriptAct::Parallel(lines.iter().map(line).collect::<Result<_, _>>()?)
        }
        other => return Err(format!("unknown key {other:?}")),
    })
}

fn said(body: &Value, key: &str) -> Result<String, String> {
    body.as_str().map(Into::into).ok_or(format!("{key}: a name"))
}

fn text(body: &Value, key: &str) -> Result<String, String> {
    optional(body, key).ok_or(format!("{key} is missing"))
}

fn optional(body: &Value, key: &str) -> Option<String> {
    body.get(key).and_then(Value::as_str).map(Into::into)
}

fn selector(body: &Value) -> Result<Selector, String> {
    Selector::parse(&text(body, "pod")?).map_err(|e| format!("pod: {e}"))
}

fn load(body: &Value) -> Result<Load, String> {
    let amount = |key: &str| -> Result<Option<Quantity>, String> {
        let Some(value) = body.get(key) else { return Ok(None) };
        let text = value.as_str().map_or_else(|| value.to_string(), Into::into);
        Quantity::parse(&text).map(Some).map_err(|e| format!("{key}: {e}"))
    };
    let (cpu, memory) = (amount("cpu")?, amount("memory")?);
    if cpu.is_none() && memory.is_none() {
        return Err("load: cpu or memory is missing".into());
    }
    Ok(Load {
        pods: selector(body)?.into(),
        container: optional(body, "container"),
        cpu: cpu.map(|q| q.milli_value().max(0)),
        memory: memory.map(|q| q.value().max(0)),
        shared: body.get("shared").and_then(Value::as_bool).unwrap_or(false),
    })
}

fn node_act(body: &Value) -> Result<NodeAct, String> {
    if let Some(spec) = body.get("add") {
        return serde_json::from_value(spec.clone()).map(NodeAct::Add).map_err(|e| format!("add: {e}"));
    }
    let by = |key: &str| optional(body, key);
    by("stop")
        .map(NodeAct::Stop)
        .or_else(|| by("crash").map(NodeAct::Crash))
        .or_else(|| by("start").map(NodeAct::Start))
        .ok_or_else(|| "node: stop, crash, start or add".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recorded_session_reads() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/sessions");
        let mut read = 0;
        for entry in std::fs::read_dir(folder).expect("the recordings are there") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|e| e == "yaml") {
                let script = Script::read(&std::fs::read_to_string(&path).expect("text"))
                    .unwrap_or_else(|e| panic!("{path:?}: {e}"));
                assert!(!script.steps.is_empty() && !script.nodes.is_empty(), "{path:?}");
                read += 1;
            }
        }
        assert!(read >= 21, "{read}");
    }

    #[test]
    fn a_bad_script_says_where() {
        assert_eq!(
            Script::read("steps:\n- {kubectl: get pods, wait: 3}\n").err().as_deref(),
            Some("step 0: unknown or second key \"wait\"")
        );
        assert_eq!(
            Script::read("steps:\n- {jump: 3}\n").err().as_deref(),
            Some("step 0: unknown key \"jump\"")
        );
        assert!(Script::read("steps: [").is_err());
        assert!(Script::read("").is_err());
    }
}
