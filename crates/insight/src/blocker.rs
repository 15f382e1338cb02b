//! What an open gap waits for: a closed list.

/// What the clock has to reach before it goes on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Wait {
    PullBackOff,
    Throttled,
    Retry,
    MinReady,
    JobBackOff,
    Grace,
}

/// The codes, each once: what is named is in the list of all.
macro_rules! codes {
    ($($name:ident = $text:literal),+ $(,)?) => {
        /// What a chain may end with, to tell one sort from the other.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Code { $($name),+ }

        impl Code {
            /// Every end that a chain may have.
            pub const ALL: &[Code] = &[$(Code::$name),+];

            /// Its name.
            pub fn text(self) -> &'static str {
                match self { $(Code::$name => $text),+ }
            }
        }
    };
}

codes! {
    NotObserved = "not-observed",
    LoopStopped = "loop-stopped",
    WatchHeld = "watch-held",
    RefusedQuota = "refused/quota",
    RefusedLimitRange = "refused/limit-range",
    RefusedForbidden = "refused/forbidden",
    RefusedInvalid = "refused/invalid",
    RefusedOther = "refused/other",
    Paused = "paused",
    Turn = "turn",
    NothingFits = "nothing-fits",
    Gated = "gated",
    ImageAbsent = "image/absent",
    ImageNotGiven = "image/not-given",
    Volume = "volume",
    Configuration = "configuration",
    Ends = "ends",
    Probe = "probe",
    PullBackOff = "time/pull-back-off",
    Throttled = "time/throttled",
    Retry = "time/retry",
    MinReady = "time/min-ready",
    JobBackOff = "time/job-back-off",
    Grace = "time/grace",
    NodeSilent = "node-silent",
    Finalizer = "finalizer",
    UnderWay = "under-way",
    NoLoop = "no-loop",
}

/// How a write was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Refusal {
    Quota,
    LimitRange,
    Forbidden,
    Invalid,
    Other,
}

/// The end of a chain of waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Blocker {
    /// Its loop has not looked at it yet.
    NotObserved,
    /// Its loop was stopped, has crashed, or is told nothing.
    LoopStopped {
        who: String,
    },
    WatchHeld {
        who: String,
        kind: String,
    },
    /// A write is refused again and again.
    Refused {
        how: Refusal,
        message: String,
    },
    Paused,
    /// Others come first: surge and unavailability.
    Turn,
    /// No node takes the pod.
    NothingFits {
        message: String,
    },
    /// A gate keeps the scheduler from looking at the pod.
    Gated {
        message: String,
    },
    /// An image that does not come.
    Image {
        image: String,
        reason: String,
        absent: bool,
    },
    /// A claim that no volume is bound to.
    Volume {
        claim: String,
        message: String,
    },
    /// A config map, secret or volume that is missing.
    Configuration {
        message: String,
    },
    /// A container that ends again and again.
    Ends {
        container: String,
        code: i32,
        reason: String,
        restarts: i32,
    },
    /// A probe that fails.
    Probe {
        container: String,
    },
    /// It goes on by itself when the clock says so.
    Time {
        what: Wait,
    },
    /// The pod's node does not answer.
    NodeSilent {
        node: String,
    },
    /// Something holds the object back from going away.
    Finalizer {
        names: Vec<String>,
    },
    /// It is on its way; nothing stands in it.
    UnderWay,
    /// Nothing acts on such objects.
    NoLoop,
}

impl Blocker {
    /// Whether only waiting is left: the gap will not close by what is under way.
    pub fn stalls(&self) -> bool {
        !matches!(self, Blocker::NotObserved | Blocker::Turn | Blocker::Time { .. } | Blocker::UnderWay)
    }

    /// Whether it is tried again and again: one bad result does not make it hopeless.
    pub fn retries(&self) -> bool {
        matches!(
            self,
            Blocker::Image { .. }
                | Blocker::Ends { .. }
                | Blocker::Volume { .. }
                | Blocker::Configuration { .. }
        )
    }

    /// Its code, and which sort of it.
    pub fn full_code(&self) -> Code {
        match self {
            Blocker::NotObserved => Code::NotObserved,
            Blocker::LoopStopped { .. } => Code::LoopStopped,
            Blocker::WatchHeld { .. } => Code::WatchHeld,
            Blocker::Refused { how: Refusal::Quota, .. } => Code::RefusedQuota,
            Blocker::Refused { how: Refusal::LimitRange, .. } => Code::RefusedLimitRange,
            Blocker::Refused { how: Refusal::Forbidden, .. } => Code::RefusedForbidden,
            Blocker::Refused { how: Refusal::Invalid, .. } => Code::RefusedInvalid,
            Blocker::Refused { how: Refusal::Other, .. } => Code::RefusedOther,
            Blocker::Paused => Code::Paused,
            Blocker::Turn => Code::Turn,
            Blocker::NothingFits { .. } => Code::NothingFits,
            Blocker::Gated { .. } => Code::Gated,
            Blocker::Image { absent: true, .. } => Code::ImageAbsent,
            Blocker::Image { .. } => Code::ImageNotGiven,
            Blocker::Volume { .. } => Code::Volume,
            Blocker::Configuration { .. } => Code::Configuration,
            Blocker::Ends { .. } => Code::Ends,
            Blocker::Probe { .. } => Code::Probe,
            Blocker::Time { what: Wait::PullBackOff } => Code::PullBackOff,
            Blocker::Time { what: Wait::Throttled } => Code::Throttled,
            Blocker::Time { what: Wait::Retry } => Code::Retry,
            Blocker::Time { what: Wait::MinReady } => Code::MinReady,
            Blocker::Time { what: Wait::JobBackOff } => Code::JobBackOff,
            Blocker::Time { what: Wait::Grace } => Code::Grace,
            Blocker::NodeSilent { .. } => Code::NodeSilent,
            Blocker::Finalizer { .. } => Code::Finalizer,
            Blocker::UnderWay => Code::UnderWay,
            Blocker::NoLoop => Code::NoLoop,
        }
    }
}
