//! Every recorded case of every vector that this module answers must come out equal.

use serde_json::Value;

use super::run;

/// Runs all cases of one recorded vector and demands that each is equal.
fn all_equal(name: &str) {
    let path = format!("{}/../../tests/golden/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect(&path)).expect(&path);
    let cases = recorded["cases"].as_array().expect("a list of cases");
    assert!(!cases.is_empty(), "{name} holds no case");
    let mut equal = 0;
    let mut wrong = Vec::new();
    for case in cases {
        let got = run(name, &case["in"]).expect("a known vector");
        if got == case["out"] {
            equal += 1;
        } else if wrong.len() < 5 {
            wrong.push(format!("in   {}\nwant {}\ngot  {got}", case["in"], case["out"]));
        }
    }
    println!("{name}: {equal} of {}", cases.len());
    assert!(equal == cases.len(), "{name}: {equal} of {}\n{}", cases.len(), wrong.join("\n"));
}

macro_rules! vectors {
    ($($test:ident: $name:literal,)*) => { $(
        #[test]
        fn $test() {
            all_equal($name);
        }
    )* };
}

vectors! {
    crash_loop_backoff: "crash-loop-backoff",
    field_selector_text: "field-selector-text",
    generate_name: "generate-name",
    human_duration: "human-duration",
    image_pull_backoff: "image-pull-backoff",
    int_or_percent: "int-or-percent",
    label_selector_object: "label-selector-object",
    label_selector_text: "label-selector-text",
    name_config_map_key: "name-config-map-key",
    name_dns1035_label: "name-dns1035-label",
    name_dns1123_label: "name-dns1123-label",
    name_dns1123_subdomain: "name-dns1123-subdomain",
    name_env_var: "name-env-var",
    name_label_value: "name-label-value",
    name_percent: "name-percent",
    name_port: "name-port",
    name_qualified: "name-qualified",
    name_relaxed_env_var: "name-relaxed-env-var",
    name_wildcard_subdomain: "name-wildcard-subdomain",
    pod_template_hash: "pod-template-hash",
    quantity_arithmetic: "quantity-arithmetic",
    quantity_from_json: "quantity-from-json",
    quantity_parse: "quantity-parse",
    safe_encode_string: "safe-encode-string",
    validate_labels: "validate-labels",
}

#[test]
fn unknown_names_have_no_answer() {
    assert_eq!(run("no-such-vector", &Value::Null), None);
}

#[test]
fn other_shapes_do_no_harm() {
    for input in [Value::Null, Value::from(1), serde_json::json!({"text": 5, "labels": [1], "runs": {}})] {
        for name in ["quantity-parse", "validate-labels", "label-selector-text", "int-or-percent"] {
            assert!(run(name, &input).is_some(), "{name}");
        }
    }
}
