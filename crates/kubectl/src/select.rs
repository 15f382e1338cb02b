//! Which objects a command is about: from arguments, selectors and files to objects.
//! Upstream: cli-runtime/pkg/resource, Builder (v1.37).

use crate::{
    args::{Args, KUSTOMIZE},
    fault::Fault,
    kc::{Flow, Kc},
    manifest, resources,
};
use kubestep_model::{
    Key, Kind, Object, Reason, Revision, Status, Verb,
    text::{FieldSelector, Selector, go::quote},
};
use std::sync::Arc;

/// One object that a command is about.
#[derive(Clone, Debug)]
pub struct Info {
    /// Its key.
    pub key: Key,
    /// As the API server has it.
    pub object: Object,
    /// The file that named it, if one did.
    pub source: String,
}

/// How to look for objects.
#[derive(Clone, Debug, Default)]
pub struct Select {
    /// `TYPE NAME…`, `TYPE/NAME…`, `TYPE,TYPE`.
    pub words: Vec<String>,
    /// `-f`.
    pub files: Vec<String>,
    /// `-R`.
    pub recursive: bool,
    /// `-l`.
    pub labels: String,
    /// `--field-selector`.
    pub fields: String,
    /// `--all`.
    pub all: bool,
    /// `-A`.
    pub all_namespaces: bool,
    /// Whether a type without a name stands for all of that type.
    pub types_alone: bool,
    /// Whether types and names may be of one kind only.
    pub one_kind: bool,
}

impl Select {
    /// What the common flags of a command say, for the words after its own arguments.
    pub fn from(args: &Args, words: &[String]) -> Select {
        Select {
            words: words.to_vec(),
            files: args.all("filename").to_vec(),
            recursive: args.on("recursive"),
            labels: args.text_or_empty("selector").trim().to_owned(),
            fields: args.text_or_empty("field-selector").trim().to_owned(),
            all: args.on("all"),
            all_namespaces: args.on("all-namespaces"),
            ..Select::default()
        }
    }
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The objects, in the order in which they were named or listed.
    pub infos: Vec<Info>,
    /// What could not be read.
    pub faults: Vec<Fault>,
    /// Whether exactly one object was asked for.
    pub single: bool,
    /// The kinds that were listed, with the list's revision.
    pub lists: Vec<(Kind, Revision)>,
}

/// What a line names, before anything is read.
#[derive(Debug)]
pub enum Named {
    /// Objects, each by its name.
    Keys(Vec<Key>),
    /// All of some kinds, or those that a selector picks.
    Kinds(Vec<Kind>),
}

/// Looks for objects. A mistake in what was asked ends the command; what is missing is in `faults`.
pub fn find(kc: &mut Kc<'_>, select: &Select) -> Flow<Found> {
    if !select.files.is_empty() {
        return from_files(kc, select);
    }
    match named(kc, select)? {
        Err(fault) => Err(kc.fault(&fault)),
        Ok(Named::Keys(keys)) => by_name(kc, keys),
        Ok(Named::Kinds(kinds)) => by_kind(kc, select, &kinds),
    }
}

fn fault(text: impl Into<String>) -> Fault {
    Fault::Text(text.into())
}

/// What the words of a command name.
pub fn named(kc: &mut Kc<'_>, select: &Select) -> Flow<Result<Named, Fault>> {
    let mut looked = look(kc, select);
    if looked.is_err() || select.words.first().is_some_and(|w| w.split(',').any(|w| w == "all")) {
        // Perhaps somebody defined it.
        kc.definitions()?;
        looked = look(kc, select);
    }
    // The one short name that two groups share. Upstream: client-go/restmapper, shortcutExpander.
    let short = |word: &String| word.split(',').any(|w| w == "ev" || w.starts_with("ev/"));
    if looked.is_ok() && select.words.iter().take(1).any(short) {
        kc.warn("short name \"ev\" could also match lower priority resource events.events.k8s.io");
    }
    Ok(looked)
}

fn look(kc: &Kc<'_>, select: &Select) -> Result<Named, Fault> {
    let words = normalise(&select.words);
    let slashes = words.iter().filter(|w| w.contains('/')).count();
    let selecting = !select.labels.is_empty() || !select.fields.is_empty() || select.all;
    if slashes > 0 {
        if slashes != words.len() {
            return Err(fault(
                "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'",
            ));
        }
        let pairs: Vec<(&str, &str)> = words.iter().map(|w| pair(w)).collect::<Result<_, _>>()?;
        if selecting {
            return Err(fault(
                "selectors and the all flag cannot be used when passing resource/name arguments",
            ));
        }
        return keys(kc, select, &pairs);
    }
    let Some((first, names)) = words.split_first() else {
        return Err(fault(if selecting {
            "at least one resource must be specified to use a selector"
        } else {
            "You must provide one or more resources by argument or filename.\nExample resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'"
        }));
    };
    if !names.is_empty() && selecting {
        return Err(fault("name cannot be provided when a selector is specified"));
    }
    let expanded = resources::expand_defined(first, kc.known_definitions());
    let types: Vec<&str> = each_once(&expanded);
    if names.is_empty() {
        let mut kinds: Vec<Kind> = Vec::new();
        for kind in types.iter().map(|t| resources::resolve_defined(t, kc.known_definitions())) {
            let kind = kind?;
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if !selecting && !select.types_alone {
            return Err(fault("resource(s) were provided, but no name was specified"));
        }
        if select.one_kind && kinds.len() > 1 {
            return Err(fault("you may only specify a single resource type"));
        }
        return Ok(Named::Kinds(kinds));
    }
    let [one] = types.as_slice() else { return Err(fault("you must specify only one resource")) };
    let pairs: Vec<(&str, &str)> = names.iter().map(|name| (*one, name.as_str())).collect();
    keys(kc, select, &pairs)
}

/// `a,b c d` as `a/c a/d b/c b/d`.
fn normalise(words: &[String]) -> Vec<String> {
    match words.split_first() {
        Some((first, names)) if !names.is_empty() && each_once(first).len() > 1 => {
            let types = each_once(first).into_iter();
            types.flat_map(|t| names.iter().map(move |n| format!("{t}/{n}"))).collect()
        }
        _ => words.to_vec(),
    }
}

/// The parts of a list, an empty one too, each once. Upstream: SplitResourceArgument.
fn each_once(list: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for part in list.split(',') {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

pub(crate) fn pair(word: &str) -> Result<(&str, &str), Fault> {
    let (kind, name) = word.split_once('/').unwrap_or((word, ""));
    if name.contains('/') {
        return Err(fault("arguments in resource/name form may not have more than one slash"));
    }
    if kind.is_empty() || name.is_empty() || kind.contains(',') {
        return Err(fault("arguments in resource/name form must have a single resource and name"));
    }
    Ok((kind, name))
}

fn keys(kc: &Kc<'_>, select: &Select, pairs: &[(&str, &str)]) -> Result<Named, Fault> {
    let mut keys: Vec<Key> = Vec::new();
    for (word, name) in pairs {
        let kind = resources::resolve_defined(word, kc.known_definitions())?;
        if kind.namespaced() && select.all_namespaces {
            return Err(fault("a resource cannot be retrieved by name across all namespaces"));
        }
        if select.one_kind && keys.first().is_some_and(|k| k.kind != kind) {
            return Err(fault("you may only specify a single resource type"));
        }
        let namespace: Arc<str> = if kind.namespaced() { kc.namespace.clone() } else { "".into() };
        keys.push(Key::new(kind, namespace, *name));
    }
    Ok(Named::Keys(keys))
}

fn by_name(kc: &mut Kc<'_>, keys: Vec<Key>) -> Flow<Found> {
    let mut found = Found { single: keys.len() == 1, ..Found::default() };
    for key in keys {
        match get(kc, key.clone())? {
            Ok(object) => found.infos.push(Info { key, object, source: String::new() }),
            Err(fault) => found.faults.push(fault),
        }
    }
    Ok(found)
}

/// Reads one object; where it is missing because its namespace is, that is said. Upstream: Info.Get.
pub fn get(kc: &mut Kc<'_>, key: Key) -> Flow<Result<Object, Fault>> {
    let status = match kc.get(key.clone())? {
        Ok(object) => return Ok(Ok(object)),
        Err(status) => status,
    };
    if status.is_not_found() && !matches!(&*key.namespace, "" | "default") {
        let namespace = Key::new(Kind::Namespace, "", key.namespace.clone());
        if let Err(missing) = kc.get(namespace)?
            && missing.is_not_found()
        {
            return Ok(Err(missing.into()));
        }
    }
    Ok(Err(status.into()))
}

/// Lists kinds, by the selectors.
pub fn by_kind(kc: &mut Kc<'_>, select: &Select, kinds: &[Kind]) -> Flow<Found> {
    let labels = Selector::parse(&select.labels).map(|l| Some(l).filter(|l| !l.is_empty()));
    let fields = FieldSelector::parse(&select.fields).map(|f| Some(f).filter(|f| !f.is_empty()));
    let mut found = Found::default();
    for &kind in kinds {
        let everywhere = select.all_namespaces || !kind.namespaced();
        let namespace = (!everywhere).then(|| kc.namespace.clone());
        let (items, end) = match (&labels, &fields) {
            (Ok(labels), Ok(fields)) => {
                let (labels, fields) = (labels.clone(), fields.clone());
                kc.chunks(Verb::List { kind, namespace, labels, fields })?
            }
            // What is no selector is refused by the API server.
            (Err(why), _) | (_, Err(why)) => (vec![], Err(Status::bad_request(why.clone()))),
        };
        let info = |object: Object| Info { key: object.key(), object, source: String::new() };
        found.infos.extend(items.into_iter().map(info));
        match end {
            Ok(revision) => found.lists.push((kind, revision)),
            Err(status) => found.faults.push(not_listed(status, kind, select).into()),
        }
    }
    Ok(found)
}

/// A refusal to list, with what was to be listed. Upstream: cli-runtime/pkg/resource, EnhanceListError.
fn not_listed(mut status: Status, kind: Kind, select: &Select) -> Status {
    if matches!(status.reason, Reason::BadRequest | Reason::NotFound) {
        let version =
            if kind.group().is_empty() { format!("/{}", kind.version()) } else { kind.api_version() };
        let subject = quote(&format!("{version}, Resource={}", kind.resource()));
        status.message = if select.labels.is_empty() && select.fields.is_empty() {
            format!("Unable to list {subject}: {}", status.message)
        } else {
            let (labels, fields) = (quote(&select.labels), quote(&select.fields));
            let by = format!("label selector {labels}, field selector {fields}");
            format!("Unable to find {subject} that match {by}: {}", status.message)
        };
    }
    status
}

/// Files and words do not go together; what is no file at all is told before that.
pub(crate) fn no_words(kc: &mut Kc<'_>, select: &Select) -> Flow<()> {
    if select.words.is_empty() {
        return Ok(());
    }
    let files: Vec<String> = select.files.iter().filter(|f| !f.starts_with(KUSTOMIZE)).cloned().collect();
    let how = manifest::Reading { files, recursive: select.recursive, validate: false };
    let stops = manifest::read(kc, &how)?.stops;
    if let Some(fault) = Fault::all(stops) {
        return Err(kc.fault(&fault));
    }
    Err(kc.fail(if select.words.iter().any(|w| w.contains('/')) {
        "resource/name arguments cannot be provided when a path is specified"
    } else {
        "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
    }))
}

fn from_files(kc: &mut Kc<'_>, select: &Select) -> Flow<Found> {
    no_words(kc, select)?;
    let how = manifest::Reading { files: select.files.clone(), recursive: select.recursive, validate: false };
    let read = manifest::read(kc, &how)?;
    if let Some(fault) = Fault::all(read.stops) {
        return Err(kc.fault(&fault));
    }
    let mut found = Found { single: read.single, ..Found::default() };
    for item in read.items {
        let manifest = match item {
            Ok(manifest) => manifest,
            Err(fault) => {
                found.faults.push(fault);
                continue;
            }
        };
        let key = manifest.key();
        match get(kc, key.clone())? {
            Ok(object) => found.infos.push(Info { key, object, source: manifest.source }),
            Err(fault) => found.faults.push(fault),
        }
    }
    Ok(found)
}
