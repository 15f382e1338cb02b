//! Lessons that are wrong, each with what it is told.

use super::*;

const GOOD: &str = "---\ntitle: Count\nrows: [P15]\n---\n\nThree pods run.\n\n```yaml file web.yaml\nkind: Pod\n```\n\n\
```yaml goal\nsay: Three are ready.\nis: pods -l app=web ready == 3\nhold: 20s\n```\n\n\
```yaml predict\nask: How many?\nanswer: pods count\nchoices:\n- 0: none\n- 3\nbecause: You see them.\n```\n\n\
```yaml solution\n- wait: 3\n```\n\n## Afterwards\n\nWell done.\n";

fn read(text: &str) -> Result<Lesson, Vec<Problem>> {
    let sources = [Source { path: "a/01-count.md".into(), text: text.into() }];
    Lesson::read("a/01-count.md", &sources, "en")
}

#[test]
fn a_lesson_is_read() {
    let lesson = read(GOOD).expect("a lesson");
    assert_eq!(
        (lesson.id.as_str(), lesson.title.as_str(), lesson.front.as_str()),
        ("count", "Count", "web.yaml")
    );
    assert_eq!(
        (lesson.text, lesson.debrief),
        (vec!["Three pods run.".to_string()], vec!["Well done.".into()])
    );
    assert_eq!(lesson.goals[0].hold, Duration::from_secs(20));
    let choices: Vec<(&str, &str)> =
        lesson.predictions[0].choices.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(choices, [("0", "none"), ("3", "3")]);
}

#[test]
fn what_is_wrong_says_where_and_what_to_do() {
    for (from, to, line, part) in [
        ("title: Count", "titel: Count", 2, "a key titel that is not known"),
        ("is: pods -l app=web ready == 3", "is: pods ready", 12, "is not understood"),
        ("is: pods", "if: pods", 12, "asks nothing"),
        ("hold: 20s", "hold: long", 12, "no length of time"),
        ("```yaml goal", "```yaml gaol", 12, "There is no block gaol"),
        ("```yaml goal", "```", 12, "has no name"),
        ("- wait: 3", "- jump: 3", 27, "unknown key"),
        ("- wait: 3", "- {fault: \"stop:nobody\"}", 0, "there is no loop nobody"),
        ("## Afterwards", "### Afterwards", 31, "This heading has no place"),
        ("## Afterwards\n\nWell done.", "", 0, "There is no debrief"),
        ("answer: pods count", "answer: many", 18, "is not understood"),
        ("because: You see them.", "why: x", 18, "has no because"),
        ("say: Three are ready.", "say: [", 15, ""),
        ("---\n\nThree", "\n\nThree", 1, "no end"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let problems = read(&GOOD.replacen(from, to, 1)).expect_err(to);
        let found = problems.iter().find(|p| p.text.contains(part));
        let found = found.unwrap_or_else(|| panic!("{to}: {problems:?}"));
        assert!(!found.remedy.is_empty(), "{found}");
        assert_eq!(found.line, line, "{found}");
    }
}

/// What is told of the good lesson with one change.
fn told(from: &str, to: &str) -> Vec<Problem> {
    assert!(GOOD.contains(from), "{from}");
    read(&GOOD.replacen(from, to, 1)).err().unwrap_or_default()
}

#[test]
fn what_would_be_passed_over_in_silence_is_named() {
    let goal = "is: pods -l app=web ready == 3";
    for (from, to, line, part) in [
        ("title: Count", "title: Count\ntitle: Once more", 3, "second title"),
        ("rows: [P15]", "rows: [P99]", 3, "there is no P99"),
        ("rows: [P15]", "rows: P15", 3, "rows is not a list"),
        ("rows: [P15]", "minutes: five", 3, "no number of minutes"),
        ("rows: [P15]", "minutes: -5", 3, "no number of minutes"),
        ("rows: [P15]", "needs: nope", 3, "needs is not a list"),
        ("rows: [P15]", "needs: [count]", 3, "needs itself"),
        ("rows: [P15]", "select: Deployment", 3, "names no object"),
        (goal, "is: pods -l app=web ready == 3\nonce: pods count == 1", 12, "asks twice"),
        (goal, "is: pods -l app=web ready == 3\nis: pods count == 1", 15, "second is in the block goal"),
        (
            "```yaml solution",
            "```yaml solution\n- wait: 1\n```\n\n```yaml solution",
            31,
            "second block solution",
        ),
        (
            "```yaml file web",
            "```yaml file web.yaml\na: 1\n```\n\n```yaml file web",
            12,
            "second block file web.yaml",
        ),
        (
            "```yaml goal",
            "```yaml images\nweb:1: {pullSeconds: 1, bananas: 3}\n```\n\n```yaml goal",
            12,
            "key bananas",
        ),
        ("```yaml goal", "```yaml images\n\"a b\": {}\n```\n\n```yaml goal", 12, "no name of an image"),
        ("```yaml goal", "```yaml nodes\n- {nmae: a}\n```\n\n```yaml goal", 12, "key nmae"),
        ("- wait: 3", "- wait: -3", 27, "from 0 on"),
        ("- wait: 3", "- wait: 99999999", 0, "more than a week"),
        ("- wait: 3", "- image: {\"a b\": {}}", 0, "no name of an image"),
        ("Three pods run.", "Three pods\u{0} run.", 6, "that nobody can see"),
        ("Three pods run.", "* Three pods run.", 6, "A list with this sign is not drawn"),
        ("Three pods run.", "1. Three pods run.", 6, "A numbered list"),
        ("Three pods run.", "| a | b |", 6, "A table"),
        ("Three pods run.", "> Three pods run.", 6, "A quotation"),
        ("Three pods run.", "Three *pods* run.", 6, "`*pods*` is not drawn"),
        ("Three pods run.", "See [here](https://example.com).", 6, "`](https://example.com)` is not drawn"),
        ("Three pods run.", "![three](three.png)", 6, "`![` is not drawn"),
        ("== 3\nhold: 20s\n```", "== 3\nhold: 20s\n", 12, "The block has no end"),
    ] {
        let problems = told(from, to);
        assert_eq!(problems.len(), 1, "{to}: {problems:?}");
        assert!(problems[0].text.contains(part) && !problems[0].remedy.is_empty(), "{to}: {}", problems[0]);
        assert_eq!(problems[0].line, line, "{}", problems[0]);
    }
}

#[test]
fn what_is_drawn_or_says_nothing_else_is_let_be() {
    for to in [
        "- Three pods run.\n- They stay.",
        "**Three** pods run, `a * b * c`.",
        "2 * 3 * 4 pods run. It took 1.5 s.",
        "[The pod](#Pod/web) runs (`kubectl get pods`).",
    ] {
        assert_eq!(told("Three pods run.", to), [], "{to}");
    }
}

#[test]
fn marks_of_other_editors_do_no_harm() {
    for text in [format!("\u{feff}{GOOD}"), GOOD.replace('\n', "\r\n"), GOOD.replace('\n', "\r")] {
        assert_eq!(read(&text).expect("a lesson").title, "Count");
    }
}

#[test]
fn a_problem_ends_its_sentence_before_the_remedy() {
    let problem =
        |text: &str| Problem { path: "a".into(), line: 1, text: text.into(), remedy: "Mend it.".into() };
    assert_eq!(problem("no type \"x\"").to_string(), "a:1: no type \"x\". Mend it.");
    assert_eq!(problem("It is so.").to_string(), "a:1: It is so. Mend it.");
}

#[test]
fn folders_hand_down_and_translations_hold_texts_only() {
    let folder = "---\npart: The course\n---\n\n```yaml images\nweb:1: {pullSeconds: 2}\n```\n";
    let german = "---\ntitle: Zählen\n---\n\nDrei laufen.\n\n```yaml goal\nsay: Drei sind bereit.\n```\n\n\
```yaml predict\nask: Wie viele?\nchoices: [keiner, drei]\nbecause: Man sieht sie.\n```\n\n## Danach\n\nGut.\n";
    let read = |german: &str| {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let sources = [
            source("folder.md", folder),
            source("folder.de.md", "---\npart: Der Kurs\n---\n"),
            source("a/01-count.md", GOOD),
            source("a/01-count.de.md", german),
        ];
        Lesson::read("a/01-count.md", &sources, "de")
    };
    let lesson = read(german).expect("a translation");
    assert_eq!((lesson.part.as_str(), lesson.title.as_str()), ("Der Kurs", "Zählen"));
    assert!(lesson.registry.get("web:1").is_some());
    assert_eq!(lesson.predictions[0].choices[0], ("0".to_string(), "keiner".to_string()));
    assert_eq!(lesson.goals[0].say, "Drei sind bereit.");
    for (from, to, part) in [
        ("say: Drei sind bereit.", "say: Drei\nis: pods count == 3", "a key is that is not known"),
        ("```yaml goal\nsay: Drei sind bereit.\n```\n", "", "0 blocks goal, in the original 1"),
        ("Drei laufen.", "Drei laufen.\n\nNoch etwas.", "2 paragraphs, the original 1"),
        ("Drei laufen.", "Drei `web` laufen.", "Words between backticks"),
        ("choices: [keiner, drei]\n", "", "choices has 0 rows"),
        ("because: Man sieht sie.", "", "has no because"),
        ("title: Zählen", "rows: [P15]", "belongs to the original"),
    ] {
        assert!(german.contains(from), "{from}");
        let problems = read(&german.replacen(from, to, 1)).expect_err(to);
        assert!(problems.iter().any(|p| p.text.contains(part)), "{part}: {problems:?}");
    }
}
