//! What the page around a figure is told: the shown moment as JSON.

use kubestep_protocol::*;

use super::{Health, State};
use crate::words::said_plain;

/// Longer files are not told.
const MOST: usize = 64 << 10;

/// Writes JSON by hand: the page has no need of a library for one small object.
struct Json(String);

impl Json {
    fn text(&mut self, text: &str) {
        self.0.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => {
                    self.0.push('\\');
                    self.0.push(c);
                }
                '\n' => self.0.push_str("\\n"),
                c if c < ' ' => {
                    self.0.push_str(&format!("\\u{:04x}", u32::from(c)));
                }
                c => self.0.push(c),
            }
        }
        self.0.push('"');
    }

    fn key(&mut self, key: &str) {
        if !self.0.ends_with(['{', '[']) {
            self.0.push(',');
        }
        self.text(key);
        self.0.push(':');
    }

    fn words(&mut self, key: &str, text: &str) {
        self.key(key);
        self.text(text);
    }

    fn number(&mut self, key: &str, number: u64) {
        self.key(key);
        self.0.push_str(&number.to_string());
    }

    fn truth(&mut self, key: &str, truth: bool) {
        self.key(key);
        self.0.push_str(if truth { "true" } else { "false" });
    }

    fn at(&mut self, key: &str, at: Option<At>) {
        match at {
            Some(at) => self.number(key, at.0),
            None => self.nothing(key),
        }
    }

    fn nothing(&mut self, key: &str) {
        self.key(key);
        self.0.push_str("null");
    }

    fn open(&mut self, key: &str, sign: char) {
        self.key(key);
        self.0.push(sign);
    }

    /// The next item of a list.
    fn item(&mut self) {
        if !self.0.ends_with('[') {
            self.0.push(',');
        }
        self.0.push('{');
    }

    fn close(&mut self, sign: char) {
        self.0.push(sign);
    }
}

impl State {
    /// The shown moment for the page around.
    pub fn told_outside(&self) -> String {
        let mut out = Json("{".into());
        // Not the word that something was drawn: it is sent with every picture.
        let waits = !(self.pending.is_empty() && self.queue.is_empty()) || self.again.is_some();
        out.truth("ready", self.frame.is_some() && self.open);
        let error = self.error_told();
        // Without a picture something is under way, unless it is said why there is none.
        let starts = self.wanted.is_some() || self.frame.is_none() && error.is_empty();
        out.truth("busy", waits || starts);
        out.truth("playing", self.playing);
        out.words("title", &self.loaded.title);
        out.words("scenario", &self.loaded.scenario);
        out.words("error", &error);
        out.words("ended", self.ended.0);
        out.words("refused", &self.ended.1);
        if let Some(frame) = &self.frame {
            self.moment_told(frame, &mut out);
        }
        self.files_told(&mut out);
        if let Some(shared) = &self.shared {
            out.open("link", '{');
            out.words("fragment", &shared.text);
            out.words("hash", &shared.hash);
            out.number("step", u64::from(shared.moment.step));
            out.close('}');
        }
        out.close('}');
        out.0
    }

    fn error_told(&self) -> String {
        use super::Banner::*;
        match self.banner.as_deref() {
            _ if self.health == Health::Gone => "the simulator cannot be started".to_string(),
            Some(Link(LinkRefused::Damaged { words, .. } | LinkRefused::TooLarge(words))) => words.clone(),
            Some(Link(LinkRefused::Newer { format, .. })) => {
                format!("the link has format {format}, which is newer than this version")
            }
            Some(Link(LinkRefused::Lesson(id))) => format!("there is no lesson {id}"),
            Some(Dead(why)) => why.clone(),
            Some(Notice(n)) if n.warns => said_plain(&n.words, At(0)),
            _ if self.frame.is_none() => self.ended.1.to_string(),
            _ => String::new(),
        }
    }

    fn moment_told(&self, frame: &Frame, out: &mut Json) {
        let head = &frame.head;
        out.number("step", u64::from(head.moment.step));
        out.number("last", u64::from(head.last));
        out.number("branch", u64::from(head.moment.branch.0));
        out.number("now", head.now.0);
        out.number("start", head.zero.0);
        out.words("sentence", &said_plain(&head.sentence.words, head.now));
        let verdict = &head.verdict;
        out.open("verdict", '{');
        let kind = match verdict.kind {
            VerdictKind::Converged => "converged",
            VerdictKind::Converging => "converging",
            VerdictKind::Stalled => "stalled",
        };
        out.words("kind", kind);
        out.at("since", verdict.since);
        out.at("opened", verdict.opened);
        out.words("because", &said_plain(&verdict.because, head.now));
        out.words("measure", &verdict.measure);
        out.words("said", &verdict.said);
        out.close('}');
        if let Some(answer) = &head.apply {
            answer_told("apply", &answer.line, &answer.output, answer.exit, out);
        }
        if let Some(entry) = frame.terminal.iter().rfind(|e| e.terminal == 0) {
            answer_told("kubectl", &entry.line, &entry.output, entry.exit, out);
        }
        if let (Some(text), Some(now)) = (self.lesson(), &head.lesson) {
            lesson_told(text, now, head.now, out);
        }
    }

    fn files_told(&self, out: &mut Json) {
        out.open("files", '[');
        if self.ui.files.iter().map(|f| f.text.len()).sum::<usize>() <= MOST {
            for file in self.ui.files.iter() {
                out.item();
                out.words("name", &file.name);
                out.words("text", &file.text);
                out.close('}');
            }
        }
        out.close(']');
    }
}

fn answer_told(key: &str, line: &str, output: &[Chunk], exit: Option<i32>, out: &mut Json) {
    out.open(key, '{');
    out.words("line", line);
    let printed: String = output.iter().map(|c| c.text.as_str()).collect();
    out.words("output", &printed);
    match exit {
        Some(code) => {
            out.key("exit");
            out.0.push_str(&code.to_string());
        }
        None => out.nothing("exit"),
    }
    out.close('}');
}

fn lesson_told(text: &LessonText, now: &LessonNow, at: At, out: &mut Json) {
    out.open("lesson", '{');
    out.words("id", &text.id);
    out.at("solved", now.solved);
    out.open("goals", '[');
    for (words, goal) in text.goals.iter().zip(&now.goals) {
        out.item();
        out.words("text", &said_plain(words, at));
        let state = match goal.state {
            GoalState::Open => "open",
            GoalState::Holding(..) => "holding",
            GoalState::Done(_) => "done",
            GoalState::Broken(_) => "broken",
        };
        out.words("state", state);
        out.close('}');
    }
    out.close(']');
    out.open("predictions", '[');
    for (question, answer) in text.predictions.iter().zip(&now.answers) {
        out.item();
        out.words("ask", &said_plain(&question.ask, at));
        let grade = match answer.as_ref().map(|a| a.grade) {
            None => "open",
            Some(Grade::Skipped) => "skipped",
            Some(Grade::Right) => "right",
            Some(Grade::Close) => "close",
            Some(Grade::Wrong) => "wrong",
        };
        out.words("grade", grade);
        out.close('}');
    }
    out.close(']');
    out.at("asks", now.asks.map(|i| At(u64::from(i))));
    out.number("hints", now.hints.len() as u64);
    out.number("hintsThere", u64::from(text.hints));
    out.truth("moreHints", now.more_hints);
    out.number("shown", u64::from(now.shown));
    out.number("solution", u64::from(text.solution));
    out.number("acts", u64::from(now.acts));
    out.words("trapped", &now.trapped.as_ref().map(|t| said_plain(&t.words, at)).unwrap_or_default());
    out.close('}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::tests::running;

    #[test]
    fn a_moment_is_told_as_json() {
        let state = running(vec![]);
        let told = state.told_outside();
        for part in [
            "{\"ready\":true,",
            "\"step\":100,",
            "\"verdict\":{\"kind\":\"stalled\"",
            "\"files\":[{\"name\":\"a.yaml\",\"text\":\"a: 1\\n\"}",
        ] {
            assert!(told.contains(part), "{part} in {told}");
        }
        assert_eq!(told.matches('{').count(), told.matches('}').count());
        assert!(State::default().told_outside().contains("\"busy\":true"));
    }

    #[test]
    fn signs_that_json_knows_are_written_otherwise() {
        let mut out = Json("{".into());
        out.words("a\"", "b\\\n\u{1}ä");
        assert_eq!(out.0, "{\"a\\\"\":\"b\\\\\\n\\u0001ä\"");
    }
}
