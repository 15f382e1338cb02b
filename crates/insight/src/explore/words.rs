//! Text in which names that were drawn, versions and times count by their order only.

use kubestep_cluster::Store;
use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{Key, Kind, Object, Revision};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// A piece of text, or what a word of it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// Text between other words, by its hash.
    Plain(u128),
    /// A name or uid that was drawn since the search began, by its number in the lexicon; and, for worlds that have not
    /// drawn it, the hash of the word.
    Drawn(usize, u128),
    Version(Revision),
    Time(i64),
}

/// What was read of texts, so that each is read once: names that were drawn, and objects.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    drawn: BTreeMap<String, usize>,
    /// By address. The object is kept, so that no other gets its address.
    objects: BTreeMap<usize, (Object, Vec<Word>)>,
}

/// So many objects are remembered.
const MOST_OBJECTS: usize = 50_000;

impl Lexicon {
    /// Learns the names that a world has drawn since a revision; answers in which order their objects were created.
    fn learn(&mut self, store: &Store, base: Revision) -> BTreeMap<usize, usize> {
        let mut born = BTreeMap::new();
        for (place, entry) in store.log_after(base).enumerate().filter(|(_, e)| e.old.is_none()) {
            let Some(meta) = entry.new.as_ref().map(Object::meta) else { continue };
            for word in [&meta.uid, &meta.name] {
                let next = self.drawn.len();
                let number = *self.drawn.entry(word.to_string()).or_insert(next);
                born.insert(number, place);
            }
        }
        born
    }

    /// Reads a text word by word.
    fn read(&self, text: &str) -> Vec<Word> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let (mut found, mut plain, mut before) = (vec![], Fnv::default(), "");
        for part in text.split_inclusive(|c: char| !is_word(c)) {
            let word = part.trim_end_matches(|c: char| !is_word(c));
            let special = match before {
                "resource_version" | "resourceVersion" => word.parse().ok().map(Word::Version),
                "Time" | "Instant" => word.parse().ok().map(Word::Time),
                _ => self.drawn.get(word).map(|number| Word::Drawn(*number, Fnv::of(word))),
            };
            match special {
                Some(special) => {
                    found.push(Word::Plain(std::mem::take(&mut plain).0));
                    found.push(special);
                }
                None => plain.add(word.as_bytes()),
            }
            plain.add(&part.as_bytes()[word.len()..]);
            if !word.is_empty() {
                before = word;
            }
        }
        found.push(Word::Plain(plain.0));
        found
    }
}

/// A world as text: objects once each, and after that by their number.
#[derive(Debug)]
pub(super) struct Text<'l> {
    lexicon: &'l mut Lexicon,
    body: Vec<Word>,
    numbers: BTreeMap<(Key, String), usize>,
    contents: Vec<Word>,
    /// Drawn names and uids, to the place of their object in the order of creation.
    born: BTreeMap<usize, usize>,
}

impl<'l> Text<'l> {
    /// An empty text about a world of which nothing older than a revision matters.
    pub(super) fn new(lexicon: &'l mut Lexicon, store: &Store, base: Revision) -> Self {
        let born = lexicon.learn(store, base);
        if lexicon.objects.len() > MOST_OBJECTS {
            lexicon.objects.clear();
        }
        Text { lexicon, body: vec![], numbers: BTreeMap::new(), contents: vec![], born }
    }

    /// Adds what has no objects in it, or new ones only.
    pub(super) fn add(&mut self, part: &dyn fmt::Debug) {
        self.body.extend(self.lexicon.read(&format!("{part:?};")));
    }

    /// Adds objects: those whose names were drawn in the order of their creation, whatever their names are.
    pub(super) fn objects<'o>(&mut self, objects: impl Iterator<Item = &'o Object>) {
        let place =
            |o: &Object| self.lexicon.drawn.get(&*o.meta().uid).and_then(|n| self.born.get(n)).copied();
        let mut sorted: Vec<(Kind, Option<usize>, &Object)> =
            objects.map(|o| (o.kind(), place(o), o)).collect();
        // A stable sort: what was there before the search stays in the order of names.
        sorted.arrange_by_key(|(kind, place, _)| (*kind, *place));
        for (_, _, object) in sorted {
            self.object(object);
        }
    }

    /// Adds an object.
    pub(super) fn object(&mut self, object: &Object) {
        let address = std::ptr::from_ref(object.meta()).addr();
        let next = self.numbers.len();
        let known = (object.key(), object.meta().resource_version.to_string());
        let number = *self.numbers.entry(known).or_insert(next);
        if number == next {
            let lexicon = &mut *self.lexicon;
            if !lexicon.objects.contains_key(&address) {
                let words = lexicon.read(&format!("{object:?};"));
                lexicon.objects.insert(address, (object.clone(), words));
            }
            if let Some((_, words)) = lexicon.objects.get(&address) {
                self.contents.extend_from_slice(words);
            }
        }
        self.body.push(Word::Plain(0x6f00_0000 + number as u128));
    }

    /// The fingerprint: drawn names, versions and times are replaced by their places in order, counting only what the
    /// text holds; versions are counted for each object by itself.
    pub(super) fn print(self, store: &Store, base: Revision) -> u128 {
        let order = Order::of(self.born, store, base, self.contents.iter().chain(&self.body));
        let mut hash = Fnv::default();
        for word in self.contents.iter().chain(&self.body) {
            match word {
                Word::Plain(text) => hash.number(0, *text),
                Word::Drawn(number, text) => match order.drawn.get(number) {
                    Some(place) => hash.number(1, *place as u128),
                    None => hash.number(0, *text),
                },
                Word::Version(revision) => match order.versions.get(revision) {
                    Some(rank) => hash.number(2, *rank as u128),
                    None => hash.number(3, u128::from(*revision)),
                },
                Word::Time(time) => {
                    hash.number(4, order.times.get(time).copied().unwrap_or(usize::MAX) as u128);
                }
            }
        }
        hash.0
    }
}

/// The places in order of what a text holds.
struct Order {
    drawn: BTreeMap<usize, usize>,
    versions: BTreeMap<Revision, usize>,
    times: BTreeMap<i64, usize>,
}

impl Order {
    fn of<'w>(
        born: BTreeMap<usize, usize>,
        store: &Store,
        base: Revision,
        words: impl Iterator<Item = &'w Word>,
    ) -> Self {
        let owner: BTreeMap<Revision, &Key> = store.log_after(base).map(|e| (e.revision, &e.key)).gather();
        let (mut places, mut times) = (BTreeSet::new(), BTreeSet::new());
        let mut versions: BTreeMap<&Key, BTreeSet<Revision>> = BTreeMap::new();
        for word in words {
            match word {
                Word::Drawn(number, _) => places.extend(born.get(number)),
                Word::Version(revision) => {
                    if let Some(key) = owner.get(revision) {
                        versions.entry(key).or_default().insert(*revision);
                    }
                }
                Word::Time(time) => drop(times.insert(*time)),
                Word::Plain(_) => {}
            }
        }
        let rank: BTreeMap<usize, usize> = places.into_iter().enumerate().map(|(i, p)| (p, i)).gather();
        let ranked = |set: BTreeSet<Revision>| set.into_iter().enumerate().map(|(i, r)| (r, i));
        Order {
            drawn: born.into_iter().filter_map(|(n, place)| Some((n, *rank.get(&place)?))).collect(),
            versions: versions.into_values().flat_map(ranked).collect(),
            times: times.into_iter().enumerate().map(|(i, t)| (t, i)).collect(),
        }
    }
}

/// FNV-1a with 128 bits.
#[derive(Debug)]
struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    fn of(word: &str) -> u128 {
        let mut hash = Fnv::default();
        hash.add(word.as_bytes());
        hash.0
    }
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
    fn number(&mut self, sort: u8, number: u128) {
        self.add(&[sort]);
        self.add(&number.to_le_bytes());
    }
}
