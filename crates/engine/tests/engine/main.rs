//! The engine as a page uses it.

mod authoring;
mod breaking;
mod checking;
mod choosing;
mod flags;
mod frames;
mod lessons;
mod links;
mod long;
mod machines;
mod opening;
mod page;
mod places;
mod random;
mod roundtrip;
mod scenarios;
mod shell;
mod stalls;
mod troubling;
