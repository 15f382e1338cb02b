//! The instrument's and the teacher's words, in English. Codes and values come from below; only here they become sentences.

pub(crate) mod blocker;
pub(crate) mod deed;
pub(crate) mod who;

use crate::session::{Session, object_ref};
use kubestep_cluster::{ClientState, Input, InputKind, World};
use kubestep_model::{
    Answer, Deployment, Key, Request, Verb,
    client::{ClientAsk, ClientTold},
};
use kubestep_protocol::{Chunk, Rich, Span};

pub(crate) use deed::{sentence, sentences, short_deed};

/// The end of a generated name: what tells it from its siblings.
pub(crate) fn tail(name: &str) -> &str {
    let parts: Vec<&str> = name.rsplitn(3, '-').collect();
    match parts.as_slice() {
        [last, _, _] if last.len() == 5 => last,
        _ => name,
    }
}

/// An object by its kind and the end of its name; where all of a kind are meant, the kind.
pub(crate) fn name(key: &Key) -> Span {
    if key.name.is_empty() {
        return Span::Code(key.kind.resource().into());
    }
    Span::Object(object_ref(key), format!("{} {}", key.kind.name(), tail(&key.name)))
}

/// Text with `code` and **strong** marked as in Markdown.
pub(crate) fn marked(text: &str) -> Rich {
    let mut rich = Rich::default();
    let mut rest = text;
    while let Some(start) = rest.find(['`', '*']) {
        let mark = if rest[start..].starts_with("**") { "**" } else { &rest[start..=start] };
        let body = &rest[start + mark.len()..];
        let Some(end) = body.find(mark).filter(|_| mark != "*") else {
            rich.0.push(Span::Words(rest[..start + mark.len()].into()));
            rest = body;
            continue;
        };
        if start > 0 {
            rich.0.push(Span::Words(rest[..start].into()));
        }
        let word = body[..end].to_string();
        rich.0.push(if mark == "`" { Span::Code(word) } else { Span::Strong(word) });
        rest = &body[end + mark.len()..];
    }
    if !rest.is_empty() {
        rich.0.push(Span::Words(rest.into()));
    }
    rich
}

/// A request as the loops view shows it: "CREATE pod".
pub(crate) fn request(request: &Request) -> String {
    let verb = &request.verb;
    let name = match verb {
        Verb::Bind { .. } => "BIND",
        Verb::Create { .. } | Verb::Token { .. } | Verb::Evict { .. } => "CREATE",
        Verb::Replace { .. } => "UPDATE",
        Verb::Patch { .. } => "PATCH",
        Verb::Delete { .. } | Verb::DeleteCollection { .. } => "DELETE",
        Verb::Get { .. } => "GET",
        Verb::List { .. } => "LIST",
    };
    let sub = verb.subresource().name();
    let slash = if sub.is_empty() || sub == "binding" { String::new() } else { format!("/{sub}") };
    format!("{name} {}{slash}", verb.kind().singular())
}

/// The cluster's own word about an object.
pub(crate) fn said(world: &World, key: &Key) -> String {
    let Some(d) = world.store().get(key).and_then(|o| o.get::<Deployment>()) else { return String::new() };
    d.condition("Progressing").map_or(String::new(), |c| format!("Progressing={} {}", c.status, c.reason))
}

/// The teacher: a Service that selects nothing.
pub(crate) fn selects_nothing(service: &Key) -> Rich {
    Rich::words("but the Service ")
        .then(Span::Object(object_ref(service), service.name.to_string()))
        .then(Span::Words(" selects nothing that is ready.".into()))
}

/// The teacher: a Job that has come to its end without what was asked for.
pub(crate) fn has_failed(job: &Key) -> Rich {
    Rich::words("but the Job ")
        .then(Span::Object(object_ref(job), job.name.to_string()))
        .then(Span::Words(" has failed, and nobody tries it again.".into()))
}

/// What exit 0 of an apply told, and what it did not: from its own answers, whatever was written since.
pub(crate) fn card(client: &ClientState, output: &[Chunk]) -> (Vec<String>, Vec<String>) {
    let text: String = output.iter().map(|c| c.text.as_str()).collect();
    let mut told = vec!["the file is valid".to_string()];
    let stored = client.told.iter().rev().find_map(|turn| match (&turn.ask, &turn.told) {
        (ClientAsk::Api(request), ClientTold::Reply(Ok(Answer::Object { object, .. }))) => {
            let writes = matches!(request.verb, Verb::Create { .. } | Verb::Patch { .. });
            object.get::<Deployment>().filter(|_| writes)
        }
        _ => None,
    });
    let same = text.contains("unchanged") && !text.contains("configured") && !text.contains("created");
    if same || text.contains("Edit cancelled") {
        told.push("nothing had to be stored".into());
    } else if let Some(d) = stored {
        told.push(format!("generation {} is stored", d.metadata.generation));
    } else {
        told.push("the object is stored".into());
    }
    let not = if text.contains("deployment.apps/") {
        ["that the image exists", "that a pod started"]
    } else {
        ["that a loop has seen it", "that it does what you meant"]
    };
    (told, not.iter().map(ToString::to_string).collect())
}

/// A line and column that a refusal names.
pub(crate) fn place_in(text: &str) -> Option<(u32, u32)> {
    let rest = &text[text.find("line ")? + 5..];
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((digits.parse().ok()?, 1))
}

/// An input as the name of a branch.
pub(crate) fn of_input(input: &Input) -> String {
    match &input.what {
        InputKind::Act(act) => deed::of_act(act),
        InputKind::Choice(_) => "a choice by hand".into(),
    }
}

/// Another order with another end, and how many orders were gone through.
pub(crate) fn race_found(found: &crate::race::Found, tried: u32) -> Rich {
    if found.way.is_empty() {
        return Rich::default().then(Span::Strong("A race. ".into())).then(Span::Words(format!(
            "{}: {}, in the order by time already. The address above leads here.",
            found.what, found.here
        )));
    }
    let choices = match found.way.len() {
        1 => "One turn is".to_string(),
        n => format!("{n} turns are"),
    };
    let by_itself = found.by_itself.as_deref().unwrap_or("nothing of that");
    Rich::default().then(Span::Strong("A race. ".into())).then(Span::Words(format!(
        "{}: {}; in the order by time: {by_itself}. {choices} taken before their time; {tried} orders were gone through. \
         The address above leads here.",
        found.what, found.here
    )))
}

/// No order came to another end.
pub(crate) fn no_race(tried: u32, whole: bool) -> Rich {
    let rest = if whole {
        "These are all with one or two turns taken before their time."
    } else {
        "The budget ended before all with two turns taken before their time were gone through."
    };
    Rich::default()
        .then(Span::Strong("No race was found. ".into()))
        .then(Span::Words(format!("{tried} orders came to the same end. {rest}")))
}

/// A replay that ended otherwise than its link says.
pub(crate) fn link_differs() -> Rich {
    Rich::words("This link was made by another version of Kubestep: its run ends differently here.")
}

/// The table of latencies: name and microseconds.
pub(crate) fn latencies(session: &Session) -> Vec<(String, u64)> {
    let l = session.world().latencies();
    let row =
        |name: &str, (base, spread): (u32, u32)| (name.to_string(), u64::from(base) + u64::from(spread) / 2);
    vec![
        row("a request to the API server", l.request),
        row("an event to a watcher", l.delivery),
        row("from a key in line to its reconcile", l.think),
        row("kubectl, before its first request", l.kubectl),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_spans() {
        let rich = marked("Press **Apply**, then `kubectl get`. 2 * 3");
        assert_eq!(rich.0[1], Span::Strong("Apply".into()));
        assert_eq!(rich.0[3], Span::Code("kubectl get".into()));
        assert_eq!(rich.plain(Default::default()), "Press Apply, then kubectl get. 2 * 3");
    }

    #[test]
    fn tails_tell_siblings_apart() {
        assert_eq!(tail("checkout-6c8f9d7b5d-hv9sd"), "hv9sd");
        assert_eq!(tail("checkout"), "checkout");
        assert_eq!(tail("node-1"), "node-1");
    }
}
