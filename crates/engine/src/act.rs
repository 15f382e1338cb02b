//! From what a person does on the page to acts of the world, and to a form that can be kept.

use crate::{
    link::{Saved, SavedImage},
    session::{APPLY, Session},
};
use kubestep_cluster::{Act, Image, NodeAct as ClusterNode, NodeSpec, Pods};
use kubestep_kubectl::{Shell, namespace_set};
use kubestep_model::arrange::Gather;
use kubestep_model::{Kind, Pod};
use kubestep_protocol::{Command, Doc, ImageAct, NodeAct, ObjectRef, PodAct};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// How long the pull of an image that a person pushes takes.
const PULL_MILLIS: u64 = 1000;
/// The largest file a command may read.
pub(crate) const MOST_TEXT: usize = 4 << 20;

/// What a command of the page asks to be done, in the form that is kept; or why it cannot be.
pub(crate) fn saved_of(session: &Session, command: &Command) -> Result<Saved, String> {
    Ok(match command {
        Command::Apply { doc } => Saved::Run {
            terminal: APPLY,
            line: format!("kubectl {} -f {}", kubestep_kubectl::saves(&doc.name), quoted(&doc.name)),
            files: vec![(doc.name.clone(), doc.text.clone())],
        },
        Command::Kubectl { terminal, line, files } => {
            Saved::Run { terminal: u32::from(*terminal), line: line.clone(), files: files_of(files)? }
        }
        Command::Interrupt { terminal } => Saved::Interrupt { terminal: u32::from(*terminal) },
        Command::Fault { id, on } => Saved::Fault { id: id.clone(), on: *on },
        Command::WhatIf(on) => Saved::WhatIf(*on),
        Command::Image(act) => image(session, act)?,
        Command::Node(act) => node(session, act)?,
        Command::Pod { pod, act } => pod_act(session, pod, act)?,
        Command::Choose(name) => {
            crate::moves::find(session.world(), name).ok_or("This can no longer happen next.")?;
            Saved::Choice(name.clone())
        }
        _ => return Err("This is not something that is done to the cluster.".into()),
    })
}

fn files_of(files: &[Doc]) -> Result<Vec<(String, String)>, String> {
    if files.iter().map(|f| f.text.len()).sum::<usize>() > MOST_TEXT {
        return Err("The files are larger than 4 MiB together.".into());
    }
    Ok(files.iter().map(|f| (f.name.clone(), f.text.clone())).collect())
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn kubectl(line: String) -> Saved {
    Saved::Run { terminal: 0, line, files: vec![] }
}

/// The keys of a row of the registry that say what the image's process does: of whole numbers, of numbers, a switch,
/// texts.
const BEHAVIOUR: [&[&str]; 4] = [
    &["exit"],
    &[
        "afterSeconds",
        "readyAfterSeconds",
        "failsAfterSeconds",
        "stopSeconds",
        "memoryMiB",
        "memoryGrowsMiBPerSecond",
    ],
    &["ignoresTerm"],
    &["startError", "logs"],
];
/// The largest number and the longest text that such a key may have.
const MOST: f64 = 1e9;
const MOST_WORDS: usize = 100_000;

/// The row of an image, as a session writes it.
fn row_of(image: &Image) -> Map<String, Value> {
    serde_json::from_str(&kubestep_lessons::stage::image_text(image)).unwrap_or_default()
}

/// What the process of an image does that is not as usual.
pub(crate) fn behaviour(image: &Image) -> Vec<(String, String)> {
    let row = row_of(image);
    let said = |key: &&str| {
        let text = match row.get(*key)? {
            Value::String(text) => text.clone(),
            other => other.to_string().trim_end_matches(".0").to_string(),
        };
        Some(((*key).to_string(), text))
    };
    BEHAVIOUR.iter().flat_map(|keys| keys.iter()).filter_map(said).collect()
}

/// Another row for an image: what its process does as said, all else as it is.
fn behave(session: &Session, name: &str, fields: &[(String, String)]) -> Result<Saved, String> {
    let before = session.world().registry().get(name).cloned().unwrap_or_default();
    let mut row = row_of(&before);
    row.retain(|key, _| !BEHAVIOUR.iter().any(|keys| keys.contains(&key.as_str())));
    for (key, text) in fields.iter().filter(|(_, text)| !text.trim().is_empty()) {
        let sort = BEHAVIOUR.iter().position(|keys| keys.contains(&key.as_str()));
        let value = match sort {
            Some(0) => text.trim().parse::<u8>().ok().map(Value::from),
            Some(1) => text.trim().parse::<f64>().ok().filter(|n| (0.0..=MOST).contains(n)).map(Value::from),
            Some(2) => text.trim().parse::<bool>().ok().map(Value::from),
            Some(_) => (text.len() <= MOST_WORDS).then(|| Value::from(text.as_str())),
            None => None,
        };
        row.insert(key.clone(), value.ok_or("This is no value that an image can have.")?);
    }
    let name = name.to_string();
    Ok(Saved::Script(serde_json::json!({"image": {name: row}}).to_string()))
}

fn image(session: &Session, act: &ImageAct) -> Result<Saved, String> {
    let (name, change) = match act {
        ImageAct::Behave(name, fields) => return behave(session, name, fields),
        ImageAct::Push(name) => (name, Some((PULL_MILLIS, false))),
        ImageAct::Remove(name) => (name, None),
        ImageAct::Slow(name, millis) => (name, Some((*millis, false))),
        ImageAct::Deny(name, denied) => {
            let pull = session
                .world()
                .registry()
                .get(name)
                .map_or(PULL_MILLIS, |i| u64::try_from(i.pull.as_millis()).unwrap_or(PULL_MILLIS));
            (name, Some((pull, *denied)))
        }
    };
    let image = change.map(|(pull_millis, denied)| SavedImage { pull_millis, denied });
    Ok(Saved::Image { name: name.clone(), image })
}

fn node(session: &Session, act: &NodeAct) -> Result<Saved, String> {
    let there = |name: &String| {
        session
            .world()
            .machines()
            .any(|(n, _)| **n == **name)
            .then(|| name.clone())
            .ok_or(format!("There is no node {name}."))
    };
    Ok(match act {
        NodeAct::Add => {
            let names: Vec<String> = session.world().machines().map(|(n, _)| n.to_string()).collect();
            let free = (1..).map(|i| format!("node-{i}")).find(|n| !names.contains(n)).unwrap_or_default();
            Saved::NodeAdd { name: free }
        }
        NodeAct::Stop(name) => Saved::NodeStop { name: there(name)? },
        NodeAct::Start(name) => Saved::NodeStart { name: there(name)? },
        NodeAct::Cordon(name) => kubectl(format!("kubectl cordon {}", quoted(name))),
        NodeAct::Uncordon(name) => kubectl(format!("kubectl uncordon {}", quoted(name))),
        NodeAct::Remove(name) => kubectl(format!("kubectl delete node {}", quoted(name))),
    })
}

fn pod_act(session: &Session, pod: &ObjectRef, act: &PodAct) -> Result<Saved, String> {
    let target = format!("{} -n {}", quoted(&pod.name), quoted(&pod.namespace));
    Ok(match act {
        PodAct::Delete => kubectl(format!("kubectl delete pod {target} --wait=false")),
        PodAct::Label(key, Some(value)) => {
            kubectl(format!("kubectl label pod {target} {} --overwrite", quoted(&format!("{key}={value}"))))
        }
        PodAct::Label(key, None) => {
            kubectl(format!("kubectl label pod {target} {}", quoted(&format!("{key}-"))))
        }
        PodAct::Crash(container, code) => {
            let found = session.object(pod).and_then(|o| o.get::<Pod>()).ok_or("The pod is not there.")?;
            let first = || found.spec.containers.first().map(|c| c.name.clone());
            Saved::Exit {
                namespace: pod.namespace.clone(),
                pod: pod.name.clone(),
                container: container.clone().or_else(first),
                code: *code,
            }
        }
        PodAct::Load(cpu) => {
            let found = session.object(pod).and_then(|o| o.get::<Pod>()).ok_or("The pod is not there.")?;
            let labels = found.metadata.labels.iter().filter(|(key, _)| !key.ends_with("template-hash"));
            let labels: Vec<String> = labels.map(|(key, value)| format!("{key}={value}")).collect();
            if labels.is_empty() {
                return Err("The pod has no labels.".into());
            }
            let load = serde_json::json!({"pod": labels.join(","), "cpu": format!("{cpu}m"), "shared": true});
            Saved::Script(serde_json::json!({ "load": load }).to_string())
        }
        PodAct::Probe(ready) => {
            session.object(pod).filter(|o| o.kind() == Kind::Pod).ok_or("The pod is not there.")?;
            Saved::Probe {
                namespace: pod.namespace.clone(),
                pod: pod.name.clone(),
                ready: ready.unwrap_or(true),
            }
        }
    })
}

/// The act that a kept form stands for, in the world that is looked at.
pub(crate) fn act_of(session: &Session, saved: &Saved) -> Act {
    match saved {
        Saved::Run { terminal, line, files } => {
            let files: BTreeMap<String, String> = files.iter().cloned().gather();
            Act::Run {
                terminal: *terminal,
                program: Arc::new(
                    Shell::new(line, Arc::new(files), &namespace(session, *terminal))
                        .after(last_code(session, *terminal)),
                ),
                exclusive: true,
            }
        }
        Saved::Interrupt { terminal } => Act::Interrupt { terminal: *terminal },
        Saved::Image { name, image } => {
            let before = session.world().registry().get(name).cloned().unwrap_or_default();
            let image = image.as_ref().map(|i| Image {
                pull: Duration::from_millis(i.pull_millis),
                denied: i.denied,
                ..before
            });
            Act::Image { name: name.clone(), image }
        }
        Saved::NodeAdd { name } => {
            Act::Node(ClusterNode::Add(NodeSpec { name: name.as_str().into(), ..NodeSpec::default() }))
        }
        Saved::NodeStop { name } => Act::Node(ClusterNode::Stop(name.clone())),
        Saved::NodeStart { name } => Act::Node(ClusterNode::Start(name.clone())),
        Saved::Probe { namespace, pod, ready } => Act::Probe {
            pods: Pods::Named { namespace: namespace.as_str().into(), name: pod.as_str().into() },
            container: None,
            live: None,
            ready: Some(*ready),
            started: None,
        },
        Saved::Exit { namespace, pod, container, code } => Act::Exit {
            pods: Pods::Named { namespace: namespace.as_str().into(), name: pod.as_str().into() },
            container: container.clone(),
            code: *code,
            oom: false,
        },
        Saved::Fault { id, on } => kubestep_lessons::faults::fault(id, *on),
        Saved::WhatIf(on) => Act::WhatIf { selector_check: !on },
        Saved::Script(text) => {
            let step = kubestep_lessons::script::one(text).ok();
            let act = step.and_then(|s| kubestep_lessons::stage::acts(&s.act).into_iter().next());
            act.map_or(Act::Remark(String::new()), |(act, _)| act)
        }
        Saved::Predicted { answer: Some(answer), .. } => Act::Remark(format!("You predicted: {answer}.")),
        Saved::Predicted { answer: None, .. } => Act::Remark("You skipped the question.".into()),
        Saved::Hinted => Act::Remark("You asked for a hint.".into()),
        Saved::Shown => Act::Remark("The next step is shown to you.".into()),
        // It could not happen any more.
        Saved::Choice(_) => Act::Remark(String::new()),
    }
}

/// The exit code of the command that ended last in a terminal.
fn last_code(session: &Session, terminal: u32) -> i32 {
    let ended =
        session.world().clients().filter(|(_, c)| c.terminal == terminal).filter_map(|(_, c)| c.ended);
    ended.max_by_key(|(_, at)| *at).map_or(0, |(code, _)| code)
}

/// The namespace of the current context: the one that the last `kubectl config set-context` in the world gave it.
fn namespace(session: &Session, terminal: u32) -> String {
    let mut found = "default".to_string();
    if terminal != APPLY {
        for (_, client) in session.world().clients() {
            if client.ended.is_some_and(|(code, _)| code == 0) {
                found = namespace_set(&client.program.line()).unwrap_or(found);
            }
        }
    }
    found
}
