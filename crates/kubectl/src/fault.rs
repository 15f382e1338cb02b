//! Errors and the words in which kubectl prints them. Upstream: kubectl/pkg/cmd/util, checkErr (v1.37).

use kubestep_model::{Reason, Status};
use std::collections::BTreeSet;

/// What went wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The API server refused.
    Status(Box<Status>),
    /// kubectl itself refuses.
    Text(String),
    /// kubectl itself refuses, in a list of one: upstream puts no word before these.
    Bare(String),
    /// Several at once.
    Many(Vec<Fault>),
}

impl From<Status> for Fault {
    fn from(status: Status) -> Self {
        Fault::Status(Box::new(status))
    }
}

impl From<String> for Fault {
    fn from(text: String) -> Self {
        Fault::Text(text)
    }
}

impl Fault {
    /// One fault out of several; None out of none.
    pub fn all(mut faults: Vec<Fault>) -> Option<Fault> {
        match faults.len() {
            0 => None,
            1 => faults.pop(),
            _ => Some(Fault::Many(faults)),
        }
    }

    /// The same fault with what was done and to which file before it. Upstream: AddSourceToErr.
    pub fn when(self, doing: &str, source: &str) -> Fault {
        if source.is_empty() {
            return self;
        }
        match self {
            Fault::Status(mut status) => {
                status.message = format!("error when {doing} \"{source}\": {}", status.message);
                Fault::Status(status)
            }
            other => Fault::Text(format!("error when {doing} \"{source}\": {}", other.text())),
        }
    }

    /// The bare text, without the prefix that names its source.
    pub fn text(&self) -> String {
        match self {
            Fault::Status(status) => status.message.clone(),
            Fault::Text(text) | Fault::Bare(text) => text.clone(),
            Fault::Many(faults) => match faults.as_slice() {
                [one] => one.text(),
                many => format!("[{}]", many.iter().map(Fault::text).collect::<Vec<_>>().join(", ")),
            },
        }
    }

    /// As one line among several errors. Upstream: messageForError.
    fn line(&self) -> String {
        match self {
            Fault::Status(status) => from_server(status),
            Fault::Text(_) | Fault::Bare(_) | Fault::Many(_) => self.text(),
        }
    }

    /// What kubectl prints before it exits with 1; ends in a newline.
    pub fn message(&self) -> String {
        let mut text = match self {
            Fault::Many(faults) if faults.len() == 1 => return faults[0].message(),
            Fault::Many(faults) => faults.iter().map(|f| f.line() + "\n").collect(),
            Fault::Status(status) if status.reason == Reason::Invalid => invalid(status),
            Fault::Status(status) => from_server(status),
            Fault::Bare(text) => text.clone(),
            Fault::Text(text) if text.starts_with("error: ") => text.clone(),
            Fault::Text(text) => format!("error: {text}"),
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

fn from_server(status: &Status) -> String {
    // No answer at all. Upstream: kubectl/pkg/cmd/util, StandardErrorMessage.
    if status.code == 0 {
        let refused = status.message.strip_suffix(": connect: connection refused");
        return match refused.and_then(|text| text.strip_prefix("dial tcp ")) {
            Some(server) => {
                format!(
                    "The connection to the server {server} was refused - did you specify the right host or port?"
                )
            }
            None => format!("Unable to connect to the server: {}", status.message),
        };
    }
    match status.reason {
        Reason::Unauthorized => format!("error: You must be logged in to the server ({})", status.message),
        Reason::Unknown => format!("Error from server: {}", status.message),
        reason => format!("Error from server ({reason:?}): {}", status.message),
    }
}

fn invalid(status: &Status) -> String {
    let nothing = (String::new(), String::new(), String::new());
    let (_, kind, name) = status.about.as_ref().unwrap_or(&nothing);
    let named = !kind.is_empty() || !name.is_empty();
    let head =
        if named { format!("The {kind} \"{name}\" is invalid") } else { "The request is invalid".to_owned() };
    let mut seen = BTreeSet::new();
    let lines = status.causes.iter().map(|c| format!("{}: {}", c.field, c.message));
    let lines: Vec<String> = lines.filter(|line| seen.insert(line.clone())).collect();
    match lines.as_slice() {
        [] if named => head,
        [] => format!("{head}: {}", status.message),
        [one] => format!("{head}: {one}\n"),
        many => many.iter().fold(format!("{head}: \n"), |text, line| format!("{text}* {line}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::{Cause, Kind};

    #[test]
    fn faults_read_as_kubectl_prints_them() {
        let gone = Fault::from(Status::not_found(Kind::Deployment, "web"));
        assert_eq!(gone.message(), "Error from server (NotFound): deployments.apps \"web\" not found\n");
        let both = Fault::Many(vec![gone, Fault::Text("no".into())]);
        assert_eq!(both.message(), "Error from server (NotFound): deployments.apps \"web\" not found\nno\n");
        let cause = |field: &str| Cause {
            reason: "FieldValueRequired".into(),
            message: "Required value".into(),
            field: field.into(),
        };
        let one = Fault::from(Status::invalid(Kind::Pod, "p", vec![cause("a")])).when("creating", "p.yaml");
        assert_eq!(one.message(), "The Pod \"p\" is invalid: a: Required value\n");
        let two = Fault::from(Status::invalid(Kind::Pod, "p", vec![cause("a"), cause("b"), cause("a")]));
        assert_eq!(two.message(), "The Pod \"p\" is invalid: \n* a: Required value\n* b: Required value\n");
    }
}
