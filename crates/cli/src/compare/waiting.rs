//! `Waiting for…` lines: which of them come in between varies, what they can say does not.

use std::collections::BTreeSet;

use super::output::masked;
use super::told::Told;

/// What `rollout status` can say while it waits, numbers as `#` and names as `…`.
const SAYINGS: &[&str] = &[
    "Waiting for deployment … rollout to finish: # out of # new replicas have been updated...",
    "Waiting for deployment … rollout to finish: # old replicas are pending termination...",
    "Waiting for deployment … rollout to finish: # of # updated replicas are available...",
    "Waiting for deployment spec update to be observed...",
    "Waiting for daemon set … rollout to finish: # out of # new pods have been updated...",
    "Waiting for daemon set … rollout to finish: # of # updated pods are available...",
    "Waiting for daemon set spec update to be observed...",
    "Waiting for partitioned roll out to finish: # out of # new pods have been updated...",
    "Waiting for # pods to be ready...",
    "Waiting for statefulset spec update to be observed...",
    "waiting for statefulset rolling update to complete # pods at revision …...",
];

/// The lines of ours that no real run could have printed.
pub(super) fn strangers(there: &Told, here: &Told, second: Option<&Told>) -> Vec<String> {
    let real = || there.waiting.iter().chain(second.iter().flat_map(|second| &second.waiting));
    let names: BTreeSet<String> = real().filter_map(|line| name(line)).collect();
    let totals: BTreeSet<Vec<u64>> = real().map(|line| total(line)).collect();
    let strange = |line: &&String| {
        let known = real().any(|other| other == *line);
        let said = SAYINGS.contains(&saying(line).as_str());
        let named = names.is_empty() || name(line).is_none_or(|name| names.contains(&name));
        let counted =
            totals.iter().all(|t| t.is_empty()) || total(line).is_empty() || totals.contains(&total(line));
        !(known || said && named && counted && in_range(line))
    };
    here.waiting.iter().filter(strange).cloned().collect()
}

/// The line without its name and numbers.
fn saying(line: &str) -> String {
    let line = match (line.split_once(" at revision "), name(line)) {
        (Some((head, _)), _) => format!("{head} at revision …..."),
        (_, Some(name)) => line.replacen(&format!("\"{name}\""), "…", 1),
        _ => line.to_owned(),
    };
    masked(&line)
}

fn name(line: &str) -> Option<String> {
    line.split('"').nth(1).map(str::to_owned)
}

fn numbers(line: &str) -> Vec<u64> {
    let rest = line.split('"').next_back().unwrap_or(line);
    rest.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// How many there are to be: the second number of `1 of 3`.
fn total(line: &str) -> Vec<u64> {
    numbers(line).into_iter().skip(1).collect()
}

fn in_range(line: &str) -> bool {
    match numbers(line)[..] {
        [done, of] => done <= of,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> Told {
        Told { waiting: lines.iter().map(|line| (*line).to_owned()).collect(), ..Told::default() }
    }

    #[test]
    fn only_what_rollout_status_can_say_passes() {
        let golden = told(&[
            "Waiting for deployment \"web\" rollout to finish: 1 of 3 updated replicas are available...",
        ]);
        let cases = [
            (
                "Waiting for deployment \"web\" rollout to finish: 2 of 3 updated replicas are available...",
                true,
            ),
            (
                "Waiting for deployment \"web\" rollout to finish: 1 old replicas are pending termination...",
                true,
            ),
            (
                "Waiting for deployment \"web\" rollout to finish: 2 of 4 updated replicas are available...",
                false,
            ),
            (
                "Waiting for deployment \"web\" rollout to finish: 4 of 3 updated replicas are available...",
                false,
            ),
            (
                "Waiting for deployment \"api\" rollout to finish: 2 of 3 updated replicas are available...",
                false,
            ),
            (
                "Waiting for deployment \"web\" rollout to end: 2 of 3 updated replicas are available...",
                false,
            ),
        ];
        for (line, passes) in cases {
            assert_eq!(strangers(&golden, &told(&[line]), None).is_empty(), passes, "{line}");
        }
    }
}
