//! `kubectl kustomize`. Upstream: kustomize/kustomize/commands/build (v5.8.1).

use crate::{
    args::{Args, Flag, Takes, flag, not_done, short},
    kc::{Flow, Kc},
    kustomize,
};
use kubestep_model::yaml;

/// Where the files of a kustomization may come from; the editor has no others.
const RESTRICTORS: [&str; 2] = ["LoadRestrictionsRootOnly", "LoadRestrictionsNone"];

pub(super) const FLAGS: &[Flag] = &[
    flag("load-restrictor", Takes::Text),
    short("output", 'o', Takes::Text),
    not_done("as-current-user", Takes::Bool),
    not_done("enable-alpha-plugins", Takes::Bool),
    not_done("enable-helm", Takes::Bool),
    not_done("env", Takes::Each),
    not_done("helm-api-versions", Takes::Each),
    not_done("helm-command", Takes::Text),
    not_done("helm-debug", Takes::Bool),
    not_done("helm-kube-version", Takes::Text),
    not_done("mount", Takes::Each),
    not_done("network", Takes::Bool),
    not_done("network-name", Takes::Text),
];

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let folder = match args.words.as_slice() {
        [] => ".",
        [folder] => folder,
        _ => return Err(kc.fail("specify one path to kustomization.yaml")),
    };
    let restrictor = args.text("load-restrictor").unwrap_or(RESTRICTORS[0]);
    if !RESTRICTORS.contains(&restrictor) {
        let legal = RESTRICTORS.join(" ");
        let text = format!("illegal flag value --load-restrictor {restrictor}; legal values: [{legal}]");
        return Err(kc.fail(text));
    }
    if !args.text_or_empty("output").is_empty() {
        return Err(kc.not_done("kustomize --output"));
    }
    match kustomize::build(kc, folder) {
        Ok(all) => {
            let texts: Vec<String> = all.iter().map(|v| yaml::to_yaml(v)).collect();
            kc.out(texts.join("---\n"));
            Ok(0)
        }
        Err(why) => Err(kc.fail(why)),
    }
}
