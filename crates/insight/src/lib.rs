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
pub mod requests;
pub mod sweep;
mod verdict;
mod whole;

pub use blocker::{Blocker, Refusal};
pub use chain::{Link, Said, end, why};
pub use gap::{Measure, measure};
pub use gaps::{Gap, Gaps};
pub use verdict::{Kind, Verdict, but, idle, kind, settled, unnoticed, verdict};
