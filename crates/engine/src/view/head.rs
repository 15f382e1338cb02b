//! The small part of a picture that changes at every step.

use super::terminal::chunks;
use crate::{
    session::{APPLY, Session, object_ref},
    words,
};
use kubestep_insight::{But, Kind, Verdict as Found, but, unnoticed};
use kubestep_model::{Event, Key, Kind as ObjectKind};
use kubestep_protocol::{ApplyOut, BranchId, Head, LogLine, Moment, ObjectRef, Rich, Verdict, VerdictKind};
use std::{collections::BTreeSet, sync::Arc};

/// So many lines of the API server's log are shown.
const LOG_LINES: usize = 12;

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The head of the picture.
pub(super) fn head(session: &Session, found: &Found) -> Head {
    let world = session.world();
    let step = session.step();
    let (verdict, blocked) = verdict_row(session, found);
    Head {
        id: Default::default(),
        moment: Moment { branch: BranchId(number(session.history.branch())), step: number(step) },
        last: number(session.history.last()),
        now: session.now(),
        zero: session.at(session.zero),
        revision: world.store().revision(),
        verdict,
        sentence: words::sentence(session, step),
        touched: touched(session, step),
        apply: apply(session).map(Arc::new),
        log: log(session),
        nowhere: blocked,
        what_if: !world.settings().selector_check,
        running: None,
        registry: registry_host(session),
        quiet: world.next().is_none(),
        lesson: crate::lesson::now(session).map(Arc::new),
    }
}

fn touched(session: &Session, step: usize) -> Vec<ObjectRef> {
    let mut found: BTreeSet<Key> = BTreeSet::new();
    for record in session.history.records_of(step) {
        for change in &record.changes {
            // An event touches the object it is about.
            let about =
                session.world().store().get(&change.key).and_then(|o| o.get::<Event>()).and_then(|e| {
                    let about = &e.involved_object;
                    let kind = ObjectKind::all().find(|k| k.name() == about.kind)?;
                    Some(Key::new(kind, about.namespace.clone(), about.name.clone()))
                });
            found.insert(about.unwrap_or_else(|| change.key.clone()));
        }
    }
    found.iter().map(object_ref).collect()
}

/// The verdict, and the teacher's answer to "Which loop is getting nowhere?".
fn verdict_row(session: &Session, found: &Found) -> (Verdict, Rich) {
    let world = session.world();
    let kind = match found.kind {
        Kind::Converged => VerdictKind::Converged,
        Kind::Converging => VerdictKind::Converging,
        Kind::Stalled => VerdictKind::Stalled,
    };
    let object = found.object.as_ref().map(|(key, _)| key.clone());
    let measure = object
        .as_ref()
        .and_then(|k| session.note().gaps.get(k))
        .map_or(String::new(), |g| g.measure.text.clone());
    // A number speaks for itself; a stage needs its subject.
    let measure = match &object {
        Some(key) if !measure.is_empty() && !measure.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{} {}: {measure}", key.kind.name(), words::tail(&key.name))
        }
        _ => measure,
    };
    let (because, more) = match (&found.blocker, kind) {
        (_, VerdictKind::Converged) => (
            match (unnoticed(world), but(world)) {
                (Some(node), _) => words::blocker::silent(session, &node),
                (None, Some(But::Unanswered)) => {
                    Rich::words("but the API server answers nobody: what is behind that is not seen.")
                }
                (None, Some(But::Stopped(name))) => {
                    Rich::words(format!("but the {} is stopped: it does not look.", words::who::long(name)))
                }
                (None, Some(But::Failed(job))) => words::has_failed(&job),
                (None, Some(But::SelectsNothing(service))) => words::selects_nothing(&service),
                (None, None) => Rich::default(),
            },
            Rich::default(),
        ),
        (Some((at, blocker)), _) => {
            (words::blocker::because(at, blocker), words::blocker::more(session, object.as_ref()))
        }
        (None, _) => (Rich::default(), Rich::default()),
    };
    let nowhere = match (&found.blocker, kind) {
        (Some((at, blocker)), VerdictKind::Stalled) => words::blocker::nowhere(session, at, blocker),
        _ => Rich::default(),
    };
    let verdict = Verdict {
        kind,
        since: Some(session.at(found.since)),
        opened: found.object.as_ref().map(|(_, opened)| session.at(*opened)),
        said: object.as_ref().map_or(String::new(), |k| words::said(world, k)),
        object: object.as_ref().map(object_ref),
        measure,
        because,
        more,
    };
    (verdict, nowhere)
}

/// The last Apply up to this moment, with the teacher's card.
fn apply(session: &Session) -> Option<ApplyOut> {
    let (_, client) =
        session.world().clients().filter(|(_, c)| c.terminal == APPLY).max_by_key(|(id, _)| **id)?;
    let output = chunks(client, None);
    let exit = client.ended.map(|(code, _)| code);
    let (told, not_told) = if exit == Some(0) { words::card(client, &output) } else { (vec![], vec![]) };
    let place = output.iter().find_map(|c| words::place_in(&c.text));
    let records = session.history.branches()[session.history.branch()]
        .moments
        .partition_point(|m| m.at < client.ended.map_or(client.started, |e| e.1));
    Some(ApplyOut { line: client.program.line(), output, exit, place, told, not_told, step: number(records) })
}

fn log(session: &Session) -> Vec<LogLine> {
    let store = session.world().store();
    let from = store.revision().saturating_sub(60);
    let entries: Vec<_> = store.log_after(from).filter(|e| e.key.kind != ObjectKind::Lease).collect();
    let line = |e: &&kubestep_cluster::LogEntry| {
        let what = match e.new.as_ref().and_then(|o| o.get::<Event>()) {
            Some(event) if event.count > 1 => format!("{} ×{}", event.reason, event.count),
            Some(event) => event.reason.clone(),
            None => format!("{} {}", e.key.kind.singular(), words::tail(&e.key.name)),
        };
        let (who, _) = words::who::of_agent(&e.who);
        LogLine {
            revision: e.revision,
            who,
            what,
            step: number(
                session.history.branches()[session.history.branch()].moments.partition_point(|m| m.at < e.at),
            ),
        }
    };
    entries.iter().rev().take(LOG_LINES).map(line).collect()
}

/// The first host that images of the registry name; images of others are shown with theirs.
pub(super) fn registry_host(session: &Session) -> String {
    let hosts = session
        .world()
        .registry()
        .0
        .keys()
        .filter_map(|name| name.split_once('/').map(|(h, _)| h))
        .filter(|h| h.contains('.') && *h != "docker.io");
    hosts.into_iter().next().unwrap_or("docker.io").to_string()
}
