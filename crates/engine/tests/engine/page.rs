//! A page without a browser: sends commands, puts deltas on its frame as the real page does.

use kubestep_engine::Engine;
use kubestep_protocol::{
    BreakItem, Checked, Command, CommandId, Completions, Details, Doc, Frame, Loaded, ObjectRef, Request,
    Shared, Stop, Tab, Update, VerdictKind,
};

/// So many slices at most until a run must have ended.
const SLICES: usize = 20_000;

#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) engine: Engine,
    next: u32,
    pub(crate) frame: Option<Frame>,
    pub(crate) loaded: Option<Loaded>,
    pub(crate) details: Option<Details>,
    pub(crate) kept: String,
    /// Updates that answered the last command, frames aside.
    pub(crate) answers: Vec<Update>,
}

impl Page {
    pub(crate) fn new() -> Self {
        Page { engine: Engine::new(), ..Page::default() }
    }

    pub(crate) fn open(scenario: &str) -> Self {
        let mut page = Page::new();
        assert_eq!(page.send(Command::LoadScenario(scenario.into())), Stop::Finished, "{scenario}");
        page
    }

    fn take(&mut self, updates: Vec<Update>, id: CommandId) -> Option<Stop> {
        let mut ended = None;
        for update in updates {
            match update {
                Update::Frame(frame) => self.frame = Some(*frame),
                Update::Delta(delta) => {
                    let frame = self.frame.as_mut().expect("a delta comes after a frame");
                    delta.apply(frame).expect("on its base");
                }
                Update::Details(details) => self.details = Some(*details),
                Update::Loaded(loaded) => self.loaded = Some(loaded),
                Update::Kept(text) => self.kept = text,
                Update::Done { id: done, stop, .. } if done == id => {
                    assert_eq!(ended, None, "one Done for each request");
                    ended = Some(stop);
                }
                other => self.answers.push(other),
            }
        }
        ended
    }

    /// Sends a command, and waits for no more than its first answer.
    pub(crate) fn begin(&mut self, command: Command) -> Option<Stop> {
        self.answers.clear();
        self.next += 1;
        let id = CommandId(self.next);
        let updates = self.engine.handle(Request { id, command });
        self.take(updates, id)
    }

    /// Sends a command and waits until it is done.
    pub(crate) fn send(&mut self, command: Command) -> Stop {
        let mut stop = self.begin(command);
        let id = CommandId(self.next);
        for _ in 0..SLICES {
            if stop.is_some() || !self.engine.busy() {
                break;
            }
            let updates = self.engine.idle(500);
            stop = self.take(updates, id);
        }
        stop.expect("every command is done some time")
    }

    pub(crate) fn frame(&self) -> &Frame {
        self.frame.as_ref().expect("a frame")
    }

    pub(crate) fn docs(&self) -> Vec<Doc> {
        self.loaded.as_ref().expect("something is loaded").files.clone()
    }

    pub(crate) fn doc(&self) -> Doc {
        self.docs().swap_remove(0)
    }

    pub(crate) fn step(&mut self) -> String {
        assert_eq!(self.send(Command::Step { inner: false }), Stop::Finished);
        self.sentence()
    }

    pub(crate) fn sentence(&self) -> String {
        self.frame().head.sentence.words.plain(self.frame().head.now)
    }

    /// Steps until a sentence holds these words; answers it.
    pub(crate) fn step_until(&mut self, words: &str, most: usize) -> String {
        let mut seen = vec![];
        for _ in 0..most {
            let sentence = self.step();
            if sentence.contains(words) {
                return sentence;
            }
            seen.push(sentence);
        }
        panic!("{words:?} did not come in {most} steps: {seen:#?}");
    }

    pub(crate) fn hash(&mut self) -> String {
        self.send(Command::Hash);
        self.answers
            .iter()
            .find_map(|u| if let Update::Hashed { hash, .. } = u { Some(hash.clone()) } else { None })
            .expect("a hash")
    }

    pub(crate) fn share(&mut self) -> Shared {
        let files = self.docs();
        self.send(Command::Share { files });
        self.link().expect("a link")
    }

    /// The link that the last command made.
    pub(crate) fn link(&self) -> Option<Shared> {
        self.answers.iter().find_map(|u| if let Update::Shared(s) = u { Some(s.clone()) } else { None })
    }

    /// What the last command gave notice of, in plain words.
    pub(crate) fn told(&self) -> Option<String> {
        let now = self.frame().head.now;
        self.answers
            .iter()
            .find_map(|u| if let Update::Notice(n) = u { Some(n.words.plain(now)) } else { None })
    }

    pub(crate) fn kubectl(&mut self, line: &str) -> Stop {
        self.send(Command::Kubectl { terminal: 0, line: line.into(), files: self.docs() })
    }

    /// What the last command in the terminal printed, and its exit code.
    pub(crate) fn terminal(&self) -> (String, Option<i32>) {
        let entry = self.frame().terminal.last().expect("something was typed");
        (entry.output.iter().map(|c| c.text.as_str()).collect(), entry.exit)
    }

    pub(crate) fn apply(&mut self, doc: Doc) -> (String, Option<i32>) {
        self.send(Command::Apply { doc });
        let apply = self.frame().head.apply.clone().expect("an answer to Apply");
        (apply.output.iter().map(|c| c.text.as_str()).collect(), apply.exit)
    }

    pub(crate) fn verdict(&self) -> VerdictKind {
        self.frame().head.verdict.kind
    }

    pub(crate) fn select(&mut self, kind: &str, name: &str, tab: Tab) -> Details {
        self.send(Command::Select { object: Some(object(kind, name)), tab });
        self.details.clone().expect("details")
    }

    /// The frame that was built from deltas is the one that is sent whole.
    pub(crate) fn check_whole(&mut self, when: &str) {
        let mut built = self.frame.clone();
        self.send(Command::Whole);
        let whole = self.frame.clone();
        if let (Some(built), Some(whole)) = (&mut built, &whole) {
            built.head.id = whole.head.id;
            assert_eq!(built.rows, whole.rows, "{when}");
            assert_eq!(built.pods, whole.pods, "{when}");
            assert_eq!(built.nodes, whole.nodes, "{when}");
            assert_eq!(built.images, whole.images, "{when}");
            assert_eq!(built.loops, whole.loops, "{when}");
            assert_eq!(built.terminal, whole.terminal, "{when}");
            assert_eq!(built.faults, whole.faults, "{when}");
            assert_eq!(built.timeline, whole.timeline, "{when}");
            assert_eq!(built.head, whole.head, "{when}");
        }
    }
}

pub(crate) fn object(kind: &str, name: &str) -> ObjectRef {
    ObjectRef { kind: kind.into(), namespace: "default".into(), name: name.into() }
}

impl Page {
    pub(crate) fn check(&mut self, text: &str) -> Checked {
        self.check_as("m.yaml", text)
    }

    pub(crate) fn check_as(&mut self, name: &str, text: &str) -> Checked {
        let doc = Doc { name: name.into(), text: text.into() };
        assert_eq!(self.send(Command::Check { doc, version: 7 }), Stop::Finished);
        let found =
            self.answers.iter().find_map(|u| if let Update::Checked(c) = u { Some(c.clone()) } else { None });
        found.expect("an answer to Check")
    }

    pub(crate) fn breaks(&mut self, doc: Doc) -> Vec<BreakItem> {
        assert_eq!(self.send(Command::BreakMenu { doc }), Stop::Finished);
        let found = self
            .answers
            .iter()
            .find_map(|u| if let Update::BreakMenu(m) = u { Some(m.clone()) } else { None });
        found.expect("an answer to BreakMenu")
    }

    pub(crate) fn complete(&mut self, line: &str) -> Completions {
        self.send(Command::Complete { terminal: 0, line: line.into() });
        let found = self
            .answers
            .iter()
            .find_map(|u| if let Update::Completions(c) = u { Some(c.clone()) } else { None });
        found.expect("an answer to Complete")
    }
}
