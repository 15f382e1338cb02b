//! `kubectl label`.

use super::common::{
    self, ALL, DRY_RUN, DryRun, FIELD_MANAGER, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE,
};
use crate::{
    args::{Args, Flag, Takes, flag, short},
    fault::Fault,
    kc::{Flow, Kc},
    output::format::Format,
    select::{self, Info, Select},
};
use kubestep_model::{
    Labels, PatchKind,
    text::{go::quote, names},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub(super) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    ALL,
    TEMPLATE,
    DRY_RUN,
    FIELD_MANAGER,
    flag("field-selector", Takes::Text),
    short("all-namespaces", 'A', Takes::Bool),
    flag("overwrite", Takes::Bool),
    flag("list", Takes::Bool),
    flag("resource-version", Takes::Text),
    flag("record", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    common::LOCAL,
    KUSTOMIZE,
];

const NO_RESOURCES: &str =
    "one or more resources must be specified as <resource> <name> or <resource>/<name>";

/// Checks that `label` and `annotate` share; then finds the objects.
pub(super) fn find(
    kc: &mut Kc<'_>,
    args: &Args,
    resources: &[String],
    what: &str,
    changes: usize,
) -> Flow<select::Found> {
    let selector = args.text_or_empty("selector");
    if args.on("list") && args.has("output") {
        return Err(kc.fail("--list and --output may not be specified together"));
    }
    if args.on("all") && !selector.is_empty() {
        return Err(kc.fail("cannot set --all and --selector at the same time"));
    }
    if args.on("all") && !args.text_or_empty("field-selector").is_empty() {
        return Err(kc.fail("cannot set --all and --field-selector at the same time"));
    }
    if resources.is_empty() && args.all("filename").is_empty() {
        return Err(kc.fail(NO_RESOURCES));
    }
    if changes == 0 && !args.on("list") {
        return Err(kc.fail(format!("at least one {what} update is required")));
    }
    let select = Select { types_alone: args.on("all"), all: false, ..Select::from(args, resources) };
    let found = select::find(kc, &select)?;
    if !found.single && args.has("resource-version") {
        return Err(kc.fail("--resource-version may only be used with a single resource"));
    }
    Ok(found)
}

/// A merge patch that sets and removes entries of a map in the metadata.
pub(super) fn metadata_patch(field: &str, before: &Labels, after: &Labels, version: Option<&str>) -> Value {
    let mut entries = Map::new();
    for (key, value) in after.iter().filter(|(k, v)| before.get(*k) != Some(v)) {
        entries.insert(key.clone(), value.as_str().into());
    }
    for key in before.keys().filter(|k| !after.contains_key(*k)) {
        entries.insert(key.clone(), Value::Null);
    }
    let mut metadata = Map::new();
    if !entries.is_empty() {
        metadata.insert(field.to_owned(), entries.into());
    }
    if let Some(version) = version {
        metadata.insert("resourceVersion".into(), version.into());
    }
    if metadata.is_empty() { json!({}) } else { json!({ "metadata": metadata }) }
}

/// `--list`.
pub(super) fn list(kc: &mut Kc<'_>, info: &Info, single: bool, what: &str, entries: &Labels) {
    if !single {
        kc.out(format!(
            "Listing {what} for {}.{}/{}:\n",
            info.key.kind.name(),
            info.key.kind.group(),
            info.key.name
        ));
    }
    let indent = if single { "" } else { " " };
    kc.out(entries.iter().map(|(k, v)| format!("{indent}{k}={v}\n")).collect::<String>());
}

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let dry = DryRun::of(kc, args)?;
    let split = common::resources_and_pairs(&args.words, "label");
    let (resources, pairs) = common::or_stop(kc, split)?;
    let (new, gone) = common::or_stop(kc, parse(&pairs))?;
    if args.on("local") {
        return local(kc, args, &resources, "labels", &|before| {
            change(before, &new, &gone, args.on("overwrite"))
        });
    }
    let found = find(kc, args, &resources, "label", new.len() + gone.len())?;
    let format = Format::of(kc, args, false)?;
    let single = found.single;
    common::each(kc, found, |kc, info| {
        let before = info.object.meta().labels.clone();
        let changed = change(&before, &new, &gone, args.on("overwrite"));
        let (after, done) = match changed {
            Ok(changed) => changed,
            Err(fault) => {
                missing(kc, &before, &gone, dry, args.on("list"));
                return Ok(Err(fault));
            }
        };
        if args.on("list") {
            list(kc, info, single, "labels", &after);
            return Ok(Ok(()));
        }
        missing(kc, &before, &gone, dry, false);
        let mut object = info.object.clone();
        if dry == DryRun::Client {
            object.meta_mut().labels = after;
        } else if after != before {
            let patch = metadata_patch("labels", &before, &after, args.text("resource-version"));
            match common::patch(kc, &info.key, PatchKind::Merge, patch, dry)? {
                Ok(patched) => object = patched,
                Err(status) => return Ok(Err(status.into())),
            }
        }
        common::say(kc, &format, &object, done, dry)?;
        Ok(Ok(()))
    })
}

/// Changes labels or annotations of local files.
pub(super) fn local(
    kc: &mut Kc<'_>,
    args: &Args,
    resources: &[String],
    field: &str,
    change: &dyn Fn(&Labels) -> Result<(Labels, &'static str), Fault>,
) -> Flow<i32> {
    if resources.is_empty() && args.all("filename").is_empty() {
        let name = if field == "labels" { "pod" } else { "rsrc" };
        let text = format!("one or more files must be specified as -f {name}.yaml or --filename={name}.json");
        return Err(kc.fail(text));
    }
    let format = Format::of(kc, args, false)?;
    for mut manifest in common::local(kc, args, resources)? {
        let there = manifest.value["metadata"].get(field).cloned().unwrap_or_default();
        let before: Labels = serde_json::from_value(there).unwrap_or_default();
        let (after, done) = common::or_stop(kc, change(&before))?;
        manifest.value["metadata"][field] = json!(after);
        common::say_local(kc, &format, &manifest, done)?;
    }
    Ok(0)
}

/// Says which labels that are to be removed are not there.
fn missing(kc: &mut Kc<'_>, before: &Labels, gone: &[String], dry: DryRun, list: bool) {
    if dry != DryRun::Client && !list {
        for label in gone.iter().filter(|l| !before.contains_key(*l)) {
            kc.out(format!("label {} not found.\n", quote(label)));
        }
    }
}

fn parse(pairs: &[String]) -> Result<(BTreeMap<String, String>, Vec<String>), Fault> {
    let (mut new, mut gone) = (BTreeMap::new(), Vec::new());
    for pair in pairs {
        if pair.contains('=') {
            let parts: Vec<&str> = pair.split('=').collect();
            let [key, value] = parts.as_slice() else {
                return Err(Fault::Text(format!("invalid label spec: {pair}")));
            };
            let faults = names::is_valid_label_value(value);
            if !faults.is_empty() {
                return Err(Fault::Text(format!(
                    "invalid label value: {}: {}",
                    quote(pair),
                    faults.join(";")
                )));
            }
            new.insert((*key).to_owned(), (*value).to_owned());
        } else if let Some(key) = pair.strip_suffix('-') {
            gone.push(key.to_owned());
        } else {
            return Err(Fault::Text(format!("unknown label spec: {pair}")));
        }
    }
    if gone.iter().any(|key| new.contains_key(key)) {
        return Err(Fault::Text("can not both modify and remove a label in the same command".into()));
    }
    Ok((new, gone))
}

/// The labels after the change, and what is said about it.
fn change(
    before: &Labels,
    new: &BTreeMap<String, String>,
    gone: &[String],
    overwrite: bool,
) -> Result<(Labels, &'static str), Fault> {
    if !overwrite {
        let taken = |(key, value): (&String, &String)| {
            let have = before.get(key).filter(|have| *have != value)?;
            Some(Fault::Text(format!("'{key}' already has a value ({have}), and --overwrite is false")))
        };
        if let Some(fault) = Fault::all(new.iter().filter_map(taken).collect()) {
            return Err(fault);
        }
    }
    let mut after = before.clone();
    let added = new.iter().filter(|(key, value)| before.get(*key) != Some(value)).count();
    after.extend(new.clone());
    let removed = gone.iter().filter(|key| after.remove(*key).is_some()).count();
    let done = match (added, removed) {
        (0, 0) => "not labeled",
        (_, 0) => "labeled",
        (0, _) => "unlabeled",
        (_, _) => "modified",
    };
    Ok((after, done))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_change_as_upstream() {
        let before = Labels::from([("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())]);
        let new = |k: &str, v: &str| BTreeMap::from([(k.to_owned(), v.to_owned())]);
        assert_eq!(change(&before, &new("a", "1"), &[], false).unwrap().1, "not labeled");
        assert_eq!(change(&before, &new("c", "1"), &["a".into()], false).unwrap().1, "modified");
        let (after, done) = change(&before, &BTreeMap::new(), &["a".into(), "b".into()], false).unwrap();
        assert_eq!(done, "unlabeled");
        assert_eq!(
            metadata_patch("labels", &before, &after, None),
            json!({"metadata": {"labels": {"a": null, "b": null}}})
        );
        let fault = change(&before, &new("a", "9"), &[], false).unwrap_err();
        assert_eq!(fault.text(), "'a' already has a value (1), and --overwrite is false");
        assert!(
            parse(&["a=b c".into()])
                .unwrap_err()
                .text()
                .starts_with("invalid label value: \"a=b c\": a valid label")
        );
    }
}
