//! The difference of two texts in lines, as the library that Kubernetes uses finds it.
//!
//! Upstream: github.com/pmezard/go-difflib, which follows Python's difflib.

use kubestep_model::arrange::Arrange;
use std::collections::BTreeMap;

/// So many lines stand around each difference.
const CONTEXT: usize = 3;
/// From this many lines on, those that stand everywhere do not begin a match.
const MANY: usize = 200;
/// Texts longer than this are not compared: no object of the API is so long.
const LONGEST: usize = 20_000;

type Block = (usize, usize, usize);

/// The changed places with their surroundings; empty when nothing differs.
pub(super) fn unified(old: &str, new: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    if a.len() > LONGEST || b.len() > LONGEST {
        return String::new();
    }
    let mut out = String::new();
    for group in groups(&codes(&matches(&a, &b), a.len(), b.len())) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (old, new) = (span(first.old.0, last.old.1), span(first.new.0, last.new.1));
        out.push_str(&format!("@@ -{old} +{new} @@\n"));
        for code in &group {
            if code.equal {
                lines(&mut out, ' ', &a[code.old.0..code.old.1]);
            } else {
                lines(&mut out, '-', &a[code.old.0..code.old.1]);
                lines(&mut out, '+', &b[code.new.0..code.new.1]);
            }
        }
    }
    out
}

fn lines(out: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        out.push(mark);
        out.push_str(line);
        out.push('\n');
    }
}

fn span(start: usize, end: usize) -> String {
    match end - start {
        1 => format!("{}", start + 1),
        0 => format!("{start},0"),
        length => format!("{},{length}", start + 1),
    }
}

/// A stretch that is equal in both, or that replaces one by the other.
#[derive(Clone, Debug)]
struct Code {
    equal: bool,
    old: (usize, usize),
    new: (usize, usize),
}

/// All matching blocks, in order.
fn matches(a: &[&str], b: &[&str]) -> Vec<Block> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (j, line) in b.iter().enumerate() {
        places.entry(line).or_default().push(j);
    }
    if b.len() >= MANY {
        let most = b.len() / 100 + 1;
        places.retain(|_, at| at.len() <= most);
    }
    let mut found = vec![];
    let mut todo = vec![(0, a.len(), 0, b.len())];
    while let Some((a0, a1, b0, b1)) = todo.pop() {
        let (i, j, length) = longest(a, b, &places, (a0, a1, b0, b1));
        if length > 0 {
            found.push((i, j, length));
            if a0 < i && b0 < j {
                todo.push((a0, i, b0, j));
            }
            if i + length < a1 && j + length < b1 {
                todo.push((i + length, a1, j + length, b1));
            }
        }
    }
    found.arrange();
    found
}

fn longest(
    a: &[&str],
    b: &[&str],
    places: &BTreeMap<&str, Vec<usize>>,
    (a0, a1, b0, b1): (usize, usize, usize, usize),
) -> Block {
    let (mut i, mut j, mut length) = (a0, b0, 0);
    let mut ending: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, line) in a.iter().enumerate().take(a1).skip(a0) {
        let mut next = BTreeMap::new();
        for other in places.get(line).into_iter().flatten().filter(|o| (b0..b1).contains(*o)) {
            let run = other.checked_sub(1).and_then(|o| ending.get(&o)).copied().unwrap_or(0) + 1;
            next.insert(*other, run);
            if run > length {
                (i, j, length) = (at + 1 - run, other + 1 - run, run);
            }
        }
        ending = next;
    }
    while i > a0 && j > b0 && a[i - 1] == b[j - 1] {
        (i, j, length) = (i - 1, j - 1, length + 1);
    }
    while i + length < a1 && j + length < b1 && a[i + length] == b[j + length] {
        length += 1;
    }
    (i, j, length)
}

fn codes(blocks: &[Block], a: usize, b: usize) -> Vec<Code> {
    let mut codes: Vec<Code> = vec![];
    let (mut i, mut j) = (0, 0);
    for (at, other, length) in blocks.iter().copied().chain([(a, b, 0)]) {
        if i < at || j < other {
            codes.push(Code { equal: false, old: (i, at), new: (j, other) });
        }
        (i, j) = (at + length, other + length);
        match codes.last_mut().filter(|c| c.equal && c.old.1 == at && c.new.1 == other) {
            Some(last) => (last.old.1, last.new.1) = (i, j),
            None if length > 0 => codes.push(Code { equal: true, old: (at, i), new: (other, j) }),
            None => {}
        }
    }
    codes
}

/// The changes, each with so many equal lines around it; those that are near stand together.
fn groups(codes: &[Code]) -> Vec<Vec<Code>> {
    if codes.iter().all(|c| c.equal) {
        return vec![];
    }
    let mut groups = vec![];
    let mut group: Vec<Code> = vec![];
    let last = codes.len() - 1;
    for (n, code) in codes.iter().enumerate() {
        let mut code = code.clone();
        if code.equal && n == 0 {
            code.old.0 = code.old.0.max(code.old.1.saturating_sub(CONTEXT));
            code.new.0 = code.new.0.max(code.new.1.saturating_sub(CONTEXT));
        }
        if code.equal && n == last {
            code.old.1 = code.old.1.min(code.old.0 + CONTEXT);
            code.new.1 = code.new.1.min(code.new.0 + CONTEXT);
        }
        if code.equal && code.old.1 - code.old.0 > 2 * CONTEXT {
            let mut head = code.clone();
            head.old.1 = code.old.0 + CONTEXT;
            head.new.1 = code.new.0 + CONTEXT;
            group.push(head);
            groups.push(std::mem::take(&mut group));
            code.old.0 = code.old.1 - CONTEXT;
            code.new.0 = code.new.1 - CONTEXT;
        }
        group.push(code);
    }
    if group.iter().any(|c| !c.equal) {
        groups.push(group);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_stand_with_three_lines_around_them() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh";
        let new = "a\nb\nc\nd\nE\nf\ng\nh";
        assert_eq!(unified(old, new), "@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n");
        assert_eq!(unified(old, old), "");
    }

    #[test]
    fn far_changes_stand_apart_and_lines_may_be_added() {
        let old: String = (0..30).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n4\n", "\n4\nx\n").replace("\n25\n", "\n");
        let there = unified(&old, &new);
        assert!(
            there.starts_with("@@ -3,6 +3,7 @@\n 2\n 3\n 4\n+x\n 5\n 6\n 7\n@@ -23,7 +24,6 @@\n"),
            "{there}"
        );
    }
}
