//! A page of a description: lines with tabs, and the blocks that many kinds share.

use crate::output::tabs::Tabs;
use kubestep_model::arrange::Arrange;
use kubestep_model::{Labels, ObjectMeta, Taint, Time, Toleration, text::go, time::civil_from_days};

/// Lines that are aligned at the end.
#[derive(Debug, Default)]
pub(super) struct Page {
    text: String,
}

/// Annotations longer than this are shown on lines of their own, and cut.
const LONG: usize = 140;

impl Page {
    /// A line, indented by two blanks per level.
    pub(super) fn line(&mut self, level: usize, text: impl AsRef<str>) {
        self.put(level, text.as_ref());
        self.text.push('\n');
    }

    /// A piece of a line.
    pub(super) fn put(&mut self, level: usize, text: &str) {
        self.text.extend(std::iter::repeat_n("  ", level));
        self.text.push_str(&text.replace('\u{1b}', "^[").replace('\r', "\\r"));
    }

    /// `Title:` and its value.
    pub(super) fn field(&mut self, level: usize, title: &str, value: impl std::fmt::Display) {
        self.line(level, format!("{title}:\t{value}"));
    }

    /// The page as it was written, with its tabs.
    pub(super) fn raw(self) -> String {
        self.text
    }

    /// The page with its columns aligned.
    pub(super) fn finish(self) -> String {
        Tabs::DESCRIBE.align(&self.text)
    }

    /// Values below each other beside one title; `<none>` if there are none.
    pub(super) fn block(&mut self, title: &str, values: &[String]) {
        self.put(0, &format!("{title}:\t"));
        if values.is_empty() {
            self.line(0, "<none>");
        }
        for (at, value) in values.iter().enumerate() {
            self.line(0, format!("{}{value}", if at > 0 { "\t" } else { "" }));
        }
    }

    /// Labels, or any sorted map.
    pub(super) fn labels(&mut self, title: &str, labels: &Labels) {
        let values: Vec<String> = labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
        self.block(title, &values);
    }

    /// Annotations, but the one of `kubectl apply`.
    pub(super) fn annotations(&mut self, title: &str, annotations: &Labels) {
        let mut values: Vec<String> = Vec::new();
        for (key, value) in annotations {
            if key == "kubectl.kubernetes.io/last-applied-configuration" {
                continue;
            }
            let value = value.strip_suffix('\n').unwrap_or(value);
            if value.len() + key.len() + 2 > LONG || value.contains('\n') {
                let lines = value.split('\n').map(|line| format!("\n\t  {}", shorten(line, LONG - 2)));
                values.push(format!("{key}:{}", lines.collect::<String>()));
            } else {
                values.push(format!("{key}: {value}"));
            }
        }
        self.block(title, &values);
    }

    /// Name, namespace, labels and annotations, as most descriptions begin.
    pub(super) fn head(&mut self, meta: &ObjectMeta) {
        self.field(0, "Name", &meta.name);
        if !meta.namespace.is_empty() {
            self.field(0, "Namespace", &meta.namespace);
        }
        self.labels("Labels", &meta.labels);
        self.annotations("Annotations", &meta.annotations);
    }

    /// The owner that manages the object, if one does.
    pub(super) fn controlled_by(&mut self, meta: &ObjectMeta) {
        if let Some(owner) = meta.controller() {
            self.field(0, "Controlled By", format!("{}/{}", owner.kind, owner.name));
        }
    }

    /// Taints, sorted by effect and key.
    pub(super) fn taints(&mut self, title: &str, taints: &[Taint]) {
        let mut taints: Vec<&Taint> = taints.iter().collect();
        taints.arrange_by_key(|t| format!("{},{}", t.effect, t.key));
        let show = |t: &&Taint| match (t.effect.as_str(), t.value.as_str()) {
            ("", "") => t.key.clone(),
            ("", value) => format!("{}={value}:", t.key),
            (effect, "") => format!("{}:{effect}", t.key),
            (effect, value) => format!("{}={value}:{effect}", t.key),
        };
        let values: Vec<String> = taints.iter().map(show).collect();
        self.block(title, &values);
    }

    /// Tolerations, sorted by key.
    pub(super) fn tolerations(&mut self, title: &str, tolerations: &[Toleration]) {
        let mut tolerations: Vec<&Toleration> = tolerations.iter().collect();
        tolerations.arrange_by_key(|t| t.key.clone());
        let values: Vec<String> = tolerations.iter().map(|t| toleration(t)).collect();
        self.block(title, &values);
    }
}

fn toleration(t: &Toleration) -> String {
    let mut text = t.key.clone();
    if !t.value.is_empty() {
        text += &format!("={}", t.value);
    }
    if !t.effect.is_empty() {
        text += &format!(":{}", t.effect);
    }
    if t.operator == "Exists" && t.value.is_empty() {
        text += if t.key.is_empty() && t.effect.is_empty() { "op=Exists" } else { " op=Exists" };
    }
    if let Some(seconds) = t.toleration_seconds {
        text += &format!(" for {seconds}s");
    }
    text
}

fn shorten(line: &str, length: usize) -> String {
    if line.len() <= length {
        return line.to_owned();
    }
    let end = (0..=length).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    format!("{}...", &line[..end])
}

/// `text`, or `<none>` if it is empty.
pub(super) fn or_none(text: &str) -> &str {
    if text.is_empty() { "<none>" } else { text }
}

/// A time as Go's RFC1123Z: `Thu, 01 Jan 2026 00:00:00 +0000`.
pub(super) fn date(time: Option<Time>) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let Some(Time(seconds)) = time else { return "Mon, 01 Jan 0001 00:00:00 +0000".to_owned() };
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_from_days(days);
    let name = |list: &[&'static str], at: i64| {
        usize::try_from(at).ok().and_then(|at| list.get(at)).copied().unwrap_or("")
    };
    format!(
        "{}, {day:02} {} {year:04} {:02}:{:02}:{:02} +0000",
        name(&DAYS, days.rem_euclid(7)),
        name(&MONTHS, month - 1),
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

/// A time as Go prints it where no form was asked for: `2026-01-01 00:00:00 +0000 UTC`.
pub(super) fn go_time(time: Option<Time>) -> String {
    let text = time.map_or_else(|| "0001-01-01T00:00:00Z".to_owned(), |t| t.to_string());
    format!("{} +0000 UTC", text.trim_end_matches('Z').replace('T', " "))
}

/// Labels between commas; `<none>` if there are none. Upstream: labels.FormatLabels.
pub(super) fn plain_labels(labels: &Labels) -> String {
    let list = labels.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(",");
    or_none(&list).to_owned()
}

/// A text in Go's quotes.
pub(super) fn quote(text: &str) -> String {
    go::quote(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_read_as_go() {
        for (text, want) in [
            ("2026-01-01T00:00:00Z", "Thu, 01 Jan 2026 00:00:00 +0000"),
            ("2024-02-29T23:59:58Z", "Thu, 29 Feb 2024 23:59:58 +0000"),
            ("1969-12-31T00:00:00Z", "Wed, 31 Dec 1969 00:00:00 +0000"),
        ] {
            assert_eq!(date(Time::parse(text)), want);
        }
        assert_eq!(date(None), "Mon, 01 Jan 0001 00:00:00 +0000");
    }

    #[test]
    fn long_annotations_stand_on_their_own_lines() {
        let mut page = Page::default();
        let map = Labels::from([("a".to_owned(), "x".repeat(200)), ("b".to_owned(), "short".to_owned())]);
        page.annotations("Annotations", &map);
        let want =
            format!("Annotations:  a:\n                {}...\n              b: short\n", "x".repeat(138));
        assert_eq!(page.finish(), want);
    }
}
