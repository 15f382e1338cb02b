//! `kubectl autoscale`. Upstream: kubectl/pkg/cmd/autoscale (v1.37).

use super::{
    common::{self, FILENAME, KUSTOMIZE, RECURSIVE},
    create::make::{Words, flags, try_make},
};
use crate::{
    args::{Args, Flag, Takes, flag},
    fault::Fault,
    kc::{Flow, Kc},
    select::{self, Select},
};
use kubestep_model::{Kind, Quantity};
use serde_json::{Value, json};

pub(super) const FLAGS: &[Flag] = flags![
    FILENAME,
    RECURSIVE,
    flag("min", Takes::Int),
    flag("max", Takes::Int),
    flag("cpu", Takes::Text),
    flag("memory", Takes::Text),
    flag("cpu-percent", Takes::Int),
    flag("name", Takes::Text),
    flag("record", Takes::Bool),
    KUSTOMIZE,
];

/// The kinds that can be scaled.
const SCALED: &[(&str, &str)] =
    &[("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "StatefulSet"), ("", "ReplicationController")];

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let (least, most) = (args.int("min").unwrap_or(-1), args.int("max").unwrap_or(-1));
    if args.has("cpu-percent") {
        kc.err("Flag --cpu-percent has been deprecated, Use --cpu with percentage or resource quantity format (e.g., '70%' for utilization or '500m' for milliCPU).\n");
    }
    if !args.has("max") {
        return Err(kc.fail("required flag(s) \"max\" not set"));
    }
    if most < 1 {
        return Err(kc.fail(format!("--max=MAXPODS is required and must be at least 1, max: {most}")));
    }
    if most < least {
        return Err(kc.fail(format!(
            "--max=MAXPODS must be larger or equal to --min=MINPODS, max: {most}, min: {least}"
        )));
    }
    let percent = args.int("cpu-percent").filter(|p| *p > 0);
    if percent.is_some() && !args.text_or_empty("cpu").is_empty() {
        return Err(kc.fail("--cpu-percent and --cpu are mutually exclusive"));
    }
    let mut metrics = Vec::new();
    if let Some(percent) = percent {
        metrics.push(metric("cpu", json!({ "type": "Utilization", "averageUtilization": percent })));
    }
    for (resource, unit) in [("cpu", "m"), ("memory", "Mi")] {
        let text = args.text_or_empty(resource).trim();
        if !text.is_empty() {
            metrics.push(metric(resource, target(resource, text, unit).map_err(|why| kc.fail(why))?));
        }
    }
    let found = select::find(kc, &Select::from(args, &args.words))?;
    for info in &found.infos {
        let kind = info.key.kind;
        if !SCALED.contains(&(kind.group(), kind.name())) {
            let resource = format!("{}/{}, Resource={}", kind.group(), kind.version(), kind.resource());
            let text = format!(
                "cannot autoscale a {}: could not find scale subresource for {resource} in discovery information",
                kind.name()
            );
            return Err(kc.fail(text));
        }
        let name = args.text("name").filter(|n| !n.is_empty()).unwrap_or(&info.key.name);
        let target =
            json!({ "apiVersion": kind.api_version(), "kind": kind.name(), "name": &*info.key.name });
        let mut spec = json!({ "scaleTargetRef": &target, "maxReplicas": most });
        if least > 0 {
            spec["minReplicas"] = json!(least);
        }
        if !metrics.is_empty() {
            spec["metrics"] = json!(metrics);
        }
        let value = json!({ "metadata": { "name": name }, "spec": spec });
        let dry = common::DryRun::of(kc, args)? == common::DryRun::Client;
        let done = if dry { "created" } else { "autoscaled" };
        let kind = Kind::other("autoscaling", "HorizontalPodAutoscaler");
        if let Err(fault) = try_make(kc, args, kind, value, Words { done, failed: "" })? {
            as_older(kc, args, (name, &target, least, most), &fault)?;
        }
    }
    if found.infos.is_empty() && found.faults.is_empty() {
        return Err(kc.fail("no objects passed to autoscale"));
    }
    common::finish(kc, found.faults)
}

/// What the newer version of the API refused is tried in the older one, if that can say it.
/// Upstream: canCreateHPAV1, createHorizontalPodAutoscalerV1.
fn as_older(
    kc: &mut Kc<'_>,
    args: &Args,
    (name, target, least, most): (&str, &Value, i64, i64),
    fault: &Fault,
) -> Flow<()> {
    let incompatible = |kc: &mut Kc<'_>, why: &str| {
        let text =
            "failed to create autoscaling/v2 HPA and the configuration is incompatible with autoscaling/v1";
        kc.fail(format!("{text}: {why}"))
    };
    let cpu = args.text_or_empty("cpu").trim();
    let percent = args.int("cpu-percent").unwrap_or(-1);
    if cpu.is_empty() {
        return Err(incompatible(kc, "empty input"));
    }
    let plain = args.text_or_empty("memory").is_empty();
    if !(plain && (percent >= 0 || cpu.ends_with('%'))) {
        return Err(incompatible(kc, "%!w(<nil>)"));
    }
    let Some(kind) = Kind::of_manifest("autoscaling/v1", "HorizontalPodAutoscaler") else {
        return Err(kc.fault(fault));
    };
    let mut spec = json!({ "scaleTargetRef": target, "maxReplicas": most });
    if least > 0 {
        spec["minReplicas"] = json!(least);
    }
    if percent >= 0 {
        spec["targetCPUUtilizationPercentage"] = json!(percent);
    }
    let value = json!({ "metadata": { "name": name }, "spec": spec });
    let made = try_make(kc, args, kind, value, Words { done: "autoscaled", failed: "" })?;
    common::or_stop(kc, made)
}

fn metric(resource: &str, target: Value) -> Value {
    json!({ "type": "Resource", "resource": { "name": resource, "target": target } })
}

/// `70%`, `500m`, or a bare number in the resource's usual unit. Upstream: parseResourceInput.
fn target(resource: &str, text: &str, unit: &str) -> Result<Value, String> {
    if let Some(percent) = text.strip_suffix('%') {
        let number = percent.parse::<i32>().map_err(|_| format!("invalid percentage value: {text}"))?;
        return Ok(json!({ "type": "Utilization", "averageUtilization": number }));
    }
    let bare = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let full = if bare { format!("{text}{unit}") } else { text.to_owned() };
    let quantity =
        Quantity::parse(&full).map_err(|_| format!("invalid resource {resource} value: {text}"))?;
    Ok(json!({ "type": "AverageValue", "averageValue": quantity.to_string() }))
}
