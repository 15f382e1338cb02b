//! A line of a shell: words, pipes, loops, what comes after what, and texts that lie in the line itself.

use super::env::MOST_COMMANDS;
use super::token::{Token, Word, is_name, tokens};

/// How a pipeline depends on the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// It runs in any case.
    Always,
    /// It runs if the one before ended with 0.
    Success,
    /// It runs if the one before failed.
    Failure,
}

/// One program of a pipeline, or a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stage {
    pub(super) words: Vec<String>,
    /// What is still to be put into the words, in their order.
    pub(super) holes: Vec<Hole>,
    /// The text of `<<EOF`, or of the file of `< FILE`.
    pub(super) input: Option<Input>,
    /// What is done for each of the words.
    pub(super) each: Option<Each>,
    /// The words, by their place, in which `*` stands without quotes: patterns of files' names.
    pub(super) globs: Vec<usize>,
    /// What goes to standard error is handed on, too: `2>&1`.
    pub(super) both: bool,
}

impl Stage {
    /// A program with its words as they are.
    pub(super) fn of(words: Vec<String>) -> Stage {
        Stage { words, ..Stage::default() }
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.each.is_none()
    }

    fn put(&mut self, word: Word) {
        let at = self.words.len();
        if word.plain().is_some_and(|text| text.contains('*') && !text.contains('=')) {
            self.globs.push(at);
        }
        let hole = |(place, quoted, fills)| Hole { word: at, place, quoted, fills };
        self.holes.extend(word.holes.into_iter().map(hole));
        self.words.push(word.text);
    }
}

/// A place in a word where something is put in when the line has come to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    pub(super) word: usize,
    /// In bytes of the word.
    pub(super) place: usize,
    /// Between quotes nothing is split.
    pub(super) quoted: bool,
    pub(super) fills: Fills,
}

/// What is put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fills {
    /// The value of a variable; `?` is the last exit code.
    Variable(String),
    /// What these print.
    Output(Vec<Pipeline>),
}

/// `for NAME in …; do …; done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Each {
    pub(super) name: String,
    pub(super) body: Vec<Pipeline>,
}

/// Where a program reads from, if the line says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    Text(String),
    File(String),
}

/// Programs that hand their output on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pipeline {
    pub(super) after: After,
    pub(super) stages: Vec<Stage>,
}

/// Commands within commands go so deep.
pub(super) const MOST_DEEP: u32 = 8;
/// So many words come of `{1..9}` at most, of all that a line has.
const MOST_NUMBERS: u64 = MOST_COMMANDS as u64;
/// What a shell has beside programs, and this one has not.
const UNKNOWN: &[&str] = &["while", "until", "if", "case", "select", "function", "[[", "{", "!", "time"];

/// Reads a line, which may have several lines in it. Errors: in a shell's words, or what this one does not do.
pub(super) fn parse(text: &str) -> Result<Vec<Pipeline>, String> {
    parse_within(text, 0)
}

/// The same for a text that stands so deep in another one.
pub(super) fn parse_within(text: &str, depth: u32) -> Result<Vec<Pipeline>, String> {
    let (text, bodies) = take_bodies(text, depth)?;
    let tokens = tokens(&text, depth + 1)?.into_iter();
    Reader { tokens, bodies: bodies.into_iter(), depth, numbers: 0 }.list(false)
}

struct Reader {
    tokens: std::vec::IntoIter<Token>,
    /// The texts of `<<EOF` that were not used yet.
    bodies: std::vec::IntoIter<String>,
    depth: u32,
    /// How many words came of `{1..9}` so far.
    numbers: u64,
}

impl Reader {
    /// Commands up to the end, or up to the `done` of a loop.
    fn list(&mut self, inside: bool) -> Result<Vec<Pipeline>, String> {
        let mut all: Vec<Pipeline> = Vec::new();
        let (mut stages, mut stage) = (Vec::new(), Stage::default());
        let mut after = After::Always;
        while let Some(token) = self.tokens.next() {
            let sign = match token {
                Token::Word(word) if stage.is_empty() => match word.plain() {
                    Some("for") => {
                        stage = self.each()?;
                        continue;
                    }
                    Some("done") if inside && stages.is_empty() && after == After::Always => return Ok(all),
                    Some(word @ ("done" | "do" | "then" | "fi" | "else" | "esac")) => {
                        return Err(unexpected(word));
                    }
                    Some(word) if UNKNOWN.contains(&word) => return Err(not_done(word)),
                    Some(word) if word.starts_with('(') => return Err(not_done("(…)")),
                    _ => {
                        self.put(&mut stage, word)?;
                        continue;
                    }
                },
                Token::Word(word) if stage.each.is_some() => return Err(unexpected(&word.text)),
                Token::Word(word) => {
                    self.put(&mut stage, word)?;
                    continue;
                }
                Token::Sign(sign) => sign,
            };
            match sign {
                "|" if stage.is_empty() => return Err(unexpected("|")),
                "|" => stages.push(std::mem::take(&mut stage)),
                ";" | "&&" | "||" | "\n" => {
                    if stage.is_empty() && (!stages.is_empty() || sign != "\n") {
                        return Err(unexpected(if sign == "\n" { "newline" } else { sign }));
                    }
                    // A line may end after && and ||, and may have nothing on it.
                    if stage.is_empty() {
                        continue;
                    }
                    stages.push(std::mem::take(&mut stage));
                    all.push(Pipeline { after, stages: std::mem::take(&mut stages) });
                    after = match sign {
                        "&&" => After::Success,
                        "||" => After::Failure,
                        _ => After::Always,
                    };
                }
                other => self.redirect(other, &mut stage)?,
            }
        }
        if inside {
            return Err("syntax error: unexpected end of file".to_owned());
        }
        if !stage.is_empty() {
            stages.push(stage);
        } else if !stages.is_empty() || after != After::Always {
            return Err("syntax error: unexpected end of file".to_owned());
        }
        if !stages.is_empty() {
            all.push(Pipeline { after, stages });
        }
        Ok(all)
    }

    /// A word, or the numbers of `{1..5}`.
    fn put(&mut self, stage: &mut Stage, word: Word) -> Result<(), String> {
        let Some((from, to)) = word.plain().and_then(range) else {
            stage.put(word);
            return Ok(());
        };
        self.numbers = self.numbers.saturating_add(to.abs_diff(from)).saturating_add(1);
        if self.numbers > MOST_NUMBERS {
            return Err(not_done(&format!("{}: more than {MOST_NUMBERS} numbers", word.text)));
        }
        if from <= to {
            stage.words.extend((from..=to).map(|i| i.to_string()));
        } else {
            stage.words.extend((to..=from).rev().map(|i| i.to_string()));
        }
        Ok(())
    }

    fn redirect(&mut self, sign: &str, stage: &mut Stage) -> Result<(), String> {
        match sign {
            "<<" | "<<-" => {
                let Some(Token::Word(_)) = self.tokens.next() else { return Err(unexpected("newline")) };
                stage.input = self.bodies.next().map(Input::Text);
            }
            "<" => match self.tokens.next() {
                Some(Token::Word(file)) if file.text.starts_with('(') => return Err(not_done("<(…)")),
                Some(Token::Word(file)) if !file.holes.is_empty() => return Err(not_done("< $…")),
                Some(Token::Word(file)) => stage.input = Some(Input::File(file.text)),
                _ => return Err(unexpected("newline")),
            },
            // Both streams come to one place in a terminal, but only one into a pipe.
            "2>&1" => stage.both = true,
            "&" => return Err(not_done("running in the background")),
            _ => return Err(not_done("writing to files")),
        }
        Ok(())
    }

    /// The rest of `for NAME in …; do …; done`.
    fn each(&mut self) -> Result<Stage, String> {
        self.depth += 1;
        if self.depth > MOST_DEEP {
            return Err("too many loops within loops".to_owned());
        }
        let Some(Token::Word(name)) = self.tokens.next() else { return Err(unexpected("newline")) };
        let Some(name) = name.plain().filter(|n| is_name(n)) else {
            return Err(format!("`{}': not a valid identifier", name.text));
        };
        match self.tokens.next() {
            Some(Token::Word(word)) if word.plain() == Some("in") => {}
            _ => return Err(not_done("for without in")),
        }
        let mut stage = Stage::default();
        loop {
            match self.tokens.next() {
                Some(Token::Word(word)) => self.put(&mut stage, word)?,
                Some(Token::Sign(";" | "\n")) => break,
                _ => return Err(unexpected("newline")),
            }
        }
        let mut next = self.tokens.next();
        while matches!(next, Some(Token::Sign("\n"))) {
            next = self.tokens.next();
        }
        match next {
            Some(Token::Word(word)) if word.plain() == Some("do") => {}
            Some(Token::Word(word)) => return Err(unexpected(&word.text)),
            _ => return Err("syntax error: unexpected end of file".to_owned()),
        }
        stage.each = Some(Each { name: name.to_owned(), body: self.list(true)? });
        self.depth -= 1;
        Ok(stage)
    }
}

/// The first and the last number of `{1..5}`.
fn range(word: &str) -> Option<(i64, i64)> {
    let (from, to) = word.strip_prefix('{')?.strip_suffix('}')?.split_once("..")?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

fn unexpected(what: &str) -> String {
    format!("syntax error near unexpected token `{what}'")
}

fn not_done(what: &str) -> String {
    format!("{what}: Kubestep does not do this")
}

/// Takes the texts that follow lines with `<<WORD` out of the text.
fn take_bodies(text: &str, depth: u32) -> Result<(String, Vec<String>), String> {
    let (mut kept, mut bodies) = (String::new(), Vec::new());
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        kept.push_str(line);
        for (word, bare) in endings(line, depth) {
            let mut body = String::new();
            loop {
                let Some(line) = lines.next() else {
                    return Err(format!("here-document delimited by end-of-file (wanted `{word}')"));
                };
                let line = if bare { line.trim_start_matches('\t') } else { line };
                if line.trim_end_matches(['\n', '\r']) == word {
                    break;
                }
                body.push_str(line);
            }
            bodies.push(body);
        }
    }
    Ok((kept, bodies))
}

/// The words that end the texts which a line announces, and whether tabs before lines are taken away.
fn endings(line: &str, depth: u32) -> Vec<(String, bool)> {
    let found = if line.contains("<<") { tokens(line, depth + 1) } else { Ok(vec![]) };
    let Ok(tokens) = found else { return vec![] };
    let mut found = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if let Token::Sign(sign @ ("<<" | "<<-")) = token
            && let Some(Token::Word(word)) = tokens.next()
        {
            found.push((word.text, sign == "<<-"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<Vec<String>>> {
        let all = parse(text).unwrap();
        all.into_iter().map(|p| p.stages.into_iter().map(|s| s.words).collect()).collect()
    }

    #[test]
    fn pipes_and_sequences() {
        assert_eq!(
            words("a b|c 'd|e' && f; g"),
            [vec![vec!["a", "b"], vec!["c", "d|e"]], vec![vec!["f"]], vec![vec!["g"]]]
        );
        assert_eq!(words("a # b | c\nd"), [vec![vec!["a"]], vec![vec!["d"]]]);
        let afters: Vec<After> = parse("a && b || c").unwrap().into_iter().map(|p| p.after).collect();
        assert_eq!(afters, [After::Always, After::Success, After::Failure]);
        let wrong = [
            "| a",
            "a |",
            "a &&",
            "a > f",
            "a &",
            "a | | b",
            "'a",
            "$(a",
            "`a",
            "${a",
            "${a:-b}",
            "$((1))",
            "(a)",
            "done",
            "for",
            "for i",
            "for 1 in a; do b; done",
            "for i in a; do b",
            "for i in a; b; done",
            "while true; do a; done",
            "a < <(b)",
            "for i in a; do b; done c",
        ];
        for wrong in wrong {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(parse(&"$(".repeat(5_000)).is_err());
        assert!(parse(&format!("{}a{}", "$(".repeat(50), ")".repeat(50))).is_err());
        assert!(parse(&"for i in a; do ".repeat(5_000)).is_err());
    }

    #[test]
    fn texts_in_the_line() {
        let all = parse("cat <<'EOF' | kubectl apply -f -\na: b\n  c\nEOF\nkubectl get pods").unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].stages[0].input, Some(Input::Text("a: b\n  c\n".to_owned())));
        assert_eq!(all[0].stages[1].words, ["kubectl", "apply", "-f", "-"]);
        assert!(parse("cat <<EOF\na").is_err());
    }
}
