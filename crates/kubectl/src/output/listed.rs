//! A list of objects as YAML or JSON, written when somebody reads it, and from its end where no more is shown.

use super::json;
use kubestep_model::{Look, Named, Object, Several, client::Print, yaml};
use serde_json::json;

/// A list and the form in which it is printed.
#[derive(Clone, Debug)]
pub struct Listed {
    kind: String,
    objects: Vec<Object>,
    json: bool,
}

impl Listed {
    /// A list of this kind, in JSON or YAML. There has to be an object.
    pub fn new(kind: &str, objects: &[Object], json: bool) -> Listed {
        Listed { kind: kind.into(), objects: objects.to_vec(), json }
    }

    /// What stands before the objects.
    fn head(&self) -> String {
        if self.json {
            "{\n    \"apiVersion\": \"v1\",\n    \"items\": [".into()
        } else {
            "apiVersion: v1\nitems:\n".into()
        }
    }

    /// One of the objects, with all that stands between it and the one before.
    fn item(&self, at: usize) -> String {
        let object: &dyn Look = &self.objects[at];
        if self.json {
            let comma = if at > 0 { "," } else { "" };
            format!("{comma}\n        {}", json::inner(object, 2))
        } else {
            yaml::to_yaml(&Several(vec![object]))
        }
    }

    /// What stands behind the objects.
    fn foot(&self) -> String {
        let metadata = json!({ "resourceVersion": "" });
        let rest = Named(vec![("kind", &self.kind), ("metadata", &metadata)]);
        if self.json {
            // The other half of the object that the head begins.
            format!("\n    ],{}", json::pretty(&rest).trim_start_matches('{'))
        } else {
            yaml::to_yaml(&rest)
        }
    }
}

impl Print for Listed {
    fn whole(&self) -> String {
        let mut out = self.head();
        for at in 0..self.objects.len() {
            out.push_str(&self.item(at));
        }
        out.push_str(&self.foot());
        out
    }

    fn end(&self, bytes: usize) -> String {
        let mut parts = vec![self.foot()];
        let mut length = parts[0].len();
        for at in (0..self.objects.len()).rev() {
            if length >= bytes {
                break;
            }
            let item = self.item(at);
            length += item.len();
            parts.push(item);
        }
        if length < bytes {
            parts.push(self.head());
        }
        parts.reverse();
        parts.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::Kind;

    fn objects() -> Vec<Object> {
        let data = [
            json!({}),
            json!({"a": "1", "b": "two\nlines\n"}),
            json!({"c": "ends with blanks  \n\n"}),
            json!({"10": "<", "9": "ü"}),
        ];
        let named = |(at, data): (usize, &serde_json::Value)| {
            let value = json!({"metadata": {"name": format!("c{at}"), "namespace": "default"}, "data": data});
            Object::from_value(Kind::ConfigMap, value).unwrap()
        };
        data.iter().enumerate().map(named).collect()
    }

    /// The same list in one piece.
    fn in_one(objects: &[Object], json: bool) -> String {
        let items = Several(objects.iter().map(|o| o as &dyn Look).collect());
        let metadata = json!({ "resourceVersion": "" });
        let list =
            Named(vec![("apiVersion", &"v1"), ("items", &items), ("kind", &"List"), ("metadata", &metadata)]);
        if json { json::pretty(&list) } else { yaml::to_yaml(&list) }
    }

    #[test]
    fn a_list_in_parts_is_the_list() {
        for json in [true, false] {
            for count in 1..=4 {
                let objects = &objects()[..count];
                let (listed, want) = (Listed::new("List", objects, json), in_one(objects, json));
                assert_eq!(listed.whole(), want);
                for bytes in 0..want.len() + 9 {
                    let end = listed.end(bytes);
                    assert!(want.ends_with(&end) && end.len() >= bytes.min(want.len()), "{bytes} of {want}");
                }
            }
        }
    }
}
