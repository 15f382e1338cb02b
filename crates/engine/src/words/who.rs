//! Who moved: the mark and the lane of a record.

use kubestep_cluster::{ProcessId, Record, What, World};
use kubestep_protocol::Who;

/// By the name under which requests stand in the audit record.
pub(crate) fn of_agent(agent: &str) -> (Who, String) {
    let who = match agent {
        "kubectl" => Who::Person,
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

fn of_process(process: &ProcessId) -> (Who, String) {
    match process {
        ProcessId::Manager | ProcessId::SecondManager => (Who::Other, "controllers".into()),
        ProcessId::Scheduler => (Who::Scheduler, "scheduler".into()),
        ProcessId::Kubelet(_) => (Who::Kubelet, "kubelet".into()),
    }
}
