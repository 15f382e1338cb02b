//! Every word that a lesson's worlds ever show: objects, commands and their answers, files, the registry.

use crate::{ask::ask, lesson::Lesson, stage::Files};
use kubestep_cluster::{Record, World, loops::ALL};
use kubestep_model::{Kind, Labels, Object, client::Stream, schema, text::Selector};
use serde_json::Value;
use std::collections::BTreeSet;

/// Words that belong to Kubernetes and its tools and stand in no object.
const MORE: [&str; 5] = [
    "kubectl kubelet kubelets kube-scheduler kube-controller-manager kube-apiserver etcd",
    "get describe create apply delete diff scale edit logs wait label drain cordon uncordon explain",
    "rollout undo pause resume restart status history set image env exit events",
    "show-labels show-managed-fields o yaml wide name A l n f for to-revision replicas cascade",
    "namespace configured unchanged created deleted",
];

/// The words, and the objects by kind and name.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    words: BTreeSet<String>,
    objects: BTreeSet<(String, String)>,
    /// The labels of pods.
    pods: Vec<Labels>,
    /// How many commands were taken in.
    commands: u64,
}

impl Corpus {
    /// What is there before anything runs.
    pub(super) fn of(lesson: &Lesson) -> Corpus {
        let mut corpus = Corpus::default();
        MORE.iter().for_each(|w| corpus.take(w));
        for controller in ALL {
            corpus.take(controller.name());
            corpus.take(controller.actor());
        }
        for kind in Kind::all() {
            [kind.name(), kind.resource(), kind.singular()].iter().for_each(|w| corpus.take(w));
        }
        for (name, text) in &lesson.files {
            corpus.take(name);
            corpus.take(text);
        }
        lesson.registry.0.keys().for_each(|name| corpus.take(name));
        for step in crate::lesson::steps_of(lesson) {
            corpus.take(&format!("{:?}", step.act));
        }
        corpus
    }

    /// All objects of a world.
    pub(super) fn store(&mut self, world: &World) {
        world.store().all().for_each(|o| self.object(o));
        for (name, _) in world.machines() {
            self.take(name);
        }
        for line in ["kubectl help", "kubectl rollout --help", "kubectl set --help"] {
            let text = ask(world, line, Files::new()).text(Stream::Out);
            self.take(&text);
        }
    }

    /// What a step changed.
    pub(super) fn record(&mut self, world: &World, record: &Record) {
        for change in &record.changes {
            if let Some(object) = world.store().get(&change.key) {
                self.object(object);
            }
        }
    }

    /// What people typed and read.
    pub(super) fn commands(&mut self, world: &World) {
        for (id, client) in world.clients().filter(|(id, _)| **id > self.commands).collect::<Vec<_>>() {
            self.take(&client.program.line());
            client.output.iter().for_each(|c| self.take(&c.text));
            if client.ended.is_some() {
                self.commands = *id;
            }
        }
    }

    fn object(&mut self, object: &Object) {
        let meta = object.meta();
        self.objects.insert((object.kind().name().to_string(), meta.name.to_string()));
        if object.kind() == Kind::Pod && !self.pods.contains(&meta.labels) {
            self.pods.push(meta.labels.clone());
        }
        self.value(&object.to_value());
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.take(text),
            Value::Array(rows) => rows.iter().for_each(|v| self.value(v)),
            Value::Object(map) => {
                for (key, value) in map {
                    if key != "managedFields" {
                        self.take(key);
                        self.value(value);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn take(&mut self, text: &str) {
        for word in words(text) {
            if !self.words.contains(word) {
                self.words.insert(word.to_string());
                self.words.extend(word.split('.').map(str::to_string));
            }
        }
    }

    /// Whether an object of this kind and name ever was.
    pub(super) fn has_object(&self, kind: &str, name: &str) -> bool {
        self.objects.contains(&(kind.to_string(), name.to_string()))
    }

    /// Whether some pod ever had such labels.
    pub(super) fn has_pod(&self, labels: &Selector) -> bool {
        self.pods.iter().any(|p| labels.matches(p))
    }

    /// The first path of a text that begins with `spec` or `status` and that no kind of the lesson has.
    pub(super) fn strange_path<'t>(&self, text: &'t str) -> Option<&'t str> {
        words(text).find(|path| {
            let mut steps = path.split('.');
            let (Some(part @ ("spec" | "status")), Some(field)) = (steps.next(), steps.next()) else {
                return false;
            };
            let has = |kind: &Kind| {
                schema::beside(&kind.api_version(), kind.name(), &format!("{part}.{field}")).contains(&field)
            };
            // What a definition of one's own has stands in no schema.
            let own = self.objects.iter().any(|(kind, _)| kind == "CustomResourceDefinition");
            !own && !Kind::all()
                .filter(|k| self.objects.iter().any(|(kind, _)| kind == k.name()))
                .any(|k| has(&k))
        })
    }

    /// The first word of a text that never stood anywhere.
    pub(super) fn stranger<'t>(&self, text: &'t str) -> Option<&'t str> {
        words(text).find(|word| !self.knows(word))
    }

    fn knows(&self, word: &str) -> bool {
        let one = |w: &str| {
            w.is_empty()
                || self.words.contains(w)
                || w.chars().next().is_some_and(|c| c.is_ascii_digit())
                || ["True", "False", "Unknown", "true", "false"].contains(&w)
                || schema::has_field(w)
        };
        one(word) || word.split('.').all(one)
    }
}

/// Words as names are made of: letters, digits, dots and dashes.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c))
        .map(|w| w.trim_matches(|c| ".-_".contains(c)))
        .filter(|w| !w.is_empty())
}
