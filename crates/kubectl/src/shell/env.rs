//! What a line knows while it runs, and how much it may do.

use crate::kc::Kc;
use std::{collections::BTreeMap, sync::Arc};

/// So many commands run of one line at most, and a loop goes over so many words.
pub(super) const MOST_COMMANDS: u32 = 2_000;
/// So many of them ask the cluster within one pipe or `$(…)`: with each answer that is run again from its start.
pub(super) const MOST_CALLS: u32 = 200;
/// So many numbers does seq print in one line.
pub(super) const MOST_NUMBERS: u64 = 100_000;
/// So many bytes do variables and outputs put into the words of one line.
pub(super) const MOST_PUT: usize = 4 << 20;

/// What a line knows while it runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Env {
    pub(super) variables: Arc<BTreeMap<String, Arc<str>>>,
    /// The last exit code.
    pub(super) code: i32,
    pub(super) used: Used,
    /// It was left.
    pub(super) left: bool,
    /// It was left because it is too long: nothing of it is run any more, wherever it stands.
    pub(super) full: bool,
}

/// What a line has done of that which has a bound.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    /// How many commands ran.
    pub(super) ran: u32,
    /// How many of them ask the cluster, since the line can go on without what was told before.
    pub(super) calls: u32,
    /// How many numbers were printed.
    pub(super) numbers: u64,
    /// How many bytes were put into its words.
    pub(super) put: usize,
}

impl Env {
    pub(super) fn set(&mut self, name: &str, value: &str) {
        Arc::make_mut(&mut self.variables).insert(name.into(), value.into());
    }

    /// Counts a command; whether there is still room for it. If not, the line is left, and says so.
    pub(super) fn runs_one(&mut self, kc: &mut Kc<'_>) -> bool {
        self.used.ran += 1;
        if self.used.ran <= MOST_COMMANDS {
            return true;
        }
        let what = format!("more than {MOST_COMMANDS} commands in one line");
        self.too_much(kc, &what, "; the rest of the line was not run");
        false
    }

    /// Counts a command that asks the cluster.
    pub(super) fn calls_one(&mut self, kc: &mut Kc<'_>, words: &[String]) -> bool {
        self.used.calls += 1;
        if self.used.calls <= MOST_CALLS {
            return true;
        }
        let what = format!("more than {MOST_CALLS} commands of kubectl within one pipe or $(…)");
        let rest = format!("; `{}` and what comes after it were not run", words.join(" "));
        self.too_much(kc, &what, &rest);
        false
    }

    /// Leaves the line because it is too long, and says so.
    pub(super) fn too_much(&mut self, kc: &mut Kc<'_>, what: &str, rest: &str) {
        kc.err(format!("{what}: Kubestep does not do this{rest}\n"));
        (self.code, self.left, self.full) = (1, true, true);
    }
}
