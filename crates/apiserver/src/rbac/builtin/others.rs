//! What else an API server has from its start: whose requests go first, the range of service addresses, and what it says
//! of the other components.
//!
//! Upstream: apiserver/pkg/apis/flowcontrol/bootstrap, pkg/controlplane/controller/defaultservicecidr and
//! pkg/registry/core/componentstatus (v1.37).

use kubestep_model::Kind;
use serde_json::{Value, json};

const FLOW: &str = "flowcontrol.apiserver.k8s.io";
const SCHEMA: Kind = Kind::other(FLOW, "FlowSchema");
const LEVEL: Kind = Kind::other(FLOW, "PriorityLevelConfiguration");
const RANGE: Kind = Kind::other("networking.k8s.io", "ServiceCIDR");
const COMPONENT: Kind = Kind::other("", "ComponentStatus");

/// The kinds of these objects.
pub(super) const KINDS: [Kind; 4] = [SCHEMA, LEVEL, RANGE, COMPONENT];

/// Levels whose requests wait in queues: shares, percent that may be lent, queues, queues that one flow may use.
const LEVELS: [(&str, u32, u32, u32, u32); 6] = [
    ("global-default", 20, 50, 128, 6),
    ("leader-election", 10, 0, 16, 4),
    ("node-high", 40, 25, 64, 6),
    ("system", 30, 33, 64, 6),
    ("workload-high", 40, 50, 128, 6),
    ("workload-low", 100, 90, 128, 6),
];

/// All requests of some people: name, level, place in the order, how flows are told apart, who (`g:` a group, `u:` a
/// user, `s:` service accounts of kube-system).
const WHOLE: [(&str, &str, u32, &str, &[&str]); 8] = [
    ("catch-all", "catch-all", 10000, "ByUser", &["g:system:unauthenticated", "g:system:authenticated"]),
    ("exempt", "exempt", 1, "", &["g:system:masters"]),
    (
        "global-default",
        "global-default",
        9900,
        "ByUser",
        &["g:system:unauthenticated", "g:system:authenticated"],
    ),
    ("kube-controller-manager", "workload-high", 800, "ByNamespace", &["u:system:kube-controller-manager"]),
    ("kube-scheduler", "workload-high", 800, "ByNamespace", &["u:system:kube-scheduler"]),
    ("kube-system-service-accounts", "workload-high", 900, "ByNamespace", &["s:*"]),
    ("service-accounts", "workload-low", 9000, "ByUser", &["g:system:serviceaccounts"]),
    ("system-nodes", "system", 500, "ByUser", &["g:system:nodes"]),
];

fn subject(text: &&str) -> Value {
    match text.split_once(':') {
        Some(("g", name)) => json!({"kind": "Group", "group": {"name": name}}),
        Some(("u", name)) => json!({"kind": "User", "user": {"name": name}}),
        _ => json!({"kind": "ServiceAccount", "serviceAccount": {"name": "*", "namespace": "kube-system"}}),
    }
}

/// Rules about requests for objects: verbs, groups, resources, whether those outside of namespaces count.
fn on(verbs: &[&str], group: &str, resources: &[&str], cluster: bool) -> Value {
    let mut rule = json!({"verbs": verbs, "apiGroups": [group], "resources": resources, "namespaces": ["*"]});
    if cluster {
        rule["clusterScope"] = true.into();
    }
    rule
}

fn schema(level: &str, precedence: u32, by: &str, subjects: Vec<Value>, rest: &Value) -> Value {
    let mut rules = json!({"subjects": subjects});
    for (name, value) in rest.as_object().into_iter().flatten() {
        rules[name] = value.clone();
    }
    let mut spec = json!({
        "priorityLevelConfiguration": {"name": level}, "matchingPrecedence": precedence, "rules": [rules],
    });
    if !by.is_empty() {
        spec["distinguisherMethod"] = json!({"type": by});
    }
    let why = format!(
        "This FlowSchema references the PriorityLevelConfiguration object named {level:?} and it exists"
    );
    let dangling = json!({"type": "Dangling", "status": "False", "reason": "Found", "message": why,
        "lastTransitionTime": kubestep_model::Instant::START.to_time()});
    json!({"spec": spec, "status": {"conditions": [dangling]}})
}

fn schemas() -> Vec<(&'static str, Value)> {
    let leases = on(&["get", "create", "update"], "coordination.k8s.io", &["leases"], false);
    let mut all: Vec<(&str, Value)> = vec![];
    for (name, level, precedence, by, who) in WHOLE {
        let rules = json!({"resourceRules": [on(&["*"], "*", &["*"], true)],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}]});
        all.push((name, schema(level, precedence, by, who.iter().map(subject).collect(), &rules)));
    }
    let mut some = |name, level, precedence, by, who: &[&str], rules: Value| {
        all.push((name, schema(level, precedence, by, who.iter().map(subject).collect(), &rules)));
    };
    let everybody = ["g:system:unauthenticated", "g:system:authenticated"];
    let health = json!({"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]});
    some("probes", "exempt", 2, "", &everybody, json!({"nonResourceRules": [health]}));
    let leading = ["u:system:kube-controller-manager", "u:system:kube-scheduler", "s:*"];
    let rules = json!({"resourceRules": [leases]});
    some("system-leader-election", "leader-election", 100, "ByUser", &leading, rules);
    let nodes = [
        on(&["*"], "", &["nodes", "nodes/status"], true),
        on(&["*"], "coordination.k8s.io", &["leases"], false),
    ];
    some(
        "system-node-high",
        "node-high",
        400,
        "ByUser",
        &["g:system:nodes"],
        json!({"resourceRules": nodes}),
    );
    all
}

fn levels() -> Vec<(&'static str, Value)> {
    let exempt = json!({"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}});
    let last = json!({"type": "Limited", "limited": {"nominalConcurrencyShares": 5, "lendablePercent": 0,
        "limitResponse": {"type": "Reject"}}});
    let mut all = vec![("exempt", exempt), ("catch-all", last)];
    for (name, shares, lent, queues, hand) in LEVELS {
        let queuing = json!({"queues": queues, "handSize": hand, "queueLengthLimit": 50});
        let limited = json!({"nominalConcurrencyShares": shares, "lendablePercent": lent,
            "limitResponse": {"type": "Queue", "queuing": queuing}});
        all.push((name, json!({"type": "Limited", "limited": limited})));
    }
    all.into_iter().map(|(name, spec)| (name, json!({"spec": spec, "status": {}}))).collect()
}

fn range() -> Value {
    let ready = json!({"type": "Ready", "status": "True", "reason": "", "message": "Kubernetes Service CIDR is ready",
        "lastTransitionTime": kubestep_model::Instant::START.to_time()});
    json!({"spec": {"cidrs": ["10.96.0.0/16"]}, "status": {"conditions": [ready]}})
}

/// All of them: kind, name and what is not metadata.
pub(super) fn all() -> Vec<(Kind, &'static str, Value)> {
    let healthy = || json!({"conditions": [{"type": "Healthy", "status": "True", "message": "ok"}]});
    let components = ["controller-manager", "etcd-0", "scheduler"].map(|name| (COMPONENT, name, healthy()));
    let mut all: Vec<(Kind, &str, Value)> = components.into();
    all.push((RANGE, "kubernetes", range()));
    all.extend(schemas().into_iter().map(|(name, rest)| (SCHEMA, name, rest)));
    all.extend(levels().into_iter().map(|(name, rest)| (LEVEL, name, rest)));
    all
}

/// Its annotations and finalizers: the server keeps its schemas and levels as they are meant.
pub(super) fn marks(kind: Kind) -> (Option<(&'static str, &'static str)>, Option<&'static str>) {
    match kind {
        _ if kind == RANGE => (None, Some("networking.k8s.io/service-cidr-finalizer")),
        _ if kind == COMPONENT => (None, None),
        _ => (Some(("apf.kubernetes.io/autoupdate-spec", "true")), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_name_levels_that_are_there() {
        let levels: Vec<&str> = levels().iter().map(|(name, _)| *name).collect();
        assert_eq!((levels.len(), schemas().len()), (8, 11));
        for (name, schema) in schemas() {
            let level = schema["spec"]["priorityLevelConfiguration"]["name"].as_str().unwrap();
            assert!(levels.contains(&level), "{name} names {level}");
        }
    }
}
