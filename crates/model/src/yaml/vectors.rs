//! The recorded answers of Kubernetes' own YAML readers, asked of ours.

use serde_json::{Value, json};

use super::documents::{self, Pieces};
use super::json as go_json;

/// A result longer than this is recorded as its length only.
const MAX_RECORDED: usize = 4_000;

/// Answers one case of a vector; none if the vector is not about YAML.
#[must_use]
pub fn run(name: &str, input: &Value) -> Option<Value> {
    match name {
        "yaml-to-json" => Some(yaml_to_json(input["yaml"].as_str().unwrap_or_default())),
        "yaml-documents" => Some(yaml_documents(input["text"].as_str().unwrap_or_default())),
        _ => None,
    }
}

fn yaml_to_json(text: &str) -> Value {
    let lenient = super::yaml_to_json(text, false);
    let strict = super::yaml_to_json(text, true);
    let strict = if strict == lenient { None } else { strict.err() };
    match lenient {
        Ok(value) => {
            let length = go_json::encode(&value).len();
            let value = if length > MAX_RECORDED { json!({ "length": length }) } else { value };
            json!({ "json": value, "strict": strict })
        }
        Err(text) => json!({ "error": text, "strict": strict }),
    }
}

fn yaml_documents(text: &str) -> Value {
    let mut texts = Vec::new();
    let mut read_error = None;
    for piece in Pieces::new(text) {
        match piece {
            Ok(piece) => texts.push(piece.text),
            Err(error) => read_error = Some(error.text),
        }
    }
    let reading = documents::decode(text);
    let objects = reading.documents.into_iter().map(|document| {
        if documents::is_empty(&document.value) { json!({ "empty": true }) } else { document.value }
    });
    json!({
        "documents": texts,
        "readError": read_error,
        "objects": objects.collect::<Vec<_>>(),
        "decodeError": reading.error.map(|error| error.text),
    })
}

/// Compares all cases of a recorded vector with what `run` answers.
#[cfg(test)]
pub(crate) fn check(name: &str, run: impl Fn(&str, &Value) -> Option<Value>) {
    let path = format!("{}/../../tests/golden/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect(&path);
    let vector = go_json::parse(&text).expect("a vector is JSON");
    let cases = vector["cases"].as_array().expect("a vector has cases");
    let mut wrong = 0;
    for case in cases {
        let ours = run(name, &case["in"]).expect("the vector is known");
        if ours != case["out"] {
            wrong += 1;
            println!("{name}: {}\n  recorded {}\n  ours     {ours}", case["in"], case["out"]);
        }
    }
    println!("{name}: {} of {}", cases.len() - wrong, cases.len());
    assert_eq!(wrong, 0, "{name}: {wrong} of {} cases differ", cases.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_is_read_as_recorded() {
        crate::yaml::vectors::check("yaml-to-json", run);
        crate::yaml::vectors::check("yaml-documents", run);
    }
}
