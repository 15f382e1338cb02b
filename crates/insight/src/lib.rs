//! Gap, verdict, why: pure questions to a world and its records.
//!
//! No controller knows this crate; lessons and the page both ask it. It answers in codes and values; sentences live
//! in one table per language.

mod blocker;
mod chain;
pub mod explore;
mod gap;
mod gaps;
pub mod look;
mod needs;
mod next;
pub mod requests;
mod said;
pub mod sweep;
mod verdict;
mod waits;
mod whole;
mod writes;

pub use blocker::{Blocker, Code, Refusal, Wait};
pub use chain::{Link, end, why};
pub use gap::{Measure, counts, measure};
pub use gaps::{Gap, Gaps};
pub use said::{Said, Writer, says};
pub use verdict::{But, Kind, Verdict, but, has_failed, idle, kind, settled, unnoticed, verdict};
pub use writes::writes;
