//! Namespace.

use super::{Page, page::date, quota};
use crate::{
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{Kind, Namespace, Object, ResourceQuota};
use serde_json::Value;
use std::sync::Arc;

pub(super) fn describe(kc: &mut Kc<'_>, page: &mut Page, o: &Arc<Namespace>) -> Flow<Result<(), Fault>> {
    let meta = &o.metadata;
    page.head(meta);
    page.field(0, "Status", &o.status.phase);
    if !o.status.conditions.is_empty() {
        page.line(0, "Conditions:");
        page.line(1, "Type\tStatus\tLastTransitionTime\tReason\tMessage");
        page.line(1, "----\t------\t------------------\t------\t-------");
        for c in &o.status.conditions {
            page.line(
                1,
                format!(
                    "{}\t{}\t{}\t{}\t{}",
                    c.r#type,
                    c.status,
                    date(c.last_transition_time),
                    c.reason,
                    c.message
                ),
            );
        }
    }
    let quotas = match kc.list(Kind::ResourceQuota, Some(meta.name.clone()), None, None)? {
        Ok((items, _)) => items,
        Err(status) => return Ok(Err(status.into())),
    };
    page.line(0, "");
    write_quotas(page, &quotas);
    let Some(limits) = Kind::find("", "LimitRange") else { return Ok(Ok(())) };
    let limits = match kc.list(limits, Some(meta.name.clone()), None, None)? {
        Ok((items, _)) => items,
        Err(status) => return Ok(Err(status.into())),
    };
    page.line(0, "");
    write_limits(page, &limits);
    Ok(Ok(()))
}

fn write_quotas(page: &mut Page, quotas: &[Object]) {
    if quotas.is_empty() {
        page.line(0, "No resource quota.");
        return;
    }
    page.line(0, "Resource Quotas");
    for o in quotas.iter().filter_map(|o| o.get::<ResourceQuota>()) {
        page.field(1, "Name", &o.metadata.name);
        quota::scopes(page, o, 1, "* ");
        page.line(1, "Resource\tUsed\tHard");
        page.line(1, "--------\t---\t---");
        for (name, hard) in &o.status.hard {
            page.line(1, format!("{name}\t{}\t{hard}", o.status.used.get(name).cloned().unwrap_or_default()));
        }
    }
}

fn write_limits(page: &mut Page, limits: &[Object]) {
    if limits.is_empty() {
        page.line(0, "No LimitRange resource.");
        return;
    }
    page.line(0, "Resource Limits");
    page.line(0, " Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio");
    page.line(0, " ----\t--------\t---\t---\t---------------\t-------------\t-----------------------");
    limits.iter().for_each(|limit| self::limits(page, &limit.to_value(), " "));
}

/// The rows of one limit range. Upstream: describeLimitRangeSpec.
pub(super) fn limits(page: &mut Page, limit: &Value, prefix: &str) {
    let rows = limit.pointer("/spec/limits").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    rows.iter().for_each(|row| limit_row(page, row, prefix));
}

fn limit_row(page: &mut Page, row: &Value, prefix: &str) {
    const FIELDS: [&str; 5] = ["min", "max", "defaultRequest", "default", "maxLimitRequestRatio"];
    let mut names: Vec<&String> =
        FIELDS.iter().filter_map(|f| row.get(*f)?.as_object()).flat_map(|m| m.keys()).collect();
    names.arrange();
    names.dedup();
    let kind = row.get("type").and_then(Value::as_str).unwrap_or_default();
    for name in names {
        let cell = |field: &&str| match row.get(*field).and_then(|m| m.get(name.as_str())) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => "-".to_owned(),
        };
        let cells: Vec<String> = FIELDS.iter().map(cell).collect();
        page.line(0, format!("{prefix}{kind}\t{name}\t{}", cells.join("\t")));
    }
}
