//! One integration binary with a module per ring of tests.

mod blockers;
mod cases;
mod fidelity;
mod golden;
mod hashes;
mod lessons;
mod orders;
mod races;
mod rewind;
mod roundtrip;
mod scheduling;
mod sweep;
mod tidy;
mod vectors;
