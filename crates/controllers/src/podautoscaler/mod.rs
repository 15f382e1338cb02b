//! Autoscalers: change how many pods something has.
//!
//! Upstream: pkg/controller/podautoscaler (v1.37): horizontal.go, replica_calculator.go. Nothing measures pods here, so
//! the loop finds no metrics and says so; it keeps the number between the bounds. Left out: behaviour policies and
//! the record of recommendations, which only metrics would move; selectors that several autoscalers share.

mod metrics;
pub mod replicas;

use crate::{sentences::Sentence, stop::error, whole};
use kubestep_control::{Change, Controller, Cx, Done, Flow, Halt, View, Wake, Watch};
use kubestep_model::{
    Answer, Body, HorizontalPodAutoscaler, Instant, Key, Kind, Status, Subresource, Verb, Whole,
    WorkloadCondition,
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

/// How often each autoscaler is looked at. Upstream: HorizontalPodAutoscalerSyncPeriod.
const PERIOD: Duration = Duration::from_secs(15);

/// The horizontal pod autoscaler's loop.
#[derive(Debug)]
pub struct HorizontalController;

static WATCHES: [Watch; 1] = [Watch { kind: HorizontalPodAutoscaler::KIND, wakes }];

/// A new one is looked at at once, all others at the end of the period. Upstream: enqueueHPA, updateHPA.
fn wakes(change: &Change, _: &View) -> Vec<Wake> {
    match (&change.old, &change.new) {
        (None, Some(_)) => vec![Wake::now(change.key.clone())],
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
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let found = whole::get::<HorizontalPodAutoscaler>(cx.view(), &key.namespace, &key.name);
        let Some(scaler) = found else {
            cx.because("hpa.gone", vec![("who", key.name.to_string())]);
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
    let least = scaler.spec.min_replicas.unwrap_or(1);
    let most = scaler.spec.max_replicas;
    scaler.status.current_replicas = current;
    if current == 0 && least != 0 {
        cx.because("hpa.disabled", vec![("who", scaler.metadata.name.to_string())]);
        let text = "scaling is disabled since the replica count of the target is zero".to_owned();
        set(&mut scaler, now, "ScalingActive", false, "ScalingDisabled", text);
        (scaler.status.desired_replicas, scaler.status.current_metrics) = (0, None);
        return store(cx, before, &scaler);
    }
    let (wanted, why) = if current > most {
        (most, "Current number of replicas above Spec.MaxReplicas")
    } else if current < least {
        (least, "Current number of replicas below Spec.MinReplicas")
    } else {
        return without_metrics(cx, before, scaler);
    };
    rescale(cx, before, scaler, (key, &scale), (wanted, why))
}

/// No metric can be had: the number stays. Upstream: computeReplicasForMetrics.
fn without_metrics(
    cx: &mut Cx<'_>,
    before: &HorizontalPodAutoscaler,
    mut scaler: HorizontalPodAutoscaler,
) -> Result<Result<(), Status>, Halt> {
    let about = before.to_object();
    let specs = before.spec.metrics.clone();
    let found: Vec<_> = specs.iter().map(|spec| metrics::look_up(spec, &before.metadata.namespace)).collect();
    for missing in &found {
        cx.event(&about, "Warning", missing.reason, missing.event.clone());
    }
    cx.because("hpa.no-metrics", vec![("who", before.metadata.name.to_string())]);
    scaler.status.current_metrics = Some(specs.iter().map(|_| json!({ "type": "" })).collect());
    let Some(first) = found.first() else { return store(cx, before, &scaler) };
    let text = format!("the HPA was unable to compute the replica count: {}", first.event);
    set(&mut scaler, cx.now(), "ScalingActive", false, first.reason, text);
    let written = store(cx, before, &scaler)?;
    let (count, error) = (found.len(), &first.error);
    let text = format!("invalid metrics ({count} invalid out of {count}), first error is: {error}");
    cx.event(&about, "Warning", "FailedComputeMetricsReplicas", text);
    Ok(written)
}

/// Writes the wanted number into the scale.
fn rescale(
    cx: &mut Cx<'_>,
    before: &HorizontalPodAutoscaler,
    mut scaler: HorizontalPodAutoscaler,
    (key, scale): (Key, &Value),
    (wanted, why): (i32, &str),
) -> Result<Result<(), Status>, Halt> {
    let (about, now) = (before.to_object(), cx.now());
    cx.because(
        "hpa.rescale",
        vec![
            ("who", scaler.metadata.name.to_string()),
            ("target", key.name.to_string()),
            ("want", wanted.to_string()),
        ],
    );
    let mut scale = scale.clone();
    scale["spec"]["replicas"] = wanted.into();
    let body = Body::Json(Arc::new(scale));
    if let Err(refusal) = cx.ask(Verb::Replace { key, subresource: Subresource::Scale, body })? {
        let text = format!("New size: {wanted}; reason: {why}; error: {}", refusal.message);
        cx.event(&about, "Warning", "FailedRescale", text);
        let text = format!("the HPA controller was unable to update the target scale: {}", refusal.message);
        set(&mut scaler, now, "AbleToScale", false, "FailedUpdateScale", text);
        scaler.status.current_metrics = None;
        store(cx, before, &scaler)?.ok();
        return Ok(Err(error(format!("failed to rescale: {}", refusal.message))));
    }
    let text = format!("the HPA controller was able to update the target scale to {wanted}");
    set(&mut scaler, now, "AbleToScale", true, "SucceededRescale", text);
    let (holds, reason, text) = if wanted == 0 {
        (true, "ScaledToZero", "the HPA controller scaled the workload to zero")
    } else {
        (false, "NotScaledToZero", "the HPA controller did not scale the workload to zero")
    };
    set(&mut scaler, now, "ScaledToZero", holds, reason, text.into());
    cx.event(&about, "Normal", "SuccessfulRescale", format!("New size: {wanted}; reason: {why}"));
    scaler.status.desired_replicas = wanted;
    scaler.status.current_metrics = None;
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
    of("hpa.no-metrics", "{who} cannot measure anything: there is no metrics server, so the number stays."),
    of("hpa.rescale", "{who} scales {target} to {want}: its bounds say so."),
];

const fn of(code: &'static str, text: &'static str) -> Sentence {
    Sentence { code, text, upstream: "pkg/controller/podautoscaler/horizontal.go, reconcileAutoscaler" }
}
