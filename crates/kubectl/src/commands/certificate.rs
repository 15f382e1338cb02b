//! `kubectl certificate`: requests for certificates are approved or denied.
//!
//! Upstream: kubectl/pkg/cmd/certificates (v1.37).

use super::common::{self, DryRun, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, TEMPLATE};
use crate::{
    args::{Args, Flag, Takes, flag},
    fault::Fault,
    kc::{Flow, Kc},
    output::format::Format,
    select::{self, Info, Select},
};
use kubestep_model::{Body, Subresource, Verb};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) const FLAGS: &[Flag] = &[
    FILENAME,
    KUSTOMIZE,
    RECURSIVE,
    OUTPUT,
    TEMPLATE,
    flag("force", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
];

const KIND: &str = "certificatesigningrequests";
/// How often a conflict is tried again.
const TRIES: usize = 10;

/// What becomes of a request.
struct Decision {
    /// The condition, and the one that must not be there.
    condition: &'static str,
    other: &'static str,
    reason: &'static str,
    message: &'static str,
    done: &'static str,
}

const APPROVE: Decision = Decision {
    condition: "Approved",
    other: "Denied",
    reason: "KubectlApprove",
    message: "This CSR was approved by kubectl certificate approve.",
    done: "approved",
};
const DENY: Decision = Decision {
    condition: "Denied",
    other: "Approved",
    reason: "KubectlDeny",
    message: "This CSR was denied by kubectl certificate deny.",
    done: "denied",
};

pub(super) fn approve(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    run(kc, args, &APPROVE)
}

pub(super) fn deny(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    run(kc, args, &DENY)
}

fn run(kc: &mut Kc<'_>, args: &Args, decision: &Decision) -> Flow<i32> {
    let format = Format::of(kc, args, false)?;
    let files = !args.all("filename").is_empty() || !args.text_or_empty("kustomize").is_empty();
    if args.words.is_empty() && !files {
        return Err(kc.fail("one or more CSRs must be specified as <name> or -f <filename>"));
    }
    let mut words = args.words.clone();
    if !words.is_empty() && !words.iter().any(|word| word.contains('/')) {
        words.insert(0, KIND.into());
    }
    let found = select::find(kc, &Select::from(args, &words))?;
    if found.infos.is_empty() && found.faults.is_empty() {
        kc.out("No resources found\n".to_owned());
        return Ok(0);
    }
    // This command does not say under which name it writes.
    kc.field_manager = None;
    let force = args.on("force");
    common::each(kc, found, |kc, info| {
        if let Err(fault) = decide(kc, info, decision, force)? {
            return Ok(Err(fault));
        }
        common::say(kc, &format, &info.object, decision.done, DryRun::None)?;
        Ok(Ok(()))
    })
}

/// Writes the decision, and tries again after conflicts.
fn decide(kc: &mut Kc<'_>, info: &Info, decision: &Decision, force: bool) -> Flow<Result<(), Fault>> {
    // What was found is read again before it is decided about.
    let mut object = match kc.get(info.key.clone())? {
        Ok(latest) => latest,
        Err(status) => return Ok(Err(status.into())),
    };
    for left in (0..=TRIES).rev() {
        if object.kind().name() != "CertificateSigningRequest" {
            let why = "can only handle certificates.k8s.io/v1 certificate signing requests";
            return Ok(Err(Fault::Text(why.into())));
        }
        let mut whole = object.to_value();
        let there = match marked(&mut whole, decision, &kc.now().to_time()) {
            Ok(there) => there,
            Err(why) => return Ok(Err(Fault::Text(why))),
        };
        if there && !force {
            return Ok(Ok(()));
        }
        let (key, subresource) = (info.key.clone(), Subresource::Approval);
        let body = Body::Json(Arc::new(whole));
        match kc.ask(Verb::Replace { key: key.clone(), subresource, body })? {
            Ok(_) => return Ok(Ok(())),
            Err(status) if status.is_conflict() && left > 0 => match kc.get(key)? {
                Ok(fresh) => object = fresh,
                Err(status) => return Ok(Err(status.into())),
            },
            Err(status) => return Ok(Err(status.into())),
        }
    }
    Ok(Ok(()))
}

/// Puts the condition into a request; answers whether it was there already.
fn marked(whole: &mut Value, decision: &Decision, now: &kubestep_model::Time) -> Result<bool, String> {
    let name = whole["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let has = |whole: &Value, of: &str| {
        whole["status"]["conditions"].as_array().into_iter().flatten().any(|c| c["type"] == of)
    };
    if has(whole, decision.other) {
        return Err(format!("certificate signing request \"{name}\" is already {}", decision.other));
    }
    if has(whole, decision.condition) {
        return Ok(true);
    }
    let condition = json!({
        "type": decision.condition, "status": "True", "reason": decision.reason, "message": decision.message,
        "lastUpdateTime": now, "lastTransitionTime": null,
    });
    if !whole["status"].is_object() {
        whole["status"] = json!({});
    }
    match &mut whole["status"]["conditions"] {
        Value::Array(conditions) => conditions.push(condition),
        other => *other = json!([condition]),
    }
    Ok(false)
}
