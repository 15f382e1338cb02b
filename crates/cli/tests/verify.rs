//! Learners' results: a lesson that was really solved, one that was shown, and files that claim more than they hold.

use kubestep_cli::{
    lesson::Shelf,
    verify::{Entry, ResultFile, judge},
};
use kubestep_engine::Engine;
use kubestep_protocol::{Command, CommandId, Doc, Frame, Request, Update};
use std::path::Path;

const LESSON: &str = "follow-one-edit-through-the-loops";

/// A learner with the lesson open.
struct Learner {
    engine: Engine,
    frame: Frame,
    files: Vec<Doc>,
    link: String,
    next: u32,
}

impl Learner {
    fn begin(shelf: &Shelf) -> Learner {
        let mut learner = Learner {
            engine: Engine::new(),
            frame: Frame::default(),
            files: vec![],
            link: String::new(),
            next: 0,
        };
        let sources =
            shelf.sources.iter().map(|s| Doc { name: s.path.clone(), text: s.text.clone() }).collect();
        learner.send(Command::Lessons { sources, language: "en".into() });
        learner.send(Command::LoadLesson(LESSON.into()));
        learner
    }

    fn send(&mut self, command: Command) {
        self.next += 1;
        let mut updates = self.engine.handle(Request { id: CommandId(self.next), command });
        while self.engine.busy() {
            updates.extend(self.engine.idle(500));
        }
        for update in updates {
            match update {
                Update::Frame(frame) => self.frame = *frame,
                Update::Delta(delta) => delta.apply(&mut self.frame).expect("on its base"),
                Update::Loaded(loaded) => self.files = loaded.files,
                Update::Shared(shared) => self.link = shared.text,
                _ => {}
            }
        }
        let id = self.frame.head.id;
        self.engine.handle(Request { id: CommandId(self.next), command: Command::Drawn(id) });
    }

    /// Skips what is asked and lets time pass, until it is solved.
    fn go_on(&mut self) {
        for _ in 0..60 {
            let now = self.frame.head.lesson.clone().expect("a lesson");
            if now.solved.is_some() {
                break;
            }
            match now.asks {
                Some(index) => self.send(Command::Predict { index, answer: None }),
                None => self.send(Command::Advance { millis: 10_000 }),
            }
        }
    }

    fn result(&mut self) -> Entry {
        self.send(Command::Share { files: vec![] });
        Entry { lesson: LESSON.into(), link: self.link.clone(), minutes: Some(3) }
    }
}

fn shelf() -> Shelf {
    Shelf::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lessons")).expect("the lessons")
}

#[test]
fn what_was_solved_counts_and_what_was_shown_or_claimed_does_not() {
    let shelf = shelf();
    let mut solver = Learner::begin(&shelf);
    while let Some(index) = solver.frame.head.lesson.as_ref().and_then(|l| l.asks) {
        solver.send(Command::Predict { index, answer: None });
    }
    let doc = solver.files[0].clone();
    solver.send(Command::Apply { doc });
    solver.go_on();
    let mut watcher = Learner::begin(&shelf);
    watcher.send(Command::ShowMe);
    watcher.send(Command::ShowMe);
    watcher.go_on();
    let solved = solver.result();
    let elsewhere = Entry { lesson: "send-it-twice".into(), ..solved.clone() };
    let broken = Entry { link: "1AAAA".into(), ..solved.clone() };
    let entries = vec![solved, watcher.result(), elsewhere, broken];
    let file = ResultFile { class: "k8s-1".into(), learner: "Ada".into(), entries };
    let rows = judge(&file, &shelf.sources);
    assert!(rows[0].solved && rows[0].note.is_empty(), "{:?}", rows[0]);
    assert_eq!((rows[0].lesson.as_str(), rows[0].minutes, rows[0].hints), (LESSON, Some(3), 0));
    assert!(rows[0].steps > 10 && rows[0].acts >= 1 && rows[0].seconds > 0, "{:?}", rows[0]);
    assert!(!rows[1].solved && rows[1].shown > 0, "{:?}", rows[1]);
    assert!(!rows[2].solved && rows[2].note.contains("send-it-twice"), "{:?}", rows[2]);
    assert!(!rows[3].solved && !rows[3].note.is_empty(), "{:?}", rows[3]);
}

#[test]
fn files_that_are_no_results_are_refused_with_words() {
    let refused = |text: &str| ResultFile::read(text, "x").expect_err("it is refused");
    assert!(refused("{").contains("no JSON"));
    assert!(refused("{\"kubestep\": \"class\"}").contains("no result"));
    assert!(refused("{\"kubestep\": \"result\", \"version\": 2}").contains("version"));
    assert!(refused("{\"kubestep\": \"result\", \"version\": 1}").contains("no lessons"));
    let alone = ResultFile::read("https://kubestep.example/#1abc\n", "ada").expect("a link alone");
    assert_eq!((alone.learner.as_str(), alone.entries[0].link.as_str()), ("ada", "1abc"));
}
