//! Every lesson proves itself, in every language, and the map of lessons is the one of these lessons.

use crate::golden::root;
use kubestep_cli::lesson::{Shelf, index, reports};

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
