//! Runs one case after another, each in a world of its own that begins alike: no nodes, and few controllers.

use super::{
    case::{Case, expand},
    drawn::Drawn,
    http::{self, Exchange},
    left,
};
use kubestep_cluster::{Act, FaultAct, Latencies, ProcessId, Registry, Settings, Start, World, loops::ALL};
use kubestep_kubectl::Kubectl;
use kubestep_model::{Key, Kind, ResourceQuota, client::Stream};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// The namespace in which a case runs; in the record it reads `default`.
pub(crate) const NAMESPACE: &str = "kubestep-case-01";
/// The controllers that run: the records are of a cluster with these.
const CONTROLLERS: [&str; 3] = ["namespace", "serviceaccount", "resourcequota"];
/// What controllers do at once is done before the next command starts.
const BETWEEN: Duration = Duration::from_millis(100);
/// The longest that one command may take.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// What all cases begin from.
#[derive(Debug)]
pub(crate) struct Judge {
    begin: World,
}

/// What one command answered, as it came.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    pub(crate) line: String,
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exchanges: Vec<Exchange>,
}

impl Judge {
    /// A cluster in which the case's namespace is made.
    pub(crate) fn new() -> Judge {
        let mut world = World::boot(&Start {
            nodes: vec![],
            registry: Registry::default(),
            seed: 1,
            latencies: Latencies::default(),
            settings: Settings::default(),
        });
        world.act(Act::Fault(FaultAct::Crash { process: ProcessId::Scheduler }));
        for controller in ALL.iter().map(|c| c.name()).filter(|n| !CONTROLLERS.contains(n)) {
            world.act(Act::Fault(FaultAct::Stop { controller: controller.into(), stopped: true }));
        }
        let manifest = format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {NAMESPACE}}}}}");
        let files = BTreeMap::from([("namespace.yaml".to_owned(), manifest)]);
        let mut running = Running { world, files: Arc::new(files) };
        running.command("kubectl create -f namespace.yaml", "default");
        let account = Key::new(Kind::ServiceAccount, NAMESPACE, "default");
        running.until(Duration::from_secs(30), |w| w.store().get(&account).is_some());
        Judge { begin: running.world }
    }

    /// The verdict on one case, as it stands in a record.
    pub(crate) fn judge(&self, case: &Case) -> Value {
        let base = self.begin.now();
        let mut running = Running { world: self.begin.clone(), files: Arc::new(files(case)) };
        let mut made = vec![];
        if !case.setup.is_empty() {
            let setup = running.command("kubectl apply -f setup.yaml", NAMESPACE);
            made.extend(setup.exchanges.iter().filter_map(|e| e.made.clone()));
            Arc::make_mut(&mut running.files).remove("setup.yaml");
            running.until(Duration::from_secs(10), quotas_count);
            if case.setup.contains("CustomResourceDefinition") {
                running.idle(Duration::from_secs(2));
            }
        }
        let mut drawn = Drawn::new(&case.given, base);
        let ran: Vec<Ran> = case.commands.iter().map(|line| running.command(line, NAMESPACE)).collect();
        let fresh = ran.iter().flat_map(|r| &r.exchanges).filter_map(|e| e.made.clone());
        let stored = left::objects(running.world.store(), case, fresh);
        for object in ran.iter().flat_map(|r| &r.exchanges).flat_map(|e| &e.objects) {
            drawn.learn(object);
        }
        verdict(case, &ran, &stored, &mut drawn)
    }
}

/// Whether every quota says what it counts; a quota counts only once it does.
fn quotas_count(world: &World) -> bool {
    let quotas = world.store().list(Kind::ResourceQuota, Some(NAMESPACE));
    quotas.filter_map(|q| q.get::<ResourceQuota>()).all(|q| !q.status.hard.is_empty())
}

fn files(case: &Case) -> BTreeMap<String, String> {
    let more = [("m.yaml".to_owned(), &case.manifest), ("setup.yaml".to_owned(), &case.setup)];
    let own = case.files.iter().map(|(name, text)| (name.clone(), text));
    own.chain(more).map(|(name, text)| (name, expand(text))).collect()
}

fn verdict(case: &Case, ran: &[Ran], stored: &Value, drawn: &mut Drawn) -> Value {
    if case.several {
        let each = |r: &Ran, drawn: &mut Drawn| {
            json!({"command": r.line, "exit": r.exit, "stdout": drawn.text(&r.stdout), "stderr": drawn.text(&r.stderr),
                "warnings": warnings(r, drawn), "http": requests(r, drawn)})
        };
        let commands: Vec<Value> = ran.iter().map(|r| each(r, drawn)).collect();
        return json!({"name": case.name, "commands": commands, "stored": drawn.value(stored)});
    }
    let join = |part: fn(&Ran) -> &str| ran.iter().map(part).collect::<String>();
    let (stdout, stderr) = (join(|r| &r.stdout), join(|r| &r.stderr));
    let (stdout, stderr) = (drawn.text(&stdout), drawn.text(&stderr));
    let warnings: Vec<Value> = ran.iter().flat_map(|r| warnings(r, drawn)).collect();
    let http: Vec<Value> = ran.iter().flat_map(|r| requests(r, drawn)).collect();
    json!({"name": case.name, "exit": ran.last().map_or(0, |r| r.exit), "stdout": stdout, "stderr": stderr,
        "http": http, "stored": drawn.value(stored), "warnings": warnings})
}

fn warnings(ran: &Ran, drawn: &mut Drawn) -> Vec<Value> {
    ran.exchanges.iter().flat_map(|e| &e.warnings).map(|w| drawn.text(w).into()).collect()
}

/// The requests that change something; all, when none does.
fn requests(ran: &Ran, drawn: &mut Drawn) -> Vec<Value> {
    let only_reads = ran.exchanges.iter().all(|e| e.reads);
    let kept = ran.exchanges.iter().filter(|e| only_reads || !e.reads);
    kept.map(|e| drawn.value(&e.record)).collect()
}

/// The world of one case, while its commands run.
struct Running {
    world: World,
    files: Arc<BTreeMap<String, String>>,
}

impl Running {
    /// Runs a command to its end.
    fn command(&mut self, line: &str, namespace: &str) -> Ran {
        let program = Arc::new(Kubectl::new(line, self.files.clone(), namespace));
        self.world.act(Act::Run { terminal: 1, program, exclusive: false });
        let Some(id) = self.world.last_client() else { return Ran::default() };
        self.until(LIMIT, |w| w.client(id).is_some_and(|c| c.ended.is_some()));
        let Some(client) = self.world.client(id) else { return Ran::default() };
        let said = |stream: Stream| {
            client.output.iter().filter(|c| c.stream == stream).map(|c| c.text.as_str()).collect()
        };
        let store = self.world.store();
        let ran = Ran {
            line: line.into(),
            exit: client.ended.map_or(-1, |(code, _)| code),
            stdout: said(Stream::Out),
            stderr: said(Stream::Err),
            exchanges: client.told.iter().filter_map(|t| http::exchange(line, t, store)).collect(),
        };
        self.idle(BETWEEN);
        ran
    }

    fn until(&mut self, limit: Duration, done: impl Fn(&World) -> bool) {
        let end = self.world.now() + limit;
        while !done(&self.world) {
            match self.world.next() {
                Some((at, step)) if at <= end => drop(self.world.advance(&step)),
                _ => return,
            }
        }
    }

    fn idle(&mut self, span: Duration) {
        let end = self.world.now() + span;
        self.until(span, |_| false);
        self.world.idle_until(end);
    }
}
