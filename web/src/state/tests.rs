//! The reducer without a browser: what a person does becomes commands, what the engine says becomes the picture.

use std::rc::Rc;

use kubestep_protocol::*;

use super::*;
use crate::fixture;

pub(super) fn step(state: &mut State, msg: Msg) -> Vec<Effect> {
    let (next, todo) = reduce(state, msg);
    *state = next;
    todo
}

pub(super) fn sent(todo: &[Effect]) -> Vec<Command> {
    let commands =
        todo.iter().filter_map(|e| if let Effect::Send(r) = e { Some(r.command.clone()) } else { None });
    commands.collect()
}

pub(super) fn hello() -> Update {
    let scenario = |id: &str| Scenario { id: id.into(), ..Scenario::default() };
    Update::Hello(Hello {
        models: String::new(),
        version: String::new(),
        formats: vec![1],
        scenarios: vec![scenario("P01"), scenario("P05")],
    })
}

pub(super) fn loaded(by: LoadedBy) -> Update {
    let doc = |name: &str, text: &str| Doc { name: name.into(), text: text.into() };
    Update::Loaded(Loaded {
        scenario: "P01".into(),
        files: vec![doc("a.yaml", "a: 1\n"), doc("b.yaml", "b: 1\n")],
        by,
        ..Loaded::default()
    })
}

pub(super) fn frame(step: u32) -> Frame {
    let mut frame = fixture::stalled();
    frame.head.moment.step = step;
    frame.head.id = FrameId(step);
    frame.head.sentence.step = step;
    frame
}

/// Answers everything that was asked, as an engine does.
pub(super) fn answer(state: &mut State) -> Vec<Effect> {
    let done = state
        .pending
        .iter()
        .map(|(id, _)| Update::Done { id: *id, stop: Stop::Finished, steps: 1 })
        .collect();
    step(state, Msg::Engine(done))
}

/// A page with a session open and a picture drawn.
pub(super) fn running(stored: Vec<StoredDraft>) -> State {
    let mut state = State::default();
    step(&mut state, Msg::Start(Prefs::default(), stored, String::new()));
    step(&mut state, Msg::EngineReady);
    step(&mut state, Msg::Engine(vec![hello()]));
    step(&mut state, Msg::Engine(vec![loaded(LoadedBy::Scenario), Update::Frame(Box::new(frame(100)))]));
    answer(&mut state);
    answer(&mut state);
    state
}

#[test]
fn a_page_opens_the_scenario_it_had_or_the_first_or_the_link() {
    let opened = |scenario: &str, fragment: &str| {
        let mut state = State::default();
        let prefs = Prefs { scenario: scenario.into(), ..Prefs::default() };
        step(&mut state, Msg::Start(prefs, vec![], fragment.into()));
        assert_eq!(sent(&step(&mut state, Msg::EngineReady)), [Command::Hello]);
        sent(&step(&mut state, Msg::Engine(vec![hello()]))).remove(0)
    };
    assert_eq!(opened("", ""), Command::LoadScenario("P01".into()));
    assert_eq!(opened("P05", ""), Command::LoadScenario("P05".into()));
    assert_eq!(opened("gone", ""), Command::LoadScenario("P01".into()));
    assert_eq!(opened("P05", "#1abc"), Command::LoadLink("1abc".into()));
    assert_eq!(opened("", "#scenario=P05"), Command::LoadScenario("P05".into()));
}

#[test]
fn what_is_asked_before_a_session_is_open_is_asked_once_it_is() {
    let mut state = State::default();
    assert!(sent(&step(&mut state, Msg::Time(TimeMsg::Step))).is_empty());
    step(&mut state, Msg::EngineReady);
    step(&mut state, Msg::Engine(vec![hello()]));
    let commands = sent(&step(&mut state, Msg::Engine(vec![loaded(LoadedBy::Scenario)])));
    assert!(commands.contains(&Command::Step { inner: false }), "{commands:?}");
}

#[test]
fn drafts_of_the_same_scenario_lie_over_its_files_and_reset_takes_them_away() {
    let draft = |name: &str| StoredDraft { scenario: "P01".into(), name: name.into(), text: "mine\n".into() };
    let other = StoredDraft { scenario: "P05".into(), ..draft("a.yaml") };
    let mut state = running(vec![draft("b.yaml"), draft("new.yaml"), other]);
    let texts: Vec<_> = state.ui.files.iter().map(|f| (f.name.to_string(), f.text.to_string())).collect();
    assert_eq!(
        texts,
        [
            ("a.yaml".into(), "a: 1\n".into()),
            ("b.yaml".into(), "mine\n".into()),
            ("new.yaml".into(), "mine\n".into())
        ]
    );
    step(&mut state, Msg::File(FileMsg::Front(1)));
    let todo = step(&mut state, Msg::File(FileMsg::Reset));
    assert_eq!(&*state.ui.files[1].text, "b: 1\n");
    let kept = todo.iter().find_map(|e| if let Effect::StoreDrafts(_, d) = e { Some(d.len()) } else { None });
    assert_eq!(kept, Some(1), "only what differs from the scenario is stored");
}

#[test]
fn files_are_named_closed_and_opened_again_and_a_reload_knows_it() {
    let names = |s: &State| s.ui.files.iter().map(|f| f.name.to_string()).collect::<Vec<_>>().join(" ");
    let kept = |todo: &[Effect]| {
        todo.iter().find_map(|e| if let Effect::StoreDrafts(_, d) = e { Some(d.clone()) } else { None })
    };
    let mut state = running(vec![]);
    step(&mut state, Msg::File(FileMsg::New));
    for bad in ["", "a.yaml", "b/../c", "no good", "/x"] {
        step(&mut state, Msg::File(FileMsg::Rename(bad.into())));
        assert_eq!(names(&state), "a.yaml b.yaml new.yaml", "{bad}");
    }
    step(&mut state, Msg::File(FileMsg::Rename(" base/kustomization.yaml ".into())));
    step(&mut state, Msg::File(FileMsg::Draft(2, "resources: []\n".into())));
    step(&mut state, Msg::File(FileMsg::Front(1)));
    step(&mut state, Msg::File(FileMsg::Rename("c.yaml".into())));
    step(&mut state, Msg::File(FileMsg::Front(0)));
    let drafts = kept(&step(&mut state, Msg::File(FileMsg::Close))).expect("stored");
    assert_eq!(names(&state), "c.yaml base/kustomization.yaml");
    let again = running(drafts);
    assert_eq!(names(&again), "c.yaml base/kustomization.yaml");
    assert_eq!(&*again.ui.files[1].text, "resources: []\n");
    let mut again = again;
    step(&mut again, Msg::File(FileMsg::Reopen("a.yaml".into())));
    assert_eq!(names(&again), "c.yaml base/kustomization.yaml a.yaml");
    for _ in 0..4 {
        step(&mut again, Msg::File(FileMsg::Close));
    }
    assert_eq!(again.ui.files.len(), 1, "the last one stays");
}

#[test]
fn what_a_sentence_says_of_the_time_since_is_never_stale() {
    let mut state = running(vec![]);
    let told = |step_no: u32, id: u32, since: Option<u64>| {
        let mut frame = frame(step_no);
        frame.head.id = FrameId(id);
        let words = Rich::words("It wrote.");
        frame.head.sentence.words = match since {
            Some(ms) => words
                .then(Span::Words(" Then ".into()))
                .then(Span::Lasting(ms))
                .then(Span::Words(" passed in which nothing was written.".into())),
            None => words,
        };
        Update::Frame(Box::new(frame))
    };
    let said = |s: &State| {
        s.steps
            .iter()
            .map(|l| if let StepLine::Step(s) = l { s.words.plain(At(0)) } else { String::new() })
            .collect::<Vec<_>>()
    };
    step(&mut state, Msg::Engine(vec![told(101, 201, None)]));
    step(&mut state, Msg::Engine(vec![told(101, 202, Some(39_000))]));
    step(&mut state, Msg::Engine(vec![told(101, 203, Some(60_000))]));
    assert_eq!(
        said(&state).last().map(String::as_str),
        Some("It wrote. Then 1m passed in which nothing was written.")
    );
    step(&mut state, Msg::Engine(vec![told(102, 204, None)]));
    assert!(said(&state).iter().all(|w| !w.contains("Then")), "{:?}", said(&state));
}

#[test]
fn what_is_typed_before_the_simulator_answers_stays_in_front_of_the_files_that_come() {
    let type_early = |stored: Vec<StoredDraft>| {
        let mut state = State::default();
        step(&mut state, Msg::Start(Prefs::default(), stored, String::new()));
        step(&mut state, Msg::File(FileMsg::Draft(0, "early".into())));
        step(&mut state, Msg::EngineReady);
        step(&mut state, Msg::File(FileMsg::Draft(0, "early: 1\n".into())));
        step(&mut state, Msg::Engine(vec![hello()]));
        state
    };
    let files =
        |state: &State| state.ui.files.iter().map(|f| format!("{}: {}", f.name, f.text)).collect::<Vec<_>>();
    let mut state = type_early(vec![]);
    let todo = step(&mut state, Msg::Engine(vec![loaded(LoadedBy::Scenario)]));
    assert_eq!(files(&state), ["a.yaml: a: 1\n", "b.yaml: b: 1\n", "new.yaml: early: 1\n"]);
    assert_eq!(state.ui.front, 2);
    assert!(todo.iter().any(|e| matches!(e, Effect::StoreDrafts(s, d) if s == "P01" && d.len() == 1)));
    step(&mut state, Msg::File(FileMsg::Draft(2, "early: 2\n".into())));
    assert_eq!(files(&state)[2], "new.yaml: early: 2\n");

    // An own file of an earlier visit keeps its name, and a worker that dies before it answers takes nothing away.
    let own = StoredDraft { scenario: "P01".into(), name: "new.yaml".into(), text: "old\n".into() };
    let mut state = type_early(vec![own]);
    step(&mut state, Msg::EngineDied("no memory".into()));
    step(&mut state, Msg::File(FileMsg::Draft(0, "early: 3\n".into())));
    step(&mut state, Msg::EngineReady);
    step(&mut state, Msg::Engine(vec![hello(), loaded(LoadedBy::Scenario)]));
    assert_eq!(files(&state)[2..], ["new.yaml: old\n", "new-2.yaml: early: 3\n"]);
    // Another scenario brings its own files.
    step(&mut state, Msg::Engine(vec![loaded(LoadedBy::Scenario)]));
    assert_eq!(state.ui.files.len(), 2);
}

#[test]
fn what_is_typed_while_the_worker_restarts_stays() {
    let mut state = running(vec![]);
    step(&mut state, Msg::Engine(vec![Update::Kept("1save".into())]));
    step(&mut state, Msg::EngineDied("out of memory".into()));
    step(&mut state, Msg::File(FileMsg::Draft(0, "a: 2\n".into())));
    step(&mut state, Msg::EngineReady);
    step(&mut state, Msg::Engine(vec![hello(), loaded(LoadedBy::Restore)]));
    assert_eq!(&*state.ui.files[0].text, "a: 2\n");
    assert_eq!(state.ui.files[0].origin.as_deref(), Some("a: 1\n"));
}

#[test]
fn answers_about_an_older_draft_are_dropped() {
    let mut state = running(vec![]);
    step(&mut state, Msg::File(FileMsg::Draft(0, "a: 2\n".into())));
    let version = state.ui.files[0].version;
    let checked = |version| Update::Checked(Checked { doc: "a.yaml".into(), version, ..Checked::default() });
    step(&mut state, Msg::Engine(vec![checked(version - 1)]));
    assert!(state.ui.files[0].fresh().is_none());
    step(&mut state, Msg::Engine(vec![checked(version)]));
    assert!(state.ui.files[0].fresh().is_some());
}

#[test]
fn apply_pressed_often_is_asked_one_after_the_other() {
    let mut state = running(vec![]);
    let applies = |todo: &[Effect]| sent(todo).iter().filter(|c| matches!(c, Command::Apply { .. })).count();
    let first: usize = (0..5).map(|_| applies(&step(&mut state, Msg::File(FileMsg::Apply)))).sum();
    assert_eq!(first, 1);
    let rest: usize = (0..8).map(|_| applies(&answer(&mut state))).sum();
    assert_eq!(rest, 4);
}

#[test]
fn a_delta_on_another_base_asks_for_a_whole_frame() {
    let mut state = running(vec![]);
    let delta = Delta::between(&frame(7), &frame(8));
    let todo = step(&mut state, Msg::Engine(vec![Update::Delta(Box::new(delta))]));
    assert_eq!(sent(&todo), [Command::Whole]);
    assert_eq!(state.moment().step, 100);
    let delta = Delta::between(&frame(100), &frame(101));
    step(&mut state, Msg::Engine(vec![Update::Delta(Box::new(delta))]));
    assert_eq!(state.moment().step, 101);
}

#[test]
fn rows_and_pods_that_vanish_keep_their_place_for_single_steps_only() {
    let mut state = running(vec![]);
    let mut without = frame(101);
    let gone = without.pods.remove(0);
    step(&mut state, Msg::Engine(vec![Update::Frame(Box::new(without.clone()))]));
    assert_eq!(state.ghosts.pods.iter().map(|p| p.id).collect::<Vec<_>>(), [gone.id]);
    assert_eq!(state.ghosts.pods[0].life, Life::Gone);
    let mut far = without;
    far.head.moment.step = 150;
    step(&mut state, Msg::Engine(vec![Update::Frame(Box::new(far))]));
    assert_eq!(*state.ghosts, Ghosts::default());
}

#[test]
fn the_log_follows_the_person_back_and_forward() {
    let mut state = running(vec![]);
    let steps =
        |state: &State| state.steps.iter().map(StepLine::step).filter(|s| *s > 97).collect::<Vec<_>>();
    for n in [101, 102, 101] {
        step(&mut state, Msg::Engine(vec![Update::Frame(Box::new(frame(n)))]));
    }
    assert_eq!(steps(&state), [100, 101]);
    let sentence = |step| Sentence { step, ..Sentence::default() };
    step(
        &mut state,
        Msg::Engine(vec![Update::Sentences(vec![sentence(98), sentence(99), sentence(100), sentence(102)])]),
    );
    assert_eq!(steps(&state), [98, 99, 100, 101]);
}

#[test]
fn playing_asks_for_one_slice_at_a_time_and_ends_with_any_act() {
    let mut state = running(vec![]);
    assert!(step(&mut state, Msg::Time(TimeMsg::Play)).contains(&Effect::NextSlice));
    let todo = step(&mut state, Msg::Time(TimeMsg::Tick(16.0)));
    assert_eq!(sent(&todo), [Command::Play { millis: 960, steps: 40 }]);
    assert!(sent(&step(&mut state, Msg::Time(TimeMsg::Tick(16.0)))).is_empty());
    assert!(answer(&mut state).contains(&Effect::NextSlice));
    let commands = sent(&step(&mut state, Msg::File(FileMsg::Apply)));
    assert!(matches!(commands.as_slice(), [Command::Pause, Command::Apply { .. }]), "{commands:?}");
    assert!(!state.playing);
}

#[test]
fn of_several_drags_only_the_last_is_shown_next() {
    let mut state = running(vec![]);
    let at = |step| Moment { branch: BranchId(0), step };
    assert_eq!(sent(&step(&mut state, Msg::Time(TimeMsg::Drag(90)))), [Command::Peek(at(90))]);
    for n in [80, 70, 60] {
        assert!(sent(&step(&mut state, Msg::Time(TimeMsg::Drag(n)))).is_empty());
    }
    let todo = step(&mut state, Msg::Time(TimeMsg::Drawn(FrameId(5))));
    assert_eq!(sent(&todo), [Command::Drawn(FrameId(5)), Command::Peek(at(60))]);
}

#[test]
fn a_dead_simulator_is_started_again_with_what_was_kept_and_given_up_after_three_times() {
    let mut state = running(vec![]);
    step(&mut state, Msg::Engine(vec![Update::Kept("save".into())]));
    step(&mut state, Msg::Time(TimeMsg::Calm));
    let broken = Update::Broken(Broken { message: "it broke".into(), place: "world.rs:1".into() });
    assert!(step(&mut state, Msg::Engine(vec![broken])).contains(&Effect::Restart));
    assert!(sent(&step(&mut state, Msg::Time(TimeMsg::Back))).is_empty(), "nobody listens yet");
    assert_eq!(sent(&step(&mut state, Msg::EngineReady)), [Command::Hello]);
    let commands = sent(&step(&mut state, Msg::Engine(vec![hello()])));
    let moment = Moment { branch: BranchId(0), step: 100 };
    assert_eq!(commands[0], Command::Restore { save: "save".into(), moment });
    let commands = sent(&step(
        &mut state,
        Msg::Engine(vec![loaded(LoadedBy::Restore), Update::Frame(Box::new(frame(100)))]),
    ));
    assert!(commands.contains(&Command::Back), "what was asked meanwhile: {commands:?}");
    assert!(matches!(state.banner.as_deref(), Some(Banner::Restarted(100, Some(Command::UntilCalm), _))));
    let commands = sent(&step(&mut state, Msg::TryAgain));
    assert_eq!(commands, [Command::UntilCalm]);

    for _ in 0..4 {
        step(&mut state, Msg::EngineDied("again".into()));
    }
    assert_eq!(state.health, Health::Gone);
    assert!(sent(&step(&mut state, Msg::Time(TimeMsg::Step))).is_empty());
}

#[test]
fn single_keys_act_only_where_nothing_is_typed() {
    let mut state = running(vec![]);
    let press = |key: &str| KeyPress { key: key.into(), ..KeyPress::default() };
    assert_eq!(sent(&step(&mut state, Msg::Key(press("s")))), [Command::Step { inner: false }]);
    answer(&mut state);
    answer(&mut state);
    for other in [
        KeyPress { typing: true, ..press("s") },
        KeyPress { ctrl: true, ..press("s") },
        KeyPress { alt: true, ..press("s") },
    ] {
        assert!(sent(&step(&mut state, Msg::Key(other))).is_empty());
    }
    step(&mut state, Msg::Keys(SingleKeys::Time));
    assert!(sent(&step(&mut state, Msg::Key(press("s")))).is_empty());
    assert_eq!(sent(&step(&mut state, Msg::Key(KeyPress { in_time: true, ..press("s") }))).len(), 1);
    let apply = KeyPress { ctrl: true, typing: true, ..press("Enter") };
    step(&mut state, Msg::Keys(SingleKeys::Off));
    assert!(sent(&step(&mut state, Msg::Key(apply))).iter().any(|c| matches!(c, Command::Apply { .. })));
}

#[test]
fn breaking_edits_the_file_and_can_be_taken_back() {
    let mut state = running(vec![]);
    step(&mut state, Msg::Open(Open::Break));
    let item = |name: &str, text: &str| BreakItem {
        name: String::new(),
        place: String::new(),
        minus: None,
        plus: None,
        result: Doc { name: name.into(), text: text.into() },
        used: false,
    };
    let items = vec![item("a.yaml", "a: broken\n"), item("quota.yaml", "kind: ResourceQuota\n")];
    step(&mut state, Msg::Engine(vec![Update::BreakMenu(items)]));
    step(&mut state, Msg::File(FileMsg::Break(0)));
    assert_eq!(&*state.ui.files[0].text, "a: broken\n");
    step(&mut state, Msg::File(FileMsg::Unbreak));
    assert_eq!(&*state.ui.files[0].text, "a: 1\n");
    step(&mut state, Msg::File(FileMsg::Break(1)));
    assert_eq!((&*state.ui.files[2].name, state.ui.front), ("quota.yaml", 2));
}

#[test]
fn no_message_in_any_state_panics() {
    let frame = Some(Rc::new(frame(3)));
    let states = [State::default(), running(vec![]), State { frame, ..State::default() }];
    let object = ObjectRef { kind: "Pod".into(), namespace: "default".into(), name: "x".into() };
    let messages = [
        Msg::Time(TimeMsg::Seek(9_999)),
        Msg::Time(TimeMsg::Neighbour(true)),
        Msg::Time(TimeMsg::Tick(f64::NAN)),
        Msg::File(FileMsg::Front(99)),
        Msg::File(FileMsg::Break(99)),
        Msg::File(FileMsg::Draft(99, String::new())),
        Msg::File(FileMsg::Go(Some("none".into()), 0, 0)),
        Msg::Term(TermMsg::History(true)),
        Msg::Term(TermMsg::Search),
        Msg::Term(TermMsg::Interrupt),
        Msg::Term(TermMsg::Enter),
        Msg::Select(object),
        Msg::TryAgain,
        Msg::Copy,
        Msg::Fold(Id(7)),
        Msg::End(EndAct::None),
        Msg::Engine(vec![Update::Done { id: CommandId(999), stop: Stop::Finished, steps: 0 }]),
        Msg::Engine(vec![Update::Delta(Box::default())]),
    ];
    for state in &states {
        for msg in &messages {
            reduce(state, msg.clone());
        }
    }
}
