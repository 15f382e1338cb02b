//! From a world to a picture: translates, and shares rows that did not change.

mod board;
mod faults;
mod head;
mod images;
mod loops;
mod nodes;
mod pods;
mod rows;
mod terminal;
mod timeline;
mod workloads;

pub(crate) use images::{Pulls, asked};
pub(crate) use pods::{Made, status_words};
pub(crate) use rows::gap;
pub(crate) use terminal::Told;

use crate::session::Session;
use kubestep_insight::verdict;
use kubestep_model::arrange::Arrange;
use kubestep_protocol::{Frame, Id};
use std::sync::Arc;

/// The picture of the moment that is looked at. Rows that are equal to those of the last picture keep their place in memory.
pub(crate) fn frame(session: &mut Session, last: Option<&Frame>) -> Frame {
    let world = session.world().clone();
    let board = board::Board::new(&world, &session.made);
    let found = verdict(&world, &session.note().gaps);
    // Nodes come first: rows and pods name them, and their numbers are to follow their own order.
    let mut frame = Frame {
        nodes: nodes::nodes(session, &board),
        rows: rows::rows(session, &board),
        pods: pods::pods(session, &board),
        images: images::images(session, &board),
        loops: loops::loops(session, &found),
        terminal: terminal::entries(session, &world),
        faults: faults::items(session),
        timeline: timeline::timeline(session),
        ..Frame::default()
    };
    frame.head = head::head(session, &found);
    if let Some(last) = last {
        share(&mut frame.rows, &last.rows, |r| r.id);
        share(&mut frame.pods, &last.pods, |r| r.id);
        share(&mut frame.nodes, &last.nodes, |r| r.id);
        share(&mut frame.images, &last.images, |r| r.id);
        share(&mut frame.loops, &last.loops, |r| r.id);
        share(&mut frame.terminal, &last.terminal, |r| r.id);
        share(&mut frame.faults, &last.faults, |r| r.id);
    }
    frame
}

/// Both lists are sorted by number.
fn share<T: PartialEq>(new: &mut [Arc<T>], old: &[Arc<T>], id: impl Fn(&T) -> Id) {
    let mut old = old.iter().peekable();
    for row in new {
        while old.next_if(|o| id(o) < id(row)).is_some() {}
        if let Some(same) = old.next_if(|o| id(o) == id(row))
            && !Arc::ptr_eq(same, row)
            && **same == **row
        {
            *row = same.clone();
        }
    }
}

fn sorted<T>(mut rows: Vec<T>, id: impl Fn(&T) -> Id) -> Vec<Arc<T>> {
    rows.arrange_by_key(|r| id(r));
    rows.into_iter().map(Arc::new).collect()
}
