//! The little command language of containers and probes: sleep, true, false, exit, echo, cat, touch, rm, test, and
//! `sh -c` of these joined by `;`, `&&`, `||` or new lines.

use std::time::Duration;

/// How a statement follows the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    Always,
    IfOk,
    IfFailed,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    pub(crate) words: Vec<String>,
    pub(crate) join: Join,
}

/// Statements in order. `None` where the command is not known at all: then the image decides.
pub(crate) type Program = Vec<Statement>;

const SHELLS: &[&str] = &["sh", "/bin/sh", "bash", "/bin/bash", "ash", "/bin/ash"];
const KNOWN: &[&str] = &["sleep", "true", "false", "exit", "echo", "cat", "touch", "rm", "test", "[", ":"];

pub(super) fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether the little language knows this command.
pub(crate) fn is_known(word: &str) -> bool {
    KNOWN.contains(&base(word))
}

pub(crate) fn parse(command: &[String]) -> Option<Program> {
    let first = command.first()?;
    if SHELLS.contains(&first.as_str()) {
        let flag = command.iter().skip(1).position(|a| a.starts_with('-') && a.contains('c'))? + 1;
        return Some(parse_script(command.get(flag + 1)?));
    }
    is_known(first).then(|| vec![Statement { words: command.to_vec(), join: Join::Always }])
}

#[derive(Default)]
struct Reader {
    program: Program,
    words: Vec<String>,
    word: Option<String>,
}

impl Reader {
    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }
    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }
    fn end_statement(&mut self, join: Join) {
        self.end_word();
        let mut words = std::mem::take(&mut self.words);
        if words.is_empty() {
            return;
        }
        if words[0] == "exec" && words.len() > 1 {
            words.remove(0);
        }
        self.program.push(Statement { words, join });
    }
}

fn parse_script(script: &str) -> Program {
    let mut reader = Reader::default();
    let mut join = Join::Always;
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                reader.word.get_or_insert_default();
                for quoted in chars.by_ref().take_while(|q| *q != c) {
                    reader.push(quoted);
                }
            }
            '\\' => {
                if let Some(escaped) = chars.next() {
                    reader.push(escaped);
                }
            }
            ';' | '\n' => {
                reader.end_statement(join);
                join = Join::Always;
            }
            '&' | '|' if chars.peek() == Some(&c) => {
                chars.next();
                reader.end_statement(join);
                join = if c == '&' { Join::IfOk } else { Join::IfFailed };
            }
            ' ' | '\t' => reader.end_word(),
            '>' => {
                reader.end_word();
                reader.words.push(">".into());
            }
            _ => reader.push(c),
        }
    }
    reader.end_statement(join);
    reader.program
}

/// A sleep's length; `None` is for ever.
pub(super) fn sleep(argument: Option<&String>) -> Option<Duration> {
    let text = argument.map(String::as_str).filter(|a| !matches!(*a, "infinity" | "inf"))?;
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) if text.ends_with('m') => (number, 60.0),
        Some(number) if text.ends_with('h') => (number, 3600.0),
        Some(number) => (number, 1.0),
        None => (text, 1.0),
    };
    let seconds = number.parse::<f64>().unwrap_or(0.0) * unit;
    Some(Duration::from_millis((seconds * 1000.0).round().clamp(0.0, 1e15) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &[&str]) -> Option<Vec<(String, Join)>> {
        let command: Vec<String> = command.iter().map(ToString::to_string).collect();
        Some(parse(&command)?.into_iter().map(|s| (s.words.join("|"), s.join)).collect())
    }

    #[test]
    fn scripts_are_read_as_the_shell_reads_them() {
        let script = "touch /tmp/ready; sleep 5 && rm /tmp/ready || exit 3\necho 'a  b' > f";
        let expected = [
            ("touch|/tmp/ready", Join::Always),
            ("sleep|5", Join::Always),
            ("rm|/tmp/ready", Join::IfOk),
            ("exit|3", Join::IfFailed),
            ("echo|a  b|>|f", Join::Always),
        ];
        let expected = expected.map(|(w, j)| (w.to_string(), j)).to_vec();
        assert_eq!(words(&["sh", "-c", script]), Some(expected));
        assert_eq!(words(&["nginx", "-g"]), None);
        assert_eq!(words(&["sh"]), None);
        assert_eq!(words(&["/bin/sleep", "5"]), Some(vec![("/bin/sleep|5".into(), Join::Always)]));
        assert_eq!(words(&["sh", "-c", "exec server"]), Some(vec![("server".into(), Join::Always)]));
    }

    #[test]
    fn sleeps_have_units() {
        let length = |t: &str| sleep(Some(&t.to_string())).map(|d| d.as_millis());
        assert_eq!(
            [length("5"), length("0.5"), length("2m"), length("1h"), length("infinity")],
            [Some(5000), Some(500), Some(120_000), Some(3_600_000), None]
        );
    }
}
