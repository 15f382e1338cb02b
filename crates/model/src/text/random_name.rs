//! Names with a drawn end, and hashes spelt in the same letters.

/// Letters and digits without vowels, so that no word is drawn by accident.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// How much of `generateName` is kept, so that name and end are at most 63 long.
const KEPT: usize = 58;

/// How many letters are drawn.
const RANDOM: usize = 5;

/// Spells a text in the safe alphabet, each character by its number.
///
/// Upstream: k8s.io/apimachinery/pkg/util/rand, SafeEncodeString (v1.37). A character of more than one byte leaves
/// as many zero bytes at the end; only digits are ever encoded.
pub fn safe_encode_string(text: &str) -> String {
    let mut out: String = text.chars().map(|c| letter(c as u32)).collect();
    let missing = text.len() - text.chars().count();
    out.extend(std::iter::repeat_n('\0', missing));
    out
}

fn letter(number: u32) -> char {
    char::from(ALPHABET[number as usize % ALPHABET.len()])
}

/// `count` letters of the safe alphabet; `draw` gives a number below its argument.
///
/// Upstream: k8s.io/apimachinery/pkg/util/rand, String (v1.37).
pub fn random_string(count: usize, draw: &mut dyn FnMut(u32) -> u32) -> String {
    (0..count).map(|_| letter(draw(ALPHABET.len() as u32))).collect()
}

/// The part of `generateName` that is kept: as much as leaves room for the drawn letters.
pub fn kept(base: &str) -> &str {
    let end = (0..=base.len().min(KEPT)).rev().find(|i| base.is_char_boundary(*i)).unwrap_or(0);
    &base[..end]
}

/// A name that starts as `generateName` asks and ends in drawn letters.
///
/// Upstream: k8s.io/apiserver/pkg/storage/names, SimpleNameGenerator (v1.37).
pub fn generate_name(base: &str, draw: &mut dyn FnMut(u32) -> u32) -> String {
    format!("{}{}", kept(base), random_string(RANDOM, draw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_can_be_drawn() {
        let mut next = 0;
        let drawn = random_string(27, &mut |bound| {
            assert_eq!(bound, 27);
            next += 1;
            next - 1
        });
        assert_eq!(drawn.as_bytes(), ALPHABET);
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let name = generate_name(&"ü".repeat(40), &mut |_| 0);
        assert_eq!(name, format!("{}bbbbb", "ü".repeat(29)));
        assert_eq!(generate_name(&"a".repeat(60), &mut |_| 1).len(), 63);
    }
}
