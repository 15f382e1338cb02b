//! Base64 as Go's standard decoder reads it: line breaks are passed over, everything else has to fit.
//!
//! Upstream: Go's encoding/base64, StdEncoding.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes with padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let part = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = part(0) << 16 | part(1) << 8 | part(2);
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// Encodes for a URL: with `-` and `_`, without padding. Upstream: encoding/base64, RawURLEncoding.
pub(crate) fn encode_url(bytes: &[u8]) -> String {
    encode(bytes).trim_end_matches('=').replace('+', "-").replace('/', "_")
}

/// Decodes what stood in a URL; the error is the place of the first byte that does not fit.
pub(crate) fn decode_url(text: &str) -> Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0usize);
    for (at, byte) in text.bytes().enumerate().filter(|(_, b)| !matches!(b, b'\r' | b'\n')) {
        let letter = match byte {
            b'-' => b'+',
            b'_' => b'/',
            b'+' | b'/' => return Err(at),
            other => other,
        };
        let value = LETTERS.iter().position(|l| *l == letter).ok_or(at)?;
        bits = bits << 6 | u32::try_from(value).unwrap_or(0);
        held += 1;
        if held == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, held) = (0, 0);
        }
    }
    if held == 1 {
        return Err(text.len().saturating_sub(1));
    }
    if held > 1 {
        out.extend_from_slice(&(bits << (6 * (4 - held))).to_be_bytes()[1..held]);
    }
    Ok(out)
}

/// Decodes; the error is the place of the first byte that does not fit.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let bytes: Vec<(usize, u8)> =
        text.bytes().enumerate().filter(|(_, b)| !matches!(b, b'\r' | b'\n')).collect();
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3);
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let mut digits = [0u32; 4];
        let mut count = 0;
        while count < 4 {
            let Some(&(at, byte)) = rest.get(count) else {
                return Err(text.len());
            };
            match LETTERS.iter().position(|l| *l == byte) {
                Some(value) => digits[count] = u32::try_from(value).unwrap_or(0),
                None if byte == b'=' && count >= 2 => return padded(out, digits, count, rest, text.len()),
                None => return Err(at),
            }
            count += 1;
        }
        let bits = digits[0] << 18 | digits[1] << 12 | digits[2] << 6 | digits[3];
        out.extend_from_slice(&bits.to_be_bytes()[1..]);
        rest = &rest[4..];
    }
    Ok(out)
}

fn padded(
    mut out: Vec<u8>,
    digits: [u32; 4],
    count: usize,
    rest: &[(usize, u8)],
    len: usize,
) -> Result<Vec<u8>, usize> {
    if count == 2 {
        match rest.get(3) {
            None => return Err(len),
            Some((at, byte)) if *byte != b'=' => return Err(*at),
            Some(_) => {}
        }
    }
    if let Some((at, _)) = rest.get(4) {
        return Err(*at);
    }
    let bits = digits[0] << 18 | digits[1] << 12 | digits[2] << 6;
    out.extend_from_slice(&bits.to_be_bytes()[1..count]);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_says_where_it_cannot() {
        for text in ["", "a", "ab", "abc", "abcd", "hello world"] {
            assert_eq!(decode(&encode(text.as_bytes())).as_deref(), Ok(text.as_bytes()), "{text}");
            assert_eq!(decode_url(&encode_url(text.as_bytes())).as_deref(), Ok(text.as_bytes()), "{text}");
        }
        assert_eq!(encode_url(&[0xfb, 0xff]), "-_8");
        for (wrong, at) in [("AAAA+AAA", 4), ("AAAAA", 4), ("AA=", 2), ("A", 0)] {
            assert_eq!(decode_url(wrong), Err(at), "{wrong}");
        }
        assert_eq!(decode("aGVs\nbG8=\n"), Ok(b"hello".to_vec()));
        assert_eq!(decode("abc"), Err(3));
        assert_eq!(decode("s3cret!"), Err(6));
        assert_eq!(decode("ab=c"), Err(3));
        assert_eq!(decode("ab==x"), Err(4));
    }
}
