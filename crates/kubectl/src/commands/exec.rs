//! `kubectl exec`.

use super::common::{self, FILENAME};
use crate::{
    args::{Args, Flag, Takes, flag, short},
    fault::Fault,
    kc::{Flow, Kc, Stop},
    pods, resources, select,
};
use kubestep_model::{Key, Kind, Object};

pub(super) const FLAGS: &[Flag] = &[
    Flag { done: false, ..FILENAME },
    short("container", 'c', Takes::Text),
    short("stdin", 'i', Takes::Bool),
    short("tty", 't', Takes::Bool),
    short("quiet", 'q', Takes::Bool),
    flag("pod-running-timeout", Takes::Span),
];

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let before = args.before_dash.unwrap_or(args.words.len());
    let (names, command) = args.words.split_at(before);
    let Some(name) = names.first() else {
        return Err(kc.fail("pod, type/name or --filename must be specified"));
    };
    if names.len() > 1 {
        let text = "exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead";
        return Err(kc.usage(&args.path, text));
    }
    if command.is_empty() {
        return Err(kc.fail("you must specify at least one command for the container"));
    }
    let (kind, name) =
        name.split_once('/').map_or((Ok(Kind::Pod), name.as_str()), |(k, n)| (resources::resolve(k), n));
    let kind = common::or_stop(kc, kind)?;
    let key = Key::new(kind, if kind.namespaced() { kc.namespace.clone() } else { "".into() }, name);
    let got = select::get(kc, key)?;
    let object = common::or_stop(kc, got)?;
    let pod = match object {
        Object::Pod(pod) => pod,
        other => {
            let of = pods::of(kc, &other)?;
            let all = common::or_stop(
                kc,
                of.map_err(|_| {
                    Fault::Text(format!(
                        "cannot attach to *{}: selector for {} not implemented",
                        kind.name(),
                        kind.name()
                    ))
                }),
            )?;
            match all.into_iter().next() {
                Some(pod) => pod,
                None => return Err(kc.fail("timed out waiting for the condition")),
            }
        }
    };
    if pod.is_terminal() {
        let phase = &pod.status.phase;
        return Err(
            kc.fail(format!("cannot exec into a container in a completed pod; current phase is {phase}"))
        );
    }
    let container = pods::container(kc, &pod, args.text_or_empty("container"))?;
    let key = Key::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
    kc.may(&key, "create/exec")?;
    match kc.exec(key, container.into(), command.to_vec())? {
        Ok((text, code)) => {
            // As a shell: what cannot be run is no output.
            if matches!(code, 126 | 127) {
                kc.err(text)
            } else {
                kc.out(text)
            }
            if code != 0 {
                kc.err(format!("command terminated with exit code {code}\n"));
                return Err(Stop::Exit(code));
            }
            Ok(0)
        }
        Err(why) => Err(kc.fail(why)),
    }
}
