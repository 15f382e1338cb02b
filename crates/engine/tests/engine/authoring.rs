//! What is taken away from a run: its steps, a script for a real cluster, a lesson that proves itself.

use crate::page::Page;
use kubestep_engine::author;
use kubestep_protocol::{Command, Doc, ImageAct, NodeAct, Stop};

/// The opening story, brought to a good end: the tag is pushed, and the rollout goes through.
fn played() -> Page {
    let mut page = Page::open("P05");
    page.apply(page.doc());
    page.send(Command::Advance { millis: 30_000 });
    page.send(Command::Image(ImageAct::Push("registry.example.com/checkout:1.9.2".into())));
    page.send(Command::Node(NodeAct::Add));
    page.kubectl("kubectl get pods -l 'app in (checkout)'");
    page.kubectl("kubectl get pods nobody");
    page.send(Command::Advance { millis: 300_000 });
    page
}

#[test]
fn a_run_becomes_a_lesson_that_proves_itself() {
    let link = played().share().text;
    let text = author("lesson", &link, &[]).expect("a lesson");
    assert_eq!(author("check", &text, &[]).as_deref(), Ok(""), "{text}");
    for part in [
        "```yaml start\n- wait: 60\n",
        "```yaml file checkout.yaml\n",
        "- kubectl: apply -f checkout.yaml\n",
        "- image: {\"registry.example.com/checkout:1.9.2\": {pullSeconds: 1}}\n",
        "- node: {add: {name: \"node-4\"}}\n",
        "- kubectl: get pods nobody\n  exit: 1\n",
        "image == \\\"registry.example.com/checkout:1.9.2\\\" ready == 3",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let broken = text.replace("ready == 3", "ready == 4");
    let found = author("check", &broken, &[]).expect("a check");
    assert!(found.contains("The solution does not meet this goal"), "{found}");
}

#[test]
fn a_run_in_a_lesson_begins_where_the_lesson_does() {
    let mine =
        Doc { name: "own/hello.md".into(), text: include_str!("../../../cli/src/lesson/template.md").into() };
    let mut page = Page::new();
    page.send(Command::Lessons { sources: vec![mine.clone()], language: "en".into() });
    assert_eq!(page.send(Command::LoadLesson("hello".into())), Stop::Finished);
    page.kubectl("kubectl scale deployment hello --replicas=4");
    page.send(Command::Advance { millis: 60_000 });
    let link = page.share().text;
    let text = author("lesson", &link, &[mine]).expect("a lesson");
    assert_eq!(author("check", &text, &[]).as_deref(), Ok(""), "{text}");
    assert!(text.contains("- kubectl: apply -f hello.yaml\n- settle: 5\n"), "{text}");
    let without = author("lesson", &link, &[]).expect_err("its files are not at hand");
    assert!(without.contains("hello"), "{without}");
}

#[test]
fn what_cannot_be_a_lesson_says_why() {
    let mut page = Page::open("P05");
    assert!(author("lesson", &page.share().text, &[]).is_err_and(|why| why.contains("Nothing was done yet")));
    page.send(Command::Back);
    page.kubectl("kubectl get pods");
    assert!(author("lesson", &page.share().text, &[]).is_err_and(|why| why.contains("before the beginning")));
    for (what, link) in [("lesson", "1AAAA"), ("steps", ""), ("script", "9x"), ("nonsense", "1AAAA")] {
        assert!(author(what, link, &[]).is_err(), "{what} {link}");
    }
}

#[test]
fn steps_are_told_in_order() {
    let mut page = played();
    let text = author("steps", &page.share().text, &[]).expect("steps");
    let numbers: Vec<u32> =
        text.lines().filter_map(|l| l.split_once(". +")).filter_map(|(n, _)| n.parse().ok()).collect();
    assert!(numbers.len() > 20 && numbers.is_sorted(), "{text}");
    assert_eq!(numbers.last(), Some(&page.frame().head.moment.step));
    assert!(
        text.contains("`kubectl apply -f checkout.yaml`") && text.contains("**Converged** after"),
        "{text}"
    );
}

#[test]
fn a_script_is_one_that_a_shell_reads() {
    let mut page = played();
    page.kubectl("kubectl get pods\nrm -rf x; echo $(id) | sh");
    let text = author("script", &page.share().text, &[]).expect("a script");
    for part in [
        "cat > checkout.yaml <<'KUBESTEP'\n",
        "run kubectl apply -f checkout.yaml\n",
        "run kubectl get pods -l 'app in (checkout)'\n",
        "# Only in Kubestep: the image registry.example.com/checkout:1.9.2 was pushed.",
        "pause 3",
        "# --- What was there at the beginning ends here",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(
        !text.lines().any(|l| l.starts_with("rm ") || l.contains("$(id)") && !l.starts_with('#')),
        "{text}"
    );
    let file = std::env::temp_dir().join(format!("kubestep-script-{}.sh", std::process::id()));
    std::fs::write(&file, &text).expect("written");
    let read = std::process::Command::new("sh").arg("-n").arg(&file).status().expect("a shell");
    std::fs::remove_file(&file).expect("removed");
    assert!(read.success(), "{text}");
}
