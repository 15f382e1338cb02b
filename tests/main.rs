//! One integration binary with a module per ring of tests.

mod around;
mod blockers;
mod cases;
mod endings;
mod fidelity;
mod golden;
mod hashes;
mod lessons;
mod orders;
mod races;
mod rewind;
mod rollouts;
mod roundtrip;
mod scheduling;
mod sweep;
mod tidy;
mod vectors;
