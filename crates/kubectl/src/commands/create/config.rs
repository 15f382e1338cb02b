//! `kubectl create configmap` and `kubectl create secret`. Upstream: kubectl/pkg/cmd/create (v1.37).

use super::make::{created, flags, name};
use crate::{
    args::{Args, Flag, Takes, flag},
    base64,
    fault::Fault,
    kc::{Flow, Kc},
    kustomize::hash::suffix,
};
use kubestep_model::{Kind, text::names};
use serde_json::{Map, Value, json};

pub(super) const CONFIG_MAP: &[Flag] = flags![
    flag("from-file", Takes::List),
    flag("from-literal", Takes::Each),
    flag("from-env-file", Takes::List),
    flag("append-hash", Takes::Bool),
];

/// Keys and their texts, in the words of one kind.
struct Data {
    entries: Map<String, Value>,
    secret: bool,
    name: String,
}

impl Data {
    fn add(&mut self, key: &str, text: &str) -> Result<(), String> {
        let wrong = names::is_config_map_key(key).join(";");
        if !wrong.is_empty() {
            let quoted = kubestep_model::text::go::quote(key);
            return Err(if self.secret {
                format!("{quoted} is not valid key name for a Secret {wrong}")
            } else {
                let wrong = names::is_config_map_key(key).join(",");
                format!("{quoted} is not a valid key name for a ConfigMap: {wrong}")
            });
        }
        if self.entries.contains_key(key) {
            return Err(if self.secret {
                format!("cannot add key {key}, another key by that name already exists")
            } else {
                format!(
                    "cannot add key \"{key}\", another key by that name already exists in Data for ConfigMap \"{}\"",
                    self.name
                )
            });
        }
        let value = if self.secret { base64::encode(text.as_bytes()) } else { text.to_owned() };
        self.entries.insert(key.to_owned(), json!(value));
        Ok(())
    }

    /// `KEY=VALUE`.
    fn literal(&mut self, source: &str) -> Result<(), String> {
        match source.split_once('=') {
            Some((key, value)) if !key.is_empty() => self.add(key, value),
            _ => Err(format!("invalid literal source {source}, expected key=value")),
        }
    }

    /// `FILE`, `KEY=FILE` or a folder. Upstream: util.ParseFileSource.
    fn file(&mut self, kc: &Kc<'_>, source: &str) -> Result<(), String> {
        let (key, path) = match (source.matches('=').count(), source.split_once('=')) {
            (0, _) | (_, None) => (source.trim_end_matches('/').rsplit('/').next().unwrap_or(source), source),
            (1, Some(("", path))) => return Err(format!("key name for file path {path} missing")),
            (1, Some((key, ""))) => return Err(format!("file path for key name {key} missing")),
            (1, Some(pair)) => pair,
            _ => return Err("key names or file paths cannot contain '='".into()),
        };
        if let Some(text) = kc.file(path) {
            return self.add(key, text);
        }
        let bare = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
        let prefix = if matches!(bare, "" | ".") { String::new() } else { format!("{bare}/") };
        let inside: Vec<(&str, &str)> = kc
            .files()
            .filter_map(|(name, text)| name.strip_prefix(prefix.as_str()).map(|rest| (rest, text)))
            .collect();
        if inside.is_empty() {
            return Err(format!("error reading {path}: no such file or directory"));
        }
        if source.contains('=') {
            return Err("cannot give a key name for a directory path".into());
        }
        inside
            .into_iter()
            .filter(|(name, _)| !name.contains('/'))
            .try_for_each(|(name, text)| self.add(name, text))
    }

    /// A file of `KEY=VALUE` lines. There is no environment here, so a line without a value has an empty one.
    fn env_file(&mut self, kc: &Kc<'_>, path: &str) -> Result<(), String> {
        let Some(text) = kc.file(path) else {
            return Err(format!("error reading {path}: no such file or directory"));
        };
        for (at, line) in text.lines().enumerate() {
            let line = if at == 0 { line.trim_start_matches('\u{feff}') } else { line }.trim_start();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            let wrong = names::is_env_var_name(key);
            if !wrong.is_empty() {
                let quoted = kubestep_model::text::go::quote(key);
                return Err(format!("{quoted} is not a valid key name: {}", wrong.join(";")));
            }
            self.add(key, value)?;
        }
        Ok(())
    }
}

fn read(kc: &mut Kc<'_>, args: &Args, name: &str, secret: bool) -> Flow<Map<String, Value>> {
    let (files, literals) = (args.all("from-file"), args.all("from-literal"));
    let env = args.all("from-env-file");
    if !env.is_empty() && (!files.is_empty() || !literals.is_empty()) {
        return Err(kc.fail("from-env-file cannot be combined with from-file or from-literal"));
    }
    let mut data = Data { entries: Map::new(), secret, name: name.to_owned() };
    // Files come first for a ConfigMap, literals for a Secret.
    let mut all = || {
        if secret {
            literals.iter().try_for_each(|l| data.literal(l))?;
        }
        files.iter().try_for_each(|f| data.file(kc, f))?;
        if !secret {
            literals.iter().try_for_each(|l| data.literal(l))?;
        }
        env.iter().try_for_each(|f| data.env_file(kc, f))
    };
    let done: Result<(), String> = all();
    match done {
        Ok(()) => Ok(data.entries),
        Err(why) => Err(kc.fault(&Fault::Text(why))),
    }
}

pub(super) fn config_map(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let name = name(kc, args)?;
    let data = read(kc, args, &name, false)?;
    let mut value = json!({ "metadata": { "name": name }, "data": data });
    if args.on("append-hash") {
        hashed(&mut value, Kind::ConfigMap, &name);
    }
    created(kc, args, Kind::ConfigMap, value, "failed to create configmap: ")
}

/// `--append-hash`: the name ends in a hash of what it names.
fn hashed(value: &mut Value, kind: Kind, name: &str) {
    let mut whole = value.clone();
    whole["kind"] = json!(kind.name());
    value["metadata"]["name"] = json!(format!("{name}-{}", suffix(&whole, name)));
}

fn secret(kc: &mut Kc<'_>, args: &Args, name: &str, kind: &str, data: Map<String, Value>) -> Flow<i32> {
    let mut value = json!({ "metadata": { "name": name }, "type": kind, "data": data });
    if args.on("append-hash") {
        hashed(&mut value, Kind::Secret, name);
    }
    created(kc, args, Kind::Secret, value, "failed to create secret ")
}

pub(super) const GENERIC: &[Flag] = flags![
    flag("from-file", Takes::List),
    flag("from-literal", Takes::Each),
    flag("from-env-file", Takes::List),
    flag("type", Takes::Text),
    flag("append-hash", Takes::Bool),
];

pub(super) fn generic(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let name = name(kc, args)?;
    let data = read(kc, args, &name, true)?;
    secret(kc, args, &name, args.text_or_empty("type"), data)
}

pub(super) const DOCKER: &[Flag] = flags![
    flag("docker-username", Takes::Text),
    flag("docker-password", Takes::Text),
    flag("docker-email", Takes::Text),
    flag("docker-server", Takes::Text),
    flag("from-file", Takes::List),
    flag("append-hash", Takes::Bool),
];

const DOCKER_KEY: &str = ".dockerconfigjson";

pub(super) fn docker(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let name = name(kc, args)?;
    let (user, password) = (args.text_or_empty("docker-username"), args.text_or_empty("docker-password"));
    let server = args.text("docker-server").unwrap_or("https://index.docker.io/v1/");
    let mut data = Data { entries: Map::new(), secret: true, name: name.clone() };
    if args.all("from-file").is_empty() {
        if user.is_empty() || password.is_empty() || server.is_empty() {
            return Err(kc.fail("either --from-file or the combination of --docker-username, --docker-password and --docker-server is required"));
        }
        let text = |value: &str| kubestep_model::yaml::json::encode(&json!(value));
        let email = match args.text_or_empty("docker-email") {
            "" => String::new(),
            email => format!(",\"email\":{}", text(email)),
        };
        let auth = base64::encode(format!("{user}:{password}").as_bytes());
        let config = format!(
            "{{\"auths\":{{{}:{{\"username\":{},\"password\":{}{email},\"auth\":{}}}}}}}",
            text(server),
            text(user),
            text(password),
            text(&auth)
        );
        data.entries.insert(DOCKER_KEY.to_owned(), json!(base64::encode(config.as_bytes())));
    }
    for source in args.all("from-file") {
        let source = if source.contains('=') { source.clone() } else { format!("{DOCKER_KEY}={source}") };
        if let Err(why) = data.file(kc, &source) {
            return Err(kc.fail(why));
        }
    }
    secret(kc, args, &name, "kubernetes.io/dockerconfigjson", data.entries)
}

pub(super) const TLS: &[Flag] =
    flags![flag("cert", Takes::Text), flag("key", Takes::Text), flag("append-hash", Takes::Bool)];

/// Whether key and certificate belong together is not looked at.
pub(super) fn tls(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let name = name(kc, args)?;
    let (cert, key) = (args.text_or_empty("cert"), args.text_or_empty("key"));
    if cert.is_empty() || key.is_empty() {
        return Err(kc.fail("key and cert must be specified"));
    }
    let mut data = Map::new();
    for (field, path, what) in [("tls.crt", cert, "certificate"), ("tls.key", key, "key")] {
        let Some(text) = kc.file(path) else {
            return Err(kc.fail(format!("Cannot read file {path}, open {path}: no such file or directory")));
        };
        if !text.contains("-----BEGIN ") {
            return Err(kc.fail(format!("tls: failed to find any PEM data in {what} input")));
        }
        data.insert(field.to_owned(), json!(base64::encode(text.as_bytes())));
    }
    secret(kc, args, &name, "kubernetes.io/tls", data)
}
