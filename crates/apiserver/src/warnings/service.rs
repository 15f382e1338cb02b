//! What is said about services.
//!
//! Upstream: pkg/api/service/warnings.go, GetWarningsForService (v1.37).

use kubestep_model::Object;
use serde_json::Value;

const OLD_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const EXTERNAL: &str = "ExternalName";

pub(super) fn of_service(warnings: &mut Vec<String>, object: &Object) {
    if object.meta().annotations.contains_key(OLD_HINTS) {
        warnings.push(format!(
            "annotation {OLD_HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"
        ));
    }
    let spec = object.to_value()["spec"].take();
    let text = |name: &str| spec[name].as_str().unwrap_or_default();
    let addresses = spec["externalIPs"].as_array().is_some_and(|list| !list.is_empty());
    let kind = text("type");
    let headless = kind == "ClusterIP" && text("clusterIP") == "None";
    let mut say = |when: bool, words: &str| warnings.extend(when.then(|| words.to_owned()));
    say(
        headless && !text("loadBalancerIP").is_empty(),
        "spec.loadBalancerIP is ignored for headless services",
    );
    say(headless && addresses, "spec.externalIPs is ignored for headless services");
    let sticky = headless && spec["sessionAffinity"] != Value::from("None");
    say(sticky, "spec.SessionAffinity is ignored for headless services");
    say(
        addresses && !headless && kind != EXTERNAL,
        "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
    );
    say(addresses && kind == EXTERNAL, "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    say(
        kind != EXTERNAL && !text("externalName").is_empty(),
        "spec.externalName is ignored when spec.type is not \"ExternalName\"",
    );
    say(
        text("trafficDistribution") == "PreferClose",
        "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"",
    );
}
