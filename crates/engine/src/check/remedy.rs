//! What was probably meant: the nearest name of those that would do.

use kubestep_protocol::{Edit, Place, Rich, Span};

/// The name of these that is nearest to a word, if one is near.
pub(super) fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (word.chars().count() / 3).clamp(1, 3);
    let near = names.into_iter().filter(|n| *n != word).map(|name| (distance(word, name), name));
    near.filter(|(d, _)| *d <= limit).min_by_key(|(d, _)| *d).map(|(_, name)| name)
}

/// How many letters to add, leave out, change or swap; letters of another case count nothing unless all else is equal.
fn distance(a: &str, b: &str) -> usize {
    if a.len() > 100 || b.len() > 100 {
        return usize::MAX;
    }
    let a: Vec<char> = a.to_ascii_lowercase().chars().collect();
    let b: Vec<char> = b.to_ascii_lowercase().chars().collect();
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// The button: "Did you mean `replicas`?"
pub(super) fn did_you_mean(place: Place, name: &str) -> Edit {
    let words = Rich::words("Did you mean ").then(Span::Code(name.into())).then(Span::Words("?".into()));
    Edit { words, place, with: name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let fields = ["name", "image", "command", "args", "readinessProbe", "resources", "replicas"];
        for (word, want) in [
            ("replica", Some("replicas")),
            ("imge", Some("image")),
            ("iamge", Some("image")),
            ("readinessprobe", Some("readinessProbe")),
            ("Replicas", Some("replicas")),
            ("volumes", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, fields), want, "{word}");
        }
    }
}
