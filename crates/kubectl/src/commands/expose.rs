//! `kubectl expose`. Upstream: kubectl/pkg/cmd/expose and kubectl/pkg/polymorphichelpers (v1.37).

use super::{
    common::{FILENAME, KUSTOMIZE, RECURSIVE},
    create::make::{Words, flags, int_or_text, make},
};
use crate::{
    args::{Args, Flag, Takes, flag, not_done, short},
    fields::Fields,
    kc::{Flow, Kc},
    select::{self, Select},
};
use kubestep_model::{Kind, Labels, Object, text::go};
use serde_json::{Value, json};

pub(super) const FLAGS: &[Flag] = flags![
    FILENAME,
    RECURSIVE,
    flag("protocol", Takes::Text),
    flag("port", Takes::Text),
    flag("target-port", Takes::Text),
    flag("type", Takes::Text),
    flag("name", Takes::Text),
    flag("external-ip", Takes::Text),
    flag("load-balancer-ip", Takes::Text),
    flag("session-affinity", Takes::Text),
    flag("cluster-ip", Takes::Text),
    flag("selector", Takes::Text),
    short("labels", 'l', Takes::Text),
    flag("record", Takes::Bool),
    not_done("overrides", Takes::Text),
    not_done("override-type", Takes::Text),
    KUSTOMIZE,
];

/// Names of services are cut to this length.
const LONGEST: usize = 63;

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let select = Select { labels: String::new(), ..Select::from(args, &args.words) };
    let found = select::find(kc, &select)?;
    for info in &found.infos {
        let made = service(&info.object, args);
        let value = made.map_err(|why| kc.fail(why))?;
        make(kc, args, Kind::Service, value, Words { done: "exposed", failed: "" })?;
    }
    super::common::finish(kc, found.faults)
}

/// What is read from the object that is to be exposed.
fn pod_spec(kind: Kind, o: &Value) -> &Value {
    if kind == Kind::Pod { o.at("spec") } else { o.at("spec.template.spec") }
}

/// The labels that pods behind the object have. Upstream: mapBasedSelectorForObject.
fn selector(kind: Kind, o: &Value) -> Result<Labels, String> {
    let word = kind.name().to_ascii_lowercase();
    match kind {
        Kind::Pod => Some(o.labels("metadata.labels"))
            .filter(|l| !l.is_empty())
            .ok_or_else(|| "the pod has no labels and cannot be exposed".to_owned()),
        Kind::Service if !o.has("spec.selector") => Err("the service has no pod selector set".to_owned()),
        Kind::Deployment | Kind::ReplicaSet => {
            if !o.list("spec.selector.matchExpressions").is_empty() {
                return Err("couldn't convert expressions to map-based selector format".to_owned());
            }
            Some(o.labels("spec.selector.matchLabels"))
                .filter(|l| !l.is_empty())
                .ok_or_else(|| format!("invalid {word}: no selectors, therefore cannot be exposed"))
        }
        _ => Ok(o.labels("spec.selector")),
    }
}

/// Ports with their protocol, each number once.
fn ports(kind: Kind, o: &Value) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut add = |port: &Value, field: &str| {
        let number = port.int(field).to_string();
        let protocol = port.text_or("protocol", "TCP").to_owned();
        match found.iter_mut().find(|(there, _)| *there == number) {
            Some((_, last)) => *last = protocol,
            None => found.push((number, protocol)),
        }
    };
    if kind == Kind::Service {
        o.list("spec.ports").iter().for_each(|p| add(p, "port"));
    } else {
        let containers = pod_spec(kind, o).list("containers");
        containers.iter().flat_map(|c| c.list("ports")).for_each(|p| add(p, "containerPort"));
    }
    found
}

fn parse_labels(text: &str) -> Result<Labels, String> {
    let pair = |part: &str| match part.split('=').collect::<Vec<_>>().as_slice() {
        ["", _] => Err("unexpected empty label key".to_owned()),
        [key, value] => Ok(((*key).to_owned(), (*value).to_owned())),
        _ => Err(format!("unexpected label spec: {part}")),
    };
    if text.is_empty() { Ok(Labels::new()) } else { text.split(',').map(pair).collect() }
}

fn service(object: &Object, args: &Args) -> Result<Value, String> {
    let (kind, o) = (object.kind(), object.to_value());
    let known = [Kind::Pod, Kind::Service, Kind::Deployment, Kind::ReplicaSet];
    if !known.contains(&kind) && kind != Kind::other("", "ReplicationController") {
        return Err(format!("cannot expose a {}", kind.qualified_kind()));
    }
    let picks = match args.text_or_empty("selector") {
        "" => selector(kind, &o).map_err(|why| {
            format!("couldn't retrieve selectors via --selector flag or introspection: {why}")
        })?,
        text => parse_labels(text)?,
    };
    let (found, address) = (ports(kind, &o), args.text_or_empty("cluster-ip"));
    let wanted: Vec<&str> = match args.text_or_empty("port") {
        "" => found.iter().map(|(port, _)| port.as_str()).collect(),
        text => text.split(',').collect(),
    };
    if wanted.is_empty() && address != "None" {
        return Err("couldn't find port via --port flag or introspection".to_owned());
    }
    let labels = match args.text_or_empty("labels") {
        "" => o.labels("metadata.labels"),
        text => parse_labels(text)?,
    };
    if picks.is_empty() {
        return Err("selector must be specified".to_owned());
    }
    let mut list = Vec::new();
    for (at, text) in wanted.iter().enumerate() {
        let number = go::parse_int(text).map_err(|fault| go::number_error("Atoi", text, fault))?;
        let target = match args.text_or_empty("target-port") {
            "" => json!(number),
            target => int_or_text(target),
        };
        let own = found.iter().find(|(port, _)| port == text).map_or("TCP", |(_, protocol)| protocol);
        let protocol = args.text("protocol").filter(|p| !p.is_empty()).unwrap_or(own);
        let mut port = json!({ "port": number, "protocol": protocol, "targetPort": target });
        if wanted.len() > 1 {
            port["name"] = json!(format!("port-{}", at + 1));
        }
        list.push(port);
    }
    let mut spec = json!({ "selector": picks });
    if !list.is_empty() {
        spec["ports"] = json!(list);
    }
    options(args, &mut spec)?;
    let default: String = object.meta().name.chars().take(LONGEST).collect();
    let name = args.text("name").filter(|n| !n.is_empty()).unwrap_or(&default);
    let mut metadata = json!({ "name": name });
    if !labels.is_empty() {
        metadata["labels"] = json!(labels);
    }
    Ok(json!({ "metadata": metadata, "spec": spec }))
}

/// What other flags say about the service.
fn options(args: &Args, spec: &mut Value) -> Result<(), String> {
    let mut put = |flag: &str, field: &str| {
        if let Some(text) = args.text(flag).filter(|t| !t.is_empty()) {
            spec[field] = json!(text);
        }
    };
    put("type", "type");
    put("cluster-ip", "clusterIP");
    put("session-affinity", "sessionAffinity");
    if args.text("type") == Some("LoadBalancer") {
        put("load-balancer-ip", "loadBalancerIP");
    }
    if let Some(address) = args.text("external-ip").filter(|t| !t.is_empty()) {
        spec["externalIPs"] = json!([address]);
    }
    match args.text_or_empty("session-affinity") {
        "" | "None" | "ClientIP" => Ok(()),
        other => Err(format!("unknown session affinity: {other}")),
    }
}
