//! Scenarios of stalls, each explained by Why; and the clients beside kubectl: they command, declare, check when run,
//! and replay.

use crate::page::{Page, object};
use kubestep_protocol::{Body, Command, ImageAct, LoopState, Stop, Tab, VerdictKind, WhyHead};

/// What Why says of an object at its top, as plain words.
pub(crate) fn why(page: &mut Page, kind: &str, name: &str) -> String {
    let now = page.frame().head.now;
    match page.select(kind, name, Tab::Why).body {
        Body::Why(why) => match &why.head {
            WhyHead::Blocked(words) | WhyHead::Moving(words) => words.plain(now),
            other => format!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

pub(crate) fn seconds(page: &mut Page, seconds: u64) {
    page.send(Command::Advance { millis: seconds * 1000 });
}

pub(crate) fn typed(page: &mut Page, line: &str) -> String {
    page.kubectl(line);
    page.terminal().0
}

/// Scenario, Deployment, what Why says at its top after the first file was applied.
pub(crate) const STALLS: [(&str, &str, &str); 8] = [
    ("P05", "checkout", "Blocked by the registry: it has no checkout:1.9.2"),
    ("P04", "reports", "Blocked by a quota: "),
    ("P04-probe", "cart", "Blocked by a probe: app runs"),
    ("P04-limits", "resize", "maximum memory usage per Container is 512Mi"),
    ("P04-account", "robot", "serviceaccount \"robot\" not found"),
    ("P04-crash", "orders", "app ends with code 1"),
    ("P04-fit", "render", "Insufficient cpu"),
    ("P07", "billing", "app ends with code 1"),
];

#[test]
fn each_stuck_rollout_is_explained() {
    for (id, name, words) in STALLS {
        let mut page = Page::open(id);
        let doc = page.doc();
        let (said, exit) = page.apply(doc);
        assert_eq!(exit, Some(0), "{id}: {said}");
        seconds(&mut page, 120);
        assert_eq!(page.verdict(), VerdictKind::Stalled, "{id}: {:?}", page.frame().head.verdict);
        let head = why(&mut page, "Deployment", name);
        assert!(head.contains(words), "{id}: {head}");
        // Where a container seems ready for a second at each start, the gap is younger.
        let flickers = words.contains("ends with");
        let since = head.contains("So for 1m") || head.contains("So for 2m");
        assert!(since || (flickers && head.contains("So for ")), "{id}: since when: {head}");
    }
}

#[test]
fn a_pod_that_waits_for_a_disk_leads_to_its_claim() {
    let mut page = Page::open("P04-claim");
    page.apply(page.doc());
    seconds(&mut page, 120);
    let head = why(&mut page, "Deployment", "archive");
    assert!(head.contains("fast-disks"), "{head}");
}

#[test]
fn a_registry_that_throttles_slows_others() {
    let mut page = Page::open("P07-registry");
    let doc = page.doc();
    assert_eq!(doc.name, "quiet.yaml");
    page.apply(doc);
    let slow = |page: &mut Page| {
        let begun = page.frame().head.now;
        for _ in 0..120 {
            seconds(page, 10);
            let new = page.frame().pods.iter().filter(|p| p.containers[0].image.ends_with("quiet:1.1"));
            if new.filter(|p| p.look == kubestep_protocol::PodLook::Ready).count() == 3 {
                break;
            }
        }
        page.frame().head.now.0 - begun.0
    };
    let took = slow(&mut page);
    assert!(took > 30_000, "with all that noise it took {took} ms");
}

#[test]
fn an_order_sent_again_is_carried_out_twice_and_a_wish_is_not() {
    let mut page = Page::open("P17");
    page.send(Command::Fault { id: "unanswered:programs:1".into(), on: true });
    typed(&mut page, "order -f one-more.yaml --retry");
    seconds(&mut page, 30);
    let (said, exit) = page.terminal();
    let begins = "no answer: was it done or not?\nsending the order again\npod/worker-";
    assert!(said.starts_with(begins) && exit == Some(0), "{said}");
    assert_eq!(page.frame().pods.len(), 2, "one was wanted: {said}");
    for fault in ["unanswered:programs:1", "drop:programs:1", "double:programs:1"] {
        page.send(Command::Fault { id: fault.into(), on: true });
        typed(&mut page, "declare -f three.yaml");
        seconds(&mut page, 30);
        assert_eq!(page.frame().pods.len(), 5, "{fault}");
    }
    let said = typed(&mut page, "declare -f three.yaml --times 100");
    assert_eq!(said.matches("unchanged").count(), 99, "{said}");
    seconds(&mut page, 30);
    assert_eq!(page.frame().pods.len(), 5);
    let Body::Audit(rows) = page.select("Deployment", "workers", Tab::Audit).body else { panic!("no audit") };
    assert!(rows.iter().any(|r| r.agent == "declare" && r.verb == "patch"), "{rows:?}");
}

#[test]
fn a_tool_with_a_state_file_sees_drift_only_when_it_is_run() {
    let mut page = Page::open("P19");
    assert_eq!(typed(&mut page, "statefile plan"), "No changes: what there is matches the files.\n");
    typed(&mut page, "kubectl scale deployment shop --replicas=7");
    seconds(&mut page, 3600);
    assert_eq!(page.frame().pods.len(), 7, "nobody noticed");
    assert_eq!(page.verdict(), VerdictKind::Converged);
    let plan = typed(&mut page, "statefile plan");
    assert!(plan.contains("spec.replicas: 7 -> 3") && plan.contains("somebody changed it"), "{plan}");
    assert!(plan.ends_with("Plan: 0 to add, 1 to change, 0 to destroy.\n"), "{plan}");
    typed(&mut page, "statefile apply");
    page.send(Command::UntilCalm);
    assert_eq!(page.frame().pods.len(), 3);
    typed(&mut page, "kubectl delete deployment shop");
    let plan = typed(&mut page, "statefile plan");
    assert!(plan.contains("somebody took it away"), "{plan}");
    typed(&mut page, "statefile apply");
    let gone = typed(&mut page, "statefile destroy");
    assert!(gone.contains("deployment.apps/shop destroyed"), "{gone}");
    page.send(Command::UntilCalm);
    assert_eq!(page.frame().pods.len(), 0);
}

#[test]
fn an_agent_puts_back_applies_and_prunes() {
    let mut page = Page::open("P19-agent");
    let card = |page: &Page| page.frame().loops.iter().find(|l| l.name == "gitops-agent").cloned();
    let row = card(&page).expect("a card of its own");
    assert_eq!(row.state, LoopState::Waiting);
    assert_eq!(page.frame().pods.len(), 4);
    typed(&mut page, "kubectl scale deployment shop --replicas=7");
    seconds(&mut page, 5);
    assert_eq!(page.frame().pods.len(), 8, "for now the hand has won");
    seconds(&mut page, 70);
    assert_eq!(page.frame().pods.len(), 4, "and then the repository");
    let Body::Audit(rows) = page.select("Deployment", "shop", Tab::Audit).body else { panic!("no audit") };
    assert!(rows.iter().any(|r| r.agent == "gitops-agent" && r.verb == "patch"), "{rows:?}");
    assert!(rows.iter().any(|r| r.agent == "kubectl"), "{rows:?}");
    let said = typed(&mut page, "gitops push -f shop.yaml");
    assert!(said.contains("nobody has acted on it yet"), "{said}");
    seconds(&mut page, 90);
    assert_eq!(page.frame().pods.len(), 3, "what is not in the repository is pruned");
    typed(&mut page, "gitops suspend");
    typed(&mut page, "kubectl scale deployment shop --replicas=5");
    seconds(&mut page, 300);
    assert_eq!(page.frame().pods.len(), 5);
    typed(&mut page, "gitops resume");
    seconds(&mut page, 90);
    assert_eq!(page.frame().pods.len(), 3);
    // It is a part of the world: it rewinds, and a link holds it.
    page.check_whole("with an agent");
    let (hash, shared) = (page.hash(), page.share());
    let again = kubestep_engine::replay(&shared.text).expect("a link can be opened");
    assert_eq!(again.hash, hash);
    let moment = page.frame().head.moment;
    let earlier = kubestep_protocol::Moment { step: moment.step - 40, ..moment };
    page.send(Command::Seek(earlier));
    page.send(Command::Seek(moment));
    assert_eq!(page.hash(), hash, "there and back");
    let card = card(&page).expect("still there");
    assert_eq!(card.state, LoopState::Waiting);
}

#[test]
fn who_may_make_pods_may_read_secrets() {
    let mut page = Page::open("P14-secrets");
    let said = typed(&mut page, "kubectl get secret db --as=alice");
    assert!(said.contains("cannot get resource \"secrets\""), "{said}");
    assert_eq!(typed(&mut page, "kubectl apply -f reader.yaml --as=alice"), "pod/reader created\n");
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged));
    // Whoever may read pods may not reach into them for that.
    for (line, verb, part) in [
        ("kubectl exec reader --as=alice -- ls /db", "create", "exec"),
        ("kubectl logs reader --as=alice", "get", "log"),
    ] {
        let why = format!(
            "User \"alice\" cannot {verb} resource \"pods/{part}\" in API group \"\" in the namespace \"default\""
        );
        let want = format!("Error from server (Forbidden): pods \"reader\" is forbidden: {why}\n");
        assert_eq!(typed(&mut page, line), want);
    }
    assert!(!typed(&mut page, "kubectl exec reader -- ls /db").contains("forbidden"));
}

#[test]
fn empty_selectors_mean_everything_here_and_nothing_there() {
    let mut page = Page::open("P11-empty");
    let (said, exit) = page.apply(page.doc());
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("selector"), "{said}");
    let budget = typed(&mut page, "kubectl get pdb everything -o jsonpath={.status.expectedPods}");
    let slices = typed(&mut page, "kubectl get endpointslices -l kubernetes.io/service-name=nothing -o name");
    assert_eq!((budget.as_str(), slices.contains("endpointslice")), ("3", false), "{slices}");
}

#[test]
fn fifty_revisions_are_kept_and_two_can_be() {
    let mut page = Page::open("P10-fifty");
    let sets = |page: &Page| page.frame().rows.iter().filter(|r| r.object.kind == "ReplicaSet").count();
    let kept = |page: &mut Page| typed(page, "kubectl get rs -o name").lines().count();
    assert_eq!(kept(&mut page), 50);
    let said = typed(&mut page, "kubectl rollout undo deployment/ledger --to-revision=7");
    assert!(said.contains("rolled back"), "{said}");
    page.send(Command::UntilCalm);
    typed(&mut page, "kubectl patch deployment ledger -p '{\"spec\":{\"revisionHistoryLimit\":2}}'");
    seconds(&mut page, 60);
    assert_eq!(kept(&mut page), 3, "{}", sets(&page));
}

#[test]
fn two_that_do_not_know_of_each_other_make_too_many() {
    let mut page = Page::open("P21-two");
    page.apply(page.doc());
    let mut most = 0;
    for _ in 0..400 {
        page.send(Command::Step { inner: false });
        most = most.max(page.frame().pods.len());
    }
    assert!(most > 3, "{most}");
    seconds(&mut page, 120);
    assert_eq!(page.frame().pods.len(), 3, "and in the end it is right");
}

#[test]
fn a_crash_between_two_writes_leaves_what_was_written() {
    let mut page = Page::open("P21");
    page.apply(page.doc());
    seconds(&mut page, 60);
    assert_eq!(page.verdict(), VerdictKind::Stalled);
    let head = why(&mut page, "Deployment", "relay");
    assert!(head.contains("Blocked by a fault") && head.contains("controller manager is stopped"), "{head}");
    page.send(Command::Fault { id: "crash:manager".into(), on: false });
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged));
    assert_eq!(page.frame().pods.len(), 3);
}

#[test]
fn a_healthy_cluster_moves_and_one_gap_grows_old() {
    let mut page = Page::open("P22");
    seconds(&mut page, 600);
    let old = |page: &Page| page.frame().head.verdict.object.clone().expect("a gap").name;
    assert_eq!(old(&page), "mail");
    page.send(Command::Image(ImageAct::Push("registry.example.com/mail:1.O".into())));
    seconds(&mut page, 600);
    let moment = page.frame().head.moment.step;
    let aged = page.frame().head.verdict.opened.map_or(0, |at| page.frame().head.now.0 - at.0);
    assert!(aged < 120_000, "no gap is old: {aged}");
    seconds(&mut page, 120);
    assert!(page.frame().head.moment.step > moment, "and it goes on moving");
    assert_eq!(object("Deployment", "mail").name, "mail");
}

#[test]
fn identity_decides_who_comes_back() {
    let mut page = Page::open("P09");
    let names =
        |page: &Page| -> Vec<String> { page.frame().pods.iter().map(|p| p.object.name.clone()).collect() };
    let web = names(&page).into_iter().find(|n| n.starts_with("web-")).expect("a pod of web");
    typed(&mut page, &format!("kubectl delete pod {web} db-1 --wait=false"));
    seconds(&mut page, 60);
    let now = names(&page);
    assert!(!now.contains(&web) && now.contains(&"db-1".to_string()), "{now:?}");
    assert_eq!(now.iter().filter(|n| n.starts_with("web-")).count(), 3);
}

#[test]
fn a_binding_is_never_looked_at_again() {
    let mut page = Page::open("P08");
    let node = page.frame().nodes.iter().find(|n| n.name == "node-3").expect("the third node").id;
    assert!(page.frame().pods.iter().all(|p| p.node != Some(node)), "it has been empty for a minute");
    page.apply(page.doc());
    page.send(Command::UntilCalm);
    assert_eq!(page.frame().pods.iter().filter(|p| p.node == Some(node)).count(), 1, "one more goes there");
}

#[test]
fn one_quota_stops_one_of_two_namespaces() {
    let mut page = Page::open("P14");
    typed(&mut page, "kubectl apply -f north.yaml -f south.yaml");
    seconds(&mut page, 120);
    let new = |page: &Page, namespace: &str| {
        let of = |p: &&std::sync::Arc<kubestep_protocol::Pod>| p.object.namespace == namespace;
        page.frame().pods.iter().filter(of).filter(|p| p.containers[0].image.ends_with("2.1")).count()
    };
    assert_eq!((new(&page, "north"), new(&page, "south")), (3, 0));
    let verdict = page.frame().head.verdict.clone();
    assert_eq!(verdict.object.map(|o| o.namespace), Some("south".into()));
    assert!(verdict.because.plain(page.frame().head.now).contains("the quota is used up"));
}

#[test]
fn a_request_is_answered_or_refused() {
    let mut page = Page::open("P13-send");
    let ask = |page: &mut Page, name: &str| {
        page.send(Command::Send(object("Service", name)));
        format!("{:?}", page.answers)
    };
    assert!(ask(&mut page, "shop").contains("answered"), "{:?}", page.answers);
    assert!(ask(&mut page, "ghost").contains("has no endpoint"), "{:?}", page.answers);
    let pods: Vec<_> = page.frame().pods.iter().map(|p| p.object.clone()).collect();
    for pod in &pods {
        page.send(Command::Pod { pod: pod.clone(), act: kubestep_protocol::PodAct::Crash(None, 1) });
    }
    let said = ask(&mut page, "shop");
    assert!(said.contains("no container of it runs"), "{said}");
    seconds(&mut page, 60);
    for pod in &pods {
        page.send(Command::Pod { pod: pod.clone(), act: kubestep_protocol::PodAct::Probe(Some(false)) });
    }
    seconds(&mut page, 60);
    let said = ask(&mut page, "shop");
    assert!(said.contains("none of them is ready"), "{said}");
}
