//! Checking drafts: kubectl's and the API server's words, with places and remedies.

use crate::page::Page;
use kubestep_protocol::{At, Severity};

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: cart
spec:
  replicas: 2
  selector:
    matchLabels:
      app: cart
  template:
    metadata:
      labels:
        app: cart
    spec:
      containers:
      - name: cart
        image: registry.example.com/cart:4.2.0
";

/// Problems, notes and changes as lines.
fn told(page: &mut Page, text: &str) -> Vec<String> {
    let checked = page.check(text);
    let place = |p: kubestep_protocol::Place| format!("{}:{}+{}", p.line, p.column, p.length);
    let mut lines = vec![];
    for p in &checked.problems {
        let kind = if p.severity == Severity::Error { "error" } else { "warning" };
        let remedy = p.remedy.as_ref().map_or(String::new(), |e| {
            format!(" | {} {} -> {}", e.words.plain(At(0)), place(e.place), e.with)
        });
        lines.push(format!("{kind} {} {}{remedy}", place(p.place), p.message));
    }
    lines.extend(checked.notes.iter().map(|n| format!("note {} {}", place(n.place), n.words.plain(At(0)))));
    let value = |v: &Option<String>| v.clone().unwrap_or("-".into());
    lines.extend(
        checked
            .changes
            .iter()
            .map(|c| format!("change {} {} {} -> {}", c.object, c.field, value(&c.before), value(&c.after))),
    );
    lines
}

#[test]
fn mistakes_are_marked_where_they_stand() {
    let mut page = Page::open("P15");
    let strict = "unknown field";
    for (from, to, want) in [
        ("replicas: 2", "replica: 2", vec![format!("error 6:3+7 {strict} \"spec.replica\" | Did you mean replicas? 6:3+7 -> replicas")]),
        ("image: reg", "imge: reg", vec![format!("error 17:9+4 {strict} \"spec.template.spec.containers[0].imge\" | Did you mean image? 17:9+4 -> image")]),
        (
            "replicas: 2",
            "replicas: two",
            vec!["error 6:13+3 Error from server (BadRequest): error when creating \"m.yaml\": Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32".into()],
        ),
        ("replicas: 2", "replicas: -2", vec!["error 6:13+2 spec.replicas: Invalid value: -2: must be greater than or equal to 0".into()]),
        (
            "image: registry.example.com/cart:4.2.0",
            "image: registry.example.com/cart:4.2.0\n        imagePullPolicy: Alway",
            vec!["error 18:26+5 spec.template.spec.containers[0].imagePullPolicy: Unsupported value: \"Alway\": supported values: \"Always\", \"IfNotPresent\", \"Never\" | Did you mean Always? 18:26+5 -> Always".into()],
        ),
        (
            "kind: Deployment",
            "kind: Deploymnt",
            vec!["error 2:7+9 error: resource mapping not found for name: \"other\" namespace: \"\" from \"m.yaml\": no matches for kind \"Deploymnt\" in version \"apps/v1\"\nensure CRDs are installed first | Did you mean Deployment? 2:7+9 -> Deployment".into()],
        ),
        (
            "apiVersion: apps/v1",
            "apiVersion: apps/v1beta1",
            vec!["error 1:13+12 error: resource mapping not found for name: \"other\" namespace: \"\" from \"m.yaml\": no matches for kind \"Deployment\" in version \"apps/v1beta1\"\nensure CRDs are installed first | Did you mean apps/v1? 1:13+12 -> apps/v1".into()],
        ),
        ("name: other", "name: Other", vec!["error 4:9+5 metadata.name: Invalid value: \"Other\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')".into()]),
    ] {
        let text = DEPLOYMENT.replacen("name: cart", "name: other", 1);
        assert!(text.contains(from), "{from}");
        let found: Vec<String> = told(&mut page, &text.replacen(from, to, 1)).into_iter().filter(|l| l.starts_with("error")).collect();
        assert_eq!(found, want, "{to}");
    }
}

#[test]
fn yaml_that_cannot_be_read_has_a_place() {
    let mut page = Page::open("P15");
    for (text, line) in [
        ("a: [1\n", 2),
        ("a: b: c\n", 1),
        ("a:\n\tb: 1\n", 2),
        ("a: 1\n---\n- x\n  - y: [\n", 4),
        ("\u{0}\u{1}binary", 1),
    ] {
        let checked = page.check(text);
        let problem = checked.problems.last().unwrap_or_else(|| panic!("{text:?} is refused"));
        assert!(problem.message.starts_with("error"), "{problem:?}");
        assert!(problem.place.line >= 1 && problem.place.line <= line, "{text:?}: {problem:?}");
    }
}

#[test]
fn the_teacher_sees_what_apply_does_not_look_at() {
    let mut page = Page::open("P05");
    let text = page.doc().text;
    assert_eq!(
        told(&mut page, &text),
        [
            "note 17:46+5 Not in the registry. Apply does not look there.",
            "change deployment/checkout image checkout:1.9.1 -> checkout:1.9.2",
        ]
    );
    let good = text.replace("1.9.2", "1.9.1");
    assert_eq!(told(&mut page, &good), Vec::<String>::new());
    let typo = good.replace("selector:\n    app: checkout", "selector:\n    app: chekout");
    // The running pods would still be there; but none of them has that label either.
    assert_eq!(
        told(&mut page, &typo),
        [
            "note 25:10+7 No pod has these labels; the template in this file has app: checkout. A Service may select nothing, and nobody says so.",
            "change service/checkout spec.selector.app checkout -> chekout",
        ]
    );
    let twice = good.replace("  replicas: 3\n", "  replicas: 3\n  replicas: 4\n");
    let found = told(&mut page, &twice);
    assert_eq!(
        found[0],
        "note 7:3+8 replicas stands here twice. The last one counts; kubectl does not say so."
    );
    assert_eq!(found[1], "change deployment/checkout spec.replicas 3 -> 4");
    let more = good.replace("1.9.1\n", "1.9.1\n        resources: {requests: {cpu: 16}}\n        envFrom: [{configMapRef: {name: settings}}]\n");
    let found = told(&mut page, &more);
    assert_eq!(
        found[0],
        "note 18:37+2 The biggest node has 4 cpu. No node will fit, and the pod will wait; apply does not look."
    );
    assert_eq!(
        found[1],
        "note 19:41+8 There is no ConfigMap settings. The container will wait for it; apply does not look."
    );
    let custom = "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: x}\nspec: {controller: example.com/x}\n";
    assert_eq!(
        told(&mut page, custom),
        [
            "note 2:7+12 An object with no loop behind it: it is stored, and nothing acts on it.",
            "change ingressclass/x  - -> new"
        ]
    );
}

#[test]
fn applying_makes_the_draft_what_was_applied() {
    let mut page = Page::open("P05");
    let doc = page.doc();
    let check = |page: &mut Page| {
        page.send(kubestep_protocol::Command::Check { doc: doc.clone(), version: 1 });
        page.answers
            .iter()
            .find_map(|u| if let kubestep_protocol::Update::Checked(c) = u { Some(c.clone()) } else { None })
            .expect("checked")
    };
    assert_eq!(check(&mut page).applied, None);
    page.apply(doc.clone());
    let checked = check(&mut page);
    assert!(checked.applied.is_some() && checked.changes.is_empty(), "{checked:?}");
    page.send(kubestep_protocol::Command::Back);
    while page.frame().head.apply.is_some() {
        page.send(kubestep_protocol::Command::Back);
    }
    assert_eq!(check(&mut page).applied, None, "not yet, in the past");
}

/// Before an apply takes a number back that was set by hand, the list of changes says who set it.
#[test]
fn what_would_change_says_who_wrote_the_present_value() {
    let mut page = Page::open("empty");
    let file = |replicas: u32, image: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: web}}}}\n  \
             template:\n    metadata: {{labels: {{app: web}}}}\n    spec: {{containers: [{{name: side, image: \"side:1\"}}, {{name: web, image: \"{image}\"}}]}}\n"
        )
    };
    page.apply(kubestep_protocol::Doc { name: "web.yaml".into(), text: file(3, "web:1") });
    let writers = |page: &mut Page, text: &str| -> Vec<String> {
        let row = |c: kubestep_protocol::WouldChange| {
            let [before, after, writer] = [c.before, c.after, c.writer].map(Option::unwrap_or_default);
            format!("{} {before} -> {after}, {writer}", c.field)
        };
        page.check(text).changes.into_iter().map(row).collect()
    };
    let own = ["spec.replicas 3 -> 4, kubectl-client-side-apply"];
    assert_eq!(writers(&mut page, &file(4, "web:1")), own);
    page.kubectl("scale deployment/web --replicas=10");
    page.kubectl("set image deployment/web web=web:9");
    let hand = [
        "spec.replicas 10 -> 3, kubectl (scale)",
        "spec.template.spec.containers[1].image web:9 -> web:1, kubectl-set",
    ];
    assert_eq!(writers(&mut page, &file(3, "web:1")), hand);
    assert_eq!(writers(&mut page, &file(10, "web:9")), Vec::<String>::new());
}

/// Every recorded verdict about one plain file: refused or not as recorded, with a place inside the file.
#[test]
fn recorded_verdicts_are_told_while_typing() {
    let mut page = Page::open("empty");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/verdicts");
    let (mut seen, mut wrong) = (0, vec![]);
    for area in ["deployment", "metadata", "pod", "service", "config", "typos"] {
        let read =
            |end: &str| std::fs::read_to_string(format!("{folder}/{area}.{end}")).expect("the recording");
        let cases = kubestep_model::yaml::read(&read("yaml")).documents.remove(0).value;
        let records: serde_json::Value = serde_json::from_str(&read("json")).expect("JSON");
        let records = records.get("cases").unwrap_or(&records).as_array().expect("a list").clone();
        for (case, record) in cases["cases"].as_array().expect("a list").iter().zip(&records) {
            assert_eq!(case["name"], record["name"]);
            let plain = ["setup", "command", "commands", "files"].iter().all(|k| case.get(k).is_none());
            let (Some(text), Some(exit), true) = (case["manifest"].as_str(), record["exit"].as_i64(), plain)
            else {
                continue;
            };
            if text.contains("${repeat") || text.is_empty() {
                continue;
            }
            seen += 1;
            let checked = page.check(text);
            let refused = checked.problems.iter().any(|p| p.severity == Severity::Error);
            let lines = u32::try_from(text.split('\n').count()).expect("few");
            let inside = checked
                .problems
                .iter()
                .all(|p| p.place.line >= 1 && p.place.line <= lines && p.place.column >= 1);
            let stderr = record["stderr"].as_str().unwrap_or("");
            let spoken = checked.problems.iter().all(|p| {
                let said = p.message.trim_start_matches("Error from server (BadRequest): ");
                said.lines().all(|line| stderr.contains(line.trim())) || case.get("unordered").is_some()
            });
            if refused != (exit != 0) || !inside || !spoken {
                wrong.push(format!(
                    "{area}/{}: exit {exit}: {:?} <- {stderr}",
                    case["name"], checked.problems
                ));
            }
        }
    }
    assert!(seen > 300, "{seen}");
    assert!(wrong.is_empty(), "{} of {seen}: {}", wrong.len(), wrong.join("\n"));
}

#[test]
fn large_files_are_answered() {
    let mut page = Page::open("P15");
    let many: String = (0..20_000)
        .map(|i| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{i}}}\ndata: {{a: b}}\n"))
        .collect();
    assert!(many.len() > 1_000_000);
    assert!(page.check(&many).problems.is_empty());
    let data: String =
        (0..40_000).map(|i| format!("  key-{i}: a value that is not very short at all\n")).collect();
    let one = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: big}}\ndata:\n{data}");
    assert!(one.len() > 2_000_000);
    let checked = page.check(&one);
    assert!(
        checked.problems.iter().any(|p| p.message.contains("Too long") || p.message.contains("too large")),
        "{:?}",
        checked.problems
    );
    let huge = "# nothing\n".repeat(500_000);
    assert!(page.check(&huge).problems[0].message.contains("4 MiB"));
}

#[test]
fn the_field_under_the_cursor_is_told() {
    let mut page = Page::open("P15");
    let text = DEPLOYMENT.replacen("name: cart", "name: other", 1);
    let doc = kubestep_protocol::Doc { name: "m.yaml".into(), text };
    let mut told = |line: u32, column: u32| {
        page.send(kubestep_protocol::Command::Field { doc: doc.clone(), line, column });
        page.answers.iter().find_map(|u| match u {
            kubestep_protocol::Update::Field(Some(f)) => {
                Some(format!("{} {} {} {:?}", f.path, f.holds, f.required, f.default))
            }
            _ => None,
        })
    };
    for (line, column, want) in [
        (6, 4, Some("spec.replicas integer false Some(\"1\")")),
        (16, 10, Some("spec.template.spec.containers.name string true None")),
        (9, 8, Some("spec.selector.matchLabels map[string]string false None")),
        (7, 5, Some("spec.selector LabelSelector true None")),
        (40, 1, None),
    ] {
        assert_eq!(told(line, column).as_deref(), want, "{line}:{column}");
    }
}

#[test]
fn a_wrong_type_in_an_object_that_is_there_stands_at_its_field() {
    let mut page = Page::open("P15");
    page.apply(kubestep_protocol::Doc { name: "m.yaml".into(), text: DEPLOYMENT.into() });
    let limits = "cart:4.2.0\n        resources:\n          requests:\n            cpu: 100mm";
    for (from, to, place) in [
        ("replicas: 2", "replicas: \"2\"", "6:13+3"),
        ("  name: cart\nspec", "  name: cart\n  labels:\n    app: true\nspec", "6:10+4"),
        ("cart:4.2.0", limits, "20:18+5"),
    ] {
        let text = DEPLOYMENT.replacen(from, to, 1);
        let found: Vec<String> =
            told(&mut page, &text).into_iter().filter(|l| l.starts_with("error")).collect();
        assert_eq!(found.len(), 1, "{to}: {found:?}");
        assert!(found[0].starts_with(&format!("error {place} ")), "{to}: {found:?}");
        assert!(!found[0].contains("map["), "{to}: {found:?}");
    }
}

#[test]
fn a_wrong_label_stands_at_its_own_line_and_a_wrong_type_of_a_definition_at_its_field() {
    let mut page = Page::open("P15");
    for (from, to, place) in [
        ("  name: cart\nspec", "  name: cart\n  labels:\n    a: b\n    app: no good\nspec", "7:10+7"),
        ("  name: cart\nspec", "  name: cart\n  labels:\n    a: b\n    -app: good\nspec", "7:5+4"),
        ("      app: cart\n  template", "      app: cart\n      b: -c\n  template", "10:10+2"),
    ] {
        let found = told(&mut page, &DEPLOYMENT.replacen(from, to, 1));
        assert!(found.iter().any(|l| l.starts_with(&format!("error {place} "))), "{to}: {found:?}");
        assert!(found.iter().all(|l| !l.starts_with("error 5:3+6")), "{to}: {found:?}");
    }
    let found = told(&mut page, &WIDGETS.replace("size: {type: integer}", "size: {type: int}"));
    assert!(found.iter().any(|l| l.starts_with("error 15:69+3 ")), "{found:?}");
}

const WIDGETS: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}}}}
";

#[test]
fn the_check_knows_the_kinds_that_the_world_defines() {
    let mut page = Page::open("P15");
    page.apply(kubestep_protocol::Doc { name: "crd.yaml".into(), text: WIDGETS.into() });
    page.send(kubestep_protocol::Command::UntilCalm);
    let widget =
        |spec: &str| format!("apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: w\nspec:\n{spec}");
    let wrong = widget("  size: 2\n  colr: red\n");
    let want = ["error 7:3+4 unknown field \"spec.colr\""];
    assert_eq!(told(&mut page, &wrong), want);
    let right = widget("  size: 2\n");
    assert!(told(&mut page, &right).iter().all(|l| !l.starts_with("error")));
    page.apply(kubestep_protocol::Doc { name: "m.yaml".into(), text: right });
    assert_eq!(told(&mut page, &wrong), want, "of one that is there as well");
}

#[test]
fn fields_of_a_defined_kind_are_guessed_from_its_schema() {
    let mut page = Page::open("P15");
    let doc = kubestep_protocol::Doc { name: "widgets.yaml".into(), text: WIDGETS.into() };
    let (said, exit) = page.apply(doc);
    assert_eq!(exit, Some(0), "{said}");
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: w\nspec:\n  sze: 1\n";
    let found = told(&mut page, widget);
    let want = "error 6:3+3 unknown field \"spec.sze\" | Did you mean size? 6:3+3 -> size";
    assert!(found.iter().any(|line| line == want), "{found:#?}");
}
