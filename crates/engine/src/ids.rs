//! Numbers for what is drawn: given in the order of first sight, never reused, the same at every moment.

use kubestep_cluster::{ClientId, ClientState};
use kubestep_protocol::Id;
use std::collections::BTreeMap;

/// Numbers by name. Names begin with what they name (`uid:`, `image:`, `loop:` …).
#[derive(Debug, Default)]
pub(crate) struct Ids {
    given: BTreeMap<String, Id>,
    /// The same for uids, by their number: most of what has a number is an object.
    uids: BTreeMap<u128, Id>,
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
        let id = self.next();
        self.given.insert(name.into(), id);
        id
    }

    fn next(&self) -> Id {
        let given = self.given.len().saturating_add(self.uids.len());
        Id(u32::try_from(given).unwrap_or(u32::MAX).saturating_add(1))
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
        let Some(number) = number(uid) else { return self.of(&format!("uid:{uid}")) };
        let next = self.next();
        *self.uids.entry(number).or_insert(next)
    }
}

/// The number that a uid stands for: 32 small hexadecimal digits in five groups. No two uids of that form have the same.
fn number(uid: &str) -> Option<u128> {
    let bytes: &[u8; 36] = uid.as_bytes().try_into().ok()?;
    let mut halves = [0_u64; 2];
    let mut digits = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let digit = match (byte, at) {
            (b'-', 8 | 13 | 18 | 23) => continue,
            (_, 8 | 13 | 18 | 23) => return None,
            (b'0'..=b'9', _) => byte - b'0',
            (b'a'..=b'f', _) => byte - b'a' + 10,
            _ => return None,
        };
        halves[digits / 16] = halves[digits / 16] << 4 | u64::from(digit);
        digits += 1;
    }
    Some(u128::from(halves[0]) << 64 | u128::from(halves[1]))
}

/// As pods write it: without the registry that is meant where none is named.
pub(crate) fn short_image(name: &str) -> &str {
    let name = name.strip_prefix("docker.io/").unwrap_or(name);
    name.strip_prefix("library/").unwrap_or(name)
}
