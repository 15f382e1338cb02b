//! Every command and flag of kubectl v1.37: each works or is refused in one clear line, as FIDELITY.md says.

use kubestep_kubectl::{Kubectl, upstream};
use kubestep_model::{
    Instant,
    client::{Client, Stream},
};
use std::sync::Arc;

const BEGIN: &str = "<!-- kubectl's commands and flags: written by crates/kubectl/tests/coverage.rs -->\n";
const REFUSAL: &str = "Kubestep does not do this";

/// The exit code and standard error of a line that must not wait for anything.
fn run(line: &str) -> (i32, String) {
    let progress = Kubectl::new(line, Arc::default(), "default").run(Instant::START, &[]);
    let text = progress.output.iter().filter(|c| c.stream == Stream::Err).map(|c| c.text.as_str()).collect();
    (progress.next.unwrap_or_else(|ask| panic!("{line}: waits for {ask:?}")), text)
}

/// Whether a line works; if not, it must be refused in one line.
fn works(line: &str) -> bool {
    let (code, text) = run(line);
    if code == 0 {
        return true;
    }
    assert!(code == 1 && text.contains(REFUSAL) && text.trim_end().lines().count() == 1, "{line}: {text}");
    false
}

/// Whether a flag of a command is done. Its help is asked for, so nothing else happens.
fn flag_works(command: &str, flag: &str) -> bool {
    let takes = |value: &str| run(&format!("kubectl {command} --{flag}={value} --help"));
    match takes("1") {
        (1, text) if text.contains("invalid argument") => takes("1s").0 == 0,
        (0, _) => true,
        (code, text) => {
            assert!(code == 1 && text.contains(REFUSAL), "kubectl {command} --{flag}: {text}");
            false
        }
    }
}

fn table() -> String {
    let mut table = format!("{BEGIN}\n| command | how | flags that are refused |\n|---|---|---|\n");
    for (command, flags) in upstream::all() {
        let shown = if command == "global" { "options" } else { command };
        if !works(&format!("kubectl {shown} --help")) {
            table += &format!("| {command} | refused | |\n");
            continue;
        }
        let refused: Vec<String> = flags
            .iter()
            .filter(|(_, flag)| !flag_works(shown, flag))
            .map(|(_, flag)| format!(" `{flag}`"))
            .collect();
        table += &format!("| {command} | works |{} |\n", refused.concat());
    }
    table
}

#[test]
fn each_command_and_flag_does_what_is_written() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../FIDELITY.md");
    let text = std::fs::read_to_string(path).expect("FIDELITY.md is there");
    let written = text.find(BEGIN).map(|at| &text[at..]).unwrap_or_default();
    let table = table();
    let rest = written.strip_prefix(table.as_str());
    assert!(rest.is_some_and(|r| !r.starts_with('|')), "the table in FIDELITY.md must read:\n{table}");
}

#[test]
fn what_does_not_exist_is_refused_in_kubectls_words() {
    for (line, want) in [
        ("kubectl get --nothing", "error: unknown flag: --nothing\nSee 'kubectl get --help' for usage.\n"),
        ("kubectl get -y", "error: unknown shorthand flag: 'y' in -y\nSee 'kubectl get --help' for usage.\n"),
        (
            "kubectl gett",
            "error: unknown command \"gett\" for \"kubectl\"\n\nDid you mean this?\n\tset\n\tget\n",
        ),
        (
            "kubectl create nothing",
            "error: Unexpected args: [nothing]\nSee 'kubectl create -h' for help and examples\n",
        ),
        (
            "kubectl rollout nothing",
            "error: unknown command \"nothing\"\nSee 'kubectl rollout -h' for help and examples\n",
        ),
    ] {
        assert_eq!(run(line).1, want, "{line}");
    }
}
