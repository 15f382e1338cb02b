//! What stands together in a state: where the two real runs do not agree on an object's values one by one, ours may
//! have others, but none that contradict each other.

use std::collections::{BTreeMap, BTreeSet};

use super::recording::Ident;

/// The combinations that an object went through.
#[derive(Clone, Debug, Default)]
pub(super) struct Scenes {
    /// For each list (conditions, container statuses, endpoints) its elements' states, reasons and switches.
    elements: BTreeMap<String, BTreeSet<String>>,
    /// The numbers of each state.
    numbers: BTreeSet<BTreeMap<String, i64>>,
}

/// An object's leaves as they follow each other.
#[derive(Debug, Default)]
pub(super) struct Stage {
    now: BTreeMap<String, String>,
    touched: BTreeSet<String>,
}

impl Stage {
    pub(super) fn set(&mut self, path: &str, value: Option<&str>) {
        match value {
            Some(value) => self.now.insert(path.to_owned(), value.to_owned()),
            None => self.now.remove(path),
        };
        if let Some((list, rest)) = path.split_once('[')
            && (list.starts_with("status.") || list == "endpoints")
            && let Some((key, _)) = rest.split_once(']')
        {
            self.touched.insert(format!("{list}[{key}]"));
        }
    }

    /// All leaves of one change are set: notes the state.
    pub(super) fn show(&mut self, scenes: &mut Scenes) {
        for element in std::mem::take(&mut self.touched) {
            let leaves = self.now.range(element.clone()..).take_while(|(path, _)| path.starts_with(&element));
            let told: Vec<String> = leaves
                .filter_map(|(path, value)| {
                    let leaf = &path[element.len()..];
                    let name = leaf.rsplit('.').next().unwrap_or(leaf);
                    let tells = matches!(name, "status" | "reason" | "type" | "phase")
                        || matches!(value.as_str(), "true" | "false");
                    tells.then(|| format!("{}={value}", leaf.trim_start_matches('.')))
                })
                .collect();
            let list = element.split('[').next().unwrap_or_default().to_owned();
            if !told.is_empty() {
                scenes.elements.entry(list).or_default().insert(told.join(" "));
            }
        }
        let generation: Option<i64> =
            self.now.get("metadata.generation").and_then(|value| value.parse().ok());
        let ahead = |(path, value): (&String, &String)| {
            path.ends_with("observedGeneration") && value.parse::<i64>().ok() > generation
        };
        if generation.is_some() && self.now.iter().any(ahead) {
            scenes.elements.entry("observedGeneration".to_owned()).or_default().insert("ahead".to_owned());
        }
        let counted = |path: &str| {
            path.starts_with("status.") || path == "spec.replicas" || path == "metadata.generation"
        };
        let numbers = self.now.iter().filter(|(path, _)| counted(path) && !path.contains('['));
        let numbers: BTreeMap<String, i64> =
            numbers.filter_map(|(path, value)| Some((path.clone(), value.parse().ok()?))).collect();
        if numbers.len() > 1 {
            scenes.numbers.insert(numbers);
        }
    }
}

/// What always stood together in the two real runs, kind by kind.
#[derive(Debug, Default)]
pub(super) struct Together {
    elements: BTreeMap<(String, String), BTreeSet<String>>,
    relations: BTreeMap<String, Vec<Relation>>,
}

/// A relation among numbers; what is not there is zero.
#[derive(Clone, Debug, PartialEq)]
enum Relation {
    AtMost(String, String),
    Sum(String, String, String),
}

/// A relation is believed if so many different states hold it.
const ENOUGH: usize = 10;

impl Together {
    pub(super) fn of<'a>(scenes: impl Iterator<Item = (&'a Ident, &'a Scenes)>) -> Self {
        let mut together = Together::default();
        let mut states: BTreeMap<String, BTreeSet<&BTreeMap<String, i64>>> = BTreeMap::new();
        for (ident, scenes) in scenes {
            for (list, elements) in &scenes.elements {
                let key = (ident.kind.clone(), list.clone());
                together.elements.entry(key).or_default().extend(elements.iter().cloned());
            }
            states.entry(ident.kind.clone()).or_default().extend(&scenes.numbers);
        }
        states.retain(|_, states| states.len() >= ENOUGH);
        together.relations = states.into_iter().map(|(kind, states)| (kind, relations(&states))).collect();
        together
    }

    /// The combinations of an object that contradict all that real runs have shown.
    pub(super) fn strange(&self, ident: &Ident, scenes: &Scenes) -> Vec<String> {
        let mut out = Vec::new();
        for (list, elements) in &scenes.elements {
            let known = self.elements.get(&(ident.kind.clone(), list.clone()));
            let strange =
                elements.iter().filter(|element| known.is_none_or(|known| !known.contains(*element)));
            out.extend(strange.map(|element| format!("{list}: {element}")));
        }
        for relation in self.relations.get(&ident.kind).into_iter().flatten() {
            let broken = scenes.numbers.iter().find(|numbers| !relation.holds(numbers));
            out.extend(broken.map(|numbers| format!("not {relation}: {}", relation.sides(numbers))));
        }
        out
    }
}

fn relations(states: &BTreeSet<&BTreeMap<String, i64>>) -> Vec<Relation> {
    let paths: BTreeSet<&String> = states.iter().flat_map(|state| state.keys()).collect();
    let mut candidates = Vec::new();
    for a in &paths {
        for b in paths.iter().filter(|b| *b != a) {
            candidates.push(Relation::AtMost((*a).clone(), (*b).clone()));
            let sums = paths.iter().filter(|c| *c > b && *c != a);
            candidates.extend(sums.map(|c| Relation::Sum((*a).clone(), (*b).clone(), (*c).clone())));
        }
    }
    candidates.retain(|relation| states.iter().all(|state| relation.holds(state)));
    candidates
}

impl Relation {
    fn holds(&self, numbers: &BTreeMap<String, i64>) -> bool {
        let value = |path: &String| numbers.get(path).copied().unwrap_or_default();
        match self {
            Relation::AtMost(a, b) => value(a) <= value(b),
            Relation::Sum(a, b, c) => value(a) == value(b) + value(c),
        }
    }

    fn sides(&self, numbers: &BTreeMap<String, i64>) -> String {
        let value = |path: &String| numbers.get(path).copied().unwrap_or_default();
        match self {
            Relation::AtMost(a, b) => format!("{} and {}", value(a), value(b)),
            Relation::Sum(a, b, c) => format!("{} and {} + {}", value(a), value(b), value(c)),
        }
    }
}

impl std::fmt::Display for Relation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Relation::AtMost(a, b) => write!(f, "{a} ≤ {b}"),
            Relation::Sum(a, b, c) => write!(f, "{a} = {b} + {c}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenes(states: &[[(&str, &str); 3]]) -> Scenes {
        let (mut scenes, mut stage) = (Scenes::default(), Stage::default());
        for state in states {
            state.iter().for_each(|(path, value)| stage.set(path, Some(value)));
            stage.show(&mut scenes);
        }
        scenes
    }

    #[test]
    fn what_real_runs_never_show_together_is_strange() {
        let ident = Ident { kind: "Deployment".into(), namespace: "default".into(), name: "web".into() };
        let numbers: Vec<[String; 3]> =
            (0..12).map(|i| [i, i % 5, i - i % 5].map(|n: i32| n.to_string())).collect();
        let states: Vec<[(&str, &str); 3]> = numbers
            .iter()
            .map(|[all, some, rest]| {
                [("status.replicas", &**all), ("status.ready", some), ("status.unready", rest)]
            })
            .collect();
        let real = scenes(&states);
        let together = Together::of([(&ident, &real)].into_iter());
        let other =
            |all: &str| scenes(&[[("status.replicas", all), ("status.ready", "6"), ("status.unready", "1")]]);
        assert_eq!(together.strange(&ident, &real), Vec::<String>::new());
        assert_eq!(together.strange(&ident, &other("7")), Vec::<String>::new());
        assert!(
            together
                .strange(&ident, &other("8"))
                .contains(&"not status.replicas = status.ready + status.unready: 8 and 6 + 1".to_owned())
        );
    }

    #[test]
    fn a_condition_is_seen_whole() {
        let ident = Ident { kind: "Pod".into(), namespace: "default".into(), name: "web".into() };
        let ready = |status: &str, reason: &str| {
            scenes(&[[
                ("status.conditions[Ready].type", "\"Ready\""),
                ("status.conditions[Ready].status", status),
                ("status.conditions[Ready].reason", reason),
            ]])
        };
        let real = ready("\"False\"", "\"ContainersNotReady\"");
        let together = Together::of([(&ident, &real)].into_iter());
        assert_eq!(together.strange(&ident, &real), Vec::<String>::new());
        assert_eq!(together.strange(&ident, &ready("\"True\"", "\"ContainersNotReady\"")).len(), 1);
    }
}
