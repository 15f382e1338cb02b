//! A made-up cluster at three moments of the opening story, for tests of the page and for looking at it alone
//! (`--features fixture`). It is never part of a built site, and none of its words come from a simulator.

use std::sync::Arc;

use kubestep_protocol::*;

const IMAGE: &str = "registry.example.com/checkout:1.9.2";
/// The clock's zero: the cluster is 14 minutes old.
const ZERO: u64 = 840_000;

fn at(seconds: u64) -> At {
    At(ZERO + seconds * 1000)
}

fn object(kind: &str, name: &str) -> ObjectRef {
    ObjectRef { kind: kind.into(), namespace: "default".into(), name: name.into() }
}

fn gap(measure: &str, deadline: Option<u64>) -> Option<Gap> {
    let (want, have) = ("3".to_string(), "0".to_string());
    Some(Gap { want, have, measure: measure.into(), opened: at(0), moved: at(0), deadline })
}

fn row(id: u32, kind: &str, name: &str, owner: Option<u32>) -> Row {
    Row {
        id: Id(id),
        object: object(kind, name),
        owner: owner.map(Id),
        tag: String::new(),
        want: None,
        slots: None,
        has: String::new(),
        selector: None,
        members: Vec::new(),
        gap: None,
        life: Life::There,
        no_loop: false,
    }
}

fn pod(id: u32, owner: u32, name: &str, suffix: &str, node: u32, ready: bool) -> Arc<Pod> {
    let look = if ready { PodLook::Ready } else { PodLook::Waiting };
    Arc::new(Pod {
        id: Id(id),
        object: object("Pod", &format!("{name}-{suffix}")),
        suffix: suffix.into(),
        owner: Some(Id(owner)),
        node: Some(Id(node)),
        look,
        words: if ready { "Running, ready" } else { "ImagePullBackOff" }.into(),
        containers: vec![Container {
            name: "checkout".into(),
            image: IMAGE.into(),
            look,
            words: "Running".into(),
            restarts: 0,
            init: false,
        }],
        services: vec![(Id(2), ready)],
        labels: vec!["app=checkout".into()],
        created: At(0),
        gap: if ready { None } else { gap("not ready", None) },
        life: Life::There,
    })
}

fn rows(broken: bool) -> Vec<Arc<Row>> {
    let slots = |full, old, gap| Some(Slots { full, old, gap, extra: 0 });
    let member = |node, not_ready| Members { node: Id(node), ready: 1, not_ready };
    let (tag, has, bar) = if broken {
        ("wants 1.9.2", "0 new, 3 old", slots(0, 3, 0))
    } else {
        ("wants 1.9.1", "3 ready", slots(3, 0, 0))
    };
    let mut rows = vec![
        Row {
            tag: tag.into(),
            want: Some(3),
            slots: bar,
            has: has.into(),
            gap: if broken { gap("0 of 3", Some(600_000)) } else { None },
            ..row(1, "Deployment", "checkout", None)
        },
        Row {
            slots: slots(3, 0, u32::from(broken)),
            has: if broken { "3 ready, 1 not" } else { "3 ready" }.into(),
            selector: Some("app=checkout".into()),
            members: vec![member(11, 0), member(12, u32::from(broken)), member(13, 0)],
            ..row(2, "Service", "checkout", None)
        },
        Row {
            tag: "1.9.1 · rev 1".into(),
            want: Some(3),
            slots: slots(3, 0, 0),
            has: "3 ready".into(),
            ..row(3, "ReplicaSet", "checkout-6c8f9d7b5d", Some(1))
        },
        row(4, "ConfigMap", "kube-root-ca.crt", None),
        row(5, "EndpointSlice", "checkout-8xk2p", Some(2)),
    ];
    if broken {
        rows.push(Row {
            tag: "1.9.2 · rev 2".into(),
            want: Some(1),
            slots: slots(0, 0, 1),
            has: "0 ready".into(),
            gap: gap("0 of 1", None),
            ..row(6, "ReplicaSet", "checkout-7b4d5c9f66", Some(1))
        });
    }
    rows.into_iter().map(Arc::new).collect()
}

fn node(id: u32, name: &str, pods: u32, cpu: u16) -> Arc<Node> {
    Arc::new(Node {
        id: Id(id),
        name: name.into(),
        look: NodeLook::Ready,
        words: Rich::words("Ready"),
        stopped: false,
        cordoned: false,
        taints: Vec::new(),
        pods,
        cpu,
        memory: 200,
        room: format!("{}.5 of 4 cpu", pods),
    })
}

fn images(asked: u32, next: Option<At>) -> Vec<Arc<Image>> {
    let image = |id, tag: &str, look, words: &str, asked, next| {
        Arc::new(Image {
            id: Id(id),
            reference: format!("registry.example.com/checkout:{tag}"),
            name: format!("checkout:{tag}"),
            look,
            words: words.into(),
            behaviour: vec![],
            asked,
            next,
        })
    };
    vec![
        image(21, "1.9.1", ImageLook::There, "pulls in 1 s · runs until stopped", 3, None),
        image(22, "1.9.2", ImageLook::Missing, "not there", asked, next),
    ]
}

fn a_loop(id: u32, who: Who, name: &str, watches: &str, did: (u64, &str), waits: Rich) -> Loop {
    Loop {
        id: Id(id),
        who,
        name: name.into(),
        detail: String::new(),
        state: LoopState::Idle,
        stuck: false,
        watches: watches.into(),
        seen: 431,
        behind: 0,
        unread: 0,
        queue: Vec::new(),
        queued: 0,
        did: Some((at(did.0), did.1.into())),
        waits,
        asks: None,
        fault: String::new(),
        copies: 1,
    }
}

fn loops(now: u64) -> Vec<Arc<Loop>> {
    let words = Rich::words;
    let mut all = vec![
        a_loop(
            31,
            Who::Deployment,
            "deployment",
            "Deployment, ReplicaSet, Pod",
            (601, "Progressing"),
            words("0 of 3 new pods ready"),
        ),
        a_loop(
            32,
            Who::ReplicaSet,
            "replicaset",
            "ReplicaSet, Pod",
            (0, "made x2k4p"),
            words("nothing: it has its 1 pod"),
        ),
        Loop {
            seen: 429,
            behind: 2,
            unread: 2,
            state: LoopState::Reading,
            ..a_loop(
                33,
                Who::EndpointSlice,
                "endpointslice",
                "Service, Pod, Node",
                (0, "3 ready, 1 not"),
                words("its next 2 events"),
            )
        },
        a_loop(34, Who::Gc, "garbage collector", "every kind", (0, ""), words("an owner to go away")),
        a_loop(
            35,
            Who::Scheduler,
            "scheduler",
            "Pod, Node",
            (0, "bound x2k4p"),
            words("a pod without a node"),
        ),
        Loop {
            detail: "node-2".into(),
            stuck: true,
            state: LoopState::Waiting,
            queue: vec!["x2k4p".into()],
            queued: 1,
            asks: Some(Ask { words: "PATCH event, ×47".into(), sent: false }),
            ..a_loop(
                36,
                Who::Kubelet,
                "kubelet",
                "Pods of node-2",
                (642, "7th pull failed"),
                words("clock: next pull in ").then(Span::Until(at(944))),
            )
        },
        Loop {
            detail: "node-1, node-3".into(),
            ..a_loop(
                37,
                Who::Kubelet,
                "kubelet",
                "Pods of their node",
                (720, "heartbeat"),
                words("clock: heartbeat in ").then(Span::Until(at(730))),
            )
        },
        a_loop(
            38,
            Who::Node,
            "node lifecycle",
            "Node, Lease, Pod",
            (0, "node-3 Ready"),
            words("a lease older than 50s"),
        ),
    ];
    all.iter_mut().for_each(|l| l.did = l.did.take().filter(|d| d.0 <= at(now)));
    all.into_iter().map(Arc::new).collect()
}

/// The story's steps: seconds and lane.
fn script() -> Vec<(u64, u8)> {
    let mut steps: Vec<(u64, u8)> = (0..47).map(|_| (0, 1)).collect();
    let burst = [0, 1, 2, 1, 2, 1, 3, 1, 3, 1, 4, 1, 5, 1, 6, 1, 2, 1, 5, 1, 5, 1, 3, 2];
    steps.extend(burst.map(|lane| (0, lane)));
    for pull in [27, 71, 158, 322] {
        steps.extend([5, 1, 5, 1, 3].map(|lane| (pull, lane)));
        steps.extend((0..20).map(|i| (pull + i * 5 / 4, 5)));
    }
    steps.extend([2, 1, 2].map(|lane| (601, lane)));
    steps.extend([5, 1, 5, 1, 3].map(|lane| (642, lane)));
    while steps.len() < 211 {
        steps.push((720, 5));
    }
    steps.push((724, 5));
    steps.sort_by_key(|s| s.0);
    steps
}

fn timeline(broken: bool) -> Timeline {
    let lanes = [
        (Who::Person, "you"),
        (Who::Api, "api server"),
        (Who::Deployment, "deployment"),
        (Who::ReplicaSet, "replicaset"),
        (Who::Scheduler, "scheduler"),
        (Who::Kubelet, "kubelet"),
        (Who::EndpointSlice, "endpointslice"),
    ];
    let lanes = lanes.map(|(who, name)| Lane { who, name: name.into() }).to_vec();
    let history = (0..47).map(|i| Mark { at: At(i * 1000), lane: (i % 7) as u8, stored: true });
    let story = script().into_iter().skip(47).map(|(s, lane)| Mark { at: at(s), lane, stored: false });
    let gaps =
        vec![GapSpan { from: At(0), opened: None }, GapSpan { from: at(0), opened: broken.then(|| at(0)) }];
    let branch = Branch {
        id: BranchId(1),
        from: Moment { branch: BranchId(0), step: 56 },
        name: "ReplicaSet scaled by hand".into(),
        steps: 14,
        ends: at(90),
    };
    Timeline {
        lanes,
        marks: history.chain(story).collect(),
        gaps,
        flags: vec![Flag { at: at(601), name: "deadline 10m".into() }],
        branches: vec![branch],
    }
}

fn entry(id: u32, line: &str, text: &str, exit: Option<i32>) -> Arc<Entry> {
    Arc::new(Entry {
        id: Id(id),
        terminal: 0,
        line: line.into(),
        output: vec![Chunk { stream: Stream::Out, text: text.into(), marks: vec![] }],
        exit,
        waits: exit.is_none(),
        step: 1,
    })
}

fn sentence(step: u32, seconds: u64) -> Sentence {
    let words = match step {
        0..=48 => "Nothing has moved yet. The file and the cluster differ.",
        _ => "The kubelet on node-2 counted one more back-off for pod x2k4p: event BackOff, 45 → 46.",
    };
    Sentence { step, at: at(seconds), who: Who::Kubelet, words: Rich::words(words), inside: Vec::new() }
}

/// The log of the API server at the end.
fn log() -> Vec<LogLine> {
    let lines = [
        "BackOff ×46",
        "BackOff ×45",
        "pod x2k4p",
        "Failed ×7",
        "pod x2k4p",
        "Progressing",
        "BackOff ×44",
        "pod x2k4p",
        "Failed ×6",
        "Pulling ×6",
    ];
    let line = |(i, what): (usize, &&str)| LogLine {
        revision: 431 - i as u64,
        who: if *what == "Progressing" { Who::Deployment } else { Who::Kubelet },
        what: what.to_string(),
        step: 212 - i as u32,
    };
    lines.iter().enumerate().map(line).collect()
}

fn verdict(seconds: u64) -> Verdict {
    let code = |c: &str| Span::Code(c.into());
    let (because, said) = if seconds > 600 {
        let because = Rich::words("because the registry has no ")
            .then(code("checkout:1.9.2"))
            .then(Span::Words(".".into()));
        (because, "Progressing=False ProgressDeadlineExceeded")
    } else {
        (Rich::words("and the Deployment has not said so yet."), "Progressing=True ReplicaSetUpdated")
    };
    Verdict {
        kind: VerdictKind::Stalled,
        since: Some(at(0)),
        opened: Some(at(0)),
        object: Some(object("Deployment", "checkout")),
        measure: "0 of 3 new".into(),
        because,
        more: Rich::words(" Old pods still serve."),
        said: said.into(),
    }
}

fn frame(step: u32, seconds: u64) -> Frame {
    let broken = step > 48;
    let asked = if seconds > 640 { 7 } else { 6 };
    let calm = Verdict {
        kind: VerdictKind::Converged,
        since: Some(At(0)),
        because: Rich::words("but the file says 1.9.2 and the cluster runs 1.9.1."),
        said: "Progressing=True NewReplicaSetAvailable".into(),
        ..Verdict::default()
    };
    let mut pods = vec![
        pod(41, 3, "checkout-6c8f9d7b5d", "hv9sd", 11, true),
        pod(42, 3, "checkout-6c8f9d7b5d", "m7xzq", 12, true),
        pod(43, 3, "checkout-6c8f9d7b5d", "t5wbn", 13, true),
    ];
    let get =
        "NAME       READY   UP-TO-DATE   AVAILABLE   AGE\ncheckout   3/3     3            3           14m\n";
    let mut terminal = vec![entry(51, "kubectl get deploy", get, Some(0))];
    if broken {
        pods.push(pod(44, 6, "checkout-7b4d5c9f66", "x2k4p", 12, false));
        let status = "error: deployment \"checkout\" exceeded its progress deadline\n";
        terminal.push(entry(52, "kubectl rollout status deployment/checkout", status, Some(1)));
    }
    let apply = ApplyOut {
        line: "kubectl apply -f checkout.yaml".into(),
        output: vec![Chunk {
            stream: Stream::Out,
            text: "deployment.apps/checkout configured\nservice/checkout unchanged\n".into(),
            marks: vec![],
        }],
        exit: Some(0),
        place: None,
        told: vec!["the file is valid".into(), "generation 2 is stored".into()],
        not_told: vec!["that the image exists".into(), "that a pod started".into()],
        step: 50,
    };
    Frame {
        head: Head {
            id: FrameId(0),
            moment: Moment { branch: BranchId(0), step },
            last: 212,
            now: at(seconds),
            zero: At(ZERO),
            revision: 431,
            verdict: if broken { verdict(seconds) } else { calm },
            sentence: sentence(step, seconds),
            touched: vec![object("Pod", "checkout-7b4d5c9f66-x2k4p")],
            apply: broken.then(|| Arc::new(apply)),
            log: log(),
            nowhere: Rich(vec![
                Span::Words("The kubelet on node-2: the registry keeps answering “not found”. Every other loop has done its part.".into()),
            ]),
            registry: "registry.example.com".into(),
            ..Head::default()
        },
        rows: rows(broken),
        pods,
        nodes: vec![node(11, "node-1", 1, 380), node(12, "node-2", if broken { 2 } else { 1 }, 520), node(13, "node-3", 1, 380)],
        images: images(if broken { asked } else { 0 }, broken.then(|| at(944))),
        loops: loops(seconds),
        terminal,
        faults: faults(),
        timeline: timeline(true),
    }
}

fn faults() -> Vec<Arc<FaultItem>> {
    let all = [
        ("stop", "Stop the deployment controller", ""),
        ("crash", "Crash it after its next write", ""),
        ("hold", "Hold the watch of the scheduler", "its cache stays as it is"),
    ];
    let item = |(i, (key, name, note)): (usize, (&str, &str, &str))| {
        Arc::new(FaultItem {
            id: Id(i as u32),
            key: key.into(),
            name: name.into(),
            note: note.into(),
            group: "Controllers".into(),
            on: false,
            rare: false,
        })
    };
    all.into_iter().enumerate().map(item).collect()
}

/// Twelve minutes in: the deadline has passed.
#[cfg(test)]
pub(crate) fn stalled() -> Frame {
    frame(212, 724)
}

#[cfg(feature = "fixture")]
pub(crate) use alone::Alone;

#[cfg(feature = "fixture")]
#[path = "fixture/alone.rs"]
mod alone;
