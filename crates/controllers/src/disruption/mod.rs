//! Disruption budgets: how many of their pods are healthy, and how many may be taken away on purpose.
//!
//! Upstream: pkg/controller/disruption/disruption.go (v1.37). The API server takes from what this loop allows when a pod
//! is evicted. A pod's key stands for what concerns the pod alone: a condition that has grown stale.

mod scale;
mod status;
pub mod vectors;

use crate::sentences::Sentence;
use kubestep_control::{Change, Controller, Cx, Done, Flow, Halt, View, Wake, Watch};
use kubestep_model::{
    Key, Kind, LabelSelector, Object, Pod, PodDisruptionBudget, Resource, Status, Subresource, Time, Whole,
};
use std::{collections::BTreeMap, time::Duration};

pub(crate) const BUDGET: Kind = Kind::other("policy", "PodDisruptionBudget");
/// How long a pod may take to go after its eviction was granted. Upstream: DeletionTimeout.
const DELETION_TIMEOUT: Duration = Duration::from_secs(2 * 60);
/// After which the mark of a disruption that did not come is taken back.
const STALE: Duration = Duration::from_secs(2 * 60);

/// The disruption controller.
#[derive(Debug)]
pub struct DisruptionController;

static WATCHES: [Watch; 6] = [
    Watch { kind: BUDGET, wakes: budget },
    Watch { kind: Kind::Pod, wakes: pod },
    Watch { kind: Kind::ReplicaSet, wakes: nobody },
    Watch { kind: Kind::Deployment, wakes: nobody },
    Watch { kind: scale::STATEFUL_SET, wakes: nobody },
    Watch { kind: scale::REPLICATION_CONTROLLER, wakes: nobody },
];

fn nobody(_: &Change, _: &View) -> Vec<Wake> {
    vec![]
}

fn budget(change: &Change, _: &View) -> Vec<Wake> {
    if change.new.is_some() { vec![Wake::now(change.key.clone())] } else { vec![] }
}

/// A pod wakes the budget that covers it, and itself for what concerns it alone.
fn pod(change: &Change, view: &View) -> Vec<Wake> {
    let Some(pod) = change.new.as_ref().or(change.old.as_ref()).and_then(Pod::of) else { return vec![] };
    let covering = budgets_of(view, pod);
    let mut wakes: Vec<Wake> = covering.first().map(|key| Wake::now(key.clone())).into_iter().collect();
    let stale = change.new.is_some() && is_marked(pod);
    if covering.len() > 1 || stale {
        wakes.push(Wake::now(change.key.clone()));
    }
    wakes
}

/// Upstream: GetPodPodDisruptionBudgets.
fn budgets_of(view: &View, pod: &Pod) -> Vec<Key> {
    let covers = |object: &&Object| {
        PodDisruptionBudget::read(object)
            .is_some_and(|b| b.spec.selector.is_some_and(|s| s.matches(&pod.metadata.labels)))
    };
    view.objects_of(BUDGET, Some(&pod.metadata.namespace)).filter(covers).map(Object::key).collect()
}

fn is_marked(pod: &Pod) -> bool {
    pod.condition("DisruptionTarget").is_some_and(|c| c.status == "True")
        && !pod.is_terminal()
        && !pod.metadata.is_terminating()
}

impl Controller for DisruptionController {
    fn name(&self) -> &'static str {
        "disruption"
    }
    fn actor(&self) -> &'static str {
        "disruption-controller"
    }
    fn event_source(&self) -> &'static str {
        "controllermanager"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn workers(&self) -> usize {
        1
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        if key.kind == Kind::Pod {
            return look_at_pod(cx, key);
        }
        let Some(budget) = cx.view().object(key).and_then(PodDisruptionBudget::read) else {
            return Ok(Done::Settled);
        };
        match sync(cx, &budget)? {
            Ok(done) => Ok(done),
            Err(status) if status.is_conflict() => Err(cx.fail(status)),
            Err(status) => fail_safe(cx, budget, &status),
        }
    }
}

/// A pod that several budgets cover, or one that was marked for a disruption that did not come.
/// Upstream: getPdbForPod, syncStalePodDisruption.
fn look_at_pod(cx: &mut Cx<'_>, key: &Key) -> Flow {
    let Some(pod) = cx.get::<Pod>(&key.namespace, &key.name) else { return Ok(Done::Settled) };
    let covering = budgets_of(cx.view(), pod);
    if let [first, _, ..] = covering.as_slice() {
        let text = format!(
            "Pod {:?}/{:?} matches multiple PodDisruptionBudgets.  Chose {:?} arbitrarily.",
            &*key.namespace, &*key.name, &*first.name
        );
        cx.event(&Object::from(pod.clone()), "Warning", "MultiplePodDisruptionBudgets", text);
    }
    if !is_marked(pod) {
        return Ok(Done::Settled);
    }
    let since =
        pod.condition("DisruptionTarget").and_then(|c| c.last_transition_time).unwrap_or(Time(0)).instant();
    let left = (since + STALE).since(cx.now());
    if !left.is_zero() {
        return Ok(Done::Again(left));
    }
    cx.because("pdb.stale", vec![("pod", key.name.to_string())]);
    let mut fresh = pod.clone();
    let now = cx.now().to_time();
    for condition in fresh.status.conditions.iter_mut().filter(|c| c.r#type == "DisruptionTarget") {
        condition.status = "False".into();
        condition.reason = String::new();
        condition.message = String::new();
        condition.last_transition_time = Some(now);
    }
    cx.set_status(fresh)?;
    Ok(Done::Settled)
}

/// The pods that a budget covers. Upstream: getPodsForPdb.
fn pods_of<'a>(cx: &Cx<'a>, budget: &PodDisruptionBudget) -> Vec<&'a Pod> {
    let matches = |selector: &LabelSelector, pod: &&Pod| selector.matches(&pod.metadata.labels);
    let Some(selector) = &budget.spec.selector else { return vec![] };
    cx.list::<Pod>(Some(&budget.metadata.namespace)).filter(|p| matches(selector, p)).collect()
}

/// Upstream: trySync.
fn sync(cx: &mut Cx<'_>, budget: &PodDisruptionBudget) -> Result<Result<Done, Status>, Halt> {
    let pods = pods_of(cx, budget);
    let about = budget.to_object();
    if pods.is_empty() {
        cx.event(&about, "Normal", "NoPods", "No matching pods found".into());
    }
    let expected = match scale::expected(cx, budget, &pods)? {
        Ok(expected) => expected,
        Err(text) => {
            let said = format!("Failed to calculate the number of expected pods: {text}");
            cx.event(&about, "Warning", "CalculateExpectedPodCountFailed", said);
            return Ok(Err(crate::stop::error(text)));
        }
    };
    if expected.unmanaged {
        cx.event(&about, "Warning", "UnmanagedPods", unmanaged(budget));
    }
    let (disrupted, recheck) = disrupted(cx, budget, &pods);
    let healthy = pods.iter().filter(|p| is_healthy(p, &disrupted)).count();
    let counted = status::Counted {
        healthy: i32::try_from(healthy).unwrap_or(i32::MAX),
        desired: expected.desired,
        expected: expected.count,
        disrupted,
    };
    let Some(fresh) = status::fresh(budget, counted, cx.now().to_time()) else {
        return Ok(Ok(settled(recheck)));
    };
    let now = &fresh.status;
    cx.because(
        "pdb.count",
        vec![
            ("budget", budget.metadata.name.to_string()),
            ("healthy", now.current_healthy.to_string()),
            ("desired", now.desired_healthy.to_string()),
            ("allowed", now.disruptions_allowed.to_string()),
        ],
    );
    match cx.try_replace_object(fresh.to_object(), Subresource::Status)? {
        Ok(_) => Ok(Ok(settled(recheck))),
        Err(status) => Ok(Err(status)),
    }
}

fn settled(recheck: Option<Duration>) -> Done {
    recheck.map_or(Done::Settled, Done::Again)
}

fn is_healthy(pod: &Pod, disrupted: &BTreeMap<String, Time>) -> bool {
    !pod.metadata.is_terminating() && !disrupted.contains_key(&*pod.metadata.name) && pod.is_ready()
}

/// Pods whose eviction was granted and that are still to go; and when to look again.
/// Upstream: buildDisruptedPodMap.
fn disrupted(
    cx: &mut Cx<'_>,
    budget: &PodDisruptionBudget,
    pods: &[&Pod],
) -> (BTreeMap<String, Time>, Option<Duration>) {
    let mut kept = BTreeMap::new();
    let mut recheck: Option<Duration> = None;
    for pod in pods.iter().filter(|p| !p.metadata.is_terminating()) {
        let Some(since) = budget.status.disrupted_pods.get(&*pod.metadata.name) else { continue };
        let due = since.instant() + DELETION_TIMEOUT;
        if due < cx.now() {
            let space = &budget.metadata.namespace;
            let text = format!("Pod was expected by PDB {space}/{space} to be deleted but it wasn't");
            cx.event(&Object::from(Pod::clone(pod)), "Warning", "NotDeleted", text);
        } else {
            let wait = due.since(cx.now());
            recheck = Some(recheck.map_or(wait, |r| r.min(wait)));
            kept.insert(pod.metadata.name.to_string(), *since);
        }
    }
    (kept, recheck)
}

fn unmanaged(budget: &PodDisruptionBudget) -> String {
    let labels = budget.spec.selector.as_ref().map_or(String::new(), |s| {
        let pairs: Vec<String> = s.match_labels.iter().map(|(k, v)| format!("{k}: {v},")).collect();
        format!("&LabelSelector{{MatchLabels:map[string]string{{{}}},MatchExpressions:[]LabelSelectorRequirement{{}},}}", pairs.join(""))
    });
    format!(
        "Pods selected by this PodDisruptionBudget (selector: {labels}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set \".spec.minAvailable\" field of the PDB to an integer value."
    )
}

/// If nothing else can be said, then at least that nothing is allowed. Upstream: failSafe.
fn fail_safe(cx: &mut Cx<'_>, budget: PodDisruptionBudget, why: &Status) -> Flow {
    cx.because(
        "pdb.fail-safe",
        vec![("budget", budget.metadata.name.to_string()), ("why", why.message.clone())],
    );
    let fresh = status::failed(budget, &why.message, cx.now().to_time());
    match cx.try_replace_object(fresh.to_object(), Subresource::Status)? {
        Ok(_) => Ok(Done::Settled),
        Err(status) => Err(cx.fail(status)),
    }
}

/// What the codes above mean.
pub static SENTENCES: &[Sentence] = &[
    Sentence {
        code: "pdb.count",
        text: "Budget {budget}: {healthy} pods are healthy, {desired} must be, so {allowed} may be taken away.",
        upstream: "pkg/controller/disruption/disruption.go, updatePdbStatus",
    },
    Sentence {
        code: "pdb.fail-safe",
        text: "Budget {budget} cannot be counted ({why}), so it allows nothing.",
        upstream: "pkg/controller/disruption/disruption.go, failSafe",
    },
    Sentence {
        code: "pdb.stale",
        text: "Pod {pod} was marked for a disruption that did not come: the mark is taken back.",
        upstream: "pkg/controller/disruption/disruption.go, syncStalePodDisruption",
    },
];
