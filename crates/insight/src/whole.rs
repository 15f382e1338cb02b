//! Gaps of the kinds that the store keeps whole, and what they wait for. Only kinds that a loop acts on have a gap.

use crate::{
    Blocker, Measure, Refusal,
    blocker::Wait,
    look::pods_of,
    next::{Next, loop_fault, refused, worst},
};
use kubestep_cluster::{World, loops};
use kubestep_model::{
    Custom, DaemonSet, Event, HorizontalPodAutoscaler, Job, Key, Kind, LabelSelector, Object, Pod,
    ReplicationController, StatefulSet, Whole, text::Selector,
};
use serde_json::Value;

/// The gap of such an object from that object alone. A CronJob has none: whether a run is due, its schedule and the
/// clock say.
pub(crate) fn measure(object: &Object, custom: &Custom) -> Option<Measure> {
    if !loops::acts_on(custom.kind) {
        return None;
    }
    match custom.kind.name() {
        "StatefulSet" => stateful_set(&StatefulSet::read(object)?),
        "DaemonSet" => daemon_set(&DaemonSet::read(object)?),
        "ReplicationController" => replication_controller(&ReplicationController::read(object)?),
        "Job" => job(&Job::read(object)?),
        "HorizontalPodAutoscaler" => autoscaler(&HorizontalPodAutoscaler::read(object)?),
        "PersistentVolumeClaim" => claim(custom),
        "PodDisruptionBudget" => budget(custom),
        _ => None,
    }
}

/// How many there are of how many, of those that count their pods.
pub(crate) fn counts(object: &Object, custom: &Custom) -> Option<(i32, i32)> {
    let want = match custom.kind.name() {
        "StatefulSet" => StatefulSet::read(object)?.spec.replicas.unwrap_or(1),
        "DaemonSet" => DaemonSet::read(object)?.status.desired_number_scheduled,
        "ReplicationController" => ReplicationController::read(object)?.spec.replicas.unwrap_or(1),
        // One that has failed has no gap, and not what was asked for.
        "Job" => return Job::read(object).map(|job| (job.status.succeeded, completions(&job))),
        _ => return None,
    };
    crate::gap::numbers(crate::measure(object), want)
}

fn short(have: i32, want: i32) -> i64 {
    i64::from(want.saturating_sub(have).max(0))
}

/// A gap in numbers, if there is one; what its loop has not seen yet is open whatever the numbers are.
fn counted(have: i32, want: i32, distance: i64, unseen: bool) -> Option<Measure> {
    match (unseen, distance) {
        (true, _) => {
            let far = i64::from(want.max(0)) * 4 + 4;
            Some(Measure { text: "not yet seen".into(), ..Measure::counted(have, want, far.max(distance)) })
        }
        (false, 0) => None,
        (false, _) => Some(Measure::counted(have, want, distance)),
    }
}

fn stateful_set(set: &StatefulSet) -> Option<Measure> {
    let (want, status) = (set.spec.replicas.unwrap_or(1), &set.status);
    let strategy = &set.spec.update_strategy;
    let partition = strategy.rolling_update.as_ref().and_then(|r| r.partition).unwrap_or(0);
    // Pods below the partition keep the old revision, and with OnDelete all do until a person deletes them.
    let updating = strategy.r#type != "OnDelete" && status.update_revision != status.current_revision;
    let new = if updating { short(status.updated_replicas, want.saturating_sub(partition)) } else { 0 };
    let distance = short(status.replicas, want)
        + short(want, status.replicas)
        + short(status.ready_replicas, want)
        + short(status.available_replicas, want)
        + new;
    let have = if new > 0 { status.updated_replicas } else { status.available_replicas };
    counted(have.min(want), want, distance, status.observed_generation < set.metadata.generation)
}

fn daemon_set(set: &DaemonSet) -> Option<Measure> {
    let status = &set.status;
    let want = status.desired_number_scheduled;
    let rolls = set.spec.update_strategy.r#type != "OnDelete";
    let new = if rolls { short(status.updated_number_scheduled, want) } else { 0 };
    let distance = short(status.current_number_scheduled, want)
        + i64::from(status.number_misscheduled.max(0))
        + short(status.number_ready, want)
        + short(status.number_available, want)
        + new;
    let have = if new > 0 { status.updated_number_scheduled } else { status.number_available };
    let gap = counted(have.min(want), want, distance, status.observed_generation < set.metadata.generation)?;
    let only_misplaced = distance == i64::from(status.number_misscheduled);
    let text = if only_misplaced { format!("{distance} where none is wanted") } else { gap.text.clone() };
    Some(Measure { text, ..gap })
}

fn replication_controller(rc: &ReplicationController) -> Option<Measure> {
    let (want, status) = (rc.spec.replicas.unwrap_or(1), &rc.status);
    let distance = short(status.replicas, want)
        + short(want, status.replicas)
        + short(status.ready_replicas, want)
        + short(status.available_replicas, want);
    counted(
        status.available_replicas.min(want),
        want,
        distance,
        status.observed_generation < rc.metadata.generation,
    )
}

/// How many pods have to succeed; without a number one is enough.
pub(crate) fn completions(job: &Job) -> i32 {
    job.spec.completions.unwrap_or(1)
}

fn job(job: &Job) -> Option<Measure> {
    if job.finished().is_some() {
        return None;
    }
    let (want, have) = (completions(job), job.status.succeeded);
    let running = i64::from(job.status.ready.unwrap_or(0).max(0));
    // The word that it is complete is still to come when all have succeeded.
    Some(Measure::counted(have.min(want), want, 2 * short(have, want) + 1 - running.min(short(have, want))))
}

/// What keeps an autoscaler from its work; of its other conditions "False" is good news.
fn unable(hpa: &HorizontalPodAutoscaler) -> Option<&kubestep_model::WorkloadCondition> {
    let bad = |c: &&kubestep_model::WorkloadCondition| {
        matches!(c.r#type.as_str(), "AbleToScale" | "ScalingActive") && c.status == "False"
    };
    hpa.status.conditions.iter().find(bad)
}

fn autoscaler(hpa: &HorizontalPodAutoscaler) -> Option<Measure> {
    let condition = unable(hpa)?;
    Some(Measure::stage("able to compute", &condition.reason, 1))
}

fn text<'c>(custom: &'c Custom, pointer: &[&str]) -> Option<&'c Value> {
    let (first, rest) = pointer.split_first()?;
    rest.iter().try_fold(custom.rest.get(*first)?, |value, name| value.get(*name))
}

fn claim(custom: &Custom) -> Option<Measure> {
    let phase = text(custom, &["status", "phase"]).and_then(Value::as_str).unwrap_or("Pending");
    (phase != "Bound").then(|| Measure::stage("Bound", phase, if phase == "Lost" { 2 } else { 1 }))
}

/// Fewer healthy pods than it asks for: nothing may be evicted.
fn budget(custom: &Custom) -> Option<Measure> {
    let number = |name: &str| {
        let value = text(custom, &["status", name]).and_then(Value::as_i64).unwrap_or(0);
        i32::try_from(value).unwrap_or(i32::MAX)
    };
    let (have, want) = (number("currentHealthy"), number("desiredHealthy"));
    counted(have, want, short(have, want), false)
}

/// One step down from an object with an open gap.
pub(crate) fn next(world: &World, object: &Object, custom: &Custom) -> Next {
    if !loops::acts_on(custom.kind) {
        return Next::End(Blocker::NoLoop);
    }
    match custom.kind.name() {
        "PersistentVolumeClaim" => Next::End(volume(world, object)),
        "HorizontalPodAutoscaler" => {
            let condition =
                HorizontalPodAutoscaler::read(object).and_then(|h| unable(&h).map(|c| c.message.clone()));
            Next::End(condition.map_or(Blocker::NotObserved, |message| Blocker::Configuration { message }))
        }
        "PodDisruptionBudget" => guarded(world, object, custom),
        _ => pods(world, object, custom.kind),
    }
}

/// A budget goes back to the worst of the pods that it counts.
fn guarded(world: &World, object: &Object, custom: &Custom) -> Next {
    let selector = text(custom, &["spec", "selector"])
        .and_then(|s| serde_json::from_value::<LabelSelector>(s.clone()).ok())
        .and_then(|s| s.to_selector().ok())
        .unwrap_or_else(Selector::nothing);
    let pods = world.store().list(Kind::Pod, Some(&object.meta().namespace)).filter_map(|o| o.get::<Pod>());
    let counted: Vec<&Pod> = pods.filter(|p| selector.matches(&p.metadata.labels)).collect();
    match worst(world, &counted) {
        Some(pod) => Next::Object(kubestep_model::Resource::key(pod)),
        None => Next::End(Blocker::NotObserved),
    }
}

/// An owner of pods: its worst pod, or why it has none.
fn pods(world: &World, object: &Object, kind: Kind) -> Next {
    let job = Job::read(object);
    if job.as_ref().is_some_and(|j| j.spec.suspend == Some(true)) {
        return Next::End(Blocker::Paused);
    }
    let pods = pods_of(world.store(), object);
    // A pod of a job that has failed is done; the job makes another.
    let alive: Vec<&Pod> =
        pods.iter().copied().filter(|p| job.is_none() || p.status.phase != "Failed").collect();
    if let Some(pod) = worst(world, &alive) {
        return Next::Object(kubestep_model::Resource::key(pod));
    }
    let active = i32::try_from(pods.iter().filter(|p| p.is_active()).count()).unwrap_or(i32::MAX);
    if active < wanted(object)
        && let Some(why) = failed_create(world, &object.key())
    {
        return Next::End(why);
    }
    if kind == StatefulSet::KIND {
        // Who is on the way out keeps its number, and nobody else gets it before it is gone.
        if let Some(pod) = pods.iter().find(|p| p.metadata.is_terminating()) {
            return Next::Object(kubestep_model::Resource::key(*pod));
        }
        if let Some(why) = StatefulSet::read(object).and_then(|set| name_taken(world, &set)) {
            return Next::End(why);
        }
    }
    let own = loops::ALL.iter().find(|c| c.own() == Some(kind)).map_or("", |c| c.name());
    let otherwise = match &job {
        Some(job) if job.status.failed > 0 && active == 0 => Blocker::Time { what: Wait::JobBackOff },
        _ if active >= wanted(object) && wanted(object) > 0 => Blocker::Turn,
        _ => Blocker::NotObserved,
    };
    Next::End(loop_fault(world, own, &[kind, Kind::Pod]).unwrap_or(otherwise))
}

/// A pod that is not the set's has the name of one that it is to make. Its loop says nothing about that.
fn name_taken(world: &World, set: &StatefulSet) -> Option<Blocker> {
    let meta = &set.metadata;
    let start = set.spec.ordinals.as_ref().map_or(0, |o| o.start);
    let names = (0..set.spec.replicas.unwrap_or(1).min(1000)).map(|i| format!("{}-{}", meta.name, i + start));
    let taken = names.into_iter().find(|name| {
        let key = Key::new(Kind::Pod, meta.namespace.clone(), name.as_str());
        let pod = world.store().get(&key);
        pod.is_some_and(|p| p.meta().controller().is_none_or(|owner| owner.uid != meta.uid))
    })?;
    let message = format!("pods \"{taken}\" already exists");
    Some(Blocker::Refused { how: Refusal::Other, message })
}

/// How many pods there should be at once.
fn wanted(object: &Object) -> i32 {
    let set = StatefulSet::read(object).map(|s| s.spec.replicas.unwrap_or(1));
    let daemon = || DaemonSet::read(object).map(|d| d.status.desired_number_scheduled);
    let rc = || ReplicationController::read(object).map(|r| r.spec.replicas.unwrap_or(1));
    let job = || Job::read(object).map(|j| j.spec.parallelism.unwrap_or(1).min(completions(&j)));
    set.or_else(daemon).or_else(rc).or_else(job).unwrap_or(0)
}

/// The last event that says that a pod could not be made: of these kinds only the ReplicationController has a condition
/// for it.
fn failed_create(world: &World, key: &Key) -> Option<Blocker> {
    let event = last_event(world, key, |e| e.reason == "FailedCreate")?;
    let blocker = refused(world, &key.namespace, &event.message);
    // Without a known reason it may have been anything, and a retry helps.
    let known = event.message.contains("already exists");
    (known || !matches!(blocker, Blocker::Refused { how: Refusal::Other, .. })).then_some(blocker)
}

fn last_event<'w>(world: &'w World, key: &Key, wanted: impl Fn(&Event) -> bool) -> Option<&'w Event> {
    let about = |e: &&Event| {
        e.involved_object.name == key.name && e.involved_object.kind == key.kind.name() && wanted(e)
    };
    let events = world.store().list(Kind::Event, Some(&key.namespace)).filter_map(|o| o.get::<Event>());
    events.filter(about).max_by_key(|e| e.last_timestamp)
}

fn volume(world: &World, object: &Object) -> Blocker {
    let key = object.key();
    let message = last_event(world, &key, |_| true).map_or(String::new(), |e| e.message.clone());
    Blocker::Volume { claim: key.name.to_string(), message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object<W: Whole>(spec: Value, status: Value) -> Object {
        let value = json!({"metadata": {"name": "db", "generation": 2}, "spec": spec, "status": status});
        Object::from_value(W::KIND, value).expect("an object")
    }

    #[test]
    fn a_stateful_set_is_open_until_all_numbers_above_the_partition_are_new_and_available() {
        let template = json!({"metadata": {}, "spec": {"containers": []}});
        let gap = |strategy: Value, status: Value| {
            let spec =
                json!({"replicas": 3, "selector": {}, "template": template, "updateStrategy": strategy});
            let object = object::<StatefulSet>(spec, status);
            stateful_set(&StatefulSet::read(&object).expect("it reads")).map(|m| m.text)
        };
        let rolling = || json!({"type": "RollingUpdate"});
        let status = |ready: i32, updated: i32, current: &str| {
            json!({"observedGeneration": 2, "replicas": 3, "readyReplicas": ready, "availableReplicas": ready,
                "updatedReplicas": updated, "currentRevision": current, "updateRevision": "db-2"})
        };
        assert_eq!(
            gap(rolling(), json!({"replicas": 0, "availableReplicas": 0})).as_deref(),
            Some("not yet seen")
        );
        assert_eq!(gap(rolling(), status(3, 3, "db-2")), None);
        assert_eq!(gap(rolling(), status(2, 3, "db-2")).as_deref(), Some("2 of 3"));
        assert_eq!(gap(rolling(), status(3, 1, "db-1")).as_deref(), Some("1 of 3"));
        let partition = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
        assert_eq!(gap(partition, status(3, 1, "db-1")), None, "numbers 0 and 1 keep the old revision");
        assert_eq!(gap(json!({"type": "OnDelete"}), status(3, 0, "db-1")), None);
    }

    #[test]
    fn a_job_is_open_until_it_says_that_it_is_complete_or_failed() {
        let gap = |status: Value| {
            let spec = json!({"completions": 2, "template": {"metadata": {}, "spec": {"containers": []}}});
            let object = object::<Job>(spec, status);
            job(&Job::read(&object).expect("it reads")).map(|m| (m.text, m.distance))
        };
        let closed = |r#type: &str| json!({"conditions": [{"type": r#type, "status": "True"}], "failed": 1});
        assert_eq!(gap(json!({})), Some(("0 of 2".into(), 5)));
        assert_eq!(
            gap(json!({"ready": 1})),
            Some(("0 of 2".into(), 4)),
            "a pod that runs is better than none"
        );
        assert_eq!(gap(json!({"succeeded": 2})), Some(("2 of 2".into(), 1)));
        assert_eq!(gap(closed("Complete")), None);
        assert_eq!(gap(closed("Failed")), None);
        assert!(gap(json!({"conditions": [{"type": "Suspended", "status": "True"}]})).is_some());
    }

    #[test]
    fn other_kinds_are_open_while_the_table_says_so() {
        let daemon = |ready: i32, extra: i32| {
            let spec = json!({"selector": {}, "template": {"metadata": {}, "spec": {"containers": []}},
                "updateStrategy": {"type": "RollingUpdate"}});
            let status = json!({"observedGeneration": 2, "desiredNumberScheduled": 3, "currentNumberScheduled": 3,
                "numberMisscheduled": extra, "numberReady": ready, "numberAvailable": ready, "updatedNumberScheduled": 3});
            daemon_set(&DaemonSet::read(&object::<DaemonSet>(spec, status)).expect("it reads"))
                .map(|m| m.text)
        };
        assert_eq!(daemon(3, 0), None);
        assert_eq!(daemon(2, 0).as_deref(), Some("2 of 3"));
        assert!(daemon(3, 1).is_some(), "a pod where none should be");
        let custom = |kind: &str, group: &str, status: Value| {
            let kind = Kind::find(group, kind).expect("a kind");
            let value = json!({"metadata": {"name": "x"}, "status": status});
            match Object::from_value(kind, value).expect("an object") {
                Object::Custom(custom) => (*custom).clone(),
                other => panic!("{other:?}"),
            }
        };
        let claims = |status: Value| claim(&custom("PersistentVolumeClaim", "", status)).map(|m| m.text);
        assert_eq!(claims(json!({"phase": "Bound"})), None);
        assert_eq!(claims(json!({})).as_deref(), Some("Pending"));
        let healthy = |have: i32| {
            let status = json!({"currentHealthy": have, "desiredHealthy": 2});
            budget(&custom("PodDisruptionBudget", "policy", status)).map(|m| m.text)
        };
        assert_eq!((healthy(2), healthy(1)), (None, Some("1 of 2".into())));
    }
}
