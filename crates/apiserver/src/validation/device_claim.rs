//! ResourceClaim, its status, and ResourceClaimTemplate.
//!
//! Upstream: pkg/apis/resource/validation (v1.37).

use super::{
    affinity, devices,
    devices::MOST,
    field::{Errors, given, items, number, same, text},
    internal, meta,
};
use crate::turn::Turn;
use kubestep_model::{Key, Kind, Object};
use serde_json::Value;

const MOST_ALTERNATIVES: usize = 8;
const MOST_USERS: usize = 256;
const MOST_CONDITIONS: usize = 8;
const LONGEST_DATA: usize = 10 * 1024;
const MODES: [&str; 2] = ["All", "ExactCount"];
const SOURCES: [&str; 2] = ["FromClaim", "FromClass"];
const NO_REQUEST: &str =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

pub(super) fn claim(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    devices_of(&mut errors, &whole["spec"]["devices"], "spec.devices");
    errors
}

/// Devices that others use may be seen only from namespaces that say so. Upstream: AuthorizedForAdmin.
pub(super) fn admin(errors: &mut Errors, turn: &Turn<'_>, spec: &Value, object: &Object) {
    const LABEL: &str = "resource.kubernetes.io/admin-access";
    let asked = items(&spec["devices"]["requests"]);
    let Some(i) = asked.iter().position(|r| r["exactly"]["adminAccess"] == true) else { return };
    let key = Key::new(Kind::Namespace, "", object.meta().namespace.clone());
    let label = turn.store.get(&key).and_then(|namespace| namespace.meta().labels.get(LABEL));
    if label.is_none_or(|value| value != "true") {
        let why =
            format!("admin access to devices requires the `{LABEL}: true` label on the containing namespace");
        errors.forbidden(&format!("spec.devices.requests[{i}].adminAccess"), &why);
    }
}

pub(super) fn changed_claim(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    errors.declared(&|errors: &mut Errors| errors.immutable("spec", &new["spec"], &old["spec"], "null"));
    errors
}

pub(super) fn template(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let meta = &whole["spec"]["metadata"];
    for (name, check) in
        [("annotations", meta::annotations as fn(&mut Errors, &_, &str)), ("labels", meta::labels)]
    {
        let map = serde_json::from_value(meta[name].clone()).unwrap_or_default();
        check(&mut errors, &map, &format!("spec.metadata.{name}"));
    }
    devices_of(&mut errors, &whole["spec"]["spec"]["devices"], "spec.spec.devices");
    errors
}

pub(super) fn changed_template(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let shown = internal::shown("ResourceClaimTemplateSpec", &new["spec"]);
    errors.immutable("spec", &new["spec"], &old["spec"], &shown);
    errors
}

/// Upstream: validateDeviceClaim.
fn devices_of(errors: &mut Errors, claim: &Value, field: &str) {
    let at = |name: &str| format!("{field}.{name}");
    devices::each(errors, &claim["requests"], MOST, &at("requests"), &request);
    devices::each(errors, &claim["constraints"], MOST, &at("constraints"), &|errors, item, field| {
        names(errors, item, claim, field);
        if !given(&item["matchAttribute"]) && !given(&item["distinctAttribute"]) {
            let why = r#"exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set"#;
            errors.required(field, why);
        }
    });
    devices::each(errors, &claim["config"], MOST, &at("config"), &|errors, item, field| {
        names(errors, item, claim, field);
        devices::configuration(errors, item, field, false);
    });
    errors.declared(&|errors: &mut Errors| declared(errors, claim, field));
}

fn declared(errors: &mut Errors, claim: &Value, field: &str) {
    let at = |name: &str| format!("{field}.{name}");
    let requests = &claim["requests"];
    if !devices::too_many(errors, requests, MOST, &at("requests")) {
        devices::twice(errors, requests, &["name"], &at("requests"), "resource/v1.DeviceRequest");
        devices::each(errors, requests, MOST, &at("requests"), &declared_request);
    }
    if !devices::too_many(errors, &claim["constraints"], MOST, &at("constraints")) {
        devices::each(errors, &claim["constraints"], MOST, &at("constraints"), &|errors, item, field| {
            declared_names(errors, item, field);
            for name in ["matchAttribute", "distinctAttribute"].into_iter().filter(|name| given(&item[*name]))
            {
                devices::declared_full_name(errors, text(&item[name]), &format!("{field}.{name}"));
            }
        });
    }
    if !devices::too_many(errors, &claim["config"], MOST, &at("config")) {
        devices::each(errors, &claim["config"], MOST, &at("config"), &|errors, item, field| {
            declared_names(errors, item, field);
            devices::declared_configuration(errors, item, field);
        });
    }
}

fn request(errors: &mut Errors, request: &Value, field: &str) {
    errors.dns_label(&format!("{field}.name"), text(&request["name"]));
    let exactly = given(&request["exactly"]);
    let alternatives = &request["firstAvailable"];
    match (exactly, !items(alternatives).is_empty()) {
        (false, false) => errors.required(field, "exactly one of `exactly` or `firstAvailable` is required"),
        (true, true) => {
            let why = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set";
            errors.invalid(field, "null", why);
        }
        (true, false) => {
            let (field, exact) = (format!("{field}.exactly"), &request["exactly"]);
            let (class, at) = (text(&exact["deviceClassName"]), format!("{field}.deviceClassName"));
            if class.is_empty() {
                errors.required(&at, "")
            } else {
                errors.subdomain(&at, class)
            }
            wanted(errors, exact, &field);
        }
        (false, true) => {
            let field = format!("{field}.firstAvailable");
            devices::each(errors, alternatives, MOST_ALTERNATIVES, &field, &|errors, item, field| {
                errors.dns_label(&format!("{field}.name"), text(&item["name"]));
                wanted(errors, item, field);
            });
        }
    }
}

/// What requests and their alternatives have in common.
fn wanted(errors: &mut Errors, wanted: &Value, field: &str) {
    let at = |name: &str| format!("{field}.{name}");
    devices::each(errors, &wanted["selectors"], MOST, &at("selectors"), &|errors, item, field| {
        devices::selector(errors, item, field, false);
    });
    let count = number(&wanted["count"]);
    match text(&wanted["allocationMode"]) {
        "All" if count != 0 => {
            let why = "must not be specified when allocationMode is 'All'";
            errors.invalid(&at("count"), &count.to_string(), why);
        }
        "ExactCount" if count <= 0 => {
            errors.invalid(&at("count"), &count.to_string(), "must be greater than zero");
        }
        _ => {}
    }
    devices::each(errors, &wanted["tolerations"], usize::MAX, &at("tolerations"), &devices::toleration);
}

fn declared_request(errors: &mut Errors, request: &Value, field: &str) {
    if given(&request["exactly"]) {
        declared_wanted(errors, &request["exactly"], &format!("{field}.exactly"));
    }
    let (alternatives, field) = (&request["firstAvailable"], format!("{field}.firstAvailable"));
    if devices::too_many(errors, alternatives, MOST_ALTERNATIVES, &field) {
        return;
    }
    devices::twice(errors, alternatives, &["name"], &field, "resource/v1.DeviceSubRequest");
    devices::each(errors, alternatives, MOST_ALTERNATIVES, &field, &|errors, item, field| {
        let (class, at) = (text(&item["deviceClassName"]), format!("{field}.deviceClassName"));
        if class.is_empty() {
            errors.required(&at, "")
        } else {
            errors.subdomain(&at, class)
        }
        declared_wanted(errors, item, field);
    });
}

fn declared_wanted(errors: &mut Errors, wanted: &Value, field: &str) {
    let at = |name: &str| format!("{field}.{name}");
    devices::too_many(errors, &wanted["selectors"], MOST, &at("selectors"));
    errors.choice(&at("allocationMode"), &wanted["allocationMode"], &MODES);
    let tolerations = &wanted["tolerations"];
    devices::each(errors, tolerations, usize::MAX, &at("tolerations"), &devices::declared_toleration);
}

/// The requests that a part of a claim is about.
fn names(errors: &mut Errors, of: &Value, claim: &Value, field: &str) {
    devices::each(errors, &of["requests"], MOST, &format!("{field}.requests"), &|errors, item, field| {
        reference(errors, text(item), claim, field);
    });
}

fn declared_names(errors: &mut Errors, of: &Value, field: &str) {
    let field = format!("{field}.requests");
    if !devices::too_many(errors, &of["requests"], MOST, &field) {
        devices::twice(errors, &of["requests"], &[], &field, "");
    }
}

fn reference(errors: &mut Errors, name: &str, claim: &Value, field: &str) {
    let parts: Vec<&str> = name.split('/').collect();
    if parts.len() > 2 {
        errors.invalid_text(field, name, NO_REQUEST);
        return;
    }
    for part in &parts {
        errors.dns_label(field, part);
    }
    let found = items(&claim["requests"]).iter().rev().find(|r| text(&r["name"]) == parts[0]);
    let has = found.is_some_and(|request| match parts.get(1) {
        Some(sub) => items(&request["firstAvailable"]).iter().any(|s| text(&s["name"]) == *sub),
        None => true,
    });
    if !has {
        errors.invalid_text(field, name, NO_REQUEST);
    }
}

/// Upstream: validateResourceClaimStatusUpdate.
pub(super) fn changed_status(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let (status, before) = (&new["status"], &old["status"]);
    const USERS: &str = "status.reservedFor";
    devices::each(&mut errors, &status["reservedFor"], MOST_USERS, USERS, &|errors, item, field| {
        for name in ["resource", "name", "uid"].into_iter().filter(|name| text(&item[*name]).is_empty()) {
            errors.required(&format!("{field}.{name}"), "");
        }
    });
    devices::each(&mut errors, &status["devices"], usize::MAX, "status.devices", &|errors, item, field| {
        device(errors, item, &status["allocation"], field);
    });
    let users = items(&status["reservedFor"]);
    if !users.is_empty() && !given(&status["allocation"]) {
        errors.forbidden(USERS, "may not be specified when `allocated` is not set");
    } else if given(&new["metadata"]["deletionTimestamp"])
        && users.iter().any(|user| !items(&before["reservedFor"]).contains(user))
    {
        let why = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
        errors.forbidden(USERS, why);
    }
    let claim = &new["spec"]["devices"];
    let (there, was) = (&status["allocation"], &before["allocation"]);
    let fresh = given(there) && !given(was);
    if fresh {
        allocation(&mut errors, there, claim);
    }
    errors.declared(&|errors: &mut Errors| {
        if given(there) && given(was) && !same(there, was) {
            errors.invalid("status.allocation", "null", "field cannot be modified once set");
        } else if fresh {
            declared_allocation(errors, there);
        }
        if !devices::too_many(errors, &status["reservedFor"], MOST_USERS, USERS) {
            let shown = "resource/v1.ResourceClaimConsumerReference";
            devices::twice(errors, &status["reservedFor"], &["uid"], USERS, shown);
        }
        let keys = ["driver", "pool", "device", "shareID"];
        let shown = "resource/v1.AllocatedDeviceStatus";
        devices::twice(errors, &status["devices"], &keys, "status.devices", shown);
    });
    errors
}

fn allocation(errors: &mut Errors, allocation: &Value, claim: &Value) {
    const FIELD: &str = "status.allocation.devices";
    let found = &allocation["devices"];
    devices::each(errors, &found["results"], MOST, &format!("{FIELD}.results"), &|errors, item, field| {
        reference(errors, text(&item["request"]), claim, &format!("{field}.request"));
        errors.dns_label(&format!("{field}.device"), text(&item["device"]));
        devices::bindings(errors, item, field);
        let at = format!("{field}.tolerations");
        devices::each(errors, &item["tolerations"], usize::MAX, &at, &devices::toleration);
    });
    devices::each(errors, &found["config"], 2 * MOST, &format!("{FIELD}.config"), &|errors, item, field| {
        names(errors, item, claim, field);
        devices::configuration(errors, item, field, false);
    });
    if given(&allocation["nodeSelector"]) {
        affinity::node_selector(errors, &allocation["nodeSelector"], "status.allocation.nodeSelector");
    }
}

fn declared_allocation(errors: &mut Errors, allocation: &Value) {
    const FIELD: &str = "status.allocation.devices";
    let (results, config) = (&allocation["devices"]["results"], &allocation["devices"]["config"]);
    let field = format!("{FIELD}.results");
    if !devices::too_many(errors, results, MOST, &field) {
        devices::each(errors, results, MOST, &field, &|errors, item, field| {
            errors.caseless_driver(&format!("{field}.driver"), text(&item["driver"]));
            devices::declared_pool_name(errors, text(&item["pool"]), &format!("{field}.pool"));
            let at = format!("{field}.tolerations");
            devices::each(errors, &item["tolerations"], usize::MAX, &at, &devices::declared_toleration);
        });
    }
    let field = format!("{FIELD}.config");
    if !devices::too_many(errors, config, 2 * MOST, &field) {
        devices::each(errors, config, 2 * MOST, &field, &|errors, item, field| {
            errors.needed_choice(&format!("{field}.source"), &item["source"], &SOURCES);
            declared_names(errors, item, field);
            devices::declared_configuration(errors, item, field);
        });
    }
}

/// What a driver says about a device that is allocated.
fn device(errors: &mut Errors, device: &Value, allocation: &Value, field: &str) {
    errors.driver(&format!("{field}.driver"), text(&device["driver"]));
    devices::pool_name(errors, text(&device["pool"]), &format!("{field}.pool"));
    errors.dns_label(&format!("{field}.device"), text(&device["device"]));
    let same = |result: &Value| {
        ["driver", "pool", "device", "shareID"].iter().all(|name| same(&result[*name], &device[*name]))
    };
    if !items(&allocation["devices"]["results"]).iter().any(same) {
        let shown = internal::shown("SharedDeviceID", device);
        errors.invalid(field, &shown, "must be an allocated device in the claim");
    }
    let there = items(&device["conditions"]).len();
    if there > MOST_CONDITIONS {
        errors.too_many(&format!("{field}.conditions"), there, MOST_CONDITIONS);
    }
    super::status::conditions(errors, &device["conditions"], &format!("{field}.conditions"));
    if given(&device["data"]) {
        devices::raw(errors, &device["data"], &format!("{field}.data"), false, LONGEST_DATA);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(errors: Errors) -> Vec<String> {
        errors.into_causes().into_iter().map(|c| c.field).collect()
    }

    fn with(requests: Value) -> Value {
        json!({"spec": {"devices": {"requests": requests, "config": [{"requests": ["a"],
            "opaque": {"driver": "d", "parameters": {}}}]}}})
    }

    #[test]
    fn a_request_is_exact_or_a_choice() {
        let exact = json!({"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1});
        assert!(fields(claim(&with(json!([{"name": "a", "exactly": exact}])))).is_empty());
        let both = json!([{"name": "a", "exactly": exact, "firstAvailable": [{"name": "s", "deviceClassName": "c"}]}]);
        assert_eq!(fields(claim(&with(both)))[0], "spec.devices.requests[0]");
        let none = json!([{"name": "b"}]);
        assert_eq!(
            fields(claim(&with(none))),
            ["spec.devices.requests[0]", "spec.devices.config[0].requests[0]"]
        );
        let twice = json!([{"name": "a", "exactly": exact}, {"name": "a", "exactly": exact}]);
        assert_eq!(fields(claim(&with(twice))), ["spec.devices.requests[1]"]);
    }

    #[test]
    fn an_allocation_is_for_good() {
        let claim = |device: &str| {
            let mut claim = with(json!([{"name": "a"}]));
            claim["status"] = json!({"allocation": {"devices": {"results": [
                {"request": "a", "driver": "d", "pool": "p", "device": device}]}}});
            claim
        };
        let none = with(json!([{"name": "a"}]));
        assert!(fields(changed_status(&claim("x"), &none)).is_empty());
        assert_eq!(fields(changed_status(&claim("y"), &claim("x"))), ["status.allocation"]);
        let mut reserved = none.clone();
        reserved["status"] = json!({"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]});
        assert_eq!(fields(changed_status(&reserved, &none)), ["status.reservedFor"]);
    }
}
