//! Kubernetes' own descriptions of types and fields. They are a file of the site that is fetched when it is first
//! needed (`cargo xtask descriptions` writes it), so whoever asks has to do without for a while.

/// The descriptions, as the file holds them.
///
/// A line with a type's name, a tab and its description; below it, each with a blank before its name, its fields. Types
/// are sorted by name, and a text's own line ends are written `\n`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descriptions {
    text: String,
    /// Where the line of each type begins.
    types: Vec<usize>,
}

impl Descriptions {
    /// Reads the file. Lines that are none of its own describe nothing.
    #[must_use]
    pub fn new(text: String) -> Descriptions {
        let mut types = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if !line.starts_with(' ') {
                types.push(at);
            }
            at += line.len();
        }
        Descriptions { text, types }
    }

    /// Whether nothing is described.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// What a type (`core/v1.Container`) says of itself, or, with a field's name, of this field.
    #[must_use]
    pub fn of(&self, ty: &str, field: Option<&str>) -> Option<String> {
        let name = |at: usize| self.text[at..].split(['\t', '\n']).next().unwrap_or_default();
        let found = self.types.binary_search_by(|at| name(*at).cmp(ty)).ok()?;
        let mut lines = self.text[self.types[found]..].lines();
        let own = lines.next()?;
        let line = match field {
            None => own,
            Some(field) => lines
                .take_while(|l| l.starts_with(' '))
                .find(|l| l[1..].strip_prefix(field).is_some_and(|rest| rest.starts_with('\t')))?,
        };
        let text = line.split_once('\t').map_or("", |(_, text)| text);
        (!text.is_empty()).then(|| text.replace("\\n", "\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::Descriptions;

    #[test]
    fn types_and_fields_are_found() {
        let text = "a/v1.A\tThe A.\n one\tFirst.\\nAnd more.\n ones\tMany.\na/v1.B\n two\tSecond.\n";
        let file = Descriptions::new(text.into());
        let of = |ty: &str, field: Option<&str>| file.of(ty, field).unwrap_or_default();
        assert_eq!(of("a/v1.A", None), "The A.");
        assert_eq!(of("a/v1.A", Some("one")), "First.\nAnd more.");
        assert_eq!(of("a/v1.A", Some("ones")), "Many.");
        assert_eq!(of("a/v1.B", None), "");
        assert_eq!(of("a/v1.B", Some("two")), "Second.");
        assert_eq!(of("a/v1.A", Some("two")), "");
        assert_eq!(of("a/v1.C", Some("two")), "");
        assert!(Descriptions::default().is_empty());
    }
}
