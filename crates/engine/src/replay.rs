//! A saved session played again, for people without a page.

use crate::{lesson::Shelf, link};
use kubestep_insight::verdict;

/// What a saved session came to when it was played again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The scenario that it begins from.
    pub scenario: String,
    /// Its steps.
    pub steps: usize,
    /// How it stands at its end: `converged`, `converging` or `stalled`.
    pub verdict: &'static str,
    /// The hash of its last world.
    pub hash: String,
    /// Whether the text says another hash: it was made by another version.
    pub differs: bool,
}

/// Plays a session again from the text of a link or of what the page keeps. Errors: what is wrong with the text.
pub fn replay(text: &str) -> Result<Replayed, String> {
    let text = text.rsplit('#').next().unwrap_or(text);
    let opened = link::open(text, &Shelf::default()).map_err(|why| link::said(&why))?;
    let session = opened.session;
    let verdict = verdict(session.world(), &session.note().gaps).kind.name();
    Ok(Replayed {
        scenario: session.scenario.clone(),
        steps: session.history.last(),
        verdict,
        hash: session.world().hash(),
        differs: opened.differs,
    })
}
