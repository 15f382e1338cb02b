//! The pure functions, case by case, against what Kubernetes' own functions answered.

use crate::golden;
use serde_json::Value;

/// Vectors that must be equal in every case; each runs the code that the loops and commands use.
const EQUAL: [&str; 68] = [
    "apply-last-applied",
    "apply-three-way",
    "container-restart",
    "controller-revision",
    "crash-loop-backoff",
    "cron-next",
    "cronjob-sync",
    "deployment-active-or-latest",
    "deployment-fenceposts",
    "deployment-maxima",
    "deployment-new-rs-replicas",
    "deployment-progress",
    "deployment-proportion",
    "deployment-proportional-scale",
    "deployment-rolling-step",
    "deployment-sync",
    "deployment-timed-out",
    "disruption-budget",
    "field-selector-text",
    "generate-name",
    "hpa-cpu-replicas",
    "human-duration",
    "image-pull-backoff",
    "int-or-percent",
    "job-backoff",
    "job-sync",
    "label-selector-object",
    "label-selector-text",
    "limit-range",
    "name-config-map-key",
    "name-dns1035-label",
    "name-dns1123-label",
    "name-dns1123-subdomain",
    "name-env-var",
    "name-label-value",
    "name-percent",
    "name-port",
    "name-qualified",
    "name-relaxed-env-var",
    "name-wildcard-subdomain",
    "patch-json",
    "patch-merge",
    "patch-merge-three-way",
    "patch-strategic",
    "pod-available",
    "pod-conditions",
    "pod-deletion-order",
    "pod-phase",
    "pod-template-hash",
    "qos-class",
    "quantity-arithmetic",
    "quantity-from-json",
    "quantity-parse",
    "quota-check",
    "quota-usage",
    "replicaset-scale-down",
    "replicaset-sync",
    "rollout-history",
    "rollout-status-daemonset",
    "rollout-status-deployment",
    "rollout-status-statefulset",
    "rollout-undo",
    "safe-encode-string",
    "scheduler-filters",
    "scheduler-scores",
    "strict-decoding",
    "validate-labels",
    "yaml-documents",
];

/// How many cases are equal, of how many, and the first that is not.
fn run(name: &str) -> (usize, usize, Option<String>) {
    let file = golden::json(&format!("vectors/{name}.json"));
    let cases = file["cases"].as_array().cloned().unwrap_or_default();
    let mut equal = 0;
    let mut first = None;
    for case in &cases {
        let ours = kubestep_cli::vectors::answer(name, &case["in"]).unwrap_or(Value::Null);
        if ours == case["out"] {
            equal += 1;
        } else if first.is_none() {
            first = Some(format!("in {}\n  want {}\n  ours {ours}", case["in"], case["out"]));
        }
    }
    (equal, cases.len(), first)
}

#[test]
fn every_case_of_every_vector_is_equal() {
    let mut wrong = vec![];
    for name in EQUAL {
        let (equal, of, first) = run(name);
        println!("{name}: {equal} of {of}");
        if equal < of || of < 10 {
            wrong.push(format!("{name}: {equal} of {of}\n  {}", first.unwrap_or("too few cases".into())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_function_that_is_not_there_answers_nothing() {
    assert_eq!(kubestep_cli::vectors::answer("no-such-function", &Value::Null), None);
}
