//! `kubectl annotate`.

use super::{
    common::{self, DryRun},
    label,
};
use crate::{
    args::Args,
    fault::Fault,
    kc::{Flow, Kc},
    output::format::Format,
    workloads::CHANGE_CAUSE,
};
use kubestep_model::{Labels, PatchKind};
use std::collections::BTreeMap;

pub(super) use super::label::FLAGS;

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let dry = DryRun::of(kc, args)?;
    let split = common::resources_and_pairs(&args.words, "annotation");
    let (resources, pairs) = common::or_stop(kc, split)?;
    let (new, gone) = common::or_stop(kc, common::parse_pairs(&pairs, "annotation", true))?;
    let both: Vec<&str> = gone.iter().filter(|k| new.contains_key(*k)).map(String::as_str).collect();
    if !both.is_empty() {
        let text = "can not both modify and remove the following annotation(s) in the same command: ";
        return Err(kc.fail(format!("{text}{}", both.join(", "))));
    }
    if args.on("local") {
        return label::local(kc, args, &resources, "annotations", &|before| {
            change(before, &new, &gone, args.on("overwrite")).map(|after| (after, "annotated"))
        });
    }
    let found = label::find(kc, args, &resources, "annotation", new.len() + gone.len())?;
    let format = Format::of(kc, args, false)?;
    let single = found.single;
    common::each(kc, found, |kc, info| {
        let before = info.object.meta().annotations.clone();
        let after = match change(&before, &new, &gone, args.on("overwrite")) {
            Ok(after) => after,
            Err(fault) => return Ok(Err(fault)),
        };
        if args.on("list") {
            label::list(kc, info, single, "annotations", &after);
            return Ok(Ok(()));
        }
        let mut object = info.object.clone();
        if dry == DryRun::Client {
            object.meta_mut().annotations = after;
        } else {
            let patch = label::metadata_patch("annotations", &before, &after, args.text("resource-version"));
            match common::patch(kc, &info.key, PatchKind::Merge, patch, dry)? {
                Ok(patched) => object = patched,
                Err(status) => return Ok(Err(status.into())),
            }
        }
        common::say(kc, &format, &object, "annotated", dry)?;
        Ok(Ok(()))
    })
}

fn change(
    before: &Labels,
    new: &BTreeMap<String, String>,
    gone: &[String],
    overwrite: bool,
) -> Result<Labels, Fault> {
    let taken = |(key, value): (&String, &String)| {
        let have = before.get(key).filter(|have| *have != value && key.as_str() != CHANGE_CAUSE)?;
        Some(format!("'{key}' already has a value ({have})"))
    };
    let taken: Vec<String> = new.iter().filter_map(taken).collect();
    if !overwrite && !taken.is_empty() {
        let text = "--overwrite is false but found the following declared annotation(s): ";
        return Err(Fault::Text(format!("{text}{}", taken.join("; "))));
    }
    let mut after = before.clone();
    after.extend(new.clone());
    after.retain(|key, _| !gone.contains(key));
    Ok(after)
}
