//! NetworkPolicy.

use super::{Page, page::go_time};
use crate::fields::Fields;
use kubestep_model::Object;
use serde_json::Value;

/// Upstream: describeNetworkPolicy (v1.37).
pub(super) fn describe(page: &mut Page, object: &Object) {
    let (meta, o) = (object.meta(), object.to_value());
    page.field(0, "Name", &meta.name);
    page.field(0, "Namespace", &meta.namespace);
    page.field(0, "Created on", go_time(meta.creation_timestamp));
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    page.line(0, "Spec:");
    let picks = o.at("spec.podSelector");
    let all = picks.map("matchLabels").is_none_or(serde_json::Map::is_empty)
        && picks.list("matchExpressions").is_empty();
    let shown = if all {
        "<none> (Allowing the specific traffic to all pods in this namespace)".to_owned()
    } else {
        o.selector("spec.podSelector")
    };
    page.line(1, format!("PodSelector:     {shown}"));
    let types = o.texts("spec.policyTypes");
    for (which, kind, peers, peer) in [
        ("ingress", "Ingress", "from", ("From", "source")),
        ("egress", "Egress", "to", ("To", "destination")),
    ] {
        if types.contains(&kind) {
            page.line(1, format!("Allowing {which} traffic:"));
            rules(page, o.at("spec").list(which), which, peers, peer);
        } else {
            page.line(1, format!("Not affecting {which} traffic"));
        }
    }
    let types = types.join(", ");
    page.line(1, format!("Policy Types: {}", super::page::or_none(&types)));
}

fn rules(page: &mut Page, rules: &[Value], which: &str, peers: &str, (word, end): (&str, &str)) {
    if rules.is_empty() {
        page.line(2, format!("<none> (Selected pods are isolated for {which} connectivity)"));
    }
    for (at, rule) in rules.iter().enumerate() {
        if rule.list("ports").is_empty() {
            page.line(2, "To Port: <any> (traffic allowed to all ports)");
        }
        rule.list("ports").iter().for_each(|p| port(page, p));
        if rule.list(peers).is_empty() {
            page.line(2, format!("{word}: <any> (traffic not restricted by {end})"));
        }
        rule.list(peers).iter().for_each(|p| peer(page, p, word));
        if at + 1 < rules.len() {
            page.line(2, "----------");
        }
    }
}

fn port(page: &mut Page, port: &Value) {
    let protocol = port.text_or("protocol", "TCP");
    let number = if port.has("port") { port.shown("port") } else { "<nil>".to_owned() };
    if port.has("endPort") {
        page.line(2, format!("To Port Range: {number}-{}/{protocol}", port.int("endPort")));
    } else {
        page.line(2, format!("To Port: {number}/{protocol}"));
    }
}

fn peer(page: &mut Page, peer: &Value, word: &str) {
    page.line(2, format!("{word}:"));
    if peer.has("namespaceSelector") {
        page.line(3, format!("NamespaceSelector: {}", peer.selector("namespaceSelector")));
    }
    if peer.has("podSelector") {
        page.line(3, format!("PodSelector: {}", peer.selector("podSelector")));
    }
    if !peer.has("namespaceSelector") && !peer.has("podSelector") && peer.has("ipBlock") {
        page.line(3, "IPBlock:");
        page.line(4, format!("CIDR: {}", peer.text("ipBlock.cidr")));
        page.line(4, format!("Except: {}", peer.texts("ipBlock.except").join(", ")));
    }
}
