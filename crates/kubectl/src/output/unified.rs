//! The difference of two texts as `diff -u` writes it.

/// Lines around a change.
const CONTEXT: usize = 3;
/// Above so many pairs of lines, texts are not compared line by line.
const MOST: usize = 16_000_000;

/// One line of a comparison: kept, taken away or added, by its place in the old and the new text.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Keep(usize, usize),
    Remove(usize),
    Add(usize),
}

/// The hunks that make the new text of the old one; None if they are equal.
pub fn diff(old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let (a, b): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let steps = steps(&a, &b);
    let changed: Vec<usize> =
        steps.iter().enumerate().filter(|(_, s)| !matches!(s, Step::Keep(..))).map(|(at, _)| at).collect();
    let mut out = String::new();
    let mut next = 0;
    while let Some(&first) = changed.get(next) {
        let mut last = first;
        while let Some(&more) = changed.get(next).filter(|more| **more <= last + 2 * CONTEXT + 1) {
            last = more;
            next += 1;
        }
        let (from, to) = (first.saturating_sub(CONTEXT), (last + CONTEXT + 1).min(steps.len()));
        hunk(&mut out, &a, &b, &steps, from, to);
    }
    Some(out)
}

fn hunk(out: &mut String, a: &[&str], b: &[&str], steps: &[Step], from: usize, to: usize) {
    let count = |steps: &[Step], old: bool| {
        steps
            .iter()
            .filter(|s| {
                matches!((s, old), (Step::Keep(..), _) | (Step::Remove(_), true) | (Step::Add(_), false))
            })
            .count()
    };
    let range = |old: bool| {
        let (start, length) = (count(&steps[..from], old), count(&steps[from..to], old));
        match length {
            0 => format!("{start},0"),
            1 => format!("{}", start + 1),
            _ => format!("{},{length}", start + 1),
        }
    };
    out.push_str(&format!("@@ -{} +{} @@\n", range(true), range(false)));
    for step in &steps[from..to] {
        let (sign, line) = match step {
            Step::Keep(i, _) => (' ', a[*i]),
            Step::Remove(i) => ('-', a[*i]),
            Step::Add(j) => ('+', b[*j]),
        };
        out.push(sign);
        out.push_str(line);
        out.push('\n');
    }
}

/// A shortest way from one text to the other; of equal ways the one whose changes come late, as GNU diff shows them.
fn steps(a: &[&str], b: &[&str]) -> Vec<Step> {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (middle_a, middle_b) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
    let mut steps: Vec<Step> = (0..head).map(|i| Step::Keep(i, i)).collect();
    middle(&mut steps, middle_a, middle_b, head);
    steps.extend((a.len() - tail..a.len()).map(|i| Step::Keep(i, b.len() - (a.len() - i))));
    slide(&mut steps, a, b);
    steps
}

fn middle(steps: &mut Vec<Step>, a: &[&str], b: &[&str], head: usize) {
    if a.len().saturating_mul(b.len()) > MOST {
        steps.extend((0..a.len()).map(|i| Step::Remove(head + i)));
        steps.extend((0..b.len()).map(|j| Step::Add(head + j)));
        return;
    }
    // How many lines the rests have in common.
    let width = b.len() + 1;
    let mut common = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i * width + j] = if a[i] == b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            steps.push(Step::Keep(head + i, head + j));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && (j == b.len() || common[(i + 1) * width + j] >= common[i * width + j + 1]) {
            steps.push(Step::Remove(head + i));
            i += 1;
        } else {
            steps.push(Step::Add(head + j));
            j += 1;
        }
    }
}

/// Moves runs of one sort of change down as long as the line that follows equals the run's first. Upstream: GNU
/// diffutils, shift_boundaries.
fn slide(steps: &mut [Step], a: &[&str], b: &[&str]) {
    let mut start = 0;
    while start < steps.len() {
        let removes = match steps[start] {
            Step::Keep(..) => {
                start += 1;
                continue;
            }
            Step::Remove(_) => true,
            Step::Add(_) => false,
        };
        let same = |s: &Step| matches!((s, removes), (Step::Remove(_), true) | (Step::Add(_), false));
        let mut end = start + steps[start..].iter().take_while(|s| same(s)).count();
        while let Some(Step::Keep(i, j)) = steps.get(end).copied() {
            let moved = match steps[start] {
                Step::Remove(first) if a[first] == a[i] => (Step::Keep(first, j), Step::Remove(i)),
                Step::Add(first) if b[first] == b[j] => (Step::Keep(i, first), Step::Add(j)),
                _ => break,
            };
            // What lies between keeps its pairing, one line later on one side.
            steps[start] = moved.0;
            steps[end] = moved.1;
            start += 1;
            end += 1;
        }
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn hunks_read_as_those_of_diff() {
        assert_eq!(diff("a\n", "a\n"), None);
        assert_eq!(diff("", "a\nb\n").unwrap(), "@@ -0,0 +1,2 @@\n+a\n+b\n");
        let old: String = (0..20).map(|i| format!("{i}\n")).collect();
        let new = old.replace("\n3\n", "\nx\n").replace("\n16\n", "\n");
        assert_eq!(
            diff(&old, &new).unwrap(),
            "@@ -1,7 +1,7 @@\n 0\n 1\n 2\n-3\n+x\n 4\n 5\n 6\n@@ -14,7 +14,6 @@\n 13\n 14\n 15\n-16\n 17\n 18\n 19\n"
        );
    }

    #[test]
    fn a_run_of_equal_lines_changes_at_its_end() {
        assert_eq!(diff("a\nx\nx\nb\n", "a\nx\nb\n").unwrap(), "@@ -1,4 +1,3 @@\n a\n x\n-x\n b\n");
        let (old, new) = ("k\n- a\n  b\n- c\n  b\nz\n", "k\n- a\n  b\nz\n");
        assert_eq!(diff(old, new).unwrap(), "@@ -1,6 +1,4 @@\n k\n - a\n   b\n-- c\n-  b\n z\n");
    }
}
