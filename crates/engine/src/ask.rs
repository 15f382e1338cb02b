//! A kubectl command put to the world that is looked at, without an act: for describing and for checking drafts.

pub(crate) use kubestep_lessons::ask::{Answer, ask};
