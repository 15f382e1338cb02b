//! The template that pods are made from.

use super::{Page, containers, containers::Place, volumes};
use kubestep_model::arrange::Arrange;
use kubestep_model::{LabelSelector, PodTemplateSpec};
use serde_json::Value;

/// The template of an object that is kept whole.
pub(super) fn describe_value(page: &mut Page, template: &Value) {
    if template.is_null() {
        page.line(0, "Pod Template:");
        page.put(1, "<unset>");
        return;
    }
    describe(page, &serde_json::from_value(template.clone()).unwrap_or_default());
}

/// Upstream: DescribePodTemplate.
pub(super) fn describe(page: &mut Page, template: &PodTemplateSpec) {
    let spec = &template.spec;
    page.line(0, "Pod Template:");
    page.labels("  Labels", &template.metadata.labels);
    if !template.metadata.annotations.is_empty() {
        page.annotations("  Annotations", &template.metadata.annotations);
    }
    if !spec.service_account_name.is_empty() {
        page.field(1, "Service Account", &spec.service_account_name);
    }
    if !spec.init_containers.is_empty() {
        containers::describe(page, "Init Containers", &spec.init_containers, &[], Place::Template);
    }
    containers::describe(page, "Containers", &spec.containers, &[], Place::Template);
    volumes::describe(page, &spec.volumes, "  ");
    spread_constraints(page, &spec.topology_spread_constraints, "  ");
    if !spec.priority_class_name.is_empty() {
        page.field(1, "Priority Class Name", &spec.priority_class_name);
    }
    page.labels("  Node-Selectors", &spec.node_selector);
    page.tolerations("  Tolerations", &spec.tolerations);
}

/// How pods are to be spread. Upstream: describeTopologySpreadConstraints.
pub(super) fn spread_constraints(page: &mut Page, constraints: &[Value], space: &str) {
    let text = |c: &Value, field: &str| c.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut constraints: Vec<&Value> = constraints.iter().collect();
    constraints.arrange_by_key(|c| text(c, "topologyKey"));
    for (at, c) in constraints.into_iter().enumerate() {
        let head = if at == 0 { "Topology Spread Constraints:" } else { "" };
        let skew = c.get("maxSkew").and_then(Value::as_i64).unwrap_or_default();
        let selector =
            c.get("labelSelector").and_then(|s| serde_json::from_value::<LabelSelector>(s.clone()).ok());
        let selector = selector.map(|s| format!(" for selector {}", s.format())).unwrap_or_default();
        page.line(
            0,
            format!(
                "{space}{head}\t{}:{} when max skew {skew} is exceeded{selector}",
                text(c, "topologyKey"),
                text(c, "whenUnsatisfiable")
            ),
        );
    }
}
