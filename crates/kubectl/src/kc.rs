//! What a kubectl command can do: ask the API server, watch, sleep, print. Plain calls with `?`; a call that has no
//! answer yet stops the command, which is run again from its start when the answer is there.

use crate::{fault::Fault, workloads::CHANGE_CAUSE};
use kubestep_model::{
    Answer, Body, Instant, Key, Kind, ListOptions, Object, PatchKind, Reply, Request, Revision, Status,
    Subresource, User, Verb,
    client::{
        Chunk, ClientAsk, ClientProgress, ClientTold, ClientTurn, Print, Span, Stream, Text, WatchEvent,
    },
    text::{FieldSelector, Selector},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

/// Why a command stopped. Commands pass it on with `?`.
#[derive(Debug)]
pub enum Stop {
    /// It waits for this.
    Awaiting(Box<ClientAsk>),
    /// It ended; what there was to say is said.
    Exit(i32),
}

/// A command that can go on from where it stands, without what it was told on the way there.
pub trait Going: std::fmt::Debug + Send + Sync {
    /// Goes on.
    fn go_on(&self, kc: &mut Kc<'_>) -> Flow<i32>;
}

/// Where a command stands, and what it took to get there.
#[derive(Clone, Debug)]
pub(crate) struct Stand {
    /// What goes on from there.
    pub(crate) going: Option<Arc<dyn Going>>,
    /// So many answers were taken.
    pub(crate) turns: usize,
    /// So many pieces were printed.
    pub(crate) printed: usize,
    /// The time there.
    pub(crate) at: Instant,
}

/// The number that every command's process has in its log.
const PROCESS: u32 = 10001;

/// What a step of a command returns.
pub type Flow<T> = Result<T, Stop>;

/// Writes into a change what caused it. Upstream: genericclioptions, ChangeCauseRecorder.
fn record(verb: &mut Verb, cause: &str) {
    let body = match verb {
        Verb::Patch {
            kind: PatchKind::Merge | PatchKind::Strategic,
            subresource: Subresource::None,
            patch,
            ..
        } => patch,
        Verb::Create { body: Body::Json(body), .. }
        | Verb::Replace { subresource: Subresource::None, body: Body::Json(body), .. } => body,
        _ => return,
    };
    put_cause(Arc::make_mut(body), cause);
}

/// Writes into an object or a patch what caused it.
pub(crate) fn put_cause(value: &mut serde_json::Value, cause: &str) {
    let mut place = Some(value);
    for name in ["metadata", "annotations"] {
        place = place.and_then(serde_json::Value::as_object_mut).map(|map| {
            let there = map.entry(name).or_insert_with(|| serde_json::json!({}));
            if there.is_null() {
                *there = serde_json::json!({});
            }
            there
        });
    }
    if let Some(map) = place.and_then(serde_json::Value::as_object_mut) {
        map.insert(CHANGE_CAUSE.into(), cause.into());
    }
}

/// The context of one run of a command.
#[derive(Debug)]
pub struct Kc<'a> {
    /// The namespace of the current context, or of `-n`.
    pub namespace: Arc<str>,
    /// The namespace of the current context, whatever `-n` says.
    pub context: Arc<str>,
    /// Whether files are taken as they stand and no server is asked, by `--local`.
    pub local: bool,
    /// Whether `-n` named it.
    pub namespace_given: bool,
    files: &'a BTreeMap<String, String>,
    stdin: Option<String>,
    told: &'a [ClientTurn],
    next: usize,
    now: Instant,
    output: Vec<Chunk>,
    warned: BTreeSet<String>,
    unknown_fields: bool,
    defined: Option<Arc<Vec<Object>>>,
    /// Under which name this command's writes own what they set.
    pub field_manager: Option<Arc<str>>,
    /// What `--record` writes into every object that is written.
    pub change_cause: Option<String>,
    /// In whose name everything is asked, by `--as`.
    pub user: Option<Arc<User>>,
    /// Whether everything that is read shows who owns which fields.
    pub owners: bool,
    /// At most so many objects come with one answer to a list; 0: all. Set by the commands that have `--chunk-size`.
    pub limit: i64,
    /// Whether what the command prints is the line's own, so that it may go on from where it stands.
    pub(crate) direct: bool,
    stand: Option<Stand>,
}

impl<'a> Kc<'a> {
    /// A context that starts at a moment and knows what was told so far.
    pub fn new(
        files: &'a BTreeMap<String, String>,
        namespace: Arc<str>,
        started: Instant,
        told: &'a [ClientTurn],
    ) -> Self {
        let (output, warned) = (vec![], BTreeSet::new());
        Kc {
            context: namespace.clone(),
            namespace,
            local: false,
            namespace_given: false,
            files,
            stdin: None,
            told,
            next: 0,
            now: started,
            output,
            warned,
            unknown_fields: true,
            defined: None,
            field_manager: None,
            change_cause: None,
            user: None,
            owners: false,
            limit: 0,
            direct: false,
            stand: None,
        }
    }

    /// Where the command stands after a run.
    pub fn end(self, flow: Flow<i32>) -> ClientProgress {
        let next = match flow {
            Ok(code) | Err(Stop::Exit(code)) => Ok(code),
            Err(Stop::Awaiting(ask)) => Err(*ask),
        };
        ClientProgress { output: self.output, next, rest: None }
    }

    /// The text of a file that lies beside the command.
    pub fn file(&self, name: &str) -> Option<&'a str> {
        let name = name.strip_prefix("./").unwrap_or(name);
        self.files.get(name).map(String::as_str)
    }

    /// What the command reads from standard input, if something is there.
    pub fn stdin(&self) -> Option<&str> {
        self.stdin.as_deref()
    }

    /// Begins another command in the same line, with this on its standard input.
    pub fn fresh(&mut self, stdin: Option<String>) {
        self.stdin = stdin;
        self.namespace = self.context.clone();
        self.namespace_given = false;
        self.warned.clear();
        self.unknown_fields = true;
        self.defined = None;
        self.change_cause = None;
        self.field_manager = None;
        self.user = None;
        self.local = false;
        self.owners = false;
        self.limit = 0;
        self.stand = None;
    }

    /// How many pieces were printed so far.
    pub fn printed(&self) -> usize {
        self.output.len()
    }

    /// Where it stands now.
    pub(crate) fn here(&self, going: Option<Arc<dyn Going>>) -> Stand {
        Stand { going, turns: self.next, printed: self.output.len(), at: self.now }
    }

    /// From here on the command needs nothing of what it was told before.
    pub(crate) fn stands(&mut self, going: impl Going + 'static) {
        self.stand = Some(self.here(Some(Arc::new(going))));
    }

    /// The last such place of the command.
    pub(crate) fn stand(&mut self) -> Option<Stand> {
        self.stand.take()
    }

    /// Takes back what went to standard output after that many pieces.
    pub fn take(&mut self, from: usize) -> String {
        let from = from.min(self.output.len());
        let (out, err): (Vec<Chunk>, Vec<Chunk>) =
            self.output.drain(from..).partition(|c| c.stream == Stream::Out);
        self.output.extend(err);
        out.into_iter().map(|c| String::from(c.text)).collect()
    }

    /// As [`Kc::take`], with what went to standard error.
    pub fn take_both(&mut self, from: usize) -> String {
        let from = from.min(self.output.len());
        self.output.drain(from..).map(|c| String::from(c.text)).collect()
    }

    /// What was printed after that many pieces.
    pub fn since(&self, from: usize) -> Vec<Chunk> {
        self.output.get(from..).unwrap_or_default().to_vec()
    }

    /// Puts these in the place of what was printed after that many pieces.
    pub fn replace(&mut self, from: usize, chunks: Vec<Chunk>) {
        self.output.truncate(from);
        self.output.extend(chunks);
    }

    /// All files beside the command, by name.
    pub fn files(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.files.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The time at which the last answer came.
    pub fn now(&self) -> Instant {
        self.now
    }

    fn turn(&mut self, ask: ClientAsk) -> Flow<&'a ClientTold> {
        let Some(turn) = self.told.get(self.next) else { return Err(Stop::Awaiting(Box::new(ask))) };
        if turn.ask != ask {
            return Err(self.fail("this command was told the answer to another question; it cannot go on"));
        }
        self.next += 1;
        self.now = turn.at;
        Ok(&turn.told)
    }

    /// One request to the API server. Warnings in the answer are printed.
    pub fn ask(&mut self, request: impl Into<Request>) -> Flow<Reply> {
        let mut request: Request = request.into();
        if let Some(cause) = &self.change_cause {
            record(&mut request.verb, cause);
        }
        let owns = match &request.verb {
            Verb::Create { .. } => true,
            Verb::Replace { subresource, .. } | Verb::Patch { subresource, .. } => {
                *subresource != Subresource::Scale
            }
            _ => false,
        };
        if owns && request.field_manager.is_none() {
            request.field_manager = self.field_manager.clone();
        }
        if request.user.is_none() {
            request.user.clone_from(&self.user);
        }
        request.owners |= self.owners && matches!(request.verb, Verb::Get { .. } | Verb::List { .. });
        let kind = request.verb.kind();
        let told = self.turn(ClientAsk::Api(request))?;
        if kind == Kind::Endpoints {
            self.warn("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice");
        }
        if kind == Kind::other("", "ComponentStatus") {
            self.warn("v1 ComponentStatus is deprecated in v1.19+");
        }
        let ClientTold::Reply(reply) = told else {
            return Err(self.fail("the answer is not one of the API server"));
        };
        let warnings = match reply {
            Ok(Answer::Object { warnings, .. } | Answer::Json { warnings, .. }) => warnings.as_slice(),
            Ok(_) => &[],
            Err(status) => &status.warnings,
        };
        for warning in warnings {
            self.warn(warning);
        }
        Ok(reply.clone())
    }

    /// The object that a request answers.
    pub fn ask_object(&mut self, request: impl Into<Request>) -> Flow<Result<Object, Status>> {
        Ok(self.ask(request)?.and_then(|answer| match answer {
            Answer::Object { object, .. } => Ok(object),
            Answer::List { .. } | Answer::Chunk { .. } | Answer::Json { .. } => {
                Err(Status::bad_request("the answer is not an object"))
            }
        }))
    }

    /// Reads one object.
    pub fn get(&mut self, key: Key) -> Flow<Result<Object, Status>> {
        self.ask_object(Verb::Get { key, subresource: Subresource::None })
    }

    /// Lists a kind, in one namespace or (`None`) in all, with the list's revision; chunk by chunk, if there is a limit.
    pub fn list(
        &mut self,
        kind: Kind,
        namespace: Option<Arc<str>>,
        labels: Option<Selector>,
        fields: Option<FieldSelector>,
    ) -> Flow<Result<(Vec<Object>, Revision), Status>> {
        let (items, end) = self.chunks(Verb::List { kind, namespace, labels, fields })?;
        Ok(end.map(|revision| (items, revision)))
    }

    /// As [`Kc::list`], of a kind that kubectl lists without chunks.
    pub fn list_whole(
        &mut self,
        kind: Kind,
        namespace: Option<Arc<str>>,
        labels: Option<Selector>,
        fields: Option<FieldSelector>,
    ) -> Flow<Result<(Vec<Object>, Revision), Status>> {
        let limit = std::mem::take(&mut self.limit);
        let listed = self.list(kind, namespace, labels, fields);
        self.limit = limit;
        listed
    }

    /// What all chunks of a list hold, and the list's revision; or the refusal that ended it, after what came before.
    ///
    /// Upstream: cli-runtime/pkg/resource, FollowContinue.
    pub fn chunks(&mut self, verb: Verb) -> Flow<(Vec<Object>, Result<Revision, Status>)> {
        let mut all = vec![];
        let mut options = ListOptions { limit: self.limit, ..ListOptions::default() };
        loop {
            let list = (options.limit != 0).then(|| Arc::new(options.clone()));
            match self.ask(Request { list, ..verb.clone().into() })? {
                Ok(Answer::List { items, revision }) => {
                    all.extend(items);
                    return Ok((all, Ok(revision)));
                }
                Ok(Answer::Chunk { items, next, .. }) => {
                    all.extend(items);
                    options.continue_token = next;
                }
                Ok(Answer::Object { .. } | Answer::Json { .. }) => {
                    return Ok((all, Err(Status::bad_request("the answer is not a list"))));
                }
                Err(status) => return Ok((all, Err(status))),
            }
        }
    }

    /// The next events of a kind after a revision; none when `until` came first.
    pub fn watch(
        &mut self,
        kind: Kind,
        namespace: Option<Arc<str>>,
        name: Option<Arc<str>>,
        from: Revision,
        until: Option<Instant>,
    ) -> Flow<(Vec<WatchEvent>, Revision)> {
        self.events(ClientAsk::Watch { kind, namespace, name, from, until, owners: false })
    }

    /// As [`Kc::watch`], with the owners of all fields.
    pub fn watch_owned(
        &mut self,
        kind: Kind,
        namespace: Option<Arc<str>>,
        from: Revision,
        until: Instant,
    ) -> Flow<(Vec<WatchEvent>, Revision)> {
        let until = Some(until);
        self.events(ClientAsk::Watch { kind, namespace, name: None, from, until, owners: true })
    }

    fn events(&mut self, ask: ClientAsk) -> Flow<(Vec<WatchEvent>, Revision)> {
        match self.turn(ask)? {
            ClientTold::Events { events, revision } => Ok((events.clone(), *revision)),
            _ => Err(self.fail("the answer is not one of a watch")),
        }
    }

    /// The definitions of kinds that people added; asked for once.
    pub fn definitions(&mut self) -> Flow<Arc<Vec<Object>>> {
        if let Some(known) = &self.defined {
            return Ok(known.clone());
        }
        let ClientTold::Definitions(found) = self.turn(ClientAsk::Discover)? else {
            return Err(self.fail("the answer is not one of discovery"));
        };
        self.defined = Some(found.clone());
        Ok(found.clone())
    }

    /// The definitions, as far as they were asked for.
    pub fn known_definitions(&self) -> &[Object] {
        self.defined.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Does nothing for a while.
    pub fn sleep(&mut self, duration: Duration) -> Flow<()> {
        self.turn(ClientAsk::Sleep(duration)).map(|_| ())
    }

    /// Ends this round of a program that goes on for ever: after a while it begins anew and remembers nothing.
    pub fn again(&mut self, after: Duration) -> Stop {
        Stop::Awaiting(Box::new(ClientAsk::Again(after)))
    }

    /// The lines that a container printed, each with its time and its line's end; or why they cannot be had.
    pub fn logs(
        &mut self,
        pod: Key,
        container: Arc<str>,
        previous: bool,
    ) -> Flow<Result<Vec<(Instant, String)>, String>> {
        let line = |line: &str| {
            let (at, text) = line.split_once('\t').unwrap_or(("0", line));
            (Instant(at.parse().unwrap_or(0)), text.to_owned())
        };
        let told = self.text(ClientAsk::Logs { pod, container, previous })?;
        Ok(told.map(|(text, _)| text.split_inclusive('\n').map(line).collect()))
    }

    /// Ends the command unless whoever asks may reach a pod's containers so: `create/exec`, `get/log`.
    pub fn may(&mut self, pod: &Key, what: &str) -> Flow<()> {
        if self.user.is_none() {
            return Ok(());
        }
        let mut request: Request = Verb::Get { key: pod.clone(), subresource: Subresource::None }.into();
        request.review = Some(what.into());
        match self.ask(request)? {
            Ok(_) => Ok(()),
            Err(status) => Err(self.fault(&status.into())),
        }
    }

    /// What a command printed in a container and how it ended.
    pub fn exec(
        &mut self,
        pod: Key,
        container: Arc<str>,
        command: Vec<String>,
    ) -> Flow<Result<(String, i32), String>> {
        self.text(ClientAsk::Exec { pod, container, command })
    }

    fn text(&mut self, ask: ClientAsk) -> Flow<Result<(String, i32), String>> {
        match self.turn(ask)? {
            ClientTold::Text(text) => Ok(text.clone()),
            _ => Err(self.fail("the answer is not a text")),
        }
    }

    /// From now on nothing is said about fields that the API server does not know.
    pub fn ignore_unknown_fields(&mut self) {
        self.unknown_fields = false;
    }

    /// Prints a warning, once.
    pub fn warn(&mut self, warning: &str) {
        let hidden = !self.unknown_fields
            && (warning.starts_with("unknown field") || warning.starts_with("duplicate field"));
        if !hidden && self.warned.insert(warning.to_owned()) {
            self.err(format!("Warning: {warning}\n"));
        }
    }

    /// How many warnings were printed.
    pub fn warnings(&self) -> usize {
        self.warned.len()
    }

    /// Prints to standard output.
    pub fn out(&mut self, text: impl Into<String>) {
        self.print(Stream::Out, text.into(), vec![]);
    }

    /// Prints to standard error.
    pub fn err(&mut self, text: impl Into<String>) {
        self.print(Stream::Err, text.into(), vec![]);
    }

    /// Prints text in which some parts name objects.
    pub fn print(&mut self, stream: Stream, text: String, spans: Vec<Span>) {
        if !text.is_empty() {
            self.output.push(Chunk { stream, text: text.into(), spans });
        }
    }

    /// Prints to standard output what is written when somebody reads it.
    pub fn out_later(&mut self, text: impl Print + 'static) {
        let text = Text::later(Box::new(text));
        self.output.push(Chunk { stream: Stream::Out, text, spans: vec![] });
    }

    /// Ends the command with `error: …` and exit code 1.
    pub fn fail(&mut self, text: impl Into<String>) -> Stop {
        self.fault(&Fault::Text(text.into()))
    }

    /// Ends the command with a fault's words and exit code 1.
    pub fn fault(&mut self, fault: &Fault) -> Stop {
        self.err(fault.message());
        Stop::Exit(1)
    }

    /// Prints a line of the client's own log. Upstream: k8s.io/klog, with the number of the process.
    pub fn log(&mut self, place: &str, text: &str) {
        let now = self.now.to_micro().to_string();
        let digits = |from: usize, to: usize| now.get(from..to).unwrap_or_default();
        let (month, day, clock) = (digits(5, 7), digits(8, 10), digits(11, 26));
        let line = format!("W{month}{day} {clock}   {PROCESS} {place}] {text}\n");
        // A flag that is looked at twice is told of once.
        if self.output.last().is_none_or(|last| last.text.as_str() != line) {
            self.err(line);
        }
    }

    /// Ends the command because Kubestep does not do what was asked.
    pub fn not_done(&mut self, what: &str) -> Stop {
        self.err(format!("error: {what}: Kubestep does not do this\n"));
        Stop::Exit(1)
    }

    /// Ends the command with a usage error. Upstream: kubectl/pkg/cmd/util, UsageErrorf.
    pub fn usage(&mut self, path: &str, text: &str) -> Stop {
        self.fail(format!("{text}\nSee '{path} -h' for help and examples"))
    }
}
