//! What pods of a namespace may ask of their nodes, by the labels of the namespace.
//!
//! Upstream: k8s.io/pod-security-admission/admission and plugin/pkg/admission/security/podsecurity (v1.37).

mod checks;

use crate::turn::Turn;
use kubestep_model::{Cause, Key, Kind, Labels, Object, Pod, Status};
use serde_json::Value;
use std::collections::BTreeMap;

const PREFIX: &str = "pod-security.kubernetes.io/";
const LEVELS: [&str; 3] = ["privileged", "baseline", "restricted"];

/// A level at a version of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Policy {
    level: String,
    version: String,
}

impl Policy {
    fn of(labels: &Labels, mode: &str) -> Policy {
        let label = |name: String| labels.get(&format!("{PREFIX}{name}")).cloned();
        Policy {
            level: label(mode.to_owned()).unwrap_or_else(|| "privileged".into()),
            version: label(format!("{mode}-version")).unwrap_or_else(|| "latest".into()),
        }
    }

    /// The minor version; what is younger than this release is judged as the latest.
    fn minor(&self) -> u32 {
        let minor = self.version.strip_prefix("v1.").and_then(|minor| minor.parse().ok());
        minor.unwrap_or(checks::LATEST).min(checks::LATEST)
    }

    /// What is wrong with a pod by this policy, as one text.
    fn violation(&self, metadata: &Value, spec: &Value) -> Option<String> {
        let reasons = checks::all(&self.level, self.minor(), metadata, spec);
        let each: Vec<String> =
            reasons.into_iter().map(|(reason, detail)| format!("{reason} ({detail})")).collect();
        let name = format!("{}:{}", self.level, self.version);
        (!each.is_empty()).then(|| format!("violate PodSecurity \"{name}\": {}", each.join(", ")))
    }
}

/// A new object: pods are refused or warned of, what makes pods is warned of, labels of namespaces are checked.
pub(super) fn review_new(turn: &mut Turn<'_>, object: &Object) -> Result<(), Status> {
    match object {
        Object::Namespace(namespace) => labels(&namespace.metadata.labels, &namespace.metadata.name),
        Object::Pod(pod) => review_pod(turn, pod),
        other => {
            warn_of_template(turn, other);
            Ok(())
        }
    }
}

/// A changed object.
pub(super) fn review_changed(turn: &mut Turn<'_>, new: &Object, old: &Object) -> Result<(), Status> {
    match (new, old) {
        (Object::Namespace(new), Object::Namespace(old)) => {
            if new.metadata.labels == old.metadata.labels {
                return Ok(());
            }
            labels(&new.metadata.labels, &new.metadata.name)?;
            let policy = Policy::of(&new.metadata.labels, "enforce");
            if policy != Policy::of(&old.metadata.labels, "enforce") {
                warn_of_pods(turn, &policy, &new.metadata.name);
            }
            Ok(())
        }
        (Object::Pod(new), Object::Pod(old)) if images(new) != images(old) => review_pod(turn, new),
        (Object::Pod(_), Object::Pod(_)) => Ok(()),
        (new, old) if new.meta().generation != old.meta().generation => {
            warn_of_template(turn, new);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn images(pod: &Pod) -> Vec<&str> {
    pod.spec.containers.iter().chain(&pod.spec.init_containers).map(|c| c.image.as_str()).collect()
}

/// The labels of a namespace, if it says anything about pods.
fn policies(turn: &Turn<'_>, namespace: &str) -> Option<Labels> {
    let key = Key::new(Kind::Namespace, "", namespace);
    let labels = &turn.store.get(&key)?.meta().labels;
    labels.keys().any(|name| name.starts_with(PREFIX)).then(|| labels.clone())
}

fn review_pod(turn: &mut Turn<'_>, pod: &Pod) -> Result<(), Status> {
    let Some(labels) = policies(turn, &pod.metadata.namespace) else { return Ok(()) };
    let json = |part: Result<Value, serde_json::Error>| part.unwrap_or_default();
    let (metadata, spec) = (json(serde_json::to_value(&pod.metadata)), json(serde_json::to_value(&pod.spec)));
    if let Some(why) = Policy::of(&labels, "enforce").violation(&metadata, &spec) {
        let why = why.replacen("violate ", "violates ", 1);
        return Err(Status::forbidden(Kind::Pod, super::name_or_start(&pod.metadata), &why));
    }
    if let Some(why) = Policy::of(&labels, "warn").violation(&metadata, &spec) {
        turn.warnings.push(format!("would {why}"));
    }
    Ok(())
}

/// What makes pods is stored, and its pods will be refused later.
fn warn_of_template(turn: &mut Turn<'_>, object: &Object) {
    let at = match object.kind().own_name() {
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job" | "ReplicationController" => {
            "/spec/template"
        }
        "CronJob" => "/spec/jobTemplate/spec/template",
        "PodTemplate" => "/template",
        _ => return,
    };
    let Some(labels) = policies(turn, &object.meta().namespace) else { return };
    let whole = object.to_value();
    let Some(template) = whole.pointer(at) else { return };
    if let Some(why) = Policy::of(&labels, "warn").violation(&template["metadata"], &template["spec"]) {
        turn.warnings.push(format!("would {why}"));
    }
}

/// A stricter level says which pods are there already that it would refuse.
fn warn_of_pods(turn: &mut Turn<'_>, policy: &Policy, namespace: &str) {
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut order: Vec<String> = vec![];
    for pod in turn.store.list(Kind::Pod, Some(namespace)) {
        let whole = pod.to_value();
        // Here only the reasons are named, not the containers.
        let reasons =
            checks::reasons(&policy.level, policy.minor(), &whole["metadata"], &whole["spec"]).join(", ");
        if !reasons.is_empty() {
            if !by_reason.contains_key(&reasons) {
                order.push(reasons.clone());
            }
            by_reason.entry(reasons).or_default().push(pod.meta().name.to_string());
        }
    }
    if order.is_empty() {
        return;
    }
    let name = format!("{}:{}", policy.level, policy.version);
    turn.warnings.push(format!(
        "existing pods in namespace \"{namespace}\" violate the new PodSecurity enforce level \"{name}\""
    ));
    for reasons in order {
        let Some(pods) = by_reason.get(&reasons) else { continue };
        let first = pods.first().cloned().unwrap_or_default();
        let more = match pods.len() {
            1 => String::new(),
            2 => " (and 1 other pod)".to_owned(),
            n => format!(" (and {} other pods)", n - 1),
        };
        turn.warnings.push(format!("{first}{more}: {reasons}"));
    }
}

/// Labels that name no level or no version.
fn labels(labels: &Labels, namespace: &str) -> Result<(), Status> {
    let mut causes = vec![];
    let mut wrong = |name: String, value: &str, why: &str| {
        causes.push(Cause {
            reason: "FieldValueInvalid".into(),
            message: format!("Invalid value: {}: {why}", kubestep_model::text::go::quote(value)),
            field: format!("metadata.labels[{PREFIX}{name}]"),
        });
    };
    for mode in ["enforce", "audit", "warn"] {
        if let Some(level) = labels.get(&format!("{PREFIX}{mode}"))
            && !LEVELS.contains(&level.as_str())
        {
            wrong(mode.to_owned(), level, "must be one of privileged, baseline, restricted");
        }
        if let Some(version) = labels.get(&format!("{PREFIX}{mode}-version"))
            && !is_version(version)
        {
            wrong(format!("{mode}-version"), version, "must be \"latest\" or \"v1.x\"");
        }
    }
    if causes.is_empty() { Ok(()) } else { Err(Status::invalid(Kind::Namespace, namespace, causes)) }
}

fn is_version(text: &str) -> bool {
    let minor = text.strip_prefix("v1.").unwrap_or_default();
    text == "latest" || (!minor.is_empty() && minor.chars().all(|c| c.is_ascii_digit()))
}
