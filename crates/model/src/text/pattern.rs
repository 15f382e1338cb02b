//! Regular expressions, as the API server's schemas and kubectl know them.

use regex_lite::Regex;

/// Whether a pattern is found in a text.
///
/// # Errors
/// If it is no pattern: what is wrong with it. The words are not Go's.
pub fn matches(pattern: &str, text: &str) -> Result<bool, String> {
    Regex::new(pattern).map(|p| p.is_match(text)).map_err(|e| e.to_string())
}
