//! Faults of every loop and every watch: each has its entry, is an input as any other, and ends.

use crate::page::Page;
use kubestep_cluster::loops::{ALL, scheduler::WATCHES};
use kubestep_protocol::{Command, Stop, VerdictKind};

fn put(page: &mut Page, id: &str, on: bool) {
    page.send(Command::Fault { id: id.into(), on });
}

/// Whether an entry is on, and whether it is for those who search.
fn entry(page: &Page, key: &str) -> Option<(bool, bool)> {
    page.frame().faults.iter().find(|f| f.key == key).map(|f| (f.on, f.rare))
}

#[test]
fn every_loop_and_every_watch_has_its_entries() {
    let mut page = Page::open("P15");
    for controller in ALL {
        let key = format!("stop:{}", controller.name());
        assert!(entry(&page, &key).is_some(), "{key}");
        for kind in controller.watches().iter().map(|w| w.kind) {
            for what in ["hold", "lose"] {
                let key = format!("{what}:manager:{}", kind.resource());
                assert!(entry(&page, &key).is_some(), "{key}");
            }
        }
    }
    for kind in WATCHES {
        assert!(entry(&page, &format!("delay:scheduler:{}:5000", kind.resource())).is_some());
    }
    for key in
        ["crash:node-1", "crash-after:node-1:5", "crash-after:manager:5", "hold:node-2:pods", "power:node-3"]
    {
        assert!(entry(&page, key).is_some(), "{key}");
    }
    let names: std::collections::BTreeSet<_> = page.frame().faults.iter().map(|f| f.name.clone()).collect();
    assert_eq!(names.len(), page.frame().faults.len(), "no two entries are called alike");
    // What nothing is there for is for those who search, unless it is on.
    assert_eq!(entry(&page, "stop:replicaset"), Some((false, false)));
    assert_eq!(entry(&page, "stop:cronjob"), Some((false, true)));
    put(&mut page, "stop:cronjob", true);
    assert_eq!(entry(&page, "stop:cronjob"), Some((true, false)));
}

#[test]
fn a_loops_card_stops_it_and_starts_it_again() {
    let mut page = Page::open("P15");
    let fault = |page: &Page, name: &str| {
        page.frame().loops.iter().find(|l| l.name == name).expect("a card").fault.clone()
    };
    for name in ["ReplicaSet controller", "scheduler", "kubelet"] {
        let stop = fault(&page, name);
        put(&mut page, &stop, true);
        assert!(entry(&page, &stop).is_some_and(|(on, _)| on), "{stop}");
        let start = fault(&page, name);
        put(&mut page, &start, false);
        assert!(entry(&page, &stop).is_some_and(|(on, _)| !on), "{start}");
    }
}

#[test]
fn a_delayed_watch_tells_the_same_later() {
    let bound_after = |fault: bool| {
        let mut page = Page::open("P15");
        if fault {
            put(&mut page, "delay:scheduler:pods:20000", true);
        }
        page.kubectl("kubectl scale deployment cart --replicas=5");
        let mut waited = 0;
        while page.frame().pods.len() < 5 || page.frame().pods.iter().any(|p| p.node.is_none()) {
            page.send(Command::Advance { millis: 1000 });
            waited += 1;
            assert!(waited < 90, "they are never bound");
        }
        (waited, page)
    };
    let (soon, _) = bound_after(false);
    let (late, mut page) = bound_after(true);
    assert!(soon < 3 && (20..24).contains(&late), "{soon} s, then {late} s");
    assert_eq!(entry(&page, "delay:scheduler:pods:5000"), Some((true, false)));
    let (hash, shared) = (page.hash(), page.share());
    let mut other = Page::new();
    other.send(Command::LoadLink(shared.text));
    assert_eq!((other.hash(), other.loaded.expect("loaded").differs), (hash, None));
    put(&mut page, "delay:scheduler:pods:5000", false);
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged));
    page.check_whole("after a delay");
}

#[test]
fn what_a_person_sends_may_be_late() {
    let mut page = Page::open("P15");
    put(&mut page, "delay:programs:2000", true);
    let before = page.frame().head.now;
    page.kubectl("kubectl get deployment cart");
    page.send(Command::Advance { millis: 1000 });
    assert!(page.terminal().0.is_empty(), "{:?}", page.terminal());
    page.send(Command::Advance { millis: 9000 });
    assert!(page.terminal().0.contains("cart"), "{:?}", page.terminal());
    assert!(page.frame().head.now.0 - before.0 >= 2000);
    put(&mut page, "delay:programs:2000", false);
    assert_eq!(entry(&page, "delay:programs:2000"), Some((false, false)));
}

#[test]
fn a_power_cut_takes_the_containers() {
    let mut page = Page::open("P15");
    put(&mut page, "power:node-1", true);
    assert_eq!(entry(&page, "power:node-1"), Some((true, false)));
    let stopped = |page: &Page| page.frame().nodes.iter().any(|n| n.name == "node-1" && n.stopped);
    assert!(stopped(&page));
    page.send(Command::Advance { millis: 60_000 });
    put(&mut page, "power:node-1", false);
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged));
    assert!(!stopped(&page));
    assert_eq!(page.frame().pods.len(), 3);
}

/// What the last run of a pod's container ended with, and how many seconds it lasted.
fn last_run(page: &mut Page, of: &str) -> (String, i64) {
    let path = |part: &str| format!("{{.items[0].status.containerStatuses[0].lastState.terminated.{part}}}");
    let mut ask = |part: &str| {
        page.kubectl(&format!("kubectl get pods -l {of} -o jsonpath={}", path(part)));
        page.terminal().0
    };
    let second = |text: &str| text.rsplit(':').next().and_then(|s| s.trim_end_matches('Z').parse().ok());
    let (from, to): (i64, i64) =
        (second(&ask("startedAt")).unwrap_or(-1), second(&ask("finishedAt")).unwrap_or(-1));
    (format!("{} {}", ask("exitCode"), ask("reason")), (to - from).rem_euclid(60))
}

#[test]
fn memory_that_grows_ends_at_the_limit_of_its_container() {
    let mut page = Page::open("P07-memory");
    page.apply(page.doc());
    page.send(Command::Advance { millis: 30_000 });
    let (end, lasted) = last_run(&mut page, "app=thumbs");
    // From 64 MiB to 256 MiB, 8 MiB a second.
    assert_eq!(end, "137 OOMKilled");
    assert!((24..=25).contains(&lasted), "{lasted} s");
    // A restart begins anew.
    page.send(Command::Advance { millis: 40_000 });
    assert_eq!(last_run(&mut page, "app=thumbs").0, "137 OOMKilled");
    let text = page.doc().text.replace("thumbs:1.4", "thumbs:1.5");
    page.apply(kubestep_protocol::Doc { name: "thumbs.yaml".into(), text });
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged));
}

#[test]
fn what_an_image_does_is_an_input_as_any_other() {
    use kubestep_protocol::ImageAct;
    let mut page = Page::open("P07-memory");
    let image = "registry.example.com/thumbs:1.5".to_string();
    let behave = |page: &mut Page, fields: &[(&str, &str)]| {
        let fields = fields.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
        page.send(Command::Image(ImageAct::Behave(image.clone(), fields)))
    };
    for wrong in [("exit", "300"), ("afterSeconds", "-1"), ("memoryMiB", "much"), ("pullSeconds", "3")] {
        assert!(matches!(behave(&mut page, &[wrong]), Stop::Refused(_)), "{wrong:?}");
    }
    let fields = [
        ("exit", "3"),
        ("afterSeconds", "2.5"),
        ("logs", "one\n\"two\""),
        ("ignoresTerm", "true"),
        ("stopSeconds", ""),
    ];
    behave(&mut page, &fields);
    let row = |page: &Page| page.frame().images.iter().find(|i| i.reference.ends_with("thumbs:1.5")).cloned();
    let mut said = row(&page).expect("a row").behaviour.clone();
    said.sort();
    let want = ["afterSeconds 2.5", "exit 3", "ignoresTerm true", "logs one\n\"two\""];
    assert_eq!(said.iter().map(|(k, v)| format!("{k} {v}")).collect::<Vec<_>>(), want);
    let text = page.doc().text.replace("thumbs:1.4", "thumbs:1.5");
    page.apply(kubestep_protocol::Doc { name: "thumbs.yaml".into(), text });
    page.send(Command::Advance { millis: 8000 });
    let (hash, shared) = (page.hash(), page.share());
    assert_eq!(last_run(&mut page, "app=thumbs").0, "3 Error");
    let mut other = Page::new();
    other.send(Command::LoadLink(shared.text));
    assert_eq!((other.hash(), other.loaded.expect("loaded").differs), (hash, None));
    behave(&mut page, &[]);
    assert_eq!(row(&page).expect("a row").behaviour, []);
}
