//! What makes two worlds the same for a search: everything that a loop which is awake can read or will be told, without
//! clocks and counters. Names that were drawn, uids, versions and times count by their order only.

use kubestep_cluster::{Asker, Flight, Process, ProcessId, Step, Store, World};
use kubestep_model::{Key, Kind, Object, Revision};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write},
};

/// Reads worlds of one search.
pub(super) struct Reader {
    /// The store's revision when the search began: what is older is the same in all worlds.
    base: Revision,
    /// The kinds that loops which are awake watch.
    kinds: BTreeSet<Kind>,
}

/// Whether the asker of a request has ended, so that nobody hears the reply.
pub(super) fn is_dead(world: &World, flight: &Flight) -> bool {
    let Some(process) = flight.asker.process() else { return false };
    world.process(process).is_none_or(|p| p.life != flight.life)
}

impl Reader {
    pub(super) fn new(world: &World) -> Self {
        let awake = world.loops().filter(|(_, l)| !l.stopped);
        let kinds =
            awake.flat_map(|(c, _)| c.watches()).map(|w| w.kind).filter(|k| *k != Kind::Event).collect();
        Reader { base: world.store().revision(), kinds }
    }

    /// Whether a loop that is awake reads this kind.
    pub(super) fn reads(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// A fingerprint of a world.
    pub(super) fn print(&self, world: &World) -> u128 {
        let mut text = Text::default();
        for object in world.store().all().filter(|o| self.reads(o.kind())) {
            text.object(object);
        }
        if let Some(process) = world.process(&ProcessId::Manager) {
            self.process(&mut text, world, process);
        }
        for (_, flight) in world.flights().filter(|(_, f)| !matches!(f.asker, Asker::Events { .. })) {
            let asker = (!is_dead(world, flight)).then_some(&flight.asker);
            text.add(&(&flight.request.verb, asker));
        }
        let thinks = world
            .enabled()
            .into_iter()
            .map(|(_, s)| s)
            .filter(|s| matches!(s, Step::Think(_, _, k) if !k.name.is_empty()));
        text.add(&thinks.collect::<BTreeSet<_>>());
        let whole = text.whole();
        let mut hash = Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        hash.write_str(&Names::of(world.store(), self.base).renamed(&whole)).unwrap_or(());
        hash.0
    }

    /// The cache, what is on its way to it, and the queues.
    fn process(&self, text: &mut Text, world: &World, process: &Process) {
        for (_, object) in process.view.iter().filter(|(k, _)| self.reads(k.kind)) {
            text.object(object);
        }
        for kind in &self.kinds {
            for entry in process.inbox(*kind) {
                text.add(&entry.key);
                entry.new.iter().for_each(|o| text.object(o));
            }
        }
        for (_, state) in world.loops().filter(|(_, l)| !l.stopped) {
            let failed = state
                .queue
                .delayed()
                .map(|(k, _)| k)
                .filter(|k| !k.name.is_empty() && state.queue.failures(k) > 0);
            text.add(&state.queue.ready().collect::<Vec<_>>());
            text.add(&state.queue.dirty().collect::<Vec<_>>());
            text.add(&failed.collect::<Vec<_>>());
            text.add(&state.memory);
            for ((key, kind), revision) in state.wrote() {
                let unread = process.inbox(*kind).filter(|e| e.revision <= *revision).count();
                if unread > 0 {
                    text.add(&(key, kind, unread));
                }
            }
            for (key, work) in &state.working {
                text.add(&(key, &work.asked, &work.replies, &work.running.told));
                for (_, object) in work.running.view.iter().filter(|(k, _)| self.reads(k.kind)) {
                    text.object(object);
                }
            }
        }
    }
}

/// A world as text: objects once each, and after that by their number.
#[derive(Default)]
struct Text {
    body: String,
    objects: BTreeMap<(Key, String), usize>,
    contents: String,
}

impl Text {
    fn add(&mut self, part: &dyn fmt::Debug) {
        write!(self.body, "{part:?};").unwrap_or(());
    }

    fn object(&mut self, object: &Object) {
        let next = self.objects.len();
        let known = (object.key(), object.meta().resource_version.clone());
        let number = *self.objects.entry(known).or_insert(next);
        if number == next {
            write!(self.contents, "{object:?};").unwrap_or(());
        }
        write!(self.body, "o{number};").unwrap_or(());
    }

    fn whole(self) -> String {
        self.contents + &self.body
    }
}

/// What was drawn since the search began.
struct Names {
    /// Names and uids, to the place of their object in the order of creation.
    drawn: BTreeMap<String, usize>,
    /// Versions, to their object.
    versions: BTreeMap<Revision, Key>,
}

/// What a word of the text stands for.
enum Word {
    Drawn(usize),
    Version(Revision),
    Time(i64),
    Plain,
}

impl Names {
    fn of(store: &Store, base: Revision) -> Self {
        let mut names = Names { drawn: BTreeMap::new(), versions: BTreeMap::new() };
        for (place, entry) in store.log_after(base).enumerate() {
            names.versions.insert(entry.revision, entry.key.clone());
            if let Some(meta) = entry.new.as_ref().filter(|_| entry.old.is_none()).map(Object::meta) {
                names.drawn.insert(meta.uid.to_string(), place);
                names.drawn.insert(meta.name.to_string(), place);
            }
        }
        names
    }

    /// A text in which drawn names, versions and times are replaced by their places in order, counting only what the
    /// text holds; versions are counted for each object by itself.
    fn renamed(&self, text: &str) -> String {
        let (mut places, mut times) = (BTreeSet::new(), BTreeSet::new());
        let mut versions: BTreeMap<&Key, BTreeSet<Revision>> = BTreeMap::new();
        self.words(text, |_, _, word| match word {
            Word::Drawn(place) => drop(places.insert(place)),
            Word::Time(time) => drop(times.insert(time)),
            Word::Version(revision) => {
                if let Some(key) = self.versions.get(&revision) {
                    versions.entry(key).or_default().insert(revision);
                }
            }
            Word::Plain => {}
        });
        let rank =
            |set: &BTreeSet<usize>| set.iter().enumerate().map(|(i, p)| (*p, i)).collect::<BTreeMap<_, _>>();
        let places = rank(&places);
        let times: BTreeMap<i64, usize> = times.into_iter().enumerate().map(|(i, t)| (t, i)).collect();
        let mut ranks: BTreeMap<Revision, usize> = BTreeMap::new();
        for (rank, revision) in versions.into_values().flat_map(|set| set.into_iter().enumerate()) {
            ranks.insert(revision, rank);
        }
        let mut out = String::with_capacity(text.len());
        self.words(text, |plain, rest, word| {
            let written = match word {
                Word::Drawn(place) => write!(out, "n{}", places.get(&place).copied().unwrap_or(0)),
                Word::Time(time) => write!(out, "t{}", times.get(&time).copied().unwrap_or(0)),
                Word::Version(revision) => match ranks.get(&revision) {
                    Some(rank) => write!(out, "v{rank}"),
                    None => out.write_str(plain),
                },
                Word::Plain => out.write_str(plain),
            };
            written.unwrap_or(());
            out.push_str(rest);
        });
        out
    }

    /// Goes through a text word by word: each word, what stands between it and the next, and what it is.
    fn words<'a>(&self, text: &'a str, mut each: impl FnMut(&'a str, &'a str, Word)) {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let mut before = "";
        for part in text.split_inclusive(|c: char| !is_word(c)) {
            let word = part.trim_end_matches(|c: char| !is_word(c));
            let what = match before {
                "resource_version" | "resourceVersion" => word.parse().map_or(Word::Plain, Word::Version),
                "Time" | "Instant" => word.parse().map_or(Word::Plain, Word::Time),
                _ => self.drawn.get(word).map_or(Word::Plain, |place| Word::Drawn(*place)),
            };
            each(word, &part[word.len()..], what);
            if !word.is_empty() {
                before = word;
            }
        }
    }
}

struct Fnv(u128);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
        Ok(())
    }
}
