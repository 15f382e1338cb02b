//! Requests are sent, served and answered.

use crate::{
    Asker, Flight, FlightId, Latencies, ProcessId, RecordId, Step, Trouble, What, World, agents::Told,
    faults::heard, flight::ClientLimit, world::Trace,
};
use kubestep_apiserver::Actor;
use kubestep_model::{Answer, Body, Key, Kind, Reply, Request, Status, Verb};
use std::sync::Arc;

/// The key that a request is about; the name may be empty (lists) or a prefix (names to be drawn).
pub(crate) fn key_of(request: &Request) -> Key {
    match &request.verb {
        Verb::Get { key, .. }
        | Verb::Replace { key, .. }
        | Verb::Patch { key, .. }
        | Verb::Delete { key, .. } => key.clone(),
        Verb::Bind { pod, .. } | Verb::Evict { pod, .. } => pod.clone(),
        Verb::Token { account } => account.clone(),
        Verb::List { kind, namespace, .. } => {
            Key::new(*kind, namespace.clone().unwrap_or_else(|| "".into()), "")
        }
        Verb::DeleteCollection { kind, namespace, .. } => Key::new(*kind, namespace.clone(), ""),
        Verb::Create { kind, namespace, body } => {
            let name: Arc<str> = match body {
                Body::Typed(o) if o.meta().name.is_empty() => o.meta().generate_name.as_str().into(),
                Body::Typed(o) => o.meta().name.clone(),
                Body::Json(v) => v["metadata"]["name"].as_str().unwrap_or("").into(),
            };
            Key::new(*kind, namespace.clone(), name)
        }
    }
}

impl World {
    /// Sends a request; it is served after its latency and, where the client limits itself, after its turn.
    pub(crate) fn send_request(
        &mut self,
        asker: Asker,
        request: Request,
        actor: Actor,
        cause: Option<RecordId>,
    ) -> FlightId {
        let wait = self.client_wait(&asker, &actor.user_agent);
        let wait = wait + self.faults.extra(asker.process());
        let at = self.now + wait + Latencies::draw(self.latencies.request, &mut self.dice, "request");
        let settling = kubestep_apiserver::waits_for_definition(&self.store, &request, at);
        let at = if settling { at + kubestep_apiserver::SETTLING } else { at };
        let id = self.next_flight;
        self.next_flight += 1;
        let life = asker.process().map_or(0, |p| self.life(p));
        let flight = Flight { asker, life, request: Arc::new(request), actor, sent: self.now, cause };
        self.flights.insert(id, Arc::new(flight));
        self.due.put(Step::Serve(id), at);
        id
    }

    /// kube-controller-manager: 20 a second, bursts of 30, for each controller, twice as many for the garbage collector
    /// and much more for the one that empties namespaces; scheduler and kubelet: 50 and 100.
    /// Upstream: cmd/kube-controller-manager/app/core.go (v1.37).
    fn client_wait(&mut self, asker: &Asker, agent: &Arc<str>) -> std::time::Duration {
        let (process, channel) = match asker {
            Asker::Controller { process, .. } | Asker::Agent { process, .. } => (process, agent.clone()),
            Asker::Events { process, .. } if process.is_manager() => (process, agent.clone()),
            Asker::Events { process, .. } => (process, "events".into()),
            Asker::Client(_) => return std::time::Duration::ZERO,
        };
        let now = self.now;
        let (rate, burst) = match process {
            p if p.is_manager() && &*channel == "namespace-controller" => (400, 3000),
            p if p.is_manager() && &*channel == "generic-garbage-collector" => (40, 30),
            p if p.is_manager() => (20, 30),
            _ => (50, 100),
        };
        let process = process.clone();
        self.with_process(&process, |p| {
            p.limits.entry(channel).or_insert_with(ClientLimit::new).reserve(now, rate, burst)
        })
        .unwrap_or_default()
    }

    /// The API server serves a request and answers it.
    pub(crate) fn serve(&mut self, id: FlightId, trace: &mut Trace) -> What {
        let Some(flight) = self.flights.remove(&id) else { return What::Act { text: String::new() } };
        trace.cause = flight.cause;
        let before = self.store.revision();
        let trouble = self.trouble_of(&flight.asker, &flight.request);
        let reply = match self.hindered(&flight.asker, trouble) {
            Some(status) => Err(status),
            None if trouble == Some(Trouble::Conflict) => {
                let key = key_of(&flight.request);
                Err(Status::conflict(key.kind, &key.name))
            }
            None => {
                let reply = self.commit(&flight, trace);
                if trouble == Some(Trouble::Doubled) {
                    let audit = std::mem::take(&mut self.audit);
                    // Whoever asked hears of the first answer only.
                    drop(self.commit(&flight, trace));
                    self.audit.splice(0..0, audit);
                }
                reply
            }
        };
        let code = code_of(&flight.request, &reply);
        let message = reply.as_ref().err().map(|s| s.message.clone());
        let key = named(&flight.request, &reply);
        let wrote = (self.store.revision() > before).then(|| self.store.revision());
        self.answer(&flight, heard(reply, trouble), wrote, trace);
        self.count_write(&flight.asker, wrote.is_some());
        let user = match &flight.request.user {
            Some(user) => user.name.as_str().into(),
            None => flight.actor.user.clone(),
        };
        let (verb, subresource) = asked(&flight.request);
        What::Served {
            who: flight.actor.user_agent.clone(),
            user,
            verb,
            key,
            subresource,
            code,
            message,
            dry_run: flight.request.dry_run,
        }
    }

    /// The API server does what a request asks for.
    fn commit(&mut self, flight: &Flight, trace: &mut Trace) -> Reply {
        if [Kind::POD_METRICS, Kind::NODE_METRICS].contains(&flight.request.verb.kind()) {
            return self.measured(&flight.request.verb);
        }
        let before = self.store.revision();
        let outcome = kubestep_apiserver::serve(
            std::mem::take(&mut self.store),
            &flight.request,
            &flight.actor,
            self.now,
            &mut self.dice,
            &self.settings,
        );
        self.store = outcome.store;
        self.audit = outcome.audit;
        self.publish(before, trace);
        outcome.reply
    }

    fn life(&self, process: &ProcessId) -> u32 {
        self.processes.get(process).map_or(0, |p| p.life)
    }

    fn answer(&mut self, flight: &Flight, reply: Reply, wrote: Option<u64>, trace: &mut Trace) {
        if flight.asker.process().is_some_and(|p| !self.is_up(p) || self.life(p) != flight.life) {
            return;
        }
        match &flight.asker {
            Asker::Controller { process, controller, key, slot } => {
                let kind = flight.request.verb.kind();
                let complete = self.with_loop(process, *controller, |l| {
                    if let Some(revision) = wrote {
                        l.wrote.insert((key.clone(), kind), revision);
                    }
                    let work = Arc::make_mut(l.working.get_mut(key)?);
                    // A controller that was stopped meanwhile asks something else, or nothing.
                    if work.asked.get(*slot) != Some(&*flight.request) {
                        return None;
                    }
                    *work.replies.get_mut(*slot)? = Some(reply);
                    Some(work.replies.iter().all(Option::is_some))
                });
                if complete.flatten() == Some(true) {
                    let heard = self.now + Latencies::draw(self.latencies.reply, &mut self.dice, "reply");
                    let at = heard + Latencies::draw(self.latencies.think, &mut self.dice, "think");
                    self.due.put(Step::Think(process.clone(), *controller, key.clone()), at);
                }
            }
            Asker::Agent { process, ticket } => {
                if self.is_up(process) {
                    let told = Told::Answered { ticket: *ticket, request: (*flight.request).clone(), reply };
                    self.tell(&process.clone(), told, trace);
                }
            }
            Asker::Events { process, controller } => {
                self.spoken(&process.clone(), *controller, &reply, flight.cause)
            }
            Asker::Client(id) => self.answer_client(*id, reply),
        }
    }
}

/// The verb and the part of the object, as a request stands in the audit log. Whether somebody may reach a container is
/// asked before its node is.
fn asked(request: &Request) -> (&'static str, &'static str) {
    match request.review.as_deref() {
        Some("create/exec") => ("create", "exec"),
        Some("get/log") => ("get", "log"),
        _ => (request.verb.name(), request.verb.subresource().name()),
    }
}

/// The code of an answer: 201 for what was made, 200 for the rest.
fn code_of(request: &Request, reply: &Reply) -> u16 {
    match reply {
        Err(status) => status.code,
        Ok(_) if request.verb.name() == "create" => 201,
        Ok(_) => 200,
    }
}

/// The key with the name that was drawn.
fn named(request: &Request, reply: &Reply) -> Key {
    let mut key = key_of(request);
    if let Ok(Answer::Object { object, .. }) = reply
        && object.kind() == key.kind
    {
        key.name = object.meta().name.clone();
    }
    key
}
