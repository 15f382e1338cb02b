//! Who moves next, the audit tab, and one request to a Service.

use crate::page::{Page, object};
use kubestep_protocol::{AuditRow, Body, Command, MoveRow, NodeAct, Stop, Tab, Update};

fn moves(page: &mut Page) -> Vec<MoveRow> {
    assert_eq!(page.send(Command::Moves), Stop::Finished);
    let found =
        page.answers.iter().find_map(|u| if let Update::Moves(rows) = u { Some(rows.clone()) } else { None });
    found.expect("an answer to Moves")
}

fn applied() -> Page {
    let mut page = Page::open("P05");
    page.apply(page.doc());
    page.step();
    page
}

#[test]
fn the_first_move_is_the_one_that_step_takes() {
    let mut page = applied();
    let rows = moves(&mut page);
    assert!(rows.len() > 3 && rows.iter().all(|r| !r.id.is_empty() && !r.words.is_empty()), "{rows:#?}");
    assert!(rows.is_sorted_by_key(|r| r.due));
    let inner =
        |r: &MoveRow| ["Kubelet(", "Scheduler(", "Timer"].iter().any(|w| r.words.plain(r.due).contains(w));
    assert!(!rows.iter().any(inner), "names of the program: {rows:#?}");
    let mut other = applied();
    page.send(Command::Step { inner: true });
    other.send(Command::Choose(rows[0].id.clone()));
    assert_eq!(page.hash(), other.hash());
}

#[test]
fn a_choice_is_an_input_and_a_link_keeps_it() {
    let mut page = applied();
    for place in [3, 1, 4, 2] {
        let rows = moves(&mut page);
        let row = rows.get(place).expect("several may move").clone();
        assert_eq!(page.send(Command::Choose(row.id.clone())), Stop::Finished);
        assert!(!moves(&mut page).iter().any(|r| *r == row), "it has happened: {row:?}");
    }
    let mut by_itself = applied();
    by_itself.send(Command::Advance { millis: 1 });
    assert_ne!(page.hash(), by_itself.hash());
    page.send(Command::Advance { millis: 5000 });
    let (hash, shared) = (page.hash(), page.share());
    let mut other = Page::new();
    other.send(Command::LoadLink(shared.text));
    assert_eq!((other.hash(), other.loaded.expect("loaded").differs), (hash, None));
}

#[test]
fn what_cannot_happen_next_is_refused() {
    let mut page = applied();
    let (rows, before) = (moves(&mut page), page.hash());
    page.send(Command::Choose(rows[0].id.clone()));
    for name in [rows[0].id.as_str(), "", "Serve(1)"] {
        assert!(matches!(page.send(Command::Choose(name.into())), Stop::Refused(_)), "{name}");
    }
    assert_ne!(page.hash(), before);
}

#[test]
fn a_choice_in_the_past_begins_a_branch() {
    let mut page = applied();
    for _ in 0..6 {
        page.step();
    }
    for _ in 0..4 {
        page.send(Command::Back);
    }
    let row = moves(&mut page).swap_remove(2);
    assert_eq!(page.send(Command::Choose(row.id)), Stop::Finished);
    assert_eq!(page.frame().head.moment.branch.0, 1);
    page.check_whole("after a choice in the past");
}

fn audit(page: &mut Page, kind: &str, name: &str) -> Vec<AuditRow> {
    match page.select(kind, name, Tab::Audit).body {
        Body::Audit(rows) => rows,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_audit_tells_who_asked_and_what_he_was_told() {
    let mut page = applied();
    page.send(Command::UntilCalm);
    let refused = page.doc().text.replace("app: checkout", "app: other");
    page.apply(kubestep_protocol::Doc { name: "checkout.yaml".into(), text: refused });
    let rows = audit(&mut page, "Deployment", "checkout");
    assert!(rows.is_sorted_by_key(|r| std::cmp::Reverse(r.at)));
    let has = |agent: &str, verb: &str, code: u32| {
        rows.iter().any(|r| r.agent == agent && r.verb == verb && r.code == code)
    };
    assert!(has("kubectl", "patch", 200) && has("kubectl", "patch", 422), "{rows:#?}");
    assert!(has("deployment-controller", "update status", 200), "{rows:#?}");
    let refusal = rows.iter().find(|r| r.code == 422).expect("a refusal");
    assert!(refusal.words.contains("field is immutable"), "{refusal:?}");
    // It is a record of its own: a read is in it and changed nothing.
    assert!(rows.iter().any(|r| r.verb == "get" && r.words == "read"), "{rows:#?}");
    page.send(Command::Back);
    assert!(audit(&mut page, "Deployment", "checkout").len() <= rows.len());
}

#[test]
fn the_audit_names_the_user_behind_a_program() {
    let mut page = applied();
    page.send(Command::UntilCalm);
    page.kubectl("kubectl get deployment checkout");
    page.kubectl("kubectl get deployment checkout --as=bob");
    let rows = audit(&mut page, "Deployment", "checkout");
    let by = |agent: &str, user: &str, code: u32| {
        rows.iter().any(|r| r.agent == agent && r.user == user && r.code == code)
    };
    assert!(by("kubectl", "", 200) && by("kubectl", "bob", 403), "{rows:#?}");
    let account = "system:serviceaccount:kube-system:deployment-controller";
    assert!(by("deployment-controller", account, 200), "{rows:#?}");
}

#[test]
fn a_choice_of_which_nobody_sees_anything_is_told() {
    let mut page = applied();
    page.send(Command::UntilCalm);
    let row = moves(&mut page).iter().find(|r| r.timer).expect("somebody has a clock").id.clone();
    page.send(Command::Choose(row));
    let told = page.sentence();
    assert!(told.contains("You chose what came next. ") && told.ends_with(" acted by the clock."), "{told}");
}

#[test]
fn a_request_that_does_not_arrive_is_a_step_and_says_so() {
    let mut page = applied();
    page.send(Command::UntilCalm);
    page.kubectl("kubectl scale deployment checkout --replicas=5");
    page.send(Command::Fault { id: "api:away".into(), on: true });
    let begun = page.frame().head.now;
    for _ in 0..5 {
        page.step();
    }
    assert!(page.sentence().contains("did not arrive"), "{}", page.sentence());
    assert!(page.frame().head.now.0 - begun.0 < 120_000, "{begun:?} {:?}", page.frame().head.now);
    let last = page.frame().head.last;
    let set =
        page.frame().rows.iter().find(|r| r.object.kind == "ReplicaSet").expect("a set").object.name.clone();
    let rows = audit(&mut page, "ReplicaSet", &set);
    let lost: Vec<&AuditRow> = rows.iter().filter(|r| r.code == 0).collect();
    assert!(lost.iter().any(|r| r.words.contains("connection refused")), "{rows:#?}");
    assert!(rows.iter().all(|r| r.step <= last), "{last} {rows:#?}");
}

fn sent(page: &mut Page) -> String {
    assert_eq!(page.send(Command::Send(object("Service", "checkout"))), Stop::Finished);
    let said = page.told();
    said.expect("a notice")
}

#[test]
fn a_request_is_answered_by_one_of_the_pods() {
    let mut page = Page::open("P05");
    let before = page.hash();
    let mut answers: Vec<String> = (0..30).map(|_| sent(&mut page)).collect();
    assert!(answers.iter().all(|a| a.starts_with("Pod ") && a.contains(" answered at 10.")), "{answers:#?}");
    answers.sort();
    answers.dedup();
    assert_eq!(answers.len(), 3, "{answers:#?}");
    assert_eq!(page.hash(), before, "nothing in the cluster has changed");
}

#[test]
fn a_request_is_lost_where_the_endpoints_lag_behind() {
    let mut page = Page::open("P05");
    for node in ["node-1", "node-2", "node-3"] {
        page.send(Command::Node(NodeAct::Stop(node.into())));
    }
    assert!(sent(&mut page).starts_with("The connection times out. Pod "), "{}", sent(&mut page));
}

#[test]
fn without_an_endpoint_it_says_why() {
    let mut page = Page::open("P05");
    page.kubectl("kubectl scale deployment checkout --replicas=0");
    page.send(Command::Advance { millis: 120_000 });
    let said = sent(&mut page);
    assert!(said.starts_with("Connection refused. checkout has no endpoint"), "{said}");
    assert!(matches!(page.send(Command::Send(object("Deployment", "checkout"))), Stop::Refused(_)));
    assert!(matches!(page.send(Command::Send(object("Service", "none"))), Stop::Refused(_)));
}

#[test]
fn a_search_leads_to_another_end_or_says_that_there_is_none() {
    let mut page = applied();
    let before = page.hash();
    assert_eq!(page.send(Command::Race), Stop::Finished);
    let said = page.told();
    let link = page.link();
    match (said.expect("a notice"), link) {
        (said, Some(link)) => {
            assert!(said.starts_with("A race. "), "{said}");
            let mut other = Page::new();
            other.send(Command::LoadLink(link.text));
            assert_eq!((other.hash(), page.hash()), (link.hash.clone(), link.hash));
        }
        (said, None) => {
            assert!(said.starts_with("No race was found. "), "{said}");
            assert_eq!(page.hash(), before);
        }
    }
}

#[test]
fn a_search_finds_the_race_of_two_managers() {
    let mut page = Page::open("P21-two");
    page.apply(page.doc());
    assert_eq!(page.send(Command::Race), Stop::Finished);
    let said = page.told();
    let said = said.expect("a notice");
    assert!(said.starts_with("A race. ReplicaSet relay-") && said.contains("too many pods"), "{said}");
    let link = page.link();
    let link = link.expect("the way there");
    // The link leads to the very moment at which the promise is broken.
    let mut there = Page::new();
    there.send(Command::LoadLink(link.text));
    assert_eq!(there.hash(), link.hash);
    assert!(there.frame().pods.len() > 3, "three are wanted, there are {}", there.frame().pods.len());
    // With one manager no order breaks it.
    let mut alone = Page::open("P21-two");
    alone.send(Command::Fault { id: "second:manager".into(), on: false });
    alone.apply(alone.doc());
    alone.send(Command::Race);
    assert!(!alone.told().expect("a notice").contains("too many pods"));
}

/// Each within its budget, and given back to the page after every slice, so that it can draw and listen in between;
/// whatever is found, the link leads there.
#[test]
fn a_search_from_five_scenarios_ends_in_slices() {
    for (id, line) in [
        ("P01", ""),
        ("P06", ""),
        ("P11", "kubectl scale deployment/web --replicas=4"),
        ("P15", "kubectl scale deployment/cart --replicas=5"),
        ("P21-two", ""),
    ] {
        let mut page = Page::open(id);
        let doc = page.doc();
        if line.is_empty() {
            drop(page.apply(doc))
        } else {
            drop(page.kubectl(line))
        }
        let search = kubestep_protocol::CommandId(9000);
        let mut told = page.engine.handle(kubestep_protocol::Request { id: search, command: Command::Race });
        let mut slices = 0;
        while page.engine.busy() {
            told.extend(page.engine.idle(500));
            slices += 1;
            assert!(slices <= 300, "{id}: a budget of 120,000 steps is 240 slices");
        }
        let said =
            told.iter().any(|u| matches!(u, Update::Done { id, stop: Stop::Finished, .. } if *id == search));
        assert!(said && slices > 1, "{id}: {slices} slices, {told:?}");
        let link = told.iter().find_map(|u| if let Update::Shared(l) = u { Some(l.clone()) } else { None });
        assert!(id != "P21-two" || link.is_some(), "two managers race");
        if let Some(link) = link {
            let mut there = Page::new();
            there.send(Command::LoadLink(link.text));
            assert_eq!(there.hash(), link.hash, "{id}");
        }
    }
}

#[test]
fn a_search_ends_when_something_else_is_asked() {
    let mut page = applied();
    let search = kubestep_protocol::CommandId(9000);
    let begun = page.engine.handle(kubestep_protocol::Request { id: search, command: Command::Race });
    assert!(begun.is_empty() && page.engine.busy());
    assert!(page.engine.idle(100).is_empty() && page.engine.busy());
    let pause =
        kubestep_protocol::Request { id: kubestep_protocol::CommandId(9001), command: Command::Pause };
    let ended = page.engine.handle(pause);
    assert!(ended.contains(&Update::Done { id: search, stop: Stop::Interrupted, steps: 0 }), "{ended:?}");
    assert!(!page.engine.busy());
}
