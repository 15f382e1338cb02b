//! `kubestep compare`: what differs between two recordings of one session.
//!
//! [`table`] says what may vary; all else must be equal. With a second real recording (a twin) only what the two real
//! runs agree on counts, and ours must hold nothing that neither has.

mod assign;
mod calls;
mod clock;
mod dictionary;
mod events;
mod facts;
mod grid;
mod identity;
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

pub(crate) use command::main;

use recording::Recording;
use report::{Report, Section};
use table::Allow;
use view::View;

/// Which parts to compare, and by which rows of the table.
#[derive(Clone, Copy, Debug)]
struct Scope {
    only: Option<Section>,
    allow: Allow,
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
