//! Questions whose answer is a value, and those about a stretch of time: `most pods -l app=web count`.

use super::{Measured, Question, Subject, measured, split, subject};
use kubestep_cluster::World;
use kubestep_insight::Gaps;
use kubestep_model::Instant;

/// How a question speaks of time.
#[derive(Clone, Debug, PartialEq)]
enum Sort {
    /// The value at the end.
    Last(Subject),
    /// The largest and the smallest number on the way.
    Most(Subject),
    Fewest(Subject),
    /// How long until it was so for the first time, in seconds.
    Until(Question),
    /// Whether it is so at the end.
    Whether(Question),
    /// Whether it was so at any time.
    Ever(Question),
    /// The exit code of the last command.
    Exit,
    /// Who writes next, after the first commands.
    Next,
}

/// A question whose answer is found by running a world on.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask(Sort);

impl Ask {
    /// Reads a question. Errors: what is not understood.
    pub fn parse(text: &str) -> Result<Ask, String> {
        let words = split(text)?;
        let question = Question::of;
        let (first, rest) = words.split_first().ok_or("There is no question.")?;
        Ok(Ask(match first.as_str() {
            "most" => Sort::Most(subject(rest)?),
            "fewest" => Sort::Fewest(subject(rest)?),
            "until" => Sort::Until(question(rest)?),
            "whether" => Sort::Whether(question(rest)?),
            "ever" => Sort::Ever(question(rest)?),
            "exit" if rest.is_empty() => Sort::Exit,
            "next" if rest.is_empty() => Sort::Next,
            _ => Sort::Last(subject(&words)?),
        }))
    }

    /// Whether the answer is a length of time in seconds.
    pub fn is_time(&self) -> bool {
        use super::field::Looked::{Age, Gap};
        matches!(self.0, Sort::Until(_) | Sort::Last(Subject::Things(_, Gap | Age)))
    }

    /// Whether it can only be seen while the world runs on, step by step.
    pub fn looks_on(&self) -> bool {
        matches!(self.0, Sort::Most(_) | Sort::Fewest(_) | Sort::Until(_) | Sort::Ever(_))
    }

    /// Whether it asks how a command ends.
    pub fn is_exit(&self) -> bool {
        self.0 == Sort::Exit
    }

    /// Whether it asks who writes next.
    pub fn is_next(&self) -> bool {
        self.0 == Sort::Next
    }
}

/// What has been seen so far of a stretch of time.
#[derive(Clone, Debug)]
pub struct Over<'q> {
    ask: &'q Ask,
    begun: Instant,
    number: Option<i64>,
}

impl<'q> Over<'q> {
    /// At the beginning.
    pub fn new(ask: &'q Ask, world: &World) -> Self {
        Over { ask, begun: world.now(), number: None }
    }

    /// After each step.
    pub fn see(&mut self, world: &World, gaps: &Gaps) {
        let number = |subject: &Subject| match measured(subject, world, gaps) {
            Measured::Number(n) => Some(n),
            Measured::Texts(texts) => texts.first().and_then(|t| t.parse().ok()),
        };
        match &self.ask.0 {
            Sort::Most(subject) => self.number = self.number.max(number(subject)),
            Sort::Fewest(subject) => {
                let now = number(subject);
                self.number = self.number.map_or(now, |n| now.map(|m| m.min(n)).or(Some(n)));
            }
            Sort::Until(question) if self.number.is_none() && question.holds(world, gaps) => {
                self.number = i64::try_from(world.now().since(self.begun).as_secs()).ok();
            }
            Sort::Ever(question) if self.number.is_none() && question.holds(world, gaps) => {
                self.number = Some(1);
            }
            _ => {}
        }
    }

    /// The answer at the end; `None` if there is none.
    pub fn end(&self, world: &World, gaps: &Gaps) -> Option<String> {
        let yes = |so: bool| if so { "yes" } else { "no" }.to_string();
        match &self.ask.0 {
            Sort::Last(subject) => Some(measured(subject, world, gaps).text()).filter(|t| !t.is_empty()),
            Sort::Most(_) | Sort::Fewest(_) | Sort::Until(_) => self.number.map(|n| n.to_string()),
            Sort::Whether(question) => Some(yes(question.holds(world, gaps))),
            Sort::Ever(_) => Some(yes(self.number.is_some())),
            Sort::Exit => {
                let last = world.last_client().and_then(|id| world.client(id))?;
                Some(last.ended?.0.to_string())
            }
            Sort::Next => None,
        }
    }
}
