//! What was typed in terminals, and what was answered up to the moment that is looked at.

use crate::session::{APPLY, Session, object_ref};
use kubestep_cluster::{ClientState, World};
use kubestep_kubectl::docs;
use kubestep_model::{
    Instant,
    arrange::Arrange,
    client::{ClientAsk, Sense, Span, Stream as Side, Text},
    schema::Descriptions,
};
use kubestep_protocol::{Chunk, Entry, Marked, Meaning, Stream};
use std::sync::Arc;

/// So much of an output is shown.
const MOST: usize = 64 << 10;

/// What is shown in the place of descriptions that are not here yet.
const ABSENT: &str = "(Kubernetes' descriptions are on their way)";

/// The output of a program, the last part of it where it is long: from the beginning of a line on, after a word about
/// what is missing.
pub(super) fn chunks(client: &ClientState, descriptions: Option<&Descriptions>) -> Vec<Chunk> {
    let mut left = MOST;
    let mut out: Vec<Chunk> = vec![];
    let mut rest = client.output.iter().rev();
    while let Some(chunk) = rest.next() {
        let differs = chunk.text.made().filter(|text| docs::differs(text));
        // Text with descriptions in it is put together here and has no marks.
        let described = differs.map(|text| Text::from(docs::shown(text, descriptions, ABSENT)));
        let whole = described.as_ref().unwrap_or(&chunk.text);
        // The width of a character more tells whether there is more.
        let (mut text, mut spans) = whole.marked_end(left + 4);
        if let (Some(all), None) = (whole.made(), &described) {
            spans = chunk.spans.clone();
            spans.retain_mut(|span| span.begin_after(all.len() - text.len()));
        }
        let cut = text.len() > left;
        if cut {
            let end = line_after(&text, text.len() - left);
            text.drain(..end);
            spans.retain_mut(|span| span.begin_after(end));
        }
        left = left.saturating_sub(text.len());
        let before = whole.lines().map(|all| all.saturating_sub(lines(&text)));
        let stream = if chunk.stream == Side::Out { Stream::Out } else { Stream::Err };
        out.push(Chunk { stream, text, marks: spans.iter().map(mark).collect() });
        if cut {
            let lines = before.and_then(|n| Some(n + lines_of(rest)?));
            out.push(Chunk { stream: Stream::Err, text: missing(lines), marks: vec![] });
            break;
        }
    }
    out.reverse();
    out
}

/// Where the first line begins that is wholly after this place; the place itself, if no line begins there.
fn line_after(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    if text[..at].ends_with('\n') {
        return at;
    }
    text[at..].find('\n').map_or(at, |end| at + end + 1)
}

fn lines(text: &str) -> usize {
    text.bytes().filter(|b| *b == b'\n').count()
}

/// How many lines stand there; none if that is not known before somebody reads them.
fn lines_of<'a>(chunks: impl Iterator<Item = &'a kubestep_model::client::Chunk>) -> Option<usize> {
    let known = |text: &Text| text.lines().filter(|_| text.made().is_none_or(|text| !docs::differs(text)));
    chunks.map(|c| known(&c.text)).sum()
}

/// What is said of lines that are not shown.
fn missing(lines: Option<usize>) -> String {
    match lines {
        None | Some(0) => "Earlier lines are not kept.\n".into(),
        Some(1) => "1 line before these is not kept.\n".into(),
        Some(n) => format!("{n} lines before these are not kept.\n"),
    }
}

/// What a part of a text stands for, in the page's words.
fn mark(span: &Span) -> Marked {
    let means = match &span.means {
        Sense::Object(key) => Meaning::Object(object_ref(key)),
        Sense::Good => Meaning::Good,
        Sense::Waits => Meaning::Waits,
        Sense::Bad => Meaning::Bad,
    };
    Marked { start: span.start, end: span.end, means }
}

/// An entry, and what it was made of.
#[derive(Debug)]
pub(crate) struct Told {
    output: Arc<Vec<kubestep_model::client::Chunk>>,
    started: Instant,
    described: bool,
    /// Descriptions stand in it.
    names: bool,
    entry: Arc<Entry>,
}

/// The entries, oldest first; those of Apply stand elsewhere. An output may be long, so what did not change since the
/// last picture is taken from there.
pub(super) fn entries(session: &mut Session, world: &World) -> Vec<Arc<Entry>> {
    let mut before = std::mem::take(&mut session.told);
    let described = session.descriptions.is_some();
    let mut rows: Vec<Arc<Entry>> = vec![];
    for (id, client) in world.clients().filter(|(_, c)| c.terminal != APPLY && c.started >= session.zero) {
        let line = client.program.line();
        let exit = client.ended.map(|(code, _)| code);
        let waits = exit.is_none()
            && matches!(
                client.waiting,
                Some(ClientAsk::Watch { .. } | ClientAsk::Sleep(_) | ClientAsk::Again(_))
            );
        let same = |told: &Told| {
            Arc::ptr_eq(&told.output, &client.output)
                && (told.started, told.described) == (client.started, described)
                && (told.entry.exit, told.entry.waits) == (exit, waits)
                && told.entry.line == line
        };
        let told = before.remove(id).filter(same).unwrap_or_else(|| {
            let entry = Entry {
                id: session.ids.client(*id, client),
                terminal: u8::try_from(client.terminal).unwrap_or(0),
                line,
                output: chunks(client, session.descriptions.as_deref()),
                exit,
                waits,
                step: 0,
            };
            Told {
                output: client.output.clone(),
                started: client.started,
                described,
                names: client.output.iter().filter_map(|c| c.text.made()).any(docs::waits),
                entry: entry.into(),
            }
        });
        session.wants_descriptions |= told.names && !described;
        rows.push(told.entry.clone());
        session.told.insert(*id, told);
    }
    rows.arrange_by_key(|r| r.id);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_begins_with_a_line() {
        for (text, at, want) in [
            ("one\ntwo\nthree", 2, "two\nthree"),
            ("one\ntwo", 4, "two"),
            ("one\ntwo", 5, "wo"),
            ("\u{e4}b\n", 1, ""),
            ("\u{e4}b", 1, "b"),
            ("a\n", 2, ""),
        ] {
            assert_eq!(&text[line_after(text, at)..], want, "{text:?} {at}");
        }
    }
}
