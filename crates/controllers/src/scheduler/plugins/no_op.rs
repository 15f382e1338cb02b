//! Plugins of the default profile that have nothing to judge here, but take part in the sums and in the queue.

use super::{
    super::{
        event::{Event, PodPart},
        node_info::PodInfo,
    },
    Plugin, SCHEDULING_GATES,
};

/// Holds back pods with scheduling gates; the queue asks for them itself.
#[derive(Debug)]
pub struct SchedulingGates;

impl Plugin for SchedulingGates {
    fn name(&self) -> &'static str {
        SCHEDULING_GATES
    }
    fn hint(&self, pod: &PodInfo, event: &Event<'_>) -> bool {
        matches!(event, Event::WaitingChanged { part: PodPart::GatesGone, new, .. } if new.metadata.uid == pod.pod.metadata.uid)
    }
}

/// Claims of devices; no pod here makes any.
#[derive(Debug)]
pub struct DynamicResources;

impl Plugin for DynamicResources {
    fn name(&self) -> &'static str {
        "DynamicResources"
    }
    fn weight(&self) -> i64 {
        2
    }
}
