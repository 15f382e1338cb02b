//! The one table of what may vary between two recordings of the same session.
//!
//! Everything that is not in this table must be equal. Each row names a pair of real recordings (golden and twin) that
//! differ more when the row is taken away: a test holds every row to that.

/// One thing that may vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum May {
    Suffix,
    TemplateHash,
    Uid,
    Version,
    Address,
    ContainerId,
    EqualNode,
    EqualVolume,
    Moment,
    Age,
    Jitter,
    PullTime,
    Order,
    Repeats,
    Waiting,
}

/// A row: what may vary, how far, why, and a session whose two real recordings show it.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) may: May,
    pub(super) what: &'static str,
    pub(super) because: &'static str,
    pub(super) pair: &'static str,
}

/// Seconds that two moments may lie apart, on the golden recording's clock.
///
/// The recordings were made on a busy machine whose gaps below two seconds are blurred, and the API cuts times to
/// whole seconds.
pub(super) const SECONDS_APART: f64 = 3.0;

/// Two moments that follow each other within this time are one: the API cuts at whole seconds, so writes of one
/// instant can carry two neighbouring seconds.
pub(super) const SAME_INSTANT: f64 = 1.0;

pub(super) const TABLE: &[Row] = &[
    Row {
        may: May::Suffix,
        what: "the random end of a generated name and the minute in a CronJob's Job, mapped one to one",
        because: "the server draws the one, the wall clock gives the other; owners, lives and events pair the objects",
        pair: "s01-missing-tag",
    },
    Row {
        may: May::TemplateHash,
        what: "a template's hash, where the template holds quantities or the moment of a restart",
        because: "the hash covers cached spellings of quantities and the restart's own time stamp",
        pair: "s13-pending-for-cpu",
    },
    Row {
        may: May::Uid,
        what: "uid-N, mapped to the object that carries it; any number, if none does",
        because: "uids are numbered in order of first sight, and simultaneous creations come in either order",
        pair: "s01-missing-tag",
    },
    Row {
        may: May::Version,
        what: "rv-N, as long as it is a version of the same object, or of none that is recorded",
        because: "the store's revision counts every write, and the number of status writes varies",
        pair: "s01-missing-tag",
    },
    Row {
        may: May::Address,
        what: "pod addresses, cluster addresses, node ports and pod ranges, mapped to their owner",
        because: "they are given out at random, or in the order in which pods and nodes come",
        pair: "s15-service-typo",
    },
    Row {
        may: May::ContainerId,
        what: "a container's id, mapped to the pod that runs it",
        because: "the runtime draws it at each start",
        pair: "s01-missing-tag",
    },
    Row {
        may: May::EqualNode,
        what: "which of equal nodes: same size, labels and taints, and no step so far changes one by name",
        because: "the scheduler draws among nodes with equal scores",
        pair: "s02-typo-undo",
    },
    Row {
        may: May::EqualVolume,
        what: "which of equal volumes, that no claim and no step names: each is paired with the one of the same claim",
        because: "of volumes of the same size a claim gets the first of a Go map",
        pair: "s17-statefulset",
    },
    Row {
        may: May::Moment,
        what: "a moment (T+12.3s), within SECONDS_APART on a clock that is aligned at every command; any whole date",
        because: "commands take longer or shorter, and everything after them moves along",
        pair: "s01-missing-tag",
    },
    Row {
        may: May::Age,
        what: "an age in a table, within the same tolerance and the unit that the age is printed in",
        because: "an age is the command's moment minus the object's",
        pair: "s01-missing-tag",
    },
    Row {
        may: May::Jitter,
        what: "when an event of a container in back-off came again, by a third of the time since it first came",
        because: "a kubelet makes each wait longer by up to half, by chance; so of two equal rows of waits one may take \
                  a third less than the other",
        pair: "s01-missing-tag",
    },
    Row {
        may: May::PullTime,
        what: "the durations in `Successfully pulled image … in 1.002s (1.969s including waiting)`",
        because: "they hold milliseconds and the wait behind other pulls of the node",
        pair: "s01-missing-tag",
    },
    Row {
        may: May::Order,
        what: "the order of lines that carry a drawn name, of addresses in a list, and of simultaneous writes",
        because: "tables are sorted by names that are drawn, and writes of one instant race",
        pair: "s15-service-typo",
    },
    Row {
        may: May::Repeats,
        what: "how often an event of a timer or back-off came, or a status was written, never down to none",
        because: "back-offs are jittered, and states that follow each other closely are written once or twice",
        pair: "s01-missing-tag",
    },
    Row {
        may: May::Waiting,
        what: "which `Waiting for…` lines come in between, if their words and totals are right",
        because: "a watch sees some states and misses others",
        pair: "s01-missing-tag",
    },
];

/// The rows in force.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allow(u32);

impl Allow {
    pub(super) const fn everything() -> Self {
        Allow(u32::MAX)
    }

    pub(super) fn without(self, may: May) -> Self {
        Allow(self.0 & !(1 << may as u32))
    }

    pub(super) fn has(self, may: May) -> bool {
        self.0 & (1 << may as u32) != 0
    }
}
