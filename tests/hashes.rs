//! The same hash natively and in wasm: sessions are played here, shared as links, and their hashes written down; the
//! browser's tests open the same links, press the same buttons, and compare.

use crate::golden;
use kubestep_cluster::{self as cluster, Act, FaultAct, Mood, ProcessId, Trouble};
use kubestep_engine::{Engine, replay};
use kubestep_insight::sweep::{Turn, scenario};
use kubestep_protocol::{
    Command, CommandId, Doc, ImageAct, Loaded, Moment, NodeAct, Request, Shared, Stop, Update,
};
use serde_json::{Value, json};
use std::path::Path;

/// So many slices of a run at most.
const SLICES: usize = 20_000;
/// Where the browser's tests find what was played here.
const PLAYED: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/sessions.json");

/// A page that draws nothing.
#[derive(Default)]
struct Player {
    engine: Engine,
    next: u32,
    loaded: Option<Loaded>,
    shared: Option<Shared>,
    frame: Option<kubestep_protocol::Frame>,
}

impl Player {
    fn open(scenario: &str) -> Self {
        let mut player = Player::default();
        player.send(Command::LoadScenario(scenario.into()));
        player
    }

    fn send(&mut self, command: Command) {
        self.next += 1;
        let (id, words) = (CommandId(self.next), format!("{command:?}"));
        let mut updates = self.engine.handle(Request { id, command });
        for _ in 0..SLICES {
            if self.take(updates, id) {
                return;
            }
            updates = self.engine.idle(500);
        }
        panic!("{words} never ended");
    }

    fn take(&mut self, updates: Vec<Update>, id: CommandId) -> bool {
        let mut done = false;
        for update in updates {
            match update {
                Update::Loaded(loaded) => self.loaded = Some(loaded),
                Update::Shared(shared) => self.shared = Some(shared),
                Update::Frame(frame) => self.frame = Some(*frame),
                Update::Delta(delta) => {
                    delta.apply(self.frame.as_mut().expect("a frame before its delta")).expect("on its base");
                }
                Update::Done { id: ended, stop, .. } if ended == id => {
                    assert!(!matches!(stop, Stop::Refused(_)), "a command of the story: {stop:?}");
                    done = true;
                }
                _ => {}
            }
        }
        done
    }

    fn files(&self) -> Vec<Doc> {
        self.loaded.as_ref().map(|l| l.files.clone()).unwrap_or_default()
    }

    fn apply(&mut self) {
        let doc = self.files().swap_remove(0);
        self.send(Command::Apply { doc });
    }

    fn kubectl(&mut self, line: &str) {
        let files = self.files();
        self.send(Command::Kubectl { terminal: 0, line: line.into(), files });
    }

    fn seconds(&mut self, seconds: u64) {
        self.send(Command::Advance { millis: seconds * 1000 });
    }

    fn back(&mut self, steps: u32) {
        let head = self.frame.as_ref().expect("a frame").head.clone();
        let step = head.moment.step.saturating_sub(steps);
        self.send(Command::Seek(Moment { branch: head.moment.branch, step }));
    }

    fn share(&mut self) -> Shared {
        let files = self.files();
        self.send(Command::Share { files });
        self.shared.take().expect("a link")
    }
}

/// A session: its name, what was done, and the buttons that do the same on the page (none: only its link is opened).
type Story = (&'static str, &'static [&'static str], fn() -> Player);

const STORIES: &[Story] = &[
    ("the opening story", &["Apply", "Run until calm", "+1 min", "+10 s"], || {
        let mut p = Player::open("P05");
        p.apply();
        p.send(Command::UntilCalm);
        p.seconds(60);
        p.seconds(10);
        p
    }),
    ("a branch, a fault and a pushed tag", &[], || {
        let mut p = Player::open("P05");
        p.apply();
        p.send(Command::UntilCalm);
        p.back(9);
        p.kubectl("kubectl scale deployment/checkout --replicas=5");
        p.send(Command::Fault { id: "stop:replicaset".into(), on: true });
        p.seconds(20);
        p.send(Command::Fault { id: "stop:replicaset".into(), on: false });
        p.send(Command::Image(ImageAct::Push("registry.example.com/checkout:1.9.2".into())));
        p.seconds(400);
        p
    }),
    ("a quota that is full", &[], || {
        let mut p = Player::open("P04");
        p.apply();
        p.send(Command::UntilCalm);
        p.seconds(120);
        p
    }),
    ("a node is stopped and comes back", &[], || {
        let mut p = Player::open("P15");
        p.send(Command::Node(NodeAct::Stop("node-2".into())));
        p.seconds(420);
        p.send(Command::Node(NodeAct::Start("node-2".into())));
        p.seconds(60);
        p
    }),
    ("equal nodes, chosen by lot", &[], || {
        let mut p = Player::open("P06");
        p.kubectl("kubectl scale deployment/catalog --replicas=9");
        p.send(Command::UntilCalm);
        p.kubectl("kubectl rollout restart deployment/catalog");
        p.send(Command::UntilCalm);
        p
    }),
    ("an hour of back-off", &[], || {
        let mut p = Player::open("P05");
        p.apply();
        p.seconds(3600);
        p
    }),
];

/// So many seeds of the sweep are played as sessions.
const SEEDS: u64 = 50;
/// So many short sessions are drawn beside the stories.
const DRAWN: u64 = 10;
const SCENARIOS: [&str; 12] =
    ["P03", "P04", "P05", "P06", "P08", "P09", "P10", "P14", "P15", "P19-agent", "P21", "P21-two"];
const FAULTS: [&str; 14] = [
    "stop:replicaset",
    "stop:deployment",
    "hold:manager:pods",
    "hold:scheduler:pods",
    "lose:manager:replicasets",
    "crash:manager",
    "crash-after:manager:2",
    "drop:manager:3",
    "unanswered:manager:3",
    "double:scheduler:3",
    "conflict:manager:3",
    "slow:manager:2000",
    "registry:throttling:3",
    "jump:clock:60",
];
const LINES: [&str; 8] = [
    "kubectl get pods,rs -o wide",
    "kubectl scale deployment --all --replicas=5",
    "kubectl scale deployment --all --replicas=1",
    "kubectl rollout restart deployment",
    "kubectl delete pods --all --wait=false",
    "kubectl cordon node-1",
    "kubectl label pods --all team=north",
    "kubectl create configmap settings --from-literal=a=b",
];

/// A short session of a seed: a scenario, faults, commands and pauses.
fn drawn(seed: u64) -> Player {
    let mut dice = kubestep_model::Dice::new(seed);
    let mut pick =
        |what: &'static str, most: usize| dice.below(what, u32::try_from(most).unwrap_or(1)) as usize % most;
    let mut p = Player::open(SCENARIOS[pick("scenario", SCENARIOS.len())]);
    for _ in 0..4 {
        match pick("what", 6) {
            0 => p.apply(),
            1 | 2 => p.send(Command::Fault { id: FAULTS[pick("fault", FAULTS.len())].into(), on: true }),
            3 => p.send(Command::Node(NodeAct::Stop(format!("node-{}", 1 + pick("node", 2))))),
            4 => p.back(u32::try_from(pick("back", 5)).unwrap_or(0)),
            _ => p.kubectl(LINES[pick("line", LINES.len())]),
        }
        p.seconds(2 + pick("seconds", 40) as u64);
    }
    p
}

/// A process as the names of faults say it.
fn named(process: &ProcessId) -> String {
    match process {
        ProcessId::Manager => "manager".into(),
        ProcessId::SecondManager => "second".into(),
        ProcessId::Scheduler => "scheduler".into(),
        ProcessId::Kubelet(node) => node.to_string(),
    }
}

/// The name of a fault.
fn id(fault: &FaultAct) -> String {
    let requests = |who: &str, trouble: &Trouble, next: &u32| {
        let what = match trouble {
            Trouble::Dropped => "drop",
            Trouble::Unanswered => "unanswered",
            Trouble::Doubled => "double",
            Trouble::Conflict => "conflict",
        };
        format!("{what}:{who}:{next}")
    };
    match fault {
        FaultAct::Hold { process, kind, .. } => format!("hold:{}:{}", named(process), kind.resource()),
        FaultAct::Lose { process, kind, .. } => format!("lose:{}:{}", named(process), kind.resource()),
        FaultAct::Delay { process, kind, by } => {
            format!("delay:{}:{}:{}", named(process), kind.resource(), by.as_millis())
        }
        FaultAct::SlowPrograms { by } => format!("delay:programs:{}", by.as_millis()),
        FaultAct::Stop { controller, .. } => format!("stop:{controller}"),
        FaultAct::CrashAfter { process, writes } => format!("crash-after:{}:{writes}", named(process)),
        FaultAct::Requests { process, trouble, next } => requests(&named(process), trouble, next),
        FaultAct::Programs { trouble, next } => requests("programs", trouble, next),
        FaultAct::Slow { process, by } => format!("slow:{}:{}", named(process), by.as_millis()),
        FaultAct::Mute { process, .. } => format!("mute:{}", named(process)),
        FaultAct::Deafen { process, .. } => format!("deaf:{}", named(process)),
        FaultAct::CutHistory => "history:cut".into(),
        FaultAct::ApiServer { .. } => "api:away".into(),
        FaultAct::RestartStale { process, behind } => format!("stale:{}:{behind}", named(process)),
        FaultAct::SecondManager { .. } => "second:manager".into(),
        FaultAct::Registry(Mood::Slow(by)) => format!("registry:slow:{by}"),
        FaultAct::Registry(Mood::Throttling(of)) => format!("registry:throttling:{of}"),
        FaultAct::Registry(_) => "registry:away".into(),
        FaultAct::ClockJump { by } => format!("jump:clock:{}", by.as_secs()),
        FaultAct::Crash { process } | FaultAct::Restart { process } => format!("crash:{}", named(process)),
        #[allow(unreachable_patterns)]
        other => panic!("a fault without a name: {other:?}"),
    }
}

/// What the images of the sweep are on the page's empty cluster.
const IMAGES: [(&str, &str); 5] = [
    ("\"web:1\"", "\"nginx:1.29\""),
    ("\"web:2\"", "\"redis:8\""),
    ("\"web:3\"", "\"registry.example.com/app:1.0.0\""),
    ("\"ends:1\"", "\"busybox:1.37\",\"command\":[\"sh\",\"-c\",\"sleep 2\"]"),
    ("\"fails:1\"", "\"busybox:1.37\",\"command\":[\"sh\",\"-c\",\"sleep 2; exit 1\"]"),
];

fn on_the_page(object: &Value) -> String {
    IMAGES.iter().fold(object.to_string(), |text, (from, to)| text.replace(from, to))
}

/// A line of kubectl, once the API server answers.
fn line(p: &mut Player, line: &str) {
    p.send(Command::Fault { id: "api:away".into(), on: false });
    p.kubectl(line);
}

/// What a turn of a sweep is for a person at the page.
fn turn(p: &mut Player, turn: &Turn, broken: &mut Vec<String>) {
    match turn {
        Turn::Make(object) => {
            let name = format!("{}-{}.yaml", object["kind"], object["metadata"]["name"]).replace('"', "");
            let doc = Doc { name, text: on_the_page(object) };
            p.send(Command::Fault { id: "api:away".into(), on: false });
            p.send(Command::Apply { doc });
        }
        Turn::Change(key, patch) => {
            let (kind, patch) = (key.kind.resource(), on_the_page(patch));
            let place =
                if key.namespace.is_empty() { String::new() } else { format!("-n {} ", key.namespace) };
            line(p, &format!("kubectl patch {kind} {} {place}-p '{patch}'", key.name));
        }
        Turn::Delete(key) => {
            line(p, &format!("kubectl delete {} {} --wait=false", key.kind.resource(), key.name));
        }
        Turn::Away { app, .. } => line(p, &format!("kubectl delete pods -l app={app} --wait=false")),
        Turn::Do(act) | Turn::Fault(act) => match act {
            Act::Fault(fault) => {
                broken.push(id(fault));
                p.send(Command::Fault { id: id(fault), on: true });
            }
            Act::Node(cluster::NodeAct::Stop(name) | cluster::NodeAct::Crash(name)) => {
                p.send(Command::Node(NodeAct::Stop(name.clone())));
                broken.push(format!("node {name}"));
            }
            other => panic!("not drawn: {other:?}"),
        },
        Turn::Heal => heal(p, broken),
    }
}

/// All that is broken is mended; what only happens once stays as it is.
fn heal(p: &mut Player, broken: &mut Vec<String>) {
    for id in std::mem::take(broken) {
        match id.strip_prefix("node ") {
            Some(name) => p.send(Command::Node(NodeAct::Start(name.into()))),
            None if ["jump:", "stale:", "history:"].iter().any(|once| id.starts_with(once)) => {}
            None => p.send(Command::Fault { id, on: false }),
        }
    }
    for who in ["manager", "scheduler"] {
        p.send(Command::Fault { id: format!("crash:{who}"), on: false });
    }
}

/// The scenario of a seed of the sweep, played at the page, healed, and some minutes on.
fn swept(seed: u64) -> Player {
    let mut p = Player::open("empty");
    let mut broken = vec![];
    for (after, what) in scenario(seed) {
        p.send(Command::Advance { millis: u64::try_from(after.as_millis()).unwrap_or(0) });
        turn(&mut p, &what, &mut broken);
    }
    heal(&mut p, &mut broken);
    p.seconds(120);
    p
}

#[test]
fn sessions_are_written_down_for_the_browser_to_compare() {
    let seeds: Vec<u64> = (1..=SEEDS).collect();
    let mut written = golden::on_two_threads(&seeds, |seed| {
        let shared = swept(*seed).share();
        let again = replay(&shared.text).expect("a link can be opened");
        assert_eq!(
            (again.hash.as_str(), again.differs),
            (shared.hash.as_str(), false),
            "seed {seed} of the sweep"
        );
        json!({"name": format!("seed {seed} of the sweep"), "presses": [], "link": shared.text, "hash": shared.hash})
    });
    for seed in 1..=DRAWN {
        let shared = drawn(seed).share();
        let again = replay(&shared.text).expect("a link can be opened");
        assert_eq!((again.hash.as_str(), again.differs), (shared.hash.as_str(), false), "seed {seed}");
        let name = format!("drawn from {seed}");
        written.push(json!({"name": name, "presses": [], "link": shared.text, "hash": shared.hash}));
    }
    for (name, presses, story) in STORIES {
        let shared = story().share();
        let again = replay(&shared.text).expect("a link can be opened");
        assert_eq!(again.hash, shared.hash, "{name}: the link comes to the same world");
        assert!(!again.differs, "{name}");
        assert!(again.steps > 20, "{name}: only {} steps", again.steps);
        written.push(json!({"name": name, "presses": presses, "link": shared.text, "hash": shared.hash}));
    }
    let path = Path::new(PLAYED);
    let text = serde_json::to_string_pretty(&written).expect("plain values");
    std::fs::write(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

#[test]
fn another_story_has_another_hash() {
    let hash = |seconds: u64| {
        let mut p = Player::open("P05");
        p.apply();
        p.seconds(seconds);
        p.share().hash
    };
    assert_eq!(hash(30), hash(30));
    assert_ne!(hash(30), hash(31));
}
