//! Reading and writing the fields of a struct.

use std::collections::BTreeMap;

use serde::Serializer;
use serde_json::Value;

use super::wrong_type;
use super::{GoValue, Look, Seen, to_json};

/// Fields that are kept as they were written.
pub(crate) type Rest = BTreeMap<String, Value>;

/// When a field is written.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum When {
    Always,
    /// Always, and as `null` if it is empty.
    OrNull,
    /// If it is not empty: Go's `omitempty`.
    Filled,
}

/// A field that is to be written.
pub(crate) struct Entry<'a> {
    pub(crate) name: &'static str,
    pub(crate) when: When,
    pub(crate) value: &'a dyn GoValue,
}

/// Hands the fields of a struct to someone.
type Fields<'a> = &'a dyn Fn(&mut dyn FnMut(&[Entry<'_>], &Rest));

static NULL: Value = Value::Null;

/// The order of names by their bytes: the place of each.
pub(crate) const fn order<const COUNT: usize>(names: &[&str]) -> [u8; COUNT] {
    let (mut places, mut at) = ([0; COUNT], 0);
    while at < COUNT {
        #[allow(clippy::cast_possible_truncation, reason = "no struct has as many fields")]
        let place = at as u8;
        places[at] = place;
        let mut back = at;
        while back > 0 && before(names[at], names[places[back - 1] as usize]) {
            places[back] = places[back - 1];
            back -= 1;
        }
        places[back] = place;
        at += 1;
    }
    places
}

const fn before(a: &str, b: &str) -> bool {
    let (a, b, mut at) = (a.as_bytes(), b.as_bytes(), 0);
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    a.len() < b.len()
}

/// What is written of a field; none if it is left out.
fn written<'a>(entry: &Entry<'a>) -> Option<&'a dyn Look> {
    match (entry.when, entry.value.is_empty()) {
        (When::Filled, true) => None,
        (When::OrNull, true) => Some(&NULL),
        _ => Some(entry.value),
    }
}

/// Tells what is written of a struct, the names in `order`.
pub(crate) fn look(fields: Fields<'_>, order: &[u8], tell: &mut dyn FnMut(Seen<'_>)) {
    fields(&mut |entries, rest| {
        let mut all: Vec<(&str, &dyn Look)> = Vec::with_capacity(entries.len() + rest.len() + 2);
        let mut rest = rest.iter().peekable();
        for place in order {
            let entry = &entries[usize::from(*place)];
            while let Some((name, value)) = rest.next_if(|(name, _)| name.as_str() < entry.name) {
                all.push((name, value));
            }
            if let Some(value) = written(entry) {
                all.push((entry.name, value));
            }
        }
        for (name, value) in rest {
            all.push((name, value));
        }
        tell(Seen::Map(&all));
    });
}

/// What is written of a struct, in Go's order.
fn pairs(fields: Fields<'_>) -> Vec<(String, Value)> {
    let mut all = vec![];
    fields(&mut |entries, rest| {
        for entry in entries {
            if let Some(value) = written(entry) {
                all.push((entry.name.to_owned(), to_json(value)));
            }
        }
        all.extend(rest.iter().map(|(name, value)| (name.clone(), value.clone())));
    });
    all
}

/// A struct for a serialiser.
pub(crate) fn serialize<S: Serializer>(fields: Fields<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs(fields))
}

/// Reads the fields of a struct; `null` is the empty value, as Go reads it.
pub(crate) fn read(
    value: Value,
    name: &str,
    fields: &mut [(&'static str, &mut dyn GoValue)],
    rest: &mut Rest,
) -> Result<(), String> {
    let Value::Object(mut map) = value else { return Err(wrong_type(&value, &format!("struct {name}"))) };
    for (name, field) in fields {
        match map.remove(*name) {
            None | Some(Value::Null) => {}
            Some(value) => field.set_json(value)?,
        }
    }
    rest.extend(map);
    Ok(())
}

/// How long a field's name is in camel case.
pub(crate) const fn camel_length(field: &str) -> usize {
    let bytes = field.as_bytes();
    let (mut at, mut length) = (start(bytes), 0);
    while at < bytes.len() {
        if bytes[at] != b'_' {
            length += 1;
        }
        at += 1;
    }
    length
}

/// A field's name in camel case.
pub(crate) const fn camel<const LENGTH: usize>(field: &str) -> [u8; LENGTH] {
    let bytes = field.as_bytes();
    let (mut name, mut at, mut length, mut upper) = ([0; LENGTH], start(bytes), 0, false);
    while at < bytes.len() {
        if bytes[at] == b'_' {
            upper = true;
        } else {
            name[length] = if upper { bytes[at].to_ascii_uppercase() } else { bytes[at] };
            (length, upper) = (length + 1, false);
        }
        at += 1;
    }
    name
}

/// Where the name begins: behind the `r#` of a word that Rust has taken.
const fn start(bytes: &[u8]) -> usize {
    if bytes.len() > 2 && bytes[0] == b'r' && bytes[1] == b'#' { 2 } else { 0 }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_string};

    use crate::go::{api, name};

    api! {
        /// One of each.
        pub struct Sample {
            always { first_name: String, list or null: Vec<i32>, plain: Vec<i32> }
            maybe { pod_ip as "podIP": Option<i64>, r#type: bool, inner: Option<Inner> }
        }
        /// One in another.
        pub struct Inner {
            maybe { value: String }
        }
    }

    #[test]
    fn names_are_in_camel_case_unless_one_is_given() {
        assert_eq!(
            (name!(termination_grace_period_seconds), name!(r#type)),
            ("terminationGracePeriodSeconds", "type")
        );
        assert_eq!(name!(cluster_ip "clusterIP"), "clusterIP");
    }

    #[test]
    fn fields_are_written_in_order_and_what_is_empty_as_go_writes_it() {
        let mut sample = Sample::default();
        assert_eq!(to_string(&sample).unwrap(), r#"{"firstName":"","list":null,"plain":[]}"#);
        sample.list.push(1);
        sample.inner = Some(Inner::default());
        sample.rest.insert("more".into(), json!([null]));
        assert_eq!(
            to_string(&sample).unwrap(),
            r#"{"firstName":"","list":[1],"plain":[],"inner":{},"more":[null]}"#
        );
        assert_eq!(from_value::<Sample>(crate::go::to_json(&sample)).unwrap(), sample);
    }

    #[test]
    fn a_struct_is_seen_in_the_order_of_the_names() {
        use crate::go::{Look, Seen};
        let mut sample = Sample { r#type: true, pod_ip: Some(1), ..Sample::default() };
        for name in ["a", "m", "z"] {
            sample.rest.insert(name.into(), json!(name));
        }
        let mut names = vec![];
        sample.look(&mut |seen| {
            if let Seen::Map(fields) = seen {
                names.extend(fields.iter().map(|(name, _)| (*name).to_owned()));
            }
        });
        assert_eq!(names, ["a", "firstName", "list", "m", "plain", "podIP", "type", "z"]);
    }

    #[test]
    fn null_is_empty_and_a_wrong_type_is_named() {
        let read: Sample =
            from_value(json!({"firstName": null, "podIP": 7, "type": null, "x": null})).unwrap();
        assert_eq!((read.pod_ip, read.r#type, &read.rest["x"]), (Some(7), false, &json!(null)));
        let wrong = |value| from_value::<Sample>(value).unwrap_err().to_string();
        assert_eq!(wrong(json!({"firstName": 7})), "invalid type: integer `7`, expected a string");
        assert_eq!(wrong(json!({"plain": ["a"]})), "invalid type: string \"a\", expected i32");
        assert_eq!(wrong(json!({"inner": []})), "invalid type: sequence, expected struct Inner");
        assert_eq!(wrong(json!({"list": [null]})), "invalid type: null, expected i32");
    }
}
