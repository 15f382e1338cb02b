//! The steps of a session as Markdown.

use super::walk::Walk;
use crate::words;
use kubestep_insight::verdict;
use kubestep_protocol::{At, Rich, Span, age};

/// The steps that came after the session was handed to the person; of one that parted before, all since the start.
pub(super) fn markdown(walk: &Walk) -> String {
    let session = &walk.session;
    let first = if walk.parted { 0 } else { session.scenario_steps };
    let begin = session.moment(first).map_or(At(0), |m| session.at(m.at));
    let mut out = format!(
        "# {}\n\nKubernetes v1.37, as Kubestep models it. Steps {} to {}; times count from the beginning.\n\n",
        escaped(&session.title),
        first + 1,
        session.step()
    );
    for sentence in words::sentences(session, first + 1, session.step() + 1) {
        let time = age(sentence.at.0.saturating_sub(begin.0));
        out.push_str(&format!("{}. +{time} {}\n", sentence.step, text(&sentence.words, sentence.at)));
    }
    let found = verdict(session.world(), &session.note().gaps);
    let (first, rest) = found.kind.name().split_at(1);
    let stands = first.to_ascii_uppercase() + rest;
    out.push_str(&format!("\n**{stands}** after {}.\n", age(session.now().0.saturating_sub(begin.0))));
    out
}

/// A sentence with Markdown's marks.
fn text(words: &Rich, now: At) -> String {
    let one = |span: &Span| match span {
        Span::Strong(text) | Span::Object(_, text) => format!("**{}**", escaped(text)),
        Span::Code(text) => code(text),
        other => escaped(&Rich(vec![other.clone()]).plain(now)),
    };
    words.0.iter().map(one).collect()
}

/// Code in as many backticks as it needs.
fn code(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.contains('`') { format!("`` {line} ``") } else { format!("`{line}`") }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "\\`*_<>[]#|".contains(c) {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_in_names_are_no_marks_of_markdown() {
        let words = Rich::words("a*b <i> ").then(Span::Code("x`y\nz".into()));
        assert_eq!(text(&words, At(0)), "a\\*b \\<i\\> `` x`y z ``");
    }
}
