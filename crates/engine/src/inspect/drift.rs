//! All is as asked, and a program beside the cluster wants something else: nobody in the cluster says so.

use crate::session::Session;
use kubestep_kubectl::{Drift, drift};
use kubestep_model::{Key, Kind, Object};
use kubestep_protocol::{Rich, Span, WhyHead};

/// So many writes of the object are looked at for the one that made the difference.
const WRITES: usize = 200;

/// What stands at the top of Why then.
pub(super) fn head(session: &Session, object: &Object) -> Option<WhyHead> {
    let store = session.world().store();
    let noted = |name: &str| store.get(&Key::new(Kind::ConfigMap, object.meta().namespace.clone(), name));
    let Drift { program, differs, suspended } = drift(object, &noted)?;
    let (mut since, mut next) = (None, Some(object));
    for _ in 0..WRITES {
        let other = next.filter(|o| drift(o, &noted).is_some());
        let Some(write) = other.and_then(|o| store.entry(o.meta().revision())) else { break };
        since = Some(session.at(write.at));
        next = write.old.as_ref();
    }
    let file = if program == "statefile" { "The state file" } else { "The repository" };
    let words = Rich::words(format!("{file} wants ")).then(Span::Code(differs.join(", ")));
    let until = match (program, suspended) {
        ("statefile", _) => Rich::words("No loop looks there. ")
            .then(Span::Code("statefile plan".into()))
            .then(Span::Words(" says so when somebody runs it.".into())),
        (_, true) => Rich::words("Its agent is suspended: nobody compares before ")
            .then(Span::Code("gitops resume".into()))
            .then(Span::Words(".".into())),
        (_, false) => Rich::words("Its agent compares from time to time, and the file wins."),
    };
    Some(WhyHead::Silent { words, since: since?, until })
}
