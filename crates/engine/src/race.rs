//! *Find me a race*: other orders from the shown moment on, until one of them comes to another end.
//!
//! The order by time is the measure. Every other order is that one with a few turns taken before their time: first all
//! with one, then all with two. So the way that is found has as few choices as any. What counts as different: another
//! verdict, another number of pods or ready pods, more pods made, a ReplicaSet with more pods than it wants; and, if
//! there is no such way, a write that is refused because somebody else had written before.

use crate::session::Session;
use kubestep_cluster::{Record, Step, What, World};
use kubestep_insight::{Gaps, Kind as Verdict, idle, kind, settled};
use kubestep_model::{Instant, Kind, Pod, ReplicaSet};
use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

/// So many steps of the world a search may make, and one order of it.
const BUDGET: u32 = 120_000;
const LONGEST: u32 = 5_000;
/// After so long an order is looked at as if it had ended.
const HORIZON: Duration = Duration::from_secs(120);
/// Turns are taken at the first so many steps, so many different ones at each, and so many in one order.
const WINDOW: u32 = 400;
const TURNS: usize = 8;
const MOST_CHOICES: usize = 2;
/// So many orders wait at most.
const WAITING: usize = 4_000;

/// A turn that was taken: the record's number, the time, and the step's name.
pub(crate) type Choice = (u64, Instant, String);

/// What an order came to: what is counted, and its value.
type Outcome = BTreeMap<String, String>;

/// One order, as far as it has been gone.
#[derive(Clone, Debug)]
struct Order {
    world: World,
    gaps: Gaps,
    way: Vec<Choice>,
    steps: u32,
    /// Pods that were made, and what went wrong on the way.
    made: u32,
    troubles: Outcome,
    /// Where each of these could first be seen: record and time.
    seen: BTreeMap<String, (u64, Instant)>,
}

/// A way to another end.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) way: Vec<Choice>,
    /// Where it can be seen: record and time.
    pub(crate) end: (u64, Instant),
    /// What differs, in this order and in the order by time.
    pub(crate) what: String,
    pub(crate) here: String,
    pub(crate) by_itself: Option<String>,
}

/// How a search goes on.
#[derive(Debug)]
pub(crate) enum Progress {
    Searching,
    Found(Box<Found>),
    /// Nothing was found; whether every order was gone to its end.
    Ended(bool),
}

/// A search that goes on.
#[derive(Debug)]
pub(crate) struct Search {
    begun: Instant,
    now: Order,
    waiting: VecDeque<Order>,
    /// What the order by time came to, once that is known.
    measure: Option<Outcome>,
    /// A refused write, to be told if nothing worse is found.
    conflict: Option<Box<Found>>,
    left: u32,
    cut: bool,
    pub(crate) tried: u32,
}

impl Search {
    /// A search from the moment that is looked at.
    pub(crate) fn new(session: &Session) -> Self {
        let world = session.world().clone();
        let gaps = if session.at_present() { session.live_gaps() } else { &session.note().gaps }.clone();
        let (way, troubles) = (vec![], Outcome::new());
        Search {
            begun: world.now(),
            now: Order { world, gaps, way, steps: 0, made: 0, troubles, seen: BTreeMap::new() },
            waiting: VecDeque::new(),
            measure: None,
            conflict: None,
            left: BUDGET,
            cut: false,
            tried: 0,
        }
    }

    /// Goes on by at most so many steps of the world.
    pub(crate) fn slice(&mut self, budget: u32) -> Progress {
        for _ in 0..budget {
            if self.left == 0 {
                self.cut = true;
                return self.give_up();
            }
            self.left -= 1;
            self.branch();
            if self.now.advance() && !self.too_long() {
                continue;
            }
            if let Some(found) = self.compare() {
                return Progress::Found(found);
            }
            match self.waiting.pop_front() {
                Some(order) => self.now = order,
                None => return self.give_up(),
            }
        }
        Progress::Searching
    }

    fn give_up(&mut self) -> Progress {
        self.conflict.take().map_or(Progress::Ended(!self.cut), Progress::Found)
    }

    fn too_long(&self) -> bool {
        self.now.steps >= LONGEST || self.now.world.now().since(self.begun) > HORIZON
    }

    /// Whoever could move now before his time does so in an order of its own.
    fn branch(&mut self) {
        if self.now.steps >= WINDOW || self.now.way.len() >= MOST_CHOICES || self.now.world.is_exclusive() {
            return;
        }
        let world = &self.now.world;
        let turns: Vec<Step> =
            world.due().skip(1).map(|(_, s)| s).filter(|s| counts(world, s)).take(TURNS).cloned().collect();
        for step in turns {
            if self.waiting.len() >= WAITING {
                self.cut = true;
                return;
            }
            let mut order = self.now.clone();
            order.way.push((order.world.next_record(), order.world.now(), crate::moves::id(&step)));
            order.make(&step);
            self.waiting.push_back(order);
        }
    }

    /// The order that is gone has come to its end: is it another one?
    fn compare(&mut self) -> Option<Box<Found>> {
        let outcome = self.now.outcome();
        self.tried += 1;
        let Some(measure) = &self.measure else {
            let broken = self.now.broken();
            self.measure = Some(outcome);
            return broken;
        };
        let differs = |(what, here): &(&String, &String)| measure.get(*what) != Some(*here);
        let mut news = outcome.iter().filter(differs);
        let worse = news.clone().find(|(what, _)| !what.starts_with(CONFLICT));
        let (what, here) = worse.or_else(|| news.next())?;
        let found = Box::new(Found {
            way: self.now.way.clone(),
            end: self.now.end_of(what),
            what: what.clone(),
            here: here.clone(),
            by_itself: measure.get(what).cloned(),
        });
        if worse.is_some() {
            return Some(found);
        }
        self.conflict.get_or_insert(found);
        None
    }
}

const CONFLICT: &str = "A write is refused";
const TOO_MANY: &str = "has too many pods on the way";

/// Whether a step is one whose turn somebody could notice.
fn counts(world: &World, step: &Step) -> bool {
    let background = |kind: Kind| matches!(kind, Kind::Lease | Kind::Event);
    match step {
        Step::Deliver(_, kind) => !background(*kind),
        Step::Think(_, _, key) => !key.name.is_empty(),
        Step::Serve(flight) => world.flight(*flight).is_some_and(|f| !background(f.request.verb.kind())),
        Step::Client(_) => true,
        Step::Wake(..) | Step::Timer(..) | Step::Runtime(_) | Step::Period(..) => false,
    }
}

impl Order {
    /// One step by time; answers whether it goes on.
    fn advance(&mut self) -> bool {
        let Some((_, step)) = self.world.next() else { return false };
        self.make(&step)
    }

    fn make(&mut self, step: &Step) -> bool {
        let record = self.world.advance(step);
        self.steps += 1;
        self.gaps.follow(&self.world, &record.changes);
        self.look(&record);
        let may_be_calm = record.visible() || matches!(record.what, What::Thought { ended: Some(_), .. });
        !(may_be_calm && self.is_calm())
    }

    fn is_calm(&self) -> bool {
        match kind(&self.world, &self.gaps) {
            Verdict::Converged => settled(&self.world),
            Verdict::Stalled => idle(&self.world),
            Verdict::Converging => false,
        }
    }

    /// Where something can be seen: on the way, or at the end.
    fn end_of(&self, what: &str) -> (u64, Instant) {
        self.seen.get(what).copied().unwrap_or((self.world.next_record(), self.world.now()))
    }

    /// What even the order by time breaks, as where two controller managers do the same work.
    fn broken(&self) -> Option<Box<Found>> {
        let (what, here) = self.troubles.iter().find(|(what, _)| what.ends_with(TOO_MANY))?;
        Some(Box::new(Found {
            way: vec![],
            end: self.end_of(what),
            what: what.clone(),
            here: here.clone(),
            by_itself: None,
        }))
    }

    /// What can be seen on the way only.
    fn look(&mut self, record: &Record) {
        let What::Served { who, verb, key, code, message, .. } = &record.what else { return };
        if *code == 409
            && let Some(message) = message
            && message.contains("has been modified")
        {
            let what = format!("{CONFLICT}: {who} asks to {verb} {} {}", key.kind.name(), key.name);
            self.troubles.insert(what, "somebody else had written before".into());
        }
        if *verb == "create" && key.kind == Kind::Pod && *code == 201 {
            self.made += 1;
            self.too_many(&key.namespace);
        }
    }

    /// ReplicaSets that have more pods than they want, just after a pod was made.
    fn too_many(&mut self, namespace: &str) {
        let store = self.world.store();
        for set in store.list(Kind::ReplicaSet, Some(namespace)).filter_map(|o| o.get::<ReplicaSet>()) {
            let (pods, _) = pods_of(&self.world, set);
            let wanted = usize::try_from(set.replicas()).unwrap_or(0);
            if pods > wanted && wanted > 0 {
                let what = format!("ReplicaSet {} {TOO_MANY}", set.metadata.name);
                let here = (self.world.next_record(), self.world.now());
                self.seen.entry(what.clone()).or_insert(here);
                self.troubles.insert(what, format!("it wants {wanted} and has {pods}"));
            }
        }
    }

    /// What it came to.
    fn outcome(&self) -> Outcome {
        let mut all = self.troubles.clone();
        let verdict = match kind(&self.world, &self.gaps) {
            Verdict::Converged => "all is as asked",
            Verdict::Converging => "something still moves",
            Verdict::Stalled => "it is stuck",
        };
        all.insert("The end".into(), verdict.into());
        all.insert("Pods made".into(), self.made.to_string());
        let sets = self.world.store().list(Kind::ReplicaSet, None).filter_map(|o| o.get::<ReplicaSet>());
        for set in sets.filter(|s| s.replicas() > 0) {
            let (pods, ready) = pods_of(&self.world, set);
            all.insert(format!("ReplicaSet {}", set.metadata.name), format!("{pods} pods, {ready} ready"));
        }
        all
    }
}

/// How many pods of a set have not ended, and how many of them are ready.
fn pods_of(world: &World, set: &ReplicaSet) -> (usize, usize) {
    let pods = world.store().list(Kind::Pod, Some(&set.metadata.namespace)).filter_map(|o| o.get::<Pod>());
    let own = |p: &&Pod| p.is_active() && p.metadata.controller().is_some_and(|o| o.uid == set.metadata.uid);
    pods.filter(own).fold((0, 0), |(all, ready), p| (all + 1, ready + usize::from(p.is_ready())))
}
