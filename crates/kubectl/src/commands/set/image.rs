//! `kubectl set image`.

use super::{find, patch_pod_specs};
use crate::{
    args::{Args, Flag, Takes, flag},
    commands::common::{
        self, ALL, DRY_RUN, FIELD_MANAGER, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE,
    },
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::{PodSpec, text::go::quote};
use std::collections::BTreeMap;

pub(in crate::commands) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    ALL,
    TEMPLATE,
    DRY_RUN,
    FIELD_MANAGER,
    flag("record", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    common::LOCAL,
    KUSTOMIZE,
];

pub(in crate::commands) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let split = common::resources_and_pairs(&args.words, "image");
    let (resources, pairs) = common::or_stop(kc, split)?;
    let (images, _) = common::or_stop(kc, common::parse_pairs(&pairs, "image", false))?;
    let found = find(kc, args, &resources)?;
    let mut faults = Vec::new();
    if args.on("all") && !args.text_or_empty("selector").is_empty() {
        faults.push(Fault::Text("cannot set --all and --selector at the same time".into()));
    }
    if images.is_empty() {
        faults.push(Fault::Text("at least one image update is required".into()));
    } else if images.len() > 1 && images.contains_key("*") {
        let text = "all containers are already specified by *, but saw more than one container_name=container_image pairs";
        faults.push(Fault::Text(text.into()));
    }
    if let Some(fault) = Fault::all(faults) {
        return Err(kc.fault(&fault));
    }
    let what = ("image updated", "failed to patch image update to pod template: ");
    patch_pod_specs(kc, args, found, what, |spec, faults| {
        set(spec, &images, faults);
        Ok(())
    })
}

fn set(spec: &mut PodSpec, images: &BTreeMap<String, String>, faults: &mut Vec<Fault>) {
    for (name, image) in images {
        let mut any = false;
        let all = spec.init_containers.iter_mut().chain(spec.containers.iter_mut());
        for container in all.filter(|c| c.name == *name || name == "*") {
            container.image.clone_from(image);
            any = true;
        }
        if !any {
            faults.push(Fault::Text(format!("error: unable to find container named {}", quote(name))));
        }
    }
}
