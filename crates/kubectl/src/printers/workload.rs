//! Stateful sets, daemon sets, jobs and what goes with them.

use super::{Column, Row, age, boolean, column, common, number, row, wide};
use crate::fields::Fields;
use kubestep_model::{Instant, text::duration::human_duration};
use serde_json::Value;

pub(super) const STATEFUL_SET: &[Column] =
    &[column("Name"), column("Ready"), column("Age"), wide("Containers"), wide("Images")];

pub(super) fn stateful_set(o: &Value, now: Instant, _: bool) -> Row {
    let (names, images) = containers(o, "spec.template.spec");
    let desired = if o.has("spec.replicas") { o.int("spec.replicas") } else { 1 };
    row![
        common::name(o),
        format!("{}/{desired}", o.int("status.readyReplicas")),
        created(o, now),
        names,
        images
    ]
}

pub(super) const DAEMON_SET: &[Column] = &[
    column("Name"),
    number("Desired"),
    number("Current"),
    number("Ready"),
    number("Up-to-date"),
    number("Available"),
    column("Node Selector"),
    column("Age"),
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];

pub(super) fn daemon_set(o: &Value, now: Instant, _: bool) -> Row {
    let (names, images) = containers(o, "spec.template.spec");
    row![
        common::name(o),
        o.int("status.desiredNumberScheduled"),
        o.int("status.currentNumberScheduled"),
        o.int("status.numberReady"),
        o.int("status.updatedNumberScheduled"),
        o.int("status.numberAvailable"),
        common::labels(&o.labels("spec.template.spec.nodeSelector")),
        created(o, now),
        names,
        images,
        o.selector("spec.selector"),
    ]
}

pub(super) const JOB: &[Column] = &[
    column("Name"),
    column("Status"),
    column("Completions"),
    column("Duration"),
    column("Age"),
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];

/// The first condition of a type that holds. Upstream looks at the first of that type only.
fn holds(o: &Value, condition: &str) -> bool {
    let found = o.list("status.conditions").iter().find(|c| c.text("type") == condition);
    found.is_some_and(|c| c.text("status") == "True")
}

/// What a job is doing.
fn job_status(o: &Value) -> &'static str {
    match () {
        () if holds(o, "Complete") => "Complete",
        () if holds(o, "Failed") => "Failed",
        () if o.has("metadata.deletionTimestamp") => "Terminating",
        () if holds(o, "Suspended") => "Suspended",
        () if holds(o, "FailureTarget") => "FailureTarget",
        () if holds(o, "SuccessCriteriaMet") => "SuccessCriteriaMet",
        () => "Running",
    }
}

pub(super) fn job(o: &Value, now: Instant, _: bool) -> Row {
    let (names, images) = containers(o, "spec.template.spec");
    let (done, parallel) = (o.int("status.succeeded"), o.int("spec.parallelism"));
    let completions = match o.at("spec.completions").as_i64() {
        Some(wanted) => format!("{done}/{wanted}"),
        None if parallel > 1 => format!("{done}/1 of {parallel}"),
        None => format!("{done}/1"),
    };
    let took = match (o.time("status.startTime"), o.time("status.completionTime")) {
        (None, _) => String::new(),
        (Some(start), Some(end)) => human_duration(end.instant().nanos_since(start.instant())),
        (start, None) => age(start, now),
    };
    row![
        common::name(o),
        job_status(o),
        completions,
        took,
        created(o, now),
        names,
        images,
        o.selector("spec.selector"),
    ]
}

pub(super) const CRON_JOB: &[Column] = &[
    column("Name"),
    column("Schedule"),
    column("Timezone"),
    boolean("Suspend"),
    number("Active"),
    column("Last Schedule"),
    column("Age"),
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];

pub(super) fn cron_job(o: &Value, now: Instant, _: bool) -> Row {
    let (names, images) = containers(o, "spec.jobTemplate.spec.template.spec");
    let last = o.time("status.lastScheduleTime");
    let suspend = if o.on("spec.suspend") { "True" } else { "False" };
    row![
        common::name(o),
        o.text("spec.schedule"),
        if o.has("spec.timeZone") { o.text("spec.timeZone") } else { "<none>" },
        suspend,
        common::count(o.list("status.active")),
        last.map_or_else(|| "<none>".to_owned(), |_| age(last, now)),
        created(o, now),
        names,
        images,
        o.selector("spec.jobTemplate.spec.selector"),
    ]
}

pub(super) const REPLICATION_CONTROLLER: &[Column] = &[
    column("Name"),
    number("Desired"),
    number("Current"),
    number("Ready"),
    column("Age"),
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];

pub(super) fn replication_controller(o: &Value, now: Instant, _: bool) -> Row {
    let (names, images) = containers(o, "spec.template.spec");
    row![
        common::name(o),
        if o.has("spec.replicas") { o.int("spec.replicas") } else { 1 },
        o.int("status.replicas"),
        o.int("status.readyReplicas"),
        created(o, now),
        names,
        images,
        common::labels(&o.labels("spec.selector")),
    ]
}

pub(super) const POD_TEMPLATE: &[Column] =
    &[column("Name"), column("Containers"), column("Images"), column("Pod Labels")];

pub(super) fn pod_template(o: &Value, _: Instant, _: bool) -> Row {
    let (names, images) = containers(o, "template.spec");
    row![common::name(o), names, images, common::labels(&o.labels("template.metadata.labels"))]
}

pub(super) const CONTROLLER_REVISION: &[Column] =
    &[column("Name"), column("Controller"), column("Revision"), column("Age")];

pub(super) fn controller_revision(o: &Value, now: Instant, _: bool) -> Row {
    let owner = o.list("metadata.ownerReferences").iter().find(|r| r.on("controller"));
    let shown = owner.map_or_else(
        || "<none>".to_owned(),
        |r| {
            let group = r.text("apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
            let dot = if group.is_empty() { "" } else { "." };
            format!("{}{dot}{group}/{}", r.text("kind").to_ascii_lowercase(), r.text("name"))
        },
    );
    row![common::name(o), shown, o.int("revision"), created(o, now)]
}

pub(super) const DISRUPTION_BUDGET: &[Column] = &[
    column("Name"),
    column("Min Available"),
    column("Max Unavailable"),
    number("Allowed Disruptions"),
    column("Age"),
];

pub(super) fn disruption_budget(o: &Value, now: Instant, _: bool) -> Row {
    let bound = |path: &str| if o.has(path) { o.shown(path) } else { "N/A".to_owned() };
    row![
        common::name(o),
        bound("spec.minAvailable"),
        bound("spec.maxUnavailable"),
        o.int("status.disruptionsAllowed"),
        created(o, now),
    ]
}

fn containers(o: &Value, spec: &str) -> (String, String) {
    let list = o.at(spec).list("containers");
    let join = |field: &str| list.iter().map(|c| c.text(field)).collect::<Vec<_>>().join(",");
    (join("name"), join("image"))
}

fn created(o: &Value, now: Instant) -> String {
    common::created(o, now)
}
