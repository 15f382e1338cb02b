//! Plays the steps of a lesson the way a person at the page would: a command at a time, then waiting.

use crate::{
    ask::ask,
    faults::fault,
    lines::{span, substituted},
    script::{ScriptAct, ScriptStep},
};
use kubestep_cluster::{Act, Record, World};
use kubestep_insight::{Gaps, Kind, idle, kind};
use kubestep_kubectl::Shell;
use kubestep_model::{Instant, client::Stream};
use regex_lite::Regex;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// The editor's files by name.
pub type Files = BTreeMap<String, String>;

/// A kubelet looks at its containers once a second: what was done last has been seen by everybody after that.
const RELIST: Duration = Duration::from_millis(1200);
/// The longest that a step waits for calm.
const HOUR: Duration = Duration::from_secs(3600);
/// The terminal of programs that a script starts beside kubectl.
const BESIDE: u32 = 1;
/// How long an `until` waits between two looks.
const UNTIL_POLL: Duration = Duration::from_secs(1);
/// So many inner steps of a command at once, at most, before it counts as waiting.
pub const COMMAND_STEPS: u32 = 20_000;
/// So many steps of the world in one step of a script, at most.
const MOST_STEPS: u32 = 2_000_000;

/// Something that a script does to the world, in a form that can be kept and done again.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// A kubectl line with the files beside it.
    Run {
        /// Which terminal; 0 is the page's own.
        terminal: u32,
        /// With `kubectl` before it, or a program beside it.
        line: String,
        /// The files.
        files: Files,
    },
    /// Any other step, as it is written.
    Step(String),
}

/// A world that is played on, with its gaps.
pub trait Stage {
    /// The world now.
    fn world(&self) -> &World;
    /// Its gaps.
    fn gaps(&self) -> &Gaps;
    /// Does something. A command runs until it ends or waits.
    fn act(&mut self, act: Act, deed: Deed);
    /// One step of the world; whether something was left to do, and whether it changed anything.
    fn advance(&mut self) -> Option<bool>;
    /// Lets the clock run to a moment before which nothing is due.
    fn idle_until(&mut self, at: Instant);
    /// A pause becomes a step of its own.
    fn mark(&mut self) {}
}

/// Plays one step of a script. Errors: what could not be done as written.
pub fn perform(stage: &mut dyn Stage, step: &ScriptStep, files: &mut Files) -> Result<(), String> {
    match &step.act {
        ScriptAct::Kubectl(lines) => {
            for line in lines {
                run_line(stage, line, files);
            }
            exits(stage, step.exit.unwrap_or(0))
        }
        ScriptAct::Program(line) => {
            run_program(stage, line.clone(), files, BESIDE);
            exits(stage, step.exit.unwrap_or(0))
        }
        ScriptAct::Wait(seconds) => {
            let end = stage.world().now() + span(*seconds);
            run_until(stage, end);
            Ok(())
        }
        ScriptAct::Settle(seconds) => {
            calm(stage);
            let end = stage.world().now() + span(*seconds);
            run_until(stage, end);
            Ok(())
        }
        ScriptAct::Await { question, within } => {
            let end = stage.world().now() + span(*within);
            if run_while(stage, end, &mut |s| !question.holds(s.world(), s.gaps())) {
                return Ok(());
            }
            Err(format!(
                "within {within}s it did not come true: {}",
                question.now(stage.world(), stage.gaps())
            ))
        }
        ScriptAct::Until { line, matches, within } => until(stage, line, matches, *within, files),
        ScriptAct::Edit { file, replace, with } => edit(files, file, replace, with),
        ScriptAct::Files(more) => {
            files.extend(more.clone());
            Ok(())
        }
        ScriptAct::Parallel(_) => Err("parallel steps belong to recordings, not to lessons".into()),
        act => {
            for (act, text) in acts(act) {
                stage.act(act, Deed::Step(text));
            }
            Ok(())
        }
    }
}

fn edit(files: &mut Files, file: &str, replace: &str, with: &str) -> Result<(), String> {
    match files.get_mut(file) {
        Some(text) if text.contains(replace) => {
            *text = text.replace(replace, with);
            Ok(())
        }
        Some(_) => Err(format!("{file} does not hold {replace:?}")),
        None => Err(format!("there is no file {file}")),
    }
}

/// The acts of a step that takes no time, each with the text it is kept as.
pub fn acts(act: &ScriptAct) -> Vec<(Act, String)> {
    let one = |act: Act, key: &str, text: &str| vec![(act, format!("{{\"{key}\": {text}}}"))];
    match act {
        ScriptAct::Images(images) => {
            let row = |(name, image): &(String, kubestep_cluster::Image)| {
                let text = format!("{{\"image\": {{{name:?}: {}}}}}", image_text(image));
                (Act::Image { name: name.clone(), image: Some(image.clone()) }, text)
            };
            images.iter().map(row).collect()
        }
        ScriptAct::Node { act, text } => one(Act::Node(act.clone()), "node", text),
        ScriptAct::Probe { pods, container, live, ready, started, text } => {
            let (pods, container) = (pods.clone().into(), container.clone());
            one(Act::Probe { pods, container, live: *live, ready: *ready, started: *started }, "probe", text)
        }
        ScriptAct::Exit { pods, container, code, oom, text } => {
            let (pods, container) = (pods.clone().into(), container.clone());
            one(Act::Exit { pods, container, code: *code, oom: *oom }, "exit", text)
        }
        ScriptAct::Load { load, text } => one(Act::Load(load.clone()), "load", text),
        ScriptAct::Fault { id, on } => {
            one(fault(id, *on), if *on { "fault" } else { "heal" }, &format!("{id:?}"))
        }
        ScriptAct::WhatIf(on) => one(Act::WhatIf { selector_check: !on }, "whatIf", &on.to_string()),
        _ => vec![],
    }
}

/// An image's row as a session writes it.
pub fn image_text(image: &kubestep_cluster::Image) -> String {
    let mut parts = vec![format!("\"pullSeconds\": {}", image.pull.as_secs_f64())];
    if let Some(code) = image.exit {
        parts.push(format!("\"exit\": {code}"));
    }
    if !image.after.is_zero() {
        parts.push(format!("\"afterSeconds\": {}", image.after.as_secs_f64()));
    }
    if let Some(stop) = image.stop {
        parts.push(format!("\"stopSeconds\": {}", stop.as_secs_f64()));
    }
    if !image.ready_after.is_zero() {
        parts.push(format!("\"readyAfterSeconds\": {}", image.ready_after.as_secs_f64()));
    }
    if let Some(after) = image.fails_after {
        parts.push(format!("\"failsAfterSeconds\": {}", after.as_secs_f64()));
    }
    for (key, bytes) in [("memoryMiB", image.memory), ("memoryGrowsMiBPerSecond", image.grows)] {
        if bytes > 0 {
            parts.push(format!("\"{key}\": {}", bytes as f64 / kubestep_cluster::MEBIBYTE));
        }
    }
    for (key, value) in [("ports", &image.ports), ("paths", &image.paths)] {
        if !value.is_null() {
            parts.push(format!("\"{key}\": {value}"));
        }
    }
    parts.push(format!("\"stopExit\": {}, \"sizeBytes\": {}", image.stop_exit, image.size_bytes));
    for (key, on) in [("denied", image.denied), ("ignoresTerm", image.ignores_term), ("oom", image.oom)] {
        if on {
            parts.push(format!("\"{key}\": true"));
        }
    }
    for (key, text) in [("startError", &image.start_error), ("logs", &image.logs)] {
        if !text.is_empty() {
            parts.push(format!("\"{key}\": {}", serde_json::Value::String(text.clone())));
        }
    }
    format!("{{{}}}", parts.join(", "))
}

fn run_line(stage: &mut dyn Stage, line: &str, files: &Files) {
    let line = format!("kubectl {}", substitute(stage.world(), line));
    run_program(stage, line, files, 0);
}

fn run_program(stage: &mut dyn Stage, line: String, files: &Files, terminal: u32) {
    let program = Arc::new(Shell::new(&line, Arc::new(files.clone()), "default"));
    let deed = Deed::Run { terminal, line, files: files.clone() };
    stage.act(Act::Run { terminal, program, exclusive: true }, deed);
}

/// `$(…)` in a line stands for the first word that another kubectl line prints.
fn substitute(world: &World, line: &str) -> String {
    substituted(line, &mut |inner| ask(world, &format!("kubectl {inner}"), Files::new()).text(Stream::Out))
}

/// Whether the last command ended as it is meant to; one that waits has not ended.
fn exits(stage: &dyn Stage, want: i32) -> Result<(), String> {
    let world = stage.world();
    let Some(client) = world.last_client().and_then(|id| world.client(id)) else { return Ok(()) };
    match client.ended {
        Some((code, _)) if code != want => {
            let said: String = client.output.iter().map(|c| c.text.as_str()).collect();
            Err(format!("{} ended with {code}, not {want}: {}", client.program.line(), said.trim()))
        }
        _ => Ok(()),
    }
}

fn until(stage: &mut dyn Stage, line: &str, matches: &str, within: f64, files: &Files) -> Result<(), String> {
    let end = stage.world().now() + span(within);
    let regex = Regex::new(matches).map_err(|e| format!("matches: {e}"))?;
    loop {
        let asked = ask(stage.world(), &format!("kubectl {line}"), files.clone());
        if regex.is_match(&format!("{}{}", asked.text(Stream::Out), asked.text(Stream::Err))) {
            return Ok(());
        }
        if stage.world().now() >= end {
            return Err(format!("{matches:?} did not match within {within}s"));
        }
        let next = stage.world().now() + UNTIL_POLL;
        run_until(stage, next);
    }
}

/// Lets the world run to a moment.
pub fn run_until(stage: &mut dyn Stage, end: Instant) {
    run_while(stage, end, &mut |_| true);
}

/// Runs on as long as something is so, and no longer than to a moment; answers whether it ceased to be so.
pub fn run_while(stage: &mut dyn Stage, end: Instant, so: &mut dyn FnMut(&dyn Stage) -> bool) -> bool {
    if !so(stage) {
        return true;
    }
    for _ in 0..MOST_STEPS {
        if stage.world().next().is_none_or(|(due, _)| due > end && !stage.world().is_exclusive()) {
            break;
        }
        let Some(changed) = stage.advance() else { break };
        if changed && !so(stage) {
            stage.mark();
            return true;
        }
    }
    stage.idle_until(end);
    stage.mark();
    !so(stage)
}

/// Runs until nothing is under way, as the page's "until calm" does.
pub fn calm(stage: &mut dyn Stage) {
    let begun = stage.world().now();
    let noticed = begun + RELIST;
    run_while(stage, begun + HOUR, &mut |s| match kind(s.world(), s.gaps()) {
        Kind::Converged => !idle(s.world()) || s.world().now() < noticed,
        Kind::Stalled => !idle(s.world()),
        Kind::Converging => true,
    });
}

/// A stage without a page: a world, its gaps, and somebody who looks on.
pub struct Bare<'s> {
    /// The world.
    pub world: World,
    /// Its gaps.
    pub gaps: Gaps,
    /// Called after every step that changed something, and at the end of every pause.
    pub sees: &'s mut dyn FnMut(&World, &Gaps, Option<&Record>),
}

impl Bare<'_> {
    fn follow(&mut self, record: &Record) {
        self.gaps.follow(&self.world, &record.changes);
        if record.visible() {
            (self.sees)(&self.world, &self.gaps, Some(record));
        }
    }
}

impl Stage for Bare<'_> {
    fn world(&self) -> &World {
        &self.world
    }
    fn gaps(&self) -> &Gaps {
        &self.gaps
    }
    fn act(&mut self, act: Act, deed: Deed) {
        let record = self.world.act(act);
        self.follow(&record);
        if matches!(deed, Deed::Run { .. }) {
            for _ in 0..COMMAND_STEPS {
                if !self.world.is_exclusive() || self.advance().is_none() {
                    break;
                }
            }
        }
    }
    fn advance(&mut self) -> Option<bool> {
        let (_, step) = self.world.next()?;
        let record = self.world.advance(&step);
        self.follow(&record);
        Some(record.visible() || matters(&record))
    }
    fn idle_until(&mut self, at: Instant) {
        self.world.idle_until(at);
        (self.sees)(&self.world, &self.gaps, None);
    }
}

/// Whether something may have come to its end in a step that people do not see.
pub fn matters(record: &Record) -> bool {
    use kubestep_cluster::What;
    matches!(
        record.what,
        What::Thought { ended: Some(_), .. }
            | What::ByClock { .. }
            | What::Delivered { .. }
            | What::Client { .. }
    )
}
