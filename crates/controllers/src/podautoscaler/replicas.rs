//! How many pods a measured use of a resource asks for.
//! Upstream: pkg/controller/podautoscaler/replica_calculator.go, GetResourceReplicas (v1.37).

use kubestep_model::arrange::Gather;
use std::collections::BTreeMap;

/// Use may differ so much from the aim before anything is done, in per cent. Upstream: the default tolerance.
const TOLERANCE: i64 = 10;

/// What is known of one pod.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Measured {
    pub name: String,
    /// Whether it is being deleted or has failed: it does not count.
    pub ignored: bool,
    pub pending: bool,
    pub ready: bool,
    /// What it asks for; `None` if a container asks for nothing.
    pub request: Option<i64>,
    /// What it uses, if that was measured.
    pub usage: Option<i64>,
}

/// So many pods are wanted, at this use in per cent of what they ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Proposal {
    pub replicas: i32,
    pub utilization: i32,
}

/// Use against aim: both in per cent of what is asked for.
#[derive(Clone, Copy)]
struct Ratio {
    use_: i64,
    aim: i64,
}

impl Ratio {
    fn is_close(self) -> bool {
        (self.use_ - self.aim).abs() * 100 <= self.aim * TOLERANCE
    }
    fn above(self) -> bool {
        self.use_ > self.aim
    }
    fn below(self) -> bool {
        self.use_ < self.aim
    }
    /// So many times the ratio, rounded up.
    fn times(self, pods: usize) -> i32 {
        let pods = i64::try_from(pods).unwrap_or(i64::MAX);
        let product = self.use_.saturating_mul(pods);
        i32::try_from(product.saturating_add(self.aim - 1).div_euclid(self.aim.max(1))).unwrap_or(i32::MAX)
    }
}

/// Upstream: GetResourceUtilizationRatio.
fn ratio(usage: &BTreeMap<&str, i64>, requests: &BTreeMap<&str, i64>, target: i32) -> Result<Ratio, String> {
    let known = usage.iter().filter_map(|(name, used)| Some((used, requests.get(name)?)));
    let (used, asked) = known.fold((0i64, 0i64), |(a, b), (used, asked)| (a + used, b + asked));
    if asked == 0 {
        return Err("no metrics returned matched known pods".into());
    }
    Ok(Ratio { use_: used.saturating_mul(100) / asked, aim: target.max(1).into() })
}

/// Works out how many pods are wanted for a use of `target` per cent. Errors are in Kubernetes' words.
pub fn for_resource(
    resource: &str,
    current: i32,
    target: i32,
    pods: &[Measured],
) -> Result<Proposal, String> {
    if pods.is_empty() {
        return Err("no pods returned by selector while calculating replica count".into());
    }
    let counted = || pods.iter().filter(|pod| !pod.ignored);
    let unready: Vec<&Measured> =
        counted().filter(|pod| pod.pending || pod.usage.is_some() && !pod.ready).collect();
    let missing: Vec<&Measured> = counted().filter(|pod| !pod.pending && pod.usage.is_none()).collect();
    let measured = counted().filter(|pod| !pod.pending && pod.ready);
    let mut usage: BTreeMap<&str, i64> =
        measured.filter_map(|pod| Some((pod.name.as_str(), pod.usage?))).gather();
    let ready = usage.len();
    if usage.is_empty() {
        return Err("did not receive metrics for targeted pods (pods might be unready)".into());
    }
    let mut requests = BTreeMap::new();
    for pod in pods {
        let Some(request) = pod.request else {
            return Err(format!("missing request for {resource} in container c of Pod {}", pod.name));
        };
        requests.insert(pod.name.as_str(), request);
    }
    let first = ratio(&usage, &requests, target)?;
    let utilization = i32::try_from(first.use_).unwrap_or(i32::MAX);
    let proposal = |replicas| Ok(Proposal { replicas, utilization });
    let up_with_unready = !unready.is_empty() && first.above();
    if !up_with_unready && missing.is_empty() {
        return proposal(if first.is_close() { current } else { first.times(ready) });
    }
    // What is not known is taken to be against the change.
    let fallback = i64::from(target.max(100));
    for pod in missing {
        if first.below() {
            usage.insert(&pod.name, pod.request.unwrap_or(0).saturating_mul(fallback) / 100);
        } else if first.above() {
            usage.insert(&pod.name, 0);
        }
    }
    if up_with_unready {
        usage.extend(unready.iter().map(|pod| (pod.name.as_str(), 0)));
    }
    let second = ratio(&usage, &requests, target)?;
    if second.is_close() || first.below() && second.above() || first.above() && second.below() {
        return proposal(current);
    }
    let wanted = second.times(usage.len());
    if second.below() && wanted > current || second.above() && wanted < current {
        return proposal(current);
    }
    proposal(wanted)
}
