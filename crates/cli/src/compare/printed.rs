//! Holds the tables of `kubectl get` against the objects of the same recording: a row must say what the object was
//! while the command ran. This needs no other recording, so it also counts where the two real runs do not agree.

use std::collections::BTreeSet;

use super::grid::Grid;
use super::recording::{Life, Recording, Step};

/// A change and a print that are this close may have come in either order.
const SECONDS_AROUND: f64 = 1.0;

/// The cells that contradict the recording's own objects.
pub(super) fn contradictions(recording: &Recording, step: &Step) -> Vec<String> {
    let mut out = Vec::new();
    let mut grid: Option<Grid> = None;
    for line in step.stdout.lines() {
        if let Some(head) = Grid::head(line, None) {
            grid = Some(head);
            continue;
        }
        let Some(head) = &grid else { continue };
        let Some(cells) = head.row(line) else {
            grid = None;
            continue;
        };
        if let Some(row) = Row::new(recording, step, head, &cells) {
            out.extend(row.contradictions());
        }
    }
    out
}

struct Row<'a> {
    name: &'a str,
    kind: &'static str,
    cells: Vec<(&'a str, &'a str)>,
    lives: Vec<&'a Life>,
    from: f64,
    to: f64,
}

impl<'a> Row<'a> {
    fn new(recording: &'a Recording, step: &Step, grid: &'a Grid, cells: &[&'a str]) -> Option<Self> {
        let cells: Vec<(&str, &str)> = grid.heads().zip(cells.iter().copied()).collect();
        let has = |head: &str| cells.iter().any(|(other, _)| *other == head);
        let kind = match () {
            () if has("RESTARTS") && has("READY") => "Pod",
            () if has("UP-TO-DATE") && has("READY") && !has("DESIRED") => "Deployment",
            () if has("DESIRED") && has("CURRENT") && !has("UP-TO-DATE") => "ReplicaSet",
            () => return None,
        };
        let name = cells.iter().find(|(head, _)| *head == "NAME")?.1;
        let name = name.rsplit('/').next().unwrap_or(name);
        let lives = recording.lives.iter().filter(|(ident, _)| ident.kind == kind && ident.name == name);
        let lives: Vec<&Life> = lives.map(|(_, life)| life).collect();
        let (from, to) = (step.at - SECONDS_AROUND, step.at + step.took + SECONDS_AROUND);
        (!lives.is_empty()).then_some(Row { name, kind, cells, lives, from, to })
    }

    fn contradictions(&self) -> Vec<String> {
        let wrong = |&(head, cell): &(&str, &str)| {
            let allowed = self.allowed(head)?;
            let said = if head == "RESTARTS" { cell.split(' ').next()? } else { cell };
            let fits = allowed.contains(said) || said == "<none>";
            (!fits).then(|| {
                format!("{} {} {head}: {said}, but the objects say {allowed:?}", self.kind, self.name)
            })
        };
        self.cells.iter().filter_map(wrong).collect()
    }

    /// What a cell may say; none: it is not held against anything.
    fn allowed(&self, head: &str) -> Option<BTreeSet<String>> {
        let number = |path: &str| -> BTreeSet<String> { self.values(path, "0") };
        Some(match (self.kind, head) {
            ("Pod", "RESTARTS") => self.restarts(),
            ("Pod", "READY") => self.each(ready),
            ("Pod", "IP") => self.ever("status.podIP"),
            ("Pod", "NODE") => self.ever("spec.nodeName"),
            ("Deployment", "READY") => self.shares("status.readyReplicas", "spec.replicas"),
            ("Deployment", "UP-TO-DATE") => number("status.updatedReplicas"),
            ("Deployment", "AVAILABLE") => number("status.availableReplicas"),
            ("ReplicaSet", "DESIRED") => number("spec.replicas"),
            ("ReplicaSet", "CURRENT") => number("status.replicas"),
            ("ReplicaSet", "READY") => number("status.readyReplicas"),
            _ => return None,
        })
    }

    /// Something of each version that was there while the command ran.
    fn each(&self, read: impl Fn(&Life, usize) -> String) -> BTreeSet<String> {
        let mut out = BTreeSet::new();
        for life in &self.lives {
            for (version, change) in life.changes.iter().enumerate() {
                let next = life.changes.get(version + 1).map_or(f64::INFINITY, |next| next.at);
                if change.at <= self.to && next >= self.from {
                    out.insert(read(life, version));
                }
            }
        }
        out
    }

    fn values(&self, path: &str, absent: &str) -> BTreeSet<String> {
        self.each(|life, version| life.value(path, version).unwrap_or(absent).to_owned())
    }

    fn shares(&self, done: &str, of: &str) -> BTreeSet<String> {
        self.each(|life, version| {
            let value = |path| life.value(path, version).unwrap_or("0");
            format!("{}/{}", value(done), value(of))
        })
    }

    /// While a pod initialises, kubectl counts the restarts of its init containers, later those of the others and of
    /// its sidecars.
    fn restarts(&self) -> BTreeSet<String> {
        let sum = |life: &Life, version: usize, list: &str| -> u64 {
            let counts = statuses(life, list, ".restartCount");
            counts.filter_map(|path| life.value(path, version)?.parse::<u64>().ok()).sum()
        };
        let mut out = BTreeSet::new();
        for (main, init) in [(true, false), (false, true), (true, true)] {
            out.extend(self.each(|life, version| {
                let main = if main { sum(life, version, "status.containerStatuses[") } else { 0 };
                let init = if init { sum(life, version, "status.initContainerStatuses[") } else { 0 };
                (main + init).to_string()
            }));
        }
        out
    }

    fn ever(&self, path: &str) -> BTreeSet<String> {
        self.lives
            .iter()
            .flat_map(|life| life.values(path))
            .map(|value| value.trim_matches('"').to_owned())
            .collect()
    }
}

fn statuses<'a>(life: &'a Life, list: &'a str, tail: &'a str) -> impl Iterator<Item = &'a str> {
    let of = move |path: &&String| path.starts_with(list) && path.ends_with(tail);
    life.moves.keys().filter(of).map(String::as_str)
}

fn ready(life: &Life, version: usize) -> String {
    let is_ready = |path: &&str| life.value(path, version) == Some("true");
    let mut ready = statuses(life, "status.containerStatuses[", ".ready").filter(is_ready).count();
    let mut all =
        statuses(life, "spec.containers[", "].name").filter(|path| path.matches(']').count() == 1).count();
    for policy in statuses(life, "spec.initContainers[", "].restartPolicy") {
        let name = policy.split(['[', ']']).nth(1).unwrap_or_default();
        all += 1;
        ready += usize::from(is_ready(&format!("status.initContainerStatuses[{name}].ready").as_str()));
    }
    format!("{ready}/{all}")
}
