//! What the command line `kubestep` does, callable: record, compare, vectors, explore, sweep.
//!
//! The binary reads arguments and calls these; the tests of the workspace call them without a process between.

pub mod compare;
pub mod explore;
pub mod record;
pub mod sweep;
pub mod vectors;
