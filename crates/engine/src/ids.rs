//! Numbers for what is drawn: given in the order of first sight, never reused, the same at every moment.

use kubestep_protocol::Id;
use std::collections::BTreeMap;

/// Numbers by name. Names begin with what they name (`uid:`, `image:`, `loop:` …).
#[derive(Debug, Default)]
pub(crate) struct Ids {
    given: BTreeMap<String, Id>,
}

impl Ids {
    /// The number of a name; a new one if it has none.
    pub(crate) fn of(&mut self, name: &str) -> Id {
        if let Some(id) = self.given.get(name) {
            return *id;
        }
        let id = Id(u32::try_from(self.given.len()).unwrap_or(u32::MAX).saturating_add(1));
        self.given.insert(name.into(), id);
        id
    }

    /// The number of an object, by its uid.
    pub(crate) fn uid(&mut self, uid: &str) -> Id {
        self.of(&format!("uid:{uid}"))
    }
}
