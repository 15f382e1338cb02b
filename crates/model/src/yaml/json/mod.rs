//! JSON as Go's `encoding/json` reads and writes it: its complaints, its numbers and its escapes.

mod read;
mod text;

pub use read::{Broken, Children, children, parse, parse_first};
pub use text::{compact, encode, encode_text, go_quote};

pub(crate) use text::{go_number, go_short_float, go_short_float32};
