//! `kubestep vectors`: runs the pure functions on recorded inputs.

use serde_json::{Value, json};

const USAGE: &str = "usage: kubestep vectors NAME CASES.json [-o OUT.json]";

/// The command. Exit code 0, or 2 for a bad call, file or name.
pub fn main(args: &[String]) -> i32 {
    match run(args) {
        Ok(()) => 0,
        Err(text) => {
            eprintln!("kubestep vectors: {text}");
            2
        }
    }
}

fn run(args: &[String]) -> Result<(), String> {
    let (name, file, out) = match args {
        [name, file] => (name, file, None),
        [name, file, flag, out] if flag == "-o" => (name, file, Some(out)),
        _ => return Err(USAGE.into()),
    };
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let mut value: Value = serde_json::from_str(&text).map_err(|e| format!("{file}: {e}"))?;
    let cases = value["cases"].as_array().cloned().ok_or(format!("{file}: no cases"))?;
    let answer = |case: &Value| answer(name, &case["in"]).map(|out| json!({"in": case["in"], "out": out}));
    let answers: Option<Vec<Value>> = cases.iter().map(answer).collect();
    value["cases"] = answers.ok_or(format!("there is no function {name:?} here"))?.into();
    let text = format!("{value}\n");
    match out {
        Some(out) => std::fs::write(out, text).map_err(|e| format!("{out}: {e}")),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}

/// What the function of this name makes of an input; each crate answers for its own.
pub fn answer(name: &str, input: &Value) -> Option<Value> {
    kubestep_model::text::vectors::run(name, input)
        .or_else(|| kubestep_model::yaml::vectors::run(name, input))
        .or_else(|| kubestep_model::patch::vectors::run(name, input))
        .or_else(|| kubestep_model::schema::vectors::run(name, input))
        .or_else(|| kubestep_controllers::vectors::run(name, input))
        .or_else(|| kubestep_controllers::kubelet::vectors::vectors(name, input))
        .or_else(|| kubestep_controllers::scheduler::vectors::run(name, input))
        .or_else(|| kubestep_kubectl::vectors::run(name, input))
        .or_else(|| kubestep_apiserver::vectors::run(name, input))
}
