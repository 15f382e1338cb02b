//! Which things a question is about: objects of a kind, or the commands that a person ran.

use super::{Compare, compare_of, compared, field::value_at};
use kubestep_cluster::{ClientState, World};
use kubestep_kubectl::resources;
use kubestep_model::{Kind, Object, client::Stream, text::Selector};
use serde_json::{Value, json};

/// What the things are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sort {
    Objects(Kind),
    /// What was typed or pressed, as `line`, `exit` and `output`.
    Commands,
}

/// One thing.
#[derive(Clone, Debug)]
pub(super) enum Thing<'a> {
    Object(&'a Object),
    Command(&'a ClientState),
}

impl Thing<'_> {
    /// The thing as data.
    pub(super) fn value(&self) -> Value {
        match self {
            Thing::Object(object) => object.to_value(),
            Thing::Command(client) => {
                let text: String = client.output.iter().map(|c| c.text.as_str()).collect();
                let error = client.output.iter().filter(|c| c.stream == Stream::Err);
                let error: String = error.map(|c| c.text.as_str()).collect();
                json!({"line": client.program.line(), "exit": client.ended.map(|e| e.0), "output": text, "error": error})
            }
        }
    }
}

/// A field that has to be so.
#[derive(Clone, Debug, PartialEq)]
struct Where {
    path: String,
    compare: Compare,
    value: String,
}

/// Things of one sort, narrowed down.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Things {
    pub(super) sort: Sort,
    namespace: Option<String>,
    name: Option<String>,
    labels: Selector,
    wheres: Vec<Where>,
}

impl Things {
    /// Reads as many words as speak of things; answers the rest.
    pub(super) fn parse(words: &[String]) -> Result<(Things, &[String]), String> {
        let (subject, mut rest) = words.split_first().ok_or("It does not say what is counted.")?;
        let (kind, name) =
            subject.split_once('/').map_or((subject.as_str(), None), |(k, n)| (k, Some(n.to_string())));
        let sort = if kind == "commands" {
            Sort::Commands
        } else {
            Sort::Objects(resources::resolve(kind).map_err(|fault| fault.text())?)
        };
        let mut things = Things {
            sort,
            namespace: Some("default".into()),
            name,
            labels: Selector::everything(),
            wheres: vec![],
        };
        loop {
            rest = match rest {
                [flag, rest @ ..] if flag == "-A" || flag == "--all-namespaces" => {
                    things.namespace = None;
                    rest
                }
                [flag, name, rest @ ..] if flag == "-n" => {
                    things.namespace = Some(name.clone());
                    rest
                }
                [flag, labels, rest @ ..] if flag == "-l" => {
                    things.labels = Selector::parse(labels)?;
                    rest
                }
                [word, path, compare, value, rest @ ..] if word == "where" => {
                    let compare = compare_of(compare)?;
                    things.wheres.push(Where { path: path.clone(), compare, value: value.clone() });
                    rest
                }
                [word, ..] if word == "where" || word.starts_with('-') => {
                    return Err(format!("After {word} something is missing, or it is not understood."));
                }
                // The last word, or one before `condition TYPE` and the like, says what is looked at.
                [name, next, ..] if things.name.is_none() && !super::field::begins(name) => {
                    let _ = next;
                    things.name = Some(name.clone());
                    &rest[1..]
                }
                _ => return Ok((things, rest)),
            };
        }
    }

    /// What there is of them now.
    pub(super) fn find<'a>(&self, world: &'a World) -> Vec<Thing<'a>> {
        match self.sort {
            Sort::Commands => {
                let all = world.clients().map(|(_, c)| Thing::Command(c));
                all.filter(|t| self.fits(&t.value(), None)).collect()
            }
            Sort::Objects(kind) => {
                let namespace = self.namespace.as_deref().filter(|_| kind.namespaced());
                let named = |o: &&Object| self.name.as_ref().is_none_or(|n| *o.meta().name == **n);
                let all = world.store().list(kind, namespace).filter(named);
                let labelled = all.filter(|o| self.labels.matches(&o.meta().labels));
                labelled
                    .filter(|o| self.wheres.is_empty() || self.fits(&o.to_value(), Some(o)))
                    .map(Thing::Object)
                    .collect()
            }
        }
    }

    fn fits(&self, value: &Value, object: Option<&Object>) -> bool {
        self.wheres.iter().all(|w| {
            let have = value_at(value, object, &w.path);
            match (have, w.compare) {
                (Some(have), compare) => compared(compare, &have, &w.value),
                (None, Compare::Different | Compare::Lacks) => !w.value.is_empty(),
                // Kubernetes leaves a 0 out.
                (None, compare) if w.value.parse::<i64>().is_ok() => compared(compare, "0", &w.value),
                (None, compare) => compared(compare, "", &w.value),
            }
        })
    }
}
