//! Kinds whose description is a few lines: budgets, priority classes, limits.

use super::{Page, namespace, page::plain_labels};
use crate::fields::Fields;
use kubestep_model::Object;

/// Upstream: describePodDisruptionBudgetV1 (v1.37).
pub(super) fn budget(page: &mut Page, object: &Object) {
    let (meta, o) = (object.meta(), object.to_value());
    page.field(0, "Name", &meta.name);
    page.field(0, "Namespace", &meta.namespace);
    if o.has("spec.minAvailable") {
        page.field(0, "Min available", o.shown("spec.minAvailable"));
    } else if o.has("spec.maxUnavailable") {
        page.field(0, "Max unavailable", o.shown("spec.maxUnavailable"));
    }
    let selector = if o.has("spec.selector") { o.selector("spec.selector") } else { "<unset>".to_owned() };
    page.field(0, "Selector", selector);
    page.line(0, "Status:");
    page.field(2, "Allowed disruptions", o.int("status.disruptionsAllowed"));
    page.field(2, "Current", o.int("status.currentHealthy"));
    page.field(2, "Desired", o.int("status.desiredHealthy"));
    page.field(2, "Total", o.int("status.expectedPods"));
}

/// Upstream: describePriorityClass (v1.37).
pub(super) fn priority_class(page: &mut Page, object: &Object) {
    let (meta, o) = (object.meta(), object.to_value());
    page.field(0, "Name", &meta.name);
    page.field(0, "Value", o.int("value"));
    page.field(0, "GlobalDefault", o.on("globalDefault"));
    page.field(0, "PreemptionPolicy", o.text("preemptionPolicy"));
    page.field(0, "Description", o.text("description"));
    page.field(0, "Annotations", plain_labels(&meta.annotations));
}

/// Upstream: describeLimitRange (v1.37). Upstream's order of resources is that of a Go map; here it is that of names.
pub(super) fn limit_range(page: &mut Page, object: &Object) {
    page.field(0, "Name", &object.meta().name);
    page.field(0, "Namespace", &object.meta().namespace);
    page.line(0, "Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio");
    page.line(0, "----\t--------\t---\t---\t---------------\t-------------\t-----------------------");
    namespace::limits(page, &object.to_value(), "");
}
