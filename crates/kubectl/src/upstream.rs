//! The names of kubectl v1.37's commands and flags, as its own help lists them.
//!
//! What stands here and is not done is refused by its name, so that nobody takes it for a mistake of typing.

/// One command a line: its words, a colon, its flags; a letter and a slash before a flag that has a short form.
const NAMES: &str = include_str!("upstream.txt");

/// All commands with their flags: the words after `kubectl`, and for each flag its letter and its name. The first one
/// is `global`, which stands for all.
pub fn all() -> impl Iterator<Item = (&'static str, Vec<(Option<char>, &'static str)>)> {
    NAMES.lines().filter_map(|line| {
        let (command, flags) = line.split_once(':')?;
        let flag = |word: &'static str| match word.split_once('/') {
            Some((letter, name)) => (letter.chars().next(), name),
            None => (None, word),
        };
        Some((command, flags.split_whitespace().map(flag).collect()))
    })
}

/// The flag of a command, or of all commands, that has this name or letter.
pub(crate) fn flag(path: &str, name: &str) -> Option<&'static str> {
    let command = path.strip_prefix("kubectl ").unwrap_or(path);
    let mut letters = name.chars();
    let letter = letters.next().filter(|_| letters.next().is_none());
    let fits = |(short, long): &(Option<char>, &'static str)| {
        *long == name || (letter.is_some() && *short == letter)
    };
    let mut flags = all().filter(|(of, _)| *of == command || *of == "global").flat_map(|(_, flags)| flags);
    flags.find(fits).map(|(_, long)| long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known() {
        assert_eq!(all().count(), 109);
        assert_eq!(flag("kubectl get", "chunk-size"), Some("chunk-size"));
        assert_eq!(flag("kubectl get", "A"), Some("all-namespaces"));
        assert_eq!(flag("kubectl version", "proxy-url"), Some("proxy-url"));
        assert_eq!(flag("kubectl version", "chunk-size"), None);
    }
}
