//! `kubectl taint`. Upstream: kubectl/pkg/cmd/taint (v1.37).

use super::common::{self, ALL, DRY_RUN, DryRun, FIELD_MANAGER, OUTPUT, SELECTOR, TEMPLATE, VALIDATE};
use crate::{
    args::{Args, Flag, Takes, flag},
    fault::Fault,
    kc::{Flow, Kc},
    output::format::Format,
    resources,
    select::{self, Select},
};
use kubestep_model::{Kind, Node, PatchKind, Taint, text::names};

pub(super) const FLAGS: &[Flag] = &[
    OUTPUT,
    SELECTOR,
    ALL,
    TEMPLATE,
    DRY_RUN,
    FIELD_MANAGER,
    VALIDATE,
    flag("overwrite", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
];

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let dry = DryRun::of(kc, args)?;
    let is_taint = |w: &String| w.contains(['=', ':']) || w.ends_with('-');
    let first = args.words.iter().position(is_taint).unwrap_or(args.words.len());
    let (words, taints) = args.words.split_at(first);
    if let Some(word) = taints.iter().find(|w| !is_taint(w)) {
        return Err(kc.fail(format!("all resources must be specified before taint changes: {word}")));
    }
    let Some(kind) = words.first() else {
        return Err(kc.fail("one or more resources must be specified as <resource> <name>"));
    };
    if taints.is_empty() {
        return Err(kc.fail("at least one taint update is required"));
    }
    let format = Format::of(kc, args, false)?;
    let (add, remove) = parse_all(taints).map_err(|why| kc.usage(&args.path, &why))?;
    let resolved = resources::resolve(kind);
    if common::or_stop(kc, resolved)? != Kind::Node {
        return Err(kc.fail(format!(
            "invalid resource type {}, only node types are supported",
            kind.to_ascii_lowercase()
        )));
    }
    let both = remove
        .iter()
        .filter(|r| add.iter().any(|a| a.key == r.key && (r.effect.is_empty() || r.effect == a.effect)));
    let both: Vec<String> = both.map(|t| format!("{}={}", t.key, t.effect)).collect();
    if !both.is_empty() {
        let text = "can not both modify and remove the following taint(s) in the same command: ";
        return Err(kc.fail(format!("{text}{}", both.join(", "))));
    }
    let selector = args.text_or_empty("selector").to_owned();
    if args.on("all") && !selector.is_empty() {
        return Err(kc.fail("setting 'all' parameter with a non empty selector is prohibited"));
    }
    if !args.on("all") && selector.is_empty() && words.len() < 2 {
        return Err(kc.fail("at least one resource name must be specified since 'all' parameter is not set"));
    }
    let named = if args.on("all") || !selector.is_empty() { &words[..1] } else { words };
    let select =
        Select { words: named.to_vec(), labels: selector, types_alone: args.on("all"), ..Select::default() };
    let found = select::find(kc, &select)?;
    common::each(kc, found, |kc, info| {
        let Some(node) = info.object.get::<Node>() else { return Ok(Ok(())) };
        let (done, taints) = match change(node, &add, &remove, args.on("overwrite")) {
            Ok(changed) => changed,
            Err(fault) => return Ok(Err(fault)),
        };
        let mut after = node.clone();
        after.spec.taints = taints;
        let after = kubestep_model::Object::from(after);
        let patch = match common::difference(Kind::Node, &info.object.to_value(), &after.to_value()) {
            Ok(patch) => patch,
            Err(why) => return Ok(Err(Fault::Text(why))),
        };
        let object = if dry == DryRun::Client {
            after
        } else {
            match common::patch(kc, &info.key, PatchKind::Strategic, patch, dry)? {
                Ok(object) => object,
                Err(status) => return Ok(Err(status.into())),
            }
        };
        // Upstream does not say here that it was a trial, nor does patch.
        common::say(kc, &format, &object, done, DryRun::None)?;
        Ok(Ok(()))
    })
}

type Changes = (Vec<Taint>, Vec<Taint>);

fn parse_all(specs: &[String]) -> Result<Changes, String> {
    let (mut add, mut remove): Changes = (vec![], vec![]);
    for spec in specs {
        if let Some(spec) = spec.strip_suffix('-') {
            let taint = parse(spec)?;
            remove.push(Taint { value: String::new(), ..taint });
            continue;
        }
        let taint = parse(spec)?;
        if taint.effect.is_empty() {
            return Err(format!("invalid taint spec: {spec}"));
        }
        if add.iter().any(|a| a.key == taint.key && a.effect == taint.effect) {
            let shown = format!("{{{} {} {} <nil>}}", taint.key, taint.value, taint.effect);
            return Err(format!("duplicated taints with the same key and effect: {shown}"));
        }
        add.push(taint);
    }
    Ok((add, remove))
}

fn parse(spec: &str) -> Result<Taint, String> {
    let wrong = || format!("invalid taint spec: {spec}");
    let parts: Vec<&str> = spec.split(':').collect();
    let (pair, effect) = match parts.as_slice() {
        [key] => (*key, ""),
        [pair, effect] => (*pair, *effect),
        _ => return Err(wrong()),
    };
    if parts.len() == 2 && !matches!(effect, "NoSchedule" | "PreferNoSchedule" | "NoExecute") {
        return Err(format!("invalid taint effect: {effect}, unsupported taint effect"));
    }
    let (key, value) = match pair.split('=').collect::<Vec<_>>().as_slice() {
        _ if parts.len() == 1 => (pair, ""),
        [key] => (*key, ""),
        [key, value] => (*key, *value),
        _ => return Err(wrong()),
    };
    let faults = names::is_valid_label_value(value);
    let faults = if faults.is_empty() { names::is_qualified_name(key) } else { faults };
    if !faults.is_empty() {
        return Err(format!("{}, {}", wrong(), faults.join("; ")));
    }
    Ok(Taint { key: key.into(), value: value.into(), effect: effect.into(), ..Taint::default() })
}

/// What is said, and the taints that there are then: new ones first. Upstream: reorganizeTaints.
fn change(
    node: &Node,
    add: &[Taint],
    remove: &[Taint],
    overwrite: bool,
) -> Result<(&'static str, Vec<Taint>), Fault> {
    let matches = |a: &Taint, b: &Taint| a.key == b.key && a.effect == b.effect;
    let old = &node.spec.taints;
    let exists: Vec<String> =
        add.iter().filter(|a| old.iter().any(|o| matches(o, a))).map(|a| a.key.clone()).collect();
    if !overwrite && !exists.is_empty() {
        let text = format!(
            "node {} already has {} taint(s) with same effect(s) and --overwrite is false",
            node.metadata.name,
            exists.join(" ")
        );
        return Err(Fault::Text(text));
    }
    let mut taints = add.to_vec();
    taints.extend(old.iter().filter(|o| !add.iter().any(|a| matches(a, o))).cloned());
    let added = taints.len() != old.len();
    let (mut removed, mut faults) = (false, Vec::new());
    for gone in remove {
        let before = taints.len();
        taints.retain(|t| t.key != gone.key || (!gone.effect.is_empty() && t.effect != gone.effect));
        removed = taints.len() != before;
        if !removed {
            let shown = if gone.effect.is_empty() {
                gone.key.clone()
            } else {
                format!("{}:{}", gone.key, gone.effect)
            };
            faults.push(Fault::Text(format!("taint \"{shown}\" not found")));
        }
    }
    if let Some(fault) = Fault::all(faults) {
        return Err(fault);
    }
    let done = match (added, removed) {
        (true, true) => "modified",
        _ if overwrite => "modified",
        (true, false) => "tainted",
        (false, _) => "untainted",
    };
    Ok((done, taints))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taints_read_and_change() {
        let node = Node::default();
        let (add, remove) = parse_all(&["a=b:NoSchedule".into()]).unwrap();
        let (done, taints) = change(&node, &add, &remove, false).unwrap();
        assert_eq!((done, taints.len()), ("tainted", 1));
        let mut node = node;
        node.spec.taints = taints;
        let (_, remove) = parse_all(&["a-".into()]).unwrap();
        assert_eq!(change(&node, &[], &remove, false).unwrap(), ("untainted", vec![]));
        assert_eq!(
            change(&Node::default(), &[], &remove, false).unwrap_err().text(),
            "taint \"a\" not found"
        );
        assert!(change(&node, &add, &[], false).is_err());
        assert_eq!(parse("a:Never").unwrap_err(), "invalid taint effect: Never, unsupported taint effect");
        assert_eq!(parse_all(&["a".into()]).unwrap_err(), "invalid taint spec: a");
    }

    #[test]
    fn values_stay_in_the_patch() {
        let value = serde_json::to_value(parse("k=v:NoExecute").unwrap()).unwrap();
        assert_eq!(value, serde_json::json!({"key": "k", "value": "v", "effect": "NoExecute"}));
    }
}
