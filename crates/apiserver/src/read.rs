//! Get and list.

use crate::{store::Store, turn::Turn};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    Answer, Key, Kind, Object, Reply, Status, Subresource,
    text::{FieldSelector, Selector},
};
use std::collections::BTreeMap;

/// GET of one object or of its scale.
pub(crate) fn get(turn: &mut Turn<'_>, key: &Key, subresource: Subresource) -> Reply {
    let object = turn.find(key)?;
    match subresource {
        Subresource::Status if !turn.has_status(key.kind) => Err(crate::refuse::no_status(turn, key)),
        Subresource::Approval if key.kind != crate::strategy::SIGNING_REQUEST => {
            Err(Status::no_such_resource())
        }
        Subresource::None | Subresource::Status | Subresource::Approval => Ok(turn.show(object)),
        Subresource::Scale => crate::scale::get(turn, &object),
        Subresource::Binding | Subresource::Eviction | Subresource::Token | Subresource::Finalize => {
            Err(Status::method_not_allowed())
        }
    }
}

/// LIST, filtered by labels and fields; whole and new, if nothing else is asked for.
pub(crate) fn list(
    turn: &Turn<'_>,
    kind: Kind,
    namespace: Option<&str>,
    labels: Option<&Selector>,
    fields: Option<&FieldSelector>,
) -> Reply {
    if let Some(options) = &turn.list {
        return crate::chunk::list(turn, kind, namespace, labels, fields, options);
    }
    let items = select(turn, kind, namespace, labels, fields)?;
    Ok(Answer::List { items, revision: turn.store.revision() })
}

/// The objects that a list or a deletecollection is about.
pub(crate) fn select(
    turn: &Turn<'_>,
    kind: Kind,
    namespace: Option<&str>,
    labels: Option<&Selector>,
    fields: Option<&FieldSelector>,
) -> Result<Vec<Object>, Status> {
    check_fields(turn, kind, fields)?;
    let all = in_order(&turn.store, kind, namespace);
    Ok(all.into_iter().filter(|object| fits(turn, object, labels, fields)).cloned().collect())
}

/// The objects of a kind in the order of their keys in etcd, where a namespace ends in a slash: those of `a-b` come
/// before those of `a`.
pub(crate) fn in_order<'a>(store: &'a Store, kind: Kind, namespace: Option<&str>) -> Vec<&'a Object> {
    let mut all: Vec<&Object> = store.list(kind, namespace).collect();
    let path = |object: &'a Object| {
        let meta = object.meta();
        meta.namespace.bytes().chain([b'/']).chain(meta.name.bytes())
    };
    // Those of one namespace are in order already.
    let follows =
        |a: &&'a Object, b: &&'a Object| a.meta().namespace == b.meta().namespace || path(*a).le(path(*b));
    if namespace.is_none() && !all.is_sorted_by(follows) {
        all.arrange_by(|a, b| path(a).cmp(path(b)));
    }
    all
}

/// Whether a kind knows the fields that a selector names.
pub(crate) fn check_fields(
    turn: &Turn<'_>,
    kind: Kind,
    fields: Option<&FieldSelector>,
) -> Result<(), Status> {
    if let Some(fields) = fields {
        for (field, _, _) in fields.terms() {
            let defined = turn.spoken.as_ref().is_some_and(|s| s.selectable().contains(&field));
            let asked = turn.version.filter(|v| v.is_newer_event()).unwrap_or(kind);
            let mut known = known_fields(asked).chain(general(asked));
            if !defined && !known.any(|known| known == field) {
                return Err(Status::bad_request(unknown_field(asked, field)));
            }
        }
    }
    Ok(())
}

/// The fields that most kinds have. Those with a choice of their own leave out the namespace if they have none.
fn general(kind: Kind) -> impl Iterator<Item = &'static str> {
    let fields: &'static [&'static str] = match kind {
        Kind::Node | Kind::Namespace => &["metadata.name"],
        Kind::Other(_) => match kind.own_name() {
            "CertificateSigningRequest"
            | "ClusterTrustBundle"
            | "PodCertificateRequest"
            | "ResourceSlice" => &["metadata.name"],
            _ => &["metadata.name", "metadata.namespace"],
        },
        _ => &["metadata.name", "metadata.namespace"],
    };
    fields.iter().copied()
}

/// A field that a kind does not know, in the words of its group.
///
/// Upstream: pkg/apis/*/v1/conversion.go, and apimachinery/pkg/runtime, DefaultMetaV1FieldSelectorConversion (v1.37).
fn unknown_field(kind: Kind, field: &str) -> String {
    let own = known_fields(kind).next().is_some();
    match kind.own_name() {
        "Job" => format!("field label \"{field}\" not supported for Job"),
        "ResourceSlice" => {
            format!("field label not supported for {}, Kind={}: {field}", kind.api_version(), kind.name())
        }
        _ if own || kind.is_defined() => format!("field label not supported: {field}"),
        _ => {
            format!(
                "\"{field}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            )
        }
    }
}

/// Whether an object has these labels and fields.
pub(crate) fn fits(
    turn: &Turn<'_>,
    object: &Object,
    labels: Option<&Selector>,
    fields: Option<&FieldSelector>,
) -> bool {
    labels.is_none_or(|l| l.matches(&object.meta().labels))
        && fields.is_none_or(|f| fits_fields(turn, object, f))
}

fn fits_fields(turn: &Turn<'_>, object: &Object, fields: &FieldSelector) -> bool {
    for (field, equal, wanted) in fields.terms() {
        match at_hand(object, field) {
            Some(found) if (found == wanted) == equal => {}
            Some(_) => return false,
            None => return fields.matches(&fields_of(turn, object)),
        }
    }
    true
}

/// The fields that a field selector of a kind may name, besides name and namespace.
///
/// Upstream: AddFieldLabelConversionFunc of each group (v1.37).
fn known_fields(kind: Kind) -> impl Iterator<Item = &'static str> {
    let fields: &'static [&'static str] = match kind {
        Kind::Pod => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        Kind::Node => &["spec.unschedulable"],
        Kind::Namespace => &["status.phase"],
        Kind::Secret => &["type"],
        Kind::Service => &["spec.clusterIP", "spec.type"],
        Kind::Other(_) if kind.is_newer_event() => &NEWER_EVENT,
        Kind::Event => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        Kind::Other(_) => match kind.own_name() {
            "Job" => &["status.successful"],
            "ReplicationController" => &["status.replicas"],
            "CertificateSigningRequest" | "ClusterTrustBundle" => &["spec.signerName"],
            "PodCertificateRequest" => &["spec.signerName", "spec.podName", "spec.nodeName"],
            "ResourceSlice" => &["spec.nodeName", "spec.driver", "spec.pool.name"],
            _ => &[],
        },
        _ => &[],
    };
    fields.iter().copied()
}

/// The fields of an event in the newer group.
const NEWER_EVENT: [&str; 10] = [
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reportingController",
    "reason",
    "type",
];

/// The values of those fields.
fn fields_of(turn: &Turn<'_>, object: &Object) -> BTreeMap<String, String> {
    let meta = object.meta();
    let mut fields = BTreeMap::from([
        ("metadata.name".to_owned(), meta.name.to_string()),
        ("metadata.namespace".to_owned(), meta.namespace.to_string()),
    ]);
    let value = object.to_value();
    for field in known_fields(object.kind()) {
        fields.insert(field.to_owned(), field_text(&value, field));
    }
    if turn.version.is_some_and(Kind::is_newer_event) {
        for field in NEWER_EVENT {
            let core = field.replacen("regarding", "involvedObject", 1);
            let core = if field == "reportingController" { "reportingComponent" } else { &core };
            fields.insert(field.to_owned(), field_text(&value, core));
        }
    }
    for field in turn.spoken.as_ref().map(|s| s.selectable()).unwrap_or_default() {
        fields.insert(field.to_owned(), field_text(&value, field));
    }
    fields
}

/// A field that can be had without writing the whole object down.
fn at_hand<'o>(object: &'o Object, field: &str) -> Option<&'o str> {
    Some(match (object, field) {
        (_, "metadata.name") => &object.meta().name,
        (_, "metadata.namespace") => &object.meta().namespace,
        (Object::Pod(pod), "spec.nodeName") => &pod.spec.node_name,
        (Object::Pod(pod), "status.phase") => &pod.status.phase,
        (Object::Event(event), "involvedObject.name") => &event.involved_object.name,
        (Object::Event(event), "involvedObject.namespace") => &event.involved_object.namespace,
        (Object::Event(event), "involvedObject.kind") => &event.involved_object.kind,
        (Object::Event(event), "involvedObject.uid") => &event.involved_object.uid,
        _ => return None,
    })
}

fn field_text(object: &serde_json::Value, field: &str) -> String {
    let path = match field {
        // A node or pod without the field counts as `false`; an event's source is its component.
        "source" => "source.component",
        other => other,
    };
    let value = path.split('.').fold(object, |value, step| &value[step]);
    match value {
        serde_json::Value::Null if matches!(field, "spec.unschedulable" | "spec.hostNetwork") => {
            "false".into()
        }
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
