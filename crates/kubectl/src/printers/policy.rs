//! Rights, network rules, classes and the other kinds of the cluster's own household.

use super::{Cell, Column, Row, boolean, column, common, number, row, wide};
use crate::fields::Fields;
use kubestep_model::arrange::Gather;
use kubestep_model::{Instant, text::duration::human_duration};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const INGRESS: &[Column] =
    &[column("Name"), column("Class"), column("Hosts"), column("Address"), column("Ports"), column("Age")];

pub(super) fn ingress(o: &Value, now: Instant, wide: bool) -> Row {
    let class = if o.has("spec.ingressClassName") { o.text("spec.ingressClassName") } else { "<none>" };
    row![
        common::name(o),
        class,
        hosts(o.list("spec.rules")),
        addresses(o.list("status.loadBalancer.ingress"), wide),
        if o.list("spec.tls").is_empty() { "80" } else { "80, 443" },
        common::created(o, now),
    ]
}

/// Upstream: formatHosts, which stops to look once there are three.
fn hosts(rules: &[Value]) -> String {
    let (mut list, mut more) = (Vec::new(), false);
    for host in rules.iter().map(|r| r.text("host")) {
        more |= list.len() == 3;
        if !more && !host.is_empty() {
            list.push(host);
        }
    }
    let text = list.join(",");
    match (list.is_empty(), more) {
        (true, _) => "*".to_owned(),
        (_, true) => format!("{text} + {} more...", rules.len() - 3),
        _ => text,
    }
}

/// The addresses of a load balancer, cut to sixteen letters unless there is room.
fn addresses(entries: &[Value], wide: bool) -> String {
    let address =
        |e: &Value| [e.text("ip"), e.text("hostname")].into_iter().find(|a| !a.is_empty()).map(str::to_owned);
    let all: BTreeSet<String> = entries.iter().filter_map(address).gather();
    let list = all.into_iter().collect::<Vec<_>>().join(",");
    if wide || list.chars().count() <= 16 { list } else { list.chars().take(13).collect::<String>() + "..." }
}

pub(super) const INGRESS_CLASS: &[Column] =
    &[column("Name"), column("Controller"), column("Parameters"), column("Age")];

pub(super) fn ingress_class(o: &Value, now: Instant, _: bool) -> Row {
    let annotation = o.at("metadata.annotations").get("ingressclass.kubernetes.io/is-default-class");
    let default = if annotation.and_then(Value::as_str) == Some("true") { " (default)" } else { "" };
    let p = o.at("spec.parameters");
    let parameters = if p.is_null() {
        "<none>".to_owned()
    } else {
        let group = if p.has("apiGroup") { format!(".{}", p.text("apiGroup")) } else { String::new() };
        format!("{}{group}/{}", p.text("kind"), p.text("name"))
    };
    row![
        format!("{}{default}", common::name(o)),
        o.text("spec.controller"),
        parameters,
        common::created(o, now),
    ]
}

pub(super) const NETWORK_POLICY: &[Column] = &[column("Name"), column("Pod-Selector"), column("Age")];

pub(super) fn network_policy(o: &Value, now: Instant, _: bool) -> Row {
    row![common::name(o), o.selector("spec.podSelector"), common::created(o, now)]
}

/// What the API server shows of kinds for which it has no columns of their own.
pub(super) const PLAIN: &[Column] = &[column("Name"), column("Created At")];

pub(super) fn plain(o: &Value, _: Instant, _: bool) -> Row {
    row![common::name(o), o.text("metadata.creationTimestamp")]
}

pub(super) const BINDING: &[Column] =
    &[column("Name"), column("Role"), column("Age"), wide("Users"), wide("Groups"), wide("ServiceAccounts")];

pub(super) fn binding(o: &Value, now: Instant, _: bool) -> Row {
    let of = |kind: &str| {
        let subjects = o.list("subjects").iter().filter(|s| s.text("kind") == kind);
        let name = |s: &Value| match kind {
            "ServiceAccount" => format!("{}/{}", s.text("namespace"), s.text("name")),
            _ => s.text("name").to_owned(),
        };
        subjects.map(name).collect::<Vec<_>>().join(", ")
    };
    row![
        common::name(o),
        format!("{}/{}", o.text("roleRef.kind"), o.text("roleRef.name")),
        common::created(o, now),
        of("User"),
        of("Group"),
        of("ServiceAccount"),
    ]
}

pub(super) const PRIORITY_CLASS: &[Column] =
    &[column("Name"), number("Value"), boolean("Global-Default"), column("Age"), column("PreemptionPolicy")];

pub(super) fn priority_class(o: &Value, now: Instant, wide: bool) -> Row {
    let mut row = row![common::name(o), o.int("value"), o.on("globalDefault"), common::created(o, now)];
    if wide {
        row.push(o.text_or("preemptionPolicy", "PreemptLowerPriority").into());
    }
    row
}

pub(super) const RUNTIME_CLASS: &[Column] = &[column("Name"), column("Handler"), column("Age")];

pub(super) fn runtime_class(o: &Value, now: Instant, _: bool) -> Row {
    row![common::name(o), o.text("handler"), common::created(o, now)]
}

pub(super) const SIGNING_REQUEST: &[Column] = &[
    column("Name"),
    column("Age"),
    column("SignerName"),
    column("Requestor"),
    column("RequestedDuration"),
    column("Condition"),
];

pub(super) fn signing_request(o: &Value, now: Instant, _: bool) -> Row {
    let has = |kind: &str| o.list("status.conditions").iter().any(|c| c.text("type") == kind);
    let mut status = if has("Denied") {
        "Denied"
    } else if has("Approved") {
        "Approved"
    } else {
        "Pending"
    }
    .to_owned();
    if has("Failed") {
        status += ",Failed";
    }
    if !o.text("status.certificate").is_empty() {
        status += ",Issued";
    }
    let lasts = match o.at("spec.expirationSeconds").as_i64() {
        Some(seconds) => human_duration(seconds.saturating_mul(1_000_000_000)),
        None => "<none>".to_owned(),
    };
    row![
        common::name(o),
        common::created(o, now),
        o.text_or("spec.signerName", "<none>"),
        o.text("spec.username"),
        lasts,
        status,
    ]
}

pub(super) const COMPONENT_STATUS: &[Column] =
    &[column("Name"), column("Status"), column("Message"), column("Error")];

pub(super) fn component_status(o: &Value, _: Instant, _: bool) -> Row {
    let found = o.list("conditions").iter().find(|c| c.text("type") == "Healthy");
    let status = match found.map(|c| c.text("status")) {
        None => "Unknown",
        Some("True") => "Healthy",
        Some(_) => "Unhealthy",
    };
    let text = |field: &str| found.map(|c| c.text(field)).unwrap_or_default();
    row![common::name(o), status, text("message"), text("error")]
}

pub(super) const WEBHOOKS: &[Column] = &[column("Name"), number("Webhooks"), column("Age")];

pub(super) fn webhooks(o: &Value, now: Instant, _: bool) -> Row {
    row![common::name(o), common::count(o.list("webhooks")), common::created(o, now)]
}

pub(super) const ADMISSION_POLICY: &[Column] =
    &[column("Name"), number("Validations"), column("ParamKind"), column("Age")];

pub(super) fn admission_policy(o: &Value, now: Instant, _: bool) -> Row {
    let kind = o.at("spec.paramKind");
    let kind = if kind.is_null() {
        "<unset>".to_owned()
    } else {
        format!("{}/{}", kind.text("apiVersion"), kind.text("kind"))
    };
    row![common::name(o), common::count(o.list("spec.validations")), kind, common::created(o, now)]
}

pub(super) const ADMISSION_BINDING: &[Column] =
    &[column("Name"), column("PolicyName"), column("ParamRef"), column("Age")];

pub(super) fn admission_binding(o: &Value, now: Instant, _: bool) -> Row {
    let (name, place) = (o.text("spec.paramRef.name"), o.text_or("spec.paramRef.namespace", "*"));
    let parameter = if name.is_empty() { "<unset>".to_owned() } else { format!("{place}/{name}") };
    row![common::name(o), o.text("spec.policyName"), parameter, common::created(o, now)]
}

pub(super) const FLOW_SCHEMA: &[Column] = &[
    column("Name"),
    column("PriorityLevel"),
    column("MatchingPrecedence"),
    column("DistinguisherMethod"),
    column("Age"),
    column("MissingPL"),
];

pub(super) fn flow_schema(o: &Value, now: Instant, _: bool) -> Row {
    let dangling = o.list("status.conditions").iter().find(|c| c.text("type") == "Dangling");
    row![
        common::name(o),
        o.text("spec.priorityLevelConfiguration.name"),
        o.int("spec.matchingPrecedence"),
        o.text_or("spec.distinguisherMethod.type", "<none>"),
        common::created(o, now),
        dangling.map_or("?", |c| c.text("status")),
    ]
}

pub(super) const PRIORITY_LEVEL: &[Column] = &[
    column("Name"),
    column("Type"),
    column("NominalConcurrencyShares"),
    column("Queues"),
    column("HandSize"),
    column("QueueLengthLimit"),
    column("Age"),
];

pub(super) fn priority_level(o: &Value, now: Instant, _: bool) -> Row {
    let limited = o.at("spec.limited");
    let part = |from: &Value, field: &str| match from {
        Value::Null => Cell::from("<none>"),
        from => Cell::from(from.int(field)),
    };
    let queuing = limited.at("limitResponse.queuing");
    row![
        common::name(o),
        o.text("spec.type"),
        part(limited, "nominalConcurrencyShares"),
        part(queuing, "queues"),
        part(queuing, "handSize"),
        part(queuing, "queueLengthLimit"),
        common::created(o, now),
    ]
}

pub(super) const SERVICE_CIDR: &[Column] = &[column("Name"), column("CIDRs"), column("Age")];

pub(super) fn service_cidr(o: &Value, now: Instant, _: bool) -> Row {
    row![common::name(o), o.texts("spec.cidrs").join(","), common::created(o, now)]
}

pub(super) const IP_ADDRESS: &[Column] = &[column("Name"), column("ParentRef"), column("Age")];

pub(super) fn ip_address(o: &Value, now: Instant, _: bool) -> Row {
    let p = o.at("spec.parentRef");
    let parent = if p.is_null() {
        "<none>".to_owned()
    } else {
        let dot = if p.text("group").is_empty() { "" } else { "." };
        let resource = format!("{}{dot}{}", p.text("resource"), p.text("group")).to_ascii_lowercase();
        let place = p.text("namespace");
        let slash = if place.is_empty() { "" } else { "/" };
        format!("{resource}{slash}{place}/{}", p.text("name"))
    };
    row![common::name(o), parent, common::created(o, now)]
}

pub(super) const CRD: &[Column] =
    &[column("Name"), column("Scope"), column("Versions"), column("Created At")];

pub(super) fn custom_definition(o: &Value, _: Instant, _: bool) -> Row {
    let version = |v: &Value| {
        let stored = if v.on("storage") { "(storage)" } else { "" };
        format!("{}{stored}", v.text("name"))
    };
    let versions = o.list("spec.versions").iter().map(version).collect::<Vec<_>>().join(",");
    row![common::name(o), o.text("spec.scope"), versions, o.text("metadata.creationTimestamp")]
}

pub(super) const API_SERVICE: &[Column] =
    &[column("Name"), column("Service"), column("Available"), column("Age")];

pub(super) fn api_service(o: &Value, now: Instant, _: bool) -> Row {
    let service = if o.has("spec.service") {
        format!("{}/{}", o.text("spec.service.namespace"), o.text("spec.service.name"))
    } else {
        "Local".to_owned()
    };
    let found = o.list("status.conditions").iter().find(|c| c.text("type") == "Available");
    let available = match found {
        None => "Unknown".to_owned(),
        Some(c) if c.text("status") == "True" => "True".to_owned(),
        Some(c) => format!("{} ({})", c.text("status"), c.text("reason")),
    };
    row![common::name(o), service, available, common::created(o, now)]
}
