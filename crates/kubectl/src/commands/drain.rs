//! `kubectl drain`. Upstream: kubectl/pkg/cmd/drain and kubectl/pkg/drain (v1.37).

use super::{
    common::{self, DRY_RUN, DryRun, SELECTOR},
    cordon,
};
use crate::{
    args::{Args, Flag, Takes, flag},
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::{
    DeleteOptions, Instant, Key, Kind, Object, Pod, Reason, Verb,
    text::{FieldSelector, Selector, duration},
};
use std::{sync::Arc, time::Duration};

pub(super) const FLAGS: &[Flag] = &[
    DRY_RUN,
    SELECTOR,
    flag("force", Takes::Bool),
    flag("ignore-daemonsets", Takes::Bool),
    flag("delete-emptydir-data", Takes::Bool),
    flag("grace-period", Takes::Int),
    flag("timeout", Takes::Span),
    flag("pod-selector", Takes::Text),
    flag("disable-eviction", Takes::Bool),
    flag("skip-wait-for-delete-timeout", Takes::Int),
    flag("chunk-size", Takes::Int),
];

/// After an eviction was refused it is tried again.
const RETRY: Duration = Duration::from_secs(5);
/// Pods that are to go are looked at so often.
const POLL: Duration = Duration::from_secs(1);

/// How nodes are drained.
struct How {
    force: bool,
    ignore_daemon_sets: bool,
    delete_empty_dirs: bool,
    grace: Option<i64>,
    timeout: Option<Duration>,
    pods: Option<Selector>,
    evict: bool,
    skip_after: i64,
    dry: DryRun,
}

/// What is done with one pod of a node.
enum Verdict {
    Delete(Option<String>),
    Leave(Option<String>),
    Refuse(String),
}

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let pods = match Selector::parse(args.text_or_empty("pod-selector")) {
        Ok(selector) => Some(selector).filter(|s| !s.is_empty()),
        Err(_) => return Err(kc.fail("--pod-selector=<pod_selector> must be a valid label selector")),
    };
    let how = How {
        force: args.on("force"),
        ignore_daemon_sets: args.on("ignore-daemonsets"),
        delete_empty_dirs: args.on("delete-emptydir-data"),
        grace: args.int("grace-period").filter(|g| *g >= 0),
        timeout: args.span("timeout").filter(|t| !t.is_zero()),
        pods,
        evict: !args.on("disable-eviction"),
        skip_after: args.int("skip-wait-for-delete-timeout").unwrap_or(0),
        dry: DryRun::of(kc, args)?,
    };
    kc.limit = common::chunk_size(args);
    let nodes = cordon::nodes(kc, args, "drain NODE")?;
    if cordon::mark(kc, &nodes, true, how.dry)? != 0 {
        return Ok(1);
    }
    let mut fatal: Vec<String> = Vec::new();
    let mut pending = Vec::new();
    for node in &nodes {
        match drain(kc, &node.key.name, &how)? {
            Ok(()) => common::said(kc, &node.key, "drained", how.dry),
            Err(faults) => {
                let text = together(&faults);
                let name = &node.key.name;
                kc.err(format!(
                    "error: unable to drain node \"{name}\" due to error: {text}, continuing command...\n"
                ));
                pending.push(name.clone());
                fatal.extend(faults);
            }
        }
    }
    if pending.is_empty() {
        return Ok(0);
    }
    kc.err("There are pending nodes to be drained:\n");
    pending.iter().for_each(|name| kc.err(format!(" {name}\n")));
    fatal.iter().for_each(|fault| kc.err(format!("{fault}\n")));
    Ok(1)
}

/// Several faults in one text, as Go's aggregate prints them.
fn together(faults: &[String]) -> String {
    match faults {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

fn drain(kc: &mut Kc<'_>, node: &str, how: &How) -> Flow<Result<(), Vec<String>>> {
    let (pods, warnings) = match pods_of(kc, node, how)? {
        Ok(found) => found,
        Err(faults) => return Ok(Err(faults)),
    };
    if !warnings.is_empty() {
        kc.err(format!("Warning: {}\n", warnings.join("; ")));
    }
    if how.dry == DryRun::Client {
        for pod in &pods {
            kc.out(format!("evicting pod {}/{} (dry run)\n", pod.metadata.namespace, pod.metadata.name));
        }
        return Ok(Ok(()));
    }
    let faults = if how.evict { evict(kc, &pods, how)? } else { delete(kc, &pods, how)? };
    if faults.is_empty() {
        return Ok(Ok(()));
    }
    match pods_of(kc, node, how)? {
        Ok((left, _)) if !left.is_empty() => {
            let text = together(&faults);
            kc.err(format!("There are pending pods in node \"{node}\" when an error occurred: {text}\n"));
            left.iter().for_each(|pod| kc.err(format!("pod/{}\n", pod.metadata.name)));
        }
        Ok(_) => {}
        Err(more) => kc.err(format!(
            "Following errors occurred while getting the list of pods to delete:\n{}",
            together(&more)
        )),
    }
    Ok(Err(faults))
}

type Pods = (Vec<Arc<Pod>>, Vec<String>);

/// The pods of a node that are to go, with warnings; or why it must not be drained. Upstream: GetPodsForDeletion.
fn pods_of(kc: &mut Kc<'_>, node: &str, how: &How) -> Flow<Result<Pods, Vec<String>>> {
    let fields = FieldSelector::parse(&format!("spec.nodeName={node}")).ok();
    let items = match kc.list(Kind::Pod, None, how.pods.clone(), fields)? {
        Ok((items, _)) => items,
        Err(status) => return Ok(Err(vec![status.message])),
    };
    let (mut pods, mut warnings, mut refusals) = (Vec::new(), Vec::new(), Vec::new());
    for pod in items.into_iter().filter_map(|o| if let Object::Pod(p) = o { Some(p) } else { None }) {
        let name = format!("{}/{}", pod.metadata.namespace, pod.metadata.name);
        let (goes, warning) = match judge(kc, &pod, how)? {
            Verdict::Delete(warning) => (true, warning),
            Verdict::Leave(warning) => (false, warning),
            Verdict::Refuse(why) => {
                gather(&mut refusals, why, name);
                continue;
            }
        };
        if let Some(warning) = warning {
            gather(&mut warnings, warning, name);
        }
        if goes {
            pods.push(pod);
        }
    }
    let show = |(text, names): (String, Vec<String>)| format!("{text}: {}", names.join(", "));
    if refusals.is_empty() {
        Ok(Ok((pods, warnings.into_iter().map(show).collect())))
    } else {
        Ok(Err(refusals.into_iter().map(|r| format!("cannot delete {}", show(r))).collect()))
    }
}

fn gather(all: &mut Vec<(String, Vec<String>)>, text: String, name: String) {
    match all.iter_mut().find(|(there, _)| *there == text) {
        Some((_, names)) => names.push(name),
        None => all.push((text, vec![name])),
    }
}

/// Whether a pod is too long on its way out to be waited for.
fn skips(kc: &Kc<'_>, pod: &Pod, how: &How) -> bool {
    let since = pod.metadata.deletion_timestamp.filter(|_| how.skip_after > 0);
    since.is_some_and(|t| kc.now().nanos_since(t.instant()) / 1_000_000_000 > how.skip_after)
}

/// Upstream: the filters of drain, in their order; the last one that speaks is heard.
fn judge(kc: &mut Kc<'_>, pod: &Pod, how: &How) -> Flow<Verdict> {
    if skips(kc, pod, how) {
        return Ok(Verdict::Leave(None));
    }
    let ended = matches!(pod.status.phase.as_str(), "Succeeded" | "Failed");
    let owner = pod.metadata.controller();
    let daemon = owner.filter(|o| o.kind == "DaemonSet" && o.api_version == "apps/v1");
    if let Some(owner) = daemon.filter(|_| !ended) {
        let set = Key::new(Kind::other("apps", "DaemonSet"), pod.metadata.namespace.clone(), &*owner.name);
        match kc.get(set)? {
            Err(status) if status.is_not_found() && how.force => {}
            Err(status) => return Ok(Verdict::Refuse(status.message)),
            Ok(_) if how.ignore_daemon_sets => {
                return Ok(Verdict::Leave(Some("ignoring DaemonSet-managed Pods".into())));
            }
            Ok(_) => {
                let text = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)";
                return Ok(Verdict::Refuse(text.into()));
            }
        }
    }
    if pod.metadata.annotations.contains_key("kubernetes.io/config.mirror") {
        return Ok(Verdict::Leave(None));
    }
    let local = pod.spec.volumes.iter().any(|v| v.rest.contains_key("emptyDir"));
    if local && !ended && !how.delete_empty_dirs {
        let text = "Pods with local storage (use --delete-emptydir-data to override)";
        return Ok(Verdict::Refuse(text.into()));
    }
    Ok(if ended || owner.is_some() {
        Verdict::Delete(None)
    } else if how.force {
        Verdict::Delete(Some("deleting Pods that declare no controller".into()))
    } else {
        Verdict::Refuse("Pods that declare no controller (use --force to override)".into())
    })
}

fn options(how: &How) -> DeleteOptions {
    DeleteOptions { grace_period_seconds: how.grace, ..DeleteOptions::default() }
}

fn key(pod: &Pod) -> Key {
    Key::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone())
}

/// One pod's eviction; upstream runs one thread for each.
struct Task {
    pod: Arc<Pod>,
    due: Instant,
    evicted: bool,
    done: bool,
}

/// Evicts pods, each as its budget allows, and waits until they are gone. Upstream: evictPods.
fn evict(kc: &mut Kc<'_>, pods: &[Arc<Pod>], how: &How) -> Flow<Vec<String>> {
    let end = how.timeout.map(|t| kc.now() + t);
    let now = kc.now();
    let task = |pod: &Arc<Pod>| Task { pod: pod.clone(), due: now, evicted: false, done: false };
    let mut tasks: Vec<Task> = pods.iter().map(task).collect();
    let mut faults = Vec::new();
    while let Some(at) = (0..tasks.len()).filter(|at| !tasks[*at].done).min_by_key(|at| (tasks[*at].due, *at))
    {
        let early = tasks[at].due.since(kc.now());
        if !early.is_zero() {
            kc.sleep(early)?;
        }
        let over = end.is_some_and(|end| kc.now() >= end);
        let fault = if tasks[at].evicted {
            look(kc, &mut tasks[at], how, over)?
        } else {
            try_evict(kc, &mut tasks[at], how, over)?
        };
        faults.extend(fault);
    }
    Ok(faults)
}

fn try_evict(kc: &mut Kc<'_>, task: &mut Task, how: &How, over: bool) -> Flow<Option<String>> {
    let (name, namespace) = (task.pod.metadata.name.clone(), task.pod.metadata.namespace.clone());
    kc.out(format!("evicting pod {namespace}/{name}{}\n", how.dry.suffix()));
    let about = format!("error when evicting pods/\"{name}\" -n \"{namespace}\"");
    if over {
        task.done = true;
        let limit = how.timeout.map(|t| i64::try_from(t.as_nanos()).unwrap_or(i64::MAX)).unwrap_or(i64::MAX);
        return Ok(Some(format!("{about}: global timeout reached: {}", duration::go_string(limit))));
    }
    let verb = Verb::Evict { pod: key(&task.pod), options: options(how) };
    match kc.ask(how.dry.request(verb))? {
        Ok(_) => {
            task.evicted = true;
            task.done = how.dry == DryRun::Server;
            task.due = kc.now();
            return Ok(None);
        }
        Err(status) if status.is_not_found() => {
            task.done = true;
            return Ok(None);
        }
        Err(status) if status.reason == Reason::TooManyRequests => {
            kc.err(format!("{about} (will retry after 5s): {}\n", status.message));
            task.due = kc.now() + RETRY;
        }
        Err(status) => {
            task.done = true;
            return Ok(Some(format!("{about}: {}", status.message)));
        }
    }
    Ok(None)
}

/// Looks whether an evicted pod is gone.
fn look(kc: &mut Kc<'_>, task: &mut Task, how: &How, over: bool) -> Flow<Option<String>> {
    let (name, namespace) = (task.pod.metadata.name.clone(), task.pod.metadata.namespace.clone());
    if over {
        task.done = true;
        return Ok(Some(format!(
            "error when waiting for pod \"{name}\" in namespace \"{namespace}\" to terminate: context deadline exceeded"
        )));
    }
    match gone(kc, &task.pod, "evicted", how)? {
        Ok(true) => task.done = true,
        Ok(false) => task.due = kc.now() + POLL,
        Err(fault) => {
            task.done = true;
            return Ok(Some(format!(
                "error when waiting for pod \"{name}\" in namespace \"{namespace}\" to terminate: {fault}"
            )));
        }
    }
    Ok(None)
}

/// Whether a pod is gone, or another has its name; says so.
fn gone(kc: &mut Kc<'_>, pod: &Pod, done: &str, how: &How) -> Flow<Result<bool, String>> {
    match kc.get(key(pod))? {
        Ok(there) if there.meta().uid == pod.metadata.uid => {
            if there.get::<Pod>().is_some_and(|there| skips(kc, there, how)) {
                kc.out(format!(
                    "pod \"{}\" has DeletionTimestamp older than {} seconds, skipping\n",
                    pod.metadata.name, how.skip_after
                ));
                return Ok(Ok(true));
            }
            Ok(Ok(false))
        }
        Err(status) if !status.is_not_found() => {
            common::said(
                kc,
                &key(pod),
                &format!("{} failed", if done == "evicted" { "eviction" } else { "deletion" }),
                how.dry,
            );
            Ok(Err(status.message))
        }
        _ => {
            common::said(kc, &key(pod), done, how.dry);
            Ok(Ok(true))
        }
    }
}

/// Deletes pods, whatever their budgets say. Upstream: deletePods.
fn delete(kc: &mut Kc<'_>, pods: &[Arc<Pod>], how: &How) -> Flow<Vec<String>> {
    for pod in pods {
        let verb = Verb::Delete { key: key(pod), options: options(how) };
        if let Err(status) = kc.ask(how.dry.request(verb))?
            && !status.is_not_found()
        {
            return Ok(vec![Fault::from(status).text()]);
        }
    }
    if how.dry == DryRun::Server {
        return Ok(vec![]);
    }
    let end = how.timeout.map(|t| kc.now() + t);
    let mut left: Vec<Arc<Pod>> = pods.to_vec();
    loop {
        let mut still = Vec::new();
        for pod in left {
            match gone(kc, &pod, "deleted", how)? {
                Ok(true) => {}
                Ok(false) => still.push(pod),
                Err(fault) => return Ok(vec![fault]),
            }
        }
        if still.is_empty() {
            return Ok(vec![]);
        }
        if end.is_some_and(|end| kc.now() + POLL > end) {
            return Ok(vec!["context deadline exceeded".into()]);
        }
        kc.sleep(POLL)?;
        left = still;
    }
}
