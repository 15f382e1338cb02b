//! What the loop finds where nothing is measured: there is no metrics server in this cluster.
//! Upstream: pkg/controller/podautoscaler, horizontal.go and metrics/client.go (v1.37).

use kubestep_model::{MetricSpec, ResourceMetricSource};
use serde_json::Value;

/// A metric that could not be had: the reason, what an event says, and what the whole pass says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    pub(super) reason: &'static str,
    pub(super) event: String,
    pub(super) error: String,
}

const NO_RESOURCE_METRICS: &str = "unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)";
const NO_CUSTOM_METRICS: &str = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered";

fn of_resource(source: &ResourceMetricSource) -> Option<String> {
    let name = &source.name;
    let why = format!("unable to get metrics for resource {name}: {NO_RESOURCE_METRICS}");
    if !source.target["averageValue"].is_null() {
        return Some(format!("failed to get {name} usage: {why}"));
    }
    if source.target["averageUtilization"].is_null() {
        return None;
    }
    Some(format!("failed to get {name} utilization: {why}"))
}

fn resource(source: &ResourceMetricSource, reason: &'static str, what: &str) -> Missing {
    let event = of_resource(source).unwrap_or_else(|| {
        "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set".to_owned()
    });
    let error = format!("failed to get {} {what} metric value: {event}", source.name);
    Missing { reason, event, error }
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

/// Why this metric cannot be had.
pub(super) fn look_up(spec: &MetricSpec, namespace: &str) -> Missing {
    if let Some(source) = &spec.resource {
        return resource(source, "FailedGetResourceMetric", "resource");
    }
    if let Some(source) = &spec.container_resource {
        return resource(source, "FailedGetContainerResourceMetric", "container resource");
    }
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
