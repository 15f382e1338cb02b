//! A history with what the page needs beside it: gaps and marks of every step, what was put in, what it counts from.

use crate::{ids::Ids, link::Saved, view::Made, words};
use kubestep_cluster::{
    Act, ChangeKind, ClientId, History, Moment, ProcessId, Record, Start, What, World, loops::ALL,
};
use kubestep_insight::Gaps;
use kubestep_lessons::{lesson::Lesson, watch::Watch};
use kubestep_model::{
    Instant, Key, Kind, Object,
    arrange::Arrange,
    defined::{DEFINITION, Definition},
    schema::Descriptions,
};
use kubestep_protocol::{At, Doc, GapSpan, Id, Lane, Mark, ObjectRef, Timeline, Who};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

/// The terminal whose output is the answer to Apply.
pub(crate) const APPLY: u32 = 1000;
/// So many inner steps of a command at once, at most, before it counts as waiting.
const COMMAND_STEPS: u32 = 20_000;
/// The names of so many files are remembered.
const MOST_FILES: usize = 200;

/// What is kept of one step.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    /// The open gaps after it.
    pub(crate) gaps: Gaps,
    /// How many spans of the score's gaps there were after it.
    pub(crate) spans: usize,
    /// How far the learner had come after it.
    pub(crate) watch: Option<Arc<Watch>>,
}

/// The notes of one branch, and what was put in to make it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Track {
    pub(crate) notes: Vec<Note>,
    pub(crate) saved: Vec<Saved>,
    /// Lanes, marks and gaps, one mark for each note but the first.
    pub(crate) score: Timeline,
}

impl Track {
    /// Adds the note of a step, and its mark.
    fn push(
        &mut self,
        gaps: Gaps,
        watch: Option<Arc<Watch>>,
        at: At,
        opened: Option<At>,
        mark: Option<(Who, String, bool)>,
    ) {
        let score = &mut self.score;
        if let Some((who, name, stored)) = mark {
            let lane = score.lanes.iter().position(|l| l.who == who && l.name == name).unwrap_or_else(|| {
                score.lanes.push(Lane { who, name });
                score.lanes.len() - 1
            });
            score.marks.push(Mark { at, lane: u8::try_from(lane).unwrap_or(u8::MAX), stored });
        }
        if score.gaps.last().is_none_or(|g| g.opened != opened) {
            score.gaps.push(GapSpan { from: at, opened });
        }
        self.notes.push(Note { gaps, spans: score.gaps.len(), watch });
    }

    /// Leaves only the first steps.
    fn cut(&mut self, notes: usize, saved: usize) {
        self.notes.truncate(notes);
        self.saved.truncate(saved);
        self.score.marks.truncate(notes.saturating_sub(1));
        self.score.gaps.truncate(self.notes.last().map_or(0, |n| n.spans));
    }
}

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
    /// The rows of pods that were last made, by uid.
    pub(crate) made: BTreeMap<Arc<str>, Made>,
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
            made: BTreeMap::new(),
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

    /// A file of the editor was named: Tab may offer it from now on.
    /// Whether it names other images than before.
    pub(crate) fn sees(&mut self, doc: &Doc) -> bool {
        if self.files.len() >= MOST_FILES || doc.name.len() >= 200 {
            return false;
        }
        self.files.insert(doc.name.clone());
        let named = images_in(&doc.text);
        let before = self.named.insert(doc.name.clone(), named);
        before.as_ref().map_or(&[][..], Vec::as_slice) != self.named[&doc.name].as_slice()
    }

    /// The images that the files name.
    pub(crate) fn named(&self) -> impl Iterator<Item = &str> {
        self.named.values().flatten().map(String::as_str)
    }

    /// Looks at a step for good.
    pub(crate) fn seek(&mut self, step: usize) {
        self.leave_peek();
        self.between = false;
        self.shown = self.history.seek(step);
        if self.history.at_present() {
            self.look_at_present();
        }
    }
    /// Looks at a step for a moment.
    pub(crate) fn peek(&mut self, step: usize) {
        let step = step.min(self.history.last());
        self.peeking = Some(step);
        let last = step == self.history.last();
        let world = if last { self.history.live().clone() } else { self.history.world_at(step) };
        let before = std::mem::replace(&mut self.shown, world);
        self.stood.get_or_insert(before);
    }
    /// Looks again at what was looked at before a step was looked at for a moment. Whatever is done or run on happens
    /// there, not at the step that was only looked at: else it could not be made again from what is kept.
    pub(crate) fn end_peek(&mut self) {
        self.peeking = None;
        if let Some(stood) = self.stood.take() {
            self.shown = stood;
        }
    }
    /// Goes over to another branch. Whether there is one.
    pub(crate) fn switch(&mut self, branch: usize) -> bool {
        let there = branch < self.history.branches().len();
        if there {
            self.history.switch(branch);
            self.look_at_present();
        }
        there
    }
    /// Whether the present is looked at, and nothing of this branch lies ahead.
    pub(crate) fn at_present(&self) -> bool {
        self.history.at_present() && !self.between
    }
    /// Looks at the last step as it was made, not at the present, which may be later.
    pub(crate) fn seek_before_present(&mut self) {
        let last = self.history.last();
        self.seek(last);
        self.shown = self.history.world_at(last);
        self.between = true;
    }
    /// Lets time pass in the past, where the next step of this branch comes later than this.
    pub(crate) fn wait_in_past(&mut self, end: Instant) {
        while let Some((_, step)) = self.shown.next().filter(|(due, _)| *due <= end) {
            self.shown.advance(&step);
        }
        self.shown.idle_until(end);
        self.between = true;
    }

    /// Throws kept worlds away; the one that is looked at is made again.
    pub(crate) fn drop_worlds(&mut self) {
        self.end_peek();
        self.history.drop_worlds();
        if self.at_present() {
            self.look_at_present();
            return;
        }
        let now = self.shown.now();
        self.shown = self.history.world_at(self.step());
        if self.between {
            self.wait_in_past(now);
        }
    }

    fn leave_peek(&mut self) {
        self.peeking = None;
        self.stood = None;
    }

    fn look_at_present(&mut self) {
        self.leave_peek();
        self.between = false;
        self.shown = self.history.live().clone();
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

    /// Shows the present, after a run or an act.
    pub(crate) fn show_present(&mut self) {
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

    /// Starts a command that has the cluster to itself, and runs it until it ends or waits.
    pub(crate) fn command(&mut self, act: Act, saved: Saved) -> Option<ClientId> {
        self.act(act, saved);
        let id = self.history.live().last_client()?;
        for _ in 0..COMMAND_STEPS {
            if !self.history.live().is_exclusive() || self.advance().is_none() {
                break;
            }
        }
        self.look_at_present();
        Some(id)
    }

    /// The step in which a record was made, on the current branch.
    pub(crate) fn step_of(&self, record: u64) -> usize {
        let moments = &self.history.branches()[self.history.branch()].moments;
        moments.partition_point(|m| m.next_record <= record)
    }

    /// When a file was applied with exactly this text, if it was and nothing else was applied from it since.
    pub(crate) fn applied_at(&self, doc: &Doc) -> Option<At> {
        let inputs = &self.history.branches()[self.history.branch()].inputs;
        let now = self.shown.now();
        let rows = inputs
            .iter()
            .zip(&self.track().saved)
            .filter(|(input, _)| input.at <= now && input.after < self.shown.next_record());
        let text = |saved: &Saved| match saved {
            Saved::Run { line, files, .. }
                if line.starts_with("kubectl apply") && line.contains(&doc.name) =>
            {
                files.iter().find(|(name, _)| *name == doc.name).map(|(_, text)| *text == doc.text)
            }
            _ => None,
        };
        let (at, same) = rows.rev().find_map(|(input, saved)| text(saved).map(|same| (input.at, same)))?;
        same.then(|| self.at(at))
    }

    /// An object of the world that is looked at.
    pub(crate) fn object(&self, object: &ObjectRef) -> Option<&Object> {
        self.shown.store().get(&key_of(self, object)?)
    }
}

/// So many images of one file are shown, and so long a text is looked through.
const MOST_IMAGES: usize = 40;
const MOST_READ: usize = 1 << 20;

/// The images that a manifest names, whether it can be read as a whole or not: a person may be in the middle of a line.
fn images_in(text: &str) -> Vec<String> {
    if text.len() > MOST_READ {
        return vec![];
    }
    let image = |line: &str| {
        let line = line.trim_start().trim_start_matches("- ").trim_start();
        let value = ["image:", "\"image\":", "'image':"].iter().find_map(|key| line.strip_prefix(key))?;
        let value = value.split('#').next()?.trim().trim_end_matches(',').trim_matches(['"', '\'']);
        let fits = |c: char| c.is_ascii_alphanumeric() || "./:_@-".contains(c);
        (!value.is_empty() && value.len() <= 200 && value.chars().all(fits)).then(|| value.to_string())
    };
    let mut found: Vec<String> = text.lines().filter_map(image).take(MOST_IMAGES).collect();
    found.arrange();
    found.dedup();
    found
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
