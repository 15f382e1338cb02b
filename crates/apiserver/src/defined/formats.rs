//! Formats of texts. One that is not known holds for every text.
//!
//! Upstream: apiextensions-apiserver, pkg/apiserver/validation/formats.go, and kube-openapi, pkg/validation/strfmt.

use kubestep_model::{Time, text::pattern};

/// Formats that a pattern decides, as far as it can.
const PATTERNS: [(&str, &str); 9] = [
    ("date", r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$"),
    ("uuid", r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"),
    ("uuid4", r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"),
    ("mac", r"(?i)^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$"),
    ("hexcolor", r"(?i)^#?([0-9a-f]{3}|[0-9a-f]{6})$"),
    ("email", r"^[^@\s]+@[^@\s]+$"),
    ("byte", r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"),
    ("hostname", r"(?i)^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\.?$"),
    ("bsonobjectid", r"(?i)^[0-9a-f]{24}$"),
];

/// Formats that are known and hold for every text here.
const OTHERS: [&str; 15] = [
    "binary",
    "uri",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "rgbcolor",
    "password",
    "uuid3",
    "uuid5",
    "int32",
    "int64",
    "float",
    "double",
];

/// Whether the API server knows a format.
pub(crate) fn is_known(format: &str) -> bool {
    let others =
        ["date-time", "datetime", "duration", "ipv4", "ipv6", "cidr", "k8s-short-name", "k8s-long-name"];
    PATTERNS.iter().any(|(name, _)| *name == format) || OTHERS.contains(&format) || others.contains(&format)
}

/// Whether a text is of a format.
pub(super) fn holds(format: &str, text: &str) -> bool {
    match format {
        "date-time" | "datetime" => Time::parse(text).is_some(),
        "duration" => kubestep_model::text::duration::parse(text).is_ok(),
        "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
        "cidr" => text.split_once('/').is_some_and(|(address, bits)| {
            let most = match address.parse() {
                Ok(std::net::IpAddr::V4(_)) => 32,
                Ok(std::net::IpAddr::V6(_)) => 128,
                Err(_) => return false,
            };
            bits.parse::<u8>().is_ok_and(|bits| bits <= most)
        }),
        "k8s-short-name" => kubestep_model::text::names::is_dns1123_label(text).is_empty(),
        "k8s-long-name" => kubestep_model::text::names::is_dns1123_subdomain(text).is_empty(),
        _ => match PATTERNS.iter().find(|(name, _)| *name == format) {
            Some((_, wanted)) => pattern::matches(wanted, text) != Ok(false),
            None => true,
        },
    }
}
