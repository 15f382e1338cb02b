//! Base64, as Go encodes bytes.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes as text.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= three.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// The text that was encoded; letters of other alphabets are passed over.
pub(crate) fn text(encoded: &str) -> String {
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    let digits = encoded.bytes().filter_map(|b| LETTERS.iter().position(|l| *l == b));
    for digit in digits.filter_map(|d| u32::try_from(d).ok()) {
        bits = (bits << 6 | digit) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{encode, text};

    #[test]
    fn encodes_as_go() {
        for (plain, want) in
            [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("app", "YXBw"), ("a:b\u{ff}", "YTpiw78=")]
        {
            assert_eq!(encode(plain.as_bytes()), want, "{plain}");
            assert_eq!(text(want), plain);
        }
    }
}
