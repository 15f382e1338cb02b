//! LimitRange.
//!
//! Upstream: pkg/apis/core/validation, ValidateLimitRange (v1.37).

use super::{
    field::{Errors, items, text},
    resources::{self, Amounts},
};
use kubestep_model::{Quantity, text::names};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let mut seen: Vec<&str> = vec![];
    for (i, limit) in items(&whole["spec"]["limits"]).iter().enumerate() {
        let field = format!("spec.limits[{i}]");
        let kind = text(&limit["type"]);
        type_name(&mut errors, kind, &format!("{field}.type"));
        if seen.contains(&kind) {
            errors.duplicate(&format!("{field}.type"), &Value::from(kind).to_string());
        }
        seen.push(kind);
        item(&mut errors, limit, kind, &field);
    }
    errors
}

fn type_name(errors: &mut Errors, kind: &str, field: &str) {
    errors.invalid_each(field, kind, names::is_qualified_name(kind));
    if !kind.contains('/') && !matches!(kind, "Pod" | "Container" | "PersistentVolumeClaim") {
        errors.invalid_text(field, kind, "must be a standard limit type or fully qualified");
    }
}

fn item(errors: &mut Errors, limit: &Value, kind: &str, field: &str) {
    let mut all: BTreeSet<String> = BTreeSet::new();
    let mut read = |errors: &mut Errors, part: &str| -> Amounts {
        let amounts = resources::amounts(limit, part);
        for name in amounts.keys() {
            resources::limit_name(errors, name, kind, &format!("{field}.{part}[{name}]"));
            all.insert(name.clone());
        }
        amounts
    };
    let max = read(errors, "max");
    let min = read(errors, "min");
    let (mut default, mut request) = (Amounts::new(), Amounts::new());
    if kind == "Pod" {
        for part in ["default", "defaultRequest"] {
            if limit[part].as_object().is_some_and(|m| !m.is_empty()) {
                errors.forbidden(&format!("{field}.{part}"), "may not be specified when `type` is 'Pod'");
            }
        }
    } else {
        default = read(errors, "default");
        request = read(errors, "defaultRequest");
    }
    if kind == "PersistentVolumeClaim" && !min.contains_key("storage") && !max.contains_key("storage") {
        let why = "either minimum or maximum storage value is required, but neither was provided";
        errors.required(&format!("{field}.limits"), why);
    }
    let ratio = read(errors, "maxLimitRequestRatio");
    for name in &all {
        let found = One {
            min: min.get(name),
            max: max.get(name),
            default: default.get(name),
            request: request.get(name),
            ratio: ratio.get(name),
        };
        found.check(errors, name, field);
    }
}

/// What is said about one resource.
struct One<'a> {
    min: Option<&'a Quantity>,
    max: Option<&'a Quantity>,
    default: Option<&'a Quantity>,
    request: Option<&'a Quantity>,
    ratio: Option<&'a Quantity>,
}

impl One<'_> {
    fn check(&self, errors: &mut Errors, name: &str, field: &str) {
        let mut order =
            |low: (&str, Option<&Quantity>), high: (&str, Option<&Quantity>), part: &str, shows_low: bool| {
                if let (Some(a), Some(b)) = (low.1, high.1)
                    && a.cmp(b).is_gt()
                {
                    let shown = if shows_low { a } else { b };
                    let why = format!("{} value {a} is greater than {} value {b}", low.0, high.0);
                    errors.invalid_text(&format!("{field}.{part}[{name}]"), &shown.to_string(), &why);
                }
            };
        order(("min", self.min), ("max", self.max), "min", true);
        order(("min", self.min), ("default request", self.request), "defaultRequest", false);
        order(("default request", self.request), ("max", self.max), "defaultRequest", true);
        order(("default request", self.request), ("default limit", self.default), "defaultRequest", true);
        order(("min", self.min), ("default", self.default), "default", true);
        order(("default", self.default), ("max", self.max), "default", false);
        self.ratio(errors, name, field);
        if !resources::overcommitted(name)
            && let (Some(default), Some(request)) = (self.default, self.request)
            && !default.cmp(request).is_eq()
        {
            let why =
                format!("default value {default} must equal to defaultRequest value {request} in {name}");
            errors.invalid_text(&format!("{field}.defaultRequest[{name}]"), &default.to_string(), &why);
        }
    }

    fn ratio(&self, errors: &mut Errors, name: &str, field: &str) {
        let Some(ratio) = self.ratio else { return };
        let field = format!("{field}.maxLimitRequestRatio[{name}]");
        let shown = ratio.to_string();
        if ratio.milli_value() < 1000 {
            errors.invalid_text(&field, &shown, &format!("ratio {ratio} is less than 1"));
        }
        if let (Some(min), Some(max)) = (self.min, self.max)
            && min.milli_value() > 0
        {
            let most = max.milli_value() as f64 / min.milli_value() as f64;
            if ratio.milli_value() as f64 / 1000.0 > most {
                let why = format!("ratio {ratio} is greater than max/min = {most:.6}");
                errors.invalid_text(&field, &shown, &why);
            }
        }
    }
}
