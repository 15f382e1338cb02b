//! What a command was meant to be that nobody knows.

use super::programs::is_kubectl;
use crate::commands;

/// The line with kubectl and its command spelt as they are, if that is what was meant.
pub(super) fn meant(words: &[String]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let meant = |word: &String| match commands::is_command(word) {
        true => Some(word.clone()),
        false => commands::nearest(word).map(str::to_owned),
    };
    let (verb, rest) = if is_kubectl(first) || commands::distance(first, "kubectl") <= 2 {
        rest.split_first().and_then(|(verb, rest)| Some((meant(verb)?, rest)))?
    } else {
        (meant(first)?, rest)
    };
    let quoted =
        |word: &String| match word.contains(|c: char| c.is_whitespace() || "'\"$|&;<>(){}*".contains(c)) {
            true => format!("'{}'", word.replace('\'', "'\\''")),
            false => word.clone(),
        };
    let rest: String = rest.iter().map(|word| format!(" {}", quoted(word))).collect();
    Some(format!("kubectl {verb}{rest}"))
}
