//! HorizontalPodAutoscaler.

use super::{Column, Row, column, common, row};
use crate::fields::Fields;
use kubestep_model::Instant;
use serde_json::Value;

pub(super) const COLUMNS: &[Column] = &[
    column("Name"),
    column("Reference"),
    column("Targets"),
    column("MinPods"),
    column("MaxPods"),
    column("Replicas"),
    column("Age"),
];

/// So many metrics are shown.
const MOST: usize = 2;

pub(super) fn row(o: &Value, now: Instant, _: bool) -> Row {
    row![
        common::name(o),
        format!("{}/{}", o.text("spec.scaleTargetRef.kind"), o.text("spec.scaleTargetRef.name")),
        metrics(o),
        if o.has("spec.minReplicas") { o.shown("spec.minReplicas") } else { "1".to_owned() },
        o.int("spec.maxReplicas"),
        o.int("status.currentReplicas"),
        common::created(o, now),
    ]
}

/// Upstream: formatHPAMetrics (v1.37). Without metrics the default one counts.
fn metrics(o: &Value) -> String {
    let (specs, statuses) = (o.at("spec.metrics"), o.list("status.currentMetrics"));
    let (none, default) = (Value::Null, [default_metric()]);
    let specs: &[Value] = specs.as_array().map_or(&default, Vec::as_slice);
    if specs.is_empty() {
        return "<none>".to_owned();
    }
    let shown: Vec<String> =
        specs.iter().enumerate().map(|(at, spec)| metric(spec, statuses.get(at).unwrap_or(&none))).collect();
    let text = shown[..shown.len().min(MOST)].join(", ");
    if shown.len() > MOST { format!("{text} + {} more...", shown.len() - MOST) } else { text }
}

fn default_metric() -> Value {
    let target = serde_json::json!({ "type": "Utilization", "averageUtilization": 80 });
    serde_json::json!({ "type": "Resource", "resource": { "name": "cpu", "target": target } })
}

fn metric(spec: &Value, status: &Value) -> String {
    let unknown = || "<unknown>".to_owned();
    let present = |source: &str, field: &str| {
        let path = format!("{source}.current.{field}");
        if status.has(&path) { status.quantity(&path) } else { unknown() }
    };
    // Where the source is there, a value that is absent prints as zero.
    let value = |source: &str, field: &str| {
        if status.has(source) { status.quantity(&format!("{source}.current.{field}")) } else { unknown() }
    };
    let (source, named) = match spec.text("type") {
        "External" => ("external", false),
        "Object" => ("object", false),
        "Pods" => {
            return format!(
                "{}/{}",
                value("pods", "averageValue"),
                spec.quantity("pods.target.averageValue")
            );
        }
        "Resource" => ("resource", true),
        "ContainerResource" => ("containerResource", true),
        _ => return "<unknown type>".to_owned(),
    };
    let target = |field: &str| format!("{source}.target.{field}");
    let average = spec.has(&target("averageValue"));
    match (named, average) {
        (false, true) => {
            let current = present(source, "averageValue");
            format!("{current}/{} (avg)", spec.quantity(&target("averageValue")))
        }
        (false, false) => format!("{}/{}", value(source, "value"), spec.quantity(&target("value"))),
        (true, true) => {
            let name = spec.text(&format!("{source}.name"));
            format!("{name}: {}/{}", value(source, "averageValue"), spec.quantity(&target("averageValue")))
        }
        (true, false) => {
            let per_cent = |v: &Value, path: &str, otherwise: &str| {
                if v.has(path) { format!("{}%", v.int(path)) } else { otherwise.to_owned() }
            };
            let current = per_cent(status, &format!("{source}.current.averageUtilization"), "<unknown>");
            let wanted = per_cent(spec, &target("averageUtilization"), "<auto>");
            format!("{}: {current}/{wanted}", spec.text(&format!("{source}.name")))
        }
    }
}
