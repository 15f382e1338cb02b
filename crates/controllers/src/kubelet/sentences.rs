//! What the kubelet's notes say, in plain English, and where upstream decides it.

use crate::sentences::Sentence;

const fn of(code: &'static str, text: &'static str, upstream: &'static str) -> Sentence {
    Sentence { code, text, upstream }
}

/// Every code of the kubelet.
pub static SENTENCES: &[Sentence] = &[
    of(
        "kubelet.config-missing",
        "The kubelet cannot start container {container}: {what}.",
        "pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables",
    ),
    of(
        "kubelet.crash-loop",
        "The kubelet waits {wait} from the last end of container {container} before it starts it again.",
        "pkg/kubelet/kuberuntime/kuberuntime_manager.go, doBackOff",
    ),
    of(
        "kubelet.delete",
        "Nothing of pod {pod} is left on the node, so the kubelet takes it out of the API.",
        "pkg/kubelet/status/status_manager.go, syncPod",
    ),
    of(
        "kubelet.mount-failed",
        "The kubelet cannot mount volume {volume}: {text}.",
        "pkg/kubelet/volumemanager/volume_manager.go, WaitForAttachAndMount",
    ),
    of(
        "kubelet.probe",
        "The {probe} probe of container {container} has {answer} often enough to count.",
        "pkg/kubelet/prober/worker.go, doProbe",
    ),
    of(
        "kubelet.pull",
        "The image {image} of container {container} is not on the node, so the kubelet pulls it.",
        "pkg/kubelet/images/image_manager.go, EnsureImageExists",
    ),
    of(
        "kubelet.pull-back-off",
        "The last pull for container {container} failed, so the kubelet waits before it tries again: {text}.",
        "pkg/kubelet/images/image_manager.go, pullImage",
    ),
    of(
        "kubelet.pull-failed",
        "The image of container {container} cannot be had: {text}.",
        "pkg/kubelet/images/image_manager.go, EnsureImageExists",
    ),
    of(
        "kubelet.ready",
        "The kubelet says that its node is ready.",
        "pkg/kubelet/nodestatus/setters.go, ReadyCondition",
    ),
    of(
        "kubelet.register",
        "The kubelet registers its node.",
        "pkg/kubelet/kubelet_node_status.go, registerWithAPIServer",
    ),
    of(
        "kubelet.rejected",
        "The node does not take the pod: {reason}.",
        "pkg/kubelet/lifecycle/predicate.go, Admit",
    ),
    of(
        "kubelet.sandbox",
        "Pod {pod} has no sandbox, so the kubelet has one made.",
        "pkg/kubelet/kuberuntime/kuberuntime_manager.go, SyncPod",
    ),
    of(
        "kubelet.start-failed",
        "The process of container {container} could not be started: {text}.",
        "pkg/kubelet/kuberuntime/kuberuntime_container.go, startContainer",
    ),
    of(
        "kubelet.started",
        "The kubelet has started container {container}.",
        "pkg/kubelet/kuberuntime/kuberuntime_container.go, startContainer",
    ),
    of(
        "kubelet.stop",
        "The pod is to go, so the kubelet stops container {container} and gives it {grace} s.",
        "pkg/kubelet/kubelet.go, SyncTerminatingPod",
    ),
    of(
        "kubelet.unhealthy",
        "The {probe} probe of container {container} failed for good, so the kubelet stops it.",
        "pkg/kubelet/kuberuntime/kuberuntime_manager.go, computePodActions",
    ),
    of(
        "kubelet.wait-turn",
        "Container {container} is a sidecar: it ends after those that it serves, so the kubelet waits for their end.",
        "pkg/kubelet/kuberuntime/kuberuntime_termination_order.go, waitForTurn",
    ),
];
