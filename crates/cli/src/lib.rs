//! What the command line `kubestep` does, callable: record, compare, vectors, verdicts, replay, explore, sweep, bench, lesson, verify.
//!
//! The binary reads arguments and calls these; the tests of the workspace call them without a process between.

pub mod bench;
pub mod compare;
pub mod explore;
pub mod lesson;
pub mod record;
pub mod replay;
pub mod sweep;
pub mod vectors;
pub mod verdicts;
pub mod verify;
