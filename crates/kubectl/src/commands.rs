//! kubectl's commands, one module each.

mod annotate;
mod applied;
mod apply;
mod auth;
mod autoscale;
mod certificate;
mod common;
mod config;
mod cordon;
mod create;
mod delete;
mod describe;
mod diff;
mod drain;
mod edit;
mod events;
mod exec;
mod explain;
mod explain_defined;
mod expose;
mod get;
mod help;
mod info;
mod kustomize;
mod label;
mod logs;
mod mistakes;
mod part;
mod patch;
mod prune;
mod raw;
mod replace;
pub(crate) mod rollout;
mod run;
mod scale;
mod server_side;
mod set;
mod taint;
mod top;
mod wait;

pub use edit::saves;
use kubestep_model::User;
pub(crate) use set::fits;

use crate::{
    args::{Args, Flag},
    kc::{Flow, Kc, Stop},
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
    /// Other names under which it is known.
    aliases: &'static [&'static str],
    does: Does,
}

impl Entry {
    /// Whether a word names it.
    fn is(&self, word: &str) -> bool {
        self.name == word || self.aliases.contains(&word)
    }
}

#[derive(Clone, Copy)]
enum Does {
    Run(&'static [Flag], Run),
    Group(&'static [Entry]),
    /// A command that also has commands below it.
    Both(&'static [Flag], Run, &'static [Entry]),
    /// Known, but not done here.
    Nothing,
}

const fn done(name: &'static str, about: &'static str, flags: &'static [Flag], run: Run) -> Entry {
    Entry { name, about, also: &[], aliases: &[], does: Does::Run(flags, run) }
}

const fn group(name: &'static str, about: &'static str, entries: &'static [Entry]) -> Entry {
    Entry { name, about, also: &[], aliases: &[], does: Does::Group(entries) }
}

const fn not_done(name: &'static str) -> Entry {
    Entry { name, about: "", also: &[], aliases: &[], does: Does::Nothing }
}

const fn both(
    name: &'static str,
    about: &'static str,
    flags: &'static [Flag],
    run: Run,
    entries: &'static [Entry],
) -> Entry {
    Entry { name, about, also: &[], aliases: &[], does: Does::Both(flags, run, entries) }
}

const fn aliases(entry: Entry, aliases: &'static [&'static str]) -> Entry {
    Entry { aliases, ..entry }
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
    done("subject", "Adds subjects to bindings of roles", set::subject::FLAGS, set::subject::run),
    aliases(
        done("serviceaccount", "Changes the service account of pods", set::account::FLAGS, set::account::run),
        &["sa"],
    ),
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

const AUTH: &[Entry] = &[
    done("can-i", "Says whether something is allowed", auth::CAN_I, auth::can_i),
    not_done("reconcile"),
    done("whoami", "Says who asks", auth::WHO_AM_I, auth::who_am_i),
];

const TOP: &[Entry] = &[
    aliases(done("node", "Shows what nodes use", top::FLAGS, top::nodes), &["nodes", "no"]),
    aliases(done("pod", "Shows what pods use", top::FLAGS, top::pods), &["pods", "po"]),
];

const CERTIFICATE: &[Entry] = &[
    done("approve", "Approves a request for a certificate", certificate::FLAGS, certificate::approve),
    done("deny", "Denies a request for a certificate", certificate::FLAGS, certificate::deny),
];

const CLUSTER_INFO: &[Entry] = &[not_done("dump")];

const CONFIG: &[Entry] = &[
    done("view", "Shows the settings", config::VIEW, config::view),
    not_done("set-cluster"),
    not_done("set-credentials"),
    done("set-context", "Changes the namespace of the context", config::SET_CONTEXT, config::set_context),
    not_done("set"),
    not_done("unset"),
    done("current-context", "Names the context in use", config::NONE, config::current),
    aliases(done("use-context", "Changes the context in use", config::NONE, config::use_context), &["use"]),
    done("get-contexts", "Lists the contexts", config::CONTEXTS, config::contexts),
    done("get-clusters", "Lists the clusters", config::NONE, config::clusters),
    done("get-users", "Lists the users", config::NONE, config::users),
    not_done("rename-context"),
    not_done("delete-cluster"),
    not_done("delete-context"),
    not_done("delete-user"),
];

const APPLY: &[Entry] = &[
    done(
        "edit-last-applied",
        "Opens what was applied last in the editor; Apply there saves it",
        applied::EDIT,
        applied::edit_applied,
    ),
    done("set-last-applied", "Writes down a file as applied last", applied::SET, applied::set),
    done("view-last-applied", "Shows what was applied last", applied::FLAGS, applied::view),
];

/// All of kubectl's commands, in the order in which it knows them.
pub(crate) const COMMANDS: &[Entry] = &[
    both(
        "create",
        "Creates what files say, or one object from flags",
        create::FLAGS,
        create::run,
        create::GENERATORS,
    ),
    done("expose", "Makes a service for an object", expose::FLAGS, expose::run),
    done("run", "Starts one pod", run::FLAGS, run::run),
    group("set", "Changes one aspect of objects", SET),
    done("explain", "Lists the fields of a kind", explain::FLAGS, explain::run),
    also(done("get", "Shows one or many objects", get::FLAGS, get::run), &["list", "ls"]),
    done("edit", "Opens an object in the editor; Apply there saves it", edit::FLAGS, edit::run),
    also(done("delete", "Deletes objects", delete::FLAGS, delete::run), &["rm", "remove"]),
    group("rollout", "Looks after rollouts", ROLLOUT),
    done("scale", "Changes the number of replicas", scale::FLAGS, scale::run),
    done("autoscale", "Makes an autoscaler for an object", autoscale::FLAGS, autoscale::run),
    group("certificate", "Decides requests for certificates", CERTIFICATE),
    both("cluster-info", "Says where the control plane is", info::CLUSTER_FLAGS, info::cluster, CLUSTER_INFO),
    also(group("top", "Shows what is used, where metrics are served", TOP), &["stats"]),
    done("cordon", "Keeps new pods from a node", cordon::FLAGS, cordon::cordon),
    done("uncordon", "Lets new pods on a node again", cordon::FLAGS, cordon::uncordon),
    done("drain", "Empties a node", drain::FLAGS, drain::run),
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
    group("auth", "Asks about rights", AUTH),
    not_done("debug"),
    done("events", "Lists events", events::FLAGS, events::run),
    done("diff", "Shows what apply would change", diff::FLAGS, diff::run),
    both("apply", "Makes objects as files say", apply::FLAGS, apply::run, APPLY),
    done("patch", "Changes fields of objects", patch::FLAGS, patch::run),
    done("replace", "Puts what files say in the place of objects", replace::FLAGS, replace::run),
    done("wait", "Waits until something is so", wait::FLAGS, wait::run),
    done(
        "kustomize",
        "Shows the objects that a folder's kustomization makes",
        kustomize::FLAGS,
        kustomize::run,
    ),
    done("label", "Changes the labels of objects", label::FLAGS, label::run),
    done("annotate", "Changes the annotations of objects", annotate::FLAGS, annotate::run),
    not_done("completion"),
    not_done("alpha"),
    done("api-resources", "Lists the kinds of the API", info::RESOURCES_FLAGS, info::resources),
    done("api-versions", "Lists the versions of the API", info::VERSIONS_FLAGS, info::versions),
    group("config", "Changes the settings of kubectl", CONFIG),
    not_done("kuberc"),
    not_done("plugin"),
    done("version", "Says which versions these are", info::VERSION_FLAGS, info::version),
    done("options", "Lists the flags that every command has", info::OPTIONS_FLAGS, info::options),
];

/// What may come next on a line: names of commands, or a command's flags with whether a value follows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Following {
    /// The names of the commands of a group.
    Commands(Vec<&'static str>),
    /// The command that the words name, as `rollout status`, and its flags.
    Command(String, Vec<(&'static str, bool)>),
}

/// What `kubectl create` makes from flags alone.
#[must_use]
pub fn makes() -> Vec<&'static str> {
    create::GENERATORS.iter().filter(|e| !matches!(e.does, Does::Nothing)).map(|e| e.name).collect()
}

/// What may follow the words of a line after `kubectl`; none if they name no command that is done here.
#[must_use]
pub fn following(words: &[&str]) -> Option<Following> {
    let (mut entries, mut path) = (COMMANDS, Vec::new());
    for word in words.iter().filter(|w| !w.starts_with('-')) {
        let entry = entries.iter().find(|e| e.is(word))?;
        path.push(entry.name);
        match entry.does {
            Does::Nothing => return None,
            Does::Group(inner) => entries = inner,
            Does::Both(flags, _, inner) => {
                if !words.iter().skip_while(|w| !entry.is(w)).skip(1).any(|w| inner.iter().any(|e| e.is(w))) {
                    return Some(Following::Command(path.join(" "), crate::args::done(flags)));
                }
                entries = inner;
            }
            Does::Run(flags, _) => return Some(Following::Command(path.join(" "), crate::args::done(flags))),
        }
    }
    let known = entries.iter().filter(|e| !matches!(e.does, Does::Nothing));
    Some(Following::Commands(known.map(|e| e.name).collect()))
}

/// Whether a word is the name of a command.
pub(crate) fn is_command(word: &str) -> bool {
    COMMANDS.iter().any(|e| e.is(word))
}

pub(crate) use help::distance;

/// The command that a word was meant to be that is none.
pub(crate) fn nearest(word: &str) -> Option<&'static str> {
    help::nearest(COMMANDS, word)
}

/// Runs the command that the words of a line name.
pub(crate) fn start(kc: &mut Kc<'_>, words: &[String]) -> Flow<i32> {
    let (name, rest) = first(words);
    let Some(name) = name else {
        Args::read(kc, "kubectl", &[], words)?;
        help::top(kc, COMMANDS, true);
        return Ok(0);
    };
    if let Some(flag) = before_plugin(words) {
        kc.err(format!("Error: flags cannot be placed before plugin name: {flag}\n"));
        return Err(Stop::Exit(1));
    }
    match COMMANDS.iter().find(|entry| entry.is(&name)) {
        Some(entry) => enter(kc, entry, &format!("kubectl {name}"), &rest),
        None if name == "help" => help_on(kc, &rest),
        None => Err(help::unknown(kc, COMMANDS, &name)),
    }
}

/// A flag that is not known, where what is left without its value may be the name of a plugin.
/// Upstream: github.com/spf13/cobra, stripFlags; kubectl/pkg/cmd, HandlePluginCommand
fn before_plugin(words: &[String]) -> Option<&str> {
    let flag = words.first()?;
    let name = flag.strip_prefix("--").filter(|n| !n.is_empty() && !n.contains('='))?;
    if crate::args::global().iter().any(|known| known.long == name) {
        return None;
    }
    let (command, _) = first(words.get(2..)?);
    command.is_some_and(|c| !is_command(&c) && c != "help").then_some(flag)
}

/// `kubectl help` tells of all commands, `kubectl help COMMAND` as much as `kubectl COMMAND --help`.
/// Upstream: github.com/spf13/cobra, Command.InitDefaultHelpCmd
fn help_on(kc: &mut Kc<'_>, words: &[String]) -> Flow<i32> {
    let (name, mut rest) = first(words);
    let Some(name) = name else {
        help::top(kc, COMMANDS, true);
        return Ok(0);
    };
    let Some(entry) = COMMANDS.iter().find(|entry| entry.is(&name)) else {
        let topic: Vec<&str> = words.iter().map(String::as_str).filter(|w| !w.starts_with('-')).collect();
        kc.err(format!("Unknown help topic [`{}`]\n", topic.join("` `")));
        help::top(kc, COMMANDS, false);
        return Ok(0);
    };
    rest.retain(|w| w != "--help" && w != "-h");
    rest.push("--help".into());
    enter(kc, entry, &format!("kubectl {}", entry.name), &rest)
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
            let known = name.as_ref().is_some_and(|name| entries.iter().any(|e| e.is(name)));
            let read = if known { Args::default() } else { Args::read(kc, path, &[], words)? };
            let Some(name) = name else {
                let asked = words.iter().any(|w| w == "-h" || w == "--help");
                let helps = asked || path == "kubectl certificate";
                help::group(kc, path, entry, entries, helps || path == "kubectl rollout");
                return Ok(i32::from(!helps));
            };
            match entries.iter().find(|e| e.is(&name)) {
                Some(entry) => enter(kc, entry, &format!("{path} {}", entry.name), &rest),
                // It tells of itself, whatever follows.
                None if path == "kubectl certificate" => {
                    help::group(kc, path, entry, entries, true);
                    Ok(0)
                }
                None => Err(kc.usage(path, &format!("unknown command \"{}\"", read.words.join(" ")))),
            }
        }
        Does::Both(flags, run, entries) => {
            let (name, rest) = first(words);
            match name.and_then(|name| entries.iter().find(|e| e.is(&name))) {
                Some(inner) => enter(kc, inner, &format!("{path} {}", inner.name), &rest),
                None => act(kc, entry, path, words, flags, run),
            }
        }
        Does::Run(flags, run) => act(kc, entry, path, words, flags, run),
    }
}

/// From this level of `-v` on kubectl tells of each request. Upstream: client-go/transport, DebugWrappers.
const REQUESTS: i64 = 6;

/// Reads the flags of a command and runs it.
fn act(
    kc: &mut Kc<'_>,
    entry: &Entry,
    path: &str,
    words: &[String],
    flags: &'static [Flag],
    run: Run,
) -> Flow<i32> {
    let args = Args::read(kc, path, flags, words)?;
    if args.on("help") {
        help::command(kc, path, entry, flags);
        return Ok(0);
    }
    if let Some(level) = args.int("v").filter(|level| *level >= REQUESTS) {
        return Err(kc.not_done(&format!("-v={level}")));
    }
    if let Some(why) = settings(&args) {
        kc.err(why);
        return Err(Stop::Exit(1));
    }
    if let Some(namespace) = args.text("namespace").filter(|n| !n.is_empty()) {
        kc.namespace = namespace.into();
        kc.namespace_given = true;
    }
    let groups = args.all("as-group").to_vec();
    match args.text("as").filter(|name| !name.is_empty()) {
        Some(name) => kc.user = Some(std::sync::Arc::new(User { name: name.into(), groups })),
        None if !groups.is_empty() => {
            return Err(kc.fail("requesting uid, groups or user-extra without impersonating a user"));
        }
        None => {}
    }
    if args.has("record") {
        kc.err("Flag --record has been deprecated, --record will be removed in the future\n");
    }
    kc.change_cause = args.on("record").then(|| cause(&args));
    kc.field_manager = args.text("field-manager").map(Into::into).or_else(|| manager_of(path));
    mistakes::look(kc, path.strip_prefix("kubectl ").unwrap_or(path), &args)?;
    let code = run(kc, &args)?;
    match kc.warnings() {
        0 => Ok(code),
        _ if code != 0 || !args.on("warnings-as-errors") => Ok(code),
        1 => Err(kc.fail("1 warning received")),
        many => Err(kc.fail(format!("{many} warnings received"))),
    }
}

/// What is wrong with where and how the server is to be reached: there is one context, and no file that names others.
/// Upstream: client-go/tools/clientcmd, ConfirmUsable and ParseTimeout.
fn settings(args: &Args) -> Option<String> {
    const TIMEOUT: &str = "error: Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)\n";
    let file = args.text("kubeconfig").filter(|f| !f.is_empty());
    let context = args.text("context").filter(|c| !c.is_empty() && *c != config::CONTEXT);
    let timeout = args.text("request-timeout").filter(|t| !t.is_empty());
    let counts =
        |text: &str| text.parse::<i64>().is_ok() || kubestep_model::text::duration::parse(text).is_ok();
    match (file, context, timeout) {
        (Some(file), ..) => Some(format!("error: stat {file}: no such file or directory\n")),
        (_, Some(name), _) => {
            Some(format!("Error in configuration: context was not found for specified context: {name}\n"))
        }
        (.., Some(text)) if !counts(text) => Some(TIMEOUT.to_owned()),
        _ => None,
    }
}

/// The line of a command as `--record` writes it down. Upstream: genericclioptions, parseCommandArguments.
fn cause(args: &Args) -> String {
    let words = std::iter::once(args.path.as_str()).chain(args.words.iter().map(String::as_str));
    let flags = args.order.iter().map(|(name, value)| format!(" --{name}={value}"));
    words.collect::<Vec<_>>().join(" ") + &flags.collect::<String>()
}

/// The name under which a command's writes own what they set.
fn manager_of(path: &str) -> Option<std::sync::Arc<str>> {
    match path.split(' ').nth(1)? {
        "apply" | "diff" => Some("kubectl-client-side-apply".into()),
        "scale" => None,
        command => Some(format!("kubectl-{command}").into()),
    }
}
