//! `kubectl top`: what nodes and pods use, as a metrics server measured it.
//! Upstream: kubectl/pkg/cmd/top and pkg/metricsutil (v1.37).

use crate::{
    args::{self, Args, Flag, Takes, flag},
    kc::{Flow, Kc},
    output::tabs::Tabs,
};
use kubestep_model::arrange::Arrange;
use kubestep_model::text::{FieldSelector, Quantity, Selector};
use kubestep_model::{Answer, Key, Kind, Subresource, Verb};
use serde_json::{Value, json};

pub(super) const FLAGS: &[Flag] = &[
    super::common::SELECTOR,
    flag("field-selector", Takes::Text),
    flag("sort-by", Takes::Text),
    flag("no-headers", Takes::Bool),
    flag("containers", Takes::Bool),
    flag("sum", Takes::Bool),
    flag("show-capacity", Takes::Bool),
    flag("show-swap", Takes::Bool),
    flag("use-protocol-buffers", Takes::Bool),
    args::short("all-namespaces", 'A', Takes::Bool),
];

/// A row: namespace, pod, container, and what it uses in thousandths of a core and in bytes.
struct Row {
    words: Vec<String>,
    /// By what it is sorted.
    order: String,
    usage: [i64; 2],
}

fn usage(value: &Value) -> [i64; 2] {
    let of = |key: &str| Quantity::parse(value[key].as_str().unwrap_or_default()).ok();
    [of("cpu").map_or(0, |q| q.milli_value()), of("memory").map_or(0, |q| q.value())]
}

fn name(item: &Value) -> String {
    item["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// The parts of one answer, or of a list of them.
fn items(value: &Value) -> Vec<Value> {
    value["items"].as_array().cloned().unwrap_or_else(|| vec![value.clone()])
}

/// What is measured; refused in kubectl's words where nothing measures.
fn measured(kc: &mut Kc<'_>, kind: Kind, args: &Args) -> Flow<Vec<Value>> {
    if args.words.len() > 1 {
        let what = if kind == Kind::POD_METRICS { "pod" } else { "node" };
        return Err(kc.usage(&args.path, &format!("{what} [NAME | -l label]")));
    }
    let selector = args.text_or_empty("selector");
    let sort = args.text_or_empty("sort-by");
    if !sort.is_empty() && sort != "cpu" && sort != "memory" {
        return Err(kc.fail("--sort-by accepts only cpu or memory"));
    }
    if !args.words.is_empty() && !(selector.is_empty() && args.text_or_empty("field-selector").is_empty()) {
        let which = if kind == Kind::POD_METRICS { "selector" } else { "--selector" };
        return Err(kc.fail(format!("only one of NAME or {which} can be provided")));
    }
    let namespace = (kind.namespaced() && !args.on("all-namespaces")).then(|| kc.namespace.clone());
    let verb = match args.words.first() {
        Some(name) => Verb::Get {
            key: Key::new(kind, namespace.clone().unwrap_or_default(), name.as_str()),
            subresource: Subresource::None,
        },
        None => Verb::List { kind, namespace, labels: labels(kc, selector)?, fields: None },
    };
    match kc.ask(verb)? {
        Ok(Answer::Json { value, .. }) => Ok(items(&value)),
        Ok(_) => Err(kc.fail("the answer is no list of metrics")),
        Err(status) if status.message.starts_with("the server could not find the requested resource") => {
            Err(kc.fail("Metrics API not available"))
        }
        Err(status) => Err(kc.fault(&status.into())),
    }
}

fn labels(kc: &mut Kc<'_>, text: &str) -> Flow<Option<Selector>> {
    if text.is_empty() {
        return Ok(None);
    }
    Selector::parse(text).map(Some).map_err(|why| kc.fail(why))
}

/// What a row comes after: those that use most first, or by name.
fn order(by: &str, usage: [i64; 2], words: &[String]) -> String {
    match by {
        "cpu" => format!("{:020}", i64::MAX - usage[0].max(0)),
        "memory" => format!("{:020}", i64::MAX - usage[1].max(0)),
        _ => words.join("\n"),
    }
}

fn cells(usage: [i64; 2]) -> [String; 2] {
    [format!("{}m", usage[0]), format!("{}Mi", usage[1] >> 20)]
}

pub(super) fn pods(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let everywhere = args.on("all-namespaces");
    let mut found = measured(kc, Kind::POD_METRICS, args)?;
    let fields = args.text_or_empty("field-selector").to_owned();
    if found.is_empty() || !fields.is_empty() {
        let fields = FieldSelector::parse(&fields).map_err(|why| kc.fail(why))?;
        let namespace = (!everywhere).then(|| kc.namespace.clone());
        let labels = labels(kc, args.text_or_empty("selector"))?;
        let there = match kc.list_whole(Kind::Pod, namespace, labels, Some(fields))? {
            Ok((pods, _)) => pods,
            Err(status) => return Err(kc.fault(&status.into())),
        };
        let is = |item: &Value| there.iter().any(|pod| *pod.meta().name == *name(item));
        found.retain(is);
        if found.is_empty() && !there.is_empty() {
            return Err(kc.fail("metrics not available yet"));
        }
    }
    if found.is_empty() {
        let place = if everywhere { String::new() } else { format!(" in {} namespace.", kc.namespace) };
        kc.err(format!("No resources found{place}\n"));
        return Ok(0);
    }
    let rows = rows(&found, args, everywhere);
    kc.out(Tabs::TABLE.align(&table(&rows, args, everywhere)));
    Ok(0)
}

fn rows(found: &[Value], args: &Args, everywhere: bool) -> Vec<Row> {
    let (by, split) = (args.text_or_empty("sort-by"), args.on("containers"));
    let mut rows: Vec<Row> = vec![];
    for item in found {
        let namespace = item["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        let place: Vec<String> = everywhere.then_some(namespace).into_iter().chain([name(item)]).collect();
        let all = item["containers"].as_array().map_or(&[][..], Vec::as_slice);
        let mut sum = [0, 0];
        for one in all {
            let used = usage(&one["usage"]);
            sum = [sum[0] + used[0], sum[1] + used[1]];
        }
        let first = order(by, sum, &place);
        if !split {
            rows.push(Row { words: place, order: first, usage: sum });
            continue;
        }
        for one in all {
            let title = vec![one["name"].as_str().unwrap_or_default().to_owned()];
            let used = usage(&one["usage"]);
            let order = format!("{first}\n{}", order(by, used, &title));
            rows.push(Row { words: [place.clone(), title].concat(), order, usage: used });
        }
    }
    rows.arrange_by_key(|row| row.order.clone());
    rows
}

fn table(rows: &[Row], args: &Args, everywhere: bool) -> String {
    let mut heads: Vec<&str> = vec![];
    heads.extend(everywhere.then_some("NAMESPACE"));
    heads.extend(args.on("containers").then_some("POD"));
    heads.extend(["NAME", "CPU(cores)", "MEMORY(bytes)"]);
    let mut text = String::new();
    let mut line = |cells: &[String]| {
        cells.iter().for_each(|cell| text.push_str(&format!("{cell}\t")));
        text.push('\n');
    };
    if !args.on("no-headers") {
        line(&heads.iter().map(|head| (*head).to_owned()).collect::<Vec<_>>());
    }
    for row in rows {
        line(&[&row.words[..], &cells(row.usage)[..]].concat());
    }
    if args.on("sum") {
        let blank = vec![String::new(); heads.len() - 2];
        let rule = "________".to_owned();
        line(&[&blank[..], &[rule.clone(), rule][..]].concat());
        let sum = rows.iter().fold([0, 0], |sum, row| [sum[0] + row.usage[0], sum[1] + row.usage[1]]);
        line(&[&blank[..], &cells(sum)[..]].concat());
    }
    text
}

pub(super) fn nodes(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let found = measured(kc, Kind::NODE_METRICS, args)?;
    if found.is_empty() {
        return Err(kc.fail("metrics not available yet"));
    }
    let labels = labels(kc, args.text_or_empty("selector"))?;
    let listed = match kc.list_whole(Kind::Node, None, labels, None)? {
        Ok((nodes, _)) => nodes,
        Err(status) => return Err(kc.fault(&status.into())),
    };
    let part = if args.on("show-capacity") { "capacity" } else { "allocatable" };
    let mut of: Vec<(String, Value)> = listed
        .iter()
        .map(|node| (node.meta().name.to_string(), node.to_value()["status"][part].clone()))
        .collect();
    if let Some(wanted) = args.words.first() {
        of.retain(|(name, _)| name == wanted);
    }
    let by = args.text_or_empty("sort-by");
    let row = |item: &Value| {
        let (words, usage) = (vec![name(item)], usage(&item["usage"]));
        Row { order: order(by, usage, &words), words, usage }
    };
    let mut rows: Vec<Row> = found.iter().map(row).collect();
    rows.arrange_by_key(|row| row.order.clone());
    let mut text = String::new();
    if !args.on("no-headers") {
        text.push_str("NAME\tCPU(cores)\tCPU(%)\tMEMORY(bytes)\tMEMORY(%)\t\n");
    }
    for row in &rows {
        let available =
            of.iter().find(|(name, _)| *name == row.words[0]).map_or(json!({}), |(_, v)| v.clone());
        text.push_str(&format!("{}\t", row.words[0]));
        for (at, cell) in cells(row.usage).iter().enumerate() {
            let most = usage(&available)[at];
            let percent = if most == 0 { 0 } else { row.usage[at].saturating_mul(100) / most };
            text.push_str(&format!("{cell}\t{percent}%\t"));
        }
        text.push('\n');
    }
    for (name, _) in of.iter().filter(|(name, _)| !rows.iter().any(|row| row.words[0] == *name)) {
        text.push_str(&format!("{name}\t<unknown>\t<unknown>\t<unknown>\t<unknown>\t\n"));
    }
    kc.out(Tabs::TABLE.align(&text));
    Ok(0)
}
