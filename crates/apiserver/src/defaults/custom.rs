//! Kinds that are kept whole: defaults on their JSON.
//!
//! Upstream: defaults.go of pkg/apis/{core,apps,batch,autoscaling,policy,storage,scheduling} (v1.37).

use super::{extension, pod};
use kubestep_model::{Custom, Labels, PodTemplateSpec, Quantity};
use serde_json::{Map, Value, json};

/// Names follow from the kind's; nothing converts; what is stored is the storage version.
///
/// Upstream: apiextensions-apiserver, pkg/apis/apiextensions/v1/defaults.go (v1.37).
fn definition(custom: &mut Custom) {
    let Some(Value::Object(spec)) = custom.rest.get_mut("spec") else { return };
    super::fill(spec, "conversion", json!({"strategy": "None"}));
    let empty = |names: &Value, field: &str| names[field].as_str().is_none_or(str::is_empty);
    if let Some(names) = spec.get_mut("names").filter(|n| n.is_object()) {
        let kind = names["kind"].as_str().unwrap_or_default().to_owned();
        if empty(names, "singular") {
            names["singular"] = kind.to_ascii_lowercase().into();
        }
        if empty(names, "listKind") && !kind.is_empty() {
            names["listKind"] = format!("{kind}List").into();
        }
    }
    let versions = spec.get("versions").and_then(Value::as_array);
    let storage = versions.into_iter().flatten().find(|v| v["storage"] == true).map(|v| v["name"].clone());
    let status = custom.rest.entry("status").or_insert_with(|| json!({}));
    if let (Value::Object(status), Some(storage)) = (status, storage)
        && status.get("storedVersions").and_then(Value::as_array).is_none_or(Vec::is_empty)
    {
        status.insert("storedVersions".into(), json!([storage]));
    }
}

/// Kinds that have no spec, or one that is not made for them. Answers whether it is one.
fn without_spec(custom: &mut Custom) -> bool {
    let rest = &mut custom.rest;
    match custom.kind.own_name() {
        "StorageClass" => fill(rest, json!({"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"})),
        "PriorityClass" => fill(rest, json!({"preemptionPolicy": "PreemptLowerPriority"})),
        "PodTemplate" => template(rest),
        "CustomResourceDefinition" => definition(custom),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            extension::webhooks(rest, custom.kind.name() == "MutatingWebhookConfiguration");
        }
        "RoleBinding" | "ClusterRoleBinding" => binding(rest),
        _ => return false,
    }
    true
}

/// What fills the spec of a kind, by itself.
fn of_spec(kind: &str) -> Option<fn(&mut Map<String, Value>)> {
    Some(match kind {
        "StatefulSet" => stateful_set,
        "DaemonSet" => daemon_set,
        "Job" => job,
        "CronJob" => cron_job,
        "PersistentVolumeClaim" => |spec| fill(spec, json!({"volumeMode": "Filesystem"})),
        "PersistentVolume" => persistent_volume,
        "HorizontalPodAutoscaler" => autoscaler,
        "LimitRange" => limit_range,
        // Its spec is there, if it says nothing.
        "PodDisruptionBudget" => |_| {},
        "NetworkPolicy" => network_policy,
        "CSIDriver" => |spec| fill(spec, csi_driver()),
        "IngressClass" => ingress_class,
        "MutatingAdmissionPolicy" | "ValidatingAdmissionPolicy" => extension::policy,
        "MutatingAdmissionPolicyBinding" | "ValidatingAdmissionPolicyBinding" => {
            |spec| extension::resources(spec, "matchResources")
        }
        "APIService" => extension::port,
        "FlowSchema" => extension::precedence,
        "PriorityLevelConfiguration" => extension::level,
        "PodCertificateRequest" => |spec| fill(spec, json!({"maxExpirationSeconds": 86_400})),
        "ResourceClaim" => extension::claim,
        "ResourceClaimTemplate" => extension::claim_template,
        _ => return None,
    })
}

fn persistent_volume(spec: &mut Map<String, Value>) {
    fill(spec, json!({"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"}));
    for name in ["hostPath", "iscsi", "rbd", "azureDisk", "scaleIO"] {
        if let Some(Value::Object(source)) = spec.get_mut(name) {
            super::volume::one(name, source);
        }
    }
}

fn ingress_class(spec: &mut Map<String, Value>) {
    if let Some(Value::Object(parameters)) = spec.get_mut("parameters") {
        fill(parameters, json!({"scope": "Cluster"}));
    }
}

pub(super) fn custom(custom: &mut Custom) {
    if without_spec(custom) {
        return;
    }
    let kind = custom.kind.own_name();
    let fills = of_spec(kind);
    if fills.is_none() && kind != "ReplicationController" {
        return;
    }
    let spec = custom.rest.entry("spec").or_insert_with(|| json!({}));
    let Value::Object(spec) = spec else { return };
    match fills {
        Some(fills) => fills(spec),
        None => controller(spec, &mut custom.metadata.labels),
    }
    if matches!(kind, "PersistentVolumeClaim" | "PersistentVolume")
        && let Value::Object(status) = custom.rest.entry("status").or_insert_with(|| json!({}))
    {
        fill(status, json!({"phase": "Pending"}));
    }
    if kind == "Job" && custom.metadata.labels.is_empty() {
        let labels = spec_of(custom).map(|s| s["template"]["metadata"]["labels"].clone()).unwrap_or_default();
        custom.metadata.labels = serde_json::from_value(labels).unwrap_or_default();
    }
}

/// Upstream: pkg/apis/storage/v1, SetDefaults_CSIDriver.
fn csi_driver() -> Value {
    json!({"attachRequired": true, "podInfoOnMount": false, "storageCapacity": false, "requiresRepublish": false,
        "seLinuxMount": false, "preventPodSchedulingIfMissing": false, "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "volumeLifecycleModes": ["Persistent"]})
}

fn spec_of(custom: &Custom) -> Option<&Value> {
    custom.rest.get("spec")
}

/// Sets what is not there.
pub(super) fn fill(fields: &mut Map<String, Value>, defaults: Value) {
    let Value::Object(defaults) = defaults else { return };
    for (name, value) in defaults {
        let there = fields.entry(name).or_insert(Value::Null);
        if there.is_null() || there.as_str().is_some_and(str::is_empty) {
            *there = value;
        }
    }
}

/// Roles and people belong to the group of roles; service accounts to none.
fn binding(fields: &mut Map<String, Value>) {
    const GROUP: &str = "rbac.authorization.k8s.io";
    if let Some(Value::Object(role)) = fields.get_mut("roleRef") {
        fill(role, json!({"apiGroup": GROUP}));
    }
    for subject in fields.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(subject) = subject
            && subject.get("kind").is_some_and(|k| k == "User" || k == "Group")
        {
            fill(subject, json!({"apiGroup": GROUP}));
        }
    }
}

/// The template of pods, made if there is none.
fn template(spec: &mut Map<String, Value>) {
    let whole = spec.remove("template").unwrap_or_default();
    let mut template: PodTemplateSpec =
        if whole.is_null() { Default::default() } else { serde_json::from_value(whole).unwrap_or_default() };
    pod::template(&mut template);
    spec.insert("template".into(), serde_json::to_value(template).unwrap_or_default());
}

/// A map below a field, made if it is not there.
fn below<'a>(fields: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Map<String, Value>> {
    let there = fields.entry(name).or_insert_with(|| json!({}));
    if there.is_null() {
        *there = json!({});
    }
    there.as_object_mut()
}

fn stateful_set(spec: &mut Map<String, Value>) {
    template(spec);
    fill(spec, json!({"podManagementPolicy": "OrderedReady", "replicas": 1, "revisionHistoryLimit": 10}));
    if let Some(strategy) = below(spec, "updateStrategy") {
        let silent = strategy.get("type").is_none_or(|t| t.as_str().is_none_or(str::is_empty));
        fill(strategy, json!({"type": "RollingUpdate"}));
        let rolling = strategy.get("type") == Some(&"RollingUpdate".into());
        if rolling
            && (silent || strategy.contains_key("rollingUpdate"))
            && let Some(rolling) = below(strategy, "rollingUpdate")
        {
            fill(rolling, json!({"partition": 0, "maxUnavailable": 1}));
        }
    }
    if let Some(policy) = below(spec, "persistentVolumeClaimRetentionPolicy") {
        fill(policy, json!({"whenDeleted": "Retain", "whenScaled": "Retain"}));
    }
    for claim in spec.get_mut("volumeClaimTemplates").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(claim) = claim {
            fill(claim, json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim"}));
            if let Some(spec) = below(claim, "spec") {
                fill(spec, json!({"volumeMode": "Filesystem"}));
            }
            if let Some(status) = below(claim, "status") {
                fill(status, json!({"phase": "Pending"}));
            }
        }
    }
}

fn daemon_set(spec: &mut Map<String, Value>) {
    template(spec);
    fill(spec, json!({"revisionHistoryLimit": 10}));
    if let Some(strategy) = below(spec, "updateStrategy") {
        fill(strategy, json!({"type": "RollingUpdate"}));
        if strategy.get("type") == Some(&"RollingUpdate".into())
            && let Some(rolling) = below(strategy, "rollingUpdate")
        {
            fill(rolling, json!({"maxUnavailable": 1, "maxSurge": 0}));
        }
    }
}

fn job(spec: &mut Map<String, Value>) {
    template(spec);
    let set = |spec: &Map<String, Value>, name: &str| spec.get(name).is_some_and(|v| !v.is_null());
    if !set(spec, "completions") && !set(spec, "parallelism") {
        fill(spec, json!({"completions": 1}));
    }
    let limit = if set(spec, "backoffLimitPerIndex") { i32::MAX } else { 6 };
    let replaced = if set(spec, "podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    fill(
        spec,
        json!({
            "parallelism": 1, "backoffLimit": limit, "completionMode": "NonIndexed", "suspend": false,
            "podReplacementPolicy": replaced, "manualSelector": false,
        }),
    );
    let rules =
        spec.get_mut("podFailurePolicy").and_then(|p| p.get_mut("rules")).and_then(Value::as_array_mut);
    for rule in rules.into_iter().flatten() {
        for condition in rule.get_mut("onPodConditions").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Value::Object(condition) = condition {
                fill(condition, json!({"status": "True"}));
            }
        }
    }
}

fn cron_job(spec: &mut Map<String, Value>) {
    fill(
        spec,
        json!({
            "concurrencyPolicy": "Allow", "suspend": false, "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1,
        }),
    );
    if let Some(job) = below(spec, "jobTemplate")
        && let Some(inner) = below(job, "spec")
    {
        template(inner);
    }
}

fn controller(spec: &mut Map<String, Value>, labels: &mut Labels) {
    if spec.get("template").is_some_and(|t| !t.is_null()) {
        template(spec);
    }
    fill(spec, json!({"replicas": 1}));
    let of_template = spec.get("template").map(|t| t["metadata"]["labels"].clone()).unwrap_or_default();
    if of_template.is_object() {
        fill(spec, json!({"selector": of_template}));
        if labels.is_empty() {
            *labels = serde_json::from_value(of_template).unwrap_or_default();
        }
    }
}

fn autoscaler(spec: &mut Map<String, Value>) {
    fill(spec, json!({"minReplicas": 1}));
    if spec.get("metrics").is_none_or(|m| m.as_array().is_none_or(Vec::is_empty)) {
        let cpu = json!([{"type": "Resource", "resource": {
            "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80},
        }}]);
        spec.insert("metrics".into(), cpu);
    }
    let up = json!([{"type": "Pods", "value": 4, "periodSeconds": 15}, {"type": "Percent", "value": 100, "periodSeconds": 15}]);
    let down = json!([{"type": "Percent", "value": 100, "periodSeconds": 15}]);
    if let Some(Value::Object(behaviour)) = spec.get_mut("behavior") {
        if let Some(rules) = below(behaviour, "scaleUp") {
            fill(rules, json!({"selectPolicy": "Max", "stabilizationWindowSeconds": 0, "policies": up}));
        }
        if let Some(rules) = below(behaviour, "scaleDown") {
            fill(rules, json!({"selectPolicy": "Max", "policies": down}));
        }
    }
}

/// Limits of containers: `default` follows `max`, `defaultRequest` follows `default`, then `min`.
fn limit_range(spec: &mut Map<String, Value>) {
    for limit in spec.get_mut("limits").and_then(Value::as_array_mut).into_iter().flatten() {
        if limit["type"] != "Container" {
            continue;
        }
        let amounts = |part: &Value| part.as_object().cloned().unwrap_or_default();
        let (max, min) = (amounts(&limit["max"]), amounts(&limit["min"]));
        let mut default = amounts(&limit["default"]);
        for (name, amount) in max {
            default.entry(name).or_insert(amount);
        }
        let mut request = amounts(&limit["defaultRequest"]);
        for (name, amount) in &default {
            request.entry(name.clone()).or_insert_with(|| amount.clone());
        }
        for (name, amount) in min {
            request.entry(name).or_insert(amount);
        }
        for (part, amounts) in [("default", default), ("defaultRequest", request)] {
            if !amounts.is_empty() {
                limit[part] = Value::Object(amounts);
            }
        }
    }
    // Amounts are kept to thousandths here as everywhere.
    for limit in spec.get_mut("limits").and_then(Value::as_array_mut).into_iter().flatten() {
        for part in ["default", "defaultRequest", "max", "min", "maxLimitRequestRatio"] {
            for amount in
                limit.get_mut(part).and_then(Value::as_object_mut).into_iter().flat_map(|m| m.values_mut())
            {
                let Ok(quantity) = serde_json::from_value::<Quantity>(amount.clone()) else { continue };
                let (rounded, exact) = quantity.round_up(-3);
                if !exact || amount.is_number() {
                    *amount = rounded.to_string().into();
                }
            }
        }
    }
}

fn network_policy(spec: &mut Map<String, Value>) {
    if spec.get("policyTypes").is_none_or(|t| t.as_array().is_none_or(Vec::is_empty)) {
        let egress = spec.get("egress").and_then(Value::as_array).is_some_and(|e| !e.is_empty());
        let types = if egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
        spec.insert("policyTypes".into(), types);
    }
    for direction in ["ingress", "egress"] {
        for rule in spec.get_mut(direction).and_then(Value::as_array_mut).into_iter().flatten() {
            for port in rule.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
                if let Value::Object(port) = port {
                    fill(port, json!({"protocol": "TCP"}));
                }
            }
        }
    }
}
