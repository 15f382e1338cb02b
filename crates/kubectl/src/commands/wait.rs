//! `kubectl wait`. Upstream: kubectl/pkg/cmd/wait (v1.37).

use super::{
    common::{self, ALL, DryRun, FILENAME, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE},
    delete,
};
use crate::{
    args::{Args, Flag, Takes, flag, not_done, short},
    fault::Fault,
    kc::{Flow, Kc},
    output::{
        format::Format,
        go_print,
        jsonpath::{self, Need, Template},
    },
    select::{self, Info, Select},
};
use kubestep_model::{Instant, Key, Object, Pod, client::WatchEvent, text::go::quote};
use serde_json::Value;
use std::time::Duration;

pub(super) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    ALL,
    TEMPLATE,
    flag("for", Takes::Each),
    flag("timeout", Takes::Span),
    flag("field-selector", Takes::Text),
    short("all-namespaces", 'A', Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    not_done("local", Takes::Bool),
];

/// What is waited for.
enum Goal {
    Deleted,
    Created,
    Condition { name: String, status: String },
    Path { template: Template, value: String },
}

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let goals: Vec<Goal> =
        args.all("for").iter().map(|f| goal(f)).collect::<Result<_, _>>().map_err(|why| kc.fail(why))?;
    if goals.is_empty() {
        return Err(kc.fail("unrecognized condition: []"));
    }
    let format = Format::of(kc, args, false)?;
    let text = args.text("timeout").unwrap_or("30s");
    let timeout = if text.starts_with('-') {
        Duration::from_secs(168 * 3600)
    } else {
        args.span("timeout").unwrap_or(Duration::from_secs(30))
    };
    let end = kc.now() + timeout;
    let every = args.on("all");
    let select = Select {
        types_alone: every,
        all: every && !args.words.is_empty(),
        ..Select::from(args, &args.words)
    };
    if goals.iter().any(|g| matches!(g, Goal::Created)) {
        until_there(kc, &select, end)?;
    }
    let deleting = goals.iter().any(|g| matches!(g, Goal::Deleted));
    let mut found = select::find(kc, &select)?;
    if deleting {
        found.faults.retain(|fault| !common::is_not_found(fault));
    }
    if found.infos.is_empty() && found.faults.is_empty() && !deleting {
        return Err(kc.fail("no matching resources found"));
    }
    common::each(kc, found, |kc, info| {
        for goal in &goals {
            match reach(kc, info, goal, end, timeout.is_zero())? {
                Ok(object) => common::say(kc, &format, &object, "condition met", DryRun::None)?,
                Err(fault) => return Ok(Err(fault)),
            }
        }
        Ok(Ok(()))
    })
}

fn goal(text: &str) -> Result<Goal, String> {
    if text.eq_ignore_ascii_case("delete") {
        return Ok(Goal::Deleted);
    }
    if text.eq_ignore_ascii_case("create") {
        return Ok(Goal::Created);
    }
    if let Some(condition) = text.strip_prefix("condition=") {
        let (name, status) = condition.split_once('=').unwrap_or((condition, "true"));
        return Ok(Goal::Condition { name: name.to_owned(), status: status.to_owned() });
    }
    let Some(input) = text.strip_prefix("jsonpath=") else {
        return Err(format!("unrecognized condition: {}", quote(text)));
    };
    let format = "jsonpath wait format must be --for=jsonpath='{.status.readyReplicas}'=3 or --for=jsonpath='{.status.readyReplicas}'";
    let (path, value) = match split(input).as_slice() {
        [path] => (path.clone(), None),
        [path, value] => (path.clone(), Some(value.trim_matches(['\'', '"']).to_owned())),
        _ => return Err(format.to_owned()),
    };
    if value.as_deref() == Some("") {
        return Err("jsonpath wait has to have a value after equal sign, like --for=jsonpath='{.status.readyReplicas}'=3".to_owned());
    }
    let path = jsonpath::relaxed(&path)?;
    if path.is_empty() {
        return Err("jsonpath expression cannot be empty".to_owned());
    }
    Ok(Goal::Path { template: Template::parse(&path)?, value: value.unwrap_or_default() })
}

/// Splits at each single `=`; a double one stays.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let last = parts.len() - 1;
        if c != '=' {
            parts[last].push(c);
        } else if chars.next_if_eq(&'=').is_some() {
            parts[last].push_str("==");
        } else {
            parts.push(String::new());
        }
    }
    parts
}

/// Looks every half second until something is there.
fn until_there(kc: &mut Kc<'_>, select: &Select, end: Instant) -> Flow<()> {
    loop {
        let found = select::find(kc, select)?;
        let other: Vec<Fault> =
            found.faults.into_iter().filter(|fault| !common::is_not_found(fault)).collect();
        if let Some(fault) = Fault::all(other) {
            return Err(kc.fault(&fault));
        }
        if !found.infos.is_empty() {
            return Ok(());
        }
        if kc.now() >= end {
            return Err(kc.fail("timed out waiting for the condition"));
        }
        kc.sleep(Duration::from_millis(500))?;
    }
}

fn timed_out(key: &Key) -> Fault {
    Fault::Text(format!("timed out waiting for the condition on {}", common::resource_name(key)))
}

fn reach(kc: &mut Kc<'_>, info: &Info, goal: &Goal, end: Instant, once: bool) -> Flow<Result<Object, Fault>> {
    match goal {
        Goal::Created => return Ok(Ok(info.object.clone())),
        Goal::Deleted => {
            // The time is for all of them; upstream then asks with a context that is over.
            if !once && kc.now() >= end {
                return Ok(Err(Fault::Text("context deadline exceeded".into())));
            }
            let gone = delete::gone(kc, &info.key, "", end)?;
            return Ok(if gone { Ok(info.object.clone()) } else { Err(timed_out(&info.key)) });
        }
        Goal::Condition { .. } | Goal::Path { .. } => {}
    }
    // One time for all: when it is over, what is met long since is not looked at any more. Upstream: RunWaitContext.
    if !once && kc.now() >= end {
        return Ok(Err(timed_out(&info.key)));
    }
    let mut object = info.object.clone();
    let mut from = object.meta().revision();
    loop {
        match met(&object, goal) {
            Ok(true) => return Ok(Ok(object)),
            Ok(false) if once => {
                return Ok(Err(Fault::Text(format!(
                    "condition not met for {}",
                    common::resource_name(&info.key)
                ))));
            }
            Ok(false) => {}
            Err(why) => return Ok(Err(Fault::Text(why))),
        }
        let key = &info.key;
        let namespace = key.kind.namespaced().then(|| key.namespace.clone());
        let (events, seen) = kc.watch(key.kind, namespace, Some(key.name.clone()), from, Some(end))?;
        if events.is_empty() {
            return Ok(Err(timed_out(key)));
        }
        from = seen;
        for event in events {
            if let WatchEvent::Added(changed) | WatchEvent::Modified(changed) = event {
                if met(&changed, goal) == Ok(true) {
                    return Ok(Ok(changed));
                }
                object = changed;
            }
        }
    }
}

fn met(object: &Object, goal: &Goal) -> Result<bool, String> {
    match goal {
        Goal::Deleted => Ok(false),
        Goal::Created => Ok(true),
        Goal::Condition { name, status } => {
            // Of pods there are many, and they are read at once.
            if let Object::Pod(pod) = object {
                return Ok(pod_condition(pod, name, status));
            }
            let mut need = Need::default();
            ["metadata.generation", "status.conditions", "status.observedGeneration"]
                .iter()
                .for_each(|path| need.path(path));
            Ok(condition(&need.cut(object), name, status))
        }
        Goal::Path { template, value } => path(object, template, value),
    }
}

/// Whether a condition has a status, by an observation that is not older than the object's spec.
fn condition(object: &Value, name: &str, status: &str) -> bool {
    let conditions =
        object.pointer("/status/conditions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |c: &Value, field: &str| c.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let Some(found) = conditions.iter().find(|c| text(c, "type").eq_ignore_ascii_case(name)) else {
        return false;
    };
    let own = found
        .get("observedGeneration")
        .or(object.pointer("/status/observedGeneration"))
        .and_then(Value::as_i64);
    let generation = object.pointer("/metadata/generation").and_then(Value::as_i64);
    let stale = own.zip(generation).is_some_and(|(observed, generation)| observed < generation);
    !stale && text(found, "status").eq_ignore_ascii_case(status)
}

/// The same of a pod.
fn pod_condition(pod: &Pod, name: &str, status: &str) -> bool {
    let Some(found) = pod.status.conditions.iter().find(|c| c.r#type.eq_ignore_ascii_case(name)) else {
        return false;
    };
    // Zero is not written.
    let written = |generation: &i64| *generation != 0;
    let own = Some(found.observed_generation).filter(written);
    let own = own.or(Some(pod.status.observed_generation).filter(written));
    let generation = Some(pod.metadata.generation).filter(written);
    let stale = own.zip(generation).is_some_and(|(observed, generation)| observed < generation);
    !stale && found.status.eq_ignore_ascii_case(status)
}

fn path(object: &Object, template: &Template, value: &str) -> Result<bool, String> {
    let found = template.find_in(object)?;
    let Some(first) = found.first().filter(|f| !f.is_empty()) else { return Ok(false) };
    if found.len() > 1 {
        return Err("given jsonpath expression matches more than one list".to_owned());
    }
    match first.as_slice() {
        [_] if value.is_empty() => Ok(true),
        [Value::Array(_) | Value::Object(_)] => {
            Err("jsonpath leads to a nested object or list which is not supported".to_owned())
        }
        [one] => Ok(go_print(one).trim() == value.trim()),
        _ => Err("given jsonpath expression matches more than one value".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::PodCondition;

    #[test]
    fn goals_read_as_upstream() {
        assert_eq!(split("a.b==c=d"), ["a.b==c", "d"]);
        assert!(matches!(goal("Delete"), Ok(Goal::Deleted)));
        assert!(
            matches!(goal("condition=Ready=false"), Ok(Goal::Condition { status, .. }) if status == "false")
        );
        assert!(matches!(goal("jsonpath={.a}=3"), Ok(Goal::Path { value, .. }) if value == "3"));
        assert_eq!(goal("x").err().unwrap(), "unrecognized condition: \"x\"");
        let object = serde_json::json!({"metadata": {"generation": 2}, "status": {"observedGeneration": 1,
            "conditions": [{"type": "Available", "status": "True"}]}});
        assert!(!condition(&object, "available", "true"));
    }

    #[test]
    fn a_pod_is_read_as_every_object() {
        let mut met = 0;
        for (generation, observed, own) in [(0, 0, 0), (2, 0, 0), (2, 1, 0), (2, 2, 0), (2, 2, 1), (2, 1, 2)]
        {
            let mut pod = Pod::default();
            pod.metadata.generation = generation;
            pod.status.observed_generation = observed;
            pod.status.conditions = ["True", "False"]
                .map(|status| PodCondition {
                    r#type: format!("Is{status}"),
                    status: status.into(),
                    observed_generation: own,
                    ..PodCondition::default()
                })
                .into();
            let object = Object::from(pod.clone()).to_value();
            for (name, status) in
                [("istrue", "true"), ("IsTrue", "False"), ("isfalse", "FALSE"), ("Ready", "True")]
            {
                assert_eq!(pod_condition(&pod, name, status), condition(&object, name, status));
                met += u32::from(pod_condition(&pod, name, status));
            }
        }
        assert_eq!(met, 8);
    }
}
