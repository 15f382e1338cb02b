//! *Break it*: what could be broken in a file, each as the edit that does it. The rest of the text stays as it is.

mod edit;

use crate::{
    parts::{Part, pairs, parts},
    session::Session,
};
use edit::{block_end, lines, replace, slice, typo};
use kubestep_model::arrange::Arrange;
use kubestep_model::{Kind, Node, Quantity, ResourceQuota, yaml};
use kubestep_protocol::{BreakItem, Doc};
use serde_json::Value;

/// Longer files are not broken here.
const MOST_TEXT: usize = 256 << 10;
/// So many objects are looked at.
const MOST_PARTS: usize = 50;
/// A name that no cluster has.
const ABSENT: &str = "not-there";

/// The file, and the object of it that is to be broken.
struct Broken<'d> {
    session: &'d Session,
    doc: &'d Doc,
    part: &'d Part<'d>,
    /// The path of its first container.
    container: String,
}

/// The entries, in the order of the menu.
pub(crate) fn menu(session: &Session, doc: &Doc) -> Vec<BreakItem> {
    if doc.text.len() > MOST_TEXT {
        return vec![];
    }
    let reading = yaml::read(&doc.text);
    let all = parts(&reading, MOST_PARTS);
    let mut items = vec![];
    let main = |part: &&Part<'_>| part.containers().iter().any(|c| !c.contains("initContainers"));
    let workload = all.iter().find(main);
    let broken = workload.map(|part| {
        let container =
            part.containers().into_iter().find(|c| !c.contains("initContainers")).unwrap_or_default();
        Broken { session, doc, part, container }
    });
    if let Some(b) = &broken {
        items.extend(b.image());
        items.extend(b.label());
    }
    items.extend(all.iter().find_map(|part| selector(session, doc, part, &all)));
    if let Some(b) = &broken {
        items.extend(b.cpu());
        items.extend(b.probe());
        items.extend(b.quota());
        items.extend(b.crash());
        items.extend(b.config());
    }
    items
}

/// An entry whose edit is this text.
fn item(doc: &Doc, name: &str, place: String, minus: Option<String>, plus: &str, text: String) -> BreakItem {
    let result = Doc { name: doc.name.clone(), text };
    BreakItem { name: name.into(), place, minus, plus: Some(plus.into()), result, used: false }
}

/// An entry that is in the file already.
fn used(doc: &Doc, name: &str, place: String, plus: String) -> BreakItem {
    BreakItem { name: name.into(), place, minus: None, plus: Some(plus), result: doc.clone(), used: true }
}

fn line(number: usize) -> String {
    format!("line {number}")
}

/// The labels of all templates in the file and of all pods in the cluster, in a namespace.
fn selectable<'d>(session: &Session, all: &[Part<'d>], namespace: &str) -> Vec<Vec<(String, String)>> {
    let own = |(k, v): &(&str, &str)| (k.to_string(), v.to_string());
    let here = all.iter().filter(|p| p.namespace() == namespace).filter_map(Part::pod_labels);
    let here = here.map(|labels| labels.iter().map(own).collect());
    let pods = session.world().store().list(Kind::Pod, Some(namespace));
    let there = pods.map(|o| o.meta().labels.iter().map(|(k, v)| (k.clone(), v.clone())).collect());
    here.chain(there).collect()
}

/// Whether a selector selects any of these.
fn selects(selector: &[(&str, &str)], all: &[Vec<(String, String)>]) -> bool {
    all.iter()
        .any(|labels| selector.iter().all(|(k, v)| labels.iter().any(|(key, value)| key == k && value == v)))
}

/// A typo in a Service's selector.
fn selector(session: &Session, doc: &Doc, part: &Part<'_>, all: &[Part<'_>]) -> Option<BreakItem> {
    if part.kind() != "Service" {
        return None;
    }
    let name = "Typo in the Service’s selector";
    let selector = pairs(part.at("spec.selector")?);
    let (key, value) = *selector.first()?;
    let place = part.exactly(&format!("spec.selector.{key}"))?.value;
    if !selects(&selector, &selectable(session, all, part.namespace())) {
        return Some(used(doc, name, line(place.line), format!("{key}: {value}")));
    }
    let wrong = typo(value);
    let text = replace(&doc.text, place, &slice(&doc.text, place)?.replacen(value, &wrong, 1))?;
    Some(item(doc, name, line(place.line), Some(format!("{key}: {value}")), &format!("{key}: {wrong}"), text))
}

impl Broken<'_> {
    fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.container)
    }

    /// A tag that the registry does not have.
    fn image(&self) -> Option<BreakItem> {
        let name = "Wrong image tag";
        let path = self.field("image");
        let image = self.part.at(&path)?.as_str()?;
        let place = self.part.exactly(&path)?.value;
        let raw = slice(&self.doc.text, place)?;
        if image.contains('@') || image.is_empty() || !raw.contains(image) {
            return None;
        }
        let tag = image.rsplit_once(':').map(|(_, tag)| tag).filter(|tag| !tag.contains('/'));
        let registry = self.session.world().registry();
        if tag.is_some_and(|t| t.ends_with("-rc")) && registry.get(image).is_none() {
            return Some(used(self.doc, name, line(place.line), tag.unwrap_or_default().into()));
        }
        let wrong = (0..9).map(|n| {
            format!("{}-rc{}", tag.unwrap_or("1.0"), if n == 0 { String::new() } else { n.to_string() })
        });
        let bare = tag.map_or(image, |tag| &image[..image.len() - tag.len() - 1]);
        let wrong = wrong.into_iter().find(|tag| registry.get(&format!("{bare}:{tag}")).is_none())?;
        let text = replace(&self.doc.text, place, &raw.replacen(image, &format!("{bare}:{wrong}"), 1))?;
        let (minus, plus) = if tag.is_some() {
            (tag.map(Into::into), wrong)
        } else {
            (Some(image.to_string()), format!("{image}:{wrong}"))
        };
        Some(item(self.doc, name, line(place.line), minus, &plus, text))
    }

    /// A label of the template that the selector does not select.
    fn label(&self) -> Option<BreakItem> {
        let name = "Wrong template label";
        let template = self.part.template().filter(|t| !t.is_empty())?;
        let wanted = pairs(self.part.at("spec.selector.matchLabels")?);
        let (key, value) = *wanted.first()?;
        let path = format!("{template}metadata.labels.{key}");
        let labels = self.part.pod_labels()?;
        let (_, has) = *labels.iter().find(|(k, _)| *k == key)?;
        let place = self.part.find(&path)?.value;
        if has != value {
            return Some(used(self.doc, name, line(place.line), format!("{key}: {has}")));
        }
        let wrong = typo(value);
        let text = replace(&self.doc.text, place, &slice(&self.doc.text, place)?.replacen(value, &wrong, 1))?;
        Some(item(
            self.doc,
            name,
            line(place.line),
            Some(format!("{key}: {value}")),
            &format!("{key}: {wrong}"),
            text,
        ))
    }

    /// The cpu of the biggest node, in whole cores.
    fn biggest(&self) -> i64 {
        let nodes = self.session.world().store().list(Kind::Node, None).filter_map(|o| o.get::<Node>());
        let cores = nodes.filter_map(|n| n.status.allocatable.get("cpu")).map(|cpu| cpu.milli_value() / 1000);
        cores.max().unwrap_or(4).clamp(1, 10_000)
    }

    /// More cpu than any node has.
    fn cpu(&self) -> Option<BreakItem> {
        let name = "Too much cpu";
        let (biggest, path) = (self.biggest(), self.field("resources.requests.cpu"));
        let much = (biggest * 4).to_string();
        let plus = format!("resources.requests.cpu: {much}");
        let limit = self.part.at(&self.field("resources.limits.cpu"));
        if let Some(now) = self.part.at(&path) {
            let place = self.part.exactly(&path)?.value;
            let cpu = amount(now);
            if cpu.as_ref().is_some_and(|q| q.milli_value() > biggest * 1000) {
                return Some(used(
                    self.doc,
                    name,
                    line(place.line),
                    format!("cpu: {}", cpu.map_or(String::new(), |q| q.to_string())),
                ));
            }
            // The limit may not be below the request. What stands last is replaced first, so that places stay true.
            let mut places = vec![place];
            places.extend(self.part.exactly(&self.field("resources.limits.cpu")).map(|p| p.value));
            places.arrange_by_key(|p| std::cmp::Reverse((p.line, p.column)));
            let text = places.iter().try_fold(self.doc.text.clone(), |text: String, at| {
                replace(&text, *at, &format!("\"{much}\""))
            })?;
            let minus = format!("cpu: {}", slice(&self.doc.text, place)?);
            return Some(item(
                self.doc,
                name,
                line(place.line),
                Some(minus),
                &format!("cpu: \"{much}\""),
                text,
            ));
        }
        if limit.is_some() {
            // Without a request the limit is the request.
            let place = self.part.exactly(&self.field("resources.limits.cpu"))?.value;
            let minus = format!("limits.cpu: {}", slice(&self.doc.text, place)?);
            let text = replace(&self.doc.text, place, &format!("\"{much}\""))?;
            return Some(item(
                self.doc,
                name,
                line(place.line),
                Some(minus),
                &format!("limits.cpu: \"{much}\""),
                text,
            ));
        }
        if self.part.at(&self.field("resources.requests")).is_some() {
            return self.within(
                "resources.requests",
                name,
                &plus,
                &[format!("cpu: \"{much}\"")],
                &format!("cpu: \"{much}\""),
            );
        }
        let inner = ["requests:".to_string(), format!("  cpu: \"{much}\"")];
        if self.part.at(&self.field("resources")).is_some() {
            return self.within("resources", name, &plus, &inner, &format!("requests: {{cpu: \"{much}\"}}"));
        }
        let block = ["resources:".to_string(), "  requests:".into(), format!("    cpu: \"{much}\"")];
        self.add(name, "resources", &plus, &block, &format!("resources: {{requests: {{cpu: \"{much}\"}}}}"))
    }

    /// A readiness probe that never says yes.
    fn probe(&self) -> Option<BreakItem> {
        let name = "Probe that is never ready";
        let plus = "readinessProbe.exec: [\"false\"]";
        let command = self.part.at(&self.field("readinessProbe.exec.command"));
        if command.is_some_and(|c| *c == serde_json::json!(["false"])) {
            let place = self.part.find(&self.field("readinessProbe"))?.value;
            return Some(used(self.doc, name, line(place.line), plus.into()));
        }
        let block = ["readinessProbe:".to_string(), "  exec:".into(), "    command: [\"false\"]".into()];
        self.add(name, "readinessProbe", plus, &block, "readinessProbe: {exec: {command: [\"false\"]}}")
    }

    /// A process that ends at once.
    fn crash(&self) -> Option<BreakItem> {
        let name = "Crash at start";
        let command = "command: [\"sh\", \"-c\", \"exit 1\"]";
        if self
            .part
            .at(&self.field("command"))
            .is_some_and(|c| *c == serde_json::json!(["sh", "-c", "exit 1"]))
        {
            let place = self.part.find(&self.field("command"))?.value;
            return Some(used(self.doc, name, line(place.line), command.into()));
        }
        self.add(name, "command", command, &[command.into()], command)
    }

    /// Settings from a ConfigMap that is not there.
    fn config(&self) -> Option<BreakItem> {
        let name = "A ConfigMap that is not there";
        let plus = format!("envFrom.configMapRef: {ABSENT}");
        if let Some(now) = self.part.at(&self.field("envFrom")) {
            let wrong = now.pointer("/0/configMapRef/name").and_then(Value::as_str) == Some(ABSENT);
            let place = self.part.find(&self.field("envFrom"))?.value;
            return wrong.then(|| used(self.doc, name, line(place.line), plus));
        }
        let block = ["envFrom:".to_string(), "- configMapRef:".into(), format!("    name: {ABSENT}")];
        self.add(name, "envFrom", &plus, &block, &format!("envFrom: [{{configMapRef: {{name: {ABSENT}}}}}]"))
    }

    /// Adds a field to the container after its image, or puts it in the place of the one that is there.
    fn add(&self, name: &str, field: &str, plus: &str, block: &[String], flow: &str) -> Option<BreakItem> {
        let image = self.part.exactly(&self.field("image"))?;
        let key = image.key?;
        let indented =
            |indent: usize| block.iter().map(|l| format!("{}{l}", " ".repeat(indent))).collect::<Vec<_>>();
        if let Some(old) = self.part.exactly(&self.field(field)) {
            let at = old.key?;
            let before = self.doc.text.split('\n').nth(at.line - 1)?.get(..at.column - 1)?;
            if !before.trim().is_empty() {
                return None;
            }
            let end = block_end(&self.doc.text, at.line, at.column - 1).max(sequence_end(
                &self.doc.text,
                at.line,
                at.column - 1,
            ));
            let text = lines(&self.doc.text, at.line, end, &indented(at.column - 1));
            return Some(item(self.doc, name, line(at.line), Some(field.into()), plus, text));
        }
        let container = self.part.find(&self.container)?.value;
        if self.is_flow(container) {
            let end = kubestep_model::yaml::Span {
                line: image.value.end_line,
                column: image.value.end_column,
                ..image.value
            };
            let text = replace(&self.doc.text, end, &format!(", {flow}"))?;
            return Some(item(self.doc, name, line(image.value.end_line), None, plus, text));
        }
        let after = image.value.end_line;
        let text = lines(&self.doc.text, after + 1, after, &indented(key.column - 1));
        Some(item(self.doc, name, format!("after {after}"), None, plus, text))
    }

    /// Adds a field as the first one of a map that is there.
    fn within(&self, map: &str, name: &str, plus: &str, block: &[String], flow: &str) -> Option<BreakItem> {
        let place = self.part.exactly(&self.field(map))?;
        if self.is_flow(place.value) {
            let start = kubestep_model::yaml::Span {
                end_line: place.value.line,
                end_column: place.value.column + 1,
                ..place.value
            };
            let empty = self.part.at(&self.field(map))?.as_object()?.is_empty();
            let text = replace(&self.doc.text, start, &format!("{{{flow}{}", if empty { "" } else { ", " }))?;
            return Some(item(self.doc, name, line(place.value.line), None, plus, text));
        }
        let indent = " ".repeat(place.value.column - 1);
        let block: Vec<String> = block.iter().map(|l| format!("{indent}{l}")).collect();
        let after = place.value.line.checked_sub(1)?;
        let text = lines(&self.doc.text, after + 1, after, &block);
        Some(item(self.doc, name, format!("after {after}"), None, plus, text))
    }

    /// Whether a map is written in braces.
    fn is_flow(&self, map: kubestep_model::yaml::Span) -> bool {
        let line = self.doc.text.split('\n').nth(map.line.saturating_sub(1)).unwrap_or("");
        line.chars().nth(map.column.saturating_sub(1)) == Some('{')
    }

    /// A new file with a quota that leaves no room.
    fn quota(&self) -> Option<BreakItem> {
        let name = "Quota too small";
        let namespace = self.part.namespace();
        let store = self.session.world().store();
        let replicas = self.part.at("spec.replicas").and_then(Value::as_i64).unwrap_or(1).clamp(1, 10_000);
        let running = self.part.kind() == "Deployment"
            && store.list(Kind::Deployment, Some(namespace)).any(|o| *o.meta().name == *self.part.name());
        // A rollout needs room for one more than there are; a first one needs room for all.
        let room = if running { replicas } else { replicas - 1 };
        let plus = format!("ResourceQuota pods: {room}");
        let quotas =
            || store.list(Kind::ResourceQuota, Some(namespace)).filter_map(|o| o.get::<ResourceQuota>());
        let tight =
            |q: &ResourceQuota| q.spec.hard.get("pods").is_some_and(|hard| hard.milli_value() <= room * 1000);
        if quotas().any(tight) {
            return Some(used(self.doc, name, "in the cluster".into(), plus));
        }
        let file = if self.doc.name == "quota.yaml" { "pod-quota.yaml" } else { "quota.yaml" };
        let stated =
            if namespace == "default" { String::new() } else { format!("  namespace: {namespace}\n") };
        let text = format!(
            "apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: pods\n{stated}spec:\n  hard:\n    pods: \"{room}\"\n"
        );
        let new = Doc { name: file.into(), text };
        Some(BreakItem {
            name: name.into(),
            place: "new file".into(),
            minus: None,
            plus: Some(plus),
            result: new,
            used: false,
        })
    }
}

/// The last line of a list that stands at its field's own indent.
fn sequence_end(text: &str, first: usize, indent: usize) -> usize {
    let dash =
        |line: &str| line.len() - line.trim_start().len() == indent && line.trim_start().starts_with("- ");
    let mut end = first;
    for (i, line) in text.split('\n').enumerate().skip(first) {
        let deeper = line.len() - line.trim_start().len() > indent && !line.trim().is_empty();
        if !(dash(line) || (deeper && end > first)) {
            break;
        }
        end = i + 1;
    }
    end
}

fn amount(value: &Value) -> Option<Quantity> {
    serde_json::from_value(value.clone()).ok()
}
