//! CustomResourceDefinition: names, versions, columns, subresources.
//!
//! Upstream: apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go (v1.37). What all versions say alike
//! is checked once and named as upstream's internal form names it: `spec.validation`, `spec.subresources`,
//! `spec.additionalPrinterColumns`, `spec.selectableFields`.

use super::{
    definition_internal, definition_schema, definition_structure,
    field::{Errors, flag, given, items, same, text},
};
use kubestep_model::text::names;
use serde_json::{Value, json};

const COLUMN_TYPES: &str = "boolean,date,integer,number,string";
const COLUMN_FORMATS: &str = "byte,date,date-time,double,float,int32,int64,password";
const MOST_SELECTABLE: usize = 8;

/// Checks a definition.
pub(super) fn check(whole: &Value) -> Errors {
    let (mut errors, spec, status) = (Errors::new(), &whole["spec"], &whole["status"]);
    check_name(&mut errors, whole);
    check_spec(&mut errors, spec);
    check_names(&mut errors, &status["acceptedNames"], "status.acceptedNames");
    check_stored(&mut errors, items(&status["storedVersions"]), items(&spec["versions"]));
    check_group_approval(&mut errors, whole);
    if flag(&spec["preserveUnknownFields"]) {
        let why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        errors.invalid("spec.preserveUnknownFields", "true", why);
    }
    errors
}

/// What may not change any more.
pub(super) fn changed(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let (spec, before) = (&new["spec"], &old["spec"]);
    let mut keep = |field: &str, new: &Value, old: &Value| {
        errors.immutable(field, new, old, &crate::defined::shown(new));
    };
    let established = items(&old["status"]["conditions"])
        .iter()
        .any(|c| c["type"] == "Established" && c["status"] == "True");
    if established {
        keep("spec.scope", &spec["scope"], &before["scope"]);
        keep("spec.names.kind", &spec["names"]["kind"], &before["names"]["kind"]);
    }
    keep("spec.group", &spec["group"], &before["group"]);
    keep("spec.names.plural", &spec["names"]["plural"], &before["names"]["plural"]);
    errors
}

fn check_name(errors: &mut Errors, whole: &Value) {
    let name = text(&whole["metadata"]["name"]);
    let spec = &whole["spec"];
    if name != format!("{}.{}", text(&spec["names"]["plural"]), text(&spec["group"])) {
        errors.invalid_text("metadata.name", name, "must be spec.names.plural+\".\"+spec.group");
    }
}

fn check_spec(errors: &mut Errors, spec: &Value) {
    let group = text(&spec["group"]);
    let wrong = names::is_dns1123_subdomain(group);
    if group.is_empty() {
        errors.required("spec.group", "");
    } else if !wrong.is_empty() {
        errors.invalid_text("spec.group", group, &wrong.join(","));
    } else if !group.contains('.') {
        errors.invalid_text("spec.group", group, "should be a domain with at least one dot");
    }
    match text(&spec["scope"]) {
        "" => errors.required("spec.scope", ""),
        "Cluster" | "Namespaced" => {}
        other => errors.not_supported_text("spec.scope", other, &["Cluster", "Namespaced"]),
    }
    check_versions(errors, spec);
    for field in ["plural", "singular", "kind", "listKind"] {
        if text(&spec["names"][field]).is_empty() {
            errors.required(&format!("spec.names.{field}"), "");
        }
    }
    check_names(errors, &spec["names"], "spec.names");
    check_shared(errors, spec);
    check_conversion(errors, &spec["conversion"]);
}

/// What all versions say alike: none if they differ, or if they say nothing.
fn alike<'a>(versions: &'a [Value], field: &str) -> Option<&'a Value> {
    let first = &versions.first()?[field];
    versions.iter().all(|v| same(&v[field], first)).then_some(first)
}

fn check_versions(errors: &mut Errors, spec: &Value) {
    let versions = items(&spec["versions"]);
    let shared = alike(versions, "schema");
    for (i, version) in versions.iter().enumerate() {
        if !given(&version["schema"]["openAPIV3Schema"])
            && shared.is_none_or(|s| !given(&s["openAPIV3Schema"]))
        {
            errors.required(&format!("spec.versions[{i}].schema.openAPIV3Schema"), "");
        }
    }
    for (i, version) in versions.iter().enumerate() {
        let (field, name) = (format!("spec.versions[{i}]"), text(&version["name"]));
        let wrong = names::is_dns1035_label(name);
        if !wrong.is_empty() {
            errors.invalid_text(&format!("{field}.name"), name, &wrong.join(","));
        }
        check_deprecation(errors, version, &field);
        if shared.is_none() {
            let status = given(&version["subresources"]["status"]);
            check_schema(errors, &version["schema"], status, &format!("{field}.schema"));
        }
        if alike(versions, "subresources").is_none() {
            check_subresources(errors, &version["subresources"], &format!("{field}.subresources"));
        }
        if alike(versions, "additionalPrinterColumns").is_none() {
            check_columns(errors, version, &format!("{field}.additionalPrinterColumns"));
        }
        if alike(versions, "selectableFields").is_none() {
            check_selectable(errors, version, &format!("{field}.selectableFields"));
        }
    }
    let twice = (1..versions.len()).any(|i| versions[..i].iter().any(|v| v["name"] == versions[i]["name"]));
    if twice {
        errors.invalid("spec.versions", &internal(versions), "must contain unique version names");
    }
    if versions.iter().filter(|v| flag(&v["storage"])).count() != 1 {
        let why = "must have exactly one version marked as storage version";
        errors.invalid("spec.versions", &internal(versions), why);
    }
}

fn internal(versions: &[Value]) -> String {
    definition_internal::versions(versions, |name| alike(versions, name).is_some())
}

fn check_deprecation(errors: &mut Errors, version: &Value, field: &str) {
    let Some(warning) = version["deprecationWarning"].as_str() else { return };
    let field = format!("{field}.deprecationWarning");
    let mut wrong = |why: &str| errors.invalid_text(&field, warning, why);
    if !flag(&version["deprecated"]) {
        wrong("can only be set for deprecated versions");
        return;
    }
    if warning.len() > 256 {
        wrong("must be <= 256 characters long");
    }
    if warning.is_empty() {
        wrong("must not be an empty string");
    }
    if let Some((i, _)) = warning.char_indices().find(|(_, c)| !kubestep_model::text::go::is_print(*c)) {
        wrong(&format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {i}"
        ));
    }
}

/// What is checked once because all versions say it alike.
fn check_shared(errors: &mut Errors, spec: &Value) {
    let versions = items(&spec["versions"]);
    if let Some(schema) = alike(versions, "schema") {
        let status = versions.iter().any(|v| given(&v["subresources"]["status"]));
        check_schema(errors, schema, status, "spec.validation");
    }
    if let Some(subresources) = alike(versions, "subresources") {
        check_subresources(errors, subresources, "spec.subresources");
    }
    if let (Some(_), Some(first)) = (alike(versions, "additionalPrinterColumns"), versions.first()) {
        check_columns(errors, first, "spec.additionalPrinterColumns");
    }
    if let (Some(_), Some(first)) = (alike(versions, "selectableFields"), versions.first()) {
        check_selectable(errors, first, "spec.selectableFields");
    }
}

fn check_schema(errors: &mut Errors, holder: &Value, status: bool, field: &str) {
    let schema = &holder["openAPIV3Schema"];
    if !schema.is_object() {
        return;
    }
    let field = format!("{field}.openAPIV3Schema");
    definition_schema::check_root(errors, schema, status, &field);
    if flag(&schema["nullable"]) {
        errors.forbidden(&format!("{field}.nullable"), "nullable cannot be true at the root");
    }
    // What cannot be read as a structural schema is refused for that alone, below.
    if definition_structure::unreadable(schema, 0).is_none() {
        let mut found = definition_structure::check(schema, &field);
        if found.is_empty() {
            found = definition_structure::defaults(schema, &field);
        }
        errors.append(found);
    }
    definition_schema::check(errors, schema, &field);
}

fn check_names(errors: &mut Errors, found: &Value, field: &str) {
    for name in ["plural", "singular"] {
        let value = text(&found[name]);
        let wrong = names::is_dns1035_label(value);
        if !value.is_empty() && !wrong.is_empty() {
            errors.invalid_text(&format!("{field}.{name}"), value, &wrong.join(","));
        }
    }
    for name in ["kind", "listKind"] {
        let value = text(&found[name]);
        let wrong = names::is_dns1035_label(&value.to_ascii_lowercase());
        if !value.is_empty() && !wrong.is_empty() {
            let why = format!("may have mixed case, but should otherwise match: {}", wrong.join(","));
            errors.invalid_text(&format!("{field}.{name}"), value, &why);
        }
    }
    let mut each = |name: &str| {
        for (i, value) in items(&found[name]).iter().map(text).enumerate() {
            let wrong = names::is_dns1035_label(value);
            if !wrong.is_empty() {
                errors.invalid_text(&format!("{field}.{name}[{i}]"), value, &wrong.join(","));
            }
        }
    };
    each("shortNames");
    let list = text(&found["listKind"]);
    let twice = !list.is_empty() && list == text(&found["kind"]);
    each("categories");
    if twice {
        errors.invalid_text(&format!("{field}.listKind"), list, "kind and listKind may not be the same");
    }
}

fn check_stored(errors: &mut Errors, stored: &[Value], versions: &[Value]) {
    const FIELD: &str = "status.storedVersions";
    let shown = || json!(stored).to_string();
    if stored.is_empty() {
        errors.invalid(FIELD, "null", "must have at least one stored version");
        return;
    }
    for version in versions.iter().filter(|v| flag(&v["storage"]) && !stored.contains(&v["name"])) {
        let why = format!("must have the storage version {}", text(&version["name"]));
        errors.invalid(FIELD, &shown(), &why);
    }
    for (i, name) in stored.iter().enumerate().filter(|(_, s)| !versions.iter().any(|v| v["name"] == **s)) {
        let name = text(name);
        let why = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
        );
        errors.invalid_text(&format!("{FIELD}[{i}]"), name, &why);
    }
}

fn check_columns(errors: &mut Errors, version: &Value, field: &str) {
    let known = |list: &str, word: &str| list.split(',').any(|k| k == word);
    for (i, column) in items(&version["additionalPrinterColumns"]).iter().enumerate() {
        let field = format!("{field}[{i}]");
        if text(&column["name"]).is_empty() {
            errors.required(&format!("{field}.name"), "");
        }
        let (kind, format) = (text(&column["type"]), text(&column["format"]));
        let one_of = |list: &str| format!("must be one of {list}");
        if kind.is_empty() {
            errors.required(&format!("{field}.type"), &one_of(COLUMN_TYPES));
        } else if !known(COLUMN_TYPES, kind) {
            errors.invalid_text(&format!("{field}.type"), kind, &one_of(COLUMN_TYPES));
        }
        if !format.is_empty() && !known(COLUMN_FORMATS, format) {
            errors.invalid_text(&format!("{field}.format"), format, &one_of(COLUMN_FORMATS));
        }
        let path = text(&column["jsonPath"]);
        if path.is_empty() {
            errors.required(&format!("{field}.JSONPath"), "");
        } else {
            simple_path(errors, path, &format!("{field}.JSONPath"));
        }
    }
}

fn simple_path(errors: &mut Errors, path: &str, field: &str) -> bool {
    let good = path.starts_with('.');
    if !good {
        errors.invalid_text(field, path, "must be a simple json path starting with .");
    }
    good
}

fn check_subresources(errors: &mut Errors, subresources: &Value, field: &str) {
    let scale = &subresources["scale"];
    if !scale.is_object() {
        return;
    }
    for (name, below) in [("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")] {
        let (path, field) = (text(&scale[name]), format!("{field}.scale.{name}"));
        if path.is_empty() {
            errors.required(&field, "");
        } else if simple_path(errors, path, &field) && !path.starts_with(&format!("{below}.")) {
            errors.invalid_text(&field, path, &format!("should be a json path under {below}"));
        }
    }
    let (path, field) = (text(&scale["labelSelectorPath"]), format!("{field}.scale.labelSelectorPath"));
    let below = path.starts_with(".spec.") || path.starts_with(".status.");
    if !path.is_empty() && simple_path(errors, path, &field) && !below {
        errors.invalid_text(&field, path, "should be a json path under either .spec or .status");
    }
}

fn check_selectable(errors: &mut Errors, version: &Value, field: &str) {
    let fields = items(&version["selectableFields"]);
    let mut seen: Vec<&str> = vec![];
    for (i, selectable) in fields.iter().enumerate() {
        let (path, field) = (text(&selectable["jsonPath"]), format!("{field}[{i}].jsonPath"));
        if path.is_empty() {
            errors.required(&field, "");
            continue;
        }
        let mut schema = &version["schema"]["openAPIV3Schema"];
        let steps: Vec<&str> = path.trim_start_matches('.').split('.').collect();
        let missing = steps.iter().find(|step| {
            schema = &schema["properties"][**step];
            !schema.is_object() && **step != "metadata"
        });
        if let Some(step) = missing {
            errors.invalid_text(
                &field,
                path,
                &format!("is an invalid path: does not refer to a valid field: {step}"),
            );
            continue;
        }
        if steps.first() == Some(&"metadata") {
            errors.invalid_text(&field, path, "must not point to fields in metadata");
        }
        if !matches!(text(&schema["type"]), "string" | "boolean" | "integer") {
            let why = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
            errors.invalid_text(&field, path, why);
        }
        if seen.contains(&path) {
            errors.duplicate(&field, &kubestep_model::text::go::quote(path));
        } else {
            seen.push(path);
        }
    }
    if seen.len() > MOST_SELECTABLE {
        errors.too_many(field, seen.len(), MOST_SELECTABLE);
    }
}

fn check_conversion(errors: &mut Errors, conversion: &Value) {
    if !conversion.is_object() {
        return;
    }
    const CLIENT: &str = "spec.conversion.webhookClientConfig";
    const REVIEWS: &str = "spec.conversion.conversionReviewVersions";
    let hook = &conversion["webhook"];
    let (client, reviews) = (&hook["clientConfig"], items(&hook["conversionReviewVersions"]));
    match text(&conversion["strategy"]) {
        "" => errors.required("spec.conversion.strategy", ""),
        "Webhook" => {
            if !given(client) {
                errors.required(CLIENT, "required when strategy is set to Webhook");
            } else if given(&client["url"]) == given(&client["service"]) {
                errors.required(CLIENT, "exactly one of url or service is required");
            }
            if reviews.is_empty() {
                errors.required(REVIEWS, "");
            } else if !reviews.iter().any(|r| matches!(text(r), "v1" | "v1beta1")) {
                let shown = json!(reviews).to_string();
                errors.invalid(REVIEWS, &shown, "must include at least one of v1, v1beta1");
            }
            return;
        }
        "None" => {}
        other => errors.not_supported_text("spec.conversion.strategy", other, &["None", "Webhook"]),
    }
    let why = "should not be set when strategy is not set to Webhook";
    if given(client) {
        errors.forbidden(CLIENT, why);
    }
    if !reviews.is_empty() {
        errors.forbidden(REVIEWS, why);
    }
}

/// Groups of Kubernetes' own project need a word of approval.
///
/// Upstream: validateAPIApproval, and pkg/apihelpers, GetAPIApprovalState.
fn check_group_approval(errors: &mut Errors, whole: &Value) {
    const APPROVAL: &str = "api-approved.kubernetes.io";
    let group = text(&whole["spec"]["group"]);
    let protected =
        ["k8s.io", "kubernetes.io"].iter().any(|d| group == *d || group.ends_with(&format!(".{d}")));
    if !protected {
        return;
    }
    let said = text(&whole["metadata"]["annotations"][APPROVAL]);
    let field = format!("metadata.annotations[{APPROVAL}]");
    if said.is_empty() {
        errors.required(
            &field,
            "protected groups must have approval annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111",
        );
    } else if !said.starts_with("unapproved") && !said.starts_with("https://") && !said.starts_with("http://")
    {
        errors.invalid_text(
            &field,
            said,
            "protected groups must have approval annotation \"api-approved.kubernetes.io\" with either a URL or a reason starting with \"unapproved\", see https://github.com/kubernetes/enhancements/pull/1111",
        );
    }
}
