//! The past: inputs are the truth, kept worlds are a cache.
//!
//! A moment is a place in a run: how many records had been made and what the clock said. Its world is kept or,
//! if it was dropped, made again from the nearest kept one before it and the inputs since. Acting in the past
//! starts a new branch; the old one stays.

use crate::{Act, Record, RecordId, Start, Step, World};
use kubestep_model::Instant;
use std::{collections::VecDeque, sync::Arc};

/// Something that a person did, and when: after which record and at which time.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Input {
    pub after: RecordId,
    pub at: Instant,
    pub what: InputKind,
}

/// What was put in.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum InputKind {
    Act(Act),
    /// A hand-made choice of who moves next.
    Choice(Step),
}

/// Start and inputs: all that a run follows from.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Session {
    pub start: Start,
    pub inputs: Vec<Input>,
}

/// A place in a run that people count as a step.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The number of the first record that had not been made.
    pub next_record: RecordId,
    /// What the clock said.
    pub at: Instant,
    /// How many inputs had been put in.
    pub inputs: usize,
    world: Option<World>,
}

/// One line of time.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The branch and the moment that it grew from.
    pub parent: Option<(usize, usize)>,
    /// Its steps, from the very beginning. Step 0 is the start.
    pub moments: Vec<Moment>,
    /// Its records, from the very beginning; the first has number `first_record`.
    pub records: Vec<Arc<Record>>,
    /// Its inputs, from the very beginning.
    pub inputs: Vec<Input>,
    live: World,
}

/// All lines of time of a session, and where the person stands.
#[derive(Clone, Debug)]
pub struct History {
    start: Start,
    first_record: RecordId,
    branches: Vec<Branch>,
    branch: usize,
    /// Which step of the branch is looked at; the last one is the present.
    cursor: usize,
    /// Branch and step of worlds that were made again for a look, the oldest first.
    filled: VecDeque<(usize, usize)>,
}

/// So many records after a kept world the next one is kept; the steps between are made again when they are looked at. A
/// world that is kept makes all that is written after it a copy first.
const SPARSE: RecordId = 96;
/// How many moments keep their world before the oldest are thinned out.
const KEPT: usize = 10_000;
/// Of the old ones, every so many steps keep theirs.
const EVERY: usize = 32;
/// How many worlds that were made again for a look are kept beside those.
const FILLED: usize = 256;

impl History {
    /// The history of a world that was just started.
    pub fn new(start: Start) -> Self {
        let live = World::boot(&start);
        let first_record = live.next_record();
        let moment =
            Moment { next_record: first_record, at: live.now(), inputs: 0, world: Some(live.clone()) };
        let branch = Branch { parent: None, moments: vec![moment], records: vec![], inputs: vec![], live };
        History { start, first_record, branches: vec![branch], branch: 0, cursor: 0, filled: VecDeque::new() }
    }

    /// A run again from its session: the inputs are put in where they were, then it stops after the last of them.
    pub fn replay(session: &Session) -> Self {
        let mut history = History::new(session.start.clone());
        for input in &session.inputs {
            history.run_to(input.after, input.at);
            history.mark_wait();
            history.put_in(input.what.clone());
        }
        history
    }

    /// Runs the present on to a record and a time, as a saved session says.
    pub fn run_to(&mut self, next_record: RecordId, at: Instant) {
        while self.live().next_record() < next_record && self.live().next().is_some() {
            self.advance();
        }
        self.idle_until(at);
    }

    fn current(&self) -> &Branch {
        &self.branches[self.branch]
    }
    fn current_mut(&mut self) -> &mut Branch {
        &mut self.branches[self.branch]
    }
    /// What the session started from.
    pub fn start(&self) -> &Start {
        &self.start
    }
    /// The present of the current branch.
    pub fn live(&self) -> &World {
        &self.current().live
    }
    /// All branches; the first is the oldest.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }
    /// Which branch the person is on.
    pub fn branch(&self) -> usize {
        self.branch
    }
    /// Which step is looked at.
    pub fn cursor(&self) -> usize {
        self.cursor
    }
    /// The number of the last step of this branch.
    pub fn last(&self) -> usize {
        self.current().moments.len() - 1
    }
    /// Whether the present is looked at.
    pub fn at_present(&self) -> bool {
        self.cursor == self.last()
    }
    /// The records of the current branch that made up a step: those after the step before it.
    pub fn records_of(&self, step: usize) -> &[Arc<Record>] {
        let b = self.current();
        let end = b.moments.get(step).map_or(self.first_record, |m| m.next_record);
        let begin = if step == 0 {
            self.first_record
        } else {
            b.moments.get(step - 1).map_or(end, |m| m.next_record)
        };
        let index = |id: RecordId| {
            usize::try_from(id.saturating_sub(self.first_record)).unwrap_or(0).min(b.records.len())
        };
        &b.records[index(begin)..index(end).max(index(begin))]
    }
    /// A record of the current branch by its number.
    pub fn record(&self, id: RecordId) -> Option<&Arc<Record>> {
        let i = usize::try_from(id.checked_sub(self.first_record)?).ok()?;
        self.current().records.get(i)
    }
    /// Start and inputs of the current branch, up to the step that is looked at.
    pub fn session(&self) -> Session {
        let b = self.current();
        let inputs = b.moments.get(self.cursor).map_or(0, |m| m.inputs);
        let inputs = if self.at_present() { b.inputs.len() } else { inputs };
        Session { start: self.start.clone(), inputs: b.inputs[..inputs].to_vec() }
    }

    /// The world at a step of the current branch; past its end, the last.
    pub fn world_at(&self, step: usize) -> World {
        let b = self.current();
        let step = step.min(self.last());
        let target = &b.moments[step];
        if let Some(world) = &target.world {
            return world.clone();
        }
        let (mut world, first) = self.base(step);
        for moment in &b.moments[first..=step] {
            b.run_through(&mut world, moment);
        }
        world
    }

    /// The nearest world before a step of the current branch, and the first step that it has not come to.
    fn base(&self, step: usize) -> (World, usize) {
        let moments = &self.current().moments;
        let kept = (0..step).rev().find_map(|i| Some((moments[i].world.clone()?, i + 1)));
        kept.unwrap_or_else(|| (World::boot(&self.start), 0))
    }

    /// The world at a step, as [`History::world_at`]. What had to be made again for it is kept for a while, so that
    /// looking at the steps around it is quick.
    pub fn look(&mut self, step: usize) -> World {
        let step = step.min(self.last());
        if self.current().moments[step].world.is_some() {
            return self.world_at(step);
        }
        let (mut world, first) = self.base(step);
        for i in first..=step {
            let b = &self.branches[self.branch];
            b.run_through(&mut world, &b.moments[i]);
            if i % EVERY == 0 || step - i < EVERY {
                self.fill(i, world.clone());
            }
        }
        world
    }

    fn fill(&mut self, step: usize, world: World) {
        let branch = self.branch;
        self.branches[branch].moments[step].world = Some(world);
        if step.is_multiple_of(EVERY) {
            return;
        }
        self.filled.push_back((branch, step));
        if self.filled.len() > FILLED
            && let Some((branch, step)) = self.filled.pop_front()
        {
            self.branches[branch].moments[step].world = None;
        }
    }

    /// Looks at another step; answers its world.
    pub fn seek(&mut self, step: usize) -> World {
        self.cursor = step.min(self.last());
        self.look(self.cursor)
    }

    /// Goes to another branch, at its present.
    pub fn switch(&mut self, branch: usize) {
        if branch < self.branches.len() {
            self.branch = branch;
            self.cursor = self.last();
        }
    }

    /// Throws all kept worlds away but the present one; nothing visible changes.
    pub fn drop_worlds(&mut self) {
        self.drop_where(|_| true);
    }

    /// Keeps the world of every 32nd step only, as of steps that are long ago; nothing visible changes.
    pub fn thin(&mut self) {
        self.drop_where(|step| step % EVERY != 0);
    }

    fn drop_where(&mut self, gone: impl Fn(usize) -> bool) {
        self.filled.clear();
        for branch in &mut self.branches {
            for (_, moment) in branch.moments.iter_mut().enumerate().filter(|(step, _)| gone(*step)) {
                moment.world = None;
            }
        }
    }

    /// How many worlds are kept.
    pub fn kept(&self) -> usize {
        self.branches.iter().flat_map(|b| &b.moments).filter(|m| m.world.is_some()).count()
    }

    /// If the person looks at the past, what they do next begins a new branch there.
    fn fork_if_past(&mut self) {
        if !self.at_present() {
            self.part();
        }
    }

    /// Begins a new branch at the step that is looked at.
    pub fn part(&mut self) {
        let live = self.world_at(self.cursor);
        let b = self.current();
        let moments = b.moments[..=self.cursor].to_vec();
        let inputs = b.inputs[..moments[self.cursor].inputs].to_vec();
        let count = usize::try_from(live.next_record().saturating_sub(self.first_record)).unwrap_or(0);
        let records = b.records[..count.min(b.records.len())].to_vec();
        let parent = Some((self.branch, self.cursor));
        self.branches.push(Branch { parent, moments, records, inputs, live });
        self.branch = self.branches.len() - 1;
    }

    /// Where the present is later than the last step, what has passed since becomes a step: so the moment before an
    /// act can be gone back to. Answers whether there was anything.
    pub fn mark_wait(&mut self) -> bool {
        let b = self.current();
        let later = |m: &Moment| m.next_record < b.live.next_record() || m.at < b.live.now();
        let passed = self.at_present() && b.moments.last().is_some_and(later);
        if passed {
            self.push_moment();
        }
        passed
    }

    /// A person acts, at the moment that is looked at.
    pub fn act(&mut self, act: Act) -> Arc<Record> {
        self.fork_if_past();
        self.mark_wait();
        self.put_in(InputKind::Act(act))
    }

    /// A person chooses who moves next.
    pub fn choose(&mut self, step: Step) -> Arc<Record> {
        self.fork_if_past();
        self.mark_wait();
        self.put_in(InputKind::Choice(step))
    }

    fn put_in(&mut self, what: InputKind) -> Arc<Record> {
        let b = self.current_mut();
        b.inputs.push(Input { after: b.live.next_record(), at: b.live.now(), what: what.clone() });
        let record = apply(&mut b.live, what);
        self.keep(record)
    }

    /// The step that time brings next happens; a visible one becomes a moment. `None` when nothing is due.
    pub fn advance(&mut self) -> Option<Arc<Record>> {
        self.fork_if_past();
        let b = self.current_mut();
        let (_, step) = b.live.next()?;
        let record = b.live.advance(&step);
        Some(self.keep(record))
    }

    /// Lets the clock run where nothing is due.
    pub fn idle_until(&mut self, at: Instant) {
        self.fork_if_past();
        self.current_mut().live.idle_until(at);
    }

    fn keep(&mut self, record: Record) -> Arc<Record> {
        let record = Arc::new(record);
        self.current_mut().records.push(record.clone());
        if record.visible() {
            self.push_moment();
        }
        record
    }

    fn push_moment(&mut self) {
        let b = self.current_mut();
        let last = b.moments.iter().rev().find(|m| m.world.is_some()).map_or(0, |m| m.next_record);
        let far = b.live.next_record().saturating_sub(last) >= SPARSE;
        let kept = far || b.moments.len().is_multiple_of(EVERY);
        let moment = Moment {
            next_record: b.live.next_record(),
            at: b.live.now(),
            inputs: b.inputs.len(),
            world: kept.then(|| b.live.clone()),
        };
        b.moments.push(moment);
        if let Some(old) = b.moments.len().checked_sub(KEPT)
            && old % EVERY != 0
        {
            b.moments[old].world = None;
        }
        self.cursor = self.last();
    }
}

impl Branch {
    /// Runs a world that stands at the moment before this one through to it.
    fn run_through(&self, world: &mut World, moment: &Moment) {
        let put_in = self.inputs.partition_point(|input| input.after < world.next_record());
        for input in &self.inputs[put_in..moment.inputs.max(put_in)] {
            run_world_to(world, input.after, input.at);
            apply(world, input.what.clone());
        }
        run_world_to(world, moment.next_record, moment.at);
    }
}

fn run_world_to(world: &mut World, next_record: RecordId, at: Instant) {
    while world.next_record() < next_record {
        let Some((_, step)) = world.next() else { break };
        world.advance(&step);
    }
    world.idle_until(at);
}

fn apply(world: &mut World, what: InputKind) -> Record {
    match what {
        InputKind::Act(act) => world.act(act),
        InputKind::Choice(step) => world.advance(&step),
    }
}
