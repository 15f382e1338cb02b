//! What the engine says, and what happens when it stops saying anything.

use std::rc::Rc;
use std::sync::Arc;

use kubestep_protocol::*;

use super::{Banner, Effect, Ghosts, Health, Open, Prefs, State, StepLine, StoredDraft};

/// How often in a row the simulator is started again before the page gives up.
const RESTARTS: u8 = 3;
/// How many sentences the log keeps.
const LOG: usize = 500;

impl State {
    pub(super) fn start(
        &mut self,
        prefs: Prefs,
        stored: Vec<StoredDraft>,
        fragment: String,
        todo: &mut Vec<Effect>,
    ) {
        self.ui.prefs = prefs;
        self.ui.dock = true;
        self.look_of_figure();
        self.stored = Rc::new(stored);
        let link = fragment.trim_start_matches('#');
        self.link = (!link.is_empty()).then(|| Rc::from(link));
        todo.push(Effect::Look);
    }

    pub(super) fn fragment(&mut self, text: &str, todo: &mut Vec<Effect>) {
        let link = text.trim_start_matches('#');
        let own = self.shared.as_ref().is_some_and(|s| s.text == link);
        if link.is_empty() || own {
            return;
        }
        self.open_address(link, todo);
    }

    /// A fragment is `scenario=P05` or a link.
    pub(super) fn open_address(&mut self, link: &str, todo: &mut Vec<Effect>) {
        self.playing = false;
        if self.open_text(link, todo) {
            return;
        }
        match link.strip_prefix("scenario=") {
            Some(id) => self.ask(Command::LoadScenario(id.into()), todo),
            None => {
                self.address = Rc::from(link);
                self.ask(Command::LoadLink(link.into()), todo);
            }
        }
    }

    pub(super) fn update(&mut self, update: Update, todo: &mut Vec<Effect>) {
        match update {
            Update::Hello(hello) => self.hello(hello, todo),
            Update::Frame(frame) => self.shown(*frame, todo),
            Update::Delta(delta) => match self.frame.clone() {
                Some(base) => {
                    let mut frame = (*base).clone();
                    match delta.apply(&mut frame) {
                        Ok(()) => self.shown(frame, todo),
                        Err(WrongBase) => self.ask(Command::Whole, todo),
                    }
                }
                None => self.ask(Command::Whole, todo),
            },
            Update::Details(details) => self.details = Some(Rc::new(*details)),
            Update::Loaded(loaded) => self.opened(loaded, todo),
            Update::WantsDescriptions => {
                self.described = true;
                todo.push(Effect::FetchDescriptions);
            }
            Update::Files(docs) => self.shown_files(docs, todo),
            Update::LinkRefused(why) => self.refused_link(why, todo),
            Update::Kept(save) => {
                self.kept = Some(Rc::from(save));
                // Playing has no rest at which the run would be stored.
                if self.playing {
                    self.store_run(todo);
                }
            }
            Update::Shared(shared) => {
                self.address = Rc::from(shared.text.as_str());
                todo.push(Effect::Address(shared.text.clone()));
                self.shared = Some(Rc::new(shared));
            }
            Update::Checked(checked) => self.checked(checked),
            Update::Field(field) => todo.push(Effect::Help(field)),
            Update::BreakMenu(items) => self.breaks = Rc::new(items),
            Update::Moves(rows) => self.moves = Rc::new(rows),
            Update::Completions(found) => self.completed(found, todo),
            Update::Sentences(sentences) => self.sentences(sentences),
            Update::Hashed { moment, hash } => self.hashed(moment, &hash),
            Update::Latencies(table) => self.latencies = Rc::new(table),
            Update::Done { id, stop, .. } => self.done(id, stop, todo),
            Update::Notice(notice) => self.banner = Some(Rc::new(Banner::Notice(notice))),
            Update::Broken(broken) => {
                let place =
                    if broken.place.is_empty() { String::new() } else { format!(" ({})", broken.place) };
                self.died(format!("{}{place}", broken.message), todo);
            }
        }
    }

    fn hello(&mut self, hello: Hello, todo: &mut Vec<Effect>) {
        self.hello = Some(Rc::new(hello));
        if !self.lesson_docs.is_empty() {
            let sources = (*self.lesson_docs).clone();
            self.ask(Command::Lessons { sources, language: self.ui.prefs.language.into() }, todo);
        }
        match self.kept.clone() {
            Some(save) => {
                let moment = self.moment();
                self.frame = None;
                self.ask(Command::Restore { save: save.to_string(), moment }, todo);
            }
            None => self.begin(todo),
        }
        let millis = self.ui.prefs.limit;
        self.ask(Command::Limit { millis }, todo);
    }

    /// What is shown first: what the address asks for, the run of before the reload, the last scenario, the first.
    fn begin(&mut self, todo: &mut Vec<Effect>) {
        if let Some(run) = self.place.take() {
            return self.go_to_place((*run).clone(), todo);
        }
        let link = self.link.take();
        if let Some(id) = self.wanted.take().filter(|_| link.is_none()) {
            self.run = self.take_run(&format!("?lesson={id}"), "");
            return self.fetch_lesson(id, todo);
        }
        let scenario = self.ui.prefs.scenario.clone();
        match (self.take_run(link.as_deref().unwrap_or_default(), &scenario), link) {
            (Some(run), _) => self.go_to_place((*run).clone(), todo),
            (None, Some(link)) => self.open_address(&link, todo),
            (None, None) => self.load_wanted(todo),
        }
    }

    /// The scenario of the last visit, or the first.
    pub(super) fn load_wanted(&mut self, todo: &mut Vec<Effect>) {
        let wanted = self.ui.prefs.scenario.to_string();
        let list = self.hello.as_ref().map(|h| h.scenarios.clone()).unwrap_or_default();
        let known = list.iter().any(|s| s.id == wanted);
        let first = list.first().map(|s| s.id.clone()).unwrap_or_default();
        self.ask(Command::LoadScenario(if known { wanted } else { first }), todo);
    }

    fn refused_link(&mut self, why: LinkRefused, todo: &mut Vec<Effect>) {
        if self.back.is_some() {
            return self.cannot_put_back(todo);
        }
        if let LinkRefused::Lesson(id) = &why
            && !self.lesson_docs.iter().any(|d| d.name.ends_with(&format!("{id}.md")))
            && !self.address.is_empty()
        {
            // Its files come first.
            self.again = Some(self.address.clone());
            return self.fetch_lesson(id.clone(), todo);
        }
        self.again = None;
        self.banner = Some(Rc::new(Banner::Link(why)));
        if self.frame.is_none() && self.embed.is_none() {
            // Nothing to keep: the page needs something to show. A figure would show what nobody has asked for.
            let first = self.hello.as_ref().and_then(|h| h.scenarios.first()).map(|s| s.id.clone());
            self.ask(Command::LoadScenario(first.unwrap_or_default()), todo);
        }
    }

    /// A picture came.
    fn shown(&mut self, frame: Frame, todo: &mut Vec<Effect>) {
        let before = self.frame.take();
        if let Some(before) = &before {
            self.keep_places(before, &frame);
        }
        self.remember_step(before.as_deref(), &frame);
        todo.push(Effect::Drawn(frame.head.id));
        if matches!(self.health, Health::Restarting(_) | Health::Starting) {
            self.health = Health::Ready;
        }
        self.remember_solved(&frame, todo);
        self.choose_subject(&frame, todo);
        self.frame = Some(Rc::new(frame));
        self.hint_attempt();
        self.first_picture(todo);
    }

    /// The last attempt is shown again when another step has come.
    fn hint_attempt(&mut self) {
        self.ui.attempt = None;
    }

    /// What vanished by a single step keeps its place; a longer way closes the gaps.
    fn keep_places(&mut self, before: &Frame, now: &Frame) {
        let one = before.head.moment.branch == now.head.moment.branch
            && before.head.moment.step.abs_diff(now.head.moment.step) <= 1;
        if !one {
            self.ghosts = Rc::default();
            return;
        }
        let has_row = |id: Id| now.rows.binary_search_by_key(&id, |r| r.id).is_ok();
        let has_pod = |id: Id| now.pods.binary_search_by_key(&id, |p| p.id).is_ok();
        let rows = self.ghosts.rows.iter().chain(&before.rows).filter(|r| !has_row(r.id));
        let pods = self.ghosts.pods.iter().chain(&before.pods).filter(|p| !has_pod(p.id));
        let rows: Vec<Arc<Row>> =
            rows.map(|r| Arc::new(Row { life: Life::Gone, gap: None, ..(**r).clone() })).collect();
        let pods: Vec<Arc<Pod>> =
            pods.map(|p| Arc::new(Pod { life: Life::Gone, gap: None, ..(**p).clone() })).collect();
        if !(rows.is_empty() && pods.is_empty() && *self.ghosts == Ghosts::default()) {
            self.ghosts = Rc::new(Ghosts { rows, pods });
        }
    }

    /// The log grows by the shown step, or is cut when the person goes back.
    fn remember_step(&mut self, before: Option<&Frame>, now: &Frame) {
        let step = now.head.moment.step;
        let other = before.is_none_or(|b| b.head.moment.branch != now.head.moment.branch);
        let steps = Rc::make_mut(&mut self.steps);
        if other {
            steps.clear();
        }
        steps.retain(|l| l.step() <= step);
        // What was said of the last step may have grown ("then 39s passed"); of one that is over, the engine tells the rest.
        let grown = |l: &StepLine| matches!(l, StepLine::Step(s) if s.step < step && goes_on(&s.words));
        steps.retain(|l| !grown(l));
        let sentence = StepLine::Step(Rc::new(now.head.sentence.clone()));
        match steps.iter_mut().find(|l| matches!(l, StepLine::Step(s) if s.step == step)) {
            Some(line) if *line != sentence => *line = sentence,
            Some(_) => {}
            None => steps.push(sentence),
        }
        let surplus = steps.len().saturating_sub(LOG);
        steps.drain(..surplus);
    }

    fn sentences(&mut self, sentences: Vec<Sentence>) {
        let shown = self.moment().step;
        let steps = Rc::make_mut(&mut self.steps);
        for sentence in sentences.into_iter().filter(|s| s.step <= shown) {
            let at = steps.partition_point(|l| l.step() < sentence.step);
            let known = steps[at..].iter().any(|l| matches!(l, StepLine::Step(s) if s.step == sentence.step));
            if !known {
                steps.insert(at, StepLine::Step(Rc::new(sentence)));
            }
        }
        let surplus = steps.len().saturating_sub(LOG);
        steps.drain(..surplus);
    }

    /// Which sentences are missing before the shown step.
    fn missing(&self) -> Option<(u32, u32)> {
        let shown = self.moment().step;
        let from = shown.saturating_sub(199).max(1);
        let have = |n: u32| self.steps.iter().any(|l| matches!(l, StepLine::Step(s) if s.step == n));
        (from..=shown).find(|&n| !have(n)).map(|first| (first, shown + 1))
    }

    fn done(&mut self, id: CommandId, stop: Stop, todo: &mut Vec<Effect>) {
        let place = self.pending.iter().position(|(i, _)| *i == id);
        let Some(command) = place.map(|i| Rc::make_mut(&mut self.pending).remove(i).1) else { return };
        if let Health::Restarting(_) = self.health
            && matches!(command, Command::Restore { .. })
        {
            self.health = Health::Ready;
        }
        if is_act_or_run(&command) && !matches!(command, Command::Descriptions(_)) {
            self.ended = ended(&stop);
        }
        self.say_stop(&command, &stop);
        match &command {
            Command::Play { .. } if self.playing => self.played(&stop, todo),
            Command::Apply { .. } if self.applies > 0 => {
                self.applies -= 1;
                self.apply_front(todo);
            }
            Command::DropSnapshots => self.ask(Command::Hash, todo),
            _ => {}
        }
        let moves = !matches!(
            command,
            Command::Check { .. }
                | Command::Field { .. }
                | Command::Sentences { .. }
                | Command::Select { .. }
                | Command::Hello
                | Command::Whole
        );
        if moves && !self.running() {
            self.at_rest(todo);
        }
    }

    /// Something has moved and nothing moves any more: what depends on the moment is asked for anew.
    fn at_rest(&mut self, todo: &mut Vec<Effect>) {
        self.store_run(todo);
        self.check_front(todo);
        if let Some((from, to)) = self.missing()
            && !self.waits_for(|c| matches!(c, Command::Sentences { .. }))
        {
            self.ask(Command::Sentences { from, to }, todo);
        }
    }

    /// What a run says at its end goes into the log.
    fn say_stop(&mut self, command: &Command, stop: &Stop) {
        use Command::*;
        let run = matches!(command, UntilCalm | Until(_) | Reconcile | Advance { .. });
        let words = match stop {
            Stop::Refused(why) => why.clone(),
            Stop::Calm(kind) if run => Rich::words(match kind {
                VerdictKind::Converged => "Calm: no gap is open.",
                VerdictKind::Converging => "Stopped while it still moves.",
                VerdictKind::Stalled => "Calm: all that is left is waiting.",
            }),
            Stop::Hour if run => Rich::words("Stopped: an hour has passed, and it still moves."),
            Stop::Steps if run => Rich::words("Stopped after 10,000 steps; it still moves."),
            Stop::Quiet if run => Rich::words("Nothing is left that could move by itself."),
            Stop::True(what) => what.clone(),
            Stop::Interrupted if run => Rich::words("Stopped by you."),
            _ => return,
        };
        let step = self.moment().step;
        // What was just said is not said again.
        let said = |l: &StepLine| matches!(l, StepLine::Said(n, w) if *n == step && *w == words);
        if !self.steps.iter().rev().take_while(|l| l.step() == step).any(said) {
            Rc::make_mut(&mut self.steps).push(StepLine::Said(step, words));
        }
    }

    /// The worker is dead: another is started and gets back what was kept, the moment before.
    pub(super) fn died(&mut self, why: String, todo: &mut Vec<Effect>) {
        let times = if let Health::Restarting(n) = self.health { n + 1 } else { 1 };
        let under_way = self.pending.iter().rev().find(|(_, c)| is_act_or_run(c)).map(|(_, c)| c.clone());
        self.pending = Rc::default();
        (self.line, self.open) = (false, false);
        self.applies = 0;
        self.playing = false;
        self.peek = None;
        if times > RESTARTS || self.health == Health::Gone {
            self.health = Health::Gone;
            self.banner = Some(Rc::new(Banner::Dead(why)));
            return;
        }
        if self.kept.is_none() && self.link.is_none() && !self.loaded.scenario.is_empty() {
            self.ui.prefs.scenario = Rc::from(self.loaded.scenario.as_str());
        }
        self.health = Health::Restarting(times);
        self.banner = Some(Rc::new(Banner::Restarted(self.moment().step, under_way, why)));
        todo.push(Effect::Restart);
    }

    pub(super) fn try_again(&mut self, todo: &mut Vec<Effect>) {
        if let Some(Banner::Restarted(_, Some(command), _)) = self.banner.take().as_deref() {
            self.ask(command.clone(), todo);
        }
    }

    pub(super) fn share(&mut self, todo: &mut Vec<Effect>) {
        self.ui.open = Some(Open::Share);
        self.shared = None;
        self.copied = None;
        self.recomputed = None;
        let files = self.docs();
        self.ask(Command::Share { files }, todo);
        todo.push(Effect::Into("share-link".into()));
    }

    fn hashed(&mut self, moment: Moment, hash: &str) {
        if let Some(shared) = self.shared.as_ref().filter(|s| s.moment == moment) {
            self.recomputed = Some(shared.hash == hash);
        }
    }
}

/// How something came to its end, in a word, and why it was refused.
fn ended(stop: &Stop) -> (&'static str, Rc<str>) {
    let word = match stop {
        Stop::Finished => "finished",
        Stop::Calm(_) => "calm",
        Stop::Hour => "hour",
        Stop::Steps => "steps",
        Stop::Quiet => "quiet",
        Stop::True(_) => "true",
        Stop::Interrupted => "interrupted",
        Stop::Waits => "waits",
        Stop::Refused(why) => return ("refused", Rc::from(crate::words::said_plain(why, At(0)))),
    };
    (word, Rc::default())
}

/// Whether a sentence also tells of the time that has passed since: it was the last one when it was told.
fn goes_on(words: &Rich) -> bool {
    matches!(words.0.as_slice(), [.., Span::Words(then), Span::Lasting(_), Span::Words(_)] if then == " Then ")
}

pub(super) fn is_act_or_run(command: &Command) -> bool {
    use Command::*;
    !matches!(
        command,
        Hello
            | Drawn(_)
            | Whole
            | Check { .. }
            | Field { .. }
            | BreakMenu { .. }
            | Moves
            | Send(_)
            | Complete { .. }
            | Sentences { .. }
            | Select { .. }
            | Limit { .. }
            | Hash
            | Latencies
            | Share { .. }
            | Restore { .. }
            | Peek(_)
            | Seek(_)
            | Back
            | Forward
            | Pause
    )
}

impl StepLine {
    /// The step it belongs to.
    pub fn step(&self) -> u32 {
        match self {
            StepLine::Step(s) => s.step,
            StepLine::Said(n, _) => *n,
        }
    }
}
