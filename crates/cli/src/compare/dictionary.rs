//! What the drawn words of a recording stand for, said in the golden recording's words.

use std::collections::{BTreeMap, BTreeSet};

use super::equals::Equals;
use super::reader::About;
use super::recording::{Ident, Life, Recording};
use super::table::{Allow, May};

/// What stands in place of a word.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    pub(super) text: String,
    /// The word was drawn: what is sorted by it is in random order.
    pub(super) drawn: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Dictionary {
    words: BTreeMap<String, Word>,
    /// Names of owners whose pods get drawn names: a refused pod is named after one, but never becomes an object.
    owners: BTreeSet<String>,
    /// The nodes on which a pod has been, by the pod's name and address.
    nodes: BTreeMap<String, BTreeSet<String>>,
    addresses: BTreeMap<String, String>,
}

/// How an object is called in the golden recording.
pub(super) enum Label {
    Known(String),
    /// It has no partner there.
    Alone,
    /// For finding partners: all drawn names look the same.
    Masked,
}

/// The letters of which the server draws suffixes.
const SUFFIX: &str = "bcdfghjklmnpqrstvwxz2456789";

const ACCESS: &str = "kube-api-access-";

impl Dictionary {
    pub(super) fn new(recording: &Recording, allow: Allow, label: impl Fn(&Ident) -> Label) -> Self {
        let mut dictionary = Dictionary::default();
        for (ident, life) in &recording.lives {
            let generated = drawn_name(life);
            let name = match label(ident) {
                Label::Known(name) => name,
                Label::Alone if generated => format!("{}(only-here)", ident.name),
                Label::Masked if generated => "?".to_owned(),
                Label::Alone | Label::Masked => ident.name.clone(),
            };
            dictionary.object(ident, life, &name, allow);
            if (generated || name != ident.name) && allow.has(May::Suffix) {
                dictionary.put(&ident.name, &name, true);
            }
        }
        for (ident, flat) in &recording.finals {
            if ident.kind == "Node" && allow.has(May::Address) {
                dictionary.range(ident, flat.get("spec.podCIDR").map_or("", String::as_str));
            }
            let name = dictionary.words.get(&ident.name).map_or(ident.name.clone(), |word| word.text.clone());
            if let Some(version) = flat.get("metadata.resourceVersion").map(|v| v.trim_matches('"'))
                && !dictionary.words.contains_key(version)
                && allow.has(May::Version)
            {
                dictionary.put(version, &format!("rv({}/{name})", ident.kind), true);
            }
        }
        dictionary
    }

    fn put(&mut self, word: &str, text: &str, drawn: bool) {
        let word = word.trim_matches('"');
        if !word.is_empty() {
            self.words.insert(word.to_owned(), Word { text: text.to_owned(), drawn });
        }
    }

    fn object(&mut self, ident: &Ident, life: &Life, name: &str, allow: Allow) {
        let kind = &ident.kind;
        if matches!(kind.as_str(), "ReplicaSet" | "ReplicationController" | "Job" | "DaemonSet") {
            self.owners.insert(ident.name.clone());
        }
        if allow.has(May::Uid) {
            for (i, uid) in life.values("metadata.uid").enumerate() {
                let again = if i == 0 { String::new() } else { format!("#{}", i + 1) };
                self.put(uid, &format!("uid({kind}/{name}{again})"), false);
            }
        }
        if allow.has(May::Version) {
            for version in life.values("metadata.resourceVersion") {
                self.put(version, &format!("rv({kind}/{name})"), false);
            }
        }
        self.hash(ident, name, allow);
        match kind.as_str() {
            "Pod" => self.pod(ident, life, name, allow),
            "Service" if allow.has(May::Address) => self.service(life, name),
            "Node" => self.node(ident, life, allow),
            _ => {}
        }
    }

    /// A template's hash stands alone in labels and selectors, too.
    fn hash(&mut self, ident: &Ident, name: &str, allow: Allow) {
        let hashed = matches!(ident.kind.as_str(), "ReplicaSet" | "ControllerRevision" | "Job");
        if name == ident.name || !hashed || !allow.has(May::TemplateHash) {
            return;
        }
        if let (Some((_, here)), Some((_, golden))) = (ident.name.rsplit_once('-'), name.rsplit_once('-')) {
            self.put(here, golden, true);
        } else if let Some((_, here)) = ident.name.rsplit_once('-') {
            self.put(here, name, true);
        }
    }

    fn pod(&mut self, ident: &Ident, life: &Life, name: &str, allow: Allow) {
        let nodes: BTreeSet<String> =
            life.values("spec.nodeName").map(|v| v.trim_matches('"').to_owned()).collect();
        for address in life.values("status.podIP") {
            let address = address.trim_matches('"');
            if allow.has(May::Address) {
                self.put(address, &format!("ip({name})"), false);
            }
            self.nodes.entry(address.to_owned()).or_default().extend(nodes.clone());
        }
        if let (Some(node), Some(address)) = (nodes.iter().next(), life.values("status.hostIP").next()) {
            self.addresses.entry(address.trim_matches('"').to_owned()).or_insert_with(|| node.clone());
        }
        self.nodes.entry(ident.name.clone()).or_default().extend(nodes);
        for path in life.moves.keys() {
            if path.ends_with(".containerID") && allow.has(May::ContainerId) {
                for id in life.values(path) {
                    self.put(
                        id.trim_matches('"').trim_start_matches("containerd://"),
                        &format!("container({name})"),
                        false,
                    );
                }
            }
            if let Some(volume) = path.strip_prefix("spec.volumes[").and_then(|rest| rest.split_once(']'))
                && volume.0.starts_with(ACCESS)
                && allow.has(May::Suffix)
            {
                self.put(volume.0, &format!("{ACCESS}({name})"), false);
            }
        }
    }

    fn service(&mut self, life: &Life, name: &str) {
        for address in life.values("spec.clusterIP").filter(|a| a.contains('.')) {
            self.put(address, &format!("cluster-ip({name})"), false);
        }
        for path in life.moves.keys().filter(|path| path.ends_with(".nodePort")) {
            for port in life.values(path) {
                self.put(port, &format!("node-port({name})"), false);
            }
        }
    }

    fn node(&mut self, ident: &Ident, life: &Life, allow: Allow) {
        for address in life.values("status.addresses[InternalIP].address") {
            self.addresses.insert(address.trim_matches('"').to_owned(), ident.name.clone());
        }
        for range in life.values("spec.podCIDR").filter(|_| allow.has(May::Address)) {
            self.range(ident, range);
        }
    }

    fn range(&mut self, ident: &Ident, range: &str) {
        let base = range.trim_matches('"').split('/').next().unwrap_or_default();
        self.put(base, &format!("pod-range({})", ident.name), false);
    }

    /// What a word stands for; none: for itself. `about` says where it stands.
    pub(super) fn look_up(
        &self,
        word: &str,
        about: About<'_>,
        equals: &Equals,
        allow: Allow,
    ) -> Option<Word> {
        if let Some(word) = self.words.get(word) {
            return Some(word.clone());
        }
        if allow.has(May::EqualNode) {
            let (node, what) = match self.addresses.get(word) {
                Some(node) => (node.as_str(), "address-of:"),
                None => (word, ""),
            };
            if about.nodes.contains(node)
                && let Some(class) = equals.class(node, about.step)
            {
                return Some(Word { text: format!("{what}{class}"), drawn: false });
            }
        }
        if let Some(word) = numbered(word, allow) {
            return Some(word);
        }
        if let Some((about, moment)) = word.rsplit_once('.')
            && moment.len() == 16
            && moment.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
            && allow.has(May::Moment)
        {
            // An event's name ends in the nanosecond at which it was first seen.
            let about = self.words.get(about).map_or(about, |word| word.text.as_str());
            return Some(Word { text: format!("{about}.<moment>"), drawn: true });
        }
        let (owner, suffix) = word.rsplit_once('-')?;
        // A volume of a pod that was not stored (a dry run) has a drawn name as well.
        let known =
            self.owners.contains(owner) || owner.len() + 1 == ACCESS.len() && word.starts_with(ACCESS);
        let drawn = suffix.len() == 5 && suffix.chars().all(|c| SUFFIX.contains(c)) && known;
        (drawn && allow.has(May::Suffix)).then(|| {
            let owner = self.words.get(owner).map_or(owner, |word| word.text.as_str());
            Word { text: format!("{owner}-?????"), drawn: true }
        })
    }

    /// The nodes of the pods that the words name, by name or address.
    pub(super) fn nodes_of<'a>(&self, words: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
        words.filter_map(|word| self.nodes.get(word)).flatten().cloned().collect()
    }

    pub(super) fn all_nodes(&self) -> BTreeSet<String> {
        self.nodes.values().flatten().chain(self.addresses.values()).cloned().collect()
    }
}

/// A uid or revision that no recorded object ever had: a number all the same, in order of first sight.
fn numbered(word: &str, allow: Allow) -> Option<Word> {
    let (what, number) = word.split_once('-')?;
    let allowed = (what == "uid" && allow.has(May::Uid)) || (what == "rv" && allow.has(May::Version));
    (allowed && number.parse::<u32>().is_ok())
        .then(|| Word { text: format!("{what}(of no object)"), drawn: false })
}

/// Whether the server drew the object's name.
pub(super) fn drawn_name(life: &Life) -> bool {
    life.values("metadata.generateName").next().is_some()
}
