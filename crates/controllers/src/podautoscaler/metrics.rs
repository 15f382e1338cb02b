//! What is measured, metric by metric, and how many pods each asks for.
//! Upstream: pkg/controller/podautoscaler, horizontal.go (computeReplicasForMetric) and metrics/client.go (v1.37).

use super::replicas::{Aim, Measured, Proposal, Tolerances, propose};
use kubestep_control::{Cx, Halt};
use kubestep_model::text::{Format, Selector};
use kubestep_model::{
    Answer, HorizontalPodAutoscaler, Instant, Kind, MetricSpec, Pod, Quantity, ResourceMetricSource, Time,
    Verb,
};
use serde_json::{Value, json};
use std::time::Duration;

/// How long after its start a pod's use of cpu counts only once it was measured while the pod was ready.
const INITIALIZATION: Duration = Duration::from_secs(300);
/// A pod that became unready so soon after its start never was ready.
const INITIAL_READINESS: Duration = Duration::from_secs(30);

/// A metric that could not be had: the reason, what an event says, and what the whole pass says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    pub(super) reason: &'static str,
    pub(super) event: String,
    pub(super) error: String,
}

/// What a metric asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) replicas: i32,
    /// As the condition and the event name it.
    pub(super) name: String,
    pub(super) status: Value,
}

/// What is looked at: the pods of an autoscaler.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'t> {
    pub(super) scaler: &'t HorizontalPodAutoscaler,
    pub(super) selector: &'t Selector,
    pub(super) current: i32,
}

const NO_CUSTOM_METRICS: &str = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered";

fn tolerances(scaler: &HorizontalPodAutoscaler) -> Tolerances {
    let mut found = Tolerances::default();
    let side = |name: &str| {
        let text = scaler.spec.behavior.as_ref()?[name]["tolerance"].as_str()?;
        Some(Quantity::parse(text).ok()?.milli_value() as f64 / 1000.0)
    };
    found.0 = side("scaleDown").unwrap_or(found.0);
    found.1 = side("scaleUp").unwrap_or(found.1);
    found
}

/// What was measured of one pod.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Instant,
    window: Duration,
    value: i64,
}

fn amount(usage: &Value, resource: &str) -> Option<i64> {
    Quantity::parse(usage[resource].as_str()?).ok().map(|quantity| quantity.milli_value())
}

/// Upstream: getPodMetrics, getContainerMetrics.
fn samples(list: &Value, resource: &str, container: &str) -> Vec<(String, Sample)> {
    let mut found = vec![];
    for item in list["items"].as_array().into_iter().flatten() {
        let all = item["containers"].as_array().map_or(&[][..], Vec::as_slice);
        let wanted = all.iter().filter(|c| container.is_empty() || c["name"] == container);
        let value: Option<i64> = wanted.map(|c| amount(&c["usage"], resource)).sum();
        let there = all.iter().any(|c| container.is_empty() || c["name"] == container);
        let at = item["timestamp"].as_str().and_then(Time::parse);
        let seconds = item["window"].as_str().and_then(|w| w.trim_end_matches('s').parse::<f64>().ok());
        let (Some(value), Some(at), true) = (value, at, there) else { continue };
        let window = Duration::try_from_secs_f64(seconds.unwrap_or(0.0)).unwrap_or(Duration::ZERO);
        let name = item["metadata"]["name"].as_str().unwrap_or_default();
        found.push((name.to_owned(), Sample { at: at.instant(), window, value }));
    }
    found
}

/// Whether a pod's use of cpu does not count yet. Upstream: groupPods.
fn unready(pod: &Pod, sample: &Sample, now: Instant) -> bool {
    let (Some(ready), Some(start)) = (pod.condition("Ready"), pod.status.start_time) else { return true };
    let Some(changed) = ready.last_transition_time.map(Time::instant) else { return true };
    let is_not = ready.status == "False";
    if start.instant() + INITIALIZATION > now {
        is_not || sample.at < changed + sample.window
    } else {
        is_not && start.instant() + INITIAL_READINESS > changed
    }
}

/// Upstream: calculateRequests.
fn request(pod: &Pod, resource: &str, container: &str) -> Result<i64, String> {
    let name = &pod.metadata.name;
    if container.is_empty()
        && let Some(requests) = pod.spec.rest.get("resources").and_then(|r| r.get("requests"))
    {
        return amount(requests, resource)
            .ok_or_else(|| format!("missing pod-level request for {resource} in Pod {name}"));
    }
    let sidecars = pod.spec.init_containers.iter().filter(|c| c.restart_policy.as_deref() == Some("Always"));
    let mut sum = 0i64;
    for one in pod.spec.containers.iter().chain(sidecars) {
        if !container.is_empty() && one.name != container {
            continue;
        }
        let Some(asked) = one.resources.requests.get(resource) else {
            return Err(format!("missing request for {resource} in container {} of Pod {name}", one.name));
        };
        sum = sum.saturating_add(asked.milli_value());
        if one.name == container {
            return Ok(sum);
        }
    }
    if container.is_empty() { Ok(sum) } else { Err(format!("container {container} not found in Pod {name}")) }
}

/// The pods with what was measured of them; or why nothing was. Upstream: GetResourceMetric.
fn measure(
    cx: &mut Cx<'_>,
    target: Target<'_>,
    source: &ResourceMetricSource,
) -> Result<Result<Vec<Measured>, String>, Halt> {
    let (namespace, resource) = (&target.scaler.metadata.namespace, &source.name);
    let reply = cx.ask(Verb::List {
        kind: Kind::POD_METRICS,
        namespace: Some(namespace.clone()),
        labels: Some(target.selector.clone()),
        fields: None,
    })?;
    let refused = |why: &str| {
        let why = format!("unable to fetch metrics from resource metrics API: {why}");
        format!("unable to get metrics for resource {resource}: {why}")
    };
    let list = match reply {
        Ok(Answer::Json { value, .. }) => value,
        Ok(_) => return Ok(Err(refused("the answer is no list of metrics"))),
        Err(status) => return Ok(Err(refused(&status.message))),
    };
    if list["items"].as_array().is_none_or(Vec::is_empty) {
        let why = "no metrics returned from resource metrics API";
        return Ok(Err(format!("unable to get metrics for resource {resource}: {why}")));
    }
    let (samples, now) = (samples(&list, resource, &source.container), cx.now());
    let pods = cx.list::<Pod>(Some(namespace)).filter(|pod| target.selector.matches(&pod.metadata.labels));
    let measured = pods.map(|pod| {
        let sample = samples.iter().find(|(name, _)| *name == *pod.metadata.name).map(|(_, sample)| sample);
        let phase = pod.status.phase.as_str();
        Measured {
            name: pod.metadata.name.to_string(),
            ignored: pod.metadata.deletion_timestamp.is_some() || phase == "Failed",
            pending: phase == "Pending",
            ready: resource != "cpu" || sample.is_none_or(|sample| !unready(pod, sample, now)),
            request: request(pod, resource, &source.container),
            usage: sample.map(|sample| sample.value),
        }
    });
    Ok(Ok(measured.collect()))
}

/// What a source of a resource asks for. Upstream: computeStatusForResourceMetricGeneric.
fn resource(
    cx: &mut Cx<'_>,
    target: Target<'_>,
    source: &ResourceMetricSource,
    of_container: bool,
) -> Result<Result<Found, String>, Halt> {
    let name = &source.name;
    let average = source.target["averageValue"].as_str().and_then(|text| Quantity::parse(text).ok());
    let percent = source.target["averageUtilization"].as_i64().and_then(|n| i32::try_from(n).ok());
    let (aim, what) = match (average, percent) {
        (Some(average), _) => (Aim::Average(average.milli_value()), "usage"),
        (None, Some(percent)) => (Aim::Utilization(percent), "utilization"),
        (None, None) => {
            let text = "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set";
            return Ok(Err(text.to_owned()));
        }
    };
    let measured = measure(cx, target, source)?;
    let found = measured.and_then(|pods| propose(target.current, aim, tolerances(target.scaler), &pods));
    let proposal = match found {
        Ok(proposal) => proposal,
        Err(why) => return Ok(Err(format!("failed to get {name} {what}: {why}"))),
    };
    let title = match (aim, of_container) {
        (Aim::Average(_), _) => format!("{name} resource"),
        (_, true) => format!("{name} container resource utilization (percentage of request)"),
        (_, false) => format!("{name} resource utilization (percentage of request)"),
    };
    let current = current(name, &proposal);
    let status = if of_container {
        let container = &source.container;
        json!({"type": "ContainerResource", "containerResource": {"name": name, "container": container, "current": current}})
    } else {
        json!({"type": "Resource", "resource": {"name": name, "current": current}})
    };
    Ok(Ok(Found { replicas: proposal.replicas, name: title, status }))
}

/// Upstream: buildQuantity.
fn current(resource: &str, proposal: &Proposal) -> Value {
    let format = if resource == "memory" { Format::BinarySI } else { Format::DecimalSI };
    let average = Quantity::from_milli(proposal.average, format).to_string();
    match proposal.utilization {
        Some(percent) => json!({"averageUtilization": percent, "averageValue": average}),
        None => json!({ "averageValue": average }),
    }
}

fn custom(source: &Value, namespace: &str, reason: &'static str, what: &str) -> Missing {
    let name = source["metric"]["name"].as_str().unwrap_or_default();
    let described = &source["describedObject"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let on = if described.is_null() {
        String::new()
    } else {
        format!(" on {} {namespace}/{}", text(&described["kind"]), text(&described["name"]))
    };
    let event = format!("unable to get metric {name}{on}: {NO_CUSTOM_METRICS}");
    Missing { reason, error: format!("failed to get {what} metric value: {event}"), event }
}

/// A label selector as Go prints it.
fn selector(value: &Value) -> String {
    if value.is_null() {
        return "nil".to_owned();
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let labels = value["matchLabels"].as_object().into_iter().flatten();
    let labels: String = labels.map(|(key, value)| format!("{key}: {},", text(value))).collect();
    let demand = |one: &Value| {
        let values: Vec<String> = one["values"].as_array().into_iter().flatten().map(text).collect();
        let (key, operator) = (text(&one["key"]), text(&one["operator"]));
        format!("LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{}],}},", values.join(" "))
    };
    let demands: String = value["matchExpressions"].as_array().into_iter().flatten().map(demand).collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{demands}}},}}"
    )
}

/// How many pods a metric asks for, or why it cannot be had. Nothing but resources is ever measured here.
pub(super) fn look_up(
    cx: &mut Cx<'_>,
    target: Target<'_>,
    spec: &MetricSpec,
) -> Result<Result<Found, Missing>, Halt> {
    let namespace = &*target.scaler.metadata.namespace;
    if let Some(source) = &spec.resource {
        let failed = |event: String| {
            let error = format!("failed to get {} resource metric value: {event}", source.name);
            Missing { reason: "FailedGetResourceMetric", event, error }
        };
        return Ok(resource(cx, target, source, false)?.map_err(failed));
    }
    if let Some(source) = &spec.container_resource {
        let failed = |event: String| {
            let error = format!("failed to get {} container metric value: {event}", source.container);
            Missing { reason: "FailedGetContainerResourceMetric", event, error }
        };
        return Ok(resource(cx, target, source, true)?.map_err(failed));
    }
    Ok(Err(elsewhere(spec, namespace)))
}

fn elsewhere(spec: &MetricSpec, namespace: &str) -> Missing {
    if let Some(source) = &spec.pods {
        return custom(source, namespace, "FailedGetPodsMetric", "pods");
    }
    if let Some(source) = &spec.object {
        return custom(source, namespace, "FailedGetObjectMetric", "object");
    }
    if let Some(source) = &spec.external {
        let name = source["metric"]["name"].as_str().unwrap_or_default();
        let selector = selector(&source["metric"]["selector"]);
        let event = format!(
            "unable to get external metric {namespace}/{name}/{selector}: unable to fetch metrics from external metrics API: the server could not find the requested resource (get {name}.external.metrics.k8s.io)"
        );
        let error = format!(
            "failed to get {name} external metric value: failed to get {name} external metric: {event}"
        );
        return Missing { reason: "FailedGetExternalMetric", event, error };
    }
    let error = format!("unknown metric source type \"{}\"", spec.r#type);
    Missing { reason: "InvalidMetricSourceType", event: error.clone(), error }
}
