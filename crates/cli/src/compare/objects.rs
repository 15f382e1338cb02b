//! Compares the objects: how they are at the end, and the states they went through.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Facts, NOTHING, facts, spread};
use super::output::masked;
use super::reader::Text;
use super::recording::Ident;
use super::report::{Difference, Report, Section};
use super::scenes::Together;
use super::view::{Verdict, View, verdict};

pub(super) fn compare<'a>(
    golden: &'a View<'_>,
    ours: &'a View<'_>,
    twin: Option<&'a View<'_>>,
    report: &mut Report,
) {
    let read = |view: &'a View<'_>| view.facts.get_or_init(|| facts(view, golden.recording));
    let (theirs, mine, second) = (read(golden), read(ours), twin.map(read));
    let shown = twin.zip(second).map(|(twin, second)| twin.shown.get_or_init(|| shown([theirs, second])));
    let mut ledger = Ledger { report, shown };
    let nothing = Facts::default();
    let idents: BTreeSet<&Ident> = theirs.keys().chain(mine.keys()).collect();
    for ident in idents {
        let second = second.map(|second| second.get(ident).unwrap_or(&nothing));
        match (theirs.get(ident), mine.get(ident)) {
            (Some(there), Some(here)) => ledger.object(ident, there, here, second),
            (there, here) => ledger.alone(ident, there, here, second),
        }
    }
    let (theirs, mine, second) = (spread(golden), spread(ours), twin.map(spread));
    let none = String::new();
    for owner in theirs.keys().chain(mine.keys().filter(|owner| !theirs.contains_key(*owner))) {
        let of = |spread: &BTreeMap<String, String>| spread.get(owner).unwrap_or(&none).clone();
        let (there, here, second) = (of(&theirs), of(&mine), second.as_ref().map(of));
        let found = verdict(&there, &here, second.as_ref(), |a, b| a == b);
        ledger.note(found, format!("{owner}, per node"), || (there.clone(), here.clone()));
    }
}

struct Ledger<'a> {
    report: &'a mut Report,
    /// What the real runs have shown, for where they do not agree.
    shown: Option<&'a (Seen, Together)>,
}

fn shown(runs: [&BTreeMap<Ident, Facts>; 2]) -> (Seen, Together) {
    let scenes = runs.into_iter().flatten().map(|(ident, facts)| (ident, &facts.scenes));
    (Seen::of(runs), Together::of(scenes))
}

impl Ledger<'_> {
    fn note(&mut self, verdict: Verdict, place: String, sides: impl FnOnce() -> (String, String)) {
        if verdict == Verdict::Free {
            self.report.tally(Section::Objects).free += 1;
            return;
        }
        let mut differences = Vec::new();
        if verdict == Verdict::Differs {
            let (golden, ours) = sides();
            differences.push(Difference { section: Section::Objects, place, golden, ours });
        }
        self.report.record(Section::Objects, differences);
    }

    /// An object that only one side has: all of its facts differ, but that is said once.
    fn alone(&mut self, ident: &Ident, there: Option<&Facts>, here: Option<&Facts>, second: Option<&Facts>) {
        let count = there.or(here).map_or(0, Facts::count);
        let has = |facts: Option<&Facts>| facts.is_some_and(|facts| facts.count() > 0);
        let tally = self.report.tally(Section::Objects);
        if second.is_some_and(|second| has(Some(second)) != has(there)) {
            tally.free += count;
            return;
        }
        tally.counted += count;
        tally.differ += count;
        let side = |facts: Option<&Facts>| if has(facts) { "(there)" } else { "(not there)" }.to_owned();
        self.report.differences.push(Difference {
            section: Section::Objects,
            place: ident.to_string(),
            golden: side(there),
            ours: side(here),
        });
    }

    fn object(&mut self, ident: &Ident, there: &Facts, here: &Facts, second: Option<&Facts>) {
        let shown =
            |there: bool| if there { "(there at the end)" } else { "(not there at the end)" }.to_owned();
        let (g, o) = (there.last.is_some(), here.last.is_some());
        let t = second.map(|second| second.last.is_some());
        self.note(verdict(&g, &o, t.as_ref(), |a, b| a == b), ident.to_string(), || (shown(g), shown(o)));
        let empty = BTreeMap::new();
        let last = |facts: &Facts| -> BTreeMap<String, Vec<Text>> {
            let one = |(path, text): (&String, &Text)| (path.clone(), vec![text.clone()]);
            facts.last.as_ref().unwrap_or(&empty).iter().map(one).collect()
        };
        if g && o {
            self.leaves(ident, "at the end", &last(there), &last(here), second.map(last).as_ref());
        }
        if there.states.is_empty() && here.states.is_empty() {
            return;
        }
        self.scenes(ident, here);
        self.leaves(ident, "changes", &there.values, &here.values, second.map(|second| &second.values));
        let states = verdict(&there.states, &here.states, second.map(|second| &second.states), |a, b| a == b);
        let same = there.states.iter().zip(&here.states).take_while(|(a, b)| a == b).count();
        self.note(states, format!("{ident}, sequence of states"), || {
            (
                format!("{} states", there.states.len()),
                format!("{} states, another from number {}", here.states.len(), same + 1),
            )
        });
    }

    /// Combinations that no real run has.
    fn scenes(&mut self, ident: &Ident, here: &Facts) {
        let Some(strange) = self.shown.map(|(_, together)| together.strange(ident, &here.scenes)) else {
            return;
        };
        let found = if strange.is_empty() { Verdict::Same } else { Verdict::Differs };
        self.note(found, format!("{ident}, what stands together"), || {
            ("(in no real run)".to_owned(), strange.join("\n"))
        });
    }

    fn leaves(
        &mut self,
        ident: &Ident,
        what: &str,
        there: &BTreeMap<String, Vec<Text>>,
        here: &BTreeMap<String, Vec<Text>>,
        second: Option<&BTreeMap<String, Vec<Text>>>,
    ) {
        let none = Vec::new();
        let paths: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
        for path in paths {
            let of = |facts: &'_ BTreeMap<String, Vec<Text>>| facts.get(path).unwrap_or(&none).clone();
            let (g, o, t) = (of(there), of(here), second.map(of));
            let same =
                |a: &Vec<Text>, b: &Vec<Text>| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b));
            let mut found = verdict(&g, &o, t.as_ref(), same);
            if found == Verdict::Free && self.shown.is_some_and(|(seen, _)| !seen.all(ident, path, &o)) {
                found = Verdict::Differs;
            }
            let show = |values: &[Text]| match values {
                [] => NOTHING.to_owned(),
                values => values.iter().map(Text::to_string).collect::<Vec<_>>().join(" → "),
            };
            self.note(found, format!("{ident} {what}: {path}"), || (show(&g), show(&o)));
        }
    }
}

/// All values that a leaf has had in objects of a kind, in two real runs. Where the runs do not agree on the values of
/// one object, ours may have others, but none that no object had, and no number beyond theirs.
#[derive(Debug)]
pub(super) struct Seen(BTreeMap<(String, String), Values>);

#[derive(Debug, Default)]
struct Values {
    texts: BTreeSet<String>,
    numbers: Option<(i64, i64)>,
}

impl Seen {
    fn of(runs: [&BTreeMap<Ident, Facts>; 2]) -> Self {
        let mut seen = Seen(BTreeMap::new());
        for (ident, facts) in runs.into_iter().flatten() {
            let last = facts.last.iter().flatten();
            for (path, text) in
                last.chain(facts.values.iter().flat_map(|(path, texts)| texts.iter().map(move |t| (path, t))))
            {
                seen.0.entry(Self::key(ident, path)).or_default().add(text);
            }
        }
        seen
    }

    /// Elements of lists are taken together.
    fn key(ident: &Ident, path: &str) -> (String, String) {
        let mut key = String::new();
        let mut depth = 0;
        for c in path.chars() {
            depth -= i32::from(c == ']');
            if depth == 0 {
                key.push(c);
            }
            depth += i32::from(c == '[');
        }
        (ident.kind.clone(), key)
    }

    fn all(&self, ident: &Ident, path: &str, values: &[Text]) -> bool {
        let had = self.0.get(&Self::key(ident, path));
        values.iter().all(|text| text.skeleton == NOTHING || had.is_some_and(|had| had.has(text)))
    }
}

impl Values {
    fn add(&mut self, text: &Text) {
        match text.skeleton.parse::<i64>() {
            Ok(number) => {
                let (least, most) = self.numbers.unwrap_or((number, number));
                self.numbers = Some((least.min(number), most.max(number)));
            }
            Err(_) => {
                self.texts.insert(masked(&text.skeleton));
            }
        }
    }

    fn has(&self, text: &Text) -> bool {
        match text.skeleton.parse::<i64>() {
            Ok(number) => self.numbers.is_some_and(|(least, most)| (least..=most).contains(&number)),
            Err(_) => text.skeleton.contains("(only-here)") || self.texts.contains(&masked(&text.skeleton)),
        }
    }
}
