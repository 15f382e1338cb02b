//! What was typed in terminals, and what was answered up to the moment that is looked at.

use super::sorted;
use crate::session::{APPLY, Session};
use kubestep_cluster::{ClientState, World};
use kubestep_kubectl::docs;
use kubestep_model::{
    client::{ClientAsk, Stream as Side},
    schema::Descriptions,
};
use kubestep_protocol::{Chunk, Entry, Stream};
use std::{borrow::Cow, sync::Arc};

/// So much of an output is shown.
const MOST: usize = 64 << 10;

/// What is shown in the place of descriptions that are not here yet.
const ABSENT: &str = "(Kubernetes' descriptions are on their way)";

/// The output of a program, the last part of it where it is long.
pub(super) fn chunks(client: &ClientState, descriptions: Option<&Descriptions>) -> Vec<Chunk> {
    let mut left = MOST;
    let mut out: Vec<Chunk> = vec![];
    for chunk in client.output.iter().rev() {
        if left == 0 {
            break;
        }
        let text = match docs::waits(&chunk.text) {
            true => Cow::Owned(docs::shown(&chunk.text, descriptions, ABSENT)),
            false => Cow::Borrowed(chunk.text.as_str()),
        };
        let mut from = text.len().saturating_sub(left);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        left -= text.len() - from;
        let stream = if chunk.stream == Side::Out { Stream::Out } else { Stream::Err };
        out.push(Chunk { stream, text: text[from..].into() });
    }
    out.reverse();
    out
}

/// The entries, oldest first; those of Apply stand elsewhere.
pub(super) fn entries(session: &mut Session, world: &World) -> Vec<Arc<Entry>> {
    let mut rows = vec![];
    for (id, client) in world.clients().filter(|(_, c)| c.terminal != APPLY && c.started >= session.zero) {
        let names = client.output.iter().any(|c| docs::waits(&c.text));
        session.wants_descriptions |= names && session.descriptions.is_none();
        let waits = matches!(client.waiting, Some(ClientAsk::Watch { .. } | ClientAsk::Sleep(_)));
        rows.push(Entry {
            id: session.ids.client(*id, client),
            terminal: u8::try_from(client.terminal).unwrap_or(0),
            line: client.program.line(),
            output: chunks(client, session.descriptions.as_deref()),
            exit: client.ended.map(|(code, _)| code),
            waits: client.ended.is_none() && waits,
            step: 0,
        });
    }
    sorted(rows, |r| r.id)
}
