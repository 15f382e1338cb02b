//! Who moved: the mark and the lane of a record.

use kubestep_cluster::{ProcessId, Record, What, World};
use kubestep_protocol::Who;

/// Every loop has one name on the page: what its code calls it, and what a sentence does.
const NAMES: [(&str, &str); 29] = [
    ("cronjob", "CronJob controller"),
    ("daemonset", "DaemonSet controller"),
    ("daemon-set", "DaemonSet controller"),
    ("deployment", "Deployment controller"),
    ("disruption", "disruption controller"),
    ("endpoint", "Endpoints controller"),
    ("endpointslice", "EndpointSlice controller"),
    ("endpointslicemirroring", "EndpointSlice mirroring controller"),
    ("garbage-collector", "garbage collector"),
    ("generic-garbage-collector", "garbage collector"),
    ("horizontalpodautoscaler", "autoscaler"),
    ("horizontal-pod-autoscaler", "autoscaler"),
    ("job", "Job controller"),
    ("namespace", "namespace controller"),
    ("node", "node controller"),
    ("node-ipam", "node address controller"),
    ("node-lifecycle", "node controller"),
    ("persistentvolume", "volume binder"),
    ("persistentvolume-binder", "volume binder"),
    ("persistent-volume-binder", "volume binder"),
    ("podgc", "pod garbage collector"),
    ("pod-garbage-collector", "pod garbage collector"),
    ("replicaset", "ReplicaSet controller"),
    ("replication", "ReplicationController controller"),
    ("replicationcontroller", "ReplicationController controller"),
    ("resourcequota", "quota controller"),
    ("serviceaccount", "service account controller"),
    ("service-account", "service account controller"),
    ("statefulset", "StatefulSet controller"),
];

/// A loop's name in sentences and on its card: "Deployment controller".
pub(crate) fn long(name: &str) -> String {
    let bare = name.strip_suffix("-controller").unwrap_or(name);
    let bare = bare.strip_prefix("kube-").unwrap_or(bare);
    match NAMES.iter().find(|(n, _)| *n == bare) {
        Some((_, long)) => (*long).into(),
        None if bare == "controller-manager" => "controller manager".into(),
        None if matches!(bare, "scheduler" | "provisioner") || bare.starts_with("kubelet") => bare.into(),
        None => format!("{} controller", bare.replace('-', " ")),
    }
}

/// The words of an act, with the names that loops have on the page.
pub(crate) fn named(text: &str) -> String {
    let Some((before, rest)) = text.split_once("the ") else { return text.into() };
    match rest.split_once(" controller") {
        Some((name, after)) if NAMES.iter().any(|(n, _)| *n == name) => {
            format!("{before}the {}{after}", long(name))
        }
        _ => text.into(),
    }
}

/// By the name under which requests stand in the audit record.
pub(crate) fn of_agent(agent: &str) -> (Who, String) {
    let who = match agent {
        "kubectl" | "order" | "declare" | "statefile" => Who::Person,
        "kube-apiserver" => Who::Api,
        "deployment-controller" => Who::Deployment,
        "replicaset-controller" => Who::ReplicaSet,
        "kube-scheduler" => Who::Scheduler,
        "endpointslice-controller" | "endpoint-controller" => Who::EndpointSlice,
        "generic-garbage-collector" => Who::Gc,
        "node-controller" => Who::Node,
        _ if agent.starts_with("kubelet") => Who::Kubelet,
        _ => Who::Other,
    };
    let lane = match who {
        Who::Person => "you",
        Who::Api => "api server",
        Who::Deployment => "deployment",
        Who::ReplicaSet => "replicaset",
        Who::Scheduler => "scheduler",
        Who::Kubelet => "kubelet",
        Who::EndpointSlice => "endpointslice",
        Who::Gc => "garbage collector",
        Who::Node => "nodes",
        Who::Fault => "fault",
        Who::Other => agent.trim_end_matches("-controller"),
    };
    (who, lane.into())
}

/// Who a record is about.
pub(crate) fn of_record(record: &Record, _world: &World) -> (Who, String) {
    match &record.what {
        What::Served { who, .. } => of_agent(who),
        What::Runtime { .. } => (Who::Kubelet, "kubelet".into()),
        What::ByClock { process, .. } | What::Delivered { process, .. } => of_process(process),
        What::Thought { controller, .. } | What::Woke { controller } => {
            of_agent(&format!("{controller}-controller"))
        }
        What::Act { text } if is_fault(text) => (Who::Fault, "fault".into()),
        What::Client { line, .. } if line.starts_with("gitops agent") => of_agent("gitops-agent"),
        What::Act { .. } | What::Client { .. } => (Who::Person, "you".into()),
    }
}

fn is_fault(text: &str) -> bool {
    [
        "You hold",
        "You let",
        "You stopped",
        "You crashed",
        "You started",
        "You cut",
        "You lose",
        "You made",
        "What if?",
    ]
    .iter()
    .any(|start| text.starts_with(start))
        || text.contains("will crash")
        || text.starts_with("The next ")
}

pub(crate) fn of_process(process: &ProcessId) -> (Who, String) {
    match process {
        ProcessId::Manager | ProcessId::SecondManager => (Who::Other, "controllers".into()),
        ProcessId::Scheduler => (Who::Scheduler, "scheduler".into()),
        ProcessId::Kubelet(_) => (Who::Kubelet, "kubelet".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_has_one_name() {
        for (name, want) in [
            ("deployment", "Deployment controller"),
            ("deployment-controller", "Deployment controller"),
            ("garbage-collector", "garbage collector"),
            ("generic-garbage-collector", "garbage collector"),
            ("kube-scheduler", "scheduler"),
            ("kube-controller-manager", "controller manager"),
            ("ttl-after-finished", "ttl after finished controller"),
        ] {
            assert_eq!(long(name), want);
        }
        for (text, want) in [
            ("You stopped the replicaset controller.", "You stopped the ReplicaSet controller."),
            ("You stopped the second controller manager.", "You stopped the second controller manager."),
        ] {
            assert_eq!(named(text), want);
        }
    }
}
