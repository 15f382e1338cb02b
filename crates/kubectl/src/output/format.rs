//! `-o`: which form was asked for, and printing objects in it.

use super::{
    custom_columns::Columns,
    json,
    jsonpath::{Need, Template},
    listed::Listed,
};
use crate::{
    args::Args,
    kc::{Flow, Kc},
};
use kubestep_model::{Kind, Look, Named, Object, Several, schema, to_json, yaml};
use serde_json::{Value, json};

/// A form of output.
#[derive(Clone, Debug, PartialEq)]
pub enum Format {
    /// A table, or what the command did.
    Human {
        /// `-o wide`.
        wide: bool,
    },
    /// `-o yaml`.
    Yaml,
    /// `-o json`.
    Json,
    /// `-o name`.
    Name,
    /// `-o jsonpath=…`.
    JsonPath(Template),
    /// `-o jsonpath-as-json=…`.
    JsonPathAsJson(Template),
    /// `-o custom-columns=…`.
    Columns(Columns),
}

const TEMPLATES: &[&str] = &["go-template", "go-template-file", "template", "templatefile"];
const OF_ALL: &str = "go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,yaml";
const OF_GET: &str = "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,wide,yaml";

/// The columns that a file names: their heads on its first line, their paths on the second.
fn from_file(file: &str, text: Option<&str>) -> Result<String, String> {
    if file.is_empty() {
        return Ok(String::new());
    }
    let missing = || format!("error reading template {file}, open {file}: no such file or directory");
    let mut lines = text.ok_or_else(missing)?.lines();
    let mut words = || lines.next().unwrap_or_default().split_whitespace().collect::<Vec<_>>();
    let (heads, paths) = (words(), words());
    if heads.len() != paths.len() {
        let (heads, paths) = (heads.len(), paths.len());
        return Err(format!("number of headers ({heads}) and field specifications ({paths}) don't match"));
    }
    Ok(heads.iter().zip(paths).map(|(head, path)| format!("{head}:{path}")).collect::<Vec<_>>().join(","))
}

impl Format {
    /// The form that a command's flags ask for. `tables` says whether the command shows tables.
    pub fn of(kc: &mut Kc<'_>, args: &Args, tables: bool) -> Flow<Format> {
        let asked = args.text_or_empty("output");
        let (name, rest) = asked.split_once('=').map_or((asked, None), |(n, r)| (n, Some(r)));
        match (name, rest) {
            ("", None) if !args.text_or_empty("template").is_empty() => Err(kc.not_done("--template")),
            ("", None) => Ok(Format::Human { wide: false }),
            ("wide", None) if tables => Ok(Format::Human { wide: true }),
            ("yaml", None) => Ok(Format::Yaml),
            ("json", None) => Ok(Format::Json),
            ("name", None) => Ok(Format::Name),
            ("jsonpath" | "jsonpath-as-json", rest) => {
                let text = rest.or(args.text("template")).unwrap_or_default();
                if text.is_empty() {
                    return Err(kc.fail("template format specified but no template given"));
                }
                let strict =
                    args.has("allow-missing-template-keys") && !args.on("allow-missing-template-keys");
                match Template::parse(text).map(|template| template.strict(strict)) {
                    Ok(template) if name == "jsonpath" => Ok(Format::JsonPath(template)),
                    Ok(template) => Ok(Format::JsonPathAsJson(template)),
                    Err(why) => Err(kc.fail(format!("error parsing jsonpath {text}, {why}"))),
                }
            }
            ("custom-columns", rest) if tables => {
                let text = rest.or(args.text("template")).unwrap_or_default();
                Columns::parse(text).map(Format::Columns).map_err(|why| kc.fail(why))
            }
            ("go-template" | "template", rest)
                if rest.or(args.text("template")).unwrap_or_default().is_empty() =>
            {
                Err(kc.fail("template format specified but no template given"))
            }
            (name, _) if TEMPLATES.contains(&name) => Err(kc.not_done(&format!("-o {name}"))),
            ("kyaml" | "jsonpath-file", _) => Err(kc.not_done(&format!("-o {name}"))),
            ("custom-columns-file", rest) if tables => {
                let file = rest.or(args.text("template")).unwrap_or_default();
                let columns = from_file(file, kc.file(file)).and_then(|text| Columns::parse(&text));
                columns.map(Format::Columns).map_err(|why| kc.fail(why))
            }
            _ => {
                let allowed = if tables { OF_GET } else { OF_ALL };
                Err(kc.fail(format!(
                    "unable to match a printer suitable for the output format \"{asked}\", allowed formats are: {allowed}"
                )))
            }
        }
    }

    /// Whether what was asked for shows who owns which fields, as templates do that show all of the metadata: only
    /// YAML and JSON leave it out.
    pub fn shows_owners(&self, asked: &str) -> bool {
        const WHOLE: [&str; 8] =
            ["managedFields", "metadata}", "metadata,", "..", "{.}", "{@}", "items}", "]}"];
        match self {
            Format::JsonPath(_) | Format::JsonPathAsJson(_) | Format::Columns(_) => {
                WHOLE.iter().any(|part| asked.contains(part)) || asked.ends_with("metadata")
            }
            Format::Human { .. } | Format::Yaml | Format::Json | Format::Name => false,
        }
    }

    /// Whether the command's own words are printed.
    pub fn is_human(&self) -> bool {
        matches!(self, Format::Human { .. })
    }

    /// Prints one value: an object, or a list of objects.
    pub fn print(&self, kc: &mut Kc<'_>, value: &dyn Look, heads: bool) -> Flow<()> {
        let text = match self {
            Format::Human { .. } => return Ok(()),
            Format::Yaml => Ok(yaml::to_yaml(value)),
            Format::Json => Ok(json::pretty(value)),
            Format::Name => {
                let mut need = Need::default();
                ["apiVersion", "kind", "metadata.name"].iter().for_each(|path| need.path(path));
                Ok(each(&need.of_each().cut(value)).iter().map(|o| name_of(o) + "\n").collect())
            }
            Format::JsonPath(template) => template.print(value),
            Format::JsonPathAsJson(template) => template
                .find_in(value)
                .map(|parts| parts.into_iter().map(|part| json::pretty(&Value::Array(part))).collect()),
            Format::Columns(columns) => {
                let cut = columns.need().of_each().cut(value);
                columns.print(each(&cut), heads).or_else(|_| columns.print(each(&to_json(value)), heads))
            }
        };
        match text {
            Ok(text) => {
                kc.out(text);
                Ok(())
            }
            Err(why) => Err(kc.fail(why)),
        }
    }

    /// Prints an object that kubectl holds as a struct: its JSON has the fields in the struct's order.
    pub fn print_typed(&self, kc: &mut Kc<'_>, kind: Kind, value: &Value) -> Flow<()> {
        if *self != Format::Json {
            return self.print(kc, value, true);
        }
        let text = schema::text(&kind.api_version(), kind.name(), value);
        kc.out(json::spread(&text, "    "));
        Ok(())
    }

    /// Prints several objects as one list.
    pub fn print_list(&self, kc: &mut Kc<'_>, kind: &str, objects: &[Object], heads: bool) -> Flow<()> {
        if matches!(self, Format::Yaml | Format::Json) && !objects.is_empty() {
            kc.out_later(Listed::new(kind, objects, *self == Format::Json));
            return Ok(());
        }
        let metadata = json!({ "resourceVersion": "" });
        let mut items: Vec<&dyn Look> = Vec::with_capacity(objects.len());
        for object in objects {
            items.push(object);
        }
        let items = Several(items);
        let list =
            Named(vec![("apiVersion", &"v1"), ("items", &items), ("kind", &kind), ("metadata", &metadata)]);
        self.print(kc, &list, heads)
    }
}

/// The objects of a list, or the one object.
fn each(value: &Value) -> &[Value] {
    match value.get("items") {
        Some(Value::Array(items)) if value["kind"] == "List" => items,
        _ => std::slice::from_ref(value),
    }
}

/// `deployment.apps/web`, from an object's JSON.
fn name_of(value: &Value) -> String {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let group = text("/apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    let dot = if group.is_empty() { "" } else { "." };
    format!("{}{dot}{group}/{}", text("/kind").to_ascii_lowercase(), text("/metadata/name"))
}

/// `deployment.apps/web`.
pub fn qualified(kind: Kind, name: &str) -> String {
    format!("{}/{name}", kind.qualified_kind().to_ascii_lowercase())
}

/// As a list, of what is no object of its own, as a scale.
pub fn list_of(items: Vec<Value>) -> Value {
    json!({ "apiVersion": "v1", "items": items, "kind": "List", "metadata": { "resourceVersion": "" } })
}
