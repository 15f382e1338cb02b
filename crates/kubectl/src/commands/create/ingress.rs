//! `kubectl create ingress`. Upstream: kubectl/pkg/cmd/create (v1.37).

use super::make::{created, flags, int_or_text, name};
use crate::{
    args::{Args, Flag, Takes, flag},
    kc::{Flow, Kc},
};
use kubestep_model::Kind;
use serde_json::{Map, Value, json};

pub(super) const FLAGS: &[Flag] = flags![
    flag("class", Takes::Text),
    flag("rule", Takes::Each),
    flag("default-backend", Takes::Text),
    flag("annotation", Takes::Each),
];

/// `host/path=svc:port[,tls[=secret]]`, taken apart.
struct Rule<'a> {
    host: &'a str,
    path: &'a str,
    service: &'a str,
    port: &'a str,
    /// The secret after `tls`; empty if none is named.
    tls: Option<&'a str>,
}

/// Upstream checks with a regular expression; a star may stand at the host's beginning and the path's end only.
fn rule(text: &str) -> Option<Rule<'_>> {
    let (target, tls) = match text.split_once(',') {
        None => (text, None),
        Some((target, "tls")) => (target, Some("")),
        Some((target, tls)) => (target, Some(tls.strip_prefix("tls=")?)),
    };
    let (place, backend) = target.split_once('=')?;
    let (host, path) = place.split_once('/')?;
    let (service, port) = backend.split_once(':')?;
    let letters = |text: &str, more: &str| {
        text.bytes().all(|b| b.is_ascii_alphanumeric() || more.as_bytes().contains(&b))
    };
    let fits = letters(host.strip_prefix('*').unwrap_or(host), "-_.")
        && letters(path.strip_suffix('*').unwrap_or(path), "-_./@:%~+")
        && !service.is_empty()
        && letters(service, "-_")
        && !port.is_empty()
        && letters(port, "-_")
        && letters(tls.unwrap_or_default(), "-_.");
    fits.then_some(Rule { host, path, service, port, tls })
}

fn backend(service: &str, port: &str) -> Value {
    let port = match int_or_text(port) {
        Value::Number(number) => json!({ "number": number }),
        other => json!({ "name": other }),
    };
    json!({ "service": { "name": service, "port": port } })
}

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let name = name(kc, args)?;
    let (default, given) = (args.text_or_empty("default-backend"), args.all("rule"));
    if default.is_empty() && given.is_empty() {
        return Err(kc.fail("not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) or a list of rules (which catch specific paths)"));
    }
    let mut parsed = Vec::new();
    for text in given {
        match rule(text) {
            Some(rule) => parsed.push(rule),
            None => {
                return Err(kc.fail(format!(
                    "rule {text} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]"
                )));
            }
        }
    }
    let mut annotations = Map::new();
    for text in args.all("annotation") {
        let Some((key, value)) = text.split_once('=') else {
            return Err(kc.fail(format!("annotation {text} is invalid and should be in format key=[value]")));
        };
        annotations.insert(key.to_owned(), json!(value));
    }
    let mut spec = json!({ "rules": rules(&parsed) });
    if !default.is_empty() {
        let [service, port] = default.split(':').collect::<Vec<_>>()[..] else {
            return Err(kc.fail("default-backend should be in format servicename:serviceport"));
        };
        spec["defaultBackend"] = backend(service, port);
    }
    let tls = tls(&parsed);
    if !tls.is_empty() {
        spec["tls"] = json!(tls);
    }
    if let Some(class) = args.text("class").filter(|c| !c.is_empty()) {
        spec["ingressClassName"] = json!(class);
    }
    let mut metadata = json!({ "name": name });
    if !annotations.is_empty() {
        metadata["annotations"] = json!(annotations);
    }
    let value = json!({ "metadata": metadata, "spec": spec });
    created(kc, args, Kind::other("networking.k8s.io", "Ingress"), value, "failed to create ingress: ")
}

fn rules(parsed: &[Rule<'_>]) -> Vec<Value> {
    let mut hosts: Vec<(&str, Vec<Value>)> = Vec::new();
    for rule in parsed {
        let (path, kind) = match rule.path.strip_suffix('*') {
            Some(path) => (path, "Prefix"),
            None => (rule.path, "Exact"),
        };
        let path = json!({
            "path": format!("/{path}"), "pathType": kind, "backend": backend(rule.service, rule.port),
        });
        match hosts.iter_mut().find(|(host, _)| *host == rule.host) {
            Some((_, paths)) => paths.push(path),
            None => hosts.push((rule.host, vec![path])),
        }
    }
    let show = |(host, paths): (&str, Vec<Value>)| {
        let mut rule = json!({ "http": { "paths": paths } });
        if !host.is_empty() {
            rule["host"] = json!(host);
        }
        rule
    };
    hosts.into_iter().map(show).collect()
}

/// Hosts that share a secret stand together; a host counts once. Upstream: buildTLSRules.
fn tls(parsed: &[Rule<'_>]) -> Vec<Value> {
    let (mut seen, mut all): (Vec<&str>, Vec<(&str, Vec<&str>)>) = (Vec::new(), Vec::new());
    for (host, secret) in parsed.iter().filter_map(|r| r.tls.map(|secret| (r.host, secret))) {
        if seen.contains(&host) {
            continue;
        }
        seen.push(host);
        match all.iter_mut().find(|(there, _)| *there == secret) {
            Some((_, hosts)) => hosts.push(host),
            None if host.is_empty() && secret.is_empty() => {}
            None => all.push((secret, if host.is_empty() { vec![] } else { vec![host] })),
        }
    }
    let show = |(secret, hosts): (&str, Vec<&str>)| {
        let mut tls = json!({});
        if !hosts.is_empty() {
            tls["hosts"] = json!(hosts);
        }
        if !secret.is_empty() {
            tls["secretName"] = json!(secret);
        }
        tls
    };
    all.into_iter().map(show).collect()
}
