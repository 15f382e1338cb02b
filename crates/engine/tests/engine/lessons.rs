//! A lesson on the page: started, played, answered, shown, gone back in, kept and linked.

use crate::page::Page;
use kubestep_protocol::{Command, Doc, GoalState, Grade, LessonNow, LinkRefused, Stop, Update};
use std::path::{Path, PathBuf};

fn gather(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the lessons") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            gather(&path, found);
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
}

fn sources() -> Vec<Doc> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../lessons"));
    let mut files = vec![];
    gather(root, &mut files);
    files.sort();
    let name = |p: &PathBuf| p.strip_prefix(root).expect("below").to_string_lossy().replace('\\', "/");
    let text = |p: &PathBuf| std::fs::read_to_string(p).expect("text");
    files.iter().map(|p| Doc { name: name(p), text: text(p) }).collect()
}

fn page(language: &str) -> Page {
    let mut page = Page::new();
    page.send(Command::Lessons { sources: sources(), language: language.into() });
    page
}

fn now(page: &Page) -> LessonNow {
    (**page.frame().head.lesson.as_ref().expect("a lesson")).clone()
}

const ID: &str = "read-a-green-exit-code";

#[test]
fn a_lesson_is_played_to_its_end() {
    let mut page = page("en");
    assert_eq!(page.send(Command::LoadLesson(ID.into())), Stop::Finished);
    let loaded = page.loaded.clone().expect("loaded");
    let text = loaded.lesson.expect("texts");
    assert_eq!((text.id.as_str(), text.language.as_str(), loaded.files.len()), (ID, "en", 1));
    assert_eq!((text.goals.len(), text.predictions.len()), (3, 2));
    // The first question waits; a wrong answer is told what was true.
    let begin = now(&page);
    assert_eq!((begin.asks, begin.acts), (Some(0), 0));
    assert!(matches!(page.send(Command::Predict { index: 1, answer: None }), Stop::Refused(_)));
    page.send(Command::Predict { index: 0, answer: Some("3".into()) });
    let answered = now(&page).answers[0].clone().expect("answered");
    assert_eq!((answered.grade, answered.truth.plain(Default::default()).as_str()), (Grade::Wrong, "0"));
    // Going back takes it back.
    page.send(Command::Back);
    assert_eq!(now(&page).asks, Some(0));
    page.send(Command::Predict { index: 0, answer: Some("0".into()) });
    assert_eq!(now(&page).answers[0].as_ref().map(|a| a.grade), Some(Grade::Right));
    // The second comes with the act, and the next run stops for it.
    page.apply(page.doc());
    assert_eq!(now(&page).asks, Some(1));
    page.send(Command::Predict { index: 1, answer: None });
    assert_eq!(now(&page).answers[1].as_ref().map(|a| a.grade), Some(Grade::Skipped));
    assert!(!now(&page).more_hints, "no hint yet");
    page.send(Command::Advance { millis: 60_000 });
    assert!(matches!(now(&page).goals[0].state, GoalState::Done(_)), "{:?}", now(&page).goals);
    page.send(Command::Hint);
    assert_eq!(now(&page).hints.len(), 1);
    let mut doc = page.doc();
    doc.text = doc.text.replace("1.9.2", "1.9.1");
    page.apply(doc);
    page.send(Command::Advance { millis: 60_000 });
    let end = now(&page);
    assert!(end.solved.is_some() && end.trapped.is_none(), "{end:?}");
    assert_eq!((end.acts, end.shown), (2, 0));
    page.check_whole("a lesson");
}

#[test]
fn the_solution_is_shown_on_a_line_of_its_own() {
    let mut page = page("de");
    page.send(Command::LoadLesson(ID.into()));
    let steps = page.loaded.clone().and_then(|l| l.lesson).expect("texts").solution;
    page.send(Command::Predict { index: 0, answer: Some("0".into()) });
    page.apply(page.doc());
    for step in 0..steps {
        assert_eq!(page.send(Command::ShowMe), Stop::Finished, "{step}");
        let files = page.answers.iter().any(|u| matches!(u, Update::Files(_)));
        assert_eq!(files, step == 0 || step == 2, "{step}");
        assert_eq!(now(&page).shown, step + 1);
    }
    // What was reached has to hold for a while.
    page.send(Command::Advance { millis: 40_000 });
    assert!(now(&page).solved.is_some(), "{:?}", now(&page));
    assert!(matches!(page.send(Command::ShowMe), Stop::Refused(_)));
    assert_eq!(page.frame().timeline.branches.len(), 1, "what the learner did is still there");
    // Kept, it comes back the same, with all that was answered.
    let (kept, hash, there) = (page.kept.clone(), page.hash(), now(&page));
    let mut again = self::page("de");
    again.send(Command::Restore { save: kept.clone(), moment: page.frame().head.moment });
    again.send(Command::Seek(again.frame().head.moment));
    assert_eq!((again.hash(), now(&again).shown), (hash, there.shown));
    // Without the lesson's files the link says which lesson it needs.
    let mut bare = Page::new();
    bare.send(Command::LoadLink(kept));
    let refused = bare.answers.iter().find_map(|u| match u {
        Update::LinkRefused(LinkRefused::Lesson(id)) => Some(id.clone()),
        _ => None,
    });
    assert_eq!(refused.as_deref(), Some(ID));
}

#[test]
fn a_trap_is_told_with_the_way_back() {
    let mut page = page("en");
    page.send(Command::LoadLesson("measure-a-gap-and-its-age".into()));
    let line = "kubectl scale deployment checkout --replicas=0".to_string();
    page.send(Command::Kubectl { terminal: 0, line, files: vec![] });
    let trapped = now(&page).trapped.expect("trapped");
    assert!(trapped.forbidden);
    let mut moment = page.frame().head.moment;
    moment.step = trapped.back;
    page.send(Command::Seek(moment));
    assert_eq!(now(&page).trapped, None);
}

#[test]
fn what_is_not_there_is_refused() {
    let mut page = page("fr");
    assert!(matches!(page.send(Command::LoadLesson("nothing".into())), Stop::Refused(_)));
    assert!(matches!(page.send(Command::Hint), Stop::Refused(_)));
    page.send(Command::LoadLesson(ID.into()));
    assert_eq!(page.loaded.clone().and_then(|l| l.lesson).expect("texts").language, "en");
    page.send(Command::LoadScenario(String::new()));
    assert!(page.frame().head.lesson.is_none());
    assert!(matches!(page.send(Command::ShowMe), Stop::Refused(_)));
}

/// A lesson that was solved by its solution, and its link's length.
fn solved(id: &str) -> Result<usize, String> {
    let mut page = page("en");
    page.send(Command::LoadLesson(id.into()));
    let steps = page.loaded.as_ref().and_then(|l| l.lesson.as_ref()).map_or(0, |l| l.solution);
    for _ in 0..steps {
        page.send(Command::ShowMe);
    }
    page.send(Command::Advance { millis: 60_000 });
    if now(&page).solved.is_none() {
        return Err(format!("{id}: the shown way does not solve it"));
    }
    let (hash, link) = (page.hash(), page.share());
    let mut other = self::page("en");
    other.send(Command::LoadLink(link.text.clone()));
    match other.hash() == hash && now(&other).solved.is_some() {
        true if link.text.len() < 2_000 => Ok(link.text.len()),
        true => Err(format!("{id}: its link has {} characters", link.text.len())),
        false => Err(format!("{id}: its link opens at another world")),
    }
}

#[test]
fn every_solved_lesson_fits_into_a_short_link() {
    let all = sources();
    let original = |name: &str| !name.ends_with("folder.md") && name.split('/').count() > 1;
    let stem = |name: &str| name.rsplit('/').next().and_then(|n| n.strip_suffix(".md")).map(str::to_owned);
    let ids: Vec<String> = all
        .iter()
        .filter(|d| original(&d.name))
        .filter_map(|d| stem(&d.name).filter(|s| !s.contains('.')))
        .map(|s| s.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').to_owned())
        .collect();
    assert!(ids.len() >= 42, "{}", ids.len());
    let found: Vec<Result<usize, String>> = std::thread::scope(|scope| {
        let halves: Vec<_> = ids.chunks(ids.len().div_ceil(2)).collect();
        let work = |ids: &[String]| ids.iter().map(|id| solved(id)).collect::<Vec<_>>();
        let running: Vec<_> = halves.into_iter().map(|half| scope.spawn(move || work(half))).collect();
        running.into_iter().flat_map(|r| r.join().expect("every lesson comes back")).collect()
    });
    let wrong: Vec<&String> = found.iter().filter_map(|f| f.as_ref().err()).collect();
    let mut lengths: Vec<usize> = found.iter().filter_map(|f| f.as_ref().ok().copied()).collect();
    lengths.sort_unstable();
    assert!(wrong.is_empty(), "{wrong:#?}");
    println!(
        "characters of a solved lesson: half {}, longest {:?}",
        lengths[lengths.len() / 2],
        lengths.last()
    );
}
