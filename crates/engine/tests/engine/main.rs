//! The engine as a page uses it.

mod breaking;
mod checking;
mod frames;
mod lessons;
mod links;
mod opening;
mod page;
mod places;
mod random;
mod scenarios;
