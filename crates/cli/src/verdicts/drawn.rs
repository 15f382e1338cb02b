//! What a server draws, so that a record can show fixed values instead.

use super::{case::squeeze, judge::NAMESPACE};
use kubestep_model::{Instant, Time};
use regex_lite::{Captures, Regex};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Remembers what was drawn in one case.
#[derive(Debug)]
pub(crate) struct Drawn {
    given: String,
    base: Instant,
    names: BTreeMap<String, String>,
    addresses: BTreeMap<String, String>,
    ports: BTreeMap<u64, u64>,
    uids: BTreeMap<String, String>,
    versions: BTreeMap<String, String>,
    patterns: Patterns,
    generated: Vec<Regex>,
}

#[derive(Debug)]
struct Patterns {
    uuid: Regex,
    time: Regex,
    mail: Regex,
    zone: Regex,
    diff: Regex,
    version: Regex,
    access: Regex,
    log: Regex,
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is right")
}

const UUID: &str = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

impl Patterns {
    fn new() -> Self {
        Patterns {
            uuid: regex(&format!(r"({UUID})(  +\b)?")),
            time: regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
            mail: regex(
                r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d [+-]\d{4}(  +\b)?",
            ),
            zone: regex(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}"),
            diff: regex(r"(?:/[^/\s]+)*/(LIVE|MERGED)-\d+"),
            version: regex(r#"(resourceVersion\\*"?: ?\\*")(\d+)(\\*")"#),
            access: regex(r"\bkube-api-access-[a-z0-9]{5}\b"),
            log: regex(r"(?m)^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ "),
        }
    }
}

impl Drawn {
    /// For a case with these texts, whose commands begin at this moment.
    pub(crate) fn new(given: &str, base: Instant) -> Drawn {
        let patterns = Patterns::new();
        let given = given.replace(r#"\""#, "\"");
        let kept = |found: &str| (found.to_owned(), found.to_owned());
        let uids = regex(UUID).find_iter(&given).map(|m| kept(m.as_str())).collect();
        let versions = patterns.version.captures_iter(&given).map(|c| kept(&c[2])).collect();
        let generate = regex(r#""?generateName"?: *"?([^\s"\\]+)"#);
        let drawn_name =
            |base: &str| regex(&format!(r"{}[bcdfghjklmnpqrstvwxz2456789]{{5}}\b", regex_lite::escape(base)));
        let generated = generate.captures_iter(&given).map(|c| drawn_name(&c[1])).collect();
        Drawn {
            base,
            names: BTreeMap::new(),
            addresses: BTreeMap::new(),
            ports: BTreeMap::new(),
            uids,
            versions,
            patterns,
            generated,
            given,
        }
    }

    /// Remembers what the server drew for an object that it answered.
    pub(crate) fn learn(&mut self, object: &Value) {
        let text = |at: &str| object.pointer(at).and_then(Value::as_str).unwrap_or_default();
        let (name, generate) = (text("/metadata/name"), text("/metadata/generateName"));
        if !generate.is_empty()
            && name != generate
            && name.starts_with(generate)
            && !self.given.contains(name)
        {
            self.names.insert(name.to_owned(), format!("{generate}xxxxx"));
        }
        for address in list(object, "/spec/clusterIPs").iter().filter_map(Value::as_str) {
            if address != "None" && !self.given.contains(address) {
                let next = format!("10.96.0.{}", 101 + self.addresses.len());
                self.addresses.entry(address.to_owned()).or_insert(next);
            }
        }
        for port in list(object, "/spec/ports").iter().filter_map(|p| p["nodePort"].as_u64()) {
            if port != 0 && !self.given.contains(&port.to_string()) {
                let next = 31_001 + self.ports.len() as u64;
                self.ports.entry(port).or_insert(next);
            }
        }
    }

    fn number(map: &mut BTreeMap<String, String>, prefix: &str, text: &str) -> String {
        let next = format!("{prefix}-{}", map.len() + 1);
        map.entry(text.to_owned()).or_insert(next).clone()
    }

    /// A moment of the run is T; others are kept.
    fn time(&self, text: &str, parsed: Option<Time>) -> String {
        let near = parsed.is_some_and(|t| t.instant().0.abs_diff(self.base.0) < 12 * 3600 * 1_000_000_000);
        if near { "T".to_owned() } else { text.to_owned() }
    }

    /// A text without what was drawn.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let text = text.replace(NAMESPACE, "default");
        let uids = &mut self.uids;
        let uid = |c: &Captures<'_>| keep_width(&c[0], Self::number(uids, "uid", &c[1]));
        let text = self.patterns.uuid.replace_all(&text, uid).into_owned();
        let time = |c: &Captures<'_>| self.time(&c[0], Time::parse(&c[0]));
        let text = self.patterns.time.replace_all(&text, time).into_owned();
        let text = self
            .patterns
            .mail
            .replace_all(&text, |c: &Captures<'_>| keep_width(&c[0], "T".into()))
            .into_owned();
        let text = self.patterns.diff.replace_all(&text, "/tmp/$1-1").into_owned();
        let text = self.patterns.zone.replace_all(&text, "T").into_owned();
        let versions = &mut self.versions;
        let version = |c: &Captures<'_>| format!("{}{}{}", &c[1], Self::number(versions, "rv", &c[2]), &c[3]);
        let mut text = self.patterns.version.replace_all(&text, version).into_owned();
        for (drawn, fixed) in longest_first(&self.names) {
            text = text.replace(drawn, fixed);
        }
        for generated in &self.generated {
            let shown = |c: &Captures<'_>| format!("{}xxxxx", &c[0][..c[0].len() - 5]);
            text = generated.replace_all(&text, shown).into_owned();
        }
        for (drawn, fixed) in longest_first(&self.addresses) {
            text = text.replace(drawn, fixed);
        }
        for (drawn, fixed) in &self.ports {
            text = regex(&format!(r"\b{drawn}\b")).replace_all(&text, fixed.to_string()).into_owned();
        }
        let text = self.patterns.access.replace_all(&text, "kube-api-access-xxxxx").into_owned();
        squeeze(&self.patterns.log.replace_all(&text, "${1}mmdd hh:mm:ss.uuuuuu pid "))
    }

    /// A value without what was drawn, and without managed fields; numbered in the order of its names.
    pub(crate) fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => items.iter().map(|v| self.value(v)).collect(),
            Value::Object(map) => {
                let sorted: BTreeMap<&String, &Value> = map.iter().collect();
                let versioned = map.get("path").is_some_and(|p| p == "/metadata/resourceVersion");
                let mut out = Map::new();
                for (key, value) in sorted {
                    let port = value.as_u64().and_then(|p| self.ports.get(&p));
                    let value = match (key.as_str(), value) {
                        ("managedFields", _) => continue,
                        ("resourceVersion", Value::String(v)) if !v.is_empty() => {
                            Self::number(&mut self.versions, "rv", v).into()
                        }
                        ("value", Value::String(v)) if versioned => {
                            Self::number(&mut self.versions, "rv", v).into()
                        }
                        ("nodePort", _) if port.is_some() => port.copied().into(),
                        (_, value) => self.value(value),
                    };
                    out.insert(self.text(key), value);
                }
                Value::Object(out)
            }
            other => other.clone(),
        }
    }
}

fn list<'a>(object: &'a Value, at: &str) -> &'a [Value] {
    object.pointer(at).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn longest_first(map: &BTreeMap<String, String>) -> Vec<(&String, &String)> {
    let mut all: Vec<_> = map.iter().collect();
    all.sort_by_key(|(drawn, _)| std::cmp::Reverse(drawn.len()));
    all
}

/// Pads a replacement in a column of a table, where spaces follow.
fn keep_width(old: &str, new: String) -> String {
    if old.ends_with(' ') { format!("{new:<width$}", width = old.len()) } else { new }
}
