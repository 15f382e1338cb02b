//! A history with what the page needs beside it: gaps and marks of every step, what was put in, what it counts from.

mod files;
mod look;
mod track;

pub(crate) use track::{Note, Track};

use crate::{
    ids::Ids,
    link::Saved,
    view::{Made, Pulls, Told},
    words,
};
use kubestep_cluster::{
    Act, ChangeKind, ClientId, History, Moment, ProcessId, Record, Start, What, World, loops::ALL,
};
use kubestep_insight::Gaps;
use kubestep_lessons::{lesson::Lesson, watch::Watch};
use kubestep_model::{
    Instant, Key, Kind, Object,
    defined::{DEFINITION, Definition},
    schema::Descriptions,
};
use kubestep_protocol::{At, Id, ObjectRef, Pod, Who};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

/// The terminal whose output is the answer to Apply.
pub(crate) const APPLY: u32 = 1000;
/// So many inner steps of a command at once, at most, before it counts as waiting.
pub(crate) const COMMAND_STEPS: u32 = 20_000;

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) history: History,
    tracks: Vec<Track>,
    /// The world that is looked at.
    shown: World,
    pub(crate) peeking: Option<usize>,
    /// What was looked at before a step is looked at for a moment.
    stood: Option<World>,
    /// Time was let pass in the past: what is looked at lies between the step and the next one.
    pub(crate) between: bool,
    pub(crate) ids: Ids,
    /// The rows of pods that were last made, by namespace and name.
    pub(crate) made: Vec<Made>,
    /// The same rows in the order of first sight.
    pub(crate) pods: Vec<Arc<Pod>>,
    /// How often images were pulled in the world that was last shown.
    pub(crate) pulls: Pulls,
    /// The entries of terminals that were last made.
    pub(crate) told: BTreeMap<ClientId, Told>,
    pub(crate) scenario: String,
    pub(crate) title: String,
    /// How many inputs are the scenario's own.
    pub(crate) scenario_inputs: usize,
    /// How many steps are the scenario's own.
    pub(crate) scenario_steps: usize,
    /// The moment a scenario was handed to the person.
    pub(crate) zero: Instant,
    pub(crate) limit: Duration,
    /// The names of the editor's files, as far as they have been seen.
    pub(crate) files: BTreeSet<String>,
    /// The images that each of them names, as far as it has been read.
    named: BTreeMap<String, Vec<String>>,
    /// The lesson that was started.
    pub(crate) lesson: Option<Arc<Lesson>>,
    /// Kubernetes' own descriptions of fields, once the page has fetched them.
    pub(crate) descriptions: Option<Arc<Descriptions>>,
    /// Something that is shown names descriptions that are not here.
    pub(crate) wants_descriptions: bool,
    /// Its files as they were when it was handed to the learner.
    pub(crate) lesson_files: kubestep_lessons::stage::Files,
}

impl Session {
    /// A session at its very beginning.
    pub(crate) fn new(start: Start) -> Self {
        let history = History::new(start);
        let shown = history.live().clone();
        let mut ids = Ids::default();
        ids.images(shown.registry().0.keys().map(|name| &**name));
        let mut track = Track::default();
        let gaps = Gaps::begin(&shown);
        let opened = gaps.oldest().map(|_| At(0));
        track.push(gaps, None, At(0), opened, None);
        Session {
            zero: shown.now(),
            history,
            tracks: vec![track],
            shown,
            peeking: None,
            stood: None,
            between: false,
            ids,
            made: vec![],
            pods: vec![],
            pulls: Pulls::default(),
            told: BTreeMap::new(),
            scenario: String::new(),
            title: String::new(),
            scenario_inputs: 0,
            scenario_steps: 0,
            limit: Duration::from_secs(300),
            files: BTreeSet::new(),
            named: BTreeMap::new(),
            lesson: None,
            descriptions: None,
            wants_descriptions: false,
            lesson_files: Default::default(),
        }
    }

    /// How far the learner has come in the live world with these gaps.
    fn followed(&self, gaps: &Gaps) -> Option<Arc<Watch>> {
        let lesson = self.lesson.as_ref()?;
        let mut watch = self.track().notes.last()?.watch.clone()?;
        Arc::make_mut(&mut watch).follow(lesson, self.history.live(), gaps);
        Some(watch)
    }

    /// The lesson begins at the last step.
    pub(crate) fn begin_lesson(&mut self, lesson: Arc<Lesson>) {
        let branch = self.history.branch();
        if let Some(note) = self.tracks[branch].notes.last_mut() {
            note.watch = Some(Arc::new(Watch::begin(&lesson, self.history.live(), &note.gaps)));
        }
        self.lesson = Some(lesson);
    }

    /// The row of the loop that asks under this name.
    pub(crate) fn loop_of(&self, agent: &str) -> Option<Id> {
        let controller = ALL.iter().find(|c| c.actor() == agent).map(|c| c.name().to_string());
        let agents = || self.shown.processes().map(|(id, _)| id.to_string()).find(|name| name == agent);
        self.ids.get(&format!("loop:{}", controller.or_else(agents)?))
    }

    /// The last step that the current branch has in common with the first one.
    pub(crate) fn shared_with_root(&self) -> usize {
        let branches = self.history.branches();
        let (mut branch, mut shared) = (self.history.branch(), self.history.last());
        while let Some((parent, step)) = branches[branch].parent {
            (branch, shared) = (parent, shared.min(step));
        }
        shared
    }
    /// Where the past is looked at, a new branch begins, as if something were done there.
    pub(crate) fn part(&mut self) {
        self.history.part();
        self.begin_track();
        self.look_at_present();
    }

    /// The world that is looked at.
    pub(crate) fn world(&self) -> &World {
        &self.shown
    }
    /// The world where the person stands, whatever is looked at for a moment.
    pub(crate) fn stands(&self) -> &World {
        self.stood.as_ref().unwrap_or(&self.shown)
    }
    /// The step that is looked at.
    pub(crate) fn step(&self) -> usize {
        self.peeking.unwrap_or(self.history.cursor())
    }
    /// Notes and inputs of the current branch.
    pub(crate) fn track(&self) -> &Track {
        &self.tracks[self.history.branch()]
    }
    /// The gaps of the present.
    pub(crate) fn live_gaps(&self) -> &Gaps {
        let notes = &self.track().notes;
        &notes[notes.len() - 1].gaps
    }
    /// The note of the step that is looked at.
    pub(crate) fn note(&self) -> &Note {
        let notes = &self.track().notes;
        &notes[self.step().min(notes.len() - 1)]
    }
    /// A time as the page counts it.
    pub(crate) fn at(&self, instant: Instant) -> At {
        let start = self.history.branches()[0].moments[0].at;
        At(u64::try_from(instant.since(start).as_millis()).unwrap_or(u64::MAX))
    }
    /// The clock at the moment that is looked at.
    pub(crate) fn now(&self) -> At {
        self.at(self.shown.now())
    }
    /// The moment of a step.
    pub(crate) fn moment(&self, step: usize) -> Option<&Moment> {
        self.history.branches()[self.history.branch()].moments.get(step)
    }

    /// After the history went on: a branch that began gets its notes, a step that was made its own.
    fn follow(&mut self, record: &Arc<Record>) {
        self.begin_track();
        self.name_changes(record);
        if self.track().notes.len() <= self.history.last() {
            let live = self.history.live();
            let last = self.track().notes.last();
            let mut gaps = last.map_or_else(|| Gaps::begin(live), |n| n.gaps.clone());
            gaps.follow(live, &record.changes);
            let (who, lane) = words::who::of_record(record, live);
            self.note_step(gaps, (who, lane, !record.changes.is_empty()));
        }
    }

    /// Puts down a step that was just made.
    fn note_step(&mut self, gaps: Gaps, mark: (Who, String, bool)) {
        let at = self.at(self.moment(self.history.last()).map_or(self.shown.now(), |m| m.at));
        let opened = gaps.oldest().map(|(_, g)| self.at(g.opened));
        let branch = self.history.branch();
        let watch = self.followed(&gaps);
        self.tracks[branch].push(gaps, watch, at, opened, Some(mark));
    }

    /// Gives numbers to what is new, in the order in which it comes about: the same ones at every replay.
    fn name_changes(&mut self, record: &Record) {
        let live = self.history.live();
        if matches!(record.what, What::Act { .. }) {
            for (node, _) in live.machines() {
                self.ids.of(&format!("node:{node}"));
                self.ids.of(&format!("loop:{}", ProcessId::Kubelet(node.clone())));
            }
            self.ids.images(live.registry().0.keys().map(|name| &**name));
        }
        for change in record.changes.iter().filter(|c| c.kind == ChangeKind::Added) {
            let Some(object) = live.store().get(&change.key) else { continue };
            self.ids.uid(&object.meta().uid);
            if let Object::Pod(pod) = object {
                let containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
                self.ids.images(containers.map(|c| c.image.as_str()));
            }
        }
    }

    /// What a branch that has just begun shares with the one it grew from.
    fn begin_track(&mut self) {
        let branch = self.history.branch();
        if branch >= self.tracks.len() {
            let (parent, step) = self.history.branches()[branch].parent.unwrap_or((0, 0));
            let mut track = self.tracks[parent].clone();
            let inputs = self.history.branches()[branch].moments.get(step).map_or(0, |m| m.inputs);
            track.cut(step + 1, inputs);
            self.tracks.push(track);
        }
    }

    /// Time that passed before an act becomes a step of its own.
    pub(crate) fn mark_wait(&mut self) {
        if self.history.mark_wait() {
            self.begin_track();
            let last = self.track().notes.last();
            let gaps = last.map_or_else(|| Gaps::begin(self.history.live()), |n| n.gaps.clone());
            self.note_step(gaps, (Who::Other, "time".into(), false));
        }
    }

    /// One inner step of the present; answers its record.
    pub(crate) fn advance(&mut self) -> Option<Arc<Record>> {
        let record = self.history.advance()?;
        self.follow(&record);
        Some(record)
    }

    /// Runs the present on to a record and a time, as a saved session says.
    pub(crate) fn run_to(&mut self, next_record: u64, at: Instant) {
        while self.history.live().next_record() < next_record {
            if self.advance().is_none() {
                break;
            }
        }
        if self.history.live().now() < at {
            self.idle_until(at);
        }
        self.look_at_present();
    }

    /// The clock runs to a moment before which nothing is due. That is no step: the present is later than the last one.
    pub(crate) fn idle_until(&mut self, at: Instant) {
        self.history.idle_until(at);
    }

    /// A person does again what was kept.
    pub(crate) fn put(&mut self, saved: Saved) {
        let chosen = match &saved {
            Saved::Choice(name) => crate::moves::find(&self.shown, name),
            _ => None,
        };
        match chosen {
            Some(step) => self.put_in(saved, |history| history.choose(step)),
            None => self.act(crate::act::act_of(self, &saved), saved),
        }
    }

    /// A person acts. `saved` is the act in a form that can be kept.
    pub(crate) fn act(&mut self, act: Act, saved: Saved) {
        self.put_in(saved, |history| history.act(act));
    }

    fn put_in(&mut self, saved: Saved, put: impl FnOnce(&mut History) -> Arc<Record>) {
        self.end_peek();
        self.begin_between();
        self.mark_wait();
        let record = put(&mut self.history);
        self.follow(&record);
        let branch = self.history.branch();
        self.tracks[branch].saved.push(saved);
        let live = self.history.live();
        if let Some((id, client)) = live.last_client().and_then(|id| Some((id, live.client(id)?))) {
            self.ids.client(id, client);
        }
        self.look_at_present();
    }

    /// What comes next begins a branch where the past is looked at.
    pub(crate) fn begin_here(&mut self) {
        self.end_peek();
        self.begin_between();
        if !self.at_present() {
            self.part();
        }
    }

    fn begin_between(&mut self) {
        if self.between {
            // The person acts where time was let pass in the past: that time passes on the new branch, too.
            let (record, at) = (self.shown.next_record(), self.shown.now());
            self.part();
            self.run_to(record, at);
        }
    }

    /// Starts a command that has the cluster to itself, and runs it until it ends or waits, or so many steps.
    pub(crate) fn command(&mut self, act: Act, saved: Saved, steps: u32) -> Option<ClientId> {
        self.act(act, saved);
        let id = self.history.live().last_client()?;
        for _ in 0..steps {
            if !self.history.live().is_exclusive() || self.advance().is_none() {
                break;
            }
        }
        self.look_at_present();
        Some(id)
    }

    /// The step in which a record was made, on the current branch. What happened after the last step belongs to none yet: that
    /// step is the nearest.
    pub(crate) fn step_of(&self, record: u64) -> usize {
        let moments = &self.history.branches()[self.history.branch()].moments;
        moments.partition_point(|m| m.next_record <= record).min(moments.len() - 1)
    }

    /// An object of the world that is looked at.
    pub(crate) fn object(&self, object: &ObjectRef) -> Option<&Object> {
        self.shown.store().get(&key_of(self, object)?)
    }
}

/// The key that a reference means.
pub(crate) fn key_of(session: &Session, object: &ObjectRef) -> Option<Key> {
    let (kind, group) = object.kind.split_once('.').unwrap_or((&object.kind, ""));
    let fits = |k: &Kind| k.name() == kind && (group.is_empty() || k.group() == group);
    let key = |found: Kind| Key::new(found, object.namespace.as_str(), object.name.as_str());
    if let Some(own) = Kind::all().find(fits) {
        return Some(key(own));
    }
    let store = session.world().store();
    let definitions = store.list(DEFINITION, None).filter_map(Definition::of);
    let found: Vec<Key> = definitions.map(Definition::stored_kind).filter(fits).map(key).collect();
    found.iter().find(|key| store.get(key).is_some()).or(found.first()).cloned()
}

/// A key as the page names it.
pub(crate) fn object_ref(key: &Key) -> ObjectRef {
    ObjectRef {
        kind: key.kind.name().into(),
        namespace: key.namespace.to_string(),
        name: key.name.to_string(),
    }
}
