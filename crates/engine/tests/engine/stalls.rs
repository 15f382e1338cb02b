//! Every stall that a scenario leads to: Why says which loop, what it waits for, since when, and who says so: the object, the
//! field or event, and who wrote it.

use crate::machines::{STALLS, seconds, typed, why};
use crate::page::{Page, object};
use kubestep_protocol::{Body, Command, LoopState, NodeAct, Tab, VerdictKind, Why, WhyHead};

fn why_of(page: &mut Page, kind: &str, name: &str) -> Why {
    match page.select(kind, name, Tab::Why).body {
        Body::Why(why) => *why,
        other => panic!("{other:?}"),
    }
}

/// Where it is said, in whose words, and who wrote them.
fn quoted(page: &Page, why: &Why) -> Option<[String; 3]> {
    let now = page.frame().head.now;
    why.quote.as_ref().map(|q| [q.source.plain(now), q.text.clone(), q.by.plain(now)])
}

/// Which loop (the strip, and where it stops), waiting for what (the head), since when, and who says so.
fn says_all(page: &mut Page, kind: &str, name: &str, words: &str, writer: Option<&str>) {
    let now = page.frame().head.now;
    let why = why_of(page, kind, name);
    let WhyHead::Blocked(head) = &why.head else { panic!("{name}: {:?}", why.head) };
    let head = head.plain(now);
    assert!(head.contains(words) && head.contains("So for "), "{name}: {head}");
    assert!(why.strip.len() > 2 && why.stops_at.is_some(), "{name}: no loop is named: {:?}", why.strip);
    let lanes = why.speech.as_ref().map_or(0, |s| s.lanes.len());
    assert!(lanes > 0, "{name}: nobody could have spoken");
    let quote = quoted(page, &why);
    match (&quote, writer) {
        (None, None) => {}
        (Some([source, text, by]), Some(writer)) => {
            assert!(source.contains(" · ") || source.starts_with("Event "), "{name}: {source}");
            assert!(!text.is_empty() && by.starts_with(writer) && by.ends_with(" ago"), "{name}: {quote:?}");
        }
        _ => panic!("{name}: {quote:?}"),
    }
    // What a word in the manifest would mend has no button.
    let button = ["registry", "Insufficient", "is stopped"].iter().any(|w| words.contains(w));
    assert!(!button || !why.ends.is_empty(), "{name}: nothing would end it");
    assert!(!why.chain.is_empty(), "{name}: no way back to a keystroke");
}

/// Who says so in the scenario of this name.
fn by(id: &str) -> &'static str {
    match id {
        "P04" | "P04-limits" | "P04-account" => "written by the ReplicaSet controller",
        "P04-fit" => "written by the scheduler",
        _ => "written by the kubelet on node-",
    }
}

#[test]
fn each_stall_names_the_loop_what_it_waits_for_since_when_and_who_says_so() {
    for (id, name, words) in STALLS {
        let mut page = Page::open(id);
        page.apply(page.doc());
        seconds(&mut page, 300);
        says_all(&mut page, "Deployment", name, words, Some(by(id)));
    }
    let mut page = Page::open("P04-claim");
    page.apply(page.doc());
    seconds(&mut page, 300);
    says_all(&mut page, "Deployment", "archive", "fast-disks", Some("written by the volume binder"));
    let mut page = Page::open("P21");
    page.apply(page.doc());
    seconds(&mut page, 300);
    says_all(&mut page, "Deployment", "relay", "controller manager is stopped", None);
    let mut page = Page::open("P22");
    seconds(&mut page, 300);
    says_all(&mut page, "Deployment", "mail", "mail:1.O", Some("written by the kubelet on node-"));
}

#[test]
fn five_kinds_wait_for_a_dead_node_each_in_its_way() {
    let mut page = Page::open("P09");
    page.send(Command::Node(kubestep_protocol::NodeAct::Stop("node-1".into())));
    seconds(&mut page, 60);
    for (kind, name) in [("Deployment", "web"), ("StatefulSet", "db"), ("DaemonSet", "agent")] {
        let head = why(&mut page, kind, name);
        let on_it =
            page.frame().pods.iter().any(|p| p.object.name.starts_with(name) && head.contains("node-1"));
        assert!(on_it || head == "Agreed", "{kind} {name}: {head}");
    }
    let head = why(&mut page, "DaemonSet", "agent");
    assert!(head.contains("node-1"), "{head}");
    seconds(&mut page, 120);
    // It counts as one too many, once Kubernetes has marked the node.
    let row = page.frame().rows.iter().find(|r| r.object.kind == "DaemonSet").expect("its row");
    assert_eq!(row.gap.as_ref().map(|g| g.measure.as_str()), Some("1 where none is wanted"));
}

#[test]
fn a_pod_that_fits_nowhere_is_told_of_by_the_scheduler() {
    let mut page = Page::open("P08");
    typed(&mut page, "kubectl scale deployment tiles --replicas=40");
    seconds(&mut page, 120);
    says_all(&mut page, "Deployment", "tiles", "Insufficient cpu", Some("written by the scheduler"));
    let why = why_of(&mut page, "Deployment", "tiles");
    let [source, text, _] = quoted(&page, &why).expect("it says so");
    assert!(source.ends_with("status.conditions[PodScheduled]"), "{source}");
    assert!(text.contains("0/3 nodes are available"), "{text}");
    assert_eq!(why.stops_at.as_deref(), Some("filters"));
    let waits = page.frame().pods.iter().find(|p| p.node.is_none()).expect("one waits").object.name.clone();
    let why = why_of(&mut page, "Pod", &waits);
    assert_eq!(why.attempts.last().expect("an attempt").result, "no node fits");
}

#[test]
fn one_quota_of_two_is_told_of_by_the_loop_that_it_stops() {
    let mut page = Page::open("P14");
    typed(&mut page, "kubectl apply -f north.yaml -f south.yaml");
    seconds(&mut page, 120);
    let south = kubestep_protocol::ObjectRef { namespace: "south".into(), ..object("Deployment", "shop") };
    page.send(Command::Select { object: Some(south), tab: Tab::Why });
    let Body::Why(why) = page.details.clone().expect("details").body else { panic!("no Why") };
    let [source, text, by] = quoted(&page, &why).expect("it says so");
    assert!(source.ends_with("status.conditions[ReplicaFailure]"), "{source}");
    assert!(text.contains("exceeded quota: three"), "{text}");
    assert!(by.starts_with("written by the ReplicaSet controller, "), "{by}");
    assert_eq!(why.stops_at.as_deref(), Some("quota"));
    assert!(matches!(&why.head, WhyHead::Blocked(h) if h.plain(page.frame().head.now).contains("So for ")));
}

/// The order that never arrived is in no object, and nobody in the cluster can tell of it: the terminal alone does.
#[test]
fn an_order_that_got_lost_is_told_of_by_nobody_in_the_cluster() {
    let mut page = Page::open("P17");
    page.send(Command::Fault { id: "drop:programs:1".into(), on: true });
    typed(&mut page, "order -f one-more.yaml");
    seconds(&mut page, 60);
    let (said, exit) = page.terminal();
    assert!(said.contains("no answer: was it done or not?") && exit != Some(0), "{said}");
    assert_eq!((page.frame().pods.len(), page.verdict()), (0, VerdictKind::Converged));
    assert_eq!(typed(&mut page, "kubectl get events"), "No resources found in default namespace.\n");
    // What is wished for is in an object, which waits for its loop, and that can be asked.
    page.send(Command::Fault { id: "stop:deployment".into(), on: true });
    typed(&mut page, "declare -f three.yaml");
    seconds(&mut page, 60);
    says_all(&mut page, "Deployment", "workers", "Deployment controller is stopped", None);
    let chain = why_of(&mut page, "Deployment", "workers").chain;
    let last = chain.last().expect("a cause").words.plain(page.frame().head.now);
    assert!(last.contains("declare -f three.yaml"), "{last}");
}

/// Nobody in the cluster wants 3: a file does, and who compares is no loop.
#[test]
fn drift_is_told_of_by_no_loop() {
    let mut page = Page::open("P19");
    typed(&mut page, "kubectl scale deployment shop --replicas=7");
    seconds(&mut page, 3600);
    assert_eq!(page.verdict(), VerdictKind::Converged);
    let now = page.frame().head.now;
    let drift = why_of(&mut page, "Deployment", "shop");
    let WhyHead::Silent { words, since, until } = &drift.head else { panic!("{:?}", drift.head) };
    assert_eq!(words.plain(now), "The state file wants spec.replicas: 7 -> 3");
    assert!((3_590_000..3_610_000).contains(&(now.0 - since.0)), "since the hand: {}", now.0 - since.0);
    assert!(until.plain(now).contains("statefile plan says so when somebody runs it"));
    let hand = |c: &kubestep_protocol::Link| {
        c.words.plain(now).contains("You scaled Deployment shop: replicas 3 → 7")
    };
    assert!(drift.chain.iter().any(hand), "{:?}", drift.chain);
    typed(&mut page, "statefile apply");
    page.send(Command::UntilCalm);
    assert!(matches!(why_of(&mut page, "Deployment", "shop").head, WhyHead::Agreed));

    let mut page = Page::open("P19-agent");
    typed(&mut page, "gitops suspend");
    typed(&mut page, "kubectl scale deployment shop --replicas=7");
    seconds(&mut page, 300);
    let drift = why_of(&mut page, "Deployment", "shop");
    let now = page.frame().head.now;
    let WhyHead::Silent { words, until, .. } = &drift.head else { panic!("{:?}", drift.head) };
    assert_eq!(words.plain(now), "The repository wants spec.replicas: 7 -> 3");
    assert!(until.plain(now).contains("suspended"));
    let card = page.frame().loops.iter().find(|l| l.name == "gitops-agent").cloned();
    assert!(card.is_some_and(|c| c.state != LoopState::Stopped));
}

/// The state does not say who; the causes and the audit record do.
#[test]
fn who_scaled_it_is_in_the_record_and_not_in_the_state() {
    let mut page = Page::open("P20");
    let why = why_of(&mut page, "Deployment", "checkout");
    assert!(matches!(why.head, WhyHead::Agreed) && why.quote.is_none(), "{:?}", why.head);
    let now = page.frame().head.now;
    let act = why.chain.last().expect("an act");
    assert!(act.words.plain(now).contains("kubectl scale deployment checkout --replicas=0"));
    assert!(act.step.is_some(), "a step to go to");
    let Body::Audit(rows) = page.select("Deployment", "checkout", Tab::Audit).body else {
        panic!("no audit")
    };
    assert!(rows.iter().any(|r| r.agent == "kubectl" && r.verb == "patch scale"), "{rows:?}");
}

/// The retries of a container that ends: who says so is the kubelet, again and again.
#[test]
fn the_pauses_of_a_container_are_told_of_by_its_kubelet() {
    let mut page = Page::open("P07");
    page.apply(page.doc());
    seconds(&mut page, 600);
    says_all(&mut page, "Deployment", "billing", "ends with code 1", Some("written by the kubelet on node-"));
    let why = why_of(&mut page, "Deployment", "billing");
    let [source, text, _] = quoted(&page, &why).expect("it says so");
    assert!(source.contains("status.containerStatuses[0].state.waiting"), "{source}");
    assert!(text.contains("back-off 5m0s restarting failed container"), "{text}");
}

/// A number, a place: what waits for a dead node is told of by the node's own condition once Kubernetes has noticed.
#[test]
fn a_dead_node_is_told_of_by_the_node_controller_after_its_grace() {
    let mut page = Page::open("P09");
    let node =
        page.frame().pods.iter().find(|p| p.object.name == "db-1").and_then(|p| p.node).expect("a node");
    let node = page.frame().nodes.iter().find(|n| n.id == node).expect("its row").name.clone();
    page.send(Command::Node(NodeAct::Stop(node.clone())));
    seconds(&mut page, 20);
    let early = why_of(&mut page, "Node", &node);
    assert!(early.quote.is_none(), "nobody has noticed: {:?}", early.quote);
    seconds(&mut page, 420);
    let why = why_of(&mut page, "StatefulSet", "db");
    let [source, text, by] = quoted(&page, &why).unwrap_or_else(|| panic!("{why:?}"));
    assert_eq!(source, format!("Node {node} · status.conditions[Ready]"));
    assert!(text.contains("Kubelet stopped posting node status"), "{text}");
    assert!(by.starts_with("written by the node controller, "), "{by}");
    assert_eq!(why.stops_at.as_deref(), Some("node"));
    assert!(why_head(&page, &why).contains(&node));
    // Back to the keystroke, and the latest first.
    let now = page.frame().head.now;
    let stop = why.chain.iter().map(|l| l.words.plain(now)).find(|words| words.starts_with("You stopped"));
    assert!(stop.is_some_and(|words| words.contains(&node)), "{:?}", why.chain);
    assert!(why.chain.is_sorted_by_key(|l| std::cmp::Reverse(l.at)), "{:?}", why.chain);
    let lanes = why.speech.expect("somebody could have spoken").lanes;
    let says = lanes.iter().find(|l| l.name == format!("Node {node}")).expect("the node says so");
    assert!(says.helps && says.words == "says why" && !says.spoke.is_empty(), "{says:?}");
}

/// A Job that has failed is at its end and not what was asked for: it is told, though nothing has to move.
#[test]
fn a_failed_job_is_told() {
    let mut page = Page::open("empty");
    let text = page.doc().text;
    let image = text.lines().find_map(|l| l.split_once("image: ")).expect("an image").1.trim().to_string();
    page.kubectl(&format!("kubectl create job bad --image={image} -- sh -c 'exit 3'"));
    seconds(&mut page, 3000);
    let now = page.frame().head.now;
    let verdict = page.frame().head.verdict.clone();
    assert_eq!(verdict.kind, VerdictKind::Converged, "{verdict:?}");
    assert!(verdict.because.plain(now).contains("the Job bad has failed"), "{verdict:?}");
    match why_of(&mut page, "Job", "bad").head {
        WhyHead::Silent { words, .. } => assert!(words.plain(now).contains("failed"), "{words:?}"),
        other => panic!("{other:?}"),
    }
}

fn why_head(page: &Page, why: &Why) -> String {
    match &why.head {
        WhyHead::Blocked(words) => words.plain(page.frame().head.now),
        other => panic!("{other:?}"),
    }
}

/// The scheduler forgets a pod whose binding was not answered, as upstream's does, and gives its room away once more; the
/// kubelet is the one that counts.
#[test]
fn a_lost_answer_gives_a_node_more_than_it_has() {
    let mut page = Page::open("P21-answer");
    seconds(&mut page, 20);
    let on_it = |page: &Page| page.frame().pods.iter().filter(|p| p.node.is_some()).count();
    assert!(on_it(&page) >= 2, "both were bound: {:?}", page.frame().pods);
    let failed = typed(&mut page, "kubectl get pods -o jsonpath={.items[*].status.reason}");
    assert!(failed.contains("OutOfcpu"), "{failed}");
    let name = typed(
        &mut page,
        "kubectl get pods --field-selector=status.phase=Failed -o jsonpath={.items[0].metadata.name}",
    );
    let why = why_of(&mut page, "Pod", &name);
    let [source, text, by] = quoted(&page, &why).expect("it says so");
    assert!(source.ends_with("· status.message"), "{source}");
    assert!(
        text.starts_with("OutOfcpu: ") && by.starts_with("written by the kubelet on node-1, "),
        "{text}, {by}"
    );
    page.send(Command::Fault { id: "hold:scheduler:pods".into(), on: false });
    seconds(&mut page, 60);
    says_all(&mut page, "Deployment", "press", "Insufficient cpu", Some("written by the scheduler"));
}

/// What a crashed scheduler has sent still arrives, and the next one knows nothing of it.
#[test]
fn a_binding_in_flight_gives_a_node_more_than_it_has() {
    let mut page = Page::open("P21-binding");
    let on_it = |page: &mut Page, name: &str| {
        let fields = "-o jsonpath={.spec.nodeName}/{.status.reason}";
        typed(page, &format!("kubectl get pod {name} {fields}"))
    };
    assert_eq!([on_it(&mut page, "early"), on_it(&mut page, "urgent")], ["/", "/"]);
    seconds(&mut page, 1);
    assert_eq!([on_it(&mut page, "early"), on_it(&mut page, "urgent")], ["/", "node-1/"]);
    seconds(&mut page, 10);
    assert_eq!([on_it(&mut page, "early"), on_it(&mut page, "urgent")], ["node-1/OutOfcpu", "node-1/"]);
    assert_eq!(page.send(Command::UntilCalm), kubestep_protocol::Stop::Calm(VerdictKind::Stalled));
    let why = why_of(&mut page, "Pod", "early");
    let [source, text, _] = quoted(&page, &why).expect("it says so");
    assert!(source.ends_with("· status.message") && text.starts_with("OutOfcpu: "), "{source}, {text}");
}

/// A request for a pod that is in flight when the controller manager crashes makes one too many; the job takes it away.
#[test]
fn a_job_has_three_pods_of_two_after_a_crash() {
    let mut page = Page::open("P21-job");
    let mut most = 0;
    for _ in 0..16 {
        page.send(Command::Advance { millis: 250 });
        let names = typed(&mut page, "kubectl get pods -o jsonpath={.items[*].metadata.name}");
        most = most.max(names.split_whitespace().count());
    }
    assert_eq!(most, 3);
    assert_eq!(page.send(Command::UntilCalm), kubestep_protocol::Stop::Calm(VerdictKind::Converged));
    assert_eq!(typed(&mut page, "kubectl get job count -o jsonpath={.status.succeeded}"), "2");
}

/// A scheduler that begins anew asks once more, as upstream's does; who was asked goes once.
#[test]
fn a_victim_is_asked_twice_after_a_crash() {
    let mut page = Page::open("P21-victim");
    seconds(&mut page, 40);
    let Body::Audit(rows) = page.select("Pod", "filler", Tab::Audit).body else { panic!("no audit") };
    let asked = rows.iter().filter(|r| r.agent == "kube-scheduler" && r.verb == "delete").count();
    assert_eq!(asked, 2, "{rows:?}");
    assert_eq!(page.send(Command::UntilCalm), kubestep_protocol::Stop::Calm(VerdictKind::Converged));
    let left = typed(&mut page, "kubectl get pods -o jsonpath={.items[*].metadata.name}");
    assert_eq!(left, "urgent");
    assert_eq!(why(&mut page, "Pod", "urgent"), "Agreed");
}

/// What is asked for is 1 + 1, and there are three: the old pod waits for a loop that is not there.
#[test]
fn without_surge_three_pods_wait_for_the_controller_manager() {
    let mut page = Page::open("P06-surge");
    let replicas = "kubectl get replicasets -o jsonpath={.items[*].spec.replicas}";
    let there = "kubectl get pods -o jsonpath={.items[*].metadata.name}";
    assert_eq!(typed(&mut page, replicas), "1 1");
    assert_eq!(typed(&mut page, there).split(' ').count(), 3);
    says_all(&mut page, "Deployment", "depot", "controller manager is stopped", None);
    page.send(Command::Fault { id: "crash:manager".into(), on: false });
    assert_eq!(page.send(Command::UntilCalm), kubestep_protocol::Stop::Calm(VerdictKind::Converged));
    assert_eq!(typed(&mut page, there).split(' ').count(), 2);
    assert_eq!(why(&mut page, "Deployment", "depot"), "Agreed");
}
