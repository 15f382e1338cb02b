//! The functions of this module in the shape of the recorded vectors: JSON in, JSON out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::{Time, cron::Schedule};

use super::{
    Backoff, FieldSelector, IntOrString, LabelSelector, Quantity, Selector, backoff, duration, hash, names,
    random_name,
};

/// Runs the function that a vector is named after; None where no such function is here.
///
/// An input of another shape counts as one with empty or absent fields.
pub fn run(name: &str, input: &Value) -> Option<Value> {
    if let Some(check) = name_check(name) {
        return Some(json!({ "messages": check(text(input, "text")) }));
    }
    Some(match name {
        "int-or-percent" => int_or_percent(input),
        "label-selector-object" => label_selector_object(input),
        "label-selector-text" => label_selector_text(input),
        "field-selector-text" => field_selector_text(input),
        "quantity-parse" => quantity_parse(input),
        "quantity-from-json" => quantity_from_json(input),
        "quantity-arithmetic" => quantity_arithmetic(input),
        "validate-labels" => {
            let labels = string_map(&input["labels"]);
            json!({ "errors": names::validate_labels(&labels, "metadata.labels") })
        }
        "pod-template-hash" => {
            let template = &input["defaulted"];
            let collisions = input["collisionCount"].as_i64().map(|count| count as i32);
            json!({
                "hash": hash::pod_template_hash(template, collisions),
                "text": hash::pod_template_text(template),
            })
        }
        "human-duration" => {
            let span = input["ms"].as_i64().unwrap_or_default().wrapping_mul(1_000_000);
            json!({
                "human": duration::human_duration(span),
                "short": duration::short_human_duration(span),
            })
        }
        "safe-encode-string" => json!({ "encoded": random_name::safe_encode_string(text(input, "text")) }),
        "cron-next" => cron_next(input),
        "generate-name" => generate_name(input),
        "crash-loop-backoff" => crash_loop_backoff(input),
        "image-pull-backoff" => image_pull_backoff(input),
        _ => return None,
    })
}

/// The next five times of a schedule.
fn cron_next(input: &Value) -> Value {
    let schedule = match Schedule::of(text(input, "schedule"), input["zone"].as_str()) {
        Ok(schedule) => schedule,
        Err(error) => return json!({ "error": error }),
    };
    let mut next = Time::parse(text(input, "from"));
    let times = std::iter::from_fn(|| {
        next = next.and_then(|last| schedule.next(last));
        next
    });
    json!({ "next": times.take(5).collect::<Vec<Time>>() })
}

fn name_check(name: &str) -> Option<fn(&str) -> Vec<String>> {
    Some(match name {
        "name-config-map-key" => names::is_config_map_key,
        "name-dns1035-label" => names::is_dns1035_label,
        "name-dns1123-label" => names::is_dns1123_label,
        "name-dns1123-subdomain" => names::is_dns1123_subdomain,
        "name-env-var" => names::is_env_var_name,
        "name-label-value" => names::is_valid_label_value,
        "name-percent" => names::is_valid_percent,
        "name-port" => names::is_valid_port_name,
        "name-qualified" => names::is_qualified_name,
        "name-relaxed-env-var" => names::is_relaxed_env_var_name,
        "name-wildcard-subdomain" => names::is_wildcard_dns1123_subdomain,
        _ => return None,
    })
}

fn text<'a>(input: &'a Value, field: &str) -> &'a str {
    input[field].as_str().unwrap_or_default()
}

fn string_map(value: &Value) -> BTreeMap<String, String> {
    let entry =
        |(key, value): (&String, &Value)| (key.clone(), value.as_str().unwrap_or_default().to_owned());
    value.as_object().map(|map| map.iter().map(entry).collect()).unwrap_or_default()
}

/// The positions of the maps that a test accepts.
fn matching(list: &Value, test: impl Fn(&BTreeMap<String, String>) -> bool) -> Vec<usize> {
    let maps = list.as_array().map(Vec::as_slice).unwrap_or_default();
    (0..maps.len()).filter(|i| test(&string_map(&maps[*i]))).collect()
}

fn int_or_percent(input: &Value) -> Value {
    let value: IntOrString = match serde_json::from_value(input["value"].clone()) {
        Ok(value) => value,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    let total = input["total"].as_i64().unwrap_or_default();
    match value.scaled_value(total, input["roundUp"].as_bool().unwrap_or_default()) {
        Ok(scaled) => json!({ "scaled": scaled }),
        Err(error) => json!({ "error": error }),
    }
}

fn label_selector_object(input: &Value) -> Value {
    let read: Result<Option<LabelSelector>, _> = serde_json::from_value(input["selector"].clone());
    let object = match read {
        Ok(object) => object,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    let format = object.as_ref().map_or_else(|| "<none>".to_owned(), LabelSelector::format);
    let selector = object.map_or_else(|| Ok(Selector::nothing()), |object| object.to_selector());
    match selector {
        Ok(selector) => json!({
            "canonical": selector.to_string(),
            "format": format,
            "matches": matching(&input["labels"], |labels| selector.matches(labels)),
        }),
        Err(error) => json!({ "error": error, "format": format }),
    }
}

fn label_selector_text(input: &Value) -> Value {
    match Selector::parse(text(input, "selector")) {
        Ok(selector) => json!({
            "canonical": selector.to_string(),
            "empty": selector.is_empty(),
            "matches": matching(&input["labels"], |labels| selector.matches(labels)),
        }),
        Err(error) => json!({ "error": error }),
    }
}

fn field_selector_text(input: &Value) -> Value {
    match FieldSelector::parse(text(input, "selector")) {
        Ok(selector) => json!({
            "canonical": selector.to_string(),
            "matches": matching(&input["fields"], |fields| selector.matches(fields)),
        }),
        Err(error) => json!({ "error": error }),
    }
}

fn quantity_parse(input: &Value) -> Value {
    let text = text(input, "text");
    let quantity = match Quantity::parse(text) {
        Ok(quantity) => quantity,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    let canonical = Quantity::from_json_text(&format!("\"{text}\"")).map(|read| read.to_string());
    json!({
        "asInt64": quantity.as_int64().map(|value| value.to_string()),
        "canonical": canonical.unwrap_or_default(),
        "format": quantity.format().name(),
        "milliValue": quantity.milli_value().to_string(),
        "sign": quantity.sign(),
        "string": quantity.to_string(),
        "value": quantity.value().to_string(),
        "zero": quantity.is_zero(),
    })
}

fn quantity_from_json(input: &Value) -> Value {
    let raw = text(input, "raw");
    if let Err(error) = super::go_json::check(raw) {
        return json!({ "error": error });
    }
    match Quantity::from_json_text(raw.trim_matches([' ', '\t', '\r', '\n'])) {
        Ok(quantity) => json!({ "canonical": format!("\"{quantity}\"") }),
        Err(error) => json!({ "error": error.to_string() }),
    }
}

fn quantity_arithmetic(input: &Value) -> Value {
    let (a, b) = match (Quantity::parse(text(input, "a")), Quantity::parse(text(input, "b"))) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(error), _) | (_, Err(error)) => return json!({ "error": error.to_string() }),
    };
    let (round_milli, exact_milli) = a.round_up(-3);
    let (round_unit, exact_unit) = a.round_up(0);
    let mut out = Map::new();
    out.insert("sum".to_owned(), json!(a.add(&b)));
    out.insert("difference".to_owned(), json!(a.sub(&b)));
    out.insert("cmp".to_owned(), json!(a.cmp(&b) as i8));
    out.insert("negative".to_owned(), json!(a.neg()));
    out.insert("roundMilli".to_owned(), json!(round_milli));
    out.insert("exactMilli".to_owned(), json!(exact_milli));
    out.insert("roundUnit".to_owned(), json!(round_unit));
    out.insert("exactUnit".to_owned(), json!(exact_unit));
    Value::Object(out)
}

/// The letters are those that the ends of all possible draws use.
fn generate_name(input: &Value) -> Value {
    let base = text(input, "generateName");
    let kept = random_name::kept(base);
    let name = |number| random_name::generate_name(base, &mut |bound| number % bound);
    let letters: BTreeSet<char> =
        (0..27).flat_map(|number| name(number)[kept.len()..].chars().collect::<Vec<_>>()).collect();
    json!({
        "alphabet": letters.into_iter().collect::<String>(),
        "kept": kept,
        "random": name(0).len() - kept.len(),
    })
}

const SECOND: i64 = 1_000_000_000;

fn seconds(list: &Value) -> Vec<i64> {
    let nanos = |value: &Value| value.as_i64().unwrap_or_default().saturating_mul(SECOND);
    list.as_array().map(|list| list.iter().map(nanos).collect()).unwrap_or_default()
}

fn crash_loop_backoff(input: &Value) -> Value {
    let mut backoff = Backoff::default();
    let (mut now, mut waits) = (0_i64, Vec::new());
    for run in seconds(&input["runs"]) {
        let finished = now.saturating_add(run);
        let wait = backoff::restart_delay(&backoff, "container", finished);
        now = finished.saturating_add(wait);
        backoff::may_restart(&mut backoff, "container", finished, now);
        waits.push(wait / SECOND);
    }
    json!({ "waits": waits })
}

fn image_pull_backoff(input: &Value) -> Value {
    let mut backoff = Backoff::default();
    let (mut tries, mut delays) = (Vec::new(), Vec::new());
    for visit in seconds(&input["visits"]) {
        if backoff::may_pull(&backoff, "image", visit) {
            backoff.next("image", visit, visit);
            tries.push(visit / SECOND);
        }
        delays.push(backoff.get("image") / SECOND);
    }
    json!({ "backoff": delays, "tries": tries })
}

#[cfg(test)]
mod tests;
