//! Rows of the kinds that the store keeps whole: what is asked for, what there is, and how they are told apart.

use super::board::Board;
use kubestep_cluster::loops;
use kubestep_model::{
    CronJob, Custom, DaemonSet, HorizontalPodAutoscaler, Job, Object, PodTemplateSpec, ReplicationController,
    StatefulSet, Whole,
};
use kubestep_protocol::{Row, Slots};
use serde_json::Value;

fn number(n: i32) -> u32 {
    u32::try_from(n).unwrap_or(0)
}

/// The first container's image, from its last colon on.
fn tag(template: &PodTemplateSpec) -> String {
    template.spec.containers.first().map_or(String::new(), |c| super::rows::tag_of(&c.image).to_string())
}

/// Fills a row in, where its kind has more to say than its name.
pub(super) fn fill(row: &mut Row, board: &Board<'_>, object: &Object, custom: &Custom) {
    row.no_loop = !loops::acts_on(custom.kind);
    if row.no_loop {
        return;
    }
    let pods = board.pods(object).iter().filter(|p| p.is_active()).count();
    let pods = i32::try_from(pods).unwrap_or(i32::MAX);
    match custom.kind.name() {
        "StatefulSet" => read(object, |s: StatefulSet| {
            let (want, status) = (s.spec.replicas.unwrap_or(1), &s.status);
            let new = (status.update_revision != status.current_revision).then_some(status.updated_replicas);
            row.tag = tag(&s.spec.template);
            running(row, want, status.ready_replicas, pods, new);
        }),
        "DaemonSet" => read(object, |d: DaemonSet| {
            let (want, status) = (d.status.desired_number_scheduled, &d.status);
            let new = (status.updated_number_scheduled < want).then_some(status.updated_number_scheduled);
            row.tag = tag(&d.spec.template);
            running(row, want, status.number_ready, pods, new);
        }),
        "ReplicationController" => read(object, |r: ReplicationController| {
            row.tag = r.spec.template.as_ref().map_or(String::new(), tag);
            running(row, r.spec.replicas.unwrap_or(1), r.status.ready_replicas, pods, None);
        }),
        "Job" => read(object, |j: Job| job(row, &j)),
        "CronJob" => read(object, |c: CronJob| {
            let rests = c.spec.suspend == Some(true);
            row.tag = if rests { "suspended".into() } else { c.spec.schedule.clone() };
            row.has = match c.status.active.len() {
                0 => "no job runs".into(),
                n => format!("{n} running"),
            };
        }),
        "HorizontalPodAutoscaler" => read(object, |h: HorizontalPodAutoscaler| {
            row.tag = format!("{} to {}", h.spec.min_replicas.unwrap_or(1), h.spec.max_replicas);
            row.has = format!("{} now, {} wanted", h.status.current_replicas, h.status.desired_replicas);
        }),
        "PersistentVolumeClaim" => {
            let at =
                |parent: &str, name: &str| custom.rest.get(parent)?.get(name)?.as_str().map(str::to_string);
            row.tag = at("spec", "storageClassName").unwrap_or_default();
            row.has = at("status", "phase").unwrap_or_else(|| "Pending".into());
        }
        "PodDisruptionBudget" => {
            let at = |name: &str| {
                custom.rest.get("status").and_then(|s| s.get(name)).and_then(Value::as_i64).unwrap_or(0)
            };
            row.has = format!(
                "{} of {} healthy, {} may go",
                at("currentHealthy"),
                at("desiredHealthy"),
                at("disruptionsAllowed")
            );
        }
        _ => {}
    }
}

fn read<W: Whole>(object: &Object, with: impl FnOnce(W)) {
    if let Some(whole) = W::read(object) {
        with(whole);
    }
}

/// A kind that keeps pods running: `new` is how many are of the new revision while there is an older one.
fn running(row: &mut Row, want: i32, ready: i32, pods: i32, new: Option<i32>) {
    row.want = Some(number(want));
    let ready = ready.max(0);
    let full = ready.min(want.max(0));
    let old = new.map_or(0, |new| full.saturating_sub(new.max(0)).max(0));
    row.slots = Some(Slots {
        full: number(full - old),
        old: number(old),
        gap: number(want.saturating_sub(ready)),
        extra: number(pods.saturating_sub(want)),
    });
    row.has = match new {
        Some(new) => format!("{ready} ready, {new} new"),
        None => format!("{ready} ready"),
    };
}

fn job(row: &mut Row, job: &Job) {
    let want = job.spec.completions.unwrap_or(1);
    let status = &job.status;
    let done = status.succeeded.clamp(0, want.max(0));
    row.want = Some(number(want));
    row.slots = Some(Slots { full: number(done), old: 0, gap: number(want.saturating_sub(done)), extra: 0 });
    row.tag = match job.finished() {
        Some(end) => end.r#type.to_ascii_lowercase(),
        None if job.spec.suspend == Some(true) => "suspended".into(),
        None => tag(&job.spec.template),
    };
    let counts = [(status.succeeded, "done"), (status.active, "running"), (status.failed, "failed")];
    let words: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    row.has = if words.is_empty() { "0 done".into() } else { words.join(", ") };
}
