//! All is as asked, and a program beside the cluster wants something else: nobody in the cluster says so.

use crate::session::Session;
use kubestep_insight::writes;
use kubestep_kubectl::wanted;
use kubestep_model::{Key, Kind, Object};
use kubestep_protocol::{Rich, Span, WhyHead};

/// What stands at the top of Why then.
pub(super) fn head(session: &Session, object: &Object) -> Option<WhyHead> {
    let store = session.world().store();
    let noted = |name: &str| store.get(&Key::new(Kind::ConfigMap, object.meta().namespace.clone(), name));
    let wanted = wanted(object, &noted)?;
    let differs = |o: &Object| Some(wanted.differs(o)).filter(|differs| !differs.is_empty());
    let now = differs(object)?;
    let (_, write) = writes(store, object).take_while(|(o, _)| differs(o).is_some()).last()?;
    let file = if wanted.program == "statefile" { "The state file" } else { "The repository" };
    let words = Rich::words(format!("{file} wants ")).then(Span::Code(now.join(", ")));
    let until = match (wanted.program, wanted.suspended) {
        ("statefile", _) => Rich::words("No loop looks there. ")
            .then(Span::Code("statefile plan".into()))
            .then(Span::Words(" says so when somebody runs it.".into())),
        (_, true) => Rich::words("Its agent is suspended: nobody compares before ")
            .then(Span::Code("gitops resume".into()))
            .then(Span::Words(".".into())),
        (_, false) => Rich::words("Its agent compares from time to time, and the file wins."),
    };
    Some(WhyHead::Silent { words, since: session.at(write.at), until })
}
