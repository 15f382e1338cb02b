//! Kinds that extend or guard the API server, and claims of devices.
//!
//! Upstream: defaults.go of pkg/apis/{admissionregistration,flowcontrol,resource}/v1 and of kube-aggregator (v1.37).

use super::custom::fill;
use serde_json::{Map, Value, json};

fn each<'a>(
    fields: &'a mut Map<String, Value>,
    name: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let items = fields.get_mut(name).and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn rules(fields: &mut Map<String, Value>, name: &str) {
    each(fields, name).for_each(|rule| fill(rule, json!({"scope": "*"})));
}

/// The port of a service that is called.
pub(super) fn port(fields: &mut Map<String, Value>) {
    if let Some(Value::Object(service)) = fields.get_mut("service") {
        fill(service, json!({"port": 443}));
    }
}

pub(super) fn webhooks(configuration: &mut Map<String, Value>, mutating: bool) {
    for hook in each(configuration, "webhooks") {
        fill(hook, matched());
        fill(hook, json!({"failurePolicy": "Fail", "timeoutSeconds": 10}));
        if mutating {
            fill(hook, json!({"reinvocationPolicy": "Never"}));
        }
        rules(hook, "rules");
        if let Some(Value::Object(client)) = hook.get_mut("clientConfig") {
            port(client);
        }
    }
}

fn matched() -> Value {
    json!({"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}})
}

/// What a policy or its binding is about.
pub(super) fn resources(spec: &mut Map<String, Value>, name: &str) {
    if let Some(Value::Object(resources)) = spec.get_mut(name) {
        fill(resources, matched());
        rules(resources, "resourceRules");
        rules(resources, "excludeResourceRules");
    }
}

/// Zero counts as nothing said.
fn fill_zero(fields: &mut Map<String, Value>, defaults: Value) {
    let Value::Object(defaults) = defaults else { return };
    for (name, value) in defaults {
        if fields.get(&name).and_then(Value::as_i64).unwrap_or(0) == 0 {
            fields.insert(name, value);
        }
    }
}

pub(super) fn precedence(spec: &mut Map<String, Value>) {
    fill_zero(spec, json!({"matchingPrecedence": 1000}));
}

pub(super) fn level(spec: &mut Map<String, Value>) {
    if let Some(Value::Object(exempt)) = spec.get_mut("exempt") {
        fill(exempt, json!({"nominalConcurrencyShares": 0, "lendablePercent": 0}));
    }
    let Some(Value::Object(limited)) = spec.get_mut("limited") else { return };
    fill(limited, json!({"nominalConcurrencyShares": 30, "lendablePercent": 0}));
    let queuing = limited.get_mut("limitResponse").and_then(|response| response.get_mut("queuing"));
    if let Some(Value::Object(queuing)) = queuing {
        fill_zero(queuing, json!({"handSize": 8, "queues": 64, "queueLengthLimit": 50}));
    }
}

/// An admission policy, of either kind.
pub(super) fn policy(spec: &mut Map<String, Value>) {
    fill(spec, json!({"failurePolicy": "Fail"}));
    resources(spec, "matchConstraints");
}

/// The claim inside a template of claims.
pub(super) fn claim_template(spec: &mut Map<String, Value>) {
    if let Some(Value::Object(spec)) = spec.get_mut("spec") {
        claim(spec);
    }
}

/// Every request asks for one device, if it does not say otherwise.
pub(super) fn claim(spec: &mut Map<String, Value>) {
    let one = |request: &mut Map<String, Value>| {
        fill(request, json!({"allocationMode": "ExactCount"}));
        if request["allocationMode"] == "ExactCount" {
            fill_zero(request, json!({"count": 1}));
        }
    };
    let Some(Value::Object(devices)) = spec.get_mut("devices") else { return };
    for request in each(devices, "requests") {
        if let Some(Value::Object(exactly)) = request.get_mut("exactly") {
            one(exactly);
        }
        each(request, "firstAvailable").for_each(one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(mut value: Value, how: impl Fn(&mut Map<String, Value>)) -> Value {
        if let Value::Object(map) = &mut value {
            how(map);
        }
        value
    }

    #[test]
    fn what_is_not_said_is_filled_in() {
        let hooks = filled(json!({"webhooks": [{"rules": [{}], "clientConfig": {"service": {}}}]}), |m| {
            webhooks(m, true);
        });
        let hook = &hooks["webhooks"][0];
        assert_eq!((&hook["timeoutSeconds"], &hook["reinvocationPolicy"]), (&json!(10), &json!("Never")));
        assert_eq!(
            (&hook["rules"][0]["scope"], &hook["clientConfig"]["service"]["port"]),
            (&json!("*"), &json!(443))
        );
        let limited = json!({"limited": {"limitResponse": {"queuing": {"queues": 0}}}});
        let level = filled(limited, |m| self::level(m));
        assert_eq!(level["limited"]["limitResponse"]["queuing"]["queues"], 64);
        let asked = json!({"devices": {"requests": [{"exactly": {}}, {"firstAvailable": [{"allocationMode": "All"}]}]}});
        let claim = filled(asked, |m| self::claim(m));
        assert_eq!(claim["devices"]["requests"][0]["exactly"]["count"], 1);
        assert_eq!(claim["devices"]["requests"][1]["firstAvailable"][0]["count"], Value::Null);
    }
}
