//! The lives of processes on a machine: how they begin, sleep, end, are stopped, and answer commands.

use super::{Due, Machine};
use crate::runtime::process::{self, Run};
use kubestep_control::{ExecAnswer, ProbeKind, Report, RuntimeState};
use kubestep_model::Instant;
use std::{sync::Arc, time::Duration};

/// How long a server needs after SIGTERM.
const STOP: Duration = Duration::from_millis(100);
/// How long it takes until the signal is there.
const SIGNAL: Duration = Duration::from_millis(3);

impl Machine {
    /// A process begins: what its image prints, then its program or its image's table row.
    pub(super) fn begin(&mut self, id: &Arc<str>, now: Instant) -> Vec<Report> {
        let Some(held) = self.containers.get_mut(id) else { return vec![] };
        let image = held.image.clone();
        if let Some(image) = image.as_ref().filter(|i| !i.logs.is_empty()) {
            held.disk.print(now, &image.logs);
        }
        if held.process.is_some() {
            return self.go_on(id, now);
        }
        if let Some(image) = image.filter(|i| i.ends()) {
            if image.after.is_zero() {
                return self.go_on(id, now);
            }
            self.set_alarm(id, now + image.after);
        }
        vec![]
    }

    pub(super) fn set_alarm(&mut self, id: &Arc<str>, at: Instant) {
        let alarm = self.alarm(at, Due::Process { id: id.clone() });
        if let Some(held) = self.containers.get_mut(id) {
            held.alarm = Some(alarm);
        }
    }

    pub(super) fn go_on(&mut self, id: &Arc<str>, now: Instant) -> Vec<Report> {
        let Some(held) = self.containers.get_mut(id) else { return vec![] };
        held.alarm = None;
        let run = match (&mut held.process, &held.image) {
            (Some(cursor), _) => cursor.run(&mut held.disk, now, &[]),
            (None, Some(image)) => Run::Ended(image.exit.unwrap_or(0)),
            (None, None) => Run::Stays,
        };
        match run {
            Run::Sleeps(length) => {
                self.set_alarm(id, now + length);
                vec![]
            }
            Run::Stays => vec![],
            Run::Ended(code) => {
                let killed = held.image.as_ref().is_some_and(|i| i.oom) && code == 137;
                self.finish(id, code, if killed { "OOMKilled" } else { "" }, now)
            }
        }
    }

    pub(super) fn finish(&mut self, id: &Arc<str>, code: i32, reason: &str, now: Instant) -> Vec<Report> {
        let Some(held) = self.containers.get_mut(id).filter(|h| h.info.state != RuntimeState::Exited) else {
            return vec![];
        };
        let reason = match (reason, code) {
            ("", 0) => "Completed",
            ("", _) => "Error",
            (said, _) => said,
        };
        let info = Arc::make_mut(&mut held.info);
        info.state = RuntimeState::Exited;
        info.finished = Some(now);
        info.exit_code = code;
        info.reason = reason.into();
        let (stop, alarm) = (held.stop.take(), held.alarm.take());
        let (pod, container) = (held.pod.clone(), held.info.clone());
        let counted = super::memory::counts(held);
        for key in stop.iter().chain(&alarm) {
            self.due.remove(key);
        }
        if counted {
            self.watch_memory(now);
        }
        let mut reports = vec![Report::Container { pod: pod.clone(), container }];
        if stop.is_some() {
            reports.push(Report::Stopped { pod, id: id.clone() });
        }
        reports
    }

    /// SIGTERM, the grace period, SIGKILL. A shell or `sleep` as process 1 does not answer SIGTERM.
    pub(super) fn stop(&mut self, pod: Arc<str>, id: Arc<str>, grace: i64, now: Instant) -> Vec<Report> {
        let running = self.containers.get(&id).filter(|h| h.info.state == RuntimeState::Running);
        let Some(held) = running else { return vec![Report::Stopped { pod, id }] };
        let earlier = held.stop;
        let image = held.image.as_deref().filter(|_| held.process.is_none());
        let deaf = held.process.is_some() || image.is_some_and(|i| i.ignores_term);
        let after = image.and_then(|i| i.stop).unwrap_or(STOP);
        let code = image.map_or(0, |i| i.stop_exit);
        let kill = Duration::from_secs(u64::try_from(grace).unwrap_or(0));
        let (wait, code) = if deaf || after >= kill { (kill, 137) } else { (after, code) };
        if let Some(key) = earlier {
            self.due.remove(&key);
        }
        if wait.is_zero() {
            if let Some(held) = self.containers.get_mut(&id) {
                held.stop = None;
            }
            let mut reports = self.finish(&id, 137, "", now);
            reports.push(Report::Stopped { pod, id });
            return reports;
        }
        let wait = SIGNAL + wait;
        let at = earlier.map_or(now + wait, |(at, _)| at.min(now + wait));
        let key = self.alarm(at, Due::Stop { id: id.clone(), code });
        if let Some(held) = self.containers.get_mut(&id) {
            held.stop = Some(key);
        }
        vec![]
    }

    pub(super) fn stop_sandbox(&mut self, pod: &Arc<str>, now: Instant) -> Vec<Report> {
        let ids: Vec<_> =
            self.containers.iter().filter(|(_, h)| h.pod == *pod).map(|(id, _)| id.clone()).collect();
        let mut reports: Vec<Report> = ids.iter().flat_map(|id| self.finish(id, 137, "", now)).collect();
        if let Some(sandbox) = self.sandboxes.get_mut(pod) {
            sandbox.ready = false;
            reports.push(Report::Sandbox { pod: pod.clone(), sandbox: sandbox.clone() });
        }
        reports
    }

    /// How long a command in a container takes and what it answers.
    pub(super) fn probe(
        &mut self,
        pod: &str,
        id: &str,
        probe: ProbeKind,
        command: &[String],
        timeout: i64,
        now: Instant,
    ) -> (Duration, ExecAnswer) {
        let Some(held) = self.containers.get_mut(id) else {
            let text = format!(
                "rpc error: code = NotFound desc = failed to find container \"{id}\" in store: not found"
            );
            return (Duration::ZERO, ExecAnswer::Failed(text.into()));
        };
        if held.info.state != RuntimeState::Running {
            let text = "rpc error: code = Unknown desc = container is in CONTAINER_EXITED state";
            return (Duration::ZERO, ExecAnswer::Failed(text.into()));
        }
        let by_name = |name: Arc<str>| self.answers.get(&(pod.into(), name, probe));
        if let Some(answer) = by_name(held.info.name.clone()).or_else(|| by_name("".into())) {
            let output = match command {
                [cat, file] if cat == "cat" && !answer => format!("cat: {file}: No such file or directory\n"),
                _ => String::new(),
            };
            return (Duration::ZERO, ExecAnswer::Ended { code: i32::from(!answer), output: output.into() });
        }
        let limit = Duration::from_secs(u64::try_from(timeout).unwrap_or(0));
        let ran = process::exec(command, &mut held.disk, now, &[]);
        match ran {
            Ok((took, code, output)) if limit.is_zero() || took < limit => {
                (took, ExecAnswer::Ended { code, output: output.into() })
            }
            _ => {
                // Upstream: cri-client/pkg/remote_runtime.go, execSync.
                let text = format!("command timed out: {:?} timed out after {timeout}s", command.join(" "));
                (limit, ExecAnswer::Late(text.into()))
            }
        }
    }
}
