//! The difference between two frames, and putting it on.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Branch, Entry, FaultItem, Flag, Frame, FrameId, GapSpan, Head, Id, Image, Lane, Loop, Mark, Node, Pod,
    Row, Timeline,
};

/// Everything that is kept in a list sorted by number.
pub trait Keyed {
    /// Its number.
    fn id(&self) -> Id;
}

macro_rules! keyed {
    ($($name:ident),*) => { $(impl Keyed for $name { fn id(&self) -> Id { self.id } })* };
}
keyed!(Row, Pod, Node, Image, Loop, Entry, FaultItem);

/// What changed in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes<T> {
    /// New or different, sorted by number.
    pub put: Vec<Arc<T>>,
    /// No longer there, sorted.
    pub gone: Vec<Id>,
}

impl<T> Default for Changes<T> {
    fn default() -> Self {
        Changes { put: Vec::new(), gone: Vec::new() }
    }
}

impl<T: Keyed + PartialEq> Changes<T> {
    /// What turns `old` into `new`. Rows that are the same allocation are not compared.
    pub fn between(old: &[Arc<T>], new: &[Arc<T>]) -> Self {
        let (mut put, mut gone, mut i) = (Vec::new(), Vec::new(), 0);
        for row in new {
            while i < old.len() && old[i].id() < row.id() {
                gone.push(old[i].id());
                i += 1;
            }
            match old.get(i).filter(|o| o.id() == row.id()) {
                Some(same) => {
                    i += 1;
                    if !Arc::ptr_eq(same, row) && **same != **row {
                        put.push(row.clone());
                    }
                }
                None => put.push(row.clone()),
            }
        }
        gone.extend(old[i..].iter().map(|o| o.id()));
        Changes { put, gone }
    }

    /// Puts the change on. Rows that did not change keep their allocation.
    pub fn apply(self, rows: &mut Vec<Arc<T>>) {
        if !self.gone.is_empty() {
            rows.retain(|r| self.gone.binary_search(&r.id()).is_err());
        }
        for row in self.put {
            match rows.binary_search_by_key(&row.id(), |r| r.id()) {
                Ok(i) => rows[i] = row,
                Err(i) => rows.insert(i, row),
            }
        }
    }
}

/// What changed in the score.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineDelta {
    /// Lanes from this place on are replaced by `lanes`.
    pub lanes_from: u32,
    /// New lanes.
    pub lanes: Vec<Lane>,
    /// Marks from this place on are replaced by `marks`.
    pub marks_from: u32,
    /// New marks.
    pub marks: Vec<Mark>,
    /// Gap spans from this place on are replaced by `gaps`.
    pub gaps_from: u32,
    /// New gap spans.
    pub gaps: Vec<GapSpan>,
    /// All flags, where they changed.
    pub flags: Option<Vec<Flag>>,
    /// All earlier timelines, where they changed.
    pub branches: Option<Vec<Branch>>,
}

/// How far two lists are the same from their beginning.
fn common<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

fn splice<T>(list: &mut Vec<T>, from: u32, new: Vec<T>) {
    list.truncate(from as usize);
    list.extend(new);
}

impl TimelineDelta {
    /// What turns `old` into `new`.
    pub fn between(old: &Timeline, new: &Timeline) -> Self {
        let lanes = common(&old.lanes, &new.lanes);
        let marks = common(&old.marks, &new.marks);
        let gaps = common(&old.gaps, &new.gaps);
        TimelineDelta {
            lanes_from: lanes as u32,
            lanes: new.lanes[lanes..].to_vec(),
            marks_from: marks as u32,
            marks: new.marks[marks..].to_vec(),
            gaps_from: gaps as u32,
            gaps: new.gaps[gaps..].to_vec(),
            flags: (old.flags != new.flags).then(|| new.flags.clone()),
            branches: (old.branches != new.branches).then(|| new.branches.clone()),
        }
    }

    /// Puts the change on.
    pub fn apply(self, timeline: &mut Timeline) {
        splice(&mut timeline.lanes, self.lanes_from, self.lanes);
        splice(&mut timeline.marks, self.marks_from, self.marks);
        splice(&mut timeline.gaps, self.gaps_from, self.gaps);
        if let Some(flags) = self.flags {
            timeline.flags = flags;
        }
        if let Some(branches) = self.branches {
            timeline.branches = branches;
        }
    }
}

/// The difference between two frames.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// The frame it is put on.
    pub base: FrameId,
    /// The new head, whole.
    pub head: Head,
    /// Rows.
    pub rows: Changes<Row>,
    /// Pods.
    pub pods: Changes<Pod>,
    /// Nodes.
    pub nodes: Changes<Node>,
    /// Images.
    pub images: Changes<Image>,
    /// Loops.
    pub loops: Changes<Loop>,
    /// Terminal entries.
    pub terminal: Changes<Entry>,
    /// Faults.
    pub faults: Changes<FaultItem>,
    /// The score.
    pub timeline: TimelineDelta,
}

/// A delta was put on a frame that is not its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongBase;

impl Delta {
    /// What turns `old` into `new`.
    pub fn between(old: &Frame, new: &Frame) -> Self {
        Delta {
            base: old.head.id,
            head: new.head.clone(),
            rows: Changes::between(&old.rows, &new.rows),
            pods: Changes::between(&old.pods, &new.pods),
            nodes: Changes::between(&old.nodes, &new.nodes),
            images: Changes::between(&old.images, &new.images),
            loops: Changes::between(&old.loops, &new.loops),
            terminal: Changes::between(&old.terminal, &new.terminal),
            faults: Changes::between(&old.faults, &new.faults),
            timeline: TimelineDelta::between(&old.timeline, &new.timeline),
        }
    }

    /// Puts the change on `frame`, or leaves it as it is if it is not the base.
    pub fn apply(self, frame: &mut Frame) -> Result<(), WrongBase> {
        if frame.head.id != self.base {
            return Err(WrongBase);
        }
        frame.head = self.head;
        self.rows.apply(&mut frame.rows);
        self.pods.apply(&mut frame.pods);
        self.nodes.apply(&mut frame.nodes);
        self.images.apply(&mut frame.images);
        self.loops.apply(&mut frame.loops);
        self.terminal.apply(&mut frame.terminal);
        self.faults.apply(&mut frame.faults);
        self.timeline.apply(&mut frame.timeline);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{At, ImageLook};

    fn image(id: u32, asked: u32) -> Arc<Image> {
        Arc::new(Image {
            id: Id(id),
            reference: format!("registry.example.com/a:{id}"),
            name: format!("a:{id}"),
            look: ImageLook::There,
            words: String::new(),
            behaviour: vec![],
            asked,
            next: None,
        })
    }

    fn frame(id: u32, images: Vec<Arc<Image>>, marks: &[u64]) -> Frame {
        let marks = marks.iter().map(|&at| Mark { at: At(at), lane: 0, stored: true }).collect();
        Frame {
            head: Head { id: FrameId(id), ..Head::default() },
            images,
            timeline: Timeline { marks, ..Timeline::default() },
            ..Frame::default()
        }
    }

    #[test]
    fn a_delta_put_on_its_base_is_the_new_frame() {
        let cases = [
            (vec![], vec![image(1, 0)]),
            (vec![image(1, 0)], vec![]),
            (vec![image(1, 0), image(2, 0), image(4, 0)], vec![image(1, 1), image(3, 0), image(4, 0)]),
            (vec![image(5, 0)], vec![image(1, 0), image(9, 0)]),
        ];
        for (old, new) in cases {
            for (a, b) in [(&[1u64, 2, 3][..], &[1u64, 2, 9, 10][..]), (&[1, 2], &[1]), (&[], &[7])] {
                let (old, new) = (frame(1, old.clone(), a), frame(2, new.clone(), b));
                let mut shown = old.clone();
                Delta::between(&old, &new).apply(&mut shown).expect("same base");
                assert_eq!(shown, new);
            }
        }
    }

    #[test]
    fn rows_that_did_not_change_are_neither_sent_nor_replaced() {
        let (kept, old, new) = (image(1, 0), image(2, 0), image(2, 1));
        let before = frame(1, vec![kept.clone(), old], &[1]);
        let delta = Delta::between(&before, &frame(2, vec![image(1, 0), new], &[1, 2]));
        assert_eq!(delta.images.put.len(), 1);
        assert_eq!(delta.timeline.marks.len(), 1);
        let mut shown = before;
        delta.apply(&mut shown).expect("same base");
        assert!(Arc::ptr_eq(&shown.images[0], &kept));
    }

    #[test]
    fn a_delta_on_another_base_is_refused_and_changes_nothing() {
        let (old, new, other) =
            (frame(1, vec![], &[]), frame(2, vec![image(1, 0)], &[]), frame(7, vec![], &[]));
        let mut shown = other.clone();
        assert_eq!(Delta::between(&old, &new).apply(&mut shown), Err(WrongBase));
        assert_eq!(shown, other);
    }
}
