//! Kinds that people define: what their definitions' schemas say about fields.

use crate::{parts::Part, session::Session};
use kubestep_model::{
    Object,
    defined::{self, DEFINITION, Definition, inner_schema, is_required, schema_of, schema_type},
};
use kubestep_protocol::FieldDoc;
use serde_json::Value;

/// Fields are looked for this deep.
const DEEPEST: usize = 64;

/// The schema of an object's kind, if somebody defined it.
pub(super) fn schema<'s>(session: &'s Session, part: &Part<'_>) -> Option<&'s Value> {
    let store = session.world().store();
    let definitions: Vec<&Object> = store.list(DEFINITION, None).collect();
    let kind = defined::of_manifest(definitions.iter().copied(), part.api_version(), part.kind())?;
    let key = defined::definition_key(kind);
    let definition = definitions.into_iter().find(|d| d.key() == key).and_then(Definition::of)?;
    Some(schema_of(definition, kind)).filter(|schema| schema.is_object())
}

/// The names of a path such as `spec.ports[0].size`, without what stands in brackets.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').map(|step| step.split('[').next().unwrap_or(step)).filter(|step| !step.is_empty())
}

/// The fields that could stand where this one stands.
pub(super) fn beside<'s>(schema: &'s Value, path: &str) -> Vec<&'s str> {
    let names: Vec<&str> = names(path).take(DEEPEST).collect();
    let above = names.split_last().map_or(&[][..], |(_, above)| above);
    let holder = above
        .iter()
        .try_fold(inner_schema(schema), |at, name| Some(inner_schema(at["properties"].get(*name)?)));
    let fields = holder.and_then(|holder| holder["properties"].as_object());
    let own = fields.into_iter().flatten().map(|(name, _)| name.as_str());
    let general: &[&str] = if above.is_empty() { &["apiVersion", "kind", "metadata"] } else { &[] };
    own.chain(general.iter().copied()).collect()
}

/// What the schema says about the deepest of these fields that it has: how deep that is, and the words.
pub(super) fn field(schema: &Value, part: &Part<'_>, names: &[&str]) -> Option<(usize, FieldDoc)> {
    let (mut holder, mut found, mut depth) = (inner_schema(schema), None, 0);
    for name in names.iter().take(DEEPEST) {
        let Some(at) = holder["properties"].get(*name) else { break };
        depth += 1;
        found = Some((at, is_required(holder, name)));
        holder = inner_schema(at);
    }
    let (at, required) = found?;
    let doc = FieldDoc {
        path: names[..depth].join("."),
        holds: schema_type(at),
        required,
        default: None,
        text: at["description"].as_str().unwrap_or_default().to_owned(),
        kind: part.kind().into(),
        api_version: part.api_version().into(),
    };
    Some((depth, doc))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_names_what_may_stand_in_a_place() {
        let schema = json!({"properties": {"spec": {"properties": {"ports": {"items": {"properties":
            {"size": {"type": "integer"}}}}}}}});
        assert_eq!(beside(&schema, "spec.ports[0].sze"), ["size"]);
        assert_eq!(beside(&schema, "spce"), ["spec", "apiVersion", "kind", "metadata"]);
        assert!(beside(&schema, "spec.nope.x").is_empty());
    }
}
