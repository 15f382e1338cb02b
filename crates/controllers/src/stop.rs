//! Why a phase of a reconcile ended early: it waits for a reply, or a write was refused.

use kubestep_control::{Cx, Done, Flow, Halt};
use kubestep_model::{Reason, Status};

/// A phase that did not come to its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The runtime has to answer a question first.
    Halt(Halt),
    /// A refusal, or an error of the phase's own, that a later phase may still look at.
    Failed(Status),
}

/// What a phase returns.
pub(crate) type Step<T> = Result<T, Stop>;

impl From<Halt> for Stop {
    fn from(halt: Halt) -> Self {
        Stop::Halt(halt)
    }
}

impl From<Status> for Stop {
    fn from(status: Status) -> Self {
        Stop::Failed(status)
    }
}

/// An error of the controller's own, with Kubernetes' text for it.
pub(crate) fn error(message: String) -> Status {
    Status::new(500, Reason::Unknown, message)
}

/// Whether a create was refused because its namespace is going away.
pub(crate) fn namespace_terminating(status: &Status) -> bool {
    status.causes.iter().any(|cause| cause.reason == "NamespaceTerminating")
}

/// Several errors as one. Upstream: apimachinery/pkg/util/errors, NewAggregate.
pub(crate) fn aggregate(mut errors: Vec<Status>) -> Option<Status> {
    if errors.len() < 2 {
        return errors.pop();
    }
    let mut texts: Vec<&str> = Vec::new();
    for status in &errors {
        if !texts.contains(&status.message.as_str()) {
            texts.push(&status.message);
        }
    }
    let message = if let [one] = texts[..] { one.to_owned() } else { format!("[{}]", texts.join(", ")) };
    let mut all = error(message);
    all.causes = errors.iter().flat_map(|status| status.causes.clone()).collect();
    Some(all)
}

/// What the runtime is told: a phase's failure ends the reconcile as failed.
pub(crate) fn flow(cx: &Cx<'_>, step: Step<Done>) -> Flow {
    match step {
        Ok(done) => Ok(done),
        Err(Stop::Halt(halt)) => Err(halt),
        Err(Stop::Failed(status)) => Err(cx.fail(status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_error_keeps_its_text_and_several_are_listed_once_each() {
        let of = |texts: &[&str]| {
            aggregate(texts.iter().map(|t| error((*t).to_owned())).collect()).map(|s| s.message)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["a"]), Some("a".to_owned()));
        assert_eq!(of(&["a", "a"]), Some("a".to_owned()));
        assert_eq!(of(&["a", "b", "a"]), Some("[a, b]".to_owned()));
    }
}
