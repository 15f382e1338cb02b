//! *Take it to a real cluster*: a shell script with the manifests and the commands of a session.
//!
//! A link may come from anybody. So nothing of it is left for a shell to understand: words are quoted again, and what is
//! more than one command stands there as a remark.

use super::walk::Walk;
use crate::link::Saved;
use kubestep_kubectl::shell::single;
use std::{collections::BTreeMap, time::Duration};

const HEAD: &str = "\
# Read it before you run it: it changes the cluster of your current context. Needs kubectl (v1.37 is what was modelled).
#   kind create cluster      or      minikube start      or any cluster that you may play with
# Images that are not in your registry are not pulled; that may be what this run is about.
set -u
cd \"$(mktemp -d)\" || exit 1
run() { printf '\\n$ %s\\n' \"$*\"; \"$@\" || printf '(exit %s)\\n' \"$?\"; }
# Waits as long as the run did; KUBESTEP_PAUSE=0 does not wait at all.
pause() { printf '\\n# %s s pass\\n' \"$1\"; sleep \"${KUBESTEP_PAUSE:-$1}\"; }
";
/// A shorter pause is none.
const PAUSE: Duration = Duration::from_millis(1500);

/// The script.
pub(super) fn shell(walk: &Walk) -> String {
    let session = &walk.session;
    let mut out = format!("#!/bin/sh\n# {}\n{HEAD}", remark(&session.title));
    let branch = &session.history.branches()[session.history.branch()];
    let mut before = None;
    let mut written: BTreeMap<String, String> = BTreeMap::new();
    for (i, (input, saved)) in branch.inputs.iter().zip(&session.track().saved).enumerate() {
        if i == session.scenario_inputs && !walk.parted {
            out.push_str("\n# --- What was there at the beginning ends here; what you did follows. ---\n");
        }
        if let Some(passed) = before.map(|at| input.at.since(at)).filter(|p| *p >= PAUSE) {
            out.push_str(&format!("pause {}\n", passed.as_secs().max(1)));
        }
        before = Some(input.at);
        act(saved, &mut written, &mut out);
    }
    out.push_str("\nprintf '\\nThat was all.\\n'\n");
    out
}

fn act(saved: &Saved, written: &mut BTreeMap<String, String>, out: &mut String) {
    let mut only_here = |text: &str| out.push_str(&format!("# Only in Kubestep: {}\n", remark(text)));
    match saved {
        Saved::Run { line, files, .. } => {
            for (name, text) in files.iter().filter(|(name, _)| line.contains(name.as_str())) {
                if written.get(name) != Some(text) {
                    written.insert(name.clone(), text.clone());
                    file(name, text, out);
                }
            }
            out.push_str(&command(line));
        }
        Saved::Image { name, image: Some(image) } => only_here(&format!(
            "the image {name} was pushed{}. Push it to your registry.",
            if image.denied { ", and its pull is denied" } else { "" }
        )),
        Saved::Image { name, image: None } => only_here(&format!("the image {name} was taken away.")),
        Saved::NodeAdd { name } => only_here(&format!("the node {name} was added.")),
        Saved::NodeStop { name } => only_here(&format!("{name} stopped. With kind: docker stop {name}")),
        Saved::NodeStart { name } => only_here(&format!("{name} started. With kind: docker start {name}")),
        Saved::Probe { pod, ready, .. } => {
            let answer = if *ready { "well" } else { "badly" };
            only_here(&format!("probes of {pod} were made to end {answer}."));
        }
        Saved::Exit { namespace, pod, code, .. } => {
            only_here(&format!(
                "a container of {pod} in {namespace} ended with {code}. kubectl exec POD -- kill 1 comes near."
            ));
        }
        Saved::Fault { id, on } => {
            only_here(&format!("the fault {id} was switched {}.", if *on { "on" } else { "off" }));
        }
        Saved::WhatIf(on) => {
            let check = if *on { "off" } else { "on" };
            only_here(&format!("the check of selectors was switched {check}."));
        }
        Saved::Script(text) => only_here(text),
        Saved::Choice(name) => only_here(&format!("somebody moved before his turn: {name}.")),
        Saved::Interrupt { .. } => only_here("Ctrl-C was pressed."),
        Saved::Predicted { .. } | Saved::Hinted | Saved::Shown => {}
    }
}

/// A file with everything in it as it is.
fn file(name: &str, text: &str, out: &mut String) {
    if !plain(name) {
        out.push_str(&format!("# The file {} has a name that is not written here.\n", remark(name)));
        return;
    }
    let mut end = "KUBESTEP".to_string();
    while text.lines().any(|line| line == end) {
        end.push('_');
    }
    let last = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    out.push_str(&format!("cat > {name} <<'{end}'\n{}{last}{end}\n", text.replace('\0', "")));
}

/// A name that is one word for every shell, no flag, and in this folder.
fn plain(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(fits)
}

/// A line with one kubectl command, its words quoted again; anything else as a remark.
fn command(line: &str) -> String {
    let Some(words) = single(line) else {
        return format!("# Not one command alone, so not written as one: {}\n", remark(line));
    };
    if words.first().map(String::as_str) != Some("kubectl") {
        return format!("# No command of a real cluster: {}\n", remark(line));
    }
    let is =
        |word: &str, flags: &[&str]| flags.iter().any(|f| word == *f || word.starts_with(&format!("{f}=")));
    let goes_on = words
        .iter()
        .any(|w| is(w, &["-w", "--watch", "--watch-only", "edit", "port-forward", "proxy", "attach"]))
        || (words.iter().any(|w| w == "logs") && words.iter().any(|w| is(w, &["-f", "--follow"])));
    let quoted: Vec<String> = words.iter().map(|w| quoted(w)).collect();
    let mark = if goes_on { "# It goes on, or asks; start it yourself: " } else { "run " };
    format!("{mark}{}\n", quoted.join(" "))
}

/// A word that every shell takes as it is.
fn quoted(word: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@".contains(c);
    if !word.is_empty() && word.chars().all(fits) {
        return word.into();
    }
    let clean: String = word.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("'{}'", clean.replace('\'', "'\\''"))
}

/// A text that stays on its line.
fn remark(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_link_is_left_to_a_shell() {
        for (line, want) in [
            ("kubectl get pods", "run kubectl get pods\n"),
            ("kubectl get pods -l 'a in (b)'", "run kubectl get pods -l 'a in (b)'\n"),
            ("kubectl annotate pod x 'a=what $(id) is'", "run kubectl annotate pod x 'a=what $(id) is'\n"),
            ("kubectl annotate pod x \"a=it's\"", "run kubectl annotate pod x 'a=it'\\''s'\n"),
            ("kubectl get pods -w", "# It goes on, or asks; start it yourself: kubectl get pods -w\n"),
            ("rm -rf x", "# No command of a real cluster: rm -rf x\n"),
        ] {
            assert_eq!(command(line), want);
        }
        for line in [
            "kubectl get pods; rm -rf x",
            "kubectl get pods | sh",
            "kubectl get\nrm -rf x",
            "kubectl 'a",
            "kubectl get \"$(id)\"",
            "kubectl get `id`",
        ] {
            let made = command(line);
            // A remark, or words for kubectl alone.
            let safe =
                made.starts_with("# ") || made.starts_with("run kubectl ") && !made.contains(['|', ';', '`']);
            assert!(safe && made.lines().count() == 1, "{made}");
        }
    }

    #[test]
    fn a_file_ends_where_it_ends() {
        let mut out = String::new();
        file("a.yaml", "x\nKUBESTEP\nrm -rf x", &mut out);
        assert_eq!(out, "cat > a.yaml <<'KUBESTEP_'\nx\nKUBESTEP\nrm -rf x\nKUBESTEP_\n");
        out.clear();
        for name in ["../x", "-f", "a b", "$(id)", ""] {
            file(name, "x", &mut out);
        }
        assert!(out.lines().all(|l| l.starts_with('#')), "{out}");
    }
}
