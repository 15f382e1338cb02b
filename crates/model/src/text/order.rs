//! The order of texts, by their bytes.

use std::cmp::Ordering;

/// As `str` itself has it, eight bytes at a time: keys of one owner begin with the same letters, and where the program runs
/// in a browser the library looks at each byte by itself.
pub fn order(a: &str, b: &str) -> Ordering {
    let (mut rest, mut other) = (a.as_bytes(), b.as_bytes());
    while let (Some((x, xs)), Some((y, ys))) = (rest.split_first_chunk::<8>(), other.split_first_chunk::<8>())
    {
        if u64::from_ne_bytes(*x) != u64::from_ne_bytes(*y) {
            return u64::from_be_bytes(*x).cmp(&u64::from_be_bytes(*y));
        }
        (rest, other) = (xs, ys);
    }
    // What is left of one of them is shorter than that.
    for (x, y) in rest.iter().zip(other) {
        if x != y {
            return x.cmp(y);
        }
    }
    rest.len().cmp(&other.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_in_the_order_of_their_bytes() {
        let texts = [
            "",
            "a",
            "ab",
            "abcdefg",
            "abcdefgh",
            "abcdefghi",
            "abcdefgi",
            "web-5d4f-x2xk9",
            "web-5d4f-x2xka",
            "ü",
            "b\0",
        ];
        for a in texts {
            for b in texts {
                assert_eq!(order(a, b), a.cmp(b), "{a:?} {b:?}");
            }
        }
    }
}
