//! `/healthz`, `/livez` and `/readyz`: the checks of an API server that is well.
//! Upstream: apiserver/pkg/server/healthz (v1.37).

const FIRST: &[(&str, &str)] = &[
    ("ping", ""),
    ("log", ""),
    ("loopback-serving-certificate", "healthz livez"),
    ("etcd", ""),
    ("etcd-readiness", "readyz"),
    ("informer-sync", "readyz"),
];

const HOOKS: &[&str] = &[
    "start-apiserver-admission-initializer",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "peer-endpoint-reconciler-controller",
    "start-cluster-authentication-info-controller",
    "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector",
    "storage-readiness",
    "start-legacy-token-tracking-controller",
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "bootstrap-controller",
    "start-kubernetes-service-cidr-controller",
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller",
    "apiservice-registration-controller",
    "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
    "",
    "apiservice-openapi-controller",
    "apiservice-openapiv3-controller",
];

/// The names of all checks of one path, in the order in which they are made.
pub(super) fn checks(which: &str) -> Vec<String> {
    let own = |(name, only): &(&str, &str)| {
        (only.is_empty() || only.split(' ').any(|o| o == which)).then(|| (*name).to_owned())
    };
    let hook = |name: &&str| match *name {
        "" => "autoregister-completion".to_owned(),
        name => format!("poststarthook/{name}"),
    };
    let last = (which == "readyz").then(|| "shutdown".to_owned());
    FIRST.iter().filter_map(own).chain(HOOKS.iter().map(hook)).chain(last).collect()
}

/// What is answered; none if there is no such check.
pub(super) fn answer(which: &str, rest: &[&str], verbose: bool) -> Option<String> {
    let checks = checks(which);
    if !rest.is_empty() {
        let one = rest.join("/");
        return checks.contains(&one).then(|| "ok".to_owned());
    }
    if !verbose {
        return Some("ok".to_owned());
    }
    let lines: String = checks.iter().map(|name| format!("[+]{name} ok\n")).collect();
    Some(format!("{lines}{which} check passed\n"))
}
