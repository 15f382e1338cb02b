//! Plays a session script in a world, with or without the pace of a recording.

use crate::lines::{span, substituted};
use crate::pace::{Done, Pace};
use crate::script::{Script, ScriptAct, ScriptStep};
use crate::stage::acts;
use kubestep_cluster::{Act, ClientId, Latencies, NodeAct, Record, Settings, Start, Step, World};
use kubestep_insight::Gaps;
use kubestep_kubectl::{Kubectl, Shell};
use kubestep_model::{Instant, Kind, Node, client::Stream};
use regex_lite::Regex;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// How long an `until` waits between two looks.
const UNTIL_POLL: Duration = Duration::from_millis(700);
/// How often a `settle` looks.
const SETTLE_POLL: Duration = Duration::from_millis(100);
/// So long after each other lines that run at the same time begin.
const APART: Duration = Duration::from_millis(40);
/// The longest that a `settle`, or one command, may take.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// Sees every step of the world while a script is played.
pub trait Observer {
    /// Makes a step: as the world does it, unless something else is known of what it draws.
    fn make(&mut self, world: &mut World, step: &Step) -> Record {
        world.advance(step)
    }
    /// After each step.
    fn see(&mut self, world: &World, record: &Record);
    /// When an object last changed (events, leases and heartbeats do not count).
    fn last_change(&self) -> Instant;
}

/// Plays a script.
#[derive(Debug)]
pub struct Player<'a, O> {
    /// The world.
    pub world: World,
    /// When the script began.
    pub base: Instant,
    /// Who watches.
    pub observer: O,
    /// How the recording went, if the pace is given.
    pub pace: Option<&'a Pace>,
    /// What became of the steps.
    pub done: Vec<Done>,
    files: Arc<BTreeMap<String, String>>,
    /// Steps that could not be done as written.
    pub failed: Vec<String>,
}

/// The start that a script asks for.
pub fn start_of(script: &Script, seed: u64) -> Start {
    Start {
        nodes: script.nodes.clone(),
        registry: script.registry.clone(),
        seed,
        latencies: Latencies::default(),
        settings: Settings { selector_check: true },
    }
}

/// A line of steps of a script that goes on by itself.
struct Strand<'s> {
    steps: &'s [ScriptStep],
    /// Which step, and which line of a `show`.
    at: (usize, usize),
    state: State,
    number: Option<usize>,
}

enum State {
    Ready,
    Running {
        client: ClientId,
        begun: Instant,
        line: String,
    },
    /// Between two looks of an `until`, or at the end of a wait.
    Sleeping {
        until: Instant,
        begun: Instant,
    },
    Polling {
        client: ClientId,
        begun: Instant,
        line: String,
    },
    Over,
}

impl<'a, O: Observer> Player<'a, O> {
    /// A player at the script's beginning.
    pub fn new(script: &Script, seed: u64, observer: O, pace: Option<&'a Pace>) -> Self {
        let start = start_of(script, seed);
        let first = pace.and_then(|p| p.first);
        let world = first.map_or_else(|| World::boot(&start), |first| World::boot_at(&start, first));
        let base = world.now();
        Player {
            world,
            base,
            observer,
            pace,
            done: vec![],
            files: Arc::new(script.files.clone()),
            failed: vec![],
        }
    }

    /// Plays all steps, then a second more, so that the last events arrive.
    pub fn play(&mut self, script: &Script) {
        self.go_on(&script.steps);
        self.run_until(self.world.now() + Duration::from_secs(1));
    }

    /// Plays some steps, and nothing after them.
    pub fn go_on(&mut self, steps: &[ScriptStep]) {
        let mut strand = Strand { steps, at: (0, 0), state: State::Ready, number: None };
        self.run_strands(std::slice::from_mut(&mut strand));
    }

    fn since_base(&self, at: Instant) -> Duration {
        at.since(self.base)
    }

    /// One step of the world.
    fn advance(&mut self) -> bool {
        let Some((_, step)) = self.world.next() else { return false };
        let record = self.observer.make(&mut self.world, &step);
        self.observer.see(&self.world, &record);
        true
    }

    fn run_until(&mut self, end: Instant) {
        while self.world.next().is_some_and(|(at, _)| at <= end) && self.advance() {}
        self.world.idle_until(end);
    }

    fn act(&mut self, act: Act) {
        let record = self.world.act(act);
        self.observer.see(&self.world, &record);
    }

    /// Lets several lines of steps go on together until all are over.
    fn run_strands(&mut self, strands: &mut [Strand<'_>]) {
        loop {
            for strand in strands.iter_mut() {
                while self.poll(strand) {}
            }
            let waits = strands
                .iter()
                .filter_map(|s| if let State::Sleeping { until, .. } = s.state { Some(until) } else { None })
                .min();
            if strands.iter().all(|s| matches!(s.state, State::Over)) {
                return;
            }
            match (self.world.next(), waits) {
                (Some((due, _)), Some(until)) if due > until => self.world.idle_until(until),
                (Some(_), _) => drop(self.advance()),
                (None, Some(until)) => self.world.idle_until(until),
                (None, None) => return,
            }
        }
    }

    /// Moves a strand on if it can; answers whether it did.
    fn poll(&mut self, strand: &mut Strand<'_>) -> bool {
        let Some(step) = strand.steps.get(strand.at.0) else {
            strand.state = State::Over;
            return false;
        };
        match std::mem::replace(&mut strand.state, State::Over) {
            State::Over => false,
            State::Ready => self.begin(strand, step),
            State::Sleeping { until, begun } if until <= self.world.now() => self.woken(strand, step, begun),
            State::Running { client, begun, line } if self.ended(client) => {
                let output = self.output(client);
                self.finish(strand, step, begun, format!("kubectl {line}"), output, None);
                true
            }
            State::Polling { client, begun, line } if self.ended(client) => {
                self.looked(strand, step, client, begun, line)
            }
            waiting => {
                strand.state = waiting;
                false
            }
        }
    }

    fn ended(&self, client: ClientId) -> bool {
        self.world
            .client(client)
            .is_none_or(|c| c.ended.is_some() || self.world.now().since(c.started) > LIMIT)
    }

    fn output(&self, client: ClientId) -> Option<(i32, String, String)> {
        let client = self.world.client(client)?;
        let text = |stream| {
            client.output.iter().filter(|c| c.stream == stream).map(|c| c.text.as_str()).collect::<String>()
        };
        Some((client.ended.map_or(-1, |e| e.0), text(Stream::Out), text(Stream::Err)))
    }

    /// When the next recorded line may begin: now, or when it began in the recording.
    fn paced(&self) -> Instant {
        let at = self.pace.and_then(|p| p.lines.get(self.done.len())).map(|line| self.base + line.at);
        at.map_or(self.world.now(), |at| at.max(self.world.now()))
    }

    /// How much later each of several lines begins that run at the same time: so that they end in the recording's order.
    /// Without one the last begins first, as in the recorder, where each line is a goroutine; and a command takes some
    /// time to get under way.
    fn delays<'s>(&self, lines: &'s [Vec<ScriptStep>]) -> Vec<(&'s [ScriptStep], Duration)> {
        let recorded = self.pace.and_then(|p| p.lines.get(self.done.len()..)).unwrap_or_default();
        let recorded = recorded.get(..lines.len()).unwrap_or_default();
        let end = |steps: &[ScriptStep]| {
            let Some(ScriptAct::Kubectl(said)) = steps.first().map(|s| &s.act) else { return None };
            let line = said.first()?.trim();
            let found = recorded.iter().find(|r| r.command.trim_start_matches("kubectl ").trim() == line)?;
            Some(found.at + found.took)
        };
        let ends: Option<Vec<Duration>> = lines.iter().map(|steps| end(steps)).collect();
        let different = |ends: &Vec<Duration>| {
            ends.iter().enumerate().all(|(i, end)| ends.iter().skip(i + 1).all(|other| other != end))
        };
        let each = lines.iter().map(Vec::as_slice);
        match ends.filter(different) {
            Some(ends) => {
                let first = ends.iter().min().copied().unwrap_or_default();
                each.zip(ends.iter().map(|end| end.saturating_sub(first))).collect()
            }
            None => each.rev().zip((0..).map(|i| APART * i)).collect(),
        }
    }

    fn begin(&mut self, strand: &mut Strand<'_>, step: &ScriptStep) -> bool {
        let at = self.paced();
        if at > self.world.now() {
            strand.state = State::Sleeping { until: at, begun: Instant::NEVER };
            return false;
        }
        self.start(strand, step)
    }

    /// Starts a step at this very moment.
    fn start(&mut self, strand: &mut Strand<'_>, step: &ScriptStep) -> bool {
        let now = self.world.now();
        match &step.act {
            ScriptAct::Kubectl(lines) => match lines.get(strand.at.1) {
                Some(line) => {
                    let line = self.substitute(line);
                    let client = self.run(&line);
                    strand.state = State::Running { client, begun: now, line };
                    true
                }
                None => {
                    strand.at = (strand.at.0 + 1, 0);
                    strand.state = State::Ready;
                    true
                }
            },
            ScriptAct::Until { line, .. } => {
                let line = self.substitute(line);
                let client = self.run(&line);
                strand.state = State::Polling { client, begun: now, line };
                true
            }
            ScriptAct::Wait(seconds) => {
                strand.state = State::Sleeping { until: now + span(*seconds), begun: now };
                false
            }
            ScriptAct::Settle(_) | ScriptAct::Await { .. } => {
                strand.state = State::Sleeping { until: now, begun: now };
                true
            }
            ScriptAct::Node { act: NodeAct::Add(spec), .. } => {
                self.act(Act::Node(NodeAct::Add(spec.clone())));
                strand.state = State::Sleeping { until: now, begun: now };
                true
            }
            ScriptAct::Parallel(lines) => {
                let number = Some(strand.number.unwrap_or(strand.at.0));
                let mut inner: Vec<Strand<'_>> = self
                    .delays(lines)
                    .into_iter()
                    .map(|(steps, delay)| {
                        let state = State::Sleeping { until: now + delay, begun: Instant::NEVER };
                        Strand { steps, at: (0, 0), state, number }
                    })
                    .collect();
                self.run_strands(&mut inner);
                strand.at = (strand.at.0 + 1, 0);
                strand.state = State::Ready;
                true
            }
            act => {
                let command = self.at_once(act);
                self.finish(strand, step, now, command, None, None);
                true
            }
        }
    }

    /// Steps that take no time; answers their line in the recording.
    fn at_once(&mut self, act: &ScriptAct) -> String {
        match act {
            ScriptAct::Edit { file, replace, with } => {
                match self.files.get(file) {
                    Some(text) if text.contains(replace.as_str()) => {
                        let text = text.replace(replace.as_str(), with);
                        Arc::make_mut(&mut self.files).insert(file.clone(), text);
                    }
                    _ => self.failed.push(format!("{file} does not hold {replace:?}")),
                }
                format!("edit {file}: {replace:?} -> {with:?}")
            }
            ScriptAct::Files(files) => {
                Arc::make_mut(&mut self.files).extend(files.clone());
                format!("files {}", files.keys().cloned().collect::<Vec<_>>().join(" "))
            }
            ScriptAct::Program(line) => {
                let program = Arc::new(Shell::new(line, self.files.clone(), "default"));
                self.act(Act::Run { terminal: 1, program, exclusive: false });
                line.clone()
            }
            act => {
                acts(act).into_iter().for_each(|(act, _)| self.act(act));
                told(act)
            }
        }
    }

    /// A pause is over: the pace's, a wait's, a settle's, a node's, or the one between two looks.
    fn woken(&mut self, strand: &mut Strand<'_>, step: &ScriptStep, begun: Instant) -> bool {
        if begun == Instant::NEVER {
            return self.start(strand, step);
        }
        let now = self.world.now();
        match &step.act {
            ScriptAct::Wait(seconds) => {
                self.finish(strand, step, begun, format!("wait {seconds}"), None, None);
                true
            }
            ScriptAct::Settle(seconds) => {
                let quiet = now.since(self.observer.last_change().max(begun));
                if quiet < span(*seconds) && now.since(begun) < LIMIT {
                    strand.state = State::Sleeping { until: now + SETTLE_POLL, begun };
                    return false;
                }
                self.finish(strand, step, begun, format!("settle {seconds}"), None, None);
                true
            }
            ScriptAct::Await { question, within } => {
                let so = question.holds(&self.world, &Gaps::begin(&self.world));
                if !so && now.since(begun) < span(*within) {
                    strand.state = State::Sleeping { until: now + SETTLE_POLL, begun };
                    return false;
                }
                self.finish(strand, step, begun, "await".into(), None, Some(so));
                true
            }
            ScriptAct::Node { act: NodeAct::Add(spec), text } => {
                let ready = self
                    .world
                    .store()
                    .list(Kind::Node, None)
                    .filter_map(|o| o.get::<Node>())
                    .any(|n| *n.metadata.name == *spec.name && n.is_ready());
                if !ready && now.since(begun) < LIMIT {
                    strand.state = State::Sleeping { until: now + SETTLE_POLL, begun };
                    return false;
                }
                self.finish(strand, step, begun, format!("node {text}"), None, None);
                true
            }
            ScriptAct::Until { line, .. } => {
                let line = self.substitute(line);
                let client = self.run(&line);
                strand.state = State::Polling { client, begun, line };
                true
            }
            _ => {
                strand.state = State::Ready;
                true
            }
        }
    }

    /// One look of an `until` has ended.
    fn looked(
        &mut self,
        strand: &mut Strand<'_>,
        step: &ScriptStep,
        client: ClientId,
        begun: Instant,
        line: String,
    ) -> bool {
        let ScriptAct::Until { matches, within, .. } = &step.act else { return false };
        let output = self.output(client);
        let text = output.as_ref().map_or(String::new(), |(_, out, err)| format!("{out}{err}"));
        let matched = Regex::new(matches).is_ok_and(|r| r.is_match(&text));
        let now = self.world.now();
        if matched || now.since(begun) > span(*within) {
            if !matched {
                self.failed.push(format!("{matches:?} did not match within {within}s"));
            }
            self.finish(strand, step, begun, format!("kubectl {line}"), output, Some(matched));
            return true;
        }
        strand.state = State::Sleeping { until: now + UNTIL_POLL, begun };
        false
    }

    fn finish(
        &mut self,
        strand: &mut Strand<'_>,
        step: &ScriptStep,
        begun: Instant,
        command: String,
        output: Option<(i32, String, String)>,
        matched: Option<bool>,
    ) {
        let (at, took) = (self.since_base(begun), self.world.now().since(begun));
        let number = strand.number.unwrap_or(strand.at.0);
        self.done.push(Done { step: number, at, took, command, output, matched, note: step.note.clone() });
        strand.state = State::Ready;
        match &step.act {
            ScriptAct::Kubectl(lines) if strand.at.1 + 1 < lines.len() => strand.at.1 += 1,
            _ => strand.at = (strand.at.0 + 1, 0),
        }
    }

    fn run(&mut self, line: &str) -> ClientId {
        let program = Arc::new(Kubectl::new(line, self.files.clone(), "default"));
        self.act(Act::Run { terminal: 0, program, exclusive: false });
        self.world.last_client().unwrap_or(0)
    }

    /// `$(…)` in a line stands for the first word that another kubectl line prints.
    fn substitute(&mut self, line: &str) -> String {
        substituted(line, &mut |inner| {
            let client = self.run(inner);
            while !self.ended(client) && self.advance() {}
            self.output(client).map(|(_, out, _)| out).unwrap_or_default()
        })
    }
}

/// An act's line in the recording.
fn told(act: &ScriptAct) -> String {
    match act {
        ScriptAct::Images(images) => {
            format!("image {}", images.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>().join(" "))
        }
        ScriptAct::Node { text, .. } => format!("node {text}"),
        ScriptAct::Probe { text, .. } => format!("probe {text}"),
        ScriptAct::Exit { text, .. } => format!("exit {text}"),
        ScriptAct::Load { text, .. } => format!("load {text}"),
        ScriptAct::Fault { id, on } => format!("{} {id}", if *on { "fault" } else { "heal" }),
        ScriptAct::WhatIf(on) => format!("whatIf {on}"),
        _ => String::new(),
    }
}
