//! Makes two runs comparable: uids, resource versions and times become relative.

use kubestep_model::{Instant, Time};
use regex_lite::{Captures, Regex};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Numbers uids and revisions in the order of first sight, and counts times from the base.
#[derive(Debug)]
pub(crate) struct Normaliser {
    base: Instant,
    uids: BTreeMap<String, String>,
    revisions: BTreeMap<String, String>,
    uuid: Regex,
    time: Regex,
    mail: Regex,
    zone: Regex,
    revision: Regex,
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is right")
}

impl Normaliser {
    /// Counts from this moment.
    pub(crate) fn new(base: Instant) -> Self {
        Normaliser {
            base,
            uids: BTreeMap::new(),
            revisions: BTreeMap::new(),
            uuid: regex(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(  +\b)?"),
            time: regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
            mail: regex(
                r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (\d{4}) (\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)(  +\b)?",
            ),
            zone: regex(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d\.\d+) ([+-]\d\d)(\d\d)"),
            revision: regex(r#"("?resourceVersion"?: ?")(\d+)(")"#),
        }
    }

    fn numbered(map: &mut BTreeMap<String, String>, prefix: &str, text: &str) -> String {
        let next = map.len() + 1;
        map.entry(text.into()).or_insert_with(|| format!("{prefix}-{next}")).clone()
    }

    fn relative(&self, text: &str) -> String {
        let Some(seconds) = precise(text).map(|at| at.nanos_since(self.base) as f64 / 1e9) else {
            return text.into();
        };
        if seconds.abs() > 12.0 * 3600.0 {
            return text.into();
        }
        if seconds < 0.0 { format!("T-{:.1}s", -seconds) } else { format!("T+{seconds:.1}s") }
    }

    /// A text with everything in it made relative.
    pub(crate) fn text(&mut self, text: &str) -> String {
        if text.len() < 8 {
            return text.into();
        }
        let uids = &mut self.uids;
        let text = self
            .uuid
            .replace_all(text, |c: &Captures<'_>| {
                keep_width(&c[0], Self::numbered(uids, "uid", c[0].trim_end()))
            })
            .into_owned();
        let text = self.time.replace_all(&text, |c: &Captures<'_>| self.relative(&c[0])).into_owned();
        let text = self
            .mail
            .replace_all(&text, |c: &Captures<'_>| match self.relative(&rfc3339(c)) {
                relative if relative.starts_with('T') => keep_width(&c[0], relative),
                // Far from the session, as Go's zero time: it stays as it is written.
                _ => c[0].to_owned(),
            })
            .into_owned();
        let text = self
            .zone
            .replace_all(&text, |c: &Captures<'_>| {
                self.relative(&format!("{}T{}{}:{}", &c[1], &c[2], &c[3], &c[4]))
            })
            .into_owned();
        let revisions = &mut self.revisions;
        let number =
            |c: &Captures<'_>| format!("{}{}{}", &c[1], Self::numbered(revisions, "rv", &c[2]), &c[3]);
        self.revision.replace_all(&text, number).into_owned()
    }

    /// A copy of a value with everything in it made relative, without managed fields.
    pub(crate) fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|v| self.value(v)).collect()),
            Value::Object(map) => {
                let mut out = Map::new();
                for (key, value) in map {
                    match value {
                        Value::String(text) if key == "resourceVersion" && !text.is_empty() => {
                            out.insert(key.clone(), Self::numbered(&mut self.revisions, "rv", text).into());
                        }
                        _ if key == "managedFields" => {}
                        other => {
                            let value = self.value(other);
                            out.insert(self.text(key), value);
                        }
                    }
                }
                Value::Object(out)
            }
            other => other.clone(),
        }
    }
}

fn rfc3339(c: &Captures<'_>) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.iter().position(|m| *m == &c[3]).unwrap_or(0) + 1;
    format!("{}-{month:02}-{}T{}{}:{}", &c[4], &c[2], &c[5], &c[6], &c[7])
}

/// A moment with its fraction of a second.
fn precise(text: &str) -> Option<Instant> {
    let whole = Time::parse(text)?.instant();
    let fraction =
        text.split_once('.').map_or("", |(_, rest)| rest.split(['Z', '+', '-']).next().unwrap_or(""));
    let nanos = format!("{fraction:0<9}").get(..9)?.parse::<i64>().ok()?;
    Some(Instant(whole.0 + nanos))
}

fn keep_width(old: &str, new: String) -> String {
    if old.ends_with(' ') { format!("{new:<width$}", width = old.len()) } else { new }
}
