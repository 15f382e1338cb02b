//! *Break it*, and Tab in the terminal.

use crate::page::Page;
use kubestep_protocol::{BreakItem, Command, Doc, Stop, Update, VerdictKind};

fn lines(items: &[BreakItem]) -> Vec<String> {
    let minus = |i: &BreakItem| i.minus.as_ref().map_or(String::new(), |m| format!("-{m} "));
    items
        .iter()
        .map(|i| {
            let used = if i.used { " used" } else { "" };
            format!("{} | {} | {}+{}{used}", i.name, i.place, minus(i), i.plus.clone().unwrap_or_default())
        })
        .collect()
}

#[test]
fn the_menu_is_made_from_the_file() {
    let mut page = Page::open("P05");
    let doc = page.doc();
    assert_eq!(
        lines(&page.breaks(doc)),
        [
            "Wrong image tag | line 17 | -1.9.2 +1.9.2-rc",
            "Wrong template label | line 13 | -app: checkout +app: chekout",
            "Typo in the Service’s selector | line 25 | -app: checkout +app: chekout",
            "Too much cpu | after 17 | +resources.requests.cpu: 16",
            "Probe that is never ready | after 17 | +readinessProbe.exec: [\"false\"]",
            "Quota too small | new file | +ResourceQuota pods: 3",
            "Crash at start | after 17 | +command: [\"sh\", \"-c\", \"exit 1\"]",
            "A ConfigMap that is not there | after 17 | +envFrom.configMapRef: not-there",
        ]
    );
    let nothing = Doc { name: "a.yaml".into(), text: "a: [".into() };
    assert!(page.breaks(nothing).is_empty());
}

/// Every entry of a file changes it, is accepted by a dry run unless the API server is meant to refuse it, and is
/// *used* afterwards.
#[test]
fn every_edit_does_what_it_says() {
    let mut page = Page::open("P15");
    let plain = page.doc();
    let full = plain.text.replace(
        "4.2.0\n",
        "4.2.0 # the version\n        command: [sleep, infinity]\n        resources:\n          limits: {cpu: 500m}\n          requests:\n            cpu: 100m\n        readinessProbe:\n          exec:\n            command:\n            - cat\n            - /tmp/ready\n        envFrom:\n        - configMapRef: {name: cart}\n",
    );
    let block = plain.text.replace("4.2.0\n", "\"4.2.0\"\n        resources:\n          limits:\n            memory: 1Gi\n        command:\n        - sleep\n        - infinity\n").replace("registry.example.com/cart:\"4.2.0\"", "\"registry.example.com/cart:4.2.0\"");
    let flow = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: f}, spec: {selector: {matchLabels: {app: fine}}, template: {metadata: {labels: {app: fine}}, spec: {containers: [{name: f, image: registry.example.com/cart}]}}}}\n";
    for text in [plain.text.clone(), full, block, flow.to_string()] {
        let doc = Doc { name: "cart.yaml".into(), text };
        let before = page.check(&doc.text);
        assert!(before.problems.is_empty(), "{:?}\n{}", before.problems, doc.text);
        let items = page.breaks(doc.clone());
        assert!(items.len() >= 6, "{:#?}", lines(&items));
        for item in &items {
            assert!(!item.used, "{}", item.name);
            let after = page.check(&item.result.text);
            if item.name == "Wrong template label" {
                assert!(after.problems[0].message.contains("`selector` does not match template `labels`"));
            } else {
                assert!(
                    after.problems.is_empty(),
                    "{}: {:?}\n{}",
                    item.name,
                    after.problems,
                    item.result.text
                );
            }
            assert!(
                !after.changes.is_empty() || item.name == "Wrong template label",
                "{}\n{}",
                item.name,
                item.result.text
            );
            if item.result.name == doc.name {
                let again = page.breaks(item.result.clone());
                let same = again
                    .iter()
                    .find(|i| i.name == item.name)
                    .unwrap_or_else(|| panic!("{} is still told", item.name));
                assert!(same.used, "{}\n{}", item.name, item.result.text);
                // The rest of the text stays: all but a few lines are the same.
                let kept = item.result.text.lines().filter(|l| doc.text.lines().any(|o| o == *l)).count();
                assert!(kept + 6 >= doc.text.lines().count(), "{}\n{}", item.name, item.result.text);
            }
        }
    }
}

/// Each entry, applied, ends in the stall that it is about.
#[test]
fn every_break_breaks() {
    for (name, words) in [
        ("Wrong image tag", "the registry has no"),
        ("Too much cpu", "no node"),
        ("Probe that is never ready", "probe"),
        ("Quota too small", "quota"),
        ("Crash at start", "ends"),
        ("A ConfigMap that is not there", "missing"),
    ] {
        let mut page = Page::open("P15");
        let doc = page.doc();
        let item = page.breaks(doc.clone()).into_iter().find(|i| i.name == name).expect("the entry");
        let new = item.result.name != doc.name;
        let (said, exit) = page.apply(item.result);
        assert_eq!(exit, Some(0), "{name}: {said}");
        if new {
            page.apply(Doc { text: doc.text.replace("4.2.0", "4.3.0"), ..doc });
        }
        let stop = page.send(Command::UntilCalm);
        assert_eq!(stop, Stop::Calm(VerdictKind::Stalled), "{name}: {:?}", page.frame().head.verdict);
        let head = &page.frame().head;
        let because = head.verdict.because.plain(head.now);
        assert!(because.to_lowercase().contains(words), "{name}: {because}");
        page.check_whole(name);
    }
    let mut page = Page::open("P13");
    page.apply(page.doc());
    assert_eq!(page.send(Command::UntilCalm), Stop::Calm(VerdictKind::Converged));
    let head = &page.frame().head;
    let because = head.verdict.because.plain(head.now);
    assert!(because.contains("selects nothing"), "{because}");
}

#[test]
fn the_terminal_is_a_shell() {
    let mut page = Page::open("P15");
    page.kubectl("kubectl get pods --no-headers | grep -c cart");
    assert_eq!(page.terminal(), ("3\n".to_owned(), Some(0)));
    page.kubectl(
        "cat <<EOF | kubectl apply -f -\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: typed}\nEOF",
    );
    assert_eq!(page.terminal(), ("configmap/typed created\n".to_owned(), Some(0)));
}

#[test]
fn descriptions_are_asked_for_when_they_are_named() {
    let mut page = Page::open("P15");
    let asks = |page: &Page| page.answers.iter().any(|u| matches!(u, Update::WantsDescriptions));
    page.kubectl("kubectl get pods");
    assert!(!asks(&page));
    page.kubectl("kubectl explain deployment | grep -A1 DESC");
    assert!(asks(&page));
    assert!(page.terminal().0.contains("on their way"), "{:?}", page.terminal());
    let before = page.hash();
    page.send(Command::Descriptions("apps/v1.Deployment\tIt deploys.\n spec\tWanted.\n".into()));
    assert_eq!(page.terminal(), ("DESCRIPTION:\n    It deploys.\n".to_owned(), Some(0)));
    assert_eq!(page.hash(), before, "a run is the same with and without them");
    page.kubectl("kubectl explain deploy.spec | grep Wanted");
    assert!(!asks(&page));
    assert_eq!(page.terminal().0, "    Wanted.\n");
}

#[test]
fn tab_completes() {
    let mut page = Page::open("P15");
    let pods: Vec<String> = page.frame().pods.iter().map(|p| p.object.name.clone()).collect();
    for (line, completed, choices) in [
        ("kub", "kubectl ", 0),
        ("kubectl ro", "kubectl rollout ", 0),
        ("kubectl rollout ", "kubectl rollout ", 6),
        ("kubectl rollout st", "kubectl rollout status ", 0),
        ("kubectl rollout status dep", "kubectl rollout status deployment/cart ", 0),
        ("kubectl rollout status deploy/", "kubectl rollout status deploy/cart ", 0),
        ("kubectl get deployments.apps ", "kubectl get deployments.apps cart ", 0),
        ("kubectl get po", "kubectl get po", 5),
        ("kubectl get pods ", "kubectl get pods cart-", 3),
        ("kubectl apply -f ", "kubectl apply -f cart.yaml ", 0),
        ("kubectl get pods -n ", "kubectl get pods -n ", 4),
        ("kubectl get pods -o y", "kubectl get pods -o yaml ", 0),
        ("kubectl get pods --all-n", "kubectl get pods --all-namespaces ", 0),
        ("kubectl cordon node-", "kubectl cordon node-", 3),
        ("kubectl create cron", "kubectl create cronjob ", 0),
        ("kubectl get pods | gr", "kubectl get pods | grep ", 0),
        ("watch kubectl get pods ", "watch kubectl get pods cart-", 3),
        ("kubectl explain deploy.spec.str", "kubectl explain deploy.spec.strategy.", 0),
        ("kubectl explain deployments.apps.spec.rep", "kubectl explain deployments.apps.spec.replicas ", 0),
        ("kubectl explain deployments.app", "kubectl explain deployments.apps ", 0),
        ("kubectl explain deploy.none.", "kubectl explain deploy.none.", 0),
        ("kubectl nothing ", "kubectl nothing ", 0),
        ("ls ", "ls ", 0),
        ("", "kubectl ", 0),
    ] {
        let found = page.complete(line);
        assert_eq!(found.line, line);
        let start = if completed.ends_with("cart-") {
            found.completed.starts_with(completed)
        } else {
            found.completed == completed
        };
        assert!(start, "{line:?}: {found:?}");
        assert_eq!(found.choices.len(), choices, "{line:?}: {found:?}");
    }
    let first = &pods[0];
    let end = page.complete(&format!("kubectl delete pod {}", &first[..first.len() - 1]));
    assert_eq!(end.completed, format!("kubectl delete pod {first} "));
    assert_eq!(
        page.complete(&format!("kubectl logs {first} -c ")).completed,
        format!("kubectl logs {first} -c cart ")
    );
}
