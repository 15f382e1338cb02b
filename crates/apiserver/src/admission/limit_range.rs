//! What containers ask for where they are silent, and how much they may ask for at least and at most.
//!
//! Upstream: plugin/pkg/admission/limitranger (v1.37).

use crate::turn::Turn;
use kubestep_model::arrange::Gather;
use kubestep_model::{
    Container, Custom, Kind, Object, Pod, Quantity, Status,
    resources::{self, Amounts},
};
use serde_json::Value;
use std::sync::Arc;

const NOTE: &str = "kubernetes.io/limit-ranger";
/// Amounts above this are not compared in thousandths, which would overflow.
const MOST_IN_MILLI: i64 = i64::MAX / 1000;

/// The limit ranges of a namespace.
fn ranges(turn: &Turn<'_>, namespace: &str) -> Vec<Arc<Custom>> {
    let Some(kind) = Kind::find("", "LimitRange") else { return vec![] };
    let stored = turn.store.list(kind, Some(namespace));
    stored.filter_map(|o| if let Object::Custom(c) = o { Some(c.clone()) } else { None }).collect()
}

/// Fills in requests and limits of a new pod.
pub(super) fn admit(turn: &Turn<'_>, pod: &mut Pod) {
    for range in ranges(turn, &pod.metadata.namespace) {
        fill(pod, range.rest.get("spec").unwrap_or(&Value::Null));
    }
}

/// Refuses a new pod that asks for too little or too much.
pub(super) fn review(turn: &Turn<'_>, pod: &Pod) -> Result<(), Status> {
    for range in ranges(turn, &pod.metadata.namespace) {
        let wrong = check(pod, range.rest.get("spec").unwrap_or(&Value::Null));
        if !wrong.is_empty() {
            let text = if wrong.len() == 1 { wrong.concat() } else { format!("[{}]", wrong.join(", ")) };
            return Err(Status::forbidden(Kind::Pod, super::name_or_start(&pod.metadata), &text));
        }
    }
    Ok(())
}

/// Refuses a claim that asks for too little or too much.
pub(super) fn review_claim(turn: &Turn<'_>, claim: &Custom) -> Result<(), Status> {
    if claim.kind.own_name() != "PersistentVolumeClaim" {
        return Ok(());
    }
    let asked = claim.rest.get("spec").map(|s| s["resources"].clone()).unwrap_or_default();
    let asked = amounts(&asked, "requests");
    for range in ranges(turn, &claim.metadata.namespace) {
        let spec = range.rest.get("spec").unwrap_or(&Value::Null);
        let mut wrong = vec![];
        for limit in limits(spec).filter(|l| l["type"] == "PersistentVolumeClaim") {
            for (name, least) in amounts(limit, "min") {
                wrong.extend(minimum("PersistentVolumeClaim", &name, &least, asked.get(&name), None));
            }
            for (name, most) in amounts(limit, "max") {
                wrong.extend(maximum_request("PersistentVolumeClaim", &name, &most, asked.get(&name)));
            }
        }
        if !wrong.is_empty() {
            let text = if wrong.len() == 1 { wrong.concat() } else { format!("[{}]", wrong.join(", ")) };
            return Err(Status::forbidden(claim.kind, super::name_or_start(&claim.metadata), &text));
        }
    }
    Ok(())
}

/// As `maximum`, where only the request counts. Upstream: maxRequestConstraint.
fn maximum_request(what: &str, name: &str, bound: &Quantity, request: Option<&Quantity>) -> Option<String> {
    let head = format!("maximum {name} usage per {what} is {bound}");
    let (asked, _, top) = comparable(request, None, bound);
    match request {
        None => Some(format!("{head}.  No request is specified")),
        Some(request) if asked > top => Some(format!("{head}, but request is {request}")),
        Some(_) => None,
    }
}

fn limits(spec: &Value) -> impl Iterator<Item = &Value> {
    spec["limits"].as_array().into_iter().flatten()
}

fn amounts(limit: &Value, part: &str) -> Amounts {
    let each = limit[part].as_object().into_iter().flatten();
    each.filter_map(|(name, value)| serde_json::from_value(value.clone()).ok().map(|q| (name.clone(), q)))
        .gather()
}

/// Gives containers the defaults of a limit range and says so in an annotation.
pub(crate) fn fill(pod: &mut Pod, spec: &Value) {
    let (mut default, mut request) = (Amounts::new(), Amounts::new());
    for limit in limits(spec).filter(|l| l["type"] == "Container") {
        default.extend(amounts(limit, "default"));
        request.extend(amounts(limit, "defaultRequest"));
    }
    let mut notes = vec![];
    for container in &mut pod.spec.containers {
        fill_container(container, "container", &default, &request, &mut notes);
    }
    for container in &mut pod.spec.init_containers {
        fill_container(container, "init container", &default, &request, &mut notes);
    }
    if !notes.is_empty() {
        pod.metadata.annotations.insert(NOTE.into(), format!("LimitRanger plugin set: {}", notes.join("; ")));
    }
}

fn fill_container(
    container: &mut Container,
    what: &str,
    default: &Amounts,
    request: &Amounts,
    notes: &mut Vec<String>,
) {
    let missing = |there: &mut Amounts, wanted: &Amounts| -> Vec<String> {
        let names: Vec<String> = wanted.keys().filter(|name| !there.contains_key(*name)).cloned().collect();
        there.extend(names.iter().map(|name| (name.clone(), wanted[name].clone())));
        names
    };
    let limits = missing(&mut container.resources.limits, default);
    let requests = missing(&mut container.resources.requests, request);
    for (names, part) in [(requests, "request"), (limits, "limit")] {
        if !names.is_empty() {
            notes.push(format!("{} {part} for {what} {}", names.join(", "), container.name));
        }
    }
}

/// What is wrong with a pod by a limit range.
pub(crate) fn check(pod: &Pod, spec: &Value) -> Vec<String> {
    let mut wrong = vec![];
    for limit in limits(spec) {
        match limit["type"].as_str() {
            Some("Container") => {
                for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
                    let resources = &container.resources;
                    one(&mut wrong, limit, "Container", &resources.requests, &resources.limits);
                }
            }
            Some("Pod") => {
                let mut plain = pod.clone();
                plain.spec.overhead.clear();
                plain.spec.rest.remove("resources");
                let (requests, limits) = (resources::requests(&plain), resources::limits(&plain));
                one(&mut wrong, limit, "Pod", &requests, &limits);
            }
            _ => {}
        }
    }
    wrong
}

fn one(wrong: &mut Vec<String>, limit: &Value, what: &str, requests: &Amounts, limits: &Amounts) {
    for (name, least) in amounts(limit, "min") {
        wrong.extend(minimum(what, &name, &least, requests.get(&name), limits.get(&name)));
    }
    for (name, most) in amounts(limit, "max") {
        wrong.extend(maximum(what, &name, &most, requests.get(&name), limits.get(&name)));
    }
    for (name, most) in amounts(limit, "maxLimitRequestRatio") {
        wrong.extend(ratio(what, &name, &most, requests.get(&name), limits.get(&name)));
    }
}

/// Request, limit and bound as numbers that can be compared.
fn comparable(request: Option<&Quantity>, limit: Option<&Quantity>, bound: &Quantity) -> (i64, i64, i64) {
    let all = [request, limit, Some(bound)];
    let exact = all.iter().all(|q| q.is_none_or(|q| q.value() <= MOST_IN_MILLI));
    let of = |q: Option<&Quantity>| q.map_or(0, |q| if exact { q.milli_value() } else { q.value() });
    (of(request), of(limit), of(Some(bound)))
}

fn minimum(
    what: &str,
    name: &str,
    least: &Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    let (asked, most, bound) = comparable(request, limit, least);
    let head = format!("minimum {name} usage per {what} is {least}");
    match (request, limit) {
        (None, _) => Some(format!("{head}.  No request is specified")),
        (Some(request), _) if asked < bound => Some(format!("{head}, but request is {request}")),
        (_, Some(limit)) if most < bound => Some(format!("{head}, but limit is {limit}")),
        _ => None,
    }
}

fn maximum(
    what: &str,
    name: &str,
    bound: &Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    let (asked, most, top) = comparable(request, limit, bound);
    let head = format!("maximum {name} usage per {what} is {bound}");
    match (request, limit) {
        (_, None) => Some(format!("{head}.  No limit is specified")),
        (_, Some(limit)) if most > top => Some(format!("{head}, but limit is {limit}")),
        (Some(request), _) if asked > top => Some(format!("{head}, but request is {request}")),
        _ => None,
    }
}

fn ratio(
    what: &str,
    name: &str,
    bound: &Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    let (asked, most, _) = comparable(request, limit, bound);
    let head = format!("{name} max limit to request ratio per {what} is {bound}, but");
    if request.is_none() || asked == 0 {
        return Some(format!("{head} no request is specified or request is 0"));
    }
    if limit.is_none() || most == 0 {
        return Some(format!("{head} no limit is specified or limit is 0"));
    }
    let shown = most as f64 / asked as f64;
    let exact = bound.value() <= MOST_IN_MILLI;
    let (observed, top) = if exact { (shown * 1000.0, bound.milli_value()) } else { (shown, bound.value()) };
    (observed > top as f64).then(|| format!("{head} provided ratio is {shown:.6}"))
}
