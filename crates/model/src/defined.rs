//! Kinds that people define: what a CustomResourceDefinition says, read from the stored object.
//!
//! Upstream: apiextensions-apiserver, pkg/apis/apiextensions/v1 and pkg/apiserver/customresource_discovery_controller.go
//! (v1.37).

use crate::{Custom, Key, Kind, Object, arrange::Arrange};
use serde_json::{Map, Value};
use std::cmp::Reverse;

/// The kind of the definitions themselves.
pub const DEFINITION: Kind = Kind::other("apiextensions.k8s.io", "CustomResourceDefinition");

/// What a field that is not there reads as.
static NOTHING: Value = Value::Null;

/// A definition.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'a> {
    rest: &'a Map<String, Value>,
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

impl<'a> Definition<'a> {
    /// An object as a definition, if it is one.
    #[must_use]
    pub fn of(object: &'a Object) -> Option<Self> {
        match object {
            Object::Custom(custom) if custom.kind == DEFINITION => Some(Definition { rest: &custom.rest }),
            _ => None,
        }
    }

    /// As [`Definition::of`], for an object that is known to be one.
    #[must_use]
    pub fn of_custom(custom: &'a Custom) -> Self {
        Definition { rest: &custom.rest }
    }

    /// What is wanted.
    #[must_use]
    pub fn spec(self) -> &'a Value {
        self.rest.get("spec").unwrap_or(&NOTHING)
    }

    /// What has come of it.
    #[must_use]
    pub fn status(self) -> &'a Value {
        self.rest.get("status").unwrap_or(&NOTHING)
    }

    /// The names under which it is served: plural, singular, kind, listKind, shortNames, categories.
    #[must_use]
    pub fn names(self) -> &'a Value {
        &self.status()["acceptedNames"]
    }

    /// Its short names or its categories, as they are served.
    #[must_use]
    pub fn list_of_names(self, which: &str) -> Vec<&'a str> {
        list(&self.names()[which]).iter().map(text).collect()
    }

    /// Whether its objects live in namespaces.
    #[must_use]
    pub fn namespaced(self) -> bool {
        self.spec()["scope"] == "Namespaced"
    }

    /// Whether a condition of the definition holds.
    #[must_use]
    pub fn is(self, condition: &str) -> bool {
        let conditions = list(&self.status()["conditions"]);
        conditions.iter().any(|c| c["type"] == condition && c["status"] == "True")
    }

    /// All versions.
    #[must_use]
    pub fn versions(self) -> &'a [Value] {
        list(&self.spec()["versions"])
    }

    /// A version by its name, if it is served.
    #[must_use]
    pub fn version(self, name: &str) -> Option<&'a Value> {
        self.versions().iter().find(|v| v["name"] == name && v["served"] == true)
    }

    /// The kind in one of the versions.
    #[must_use]
    pub fn kind_in(self, version: &str) -> Kind {
        let spec = self.spec();
        let names = &spec["names"];
        Kind::defined(
            text(&spec["group"]),
            version,
            text(&names["kind"]),
            text(&names["plural"]),
            self.namespaced(),
        )
    }

    /// The kind under which its objects are kept, whatever version they are asked for in: that of the version which
    /// was stored first.
    #[must_use]
    pub fn stored_kind(self) -> Kind {
        let first = list(&self.status()["storedVersions"]).first().map(text);
        let storage = || self.versions().iter().find(|v| v["storage"] == true).map(|v| text(&v["name"]));
        self.kind_in(first.or_else(storage).unwrap_or_default())
    }

    /// The kinds that are served, the preferred version first; none before the names are accepted.
    #[must_use]
    pub fn served(self) -> Vec<Kind> {
        if !self.is("Established") {
            return vec![];
        }
        let mut names: Vec<&str> =
            self.versions().iter().filter(|v| v["served"] == true).map(|v| text(&v["name"])).collect();
        names.arrange_by_key(|name| Reverse(priority(*name)));
        names.into_iter().map(|name| self.kind_in(name)).collect()
    }
}

/// The order of versions: `v10` before `v2`, before `v1beta2`, before `v1alpha1`, before all other names by the alphabet.
///
/// Upstream: apimachinery/pkg/version, CompareKubeAwareVersionStrings (v1.37).
fn priority(version: &str) -> (u8, u64, u64, Reverse<&str>) {
    let other = (0, 0, 0, Reverse(version));
    let Some(rest) = version.strip_prefix('v') else { return other };
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (major, rest) = rest.split_at(digits);
    let Ok(major) = major.parse::<u64>() else { return other };
    let (sort, minor) = match (rest, rest.strip_prefix("beta"), rest.strip_prefix("alpha")) {
        ("", ..) => (3, Ok(0)),
        (_, Some(minor), _) => (2, minor.parse()),
        (_, _, Some(minor)) => (1, minor.parse()),
        _ => return other,
    };
    match minor {
        Ok(minor) => (sort, major, minor, Reverse("")),
        Err(_) => other,
    }
}

/// The key of the definition of a kind.
#[must_use]
pub fn definition_key(kind: Kind) -> Key {
    Key::new(DEFINITION, "", kind.qualified())
}

/// The kind that an `apiVersion` and a `kind` name, among those that definitions add.
#[must_use]
pub fn of_manifest<'a>(
    definitions: impl IntoIterator<Item = &'a Object>,
    api_version: &str,
    kind: &str,
) -> Option<Kind> {
    let (group, version) = api_version.split_once('/')?;
    let fits = |d: &Definition<'_>| d.spec()["group"] == group && d.spec()["names"]["kind"] == kind;
    let found = definitions.into_iter().filter_map(Definition::of).filter(fits);
    found.flat_map(Definition::served).find(|k| k.version() == version)
}

/// The schema of a kind's objects in its version, from its definition.
#[must_use]
pub fn schema_of(definition: Definition<'_>, kind: Kind) -> &Value {
    definition.version(kind.version()).map_or(&NOTHING, |v| &v["schema"]["openAPIV3Schema"])
}

/// The schema below lists and maps.
#[must_use]
pub fn inner_schema(schema: &Value) -> &Value {
    let mut at = schema;
    for _ in 0..16 {
        at = match (at["items"].is_object(), at["additionalProperties"].is_object()) {
            (true, _) => &at["items"],
            (_, true) => &at["additionalProperties"],
            _ => break,
        };
    }
    at
}

/// Whether a schema requires a field.
#[must_use]
pub fn is_required(schema: &Value, name: &str) -> bool {
    list(&schema["required"]).iter().any(|r| r == name)
}

/// What a schema holds, as `kubectl explain` says it: `[]Object`, `map[string]string`, `integer`.
#[must_use]
pub fn schema_type(schema: &Value) -> String {
    let (mut at, mut before) = (schema, String::new());
    for _ in 0..16 {
        if at["items"].is_object() {
            before += "[]";
            at = &at["items"];
        } else if at["additionalProperties"].is_object() {
            before += "map[string]";
            at = &at["additionalProperties"];
        } else {
            break;
        }
    }
    match at["type"].as_str() {
        Some("object") | None => before + "Object",
        Some(plain) => before + plain,
    }
}

/// The columns of a version, as `kubectl get` shows them behind the name; without any, the age.
#[must_use]
pub fn columns(definition: Definition<'_>, version: &str) -> Vec<Value> {
    let own = definition.version(version).map(|v| list(&v["additionalPrinterColumns"])).unwrap_or_default();
    if own.is_empty() {
        let age =
            serde_json::json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"});
        return vec![age];
    }
    own.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn kinds_are_found_by_what_they_say() {
        let one = Kind::defined("example.com", "v1", "Widget", "widgets", true);
        let same = Kind::defined("example.com", "v1", "Widget", "widgets", true);
        let other = Kind::defined("example.com", "v2", "Widget", "widgets", true);
        assert_eq!(one, same);
        assert_ne!(one, other);
        assert!(one.is_defined() && !Kind::Pod.is_defined() && !DEFINITION.is_defined());
        assert_eq!((one.singular(), one.qualified().as_str()), ("widget", "widgets.example.com"));
        let job = Kind::defined("example.com", "v1", "Job", "jobs", true);
        assert_eq!((job.name(), job.own_name()), ("Job", ""));
    }

    #[test]
    fn the_preferred_version_comes_first() {
        let version = |name: &str| json!({"name": name, "served": name != "v9", "storage": name == "v1"});
        let names = ["v1alpha1", "foo1", "v1", "v9", "v1beta2", "v2", "v1beta10", "v10"];
        let object = Object::from_value(
            DEFINITION,
            json!({
                "metadata": {"name": "widgets.example.com"},
                "spec": {"group": "example.com", "scope": "Namespaced", "versions": names.map(version),
                    "names": {"kind": "Widget", "plural": "widgets"}},
                "status": {"storedVersions": ["v1"], "conditions": [{"type": "Established", "status": "True"}]},
            }),
        )
        .expect("an object");
        let definition = Definition::of(&object).expect("a definition");
        let served: Vec<&str> = definition.served().into_iter().map(Kind::version).collect();
        assert_eq!(served, ["v10", "v2", "v1", "v1beta10", "v1beta2", "v1alpha1", "foo1"]);
        assert_eq!(definition.stored_kind().version(), "v1");
        let found = of_manifest([&object], "example.com/v2", "Widget").expect("it is served");
        assert_eq!(definition_key(found), object.key());
        assert_eq!(of_manifest([&object], "example.com/v9", "Widget"), None);
    }
}
