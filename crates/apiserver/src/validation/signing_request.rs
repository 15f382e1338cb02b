//! CertificateSigningRequest, ClusterTrustBundle and PodCertificateRequest.
//!
//! Upstream: pkg/apis/certificates/validation (v1.37). Certificates, keys and signatures are not read here: of what
//! stands in PEM or DER only the frame is looked at.

use super::{
    field::{Errors, given, items, same, text},
    internal,
};
use crate::base64;
use kubestep_model::text::{go, names};
use serde_json::Value;

const SIGNER: &str = "spec.signerName";
const SHORTEST: i64 = 600;
const LEGACY: &str = "kubernetes.io/legacy-unknown";
/// Conditions that are for good, and may only be true.
const FINAL: [&str; 3] = ["Approved", "Denied", "Failed"];
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];
const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];
const LONGEST_UID: usize = 128;
const MOST_BUNDLE: usize = 1024 * 1024;
const MOST_STUB: usize = 10 * 1024;
const MOST_KEY: usize = 10 * 1024;

/// A signing request, new or, with its old state, changed.
pub(super) fn request(whole: &Value, old: Option<&Value>) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    if let Err(why) = readable(text(&spec["request"])) {
        errors.invalid("spec.request", &spec["request"].to_string(), why);
    }
    let usages = items(&spec["usages"]);
    let before = |check: &dyn Fn(&Value) -> bool| old.is_some_and(check);
    let unknown = |usage: &Value| !USAGES.contains(&text(usage));
    if usages.is_empty() {
        errors.required("spec.usages", "");
    }
    if !before(&|old| items(&old["spec"]["usages"]).iter().any(unknown)) {
        for (i, usage) in usages.iter().enumerate() {
            errors.choice(&format!("spec.usages[{i}]"), usage, &USAGES);
        }
    }
    for (i, usage) in usages.iter().enumerate().filter(|(i, usage)| usages[..*i].contains(usage)) {
        if !before(&|old| twice(items(&old["spec"]["usages"]))) {
            errors.duplicate(&format!("spec.usages[{i}]"), &usage.to_string());
        }
    }
    let signer = text(&spec["signerName"]);
    if signer == LEGACY && !before(&|old| text(&old["spec"]["signerName"]) == LEGACY) {
        let why = "the legacy signerName is not allowed via this API version";
        errors.invalid_text(SIGNER, signer, why);
    } else {
        signer_name(&mut errors, signer, SIGNER);
    }
    if let Some(seconds) = spec["expirationSeconds"].as_i64().filter(|s| *s < SHORTEST) {
        let why = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.invalid("spec.expirationSeconds", &seconds.to_string(), why);
    }
    conditions(&mut errors, whole, old);
    let certificate = &whole["status"]["certificate"];
    if !before(&|old| same(certificate, &old["status"]["certificate"]))
        && let Err(why) = certificates(text(certificate))
    {
        errors.invalid_text("status.certificate", "<certificate data>", &why);
    }
    errors
}

fn twice(list: &[Value]) -> bool {
    list.iter().enumerate().any(|(i, item)| list[..i].contains(item))
}

/// Upstream: ParseCSR.
fn readable(request: &str) -> Result<(), &'static str> {
    let pem = base64::decode(request).unwrap_or_default();
    match blocks(&String::from_utf8_lossy(&pem)).first() {
        Some((kind, _)) if kind == "CERTIFICATE REQUEST" => Ok(()),
        _ => Err("PEM block type must be CERTIFICATE REQUEST"),
    }
}

/// The blocks of a PEM text: their types, and whether they have headers.
fn blocks(pem: &str) -> Vec<(String, bool)> {
    let mut found = vec![];
    let mut rest = pem;
    while let Some(start) = rest.find("-----BEGIN ") {
        rest = &rest[start + "-----BEGIN ".len()..];
        let Some((kind, after)) = rest.split_once("-----") else { break };
        let Some((body, after)) = after.split_once(&format!("-----END {kind}-----")) else { continue };
        found.push((kind.to_owned(), body.contains(':')));
        rest = after;
    }
    found
}

/// Upstream: validateCertificate.
fn certificates(encoded: &str) -> Result<(), String> {
    if encoded.is_empty() {
        return Ok(());
    }
    let pem = base64::decode(encoded).unwrap_or_default();
    let blocks = blocks(&String::from_utf8_lossy(&pem));
    if let Some((kind, _)) = blocks.iter().find(|(kind, _)| kind != "CERTIFICATE") {
        return Err(format!("only CERTIFICATE PEM blocks are allowed, found {}", go::quote(kind)));
    }
    if blocks.iter().any(|(_, headers)| *headers) {
        return Err("no PEM block headers are permitted".into());
    }
    if blocks.is_empty() {
        return Err("must contain at least one CERTIFICATE PEM block".into());
    }
    Ok(())
}

/// Upstream: ValidateSignerName.
pub(super) fn signer_name(errors: &mut Errors, name: &str, field: &str) {
    if name.is_empty() {
        errors.required(field, "");
        return;
    }
    let parts: Vec<&str> = name.split('/').collect();
    let [domain, path] = parts.as_slice() else {
        let why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        errors.invalid_text(field, name, why);
        return;
    };
    if domain.len() > names::SUBDOMAIN_MAX {
        errors.too_long(field, names::SUBDOMAIN_MAX);
    }
    let first = |text: &str, check: fn(&str) -> Vec<String>| {
        text.split('.').map(|label| (label.to_owned(), check(label))).find(|(_, wrong)| !wrong.is_empty())
    };
    for (part, check) in
        [(domain, names::is_dns1123_label as fn(&str) -> Vec<String>), (path, names::is_dns1123_subdomain)]
    {
        if let Some((label, wrong)) = first(part, check) {
            for message in wrong {
                let why = format!("validating label {}: {message}", go::quote(&label));
                errors.invalid_text(field, part, &why);
            }
        }
        if part == domain && !domain.contains('.') {
            let why = "should be a domain with at least two segments separated by dots";
            errors.invalid_text(field, domain, why);
        }
    }
    let most = names::SUBDOMAIN_MAX * 2 + names::LABEL_MAX + 2;
    if name.len() > most {
        errors.too_long(field, most);
    }
}

fn conditions(errors: &mut Errors, whole: &Value, old: Option<&Value>) {
    const FIELD: &str = "status.conditions";
    let all = items(&whole["status"]["conditions"]);
    let before = old.map_or(&[][..], |old| items(&old["status"]["conditions"]));
    let kinds = |list: &[Value]| list.iter().map(|c| text(&c["type"]).to_owned()).collect::<Vec<_>>();
    let old_kinds = kinds(before);
    let (had_empty, had_twice) = (
        old_kinds.iter().any(String::is_empty),
        (1..old_kinds.len()).any(|i| old_kinds[..i].contains(&old_kinds[i])),
    );
    for (i, condition) in all.iter().enumerate() {
        let kind = text(&condition["type"]);
        if kind.is_empty() && !had_empty {
            errors.required(&format!("{FIELD}[{i}].type"), "");
        }
        let known: &[&str] = if FINAL.contains(&kind) { &["True"] } else { &STATUSES };
        errors.needed_choice(&format!("{FIELD}[{i}].status"), &condition["status"], known);
        if !had_twice && all[..i].iter().any(|c| text(&c["type"]) == kind) {
            errors.duplicate(&format!("{FIELD}[{i}].type"), &go::quote(kind));
        }
    }
    let has = |kind: &str, list: &[String]| list.iter().any(|k| k == kind);
    let both = |list: &[String]| has("Approved", list) && has("Denied", list);
    if both(&kinds(all)) && !both(&old_kinds) {
        let members = r#"{conditions[{"type": "Approved"}], conditions[{"type": "Denied"}]}"#;
        let why = r#"must specify at most one of: `conditions[{"type": "Approved"}]`, `conditions[{"type": "Denied"}]`"#;
        errors.declared(&|errors: &mut Errors| errors.invalid_text(FIELD, members, why));
    }
}

/// What may change about a signing request, and by which way: `part` is empty, `status` or `approval`.
pub(super) fn changed_request(new: &Value, old: &Value, part: &str) -> Errors {
    let mut errors = request(new, Some(old));
    const FIELD: &str = "status.conditions";
    let of = |whole: &Value, kind: &str| -> Vec<Value> {
        items(&whole["status"]["conditions"]).iter().filter(|c| text(&c["type"]) == kind).cloned().collect()
    };
    for kind in FINAL {
        if of(new, kind).len() < of(old, kind).len() {
            errors
                .forbidden(FIELD, &format!("updates may not remove a condition of type {}", go::quote(kind)));
        }
    }
    for kind in &FINAL[..2] {
        let (after, before) = (of(new, kind), of(old, kind));
        if part == "approval" || after.len() < before.len() {
            continue;
        }
        let quoted = go::quote(kind);
        if after.len() > before.len() {
            errors.forbidden(FIELD, &format!("updates may not add a condition of type {quoted}"));
        } else if after != before {
            let list = "[]CertificateSigningRequestCondition";
            let diff = internal::diff(list, &Value::from(before), &Value::from(after));
            errors.forbidden(FIELD, &format!("updates may not modify a condition of type {quoted}\n{diff}"));
        }
    }
    let (after, before) = (text(&new["status"]["certificate"]), text(&old["status"]["certificate"]));
    if after != before {
        if part != "status" {
            errors.forbidden("status.certificate", "updates may not set certificate content");
        } else if !before.is_empty() {
            errors.forbidden("status.certificate", "updates may not modify existing certificate content");
        }
    }
    errors
}

/// A bundle of trust anchors; what is parsed already is not parsed again.
pub(super) fn bundle(whole: &Value, old: Option<&Value>) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    let (signer, name) = (text(&spec["signerName"]), text(&whole["metadata"]["name"]));
    errors.invalid_each("metadata.name", name, bundle_name(name, signer));
    if !signer.is_empty() {
        signer_name(&mut errors, signer, SIGNER);
    }
    if !old.is_some_and(|old| same(&spec["trustBundle"], &old["spec"]["trustBundle"])) {
        anchors(&mut errors, text(&spec["trustBundle"]));
    }
    if let Some(old) = old {
        let shown = go::quote(signer);
        errors.immutable("spec.signerName", &spec["signerName"], &old["spec"]["signerName"], &shown);
    }
    errors
}

/// Upstream: ValidateClusterTrustBundleName.
fn bundle_name(name: &str, signer: &str) -> Vec<String> {
    if signer.is_empty() {
        if name.contains(':') {
            return vec!["ClusterTrustBundle without signer name must not have \":\" in its name".into()];
        }
        return names::is_dns1123_subdomain(name);
    }
    let prefix = format!("{}:", signer.replace('/', ":"));
    match name.strip_prefix(&prefix) {
        Some(rest) => names::is_dns1123_subdomain(rest),
        None => {
            vec![format!("ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}")]
        }
    }
}

fn anchors(errors: &mut Errors, bundle: &str) {
    const FIELD: &str = "spec.trustBundle";
    const OMITTED: &str = "<value omitted>";
    if bundle.len() > MOST_BUNDLE {
        errors.too_long(FIELD, MOST_BUNDLE);
        return;
    }
    let blocks = blocks(bundle);
    for (i, (kind, headers)) in blocks.iter().enumerate() {
        if kind != "CERTIFICATE" {
            errors.invalid_text(FIELD, OMITTED, &format!("entry {i} has bad block type: {kind}"));
        } else if *headers {
            errors.invalid_text(FIELD, OMITTED, &format!("entry {i} has PEM block headers"));
        }
    }
    if blocks.is_empty() {
        errors.invalid_text(FIELD, OMITTED, "at least one trust anchor must be provided");
    }
}

/// A kubelet's request for a pod's certificate.
pub(super) fn of_pod(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    signer_name(&mut errors, text(&spec["signerName"]), SIGNER);
    for (name, uid) in
        [("podName", "podUID"), ("serviceAccountName", "serviceAccountUID"), ("nodeName", "nodeUID")]
    {
        errors.subdomain(&format!("spec.{name}"), text(&spec[name]));
        let (field, uid) = (format!("spec.{uid}"), text(&spec[uid]));
        if uid.is_empty() {
            errors.invalid_text(&field, "", "must not be empty");
        }
        if uid.len() > LONGEST_UID {
            errors.too_long(&field, LONGEST_UID);
        }
    }
    let Some(seconds) = spec["maxExpirationSeconds"].as_i64() else {
        errors.required("spec.maxExpirationSeconds", "must be set");
        return errors;
    };
    let own = text(&spec["signerName"])
        .split('/')
        .next()
        .is_some_and(|domain| domain == "kubernetes.io" || domain.ends_with(".kubernetes.io"));
    let most = if own { 86_400 } else { 91 * 86_400 };
    if !(3_600..=most).contains(&seconds) {
        let why = format!("must be in the range [3600, {most}]");
        errors.invalid("spec.maxExpirationSeconds", &seconds.to_string(), &why);
    }
    let stub = given(&spec["stubPKCS10Request"]);
    let (key, proof) = (given(&spec["pkixPublicKey"]), given(&spec["proofOfPossession"]));
    match (stub, key, proof) {
        (true, false, false) => bytes(&mut errors, spec, "stubPKCS10Request", MOST_STUB),
        (false, true, true) => bytes(&mut errors, spec, "pkixPublicKey", MOST_KEY),
        _ => {
            let why = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
            errors.invalid_unshown("spec", why);
        }
    }
    errors
}

fn bytes(errors: &mut Errors, spec: &Value, name: &str, most: usize) {
    let length = base64::decode(text(&spec[name])).map_or(0, |bytes| bytes.len());
    if length > most {
        errors.too_long(&format!("spec.{name}"), most);
    }
}

pub(super) fn changed_of_pod(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let shown = internal::shown("PodCertificateRequestSpec", &new["spec"]);
    errors.immutable("spec", &new["spec"], &old["spec"], &shown);
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(errors: Errors) -> Vec<String> {
        errors.into_causes().into_iter().map(|c| c.field).collect()
    }

    fn csr(conditions: Value) -> Value {
        let pem = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
        json!({"spec": {"request": base64::encode(pem.as_bytes()), "usages": ["client auth"],
            "signerName": "example.com/s"}, "status": {"conditions": conditions}})
    }

    #[test]
    fn a_request_is_framed_and_says_what_it_is_for() {
        assert!(fields(request(&csr(json!([])), None)).is_empty());
        let mut wrong = csr(json!([]));
        wrong["spec"] = json!({"request": "AAAA", "usages": ["odd", "any", "any"], "signerName": LEGACY,
            "expirationSeconds": 1});
        assert_eq!(
            fields(request(&wrong, None)),
            ["spec.request", "spec.usages[0]", "spec.usages[2]", "spec.signerName", "spec.expirationSeconds"]
        );
    }

    #[test]
    fn only_who_may_approve_approves() {
        let plain = csr(json!([]));
        let approved = csr(json!([{"type": "Approved", "status": "True"}]));
        for (part, wrong) in [("", 1), ("status", 1), ("approval", 0)] {
            assert_eq!(fields(changed_request(&approved, &plain, part)).len(), wrong, "{part}");
        }
        assert_eq!(fields(changed_request(&plain, &approved, "approval")).len(), 1);
        let both =
            csr(json!([{"type": "Approved", "status": "True"}, {"type": "Denied", "status": "False"}]));
        assert_eq!(
            fields(changed_request(&both, &plain, "approval")),
            ["status.conditions[1].status", "status.conditions"]
        );
    }

    #[test]
    fn signers_have_a_domain_and_a_path() {
        for (name, wrong) in [("example.com/a", 0), ("a", 1), ("a/b", 1), ("", 1), ("A.b/c", 1), ("a.b/C", 1)]
        {
            let mut errors = Errors::new();
            signer_name(&mut errors, name, SIGNER);
            assert_eq!(errors.into_causes().len(), wrong, "{name}");
        }
        assert_eq!(bundle_name("example.com:s:x", "example.com/s").len(), 0);
        assert_eq!(bundle_name("x", "example.com/s").len(), 1);
        assert_eq!(bundle_name("a:b", "").len(), 1);
    }
}
