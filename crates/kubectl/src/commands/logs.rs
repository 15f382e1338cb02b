//! `kubectl logs`. Upstream: kubectl/pkg/cmd/logs and polymorphichelpers/logsforobject.go (v1.37).

use super::common::{self, SELECTOR};
use crate::{
    args::{Args, Flag, Takes, flag, not_done, short},
    fault::Fault,
    kc::{Flow, Kc},
    pods, resources,
    select::{self, Select},
};
use kubestep_model::{Key, Kind, Object, Pod, Status};
use std::sync::Arc;

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
    Flag { long: "follow", short: Some('f'), takes: Takes::Bool, done: false },
    not_done("timestamps", Takes::Bool),
    not_done("since", Takes::Span),
    not_done("since-time", Takes::Text),
    not_done("limit-bytes", Takes::Int),
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
    if args.on("all-containers") && !container.is_empty() {
        return Err(
            kc.fail(format!("--all-containers=true should not be specified with container name {container}"))
        );
    }
    let pods = pods_of(kc, args, selector)?;
    let prefix = args.on("prefix") || args.on("all-pods");
    let tail =
        args.int("tail").filter(|t| *t >= 0).or((!selector.is_empty() && !args.has("tail")).then_some(10));
    for pod in &pods {
        for container in containers(kc, pod, &container, args.on("all-containers"))? {
            let head =
                if prefix { format!("[pod/{}/{container}] ", pod.metadata.name) } else { String::new() };
            print(kc, pod, &container, args, tail, &head)?;
        }
    }
    Ok(0)
}

/// The pods whose logs are wanted.
fn pods_of(kc: &mut Kc<'_>, args: &Args, selector: &str) -> Flow<Vec<Arc<Pod>>> {
    if !selector.is_empty() {
        let select = Select { words: vec!["pods".into()], labels: selector.to_owned(), ..Select::default() };
        let found = select::find(kc, &select)?;
        if let Some(fault) = Fault::all(found.faults) {
            return Err(kc.fault(&fault));
        }
        if found.infos.is_empty() {
            kc.err(format!("No resources found in {} namespace.\n", kc.namespace));
        }
        let pod = |info: select::Info| if let Object::Pod(pod) = info.object { Some(pod) } else { None };
        return Ok(found.infos.into_iter().filter_map(pod).collect());
    }
    let word = args.words[0].as_str();
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

fn print(
    kc: &mut Kc<'_>,
    pod: &Pod,
    container: &str,
    args: &Args,
    tail: Option<i64>,
    head: &str,
) -> Flow<()> {
    let key = Key::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
    match kc.logs(key, container.into(), args.on("previous"))? {
        Ok((text, _)) => {
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let skip =
                tail.map_or(0, |t| lines.len().saturating_sub(usize::try_from(t).unwrap_or(usize::MAX)));
            kc.out(lines[skip..].iter().map(|line| format!("{head}{line}")).collect::<String>());
            Ok(())
        }
        Err(why) if args.on("ignore-errors") => {
            kc.out(format!("error: {why}\n"));
            Ok(())
        }
        Err(why) => Err(kc.fault(&Status::bad_request(why).into())),
    }
}
