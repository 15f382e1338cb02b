//! The suffix that names a config map's or a secret's content. Upstream: kustomize/api/hasher and kubectl/pkg/util/hash.

use kubestep_model::yaml::json;
use serde_json::{Map, Value, json};

/// Ten letters for the content of an object. Kustomize leaves the name out; kubectl's `--append-hash` does not.
pub(crate) fn suffix(object: &Value, name: &str) -> String {
    let mut content = Map::new();
    content.insert("kind".into(), object["kind"].clone());
    content.insert("name".into(), json!(name));
    content.insert("data".into(), object.get("data").cloned().unwrap_or(json!("")));
    if object["kind"] == "Secret" {
        content.insert("type".into(), object.get("type").cloned().unwrap_or(json!("")));
    }
    for field in ["binaryData", "stringData", "immutable"] {
        if let Some(value) = object.get(field).filter(|v| !v.is_null()) {
            content.insert(field.into(), value.clone());
        }
    }
    let digest = sha256(json::encode(&Value::Object(content)).as_bytes());
    let letters = digest[..5].iter().flat_map(|byte| [byte >> 4, byte & 15]);
    // No vowels, and no digits that look like letters: so that no word comes about.
    letters.map(|four| char::from(b"gh2k456789mbcdtf"[usize::from(four)])).collect()
}

/// SHA-256, by its standard (FIPS 180-4).
pub(crate) fn sha256(text: &[u8]) -> [u8; 32] {
    let (mut state, k) = (roots::<8>(2), roots::<64>(3));
    let mut padded = text.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((text.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut w = [0u32; 64];
        for (at, word) in block.chunks_exact(4).enumerate() {
            w[at] = u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
        }
        for at in 16..64 {
            let (a, b) = (w[at - 15], w[at - 2]);
            let small = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
            let large = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
            w[at] = w[at - 16].wrapping_add(small).wrapping_add(w[at - 7]).wrapping_add(large);
        }
        let mut s = state;
        for at in 0..64 {
            let e = s[4].rotate_right(6) ^ s[4].rotate_right(11) ^ s[4].rotate_right(25);
            let chosen = s[4] & s[5] ^ !s[4] & s[6];
            let one = s[7].wrapping_add(e).wrapping_add(chosen).wrapping_add(k[at]).wrapping_add(w[at]);
            let a = s[0].rotate_right(2) ^ s[0].rotate_right(13) ^ s[0].rotate_right(22);
            let most = s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2];
            let two = a.wrapping_add(most);
            s = [one.wrapping_add(two), s[0], s[1], s[2], s[3].wrapping_add(one), s[4], s[5], s[6]];
        }
        for (sum, part) in state.iter_mut().zip(s) {
            *sum = sum.wrapping_add(part);
        }
    }
    let mut out = [0; 32];
    for (bytes, word) in out.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    out
}

/// The first 32 bits behind the point of the square (2) or cube (3) roots of the first primes, in whole numbers: the
/// largest `x` with `x^n <= prime * 2^(32 n)`.
fn roots<const N: usize>(n: u32) -> [u32; N] {
    let primes = (2u128..).filter(|p| (2..*p).all(|d| p % d != 0));
    let mut out = [0; N];
    for (slot, prime) in out.iter_mut().zip(primes) {
        let wanted = prime << (32 * n);
        let mut root = 0u128;
        for bit in (0..38).rev() {
            let tried = root | 1 << bit;
            // At most 38 bits to the third power: 114 bits.
            if tried.pow(n) <= wanted {
                root = tried;
            }
        }
        *slot = (root & 0xffff_ffff) as u32;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_upstreams() {
        let map = json!({"kind": "ConfigMap", "data": {"a": "b"}});
        assert_eq!(suffix(&map, "x"), "64686gkt6c");
        assert_eq!(suffix(&json!({"kind": "Secret", "data": {"a": "Yg=="}}), "x"), "k694gm4m9h");
        let map = json!({"kind": "ConfigMap", "data": {"A": "1", "B": "two"}});
        assert_eq!(suffix(&map, ""), "6b56fdfggc");
        let secret = json!({"kind": "Secret", "type": "Opaque", "data": {"P": "eA=="}});
        assert_eq!(suffix(&secret, ""), "d292k9tbmg");
    }

    #[test]
    fn digests_are_the_standards() {
        let text: String = sha256(b"abc").iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
