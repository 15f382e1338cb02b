//! What is put into the words of a command when a line has come to it.

use super::{
    env::{Env, MOST_PUT},
    parse::{Fills, Stage},
    pipe::{ended, lines},
    token::is_name,
};
use crate::{
    docs,
    kc::{Flow, Kc},
};

/// A program's words with everything put into them. Without quotes what is put in is split at blanks.
pub(super) fn expanded(kc: &mut Kc<'_>, env: &mut Env, stage: &Stage) -> Flow<Result<Vec<String>, String>> {
    let mut out: Vec<String> = vec![];
    for (at, text) in stage.words.iter().enumerate() {
        let (mut word, mut from) = (None::<String>, 0);
        let mut holes = stage.holes.iter().filter(|h| h.word == at).peekable();
        if holes.peek().is_none() {
            let found = if stage.globs.contains(&at) { files(kc, text) } else { vec![] };
            // A pattern that fits nothing stands for itself.
            out.extend(if found.is_empty() { vec![text.clone()] } else { found });
            continue;
        }
        for hole in holes {
            let literal = &text[from..hole.place];
            if !literal.is_empty() {
                word.get_or_insert_default().push_str(literal);
            }
            from = hole.place;
            let filling = match filling(kc, env, &hole.fills)? {
                Ok(filling) => filling,
                Err(why) => return Ok(Err(why)),
            };
            if hole.quoted || assigned(text).is_some() {
                word.get_or_insert_default().push_str(&filling);
                continue;
            }
            if filling.starts_with(char::is_whitespace) {
                out.extend(word.take());
            }
            for (i, part) in filling.split_whitespace().enumerate() {
                if i > 0 {
                    out.extend(word.take());
                }
                word.get_or_insert_default().push_str(part);
            }
            if filling.ends_with(char::is_whitespace) {
                out.extend(word.take());
            }
        }
        if from < text.len() {
            word.get_or_insert_default().push_str(&text[from..]);
        }
        out.extend(word);
    }
    Ok(Ok(out))
}

/// The names of the editor's files that fit a pattern.
fn files(kc: &Kc<'_>, pattern: &str) -> Vec<String> {
    let fits = |name: &&str| !name.contains('/') && crate::commands::fits(name, pattern);
    kc.files().map(|(name, _)| name).filter(fits).map(str::to_owned).collect()
}

fn filling(kc: &mut Kc<'_>, env: &mut Env, fills: &Fills) -> Flow<Result<String, String>> {
    let script = match fills {
        Fills::Variable(name) if name == "?" => return Ok(Ok(env.code.to_string())),
        Fills::Variable(name) => {
            let why = || {
                format!(
                    "${name} is not set: here a variable lives in the line that sets it ({name}=…; echo ${name}), and in single quotes it is left to the container\n"
                )
            };
            return Ok(match env.variables.get(name).cloned() {
                Some(value) => put(kc, env, &value),
                None => Err(why()),
            });
        }
        Fills::Output(script) => script,
    };
    let mark = kc.printed();
    // What is set in there does not leave it.
    let mut inner = env.clone();
    let flow = lines(kc, &mut inner, script);
    let text = kc.take(mark);
    let code = ended(flow)?;
    env.used = inner.used;
    env.code = code;
    if inner.full {
        (env.left, env.full) = (true, true);
        return Ok(Err(String::new()));
    }
    if docs::waits(&text) {
        return Ok(Err("kubectl explain within a command: Kubestep does not do this\n".to_owned()));
    }
    Ok(put(kc, env, text.trim_end_matches('\n')))
}

/// A filling that the line still has room for. Errors: it was left, as it has become too long.
fn put(kc: &mut Kc<'_>, env: &mut Env, filling: &str) -> Result<String, String> {
    env.used.put = env.used.put.saturating_add(filling.len());
    if env.used.put > MOST_PUT {
        env.too_much(kc, "more than 4 MiB in the words of one line", "; the rest of the line was not run");
        return Err(String::new());
    }
    Ok(filling.to_owned())
}

/// The name and the value of `NAME=VALUE`.
fn assigned(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|(name, _)| is_name(name))
}

/// The variables that the words set, if they do; within, none if a command stands behind them.
pub(super) fn assignments(words: &[String]) -> Option<Option<Vec<(String, String)>>> {
    let exports = words[0] == "export" && words.len() > 1;
    let words = &words[usize::from(exports)..];
    assigned(&words[0])?;
    let own = |word: &String| assigned(word).map(|(name, value)| (name.to_owned(), value.to_owned()));
    Some(words.iter().map(own).collect())
}
