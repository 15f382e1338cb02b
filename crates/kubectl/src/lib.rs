//! kubectl's commands: each a small plain state with `on(input) -> (state, requests, output)`; knows no clock and no store.
//!
//! A command is a straight-line function that is run again from its start against what it was told so far, as a
//! reconcile is: so a command that waits is plain data. What it prints is what kubectl v1.37 prints.

pub mod args;
mod base64;
mod commands;
mod describe;
pub mod docs;
pub mod fault;
mod fields;
mod image;
pub mod kc;
mod kustomize;
mod machines;
pub mod manifest;
pub mod output;
mod pods;
pub mod printers;
pub mod resources;
pub mod select;
pub mod shell;
pub mod upstream;
pub mod vectors;
pub mod workloads;

pub use commands::{Following, following, makes, saves};
pub use machines::drift::{Wanted, wanted};
pub use shell::Shell;

use kc::Kc;
use kubestep_model::{
    Instant,
    client::{Client, ClientProgress, ClientTurn},
};
use std::{collections::BTreeMap, sync::Arc};

/// A kubectl command that a person typed.
#[derive(Clone, Debug)]
pub struct Kubectl {
    line: String,
    words: Result<Vec<String>, String>,
    files: Arc<BTreeMap<String, String>>,
    namespace: Arc<str>,
}

impl Kubectl {
    /// A command from its line (with or without `kubectl` before it), the files that lie beside it, and the
    /// namespace of the current context.
    pub fn new(line: &str, files: Arc<BTreeMap<String, String>>, namespace: &str) -> Kubectl {
        let mut words = shell::split(line);
        if let Ok(words) = &mut words
            && words.first().is_some_and(|w| w == "kubectl" || w == "k")
        {
            words.remove(0);
        }
        Kubectl { line: line.trim().to_owned(), words, files, namespace: namespace.into() }
    }
}

/// The namespace that a line gives the current context, if it is `config set-context` with one. Such a command prints
/// what it did; the one who starts the next command has to read its namespace from here.
#[must_use]
pub fn namespace_set(line: &str) -> Option<String> {
    if !line.contains("set-context") {
        return None;
    }
    let commands = shell::commands(line);
    commands.iter().rev().find_map(|words| {
        let mut plain = words
            .iter()
            .skip_while(|w| matches!(w.as_str(), "kubectl" | "k"))
            .filter(|w| !w.starts_with('-'));
        if plain.next()? != "config" || plain.next()? != "set-context" {
            return None;
        }
        let after = words.iter().position(|w| w == "--namespace" || w == "-n");
        let after = after.and_then(|at| words.get(at + 1)).cloned();
        let within = words.iter().find_map(|w| w.strip_prefix("--namespace=")).map(str::to_owned);
        within.or(after).filter(|n| !n.is_empty())
    })
}

impl Client for Kubectl {
    fn run(&self, started: Instant, told: &[ClientTurn]) -> ClientProgress {
        let mut kc = Kc::new(&self.files, self.namespace.clone(), started, told);
        let flow = match &self.words {
            Ok(words) => commands::start(&mut kc, words),
            Err(why) => Err(kc.fail(why.clone())),
        };
        kc.end(flow)
    }

    fn line(&self) -> String {
        self.line.clone()
    }

    fn reads_schemas(&self) -> bool {
        let verb = self.words.iter().flatten().find(|word| !word.starts_with('-'));
        verb.is_some_and(|verb| verb == "apply" || verb == "diff")
    }
}

#[cfg(test)]
mod tests {
    use super::namespace_set;

    #[test]
    fn lines_set_the_namespace() {
        for (line, want) in [
            ("kubectl config set-context --current --namespace=shop", Some("shop")),
            ("k create ns a && k config set-context --current --namespace a", Some("a")),
            ("kubectl config set-context --current", None),
            ("kubectl get pods -n set-context", None),
            ("echo set-context | grep x", None),
        ] {
            assert_eq!(namespace_set(line).as_deref(), want, "{line}");
        }
    }
}
