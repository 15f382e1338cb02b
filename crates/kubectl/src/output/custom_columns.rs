//! `-o custom-columns=HEAD:.path,…`. Upstream: kubectl/pkg/cmd/get, CustomColumnsPrinter (v1.37).

use super::{
    go_print,
    jsonpath::{self, Need, Template},
    tabs::Tabs,
};
use serde_json::Value;

/// The columns that were asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns(Vec<(String, Template)>);

impl Columns {
    /// Reads `HEAD:.path,HEAD:.path`. Errors: in kubectl's words.
    pub fn parse(text: &str) -> Result<Columns, String> {
        if text.is_empty() {
            return Err("custom-columns format specified but no custom columns given".to_owned());
        }
        let column = |part: &str| {
            let (head, path) = part.split_once(':').ok_or_else(|| {
                format!("unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>")
            })?;
            Ok((head.to_owned(), Template::parse(&jsonpath::relaxed(path)?)?))
        };
        text.split(',').map(column).collect::<Result<Vec<_>, String>>().map(Columns)
    }

    /// What the columns look at.
    pub fn need(&self) -> Need {
        let mut need = Need::default();
        self.0.iter().for_each(|(_, path)| path.add_to(&mut need));
        need
    }

    /// The table of several objects.
    pub fn print(&self, objects: &[Value], heads: bool) -> Result<String, String> {
        let mut text = String::new();
        if heads {
            text.push_str(&self.0.iter().map(|(head, _)| head.as_str()).collect::<Vec<_>>().join("\t"));
            text.push('\n');
        }
        for object in objects {
            let cells = self.0.iter().map(|(_, path)| cell(path, object)).collect::<Result<Vec<_>, _>>()?;
            text.push_str(&cells.join("\t"));
            text.push('\n');
        }
        Ok(Tabs::TABLE.align(&text))
    }
}

fn cell(path: &Template, object: &Value) -> Result<String, String> {
    let found = path.find(object)?;
    if found.first().is_none_or(Vec::is_empty) {
        return Ok("<none>".to_owned());
    }
    let show = |value: &Value| go_print(value).replace('\u{1b}', "^[").replace('\r', "\\r");
    Ok(found.iter().flatten().map(show).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn prints_columns() {
        let columns = Columns::parse("NAME:.metadata.name,X:spec.x,ALL:.spec").unwrap();
        let objects = [json!({"metadata": {"name": "web"}, "spec": {"y": [1, "a"]}})];
        assert_eq!(
            columns.print(&objects, true).unwrap(),
            "NAME   X        ALL\nweb    <none>   map[y:[1 a]]\n"
        );
        assert!(
            Columns::parse("NAME").unwrap_err().starts_with("unexpected custom-columns spec: NAME, expected")
        );
    }
}
