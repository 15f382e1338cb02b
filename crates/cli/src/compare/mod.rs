//! `kubestep compare`: what differs between two recordings of one session.
//!
//! [`table`] says what may vary; all else must be equal. With a second real recording (a twin) only what the two real
//! runs agree on counts, and ours must hold nothing that neither has.

mod assign;
mod calls;
mod clock;
mod dictionary;
mod equals;
mod events;
mod facts;
mod grid;
mod identity;
mod jitter;
mod leaves;
mod mutate;
mod objects;
mod output;
mod printed;
mod reader;
mod recording;
mod report;
mod scenes;
mod table;
mod told;
mod view;
mod waiting;

mod command;
#[cfg(test)]
mod tests;

pub use command::main;

use recording::Recording;
use report::{Report, Section};
use serde_json::Value;
use table::Allow;
use view::View;

/// Which parts to compare, and by which rows of the table.
#[derive(Clone, Copy, Debug)]
struct Scope {
    only: Option<Section>,
    allow: Allow,
}

/// How two recordings of one session differ.
#[derive(Clone, Debug)]
pub struct Differences {
    /// How many records count: those on which the two real runs agree.
    pub counted: usize,
    /// How many of them differ.
    pub differ: usize,
    /// How many differ and how many count, for commands, objects, events and calls.
    pub parts: [(usize, usize); 4],
    /// Both numbers per part, in a line.
    pub summary: String,
    /// Each difference: its place, then both sides.
    pub blocks: String,
}

/// Compares a recording with the golden one and its twin, all parts. Errors: what is no recording.
pub fn differences(golden: &Value, ours: &Value, twin: Option<&Value>) -> Result<Differences, String> {
    let scope = Scope { only: None, allow: Allow::everything() };
    let twin = twin.map(Recording::parse).transpose()?;
    let report = compare(&Recording::parse(golden)?, &Recording::parse(ours)?, twin.as_ref(), scope);
    let total = report.total();
    Ok(Differences {
        counted: total.counted,
        differ: total.differ,
        parts: report.tallies.map(|t| (t.differ, t.counted)),
        summary: report.summary(),
        blocks: report.blocks(),
    })
}

fn compare(golden: &Recording, ours: &Recording, twin: Option<&Recording>, scope: Scope) -> Report {
    let theirs = View::golden(golden, scope.allow);
    let twin = twin.map(|twin| View::of(twin, golden, scope.allow));
    against(&theirs, ours, twin.as_ref(), scope)
}

fn against(golden: &View<'_>, ours: &Recording, twin: Option<&View<'_>>, scope: Scope) -> Report {
    let mut report = Report::default();
    let mine = View::of(ours, golden.recording, scope.allow);
    for section in Section::ALL.into_iter().filter(|section| scope.only.is_none_or(|only| only == *section)) {
        match section {
            Section::Output => output::compare(golden, &mine, twin, &mut report),
            Section::Objects => objects::compare(golden, &mine, twin, &mut report),
            Section::Events => events::compare(golden, &mine, twin, &mut report),
            Section::Calls => calls::compare(golden, &mine, twin, &mut report),
        }
    }
    report
}
