//! Compares what the commands printed.

use std::collections::{BTreeMap, BTreeSet};

use super::clock::Time;
use super::reader::{Text, near};
use super::report::{Difference, Report, Section};
use super::table::May;
use super::told::{Told, told};
use super::view::{Verdict, View, numbered, verdict};
use super::waiting;

pub(super) fn compare(golden: &View<'_>, ours: &View<'_>, twin: Option<&View<'_>>, report: &mut Report) {
    let (theirs, mine, second) = (read(golden), read(ours), twin.map(read));
    let real = || theirs.values().chain(second.iter().flat_map(|second| second.values()));
    let known = twin.unwrap_or(golden).known.get_or_init(|| Vocabulary::of(real()));
    let order = golden.reader.allow.has(May::Order);
    for place in theirs.keys().chain(mine.keys().filter(|place| !theirs.contains_key(*place))) {
        let (Some(there), Some(here)) = (theirs.get(place), mine.get(place)) else {
            let side = |told: Option<&Told>| {
                told.map_or("(no such step)".to_owned(), |told| told.command.to_string())
            };
            let (golden, ours) = (side(theirs.get(place)), side(mine.get(place)));
            let place = format!("step {}", place.0);
            report
                .record(Section::Output, vec![Difference { section: Section::Output, place, golden, ours }]);
            continue;
        };
        let second = second.and_then(|second| second.get(place));
        let case = Case { there, here, second, known, order };
        let (differences, free) = case.differences(&format!("step {}, {}", place.0, there.command));
        report.record(Section::Output, differences);
        report.tally(Section::Output).free += usize::from(free);
    }
}

fn read<'a>(view: &'a View<'_>) -> &'a BTreeMap<(i64, usize), Told> {
    view.told
        .get_or_init(|| numbered(view.recording.steps.iter().map(|step| (step.number, told(view, step)))))
}

/// One command in two recordings, or three.
struct Case<'a> {
    there: &'a Told,
    here: &'a Told,
    second: Option<&'a Told>,
    known: &'a Vocabulary,
    order: bool,
}

/// The same lines, each with the moments of its occurrences.
type Sheet = BTreeMap<String, Vec<Vec<Time>>>;

impl Case<'_> {
    /// What differs, and whether the real runs do not agree on all of it.
    fn differences(&self, place: &str) -> (Vec<Difference>, bool) {
        let mut out = Vec::new();
        let mut free = false;
        let (mut golden, mut ours) = (Vec::new(), Vec::new());
        let mut part = |there: String, here: String, second: Option<String>| match verdict(
            &there,
            &here,
            second.as_ref(),
            |a, b| a == b,
        ) {
            Verdict::Same => {}
            Verdict::Free => free = true,
            Verdict::Differs => {
                golden.push(there);
                ours.push(here);
            }
        };
        let reads: [fn(&Told) -> String; 3] = [asked, ended, matched];
        for read in reads {
            part(read(self.there), read(self.here), self.second.map(read));
        }
        free |= self.lines(&mut golden, &mut ours);
        let real =
            self.there.contradictions.len() + self.second.map_or(0, |second| second.contradictions.len());
        if real == 0 && ours.is_empty() {
            ours.extend(self.here.contradictions.iter().cloned());
        }
        let strangers = waiting::strangers(self.there, self.here, self.second);
        ours.extend(strangers);
        if !golden.is_empty() || !ours.is_empty() {
            let side = |lines: Vec<String>| lines.join("\n");
            out.push(Difference {
                section: Section::Output,
                place: place.to_owned(),
                golden: side(golden),
                ours: side(ours),
            });
        }
        (out, free)
    }

    /// Lines that are missing, too many, or out of order. Says whether the real runs disagree.
    fn lines(&self, golden: &mut Vec<String>, ours: &mut Vec<String>) -> bool {
        let (there, here, second) = (sheet(self.there), sheet(self.here), self.second.map(sheet));
        let agreed = second.as_ref().is_none_or(|second| alike(&there, second));
        let none = Vec::new();
        let before = golden.len() + ours.len();
        let keys: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
        for line in keys {
            let of = |sheet: &'_ Sheet| sheet.get(line).unwrap_or(&none).clone();
            let (g, o, t) = (of(&there), of(&here), second.as_ref().map(of));
            if verdict(g.as_slice(), o.as_slice(), t.as_deref(), same_times) != Verdict::Differs {
                continue;
            }
            if !agreed && g.is_empty() && self.known.knows(line) {
                continue;
            }
            let show = |times: &[Vec<Time>]| -> Vec<String> {
                let text =
                    |times: &Vec<Time>| Text { skeleton: line.clone(), times: times.clone(), drawn: false };
                times.iter().map(|times| text(times).to_string()).collect()
            };
            golden.extend(show(&g));
            ours.extend(show(&o));
        }
        if golden.len() + ours.len() == before && agreed {
            self.order(golden, ours);
        }
        !agreed
    }

    /// Where nothing drawn is printed, the order of the lines counts.
    fn order(&self, golden: &mut Vec<String>, ours: &mut Vec<String>) {
        let sequence = |told: &Told| told.lines.iter().map(|line| line.skeleton.clone()).collect::<Vec<_>>();
        let drawn = self.there.lines.iter().any(|line| line.drawn);
        let (there, here) = (sequence(self.there), sequence(self.here));
        if (drawn && self.order)
            || there == here
            || self.second.is_some_and(|second| sequence(second) != there)
        {
            return;
        }
        let same = there.iter().zip(&here).take_while(|(a, b)| a == b).count();
        let tail = |lines: &[String]| lines.iter().skip(same).take(3).cloned().collect::<Vec<_>>();
        golden.push("(in this order)".to_owned());
        golden.extend(tail(&there));
        ours.push("(in this order)".to_owned());
        ours.extend(tail(&here));
    }
}

fn asked(told: &Told) -> String {
    told.command.to_string()
}

fn ended(told: &Told) -> String {
    told.exit.map_or(String::new(), |code| format!("exit {code}"))
}

fn matched(told: &Told) -> String {
    told.matched.map_or(String::new(), |matched| format!("matched: {matched}"))
}

fn sheet(told: &Told) -> Sheet {
    let mut sheet = Sheet::new();
    for line in &told.lines {
        sheet.entry(line.skeleton.clone()).or_default().push(line.times.clone());
    }
    for times in sheet.values_mut() {
        times.sort_by(|a, b| seconds(a).partial_cmp(&seconds(b)).unwrap_or(std::cmp::Ordering::Equal));
    }
    sheet
}

fn seconds(times: &[Time]) -> Vec<f64> {
    times.iter().map(|time| time.seconds).collect()
}

fn same_times(a: &[Vec<Time>], b: &[Vec<Time>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(a, b))
}

fn alike(a: &Sheet, b: &Sheet) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((line, a), (other, b))| line == other && same_times(a, b))
}

/// Every word that a real run printed, counts aside. Where the real runs do not agree on an output, ours may say
/// something else, but not in words of its own, and not out of another total (`1/3`).
#[derive(Debug)]
pub(super) struct Vocabulary {
    words: BTreeSet<String>,
    totals: BTreeMap<String, BTreeSet<String>>,
}

impl Vocabulary {
    fn of<'a>(told: impl Iterator<Item = &'a Told>) -> Self {
        let mut known = Vocabulary { words: BTreeSet::new(), totals: BTreeMap::new() };
        for line in told.flat_map(|told| &told.lines) {
            known.words.extend(line.skeleton.split_whitespace().map(counted));
            known.totals.entry(masked(&line.skeleton)).or_default().insert(totals(&line.skeleton));
        }
        known
    }

    fn knows(&self, line: &str) -> bool {
        let word = |word: &str| word.contains("(only-here)") || self.words.contains(&counted(word));
        let total = self.totals.get(&masked(line)).is_none_or(|seen| seen.contains(&totals(line)));
        line.split_whitespace().all(word) && total
    }
}

/// Out of how many: the second numbers of `1/3`.
fn totals(line: &str) -> String {
    let total = |word: &str| {
        let (done, of) = word.split_once('/')?;
        (done.parse::<u32>().is_ok() && of.parse::<u32>().is_ok()).then(|| of.to_owned())
    };
    line.split_whitespace().filter_map(total).collect::<Vec<_>>().join(" ")
}

/// A count or a share of one (`3`, `1/3`, `(50%)`) with its numbers as `#`; any other word as it is.
fn counted(word: &str) -> String {
    if word.chars().all(|c| c.is_ascii_digit() || "/()%x".contains(c)) {
        masked(word)
    } else {
        word.to_owned()
    }
}

/// A word with each number as `#`.
pub(super) fn masked(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}
