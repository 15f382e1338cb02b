//! Lessons that can be read and prove nothing, each with what it is told.

use super::*;

const GOOD: &str = "---\ntitle: One more\nselect: Deployment/web\n---\n\nTwo pods run.\n\n\
```yaml file web.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n  \
selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: web:1}]}\n```\n\n\
```yaml images\nweb:1: {}\n```\n\n\
```yaml start\n- kubectl: apply -f web.yaml\n- settle: 5\n```\n\n\
```yaml goal\nsay: Three are ready.\nis: pods -l app=web ready == 3\n```\n\n\
```yaml predict\nask: How many?\nanswer: pods count\nbecause: You see them.\n```\n\n\
```yaml wrong\n- settle: 1\n```\n\n\
```yaml solution\n- edit: {file: web.yaml, replace: \"replicas: 2\", with: \"replicas: 3\"}\n- kubectl: apply -f web.yaml\n- settle: 12\n```\n\n\
## Afterwards\n\nWell done.\n";

fn told(from: &str, to: &str) -> Vec<Problem> {
    assert!(GOOD.contains(from), "{from}");
    let source = Source { path: "one.md".into(), text: GOOD.replacen(from, to, 1) };
    check("one.md", &[source], &[]).problems
}

#[test]
fn the_good_one_is() {
    assert_eq!(told("Two", "Two"), []);
}

#[test]
fn each_fault_is_told_once_and_where_it_is() {
    let wrong = "```yaml wrong\n- settle: 1\n```";
    for (from, to, line, part) in [
        ("select: Deployment/web", "select: Deployment/wbe", 1, "there never is a Deployment wbe"),
        ("Two pods run.", "Two pods run. `nobody` does not.", 6, "names `nobody`"),
        ("Two pods run.", "Two pods run, says `spec.suspend`.", 6, "which no kind of this lesson has"),
        ("Two pods run.", "Write `replicas: 3`.", 6, "prints the edit that solves it"),
        ("Well done.", "Well [done](#Pod/none).", 52, "links to Pod/none"),
        (
            "- settle: 1\n",
            "- kubectl: scale deployment web --replicas=3\n- settle: 12\n",
            40,
            "This wrong way meets the goals",
        ),
        (
            "- kubectl: apply -f web.yaml\n- settle: 5",
            "- kubectl: apply -f wbe.yaml\n- kubectl: get nobody\n- settle: 5",
            24,
            "The start cannot be played",
        ),
        ("- settle: 12", "- node: {stop: node-9}\n- settle: 12", 44, "there is no machine node-9"),
        ("- settle: 12", "- exit: {pod: app=nobody, code: 1}\n- settle: 12", 44, "finds no pod"),
        (
            wrong,
            "```yaml wrong\n- probe: {pod: app=nobody, ready: false}\n- settle: 1\n```",
            40,
            "is about no pod that ever is there",
        ),
    ] {
        let problems = told(from, to);
        assert_eq!(problems.len(), 1, "{to}: {problems:?}");
        assert!(problems[0].text.contains(part), "{to}: {}", problems[0]);
        assert_eq!(problems[0].line, line, "{}", problems[0]);
    }
}

#[test]
fn probes_may_be_answered_before_the_pods_are_there() {
    let start = "- kubectl: apply -f web.yaml\n- settle: 5";
    let probe = format!("- probe: {{pod: app=web, ready: true}}\n{start}");
    assert_eq!(told(start, &probe), []);
}

#[test]
fn what_a_run_left_to_be_written_is_found() {
    let find = |from: &str, to: &str| {
        let source = Source { path: "one.md".into(), text: GOOD.replacen(from, to, 1) };
        unwritten("one.md", &[source])
    };
    assert_eq!(find("Two", "Two"), []);
    assert_eq!(find("Two pods run.", "SAY IN a few sentences.").len(), 1);
    assert_eq!(find("ask: How many?", "ask: WHAT WILL happen?").len(), 1);
    // One word of capitals is Kubernetes' own.
    assert_eq!(find("Two pods run.", "READY says two."), []);
}
