//! Every request about one object: who asked for what, and what he was told.

use crate::{
    session::{Session, key_of},
    words::who,
};
use kubestep_cluster::{Record, What};
use kubestep_protocol::{AuditRow, ObjectRef};

/// So many rows are shown.
const MOST: usize = 200;

/// The person at the terminal, who needs no name.
const ADMIN: &str = "kubernetes-admin";

/// The rows, newest first.
pub(super) fn rows(session: &Session, object: &ObjectRef) -> Vec<AuditRow> {
    let Some(wanted) = key_of(session, object) else { return vec![] };
    let records = &session.history.branches()[session.history.branch()].records;
    let shown = records.partition_point(|r| r.id < session.world().next_record());
    let about = |r: &&std::sync::Arc<Record>| matches!(&r.what, What::Served { key, .. } if *key == wanted);
    records[..shown].iter().rev().filter(about).take(MOST).filter_map(|r| row(session, r)).collect()
}

fn row(session: &Session, record: &Record) -> Option<AuditRow> {
    let What::Served { who: agent, user, verb, key, subresource, code, message, dry_run } = &record.what
    else {
        return None;
    };
    let wrote = record.changes.iter().find(|c| c.key == *key);
    let words = match (message, wrote) {
        (Some(refusal), _) => refusal.clone(),
        (None, Some(change)) => format!("revision {}", change.revision),
        (None, None) if *dry_run => "a dry run: nothing is stored".into(),
        (None, None) if matches!(*verb, "get" | "list") => "read".into(),
        (None, None) => "nothing changed".into(),
    };
    Some(AuditRow {
        who: who::of_agent(agent).0,
        agent: agent.to_string(),
        user: if **user == *ADMIN { String::new() } else { user.to_string() },
        at: session.at(record.at),
        step: u32::try_from(session.step_of(record.id)).unwrap_or(u32::MAX),
        verb: if subresource.is_empty() { (*verb).into() } else { format!("{verb} {subresource}") },
        code: u32::from(*code),
        words,
    })
}
