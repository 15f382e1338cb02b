//! Ingress and IngressClass.

use super::{Page, service};
use crate::{
    fields::Fields,
    kc::{Flow, Kc},
};
use kubestep_model::arrange::Gather;
use kubestep_model::{EndpointSlice, Key, Kind, Labels, Object, Service, text::Selector};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

/// Upstream: describeIngressV1 (v1.37).
pub(super) fn describe(kc: &mut Kc<'_>, page: &mut Page, object: &Object) -> Flow<()> {
    let (meta, o) = (object.meta(), object.to_value());
    page.field(0, "Name", &meta.name);
    page.labels("Labels", &meta.labels);
    page.field(0, "Namespace", &meta.namespace);
    let address =
        |e: &Value| [e.text("ip"), e.text("hostname")].into_iter().find(|a| !a.is_empty()).map(str::to_owned);
    let addresses: BTreeSet<String> =
        o.list("status.loadBalancer.ingress").iter().filter_map(address).gather();
    page.field(0, "Address", addresses.into_iter().collect::<Vec<_>>().join(","));
    let class = if o.has("spec.ingressClassName") { o.text("spec.ingressClassName") } else { "<none>" };
    page.field(0, "Ingress Class", class);
    let default = match o.at("spec.defaultBackend") {
        Value::Null => "<default>".to_owned(),
        default => backend(kc, &meta.namespace, default)?,
    };
    page.field(0, "Default backend", &default);
    if !o.list("spec.tls").is_empty() {
        page.line(0, "TLS:");
    }
    for tls in o.list("spec.tls") {
        let hosts = tls.texts("hosts").join(",");
        match tls.text("secretName") {
            "" => page.line(1, format!("SNI routes {hosts}")),
            secret => page.line(1, format!("{secret} terminates {hosts}")),
        }
    }
    page.line(0, "Rules:\n  Host\tPath\tBackends");
    page.line(1, "----\t----\t--------");
    let mut count = 0;
    for rule in o.list("spec.rules").iter().filter(|r| r.has("http")) {
        count += 1;
        page.line(1, format!("{}\t", rule.text_or("host", "*")));
        for path in rule.list("http.paths") {
            let target = backend(kc, &meta.namespace, path.at("backend"))?;
            page.line(2, format!("\t{} \t{target}", path.text("path")));
        }
    }
    if count == 0 {
        page.line(1, format!("*\t*\t{default}"));
    }
    page.annotations("Annotations", &meta.annotations);
    Ok(())
}

fn backend(kc: &mut Kc<'_>, namespace: &Arc<str>, backend: &Value) -> Flow<String> {
    let target = backend.at("service");
    if target.is_null() {
        let resource = backend.at("resource");
        if resource.is_null() {
            return Ok(String::new());
        }
        let group = resource.text_or("apiGroup", "<none>");
        return Ok(format!(
            "APIGroup: {group}, Kind: {}, Name: {}",
            resource.text("kind"),
            resource.text("name")
        ));
    }
    let (name, number) = (target.text("name"), target.int("port.number"));
    let port = if number == 0 { target.text("port.name").to_owned() } else { number.to_string() };
    let labels = Labels::from([("kubernetes.io/service-name".to_owned(), name.to_owned())]);
    let slices = kc.list_whole(
        Kind::EndpointSlice,
        Some(namespace.clone()),
        Some(Selector::from_labels(&labels)),
        None,
    )?;
    let found = kc.get(Key::new(Kind::Service, namespace.clone(), name))?;
    let (slices, found) = match (slices, found) {
        (Err(status), _) | (_, Err(status)) => {
            return Ok(format!("{name}:{port} (<error: {}>)", status.message));
        }
        (Ok((slices, _)), Ok(found)) => (slices, found),
    };
    let ports = found.get::<Service>().map(|s| s.spec.ports.as_slice()).unwrap_or_default();
    let wanted = ports.iter().rfind(|p| {
        (number != 0 && i64::from(p.port) == number)
            || (!target.text("port.name").is_empty() && p.name == target.text("port.name"))
    });
    let slices: Vec<&EndpointSlice> = slices.iter().filter_map(|s| s.get::<EndpointSlice>()).collect();
    let endpoints = service::endpoints(&slices, wanted.map_or("", |p| &p.name));
    Ok(format!("{name}:{port} ({endpoints})"))
}

/// Upstream: describeIngressClassV1 (v1.37).
pub(super) fn class(page: &mut Page, object: &Object) {
    let (meta, o) = (object.meta(), object.to_value());
    page.field(0, "Name", &meta.name);
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    page.field(0, "Controller", o.text("spec.controller"));
    let parameters = o.at("spec.parameters");
    if !parameters.is_null() {
        page.line(0, "Parameters:");
        if parameters.has("apiGroup") {
            page.field(1, "APIGroup", parameters.text("apiGroup"));
        }
        page.field(1, "Kind", parameters.text("kind"));
        page.field(1, "Name", parameters.text("name"));
    }
}
