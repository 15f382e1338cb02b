//! Secret: how long its values are, not what they are.

use super::Page;
use kubestep_model::Secret;

pub(super) fn describe(page: &mut Page, o: &Secret) {
    page.head(&o.metadata);
    page.field(0, "\nType", &o.r#type);
    page.line(0, "\nData\n====");
    for (key, value) in &o.data {
        page.line(0, format!("{key}:\t{} bytes", bytes(value)));
    }
}

/// How many bytes a text in base64 stands for.
pub(super) fn bytes(base64: &str) -> usize {
    let digits = base64.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=').count();
    digits * 3 / 4
}
