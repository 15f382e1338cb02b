//! The terminal's shell: splits lines into words and runs what stands in them.

mod env;
mod expand;
mod filters;
mod nearest;
mod parse;
mod pipe;
mod programs;
mod run;
#[cfg(test)]
#[path = "shell/tests.rs"]
mod running;
mod token;
mod watch;

pub(crate) use filters::run as filter;
pub use run::Shell;

/// The words of each command of a line; none if it cannot be read.
pub(crate) fn commands(line: &str) -> Vec<Vec<String>> {
    let mut found = vec![];
    gather(&parse::parse(line).unwrap_or_default(), &mut found);
    found
}

/// Those of loops after the words that they take. What has still to be put into words is missing there.
fn gather(script: &[parse::Pipeline], found: &mut Vec<Vec<String>>) {
    for stage in script.iter().flat_map(|p| &p.stages) {
        match &stage.each {
            Some(each) => gather(&each.body, found),
            None => found.push(stage.words.clone()),
        }
    }
}

/// The words of a line that is one command and reads no text but its files; none if it is anything else.
pub fn single(line: &str) -> Option<Vec<String>> {
    let [pipeline] = <[_; 1]>::try_from(parse::parse(line).ok()?).ok()?;
    let [stage] = <[_; 1]>::try_from(pipeline.stages).ok()?;
    (stage.input.is_none() && stage.holes.is_empty() && stage.each.is_none()).then_some(stage.words)
}

/// The words of a line: blanks separate, quotes and backslashes keep together. No variables, pipes or globs.
/// Errors: what is wrong with the line, in a shell's words.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => quoted(&mut chars, word.get_or_insert_default(), '\'')?,
            '"' => quoted(&mut chars, word.get_or_insert_default(), '"')?,
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(next) => word.get_or_insert_default().push(next),
            },
            '#' if word.is_none() => break,
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(chars: &mut std::str::Chars<'_>, word: &mut String, quote: char) -> Result<(), String> {
    while let Some(c) = chars.next() {
        if c == quote {
            return Ok(());
        }
        if c != '\\' || quote == '\'' {
            word.push(c);
            continue;
        }
        match chars.next() {
            Some(next @ ('"' | '\\' | '$' | '`')) => word.push(next),
            Some('\n') => {}
            Some(next) => word.extend(['\\', next]),
            None => break,
        }
    }
    Err(format!("unexpected EOF while looking for matching `{quote}'"))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn splits_as_a_shell() {
        for (line, want) in [
            ("get  pods\t-o wide", vec!["get", "pods", "-o", "wide"]),
            (r#"annotate x a="b c, d""#, vec!["annotate", "x", "a=b c, d"]),
            (r#"patch x -p '{"a":"\n"}'"#, vec!["patch", "x", "-p", r#"{"a":"\n"}"#]),
            (r#"a\ b "c\"d" '' "" # rest"#, vec!["a b", "c\"d", "", ""]),
            ("jsonpath='{.a\\.b} {.c}'", vec!["jsonpath={.a\\.b} {.c}"]),
            ("", vec![]),
        ] {
            assert_eq!(split(line).unwrap(), want, "{line}");
        }
        assert!(split("'a").is_err());
        assert!(split("\"a\\").is_err());
    }
}
