//! What a projected volume puts together from several sources.
//!
//! Upstream: pkg/apis/core/validation, validateProjectionSources (v1.37).

use super::{
    field::{Errors, given, items, number, text},
    internal, signing_request,
    volume::{downward, keys, reserved_path},
};
use serde_json::Value;

const TEN_MINUTES: i64 = 600;
const LONGEST: i64 = 1 << 32;
/// Not sorted when they are told.
const KEY_TYPES: [&str; 6] = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];
const TWICE: &str = "conflicting duplicate paths";

/// The paths so far, and where to complain if one comes again.
struct Paths<'a> {
    seen: Vec<&'a str>,
    field: &'a str,
}

impl<'a> Paths<'a> {
    fn add(&mut self, errors: &mut Errors, path: &'a str, shown: &str) {
        if path.is_empty() {
            return;
        }
        if self.seen.contains(&path) {
            errors.invalid_text(self.field, shown, TWICE);
        } else {
            self.seen.push(path);
        }
    }
}

pub(super) fn projections(errors: &mut Errors, source: &Value, field: &str) {
    let mut paths = Paths { seen: vec![], field };
    for (i, each) in items(&source["sources"]).iter().enumerate() {
        let at = format!("{field}.sources[{i}]");
        let mut kinds = 0;
        for kind in [
            "secret",
            "configMap",
            "downwardAPI",
            "serviceAccountToken",
            "clusterTrustBundle",
            "podCertificate",
        ] {
            let (part, at) = (&each[kind], format!("{at}.{kind}"));
            if !given(part) {
                continue;
            }
            kinds += 1;
            match kind {
                "secret" | "configMap" => files(errors, part, &at, &mut paths),
                "downwardAPI" => {
                    for item in items(&part["items"]) {
                        downward(errors, item, &at);
                        paths.add(errors, text(&item["path"]), text(&item["path"]));
                    }
                }
                "serviceAccountToken" => token(errors, part, &at, field),
                "clusterTrustBundle" => trust_bundle(errors, part, &at, &mut paths),
                _ => certificate(errors, part, &at, &mut paths),
            }
        }
        if kinds > 1 {
            errors.forbidden(&at, "may not specify more than 1 volume type per source");
        }
    }
}

fn files<'a>(errors: &mut Errors, part: &'a Value, at: &str, paths: &mut Paths<'a>) {
    if text(&part["name"]).is_empty() {
        errors.required(&format!("{at}.name"), "");
    }
    keys(errors, part, at);
    for item in items(&part["items"]) {
        paths.add(errors, text(&item["path"]), text(&part["name"]));
    }
}

fn token(errors: &mut Errors, part: &Value, at: &str, volume: &str) {
    let field = format!("{at}.expirationSeconds");
    let seconds = number(&part["expirationSeconds"]);
    if !given(&part["expirationSeconds"]) {
        errors.required(&field, "");
    } else if seconds < TEN_MINUTES {
        let why = "may not specify a duration less than 10 minutes";
        errors.invalid(&field, &seconds.to_string(), why);
    } else if seconds > LONGEST {
        let why = "may not specify a duration larger than 2^32 seconds";
        errors.invalid(&field, &seconds.to_string(), why);
    }
    // The path is told at the volume.
    let field = format!("{volume}.path");
    match text(&part["path"]) {
        "" => errors.required(&field, ""),
        path => reserved_path(errors, path, &field),
    }
}

fn trust_bundle<'a>(errors: &mut Errors, part: &'a Value, at: &str, paths: &mut Paths<'a>) {
    let (name, signer) = (&part["name"], &part["signerName"]);
    match (given(name), given(signer)) {
        (true, true) => {
            let shown = internal::shown("v1.ClusterTrustBundleProjection", part);
            errors.invalid(at, &shown, "only one of name and signerName may be used");
        }
        (true, false) => {
            if text(name).is_empty() {
                errors.required(&format!("{at}.name"), "must be a valid object name");
            }
            if given(&part["labelSelector"]) {
                let shown = internal::shown("v1.LabelSelector", &part["labelSelector"]);
                let why = "labelSelector must be unset if name is specified";
                errors.invalid(&format!("{at}.labelSelector"), &shown, why);
            }
        }
        (false, true) => {
            if text(signer).is_empty() {
                errors.required(&format!("{at}.signerName"), "must be a valid signer name");
            }
        }
        (false, false) => errors.required(at, "either name or signerName must be specified"),
    }
    let path = text(&part["path"]);
    if path.is_empty() {
        errors.required(&format!("{at}.path"), "");
    }
    reserved_path(errors, path, &format!("{at}.path"));
    paths.add(errors, path, path);
}

/// A key and its certificate, for which the node asks.
fn certificate<'a>(errors: &mut Errors, part: &'a Value, at: &str, paths: &mut Paths<'a>) {
    signing_request::signer_name(errors, text(&part["signerName"]), &format!("{at}.signerName"));
    let kind = text(&part["keyType"]);
    if !KEY_TYPES.contains(&kind) {
        errors.not_supported_text(&format!("{at}.keyType"), kind, &KEY_TYPES);
    }
    let names = ["credentialBundlePath", "keyPath", "certificateChainPath"];
    for name in names {
        let path = text(&part[name]);
        if !path.is_empty() {
            reserved_path(errors, path, &format!("{at}.{name}"));
            paths.add(errors, path, path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_is_given_once() {
        let secret = json!({"secret": {"name": "s", "items": [{"key": "k", "path": "same"}]}});
        let map = json!({"configMap": {"name": "c", "items": [{"key": "k", "path": "same"}]}});
        let mut errors = Errors::new();
        projections(&mut errors, &json!({"sources": [secret, map]}), "v");
        let said: Vec<String> = errors.into_causes().into_iter().map(|c| c.message).collect();
        assert_eq!(said, ["Invalid value: \"c\": conflicting duplicate paths"]);
    }
}
