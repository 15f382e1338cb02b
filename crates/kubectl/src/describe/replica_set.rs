//! ReplicaSet.

use super::{Page, events, template};
use crate::{
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::{Kind, Object, ReplicaSet};
use std::sync::Arc;

pub(super) fn describe(
    kc: &mut Kc<'_>,
    page: &mut Page,
    o: &Arc<ReplicaSet>,
    events: bool,
) -> Flow<Result<(), Fault>> {
    let (meta, spec) = (&o.metadata, &o.spec);
    let selector = spec.selector.clone().unwrap_or_default();
    page.field(0, "Name", &meta.name);
    page.field(0, "Namespace", &meta.namespace);
    page.field(0, "Selector", selector.format());
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    page.controlled_by(meta);
    page.field(0, "Replicas", format!("{} current / {} desired", o.status.replicas, o.replicas()));
    let selector = match selector.to_selector() {
        Ok(selector) => selector,
        Err(why) => return Ok(Err(Fault::Text(why))),
    };
    let pods = kc.list(Kind::Pod, Some(meta.namespace.clone()), Some(selector), None)?;
    page.field(
        0,
        "Pods Status",
        pods.map_or_else(
            |s| format!("error in fetching pods: {}", s.message),
            |(pods, _)| super::phases(&pods, &meta.uid),
        ),
    );
    template::describe(page, &spec.template);
    if !o.status.conditions.is_empty() {
        page.line(0, "Conditions:\n  Type\tStatus\tReason");
        page.line(1, "----\t------\t------");
        o.status
            .conditions
            .iter()
            .for_each(|c| page.line(1, format!("{} \t{}\t{}", c.r#type, c.status, c.reason)));
    }
    self::events::show(kc, page, &Object::ReplicaSet(o.clone()), events)?;
    Ok(Ok(()))
}
