//! Questions about a world in words near kubectl's: `pods -l app=web ready == 3`, `deployment/web available >= 2`.

use kubestep_cluster::World;
use kubestep_kubectl::resources;
use kubestep_model::{Kind, Object, text::Selector};
use serde_json::Value;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    /// How many there are.
    Count,
    /// Ready pods, or the replicas that a status says are ready.
    Ready,
    Available,
    Updated,
}

/// How it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compare {
    Equal,
    Different,
    Less,
    More,
    AtMost,
    AtLeast,
}

/// A question that is either so or not.
#[derive(Clone, Debug)]
pub struct Question {
    kind: Kind,
    namespace: Option<String>,
    name: Option<String>,
    labels: Selector,
    measure: Measure,
    compare: Compare,
    number: i64,
}

impl Question {
    /// Reads a question. Errors: what is not understood.
    pub fn parse(text: &str) -> Result<Question, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [front @ .., measure, compare, number] = words.as_slice() else {
            return Err("A question is: what, ready or count, a comparison, a number.".into());
        };
        let (subject, flags) = front.split_first().ok_or("It does not say what is counted.")?;
        let (kind, name) =
            subject.split_once('/').map_or((*subject, None), |(k, n)| (k, Some(n.to_string())));
        let mut question = Question {
            kind: resources::resolve(kind).map_err(|fault| fault.text())?,
            namespace: Some("default".into()),
            name,
            labels: Selector::everything(),
            measure: measure_of(measure)?,
            compare: compare_of(compare)?,
            number: number.parse().map_err(|_| format!("{number} is not a whole number."))?,
        };
        let mut flags = flags.iter();
        while let Some(flag) = flags.next() {
            match *flag {
                "-A" | "--all-namespaces" => question.namespace = None,
                "-n" => question.namespace = Some(flags.next().ok_or("-n names a namespace.")?.to_string()),
                "-l" => question.labels = Selector::parse(flags.next().ok_or("-l has a selector.")?)?,
                name if question.name.is_none() => question.name = Some(name.to_string()),
                other => return Err(format!("{other} is not understood.")),
            }
        }
        Ok(question)
    }

    /// Whether it is so.
    pub fn holds(&self, world: &World) -> bool {
        let namespace = self.namespace.as_deref().filter(|_| self.kind.namespaced());
        let named = |o: &&Object| self.name.as_ref().is_none_or(|n| *o.meta().name == **n);
        let objects = world.store().list(self.kind, namespace).filter(named);
        let count: i64 = objects
            .filter(|o| self.labels.matches(&o.meta().labels))
            .map(|o| measured(self.measure, o))
            .sum();
        match self.compare {
            Compare::Equal => count == self.number,
            Compare::Different => count != self.number,
            Compare::Less => count < self.number,
            Compare::More => count > self.number,
            Compare::AtMost => count <= self.number,
            Compare::AtLeast => count >= self.number,
        }
    }
}

fn measure_of(word: &str) -> Result<Measure, String> {
    Ok(match word {
        "count" => Measure::Count,
        "ready" => Measure::Ready,
        "available" => Measure::Available,
        "updated" => Measure::Updated,
        other => return Err(format!("{other} cannot be counted: count, ready, available or updated.")),
    })
}

fn compare_of(word: &str) -> Result<Compare, String> {
    Ok(match word {
        "==" | "=" => Compare::Equal,
        "!=" => Compare::Different,
        "<" => Compare::Less,
        ">" => Compare::More,
        "<=" => Compare::AtMost,
        ">=" => Compare::AtLeast,
        other => return Err(format!("{other} does not compare: ==, !=, <, >, <= or >=.")),
    })
}

/// What one object adds to the count.
fn measured(measure: Measure, object: &Object) -> i64 {
    let field = match (measure, object) {
        (Measure::Count, _) => return 1,
        (Measure::Ready | Measure::Available, Object::Pod(pod)) => return i64::from(pod.is_ready()),
        (Measure::Ready, Object::Node(node)) => return i64::from(node.is_ready()),
        (Measure::Ready, _) => "/status/readyReplicas",
        (Measure::Available, _) => "/status/availableReplicas",
        (Measure::Updated, _) => "/status/updatedReplicas",
    };
    object.to_value().pointer(field).and_then(Value::as_i64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{player::start_of, script::Script};

    #[test]
    fn questions_are_read_and_answered() {
        let world = World::boot(&start_of(&Script::read("id: x").expect("a script"), 1));
        let nodes = i64::try_from(world.store().list(Kind::Node, None).count()).unwrap_or(0);
        for (text, want) in [
            (format!("nodes count == {nodes}"), true),
            (format!("nodes count > {nodes}"), false),
            ("pods -l app=web ready == 0".into(), true),
            ("pods -A count >= 1".into(), false),
            ("deployment/web available != 0".into(), false),
            ("namespaces default count = 1".into(), true),
        ] {
            assert_eq!(Question::parse(&text).map(|q| q.holds(&world)), Ok(want), "{text}");
        }
        for bad in [
            "",
            "pods",
            "pods ready 3",
            "pods ready == many",
            "things ready == 1",
            "pods a b ready == 1",
            "pods -l ready == 1",
        ] {
            assert!(Question::parse(bad).is_err(), "{bad}");
        }
    }
}
