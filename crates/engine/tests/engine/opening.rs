//! The opening story: a tag that does not exist.

use crate::page::{Page, object};
use kubestep_protocol::{Body, Command, ImageAct, Moment, PodLook, Said, Stop, Tab, VerdictKind, WhyHead};

/// The opening, applied.
fn applied() -> Page {
    let mut page = Page::open("P05");
    assert_eq!(page.verdict(), VerdictKind::Converged, "it starts healthy");
    let (words, exit) = page.apply(page.doc());
    assert_eq!(words, "deployment.apps/checkout configured\nservice/checkout unchanged\n");
    assert_eq!(exit, Some(0));
    page
}

fn looks(page: &Page, look: PodLook) -> usize {
    page.frame().pods.iter().filter(|p| p.look == look).count()
}

fn deployment(page: &mut Page) -> String {
    page.kubectl("kubectl get deployment checkout -o jsonpath='{.status.conditions[*].reason}'");
    page.terminal().0
}

#[test]
fn it_begins_with_three_pods_and_a_file_that_differs() {
    let page = Page::open("P05");
    let loaded = page.loaded.as_ref().expect("loaded");
    assert_eq!(loaded.scenario, "P05");
    assert_eq!(loaded.select, Some(object("Deployment", "checkout")));
    assert!(page.doc().text.contains("checkout:1.9.2"));
    assert_eq!(looks(&page, PodLook::Ready), 3);
    assert!(page.frame().terminal.is_empty(), "what the scenario did is not in the terminal");
    assert_eq!(page.frame().nodes.len(), 3);
}

#[test]
fn the_chain_of_loops_moves_one_write_at_a_time() {
    let mut page = applied();
    for words in [
        "The Deployment controller created ReplicaSet checkout-",
        "The ReplicaSet controller created Pod",
        "The scheduler bound Pod",
        "Pulling image \"registry.example.com/checkout:1.9.2\"",
        "Failed to pull image \"registry.example.com/checkout:1.9.2\"",
        "ContainerCreating → ErrImagePull",
        "Back-off pulling image",
        "ErrImagePull → ImagePullBackOff",
    ] {
        let before = page.frame().head.moment.step;
        page.step_until(words, 20);
        assert!(page.frame().head.moment.step > before);
    }
    assert_eq!(looks(&page, PodLook::Ready), 3, "the old pods serve");
    assert_eq!(looks(&page, PodLook::Waiting), 1);
}

#[test]
fn the_deployment_is_silent_for_600_seconds_while_the_pod_says_why() {
    let mut page = applied();
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Stalled));
    assert_eq!(page.verdict(), VerdictKind::Stalled);
    let because = page.frame().head.verdict.because.plain(page.frame().head.now);
    assert!(because.contains("checkout:1.9.2"), "{because}");
    assert!(!deployment(&mut page).contains("ProgressDeadlineExceeded"));
    page.send(Command::Advance { millis: 560_000 });
    assert!(!deployment(&mut page).contains("ProgressDeadlineExceeded"), "not yet");
    assert_eq!(page.verdict(), VerdictKind::Stalled, "retries do not make it move");
    page.send(Command::Advance { millis: 60_000 });
    assert!(deployment(&mut page).contains("ProgressDeadlineExceeded"));
    assert_eq!(page.kubectl("kubectl rollout status deployment/checkout"), Stop::Finished);
    let (words, exit) = page.terminal();
    assert_eq!(words, "error: deployment \"checkout\" exceeded its progress deadline\n");
    assert_eq!(exit, Some(1));
    assert_eq!(looks(&page, PodLook::Ready), 3);
    assert_eq!(page.verdict(), VerdictKind::Stalled);
    assert!(page.frame().head.verdict.said.contains("Progressing=False ProgressDeadlineExceeded"));
}

#[test]
fn rollout_status_waits_and_ends_at_the_deadline() {
    let mut page = applied();
    assert_eq!(page.kubectl("kubectl rollout status deployment/checkout"), Stop::Waits);
    assert!(page.frame().terminal.last().expect("an entry").waits);
    page.send(Command::Advance { millis: 620_000 });
    let (words, exit) = page.terminal();
    assert!(words.starts_with("Waiting for deployment"), "{words}");
    assert!(words.ends_with("error: deployment \"checkout\" exceeded its progress deadline\n"), "{words}");
    assert_eq!(exit, Some(1));
}

#[test]
fn back_and_forward_show_the_same_worlds() {
    let mut page = Page::open("P05");
    let before = (page.hash(), page.frame().head.moment.step);
    page.apply(page.doc());
    for _ in 0..40 {
        page.step();
    }
    let after = (page.hash(), page.frame().head.moment.step);
    while page.frame().head.moment.step > before.1 {
        assert_eq!(page.send(Command::Back), Stop::Finished);
    }
    assert_eq!(page.hash(), before.0, "back before Apply");
    assert_eq!(looks(&page, PodLook::Ready), 3);
    assert!(page.frame().head.apply.is_none() && page.frame().pods.len() == 3);
    let mut hashes = vec![];
    while page.frame().head.moment.step < after.1 {
        assert_eq!(page.send(Command::Forward), Stop::Finished);
        hashes.push(page.hash());
    }
    assert_eq!(hashes.last(), Some(&after.0));
    page.send(Command::DropSnapshots);
    assert_eq!(page.hash(), after.0, "made again from the inputs");
    for hash in hashes.iter().rev() {
        assert_eq!(page.hash(), *hash);
        page.send(Command::Back);
    }
    assert_eq!(page.hash(), before.0);
    page.check_whole("after going back");
}

#[test]
fn pushing_the_tag_ends_the_stall_by_itself() {
    let mut page = applied();
    page.send(Command::Advance { millis: 700_000 });
    assert_eq!(page.verdict(), VerdictKind::Stalled);
    page.send(Command::Image(ImageAct::Push("registry.example.com/checkout:1.9.2".into())));
    assert_eq!(page.verdict(), VerdictKind::Converging, "its next pull will do");
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged));
    assert_eq!(looks(&page, PodLook::Ready), 3);
    assert!(page.frame().pods.iter().all(|p| p.containers[0].image.ends_with("1.9.2")), "all are new");
    assert!(deployment(&mut page).contains("NewReplicaSetAvailable"));
    page.check_whole("converged");
}

#[test]
fn why_leads_from_the_deployment_to_the_registry() {
    let mut page = applied();
    page.send(Command::UntilCalm);
    let details = page.select("Deployment", "checkout", Tab::Why);
    let Body::Why(why) = &details.body else { panic!("{:?}", details.body) };
    let WhyHead::Blocked(head) = &why.head else { panic!("{:?}", why.head) };
    let head = format!("{head:?}");
    assert!(head.contains("1.9.2"), "{head}");
    assert!(!why.chain.is_empty());
    assert!(why.chain.iter().any(|l| l.key.is_some()), "back to a key: {:#?}", why.chain);
    assert!(why.chain.iter().any(|l| !matches!(l.said, Said::Nobody)), "the pod says it");
    let speech = why.speech.as_ref().expect("who says so");
    assert!(speech.lanes.iter().any(|l| l.name.starts_with("Pod") && l.helps));
    assert!(speech.lanes.iter().any(|l| l.name == "Deployment" && !l.helps));
    assert!(!why.ends.is_empty());
    for tab in [Tab::Describe, Tab::Yaml, Tab::Events, Tab::History, Tab::Audit] {
        let details = page.select("Deployment", "checkout", tab);
        let filled = match &details.body {
            Body::Describe(text) => text.contains("Name:") && text.contains("Pod Template:"),
            Body::Yaml(lines) => lines.iter().any(|l| l.text.contains("progressDeadlineSeconds: 600")),
            Body::Events(rows) => rows.iter().any(|r| r.reason == "ScalingReplicaSet"),
            Body::History(rows) => rows.len() > 3,
            Body::Audit(rows) => rows.iter().any(|r| r.agent == "kubectl" && r.code < 300),
            Body::Why(_) => false,
        };
        assert!(filled, "{tab:?}: {:?}", details.body);
    }
}

#[test]
fn acting_in_the_past_begins_a_new_timeline_and_keeps_the_old_one() {
    let mut page = applied();
    for _ in 0..30 {
        page.step();
    }
    let old = (page.hash(), page.frame().head.moment);
    for _ in 0..20 {
        page.send(Command::Back);
    }
    let at = page.frame().head.moment;
    page.kubectl("kubectl scale deployment checkout --replicas=5");
    let new = page.frame().head.moment;
    assert_ne!(new.branch, old.1.branch);
    assert!(new.step > at.step && page.frame().head.last == new.step);
    let branches = page.frame().timeline.branches.clone();
    assert_eq!(branches.len(), 1);
    assert_eq!(branches[0].id, old.1.branch);
    page.send(Command::UntilCalm);
    assert!(page.frame().pods.len() >= 5);
    assert_eq!(page.send(Command::Branch(old.1.branch)), Stop::Finished);
    assert_eq!(page.hash(), old.0, "the old timeline is as it was");
    page.send(Command::Seek(Moment { branch: new.branch, step: new.step }));
    assert_eq!(page.frame().head.moment, new);
    page.check_whole("on the new timeline");
}

#[test]
fn what_is_stuck_does_not_make_a_later_change_calm() {
    let mut page = applied();
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Stalled));
    page.kubectl(r#"kubectl patch svc checkout -p '{"spec":{"selector":{"app":"x"}}}'"#);
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Stalled));
    page.kubectl("kubectl get endpointslices -l kubernetes.io/service-name=checkout -o jsonpath='{.items[*].endpoints[*].addresses[0]}'");
    assert_eq!(page.terminal().0, "", "the loops have seen the new selector");
}
