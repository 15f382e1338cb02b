//! Rows of the tree: everything that owns, selects, or stands for itself.

use super::{board::Board, sorted};
use crate::session::{Session, object_ref};
use kubestep_insight::look;
use kubestep_model::arrange::Arrange;
use kubestep_model::{Deployment, Kind, Object, ReplicaSet, ResourceQuota, Service, text::Selector};
use kubestep_protocol::{Gap, Id, Life, Members, Row, Slots};
use std::{collections::BTreeMap, sync::Arc};

/// Kinds that the board draws by other means, or that stand in everybody's namespace from the start.
const NOT_ROWS: [Kind; 7] =
    [Kind::Pod, Kind::Node, Kind::Event, Kind::EndpointSlice, Kind::Endpoints, Kind::Lease, Kind::Namespace];
const SYSTEM: [&str; 3] = ["kube-system", "kube-public", "kube-node-lease"];

/// Whether an object gets a row.
fn is_row(object: &Object) -> bool {
    if NOT_ROWS.contains(&object.kind()) {
        return false;
    }
    let meta = object.meta();
    let everyday = matches!(object.kind(), Kind::ServiceAccount) && &*meta.name == "default"
        || object.kind() == Kind::ConfigMap && &*meta.name == "kube-root-ca.crt";
    let silent = matches!(
        object.kind().name(),
        "IPAddress" | "ServiceCIDR" | "CSINode" | "PriorityClass" | "ControllerRevision"
    );
    let system = SYSTEM.contains(&&*meta.namespace)
        || (&*meta.namespace == "default" && object.kind() == Kind::Service && &*meta.name == "kubernetes");
    !everyday && !silent && !system
}

/// The rows, in the order of first sight.
pub(super) fn rows(session: &mut Session, board: &Board<'_>) -> Vec<Arc<Row>> {
    let mut order: Vec<&Object> = board.others.iter().copied().filter(|o| is_row(o)).collect();
    // Of things seen for the first time in one picture, the older one comes first.
    order.arrange_by_key(|o| {
        (o.meta().creation_timestamp, o.meta().controller().is_some(), o.meta().revision())
    });
    let mut rows = vec![];
    for object in order {
        rows.push(row(session, board, object));
    }
    sorted(rows, |r| r.id)
}

/// An object's gap as the page says it.
pub(crate) fn gap(session: &Session, object: &Object) -> Option<Gap> {
    let gap = session.note().gaps.get(&object.key())?;
    Some(Gap {
        want: gap.measure.want.clone(),
        have: gap.measure.have.clone(),
        measure: gap.measure.text.clone(),
        opened: session.at(gap.opened),
        moved: session.at(gap.moved),
        deadline: gap.measure.deadline.and_then(|d| u64::try_from(d.as_millis()).ok()),
    })
}

/// How far an object is in its life.
pub(super) fn life(object: &Object) -> Life {
    if object.meta().is_terminating() { Life::Terminating } else { Life::There }
}

fn row(session: &mut Session, board: &Board<'_>, object: &Object) -> Row {
    let id = session.ids.uid(&object.meta().uid);
    let owner = object.meta().controller().map(|o| o.uid.clone()).map(|uid| session.ids.uid(&uid));
    let mut row = Row {
        id,
        object: object_ref(&object.key()),
        owner,
        tag: String::new(),
        want: None,
        slots: None,
        has: String::new(),
        selector: None,
        members: vec![],
        gap: gap(session, object),
        life: life(object),
        no_loop: false,
    };
    match object {
        Object::Deployment(d) => deployment(session, &mut row, d),
        Object::ReplicaSet(set) => replica_set(&mut row, board, object, set),
        Object::Service(service) => self::service(session, board, &mut row, service),
        Object::ResourceQuota(quota) => self::quota(&mut row, quota),
        Object::Custom(custom) => super::workloads::fill(&mut row, board, object, custom),
        _ => {}
    }
    row
}

fn number(n: i32) -> u32 {
    u32::try_from(n).unwrap_or(0)
}

/// What stands behind the last colon of an image, or the image.
pub(super) fn tag_of(image: &str) -> &str {
    image.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')).map_or(image, |(_, tag)| tag)
}

fn deployment(session: &Session, row: &mut Row, d: &Deployment) {
    let want = d.replicas();
    let status = &d.status;
    let old = (status.replicas - status.updated_replicas).max(0);
    let new_ready =
        look::new_replica_set(session.world().store(), d).map_or(0, |s| s.status.available_replicas);
    let old_ready = (status.available_replicas - new_ready).max(0);
    let image = d.spec.template.spec.containers.first().map_or("", |c| c.image.as_str());
    row.tag = if d.spec.paused { "paused".into() } else { format!("wants {}", tag_of(image)) };
    row.want = Some(number(want));
    let full = new_ready.min(want);
    let from_old = old_ready.min(want - full);
    row.slots = Some(Slots {
        full: number(full),
        old: number(from_old),
        gap: number(want - full - from_old),
        extra: number(new_ready + old_ready - want),
    });
    row.has = if old > 0 || (row.gap.is_some() && old_ready > 0) {
        format!("{new_ready} new, {old_ready} old")
    } else {
        format!("{new_ready} available")
    };
}

fn replica_set(row: &mut Row, board: &Board<'_>, object: &Object, set: &ReplicaSet) {
    let want = set.replicas();
    let ready = set.status.ready_replicas;
    let image = set.spec.template.spec.containers.first().map_or("", |c| c.image.as_str());
    let revision = look::revision(set);
    row.tag =
        if revision > 0 { format!("{} · rev {revision}", tag_of(image)) } else { tag_of(image).to_string() };
    row.want = Some(number(want));
    let pods = i32::try_from(board.pods(object).iter().filter(|p| p.is_active()).count()).unwrap_or(i32::MAX);
    row.slots = Some(Slots {
        full: number(ready.min(want)),
        old: 0,
        gap: number(want - ready),
        extra: number(pods - want),
    });
    row.has = format!("{ready} ready");
}

fn service(session: &mut Session, board: &Board<'_>, row: &mut Row, service: &Service) {
    let endpoints = board.endpoints(service);
    let mut members: BTreeMap<Id, (u32, u32)> = BTreeMap::new();
    let (mut ready, mut not) = (0u32, 0u32);
    for endpoint in endpoints {
        let is_ready = endpoint.conditions.ready != Some(false);
        if is_ready {
            ready += 1
        } else {
            not += 1
        }
        if let Some(node) = &endpoint.node_name {
            let slot = members.entry(session.ids.of(&format!("node:{node}"))).or_default();
            if is_ready { slot.0 += 1 } else { slot.1 += 1 }
        }
    }
    row.members =
        members.into_iter().map(|(node, (ready, not_ready))| Members { node, ready, not_ready }).collect();
    row.selector = (!service.spec.selector.is_empty())
        .then(|| Selector::from_labels(&service.spec.selector).to_string());
    row.slots = Some(Slots { full: ready, old: 0, gap: not, extra: 0 });
    row.has = match (ready, not) {
        (0, 0) => "selects nothing".into(),
        (r, 0) => format!("{r} ready"),
        (r, n) => format!("{r} ready, {n} not"),
    };
}

fn quota(row: &mut Row, quota: &ResourceQuota) {
    let part = |name: &String| {
        let used = quota.status.used.get(name).map_or("0".to_string(), ToString::to_string);
        quota.spec.hard.get(name).map(|hard| format!("{used} of {hard} {name}"))
    };
    let parts: Vec<String> = quota.spec.hard.keys().filter_map(part).collect();
    row.has = parts.join(", ");
}
