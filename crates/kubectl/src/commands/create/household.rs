//! `kubectl create namespace`, `quota`, `priorityclass`, `poddisruptionbudget`. Upstream: kubectl/pkg/cmd/create (v1.37).

use super::make::{created, flags, int_or_text, name, one};
use crate::{
    args::{Args, Flag, Takes, flag},
    kc::{Flow, Kc},
};
use kubestep_model::{Kind, Quantity, text::Selector};
use serde_json::{Map, Value, json};

pub(super) const NAMESPACE: &[Flag] = flags![];

pub(super) fn namespace(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let value = json!({ "metadata": { "name": name(kc, args)? } });
    created(kc, args, Kind::Namespace, value, "")
}

pub(super) const QUOTA: &[Flag] = flags![flag("hard", Takes::Text), flag("scopes", Takes::Text)];

pub(super) fn quota(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let name = name(kc, args)?;
    let mut hard = Map::new();
    for pair in args.text_or_empty("hard").split(',').filter(|_| !args.text_or_empty("hard").is_empty()) {
        let [resource, amount] = pair.split('=').collect::<Vec<_>>()[..] else {
            return Err(kc.fail(format!("Invalid argument syntax {pair}, expected <resource>=<value>")));
        };
        match Quantity::parse(amount) {
            Ok(amount) => hard.insert(resource.to_owned(), json!(amount.to_string())),
            Err(why) => return Err(kc.fail(why.to_string())),
        };
    }
    let scopes = args.text_or_empty("scopes");
    let scopes: Vec<&str> = if scopes.is_empty() { vec![] } else { scopes.split(',').collect() };
    if scopes.contains(&"") {
        return Err(kc.fail("invalid resource quota scope \"\""));
    }
    let mut spec = Map::new();
    if !hard.is_empty() {
        spec.extend(one("hard", hard));
    }
    if !scopes.is_empty() {
        spec.extend(one("scopes", json!(scopes)));
    }
    let value = json!({ "metadata": { "name": name }, "spec": spec });
    created(kc, args, Kind::ResourceQuota, value, "failed to create quota: ")
}

pub(super) const PRIORITY_CLASS: &[Flag] = flags![
    flag("value", Takes::Int),
    flag("global-default", Takes::Bool),
    flag("description", Takes::Text),
    flag("preemption-policy", Takes::Text),
];

pub(super) fn priority_class(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let name = name(kc, args)?;
    let value = json!({
        "metadata": { "name": name },
        "value": args.int("value").unwrap_or(0),
        "globalDefault": args.on("global-default"),
        "description": args.text_or_empty("description"),
        "preemptionPolicy": args.text("preemption-policy").unwrap_or("PreemptLowerPriority"),
    });
    created(
        kc,
        args,
        Kind::other("scheduling.k8s.io", "PriorityClass"),
        value,
        "failed to create priorityclass: ",
    )
}

pub(super) const BUDGET: &[Flag] = flags![
    flag("min-available", Takes::Text),
    flag("max-unavailable", Takes::Text),
    flag("selector", Takes::Text),
];

pub(super) fn budget(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let name = name(kc, args)?;
    let (least, most) = (args.text_or_empty("min-available"), args.text_or_empty("max-unavailable"));
    let selector = args.text_or_empty("selector");
    if selector.is_empty() {
        return Err(kc.fail("a selector must be specified"));
    }
    if least.is_empty() && most.is_empty() {
        return Err(kc.fail("one of min-available or max-unavailable must be specified"));
    }
    if !least.is_empty() && !most.is_empty() {
        return Err(kc.fail("min-available and max-unavailable cannot be both specified"));
    }
    let number = |text: &str| {
        let digits = text.strip_suffix('%').unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    };
    for (flag, text) in [("min-available", least), ("max-unavailable", most)] {
        if !text.is_empty() && !number(text) {
            return Err(kc.fail(format!("invalid format specified for {flag}")));
        }
    }
    let mut spec = one("selector", selector_of(kc, selector)?);
    let (field, text) = if least.is_empty() { ("maxUnavailable", most) } else { ("minAvailable", least) };
    spec.extend(one(field, int_or_text(text)));
    let value = json!({ "metadata": { "name": name }, "spec": spec });
    let kind = Kind::other("policy", "PodDisruptionBudget");
    created(kc, args, kind, value, "failed to create poddisruptionbudgets: ")
}

/// A selector as labels to match; only equality can be said here. Upstream: metav1.ParseToLabelSelector.
fn selector_of(kc: &mut Kc<'_>, text: &str) -> Flow<Value> {
    if let Err(why) = Selector::parse(text) {
        return Err(kc.fail(format!("couldn't parse the selector string \"{text}\": {why}")));
    }
    let mut labels = Map::new();
    for term in text.split(',').map(str::trim) {
        match term.split_once("==").or_else(|| term.split_once('=')) {
            Some((key, value)) if !key.ends_with('!') => {
                labels.insert(key.trim().to_owned(), json!(value.trim()));
            }
            _ => return Err(kc.not_done("a selector that is more than KEY=VALUE")),
        }
    }
    Ok(json!({ "matchLabels": labels }))
}
