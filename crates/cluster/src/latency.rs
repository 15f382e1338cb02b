//! How long things take: one table, fitted to quiet recordings and shown on the page.

use kubestep_model::Dice;
use std::time::Duration;

/// Base times in microseconds, and how much longer each may take by chance.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Latencies {
    /// From sending a request to its commit.
    pub request: (u32, u32),
    /// From the commit to a controller that has the answer: about as long as a watch takes, so that a controller
    /// sometimes goes on before and sometimes after its cache holds what it wrote.
    pub reply: (u32, u32),
    /// From a commit to a watcher.
    pub delivery: (u32, u32),
    /// From a commit of a pod to its worker in the kubelet: the watch, then the kubelet's own ways. Longer than the
    /// delivery of a node, so that a pod that waited for a label of the node does not come before the label.
    pub node: (u32, u32),
    /// From a key in line to its reconcile, and from the last reply to going on.
    pub think: (u32, u32),
    /// From starting a kubectl command to its first request.
    pub kubectl: (u32, u32),
    /// How much longer that takes a command that reads the API's schemas, such as apply.
    pub schemas: (u32, u32),
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies {
            request: (2000, 2000),
            reply: (800, 2800),
            delivery: (1200, 3200),
            node: (8000, 24_000),
            think: (100, 400),
            kubectl: (120_000, 0),
            schemas: (90_000, 0),
        }
    }
}

impl Latencies {
    /// Draws one duration from a row.
    pub(crate) fn draw((base, spread): (u32, u32), dice: &mut Dice, purpose: &'static str) -> Duration {
        let extra = if spread == 0 { 0 } else { dice.below(purpose, spread) };
        Duration::from_micros(u64::from(base) + u64::from(extra))
    }
}
