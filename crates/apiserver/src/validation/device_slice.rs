//! ResourceSlice: what devices a driver has.
//!
//! Upstream: pkg/apis/resource/validation, validateResourceSliceSpec (v1.37).

use super::{
    affinity, devices,
    field::{Errors, IMMUTABLE, entries, flag, given, items, number, same, text},
    internal,
};
use serde_json::Value;

const MOST_DEVICES: usize = 128;
const MOST_WITH_MORE: usize = 64;
const MOST_COUNTER_SETS: usize = 8;
const MOST_COUNTERS: usize = 32;
const MOST_CONSUMED: usize = 2;
const MOST_ATTRIBUTES: usize = 32;
const MOST_TAINTS: usize = 16;
const LONGEST_VALUE: usize = 64;
const KINDS: [&str; 8] = ["int", "bool", "string", "version", "ints", "bools", "strings", "versions"];

/// A slice, new or, with its old state, changed.
pub(super) fn check(whole: &Value, old: Option<&Value>) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    errors.driver("spec.driver", text(&spec["driver"]));
    pool(&mut errors, &spec["pool"]);
    if let Some(old) = old.map(|old| &old["spec"]) {
        for (field, new, before) in [
            ("spec.pool.name", &spec["pool"]["name"], &old["pool"]["name"]),
            ("spec.driver", &spec["driver"], &old["driver"]),
            ("spec.nodeName", &spec["nodeName"], &old["nodeName"]),
        ] {
            if !same(new, before) {
                errors.invalid(field, &new.to_string(), IMMUTABLE);
            }
        }
    }
    place(&mut errors, spec);
    let shared = &spec["sharedCounters"];
    if given(shared) && given(&spec["devices"]) {
        errors.invalid_text("spec", "", "only one of `sharedCounters` or `devices` is allowed");
    }
    all_devices(&mut errors, spec, old.map(|old| &old["spec"]));
    devices::each(&mut errors, shared, MOST_COUNTER_SETS, "spec.sharedCounters", &counters_by_hand);
    skipped(&mut errors, &spec["skipNodeOperations"]);
    errors.declared(&|errors: &mut Errors| declared(errors, spec));
    errors
}

fn pool(errors: &mut Errors, pool: &Value) {
    devices::pool_name(errors, text(&pool["name"]), "spec.pool.name");
    let (count, generation) = (number(&pool["resourceSliceCount"]), number(&pool["generation"]));
    if count <= 0 {
        errors.invalid("spec.pool.resourceSliceCount", &count.to_string(), "must be greater than zero");
    }
    if generation < 0 {
        let why = "must be greater than or equal to zero";
        errors.invalid("spec.pool.generation", &generation.to_string(), why);
    }
}

/// Where the devices are: said in one way.
fn place(errors: &mut Errors, spec: &Value) {
    const ONE: &str =
        "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    let mut said: Vec<&str> = vec![];
    let name = &spec["nodeName"];
    if given(name) && text(name).is_empty() {
        errors.invalid_text("spec.nodeName", "", "must be either unset or set to a non-empty string");
    } else if given(name) {
        said.push("`nodeName`");
        errors.subdomain("spec.nodeName", text(name));
    }
    if given(&spec["nodeSelector"]) {
        said.push("`nodeSelector`");
        affinity::node_selector(errors, &spec["nodeSelector"], "spec.nodeSelector");
        let terms = &spec["nodeSelector"]["nodeSelectorTerms"];
        if items(terms).len() != 1 {
            let shown = if items(terms).is_empty() {
                "[]".to_owned()
            } else {
                internal::shown("[]v1.NodeSelectorTerm", terms)
            };
            let why = "must have exactly one node selector term";
            errors.invalid("spec.nodeSelector.nodeSelectorTerms", &shown, why);
        }
    }
    for (name, shown) in [("allNodes", "`allNodes`"), ("perDeviceNodeSelection", "`perDeviceNodeSelection`")]
    {
        if flag(&spec[name]) {
            said.push(shown);
        } else if given(&spec[name]) {
            errors.invalid(&format!("spec.{name}"), "false", "must be either unset or set to true");
        }
    }
    match said.len() {
        0 => errors.required("spec", ONE),
        1 => {}
        _ => {
            let shown = format!("{{{}}}", said.join(", "));
            errors.invalid_text("spec", &shown, &format!("{ONE}, but multiple fields are set"));
        }
    }
}

fn all_devices(errors: &mut Errors, spec: &Value, old: Option<&Value>) {
    let all = items(&spec["devices"]);
    let lists = |d: &Value| entries(&d["attributes"]).any(|(_, a)| KINDS[4..].iter().any(|k| given(&a[*k])));
    let more =
        |d: &Value| !items(&d["taints"]).is_empty() || !items(&d["consumesCounters"]).is_empty() || lists(d);
    let most = if all.iter().any(more) { MOST_WITH_MORE } else { MOST_DEVICES };
    if devices::too_many(errors, &spec["devices"], most, "spec.devices") {
        return;
    }
    let before =
        |name: &Value| old.and_then(|old| items(&old["devices"]).iter().find(|d| d["name"] == *name));
    let each_node = flag(&spec["perDeviceNodeSelection"]);
    for (i, device) in all.iter().enumerate() {
        self::device(errors, device, before(&device["name"]), each_node, &format!("spec.devices[{i}]"));
    }
    devices::twice(errors, &spec["devices"], &["name"], "spec.devices", "name");
}

fn device(errors: &mut Errors, device: &Value, old: Option<&Value>, each_node: bool, field: &str) {
    errors.dns_label(&format!("{field}.name"), text(&device["name"]));
    let (attributes, capacity) = (&device["attributes"], &device["capacity"]);
    let there = entries(attributes).count() + entries(capacity).count();
    if there > MOST_ATTRIBUTES {
        let why = format!("the total number of attributes and capacities must not exceed {MOST_ATTRIBUTES}");
        errors.invalid(field, &there.to_string(), &why);
    }
    for (name, attribute) in entries(attributes) {
        let at = format!("{field}.attributes");
        devices::attribute_name(errors, name, &at);
        self::attribute(errors, attribute, &format!("{at}[{name}]"));
    }
    let unchanged = |name: &str| old.is_some_and(|old| same(&old[name], &device[name]));
    for (name, amount) in entries(capacity).filter(|_| !unchanged("capacity")) {
        let at = format!("{field}.capacity");
        devices::attribute_name(errors, name, &at);
        if given(&amount["requestPolicy"]) && !flag(&device["allowMultipleAllocations"]) {
            let why = "allowMultipleAllocations must be true";
            errors.forbidden(&format!("{at}[{name}].requestPolicy"), why);
        }
    }
    if !unchanged("taints") {
        let at = format!("{field}.taints");
        devices::too_many(errors, &device["taints"], MOST_TAINTS, &at);
        devices::each(errors, &device["taints"], MOST_TAINTS, &at, &devices::taint);
    }
    own_place(errors, device, each_node, field);
    devices::bindings(errors, device, field);
}

fn own_place(errors: &mut Errors, device: &Value, each_node: bool, field: &str) {
    let names = ["nodeName", "nodeSelector", "allNodes"];
    if !each_node {
        if names.iter().any(|name| given(&device[*name])) {
            let why = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
            errors.invalid(field, "null", why);
        }
        return;
    }
    let mut said: Vec<&str> = vec![];
    let name = &device["nodeName"];
    if given(name) && text(name).is_empty() {
        errors.invalid_text(&format!("{field}.nodeName"), "", "must not be empty");
    } else if given(name) {
        said.push("`nodeName`");
        errors.subdomain(&format!("{field}.nodeName"), text(name));
    }
    if given(&device["nodeSelector"]) {
        said.push("`nodeSelector`");
        affinity::node_selector(errors, &device["nodeSelector"], &format!("{field}.nodeSelector"));
    }
    if flag(&device["allNodes"]) {
        said.push("`allNodes`");
    } else if given(&device["allNodes"]) {
        let why = "must be either unset or set to true";
        errors.invalid(&format!("{field}.allNodes"), "false", why);
    }
    const ONE: &str = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    match said.len() {
        0 => errors.required(field, ONE),
        1 => {}
        _ => errors.invalid_text(field, &format!("{{{}}}", said.join(", ")), ONE),
    }
}

fn attribute(errors: &mut Errors, attribute: &Value, field: &str) {
    let mut one = |kind: &str, value: &str, at: &str| {
        if kind == "version" && !is_version(value) {
            errors.invalid_text(at, value, "must be a string compatible with semver.org spec 2.0.0");
        }
        if value.len() > LONGEST_VALUE {
            errors.too_long(at, LONGEST_VALUE);
        }
    };
    for kind in ["string", "version"] {
        if given(&attribute[kind]) {
            one(kind, text(&attribute[kind]), &format!("{field}.{kind}"));
        }
    }
    for (i, value) in items(&attribute["versions"]).iter().enumerate() {
        one("version", text(value), &format!("{field}.versions[{i}]"));
    }
}

/// Upstream: semverRe.
fn is_version(text: &str) -> bool {
    let number =
        |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit()) && (t == "0" || !t.starts_with('0'));
    let word = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let before = |t: &str| word(t) && (number(t) || !t.bytes().all(|b| b.is_ascii_digit()));
    let (text, build) = text.split_once('+').map_or((text, None), |(t, b)| (t, Some(b)));
    let (core, pre) = text.split_once('-').map_or((text, None), |(t, p)| (t, Some(p)));
    let core: Vec<&str> = core.split('.').collect();
    core.len() == 3
        && core.into_iter().all(number)
        && pre.is_none_or(|pre| pre.split('.').all(before))
        && build.is_none_or(|build| build.split('.').all(word))
}

/// What can't be left out when it is skipped. Upstream: validateSkipNodeOperations.
fn skipped(errors: &mut Errors, operations: &Value) {
    let has = |name: &str| items(operations).iter().any(|o| text(o) == name);
    if has("NodePrepareResources") && !has("NodeUnprepareResources") && !has("*") {
        let why = "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped";
        errors.invalid("spec.skipNodeOperations", &operations.to_string(), why);
    }
}

fn counters_by_hand(errors: &mut Errors, set: &Value, field: &str) {
    let there = entries(&set["counters"]).count();
    if there > MOST_COUNTERS {
        errors.too_many(&format!("{field}.counters"), there, MOST_COUNTERS);
    }
}

fn declared(errors: &mut Errors, spec: &Value) {
    for (i, device) in items(&spec["devices"]).iter().enumerate() {
        let field = format!("spec.devices[{i}]");
        for (name, attribute) in entries(&device["attributes"]) {
            union(errors, attribute, &format!("{field}.attributes[{name}]"));
        }
        let (consumed, at) = (&device["consumesCounters"], format!("{field}.consumesCounters"));
        if !devices::too_many(errors, consumed, MOST_CONSUMED, &at) {
            devices::twice(errors, consumed, &["counterSet"], &at, "resource/v1.DeviceCounterConsumption");
            devices::each(errors, consumed, MOST_CONSUMED, &at, &|errors, item, field| {
                counters(errors, item, "counterSet", field);
            });
        }
        let at = format!("{field}.taints");
        devices::each(errors, &device["taints"], usize::MAX, &at, &devices::declared_taint);
    }
    let shared = &spec["sharedCounters"];
    if !devices::too_many(errors, shared, MOST_COUNTER_SETS, "spec.sharedCounters") {
        devices::twice(errors, shared, &["name"], "spec.sharedCounters", "resource/v1.CounterSet");
        devices::each(errors, shared, MOST_COUNTER_SETS, "spec.sharedCounters", &|errors, item, field| {
            counters(errors, item, "name", field);
        });
    }
}

/// Counters by name, in a set that has a name, too.
fn counters(errors: &mut Errors, set: &Value, named: &str, field: &str) {
    let (name, at) = (text(&set[named]), format!("{field}.{named}"));
    if name.is_empty() {
        errors.required(&at, "")
    } else {
        errors.dns_label(&at, name)
    }
    let at = format!("{field}.counters");
    if entries(&set["counters"]).next().is_none() {
        errors.required(&at, "");
    }
    for (name, _) in entries(&set["counters"]) {
        errors.dns_label(&at, name);
    }
}

/// An attribute has one value.
fn union(errors: &mut Errors, attribute: &Value, field: &str) {
    let there: Vec<&str> = KINDS.into_iter().filter(|kind| given(&attribute[*kind])).collect();
    let known: Vec<String> = KINDS.iter().map(|kind| format!("`{kind}`")).collect();
    let known = known.join(", ");
    match there.as_slice() {
        [_] => {}
        [] => errors.invalid_text(field, "", &format!("must specify one of: {known}")),
        many => {
            let shown = format!("{{{}}}", many.join(", "));
            errors.invalid_text(field, &shown, &format!("must specify exactly one of: {known}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(errors: Errors) -> Vec<String> {
        errors.into_causes().into_iter().map(|c| c.field).collect()
    }

    fn slice(change: impl Fn(&mut Value)) -> Value {
        let mut slice = json!({"spec": {"driver": "d.example.com", "nodeName": "n",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "a", "attributes": {"model": {"string": "x"}}}]}});
        change(&mut slice["spec"]);
        slice
    }

    #[test]
    fn devices_are_in_one_place_and_have_one_name() {
        assert!(fields(check(&slice(|_| {}), None)).is_empty());
        assert_eq!(fields(check(&slice(|s| s["nodeName"] = Value::Null), None)), ["spec"]);
        assert_eq!(fields(check(&slice(|s| s["allNodes"] = true.into()), None)), ["spec"]);
        let twice = slice(|s| s["devices"] = json!([{"name": "a"}, {"name": "a"}]));
        assert_eq!(fields(check(&twice, None)), ["spec.devices[1]"]);
        let two = slice(|s| s["devices"][0]["attributes"]["model"]["int"] = 1.into());
        assert_eq!(fields(check(&two, None)), ["spec.devices[0].attributes[model]"]);
        let moved = slice(|s| s["driver"] = "e.example.com".into());
        assert_eq!(fields(check(&moved, Some(&slice(|_| {})))), ["spec.driver"]);
    }

    #[test]
    fn versions_are_semantic() {
        for (text, good) in [
            ("1.2.3", true),
            ("1.2.3-a.1+b", true),
            ("1.2", false),
            ("01.2.3", false),
            ("1.2.3-01", false),
            ("1.2.3-", false),
        ] {
            assert_eq!(is_version(text), good, "{text}");
        }
    }
}
