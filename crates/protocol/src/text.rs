//! Small words that everything else is made of: times, names, who moved, and text with meaning.

use serde::{Deserialize, Serialize};

/// A point in virtual time: milliseconds since the session's first moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct At(pub u64);

/// The number of a row, pod, node, image, loop or terminal entry. Given in order of creation and never reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Id(pub u32);

/// An object as a person names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectRef {
    /// The kind as written in a manifest (`Deployment`); `Kind.group` where two groups share a kind.
    pub kind: String,
    /// Empty for kinds that live outside namespaces.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

/// Who moved. The page gives each a shape, a colour and a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Who {
    /// The person at the page: a key, a button, a kubectl command.
    Person,
    /// The API server itself (defaults, admission, what no client asked for).
    Api,
    /// The deployment controller.
    Deployment,
    /// The ReplicaSet controller.
    ReplicaSet,
    /// The scheduler.
    Scheduler,
    /// A kubelet.
    Kubelet,
    /// The endpointslice and endpoints controllers.
    EndpointSlice,
    /// The garbage collector.
    Gc,
    /// The node lifecycle controller, and nodes themselves.
    Node,
    /// A fault that was asked for.
    Fault,
    /// Any other loop; its name is written beside it.
    #[default]
    Other,
}

/// Text with meaning: the page draws each span in the voice and the typeface it belongs to, and counts the times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rich(pub Vec<Span>);

/// A piece of [`Rich`] text. Spaces between spans are part of the words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Span {
    /// Plain words.
    Words(String),
    /// Words that carry the sentence (bold).
    Strong(String),
    /// Something Kubernetes or a file says literally (mono).
    Code(String),
    /// How long ago, counted from the shown moment: "1m 22s". The words around it say "ago" or "for".
    Since(At),
    /// How long until, counted from the shown moment: "3m 40s".
    Until(At),
    /// A length of time in milliseconds: "10m".
    Lasting(u64),
    /// An object one can select, drawn with these words.
    Object(ObjectRef, String),
    /// A step one can go to: "step 207".
    Step(u32),
}

impl Rich {
    /// Plain words and nothing else.
    pub fn words(text: impl Into<String>) -> Self {
        Rich(vec![Span::Words(text.into())])
    }

    /// Adds a span at the end.
    pub fn then(mut self, span: Span) -> Self {
        self.0.push(span);
        self
    }

    /// Adds another text at the end.
    pub fn then_all(mut self, more: Rich) -> Self {
        self.0.extend(more.0);
        self
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same text without marks, as a screen reader or an export says it at the moment `now`.
    pub fn plain(&self, now: At) -> String {
        let mut out = String::new();
        for span in &self.0 {
            match span {
                Span::Words(s) | Span::Strong(s) | Span::Code(s) | Span::Object(_, s) => out.push_str(s),
                Span::Since(at) => out.push_str(&age(now.0.saturating_sub(at.0))),
                Span::Until(at) => out.push_str(&age(at.0.saturating_sub(now.0))),
                Span::Lasting(ms) => out.push_str(&age(*ms)),
                Span::Step(n) => out.push_str(&format!("step {n}")),
            }
        }
        out
    }
}

/// A length of time as the page says it: `0s`, `8m 20s`, `12m 04s`, `1h 05m`, `2d 03h`. Two units at most;
/// a whole number of the larger unit stands alone below ten minutes only for limits (`5m`).
pub fn age(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0..=59 => format!("{s}s"),
        60..=3599 if s.is_multiple_of(60) => format!("{}m", s / 60),
        60..=3599 => format!("{}m {:02}s", s / 60, s % 60),
        3600..=86_399 => format!("{}h {:02}m", s / 3600, s / 60 % 60),
        _ => format!("{}d {:02}h", s / 86_400, s / 3600 % 24),
    }
}

/// The same in one unit, for small boxes: `12m`, `45s`, `3h`.
pub fn age_short(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0..=59 => format!("{s}s"),
        60..=3599 => format!("{}m", s / 60),
        3600..=86_399 => format!("{}h", s / 3600),
        _ => format!("{}d", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_carry_their_units() {
        let rows = [
            (0, "0s", "0s"),
            (59_999, "59s", "59s"),
            (300_000, "5m", "5m"),
            (724_000, "12m 04s", "12m"),
            (3_900_000, "1h 05m", "1h"),
            (183_600_000, "2d 03h", "2d"),
        ];
        for (ms, long, short) in rows {
            assert_eq!(age(ms), long);
            assert_eq!(age_short(ms), short);
        }
    }

    #[test]
    fn plain_text_counts_from_the_shown_moment() {
        let rich =
            Rich::words("Asked again in ").then(Span::Until(At(220_000))).then(Span::Words(".".into()));
        assert_eq!(rich.plain(At(0)), "Asked again in 3m 40s.");
        assert_eq!(rich.plain(At(300_000)), "Asked again in 0s.");
    }
}
