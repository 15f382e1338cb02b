//! Statuses, when a person's client writes them; what loops write is not checked again.
//!
//! Upstream: the ValidateStatusUpdate functions of pkg/apis/*/validation (v1.37).

use super::{
    csi, device_claim,
    field::{Errors, given, items, number, text},
    flow_control, migration, node, pod, signing_request, status_job,
};
use kubestep_model::{Kind, Object, Quantity, Subresource, text::names};
use serde_json::Value;

const LONGEST_REASON: usize = 1024;
const LONGEST_MESSAGE: usize = 32 * 1024;
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];

/// Numbers that are never below zero, in the order in which they are looked at: kind and fields.
const COUNTS: [(&str, &[&str]); 8] = [
    (
        "Deployment",
        &[
            "observedGeneration",
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
            "terminatingReplicas",
            "collisionCount",
        ],
    ),
    (
        "ReplicaSet",
        &[
            "replicas",
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
            "observedGeneration",
            "terminatingReplicas",
        ],
    ),
    (
        "ReplicationController",
        &["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"],
    ),
    (
        "StatefulSet",
        &[
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "observedGeneration",
            "collisionCount",
        ],
    ),
    (
        "DaemonSet",
        &[
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount",
        ],
    ),
    ("Job", &["active", "succeeded", "failed", "ready", "terminating"]),
    ("PodDisruptionBudget", &["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"]),
    ("HorizontalPodAutoscaler", &["currentReplicas", "desiredReplicas"]),
];

/// Numbers that are never above another: kinds, field, and the field that is as large at least.
const BOUNDS: [(&[&str], &[(&str, &str, &str)]); 3] = [
    (
        &["Deployment"],
        &[
            ("updatedReplicas", "replicas", "status.replicas"),
            ("readyReplicas", "replicas", "status.replicas"),
            ("availableReplicas", "replicas", "status.replicas"),
            ("availableReplicas", "readyReplicas", "readyReplicas"),
        ],
    ),
    (
        &["ReplicaSet", "ReplicationController"],
        &[
            ("fullyLabeledReplicas", "replicas", "status.replicas"),
            ("readyReplicas", "replicas", "status.replicas"),
            ("availableReplicas", "replicas", "status.replicas"),
            ("availableReplicas", "readyReplicas", "readyReplicas"),
        ],
    ),
    (
        &["StatefulSet"],
        &[
            ("readyReplicas", "replicas", "status.replicas"),
            ("currentReplicas", "replicas", "status.replicas"),
            ("updatedReplicas", "replicas", "status.replicas"),
            ("availableReplicas", "replicas", "status.replicas"),
            ("availableReplicas", "readyReplicas", "status.readyReplicas"),
        ],
    ),
];

/// What a kind asks of its new status.
pub(super) fn changed(kind: Kind, new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let name = kind.own_name();
    if name == "PodDisruptionBudget" {
        conditions(&mut errors, &new["status"]["conditions"], "status.conditions");
    }
    counts(&mut errors, name, new, old);
    match name {
        "Pod" => pod_status(&mut errors, new, old),
        "Node" => {
            errors.append(node::check_status(new));
            errors.append(node::changed(new, old));
        }
        "Namespace" => namespace(&mut errors, new),
        "Job" => status_job::check(&mut errors, new, old),
        "Service" => load_balancer(&mut errors, new, text(&new["spec"]["type"]) == "LoadBalancer"),
        "Ingress" => addresses(&mut errors, &new["status"]["loadBalancer"]["ingress"], false),
        "PersistentVolumeClaim" => claim(&mut errors, new),
        "VolumeAttachment" => errors.append(csi::attachment(new)),
        "FlowSchema" | "PriorityLevelConfiguration" => flow_control::conditions(&mut errors, new),
        "CertificateSigningRequest" => errors.append(signing_request::changed_request(new, old, "status")),
        "ResourceClaim" => errors.append(device_claim::changed_status(new, old)),
        "StorageVersionMigration" => errors.append(migration::changed_status(new, old)),
        "DeviceTaintRule" | "ValidatingAdmissionPolicy" => {
            conditions(&mut errors, &new["status"]["conditions"], "status.conditions");
        }
        "APIService" => {
            for (i, condition) in items(&new["status"]["conditions"]).iter().enumerate() {
                let field = format!("status.conditions[{i}].status");
                if !STATUSES.contains(&text(&condition["status"])) {
                    let known = ["True", "False", "Unknown"];
                    errors.not_supported_text(&field, text(&condition["status"]), &known);
                }
            }
        }
        _ => {}
    }
    errors
}

fn counts(errors: &mut Errors, kind: &str, new: &Value, old: &Value) {
    let status = &new["status"];
    for field in COUNTS.iter().filter(|(k, _)| *k == kind).flat_map(|(_, fields)| *fields) {
        errors.not_negative_in(status, field, "status");
    }
    for (field, most, shown) in
        BOUNDS.iter().filter(|(kinds, _)| kinds.contains(&kind)).flat_map(|(_, bounds)| *bounds)
    {
        let value = number(&status[*field]);
        if value > number(&status[*most]) {
            let why = format!("cannot be greater than {shown}");
            errors.invalid(&format!("status.{field}"), &value.to_string(), &why);
        }
    }
    let collisions = |whole: &Value| number(&whole["status"]["collisionCount"]);
    if matches!(kind, "Deployment" | "StatefulSet" | "DaemonSet")
        && given(&old["status"]["collisionCount"])
        && collisions(new) < collisions(old)
    {
        errors.invalid("status.collisionCount", &collisions(new).to_string(), "cannot be decremented");
    }
}

/// Conditions as most kinds have them. Upstream: metav1 validation, ValidateConditions.
pub(super) fn conditions(errors: &mut Errors, conditions: &Value, field: &str) {
    let all = items(conditions);
    for (i, condition) in all.iter().enumerate() {
        let at = |name: &str| format!("{field}[{i}].{name}");
        let kind = text(&condition["type"]);
        if all[..i].iter().any(|c| text(&c["type"]) == kind) {
            errors.duplicate(&format!("{field}[{i}]"), &Value::from(kind).to_string());
        }
        if kind.is_empty() {
            errors.required(&at("type"), "is required");
        } else {
            errors.qualified_name(&at("type"), kind);
        }
        errors.needed_choice(&at("status"), &condition["status"], &STATUSES);
        let generation = number(&condition["observedGeneration"]);
        if generation < 0 {
            let why = "must be greater than or equal to zero";
            errors.invalid(&at("observedGeneration"), &generation.to_string(), why);
        }
        if !given(&condition["lastTransitionTime"]) {
            errors.required(&at("lastTransitionTime"), "");
        }
        reason(errors, text(&condition["reason"]), &at("reason"));
        if text(&condition["message"]).len() > LONGEST_MESSAGE {
            errors.too_long(&at("message"), LONGEST_MESSAGE);
        }
    }
}

fn reason(errors: &mut Errors, reason: &str, field: &str) {
    const PATTERN: &str = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
    const MESSAGE: &str = "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
    if reason.is_empty() {
        errors.required(field, "");
        return;
    }
    let letters = |c: char| c.is_ascii_alphanumeric() || "_,:".contains(c);
    let good = reason.starts_with(|c: char| c.is_ascii_alphabetic())
        && reason.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && reason.chars().all(letters);
    if !good {
        let examples = ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"];
        errors.invalid_text(field, reason, &names::regex_error(MESSAGE, PATTERN, &examples));
    }
    if reason.len() > LONGEST_REASON {
        errors.too_long(field, LONGEST_REASON);
    }
}

/// Upstream: ValidatePodStatusUpdate.
fn pod_status(errors: &mut Errors, new: &Value, old: &Value) {
    let (status, before) = (&new["status"], &old["status"]);
    let negative = |errors: &mut Errors, of: &Value, field: &str| {
        let generation = number(&of["observedGeneration"]);
        if generation < 0 {
            let why = "must be a non-negative integer";
            errors.invalid(&format!("{field}.observedGeneration"), &generation.to_string(), why);
        }
    };
    for (i, condition) in items(&status["conditions"]).iter().enumerate() {
        let (field, kind) = (format!("status.conditions[{i}]"), text(&condition["type"]));
        negative(errors, condition, &field);
        if !matches!(kind, "PodScheduled" | "Ready" | "Initialized") {
            errors.qualified_name(&format!("{field}.Type"), kind);
        }
    }
    let nominated = text(&status["nominatedNodeName"]);
    if !nominated.is_empty() && nominated != text(&before["nominatedNodeName"]) {
        const FIELD: &str = "status.nominatedNodeName";
        errors.subdomain(FIELD, nominated);
        if !text(&old["spec"]["nodeName"]).is_empty() {
            errors.forbidden(FIELD, "may not be set on pods that are already bound to a node");
        }
    }
    negative(errors, status, "status");
    let class = &status["qosClass"];
    errors.immutable("status.qosClass", class, &before["qosClass"], &Value::from(text(class)).to_string());
    for name in ["containerStatuses", "initContainerStatuses"] {
        restarts(errors, new, old, name);
    }
    pod_addresses(errors, status, before, ("podIP", "podIPs"));
    if !items(&status["hostIPs"]).is_empty() {
        pod_addresses(errors, status, before, ("hostIP", "hostIPs"));
    }
}

/// A container that has ended stays so, unless its pod starts it again.
fn restarts(errors: &mut Errors, new: &Value, old: &Value, name: &str) {
    let policy = text(&old["spec"]["restartPolicy"]);
    let list = if name == "containerStatuses" { "containers" } else { "initContainers" };
    for (i, before) in items(&old["status"][name]).iter().enumerate() {
        let ended = &before["state"]["terminated"];
        let spec = items(&old["spec"][list]).iter().find(|c| c["name"] == before["name"]);
        let own = spec.map_or("", |c| text(&c["restartPolicy"]));
        let may = match if own.is_empty() { policy } else { own } {
            "Always" => true,
            "OnFailure" => number(&ended["exitCode"]) != 0,
            _ => false,
        };
        let now = items(&new["status"][name]).iter().find(|c| c["name"] == before["name"]);
        if given(ended) && !may && now.is_some_and(|now| !given(&now["state"]["terminated"])) {
            let why = "may not be transitioned to non-terminated state";
            errors.forbidden(&format!("status.{name}[{i}].state"), why);
        }
    }
}

fn pod_addresses(errors: &mut Errors, status: &Value, old: &Value, (one, all): (&str, &str)) {
    let (first, list) = (text(&status[one]), items(&status[all]));
    let field = format!("status.{all}");
    let ip = |entry: &Value| text(&entry["ip"]).to_owned();
    let shown = || {
        let each: Vec<String> = list.iter().map(|e| format!("{{\"IP\":{}}}", Value::from(ip(e)))).collect();
        if each.is_empty() { "null".to_owned() } else { format!("[{}]", each.join(",")) }
    };
    if one == "hostIP" && list.first().is_some_and(|entry| ip(entry) != first) {
        errors.invalid_text(&format!("{field}[0].ip"), &ip(&list[0]), "must be equal to `hostIP`");
    }
    for (i, entry) in list.iter().enumerate().filter(|(_, entry)| !items(&old[all]).contains(entry)) {
        errors.invalid_each(&format!("{field}[{i}]"), &ip(entry), pod::ip_errors(&ip(entry)));
    }
    if list.len() > 1 {
        let families: Vec<bool> = list.iter().map(|entry| ip(entry).contains(':')).collect();
        if list.len() > 2 || families[0] == families[1] {
            let why = "may specify no more than one IP for each IP family";
            errors.invalid(&field, &shown(), why);
        }
    }
    if one == "podIP" && first.is_empty() != list.is_empty() {
        let why = "podIP and podIPs must either both be set or both be unset";
        errors.invalid(&field, &shown(), why);
    } else if one == "podIP" && list.first().is_some_and(|entry| ip(entry) != first) {
        errors.invalid_text(&format!("{field}[0].ip"), &ip(&list[0]), "must be equal to `podIP`");
    }
}

fn namespace(errors: &mut Errors, new: &Value) {
    let phase = text(&new["status"]["phase"]);
    let (wanted, empty) = if given(&new["metadata"]["deletionTimestamp"]) {
        ("Terminating", "not empty")
    } else {
        ("Active", "empty")
    };
    if phase != wanted {
        let why = format!("may only be '{wanted}' if `deletionTimestamp` is {empty}");
        errors.invalid_text("status.Phase", phase, &why);
    }
}

fn load_balancer(errors: &mut Errors, new: &Value, balanced: bool) {
    let list = &new["status"]["loadBalancer"]["ingress"];
    if balanced {
        addresses(errors, list, true);
    } else if !items(list).is_empty() {
        let why = "may only be used when `spec.type` is 'LoadBalancer'";
        errors.forbidden("status.loadBalancer.ingress", why);
    }
}

/// Where a load balancer is reached.
fn addresses(errors: &mut Errors, list: &Value, with_mode: bool) {
    for (i, entry) in items(list).iter().enumerate() {
        let at = |name: &str| format!("status.loadBalancer.ingress[{i}].{name}");
        let (ip, host, mode) = (text(&entry["ip"]), text(&entry["hostname"]), &entry["ipMode"]);
        if !ip.is_empty() {
            errors.invalid_each(&at("ip"), ip, pod::ip_errors(ip));
        }
        match (with_mode, given(mode), ip.is_empty()) {
            (true, false, false) => errors.required(&at("ipMode"), "must be specified when `ip` is set"),
            (true, true, true) => {
                errors.forbidden(&at("ipMode"), "may not be specified when `ip` is not set");
            }
            (true, true, false) => errors.choice(&at("ipMode"), mode, &["Proxy", "VIP"]),
            _ => {}
        }
        if !host.is_empty() {
            errors.subdomain(&at("hostname"), host);
            if pod::is_ip(host) {
                errors.invalid_text(&at("hostname"), host, "must be a DNS name, not an IP address");
            }
        }
    }
}

fn claim(errors: &mut Errors, new: &Value) {
    const RESIZING: [&str; 5] = [
        "ControllerResizeInProgress",
        "ControllerResizeInfeasible",
        "NodeResizeInProgress",
        "NodeResizeInfeasible",
        "NodeResizePending",
    ];
    const RESIZE: &str = "status.allocatedResourceStatuses";
    for part in ["capacity", "allocatedResourceStatuses", "allocatedResources"] {
        if part == "allocatedResourceStatuses" {
            for (name, state) in super::field::entries(&new["status"][part]) {
                if !RESIZING.contains(&text(state)) {
                    errors.not_supported_text(RESIZE, name, &RESIZING);
                }
            }
            continue;
        }
        for (name, amount) in super::field::entries(&new["status"][part]) {
            let amount: Quantity = serde_json::from_value(amount.clone()).unwrap_or_default();
            if amount.sign() < 0 {
                let field = format!("status.{part}[{name}]");
                errors.invalid(&field, &amount.value().to_string(), "must be a valid resource quantity");
            }
        }
    }
}

/// Whether a kind's status is looked at here.
pub(super) fn object(new: &Object, old: &Object, part: Subresource) -> Errors {
    let (whole, before) = (new.to_value(), old.to_value());
    if part == Subresource::Approval {
        return signing_request::changed_request(&whole, &before, part.name());
    }
    changed(new.kind(), &whole, &before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(kind: Kind, status: Value, old: Value) -> Vec<String> {
        let whole = |status: &Value| json!({"status": status, "spec": {"restartPolicy": "Never"}});
        let errors = changed(kind, &whole(&status), &whole(&old));
        errors.into_causes().into_iter().map(|c| c.field).collect()
    }

    #[test]
    fn numbers_fit_each_other() {
        let deployment = |status: Value| said(Kind::Deployment, status, json!({}));
        assert!(deployment(json!({"replicas": 2, "readyReplicas": 2, "availableReplicas": 1})).is_empty());
        assert_eq!(deployment(json!({"replicas": 1, "readyReplicas": 2})), ["status.readyReplicas"]);
        assert_eq!(deployment(json!({"observedGeneration": -1})), ["status.observedGeneration"]);
        let fewer = said(Kind::Deployment, json!({}), json!({"collisionCount": 1}));
        assert_eq!(fewer, ["status.collisionCount"]);
    }

    #[test]
    fn a_pod_that_has_ended_stays_ended() {
        let status = |state: Value| json!({"containerStatuses": [{"name": "c", "state": state}]});
        let ended = status(json!({"terminated": {"exitCode": 0}}));
        let running = status(json!({"running": {}}));
        assert_eq!(said(Kind::Pod, running.clone(), ended.clone()), ["status.containerStatuses[0].state"]);
        assert!(said(Kind::Pod, ended, running).is_empty());
        let ips = |one: &str, all: Value| said(Kind::Pod, json!({"podIP": one, "podIPs": all}), json!({}));
        assert!(ips("10.0.0.1", json!([{"ip": "10.0.0.1"}])).is_empty());
        assert_eq!(ips("", json!([{"ip": "10.0.0.1"}])), ["status.podIPs"]);
        assert_eq!(ips("x", json!([{"ip": "y"}])), ["status.podIPs[0]", "status.podIPs[0].ip"]);
    }

    #[test]
    fn a_job_ends_in_one_way() {
        let job = Kind::other("batch", "Job");
        let condition = |kind: &str| json!({"type": kind, "status": "True"});
        let failed = json!({"startTime": "2026-01-01T00:00:00Z", "conditions": [condition("FailureTarget"), condition("Failed")]});
        assert!(said(job, failed.clone(), json!({})).is_empty());
        let bare = json!({"startTime": "2026-01-01T00:00:00Z", "conditions": [condition("Failed")]});
        assert_eq!(said(job, bare, json!({})), ["status.conditions"]);
        assert_eq!(
            said(job, json!({}), failed),
            ["status.conditions", "status.conditions", "status.startTime"]
        );
    }
}
