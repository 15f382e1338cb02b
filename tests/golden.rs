//! Reads the recordings of real clusters that the tests hold the simulator against.

use serde_json::Value;
use std::path::PathBuf;

/// The sessions, by the names of their files.
pub(crate) const SESSIONS: [&str; 65] = [
    "s01-missing-tag",
    "s01b-quarter-missing",
    "s01d-all-defaults",
    "s02-typo-undo",
    "s02b-scaled-from-zero",
    "s03-labels-and-selectors",
    "s04-relabel-a-pod",
    "s05-overlapping-selectors",
    "s06-hand-on-the-replicaset",
    "s07-apply-and-other-writers",
    "s08-deleting",
    "s09-quota-blocks-pods",
    "s09c-quota-raised",
    "s10-limit-range",
    "s11-probes",
    "s12-crash-loop",
    "s13-pending-for-cpu",
    "s14-unmet-wishes",
    "s15-service-typo",
    "s15b-namespaces",
    "s15c-empty-selectors",
    "s16-endpoints-during-a-rollout",
    "s17-statefulset",
    "s18-statefulset-stuck",
    "s19-daemonset",
    "s20-jobs",
    "s21-cronjobs",
    "s22-revision-history",
    "s23-pause-resume",
    "s25-surge-and-unavailable",
    "s26-restart-and-annotations",
    "s27-node-stops",
    "s27c-partial-disruption",
    "s28-namespace-deletion",
    "s29-cascading-deletes",
    "s30-apply-conversation",
    "s32-spread-and-anti-affinity",
    "s33-drain-and-budget",
    "s34-proportional-scaling",
    "s35-rollover",
    "s36-min-ready-seconds",
    "s37-services",
    "s38-rights",
    "s39-missing-config",
    "s40-init-and-sidecar",
    "s41-claims-and-volumes",
    "s43-priority-and-preemption",
    "s44-slow-goodbyes",
    "s45-adoption",
    "s47-kubectl-tour",
    "s48-imperative-commands",
    "s49-pulling-images",
    "s50-crashing-containers",
    "s51-node-limits",
    "s53-thirty-replicas",
    "s54-replicaset-alone",
    "s56-deleting-a-node",
    "s57-quota-counts",
    "s58-two-writers",
    "s60-no-loop-behind-it",
    "s61-scale-from-zero",
    "s63-full-quota-rounding",
    "s65-wrong-neighbours",
    "s67-fixed-templates",
    "s69-service-left-behind",
];

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The text of a file below `tests/golden`.
pub(crate) fn text(path: &str) -> String {
    let file = root().join("tests/golden").join(path);
    std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// The value of a JSON file below `tests/golden`.
pub(crate) fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The second recording of a session, if there is one.
pub(crate) fn twin(name: &str) -> Option<Value> {
    let path = format!("twins/{name}.json");
    root().join("tests/golden").join(&path).exists().then(|| json(&path))
}

/// Does something for each item, on two threads; the results in the items' order.
pub(crate) fn on_two_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let work = &work;
    let half = |first: usize| move || items.iter().skip(first).step_by(2).map(work).collect::<Vec<R>>();
    let (even, odd) = std::thread::scope(|scope| {
        let other = scope.spawn(half(1));
        (half(0)(), other.join().unwrap_or_else(|e| std::panic::resume_unwind(e)))
    });
    let (mut even, mut odd) = (even.into_iter(), odd.into_iter());
    (0..items.len()).filter_map(|i| if i % 2 == 0 { even.next() } else { odd.next() }).collect()
}
