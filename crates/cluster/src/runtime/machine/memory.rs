//! Memory: processes need as much as their images say, until a limit or the node's own is reached.
//!
//! Nothing is looked at by the clock: when the next one is killed follows from what runs, and is a due time as any other.

use super::{Due, Held, Machine};
use kubestep_control::{MemoryBounds, Report, RuntimeState};
use kubestep_model::Instant;
use std::{sync::Arc, time::Duration};

/// Amounts are in bytes by this, so that a second's growth is exact at each nanosecond.
const SCALE: i128 = 1_000_000_000;
/// Nobody waits for what would come later than in ten years.
const MOST_NANOS: i128 = 315_360_000 * SCALE;

/// What one process needs.
struct Need {
    id: Arc<str>,
    used: i128,
    /// With every nanosecond.
    grows: i128,
    limit: Option<i128>,
    adjustment: i128,
}

/// Whether it is known what a process needs: a command that runs in the place of the image's own needs nothing.
pub(super) fn counts(held: &Held) -> bool {
    held.process.is_none() && held.image.as_ref().is_some_and(|image| image.uses_memory())
}

/// In how many nanoseconds there is no more; `None`: never.
fn until(limit: i128, used: i128, grows: i128) -> Option<i128> {
    if used > limit {
        return Some(0);
    }
    (grows > 0).then(|| (limit - used + grows - 1) / grows)
}

/// The kernel's preference for a container among those that it may kill, in thousandths of the node's memory.
/// Upstream: pkg/kubelet/qos/policy.go, GetContainerOOMScoreAdjust (v1.37); no pod counts as critical.
fn adjustment(memory: &MemoryBounds, capacity: i128) -> i128 {
    match memory.qos.as_str() {
        "Guaranteed" => -997,
        "BestEffort" => 1000,
        _ => (1000 - 1000 * i128::from(memory.request) / (capacity / SCALE).max(1)).clamp(3, 999),
    }
}

impl Machine {
    fn capacity(&self) -> i128 {
        i128::from(self.spec.memory.value()) * SCALE
    }

    fn needs(&self, now: Instant) -> Vec<Need> {
        let capacity = self.capacity();
        let running = |held: &&Held| held.info.state == RuntimeState::Running && counts(held);
        let need = |held: &Held| {
            let image = held.image.as_ref()?;
            let grows = i128::from(image.grows);
            let age = held.info.started.map_or(0, |at| i128::from(now.0.saturating_sub(at.0)));
            Some(Need {
                id: held.info.id.clone(),
                used: i128::from(image.memory) * SCALE + grows * age,
                grows,
                limit: held.config.memory.limit.map(|bytes| i128::from(bytes) * SCALE),
                adjustment: adjustment(&held.config.memory, capacity),
            })
        };
        self.containers.values().filter(running).filter_map(need).collect()
    }

    /// Puts the moment in line at which there is no more memory for somebody.
    pub(super) fn watch_memory(&mut self, now: Instant) {
        let old = self.due.iter().find(|(_, (due, _))| *due == Due::Memory).map(|(key, _)| *key);
        if let Some(key) = old {
            self.due.remove(&key);
        }
        let needs = self.needs(now);
        let own = needs.iter().filter_map(|n| until(n.limit?, n.used, n.grows)).min();
        let next = own.into_iter().chain(self.spent(&needs)).min().filter(|nanos| *nanos < MOST_NANOS);
        if let Some(nanos) = next.and_then(|nanos| u64::try_from(nanos).ok()) {
            self.alarm(now + Duration::from_nanos(nanos), Due::Memory);
        }
    }

    /// In how many nanoseconds the node's memory is spent.
    fn spent(&self, needs: &[Need]) -> Option<i128> {
        let sum = |amount: fn(&Need) -> i128| needs.iter().map(amount).sum();
        until(self.capacity(), sum(|n| n.used), sum(|n| n.grows))
    }

    /// A container that is gone needs nothing.
    pub(super) fn freed(&mut self, held: &Held, now: Instant) {
        if counts(held) {
            self.watch_memory(now);
        }
    }

    /// Those that reached their own limits are killed; if none has, the one that the kernel likes least.
    pub(super) fn out_of_memory(&mut self, now: Instant) -> Vec<Report> {
        let needs = self.needs(now);
        let over = |n: &&Need| n.limit.is_some_and(|limit| until(limit, n.used, n.grows) == Some(0));
        let mut killed: Vec<&Need> = needs.iter().filter(over).collect();
        if killed.is_empty() && self.spent(&needs) == Some(0) {
            // Upstream: the kernel's oom_badness.
            let capacity = self.capacity().max(1);
            let badness = |n: &&Need| 1000 * n.used / capacity + n.adjustment;
            killed.extend(needs.iter().max_by_key(badness));
        }
        if killed.is_empty() {
            self.watch_memory(now);
        }
        killed.iter().flat_map(|n| self.finish(&n.id, 137, "OOMKilled", now)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{Image, Registry};
    use kubestep_control::{ContainerConfig, NodeSpec, Order};
    use kubestep_model::{Dice, Quantity, text::Format};

    /// Containers of these qualities, without limits, each with 10 MiB at its start and 1 MiB more with each second, on a
    /// node of 100 MiB: who was killed, and when, in whole seconds after the last start.
    fn killed(qualities: &[&str]) -> Vec<(String, i64)> {
        let memory = Quantity::new(100 << 20, Format::BinarySI);
        let mut machine = Machine::new(&NodeSpec { memory, ..NodeSpec::default() }, 0);
        let (mut registry, mut dice) = (Registry::default(), Dice::new(1));
        let image = Image { memory: 10 << 20, grows: 1 << 20, ..Image::default() };
        registry.push("example/leak:1", image);
        let mut now = Instant::START;
        let mut reports =
            machine.order(Order::Pull { image: "example/leak:1".into() }, &registry, now, &mut dice);
        for quality in qualities {
            let config = ContainerConfig {
                pod: (*quality).into(),
                name: "app".into(),
                attempt: 0,
                image: "example/leak:1".into(),
                command: vec![],
                files: Arc::default(),
                env: vec![],
                memory: MemoryBounds { limit: None, request: 0, qos: (*quality).into() },
            };
            reports.extend(machine.order(Order::Start(Arc::new(config)), &registry, now, &mut dice));
        }
        let begun = now;
        let mut ended = vec![];
        while let Some(at) = machine.next_due() {
            now = now.max(at);
            for report in machine.fire(&registry, now, &mut dice) {
                let Report::Container { pod, container } = report else { continue };
                if container.state == RuntimeState::Exited {
                    assert_eq!((container.exit_code, &*container.reason), (137, "OOMKilled"));
                    ended.push((pod.to_string(), now.since(begun).as_secs() as i64));
                }
            }
        }
        ended
    }

    #[test]
    fn without_limits_the_nodes_memory_ends_those_that_the_kernel_likes_least() {
        // 100 MiB at 2 MiB a second from 20 MiB, then at 1 MiB a second from 50.
        assert_eq!(
            killed(&["Guaranteed", "BestEffort"]),
            [("BestEffort".into(), 40), ("Guaranteed".into(), 90)]
        );
        assert_eq!(killed(&["Burstable"]), [("Burstable".into(), 90)]);
    }
}
