//! `kubectl set`: image, env, resources and selector.

pub(super) mod account;
pub(super) mod env;
pub(super) mod image;
pub(super) mod resources;
pub(super) mod selector;
pub(super) mod subject;

use super::common::{self, DryRun};
use crate::{
    args::Args,
    fault::Fault,
    kc::{Flow, Kc},
    output::format::Format,
    select::{self, Found, Info, Select},
};
use kubestep_model::{Container, Key, Object, PatchKind, PodSpec, schema};
use std::sync::Arc;

const NO_RESOURCES: &str =
    "one or more resources must be specified as <resource> <name> or <resource>/<name>";

/// Finds what is to be changed; `--all` and a selector exclude each other.
fn find(kc: &mut Kc<'_>, args: &Args, resources: &[String]) -> Flow<Found> {
    if args.on("local") {
        return local(kc, args, resources);
    }
    let select = Select { types_alone: args.on("all"), all: false, ..Select::from(args, resources) };
    let found = select::find(kc, &select)?;
    match Fault::all(found.faults) {
        Some(fault) => Err(kc.fault(&fault)),
        None => Ok(Found { faults: vec![], ..found }),
    }
}

/// The objects of local files.
fn local(kc: &mut Kc<'_>, args: &Args, resources: &[String]) -> Flow<Found> {
    let mut found = Found::default();
    for manifest in common::local(kc, args, resources)? {
        let kind = manifest.kind;
        let value = schema::encode(&kind.api_version(), kind.name(), &manifest.value);
        let key = Key::new(kind, manifest.namespace, manifest.name);
        match Object::from_value(kind, value) {
            Ok(object) => found.infos.push(Info { key, object, source: manifest.source }),
            Err(why) => return Err(kc.fail(why)),
        }
    }
    Ok(found)
}

/// Changes the pod spec of a pod or of a template in an object.
fn change_pod_spec(
    object: &mut Object,
    change: impl FnOnce(&mut PodSpec) -> Result<(), String>,
) -> Result<(), String> {
    match object {
        Object::Pod(o) => change(&mut Arc::make_mut(o).spec),
        Object::Deployment(o) => change(&mut Arc::make_mut(o).spec.template.spec),
        Object::ReplicaSet(o) => change(&mut Arc::make_mut(o).spec.template.spec),
        other => {
            let path = match other.kind().name() {
                "StatefulSet" | "DaemonSet" | "Job" | "ReplicationController" => "/spec/template/spec",
                "CronJob" => "/spec/jobTemplate/spec/template/spec",
                _ => {
                    let go = go_type(other);
                    return Err(format!("the object is not a pod or does not have a pod template: *{go}"));
                }
            };
            let mut whole = other.to_value();
            let place = whole.pointer_mut(path).ok_or("the object has no pod template")?;
            let mut spec: PodSpec = serde_json::from_value(place.take()).map_err(|e| e.to_string())?;
            change(&mut spec)?;
            *place = serde_json::to_value(&spec).map_err(|e| e.to_string())?;
            *other = Object::from_value(other.kind(), whole)?;
            Ok(())
        }
    }
}

/// A copy of the pod spec of a pod or of a template in an object.
fn read_pod_spec(object: &mut Object) -> Result<PodSpec, String> {
    let mut found = PodSpec::default();
    change_pod_spec(object, |spec| {
        found.clone_from(spec);
        Ok(())
    })?;
    Ok(found)
}

fn go_type(object: &Object) -> String {
    let kind = object.kind();
    format!("{}.{}", kind.version(), kind.name())
}

/// Changes the pod specs of objects and patches what has changed. Upstream: CalculatePatches and what follows it.
fn patch_pod_specs<F>(
    kc: &mut Kc<'_>,
    args: &Args,
    found: Found,
    what: (&str, &str),
    mut change: F,
) -> Flow<i32>
where
    F: FnMut(&mut PodSpec, &mut Vec<Fault>) -> Result<(), String>,
{
    let (done, failed) = what;
    let (dry, format) = (DryRun::of(kc, args)?, Format::of(kc, args, false)?);
    let mut faults = Vec::new();
    let mut patches = Vec::new();
    for info in &found.infos {
        let mut after = info.object.clone();
        let changed = change_pod_spec(&mut after, |spec| change(spec, &mut faults));
        patches.push((info, changed.map(|()| after)));
    }
    for (info, after) in patches {
        let patch = after.and_then(|after| {
            let patch = common::difference(info.key.kind, &info.object.to_value(), &after.to_value())?;
            Ok((patch, after))
        });
        let (patch, after) = match patch {
            Ok(found) => found,
            Err(why) => {
                faults.push(Fault::Text(format!("error: {} {why}\n", common::resource_name(&info.key))));
                continue;
            }
        };
        if common::is_empty(&patch) {
            continue;
        }
        if dry == DryRun::Client || args.on("local") {
            common::say_typed(kc, &format, &after, done, dry)?;
            continue;
        }
        match common::patch(kc, &info.key, PatchKind::Strategic, patch, dry)? {
            Ok(object) => common::say_typed(kc, &format, &object, done, dry)?,
            Err(status) => faults.push(Fault::Text(format!("{failed}{}", status.message))),
        }
    }
    common::finish(kc, faults)
}

/// The containers whose names fit a pattern, the main ones first.
fn selected<'a>(spec: &'a mut PodSpec, pattern: &'a str) -> impl Iterator<Item = &'a mut Container> {
    spec.containers.iter_mut().chain(spec.init_containers.iter_mut()).filter(move |c| fits(&c.name, pattern))
}

/// Whether a name fits a pattern with `*` in it.
pub(crate) fn fits(name: &str, pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.split('*').collect();
    let [first, middle @ .., last] = parts.as_slice() else { return name == pattern };
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_fit() {
        for (name, pattern, want) in [
            ("web", "*", true),
            ("web", "web", true),
            ("web", "w*", true),
            ("web", "*x", false),
            ("a-b-c", "a*b*c", true),
        ] {
            assert_eq!(fits(name, pattern), want, "{name} {pattern}");
        }
    }
}
