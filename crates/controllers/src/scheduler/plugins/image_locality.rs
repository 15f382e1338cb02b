//! Prefers nodes that have the pod's images already. Upstream: plugins/imagelocality (v1.37).

use super::{super::node_info::NodeInfo, Cycle, MAX_SCORE, Plugin, State};

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
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "upstream reckons in floats here"
    )]
    fn score(&self, cycle: &Cycle<'_>, _state: &State, node: &NodeInfo) -> i64 {
        let spec = &cycle.pod.pod.spec;
        let (mut sum, mut containers) = (0i64, 0i64);
        for container in spec.init_containers.iter().chain(&spec.containers) {
            containers += 1;
            let name = normalized(&container.image);
            if node.images.iter().any(|(image, _)| *image == name) {
                let (size, nodes) = cycle.cache.image(&name);
                let spread = f64::from(nodes) / cycle.cache.order().len().max(1) as f64;
                sum = sum.saturating_add((size as f64 * spread) as i64);
            }
        }
        let most = MOST.saturating_mul(containers);
        if most <= LEAST {
            return 0;
        }
        MAX_SCORE.saturating_mul(sum.clamp(LEAST, most) - LEAST) / (most - LEAST)
    }
}
