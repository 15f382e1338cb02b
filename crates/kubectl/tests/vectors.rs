//! The recorded vectors of kubectl's own functions.

use serde_json::Value;

fn check(name: &str) {
    let path = format!("{}/../../tests/golden/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the vectors are there");
    let file: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    let cases = file["cases"].as_array().expect("there are cases");
    let mut wrong = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let ours = kubestep_kubectl::vectors::run(name, &case["in"]).expect("the function is here");
        if ours != case["out"] {
            wrong.push(format!("case {at}\n  in   {}\n  want {}\n  ours {ours}", case["in"], case["out"]));
        }
    }
    assert!(
        wrong.is_empty(),
        "{name}: {} of {} differ\n{}",
        wrong.len(),
        cases.len(),
        wrong[..wrong.len().min(3)].join("\n")
    );
    assert!(!cases.is_empty());
}

macro_rules! vectors {
    ($($test:ident $name:literal)*) => { $(#[test] fn $test() { check($name); })* };
}

vectors! {
    printer_deployment "printer-deployment"
    printer_replica_set "printer-replicaset"
    printer_pod "printer-pod"
    printer_service "printer-service"
    printer_endpoints "printer-endpoints"
    printer_endpoint_slice "printer-endpointslice"
    printer_event "printer-event"
    printer_node "printer-node"
    printer_namespace "printer-namespace"
    printer_config_map "printer-configmap"
    printer_secret "printer-secret"
    printer_service_account "printer-serviceaccount"
    printer_resource_quota "printer-resourcequota"
    printer_lease "printer-lease"
    printer_stateful_set "printer-statefulset"
    printer_daemon_set "printer-daemonset"
    printer_job "printer-job"
    printer_cron_job "printer-cronjob"
    printer_replication_controller "printer-replicationcontroller"
    printer_controller_revision "printer-controllerrevision"
    printer_disruption_budget "printer-poddisruptionbudget"
    printer_autoscaler "printer-horizontalpodautoscaler"
    printer_volume "printer-persistentvolume"
    printer_claim "printer-persistentvolumeclaim"
    printer_storage_class "printer-storageclass"
    printer_ingress "printer-ingress"
    printer_network_policy "printer-networkpolicy"
    printer_priority_class "printer-priorityclass"
    rollout_status_deployment "rollout-status-deployment"
    rollout_status_daemon_set "rollout-status-daemonset"
    rollout_status_stateful_set "rollout-status-statefulset"
    rollout_history "rollout-history"
    rollout_undo "rollout-undo"
}
