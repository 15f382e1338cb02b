//! `kubectl auth`: everybody may do everything here, for nothing is authorised.

use super::common::OUTPUT;
use crate::{
    args::{Args, Flag, Takes, flag, short},
    kc::{Flow, Kc},
    output::tabs::Tabs,
    resources,
};

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
        let text = "Resources\tNon-Resource URLs\tResource Names\tVerbs\n*.*\t[]\t[]\t[*]\n\t[*]\t[]\t[*]\n";
        let skip = if args.on("no-headers") { text.find('\n').map_or(0, |at| at + 1) } else { 0 };
        kc.out(Tabs::TABLE.align(&text[skip..]));
        return Ok(0);
    }
    let (verb, resource) = match args.words.as_slice() {
        [verb, resource] | [verb, resource, _] => (verb.as_str(), resource.as_str()),
        _ => {
            let text = "you must specify two arguments: verb resource or verb resource/resourceName.";
            return Err(kc.usage(&args.path, text));
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
        match resources::resolve(name) {
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
    if !args.on("quiet") {
        kc.out("yes\n");
    }
    Ok(0)
}

pub(super) const WHO_AM_I: &[Flag] = &[OUTPUT];

pub(super) fn who_am_i(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if !args.text_or_empty("output").is_empty() {
        return Err(kc.not_done("auth whoami -o"));
    }
    let text = "ATTRIBUTE\tVALUE\nUsername\tkubernetes-admin\nGroups\t[kubeadm:cluster-admins system:authenticated]\n";
    kc.out(Tabs::TABLE.align(text));
    Ok(0)
}
