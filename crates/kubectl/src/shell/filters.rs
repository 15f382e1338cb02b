//! Programs that change text: grep, wc, head, tail, sort, uniq, cut, tr. Of each what people use on kubectl's output.

use kubestep_model::arrange::Arrange;
use regex_lite::{Regex, RegexBuilder};

/// What a filter makes of a text, and its exit code. Errors: what it says on standard error, and its exit code.
pub(crate) type Filtered = Result<(String, i32), (String, i32)>;

/// Whether a filter shows lines as they come, so that a command that waits can be followed through it.
pub(super) fn follows(words: &[String]) -> bool {
    let program = words.first().map(String::as_str);
    let counts = words.iter().skip(1).any(|w| w.starts_with('-') && !w.starts_with("--") && w.contains('c'));
    matches!(program, Some("grep" | "egrep" | "fgrep")) && !counts || matches!(program, Some("cat" | "head"))
}

/// Runs a filter; None if there is no such program.
pub(crate) fn run(words: &[String], text: &str) -> Option<Filtered> {
    let (program, args) = words.split_first()?;
    Some(match program.as_str() {
        "cat" => Ok((text.to_owned(), 0)),
        "grep" => grep(args, text, false),
        "egrep" => grep(args, text, true),
        "wc" => wc(args, text),
        "head" => part(args, text, true),
        "tail" => part(args, text, false),
        "sort" => sort(args, text),
        "uniq" => uniq(args, text),
        "cut" => cut(args, text),
        _ => return None,
    })
}

/// A filter's words without the names of files, and these names; None if it is no filter.
pub(super) fn files(words: &[String]) -> Option<(Vec<String>, Vec<String>)> {
    let (program, args) = words.split_first()?;
    let with_value = match program.as_str() {
        "grep" | "egrep" => "eABC",
        "head" | "tail" => "nc",
        "sort" => "kt",
        "cut" => "dfc",
        "wc" | "uniq" => "",
        _ => return None,
    };
    let mut pattern = with_value.contains('e') && !args.iter().any(|w| w.starts_with('-') && w.contains('e'));
    let (mut own, mut files) = (vec![program.clone()], vec![]);
    let mut args = args.iter();
    while let Some(word) = args.next() {
        match word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            Some(letters) => {
                own.push(word.clone());
                let takes = letters.find(|letter| with_value.contains(letter));
                if takes.is_some_and(|at| at + 1 == letters.len()) {
                    own.extend(args.next().cloned());
                }
            }
            None if std::mem::take(&mut pattern) => own.push(word.clone()),
            None => files.push(word.clone()),
        }
    }
    Some((own, files))
}

/// Why a filter cannot read a file, in its own words, and its exit code.
pub(super) fn unreadable(program: &str, name: &str) -> (String, i32) {
    const WHY: &str = "No such file or directory";
    match program {
        "head" | "tail" => (format!("{program}: cannot open '{name}' for reading: {WHY}\n"), 1),
        "sort" => (format!("sort: cannot read: {name}: {WHY}\n"), 2),
        "grep" | "egrep" => (format!("grep: {name}: {WHY}\n"), 2),
        _ => (format!("{program}: {name}: {WHY}\n"), 1),
    }
}

/// What a filter says of one of several files, or of the one.
pub(super) fn of_file(program: &str, name: &str, several: bool, text: String) -> String {
    match program {
        "wc" => text.lines().map(|line| format!("{line} {name}\n")).collect(),
        "grep" | "egrep" if several => text.lines().map(|line| format!("{name}:{line}\n")).collect(),
        "head" | "tail" if several => format!("==> {name} <==\n{text}"),
        _ => text,
    }
}

/// Letters of flags, the values of those in `with_value`, and what is no flag.
struct Flags {
    letters: Vec<char>,
    values: Vec<(char, String)>,
    words: Vec<String>,
}

impl Flags {
    fn read(program: &str, args: &[String], known: &str, with_value: &str) -> Result<Flags, (String, i32)> {
        let mut found = Flags { letters: vec![], values: vec![], words: vec![] };
        let mut args = args.iter();
        while let Some(word) = args.next() {
            let number =
                word.strip_prefix('-').filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
            if let Some(number) = number.filter(|_| with_value.contains('n')) {
                found.values.push(('n', number.to_owned()));
                continue;
            }
            let Some(letters) = word.strip_prefix('-').filter(|l| !l.is_empty()) else {
                found.words.push(word.clone());
                continue;
            };
            for (at, letter) in letters.char_indices() {
                if with_value.contains(letter) {
                    let tail = &letters[at + letter.len_utf8()..];
                    let value = if tail.is_empty() { args.next().cloned() } else { Some(tail.to_owned()) };
                    let missing = || (format!("{program}: option requires an argument -- '{letter}'\n"), 2);
                    found.values.push((letter, value.ok_or_else(missing)?));
                    break;
                }
                if !known.contains(letter) {
                    return Err((format!("{program}: -{letter}: Kubestep does not do this\n"), 2));
                }
                found.letters.push(letter);
            }
        }
        Ok(found)
    }

    fn has(&self, letter: char) -> bool {
        self.letters.contains(&letter)
    }

    fn value(&self, letter: char) -> Option<&str> {
        self.values.iter().rev().find(|(l, _)| *l == letter).map(|(_, v)| v.as_str())
    }
}

fn grep(args: &[String], text: &str, extended: bool) -> Filtered {
    let flags = Flags::read("grep", args, "iEvcFnwxoqG", "eABC")?;
    let mut words = flags.words.iter();
    let patterns: Vec<&str> =
        flags.values.iter().filter(|(l, _)| *l == 'e').map(|(_, v)| v.as_str()).collect();
    let patterns = match (patterns.is_empty(), words.next()) {
        (false, _) => patterns,
        (true, Some(word)) => vec![word.as_str()],
        (true, None) => return Err(("usage: grep [-EFivcnwxoq] PATTERN\n".to_owned(), 2)),
    };
    let one = |pattern: &&str| {
        let pattern = match () {
            () if flags.has('F') => regex_lite::escape(pattern),
            () if flags.has('E') || extended => (*pattern).to_owned(),
            () => from_basic(pattern),
        };
        match (flags.has('x'), flags.has('w')) {
            (true, _) => format!("^(?:{pattern})$"),
            (_, true) => format!(r"\b(?:{pattern})\b"),
            _ => format!("(?:{pattern})"),
        }
    };
    let pattern = patterns.iter().map(one).collect::<Vec<_>>().join("|");
    let regex: Regex = RegexBuilder::new(&pattern)
        .case_insensitive(flags.has('i'))
        .build()
        .map_err(|_| (format!("grep: {}: this is no pattern\n", patterns.join(" ")), 2))?;
    let lines: Vec<&str> = text.lines().collect();
    let fits = |line: &str| regex.is_match(line) != flags.has('v');
    let hits: Vec<usize> = (0..lines.len()).filter(|at| fits(lines[*at])).collect();
    let code = i32::from(hits.is_empty());
    if flags.has('q') {
        return Ok((String::new(), code));
    }
    if flags.has('c') {
        return Ok((format!("{}\n", hits.len()), code));
    }
    let around = |letter: char| {
        let value = flags.value(letter).or(flags.value('C'));
        value.and_then(|v| v.parse::<usize>().ok()).unwrap_or(0)
    };
    let (before, after) = (around('B'), around('A'));
    let (mut out, mut next) = (String::new(), 0);
    for hit in &hits {
        let (from, to) = (hit.saturating_sub(before).max(next), (hit + after + 1).min(lines.len()));
        if (before > 0 || after > 0) && next > 0 && from > next {
            out.push_str("--\n");
        }
        for (at, whole) in lines.iter().copied().enumerate().take(to).skip(from) {
            let shown: Vec<&str> = if flags.has('o') && !flags.has('v') {
                regex.find_iter(whole).map(|m| m.as_str()).filter(|m| !m.is_empty()).collect()
            } else {
                vec![whole]
            };
            for line in shown {
                if flags.has('n') {
                    let sign = if hits.binary_search(&at).is_ok() { ':' } else { '-' };
                    out.push_str(&format!("{}{sign}", at + 1));
                }
                out.push_str(line);
                out.push('\n');
            }
        }
        next = next.max(to);
    }
    Ok((out, code))
}

/// A basic regular expression as an extended one: what is special with a backslash in one is so without in the other.
fn from_basic(pattern: &str) -> String {
    let (mut out, mut chars, mut inside) = (String::new(), pattern.chars(), false);
    while let Some(c) = chars.next() {
        match c {
            '[' | ']' => {
                inside = c == '[';
                out.push(c);
            }
            '\\' if !inside => match chars.next() {
                Some(next @ ('|' | '(' | ')' | '{' | '}' | '+' | '?')) => out.push(next),
                Some(next) => out.extend(['\\', next]),
                None => out.push_str("\\\\"),
            },
            '|' | '(' | ')' | '{' | '}' | '+' | '?' if !inside => out.extend(['\\', c]),
            '*' if out.is_empty() => out.push_str("\\*"),
            _ => out.push(c),
        }
    }
    out
}

fn wc(args: &[String], text: &str) -> Filtered {
    let flags = Flags::read("wc", args, "lwcm", "")?;
    let counts = [
        ('l', text.matches('\n').count()),
        ('w', text.split_whitespace().count()),
        ('c', text.len()),
        ('m', text.chars().count()),
    ];
    let asked: Vec<String> =
        counts.iter().filter(|(l, _)| flags.has(*l)).map(|(_, n)| n.to_string()).collect();
    Ok(match asked.as_slice() {
        [] => (format!("{:7} {:7} {:7}\n", counts[0].1, counts[1].1, counts[2].1), 0),
        some => (some.join(" ") + "\n", 0),
    })
}

/// `head` and `tail`.
fn part(args: &[String], text: &str, head: bool) -> Filtered {
    let program = if head { "head" } else { "tail" };
    let flags = Flags::read(program, args, "f", "nc")?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let value = flags.value('n').unwrap_or("10");
    let wrong = || (format!("{program}: invalid number of lines: '{value}'\n"), 1);
    let number: i64 = value.trim_start_matches('+').parse().map_err(|_| wrong())?;
    let count = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
    let range = match (head, number < 0, value.starts_with('+')) {
        (true, false, _) => 0..count.min(lines.len()),
        (true, true, _) => 0..lines.len().saturating_sub(count),
        (false, _, true) => count.saturating_sub(1).min(lines.len())..lines.len(),
        (false, _, false) => lines.len().saturating_sub(count)..lines.len(),
    };
    Ok((lines[range].concat(), 0))
}

fn sort(args: &[String], text: &str) -> Filtered {
    let flags = Flags::read("sort", args, "rnuVhf", "kt")?;
    let field =
        flags.value('k').map(|k| k.split(',').next().unwrap_or(k).trim_end_matches(char::is_alphabetic));
    let field: Option<usize> = match field.map(str::parse) {
        None => None,
        Some(Ok(number)) => Some(number),
        Some(Err(_)) => return Err(("sort: invalid field specification\n".to_owned(), 2)),
    };
    let key = |line: &str| -> String {
        let from = |n: usize| match flags.value('t') {
            Some(sign) => line.splitn(n.max(1), sign).last().unwrap_or_default().to_owned(),
            None => line.split_whitespace().skip(n.saturating_sub(1)).collect::<Vec<_>>().join(" "),
        };
        field.map_or_else(|| line.to_owned(), from)
    };
    let number = |line: &str| -> i64 {
        let text = key(line);
        let text = text.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
        text[..end].parse().unwrap_or(0)
    };
    let mut lines: Vec<&str> = text.lines().collect();
    if flags.has('n') || flags.has('h') || flags.has('V') {
        lines.arrange_by_key(|line| (number(line), key(line)));
    } else if flags.has('f') {
        lines.arrange_by_key(|line| key(line).to_ascii_uppercase());
    } else {
        lines.arrange_by_key(|line| (key(line), (*line).to_owned()));
    }
    if flags.has('r') {
        lines.reverse();
    }
    if flags.has('u') {
        lines.dedup();
    }
    Ok((lines.iter().map(|l| format!("{l}\n")).collect(), 0))
}

fn uniq(args: &[String], text: &str) -> Filtered {
    let flags = Flags::read("uniq", args, "cd", "")?;
    let mut runs: Vec<(&str, usize)> = Vec::new();
    for line in text.lines() {
        match runs.last_mut() {
            Some((last, count)) if *last == line => *count += 1,
            _ => runs.push((line, 1)),
        }
    }
    let shown = runs.into_iter().filter(|(_, count)| !flags.has('d') || *count > 1);
    let line = |(line, count): (&str, usize)| {
        if flags.has('c') { format!("{count:7} {line}\n") } else { format!("{line}\n") }
    };
    Ok((shown.map(line).collect(), 0))
}

fn cut(args: &[String], text: &str) -> Filtered {
    let flags = Flags::read("cut", args, "s", "dfc")?;
    let sign = flags.value('d').unwrap_or("\t");
    let Some(list) = flags.value('f') else {
        return Err(("cut: only -f with -d: Kubestep does not do more\n".to_owned(), 1));
    };
    let wanted = |number: usize| {
        list.split(',').any(|part| match part.split_once('-') {
            Some((from, to)) => {
                number >= from.parse().unwrap_or(1) && number <= to.parse().unwrap_or(usize::MAX)
            }
            None => part.parse() == Ok(number),
        })
    };
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(sign).collect();
        if fields.len() == 1 {
            return format!("{line}\n");
        }
        let shown = fields.iter().enumerate().filter(|(at, _)| wanted(at + 1)).map(|(_, f)| *f);
        shown.collect::<Vec<_>>().join(sign) + "\n"
    };
    Ok((text.lines().map(line).collect(), 0))
}

#[cfg(test)]
mod tests {
    use super::run;

    fn of(line: &str, text: &str) -> (String, i32) {
        let words: Vec<String> = crate::shell::split(line).unwrap();
        run(&words, text).unwrap().unwrap_or_else(|e| e)
    }

    #[test]
    fn filters_do_what_theirs_do() {
        let text = "NAME READY\nweb-1 1/1\nweb-2 0/1\ndb-0 1/1\n";
        for (line, want, code) in [
            ("grep web", "web-1 1/1\nweb-2 0/1\n", 0),
            ("grep -v web", "NAME READY\ndb-0 1/1\n", 0),
            ("grep -c 1/1", "2\n", 0),
            ("grep -i name", "NAME READY\n", 0),
            ("grep -E 'web-1|db'", "web-1 1/1\ndb-0 1/1\n", 0),
            (r"grep 'web-1\|db'", "web-1 1/1\ndb-0 1/1\n", 0),
            ("grep 'a|b'", "", 1),
            ("grep -A1 web-2", "web-2 0/1\ndb-0 1/1\n", 0),
            ("grep -n db", "4:db-0 1/1\n", 0),
            ("grep -o 'web-.'", "web-1\nweb-2\n", 0),
            ("wc -l", "4\n", 0),
            ("head -2", "NAME READY\nweb-1 1/1\n", 0),
            ("head -n 1", "NAME READY\n", 0),
            ("tail -n +2", "web-1 1/1\nweb-2 0/1\ndb-0 1/1\n", 0),
            ("tail -1", "db-0 1/1\n", 0),
            ("sort -r", "web-2 0/1\nweb-1 1/1\ndb-0 1/1\nNAME READY\n", 0),
            ("sort -k2", "web-2 0/1\ndb-0 1/1\nweb-1 1/1\nNAME READY\n", 0),
            ("cut -d' ' -f1", "NAME\nweb-1\nweb-2\ndb-0\n", 0),
        ] {
            assert_eq!(of(line, text), (want.to_owned(), code), "{line}");
        }
        assert_eq!(of("uniq -c", "a\na\nb\n").0, "      2 a\n      1 b\n");
        assert_eq!(of("grep [", "x").1, 2);
    }
}
