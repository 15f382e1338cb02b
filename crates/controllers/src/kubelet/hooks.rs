//! What a container asks to be done just after its start and just before its end.
//! Upstream: pkg/kubelet/lifecycle/handlers.go, and kuberuntime's executePreStopHook.

use super::{
    Cx, Kubelet, Uid, described, network, pod_reference,
    probes::{Exec, Purpose},
    start::container,
};
use kubestep_control::{ExecAnswer, NetAsk, Order, ProbeKind, RuntimePod};
use kubestep_model::Pod;
use serde_json::Value;
use std::sync::Arc;

/// However long a hook took, a container has this many seconds to end.
pub(super) const LEAST_GRACE: i64 = 2;

/// What a hook does.
enum Deed {
    Command(Vec<String>),
    Ask(NetAsk),
    /// It cannot be done: why.
    Cannot(String),
}

fn words(handler: &Value) -> Option<Vec<String>> {
    let words = handler["exec"]["command"].as_array()?;
    Some(words.iter().filter_map(Value::as_str).map(Into::into).collect())
}

/// What a hook does; a `sleep` hook is a command, too. Upstream: handlerRunner.Run.
fn deed(pod: &Pod, name: &str, hook: &str, ip: &str) -> Option<Deed> {
    let container = container(pod, name)?;
    let handler = container.lifecycle.as_ref()?.get(hook).filter(|handler| handler.is_object())?;
    if let Some(words) = words(handler) {
        return Some(Deed::Command(words));
    }
    if handler["httpGet"].is_object() {
        return Some(network::http(&handler["httpGet"], container, ip).map_or_else(Deed::Cannot, Deed::Ask));
    }
    if let Some(seconds) = handler["sleep"]["seconds"].as_i64() {
        return Some(Deed::Command(vec!["sleep".into(), seconds.to_string()]));
    }
    let socket = &handler["tcpSocket"];
    let port = match socket["port"].as_str() {
        Some(name) => format!("{{1 0 {name}}}"),
        None => format!("{{0 {} }}", socket["port"].as_i64().unwrap_or(0)),
    };
    let host = socket["host"].as_str().unwrap_or_default();
    Some(Deed::Cannot(format!(
        "invalid handler: &LifecycleHandler{{Exec:nil,HTTPGet:nil,TCPSocket:&TCPSocketAction{{Port:{port},Host:{host},}},Sleep:nil,}}"
    )))
}

/// What an event says of a hook that failed. Upstream: handlerRunner.Run.
fn failure(pod: &Pod, name: &str, hook: &str, error: &str, output: &str) -> String {
    let handler = container(pod, name).and_then(|c| c.lifecycle.as_ref()).map(|l| &l[hook]);
    let (of, what) = (format!("for Container \"{name}\" in Pod \"{}\"", described(pod)), handler);
    match what {
        Some(handler) if handler["httpGet"].is_object() => {
            let path = handler["httpGet"]["path"].as_str().unwrap_or("/");
            format!("HTTP lifecycle hook ({path}) {of} failed - error: {error}")
        }
        Some(handler) if handler["tcpSocket"].is_object() => format!("Cannot run handler: {error}"),
        _ => {
            let words = handler.and_then(words).unwrap_or_default().join(" ");
            format!("Exec lifecycle hook ([{words}]) {of} failed - error: {error}, message: {output:?}")
        }
    }
}

impl Kubelet {
    fn run_hook(&mut self, cx: &mut Cx<'_>, exec: Exec, deed: Deed, timeout_seconds: i64) {
        let (pod, id, probe) = (exec.uid.clone(), exec.id.clone(), ProbeKind::Hook);
        self.next_exec += 1;
        let number = self.next_exec;
        self.execs.insert(number, exec);
        match deed {
            Deed::Command(command) => {
                cx.order(Order::Exec { number, pod, id, probe, command, timeout_seconds });
            }
            Deed::Ask(ask) => cx.order(Order::Net { number, pod, id, probe, ask, timeout_seconds }),
            Deed::Cannot(why) => self.exec_done(cx, number, ExecAnswer::Untried(why.into())),
        }
    }

    fn pod_ip(&self, uid: &Uid) -> Arc<str> {
        let ip = |seen: &RuntimePod| seen.sandbox.as_ref().map(|sandbox| sandbox.ip.clone());
        let found = ip(&self.seen(uid)).filter(|ip| !ip.is_empty());
        let status = self.workers.get(uid).and_then(|w| w.status.as_ref());
        found.or_else(|| status.map(|s| s.pod_ip.clone())).unwrap_or_default()
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
        let ip = self.pod_ip(uid);
        match deed(pod, name, "preStop", &ip).filter(|_| grace > 0) {
            None => self.stop_in_turn(cx, uid, name, id, grace),
            Some(deed) => {
                let purpose = Purpose::PreStop(grace, cx.now);
                let exec = Exec { uid: uid.clone(), container: name.clone(), id: id.clone(), purpose };
                self.run_hook(cx, exec, deed, grace);
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
        let failed = match answer {
            ExecAnswer::Ended { code, .. } => *code != 0,
            ExecAnswer::Untried(_) => true,
            ExecAnswer::Late(_) | ExecAnswer::Failed(_) => false,
        };
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
        let ip = self.pod_ip(uid);
        let Some(deed) = deed(&pod, name, "postStart", &ip) else { return false };
        let exec =
            Exec { uid: uid.clone(), container: name.clone(), id: id.clone(), purpose: Purpose::PostStart };
        self.run_hook(cx, exec, deed, 0);
        true
    }

    /// A postStart hook has ended; if it failed its container is stopped.
    pub(super) fn post_start_done(&mut self, cx: &mut Cx<'_>, exec: &Exec, answer: &ExecAnswer) {
        let (uid, name) = (exec.uid.clone(), exec.container.clone());
        let Some(pod) = self.workers.get(&uid).map(|w| w.pod.clone()) else { return };
        let lifecycle = container(&pod, &name).and_then(|c| c.lifecycle.as_ref());
        let command = lifecycle.and_then(|l| words(&l["postStart"]));
        let (why, output) = match (answer, command) {
            (ExecAnswer::Ended { code: 0, .. }, _) => return self.start_next(cx, &uid),
            (ExecAnswer::Ended { code, output }, Some(words)) => {
                (format!("command '{}' exited with {code}: {output}", words.join(" ")), &**output)
            }
            (ExecAnswer::Ended { output, .. }, None) => (output.to_string(), ""),
            (ExecAnswer::Late(text) | ExecAnswer::Failed(text) | ExecAnswer::Untried(text), _) => {
                (text.to_string(), "")
            }
        };
        let text = failure(&pod, &name, "postStart", &why, output);
        let about = pod_reference(&pod, Some(&name));
        cx.event(about.clone(), "Warning", "FailedPostStartHook", "PostStartHook failed".into());
        cx.event(about, "Normal", "Killing", "FailedPostStartHook".into());
        let grace = pod.spec.termination_grace_period_seconds.unwrap_or(30);
        self.stop_container(cx, &pod, &name, &exec.id, grace);
        self.start_failed(&uid, &name, "PostStartHookError", &text, None);
        self.start_next(cx, &uid);
    }
}
