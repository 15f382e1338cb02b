//! What a failed pod means, and when enough has succeeded.
//! Upstream: pkg/controller/job/pod_failure_policy.go and success_policy.go (v1.37).

use super::indexes::Intervals;
use kubestep_model::{
    ContainerStatus, Job, OnExitCodes, Pod, PodCondition, PodFailurePolicyRule, SuccessPolicy,
};

/// What the first rule that fits says about a failed pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Why the whole job fails.
    pub(super) fails_job: Option<String>,
    /// The failure does not count.
    pub(super) ignored: bool,
    /// Its index fails for good.
    pub(super) fails_index: bool,
}

/// Upstream: matchPodFailurePolicy.
pub(super) fn judge(job: &Job, pod: &Pod) -> Verdict {
    let Some(policy) = &job.spec.pod_failure_policy else { return Verdict::default() };
    for (number, rule) in policy.rules.iter().enumerate() {
        let Some(what) = fits(rule, pod) else { continue };
        let verdict = Verdict::default();
        return match rule.action.as_str() {
            "Ignore" => Verdict { ignored: true, ..verdict },
            "FailIndex" => Verdict { fails_index: true, ..verdict },
            "FailJob" => {
                let text = format!("{what} matching FailJob rule at index {number}");
                Verdict { fails_job: Some(text), ..verdict }
            }
            _ => verdict,
        };
    }
    Verdict::default()
}

/// How a rule fits, in words.
fn fits(rule: &PodFailurePolicyRule, pod: &Pod) -> Option<String> {
    let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
    if let Some(codes) = &rule.on_exit_codes {
        let status = &pod.status;
        let all = status.container_statuses.iter().chain(&status.init_container_statuses);
        let (container, code) = all.filter_map(|c| ended(c, codes)).next()?;
        return Some(format!(
            "Container {container} for pod {namespace}/{name} failed with exit code {code}"
        ));
    }
    let meant = |c: &&PodCondition| {
        rule.on_pod_conditions.iter().any(|w| w.r#type == c.r#type && w.status == c.status)
    };
    let first = pod.status.conditions.iter().find(meant)?;
    Some(format!("Pod {namespace}/{name} has condition {}", first.r#type))
}

/// A container that ended with a code that is meant; success is never meant.
fn ended<'c>(container: &'c ContainerStatus, codes: &OnExitCodes) -> Option<(&'c str, i32)> {
    let code = container.state.terminated.as_ref()?.exit_code;
    let meant = codes.container_name.as_ref().is_none_or(|name| *name == container.name);
    let listed = codes.values.contains(&code);
    let fits = match codes.operator.as_str() {
        "In" => listed,
        "NotIn" => !listed,
        _ => false,
    };
    (meant && fits && code != 0).then_some((container.name.as_str(), code))
}

/// Upstream: matchSuccessPolicy.
pub(super) fn succeeded(policy: &SuccessPolicy, completions: i32, done: &Intervals) -> Option<String> {
    if done.total() == 0 {
        return None;
    }
    let fits =
        policy.rules.iter().position(|rule| match (&rule.succeeded_indexes, rule.succeeded_count) {
            (Some(text), count) => {
                let wanted = Intervals::parse(text, completions);
                done.common(&wanted) >= count.unwrap_or(wanted.total())
            }
            (None, Some(count)) => done.total() >= count,
            (None, None) => false,
        })?;
    Some(format!("Matched rules at index {fits}"))
}
