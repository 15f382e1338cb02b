//! Commands of every kind in an order that a seed chooses: nothing panics, every command is done, and the picture that
//! was built from deltas is the one that is sent whole.

use crate::page::{Page, object};
use kubestep_protocol::{
    BranchId, Command, Doc, FrameId, ImageAct, Moment, NodeAct, ObjectRef, PodAct, Tab, Until,
};

/// A small generator of its own: the same numbers everywhere.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below.max(1)
    }
    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[usize::try_from(self.next(all.len() as u64)).unwrap_or(0)]
    }
}

fn text(chance: &mut Chance, page: &Page) -> String {
    let mut text = page.doc().text;
    for _ in 0..chance.next(3) {
        let (from, to) = match chance.next(8) {
            0 => ("1.9.2", "1.9.1"),
            1 => ("replicas: 3", "replicas: 7"),
            2 => ("app: checkout", "app: chekout"),
            3 => ("image:", "imge:"),
            4 => ("replicas: 3", "replicas: 0"),
            5 => ("kind: Service", "kind: ConfigMap"),
            6 => ("  - port: 80", "  - port: [80"),
            _ => ("checkout", "\u{1F600}\u{0}"),
        };
        text = text.replacen(from, to, 1 + usize::try_from(chance.next(3)).unwrap_or(0));
    }
    text
}

fn line(chance: &mut Chance, page: &Page) -> String {
    let pod = page.frame().pods.first().map_or("none".to_string(), |p| p.object.name.clone());
    let set = page.frame().rows.iter().find(|r| r.object.kind == "ReplicaSet");
    let set = set.map_or("none".to_string(), |r| r.object.name.clone());
    let lines = [
        "kubectl get all -o wide".to_string(),
        "kubectl rollout status deployment/checkout".into(),
        "kubectl rollout restart deployment/checkout".into(),
        "kubectl rollout undo deployment/checkout".into(),
        "kubectl rollout pause deployment/checkout".into(),
        "kubectl rollout resume deployment/checkout".into(),
        "kubectl scale deployment checkout --replicas=6".into(),
        "kubectl scale deployment checkout --replicas=1".into(),
        format!("kubectl scale rs {set} --replicas=9"),
        format!("kubectl delete pod {pod}"),
        format!("kubectl label pod {pod} app-"),
        format!("kubectl logs {pod}"),
        format!("kubectl get pod {pod} -o yaml -w"),
        "kubectl delete deployment checkout".into(),
        "kubectl delete service checkout --cascade=orphan".into(),
        "kubectl get events".into(),
        "kubectl describe node node-1".into(),
        "kubectl wait --for=condition=Available deployment/checkout --timeout=30s".into(),
        "kubectl create -f m.yaml".into(),
        "kubectl".into(),
        "nothing 'open".into(),
        "kubectl set image deployment/checkout checkout=registry.example.com/checkout:1.9.1".into(),
        "kubectl taint nodes node-3 a=b:NoExecute".into(),
        "kubectl delete ns default".into(),
    ];
    lines[usize::try_from(chance.next(lines.len() as u64)).unwrap_or(0)].clone()
}

// One arm for each command.
#[allow(clippy::too_many_lines)]
pub(crate) fn command(chance: &mut Chance, page: &mut Page) -> Command {
    let head = page.frame().head.clone();
    let nodes: Vec<String> =
        page.frame().nodes.iter().map(|n| n.name.clone()).chain(["node-9".into()]).collect();
    let node = nodes[usize::try_from(chance.next(nodes.len() as u64)).unwrap_or(0)].clone();
    let pods: Vec<ObjectRef> =
        page.frame().pods.iter().map(|p| p.object.clone()).chain([object("Pod", "none")]).collect();
    let pod = pods[usize::try_from(chance.next(pods.len() as u64)).unwrap_or(0)].clone();
    let image = format!("registry.example.com/checkout:1.9.{}", chance.next(3));
    let step = u32::try_from(chance.next(u64::from(head.last) + 3)).unwrap_or(0);
    let branches = u64::try_from(page.frame().timeline.branches.len()).unwrap_or(0) + 2;
    let branch = BranchId(u32::try_from(chance.next(branches)).unwrap_or(0));
    match chance.next(46) {
        0..=9 => Command::Step { inner: chance.next(3) == 0 },
        10 | 11 => Command::Reconcile,
        12 => Command::UntilCalm,
        13 | 14 => Command::Advance { millis: chance.next(60_000) },
        15 => Command::Advance { millis: chance.next(1_200_000) },
        16 | 17 => {
            Command::Play { millis: chance.next(5_000), steps: u32::try_from(chance.next(40)).unwrap_or(0) }
        }
        18 | 19 => Command::Back,
        20 | 21 => Command::Forward,
        22 => Command::Seek(Moment { branch: head.moment.branch, step }),
        23 => Command::Seek(Moment { branch, step }),
        24 => Command::Peek(Moment { branch: head.moment.branch, step }),
        25 => Command::Branch(branch),
        26 => Command::DropSnapshots,
        27 | 28 => Command::Apply { doc: Doc { name: "checkout.yaml".into(), text: text(chance, page) } },
        29..=31 => Command::Kubectl {
            terminal: u8::try_from(chance.next(2)).unwrap_or(0),
            line: line(chance, page),
            files: page.docs(),
        },
        32 => Command::Interrupt { terminal: u8::try_from(chance.next(3)).unwrap_or(0) },
        33 => Command::Image(match chance.next(5) {
            0 => ImageAct::Push(image),
            1 => ImageAct::Remove(image),
            2 => ImageAct::Slow(image, chance.next(100_000)),
            3 => ImageAct::Deny(image, true),
            _ => ImageAct::Deny(image, false),
        }),
        34 => Command::Node(match chance.next(6) {
            0 => NodeAct::Add,
            1 => NodeAct::Stop(node),
            2 => NodeAct::Start(node),
            3 => NodeAct::Cordon(node),
            4 => NodeAct::Uncordon(node),
            _ => NodeAct::Remove(node),
        }),
        35 => Command::Pod {
            pod,
            act: match chance.next(5) {
                0 => PodAct::Delete,
                1 => PodAct::Label("app".into(), Some("other".into())),
                2 => PodAct::Label("app".into(), None),
                3 => PodAct::Crash(None, 1),
                _ => PodAct::Probe(Some(chance.next(2) == 0)),
            },
        },
        36 | 37 => {
            let faults: Vec<_> =
                page.frame().faults.iter().map(|f| f.key.clone()).chain(["none:x:y".into()]).collect();
            Command::Fault {
                id: faults[usize::try_from(chance.next(faults.len() as u64)).unwrap_or(0)].clone(),
                on: chance.next(3) > 0,
            }
        }
        38 => Command::WhatIf(chance.next(2) == 0),
        39 => Command::Check { doc: Doc { name: "m.yaml".into(), text: text(chance, page) }, version: 1 },
        40 => Command::BreakMenu { doc: Doc { name: "m.yaml".into(), text: text(chance, page) } },
        41 => Command::Complete {
            terminal: 0,
            line: line(chance, page).chars().take(usize::try_from(chance.next(30)).unwrap_or(0)).collect(),
        },
        42 => {
            let objects = [
                object("Deployment", "checkout"),
                object("Service", "checkout"),
                pod,
                ObjectRef { kind: "Node".into(), namespace: String::new(), name: node },
                object("Nothing", "x"),
            ];
            let object = Some(objects[usize::try_from(chance.next(5)).unwrap_or(0)].clone())
                .filter(|_| chance.next(6) > 0);
            let tab = *chance.of(&[&Tab::Why, &Tab::Describe, &Tab::Yaml, &Tab::Events, &Tab::History]);
            Command::Select { object, tab }
        }
        43 => Command::Until(match chance.next(5) {
            0 => Until::Spoken,
            1 => Until::PastLimit,
            2 => Until::Changes(pod),
            3 => Until::Moves(page.frame().loops.first().map_or(Default::default(), |l| l.id)),
            _ => Until::Question("pods -l app=checkout ready == 3".into()),
        }),
        44 => Command::Sentences { from: step, to: step.saturating_add(30) },
        _ => match chance.next(6) {
            0 => Command::Hash,
            1 => Command::Latencies,
            2 => Command::Limit { millis: chance.next(1_000_000) },
            3 => Command::Pause,
            4 => Command::Hello,
            _ => Command::Share { files: page.docs() },
        },
    }
}

fn play(seed: u64, commands: usize) {
    let mut chance = Chance(seed);
    let mut page = Page::open("P05");
    for i in 0..commands {
        let command = command(&mut chance, &mut page);
        let words: String = format!("{seed}/{i} {command:?}").chars().take(200).collect();
        page.send(command);
        if i % 10 == 0 {
            page.check_whole(&words);
        }
        if page.frame().head.last > 3_000 {
            page.send(Command::LoadScenario("P05".into()));
        }
    }
    page.check_whole("at the end");
    let (hash, link) = (page.hash(), page.share());
    let mut other = Page::new();
    other.send(Command::LoadLink(link.text));
    assert_eq!(other.hash(), hash, "seed {seed}: what was played can be shared");
}

#[test]
fn random_commands_never_panic() {
    for seed in 1..=5 {
        play(seed, 400);
    }
}

#[test]
fn commands_before_anything_is_loaded_are_refused() {
    let mut page = Page::new();
    for command in
        [Command::Back, Command::Step { inner: false }, Command::Hash, Command::Whole, Command::Pause]
    {
        page.send(command);
    }
    let updates = page
        .engine
        .handle(kubestep_protocol::Request { id: Default::default(), command: Command::Drawn(FrameId(3)) });
    assert!(updates.is_empty());
    assert!(page.frame.is_none());
}
