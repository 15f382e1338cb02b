//! What people run in containers: the environment, names and requests; nothing is silent.

use crate::page::Page;
use kubestep_protocol::{Command, ImageAct, Update};

const OBJECTS: &str = r#"cat <<EOF | kubectl apply -f -
apiVersion: v1
kind: ConfigMap
metadata: {name: colours}
data: {COLOUR: blue, other: "7"}
---
apiVersion: v1
kind: Service
metadata: {name: old-one}
spec: {ports: [{name: http, port: 8080}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  hostname: front
  containers:
    - name: web
      image: nginx
      ports: [{containerPort: 80}]
      envFrom: [{configMapRef: {name: colours}}]
      env:
        - {name: PLAIN, value: "a $(COLOUR) b $$(COLOUR) $(NONE)"}
        - {name: ME, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}
        - {name: OTHER, valueFrom: {configMapKeyRef: {name: colours, key: other}}}
---
apiVersion: v1
kind: Pod
metadata: {name: asks}
spec: {containers: [{name: asks, image: busybox, command: [sleep, infinity]}]}
EOF"#;

fn page() -> Page {
    let mut page = Page::open("empty");
    for image in ["nginx", "busybox"] {
        page.send(Command::Image(ImageAct::Push(image.into())));
    }
    page.kubectl(OBJECTS);
    assert_eq!(page.terminal().1, Some(0), "{}", page.terminal().0);
    page.send(Command::Advance { millis: 60_000 });
    page
}

fn says(page: &mut Page, line: &str) -> (String, Option<i32>) {
    page.kubectl(line);
    page.send(Command::Advance { millis: 1_000 });
    page.terminal()
}

#[test]
fn tab_completes_files_for_programs_that_read_them() {
    let mut page = Page::open("P01");
    page.kubectl("ls");
    for (line, want) in [
        ("cat gre", "cat greeter.yaml "),
        ("grep kind gre", "grep kind greeter.yaml "),
        ("grep gre", "grep gre"),
        ("kubectl get pods | wc -l; head -2 gre", "kubectl get pods | wc -l; head -2 greeter.yaml "),
    ] {
        page.send(Command::Complete { terminal: 0, line: line.into() });
        let found = page.answers.iter().find_map(|u| match u {
            Update::Completions(found) => Some(found.completed.clone()),
            _ => None,
        });
        assert_eq!(found.as_deref(), Some(want));
    }
}

#[test]
fn a_container_knows_its_environment() {
    let mut page = page();
    let (text, code) = says(&mut page, "kubectl exec web -- env");
    assert_eq!(code, Some(0), "{text}");
    for line in [
        "HOSTNAME=front",
        "COLOUR=blue",
        "PLAIN=a blue b $(COLOUR) $(NONE)",
        "ME=web",
        "OTHER=7",
        "KUBERNETES_SERVICE_PORT=443",
        "OLD_ONE_SERVICE_PORT_HTTP=8080",
        "OLD_ONE_PORT_8080_TCP_PROTO=tcp",
        "HOME=/root",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} in:\n{text}");
    }
    // What changes later is seen by the next container only.
    says(&mut page, "kubectl patch configmap colours -p '{\"data\":{\"COLOUR\":\"red\"}}'");
    says(&mut page, "kubectl create service clusterip late --tcp=80");
    assert_eq!(says(&mut page, "kubectl exec web -- printenv COLOUR ME"), ("blue\nweb\n".into(), Some(0)));
    assert!(!says(&mut page, "kubectl exec web -- env").0.contains("LATE_"));
    let (text, code) = says(&mut page, "kubectl exec web -- printenv NOBODY");
    assert_eq!((text.as_str(), code), ("command terminated with exit code 1\n", Some(1)));
}

#[test]
fn a_container_asks_services_and_pods() {
    let mut page = page();
    let refused = |(text, code): (String, Option<i32>), words: &str, want| {
        assert!(text.starts_with(words) && code == Some(want), "{words}: {text} {code:?}");
    };
    refused(says(&mut page, "kubectl exec asks -- wget -qO- http://web"), "wget: bad address 'web'", 1);
    says(&mut page, "kubectl expose pod web --port 8000 --target-port 80");
    says(&mut page, "sleep 5");
    for line in [
        "wget -qO- web:8000",
        "curl -s http://web.default:8000/",
        "curl -fsS web.default.svc.cluster.local:8000",
    ] {
        let (text, code) = says(&mut page, &format!("kubectl exec asks -- {line}"));
        assert!(
            text.starts_with("Pod web answered at 10.244.") && text.ends_with(":80.\n"),
            "{line}: {text}"
        );
        assert_eq!(code, Some(0));
    }
    let (text, code) = says(&mut page, "kubectl exec asks -- nslookup web");
    assert!(text.contains("Name:\tweb.default.svc.cluster.local\nAddress: 10.96."), "{text}");
    assert_eq!(code, Some(0));
    refused(says(&mut page, "kubectl exec asks -- nslookup nobody"), "Server:\t\t10.96.0.10\n", 1);
    refused(
        says(&mut page, "kubectl exec asks -- curl nobody"),
        "curl: (6) Could not resolve host: nobody\n",
        6,
    );
    refused(says(&mut page, "kubectl exec asks -- curl localhost:99"), "curl: (7) Failed to connect", 7);
    refused(says(&mut page, "kubectl exec asks -- curl web:1"), "curl: (28) Failed to connect", 28);
    says(&mut page, "kubectl label pod web app=other --overwrite");
    says(&mut page, "sleep 5");
    refused(
        says(&mut page, "kubectl exec asks -- wget -O - web:8000"),
        "wget: can't connect to remote host",
        1,
    );
}

#[test]
fn nothing_is_silent() {
    let mut page = page();
    for (line, words, want) in [
        ("ps aux", "ps: Kubestep's containers do not know this command", 127),
        ("sh", "sh: Kubestep's containers do not do this: one cannot type", 126),
        ("ls", "ls: Kubestep's containers do not do this: name a folder", 126),
        ("sh -c 'echo a; ps'", "a\nps: Kubestep's containers do not know", 127),
        ("sh -c 'echo $HOME ${HOSTNAME}.$NONE'", "/root asks.\n", 0),
        ("sh -c 'echo $(date)'", "sh: Kubestep's containers do not do this", 126),
        ("sh -c 'env | wc -l'", "sh: Kubestep's containers do not do this", 126),
        ("wget http://web", "wget: Kubestep's containers do not do this: it would write", 126),
        ("curl https://web", "curl: Kubestep's containers do not do this: only http://", 126),
        ("sleep infinity", "Kubestep waits for no command", 126),
        ("sh -c 'printenv X || echo none'", "none\n", 0),
        ("hostname", "asks\n", 0),
    ] {
        let (text, code) = says(&mut page, &format!("kubectl exec asks -- {line}"));
        assert!(text.starts_with(words) && code == Some(want), "{line}: {text} {code:?}");
        if want > 0 {
            assert!(text.ends_with(&format!("command terminated with exit code {want}\n")), "{text}");
        }
    }
}

#[test]
fn a_line_knows_how_the_one_before_ended_in_its_terminal() {
    let mut page = page();
    assert_eq!(says(&mut page, "kubectl get pod nothing").1, Some(1));
    let in_other = Command::Kubectl { terminal: 1, line: "echo $?".into(), files: vec![] };
    page.send(in_other);
    assert_eq!(page.terminal().0, "0\n");
    assert_eq!(says(&mut page, "echo $?").0, "1\n");
    assert_eq!(says(&mut page, "echo $?").0, "0\n");
    let (text, code) = says(&mut page, "POD=$(kubectl get pods -o name | head -1); kubectl get $POD -o name");
    assert_eq!((text.as_str(), code), ("pod/asks\n", Some(0)));
    let (text, _) =
        says(&mut page, "for p in $(kubectl get pods -o name); do kubectl label $p seen=yes; done");
    assert_eq!(text, "pod/asks labeled\npod/web labeled\n");
}

/// Of a long answer the end is shown, from the beginning of a line on, and how many lines are missing.
#[test]
fn a_long_answer_says_what_is_missing() {
    let mut page = Page::open("empty");
    page.kubectl("seq 9000; seq 20001 40000");
    let (text, code) = page.terminal();
    let (told, rest) = text.split_once('\n').unwrap();
    let missing =
        told.strip_suffix(" lines before these are not kept.").and_then(|n| n.parse::<usize>().ok());
    let first = rest.lines().next().and_then(|n| n.parse::<usize>().ok());
    assert_eq!((code, missing.unwrap() + rest.lines().count()), (Some(0), 29_000), "{told}");
    assert_eq!(first, Some(missing.unwrap() - 9_000 + 20_001), "{told}");
    assert!(rest.len() <= 64 << 10 && rest.len() + 6 > 64 << 10, "{}", rest.len());
    page.kubectl("seq 3");
    assert_eq!(page.terminal(), ("1\n2\n3\n".into(), Some(0)));
}

/// So many commands of one line as may run are done, and the line says where it ends.
#[test]
fn a_loop_ends_where_it_is_too_long() {
    let mut page = Page::open("empty");
    page.kubectl("for i in $(seq 1000); do kubectl get pods; done");
    let (text, code) = page.terminal();
    assert_eq!((text.matches("No resources found").count(), code), (1000, Some(0)));
    page.kubectl("for i in $(seq 1000); do kubectl get pods; done | wc -l");
    let (text, code) = page.terminal();
    let last = "more than 200 commands of kubectl within one pipe or $(…): Kubestep does not do this; `kubectl get pods` and what comes after it were not run\n";
    assert!(text.ends_with(last) && code == Some(1), "{text}");
}

/// A line of many commands is done a part at a time: Ctrl-C comes between two of its commands, and a world that is played
/// again from its inputs is the same.
#[test]
fn ctrl_c_comes_between_the_commands_of_a_line() {
    let mut page = Page::open("empty");
    let line = "for i in $(seq 900); do kubectl create configmap c$i; done; kubectl get pods";
    let asked = page.begin(Command::Kubectl { terminal: 0, line: line.into(), files: vec![] });
    assert_eq!((asked, page.engine.busy()), (None, true));
    page.send(Command::Interrupt { terminal: 0 });
    let (text, code) = page.terminal();
    let made = text.matches(" created\n").count();
    assert!(made > 9 && made < 900 && code == Some(130), "{made} {code:?}");
    page.kubectl("kubectl get configmaps --no-headers | grep -c ^c");
    // The last request may have been on its way.
    let there = page.terminal().0.trim().parse::<usize>().unwrap();
    assert!(there == made || there == made + 1, "{there} of {made}");
    let (hash, link) = (page.hash(), page.share());
    let mut other = Page::new();
    other.send(Command::LoadLink(link.text));
    assert_eq!(other.hash(), hash);
}
