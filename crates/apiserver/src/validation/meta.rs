//! Metadata.

use kubestep_model::{Cause, Object};

pub(super) fn new_object(object: &Object) -> Vec<Cause> {
    let meta = object.meta();
    if meta.name.is_empty() {
        return vec![Cause {
            reason: "FieldValueRequired".into(),
            message: "Required value: name or generateName is required".into(),
            field: "metadata.name".into(),
        }];
    }
    vec![]
}
