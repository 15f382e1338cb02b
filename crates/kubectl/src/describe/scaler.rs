//! HorizontalPodAutoscaler.

use super::{Page, page::date, page::quote};
use crate::fields::Fields;
use kubestep_model::Object;
use serde_json::Value;

/// Upstream: describeHorizontalPodAutoscalerV2 (v1.37).
pub(super) fn describe(page: &mut Page, object: &Object) {
    let (meta, o) = (object.meta(), object.to_value());
    page.head(meta);
    page.field(0, "CreationTimestamp", date(meta.creation_timestamp));
    let target = o.at("spec.scaleTargetRef");
    page.field(0, "Reference", format!("{}/{}", target.text("kind"), target.text("name")));
    page.field(0, "Metrics", "( current / target )");
    let (none, statuses) = (Value::Null, o.list("status.currentMetrics"));
    for (at, spec) in o.list("spec.metrics").iter().enumerate() {
        page.line(1, metric(spec, statuses.get(at).unwrap_or(&none)));
    }
    let least = if o.has("spec.minReplicas") { o.shown("spec.minReplicas") } else { "<unset>".to_owned() };
    page.field(0, "Min replicas", least);
    page.field(0, "Max replicas", o.int("spec.maxReplicas"));
    if o.has("spec.behavior") {
        page.line(0, "Behavior:");
        direction(page, "Scale Up", o.at("spec.behavior.scaleUp"));
        direction(page, "Scale Down", o.at("spec.behavior.scaleDown"));
    }
    page.field(
        0,
        &format!("{} pods", target.text("kind")),
        format!("{} current / {} desired", o.int("status.currentReplicas"), o.int("status.desiredReplicas")),
    );
    let conditions = o.list("status.conditions");
    if !conditions.is_empty() {
        page.line(0, "Conditions:");
        page.line(1, "Type\tStatus\tReason\tMessage");
        page.line(1, "----\t------\t------\t-------");
    }
    for c in conditions {
        let text = |field: &str| c.text(field).to_owned();
        page.line(1, [text("type"), text("status"), text("reason"), text("message")].join("\t"));
    }
}

fn metric(spec: &Value, status: &Value) -> String {
    // Where the source is there, a value that is absent prints as zero.
    let current = |source: &str, field: &str| {
        if status.has(source) {
            status.quantity(&format!("{source}.current.{field}"))
        } else {
            "<unknown>".to_owned()
        }
    };
    let target = |source: &str, field: &str| spec.quantity(&format!("{source}.target.{field}"));
    let name = |source: &str| spec.text(&format!("{source}.metric.name")).to_owned();
    match spec.text("type") {
        "External" if spec.has("external.target.averageValue") => {
            let now = if status.has("external.current.averageValue") {
                current("external", "averageValue")
            } else {
                "<unknown>".to_owned()
            };
            let wanted = target("external", "averageValue");
            format!("{} (target average value):\t{now} / {wanted}", quote(&name("external")))
        }
        "External" => {
            let (now, wanted) = (current("external", "value"), target("external", "value"));
            format!("{} (target value):\t{now} / {wanted}", quote(&name("external")))
        }
        "Pods" => {
            let (now, wanted) = (current("pods", "averageValue"), target("pods", "averageValue"));
            format!("{} on pods:\t{now} / {wanted}", quote(&name("pods")))
        }
        "Object" => {
            let about = spec.at("object.describedObject");
            let (field, words) = match spec.text("object.target.type") {
                "AverageValue" => ("averageValue", "target average value"),
                _ => ("value", "target value"),
            };
            format!(
                "\"{}\" on {}/{} ({words}):\t{} / {}",
                name("object"),
                about.text("kind"),
                about.text("name"),
                current("object", field),
                target("object", field)
            )
        }
        "Resource" => {
            format!("resource {} on pods{}", spec.text("resource.name"), share(spec, status, "resource"))
        }
        "ContainerResource" => format!(
            "resource {} of container \"{}\" on pods{}",
            spec.text("containerResource.name"),
            spec.text("containerResource.container"),
            share(spec, status, "containerResource")
        ),
        other => format!("<unknown metric type {}>", quote(other)),
    }
}

/// What is used of a resource and what is wanted.
fn share(spec: &Value, status: &Value, source: &str) -> String {
    let path = |field: &str| format!("{source}.current.{field}");
    let average = format!("{source}.target.averageValue");
    if spec.has(&average) {
        let now =
            if status.has(source) { status.quantity(&path("averageValue")) } else { "<unknown>".to_owned() };
        return format!(":\t{now} / {}", spec.quantity(&average));
    }
    let now = if status.has(&path("averageUtilization")) {
        let (used, amount) =
            (status.int(&path("averageUtilization")), status.quantity(&path("averageValue")));
        format!("{used}% ({amount})")
    } else {
        "<unknown>".to_owned()
    };
    let wanted = format!("{source}.target.averageUtilization");
    let wanted = if spec.has(&wanted) { format!("{}%", spec.int(&wanted)) } else { "<auto>".to_owned() };
    format!("  (as a percentage of request):\t{now} / {wanted}")
}

fn direction(page: &mut Page, title: &str, rules: &Value) {
    if rules.is_null() {
        return;
    }
    page.line(1, format!("{title}:"));
    if rules.has("stabilizationWindowSeconds") {
        let seconds = rules.int("stabilizationWindowSeconds");
        page.line(2, format!("Stabilization Window: {seconds} seconds"));
    }
    if rules.list("policies").is_empty() {
        return;
    }
    page.line(2, format!("Select Policy: {}", rules.text_or("selectPolicy", "Max")));
    page.line(2, "Policies:");
    for p in rules.list("policies") {
        page.line(
            3,
            format!(
                "- Type: {}\tValue: {}\tPeriod: {} seconds",
                p.text("type"),
                p.int("value"),
                p.int("periodSeconds")
            ),
        );
    }
}
