//! `kubectl create deployment`, `job`, `cronjob`. Upstream: kubectl/pkg/cmd/create (v1.37).

use super::make::{created, flags, name, required};
use crate::{
    args::{Args, Flag, Takes, flag, short},
    kc::{Flow, Kc},
    select::{self, Select},
};
use kubestep_model::{Dice, Kind, text::random_name::random_string};
use serde_json::{Value, json};

pub(super) const DEPLOYMENT: &[Flag] =
    flags![flag("image", Takes::List), flag("port", Takes::Int), short("replicas", 'r', Takes::Int),];

pub(super) fn deployment(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    required(kc, args, &["image"])?;
    let name = name(kc, args)?;
    let (images, command) = (args.all("image"), &args.words[1..]);
    if images.len() > 1 && !command.is_empty() {
        return Err(kc.fail("cannot specify multiple --image options and command"));
    }
    let mut containers = Vec::new();
    for image in images {
        let mut container = json!({ "name": container_name(kc, image), "image": image });
        if !command.is_empty() {
            container["command"] = json!(command);
        }
        containers.push(container);
    }
    if let (Some(port), Some(first)) = (args.int("port").filter(|p| *p >= 0), containers.first_mut()) {
        first["ports"] = json!([{ "containerPort": port }]);
    }
    let labels = json!({ "app": name });
    let value = json!({
        "metadata": { "name": name, "labels": labels },
        "spec": {
            "replicas": args.int("replicas").unwrap_or(1),
            "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": { "containers": containers } },
        },
    });
    created(kc, args, Kind::Deployment, value, "failed to create deployment: ")
}

/// The last part of an image without its tag. Where letters of it are not allowed in a name, they are replaced and
/// five drawn letters are added.
fn container_name(kc: &Kc<'_>, image: &str) -> String {
    let last = image.rsplit('/').next().unwrap_or(image);
    let bare = last.split([':', '@']).next().unwrap_or(last);
    if !bare.contains(['_', '.']) {
        return bare.to_owned();
    }
    let now = kc.now().nanos_since(kubestep_model::Instant::START).unsigned_abs();
    let mut dice = Dice::new(now).split(image);
    let suffix = random_string(5, &mut |bound| dice.below("kubectl", bound));
    format!("{}-{suffix}", bare.replace(['_', '.'], "-"))
}

fn pod_spec(name: &str, args: &Args, restart: &str) -> Value {
    let mut container = json!({ "name": name, "image": args.text_or_empty("image") });
    if args.words.len() > 1 {
        container["command"] = json!(args.words[1..]);
    }
    json!({ "spec": { "containers": [container], "restartPolicy": restart } })
}

pub(super) const JOB: &[Flag] = flags![flag("image", Takes::Text), flag("from", Takes::Text)];

pub(super) fn job(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let name = name(kc, args)?;
    let (image, from) = (args.text_or_empty("image"), args.text_or_empty("from"));
    if image.is_empty() == from.is_empty() {
        return Err(kc.fail("either --image or --from must be specified"));
    }
    if args.words.len() > 1 && !from.is_empty() {
        return Err(kc.fail("cannot specify --from and command"));
    }
    let value = if from.is_empty() {
        json!({ "metadata": { "name": name }, "spec": { "template": pod_spec(&name, args, "Never") } })
    } else {
        from_cron_job(kc, &name, from)?
    };
    created(kc, args, Kind::other("batch", "Job"), value, "failed to create job: ")
}

/// A job as the cron job would make it, now.
fn from_cron_job(kc: &mut Kc<'_>, name: &str, from: &str) -> Flow<Value> {
    let found = select::find(kc, &Select { words: vec![from.to_owned()], ..Select::default() })?;
    if let Some(fault) = found.faults.first() {
        return Err(kc.fault(fault));
    }
    let [info] = found.infos.as_slice() else { return Err(kc.fail("from must be an existing cronjob")) };
    let kind = info.key.kind;
    if kind != Kind::other("batch", "CronJob") {
        let group = if kind.group().is_empty() { "" } else { kind.group().split('.').next().unwrap_or("") };
        return Err(kc.fail(format!("unknown object type *{group}{}.{}", kind.version(), kind.name())));
    }
    let whole = info.object.to_value();
    let template = whole.pointer("/spec/jobTemplate").cloned().unwrap_or_default();
    let mut annotations = json!({ "cronjob.kubernetes.io/instantiate": "manual" });
    if let Some(more) = template.pointer("/metadata/annotations").and_then(Value::as_object) {
        more.iter().for_each(|(key, value)| annotations[key] = value.clone());
    }
    let owner = json!({
        "apiVersion": "batch/v1", "kind": "CronJob", "controller": true,
        "name": &*info.object.meta().name, "uid": &*info.object.meta().uid,
    });
    let mut metadata = json!({ "name": name, "annotations": annotations, "ownerReferences": [owner] });
    if let Some(labels) = template.pointer("/metadata/labels") {
        metadata["labels"] = labels.clone();
    }
    Ok(json!({ "metadata": metadata, "spec": template.get("spec").cloned().unwrap_or_default() }))
}

pub(super) const CRON_JOB: &[Flag] =
    flags![flag("image", Takes::Text), flag("schedule", Takes::Text), flag("restart", Takes::Text)];

pub(super) fn cron_job(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    required(kc, args, &["image", "schedule"])?;
    let name = name(kc, args)?;
    let restart = args.text("restart").filter(|r| !r.is_empty()).unwrap_or("OnFailure");
    let job = json!({ "metadata": { "name": name }, "spec": { "template": pod_spec(&name, args, restart) } });
    let value = json!({
        "metadata": { "name": name },
        "spec": { "schedule": args.text_or_empty("schedule"), "jobTemplate": job },
    });
    created(kc, args, Kind::other("batch", "CronJob"), value, "failed to create cronjob: ")
}
