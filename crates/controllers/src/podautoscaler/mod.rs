//! Autoscalers: change how many pods something has.
//!
//! Upstream: pkg/controller/podautoscaler (v1.37): horizontal.go, replica_calculator.go. Resources of pods are read from
//! the metrics API; where nothing measures them, the loop says so and keeps the number between the bounds. Metrics of
//! pods, objects and the outside are never there, so nothing is scaled from zero.

mod behavior;
mod memory;
mod metrics;
pub mod replicas;

use behavior::{Bounds, Normal};
use memory::Memory;
use metrics::{Found, Missing, Target};

use crate::{sentences::Sentence, stop::error, whole};
use kubestep_control::{Change, Controller, Cx, Done, Flow, Halt, View, Wake, Watch};
use kubestep_model::text::Selector;
use kubestep_model::{
    Answer, Body, HorizontalPodAutoscaler, Instant, Key, Kind, Pod, Status, Subresource, Verb, Whole,
    WorkloadCondition,
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

/// How often each autoscaler is looked at. Upstream: HorizontalPodAutoscalerSyncPeriod.
const PERIOD: Duration = Duration::from_secs(15);
/// How often a number is written while others write it too. Upstream: retry.DefaultRetry.
const MOST_TRIES: usize = 5;

/// The horizontal pod autoscaler's loop.
#[derive(Debug)]
pub struct HorizontalController;

static WATCHES: [Watch; 1] = [Watch { kind: HorizontalPodAutoscaler::KIND, wakes }];

/// A new one and one that somebody wants otherwise are looked at at once, all others at the end of the period.
/// Upstream: enqueueHPA, updateHPA.
fn wakes(change: &Change, _: &View) -> Vec<Wake> {
    match (&change.old, &change.new) {
        (None, Some(_)) => vec![Wake::now(change.key.clone())],
        (Some(old), Some(new)) if old.meta().generation != new.meta().generation => {
            vec![Wake::now(change.key.clone())]
        }
        (Some(_), Some(_)) => vec![Wake::after(change.key.clone(), PERIOD)],
        _ => Vec::new(),
    }
}

impl Controller for HorizontalController {
    fn name(&self) -> &'static str {
        "horizontalpodautoscaler"
    }
    fn actor(&self) -> &'static str {
        "horizontal-pod-autoscaler"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    /// Upstream: its consistency store.
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[HorizontalPodAutoscaler::KIND]
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let found = whole::get::<HorizontalPodAutoscaler>(cx.view(), &key.namespace, &key.name);
        let Some(scaler) = found else {
            cx.because("hpa.gone", vec![("who", key.name.to_string())]);
            Memory::forget(cx, key);
            return Ok(Done::Settled);
        };
        // Upstream looks again after the same time whether this went well or not.
        reconcile(cx, &scaler)?.ok();
        Ok(Done::Again(PERIOD))
    }
}

/// Upstream: setCondition.
fn set(
    scaler: &mut HorizontalPodAutoscaler,
    now: Instant,
    r#type: &str,
    holds: bool,
    reason: &str,
    text: String,
) {
    let status = if holds { "True" } else { "False" };
    let conditions = &mut scaler.status.conditions;
    let place = conditions.iter().position(|c| c.r#type == r#type).unwrap_or_else(|| {
        conditions.push(WorkloadCondition { r#type: r#type.into(), ..Default::default() });
        conditions.len() - 1
    });
    let condition = &mut conditions[place];
    if condition.status != status {
        condition.last_transition_time = Some(now.to_time());
    }
    condition.status = status.into();
    condition.reason = reason.into();
    condition.message = text;
}

/// The key of what is scaled.
fn target(scaler: &HorizontalPodAutoscaler) -> Result<Key, String> {
    let wanted = &scaler.spec.scale_target_ref;
    let group = wanted.api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let kind = Kind::find(group, &wanted.kind).ok_or_else(|| {
        let version = &wanted.api_version;
        format!("no matches for kind \"{}\" in version \"{version}\"", wanted.kind)
    })?;
    Ok(Key::new(kind, scaler.metadata.namespace.clone(), wanted.name.as_str()))
}

/// Reads the scale of what is scaled.
fn scale_of(
    cx: &mut Cx<'_>,
    scaler: &HorizontalPodAutoscaler,
) -> Result<Result<(Key, Arc<Value>), String>, Halt> {
    let key = match target(scaler) {
        Ok(key) => key,
        Err(text) => return Ok(Err(text)),
    };
    let reply = cx.ask(Verb::Get { key: key.clone(), subresource: Subresource::Scale })?;
    Ok(match reply {
        Ok(Answer::Json { value, .. }) => Ok((key, value)),
        Ok(_) => Err("the answer is no scale".into()),
        Err(status) => Err(status.message),
    })
}

/// What one look has found out so far.
struct Look {
    scaler: HorizontalPodAutoscaler,
    memory: Memory,
    bounds: Bounds,
    metrics: Option<Vec<Value>>,
}

/// Upstream: reconcileAutoscaler.
fn reconcile(cx: &mut Cx<'_>, before: &HorizontalPodAutoscaler) -> Result<Result<(), Status>, Halt> {
    let (mut scaler, now) = (before.clone(), cx.now());
    let about = before.to_object();
    let (key, scale) = match scale_of(cx, before)? {
        Ok(found) => found,
        Err(why) => {
            cx.event(&about, "Warning", "FailedGetScale", why.clone());
            let text = format!("the HPA controller was unable to get the target's current scale: {why}");
            set(&mut scaler, now, "AbleToScale", false, "FailedGetScale", text);
            return store(cx, before, &scaler);
        }
    };
    scaler.status.observed_generation = Some(scaler.metadata.generation);
    let text = "the HPA controller was able to get the target's current scale".to_owned();
    set(&mut scaler, now, "AbleToScale", true, "SucceededGetScale", text);
    let current = scale["spec"]["replicas"].as_i64().and_then(|n| i32::try_from(n).ok()).unwrap_or(0);
    let bounds =
        Bounds { current, least: scaler.spec.min_replicas.unwrap_or(1), most: scaler.spec.max_replicas };
    let own = about.key();
    let memory = Memory::of(cx, &own).unwrap_or_else(|| Memory::first(current, now));
    memory.keep(cx, &own);
    scaler.status.current_replicas = current;
    if current == 0 {
        cx.because("hpa.disabled", vec![("who", scaler.metadata.name.to_string())]);
        let text = "scaling is disabled since the replica count of the target is zero".to_owned();
        set(&mut scaler, now, "ScalingActive", false, "ScalingDisabled", text);
        (scaler.status.desired_replicas, scaler.status.current_metrics) = (0, None);
        return store(cx, before, &scaler);
    }
    let mut look = Look { scaler, memory, bounds, metrics: None };
    if current > bounds.most {
        let why = "Current number of replicas above Spec.MaxReplicas";
        return rescale(cx, before, look, (key, scale), (bounds.most, why.into()));
    }
    if current < bounds.least {
        let why = "Current number of replicas below Spec.MinReplicas";
        return rescale(cx, before, look, (key, scale), (bounds.least, why.into()));
    }
    let (asked, name) = match by_metrics(cx, before, &mut look, &scale)? {
        Ok(found) => found,
        Err(why) => return without_metrics(cx, before, look, why),
    };
    let why = if asked > current {
        format!("{name} above target")
    } else if asked < current {
        "All metrics below target".to_owned()
    } else {
        String::new()
    };
    let normal = behavior::normalize(&look.scaler, &mut look.memory, now, bounds, asked);
    look.memory.keep(cx, &own);
    say(&mut look.scaler, now, &normal);
    if normal.replicas != current {
        return rescale(cx, before, look, (key, scale), (normal.replicas, why));
    }
    let who = look.scaler.metadata.name.to_string();
    cx.because("hpa.stays", vec![("who", who), ("have", current.to_string()), ("asked", asked.to_string())]);
    look.scaler.status.desired_replicas = current;
    look.scaler.status.current_metrics = look.metrics;
    store(cx, before, &look.scaler)
}

/// What two conditions say of the number. Upstream: normalizeDesiredReplicas.
fn say(scaler: &mut HorizontalPodAutoscaler, now: Instant, normal: &Normal) {
    let (reason, text) = normal.able;
    set(scaler, now, "AbleToScale", true, reason, text.into());
    let (holds, reason, text) = normal.limited;
    set(scaler, now, "ScalingLimited", holds, reason, text.into());
}

/// The pods that are counted, as the scale says; or why that is not clear. Upstream: validateAndParseSelector.
fn selector_of(
    cx: &mut Cx<'_>,
    before: &HorizontalPodAutoscaler,
    look: &mut Look,
    scale: &Value,
) -> Result<Selector, String> {
    let (about, now) = (before.to_object(), cx.now());
    let mut refuse = |cx: &mut Cx<'_>, event: &str, reason: &str, text: String, told: String| {
        cx.event(&about, "Warning", event, text.clone());
        set(&mut look.scaler, now, "ScalingActive", false, reason, told);
        Err(text)
    };
    let written = scale["status"]["selector"].as_str().unwrap_or_default();
    if written.is_empty() {
        let told = "the HPA target's scale is missing a selector".to_owned();
        return refuse(cx, "SelectorRequired", "InvalidSelector", "selector is required".into(), told);
    }
    let selector = match Selector::parse(written) {
        Ok(selector) => selector,
        Err(why) => {
            let text =
                format!("couldn't convert selector into a corresponding internal selector object: {why}");
            return refuse(cx, "InvalidSelector", "InvalidSelector", text.clone(), text);
        }
    };
    let (namespace, name) = (&before.metadata.namespace, &before.metadata.name);
    let pods = cx.list::<Pod>(Some(namespace)).filter(|pod| selector.matches(&pod.metadata.labels));
    let labels: Vec<_> = pods.map(|pod| pod.metadata.labels.clone()).collect();
    let shares = |(other, text): &(String, String)| {
        *other != **name && Selector::parse(text).is_ok_and(|s| labels.iter().any(|l| s.matches(l)))
    };
    let shared = Memory::selectors(cx, namespace).into_iter().find(shares).map(|(other, _)| other);
    look.memory.selector = Some(written.to_owned());
    look.memory.keep(cx, &about.key());
    if let Some(other) = shared {
        let (first, second) = if *other < **name { (&*other, &**name) } else { (&**name, &*other) };
        let text = format!(
            "pods by selector {written} are controlled by more than one HPA (e.g. [{namespace}/{first} {namespace}/{second}])"
        );
        return refuse(cx, "AmbiguousSelector", "AmbiguousSelector", text.clone(), text);
    }
    Ok(selector)
}

/// The highest number that a metric asks for, and which one that is; or why there is none, for an event.
/// Upstream: computeReplicasForMetrics.
fn by_metrics(
    cx: &mut Cx<'_>,
    before: &HorizontalPodAutoscaler,
    look: &mut Look,
    scale: &Value,
) -> Result<Result<(i32, String), String>, Halt> {
    let (about, now) = (before.to_object(), cx.now());
    let selector = match selector_of(cx, before, look, scale) {
        Ok(selector) => selector,
        Err(why) => return Ok(Err(why)),
    };
    let specs = &before.spec.metrics;
    let (mut best, mut first, mut invalid): (Option<Found>, Option<Missing>, usize) = (None, None, 0);
    let mut statuses: Vec<Value> = vec![];
    for spec in specs {
        let target = Target { scaler: before, selector: &selector, current: look.bounds.current };
        match metrics::look_up(cx, target, spec)? {
            Ok(found) => {
                statuses.push(found.status.clone());
                if best.as_ref().is_none_or(|best| best.replicas == 0 || found.replicas > best.replicas) {
                    best = Some(found);
                }
            }
            Err(missing) => {
                cx.event(&about, "Warning", missing.reason, missing.event.clone());
                statuses.push(json!({ "type": "" }));
                invalid += 1;
                first.get_or_insert(missing);
            }
        }
    }
    look.metrics = Some(statuses);
    // Some metrics are enough to grow, not to shrink.
    let enough = |best: &&Found| invalid == 0 || best.replicas >= look.bounds.current;
    if let Some(best) = best.as_ref().filter(enough) {
        let text = format!("the HPA was able to successfully calculate a replica count from {}", best.name);
        set(&mut look.scaler, now, "ScalingActive", true, "ValidMetricFound", text);
        return Ok(Ok((best.replicas, best.name.clone())));
    }
    let (reason, event, error) =
        first.map_or(("", String::new(), String::new()), |m| (m.reason, m.event, m.error));
    let text = format!("the HPA was unable to compute the replica count: {event}");
    set(&mut look.scaler, now, "ScalingActive", false, reason, text);
    let all = specs.len();
    Ok(Err(format!("invalid metrics ({invalid} invalid out of {all}), first error is: {error}")))
}

/// No number can be worked out: it stays.
fn without_metrics(
    cx: &mut Cx<'_>,
    before: &HorizontalPodAutoscaler,
    mut look: Look,
    why: String,
) -> Result<Result<(), Status>, Halt> {
    cx.because("hpa.no-metrics", vec![("who", before.metadata.name.to_string())]);
    look.scaler.status.current_metrics = look.metrics;
    let written = store(cx, before, &look.scaler)?;
    cx.event(&before.to_object(), "Warning", "FailedComputeMetricsReplicas", why);
    Ok(written)
}

/// Writes a number into the scale; where somebody else wrote meanwhile, into the newer one.
fn write_scale(
    cx: &mut Cx<'_>,
    key: &Key,
    mut scale: Arc<Value>,
    wanted: i32,
) -> Result<Result<(), Status>, Halt> {
    let mut tried = 0;
    loop {
        let mut new = Value::clone(&scale);
        new["spec"]["replicas"] = wanted.into();
        let body = Body::Json(Arc::new(new));
        let (key, subresource) = (key.clone(), Subresource::Scale);
        let Err(refusal) = cx.ask(Verb::Replace { key: key.clone(), subresource, body })? else {
            return Ok(Ok(()));
        };
        tried += 1;
        if let Ok(Answer::Json { value, .. }) = cx.ask(Verb::Get { key, subresource })? {
            scale = value;
        }
        if !refusal.is_conflict() || tried == MOST_TRIES {
            return Ok(Err(refusal));
        }
    }
}

/// Writes the wanted number into the scale.
fn rescale(
    cx: &mut Cx<'_>,
    before: &HorizontalPodAutoscaler,
    look: Look,
    (key, scale): (Key, Arc<Value>),
    (wanted, why): (i32, String),
) -> Result<Result<(), Status>, Halt> {
    let Look { mut scaler, mut memory, bounds, metrics } = look;
    let (about, now) = (before.to_object(), cx.now());
    cx.because(
        "hpa.rescale",
        vec![
            ("who", scaler.metadata.name.to_string()),
            ("target", key.name.to_string()),
            ("want", wanted.to_string()),
            ("why", why.clone()),
        ],
    );
    scaler.status.current_metrics = metrics;
    if let Err(refusal) = write_scale(cx, &key, scale, wanted)? {
        let text = format!("New size: {wanted}; reason: {why}; error: {}", refusal.message);
        cx.event(&about, "Warning", "FailedRescale", text);
        let text = format!("the HPA controller was unable to update the target scale: {}", refusal.message);
        set(&mut scaler, now, "AbleToScale", false, "FailedUpdateScale", text);
        store(cx, before, &scaler)?.ok();
        return Ok(Err(error(format!("failed to rescale: {}", refusal.message))));
    }
    let text = format!("the HPA controller was able to update the target scale to {wanted}");
    set(&mut scaler, now, "AbleToScale", true, "SucceededRescale", text);
    cx.event(&about, "Normal", "SuccessfulRescale", format!("New size: {wanted}; reason: {why}"));
    behavior::note_change(&scaler, &mut memory, now, bounds.current, wanted);
    memory.keep(cx, &about.key());
    let text = "the HPA controller did not scale the workload to zero".to_owned();
    set(&mut scaler, now, "ScaledToZero", false, "NotScaledToZero", text);
    scaler.status.desired_replicas = wanted;
    scaler.status.last_scale_time = Some(now.to_time());
    store(cx, before, &scaler)
}

/// Writes the status where it changed. Upstream: updateStatusIfNeeded.
fn store(
    cx: &mut Cx<'_>,
    before: &HorizontalPodAutoscaler,
    scaler: &HorizontalPodAutoscaler,
) -> Result<Result<(), Status>, Halt> {
    if before.status == scaler.status {
        return Ok(Ok(()));
    }
    Ok(whole::set_status(cx, scaler)?.map(drop))
}

/// Every code of this loop.
pub static SENTENCES: &[Sentence] = &[
    of("hpa.disabled", "{who} leaves what was scaled to zero alone."),
    of("hpa.gone", "{who} is no longer in the cache: there is nothing to do."),
    of("hpa.no-metrics", "{who} learns nothing of what the pods use, so the number stays."),
    of("hpa.rescale", "{who} scales {target} to {want}: {why}."),
    of("hpa.stays", "{who} leaves {have}: what was measured asks for {asked}."),
];

const fn of(code: &'static str, text: &'static str) -> Sentence {
    Sentence { code, text, upstream: "pkg/controller/podautoscaler/horizontal.go, reconcileAutoscaler" }
}
