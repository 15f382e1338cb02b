//! How many pods a measured use of a resource asks for.
//! Upstream: pkg/controller/podautoscaler/replica_calculator.go and metrics/utilization.go (v1.37).

use kubestep_model::arrange::Gather;
use std::collections::BTreeMap;

/// What is known of one pod.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Measured {
    pub name: String,
    /// Whether it is being deleted or has failed: it does not count.
    pub ignored: bool,
    pub pending: bool,
    /// Whether what was measured of it counts: for cpu, whether it is ready and was so for a while.
    pub ready: bool,
    /// What it asks for, in thousandths, or why that cannot be said.
    pub request: Result<i64, String>,
    /// What it uses, in thousandths, if that was measured.
    pub usage: Option<i64>,
}

/// What use is aimed at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// In per cent of what is asked for.
    Utilization(i32),
    /// By each pod, in thousandths.
    Average(i64),
}

/// Use may differ so much from the aim before anything is done, as parts of it: down and up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances(pub f64, pub f64);

impl Default for Tolerances {
    fn default() -> Self {
        Tolerances(0.1, 0.1)
    }
}

impl Tolerances {
    fn hold(self, ratio: f64) -> bool {
        1.0 - self.0 <= ratio && ratio <= 1.0 + self.1
    }
}

/// So many pods are wanted, at this use.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Proposal {
    pub replicas: i32,
    /// In per cent of what is asked for, if that is what is aimed at.
    pub utilization: Option<i32>,
    /// Of a pod, in thousandths.
    pub average: i64,
}

struct Use {
    ratio: f64,
    utilization: Option<i32>,
    average: i64,
}

fn sum<'a>(numbers: impl Iterator<Item = &'a i64>) -> i64 {
    numbers.fold(0, |all, n| all.saturating_add(*n))
}

/// Upstream: GetResourceUtilizationRatio, GetMetricUsageRatio.
fn used(usage: &BTreeMap<&str, i64>, requests: &BTreeMap<&str, i64>, aim: Aim) -> Result<Use, String> {
    let pods = i64::try_from(usage.len()).unwrap_or(i64::MAX).max(1);
    let total = sum(usage.values());
    match aim {
        Aim::Average(aim) => {
            let average = total / pods;
            Ok(Use { ratio: average as f64 / aim as f64, utilization: None, average })
        }
        Aim::Utilization(aim) => {
            let asked = sum(usage.keys().filter_map(|name| requests.get(name)));
            if asked == 0 {
                return Err("no metrics returned matched known pods".into());
            }
            let percent = i32::try_from(total.saturating_mul(100) / asked).unwrap_or(i32::MAX);
            let ratio = f64::from(percent) / f64::from(aim);
            Ok(Use { ratio, utilization: Some(percent), average: total / pods })
        }
    }
}

/// So many pods times the ratio, rounded up.
fn times(ratio: f64, pods: usize) -> i32 {
    // A cast from a float stops at the bounds.
    (ratio * pods as f64).ceil() as i32
}

/// Works out how many pods are wanted. Errors are in Kubernetes' words.
/// Upstream: GetResourceReplicas, calcPlainMetricReplicas.
pub fn propose(
    current: i32,
    aim: Aim,
    tolerances: Tolerances,
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
    if let Aim::Utilization(_) = aim {
        for pod in pods {
            requests.insert(pod.name.as_str(), pod.request.clone()?);
        }
    }
    let first = used(&usage, &requests, aim)?;
    let proposal =
        |replicas| Ok(Proposal { replicas, utilization: first.utilization, average: first.average });
    let (above, below) = (first.ratio > 1.0, first.ratio < 1.0);
    let up_with_unready = !unready.is_empty() && above;
    if !up_with_unready && missing.is_empty() {
        return proposal(if tolerances.hold(first.ratio) { current } else { times(first.ratio, ready) });
    }
    // What is not known is taken to be against the change.
    for pod in missing {
        if below {
            usage.insert(&pod.name, assumed(pod, aim));
        } else if above {
            usage.insert(&pod.name, 0);
        }
    }
    if up_with_unready {
        usage.extend(unready.iter().map(|pod| (pod.name.as_str(), 0)));
    }
    let second = used(&usage, &requests, aim)?.ratio;
    if tolerances.hold(second) || below && second > 1.0 || above && second < 1.0 {
        return proposal(current);
    }
    let wanted = times(second, usage.len());
    if second < 1.0 && wanted > current || second > 1.0 && wanted < current {
        return proposal(current);
    }
    proposal(wanted)
}

/// What a pod of which nothing was measured is taken to use when there seem to be too many.
fn assumed(pod: &Measured, aim: Aim) -> i64 {
    match aim {
        Aim::Average(aim) => aim,
        Aim::Utilization(aim) => {
            pod.request.as_ref().map_or(0, |n| *n).saturating_mul(i64::from(aim.max(100))) / 100
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(at: usize, usage: Option<i64>) -> Measured {
        Measured {
            name: format!("p{at}"),
            ignored: false,
            pending: false,
            ready: true,
            request: Ok(100),
            usage,
        }
    }

    #[test]
    fn an_average_is_reached_by_more_pods_and_what_is_missing_is_against_the_change() {
        let aim = Aim::Average(200);
        let of = |usage: &[Option<i64>], current| {
            let pods: Vec<Measured> = usage.iter().enumerate().map(|(at, u)| pod(at, *u)).collect();
            propose(current, aim, Tolerances::default(), &pods).map(|p| (p.replicas, p.average))
        };
        assert_eq!(of(&[Some(500), Some(300)], 2), Ok((4, 400)));
        assert_eq!(of(&[Some(210), Some(210)], 2), Ok((2, 210)), "within a tenth");
        assert_eq!(of(&[Some(50), Some(50), None], 3), Ok((2, 50)), "the third is taken to use 200");
        assert_eq!(of(&[Some(500), None], 2), Ok((3, 500)), "the second is taken to use nothing");
        assert_eq!(
            of(&[None], 1),
            Err("did not receive metrics for targeted pods (pods might be unready)".into())
        );
    }

    #[test]
    fn tolerances_have_two_sides() {
        let pods = [pod(0, Some(130)), pod(1, Some(130))];
        let with = |up| propose(2, Aim::Utilization(100), Tolerances(0.1, up), &pods).map(|p| p.replicas);
        assert_eq!((with(0.1), with(0.3)), (Ok(3), Ok(2)));
    }
}
