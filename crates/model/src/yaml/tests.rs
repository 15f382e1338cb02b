//! Texts that must neither crash nor stall the reader, and where it says a field stands.

use serde_json::{Value, json};

use super::{MAX_DEPTH, MAX_TEXT, Span, Step, read, yaml_to_json};

fn only(text: &str) -> super::Document {
    let mut reading = read(text);
    assert_eq!(reading.error, None, "{text}");
    assert_eq!(reading.documents.len(), 1, "{text}");
    reading.documents.remove(0)
}

#[test]
fn nesting_up_to_the_limit_is_read_and_deeper_is_refused() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(yaml_to_json(&nested(MAX_DEPTH), false).is_ok());
    let refused = Err(format!("yaml: exceeded max depth of {MAX_DEPTH}"));
    assert_eq!(yaml_to_json(&nested(MAX_DEPTH + 1), false), refused);
    for depth in [1_500, 3_000] {
        let block: String = (0..depth).map(|i| " ".repeat(i) + "a:\n").collect();
        assert_eq!(yaml_to_json(&block, false), refused);
        assert_eq!(yaml_to_json(&nested(depth), false), refused);
        let dashes = "- ".repeat(depth) + "x";
        assert_eq!(yaml_to_json(&dashes, false), refused);
    }
    assert_eq!(yaml_to_json(&nested(20_000), false), Err("yaml: exceeded max depth of 10000".to_owned()));
    let deep_json = "{\"a\":".repeat(3_000) + "1" + &"}".repeat(3_000);
    assert!(read(&deep_json).error.is_some());
}

/// A page gives a program a stack of 1 MiB.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(work).expect("a thread");
    thread.join().expect("no overflow");
}

#[test]
fn the_deepest_value_fits_a_small_stack() {
    on_a_small_stack(|| {
        // Two levels are left for the object around it.
        let depth = MAX_DEPTH / 2 - 1;
        let flow = "{a: [".repeat(depth) + "1" + &"]}".repeat(depth);
        let value = yaml_to_json(&flow, false).expect("read");
        assert_eq!(super::json::parse(&super::json::encode(&value)).as_ref(), Ok(&value));
        assert_eq!(yaml_to_json(&super::to_yaml(&value), false).as_ref(), Ok(&value));
        assert_eq!(crate::patch::merge_patch(&value, &value).as_ref(), Ok(&value));
        let service = json!({ "apiVersion": "v1", "kind": "Service", "spec": { "nope": value } });
        let schema = crate::schema::patch_schema("v1", "Service").expect("known");
        let patch = crate::patch::three_way_strategic_patch(&json!({}), &service, &json!({}), schema);
        assert_eq!(
            patch.and_then(|patch| crate::patch::strategic_merge_patch(&json!({}), &patch, schema)),
            Ok(service.clone())
        );
        assert_eq!(crate::patch::json_patch(&service, &json!([])), Ok(service.clone()));
        let decoded =
            crate::schema::strict("Service", "v1", &service, &super::Spans::default()).expect("known");
        assert_eq!(decoded.unknown_fields.len(), 1);
    });
}

#[test]
fn a_large_manifest_is_read_and_a_huge_one_refused() {
    let entry =
        "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: x}\n  data:\n    key: \"some text\"\n";
    let large = entry.repeat((2 << 20) / entry.len());
    let document = only(&large);
    assert_eq!(document.value.as_array().map(Vec::len), Some((2 << 20) / entry.len()));
    let huge = "a".repeat(MAX_TEXT + 1);
    assert!(read(&huge).error.is_some_and(|error| error.text.contains("too large")));
    for sign in ["[", "{", "- ", "? ", "a: ", "\"", "'", "&a ", "*a ", "!!a ", "|\n", ">\n", "%", "{{", "\t"]
    {
        let reading = read(&sign.repeat((1 << 18) / sign.len()));
        assert!(reading.error.is_some() || reading.documents.len() <= 1, "{sign:?}");
    }
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..12 {
        let names = vec![format!("*a{}", i - 1); 10].join(", ");
        text += &format!("a{i}: &a{i} [{names}]\n");
    }
    assert_eq!(yaml_to_json(&text, false), Err("yaml: document contains excessive aliasing".to_owned()));
    let itself = "a: &a\n  b: *a\n";
    assert_eq!(yaml_to_json(itself, false), Err("yaml: anchor 'a' value contains itself".to_owned()));
    let merged = "a: &a\n  <<: *a\n";
    assert_eq!(yaml_to_json(merged, false), Err("yaml: anchor 'a' value contains itself".to_owned()));
}

#[test]
fn junk_is_refused_in_words() {
    for (text, words) in [
        ("a: \0\n", "error converting YAML to JSON: yaml: control characters are not allowed"),
        ("\u{1}\u{2}\u{3}", "error converting YAML to JSON: yaml: control characters are not allowed"),
        ("\u{7f}ELF\u{2}", "error converting YAML to JSON: yaml: control characters are not allowed"),
        ("{\"a\": 1} {", "unexpected EOF"),
        ("{\"a\" 1}", "json: offset 6: invalid character '1' after object key"),
        (
            "{{ .Values.x }}",
            "json: offset 2: invalid character '{' looking for beginning of object key string",
        ),
    ] {
        let error = read(text).error.map(|error| error.text);
        assert_eq!(error.as_deref(), Some(words), "{text:?}");
    }
}

#[test]
fn byte_order_mark_and_carriage_returns_do_not_show() {
    let document = only("\u{feff}a: 1\r\nb:\r\n- x\r\n- |\r\n  y\r\n  z\r\n");
    assert_eq!(document.value, json!({ "a": 1, "b": ["x", "y\nz\n"] }));
}

#[test]
fn every_field_has_its_place_in_the_file() {
    let text = "# note\n---\napiVersion: v1\nmetadata:\n  labels:\n    app.io/name: x\nspec:\n  list:\n  - image: a\n  - {image: \"b\"}\n";
    let document = read(text).documents.remove(0);
    let at = |line, column, end_line, end_column| Span { line, column, end_line, end_column };
    let image = document.spans.find("spec.list[1].image").expect("found");
    assert_eq!((image.key, image.value), (Some(at(10, 6, 10, 11)), at(10, 13, 10, 16)));
    for path in ["metadata.labels[app.io/name]", "metadata.labels.app.io/name"] {
        assert_eq!(document.spans.find(path).map(|place| place.value), Some(at(6, 18, 6, 19)), "{path}");
    }
    let path = [Step::Key("spec"), Step::Key("list"), Step::Index(0), Step::Key("image")];
    assert_eq!(document.spans.at(&path).map(|place| place.value), Some(at(9, 12, 9, 13)));
    assert_eq!(document.spans.at(&[Step::Key("nope")]), None);
    let nearest = document.spans.find("spec.replicas").expect("the field above");
    assert_eq!(nearest.key, Some(at(7, 1, 7, 5)));
    assert_eq!(document.line, 3);
}

#[test]
fn errors_and_notes_name_a_place_in_the_file() {
    let reading = read("a: 1\n---\nb: 2\nc: [\n");
    assert_eq!(reading.documents.len(), 1);
    let error = reading.error.expect("refused");
    assert_eq!(error.text, "error converting YAML to JSON: yaml: line 2: did not find expected node content");
    assert_eq!((error.line, error.column), (5, 1));
    let document = only("a: 1\nb:\n  c: 1\n  c: 2\n");
    assert_eq!(document.value, json!({ "a": 1, "b": { "c": 2 } }));
    assert_eq!(document.notes.len(), 1);
    assert_eq!(document.notes[0].text, "line 4: key \"c\" already set in map");
    assert_eq!(document.notes[0].span.line, 4);
}

#[test]
fn numbers_are_written_as_go_writes_them() {
    for (value, text) in [
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1.5, "1.5"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.25e-10, "1.25e-10"),
        (-2.5e300, "-2.5e+300"),
    ] {
        assert_eq!(super::json::encode(&json!(value)), text);
    }
    assert_eq!(
        super::json::encode(&json!({ "b": "<&>\u{2028}", "a": 1 })),
        r#"{"a":1,"b":"\u003c\u0026\u003e\u2028"}"#
    );
}

#[test]
fn json_is_refused_in_go_s_words() {
    for (text, words) in [
        ("", "unexpected end of JSON input"),
        ("[1, 2", "unexpected end of JSON input"),
        ("[1 2]", "invalid character '2' after array element"),
        ("{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"),
        ("nul", "unexpected end of JSON input"),
        ("nulx", "invalid character 'x' in literal null (expecting 'l')"),
        ("01", "invalid character '1' after top-level value"),
        ("1.x", "invalid character 'x' after decimal point in numeric literal"),
        ("\"\\q\"", "invalid character 'q' in string escape code"),
        ("\"\n\"", "invalid character '\\n' in string literal"),
        ("'a'", "invalid character '\\'' looking for beginning of value"),
    ] {
        assert_eq!(super::json::parse(text).map_err(|broken| broken.text), Err(words.to_owned()), "{text:?}");
    }
    let text = r#"{"a":[1,-2.5,"x\u00e9\ud83d\ude00\n",true,null],"b":{}}"#;
    assert_eq!(super::json::parse(text), Ok(serde_json::from_str::<Value>(text).expect("JSON")));
}

/// The times and versions of a recording as the API server had written them: the recorder's stand-ins for them would
/// not be quoted.
fn as_printed(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let time = line.find("\"T+").or_else(|| line.find("\"T-")).filter(|_| line.ends_with('"'));
        lines.push(match time {
            Some(start) => format!("{}\"2026-11-29T10:00:00Z\"", &line[..start]),
            None => line.replace("\"rv-", "\""),
        });
    }
    lines.join("\n") + "\n"
}

/// Every YAML that a recorded kubectl printed.
fn printed() -> Vec<(String, String)> {
    let folder = format!("{}/../../tests/golden/sessions", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).expect(&folder).map(|entry| entry.expect("entry").path()).collect();
    files.sort();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let text = std::fs::read_to_string(file).expect("a session");
        let session = super::json::parse(&text).expect("a session is JSON");
        for step in session["steps"].as_array().expect("steps") {
            let (command, output) = (step["command"].as_str(), step["stdout"].as_str());
            let command = command.unwrap_or_default();
            if command.ends_with("-o yaml") {
                found
                    .push((format!("{}: {command}", file.display()), as_printed(output.unwrap_or_default())));
            }
        }
    }
    found
}

#[test]
fn what_kubectl_printed_is_printed_again_from_what_was_read() {
    let printed = printed();
    assert!(printed.len() >= 39, "{} outputs", printed.len());
    for (command, text) in &printed {
        let reading = read(text);
        assert_eq!(reading.error, None, "{command}");
        let again: Vec<String> = reading.documents.iter().map(|d| super::to_yaml(&d.value)).collect();
        assert_eq!(again.join("---\n"), *text, "{command}");
    }
    println!("{} outputs of kubectl", printed.len());
}
