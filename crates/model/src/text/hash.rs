//! The hashes that end up in names: of pod templates and of controller revisions.

mod dump;
mod shown;

pub use shown::{shown, shown_lines};

use serde_json::Value;

use super::random_name::safe_encode_string;

const FNV_OFFSET: u32 = 2_166_136_261;
const FNV_PRIME: u32 = 16_777_619;

/// FNV-1a with 32 bits.
pub fn fnv32a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(FNV_OFFSET, |hash, b| (hash ^ u32::from(*b)).wrapping_mul(FNV_PRIME))
}

/// FNV-1 with 32 bits.
pub fn fnv32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(FNV_OFFSET, |hash, b| hash.wrapping_mul(FNV_PRIME) ^ u32::from(*b))
}

/// FNV-1a with 128 bits.
pub fn fnv128a(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, b| {
        (hash ^ u128::from(*b)).wrapping_mul(0x0100_0000_0000_0000_0000_013b)
    })
}

/// The text of a pod template that is hashed: Go's dump of the structs, after they went through the store.
///
/// `template` is the template as the API server holds it, with all defaults.
pub fn pod_template_text(template: &Value) -> String {
    dump::dump("v1.PodTemplateSpec", template)
}

/// The value of the label `pod-template-hash`, which also ends a ReplicaSet's name.
///
/// Upstream: pkg/controller, ComputeHash (v1.37).
pub fn pod_template_hash(template: &Value, collision_count: Option<i32>) -> String {
    let mut bytes = pod_template_text(template).into_bytes();
    if let Some(count) = collision_count {
        // Eight bytes are hashed, though the number fills only the first four.
        bytes.extend(count.to_le_bytes());
        bytes.extend([0; 4]);
    }
    safe_encode_string(&fnv32a(&bytes).to_string())
}

/// The end of a ControllerRevision's name, from its data as compact JSON.
///
/// Upstream: pkg/controller/history, HashControllerRevision (v1.37).
pub fn controller_revision_hash(data: &[u8], collision_count: Option<i32>) -> String {
    let mut bytes = data.to_vec();
    if let Some(count) = collision_count {
        bytes.extend(count.to_string().into_bytes());
    }
    safe_encode_string(&fnv32(&bytes).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_sums() {
        for (text, a, plain) in [("", FNV_OFFSET, FNV_OFFSET), ("foobar", 0xbf9c_f968, 0x31f0_b262)] {
            assert_eq!(fnv32a(text.as_bytes()), a);
            assert_eq!(fnv32(text.as_bytes()), plain);
        }
        assert_eq!(fnv128a(b"foobar"), 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18);
    }
}
