//! What the kubelet says about a pod. Upstream: pkg/kubelet/kubelet_pods.go, generateAPIPodStatus.

use super::{
    Cx, Kubelet, Uid,
    conditions::{self, Said},
    phase::{LastRun, is_sidecar, phase, should_restart},
    pod_reference,
    worker::{Stage, Worker},
};
use kubestep_control::{ProbeKind, RuntimeContainer, RuntimePod, RuntimeState};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    Container, ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting,
    ContainerStatus, Instant, Pod, PodCondition, PodIp, PodStatus, Quantity, Time, to_json,
};
use serde_json::{Value, json};
use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

/// Conditions that the kubelet writes, in its order.
pub(super) const OWN: [&str; 5] =
    ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];

/// The runs of a container that the runtime still knows, newest first.
pub(super) fn runs<'a>(runtime: &'a RuntimePod, name: &str) -> Vec<&'a Arc<RuntimeContainer>> {
    let mut runs: Vec<_> = runtime.containers.values().filter(|c| &*c.name == name).collect();
    runs.arrange_by_key(|c| Reverse((c.created, c.attempt)));
    runs
}

/// How the last run of a container stands.
pub(super) fn last_run(runtime: &RuntimePod, name: &str) -> LastRun {
    runs(runtime, name).first().map_or(LastRun::Never, |c| match c.state {
        RuntimeState::Created => LastRun::Unclear,
        RuntimeState::Running => LastRun::Running,
        RuntimeState::Exited => LastRun::Exited(c.exit_code),
    })
}

fn id_text(id: &str) -> String {
    format!("containerd://{id}")
}

fn state_of(run: &RuntimeContainer) -> ContainerState {
    let mut state = ContainerState::default();
    match run.state {
        RuntimeState::Created => state.waiting = Some(waiting("ContainerCreating", "")),
        RuntimeState::Running => {
            let started_at = run.started.map(Instant::to_time);
            state.running = Some(ContainerStateRunning { started_at, ..Default::default() });
        }
        RuntimeState::Exited => {
            state.terminated = Some(ContainerStateTerminated {
                exit_code: run.exit_code,
                started_at: Some(run.started.map_or(Time(0), Instant::to_time)),
                finished_at: run.finished.map(Instant::to_time),
                reason: run.reason.to_string(),
                message: run.message.to_string(),
                container_id: id_text(&run.id),
                ..Default::default()
            });
        }
    }
    state
}

fn waiting(reason: &str, message: &str) -> ContainerStateWaiting {
    ContainerStateWaiting { reason: reason.into(), message: message.into(), ..Default::default() }
}

fn mounts(container: &Container) -> Vec<Value> {
    let shown = |m: &kubestep_model::VolumeMount| {
        let mut shown = json!({"name": m.name, "mountPath": m.mount_path});
        if m.read_only {
            shown["readOnly"] = true.into();
            shown["recursiveReadOnly"] = "Disabled".into();
        }
        shown
    };
    container.volume_mounts.iter().map(shown).collect()
}

fn user(pod: &Pod, container: &Container) -> Value {
    let number = |key: &str| {
        let of = |context: &Option<Value>| context.as_ref().and_then(|c| c[key].as_i64());
        of(&container.security_context).or_else(|| of(&pod.spec.security_context))
    };
    let (uid, gid) = (number("runAsUser").unwrap_or(0), number("runAsGroup").unwrap_or(0));
    let mut groups = vec![gid];
    if let Some(context) = &pod.spec.security_context {
        groups
            .extend(context["supplementalGroups"].as_array().into_iter().flatten().filter_map(Value::as_i64));
        groups.extend(context["fsGroup"].as_i64());
    }
    json!({"linux": {"uid": uid, "gid": gid, "supplementalGroups": groups}})
}

/// What is known of one container, before probes.
fn container_status(
    pod: &Pod,
    worker: &Worker,
    runtime: &RuntimePod,
    container: &Container,
    old: Option<&ContainerStatus>,
) -> ContainerStatus {
    let creating = if pod.spec.init_containers.is_empty() { "ContainerCreating" } else { "PodInitializing" };
    let mut status = ContainerStatus {
        name: container.name.clone(),
        image: container.image.clone(),
        state: ContainerState { waiting: Some(waiting(creating, "")), ..Default::default() },
        ..Default::default()
    };
    match old {
        Some(old) if old.state.terminated.is_some() => status = old.clone(),
        Some(old) => {
            status.restart_count = old.restart_count;
            status.last_state = old.last_state.clone();
        }
        None => {}
    }
    let runs = runs(runtime, &container.name);
    if let Some(run) = runs.first() {
        status.image = run.image.to_string();
        status.image_id = run.image_ref.to_string();
        status.container_id = id_text(&run.id);
        status.restart_count = run.attempt;
        status.state = state_of(run);
        status.user = Some(user(pod, container));
        status.resources = Some(to_json(&container.resources));
        if !container.resources.requests.is_empty() {
            status.rest.insert("allocatedResources".into(), to_json(&container.resources.requests));
        }
    }
    if let Some(before) = runs.get(1) {
        status.last_state = state_of(before);
    }
    status.volume_mounts = mounts(container);
    let last = last_run(runtime, &container.name);
    let done = pod.spec.init_containers.iter().any(|c| c.name == container.name && !is_sidecar(c))
        && last == LastRun::Exited(0);
    if !done
        && should_restart(&pod.spec, container, last, pod.metadata.is_terminating())
        && let Some((reason, message)) = worker.reasons.get(container.name.as_str())
    {
        if status.state.terminated.is_some() {
            status.last_state = status.state.clone();
        }
        status.state = ContainerState { waiting: Some(waiting(reason, message)), ..Default::default() };
    }
    status
}

/// Whether a container is started and ready, by its probes.
fn probed(worker: &Worker, runtime: &RuntimePod, container: &Container, status: &mut ContainerStatus) {
    let running = status.state.running.is_some();
    let id = runs(runtime, &container.name).first().map(|c| c.id.clone());
    let passed = |kind: ProbeKind| {
        let probe = worker.probes.get(&(container.name.as_str().into(), kind));
        probe.is_some_and(|p| p.container == id && p.passed == Some(true))
    };
    // Of a run that its startup probe has not looked at yet counts what was said of the one before.
    let key = (container.name.as_str().into(), ProbeKind::Startup);
    let looked_at = worker.probes.get(&key).is_some_and(|p| p.container == id);
    let said =
        worker.status.iter().flat_map(|s| s.container_statuses.iter().chain(&s.init_container_statuses));
    let was_started = said.into_iter().any(|c| c.name == container.name && c.started == Some(true));
    let by_probe = passed(ProbeKind::Startup) || (!looked_at && was_started);
    let started = running && (container.startup_probe.is_none() || by_probe);
    status.started = Some(started);
    status.ready = started && (container.readiness_probe.is_none() || passed(ProbeKind::Readiness));
}

/// Requests and limits of the whole pod.
fn pod_resources(pod: &Pod) -> (Value, BTreeMap<String, Quantity>) {
    let sum = |of: fn(&Container) -> &BTreeMap<String, Quantity>| {
        let mut total: BTreeMap<String, Quantity> = BTreeMap::new();
        let mut add = |c: &Container| {
            for (name, amount) in of(c) {
                let sum = total.get(name).map_or_else(|| amount.clone(), |t| t.add(amount));
                total.insert(name.clone(), sum);
            }
        };
        pod.spec.init_containers.iter().filter(|c| is_sidecar(c)).for_each(&mut add);
        pod.spec.containers.iter().for_each(&mut add);
        total
    };
    let (requests, limits) = (sum(|c| &c.resources.requests), sum(|c| &c.resources.limits));
    let mut shown = json!({});
    for (key, total) in [("requests", &requests), ("limits", &limits)] {
        if !total.is_empty() {
            shown[key] = to_json(total);
        }
    }
    (shown, requests)
}

/// Once the containers are gone nothing is known of shares of cpu and of limits.
fn without_cpu(resources: &mut Value) {
    if let Some(map) = resources.as_object_mut() {
        map.remove("limits");
        if let Some(requests) = map.get_mut("requests").and_then(Value::as_object_mut) {
            requests.remove("cpu");
        }
        if map.get("requests").and_then(Value::as_object).is_some_and(|r| r.is_empty()) {
            map.remove("requests");
        }
    }
}

fn sandbox_said(pod: &Pod, runtime: &RuntimePod) -> Said {
    match &runtime.sandbox {
        None => Said::new(false, "PodSandboxNotReady", "no pod sandbox exists"),
        Some(sandbox) if !sandbox.ready => Said::new(false, "PodSandboxNotReady", "pod sandbox is not ready"),
        Some(sandbox) if sandbox.ip.is_empty() && !pod.spec.host_network => {
            Said::new(false, "PodSandboxNotReady", "")
        }
        Some(_) => Said::new(true, "", ""),
    }
}

pub(super) fn condition(pod: &Pod, r#type: &str, said: Said) -> PodCondition {
    PodCondition {
        r#type: r#type.into(),
        status: if said.status { "True" } else { "False" }.into(),
        reason: said.reason,
        message: said.message,
        observed_generation: pod.metadata.generation,
        ..Default::default()
    }
}

/// What is said of a pod past its deadline.
const TOO_LONG: &str = "Pod was active on the node longer than the specified deadline";

/// Whether a pod has been active for as long as it may. Upstream: active_deadline.go, pastActiveDeadline.
fn past_deadline(worker: &Worker, now: Instant) -> bool {
    let most = worker.pod.spec.active_deadline_seconds;
    most.is_some_and(|most| now.since(worker.started).as_secs() >= u64::try_from(most).unwrap_or(0))
}

impl Kubelet {
    /// The status that a sync writes; each time that a pod is found past its deadline an event says so.
    ///
    /// Upstream: pkg/kubelet/active_deadline.go, ShouldEvict (v1.37).
    pub(super) fn told_status(
        &self,
        cx: &mut Cx<'_>,
        uid: &Uid,
        runtime: &RuntimePod,
        terminal: bool,
    ) -> Option<PodStatus> {
        let worker = self.workers.get(uid)?;
        if past_deadline(worker, cx.now) {
            cx.event(pod_reference(&worker.pod, None), "Normal", "DeadlineExceeded", TOO_LONG.into());
        }
        self.generate(uid, runtime, terminal, cx.now)
    }

    /// The status of a pod as its containers stand in `runtime`; `terminal`: they will not start again.
    pub(super) fn generate(
        &self,
        uid: &Uid,
        runtime: &RuntimePod,
        terminal: bool,
        now: Instant,
    ) -> Option<PodStatus> {
        let worker = self.workers.get(uid)?;
        let pod = &*worker.pod;
        let old = worker.status.as_deref().unwrap_or(&pod.status);
        let mut status = PodStatus {
            observed_generation: pod.metadata.generation,
            qos_class: pod.status.qos_class.clone(),
            nominated_node_name: pod.status.nominated_node_name.clone(),
            host_ip: self.host_ip.clone(),
            host_ips: vec![PodIp { ip: self.host_ip.clone(), ..Default::default() }],
            start_time: Some(worker.started.to_time()),
            ..Default::default()
        };
        let of = |containers: &[Container], old: &[ContainerStatus]| -> Vec<ContainerStatus> {
            let one = |c: &Container| {
                let before = old.iter().find(|s| s.name == c.name);
                let mut status = container_status(pod, worker, runtime, c, before);
                probed(worker, runtime, c, &mut status);
                status
            };
            containers.iter().map(one).collect()
        };
        status.container_statuses = of(&pod.spec.containers, &old.container_statuses);
        status.container_statuses.arrange_by(|a, b| a.name.cmp(&b.name));
        status.init_container_statuses = of(&pod.spec.init_containers, &old.init_container_statuses);
        for (init, s) in pod.spec.init_containers.iter().zip(&mut status.init_container_statuses) {
            if !is_sidecar(init) {
                s.ready = s.state.terminated.as_ref().is_some_and(|t| t.exit_code == 0);
            }
        }
        let ip = match &runtime.sandbox {
            _ if pod.spec.host_network => self.host_ip.clone(),
            Some(sandbox) if !sandbox.ip.is_empty() => sandbox.ip.clone(),
            _ => old.pod_ip.clone(),
        };
        if !ip.is_empty() {
            status.pod_ips = vec![PodIp { ip: ip.clone(), ..Default::default() }];
            status.pod_ip = ip;
        }
        let (mut resources, requests) = pod_resources(pod);
        if worker.stage >= Stage::Terminated {
            without_cpu(&mut resources);
        }
        status.rest.insert("resources".into(), resources);
        if !requests.is_empty() {
            status.rest.insert("allocatedResources".into(), to_json(&requests));
        }
        self.set_phase(&mut status, worker, old, terminal, now);
        self.set_conditions(&mut status, pod, runtime);
        Some(status)
    }

    fn set_phase(
        &self,
        status: &mut PodStatus,
        worker: &Worker,
        old: &PodStatus,
        terminal: bool,
        now: Instant,
    ) {
        let pod = &*worker.pod;
        let mut all = status.container_statuses.clone();
        all.extend(status.init_container_statuses.iter().cloned());
        let initialized = conditions::any_started(&pod.spec, &all);
        status.phase = phase(&pod.spec, &all, terminal, initialized).into();
        let ended = [&old.phase, &pod.status.phase]
            .into_iter()
            .find(|p| matches!(p.as_str(), "Succeeded" | "Failed"));
        if let Some(ended) = ended {
            status.phase = ended.clone();
        }
        if status.phase == old.phase {
            status.reason = old.reason.clone();
            status.message = old.message.clone();
        }
        if past_deadline(worker, now) && !matches!(status.phase.as_str(), "Succeeded" | "Failed") {
            status.phase = "Failed".into();
            status.reason = "DeadlineExceeded".into();
            status.message = TOO_LONG.into();
        }
    }

    fn set_conditions(&self, status: &mut PodStatus, pod: &Pod, runtime: &RuntimePod) {
        let mut all = status.container_statuses.clone();
        all.extend(status.init_container_statuses.iter().cloned());
        let containers = conditions::containers_ready(&pod.spec, &all, &status.phase);
        let ready = conditions::ready(&pod.spec, &pod.status.conditions, &containers);
        let initialized = conditions::initialized(&pod.spec, &all, &status.phase);
        status.conditions =
            pod.status.conditions.iter().filter(|c| !OWN.contains(&c.r#type.as_str())).cloned().collect();
        let said = [sandbox_said(pod, runtime), initialized, ready, containers, Said::new(true, "", "")];
        status
            .conditions
            .extend(OWN.into_iter().zip(said).map(|(r#type, said)| condition(pod, r#type, said)));
    }
}
