//! kubectl's commands, one module each.

mod annotate;
mod apply;
mod common;
mod cordon;
mod create;
mod delete;
mod describe;
mod exec;
mod get;
mod help;
mod label;
mod logs;
mod patch;
mod replace;
pub(crate) mod rollout;
mod run;
mod scale;
mod set;
mod taint;
mod wait;

use crate::{
    args::{Args, Flag},
    kc::{Flow, Kc},
};

type Run = fn(&mut Kc<'_>, &Args) -> Flow<i32>;

/// A command or a group of commands.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    name: &'static str,
    /// One line that says what it is for.
    about: &'static str,
    /// Other words that lead to it in `Did you mean this?`.
    also: &'static [&'static str],
    does: Does,
}

#[derive(Clone, Copy)]
enum Does {
    Run(&'static [Flag], Run),
    Group(&'static [Entry]),
    /// Known, but not done here.
    Nothing,
}

const fn done(name: &'static str, about: &'static str, flags: &'static [Flag], run: Run) -> Entry {
    Entry { name, about, also: &[], does: Does::Run(flags, run) }
}

const fn group(name: &'static str, about: &'static str, entries: &'static [Entry]) -> Entry {
    Entry { name, about, also: &[], does: Does::Group(entries) }
}

const fn not_done(name: &'static str) -> Entry {
    Entry { name, about: "", also: &[], does: Does::Nothing }
}

const fn also(entry: Entry, also: &'static [&'static str]) -> Entry {
    Entry { also, ..entry }
}

const SET: &[Entry] = &[
    done("image", "Changes the image of containers", set::image::FLAGS, set::image::run),
    done(
        "resources",
        "Changes what containers ask for and may use",
        set::resources::FLAGS,
        set::resources::run,
    ),
    done("selector", "Changes the selector of a service", set::selector::FLAGS, set::selector::run),
    not_done("subject"),
    not_done("serviceaccount"),
    done("env", "Changes the environment of containers", set::env::FLAGS, set::env::run),
];

const ROLLOUT: &[Entry] = &[
    done("history", "Shows the revisions of a rollout", rollout::history::FLAGS, rollout::history::run),
    done("pause", "Stops a rollout where it is", rollout::pause::FLAGS, rollout::pause::pause),
    done("resume", "Lets a paused rollout go on", rollout::pause::FLAGS, rollout::pause::resume),
    done("undo", "Goes back to an earlier revision", rollout::undo::FLAGS, rollout::undo::run),
    done(
        "status",
        "Says where a rollout stands until it is done",
        rollout::status::FLAGS,
        rollout::status::run,
    ),
    done("restart", "Replaces all pods of a rollout", rollout::restart::FLAGS, rollout::restart::run),
];

/// All of kubectl's commands, in the order in which it knows them.
pub(crate) const COMMANDS: &[Entry] = &[
    done("create", "Creates what files say", create::FLAGS, create::run),
    not_done("expose"),
    done("run", "Starts one pod", run::FLAGS, run::run),
    group("set", "Changes one aspect of objects", SET),
    not_done("explain"),
    also(done("get", "Shows one or many objects", get::FLAGS, get::run), &["list", "ls"]),
    not_done("edit"),
    also(done("delete", "Deletes objects", delete::FLAGS, delete::run), &["rm", "remove"]),
    group("rollout", "Looks after rollouts", ROLLOUT),
    done("scale", "Changes the number of replicas", scale::FLAGS, scale::run),
    not_done("autoscale"),
    not_done("certificate"),
    not_done("cluster-info"),
    also(not_done("top"), &["stats"]),
    done("cordon", "Keeps new pods from a node", cordon::FLAGS, cordon::cordon),
    done("uncordon", "Lets new pods on a node again", cordon::FLAGS, cordon::uncordon),
    not_done("drain"),
    done("taint", "Changes the taints of nodes", taint::FLAGS, taint::run),
    also(
        done("describe", "Tells all about objects, their events too", describe::FLAGS, describe::run),
        &["inspect"],
    ),
    done("logs", "Shows what containers printed", logs::FLAGS, logs::run),
    not_done("attach"),
    done("exec", "Runs a command in a container", exec::FLAGS, exec::run),
    not_done("port-forward"),
    not_done("proxy"),
    not_done("cp"),
    not_done("auth"),
    not_done("debug"),
    not_done("events"),
    not_done("diff"),
    done("apply", "Makes objects as files say", apply::FLAGS, apply::run),
    done("patch", "Changes fields of objects", patch::FLAGS, patch::run),
    done("replace", "Puts what files say in the place of objects", replace::FLAGS, replace::run),
    done("wait", "Waits until something is so", wait::FLAGS, wait::run),
    not_done("kustomize"),
    done("label", "Changes the labels of objects", label::FLAGS, label::run),
    done("annotate", "Changes the annotations of objects", annotate::FLAGS, annotate::run),
    not_done("completion"),
    not_done("alpha"),
    not_done("api-resources"),
    not_done("api-versions"),
    not_done("config"),
    not_done("plugin"),
    not_done("version"),
    not_done("options"),
];

/// What may come next on a line: names of commands, or a command's flags with whether a value follows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Following {
    /// The names of the commands of a group.
    Commands(Vec<&'static str>),
    /// The command that the words name, as `rollout status`, and its flags.
    Command(String, Vec<(&'static str, bool)>),
}

/// What may follow the words of a line after `kubectl`; none if they name no command that is done here.
#[must_use]
pub fn following(words: &[&str]) -> Option<Following> {
    let (mut entries, mut path) = (COMMANDS, Vec::new());
    for word in words.iter().filter(|w| !w.starts_with('-')) {
        let entry = entries.iter().find(|e| e.name == *word)?;
        path.push(entry.name);
        match entry.does {
            Does::Nothing => return None,
            Does::Group(inner) => entries = inner,
            Does::Run(flags, _) => return Some(Following::Command(path.join(" "), crate::args::done(flags))),
        }
    }
    let known = entries.iter().filter(|e| !matches!(e.does, Does::Nothing));
    Some(Following::Commands(known.map(|e| e.name).collect()))
}

/// Runs the command that the words of a line name.
pub(crate) fn start(kc: &mut Kc<'_>, words: &[String]) -> Flow<i32> {
    let (name, rest) = first(words);
    let Some(name) = name else {
        help::top(kc, COMMANDS);
        return Ok(0);
    };
    match COMMANDS.iter().find(|entry| entry.name == name) {
        Some(entry) => enter(kc, entry, &format!("kubectl {name}"), &rest),
        None => Err(help::unknown(kc, COMMANDS, &name)),
    }
}

/// The first word that is no flag and not the value of `-n`, and all others.
fn first(words: &[String]) -> (Option<String>, Vec<String>) {
    let takes_value =
        |word: &str| matches!(word, "-n" | "--namespace" | "-v" | "--v" | "-s" | "--server" | "--context");
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|w| w.starts_with('-')) {
        at += if takes_value(word) { 2 } else { 1 };
    }
    let rest =
        words.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, word)| word.clone()).collect();
    (words.get(at).cloned(), rest)
}

fn enter(kc: &mut Kc<'_>, entry: &Entry, path: &str, words: &[String]) -> Flow<i32> {
    match entry.does {
        Does::Nothing => Err(kc.not_done(path)),
        Does::Group(entries) => {
            let (name, rest) = first(words);
            let Some(name) = name else {
                let asked = words.iter().any(|w| w == "-h" || w == "--help");
                help::group(kc, path, entry, entries, asked);
                return Ok(i32::from(!asked));
            };
            match entries.iter().find(|e| e.name == name) {
                Some(entry) => enter(kc, entry, &format!("{path} {name}"), &rest),
                None => Err(kc.usage(
                    path,
                    &format!(
                        "unknown command \"{}\"",
                        std::iter::once(name).chain(rest).collect::<Vec<_>>().join(" ")
                    ),
                )),
            }
        }
        Does::Run(flags, run) => {
            if entry.name == "create"
                && let (Some(name), _) = first(words)
                && create::is_generator(&name)
            {
                return Err(kc.not_done(&format!("{path} {name}")));
            }
            let args = Args::read(kc, path, flags, words)?;
            if args.on("help") {
                help::command(kc, path, entry, flags);
                return Ok(0);
            }
            if let Some(namespace) = args.text("namespace").filter(|n| !n.is_empty()) {
                kc.namespace = namespace.into();
                kc.namespace_given = true;
            }
            run(kc, &args)
        }
    }
}
