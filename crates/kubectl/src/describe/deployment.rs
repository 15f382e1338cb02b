//! Deployment.

use super::{Page, events, page::date, template};
use crate::{
    fault::Fault,
    kc::{Flow, Kc},
    workloads,
};
use kubestep_model::{Deployment, IntOrString, Object, ReplicaSet};
use std::sync::Arc;

pub(super) fn describe(
    kc: &mut Kc<'_>,
    page: &mut Page,
    o: &Arc<Deployment>,
    events: bool,
) -> Flow<Result<(), Fault>> {
    let (meta, spec, status) = (&o.metadata, &o.spec, &o.status);
    let selector = match spec.selector.clone().unwrap_or_default().to_selector() {
        Ok(selector) => selector,
        Err(why) => return Ok(Err(Fault::Text(why))),
    };
    page.field(0, "Name", &meta.name);
    page.field(0, "Namespace", &meta.namespace);
    page.field(0, "CreationTimestamp", date(meta.creation_timestamp));
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    page.field(0, "Selector", selector);
    page.field(
        0,
        "Replicas",
        format!(
            "{} desired | {} updated | {} total | {} available | {} unavailable",
            o.replicas(),
            status.updated_replicas,
            status.replicas,
            status.available_replicas,
            status.unavailable_replicas
        ),
    );
    page.field(0, "StrategyType", &spec.strategy.r#type);
    page.field(0, "MinReadySeconds", spec.min_ready_seconds);
    if let Some(rolling) = &spec.strategy.rolling_update {
        let show =
            |v: &Option<IntOrString>| v.as_ref().map_or_else(|| "<nil>".to_owned(), ToString::to_string);
        let (unavailable, surge) = (show(&rolling.max_unavailable), show(&rolling.max_surge));
        page.field(0, "RollingUpdateStrategy", format!("{unavailable} max unavailable, {surge} max surge"));
    }
    template::describe(page, &spec.template);
    if !status.conditions.is_empty() {
        page.line(0, "Conditions:\n  Type\tStatus\tReason");
        page.line(1, "----\t------\t------");
        status
            .conditions
            .iter()
            .for_each(|c| page.line(1, format!("{} \t{}\t{}", c.r#type, c.status, c.reason)));
    }
    let object = Object::Deployment(o.clone());
    // Upstream asks for the events first; the order of reads shows nowhere.
    let own = workloads::replica_sets_of(kc, o)?;
    let (new, old) = workloads::split(o, &own);
    if new.is_some() || !old.is_empty() {
        page.field(0, "OldReplicaSets", sets(&old));
        page.field(0, "NewReplicaSet", sets(new.as_slice()));
    }
    self::events::show(kc, page, &object, events)?;
    Ok(Ok(()))
}

fn sets(sets: &[&Arc<ReplicaSet>]) -> String {
    let show = |rs: &&Arc<ReplicaSet>| {
        format!("{} ({}/{} replicas created)", rs.metadata.name, rs.status.replicas, rs.replicas())
    };
    let list = sets.iter().map(show).collect::<Vec<_>>().join(", ");
    if list.is_empty() { "<none>".to_owned() } else { list }
}
