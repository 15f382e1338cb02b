//! The functions of this crate in the shape of the recorded vectors: JSON in, JSON out.

use crate::{
    commands::rollout::{history, status, undo},
    fault::Fault,
    output::table::{Shape, table},
    printers::{self, Cell, Column},
    workloads,
};
use kubestep_model::{DaemonSet, Deployment, Kind, Object, ReplicaSet, StatefulSet, Time, Whole};
use serde_json::{Value, json};
use std::sync::Arc;

/// Runs the function that a vector is named after; None where no such function is here.
pub fn run(name: &str, input: &Value) -> Option<Value> {
    match name {
        "rollout-status-deployment" => rollout_status(input),
        "rollout-status-statefulset" => {
            whole_status(StatefulSet::KIND, input, |o| Some(status::of_stateful_set(&StatefulSet::read(o)?)))
        }
        "rollout-status-daemonset" => {
            whole_status(DaemonSet::KIND, input, |o| Some(status::of_daemon_set(&DaemonSet::read(o)?)))
        }
        "rollout-history" => rollout_history(input),
        "rollout-undo" => rollout_undo(input),
        _ => printer(name, input),
    }
}

fn deployment(value: &Value) -> Option<Arc<Deployment>> {
    match Object::from_value(Kind::Deployment, value.clone()) {
        Ok(Object::Deployment(deployment)) => Some(deployment),
        _ => None,
    }
}

fn replica_sets(deployment: &Deployment, values: &Value) -> Option<Vec<Arc<ReplicaSet>>> {
    let one = |value: &Value| match Object::from_value(Kind::ReplicaSet, value.clone()) {
        Ok(Object::ReplicaSet(rs)) => Some(rs),
        _ => None,
    };
    let all = values.as_array()?.iter().map(one).collect::<Option<Vec<_>>>()?;
    let selector = deployment.spec.selector.clone().unwrap_or_default().to_selector().ok()?;
    Some(workloads::controlled(
        deployment,
        all.into_iter().filter(|rs| selector.matches(&rs.metadata.labels)),
    ))
}

fn rollout_status(input: &Value) -> Option<Value> {
    let deployment = deployment(&input["object"])?;
    Some(match status::of_deployment(&deployment, input["revision"].as_i64().unwrap_or_default()) {
        Ok(standing) => json!({ "done": standing.done, "error": null, "text": standing.text }),
        Err(fault) => json!({ "done": false, "error": fault.text(), "text": "" }),
    })
}

/// Of a kind that is kept whole; here a failure also means that there is nothing to wait for.
fn whole_status(
    kind: Kind,
    input: &Value,
    standing: impl Fn(&Object) -> Option<Result<status::Standing, Fault>>,
) -> Option<Value> {
    let object = Object::from_value(kind, input["object"].clone()).ok()?;
    Some(match standing(&object)? {
        Ok(standing) => json!({ "done": standing.done, "error": null, "text": standing.text }),
        Err(fault) => json!({ "done": true, "error": fault.text(), "text": "" }),
    })
}

fn rollout_history(input: &Value) -> Option<Value> {
    let deployment = deployment(&input["deployment"])?;
    let sets = replica_sets(&deployment, &input["replicaSets"])?;
    let revision = input["revision"].as_i64().unwrap_or_default();
    Some(match history::view(&sets, revision) {
        Ok(text) => json!({ "text": text }),
        Err(fault) => json!({ "error": fault.text() }),
    })
}

fn rollout_undo(input: &Value) -> Option<Value> {
    let deployment = deployment(&input["deployment"])?;
    let sets = replica_sets(&deployment, &input["replicaSets"])?;
    let to = input["revision"].as_i64().unwrap_or_default();
    Some(match undo::plan(&deployment, &sets, to, false) {
        Ok(undo::Plan::Say(text)) => json!({ "text": text }),
        Ok(undo::Plan::Patch(patch)) => {
            json!({ "patch": patch, "patchType": "application/json-patch+json", "text": "rolled back" })
        }
        Err(fault) => json!({ "error": fault.text() }),
    })
}

fn printer(name: &str, input: &Value) -> Option<Value> {
    let wanted = name.strip_prefix("printer-")?;
    let kind = Kind::all().find(|k| k.singular() == wanted)?;
    let now = Time::parse(input["now"].as_str()?)?.instant();
    let object = match Object::from_value(kind, input["object"].clone()) {
        Ok(object) => object,
        Err(error) => return Some(json!({ "error": error })),
    };
    let printer = printers::of(kind);
    let column = |c: &Column| json!({ "name": c.name, "priority": i32::from(c.wide), "type": c.holds });
    let cell = |c: Cell| match c {
        Cell::Text(text) => json!(text),
        Cell::Number(number) => json!(number),
        Cell::Bool(bool) => json!(bool),
    };
    let row: Vec<Value> = (printer.row)(&object, now, true).into_iter().map(cell).collect();
    let get = |wide: bool| table(kind, &[&object], now, &Shape { wide, ..Shape::default() }).text;
    Some(json!({
        "columns": printer.columns.iter().map(column).collect::<Vec<_>>(),
        "get": get(false),
        "getWide": get(true),
        "rows": [row],
    }))
}
