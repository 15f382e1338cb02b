//! Which keys rows of the registry and of nodes have: what is not among them would be passed over in silence.

use serde_json::Value;

const IMAGE: [&str; 17] = [
    "pullSeconds",
    "exit",
    "afterSeconds",
    "readyAfterSeconds",
    "failsAfterSeconds",
    "ports",
    "paths",
    "denied",
    "stopSeconds",
    "stopExit",
    "ignoresTerm",
    "oom",
    "startError",
    "logs",
    "sizeBytes",
    "memoryMiB",
    "memoryGrowsMiBPerSecond",
];
const NODE: [&str; 6] = ["name", "cpu", "memory", "pods", "labels", "taints"];

/// Errors: the first key of a block `images` that is not known, or whose value would say nothing.
pub(super) fn images(rows: &Value) -> Result<(), String> {
    for (name, row) in rows.as_object().into_iter().flatten() {
        let what = format!("image {name}");
        keys(&what, row, &IMAGE)?;
        ports(&what, &row["ports"])?;
        paths(&what, &row["paths"])?;
    }
    Ok(())
}

fn ports(what: &str, ports: &Value) -> Result<(), String> {
    let port = |p: &Value| p.as_u64().is_some_and(|p| (1..=65535).contains(&p));
    match ports {
        Value::Null => Ok(()),
        Value::Array(all) if all.iter().all(port) => Ok(()),
        other => Err(format!("The {what} has ports: {other}; it is a list of numbers, as in ports: [8080].")),
    }
}

fn paths(what: &str, paths: &Value) -> Result<(), String> {
    let answer = |(path, code): (&String, &Value)| {
        path.starts_with('/') && code.as_u64().is_some_and(|c| (100..=599).contains(&c))
    };
    match paths {
        Value::Null => Ok(()),
        Value::Object(all) if all.iter().all(answer) => Ok(()),
        other => Err(format!(
            "The {what} has paths: {other}; it is a map from path to answer, as in paths: {{/healthz: 200}}."
        )),
    }
}

/// Errors: the first key of a block `nodes` that is not known.
pub(super) fn nodes(rows: &Value) -> Result<(), String> {
    rows.as_array().into_iter().flatten().map(|row| keys("node", row, &NODE)).collect()
}

fn keys(what: &str, row: &Value, known: &[&str]) -> Result<(), String> {
    match row.as_object().into_iter().flatten().find(|(key, _)| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some((key, _)) => {
            Err(format!("The {what} has a key {key} that is not known; there are {}.", known.join(", ")))
        }
    }
}

/// Errors: why no pod can name this image.
pub(super) fn image_name(name: &str) -> Result<(), String> {
    let of_name = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
    if !name.is_empty() && name.chars().all(of_name) {
        return Ok(());
    }
    Err(format!("{name:?} is no name of an image"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_cluster::{Image, NodeSpec};
    use serde::{Deserialize, Deserializer, de, forward_to_deserialize_any};

    /// Takes down which fields a type asks for.
    struct Asks<'a>(&'a mut Vec<&'static str>);

    impl<'de> Deserializer<'de> for Asks<'_> {
        type Error = de::value::Error;
        fn deserialize_any<V: de::Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(de::Error::custom("asked"))
        }
        fn deserialize_struct<V: de::Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            self.0.extend(fields);
            self.deserialize_any(visitor)
        }
        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    fn fields<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
        let mut found = vec![];
        assert!(T::deserialize(Asks(&mut found)).is_err());
        found
    }

    #[test]
    fn what_an_image_says_of_ports_and_paths_has_a_shape() {
        let told = |row: Value| images(&serde_json::json!({ "web:1": row })).err().unwrap_or_default();
        for right in
            [serde_json::json!({ "ports": [80, 8080] }), serde_json::json!({ "paths": { "/": 503 } })]
        {
            assert_eq!(told(right), "");
        }
        for wrong in [
            serde_json::json!({ "ports": 8080 }),
            serde_json::json!({ "ports": ["http"] }),
            serde_json::json!({ "ports": [0] }),
            serde_json::json!({ "paths": ["/"] }),
            serde_json::json!({ "paths": { "healthz": 200 } }),
            serde_json::json!({ "paths": { "/healthz": "ok" } }),
        ] {
            assert!(told(wrong.clone()).contains("The image web:1 has p"), "{wrong}");
        }
    }

    #[test]
    fn the_lists_name_what_there_is() {
        assert_eq!(fields::<Image>(), IMAGE);
        assert_eq!(fields::<NodeSpec>(), NODE);
    }
}
