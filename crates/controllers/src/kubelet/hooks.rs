//! What a container asks to be done just after its start and just before its end.
//! Upstream: pkg/kubelet/lifecycle/handlers.go, and kuberuntime's executePreStopHook.

use super::{
    Cx, Kubelet, Uid, described, pod_reference,
    probes::{Exec, Purpose},
    start::container,
};
use kubestep_control::{ExecAnswer, Order, ProbeKind};
use kubestep_model::Pod;
use serde_json::Value;
use std::sync::Arc;

/// However long a hook took, a container has this many seconds to end.
pub(super) const LEAST_GRACE: i64 = 2;

/// The command of a hook; a `sleep` hook is one, too. Hooks over the network are not run.
fn command(pod: &Pod, name: &str, hook: &str) -> Option<Vec<String>> {
    let handler = &container(pod, name)?.lifecycle.as_ref()?[hook];
    if let Some(seconds) = handler["sleep"]["seconds"].as_i64() {
        return Some(vec!["sleep".into(), seconds.to_string()]);
    }
    let words = handler["exec"]["command"].as_array()?;
    Some(words.iter().filter_map(Value::as_str).map(Into::into).collect())
}

impl Kubelet {
    fn run_hook(&mut self, cx: &mut Cx<'_>, exec: Exec, command: Vec<String>, timeout_seconds: i64) {
        self.next_exec += 1;
        let number = self.next_exec;
        let (pod, id) = (exec.uid.clone(), exec.id.clone());
        self.execs.insert(number, exec);
        cx.order(Order::Exec { number, pod, id, probe: ProbeKind::Hook, command, timeout_seconds });
    }

    /// Stops a container, after its preStop hook if it has one; the hook counts against the grace period.
    pub(super) fn stop_container(
        &mut self,
        cx: &mut Cx<'_>,
        pod: &Arc<Pod>,
        name: &Arc<str>,
        id: &Arc<str>,
        grace: i64,
    ) {
        let uid: &Uid = &pod.metadata.uid;
        match command(pod, name, "preStop").filter(|_| grace > 0) {
            None => self.stop_in_turn(cx, uid, name, id, grace),
            Some(command) => {
                let purpose = Purpose::PreStop(grace, cx.now);
                let exec = Exec { uid: uid.clone(), container: name.clone(), id: id.clone(), purpose };
                self.run_hook(cx, exec, command, grace);
            }
        }
    }

    /// A preStop hook has ended, one way or another.
    pub(super) fn pre_stop_done(
        &mut self,
        cx: &mut Cx<'_>,
        exec: &Exec,
        grace: i64,
        began: kubestep_model::Instant,
        answer: &ExecAnswer,
    ) {
        let (uid, id) = (exec.uid.clone(), exec.id.clone());
        // A hook that outlasts the grace period is left behind without a word.
        let failed = matches!(answer, ExecAnswer::Ended { code, .. } if *code != 0);
        if let Some(worker) = self.workers.get(&uid).filter(|_| failed) {
            let about = pod_reference(&worker.pod, Some(&exec.container));
            cx.event(about, "Warning", "FailedPreStopHook", "PreStopHook failed".into());
        }
        let took = i64::try_from(cx.now.since(began).as_secs()).unwrap_or(grace);
        self.stop_in_turn(cx, &uid, &exec.container, &id, grace - took);
    }

    /// Runs a postStart hook; answers whether the sync now waits for it.
    pub(super) fn post_start(&mut self, cx: &mut Cx<'_>, uid: &Uid, name: &Arc<str>, id: &Arc<str>) -> bool {
        let Some(pod) = self.workers.get(uid).map(|w| w.pod.clone()) else { return false };
        let Some(command) = command(&pod, name, "postStart") else { return false };
        let exec =
            Exec { uid: uid.clone(), container: name.clone(), id: id.clone(), purpose: Purpose::PostStart };
        self.run_hook(cx, exec, command, 0);
        true
    }

    /// A postStart hook has ended; if it failed its container is stopped.
    pub(super) fn post_start_done(&mut self, cx: &mut Cx<'_>, exec: &Exec, answer: &ExecAnswer) {
        let (uid, name) = (exec.uid.clone(), exec.container.clone());
        let Some(pod) = self.workers.get(&uid).map(|w| w.pod.clone()) else { return };
        let words = command(&pod, &name, "postStart").unwrap_or_default();
        let (why, output) = match answer {
            ExecAnswer::Ended { code: 0, .. } => return self.start_next(cx, &uid),
            ExecAnswer::Ended { code, output } => {
                (format!("command '{}' exited with {code}: {output}", words.join(" ")), &**output)
            }
            ExecAnswer::Late(text) | ExecAnswer::Failed(text) => (text.to_string(), ""),
        };
        let text = format!(
            "Exec lifecycle hook ([{}]) for Container \"{name}\" in Pod \"{}\" failed - error: {why}, message: {output:?}",
            words.join(" "),
            described(&pod),
        );
        let about = pod_reference(&pod, Some(&name));
        cx.event(about.clone(), "Warning", "FailedPostStartHook", "PostStartHook failed".into());
        cx.event(about, "Normal", "Killing", "FailedPostStartHook".into());
        let grace = pod.spec.termination_grace_period_seconds.unwrap_or(30);
        self.stop_container(cx, &pod, &name, &exec.id, grace);
        self.start_failed(&uid, &name, "PostStartHookError", &text, None);
        self.start_next(cx, &uid);
    }
}
