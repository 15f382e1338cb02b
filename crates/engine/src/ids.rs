//! Numbers for what is drawn: given in the order of first sight, never reused, the same at every moment.

use kubestep_cluster::{ClientId, ClientState};
use kubestep_protocol::Id;
use std::collections::BTreeMap;

/// Numbers by name. Names begin with what they name (`uid:`, `image:`, `loop:` …).
#[derive(Debug, Default)]
pub(crate) struct Ids {
    given: BTreeMap<String, Id>,
    apart: BTreeMap<String, Id>,
}

/// From here on numbers are those of what no record tells of.
const APART: u32 = 1 << 31;

impl Ids {
    /// The number that a name has.
    pub(crate) fn get(&self, name: &str) -> Option<Id> {
        self.given.get(name).copied()
    }

    /// The number of a name; a new one if it has none.
    pub(crate) fn of(&mut self, name: &str) -> Id {
        if let Some(id) = self.given.get(name) {
            return *id;
        }
        let id = Id(u32::try_from(self.given.len()).unwrap_or(u32::MAX).saturating_add(1));
        self.given.insert(name.into(), id);
        id
    }

    /// Numbers for images, by the names that pods use.
    pub(crate) fn images<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        for name in names {
            self.of(&format!("image:{}", short_image(name)));
        }
    }

    /// The number of an image. Those that no pod has ever wanted come after all others, so that what is typed or looked
    /// at does not change any other number.
    pub(crate) fn image(&mut self, name: &str) -> Id {
        if let Some(id) = self.get(&format!("image:{name}")) {
            return id;
        }
        self.apart(&format!("image:{name}"))
    }

    /// The number of what is there for the page alone, as an entry of a menu: it comes after all others, so that what is
    /// looked at does not change any other number.
    pub(crate) fn apart(&mut self, name: &str) -> Id {
        let next = u32::try_from(self.apart.len()).unwrap_or(u32::MAX);
        *self.apart.entry(name.into()).or_insert(Id(APART.saturating_add(next)))
    }

    /// The number of a program that a person started.
    pub(crate) fn client(&mut self, id: ClientId, client: &ClientState) -> Id {
        self.of(&format!("client:{id}:{}:{}", client.started.0, client.program.line()))
    }

    /// The number of an object, by its uid.
    pub(crate) fn uid(&mut self, uid: &str) -> Id {
        self.of(&format!("uid:{uid}"))
    }
}

/// As pods write it: without the registry that is meant where none is named.
pub(crate) fn short_image(name: &str) -> &str {
    let name = name.strip_prefix("docker.io/").unwrap_or(name);
    name.strip_prefix("library/").unwrap_or(name)
}
