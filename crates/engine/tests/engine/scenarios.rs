//! Every scenario starts in one command, and its first act does what its opening says.

use crate::page::{Page, object};
use kubestep_protocol::{
    Command, Doc, FaultItem, ImageAct, NodeAct, PodAct, PodLook, Severity, Stop, Tab, Update, VerdictKind,
};

#[test]
fn the_list_is_what_can_be_started() {
    let mut page = Page::new();
    page.send(Command::Hello);
    let Some(Update::Hello(hello)) = page.answers.first().cloned() else { panic!("no hello") };
    assert_eq!(hello.models, "Kubernetes v1.37");
    let ids: Vec<&str> = hello.scenarios.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids[0], "P05", "the opening story comes first");
    for id in [
        "P01", "P02", "P03", "P04", "P05", "P06", "P07", "P08", "P09", "P10", "P11", "P12", "P13", "P14",
        "P15", "P16", "P17", "P18", "P19", "P20", "P21", "P22",
    ] {
        assert!(ids.contains(&id), "{id}");
    }
    for scenario in &hello.scenarios {
        assert_eq!(page.send(Command::LoadScenario(scenario.id.clone())), Stop::Finished);
        let loaded = page.loaded.clone().expect("loaded");
        assert_eq!(loaded.title, scenario.title);
        assert!(!loaded.opening.is_empty() && !loaded.files.is_empty());
        // Some begin with a gap: a tag that is not there, or pods that a loop has only begun to place or to take away.
        let open = ["P06-surge", "P07-registry", "P22", "P21-answer", "P21-victim", "P21-binding", "P21-job"];
        let open = open.contains(&scenario.id.as_str());
        assert_eq!(page.verdict() != VerdictKind::Converged, open, "{}", scenario.id);
        assert!(page.frame().head.quiet || page.frame().head.moment.step > 0);
        let hash = page.hash();
        let mut again = Page::open(&scenario.id);
        assert_eq!(again.hash(), hash, "{} is the same every time", scenario.id);
        // Its file is accepted, but for those that are about a refusal.
        for doc in loaded.files {
            let checked = page.check(&doc.text);
            assert_eq!(
                checked.problems.iter().all(|p| p.severity != Severity::Error),
                scenario.id != "P12" && !["refused.yaml", "one-more.yaml"].contains(&doc.name.as_str()),
                "{}: {:?}",
                scenario.id,
                checked.problems
            );
        }
    }
    assert!(matches!(page.send(Command::LoadScenario("none".into())), Stop::Refused(_)));
}

fn applied(id: &str) -> (Page, Stop) {
    let mut page = Page::open(id);
    let docs = page.docs();
    let front = docs.iter().find(|d| d.text.contains("Deployment")).expect("a file").clone();
    let (said, exit) = page.apply(front);
    assert_eq!(exit, Some(0), "{id}: {said}");
    let stop = page.send(Command::UntilCalm);
    (page, stop)
}

#[test]
fn openings_go_as_told() {
    for (id, pods, end) in [
        ("P01", 2, VerdictKind::Converged),
        ("P02", 8, VerdictKind::Stalled),
        ("P03", 1, VerdictKind::Converged),
        ("P06", 4, VerdictKind::Converged),
        ("P13", 3, VerdictKind::Converged),
        ("P18", 4, VerdictKind::Stalled),
        ("P04", 3, VerdictKind::Stalled),
        ("empty", 2, VerdictKind::Converged),
    ] {
        let (mut page, stop) = applied(id);
        assert_eq!(stop, Stop::Calm(end), "{id}: {:?}", page.frame().head.verdict);
        assert_eq!(page.frame().pods.len(), pods, "{id}");
        page.check_whole(id);
    }
}

#[test]
fn the_selector_is_refused_and_what_if_shows_the_drift() {
    let mut page = Page::open("P12");
    let doc = page.doc();
    let (said, exit) = page.apply(doc.clone());
    assert_eq!(exit, Some(1));
    assert!(said.contains("field is immutable"), "{said}");
    page.send(Command::WhatIf(true));
    assert!(page.frame().head.what_if);
    let (said, exit) = page.apply(doc);
    assert_eq!(exit, Some(0), "{said}");
    page.send(Command::UntilCalm);
    let stray = page.frame().pods.iter().filter(|p| p.labels.contains(&"app=notes".to_string())).count();
    assert!(stray >= 2, "the old pods stay behind: {stray}");
}

#[test]
fn a_relabelled_pod_is_an_orphan_and_has_a_replacement() {
    let mut page = Page::open("P11");
    let pod = page.frame().pods[0].object.clone();
    page.send(Command::Pod { pod: pod.clone(), act: PodAct::Label("app".into(), None) });
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged));
    assert_eq!(page.frame().pods.len(), 4);
    let orphan = page.frame().pods.iter().find(|p| p.object == pod).expect("it is still there").clone();
    assert!(orphan.owner.is_none() && orphan.services.is_empty());
}

#[test]
fn what_is_lost_comes_back() {
    let mut page = Page::open("P15");
    let pods: Vec<_> = page.frame().pods.iter().map(|p| p.object.clone()).collect();
    page.send(Command::Pod { pod: pods[0].clone(), act: PodAct::Delete });
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged));
    assert!(page.frame().pods.iter().all(|p| p.object != pods[0]));
    page.send(Command::Pod { pod: pods[1].clone(), act: PodAct::Crash(None, 137) });
    page.send(Command::UntilCalm);
    let crashed = page.frame().pods.iter().find(|p| p.object == pods[1]).expect("the pod stays").clone();
    assert_eq!(crashed.containers[0].restarts, 1);
    let node = page.frame().pods[0].node.expect("bound");
    let name = page.frame().nodes.iter().find(|n| n.id == node).expect("a node").name.clone();
    page.send(Command::Node(NodeAct::Stop(name.clone())));
    page.send(Command::Advance { millis: 60_000 });
    let lost = page.frame().nodes.iter().find(|n| n.name == name).expect("a node").clone();
    assert!(lost.stopped);
    assert_eq!(page.verdict(), VerdictKind::Stalled, "{:?}", page.frame().head.verdict);
    page.send(Command::Advance { millis: 400_000 });
    let ready = page.frame().pods.iter().filter(|p| p.look == PodLook::Ready).count();
    assert_eq!(ready, 3, "{:?}", page.frame().pods);
    page.send(Command::Node(NodeAct::Start(name)));
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged));
    assert_eq!(page.frame().pods.len(), 3);
    page.check_whole("after all that");
}

#[test]
fn the_hand_loses_to_the_loop() {
    let mut page = Page::open("P16");
    let set =
        page.frame().rows.iter().find(|r| r.object.kind == "ReplicaSet").expect("a set").object.name.clone();
    page.kubectl(&format!("kubectl scale rs {set} --replicas=5"));
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged));
    assert_eq!(page.frame().pods.len(), 3, "its owner put it back");
    page.kubectl("kubectl scale deployment billing --replicas=5");
    page.send(Command::UntilCalm);
    assert_eq!(page.frame().pods.len(), 5);
    let (said, _) = page.apply(page.doc());
    assert_eq!(said, "deployment.apps/billing configured\n");
    page.send(Command::UntilCalm);
    assert_eq!(page.frame().pods.len(), 3, "the file won");
    let (said, _) = page.apply(page.doc());
    assert_eq!(said, "deployment.apps/billing unchanged\n");
}

#[test]
fn revisions_lead_back() {
    let mut page = Page::open("P10");
    page.kubectl("kubectl rollout history deployment/ledger");
    let (said, _) = page.terminal();
    for words in ["first version", "faster totals", "new rounding"] {
        assert!(said.contains(words), "{said}");
    }
    page.kubectl("kubectl rollout undo deployment/ledger --to-revision=1");
    assert!(page.terminal().0.ends_with("deployment.apps/ledger rolled back\n"), "{:?}", page.terminal());
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged));
    assert!(page.frame().pods.iter().all(|p| p.containers[0].image.ends_with("1.0.0")));
}

#[test]
fn faults_of_controllers_are_felt_and_end() {
    let mut page = Page::open("P15");
    let key = |page: &Page, start: &str| -> FaultItem {
        (**page.frame().faults.iter().find(|f| f.key.starts_with(start)).expect("the fault")).clone()
    };
    for start in ["stop:replicaset", "crash:manager", "hold:manager:replicasets", "hold:manager:pods"] {
        let fault = key(&page, start);
        page.send(Command::Fault { id: fault.key.clone(), on: true });
        assert!(key(&page, start).on, "{start}");
        page.kubectl("kubectl scale deployment cart --replicas=5");
        page.send(Command::Advance { millis: 60_000 });
        assert_eq!(page.verdict(), VerdictKind::Stalled, "{start}: {:?}", page.frame().head.verdict);
        page.send(Command::Fault { id: fault.key, on: false });
        assert!(!key(&page, start).on, "{start}");
        assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged), "{start}");
        assert_eq!(page.frame().pods.len(), 5, "{start}");
        page.kubectl("kubectl scale deployment cart --replicas=3");
        assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged), "{start}");
        page.check_whole(start);
    }
}

#[test]
fn a_slow_or_denied_image_is_told() {
    let mut page = Page::open("P06");
    let image = "registry.example.com/catalog:3.2.0".to_string();
    page.send(Command::Image(ImageAct::Deny(image.clone(), true)));
    page.apply(page.doc());
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Stalled));
    page.send(Command::Image(ImageAct::Deny(image.clone(), false)));
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged));
    page.send(Command::Image(ImageAct::Slow(image, 90_000)));
    let details = page.select("Deployment", "catalog", Tab::Why);
    assert_eq!(details.object, object("Deployment", "catalog"));
}

#[test]
fn a_file_with_two_documents_and_a_mistake_says_which() {
    let mut page = Page::open("empty");
    let good = page.doc();
    let text = format!(
        "{}---\napiVersion: v1\nkind: Service\nmetadata:\n  name: app\nspec:\n  port: 80\n",
        good.text
    );
    let (said, exit) = page.apply(Doc { text, ..good });
    assert_eq!(exit, Some(1));
    assert!(
        said.contains("deployment.apps/app created") && said.contains("unknown field \"spec.port\""),
        "{said}"
    );
}

fn run(page: &mut Page, line: &str) -> (String, Option<i32>) {
    page.kubectl(line);
    page.terminal()
}

#[test]
fn an_autoscaler_goes_up_in_strides_and_waits_before_it_goes_down() {
    let mut page = Page::open("P14-autoscaler");
    assert_eq!(page.frame().pods.len(), 2);
    let mut sizes = vec![2];
    for _ in 0..60 {
        page.send(Command::Advance { millis: 2000 });
        let size = page.frame().pods.len();
        if sizes.last() != Some(&size) {
            sizes.push(size);
        }
    }
    // Never more than twice as many at once; 1000m shared, at 60 % of 200m each, would be nine, and eight is the most.
    assert_eq!(sizes, [2, 4, 8]);
    let (told, code) = run(&mut page, "kubectl describe hpa shop");
    assert_eq!(code, Some(0), "{told}");
    for part in [
        "New size: 4; reason: cpu resource utilization (percentage of request) above target",
        "TooManyReplicas",
        "ValidMetricFound",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let (told, code) = run(&mut page, "kubectl top pods");
    assert_eq!((told.lines().count(), code), (9, Some(0)), "{told}");
    assert!(told.lines().skip(1).all(|line| line.contains(" 125m ") && line.contains(" 90Mi")), "{told}");
    let pod = page.frame().pods[0].object.clone();
    page.send(Command::Pod { pod, act: PodAct::Load(100) });
    page.send(Command::Advance { millis: 240_000 });
    assert_eq!(page.frame().pods.len(), 8, "what was recommended in the last five minutes still counts");
    let (told, _) = run(&mut page, "kubectl describe hpa shop");
    assert!(told.contains("ScaleDownStabilized"), "{told}");
    page.send(Command::Advance { millis: 150_000 });
    assert_eq!(page.frame().pods.len(), 2);
    let (told, _) = run(&mut page, "kubectl get events --field-selector reason=SuccessfulRescale");
    assert!(told.contains("New size: 2; reason: All metrics below target"), "{told}");
    page.check_whole("after all that");
}

#[test]
fn without_a_metrics_server_nobody_knows() {
    let mut page = Page::open("empty");
    let (told, code) = run(&mut page, "kubectl top pods");
    assert_eq!((told.trim(), code), ("error: Metrics API not available", Some(1)));
}
