//! Controllers at work: keys are taken, reconciles run and are stopped, asked requests are sent.

use crate::{Asker, Brain, Latencies, Loop, Process, ProcessId, Step, What, Work, World, world::Trace};
use kubestep_apiserver::Actor;
use kubestep_control::{Controller, Done, Effect, Progress, Running, Told, WorkedOut, run};
use kubestep_controllers::ALL;
use kubestep_model::{Instant, Key, Request, tree::Vector};
use std::sync::Arc;

impl World {
    /// Puts the beginning of waiting keys in line, up to each controller's number of workers.
    pub(crate) fn offer_all_work(&mut self, id: &ProcessId) {
        for controller in 0..ALL.len() {
            self.offer_work(id, controller);
        }
    }

    pub(crate) fn offer_work(&mut self, id: &ProcessId, controller: usize) {
        let Some(program) = ALL.get(controller) else { return };
        let Some(process) = self.processes.get(id) else { return };
        let Brain::Loops(loops) = &process.brain else { return };
        let Some(state) = loops.get(controller) else { return };
        if state.stopped || process.health != crate::Health::Up {
            return;
        }
        if let Some(at) = state.queue.next_wake() {
            self.due.put_exactly(Step::Wake(id.clone(), controller), at);
        }
        if state.queue.is_empty() {
            return;
        }
        let Some(process) = self.processes.get(id) else { return };
        let Brain::Loops(loops) = &process.brain else { return };
        let Some(state) = loops.get(controller) else { return };
        let free = program.workers().saturating_sub(state.working.len() + state.starting);
        let mut keys: Vec<Key> = vec![];
        for key in state.queue.ready() {
            if keys.len() == free {
                break;
            }
            let step = Step::Think(id.clone(), controller, key.clone());
            if !self.due.contains(&step)
                && (self.faults.forgets_writes || has_read_own_writes(*program, process, state, key))
            {
                keys.push(key.clone());
            }
        }
        for key in keys {
            let at = self.now + Latencies::draw(self.latencies.think, &mut self.dice, "think");
            self.due.put(Step::Think(id.clone(), controller, key), at);
            self.with_loop(id, controller, |l| l.starting += 1);
        }
    }

    pub(crate) fn with_loop<T>(
        &mut self,
        id: &ProcessId,
        controller: usize,
        f: impl FnOnce(&mut Loop) -> T,
    ) -> Option<T> {
        self.with_process(id, |p| {
            if let Brain::Loops(loops) = &mut p.brain {
                loops.get_mut(controller).map(|l| f(Arc::make_mut(l)))
            } else {
                None
            }
        })?
    }

    /// Keys whose waiting time is over come into line.
    pub(crate) fn wake(&mut self, id: &ProcessId, controller: usize) -> What {
        let now = self.now;
        self.with_loop(id, controller, |l| l.queue.wake(now));
        self.offer_work(id, controller);
        What::Woke { controller: ALL.get(controller).map_or("", |c| c.name()) }
    }

    /// A controller that runs by time looks at its one key.
    pub(crate) fn period(&mut self, id: &ProcessId, controller: usize) -> What {
        let name = ALL.get(controller).map_or("", |c| c.name());
        if let Some(period) = ALL.get(controller).and_then(|c| c.period()) {
            self.with_loop(id, controller, |l| l.queue.add(kubestep_controllers::period_key()));
            self.due.put(Step::Period(id.clone(), controller), self.now + period);
            self.offer_work(id, controller);
        }
        What::Woke { controller: name }
    }

    /// Begins or goes on with a key.
    pub(crate) fn think(&mut self, id: &ProcessId, controller: usize, key: &Key, trace: &mut Trace) -> What {
        let Some(program) = ALL.get(controller).copied() else { return What::Act { text: String::new() } };
        let now = self.now;
        let work = self.with_process(id, |p| begin(p, controller, key, now)).flatten();
        let Some(mut work) = work else {
            return What::Thought {
                controller: program.name(),
                key: key.clone(),
                asks: vec![],
                ended: Some("nothing to do".into()),
            };
        };
        trace.cause = work.cause;
        if !work.asked.is_empty() {
            let replies = std::mem::take(&mut work.replies).into_iter().flatten().collect();
            let requests = Arc::unwrap_or_clone(std::mem::take(&mut work.asked));
            work.running.told.push(Arc::new(Told { requests, replies }));
        }
        let (progress, effects) = run(program, &work.running);
        let fresh: Vec<Effect> = effects.into_iter().skip(work.running.committed).collect();
        work.running.committed += fresh.len();
        self.carry_out(id, controller, fresh, trace);
        self.settle(id, controller, key, work, progress)
    }

    /// Carries out what a reconcile did besides asking.
    fn carry_out(&mut self, id: &ProcessId, controller: usize, effects: Vec<Effect>, trace: &mut Trace) {
        let (now, cause) = (self.now, self.next_record);
        for effect in effects {
            match effect {
                Effect::Note(note) => trace.notes.push(note),
                Effect::Again(key, after) => {
                    self.with_loop(id, controller, |l| {
                        l.causes.insert(key.clone(), cause);
                        l.queue.add_at(key, now + after);
                    });
                }
                Effect::Remember(name, value) => {
                    self.with_loop(id, controller, |l| match value {
                        Some(value) => l.memory.insert(name, value),
                        None => l.memory.remove(&name),
                    });
                }
                Effect::Event(note) => {
                    self.with_loop(id, controller, |l| {
                        l.speech.waiting.push_back(Arc::new((note, Some(cause))))
                    });
                    self.speak(id, Some(controller));
                }
            }
        }
    }

    /// After a run: requests are sent, or the key leaves the workers.
    fn settle(
        &mut self,
        id: &ProcessId,
        controller: usize,
        key: &Key,
        work: Work,
        progress: Progress,
    ) -> What {
        let program = ALL[controller];
        let (now, record) = (self.now, self.next_record);
        let (mut asks, mut ended) = (vec![], None);
        match progress {
            Progress::Awaiting(requests) => {
                asks = requests.iter().map(describe).collect();
                let replies = requests.iter().map(|_| None).collect();
                self.with_loop(id, controller, |l| {
                    let work = Work { asked: Arc::new(requests.clone()), replies, ..work };
                    l.working.insert(key.clone(), Arc::new(work));
                });
                let actor = Actor {
                    user_agent: program.actor().into(),
                    user: format!("system:serviceaccount:kube-system:{}", program.actor()).into(),
                };
                for (slot, request) in requests.into_iter().enumerate() {
                    let asker = Asker::Controller { process: id.clone(), controller, key: key.clone(), slot };
                    self.send_request(asker, request, actor.clone(), Some(record));
                }
            }
            Progress::Done(done) => {
                ended = Some(self.finish(
                    id,
                    controller,
                    key,
                    |l| match done {
                        Done::Settled => l.queue.forget(key),
                        Done::Again(after) => {
                            l.queue.forget(key);
                            l.queue.add_at(key.clone(), now + after);
                        }
                        // Put in line with a wait, and then forgotten as any key that settles.
                        Done::Limited => {
                            l.queue.add_limited(key.clone(), now, program.backoff());
                            l.queue.forget(key);
                        }
                    },
                    "settled".into(),
                ));
            }
            Progress::Failed(status) => {
                ended = Some(self.finish(
                    id,
                    controller,
                    key,
                    |l| {
                        if program.max_retries().is_some_and(|most| l.queue.failures(key) >= most) {
                            l.queue.forget(key);
                        } else {
                            l.queue.add_limited(key.clone(), now, program.backoff());
                        }
                    },
                    status.message,
                ));
            }
        }
        self.with_loop(id, controller, |l| l.last = Some(record));
        self.offer_work(id, controller);
        What::Thought { controller: program.name(), key: key.clone(), asks, ended }
    }

    fn finish(
        &mut self,
        id: &ProcessId,
        controller: usize,
        key: &Key,
        then: impl FnOnce(&mut Loop),
        text: String,
    ) -> String {
        let record = self.next_record;
        self.with_loop(id, controller, |l| {
            l.working.remove(key);
            then(l);
            // A key that comes again by itself comes of this run, unless something newer woke it meanwhile.
            if l.queue.is_delayed(key) {
                l.causes.entry(key.clone()).or_insert(record);
            }
            l.queue.finish(key);
        });
        text
    }
}

/// Takes up a key: the reconcile that waits for it to go on, or a new one with what the process knows now.
fn begin(process: &mut Process, controller: usize, key: &Key, now: Instant) -> Option<Work> {
    let view = process.view.clone();
    let Brain::Loops(loops) = &mut process.brain else { return None };
    let state = Arc::make_mut(loops.get_mut(controller)?);
    if let Some(work) = state.working.get(key) {
        return Some(Work::clone(work));
    }
    state.starting = state.starting.saturating_sub(1);
    if !state.queue.take(key) {
        return None;
    }
    let cause = state.causes.remove(key);
    let salt = state.dice.bits("reconcile");
    let running = Running {
        key: key.clone(),
        view,
        now,
        dice: kubestep_model::Dice::new(salt),
        memory: state.memory.clone(),
        told: vec![],
        committed: 0,
        worked_out: WorkedOut::default(),
    };
    let work = Work { running, asked: Arc::default(), replies: Vector::new(), cause };
    state.working.insert(key.clone(), Arc::new(work.clone()));
    Some(work)
}

/// A key is not looked at before the process has read what was last written for it.
fn has_read_own_writes(program: &dyn Controller, process: &Process, state: &Loop, key: &Key) -> bool {
    program.reads_own_writes().iter().all(|kind| {
        let wrote = state.wrote.get(&(key.clone(), *kind)).copied().unwrap_or(0);
        process.seen.get(kind).copied().unwrap_or(0) >= wrote
    })
}

/// A request in few words, for the dotted arrow of the loops view.
pub(crate) fn describe(request: &Request) -> String {
    let verb = &request.verb;
    let (key, sub) = (crate::serve::key_of(request), verb.subresource().name());
    let slash = if sub.is_empty() { "" } else { "/" };
    format!("{} {}{slash}{sub} {}", verb.name(), verb.kind().resource(), key.name)
}
