//! ControllerRevision: what a template was at one revision.

use crate::{ObjectMeta, go::api, whole::whole};
use serde_json::Value;

api! {
    /// A revision of a stateful set's or daemon set's template, as a patch.
    pub struct ControllerRevision {
        always { metadata: ObjectMeta, revision: i64 }
        maybe { data: Value }
    }
}
whole! {
    ControllerRevision: "apps";
}
