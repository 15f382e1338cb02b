//! Lines that a person may type wrong: each gets words and an exit code.

use kubestep_kubectl::{Kubectl, Shell};
use kubestep_model::{
    Answer, Dice, Instant, Kind, Object, Status, Verb,
    client::{Chunk, Client, ClientAsk, ClientTold, ClientTurn, Rest, Stream, WatchEvent},
};
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc};

fn files() -> Arc<BTreeMap<String, String>> {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n";
    Arc::new(BTreeMap::from([
        ("p.yaml".to_owned(), pod.to_owned()),
        ("empty.yaml".to_owned(), "# nothing\n".to_owned()),
        ("broken.yaml".to_owned(), "a: [b\n".to_owned()),
    ]))
}

/// A cluster with one deployment and one pod.
fn objects() -> Vec<Object> {
    let meta = |name: &str| json!({"name": name, "namespace": "default", "uid": name, "resourceVersion": "7", "labels": {"app": "web"}});
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}});
    let deployment = json!({"metadata": meta("web"), "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}});
    let pod = json!({"metadata": meta("web-1"), "spec": template["spec"], "status": {"phase": "Running"}});
    vec![
        Object::from_value(Kind::Deployment, deployment).expect("a deployment"),
        Object::from_value(Kind::Pod, pod).expect("a pod"),
    ]
}

fn answer(ask: &ClientAsk) -> ClientTold {
    let ClientAsk::Api(request) = ask else {
        return match ask {
            // One change of the pod, then nothing.
            ClientAsk::Watch { kind: Kind::Pod, from: 7, until: None, .. } => {
                let mut pod = objects().remove(1);
                pod.meta_mut().name = "web-with-a-longer-name".into();
                ClientTold::Events { events: vec![WatchEvent::Added(pod)], revision: 8 }
            }
            ClientAsk::Watch { from, .. } => ClientTold::Events { events: vec![], revision: *from },
            ClientAsk::Sleep(_) => ClientTold::Slept,
            ClientAsk::Discover => ClientTold::Definitions(Default::default()),
            _ => ClientTold::Text(Ok(("text\n".into(), 3))),
        };
    };
    let all = objects();
    let found = |key: &kubestep_model::Key| all.iter().find(|o| o.key() == *key).cloned();
    ClientTold::Reply(match &request.verb {
        Verb::List { kind, .. } => {
            Ok(Answer::List { items: all.into_iter().filter(|o| o.kind() == *kind).collect(), revision: 7 })
        }
        Verb::Get { key, .. }
        | Verb::Patch { key, .. }
        | Verb::Delete { key, .. }
        | Verb::Replace { key, .. } => found(key)
            .map(|object| Answer::Object { object, warnings: vec![] })
            .ok_or_else(|| Status::not_found(key.kind, &key.name)),
        other => Err(Status::bad_request(format!("{} is refused", other.name()))),
    })
}

/// Exit code, standard output and standard error of a line.
fn run(line: &str) -> (i32, String, String) {
    play(&Kubectl::new(line, files(), "default"), line)
}

/// The same of any program.
fn play(client: &dyn Client, line: &str) -> (i32, String, String) {
    played(client, line, false)
}

/// The same, run again from its start with each answer, or gone on with from where it stands.
fn played(client: &dyn Client, line: &str, rests: bool) -> (i32, String, String) {
    let (mut told, mut turns): (Vec<ClientTurn>, usize) = (vec![], 0);
    let (mut rest, mut stands): (Option<Rest>, Vec<Chunk>) = (None, vec![]);
    loop {
        let (program, begun) = rest.as_ref().map_or((client, Instant::START), |r| (&*r.program, r.at));
        let progress = program.run(begun, &told);
        let all = [&stands[..], &progress.output].concat();
        let join = |stream: Stream| {
            all.iter().filter(|c| c.stream == stream).map(|c| c.text.as_str()).collect::<String>()
        };
        for chunk in &progress.output {
            for span in &chunk.spans {
                assert!(
                    chunk.text.get(span.start as usize..span.end as usize).is_some(),
                    "{line}: a span lies outside"
                );
            }
        }
        let ask = match progress.next {
            Ok(code) => return (code, join(Stream::Out), join(Stream::Err)),
            Err(ask) => ask,
        };
        let told_now = answer(&ask);
        let at = match &ask {
            ClientAsk::Watch { until, .. } => until.unwrap_or(Instant::NEVER),
            _ => Instant::START,
        };
        let waits_for_ever = matches!(
            &ask,
            ClientAsk::Watch { until: None, from: 8.., .. }
                | ClientAsk::Watch { kind: Kind::Deployment | Kind::Event, until: None, .. }
        );
        turns += 1;
        // These go on until somebody stops them.
        if waits_for_ever || turns >= 12 && (line.contains("watch ") || line.contains("log")) {
            return (0, join(Stream::Out), join(Stream::Err));
        }
        assert!(turns < 2_000, "{line} does not end");
        if let Some(left) = progress.rest.filter(|_| rests) {
            stands.extend(progress.output.into_iter().take(left.printed));
            told.drain(..left.turns);
            rest = Some(left);
        }
        told.push(ClientTurn { ask, told: told_now, at });
    }
}

#[test]
#[allow(clippy::too_many_lines)] // A table.
fn wrong_lines_get_kubectls_words() {
    let resources = "You must provide one or more resources by argument or filename.\nExample resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'\n";
    for (line, want) in [
        (
            "kubectl aply -f m.yaml",
            "error: unknown command \"aply\" for \"kubectl\"\n\nDid you mean this?\n\tapply\n",
        ),
        (
            "kubectl gett pods",
            "error: unknown command \"gett\" for \"kubectl\"\n\nDid you mean this?\n\tset\n\tget\n",
        ),
        ("kubectl get deploy --foo", "error: unknown flag: --foo\nSee 'kubectl get --help' for usage.\n"),
        ("kubectl apply", "error: must specify one of -f and -k\n"),
        ("kubectl create", "error: must specify one of -f and -k\n"),
        (
            "kubectl apply m.yaml",
            "error: Unexpected args: [m.yaml]\nSee 'kubectl apply -h' for help and examples\n",
        ),
        ("kubectl apply -f missing.yaml", "error: the path \"missing.yaml\" does not exist\n"),
        ("kubectl apply -f empty.yaml", "error: no objects passed to apply\n"),
        (
            "kubectl apply -f p.yaml --validate=maybe",
            "error: invalid - validate option \"maybe\"; must be one of: strict (or true), warn, ignore (or false)\n",
        ),
        ("kubectl delete", &format!("error: {resources}")),
        ("kubectl scale --replicas=2", &format!("error: {resources}")),
        ("kubectl delete cm", "error: resource(s) were provided, but no name was specified\n"),
        ("kubectl delete widgets one", "error: the server doesn't have a resource type \"widgets\"\n"),
        ("kubectl get widgets", "error: the server doesn't have a resource type \"widgets\"\n"),
        (
            "kubectl rollout cart",
            "error: unknown command \"cart\"\nSee 'kubectl rollout -h' for help and examples\n",
        ),
        ("kubectl get deploy none", "Error from server (NotFound): deployments.apps \"none\" not found\n"),
        (
            "kubectl delete deploy/a svc/b",
            "Error from server (NotFound): deployments.apps \"a\" not found\nError from server (NotFound): services \"b\" not found\n",
        ),
        (
            "kubectl get pods,svc none",
            "Error from server (NotFound): pods \"none\" not found\nError from server (NotFound): services \"none\" not found\n",
        ),
        (
            "kubectl logs none",
            "error: error from server (NotFound): pods \"none\" not found in namespace \"default\"\n",
        ),
        (
            "kubectl label deploy web app=x",
            "error: 'app' already has a value (web), and --overwrite is false\n",
        ),
        ("kubectl scale deploy web", "error: required flag(s) \"replicas\" not set\n"),
        ("kubectl run p2", "error: required flag(s) \"image\" not set\n"),
        (
            "kubectl patch deploy none -p '{}'",
            "Error from server (NotFound): deployments.apps \"none\" not found\n",
        ),
        (
            "kubectl wait --for=jsonpath={.spec.replicas}=9 deploy/web --timeout=1s",
            "error: timed out waiting for the condition on deployments/web\n",
        ),
        (
            "kubectl get pods -o what",
            "error: unable to match a printer suitable for the output format \"what\", allowed formats are: custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,wide,yaml\n",
        ),
        (
            "kubectl get pods -l 'a in (b'",
            "Error from server (BadRequest): Unable to find \"/v1, Resource=pods\" that match label selector \"a in (b\", field selector \"\": unable to parse requirement: found '', expected: ',' or ')'\n",
        ),
        ("kubectl port-forward pod/a 80", "error: kubectl port-forward: Kubestep does not do this\n"),
        ("kubectl get pods 'x", "error: unexpected EOF while looking for matching `''\n"),
    ] {
        let (code, _, err) = run(line);
        assert_eq!((code, err.as_str()), (1, want), "{line}");
    }
    assert_eq!(
        run("kubectl get svc -n nowhere"),
        (0, String::new(), "No resources found in nowhere namespace.\n".into())
    );
    assert_eq!(run("kubectl delete cm --all"), (0, "No resources found\n".into(), String::new()));
    assert_eq!(run("kubectl delete cm x --ignore-not-found"), (0, String::new(), String::new()));
}

#[test]
fn a_watched_table_grows() {
    let (_, out, _) = run("kubectl get pods -w");
    let want = "NAME    READY   STATUS    RESTARTS   AGE\nweb-1   0/1     Running   0          <unknown>\nweb-with-a-longer-name   0/1     Running   0          <unknown>\n";
    assert_eq!(out, want);
    assert_eq!(run("kubectl get pods -w -o name -l app=web").1, "pod/web-1\npod/web-with-a-longer-name\n");
}

#[test]
#[allow(clippy::too_many_lines)] // A table.
fn any_line_ends_with_words() {
    let words = [
        "kubectl",
        "get",
        "describe",
        "apply",
        "delete",
        "scale",
        "set",
        "image",
        "env",
        "resources",
        "selector",
        "rollout",
        "status",
        "undo",
        "history",
        "restart",
        "pause",
        "resume",
        "label",
        "annotate",
        "patch",
        "replace",
        "create",
        "run",
        "logs",
        "exec",
        "wait",
        "cordon",
        "taint",
        "pods",
        "deploy",
        "deploy/web",
        "deployment.apps",
        "web",
        "svc,po",
        "all",
        "-f",
        "p.yaml",
        "broken.yaml",
        "-o",
        "wide",
        "yaml",
        "json",
        "name",
        "jsonpath={.items[*].a",
        "custom-columns=A:.b",
        "-l",
        "app=web",
        "a in (b",
        "-A",
        "-n",
        "x",
        "--replicas=3",
        "--replicas",
        "-1",
        "--to-revision=2",
        "--all",
        "--",
        "a=b",
        "a-",
        "k=v:NoSchedule",
        "--overwrite",
        "-p",
        "{",
        "[]",
        "--type=json",
        "--for=delete",
        "--timeout=1s",
        "--dry-run=client",
        "--dry-run",
        "--force",
        "--sort-by=.metadata.name",
        "--field-selector",
        "'",
        "\"",
        "\\",
        "",
        "é\u{1b}",
        "--cascade",
        "--watch=false",
        "--image=x",
        "--show-labels",
        "-L",
        "--no-headers",
        "--help",
        "--grace-period=0",
        "-w",
        "--watch-only",
        "expose",
        "autoscale",
        "drain",
        "diff",
        "events",
        "explain",
        "config",
        "set-context",
        "auth",
        "can-i",
        "top",
        "api-resources",
        "secret",
        "generic",
        "service",
        "clusterip",
        "ingress",
        "configmap",
        "deployment",
        "cronjob",
        "role",
        "quota",
        "--rule=a/b=c:d",
        "--tcp=80:x",
        "--from-literal=a=b",
        "--from-file=p.yaml",
        "--verb=get",
        "--resource=pods",
        "--hard=a=1",
        "--schedule=x",
        "--from=cronjob/x",
        "--overrides={}",
        "--min=1",
        "--max=2",
        "--cpu=50%",
        "node-1",
        "deployments.apps.spec.template",
        "--recursive",
        "kustomize",
        "edit",
        "-k",
        ".",
        "token",
        "logs -f",
        "--since=1s",
        "--timestamps",
        "--list",
        "--as=dana",
        "--append-hash",
    ];
    let signs =
        ["|", "||", "&&", ";", "|grep", "|wc -l", "| sort", "<<a", "<", "watch", "sleep 1;", "cat", "echo"];
    let mut dice = Dice::new(7);
    let mut draw = |n: usize| dice.below("line", u32::try_from(n).unwrap_or(1)) as usize;
    for _ in 0..5_000 {
        let mut line: Vec<&str> = vec![];
        for _ in 0..1 + draw(8) {
            line.push(if draw(3) == 0 { signs[draw(signs.len())] } else { words[draw(words.len())] });
        }
        let line = line.join(" ");
        play(&Shell::new(&line, files(), "default"), &line);
    }
    for _ in 0..10_000 {
        let mut line: Vec<&str> = vec!["kubectl"];
        line.extend((0..1 + draw(7)).map(|_| words[draw(words.len())]));
        let line = line.join(" ");
        let (code, out, err) = run(&line);
        let silent = out.is_empty() && err.is_empty();
        assert!(code == 0 || !silent, "{line}: exit code {code} without a word");
    }
}

/// Lines of the recorded sessions, changed as fingers slip: words lost, doubled, swapped, cut, taken from elsewhere.
#[test]
fn mistyped_real_lines_end_with_words() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/sessions");
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    names.retain(|p| p.extension().is_some_and(|e| e == "json"));
    names.sort();
    let mut real: Vec<String> = Vec::new();
    for name in names {
        let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(name).unwrap()).unwrap();
        let steps = value["steps"].as_array().cloned().unwrap_or_default();
        let lines = steps.iter().filter_map(|s| s["command"].as_str());
        real.extend(lines.filter(|l| l.starts_with("kubectl ")).map(str::to_owned));
    }
    assert!(real.len() > 500, "{} lines", real.len());
    let mut dice = Dice::new(11);
    let mut draw = |n: usize| dice.below("line", u32::try_from(n.max(1)).unwrap_or(1)) as usize;
    for round in 0..4_000 {
        let mut words: Vec<String> = real[draw(real.len())].split(' ').map(str::to_owned).collect();
        for _ in 0..1 + draw(3) {
            let at = 1 + draw(words.len().saturating_sub(1));
            let Some(word) = words.get(at).cloned() else { break };
            match draw(6) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, word),
                2 => {
                    let last = words.len() - 1;
                    words.swap(at, last);
                }
                3 => words[at] = word.chars().take(draw(word.chars().count() + 1)).collect(),
                4 => {
                    let other: Vec<&str> = real[draw(real.len())].split(' ').collect();
                    words[at] = other[draw(other.len())].to_owned();
                }
                _ => {
                    let letters: Vec<char> = word.chars().collect();
                    let slip = ['-', '=', '/', '.', ',', '\'', '"', '|', 'x', '{'][draw(10)];
                    let place = draw(letters.len() + 1);
                    words[at] = letters[..place].iter().chain([&slip]).chain(&letters[place..]).collect();
                }
            }
        }
        let line = words.join(" ");
        let (code, out, err) =
            if round % 2 == 0 { run(&line) } else { play(&Shell::new(&line, files(), "default"), &line) };
        let silent = out.is_empty() && err.is_empty();
        // A pipe may leave nothing over.
        assert!(code == 0 || !silent || line.contains('|'), "{line}: exit code {code} without a word");
    }
}

/// A line of a shell, as deep as that: commands, pipes, loops, what is put in, texts that lie in the line.
fn shell_line(draw: &mut dyn FnMut(usize) -> usize, depth: usize) -> String {
    const COMMANDS: [&str; 24] = [
        "kubectl get pods",
        "kubectl get deploy web -o name",
        "get pods -o jsonpath={.items[*].metadata.name}",
        "k scale deploy web --replicas=$i",
        "kubectl get pod $i",
        "kubectl label pod web-1 a=$A",
        "kubectl apply -f p.yaml",
        "kubectl delete pod \"$i\"",
        "gte pods",
        "kubctl get pods",
        "sleep 1",
        "echo $i",
        "echo '$i' \"$A b\"",
        "cat p.yaml",
        "cat none",
        "seq 3",
        "seq 2 1",
        "A=$i",
        "export A=1 B=$A",
        "true",
        "false",
        "exit 3",
        "kubectl explain pods",
        "kubectl get pods -w",
    ];
    const FILTERS: [&str; 10] = [
        "grep w",
        "wc -l",
        "head -1",
        "sort",
        "tail -n 2",
        "uniq",
        "cut -d / -f 2",
        "cat",
        "kubectl apply -f -",
        "jq .",
    ];
    const WORDS: [&str; 9] =
        ["a b", "{1..3}", "$A", "$(seq 2)", "'x y'", "web-1", "", "$(kubectl get pods -o name)", "{3..1}"];
    if depth == 0 {
        return COMMANDS[draw(COMMANDS.len())].to_owned();
    }
    let inner = |draw: &mut dyn FnMut(usize) -> usize| shell_line(draw, depth - 1);
    match draw(9) {
        0 | 1 => format!(
            "for i in {} {}; do {}; done",
            WORDS[draw(WORDS.len())],
            WORDS[draw(WORDS.len())],
            inner(draw)
        ),
        2 => format!("{} {} {}", inner(draw), [";", "&&", "||", "|", "\n"][draw(5)], inner(draw)),
        3 | 4 => format!("{} | {}", inner(draw), FILTERS[draw(FILTERS.len())]),
        5 => format!("A=$({}); {}", inner(draw), inner(draw)),
        6 => format!("echo {} `{}`", ["$?", "$A", "$i", "$Z"][draw(4)], inner(draw)),
        7 => format!("cat <<EOF | {}\n$i {{1..2}}\nEOF\n{}", FILTERS[draw(FILTERS.len())], inner(draw)),
        _ => format!("for i in {}\ndo\n{}\n{}\ndone", WORDS[draw(WORDS.len())], inner(draw), inner(draw)),
    }
}

/// Whole lines of a shell, two in five with a slip of the fingers: each ends, and what is run again from its start with each
/// answer is what goes on from where it stands.
#[test]
fn lines_of_a_shell_end_with_words() {
    let lines: u32 = std::env::var("KUBESTEP_LINES").ok().and_then(|n| n.parse().ok()).unwrap_or(4_000);
    let mut dice = Dice::new(23);
    let mut draw = |n: usize| dice.below("line", u32::try_from(n.max(1)).unwrap_or(1)) as usize;
    let (mut ended, mut asked) = (0, 0);
    for _ in 0..lines {
        let depth = 1 + draw(3);
        let mut line = shell_line(&mut draw, depth);
        for _ in 0..[0, 0, 0, 1, 3][draw(5)] {
            let letters: Vec<char> = line.chars().collect();
            let (from, slip) = (
                draw(letters.len() + 1),
                ["", "$(", ")", "`", "'", "\"", "|", ";", "do", "done ", "<<EOF\n", "{1..9}", "&& "]
                    [draw(13)],
            );
            let to = (from + draw(3)).min(letters.len());
            line =
                letters[..from].iter().collect::<String>() + slip + &letters[to..].iter().collect::<String>();
        }
        let shell = Shell::new(&line, files(), "default");
        let again = played(&shell, &line, false);
        assert_eq!(again, played(&shell, &line, true), "{line}");
        ended += u32::from(again.0 == 0);
        asked += u32::from(again.1.contains("web"));
    }
    assert!(
        ended > lines / 5 && asked > lines / 20,
        "{ended} of {lines} end with 0, {asked} saw the cluster"
    );
}
