//! What lines and times of a script mean, wherever they are played.

use std::time::Duration;

/// A line of kubectl without that word, in which `$(…)` stands for the first word that another line prints; `print` runs one.
pub(crate) fn substituted(line: &str, print: &mut dyn FnMut(&str) -> String) -> String {
    let mut line = line.trim().strip_prefix("kubectl ").unwrap_or(line.trim()).to_string();
    while let Some((start, end)) = innermost(&line) {
        let said = print(line[start + 2..end].trim());
        line.replace_range(start..=end, said.split_whitespace().next().unwrap_or_default());
    }
    line
}

/// The first `$(…)` that holds no other: where it begins and where its `)` is.
fn innermost(line: &str) -> Option<(usize, usize)> {
    line.match_indices(')').find_map(|(end, _)| line[..end].rfind("$(").map(|start| (start, end)))
}

/// Seconds of a script as a time; less than nothing is nothing.
pub(crate) fn span(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default()
}
