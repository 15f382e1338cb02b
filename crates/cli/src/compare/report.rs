//! What differs, and how much was compared.

use std::fmt::Write;

use serde_json::{Value, json};

/// The four parts of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Output,
    Objects,
    Events,
    Calls,
}

impl Section {
    pub(super) const ALL: [Section; 4] = [Section::Output, Section::Objects, Section::Events, Section::Calls];

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Section::Output => "output",
            Section::Objects => "objects",
            Section::Events => "events",
            Section::Calls => "calls",
        }
    }

    /// What the records of this part are called in the summary.
    fn records(self) -> &'static str {
        match self {
            Section::Output => "commands",
            Section::Objects => "objects",
            Section::Events => "events",
            Section::Calls => "calls",
        }
    }
}

/// One difference: where, and what both sides say there.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    pub(super) section: Section,
    pub(super) place: String,
    pub(super) golden: String,
    pub(super) ours: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) counted: usize,
    pub(super) differ: usize,
    /// Records on which the two real runs do not agree.
    pub(super) free: usize,
}

impl Tally {
    pub(super) fn add(&mut self, other: Tally) {
        self.counted += other.counted;
        self.differ += other.differ;
        self.free += other.free;
    }

    #[allow(clippy::cast_precision_loss)]
    pub(super) fn percent(self) -> f64 {
        if self.counted == 0 { 0.0 } else { 100.0 * self.differ as f64 / self.counted as f64 }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    pub(super) differences: Vec<Difference>,
    pub(super) tallies: [Tally; 4],
}

impl Report {
    pub(super) fn tally(&mut self, section: Section) -> &mut Tally {
        &mut self.tallies[section as usize]
    }

    /// Counts a record; differences make it differ.
    pub(super) fn record(&mut self, section: Section, differences: Vec<Difference>) {
        let tally = self.tally(section);
        tally.counted += 1;
        tally.differ += usize::from(!differences.is_empty());
        self.differences.extend(differences);
    }

    pub(super) fn add(&mut self, other: &Report) {
        for (tally, others) in self.tallies.iter_mut().zip(other.tallies) {
            tally.add(others);
        }
    }

    pub(super) fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.tallies.iter().for_each(|tally| total.add(*tally));
        total
    }

    pub(super) fn differs(&self) -> bool {
        !self.differences.is_empty()
    }

    /// The differences, one block each.
    pub(super) fn blocks(&self) -> String {
        let mut out = String::new();
        for difference in &self.differences {
            let head = format!("{}: {}\n", difference.section.name(), difference.place);
            out.push_str(&head);
            for (sign, side) in [("- ", &difference.golden), ("+ ", &difference.ours)] {
                for line in side.lines() {
                    out.extend(["  ", sign, line, "\n"]);
                }
            }
            out.push('\n');
        }
        out
    }

    /// `commands a of b differ, …` and the whole in per cent.
    pub(super) fn summary(&self) -> String {
        let mut out = String::new();
        for section in Section::ALL {
            let tally = self.tallies[section as usize];
            let verb = if section == Section::Output { " differ" } else { "" };
            let comma = if section == Section::Calls { "" } else { ", " };
            let written =
                write!(out, "{} {} of {}{verb}{comma}", section.records(), tally.differ, tally.counted);
            debug_assert!(written.is_ok(), "writing to a string cannot fail");
        }
        let total = self.total();
        let free =
            if total.free > 0 { format!("; {} records do not count", total.free) } else { String::new() };
        out + &format!(": {:.2} % ({} of {}){free}", total.percent(), total.differ, total.counted)
    }

    pub(super) fn json(&self) -> Value {
        let tally =
            |t: Tally| json!({"differ": t.differ, "of": t.counted, "free": t.free, "percent": t.percent()});
        let mut out = json!({"total": tally(self.total())});
        for section in Section::ALL {
            out[section.name()] = tally(self.tallies[section as usize]);
        }
        out["differences"] = self
            .differences
            .iter()
            .map(|d| json!({"section": d.section.name(), "place": d.place, "golden": d.golden, "ours": d.ours}))
            .collect();
        out
    }
}
