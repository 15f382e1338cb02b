//! Which keys rows of the registry and of nodes have: what is not among them would be passed over in silence.

use serde_json::Value;

const IMAGE: [&str; 15] = [
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
];
const NODE: [&str; 6] = ["name", "cpu", "memory", "pods", "labels", "taints"];

/// Errors: the first key of a block `images` that is not known.
pub(super) fn images(rows: &Value) -> Result<(), String> {
    let all = rows.as_object().into_iter().flatten();
    all.map(|(name, row)| keys(&format!("image {name}"), row, &IMAGE)).collect()
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
    fn the_lists_name_what_there_is() {
        assert_eq!(fields::<Image>(), IMAGE);
        assert_eq!(fields::<NodeSpec>(), NODE);
    }
}
