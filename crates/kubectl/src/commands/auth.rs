//! `kubectl auth`: the administrator may do everything; what another may do, the server says.

mod rules;

use super::common::{self, OUTPUT};
use crate::{
    args::{Args, Flag, Takes, flag, short},
    kc::{Flow, Kc},
    output::{format::Format, tabs::Tabs},
    resources,
};
use kubestep_model::{Key, Request, Subresource, Verb};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) const CAN_I: &[Flag] = &[
    flag("list", Takes::Bool),
    short("quiet", 'q', Takes::Bool),
    short("all-namespaces", 'A', Takes::Bool),
    flag("subresource", Takes::Text),
    flag("no-headers", Takes::Bool),
];

const VERBS: &[&str] = &[
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "use",
    "bind",
    "impersonate",
    "*",
    "approve",
    "sign",
    "escalate",
    "attest",
];
const URL_VERBS: &[&str] = &["get", "put", "post", "head", "options", "delete", "patch", "*"];

pub(super) fn can_i(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if args.on("list") {
        if !args.words.is_empty() {
            return Err(kc.fail("list option must be specified with no arguments"));
        }
        return rules::list(kc, args.on("no-headers"));
    }
    let (verb, resource) = match args.words.as_slice() {
        [verb, resource] => (verb.as_str(), resource.as_str()),
        _ => {
            return Err(kc.fail("you must specify two arguments: verb resource or verb resource/resourceName.\nSee 'kubectl auth can-i -h' for help and examples."));
        }
    };
    if resource.starts_with('/') {
        if !URL_VERBS.contains(&verb) {
            kc.err(format!("Warning: verb '{verb}' is not a known verb\n"));
        }
    } else {
        if !VERBS.contains(&verb) {
            kc.err(format!("Warning: verb '{verb}' is not a known verb\n"));
        }
        let name = resource.split('/').next().unwrap_or(resource);
        let definitions = kc.definitions()?;
        match resources::resolve_defined(name, &definitions) {
            Ok(kind) if !kind.namespaced() && !args.on("all-namespaces") => kc.err(format!(
                "Warning: resource '{}' is not namespace scoped{}\n\n",
                kind.resource(),
                if kind.group().is_empty() { String::new() } else { format!(" in group '{}'", kind.group()) }
            )),
            Ok(_) => {}
            Err(_) if name == "*" => {}
            Err(_) => {
                let (name, group) = name.split_once('.').unwrap_or((name, ""));
                let place = if group.is_empty() { String::new() } else { format!(" in group '{group}'") };
                kc.err(format!("Warning: the server doesn't have a resource type '{name}'{place}\n\n"));
            }
        }
    }
    let verdict = match kc.user.is_some() {
        true if resource.starts_with('/') => {
            if rules::allows_address(kc, verb, resource)? {
                "yes".to_owned()
            } else {
                "no".to_owned()
            }
        }
        true => review(kc, args, verb, resource)?,
        false => "yes".to_owned(),
    };
    if !args.on("quiet") {
        kc.out(format!("{verdict}\n"));
    }
    Ok(i32::from(verdict != "yes"))
}

/// Asks the server whether a person may do something. Upstream: a SelfSubjectAccessReview.
fn review(kc: &mut Kc<'_>, args: &Args, verb: &str, resource: &str) -> Flow<String> {
    let (name, object) = resource.split_once('/').unwrap_or((resource, ""));
    let definitions = kc.definitions()?;
    let Ok(kind) = resources::resolve_defined(name, &definitions) else { return Ok("no".into()) };
    let object = args.words.get(2).map_or(object, String::as_str);
    let everywhere = args.on("all-namespaces") || !kind.namespaced();
    let namespace: Arc<str> = if everywhere { "".into() } else { kc.namespace.clone() };
    let key = Key::new(kind, namespace, object);
    let part = args.text_or_empty("subresource");
    let review = if part.is_empty() { verb.to_owned() } else { format!("{verb}/{part}") };
    let mut request: Request = Verb::Get { key, subresource: Subresource::None }.into();
    request.review = Some(review.into());
    Ok(match kc.ask(request)? {
        Ok(_) => "yes".to_owned(),
        Err(status) => match status.message.split_once(": rbac: ") {
            Some((_, why)) => format!("no - rbac: {why}"),
            None => "no".to_owned(),
        },
    })
}

pub(super) const WHO_AM_I: &[Flag] = &[
    OUTPUT,
    common::TEMPLATE,
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
];

/// Who asks, as the server's review says it.
fn review_of(kc: &Kc<'_>) -> Value {
    let mut info = match &kc.user {
        None => {
            json!({ "groups": ["system:masters"], "uid": "kubernetes-admin", "username": "kubernetes-admin" })
        }
        Some(user) => json!({ "groups": user.groups, "username": user.name }),
    };
    if let Some(groups) = info["groups"].as_array_mut() {
        groups.push("system:authenticated".into());
    }
    json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
        "metadata": { "creationTimestamp": kc.now().to_time() }, "status": { "userInfo": info },
    })
}

pub(super) fn who_am_i(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let format = Format::of(kc, args, false)?;
    if !format.is_human() {
        let value = review_of(kc);
        format.print(kc, &value, true)?;
        return Ok(0);
    }
    let text = match kc.user.clone() {
        None => {
            "ATTRIBUTE\tVALUE\nUsername\tkubernetes-admin\nUID\tkubernetes-admin\nGroups\t[system:masters system:authenticated]\n"
                .to_owned()
        }
        Some(user) => {
            let mut groups = user.groups.clone();
            groups.push("system:authenticated".into());
            format!("ATTRIBUTE\tVALUE\nUsername\t{}\nGroups\t[{}]\n", user.name, groups.join(" "))
        }
    };
    kc.out(Tabs::TABLE.align(&text));
    Ok(0)
}
