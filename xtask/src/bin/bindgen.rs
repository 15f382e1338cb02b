//! Makes the JavaScript around a wasm file: `xtask-bindgen IN.wasm OUT_DIR page|worker|named-worker`. A named worker keeps the
//! names of its functions, for a profile.

use std::process::ExitCode;

fn run(input: &str, out: &str, kind: &str) -> Result<(), String> {
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    let names = kind.starts_with("named-");
    bindgen.input_path(input).typescript(false).remove_name_section(!names).remove_producers_section(true);
    // A worker is a classic script, so that every browser with wasm can start it.
    let target = if kind.ends_with("worker") { bindgen.no_modules(true) } else { bindgen.web(true) };
    target.map_err(|e| e.to_string())?;
    bindgen.generate(out).map_err(|e| format!("{e:#}"))
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [input, out, kind] = args.as_slice() else {
        eprintln!("usage: xtask-bindgen IN.wasm OUT_DIR page|worker|named-worker");
        return ExitCode::FAILURE;
    };
    match run(input, out, kind) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{input}: {e}");
            ExitCode::FAILURE
        }
    }
}
