//! `kubectl run`: one pod from flags. Upstream: kubectl/pkg/cmd/run (v1.37).

use super::{
    common::{self, DRY_RUN, DryRun, FIELD_MANAGER, OUTPUT, TEMPLATE},
    create::make::saved,
};
use crate::{
    args::{Args, Flag, Takes, flag, not_done, short},
    fault::Fault,
    image,
    kc::{Flow, Kc},
    output::format::Format,
};
use kubestep_model::{
    Body, Key, Kind, Verb,
    patch::{json_patch, merge_patch, strategic_merge_patch},
    schema,
    text::go,
    yaml,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(super) const FLAGS: &[Flag] = &[
    OUTPUT,
    TEMPLATE,
    DRY_RUN,
    FIELD_MANAGER,
    flag("image", Takes::Text),
    flag("image-pull-policy", Takes::Text),
    flag("annotations", Takes::Each),
    flag("env", Takes::Each),
    flag("port", Takes::Text),
    short("labels", 'l', Takes::Text),
    flag("restart", Takes::Text),
    flag("command", Takes::Bool),
    flag("expose", Takes::Bool),
    flag("privileged", Takes::Bool),
    flag("save-config", Takes::Bool),
    flag("record", Takes::Bool),
    short("quiet", 'q', Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    Flag { long: "stdin", short: Some('i'), takes: Takes::Bool, done: false },
    Flag { long: "tty", short: Some('t'), takes: Takes::Bool, done: false },
    not_done("attach", Takes::Bool),
    flag("rm", Takes::Bool),
    flag("overrides", Takes::Text),
    flag("override-type", Takes::Text),
    not_done("leave-stdin-open", Takes::Bool),
    not_done("pod-running-timeout", Takes::Span),
];

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if !args.has("image") {
        return Err(kc.fail("required flag(s) \"image\" not set"));
    }
    if args.on("rm") {
        return Err(kc.fail("--rm should only be used for attached containers"));
    }
    let (dry, format) = (DryRun::of(kc, args)?, Format::of(kc, args, false)?);
    let made = objects(args);
    let objects = common::or_stop(kc, made)?;
    let mut faults = Vec::new();
    for (at, (kind, body)) in objects.into_iter().enumerate() {
        let body = if at == 0 { overridden(args, body).map_err(|why| kc.fail(why))? } else { body };
        match create(kc, kind, body, dry, args.on("save-config"))? {
            Ok((key, _)) if format.is_human() => common::said(kc, &key, "created", dry),
            Ok((_, value)) => {
                if at > 0 && format == Format::Yaml {
                    kc.out("---\n");
                }
                format.print(kc, &value, true)?;
            }
            Err(fault) if at == 0 => return Err(kc.fault(&fault)),
            Err(fault) => faults.push(fault),
        }
    }
    common::finish(kc, faults)
}

/// The pod with what `--overrides` says. Upstream: cmdutil.Overrider.
fn overridden(args: &Args, pod: Value) -> Result<Value, String> {
    let text = args.text_or_empty("overrides");
    if text.is_empty() {
        return Ok(pod);
    }
    let patch: Value = serde_json::from_str(text)
        .or_else(|_| yaml::read(text).documents.into_iter().next().map(|d| d.value).ok_or(()))
        .map_err(|()| "Invalid JSON Patch".to_owned())?;
    let patched = match args.text("override-type").unwrap_or("merge") {
        "merge" => merge_patch(&pod, &patch),
        "json" => json_patch(&pod, &patch),
        "strategic" => match schema::patch_schema("v1", "Pod") {
            Some(schema) => strategic_merge_patch(&pod, &patch, schema),
            None => merge_patch(&pod, &patch),
        },
        other => Err(format!("invalid overrideType: {other}")),
    };
    Ok(schema::encode("v1", "Pod", &patched?))
}

fn create(
    kc: &mut Kc<'_>,
    kind: Kind,
    body: Value,
    dry: DryRun,
    save: bool,
) -> Flow<Result<(Key, Value), Fault>> {
    let name = body.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let key = Key::new(kind, kc.namespace.clone(), name);
    let body = if save { saved(kind, body) } else { body };
    if dry == DryRun::Client {
        return Ok(Ok((key, body)));
    }
    let verb = Verb::Create { kind, namespace: kc.namespace.clone(), body: Body::Json(Arc::new(body)) };
    let created = kc.ask_object(dry.request(verb))?;
    Ok(created.map(|object| (key, object.to_value())).map_err(Fault::from))
}

/// The pod, and the service with `--expose`.
fn objects(args: &Args) -> Result<Vec<(Kind, Value)>, Fault> {
    let wrong = |text: &str| Err(Fault::Text(text.to_owned()));
    let (Some(name), true) = (args.words.first(), args.before_dash != Some(0)) else {
        return wrong("NAME is required for run");
    };
    let image = args.text_or_empty("image");
    if image.is_empty() {
        return wrong("--image is required");
    }
    if !image::is_reference(image) {
        let why = format!("invalid image name {}: invalid reference format", go::quote(image));
        return Err(Fault::Text(why));
    }
    let (annotations, _) = common::parse_pairs(args.all("annotations"), "annotations", false)?;
    let given = labels(args.text_or_empty("labels"))?;
    let labels =
        if given.is_empty() { Map::from_iter([("run".to_owned(), json!(name))]) } else { given.clone() };
    let restart = match args.text("restart").unwrap_or("Always") {
        "" => "Always",
        policy @ ("Always" | "OnFailure" | "Never") => policy,
        other => {
            return wrong(&format!(
                "invalid restart policy: {other}, valid values are: Always, OnFailure, Never"
            ));
        }
    };
    let pull = args.text_or_empty("image-pull-policy");
    if !matches!(pull, "" | "Always" | "IfNotPresent" | "Never") {
        return wrong(&format!(
            "invalid image pull policy: {pull}, valid values are: Always, IfNotPresent, Never"
        ));
    }
    let port = args.text_or_empty("port");
    if args.on("expose") && port.is_empty() {
        return wrong("--port must be set when exposing a service");
    }
    let port = match port {
        "" => None,
        text => Some(text.parse::<i32>().map_err(|_| Fault::Text("--port must be a number".into()))?),
    };
    let mut container = Map::from_iter([
        ("name".to_owned(), json!(name)),
        ("image".to_owned(), json!(image)),
        ("resources".to_owned(), json!({})),
    ]);
    let mut put = |field: &str, value: Value| container.insert(field.to_owned(), value);
    if !pull.is_empty() {
        put("imagePullPolicy", json!(pull));
    }
    if args.words.len() > 1 {
        put(if args.on("command") { "command" } else { "args" }, json!(args.words[1..]));
    }
    let env = envs(args.all("env"))?;
    if !env.is_empty() {
        put("env", json!(env));
    }
    if let Some(port) = port {
        put("ports", json!([{ "containerPort": port }]));
    }
    if args.on("privileged") {
        put("securityContext", json!({ "privileged": true }));
    }
    let mut metadata = json!({ "name": name, "labels": labels });
    if !annotations.is_empty() {
        metadata["annotations"] = json!(annotations);
    }
    let spec = json!({ "containers": [container], "restartPolicy": restart, "dnsPolicy": "ClusterFirst" });
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {} });
    let mut objects = vec![(Kind::Pod, pod)];
    if let (true, Some(port)) = (args.on("expose"), port) {
        objects.push((Kind::Service, service(name, &given, &labels, port)));
    }
    Ok(objects)
}

fn service(name: &str, given: &Map<String, Value>, labels: &Map<String, Value>, port: i32) -> Value {
    let mut metadata = json!({ "name": name });
    if !given.is_empty() {
        metadata["labels"] = json!(given);
    }
    let spec =
        json!({ "selector": labels, "ports": [{ "port": port, "protocol": "TCP", "targetPort": port }] });
    json!({ "apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec, "status": { "loadBalancer": {} } })
}

fn labels(list: &str) -> Result<Map<String, Value>, Fault> {
    let one = |spec: &str| match spec.split('=').collect::<Vec<_>>().as_slice() {
        ["", _] => Err(Fault::Text("unexpected empty label key".into())),
        [key, value] => Ok(((*key).to_owned(), json!(value))),
        _ => Err(Fault::Text(format!("unexpected label spec: {spec}"))),
    };
    if list.is_empty() { Ok(Map::new()) } else { list.split(',').map(one).collect() }
}

fn envs(list: &[String]) -> Result<Vec<Value>, Fault> {
    let one = |env: &String| match env.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok(json!({ "name": name, "value": value })),
        _ => Err(Fault::Text(format!("invalid env: {env}"))),
    };
    list.iter().map(one).collect()
}
