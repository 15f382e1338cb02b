//! What may be a name, a label, a key: every check answers with Kubernetes' own messages, none when all is well.
//!
//! Upstream: k8s.io/apimachinery/pkg/util/validation and pkg/api/validate/content (v1.37). The patterns in the
//! messages are the API's words; the checks themselves are written out by hand, since they run on every keystroke.

use std::collections::BTreeMap;

use super::go;

const LABEL_FMT: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_FMT: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const KEY_FMT: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// Lengths that the checks allow, in bytes.
pub const LABEL_MAX: usize = 63;
pub const SUBDOMAIN_MAX: usize = 253;

/// `must be no more than N characters`.
pub fn max_len_error(length: usize) -> String {
    format!("must be no more than {length} characters")
}

/// The same for the newer checks, which say what they count.
pub fn max_bytes_error(length: usize) -> String {
    format!("must be no more than {length} bytes")
}

/// The message of a check by pattern, with its examples.
pub fn regex_error(message: &str, pattern: &str, examples: &[&str]) -> String {
    if examples.is_empty() {
        return format!("{message} (regex used for validation is '{pattern}')");
    }
    let quoted: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{message} (e.g. {}regex used for validation is '{pattern}')", quoted.join(" or "))
}

fn is_lower_alnum(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit()
}

/// One or more bytes, the first and the last of the inner kind, those between of the outer kind.
fn bounded(text: &[u8], inner: fn(u8) -> bool, outer: fn(u8) -> bool) -> bool {
    match text {
        [] => false,
        [only] => inner(*only),
        [first, middle @ .., last] => inner(*first) && inner(*last) && middle.iter().all(|b| outer(*b)),
    }
}

fn matches_label(text: &[u8]) -> bool {
    bounded(text, is_lower_alnum, |b| is_lower_alnum(b) || b == b'-')
}

fn matches_subdomain(text: &str) -> bool {
    text.as_bytes().split(|b| *b == b'.').all(matches_label)
}

fn matches_key(text: &str) -> bool {
    bounded(
        text.as_bytes(),
        |b| b.is_ascii_alphanumeric(),
        |b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'),
    )
}

/// A DNS label as RFC 1123 has it: pods' hostnames, namespaces.
pub fn is_dns1123_label(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > LABEL_MAX {
        errors.push(max_len_error(LABEL_MAX));
    }
    if !matches_label(text.as_bytes()) {
        if matches_subdomain(text) {
            errors.push("must not contain dots".to_owned());
        } else {
            let message = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', \
                 and must start and end with an alphanumeric character";
            errors.push(regex_error(message, LABEL_FMT, &["my-name", "123-abc"]));
        }
    }
    errors
}

/// A DNS subdomain as RFC 1123 has it: the names of most objects.
pub fn is_dns1123_subdomain(text: &str) -> Vec<String> {
    subdomain(text, max_len_error)
}

fn subdomain(text: &str, too_long: fn(usize) -> String) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > SUBDOMAIN_MAX {
        errors.push(too_long(SUBDOMAIN_MAX));
    }
    if !matches_subdomain(text) {
        let message = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
             '-' or '.', and must start and end with an alphanumeric character";
        errors.push(regex_error(message, SUBDOMAIN_FMT, &["example.com"]));
    }
    errors
}

/// A DNS subdomain in which capitals are let pass, in the words of that check.
pub fn is_caseless_subdomain(text: &str) -> Vec<String> {
    const PATTERN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
    const MESSAGE: &str = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
    let mut messages = vec![];
    if text.len() > SUBDOMAIN_MAX {
        messages.push(max_len_error(SUBDOMAIN_MAX));
    }
    if !matches_subdomain(&text.to_ascii_lowercase()) {
        messages.push(regex_error(MESSAGE, PATTERN, &["Example.com"]));
    }
    messages
}

/// A name as C has them: letters, digits and `_`, no digit first.
pub fn is_c_identifier(text: &str) -> Vec<String> {
    const MESSAGE: &str = "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'";
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return vec![];
    }
    vec![regex_error(MESSAGE, "[A-Za-z_][A-Za-z0-9_]*", &["my_name", "MY_NAME", "MyName"])]
}

/// A DNS label as RFC 1035 has it: it starts with a letter.
pub fn is_dns1035_label(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > LABEL_MAX {
        errors.push(max_len_error(LABEL_MAX));
    }
    if !matches_label(text.as_bytes()) || text.starts_with(|c: char| c.is_ascii_digit()) {
        let message = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
             alphabetic character, and end with an alphanumeric character";
        errors.push(regex_error(message, "[a-z]([-a-z0-9]*[a-z0-9])?", &["my-name", "abc-123"]));
    }
    errors
}

/// `*.` and a subdomain, as an Ingress may have for a host.
pub fn is_wildcard_dns1123_subdomain(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > SUBDOMAIN_MAX {
        errors.push(max_len_error(SUBDOMAIN_MAX));
    }
    if !text.strip_prefix("*.").is_some_and(matches_subdomain) {
        let message = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which \
             must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
        let pattern = format!(r"\*\.{SUBDOMAIN_FMT}");
        errors.push(regex_error(message, &pattern, &["*.example.com"]));
    }
    errors
}

/// The key of a label or an annotation: a name, with an optional prefix before a slash.
pub fn is_qualified_name(text: &str) -> Vec<String> {
    let rule = || {
        let message = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
             alphanumeric character";
        regex_error(message, KEY_FMT, &["MyName", "my.name", "123-abc"])
    };
    let mut errors = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                let messages = subdomain(prefix, max_bytes_error);
                errors.extend(messages.into_iter().map(|message| format!("prefix part {message}")));
            }
            *name
        }
        _ => {
            return vec![format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                rule()
            )];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_MAX {
        errors.push(format!("name part {}", max_bytes_error(LABEL_MAX)));
    }
    if !matches_key(name) {
        errors.push(format!("name part {}", rule()));
    }
    errors
}

/// The value of a label; it may be empty.
pub fn is_valid_label_value(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > LABEL_MAX {
        errors.push(max_bytes_error(LABEL_MAX));
    }
    if !text.is_empty() && !matches_key(text) {
        let message = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
             '.', and must start and end with an alphanumeric character";
        let pattern = format!("({KEY_FMT})?");
        errors.push(regex_error(message, &pattern, &["MyValue", "my_value", "12345"]));
    }
    errors
}

/// The name of a port: at most 15 characters, with a letter among them.
pub fn is_valid_port_name(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > 15 {
        errors.push(max_len_error(15));
    }
    if text.is_empty() || !text.bytes().all(|b| is_lower_alnum(b) || b == b'-') {
        errors.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !text.bytes().any(|b| b.is_ascii_lowercase()) {
        errors.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        errors.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        errors.push("must not begin or end with a hyphen".to_owned());
    }
    errors
}

/// The number of a port.
pub fn is_valid_port_num(port: i64) -> Vec<String> {
    is_in_range(port, 1, 65535)
}

/// A number between two ends, both allowed.
pub fn is_in_range(value: i64, low: i64, high: i64) -> Vec<String> {
    if (low..=high).contains(&value) {
        return Vec::new();
    }
    vec![format!("must be between {low} and {high}, inclusive")]
}

/// A percentage as text: digits and `%`.
pub fn is_valid_percent(text: &str) -> Vec<String> {
    let digits = text.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return Vec::new();
    }
    let message = "a valid percent string must be a numeric string followed by an ending '%'";
    vec![regex_error(message, "[0-9]+%", &["1%", "93%"])]
}

fn is_file_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')
}

/// The name of an environment variable by the older, narrower rule.
pub fn is_env_var_name(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let starts_well = text.bytes().next().is_some_and(|b| !b.is_ascii_digit());
    if !starts_well || !text.bytes().all(is_file_byte) {
        let message = "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', \
             or '.', and must not start with a digit";
        let examples = ["my.env-name", "MY_ENV.NAME", "MyEnvName1"];
        errors.push(regex_error(message, "[-._a-zA-Z][-._a-zA-Z0-9]*", &examples));
    }
    errors.extend(parent_directory(text));
    errors
}

/// The name of an environment variable as v1.37 takes it: printable ASCII but for `=`.
pub fn is_relaxed_env_var_name(text: &str) -> Vec<String> {
    if text.is_empty() {
        return vec!["environment variable name must be non-empty".to_owned()];
    }
    if text.chars().all(|c| (' '..='~').contains(&c) && c != '=') {
        return Vec::new();
    }
    let message =
        "a valid environment variable name must consist only of printable ASCII characters other than '='";
    vec![message.to_owned()]
}

/// A key of a ConfigMap or Secret, which may become a file name.
pub fn is_config_map_key(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > SUBDOMAIN_MAX {
        errors.push(max_len_error(SUBDOMAIN_MAX));
    }
    if text.is_empty() || !text.bytes().all(is_file_byte) {
        let message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        errors.push(regex_error(message, "[-._a-zA-Z0-9]+", &["key.name", "KEY_NAME", "key-name"]));
    }
    errors.extend(parent_directory(text));
    errors
}

/// Names that would step out of a directory.
fn parent_directory(text: &str) -> Option<String> {
    match text {
        "." => Some("must not be '.'".to_owned()),
        ".." => Some("must not be '..'".to_owned()),
        _ if text.starts_with("..") => Some("must not start with '..'".to_owned()),
        _ => None,
    }
}

/// Checks every key and value of a map of labels; one whole error line each, keys in order.
///
/// Upstream: k8s.io/apimachinery/pkg/apis/meta/v1/validation, ValidateLabels (v1.37); it goes through the map in
/// no order.
pub fn validate_labels(labels: &BTreeMap<String, String>, field: &str) -> Vec<String> {
    let mut errors = Vec::new();
    for (key, value) in labels {
        let wrong = |text: &str, messages: Vec<String>| {
            let head = format!("{field}: Invalid value: {}: ", go::quote(text));
            messages.into_iter().map(move |message| format!("{head}{message}")).collect::<Vec<String>>()
        };
        errors.extend(wrong(key, is_qualified_name(key)));
        errors.extend(wrong(value, is_valid_label_value(value)));
    }
    errors
}
