//! The scheduler against recorded answers of the real one, and its behaviour step by step.

mod recorded;
mod replay;
mod steps;
mod told;
