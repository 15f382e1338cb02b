//! What stands in the blocks of a lesson: goals, traps, hints, predictions.

use super::{
    Goal, Hint, Mood, Prediction, Problem, Trap,
    page::{Block, Page},
};
use crate::{
    question::{Ask, Question},
    script::{self, ScriptStep},
};
use kubestep_model::text::duration;
use serde_json::{Map, Value};
use std::time::Duration;

/// How long a goal has to be true if it does not say so.
const HOLD: Duration = Duration::from_secs(10);

/// One block's map, read key by key; what is left over is a mistake.
pub(super) struct Keys<'p> {
    page: &'p Page,
    line: usize,
    block: String,
    map: Map<String, Value>,
}

impl<'p> Keys<'p> {
    pub(super) fn of(page: &'p Page, block: &Block) -> Result<Keys<'p>, Problem> {
        match page.value(block)? {
            Value::Object(map) => Ok(Keys { page, line: block.line, block: block.name.clone(), map }),
            _ => Err(page.problem(
                block.line,
                format!("The block {} is not a map.", block.name),
                "Write `key: value` lines, such as `say: …`.",
            )),
        }
    }

    fn problem(&self, text: String, remedy: &str) -> Problem {
        self.page.problem(self.line, text, remedy)
    }

    pub(super) fn maybe(&mut self, key: &str) -> Option<String> {
        self.map.remove(key).as_ref().and_then(word)
    }

    pub(super) fn must(&mut self, key: &str) -> Result<String, Problem> {
        let found = self.maybe(key).filter(|t| !t.trim().is_empty());
        found.map(|t| t.trim().to_string()).ok_or_else(|| {
            self.problem(
                format!("The block {} has no {key}.", self.block),
                &format!("Add a line `{key}: …`."),
            )
        })
    }

    fn question(&mut self, key: &str) -> Result<Question, Problem> {
        let text = self.must(key)?;
        self.read_question(&text)
    }

    fn read_question(&self, text: &str) -> Result<Question, Problem> {
        Question::parse(text).map_err(|why| {
            self.problem(
                format!("The question `{text}` is not understood: {why}"),
                "See the list of questions in docs/AUTHORING.md.",
            )
        })
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.map.remove(key)
    }

    /// Nothing may be left over.
    pub(super) fn done(self) -> Result<(), Problem> {
        match self.map.keys().next() {
            None => Ok(()),
            Some(key) => Err(self.problem(
                format!("The block {} has a key {key} that is not known here.", self.block),
                "Take it out, or look for a slip in its spelling.",
            )),
        }
    }
}

/// A value as a word: YAML reads `yes` and `no` as truth.
pub(super) fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(so) => Some(if *so { "yes" } else { "no" }.into()),
        Value::Number(n) => Some(n.to_string()),
        _ => None,
    }
}

pub(super) fn goal(page: &Page, block: &Block) -> Result<Goal, Problem> {
    let mut keys = Keys::of(page, block)?;
    let say = keys.must("say")?;
    let moods = [("is", Mood::Is), ("once", Mood::Once), ("always", Mood::Always), ("never", Mood::Never)];
    let mut found = None;
    for (key, mood) in moods {
        if let Some(text) = keys.maybe(key) {
            if found.is_some() {
                let text = "The goal asks twice; only one of its questions would count.".to_string();
                return Err(keys.problem(text, "Make two goals of it."));
            }
            found = Some((mood, keys.read_question(&text)?));
        }
    }
    let (mood, question) = found.ok_or_else(|| {
        keys.problem("The goal asks nothing.".into(), "Add `is: QUESTION`, or `once:`, `always:`, `never:`.")
    })?;
    let hold = match keys.maybe("hold") {
        None => HOLD,
        Some(text) => {
            let nanos = duration::parse(&text).ok().and_then(|n| u64::try_from(n).ok()).ok_or_else(|| {
                keys.problem(format!("hold: {text} is no length of time."), "Write it as `hold: 30s`.")
            })?;
            Duration::from_nanos(nanos)
        }
    };
    keys.done()?;
    Ok(Goal { line: block.line, say, mood, question, hold })
}

pub(super) fn trap(page: &Page, block: &Block) -> Result<Trap, Problem> {
    let mut keys = Keys::of(page, block)?;
    let trap = Trap {
        line: block.line,
        say: keys.must("say")?,
        forbidden: block.name == "forbid",
        question: keys.question("if")?,
    };
    keys.done()?;
    Ok(trap)
}

pub(super) fn hint(page: &Page, block: &Block) -> Result<Hint, Problem> {
    let mut keys = Keys::of(page, block)?;
    let say = keys.must("say")?;
    let when = keys.maybe("when").map(|t| keys.read_question(&t)).transpose()?;
    keys.done()?;
    Ok(Hint { line: block.line, say, when })
}

pub(super) fn prediction(page: &Page, block: &Block) -> Result<Prediction, Problem> {
    let mut keys = Keys::of(page, block)?;
    let ask = keys.must("ask")?;
    let when = keys.maybe("when").map(|t| keys.read_question(&t)).transpose()?;
    let steps = match keys.take("do") {
        None => vec![],
        Some(value) => script::read_steps(&value).map_err(|why| {
            keys.problem(format!("do: {why}."), "See the list of steps in docs/AUTHORING.md.")
        })?,
    };
    let text = keys.must("answer")?;
    let answer = Ask::parse(&text).map_err(|why| {
        keys.problem(
            format!("The answer `{text}` is not understood: {why}"),
            "See the list of questions in docs/AUTHORING.md.",
        )
    })?;
    let choices = choices(&mut keys)?;
    let because = keys.must("because")?;
    keys.done()?;
    Ok(Prediction { line: block.line, ask, when, steps, answer, choices, because })
}

fn choices(keys: &mut Keys<'_>) -> Result<Vec<(String, String)>, Problem> {
    let Some(value) = keys.take("choices") else { return Ok(vec![]) };
    let bad = |keys: &Keys<'_>| {
        keys.problem(
            "choices is not a list of values.".into(),
            "Write `- 3`, or `- 3: three pods`, a line each.",
        )
    };
    let Value::Array(rows) = value else { return Err(bad(keys)) };
    let row = |row: &Value| match row {
        Value::Object(map) => {
            map.iter().next().and_then(|(value, words)| Some((yes_no(value), word(words)?)))
        }
        other => word(other).map(|w| (w.clone(), w)),
    };
    rows.iter().map(|r| row(r).ok_or_else(|| bad(keys))).collect()
}

/// A key that YAML read as truth.
fn yes_no(key: &str) -> String {
    match key {
        "true" => "yes".into(),
        "false" => "no".into(),
        other => other.into(),
    }
}

pub(super) fn steps(page: &Page, block: &Block) -> Result<Vec<ScriptStep>, Problem> {
    let value = page.value(block)?;
    if !value.is_array() && !value.is_null() {
        let text = format!("The block {} is not a list.", block.name);
        return Err(page.problem(block.line, text, "Write steps as `- kubectl: …`."));
    }
    script::read_steps(&value).map_err(|why| {
        page.problem(
            block.line,
            format!("{}: {why}.", block.name),
            "See the list of steps in docs/AUTHORING.md.",
        )
    })
}
