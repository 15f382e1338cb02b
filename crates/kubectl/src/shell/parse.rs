//! A line of a shell: words, pipes, what comes after what, and texts that lie in the line itself.

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

/// One program of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stage {
    pub(super) words: Vec<String>,
    /// The text of `<<EOF`, or of the file of `< FILE`.
    pub(super) input: Option<Input>,
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

/// What the characters of a line come to.
enum Token {
    Word(String),
    Sign(&'static str),
}

/// Signs of a shell, the longer ones first.
const SIGNS: &[&str] = &["<<-", "<<", "&&", "||", "2>&1", ">>", "|", ";", "&", "<", ">", "\n"];

/// Reads a line, which may have several lines in it. Errors: in a shell's words, or what this one does not do.
pub(super) fn parse(text: &str) -> Result<Vec<Pipeline>, String> {
    let (text, mut bodies) = take_bodies(text)?;
    let mut all: Vec<Pipeline> = Vec::new();
    let (mut stages, mut stage) = (Vec::new(), Stage::default());
    let mut after = After::Always;
    let mut tokens = tokens(&text)?.into_iter();
    while let Some(token) = tokens.next() {
        let sign = match token {
            Token::Word(word) => {
                stage.words.push(word);
                continue;
            }
            Token::Sign(sign) => sign,
        };
        match sign {
            "<<" | "<<-" => {
                let Some(Token::Word(_)) = tokens.next() else { return Err(unexpected("newline")) };
                stage.input = (!bodies.is_empty()).then(|| Input::Text(bodies.remove(0)));
            }
            "<" => match tokens.next() {
                Some(Token::Word(file)) => stage.input = Some(Input::File(file)),
                _ => return Err(unexpected("newline")),
            },
            ">" | ">>" => return Err("writing to files: Kubestep does not do this".to_owned()),
            "&" => return Err("running in the background: Kubestep does not do this".to_owned()),
            // Both streams come to one place in a terminal.
            "2>&1" => {}
            "|" => {
                if stage.words.is_empty() {
                    return Err(unexpected("|"));
                }
                stages.push(std::mem::take(&mut stage));
            }
            end => {
                if stage.words.is_empty() && (!stages.is_empty() || end != "\n") {
                    return Err(unexpected(if end == "\n" { "newline" } else { end }));
                }
                if !stage.words.is_empty() {
                    stages.push(std::mem::take(&mut stage));
                    all.push(Pipeline { after, stages: std::mem::take(&mut stages) });
                }
                after = match end {
                    "&&" => After::Success,
                    "||" => After::Failure,
                    _ => After::Always,
                };
            }
        }
    }
    if !stage.words.is_empty() {
        stages.push(stage);
    } else if !stages.is_empty() || after != After::Always {
        return Err("syntax error: unexpected end of file".to_owned());
    }
    if !stages.is_empty() {
        all.push(Pipeline { after, stages });
    }
    Ok(all)
}

fn unexpected(what: &str) -> String {
    format!("syntax error near unexpected token `{what}'")
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        // A number before `>` belongs to it only at a word's beginning.
        let sign = SIGNS.iter().find(|s| rest.starts_with(**s) && (!s.starts_with('2') || word.is_none()));
        if let Some(sign) = sign {
            tokens.extend(word.take().map(Token::Word));
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            ' ' | '\t' | '\r' => tokens.extend(word.take().map(Token::Word)),
            '\'' | '"' => {
                let mut chars = rest.chars();
                super::quoted(&mut chars, word.get_or_insert_default(), c)?;
                rest = chars.as_str();
            }
            '\\' => {
                if let Some(next) = rest.chars().next() {
                    rest = &rest[next.len_utf8()..];
                    if next != '\n' {
                        word.get_or_insert_default().push(next);
                    }
                }
            }
            '#' if word.is_none() => rest = &rest[rest.find('\n').unwrap_or(rest.len())..],
            _ => word.get_or_insert_default().push(c),
        }
    }
    tokens.extend(word.map(Token::Word));
    Ok(tokens)
}

/// Takes the texts that follow lines with `<<WORD` out of the text.
fn take_bodies(text: &str) -> Result<(String, Vec<String>), String> {
    let (mut kept, mut bodies) = (String::new(), Vec::new());
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        kept.push_str(line);
        for (word, bare) in endings(line) {
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
fn endings(line: &str) -> Vec<(String, bool)> {
    let Ok(tokens) = tokens(line) else { return vec![] };
    let mut found = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if let Token::Sign(sign @ ("<<" | "<<-")) = token
            && let Some(Token::Word(word)) = tokens.next()
        {
            found.push((word, sign == "<<-"));
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
        for wrong in ["| a", "a |", "a &&", "a > f", "a &", "a | | b", "'a"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
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
