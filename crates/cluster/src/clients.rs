//! Programs that people start: they are run again against what they were told, and wait in the world.

use crate::{Asker, Latencies, Step, What, World, world::Trace};
use kubestep_apiserver::{Actor, LogEntry, add_owners};
use kubestep_model::{
    Instant, Kind, Reply,
    client::{Chunk, Client, ClientAsk, ClientProgress, ClientTold, ClientTurn, Rest, WatchEvent},
    defined::DEFINITION,
};
use std::sync::Arc;

/// A program that was told so much goes on with its next step only.
const MOST_TURNS: usize = 10_000;
/// So many pieces of what it printed are kept of a program that begins anew.
const MOST_KEPT: usize = 60;

/// Numbers the programs that people started, in order.
pub type ClientId = u64;

/// One program that a person started.
#[derive(Clone, Debug)]
pub struct ClientState {
    /// The program.
    pub program: Arc<dyn Client>,
    /// The terminal it was typed in.
    pub terminal: u32,
    /// When it was started.
    pub started: Instant,
    /// When it last began anew, if it is one that does.
    pub begun: Instant,
    /// What it printed before that, the last of it.
    pub before: Arc<Vec<Chunk>>,
    /// What it was told since.
    pub told: Arc<Vec<ClientTurn>>,
    /// What it printed since its start.
    pub output: Arc<Vec<Chunk>>,
    /// What is left of it since then, with its place in what it was told and in its output.
    pub rest: Option<Rest>,
    /// What it waits for.
    pub waiting: Option<ClientAsk>,
    /// Its exit code and when it ended.
    pub ended: Option<(i32, Instant)>,
}

impl ClientState {
    /// Whether it is one that goes on for ever, and still does.
    pub fn goes_on(&self) -> bool {
        self.ended.is_none()
            && (self.begun > self.started || matches!(self.waiting, Some(ClientAsk::Again(_))))
    }
}

impl ClientState {
    /// It has printed this since the place from which it went on, after so many turns; what is left of it now.
    fn printed(&mut self, output: Vec<Chunk>, rest: Option<Rest>, turns: usize) {
        let stands = match &self.rest {
            // What stands is not copied, but where an older world shows it, too.
            Some(before) => {
                let all = Arc::make_mut(&mut self.output);
                all.truncate(before.printed);
                all.extend(output);
                before.printed
            }
            None if self.before.is_empty() => {
                self.output = Arc::new(output);
                0
            }
            None => {
                self.output = Arc::new([&self.before[..], &output].concat());
                self.before.len()
            }
        };
        if let Some(rest) = rest {
            self.rest = Some(Rest { turns: turns + rest.turns, printed: stands + rest.printed, ..rest });
        }
    }
}

impl World {
    /// Starts a program; its first request goes out after kubectl's start-up time.
    pub(crate) fn start_client(&mut self, program: Arc<dyn Client>, terminal: u32) -> ClientId {
        let id = self.next_client;
        self.next_client += 1;
        let reads = program.reads_schemas();
        let state = ClientState {
            program,
            terminal,
            started: self.now,
            begun: self.now,
            before: Arc::default(),
            told: Arc::default(),
            output: Arc::default(),
            rest: None,
            waiting: None,
            ended: None,
        };
        self.clients.insert(id, Arc::new(state));
        let mut at = self.now + Latencies::draw(self.latencies.kubectl, &mut self.dice, "kubectl");
        if reads {
            at = at + Latencies::draw(self.latencies.schemas, &mut self.dice, "schemas");
        }
        self.due.put(Step::Client(id), at);
        id
    }

    fn with_client<T>(&mut self, id: ClientId, f: impl FnOnce(&mut ClientState) -> T) -> Option<T> {
        self.clients.get_mut(&id).map(|c| f(Arc::make_mut(c)))
    }

    fn told(&mut self, id: ClientId, told: ClientTold) {
        let now = self.now;
        self.with_client(id, |c| {
            if let Some(ask) = c.waiting.take() {
                Arc::make_mut(&mut c.told).push(ClientTurn { ask, told, at: now });
            }
        });
    }

    /// What discovery says is there without a request.
    fn tell_definitions(&mut self, id: ClientId) {
        let found = self.store.list(DEFINITION, None).cloned().collect();
        self.told(id, ClientTold::Definitions(Arc::new(found)));
    }

    pub(crate) fn answer_client(&mut self, id: ClientId, reply: Reply) {
        let waits = self.clients.get(&id).is_some_and(|c| matches!(c.waiting, Some(ClientAsk::Api(_))));
        if waits {
            self.told(id, ClientTold::Reply(reply));
            self.due.put_exactly(Step::Client(id), self.now);
        }
    }

    /// Programs that watch a kind go on after the time of a delivery.
    pub(crate) fn wake_watching_clients(&mut self, entry: &LogEntry) {
        let ids: Vec<ClientId> = self
            .clients
            .iter()
            .filter(|(_, c)| c.waiting.as_ref().is_some_and(|a| concerns(a, entry)))
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            let at = self.now + Latencies::draw(self.latencies.delivery, &mut self.dice, "delivery");
            let at = at + self.faults.programs_slow;
            self.due.put(Step::Client(id), at);
        }
    }

    /// A program goes on until it waits again or ends.
    pub(crate) fn client_turn(&mut self, id: ClientId, trace: &mut Trace) -> What {
        let Some(client) = self.clients.get(&id) else { return What::Act { text: String::new() } };
        let waiting = client.waiting.clone();
        match &waiting {
            None => {}
            Some(ClientAsk::Sleep(_)) => self.told(id, ClientTold::Slept),
            Some(ClientAsk::Again(_)) => self.begin_anew(id),
            Some(ClientAsk::Discover) => self.tell_definitions(id),
            Some(ask @ ClientAsk::Watch { .. }) => {
                let events = self.events_for(ask);
                let late = matches!(ask, ClientAsk::Watch { until: Some(until), .. } if *until <= self.now);
                if events.is_empty() && !late {
                    return What::Client { line: client.program.line(), exit: None };
                }
                let revision = self.store.revision();
                self.told(id, ClientTold::Events { events, revision });
            }
            Some(ClientAsk::Api(_)) => return What::Client { line: client.program.line(), exit: None },
            Some(ClientAsk::Logs { .. } | ClientAsk::Exec { .. }) => {
                let text = self.node_text(waiting.as_ref());
                self.told(id, ClientTold::Text(text));
            }
        }
        self.run_client(id, trace)
    }

    /// A program that goes on for ever forgets its last round, but for the last of what it printed.
    fn begin_anew(&mut self, id: ClientId) {
        let now = self.now;
        self.with_client(id, |c| {
            let from = c.output.len().saturating_sub(MOST_KEPT);
            c.before = Arc::new(c.output[from..].to_vec());
            c.told = Arc::default();
            c.rest = None;
            c.waiting = None;
            c.begun = now;
        });
    }

    fn run_client(&mut self, id: ClientId, trace: &mut Trace) -> What {
        let Some(client) = self.clients.get(&id) else { return What::Act { text: String::new() } };
        let (line, told_turns) = (client.program.line(), client.told.len());
        let (program, at, turns) = match &client.rest {
            Some(rest) => (&rest.program, rest.at, rest.turns),
            None => (&client.program, client.begun, 0),
        };
        let told = client.told.get(turns..).unwrap_or_default();
        let ClientProgress { output, next, rest } = program.run(at, told);
        let now = self.now;
        self.with_client(id, |c| c.printed(output, rest, turns));
        match next {
            Ok(exit) => {
                self.release(id);
                self.with_client(id, |c| c.ended = Some((exit, now)));
                What::Client { line, exit: Some(exit) }
            }
            Err(ClientAsk::Discover) if told_turns < MOST_TURNS => {
                self.with_client(id, |c| c.waiting = Some(ClientAsk::Discover));
                self.tell_definitions(id);
                self.run_client(id, trace)
            }
            Err(ask) => {
                self.with_client(id, |c| c.waiting = Some(ask.clone()));
                self.carry_ask(id, ask, trace);
                What::Client { line, exit: None }
            }
        }
    }

    fn carry_ask(&mut self, id: ClientId, ask: ClientAsk, _trace: &mut Trace) {
        match ask {
            ClientAsk::Api(request) => {
                let agent = self.clients.get(&id).map(|c| c.program.user_agent().into());
                let actor = Actor { user_agent: agent.unwrap_or_default(), user: "kubernetes-admin".into() };
                let cause = Some(self.next_record);
                self.send_request(Asker::Client(id), request, actor, cause);
            }
            ClientAsk::Discover => self.due.put_exactly(Step::Client(id), self.now),
            ClientAsk::Sleep(time) | ClientAsk::Again(time) => {
                self.release(id);
                self.due.put_exactly(Step::Client(id), self.now + time);
            }
            ClientAsk::Logs { .. } | ClientAsk::Exec { .. } => {
                let at = self.now + Latencies::draw(self.latencies.request, &mut self.dice, "request");
                let at = at + self.faults.programs_slow;
                self.due.put_exactly(Step::Client(id), at);
            }
            ClientAsk::Watch { until, .. } => {
                self.release(id);
                let some = self
                    .clients
                    .get(&id)
                    .and_then(|c| c.waiting.clone())
                    .is_some_and(|a| !self.events_for(&a).is_empty());
                if some {
                    let at = self.now + Latencies::draw(self.latencies.delivery, &mut self.dice, "delivery");
                    let at = at + self.faults.programs_slow;
                    self.due.put_exactly(Step::Client(id), at);
                } else if let Some(until) = until {
                    self.due.put_exactly(Step::Client(id), until.max(self.now));
                }
            }
        }
    }

    fn release(&mut self, id: ClientId) {
        if self.exclusive == Some(id) {
            self.exclusive = None;
        }
    }

    fn events_for(&self, ask: &ClientAsk) -> Vec<WatchEvent> {
        let ClientAsk::Watch { from, owners, .. } = ask else { return vec![] };
        let found = self.store.log_after(*from).filter(|e| concerns(ask, e)).filter_map(watch_event);
        if !owners {
            return found.collect();
        }
        let with_owners = |mut event: WatchEvent| {
            let (object, gone) = match &mut event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => (object, false),
                WatchEvent::Deleted(object) => (object, true),
            };
            add_owners(&self.store, object, gone);
            event
        };
        found.map(with_owners).collect()
    }

    fn node_text(&mut self, ask: Option<&ClientAsk>) -> Result<(String, i32), String> {
        let (pod, container) = match ask {
            Some(ClientAsk::Logs { pod, container, .. } | ClientAsk::Exec { pod, container, .. }) => {
                (pod, container)
            }
            _ => return Err("nothing was asked".into()),
        };
        let object = self.store.get(pod).and_then(|o| o.get::<kubestep_model::Pod>());
        let object = object.ok_or_else(|| format!("pods \"{}\" not found", pod.name))?;
        // The API server asks no node then: there is nothing to read.
        if matches!(ask, Some(ClientAsk::Logs { .. })) && object.spec.node_name.is_empty() {
            return Ok((String::new(), 0));
        }
        if let Some(ClientAsk::Logs { previous, .. }) = ask
            && let Some(why) = crate::logs::refusal(object, container, *previous)
        {
            return Err(why);
        }
        let command = match ask {
            Some(ClientAsk::Exec { command, .. }) => {
                crate::exec::with_variables(self, object, container, command)
            }
            _ => vec![],
        };
        let said =
            if command.is_empty() { vec![] } else { crate::exec::answers(self, object, container, &command) };
        let (node, uid) = (object.spec.node_name.clone(), object.metadata.uid.clone());
        let machine = self.machines.get_mut(&node).ok_or_else(|| "the pod is not on a node".to_string())?;
        let machine = Arc::make_mut(machine);
        let missing = || format!("container {container} in pod {} is not there", pod.name);
        match ask {
            Some(ClientAsk::Logs { previous, .. }) => {
                let Some(lines) = machine.logs(&uid, container, *previous) else {
                    // The kubelet has begun its answer by then: it goes on with these words and ends well.
                    let id = crate::logs::id(object, container, *previous);
                    let told = format!("unable to retrieve container logs for {id}");
                    return Ok((format!("{}\t{told}", self.now.0), 0));
                };
                // Each with the nanosecond at which it was printed before it.
                Ok((lines.iter().map(|(at, line)| format!("{}\t{line}", at.0)).collect(), 0))
            }
            Some(ClientAsk::Exec { .. }) => {
                let ended = machine.exec(&uid, container, &command, self.now, &said).ok_or_else(missing)?;
                Ok(ended.unwrap_or_else(crate::exec::endless))
            }
            _ => Err("nothing was asked".into()),
        }
    }

    /// The next step of one program: its own turn, or a request of its that is served.
    pub(crate) fn next_of_client(&self, id: ClientId) -> Option<(Instant, Step)> {
        let turn = Step::Client(id);
        let flight = self
            .flights
            .iter()
            .rev()
            .find(|(_, f)| f.asker == Asker::Client(id))
            .map(|(n, _)| Step::Serve(*n));
        [Some(turn), flight].into_iter().flatten().find_map(|s| self.due.when(&s).map(|at| (at, s)))
    }

    /// Ends a program as Ctrl-C does.
    pub(crate) fn interrupt(&mut self, terminal: u32) -> Option<ClientId> {
        let id = self
            .clients
            .iter()
            .rev()
            .find(|(_, c)| c.terminal == terminal && c.ended.is_none())
            .map(|(id, _)| *id)?;
        let now = self.now;
        self.with_client(id, |c| {
            c.ended = Some((130, now));
            c.waiting = None;
        });
        self.due.take(&Step::Client(id));
        self.release(id);
        Some(id)
    }
}

/// Whether a stored kind is the one that is watched, in whatever version.
fn is_of(stored: Kind, watched: Kind) -> bool {
    let both = stored.is_defined() && watched.is_defined();
    stored == watched
        || (both && stored.group() == watched.group() && stored.resource() == watched.resource())
}

fn concerns(ask: &ClientAsk, entry: &LogEntry) -> bool {
    let ClientAsk::Watch { kind, namespace, name, from, .. } = ask else { return false };
    entry.revision > *from
        && is_of(entry.key.kind, *kind)
        && namespace.as_ref().is_none_or(|n| *n == entry.key.namespace)
        && name.as_ref().is_none_or(|n| *n == entry.key.name)
}

fn watch_event(entry: &LogEntry) -> Option<WatchEvent> {
    match (&entry.old, &entry.new) {
        (None, Some(new)) => Some(WatchEvent::Added(new.clone())),
        (Some(_), Some(new)) => Some(WatchEvent::Modified(new.clone())),
        (Some(old), None) => Some(WatchEvent::Deleted(old.clone())),
        (None, None) => None,
    }
}
