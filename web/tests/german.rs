//! What the simulator says in its scenarios, under faults and in lessons is known to the German table.

use std::collections::BTreeSet;

use kubestep_engine::Engine;
use kubestep_protocol::*;
use kubestep_web::words::Table;

/// A page that only listens.
struct Ear {
    engine: Engine,
    next: u32,
    frame: Option<Frame>,
    /// What was heard, with the place it came from.
    heard: BTreeSet<(&'static str, String)>,
    rich: Vec<(&'static str, Rich)>,
}

impl Ear {
    fn ask(&mut self, command: Command) {
        self.next += 1;
        let id = CommandId(self.next);
        let mut updates = self.engine.handle(Request { id, command });
        for _ in 0..4000 {
            let done = updates.iter().any(|u| matches!(u, Update::Done { id: i, .. } if *i == id));
            self.take(updates);
            if done || !self.engine.busy() {
                return;
            }
            updates = self.engine.idle(500);
        }
    }

    fn take(&mut self, updates: Vec<Update>) {
        for update in updates {
            match update {
                Update::Frame(frame) => self.frame = Some(*frame),
                Update::Delta(delta) => {
                    if let Some(frame) = &mut self.frame {
                        delta.apply(frame).expect("on its base");
                    }
                }
                Update::Details(details) => self.details(&details),
                Update::Sentences(list) => list.iter().for_each(|s| self.sentence(s)),
                Update::Loaded(l) => self.rich.push(("opening", l.opening)),
                Update::Moves(rows) => self.rich.extend(rows.into_iter().map(|r| ("moves", r.words))),
                Update::Notice(n) => self.rich.push(("notice", n.words)),
                Update::Checked(c) => {
                    self.rich.extend(c.notes.into_iter().map(|n| ("note", n.words)));
                }
                Update::BreakMenu(items) => items.iter().for_each(|i| self.hear("break", &i.name)),
                Update::Hello(h) => {
                    for s in &h.scenarios {
                        [&s.group, &s.title, &s.blurb].iter().for_each(|w| self.hear("scenario", w));
                    }
                }
                Update::Latencies(rows) => rows.iter().for_each(|(w, _)| self.hear("latency", w)),
                _ => {}
            }
        }
        self.look();
    }

    fn hear(&mut self, place: &'static str, text: &str) {
        if !text.is_empty() {
            self.heard.insert((place, text.to_string()));
        }
    }

    fn sentence(&mut self, s: &Sentence) {
        self.rich.push(("sentence", s.words.clone()));
        self.rich.extend(s.inside.iter().map(|w| ("inside", w.clone())));
    }

    fn look(&mut self) {
        let Some(frame) = self.frame.clone() else { return };
        let head = &frame.head;
        self.sentence(&head.sentence.clone());
        self.rich.push(("because", head.verdict.because.clone()));
        self.rich.push(("more", head.verdict.more.clone()));
        self.rich.push(("nowhere", head.nowhere.clone()));
        for f in &frame.faults {
            [&f.name, &f.note, &f.group].iter().for_each(|w| self.hear("fault", w));
        }
        frame.images.iter().for_each(|i| self.hear("image", &i.words));
        frame.nodes.iter().for_each(|n| self.rich.push(("node", n.words.clone())));
        if let Some(out) = &head.apply {
            out.told.iter().chain(&out.not_told).for_each(|w| self.hear("told", w));
        }
        for r in &frame.rows {
            self.hear("has", &r.has);
        }
        frame.loops.iter().for_each(|l| self.rich.push(("waits", l.waits.clone())));
    }

    fn details(&mut self, d: &Details) {
        if let Body::Why(why) = &d.body {
            match &why.head {
                WhyHead::Moving(w) | WhyHead::Blocked(w) => self.rich.push(("why", w.clone())),
                WhyHead::Silent { words, until, .. } => {
                    self.rich.push(("silent", words.clone()));
                    self.rich.push(("silent", until.clone()));
                }
                _ => {}
            }
            self.rich.extend(why.chain.iter().map(|l| ("chain", l.words.clone())));
            for end in &why.ends {
                self.hear("end", &end.label);
                self.hear("end", &end.then);
            }
            for a in &why.attempts {
                [&a.result, &a.why].iter().for_each(|w| self.hear("attempt", w));
                self.rich.push(("attempt", a.note.clone()));
            }
            for lane in why.speech.iter().flat_map(|s| &s.lanes) {
                self.hear("lane", &lane.words);
            }
        }
        if let Body::History(rows) = &d.body {
            self.rich.extend(rows.iter().map(|r| ("history", r.words.clone())));
        }
        self.rich.extend(d.absent.clone().map(|w| ("absent", w)));
    }

    /// A scenario, its file, its objects, and what goes wrong in it.
    fn play(&mut self, id: &str, files: &[Doc]) {
        for doc in files {
            self.ask(Command::Check { doc: doc.clone(), version: 1 });
            self.ask(Command::BreakMenu { doc: doc.clone() });
            self.ask(Command::Apply { doc: doc.clone() });
        }
        self.ask(Command::Moves);
        self.ask(Command::UntilCalm);
        for _ in 0..12 {
            self.ask(Command::Advance { millis: 60_000 });
        }
        let frame = self.frame.clone().expect(id);
        let objects = frame.rows.iter().map(|r| &r.object).chain(frame.pods.iter().map(|p| &p.object));
        let objects: Vec<ObjectRef> = objects.filter(|o| o.namespace == "default").cloned().collect();
        for object in objects {
            for tab in [Tab::Why, Tab::History] {
                self.ask(Command::Select { object: Some(object.clone()), tab });
            }
            if object.kind == "Service" {
                self.ask(Command::Send(object));
            }
        }
        self.ask(Command::Sentences { from: 1, to: frame.head.last + 1 });
    }
}

/// Whether there are words in it that somebody would have to translate.
fn has_words(text: &str) -> bool {
    let word = |w: &str| w.len() > 2 && w.chars().all(|c| c.is_ascii_lowercase());
    text.split([' ', '.', ',', ':', ';']).filter(|w| word(w)).count() > 1
}

/// Whether a translation still holds a whole sentence of the English.
fn is_left(english: &str, german: &str) -> bool {
    english.split(". ").any(|sentence| has_words(sentence) && german.contains(sentence.trim_end_matches('.')))
}

/// The words alone, without what stays in every language.
fn spoken(text: &Rich) -> String {
    let span = |s: &Span| match s {
        Span::Words(words) | Span::Strong(words) => words.clone(),
        _ => "…".into(),
    };
    text.0.iter().map(span).collect()
}

/// Commands of the made-up programs stand in sentences as they are typed.
const COMMANDS: &[&str] = &["gitops ", "statefile "];

#[test]
fn the_german_table_knows_what_the_simulator_says() {
    let table = Table::read(include_str!("../words/de.txt").to_string());
    let engine = Engine::new();
    let mut ear = Ear { engine, next: 0, frame: None, heard: BTreeSet::new(), rich: Vec::new() };
    ear.ask(Command::Hello);
    let scenarios: Vec<String> = match ear
        .engine
        .handle(Request { id: CommandId(900), command: Command::Hello })
        .into_iter()
        .find_map(|u| if let Update::Hello(h) = u { Some(h.scenarios) } else { None })
    {
        Some(list) => list.into_iter().map(|s| s.id).collect(),
        None => panic!("no scenarios"),
    };
    for id in &scenarios {
        let updates =
            ear.engine.handle(Request { id: CommandId(901), command: Command::LoadScenario(id.clone()) });
        let files =
            updates.iter().find_map(|u| if let Update::Loaded(l) = u { Some(l.files.clone()) } else { None });
        ear.take(updates);
        ear.play(id, &files.unwrap_or_default());
    }
    for fault in ear.frame.clone().expect("a frame").faults.iter() {
        ear.ask(Command::Fault { id: fault.key.clone(), on: true });
        ear.ask(Command::Advance { millis: 5_000 });
        ear.ask(Command::Fault { id: fault.key.clone(), on: false });
    }
    for act in [NodeAct::Add, NodeAct::Cordon("node-1".into()), NodeAct::Stop("node-2".into())] {
        ear.ask(Command::Node(act));
        ear.ask(Command::Advance { millis: 60_000 });
    }
    let mut unknown = BTreeSet::new();
    for (place, text) in &ear.heard {
        if has_words(text) && table.sentence(text).is_none_or(|words| is_left(text, &words)) {
            unknown.insert(format!("{place}: {text}"));
        }
    }
    for (place, text) in &ear.rich {
        let (english, german) = (spoken(text), table.rich(text).map(|r| spoken(&r)));
        let known = german.as_ref().is_some_and(|g| !is_left(&english, g));
        // What a field was and is stays as the field has it.
        let values = *place == "history" && english.contains('→');
        if has_words(&english) && !values && !known && !COMMANDS.iter().any(|c| english.contains(c)) {
            unknown.insert(format!("{place}: {english} -> {german:?}"));
        }
    }
    assert!(ear.rich.len() > 2000, "only {} texts were heard", ear.rich.len());
    let unknown: Vec<String> = unknown.into_iter().collect();
    assert!(unknown.is_empty(), "{} without German:\n{}", unknown.len(), unknown.join("\n"));
}
