//! Prefers nodes that have the pod's images already. Upstream: plugins/imagelocality (v1.37).

use super::{super::node_info::NodeInfo, Cycle, MAX_SCORE, Plugin, State};
use kubestep_model::Container;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub struct ImageLocality;

const MIB: i64 = 1 << 20;
/// Images smaller than this together count for nothing.
const LEAST: i64 = 23 * MIB;
/// What counts as much as can be, for each container.
const MOST: i64 = 1000 * MIB;

/// Upstream: normalizedImageName.
fn normalized(image: &str) -> String {
    let tagged = image.rfind(':').is_some_and(|colon| image.rfind('/').is_none_or(|slash| colon > slash));
    if tagged { image.to_owned() } else { format!("{image}:latest") }
}

impl Plugin for ImageLocality {
    fn name(&self) -> &'static str {
        "ImageLocality"
    }
    fn weight(&self) -> i64 {
        1
    }
    /// What each image counts where it is: the more nodes have it, the more. Upstream: scaledImageScore.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "upstream reckons in floats here"
    )]
    fn before_scores(&self, cycle: &Cycle<'_>, _nodes: &[Arc<NodeInfo>]) -> Option<State> {
        let spec = &cycle.pod.pod.spec;
        let part = |container: &Container| {
            let name = normalized(&container.image);
            let (size, nodes) = cycle.cache.image(&name);
            let spread = f64::from(nodes) / cycle.cache.order().len().max(1) as f64;
            (name, (size as f64 * spread) as i64)
        };
        Some(State::Images(spec.init_containers.iter().chain(&spec.containers).map(part).collect()))
    }
    fn score(&self, _cycle: &Cycle<'_>, state: &State, node: &NodeInfo) -> i64 {
        let State::Images(parts) = state else { return 0 };
        let here = parts.iter().filter(|(name, _)| node.images.iter().any(|(image, _)| image == name));
        let sum = here.fold(0i64, |sum, (_, part)| sum.saturating_add(*part));
        let most = MOST.saturating_mul(i64::try_from(parts.len()).unwrap_or(i64::MAX));
        if most <= LEAST {
            return 0;
        }
        MAX_SCORE.saturating_mul(sum.clamp(LEAST, most) - LEAST) / (most - LEAST)
    }
}
