//! Questions about a world in words near kubectl's: `pods -l app=web ready == 3`, `deployment/web available >= 2`.
//!
//! A question names things (objects, or the commands that a person ran), says what of them is looked at, and compares.

mod ask;
mod field;
mod things;
mod words;

pub use ask::{Ask, Over};
pub use words::split;

use field::{Looked, Measured};
use kubestep_cluster::World;
use kubestep_insight::{Gaps, kind};
use kubestep_model::text::duration;
use things::Things;

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Equal,
    Different,
    Less,
    More,
    AtMost,
    AtLeast,
    /// A text holds another.
    Has,
    /// A text does not hold another.
    Lacks,
}

/// What is asked about.
#[derive(Clone, Debug, PartialEq)]
enum Subject {
    Things(Things, Looked),
    /// Converged, converging or stalled.
    Verdict,
}

/// A question that is either so or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    subject: Subject,
    compare: Compare,
    value: String,
}

impl Question {
    /// Reads a question. Errors: what is not understood, and what would be.
    pub fn parse(text: &str) -> Result<Question, String> {
        Question::of(&split(text)?)
    }

    /// Reads the words of a question.
    fn of(words: &[String]) -> Result<Question, String> {
        let [front @ .., compare, value] = words else {
            return Err("A question is: what, ready or count, a comparison, a value.".into());
        };
        let compare = compare_of(compare)?;
        let subject = subject(front)?;
        if let Subject::Things(_, looked) = &subject {
            looked.takes(value)?;
        } else if !["converged", "converging", "stalled"].contains(&value.to_ascii_lowercase().as_str()) {
            return Err(format!("A verdict is converged, converging or stalled, not {value}."));
        }
        Ok(Question { subject, compare, value: value.clone() })
    }

    /// Whether it is so.
    pub fn holds(&self, world: &World, gaps: &Gaps) -> bool {
        match self.measured(world, gaps) {
            Measured::Number(n) => number(&self.value).is_some_and(|want| ordered(self.compare, &n, &want)),
            Measured::Texts(texts) => {
                let each = |text: &String| compared(self.compare, text, &self.value);
                !texts.is_empty() && texts.iter().all(each)
            }
        }
    }

    /// How what is asked about stands, in one word: "2", "False".
    pub fn now(&self, world: &World, gaps: &Gaps) -> String {
        self.measured(world, gaps).text()
    }

    /// Whether the clock alone can make it so.
    pub(crate) fn by_clock(&self) -> bool {
        matches!(&self.subject, Subject::Verdict | Subject::Things(_, Looked::Gap | Looked::Age))
    }

    fn measured(&self, world: &World, gaps: &Gaps) -> Measured {
        measured(&self.subject, world, gaps)
    }
}

fn subject(words: &[String]) -> Result<Subject, String> {
    if matches!(words, [only] if only == "verdict") {
        return Ok(Subject::Verdict);
    }
    let (things, rest) = Things::parse(words)?;
    Ok(Subject::Things(things, Looked::parse(rest)?))
}

fn measured(subject: &Subject, world: &World, gaps: &Gaps) -> Measured {
    match subject {
        Subject::Things(things, looked) => looked.of(things, world, gaps),
        Subject::Verdict => Measured::Texts(vec![kind(world, gaps).name().into()]),
    }
}

pub(crate) fn compare_of(word: &str) -> Result<Compare, String> {
    Ok(match word {
        "==" | "=" => Compare::Equal,
        "!=" => Compare::Different,
        "<" => Compare::Less,
        ">" => Compare::More,
        "<=" => Compare::AtMost,
        ">=" => Compare::AtLeast,
        "has" => Compare::Has,
        "lacks" => Compare::Lacks,
        other => return Err(format!("{other} does not compare: ==, !=, <, >, <=, >=, has or lacks.")),
    })
}

/// A whole number, or a length of time in seconds.
pub(crate) fn number(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| duration::parse(text).ok().map(|nanos| nanos / 1_000_000_000))
}

fn ordered<T: Ord>(compare: Compare, have: &T, want: &T) -> bool {
    match compare {
        Compare::Equal => have == want,
        Compare::Different => have != want,
        Compare::Less => have < want,
        Compare::More => have > want,
        Compare::AtMost => have <= want,
        Compare::AtLeast => have >= want,
        Compare::Has | Compare::Lacks => false,
    }
}

/// Compares two texts; as numbers where both are.
pub(crate) fn compared(compare: Compare, have: &str, want: &str) -> bool {
    match compare {
        Compare::Has => have.contains(want),
        Compare::Lacks => !have.contains(want),
        Compare::Equal => have.eq_ignore_ascii_case(want),
        Compare::Different => !have.eq_ignore_ascii_case(want),
        _ => match (have.parse::<i64>(), want.parse::<i64>()) {
            (Ok(have), Ok(want)) => ordered(compare, &have, &want),
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{player::start_of, script::Script};
    use kubestep_model::Kind;

    #[test]
    fn questions_are_read_and_answered() {
        let world = World::boot(&start_of(&Script::read("id: x").expect("a script"), 1));
        let gaps = Gaps::begin(&world);
        let nodes = i64::try_from(world.store().list(Kind::Node, None).count()).unwrap_or(0);
        for (text, want) in [
            (format!("nodes count == {nodes}"), true),
            (format!("nodes count > {nodes}"), false),
            ("nodes ready >= 1".into(), true),
            ("nodes where metadata.name == node-2 count == 1".into(), true),
            ("node/node-2 condition Ready == True".into(), true),
            ("node node-2 reason Ready == KubeletReady".into(), true),
            ("nodes status.phase == Running".into(), false),
            ("nodes metadata.name has node-".into(), true),
            ("nodes where metadata.name has node- where metadata.name != node-1 count == 2".into(), true),
            ("pods -l app=web ready == 0".into(), true),
            ("pods -A count >= 1".into(), false),
            ("pods -A gap > 5m".into(), false),
            ("deployment/web available != 0".into(), false),
            ("deployment web condition Progressing == False".into(), false),
            ("namespaces default count = 1".into(), true),
            ("commands count == 0".into(), true),
            ("commands where line has \"rollout status\" count >= 1".into(), false),
            ("verdict == converged".into(), true),
        ] {
            assert_eq!(Question::parse(&text).map(|q| q.holds(&world, &gaps)), Ok(want), "{text}");
        }
        for bad in [
            "",
            "pods",
            "pods ready 3",
            "pods ready == many",
            "things ready == 1",
            "pods a b ready == 1",
            "pods -l ready == 1",
            "pods where x count == 1",
            "pods condition == True",
            "pods count where a == b",
            "verdict == good",
            "pods metadata.name == \"open",
        ] {
            assert!(Question::parse(bad).is_err(), "{bad}");
        }
    }
}
