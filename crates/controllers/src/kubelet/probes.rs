//! The prober: asks containers whether they have started, are ready, are alive.
//! Upstream: pkg/kubelet/prober, worker.go and prober_manager.go.

use super::{
    Cx, Kubelet, Timer, Uid, network, pod_reference,
    start::container,
    worker::{Stage, Worker},
};
use kubestep_control::{ExecAnswer, Order, ProbeKind};
use kubestep_model::{Container, Instant, PodStatus, Probe as ProbeSpec};
use std::{sync::Arc, time::Duration};

/// What a probe has found so far about the container that runs now.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Probe {
    /// The container's id.
    pub(super) container: Option<Arc<str>>,
    /// The result that counts; `None` while a startup probe has none.
    pub(super) passed: Option<bool>,
    last: Option<bool>,
    in_a_row: i32,
    /// It failed for good: the container is to be restarted first.
    on_hold: bool,
    busy: bool,
}

/// A command that runs in a container, and what for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Exec {
    pub(super) uid: Uid,
    pub(super) container: Arc<str>,
    pub(super) id: Arc<str>,
    pub(super) purpose: Purpose,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Purpose {
    Probe(ProbeKind),
    /// With the grace period and the hook's begin.
    PreStop(i64, Instant),
    PostStart,
}

const KINDS: [ProbeKind; 3] = [ProbeKind::Startup, ProbeKind::Readiness, ProbeKind::Liveness];

fn spec(container: &Container, kind: ProbeKind) -> Option<&ProbeSpec> {
    match kind {
        ProbeKind::Startup => container.startup_probe.as_ref(),
        ProbeKind::Readiness => container.readiness_probe.as_ref(),
        ProbeKind::Liveness => container.liveness_probe.as_ref(),
        ProbeKind::Hook => None,
    }
}

fn title(kind: ProbeKind) -> &'static str {
    match kind {
        ProbeKind::Startup => "Startup",
        ProbeKind::Readiness => "Readiness",
        ProbeKind::Liveness => "Liveness",
        ProbeKind::Hook => "Hook",
    }
}

fn seconds(n: i32, least: u64) -> Duration {
    Duration::from_secs(u64::try_from(n).unwrap_or(0).max(least))
}

impl Kubelet {
    /// Begins to probe the containers of a pod, if that has not begun.
    pub(super) fn ensure_probes(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let (began, now) = (self.began, cx.now);
        let Some(worker) = self.workers.get(uid) else { return };
        let pod = worker.pod.clone();
        let known = |key: &(Arc<str>, ProbeKind)| worker.probes.contains_key(key);
        let mut new = vec![];
        for container in pod.spec.init_containers.iter().chain(&pod.spec.containers) {
            for kind in KINDS {
                let key = (Arc::from(container.name.as_str()), kind);
                if let Some(spec) = spec(container, kind).filter(|_| !known(&key)) {
                    new.push((key, seconds(spec.period_seconds, 1)));
                }
            }
        }
        for (key, period) in new {
            // Just after its own start a kubelet spreads the first probes.
            let young = now.since(began) < period;
            let first = if young { Self::jitter(cx, "kubelet.probe", period) } else { period };
            cx.wake_at(Timer::Probe(uid.clone(), key.0.clone(), key.1), now + first);
            if let Some(worker) = self.worker(uid) {
                worker.probes.insert(key, Probe::default());
            }
        }
    }

    /// No container of the pod is probed any more.
    pub(super) fn stop_probes(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        self.stop_probes_of(cx, uid, |_| true);
    }

    /// A pod that ends is asked only whether it is ready.
    pub(super) fn stop_probes_but_readiness(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        self.stop_probes_of(cx, uid, |kind| kind != ProbeKind::Readiness);
    }

    fn stop_probes_of(&mut self, cx: &mut Cx<'_>, uid: &Uid, which: impl Fn(ProbeKind) -> bool) {
        let Some(worker) = self.workers.get(uid) else { return };
        for (name, kind) in worker.probes.keys().filter(|(_, kind)| which(*kind)) {
            cx.cancel(Timer::Probe(uid.clone(), name.clone(), *kind));
        }
    }

    /// Probes whose result is still missing are run at once. Upstream: manager.UpdatePodStatus.
    pub(super) fn trigger_probes(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let Some(worker) = self.workers.get(uid).filter(|w| w.stage == Stage::Syncing) else { return };
        let Some(status) = worker.status.clone() else { return };
        let unready = |c: &&kubestep_model::ContainerStatus| c.started == Some(true) && !c.ready;
        let all = status.container_statuses.iter().chain(&status.init_container_statuses);
        let keys: Vec<(Arc<str>, ProbeKind)> = all
            .filter(unready)
            .map(|c| (Arc::from(c.name.as_str()), ProbeKind::Readiness))
            .filter(|key| worker.probes.contains_key(key))
            .collect();
        for (name, kind) in keys {
            self.probe_due(cx, uid, &name, kind);
        }
    }

    /// A probe's period has passed.
    pub(super) fn probe_due(&mut self, cx: &mut Cx<'_>, uid: &Uid, name: &Arc<str>, kind: ProbeKind) {
        let Some(worker) = self.workers.get(uid) else { return };
        let pod = worker.pod.clone();
        let Some(spec) = container(&pod, name).and_then(|c| spec(c, kind)) else { return };
        let done = worker.stage >= Stage::Terminated
            || (worker.stage == Stage::Terminating && kind != ProbeKind::Readiness);
        if done {
            return;
        }
        cx.wake_at(Timer::Probe(uid.clone(), name.clone(), kind), cx.now + seconds(spec.period_seconds, 1));
        let Some(id) = self.due_container(cx, uid, name, kind, spec) else { return };
        let purpose = Purpose::Probe(kind);
        let exec = Exec { uid: uid.clone(), container: name.clone(), id: id.clone(), purpose };
        let ip = self.workers.get(uid).and_then(|w| w.status.as_ref()).map(|s| s.pod_ip.clone());
        let net = container(&pod, name).and_then(|c| network::of_probe(spec, c, &ip.unwrap_or_default()));
        let ask = match net.transpose() {
            Ok(ask) => ask,
            Err(why) => return self.probed(cx, exec, kind, ExecAnswer::Untried(why.into())),
        };
        self.next_exec += 1;
        let number = self.next_exec;
        self.execs.insert(number, exec);
        let timeout_seconds = i64::from(spec.timeout_seconds.max(1));
        cx.order(match ask {
            Some(ask) => Order::Net { number, pod: uid.clone(), id, probe: kind, ask, timeout_seconds },
            None => {
                let command = spec.exec.as_ref().map(|e| e.command.clone()).unwrap_or_default();
                Order::Exec { number, pod: uid.clone(), id, probe: kind, command, timeout_seconds }
            }
        });
    }

    /// The container to be probed now, if this is the time for it. Upstream: worker.doProbe.
    fn due_container(
        &mut self,
        cx: &mut Cx<'_>,
        uid: &Uid,
        name: &Arc<str>,
        kind: ProbeKind,
        spec: &ProbeSpec,
    ) -> Option<Arc<str>> {
        let now = cx.now;
        let worker: &mut Worker = self.worker(uid)?;
        let status = worker.status.clone()?;
        let all = status.container_statuses.iter().chain(&status.init_container_statuses);
        let found = all.into_iter().find(|c| *c.name == **name)?;
        let id: Arc<str> = found.container_id.strip_prefix("containerd://")?.into();
        let probe = worker.probes.get_mut(&(name.clone(), kind))?;
        if probe.container.as_ref() != Some(&id) {
            let passed = match kind {
                ProbeKind::Readiness => Some(false),
                ProbeKind::Liveness => Some(true),
                ProbeKind::Startup | ProbeKind::Hook => None,
            };
            // How often the same answer came in a row is counted on, as upstream's worker does.
            let (last, in_a_row) = (probe.last, probe.in_a_row);
            *probe = Probe { container: Some(id.clone()), passed, last, in_a_row, ..Probe::default() };
            if kind == ProbeKind::Startup && found.started == Some(true) {
                self.say_started(cx, uid, name, false);
                self.update(cx, uid);
                return None;
            }
        }
        if probe.on_hold || probe.busy {
            return None;
        }
        let Some(running) = &found.state.running else {
            probe.passed = Some(false);
            return None;
        };
        let began = running.started_at?.instant();
        if now.since(began) < seconds(spec.initial_delay_seconds, 0) || now < began {
            return None;
        }
        if (found.started == Some(true)) == (kind == ProbeKind::Startup) {
            return None;
        }
        probe.busy = true;
        Some(id)
    }

    /// Says that a container has started, or (where its startup probe sees that it runs anew) not yet. Whether it is
    /// ready is the next sync's matter. Upstream: status manager, SetContainerStartup.
    fn say_started(&mut self, cx: &mut Cx<'_>, uid: &Uid, name: &str, started: bool) {
        let Some(status) = self.workers.get(uid).and_then(|w| w.status.clone()) else { return };
        let mut status = PodStatus::clone(&status);
        let all = status.container_statuses.iter_mut().chain(status.init_container_statuses.iter_mut());
        for container in all.filter(|c| *c.name == *name) {
            container.started = Some(started);
        }
        self.set_status(cx, uid, status);
    }

    /// A command in a container has ended.
    pub(super) fn exec_done(&mut self, cx: &mut Cx<'_>, number: u64, answer: ExecAnswer) {
        let Some(exec) = self.execs.remove(&number) else { return };
        match exec.purpose {
            Purpose::Probe(kind) => self.probed(cx, exec, kind, answer),
            Purpose::PreStop(grace, began) => self.pre_stop_done(cx, &exec, grace, began, &answer),
            Purpose::PostStart => self.post_start_done(cx, &exec, &answer),
        }
    }

    fn probed(&mut self, cx: &mut Cx<'_>, exec: Exec, kind: ProbeKind, answer: ExecAnswer) {
        let Exec { uid, container: name, id, .. } = exec;
        let Some(worker) = self.worker(&uid) else { return };
        let pod = worker.pod.clone();
        let Some(probe) = worker.probes.get_mut(&(name.clone(), kind)) else { return };
        probe.busy = false;
        let Some(spec) = container(&pod, &name).and_then(|c| spec(c, kind)) else { return };
        if probe.container.as_ref() != Some(&id) {
            return;
        }
        let (passed, output) = match answer {
            ExecAnswer::Ended { code, output } => (code == 0, output),
            ExecAnswer::Late(text) => (false, text),
            ExecAnswer::Failed(text) | ExecAnswer::Untried(text) => {
                // A probe that could not be run counts for nothing.
                let state = "errored and resulted in unknown state";
                let text = format!("{} probe {state}: {text}", title(kind));
                return cx.event(pod_reference(&pod, Some(&name)), "Warning", "Unhealthy", text);
            }
        };
        if probe.last == Some(passed) {
            probe.in_a_row = probe.in_a_row.saturating_add(1);
        } else {
            probe.last = Some(passed);
            probe.in_a_row = 1;
        }
        let threshold = if passed { spec.success_threshold } else { spec.failure_threshold };
        let counts = probe.in_a_row >= threshold.max(1);
        let changed = counts && probe.passed != Some(passed);
        if counts {
            probe.passed = Some(passed);
            if !passed && kind != ProbeKind::Readiness {
                probe.on_hold = true;
                probe.in_a_row = 0;
            }
        }
        if !passed {
            let text = format!("{} probe failed: {output}", title(kind));
            cx.event(pod_reference(&pod, Some(&name)), "Warning", "Unhealthy", text);
        }
        if changed {
            self.probe_changed(cx, &uid, &name, kind, passed);
        }
    }

    fn probe_changed(&mut self, cx: &mut Cx<'_>, uid: &Uid, name: &str, kind: ProbeKind, passed: bool) {
        let answer = if passed { "passed" } else { "failed" };
        let about = vec![
            ("probe", title(kind).to_ascii_lowercase()),
            ("container", name.into()),
            ("answer", answer.into()),
        ];
        cx.because("kubelet.probe", about);
        let stage = self.workers.get(uid).map_or(Stage::Finished, |w| w.stage);
        if kind == ProbeKind::Startup && stage <= Stage::Terminating {
            self.say_started(cx, uid, name, passed);
        } else if kind == ProbeKind::Readiness && stage <= Stage::Terminating {
            let seen = self.seen(uid);
            if let Some(status) = self.generate(uid, &seen, false, cx.now) {
                self.set_status(cx, uid, status);
            }
        }
        if stage == Stage::Syncing {
            self.update(cx, uid);
        }
    }
}
