//! The recorded answers of the API server's decoder, asked of ours.

use serde_json::{Value, json};

use super::decode_text;

/// Answers one case of a vector; none if the vector is not about decoding.
#[must_use]
pub fn run(name: &str, input: &Value) -> Option<Value> {
    if name != "strict-decoding" {
        return None;
    }
    let text = input["yaml"].as_str().unwrap_or_default();
    Some(json!({ "strict": decode_text(text, true).err(), "lenient": decode_text(text, false).err() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_decoded_as_recorded() {
        crate::yaml::vectors::check("strict-decoding", run);
    }
}
