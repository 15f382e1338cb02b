//! Rollouts of kinds whose revisions are ControllerRevisions: stateful sets and daemon sets.
//!
//! Upstream: kubectl/pkg/polymorphichelpers, history.go and rollback.go (v1.37).

use super::{history, undo};
use crate::{
    commands::rollout::undo::Plan,
    describe,
    fault::Fault,
    kc::{Flow, Kc},
    output::{format::Format, tabs::Tabs},
    select::Info,
    workloads::CHANGE_CAUSE,
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    ControllerRevision, DaemonSet, Kind, LabelSelector, Object, PodTemplateSpec, StatefulSet, Whole,
};
use serde_json::{Value, json};

/// Whether objects of this kind keep their templates as ControllerRevisions.
pub(crate) fn keeps(kind: Kind) -> bool {
    kind == StatefulSet::KIND || kind == DaemonSet::KIND
}

fn spec(object: &Object) -> Value {
    match object {
        Object::Custom(custom) => custom.rest.get("spec").cloned().unwrap_or_default(),
        _ => Value::Null,
    }
}

/// The revisions that an object controls, the oldest first. Upstream: controlledHistory.
pub(crate) fn of(kc: &mut Kc<'_>, object: &Object) -> Flow<Vec<ControllerRevision>> {
    let selector = serde_json::from_value::<LabelSelector>(spec(object)["selector"].clone());
    let selector = selector.unwrap_or_default().to_selector().ok();
    let meta = object.meta();
    let listed = kc.list(ControllerRevision::KIND, Some(meta.namespace.clone()), selector, None)?;
    let items = listed.map(|(items, _)| items).unwrap_or_default();
    let mut found: Vec<ControllerRevision> = items.iter().filter_map(ControllerRevision::read).collect();
    found.retain(|r| r.metadata.controller().is_some_and(|owner| owner.uid == meta.uid));
    found.arrange_by_key(|r| r.revision);
    Ok(found)
}

/// The template that a revision holds.
fn template(revision: &ControllerRevision) -> PodTemplateSpec {
    let mut value = revision.data.pointer("/spec/template").cloned().unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("$patch");
    }
    serde_json::from_value(value).unwrap_or_default()
}

/// The object as it was with a revision: what is not of the template is as it is now.
/// Upstream: applyStatefulSetHistory, applyDaemonSetHistory.
fn as_of(object: &Object, revision: &ControllerRevision) -> Value {
    let mut value = object.to_value();
    let mut template = revision.data.pointer("/spec/template").cloned().unwrap_or_default();
    if let Some(fields) = template.as_object_mut() {
        fields.remove("$patch");
    }
    if let Some(place) = value.pointer_mut("/spec/template") {
        *place = template;
    }
    value
}

/// `kubectl rollout history` of one object.
pub(super) fn show(kc: &mut Kc<'_>, format: &Format, info: &Info, revision: i64) -> Flow<Result<(), Fault>> {
    let all = of(kc, &info.object)?;
    if format.is_human() {
        return Ok(view(&all, revision).map(|text| history::say(kc, info, revision, &text)));
    }
    let picked: Vec<&ControllerRevision> =
        all.iter().filter(|r| revision == 0 || r.revision == revision).collect();
    if picked.is_empty() && revision != 0 {
        return Ok(Err(history::missing()));
    }
    for (at, found) in picked.into_iter().enumerate() {
        if at > 0 && *format == Format::Yaml {
            kc.out("---\n");
        }
        format.print(kc, &as_of(&info.object, found), true)?;
    }
    Ok(Ok(()))
}

/// Upstream: printHistory.
fn view(all: &[ControllerRevision], revision: i64) -> Result<String, Fault> {
    if all.is_empty() {
        return Ok("No rollout history found.".to_owned());
    }
    if revision > 0 {
        let found = all.iter().rev().find(|r| r.revision == revision).ok_or_else(history::missing)?;
        return Ok(describe::template(&template(found)));
    }
    let row = |r: &ControllerRevision| {
        let cause = r.metadata.annotations.get(CHANGE_CAUSE).filter(|c| !c.is_empty());
        format!("{}\t{}\n", r.revision, cause.map_or("<none>", String::as_str))
    };
    let rows: String = all.iter().map(row).collect();
    Ok(Tabs::DESCRIBE.align(&format!("REVISION\tCHANGE-CAUSE\n{rows}")))
}

/// Works out how to get back to a revision; 0 stands for the one before the last.
/// Upstream: StatefulSetRollbacker, DaemonSetRollbacker.
pub(crate) fn plan(object: &Object, all: &[ControllerRevision], to: i64, show: bool) -> Result<Plan, Fault> {
    if to < 0 {
        return Err(undo::not_found(to));
    }
    if to == 0 && all.len() <= 1 {
        return Err(Fault::Text("no last revision to roll back to".into()));
    }
    let target = match to {
        0 => all.len().checked_sub(2).and_then(|at| all.get(at)),
        _ => all.iter().find(|r| r.revision == to),
    };
    let target = target.ok_or_else(|| undo::not_found(to))?;
    if show {
        return Ok(Plan::Say(describe::template(&template(target))));
    }
    let mut present = spec(object)["template"].clone();
    if let Some(fields) = present.as_object_mut() {
        fields.insert("$patch".into(), "replace".into());
    }
    if target.data == json!({ "spec": { "template": present } }) {
        return Ok(Plan::Say(format!("skipped rollback (current template already matches revision {to})")));
    }
    Ok(Plan::Patch(target.data.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revision(number: i64, image: &str) -> ControllerRevision {
        let data =
            json!({"spec": {"template": {"$patch": "replace", "spec": {"containers": [{"image": image}]}}}});
        ControllerRevision { revision: number, data, ..Default::default() }
    }

    #[test]
    fn which_revision_is_gone_back_to() {
        let value = json!({"spec": {"template": {"spec": {"containers": [{"image": "b"}]}}}});
        let object = Object::from_value(StatefulSet::KIND, value).expect("a set");
        let all = [revision(1, "a"), revision(3, "b")];
        let text = |to, all: &[ControllerRevision]| match plan(&object, all, to, false) {
            Ok(Plan::Say(text)) => text,
            Ok(Plan::Patch(patch)) => {
                patch.pointer("/spec/template/spec/containers/0/image").expect("it").to_string()
            }
            Err(fault) => fault.text(),
        };
        assert_eq!(text(0, &all), "\"a\"");
        assert_eq!(text(1, &all), "\"a\"");
        assert_eq!(text(3, &all), "skipped rollback (current template already matches revision 3)");
        assert_eq!(text(2, &all), "unable to find specified revision 2 in history");
        assert_eq!(text(0, &all[..1]), "no last revision to roll back to");
        assert_eq!(
            view(&all, 0).expect("a table"),
            "REVISION  CHANGE-CAUSE\n1         <none>\n3         <none>\n"
        );
    }
}
