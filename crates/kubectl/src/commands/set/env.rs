//! `kubectl set env`.

use super::{NO_RESOURCES, find, fits, patch_pod_specs, selected};
use crate::{
    args::{Args, Flag, Takes, flag, short},
    base64,
    commands::common::{
        ALL, DRY_RUN, FIELD_MANAGER, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE,
    },
    fault::Fault,
    kc::{Flow, Kc},
    select::{self, Found, Select},
};
use kubestep_model::{
    Container, EnvVar, Key, Kind, Object,
    arrange::Arrange,
    text::{go::quote, names},
};
use serde_json::{Value, json};
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
    short("containers", 'c', Takes::Text),
    short("env", 'e', Takes::Each),
    flag("list", Takes::Bool),
    flag("overwrite", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    flag("from", Takes::Text),
    flag("keys", Takes::List),
    flag("prefix", Takes::Text),
    flag("resolve", Takes::Bool),
    crate::commands::common::LOCAL,
    KUSTOMIZE,
];

struct Changes {
    set: Vec<EnvVar>,
    remove: Vec<String>,
}

pub(in crate::commands) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let is_env = |w: &String| w.find('=').is_some_and(|at| at > 0) || w.ends_with('-');
    let first = args.words.iter().position(is_env).unwrap_or(args.words.len());
    let (resources, pairs) = args.words.split_at(first);
    if let Some(word) = pairs.iter().find(|w| !is_env(w)) {
        return Err(kc.usage(
            &args.path,
            &format!("all resources must be specified before environment changes: {word}"),
        ));
    }
    if resources.is_empty() && args.all("filename").is_empty() {
        return Err(kc.fail(NO_RESOURCES));
    }
    if args.on("list") && args.has("output") {
        return Err(kc.fail("--list and --output may not be specified together"));
    }
    let specs: Vec<String> = args.all("env").iter().chain(pairs).cloned().collect();
    let mut changes = parse(&specs).map_err(|why| kc.fail(why))?;
    if !args.all("keys").is_empty() && args.text_or_empty("from").is_empty() {
        return Err(kc.fail("when specifying --keys, a configmap or secret must be provided with --from"));
    }
    changes.set.extend(from(kc, args)?);
    let prefix = args.text_or_empty("prefix");
    changes.set.iter_mut().for_each(|v| v.name.insert_str(0, prefix));
    let found = find(kc, args, resources)?;
    let pattern = args.text("containers").unwrap_or("*").to_owned();
    if args.on("list") {
        list(kc, &found, &pattern, args.on("resolve"))?;
        return Ok(0);
    }
    for info in &found.infos {
        let mut object = info.object.clone();
        let Ok(mut spec) = super::read_pod_spec(&mut object) else { continue };
        if selected(&mut spec, &pattern).next().is_none() {
            let kind = info.key.kind.name();
            kc.warn(&format!(
                "{kind}/{} does not have any containers matching {}",
                info.key.name,
                quote(&pattern)
            ));
        }
    }
    let overwrite = args.on_or("overwrite", true);
    let what = ("env updated", "failed to patch env update to pod template: ");
    patch_pod_specs(kc, args, found, what, |spec, _: &mut Vec<Fault>| {
        for container in selected(spec, &pattern) {
            if !overwrite {
                refuse_overwrite(container, &changes.set)?;
            }
            container.env = updated(&container.env, &changes);
        }
        Ok(())
    })
}

fn parse(specs: &[String]) -> Result<Changes, String> {
    let mut changes = Changes { set: vec![], remove: vec![] };
    for spec in specs {
        match (spec.split_once('='), spec.strip_suffix('-')) {
            (Some((name, value)), _) => {
                let faults = names::is_env_var_name(name);
                if !faults.is_empty() {
                    return Err(format!("{} is not a valid key name: {}", quote(name), faults.join(";")));
                }
                changes.set.push(EnvVar { name: name.into(), value: value.into(), ..EnvVar::default() });
            }
            (None, Some(name)) if !name.is_empty() => changes.remove.push(name.into()),
            _ => return Err(format!("unknown environment variable: {spec}")),
        }
    }
    if changes.remove.iter().any(|name| changes.set.iter().any(|e| e.name == *name)) {
        return Err("can not both modify and remove the same environment variable in the same command".into());
    }
    Ok(changes)
}

fn refuse_overwrite(container: &Container, new: &[EnvVar]) -> Result<(), String> {
    let taken = |e: &&EnvVar| new.iter().any(|n| n.name == e.name && n.value != e.value);
    match container.env.iter().find(taken) {
        Some(e) => Err(format!("'{}' already has a value ({}), and --overwrite is false", e.name, e.value)),
        None => Ok(()),
    }
}

/// Upstream: updateEnv.
fn updated(existing: &[EnvVar], changes: &Changes) -> Vec<EnvVar> {
    let mut out: Vec<EnvVar> = Vec::new();
    let mut covered: Vec<&str> = changes.remove.iter().map(String::as_str).collect();
    for variable in existing {
        if covered.contains(&variable.name.as_str()) {
            continue;
        }
        match changes.set.iter().find(|new| new.name == variable.name) {
            Some(new) => {
                covered.push(&new.name);
                out.push(new.clone());
            }
            None => out.push(variable.clone()),
        }
    }
    for new in &changes.set {
        if !covered.contains(&new.name.as_str()) {
            covered.push(&new.name);
            out.push(new.clone());
        }
    }
    out
}

/// The variables that `--from` names: one for each key of a ConfigMap or Secret.
fn from(kc: &mut Kc<'_>, args: &Args) -> Flow<Vec<EnvVar>> {
    let source = args.text_or_empty("from");
    if source.is_empty() {
        return Ok(vec![]);
    }
    let select = Select { words: vec![source.to_owned()], types_alone: args.on("all"), ..Select::default() };
    let found = select::find(kc, &select)?;
    if let Some(fault) = Fault::all(found.faults) {
        return Err(kc.fault(&fault));
    }
    let (mut variables, keys) = (Vec::new(), args.all("keys"));
    for info in &found.infos {
        let (field, of): (&str, Vec<String>) = match &info.object {
            Object::ConfigMap(o) => ("configMapKeyRef", o.data.keys().cloned().collect()),
            Object::Secret(o) => ("secretKeyRef", o.data.keys().cloned().collect()),
            _ => return Err(kc.fail("unsupported resource specified in --from")),
        };
        for key in of.into_iter().filter(|k| keys.is_empty() || keys.contains(k)) {
            let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
            let name = key.chars().map(allowed).collect::<String>().to_ascii_uppercase();
            if name != key {
                kc.err(format!("Warning: key {key} transferred to {name}\n"));
            }
            let from = json!({ field: { "key": key, "name": &*info.key.name } });
            variables.push(EnvVar { name, value_from: Some(from), ..EnvVar::default() });
        }
    }
    Ok(variables)
}

fn list(kc: &mut Kc<'_>, found: &Found, pattern: &str, resolve: bool) -> Flow<()> {
    for info in &found.infos {
        let mut object = info.object.clone();
        let Ok(spec) = super::read_pod_spec(&mut object) else { continue };
        for container in
            spec.containers.iter().chain(&spec.init_containers).filter(|c| fits(&c.name, pattern))
        {
            let mut text =
                format!("# {} {}, container {}\n", info.key.kind.name(), info.key.name, container.name);
            let mut unresolved: BTreeMap<String, Vec<&str>> = BTreeMap::new();
            for variable in &container.env {
                let Some(from) = &variable.value_from else {
                    text += &format!("{}={}\n", variable.name, variable.value);
                    continue;
                };
                if resolve {
                    match value_of(kc, &info.object, from)? {
                        Ok(value) => {
                            text += &format!("{}={value}\n", variable.name);
                            continue;
                        }
                        Err(why) => unresolved.entry(why).or_default().push(&variable.name),
                    }
                }
                text += &format!("# {} from {}\n", variable.name, reference(from));
            }
            kc.out(text);
            let mut told: Vec<String> = Vec::new();
            for (why, names) in unresolved {
                told.push(format!("error retrieving reference for {}: {why}\n", names.join(", ")));
            }
            told.arrange();
            kc.err(told.concat());
        }
    }
    Ok(())
}

/// What a reference stands for. Upstream: GetEnvVarRefValue.
fn value_of(kc: &mut Kc<'_>, object: &Object, from: &Value) -> Flow<Result<String, String>> {
    let text = |pointer: &str| from.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    if from.get("fieldRef").is_some() {
        return Ok(field(object, &text("/fieldRef/fieldPath")));
    }
    let (kind, part, what) = if from.get("configMapKeyRef").is_some() {
        (Kind::ConfigMap, "configMapKeyRef", "config map")
    } else if from.get("secretKeyRef").is_some() {
        (Kind::Secret, "secretKeyRef", "secret")
    } else {
        return Ok(Err("Kubestep does not do this".to_owned()));
    };
    let (name, key) = (text(&format!("/{part}/name")), text(&format!("/{part}/key")));
    let held = match kc.get(Key::new(kind, kc.namespace.clone(), name.as_str()))? {
        Ok(Object::ConfigMap(map)) => map.data.get(&key).cloned(),
        Ok(Object::Secret(secret)) => secret.data.get(&key).map(|held| base64::text(held)),
        Ok(_) => None,
        Err(status) => return Ok(Err(status.message)),
    };
    Ok(held.ok_or_else(|| format!("key {key} not found in {what} {name}")))
}

/// A field of an object's metadata. Upstream: fieldpath.ExtractFieldPathAsString.
fn field(object: &Object, path: &str) -> Result<String, String> {
    let meta = object.meta();
    Ok(match path {
        "metadata.name" => meta.name.to_string(),
        "metadata.namespace" => meta.namespace.to_string(),
        "metadata.uid" => meta.uid.to_string(),
        "metadata.labels" | "metadata.annotations" => {
            let value = object.to_value();
            let map = value.pointer(&format!("/{}", path.replace('.', "/"))).and_then(Value::as_object);
            let line = |(key, value): (&String, &Value)| {
                format!("{key}={}", quote(value.as_str().unwrap_or_default()))
            };
            map.into_iter().flatten().map(line).collect::<Vec<_>>().join("\n")
        }
        _ => return Err(format!("unsupported fieldPath: {path}")),
    })
}

/// Upstream: GetEnvVarRefString.
fn reference(from: &Value) -> String {
    let text = |pointer: &str| from.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    if from.get("configMapKeyRef").is_some() {
        format!("configmap {}, key {}", text("/configMapKeyRef/name"), text("/configMapKeyRef/key"))
    } else if from.get("secretKeyRef").is_some() {
        format!("secret {}, key {}", text("/secretKeyRef/name"), text("/secretKeyRef/key"))
    } else if from.get("fieldRef").is_some() {
        format!("field path {}", text("/fieldRef/fieldPath"))
    } else if from.get("resourceFieldRef").is_some() {
        let prefix = match text("/resourceFieldRef/containerName") {
            "" => String::new(),
            name => format!("{name}/"),
        };
        format!("resource field {prefix}{}", text("/resourceFieldRef/resource"))
    } else {
        "invalid valueFrom".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_change_as_upstream() {
        let variable =
            |name: &str, value: &str| EnvVar { name: name.into(), value: value.into(), ..EnvVar::default() };
        let changes = parse(&["B=2".into(), "C=3".into(), "A-".into()]).unwrap();
        let have = [variable("A", "1"), variable("B", "1"), variable("D", "4")];
        let want = [variable("B", "2"), variable("D", "4"), variable("C", "3")];
        assert_eq!(updated(&have, &changes), want);
        assert!(parse(&["A=1".into(), "A-".into()]).is_err());
    }
}
