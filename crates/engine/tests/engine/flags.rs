//! Every flag of kubectl that works is run in a real line, and does something: what is taken and does nothing would show.

use crate::page::Page;
use kubestep_kubectl::{Following, following, upstream};
use kubestep_protocol::{Command, Doc, ImageAct};
use std::collections::BTreeMap;

const OBJECTS: &str = r#"kubectl create deployment web --image=nginx --port=80; kubectl expose deployment web
kubectl label deployment web app=web --overwrite; kubectl create configmap c --from-literal=k=v
kubectl label configmap c a=b; kubectl create rolebinding b --clusterrole=view --user=u; kubectl label rolebinding b a=b
kubectl create cronjob cj --image=busybox --schedule=@daily; kubectl label node node-1 a=b; kubectl apply -f c.yaml"#;

const FILES: [(&str, &str); 9] = [
    (
        "a.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: other}\nspec:\n  replicas: 0\n  selector: {matchLabels: {app: other}}\n  template:\n    metadata: {labels: {app: other}}\n    spec: {containers: [{name: nginx, image: nginx}]}\n",
    ),
    (
        "b.yaml",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\n",
    ),
    ("c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, labels: {a: b}}\ndata: {k: v}\n"),
    ("s.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n"),
    ("p.yaml", "data: {k: z}\n"),
    ("env", "A=b\n"),
    ("c.pem", "not a certificate"),
    ("k.pem", "not a key"),
    ("k/kustomization.yaml", "resources: []\nconfigMapGenerator: [{name: made, literals: [a=b]}]\n"),
];

/// What a line with a flag that works never says.
const REFUSALS: [&str; 5] = [
    "Kubestep does not do this",
    "unknown flag",
    "unknown shorthand",
    "flag needs an argument",
    "invalid argument",
];

/// One line of the table: what makes the line with the flag and, if something does, the one without; and whether the two
/// differ.
struct Line<'a> {
    more: &'a str,
    without: &'a str,
    seen: bool,
}

fn table(text: &str) -> BTreeMap<&str, Line<'_>> {
    let mut all = BTreeMap::new();
    for line in text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        let (name, rest) = line.split_once(" | ").unwrap_or_else(|| panic!("no line: {line}"));
        let (more, without) = rest.split_once(" |").unwrap_or((rest, ""));
        let seen = !name.starts_with('~');
        let told = Line { more: more.trim(), without: without.trim(), seen };
        assert!(all.insert(name.trim_start_matches('~'), told).is_none(), "twice: {name}");
    }
    all
}

/// The line that a base and what stands in the table make.
fn whole(base: &str, more: &str) -> String {
    match more.strip_prefix('=') {
        Some(line) => format!("kubectl {line}"),
        // What is run in a container stands at the end.
        None => match base.split_once(" -- ") {
            Some((before, after)) => format!("kubectl {before} {more} -- {after}"),
            None => format!("kubectl {base} {more}"),
        },
    }
}

struct Runs {
    page: Page,
    files: Vec<Doc>,
    known: BTreeMap<String, (String, Option<i32>)>,
}

impl Runs {
    fn new() -> Runs {
        let mut page = Page::open("empty");
        for image in ["nginx", "busybox"] {
            page.send(Command::Image(ImageAct::Push(image.into())));
        }
        let files = FILES.map(|(name, text)| Doc { name: name.into(), text: text.into() }).to_vec();
        let mut runs = Runs { page, files, known: BTreeMap::new() };
        for line in OBJECTS.lines() {
            runs.run(line);
        }
        runs.page.send(Command::Advance { millis: 60_000 });
        runs
    }

    fn run(&mut self, line: &str) -> (String, Option<i32>) {
        let braces = line.contains('{');
        let words: Vec<String> = line
            .split(' ')
            .map(|w| if braces && w.contains('{') { format!("'{w}'") } else { w.into() })
            .collect();
        let line = if line.contains(';') { line.to_owned() } else { words.join(" ") };
        self.page.send(Command::Kubectl { terminal: 0, line, files: self.files.clone() });
        for _ in 0..2 {
            if self.page.terminal().1.is_none() {
                self.page.send(Command::Advance { millis: 3_000 });
            }
        }
        let said = self.page.terminal();
        if said.1.is_none() {
            self.page.send(Command::Interrupt { terminal: 0 });
        }
        said
    }

    /// What a line without the flag says.
    fn without(&mut self, line: String) -> (String, Option<i32>) {
        if let Some(said) = self.known.get(&line) {
            return said.clone();
        }
        let said = self.run(&line);
        self.known.insert(line, said.clone());
        said
    }
}

/// The flags of a command that are said to work.
fn working(command: &str) -> Vec<&'static str> {
    let words: Vec<&str> = if command == "global" { vec!["get"] } else { command.split(' ').collect() };
    let Some(Following::Command(_, done)) = following(&words) else { return vec![] };
    let all = upstream::all().find(|(name, _)| *name == command).map(|(_, flags)| flags).unwrap_or_default();
    all.iter().map(|(_, flag)| *flag).filter(|flag| done.iter().any(|(name, _)| name == flag)).collect()
}

#[test]
fn every_flag_that_works_is_run_and_does_something() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engine/flags.txt");
    let text = std::fs::read_to_string(path).expect("the table");
    let table = table(&text);
    let (mut runs, mut wrong, mut count) = (Runs::new(), vec![], 0);
    for (command, _) in upstream::all() {
        for flag in working(command) {
            let own = format!("{command} --{flag}");
            let line = table.get(own.as_str()).or_else(|| table.get(format!("--{flag}").as_str()));
            let (Some(base), Some(line)) = (table.get(command), line) else {
                wrong.push(format!("{own}: no line"));
                continue;
            };
            count += 1;
            let with = whole(base.more, line.more);
            let said = runs.run(&with);
            if let Some(refusal) = REFUSALS.iter().find(|r| said.0.contains(**r)) {
                wrong.push(format!("{own}: {with}: {refusal}: {}", said.0));
            }
            if line.seen && said == runs.without(whole(base.more, line.without)) {
                wrong.push(format!("{own}: {with}: the same without it: {}", said.0));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 700, "{count}");
}
