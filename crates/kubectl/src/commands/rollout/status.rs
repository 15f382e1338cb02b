//! `kubectl rollout status`: says where a rollout stands until it is done.

use super::find;
use crate::{
    args::{Args, Flag, Takes, flag, short},
    commands::common::{self, FILENAME, KUSTOMIZE, RECURSIVE, SELECTOR},
    fault::Fault,
    kc::{Flow, Kc},
    select::Info,
    workloads,
};
use kubestep_model::{DaemonSet, Deployment, Instant, Object, StatefulSet, Whole, client::WatchEvent};
use std::time::Duration;

pub(in crate::commands) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    SELECTOR,
    short("watch", 'w', Takes::Bool),
    flag("revision", Takes::Int),
    flag("timeout", Takes::Span),
    KUSTOMIZE,
];

/// Where a rollout stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// What is printed.
    pub text: String,
    /// Whether it is done.
    pub done: bool,
}

pub(in crate::commands) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let revision = args.int("revision").unwrap_or(0);
    if args.words.is_empty() && args.all("filename").is_empty() {
        return Err(kc.fail("required resource not specified"));
    }
    if revision < 0 {
        return Err(kc.fail(format!("revision must be a positive integer: {revision}")));
    }
    let found = find(kc, args)?;
    let timeout = args.span("timeout").filter(|t| !t.is_zero());
    let watch = args.on_or("watch", true);
    let mut faults = found.faults;
    if found.infos.is_empty() && faults.is_empty() {
        kc.err(format!("No resources found in {} namespace.\n", kc.namespace));
        return Ok(0);
    }
    for info in &found.infos {
        if let Err(fault) = follow(kc, info, revision, timeout, watch)? {
            faults.push(fault);
        }
    }
    common::finish(kc, faults)
}

/// Follows one object until its rollout is done, has failed, or the time is over.
fn follow(
    kc: &mut Kc<'_>,
    info: &Info,
    revision: i64,
    timeout: Option<Duration>,
    watch: bool,
) -> Flow<Result<(), Fault>> {
    let end: Option<Instant> = timeout.map(|t| kc.now() + t);
    let mut object = info.object.clone();
    let mut from = object.meta().revision();
    loop {
        match standing(&object, revision) {
            Ok(standing) => {
                kc.out(standing.text);
                if standing.done || !watch {
                    return Ok(Ok(()));
                }
            }
            Err(fault) => return Ok(Err(fault)),
        }
        let key = &info.key;
        let (events, seen) =
            kc.watch(key.kind, Some(key.namespace.clone()), Some(key.name.clone()), from, end)?;
        let mut events = events.into_iter();
        let Some(first) = events.next() else {
            return Ok(Err(Fault::Text("timed out waiting for the condition".into())));
        };
        from = seen;
        object = match changed(first) {
            Ok(object) => object,
            Err(fault) => return Ok(Err(fault)),
        };
        // Each change is looked at, not only the last.
        for event in events {
            match standing(&object, revision) {
                Ok(standing) if standing.done => {
                    kc.out(standing.text);
                    return Ok(Ok(()));
                }
                Ok(standing) => kc.out(standing.text),
                Err(fault) => return Ok(Err(fault)),
            }
            object = match changed(event) {
                Ok(object) => object,
                Err(fault) => return Ok(Err(fault)),
            };
        }
    }
}

fn changed(event: WatchEvent) -> Result<Object, Fault> {
    match event {
        WatchEvent::Added(object) | WatchEvent::Modified(object) => Ok(object),
        WatchEvent::Deleted(_) => Err(Fault::Text("object has been deleted".into())),
    }
}

fn standing(object: &Object, revision: i64) -> Result<Standing, Fault> {
    match object {
        Object::Deployment(o) => of_deployment(o, revision),
        other => match (StatefulSet::read(other), DaemonSet::read(other)) {
            (Some(set), _) => of_stateful_set(&set),
            (_, Some(set)) => of_daemon_set(&set),
            (None, None) => Err(not_for_status(other)),
        },
    }
}

fn not_for_status(object: &Object) -> Fault {
    let kind = object.kind().qualified_kind();
    Fault::Text(format!("no status viewer has been implemented for {kind}"))
}

/// Where a deployment's rollout stands. Upstream: polymorphichelpers, DeploymentStatusViewer.
pub(crate) fn of_deployment(o: &Deployment, revision: i64) -> Result<Standing, Fault> {
    let (name, status) = (&o.metadata.name, &o.status);
    if revision > 0 {
        let running = workloads::revision(&o.metadata.annotations)
            .map_err(|why| Fault::Text(format!("cannot get the revision of deployment \"{name}\": {why}")))?;
        if running != revision {
            let text =
                format!("desired revision ({revision}) is different from the running revision ({running})");
            return Err(Fault::Text(text));
        }
    }
    let waits = |text: String| Ok(Standing { text, done: false });
    if o.metadata.generation > status.observed_generation {
        return waits("Waiting for deployment spec update to be observed...\n".to_owned());
    }
    if o.condition("Progressing").is_some_and(|c| c.reason == "ProgressDeadlineExceeded") {
        return Err(Fault::Text(format!("deployment \"{name}\" exceeded its progress deadline")));
    }
    let head = format!("Waiting for deployment \"{name}\" rollout to finish: ");
    let updated = status.updated_replicas;
    if let Some(wanted) = o.spec.replicas.filter(|wanted| updated < *wanted) {
        return waits(format!("{head}{updated} out of {wanted} new replicas have been updated...\n"));
    }
    if status.replicas > updated {
        return waits(format!(
            "{head}{} old replicas are pending termination...\n",
            status.replicas - updated
        ));
    }
    if status.available_replicas < updated {
        return waits(format!(
            "{head}{} of {updated} updated replicas are available...\n",
            status.available_replicas
        ));
    }
    Ok(Standing { text: format!("deployment \"{name}\" successfully rolled out\n"), done: true })
}

/// Other strategies have no rollout that could be followed.
fn only_rolling(strategy: &str) -> Result<(), Fault> {
    if strategy == "RollingUpdate" {
        return Ok(());
    }
    Err(Fault::Text("rollout status is only available for RollingUpdate strategy type".into()))
}

/// Upstream: polymorphichelpers, StatefulSetStatusViewer.
pub(crate) fn of_stateful_set(o: &StatefulSet) -> Result<Standing, Fault> {
    only_rolling(&o.spec.update_strategy.r#type)?;
    let status = &o.status;
    let waits = |text: String| Ok(Standing { text, done: false });
    let done = |text: String| Ok(Standing { text, done: true });
    if status.observed_generation == 0 || o.metadata.generation > status.observed_generation {
        return waits("Waiting for statefulset spec update to be observed...\n".to_owned());
    }
    let (wanted, updated) = (o.spec.replicas, status.updated_replicas);
    if let Some(wanted) = wanted.filter(|wanted| status.ready_replicas < *wanted) {
        return waits(format!("Waiting for {} pods to be ready...\n", wanted - status.ready_replicas));
    }
    if let Some(rolling) = &o.spec.update_strategy.rolling_update {
        let aim = wanted.zip(rolling.partition).map(|(wanted, partition)| wanted.saturating_sub(partition));
        if let Some(aim) = aim.filter(|aim| updated < *aim) {
            return waits(format!(
                "Waiting for partitioned roll out to finish: {updated} out of {aim} new pods have been updated...\n"
            ));
        }
        return done(format!("partitioned roll out complete: {updated} new pods have been updated...\n"));
    }
    if status.update_revision != status.current_revision {
        return waits(format!(
            "waiting for statefulset rolling update to complete {updated} pods at revision {}...\n",
            status.update_revision
        ));
    }
    done(format!(
        "statefulset rolling update complete {} pods at revision {}...\n",
        status.current_replicas, status.current_revision
    ))
}

/// Upstream: polymorphichelpers, DaemonSetStatusViewer.
pub(crate) fn of_daemon_set(o: &DaemonSet) -> Result<Standing, Fault> {
    only_rolling(&o.spec.update_strategy.r#type)?;
    let (name, status) = (&o.metadata.name, &o.status);
    let waits = |text: String| Ok(Standing { text, done: false });
    if o.metadata.generation > status.observed_generation {
        return waits("Waiting for daemon set spec update to be observed...\n".to_owned());
    }
    let (head, wanted) =
        (format!("Waiting for daemon set \"{name}\" rollout to finish: "), status.desired_number_scheduled);
    let updated = status.updated_number_scheduled;
    if updated < wanted {
        return waits(format!("{head}{updated} out of {wanted} new pods have been updated...\n"));
    }
    let available = status.number_available;
    if available < wanted {
        return waits(format!("{head}{available} of {wanted} updated pods are available...\n"));
    }
    Ok(Standing { text: format!("daemon set \"{name}\" successfully rolled out\n"), done: true })
}
