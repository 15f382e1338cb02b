//! Every lesson proves itself, in every language, and the map of lessons is the one of these lessons.

use crate::golden::root;
use kubestep_cli::lesson::{Shelf, index, reports};

/// A lesson whose goal is reached by an undo.
const UNDO: &str = r#"---
title: Back
rows: [P10]
minutes: 3
---

Take the version back.

```yaml images
registry.example.com/hello:1.0.0: {pullSeconds: 1}
```

```yaml file hello.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: hello}
spec:
  selector: {matchLabels: {app: hello}}
  template:
    metadata: {labels: {app: hello}}
    spec: {containers: [{name: hello, image: "registry.example.com/hello:1.0.0"}]}
```

```yaml start
- kubectl: apply -f hello.yaml
- settle: 5
SECOND```

```yaml goal
say: It was taken back.
is: deployment hello metadata.annotations[deployment.kubernetes.io/revision] == 3
```

```yaml predict
ask: How does the command end?
do:
- kubectl: rollout undo deployment/hello
answer: exit
choices:
- 0
- 1
because: There is a version to go back to.
```

```yaml solution
- kubectl: rollout undo deployment/hello
- settle: 5
```

## What you saw

The version before came back.
"#;

#[test]
fn a_lesson_that_undoes_begins_with_two_revisions() {
    let problems = |second: &str| {
        let text = UNDO.replace("SECOND", second);
        let source = kubestep_lessons::lesson::Source { path: "undo.md".into(), text };
        kubestep_lessons::check::check("undo.md", &[source], &[]).problems
    };
    let second = "- kubectl: set env deployment/hello N=2\n- settle: 5\n";
    let undo =
        |second: &str| problems(second).into_iter().find(|p| p.text.contains("no rollout history found"));
    assert_eq!(undo(second), None, "with two it is well");
    let found = undo("").expect("with one it is refused");
    assert!(found.text.contains("error: no rollout history found for deployment \"hello\""), "{found:?}");
    assert_eq!(found.remedy, "Undo needs two revisions: let the block start make a second one.");
}

/// The languages that the course is complete in, beside English.
const LANGUAGES: [&str; 1] = ["de"];

fn shelf() -> Shelf {
    Shelf::open(&root().join("lessons")).expect("the lessons")
}

#[test]
fn every_lesson_proves_itself() {
    let languages = LANGUAGES.map(String::from);
    let mut wrong = vec![];
    let all = reports(&shelf(), &languages);
    assert!(all.len() >= 16, "only {} lessons were found", all.len());
    for (path, report) in &all {
        assert!(!report.title.is_empty() || !report.problems.is_empty(), "{path} was not looked at");
        wrong.extend(report.problems.iter().map(ToString::to_string));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_example_of_the_handbook_proves_itself() {
    let folder = root().join("docs/examples");
    let all = reports(&Shelf::open(&folder).expect("the examples"), &[]);
    let wrong: Vec<String> = all.iter().flat_map(|(_, r)| &r.problems).map(ToString::to_string).collect();
    assert!(!all.is_empty() && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_map_is_up_to_date() {
    let found = index(&shelf()).expect("a map");
    let kept = std::fs::read_to_string(root().join("lessons/index.json")).expect("lessons/index.json");
    assert_eq!(found, kept, "run: kubestep lesson index lessons -o lessons/index.json");
}

#[test]
fn a_new_lesson_passes_its_check() {
    let folder = std::env::temp_dir().join(format!("kubestep-lesson-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("mine.md").display().to_string();
    assert_eq!(kubestep_cli::lesson::main(&["new".into(), file.clone()]), 0);
    assert_eq!(kubestep_cli::lesson::main(&["new".into(), file.clone()]), 2, "nothing is written over");
    assert_eq!(kubestep_cli::lesson::main(&["check".into(), file.clone()]), 0);
    let text = std::fs::read_to_string(&file).expect("the lesson");
    for (from, to) in [
        ("is: deployment hello ready == 3", "is: deployment hello ready == 2"),
        ("- kubectl: apply -f hello.yaml\n- settle: 10", "- settle: 10"),
        ("- 2\n", ""),
        ("say: The number", "say: The `pod/nobody` number"),
        ("say: The number", "say: Type kubectl apply -f hello.yaml. The number"),
        ("say: The number", "when: deployment hello spec.replicas == 9\nsay: The number"),
    ] {
        assert!(text.contains(from), "{from}");
        std::fs::write(&file, text.replacen(from, to, 1)).expect("written");
        assert_eq!(kubestep_cli::lesson::main(&["check".into(), file.clone()]), 1, "{to}");
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_folder_is_looked_at_as_a_whole() {
    let folder = std::env::temp_dir().join(format!("kubestep-shelf-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let lesson = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        kubestep_cli::lesson::main(&args)
    };
    let all = folder.display().to_string();
    let mine = folder.join("mine.md").display().to_string();
    assert_eq!(lesson(&["new", &mine]), 0);
    assert_eq!(lesson(&["check", &all]), 0);
    let text = std::fs::read(&mine).expect("the lesson");
    let unmet = String::from_utf8_lossy(&text).replace("minutes: 3", "needs: [nobody]");
    let latin = [&b"---\ntitle: f\xfcr\n---\n"[..], &text].concat();
    for (name, bytes) in [
        ("2-mine.md", &text),
        ("orphan.de.md", &text),
        ("mine.xx.md", &text),
        ("LESSON.MD", &text),
        ("latin.md", &latin),
        ("unmet.md", &unmet.into_bytes()),
    ] {
        let stray = folder.join(name);
        std::fs::write(&stray, bytes).expect("written");
        assert_eq!(lesson(&["check", "--lang", "", &all]), 1, "{name}");
        assert_eq!(lesson(&["check", &mine]), i32::from(name == "2-mine.md"), "the others are not {name}");
        std::fs::remove_file(stray).expect("removed");
    }
    assert_eq!(
        lesson(&["check", &folder.join("mine.de.md").display().to_string()]),
        0,
        "its original is meant"
    );
    for (args, code) in [
        (&["check", "--lang", "klingon", &mine][..], 2),
        (&["check", "--lang", "DE", &mine], 2),
        (&["check", "--help"], 0),
        (&["new", "--help"], 0),
        (&["new", "new.de.md"], 2),
        (
            &[
                "play",
                &mine,
                "--solution",
                "--ask",
                "deployment hello ready == 3",
                "--ask",
                "kubectl get pods",
            ],
            0,
        ),
        (&["play", &mine, "--ask", "podz ready"], 2),
        (&["play"], 2),
    ] {
        assert_eq!(lesson(args), code, "{args:?}");
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// Where a lesson's start leads, and its solution.
#[test]
fn an_author_looks_at_the_world_of_a_lesson() {
    let shelf =
        Shelf::open(&root().join("docs/examples/the-question-at-the-wrong-door.md")).expect("the example");
    let lines =
        ["pods -l app=shop ready == 2", "deployment shop reason Progressing", "kubectl get deployment shop"];
    let look = |solved: bool| {
        let lines = lines.map(String::from);
        kubestep_lessons::look::look(&shelf.lessons[0], &shelf.sources, solved, 0, &lines).expect("played")
    };
    let before = look(false);
    assert!(before.contains("> pods -l app=shop ready == 2\nno; it is `0`"), "{before}");
    assert!(before.contains("ProgressDeadlineExceeded") && before.contains("shop   0/2"), "{before}");
    assert!(look(true).contains("shop   2/2"));
}
