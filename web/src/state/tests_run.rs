//! Runs that outlive a reload, and lessons, in the reducer.

use std::rc::Rc;

use kubestep_protocol::*;

use super::tests::{answer, frame, hello, loaded, running, sent, step};
use super::*;

fn stored(todo: &[Effect]) -> Option<StoredRun> {
    todo.iter().rev().find_map(|e| if let Effect::StoreRun(Some(run)) = e { Some(run.clone()) } else { None })
}

#[test]
fn a_run_is_stored_once_the_person_has_done_something_and_put_back_after_a_reload() {
    let mut state = running(vec![]);
    step(&mut state, Msg::Engine(vec![Update::Kept("1save".into())]));
    step(&mut state, Msg::Time(TimeMsg::Back));
    assert_eq!(stored(&answer(&mut state)), None, "looking is no deed");
    step(&mut state, Msg::Time(TimeMsg::Step));
    let run = stored(&answer(&mut state)).expect("a run");
    assert_eq!((run.scenario.as_str(), run.step, run.save.as_str()), ("P01", 100, "1save"));

    let again = |run: StoredRun, fragment: &str| {
        let mut state = State::default();
        step(&mut state, Msg::Stored(String::new(), Some(run), Progress::default()));
        let prefs = Prefs { scenario: "P01".into(), ..Prefs::default() };
        step(&mut state, Msg::Start(prefs, vec![], fragment.into()));
        step(&mut state, Msg::EngineReady);
        let command = sent(&step(&mut state, Msg::Engine(vec![hello()]))).remove(0);
        (state, command)
    };
    let moment = Moment { branch: BranchId(0), step: 100 };
    let (mut state, command) = again(run.clone(), "");
    assert_eq!(command, Command::Restore { save: "1save".into(), moment });
    step(&mut state, Msg::Engine(vec![loaded(LoadedBy::Restore), Update::Frame(Box::new(frame(100)))]));
    assert_eq!(state.ui.files.len(), 2, "its files come, too");
    assert_eq!(state.banner.as_deref(), Some(&Banner::Back(100)), "and it is said");
    // What is in the address comes first, and a run of another scenario is not put back.
    assert_eq!(again(run.clone(), "#1abc").1, Command::LoadLink("1abc".into()));
    let other = StoredRun { scenario: "P05".into(), ..run.clone() };
    assert_eq!(again(other, "").1, Command::LoadScenario("P01".into()));
    // A run that this engine cannot open gives way to its scenario.
    let (mut state, _) = again(run, "");
    let refused = LinkRefused::Newer { format: 9, reads: vec![1] };
    let todo = step(&mut state, Msg::Engine(vec![Update::LinkRefused(refused)]));
    assert_eq!(sent(&todo), [Command::LoadScenario("P01".into())]);
    assert!(todo.contains(&Effect::StoreRun(None)));
}

#[test]
fn a_run_that_plays_is_stored_meanwhile_and_when_it_pauses() {
    let mut state = running(vec![]);
    step(&mut state, Msg::Engine(vec![Update::Kept("1before".into())]));
    step(&mut state, Msg::Time(TimeMsg::Play));
    step(&mut state, Msg::Time(TimeMsg::Tick(16.0)));
    let todo =
        step(&mut state, Msg::Engine(vec![Update::Frame(Box::new(frame(103))), Update::Kept("1on".into())]));
    let run = stored(&todo).expect("while it plays");
    assert_eq!((run.step, run.save.as_str()), (103, "1on"));
    assert_eq!(sent(&step(&mut state, Msg::Time(TimeMsg::Play))), [Command::Pause]);
    step(&mut state, Msg::Engine(vec![Update::Kept("1paused".into())]));
    assert_eq!(stored(&answer(&mut state)).expect("when it pauses").save, "1paused");
}

fn entry(id: &str, needs: &[&str]) -> CourseEntry {
    CourseEntry {
        id: id.into(),
        needs: needs.iter().map(ToString::to_string).collect(),
        files: vec![format!("{id}.md")],
        ..CourseEntry::default()
    }
}

fn lesson(id: &str) -> Update {
    Update::Loaded(Loaded {
        scenario: format!("lesson:{id}"),
        lesson: Some(Box::new(LessonText { id: id.into(), ..LessonText::default() })),
        ..Loaded::default()
    })
}

#[test]
fn an_address_leads_into_a_lesson_at_a_step() {
    let mut state = State::default();
    step(&mut state, Msg::Stored("?lesson=two&step=7".into(), None, Progress::default()));
    step(&mut state, Msg::Start(Prefs::default(), vec![], String::new()));
    step(&mut state, Msg::EngineReady);
    let todo = step(&mut state, Msg::Engine(vec![hello()]));
    assert!(todo.contains(&Effect::FetchCourse), "{todo:?}");
    let course = vec![entry("one", &[]), entry("two", &["one"])];
    let todo = step(&mut state, Msg::Lesson(LessonMsg::Course(course)));
    assert_eq!(todo, [Effect::FetchLesson("two".into(), vec!["two.md".into()])]);
    let docs = vec![Doc { name: "two.md".into(), text: String::new() }];
    let todo = step(&mut state, Msg::Lesson(LessonMsg::Files("two".into(), docs)));
    assert!(
        matches!(sent(&todo).as_slice(), [Command::Lessons { .. }, Command::LoadLesson(id)] if id == "two")
    );
    let todo = step(&mut state, Msg::Engine(vec![lesson("two"), Update::Frame(Box::new(frame(3)))]));
    assert!(sent(&todo).contains(&Command::Seek(Moment { branch: BranchId(0), step: 7 })), "{todo:?}");
    assert!(todo.contains(&Effect::Address("?lesson=two".into())));
    assert!(state.ui.lesson && state.progress.last == "two");
    assert_eq!(state.place_of("two"), Some((2, 2)));
    assert_eq!(state.goes_on().map(|e| e.id.as_str()), Some("two"), "where one left");
    // Solved: it is remembered, and another is next.
    let mut solved = frame(4);
    let now = LessonNow { solved: Some(At(1)), ..LessonNow::default() };
    solved.head.lesson = Some(std::sync::Arc::new(now));
    let todo = step(&mut state, Msg::Engine(vec![Update::Frame(Box::new(solved))]));
    assert!(todo.iter().any(|e| matches!(e, Effect::StoreProgress(p) if p.solved == ["two"])));
    assert_eq!(state.goes_on().map(|e| e.id.as_str()), Some("one"));
}

#[test]
fn a_lesson_that_cannot_be_fetched_is_said_and_the_page_opens_all_the_same() {
    let mut state = State::default();
    step(&mut state, Msg::Stored("?lesson=gone".into(), None, Progress::default()));
    step(&mut state, Msg::Start(Prefs::default(), vec![], String::new()));
    step(&mut state, Msg::EngineReady);
    step(&mut state, Msg::Engine(vec![hello()]));
    let todo = step(&mut state, Msg::Lesson(LessonMsg::Course(vec![entry("one", &[])])));
    assert_eq!(sent(&todo), [Command::LoadScenario("P01".into())]);
    assert_eq!(state.banner.as_deref(), Some(&Banner::Link(LinkRefused::Lesson("gone".into()))));
}

#[test]
fn a_link_into_a_lesson_is_opened_again_once_its_files_are_there() {
    let mut state = State::default();
    step(&mut state, Msg::Start(Prefs::default(), vec![], "#1abc".into()));
    step(&mut state, Msg::EngineReady);
    step(&mut state, Msg::Engine(vec![hello()]));
    step(&mut state, Msg::Engine(vec![Update::LinkRefused(LinkRefused::Lesson("one".into()))]));
    step(&mut state, Msg::Lesson(LessonMsg::Course(vec![entry("one", &[])])));
    let docs = vec![Doc { name: "one.md".into(), text: String::new() }];
    let todo = step(&mut state, Msg::Lesson(LessonMsg::Files("one".into(), docs)));
    assert_eq!(sent(&todo).last(), Some(&Command::LoadLink("1abc".into())));
    // Not for ever.
    let todo = step(&mut state, Msg::Engine(vec![Update::LinkRefused(LinkRefused::Lesson("one".into()))]));
    assert!(!todo.iter().any(|e| matches!(e, Effect::FetchLesson(..))), "{todo:?}");
}

#[test]
fn the_first_question_about_a_field_waits_for_kubernetes_own_words() {
    let mut state = running(vec![]);
    let todo = step(&mut state, Msg::File(FileMsg::Help(1, 2)));
    assert_eq!(todo, [Effect::FetchDescriptions]);
    let todo = step(&mut state, Msg::Descriptions("x".into()));
    assert!(matches!(
        sent(&todo).as_slice(),
        [Command::Descriptions(_), Command::Field { line: 1, column: 2, .. }]
    ));
    let todo = step(&mut state, Msg::File(FileMsg::Help(1, 3)));
    assert!(matches!(sent(&todo).as_slice(), [Command::Field { .. }]));
    let field = FieldDoc { path: "spec".into(), ..FieldDoc::default() };
    let todo = step(&mut state, Msg::Engine(vec![Update::Field(Some(field.clone()))]));
    assert_eq!(todo, [Effect::Help(Some(field))]);
}

#[test]
fn what_a_run_said_at_its_end_is_said_once() {
    let mut state = running(vec![]);
    for _ in 0..2 {
        step(&mut state, Msg::Time(TimeMsg::Calm));
        let asked = state.pending.iter().rev().find(|(_, c)| *c == Command::UntilCalm);
        let id = asked.expect("asked").0;
        let done = Update::Done { id, stop: Stop::Calm(VerdictKind::Stalled), steps: 0 };
        step(&mut state, Msg::Engine(vec![done]));
    }
    let said = state.steps.iter().filter(|l| matches!(l, StepLine::Said(..))).count();
    assert_eq!(said, 1, "{:?}", Rc::clone(&state.steps));
}
