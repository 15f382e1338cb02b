//! What is kept beside each step of a branch: gaps, marks of the score, how far the learner had come, what was put in.

use crate::link::Saved;
use kubestep_insight::Gaps;
use kubestep_lessons::watch::Watch;
use kubestep_protocol::{At, GapSpan, Lane, Mark, Timeline, Who};
use std::sync::Arc;

/// What is kept of one step.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    /// The open gaps after it.
    pub(crate) gaps: Gaps,
    /// How many spans of the score's gaps there were after it.
    pub(crate) spans: usize,
    /// How far the learner had come after it.
    pub(crate) watch: Option<Arc<Watch>>,
}

/// The notes of one branch, and what was put in to make it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Track {
    pub(crate) notes: Vec<Note>,
    pub(crate) saved: Vec<Saved>,
    /// Lanes, marks and gaps, one mark for each note but the first.
    pub(crate) score: Timeline,
}

impl Track {
    /// Adds the note of a step, and its mark.
    pub(super) fn push(
        &mut self,
        gaps: Gaps,
        watch: Option<Arc<Watch>>,
        at: At,
        opened: Option<At>,
        mark: Option<(Who, String, bool)>,
    ) {
        let score = &mut self.score;
        if let Some((who, name, stored)) = mark {
            let lane = score.lanes.iter().position(|l| l.who == who && l.name == name).unwrap_or_else(|| {
                score.lanes.push(Lane { who, name });
                score.lanes.len() - 1
            });
            score.marks.push(Mark { at, lane: u8::try_from(lane).unwrap_or(u8::MAX), stored });
        }
        if score.gaps.last().is_none_or(|g| g.opened != opened) {
            score.gaps.push(GapSpan { from: at, opened });
        }
        self.notes.push(Note { gaps, spans: score.gaps.len(), watch });
    }

    /// Leaves only the first steps.
    pub(super) fn cut(&mut self, notes: usize, saved: usize) {
        self.notes.truncate(notes);
        self.saved.truncate(saved);
        self.score.marks.truncate(notes.saturating_sub(1));
        self.score.gaps.truncate(self.notes.last().map_or(0, |n| n.spans));
    }
}
