//! Finding names among many sorted ones that begin alike, as the pods of one template do.

/// Sorted names, each once: what they have in common aside, the first letters of the rest as a number.
pub(super) struct Places<'n> {
    names: Vec<&'n str>,
    common: usize,
    keys: Vec<u128>,
}

/// The first sixteen bytes as a number that is sorted as they are.
pub(crate) fn begins(text: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    for (byte, of) in bytes.iter_mut().zip(text) {
        *byte = *of;
    }
    u128::from_be_bytes(bytes)
}

impl<'n> Places<'n> {
    pub(super) fn of(names: Vec<&'n str>) -> Self {
        let common = match (names.first(), names.last()) {
            (Some(first), Some(last)) => first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count(),
            _ => 0,
        };
        let rest = |name: &&str| begins(name.as_bytes().get(common..).unwrap_or_default());
        let keys = names.iter().map(rest).collect();
        Places { names, common, keys }
    }

    /// The place of a name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let wanted = begins(name.as_bytes().get(self.common..)?);
        let mut place = self.keys.partition_point(|known| *known < wanted);
        while self.keys.get(place).is_some_and(|known| *known == wanted) {
            if self.names.get(place).is_some_and(|known| *known == name) {
                return Some(place);
            }
            place += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[test]
    fn every_name_is_found_at_its_place_and_no_other() {
        for names in [
            vec![],
            vec!["web-1"],
            vec!["", "a", "a-long-name-of-more-than-sixteen", "a-long-name-of-more-than-sixteen-x", "b"],
            vec!["web-5d8f-1", "web-5d8f-12", "web-5d8f-1a", "web-5d8f-b"],
            vec!["web", "web-1", "web-2"],
        ] {
            let places = Places::of(names.clone());
            for (at, name) in names.iter().enumerate() {
                assert_eq!(places.find(name), Some(at), "{name} in {names:?}");
            }
            for strange in ["web-5d8f", "web-3", "xeb-5d8f-1", "a-long-name-of-more-than-sixteen-y", "\u{e9}"]
            {
                assert_eq!(places.find(strange), None, "{strange} in {names:?}");
            }
        }
    }
}
