//! Chance that repeats: every draw follows from a seed, a purpose and how often that purpose was asked.

use std::{collections::BTreeMap, sync::Arc};

/// Seeded dice, split by purpose, so that one more draw for one purpose changes no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dice {
    seed: u64,
    drawn: Arc<BTreeMap<&'static str, u64>>,
}

impl Dice {
    /// Dice of a seed, nothing drawn yet.
    pub fn new(seed: u64) -> Self {
        Dice { seed, drawn: Arc::default() }
    }

    /// Dice of their own for a part of the world, such as one node's kubelet.
    pub fn split(&self, name: &str) -> Self {
        Dice::new(mix(self.seed ^ text_bits(name)))
    }

    /// The next 64 bits for a purpose.
    pub fn bits(&mut self, purpose: &'static str) -> u64 {
        let n = Arc::make_mut(&mut self.drawn).entry(purpose).or_insert(0);
        *n += 1;
        mix(mix(self.seed ^ text_bits(purpose)).wrapping_add(*n))
    }

    /// A number below `bound` (0 if `bound` is 0).
    pub fn below(&mut self, purpose: &'static str, bound: u32) -> u32 {
        let wide = (self.bits(purpose) >> 32) * u64::from(bound);
        u32::try_from(wide >> 32).unwrap_or(0)
    }

    /// Parts per million: a number from 0 up to 999,999, for jitter without floating point.
    pub fn ppm(&mut self, purpose: &'static str) -> u64 {
        u64::from(self.below(purpose, 1_000_000))
    }

    /// A random version 4 UUID, as `metadata.uid` is.
    pub fn uuid(&mut self) -> String {
        let (a, b) = (self.bits("uid"), self.bits("uid"));
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            ((b >> 48) & 0x3fff) | 0x8000,
            b & 0xffff_ffff_ffff
        )
    }

    /// What was drawn so far, for the world's hash.
    pub fn digest(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        std::iter::once(("seed", self.seed)).chain(self.drawn.iter().map(|(k, v)| (*k, *v)))
    }
}

fn text_bits(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

fn mix(z: u64) -> u64 {
    let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_repeat_and_purposes_do_not_disturb_each_other() {
        let (mut a, mut b) = (Dice::new(7), Dice::new(7));
        let _other = b.bits("other");
        assert_eq!(a.bits("name"), b.bits("name"));
        assert_ne!(a.bits("name"), Dice::new(8).bits("name"));
        assert!((0..1000).all(|_| a.below("x", 3) < 3));
        assert_eq!(a.below("x", 0), 0);
        assert_eq!(a.uuid().len(), 36);
    }
}
