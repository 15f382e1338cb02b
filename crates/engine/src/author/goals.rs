//! Goals that a session suggests: what is so at its end and was not at its beginning.

use kubestep_cluster::World;
use kubestep_insight::Gaps;
use kubestep_lessons::question::Question;
use kubestep_model::{Deployment, Kind, Object};

/// The kinds that goals are about.
const KINDS: [(&str, &str); 5] = [
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("v1", "Service"),
];
/// More than these are not suggested.
const MOST: usize = 3;

/// A goal: what is said, and the question.
pub(super) struct Goal {
    pub(super) say: String,
    pub(super) question: String,
    /// The object that it is about.
    about: String,
}

/// What is so at the end, and was not at the beginning; the first are the most telling.
pub(super) fn suggest(begin: &(World, Gaps), end: (&World, &Gaps)) -> Vec<Goal> {
    let mut all = vec![];
    for kind in KINDS.iter().filter_map(|(version, kind)| Kind::of_manifest(version, kind)) {
        for object in end.0.store().list(kind, None) {
            let from = all.len();
            of_object(kind, object, &mut all);
            let about = format!("{} {}{}", word(kind), object.meta().name, place(object));
            all[from..].iter_mut().for_each(|g| g.about.clone_from(&about));
        }
        for object in begin.0.store().list(kind, None).filter(|o| end.0.store().get(&o.key()).is_none()) {
            let name = &object.meta().name;
            let what = format!("{} {name}{}", word(kind), place(object));
            all.push(goal(format!("The {} `{name}` is gone.", kind.name()), format!("{what} count == 0")));
        }
    }
    for verdict in ["converged", "stalled"] {
        all.push(goal(format!("The verdict is: {verdict}."), format!("verdict == {verdict}")));
    }
    all.retain(|g| {
        let Ok(question) = Question::parse(&g.question) else { return false };
        question.holds(end.0, end.1) && !question.holds(&begin.0, &begin.1)
    });
    // Of one object, what says most: the others would be reached with it.
    let mut said: Vec<String> = vec![];
    all.retain(|g| {
        let first = g.about.is_empty() || !said.contains(&g.about);
        said.push(g.about.clone());
        first
    });
    all.truncate(MOST);
    all
}

fn goal(say: String, question: String) -> Goal {
    Goal { say, question, about: String::new() }
}

fn word(kind: Kind) -> String {
    kind.name().to_ascii_lowercase()
}

fn place(object: &Object) -> String {
    let namespace = &*object.meta().namespace;
    if namespace.is_empty() || namespace == "default" { String::new() } else { format!(" -n {namespace}") }
}

fn of_object(kind: Kind, object: &Object, all: &mut Vec<Goal>) {
    let name = object.meta().name.to_string();
    if name == "kubernetes" {
        return;
    }
    let (kind_name, place) = (kind.name(), place(object));
    let what = format!("{} {name}{place}", word(kind));
    let replicas = match object {
        Object::Deployment(d) => images(d, &place, all),
        _ if kind_name == "StatefulSet" => {
            object.to_value().pointer("/spec/replicas").and_then(|n| n.as_i64())
        }
        _ => None,
    };
    if let Some(n) = replicas {
        let question = format!("{what} where spec.replicas == {n} ready == {n}");
        all.push(goal(format!("The {kind_name} `{name}` asks for {n} pods, and {n} are ready."), question));
    }
    if kind_name == "Service" {
        let count = (1..=9).rev();
        all.extend(count.map(|n| {
            goal(format!("The Service `{name}` has {n} ready endpoints."), format!("{what} endpoints == {n}"))
        }));
        return;
    }
    let say = format!("What the {kind_name} `{name}` asks for is there.");
    all.push(goal(say, format!("{what} complete == 1")));
}

/// A Deployment's pods by their images; answers how many it asks for.
fn images(deployment: &Deployment, place: &str, all: &mut Vec<Goal>) -> Option<i64> {
    let n = deployment.spec.replicas?;
    let labels = deployment.spec.selector.as_ref()?.match_labels.iter();
    let selector: Vec<String> = labels.map(|(key, value)| format!("{key}={value}")).collect();
    for container in &deployment.spec.template.spec.containers {
        let image = &container.image;
        let question =
            format!("pods -l {}{place} where image == \"{image}\" ready == {n}", selector.join(","));
        all.push(goal(format!("{n} pods run `{image}` and are ready."), question));
    }
    Some(n.into())
}
