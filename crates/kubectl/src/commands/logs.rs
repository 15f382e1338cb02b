//! `kubectl logs`. Upstream: kubectl/pkg/cmd/logs and polymorphichelpers/logsforobject.go (v1.37).

use super::common::{self, SELECTOR};
use crate::{
    args::{Args, Flag, Takes, flag, short},
    fault::Fault,
    kc::{Flow, Kc},
    pods, resources,
    select::{self, Select},
};
use kubestep_model::{Instant, Key, Kind, Object, Pod, Status, Time};
use std::{sync::Arc, time::Duration};

pub(super) const FLAGS: &[Flag] = &[
    SELECTOR,
    short("container", 'c', Takes::Text),
    short("previous", 'p', Takes::Bool),
    flag("all-containers", Takes::Bool),
    flag("all-pods", Takes::Bool),
    flag("prefix", Takes::Bool),
    flag("tail", Takes::Int),
    flag("ignore-errors", Takes::Bool),
    flag("max-log-requests", Takes::Int),
    flag("pod-running-timeout", Takes::Span),
    short("follow", 'f', Takes::Bool),
    flag("timestamps", Takes::Bool),
    flag("since", Takes::Span),
    flag("since-time", Takes::Text),
    flag("limit-bytes", Takes::Int),
];

const USAGE: &str = "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command";

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let selector = args.text_or_empty("selector");
    let container = match (args.words.as_slice(), selector) {
        ([], "") | ([_, _, _, ..], _) => return Err(kc.usage(&args.path, USAGE)),
        ([_], selector) if !selector.is_empty() => {
            return Err(kc.usage(&args.path, "only a selector (-l) or a POD name is allowed"));
        }
        ([_, _], _) if args.has("container") => {
            return Err(kc.fail("only one of -c or an inline [CONTAINER] arg is allowed"));
        }
        ([_, container], _) => container.clone(),
        _ => args.text_or_empty("container").to_owned(),
    };
    if args.has("since-time") && Time::parse(args.text_or_empty("since-time")).is_none() {
        let text = args.text_or_empty("since-time");
        return Err(kc.fail(format!(
            "parsing time \"{text}\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"{text}\" as \"2006\""
        )));
    }
    let pods = pods_of(kc, args, selector, wrong(args, &container))?;
    let prefix = args.on("prefix") || args.on("all-pods");
    let tail =
        args.int("tail").filter(|t| *t >= 0).or((!selector.is_empty() && !args.has("tail")).then_some(10));
    let mut readers = Vec::new();
    for pod in &pods {
        for container in containers(kc, pod, &container, args.on("all-containers"))? {
            let head =
                if prefix { format!("[pod/{}/{container}] ", pod.metadata.name) } else { String::new() };
            let pod = Key::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
            readers.push(Reader { pod, container, head, shown: 0, ended: false });
        }
    }
    let most = args.int("max-log-requests").unwrap_or(5);
    if args.on("follow") && readers.len() > usize::try_from(most).unwrap_or(usize::MAX) {
        return Err(kc.fail(format!(
            "you are attempting to follow {} log streams, but maximum allowed concurrency is {most}, use --max-log-requests to increase the limit",
            readers.len()
        )));
    }
    for reader in &mut readers {
        first(kc, reader, args, tail)?;
    }
    while args.on("follow") && readers.iter().any(|r| !r.ended) {
        kc.sleep(GLANCE)?;
        for reader in readers.iter_mut().filter(|r| !r.ended) {
            more(kc, reader, args)?;
        }
    }
    Ok(0)
}

/// How often `-f` looks for new lines; upstream's stream brings each at once.
const GLANCE: Duration = Duration::from_secs(1);

/// One container whose lines are shown.
struct Reader {
    pod: Key,
    container: String,
    /// What stands before each line.
    head: String,
    /// How many lines were seen.
    shown: usize,
    /// The container's run is over.
    ended: bool,
}

/// What does not go together. Upstream says so when it has found what is asked about: LogsOptions.Validate.
fn wrong(args: &Args, container: &str) -> Option<String> {
    if args.on("all-containers") && !container.is_empty() {
        return Some(format!(
            "--all-containers=true should not be specified with container name {container}"
        ));
    }
    (args.has("since") && args.has("since-time"))
        .then(|| "at most one of `sinceTime` or `sinceSeconds` may be specified".to_owned())
}

/// The pods whose logs are wanted.
fn pods_of(kc: &mut Kc<'_>, args: &Args, selector: &str, wrong: Option<String>) -> Flow<Vec<Arc<Pod>>> {
    if !selector.is_empty() {
        let select = Select { words: vec!["pods".into()], labels: selector.to_owned(), ..Select::default() };
        let found = select::find(kc, &select)?;
        if let Some(fault) = Fault::all(found.faults) {
            return Err(kc.fault(&fault));
        }
        if let Some(wrong) = wrong {
            return Err(kc.fail(wrong));
        }
        if found.infos.is_empty() {
            kc.err(format!("No resources found in {} namespace.\n", kc.namespace));
        }
        let pod = |info: select::Info| if let Object::Pod(pod) = info.object { Some(pod) } else { None };
        return Ok(found.infos.into_iter().filter_map(pod).collect());
    }
    let word = args.words[0].as_str();
    if word.contains('/') {
        common::or_stop(kc, select::pair(word))?;
    }
    let (kind, name) =
        word.split_once('/').map_or((Ok(Kind::Pod), word), |(k, n)| (resources::resolve(k), n));
    let kind = common::or_stop(kc, kind)?;
    let key = Key::new(kind, if kind.namespaced() { kc.namespace.clone() } else { "".into() }, name);
    let object = match select::get(kc, key)? {
        Ok(object) => object,
        Err(fault) if common::is_not_found(&fault) => {
            return Err(kc.fail(format!(
                "error from server (NotFound): {} in namespace \"{}\"",
                fault.text(),
                kc.namespace
            )));
        }
        Err(fault) => return Err(kc.fault(&fault)),
    };
    if let Some(wrong) = wrong {
        return Err(kc.fail(wrong));
    }
    if let Object::Pod(pod) = object {
        return Ok(vec![pod]);
    }
    let of = pods::of(kc, &object)?;
    let mut all = common::or_stop(
        kc,
        of.map_err(|_| {
            Fault::Text(format!(
                "cannot get the logs from *{}: selector for {} not implemented",
                kind.name(),
                kind.name()
            ))
        }),
    )?;
    if all.is_empty() {
        return Err(kc.fail("timed out waiting for the condition"));
    }
    if !args.on("all-pods") {
        if all.len() > 1 {
            kc.err(format!("Found {} pods, using pod/{}\n", all.len(), all[0].metadata.name));
        }
        all.truncate(1);
    }
    Ok(all)
}

/// The containers of a pod whose logs are wanted.
fn containers(kc: &mut Kc<'_>, pod: &Pod, wanted: &str, all: bool) -> Flow<Vec<String>> {
    if all {
        let names = pod.spec.init_containers.iter().chain(&pod.spec.containers).map(|c| c.name.clone());
        return Ok(names.collect());
    }
    pods::container(kc, pod, wanted).map(|name| vec![name])
}

/// The lines so far, as the flags cut them.
fn first(kc: &mut Kc<'_>, reader: &mut Reader, args: &Args, tail: Option<i64>) -> Flow<()> {
    kc.may(&reader.pod, "get/log")?;
    let lines = match kc.logs(reader.pod.clone(), reader.container.as_str().into(), args.on("previous"))? {
        Ok(lines) => lines,
        Err(why) if args.on("ignore-errors") => {
            kc.out(format!("error: {why}\n"));
            reader.ended = true;
            return Ok(());
        }
        Err(why) => return Err(kc.fault(&Status::bad_request(why).into())),
    };
    reader.shown = lines.len();
    reader.ended = args.on("previous");
    let since = match (args.span("since"), Time::parse(args.text_or_empty("since-time"))) {
        (Some(span), _) => Some(Instant(kc.now().0 - i64::try_from(span.as_nanos()).unwrap_or(i64::MAX / 2))),
        (None, time) => time.map(Time::instant),
    };
    let recent: Vec<&(Instant, String)> =
        lines.iter().filter(|(at, _)| since.is_none_or(|s| *at >= s)).collect();
    let skip = tail.map_or(0, |t| recent.len().saturating_sub(usize::try_from(t).unwrap_or(usize::MAX)));
    let mut text: String = recent[skip..].iter().map(|line| shown(line, reader, args)).collect();
    if let Some(most) = args.int("limit-bytes").and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0) {
        let mut end = most.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    kc.out(text);
    Ok(())
}

/// Lines that came since, and whether the container's run is over.
fn more(kc: &mut Kc<'_>, reader: &mut Reader, args: &Args) -> Flow<()> {
    let over = match kc.get(reader.pod.clone())? {
        Ok(Object::Pod(pod)) => {
            let all = pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
            let mut of = all.filter(|s| *s.name == *reader.container);
            of.next().is_some_and(|s| s.state.terminated.is_some())
        }
        _ => true,
    };
    if let Ok(lines) = kc.logs(reader.pod.clone(), reader.container.as_str().into(), false)? {
        let text: String = lines.iter().skip(reader.shown).map(|line| shown(line, reader, args)).collect();
        reader.shown = lines.len();
        kc.out(text);
    }
    reader.ended = over;
    Ok(())
}

fn shown((at, line): &(Instant, String), reader: &Reader, args: &Args) -> String {
    if !args.on("timestamps") {
        return format!("{}{line}", reader.head);
    }
    let second = at.to_time().to_string();
    let nanos = at.0.rem_euclid(1_000_000_000);
    format!("{}{}.{nanos:09}Z {line}", reader.head, second.trim_end_matches('Z'))
}
