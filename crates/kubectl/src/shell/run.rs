//! A line that is typed: a process that has its place in the line. What it was told for commands that have ended it needs
//! no more; so a loop of many commands is run on from where it stands, and Ctrl-C finds it between two of them.

use super::{
    env::Env,
    expand::expanded,
    parse::{Each, Fills, Pipeline, Stage, parse},
    pipe::{begin_loop, due, ended, pipe},
    programs::{is_kubectl, said},
};
use crate::{
    commands::is_command,
    kc::{Flow, Going, Kc, Stand, Stop},
    machines,
};
use kubestep_model::{
    Instant,
    client::{Client, ClientProgress, ClientTurn, Rest},
};
use std::{collections::BTreeMap, sync::Arc};

/// A line that a person typed in a terminal.
#[derive(Clone, Debug)]
pub struct Shell {
    line: Arc<str>,
    script: Result<Arc<Vec<Pipeline>>, String>,
    files: Arc<BTreeMap<String, String>>,
    namespace: Arc<str>,
    place: Place,
    /// The command at that place, where it has begun.
    inside: Option<Arc<dyn Going>>,
}

/// Where a line stands: in the line itself, and in each of the loops that it is in; and what it knows there.
#[derive(Clone, Debug)]
struct Place {
    blocks: Vec<Block>,
    env: Env,
}

/// A place in the line, or in what a loop does for each of its words.
#[derive(Clone, Debug, Default)]
struct Block {
    /// The command that comes next.
    at: usize,
    /// The words of the loop, and which one comes next.
    words: Arc<[String]>,
    next: usize,
}

/// A place between two commands or within one, and what it took to get there.
struct Mark {
    place: Place,
    stand: Stand,
}

impl Shell {
    /// A line, the files that lie beside it, and the namespace of the current context.
    pub fn new(line: &str, files: Arc<BTreeMap<String, String>>, namespace: &str) -> Shell {
        Shell {
            line: line.trim().into(),
            script: parse(line).map(Arc::new),
            files,
            namespace: namespace.into(),
            place: Place { blocks: vec![Block::default()], env: Env::default() },
            inside: None,
        }
    }

    /// The exit code of the line before.
    pub fn after(mut self, code: i32) -> Shell {
        self.place.env.code = code;
        self
    }

    fn script(&self) -> &[Pipeline] {
        self.script.as_ref().map(|script| script.as_slice()).unwrap_or_default()
    }
}

impl Client for Shell {
    fn run(&self, started: Instant, told: &[ClientTurn]) -> ClientProgress {
        let mut kc = Kc::new(&self.files, self.namespace.clone(), started, told);
        let mut mark = None;
        let flow = match &self.script {
            Ok(script) => self.go(&mut kc, script, &mut mark),
            Err(why) => {
                kc.err(format!("{why}\n"));
                Err(Stop::Exit(2))
            }
        };
        let progress = kc.end(flow);
        let rest = mark.filter(|_| progress.next.is_err()).map(|Mark { place, stand }| Rest {
            program: Arc::new(Shell { place, inside: stand.going, ..self.clone() }),
            turns: stand.turns,
            printed: stand.printed,
            at: stand.at,
        });
        ClientProgress { rest, ..progress }
    }

    fn line(&self) -> String {
        self.line.to_string()
    }

    fn user_agent(&self) -> &str {
        let first = self.script().iter().flat_map(|p| &p.stages).find_map(|s| s.words.first());
        first.and_then(|word| machines::agent_of(word)).unwrap_or("kubectl")
    }

    fn reads_schemas(&self) -> bool {
        let mut commands = vec![];
        super::gather(self.script(), &mut commands);
        let verb =
            |words: &Vec<String>| words.iter().find(|w| !w.starts_with('-') && !is_kubectl(w)).cloned();
        commands.iter().filter_map(verb).any(|verb| verb == "apply" || verb == "diff")
    }
}

impl Shell {
    /// Goes on from its place to the end of the line or to what it waits for. `mark` is then the last place that needs
    /// nothing of what was told before.
    fn go(&self, kc: &mut Kc<'_>, script: &[Pipeline], mark: &mut Option<Mark>) -> Flow<i32> {
        // A comment, or nothing at all.
        if script.is_empty() {
            return Ok(0);
        }
        let (mut place, mut inside) = (self.place.clone(), self.inside.clone());
        while let Some(block) = place.blocks.last() {
            let Some(next) = commands(script, &place.blocks).get(block.at).filter(|_| !place.env.left) else {
                place.leave(script);
                continue;
            };
            let inside = inside.take();
            if inside.is_none() && !due(next.after, place.env.code) {
                place.step();
                continue;
            }
            if inside.is_none() && !place.env.runs_one(kc) {
                break;
            }
            place.env.used.calls = 0;
            if let Some((stage, each)) = plain_loop(next) {
                place.enter(kc, stage, each)?;
            } else {
                place.run(kc, next, inside, mark)?;
            }
            let here = kc.here(None);
            if here.turns > 0 {
                *mark = Some(Mark { place: place.clone(), stand: here });
            }
        }
        Ok(place.env.code)
    }
}

impl Place {
    /// Runs a command from its start, or goes on with it.
    fn run(
        &mut self,
        kc: &mut Kc<'_>,
        command: &Pipeline,
        inside: Option<Arc<dyn Going>>,
        mark: &mut Option<Mark>,
    ) -> Flow<i32> {
        kc.direct = direct(command);
        let flow = match inside {
            Some(going) => going.go_on(kc),
            None => pipe(kc, &mut self.env, &command.stages),
        };
        let stand = kc.stand();
        kc.direct = false;
        match ended(flow) {
            Ok(code) => {
                self.env.code = code;
                self.step();
                Ok(code)
            }
            Err(waits) => {
                if let Some(stand) = stand {
                    *mark = Some(Mark { place: self.clone(), stand });
                }
                Err(waits)
            }
        }
    }

    /// The command is over.
    fn step(&mut self) {
        if let Some(block) = self.blocks.last_mut() {
            block.at += 1;
        }
    }

    /// Begins a loop, if there is a word for it.
    fn enter(&mut self, kc: &mut Kc<'_>, stage: &Stage, each: &Each) -> Flow<()> {
        let words = match expanded(kc, &mut self.env, stage)? {
            Ok(words) => words,
            Err(why) => {
                self.env.code = said(kc, &why, 1)?;
                self.step();
                return Ok(());
            }
        };
        begin_loop(kc, &mut self.env, &words);
        match words.first() {
            Some(word) => {
                self.env.set(&each.name, word);
                self.blocks.push(Block { at: 0, words: words.into(), next: 1 });
            }
            None => self.step(),
        }
        Ok(())
    }

    /// At the end of a block: the loop's next word, or what stands behind the loop.
    fn leave(&mut self, script: &[Pipeline]) {
        let Some(mut block) = self.blocks.pop() else { return };
        let next = block.words.get(block.next).filter(|_| !self.env.left);
        let each = self.blocks.last().and_then(|outer| commands(script, &self.blocks).get(outer.at));
        match (next, each.and_then(plain_loop)) {
            (Some(word), Some((_, each))) => {
                self.env.set(&each.name, word);
                (block.at, block.next) = (0, block.next + 1);
                self.blocks.push(block);
            }
            _ => self.step(),
        }
    }
}

/// The commands of the innermost block.
fn commands<'a>(script: &'a [Pipeline], blocks: &[Block]) -> &'a [Pipeline] {
    let outer = &blocks[..blocks.len().saturating_sub(1)];
    outer.iter().fold(script, |commands, block| {
        commands.get(block.at).and_then(plain_loop).map_or(&[], |(_, each)| &each.body)
    })
}

/// A loop that reads nothing and whose output nothing reads.
fn plain_loop(pipeline: &Pipeline) -> Option<(&Stage, &Each)> {
    let [stage] = pipeline.stages.as_slice() else { return None };
    stage.each.as_ref().filter(|_| stage.input.is_none()).map(|each| (stage, each))
}

/// One command of kubectl, which reads nothing and whose output nothing reads.
fn direct(pipeline: &Pipeline) -> bool {
    let [stage] = pipeline.stages.as_slice() else { return false };
    let known = |word: &String| is_kubectl(word) || is_command(word);
    let plain = stage.holes.iter().all(|hole| matches!(hole.fills, Fills::Variable(_)));
    stage.input.is_none() && plain && stage.words.first().is_some_and(known)
}
