//! What a command printed: in blocks of lines, so that a long answer costs what is seen of it, and one that grows costs
//! its last block.

use std::sync::Arc;

use kubestep_protocol::{Chunk, Entry, Marked, Meaning};
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use crate::browser::closest;
use crate::state::Msg;
use crate::store::{Send, on, use_send};
use crate::words::{drawn, fill, said};

/// So many lines are one block.
const LINES: usize = 64;
/// So many blocks are drawn of an answer, the last ones, until somebody asks for the others. A table of a thousand rows is
/// three thousand elements; a dozen of them and every task of the page is a long one.
const DRAWN: usize = 4;

/// A part of one chunk: where it begins and ends in its text.
#[derive(Clone, Copy)]
struct Part {
    chunk: usize,
    from: usize,
    to: usize,
}

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) entry: Arc<Entry>,
}

/// All that is shown of an output.
#[component]
pub(crate) fn Output(props: &Props) -> Html {
    let all = use_state(|| false);
    let blocks = blocks(&props.entry);
    let last = blocks.len().saturating_sub(1);
    let hidden = if *all { 0 } else { blocks.len().saturating_sub(DRAWN) };
    let onclick = Callback::from(move |e: MouseEvent| {
        // Whoever pressed a key goes on in the terminal, where the lines now are.
        if let Some(log) = closest(&e, ".term").and_then(|e| e.dyn_into::<HtmlElement>().ok()) {
            log.focus().ok();
        }
        all.set(true);
    });
    html! {
        <>
            if hidden > 0 {
                <button class="btn btn-bare btn-s" onclick={onclick}>{fill("Show {} earlier lines", &[&(hidden * LINES)])}</button>{"\n"}
            }
            <>{ for blocks.into_iter().enumerate().skip(hidden).map(|(i, parts)| html! { <Block key={i} entry={props.entry.clone()} parts={parts} whole={i < last} /> }) }</>
        </>
    }
}

/// The text of a chunk as it is shown: what follows the output stands on its last line.
fn shown(entry: &Entry, chunk: usize) -> &str {
    let text = entry.output[chunk].text.as_str();
    if chunk + 1 == entry.output.len() { text.trim_end_matches('\n') } else { text }
}

fn blocks(entry: &Entry) -> Vec<Vec<Part>> {
    let mut blocks = vec![];
    let (mut block, mut lines) = (vec![], 0);
    for chunk in 0..entry.output.len() {
        let text = shown(entry, chunk);
        let mut from = 0;
        for (at, _) in text.match_indices('\n') {
            lines += 1;
            if lines == LINES {
                block.push(Part { chunk, from, to: at + 1 });
                blocks.push(std::mem::take(&mut block));
                (from, lines) = (at + 1, 0);
            }
        }
        if from < text.len() {
            block.push(Part { chunk, from, to: text.len() });
        }
    }
    blocks.push(block);
    blocks
}

#[derive(Properties)]
struct BlockProps {
    entry: Arc<Entry>,
    parts: Vec<Part>,
    /// It ends with a line.
    whole: bool,
}

impl BlockProps {
    fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.parts.iter().map(|part| piece(&self.entry.output[part.chunk], part))
    }
}

/// The same words with the same marks are the same block, wherever they now stand in the output.
impl PartialEq for BlockProps {
    fn eq(&self, other: &Self) -> bool {
        self.whole == other.whole && self.pieces().eq(other.pieces())
    }
}

/// A part's words, and its marks with the place where their chunk's text has its beginning.
struct Piece<'a> {
    text: &'a str,
    marks: &'a [Marked],
    from: usize,
}

impl PartialEq for Piece<'_> {
    fn eq(&self, other: &Self) -> bool {
        let place = |piece: &Self, mark: &Marked| {
            let from = piece.from;
            ((mark.start as usize).saturating_sub(from), (mark.end as usize).saturating_sub(from))
        };
        self.text == other.text
            && self.marks.len() == other.marks.len()
            && self
                .marks
                .iter()
                .zip(other.marks)
                .all(|(a, b)| place(self, a) == place(other, b) && a.means == b.means)
    }
}

fn piece<'a>(chunk: &'a Chunk, part: &Part) -> Piece<'a> {
    let first = chunk.marks.partition_point(|m| (m.start as usize) < part.from);
    let marks = &chunk.marks[first..];
    let end = marks.partition_point(|m| (m.start as usize) < part.to);
    Piece {
        text: chunk.text.get(part.from..part.to).unwrap_or_default(),
        marks: &marks[..end],
        from: part.from,
    }
}

/// Names of objects select them, states have their colours.
#[component]
fn Block(props: &BlockProps) -> Html {
    let send = use_send();
    let words = props.pieces().map(|piece| marked(&piece, &send));
    html! { <span class={classes!(props.whole.then_some("lines"))}>{ for words }</span> }
}

fn marked(piece: &Piece, send: &Send) -> Html {
    let text = piece.text;
    // Nobody printed what the simulator says of lines that are missing.
    if text.ends_with(" kept.\n") {
        return drawn(said(text.trim_end_matches('\n')) + "\n");
    }
    let mut at = 0;
    let mut parts: Vec<Html> = Vec::new();
    for mark in piece.marks {
        let start = (mark.start as usize).saturating_sub(piece.from);
        let end = (mark.end as usize).saturating_sub(piece.from).min(text.len());
        let (Some(before), Some(word)) = (text.get(at..start), text.get(start..end)) else { continue };
        parts.push(before.to_string().into());
        at = end;
        parts.push(match &mark.means {
            // Not stops of Tab: a long table would have a thousand. The board has them all for the keyboard.
            Meaning::Object(object) => html! {
                <button class="name" tabindex="-1" onclick={on(send, Msg::Select(object.clone()))}>{word.to_string()}</button>
            },
            Meaning::Good => html! { <span class="is-good">{word.to_string()}</span> },
            Meaning::Waits => html! { <span class="is-waiting">{word.to_string()}</span> },
            Meaning::Bad => html! { <span class="is-bad">{word.to_string()}</span> },
        });
    }
    parts.push(text.get(at..).unwrap_or_default().to_string().into());
    parts.into_iter().collect()
}
