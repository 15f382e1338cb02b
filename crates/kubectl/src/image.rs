//! Whether a text names an image. Upstream: distribution/reference, ReferenceRegexp.

/// `[host[:port]/]path[:tag][@digest]`.
pub(crate) fn is_reference(text: &str) -> bool {
    let (named, digest) = text.split_once('@').map_or((text, None), |(n, d)| (n, Some(d)));
    if digest.is_some_and(|digest| !is_digest(digest)) {
        return false;
    }
    let slash = named.rfind('/').map_or(0, |at| at + 1);
    let (path, tag) = match named[slash..].find(':') {
        Some(at) => (&named[..slash + at], Some(&named[slash + at + 1..])),
        None => (named, None),
    };
    if tag.is_some_and(|tag| !is_tag(tag)) {
        return false;
    }
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [] => false,
        [one] => is_part(one),
        [first, rest @ ..] => rest.iter().all(|p| is_part(p)) && (is_part(first) || is_host(first)),
    }
}

fn is_digest(text: &str) -> bool {
    let Some((algorithm, hex)) = text.split_once(':') else { return false };
    let word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic()) && part.chars().all(|c| c.is_ascii_alphanumeric())
    };
    algorithm.split(['-', '_', '+', '.']).all(word)
        && hex.len() >= 32
        && hex.chars().all(|c| c.is_ascii_hexdigit())
}

fn is_tag(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.len() <= 128 && text.starts_with(word) && text.chars().all(|c| word(c) || c == '.' || c == '-')
}

/// Small letters and digits, with `.`, `_`, `__` or dashes between them.
fn is_part(text: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let between = |run: &str| matches!(run, "." | "_" | "__") || run.chars().all(|c| c == '-');
    text.starts_with(word)
        && text.ends_with(word)
        && text.split(word).filter(|run| !run.is_empty()).all(between)
}

fn is_host(text: &str) -> bool {
    let (host, port) = text.split_once(':').map_or((text, None), |(h, p)| (h, Some(p)));
    let part = |part: &str| {
        let end = |c: char| c.is_ascii_alphanumeric();
        part.starts_with(end) && part.ends_with(end) && part.chars().all(|c| end(c) || c == '-')
    };
    port.is_none_or(|port| !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()))
        && host.split('.').all(part)
}

#[cfg(test)]
mod tests {
    use super::is_reference;

    #[test]
    fn references_are_told_from_other_texts() {
        let digest = format!("a/b@sha256:{}", "0".repeat(64));
        for good in ["nginx", "nginx:1.16.1", "a.example:5000/b/c_d:x", "Host/x", "a__b--c.d", &digest] {
            assert!(is_reference(good), "{good}");
        }
        for bad in [
            "",
            "Bad",
            "Bad:Image:x",
            "nginx:",
            "nginx:-a",
            "a//b",
            "a/B",
            "-a",
            "a@sha256:12",
            "a b",
            "a..b",
        ] {
            assert!(!is_reference(bad), "{bad}");
        }
    }
}
