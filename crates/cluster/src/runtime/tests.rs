//! The kubelet on a machine, against pods of the recordings.

mod bench;

use super::Image;
use bench::Bench;
use kubestep_control::{Input, ProbeKind};
use kubestep_controllers::kubelet::{Kubelet, Timer};
use kubestep_model::{Instant, Kind, Object, Pod};
use serde_json::{Value, json};
use std::time::Duration;

/// Takes away what differs from run to run.
fn normal(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for time in [
                "lastTransitionTime",
                "startedAt",
                "finishedAt",
                "startTime",
                "containerID",
                "podIP",
                "podIPs",
                "hostIP",
                "hostIPs",
            ] {
                if map.get(time).is_some_and(|v| !v.is_null()) {
                    map.insert(time.into(), "x".into());
                }
            }
            if map.get("name").and_then(Value::as_str).is_some_and(|n| n.starts_with("kube-api-access")) {
                map.insert("name".into(), "kube-api-access".into());
            }
            if let Some(Value::String(text)) = map.get_mut("message")
                && let Some(at) = text.find('(').filter(|_| text.contains("restarting failed"))
            {
                text.truncate(at);
            }
            map.values_mut().for_each(normal);
        }
        Value::Array(list) => list.iter_mut().for_each(normal),
        _ => {}
    }
}

fn json_merge(old: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *old = patch.clone();
        return;
    };
    if !old.is_object() {
        *old = json!({});
    }
    for (name, change) in changes {
        if change.is_null() {
            old.as_object_mut().unwrap().remove(name);
        } else {
            json_merge(&mut old[name], change);
        }
    }
}

/// A pod of a recording: as it was bound, its statuses after that, and what the kubelet said about it.
struct Recorded {
    bound: Pod,
    statuses: Vec<Value>,
    said: Vec<String>,
}

fn recorded(session: &str, pod: &str) -> Recorded {
    let path = format!("{}/../../tests/golden/sessions/{session}.json", env!("CARGO_MANIFEST_DIR"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut object = json!({});
    let (mut bound, mut statuses) = (None, vec![]);
    for change in
        file["changes"].as_array().unwrap().iter().filter(|c| c["kind"] == "Pod" && c["name"] == pod)
    {
        if change["object"].is_object() {
            object = change["object"].clone();
        } else {
            json_merge(&mut object, &change["patch"]);
        }
        if bound.is_some() && change["type"] == "MODIFIED" {
            let mut status = object["status"].clone();
            normal(&mut status);
            if statuses.last() != Some(&status) {
                statuses.push(status);
            }
        } else if object["spec"]["nodeName"].is_string() {
            bound.get_or_insert_with(|| object.clone());
        }
    }
    let mut bound = bound.expect("a bound pod");
    bound["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z".into();
    bound["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-01T00:00:00Z".into();
    bound["spec"]["nodeName"] = "node-1".into();
    let Ok(Object::Pod(bound)) = Object::from_value(Kind::Pod, bound) else { panic!("not a pod") };
    let mut said = vec![];
    for e in file["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| e["regarding"] == format!("Pod/{pod}").as_str() && e["from"] == "kubelet")
    {
        let line = format!(
            "{} {}: {}",
            e["type"].as_str().unwrap(),
            e["reason"].as_str().unwrap(),
            e["message"].as_str().unwrap()
        );
        if !said.contains(&line) {
            said.push(line);
        }
    }
    Recorded { bound: Pod::clone(&bound), statuses, said }
}

fn without_spans(said: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = said
        .iter()
        .map(|line| match (line.find("\" in "), line.find(" Image size")) {
            (Some(a), Some(b)) => format!("{}{}", &line[..a], &line[b..]),
            _ => line.clone(),
        })
        .collect();
    lines.sort();
    lines
}

fn distinct(statuses: &[Value]) -> Vec<Value> {
    let mut found: Vec<Value> = vec![];
    for status in statuses {
        let mut status = status.clone();
        normal(&mut status);
        if found.last() != Some(&status) {
            found.push(status);
        }
    }
    found
}

/// The different statuses, in the order of their first appearance.
fn kinds(statuses: &[Value]) -> Vec<Value> {
    let mut kinds: Vec<Value> = vec![];
    for status in distinct(statuses) {
        if !kinds.contains(&status) {
            kinds.push(status);
        }
    }
    kinds
}

fn assert_same(ours: &[Value], theirs: &[Value]) {
    for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert_eq!(
            serde_json::to_string_pretty(a).unwrap(),
            serde_json::to_string_pretty(b).unwrap(),
            "status {i}"
        );
    }
    assert_eq!(ours.len(), theirs.len(), "{:#?}", ours.iter().skip(theirs.len()).collect::<Vec<_>>());
}

#[test]
fn a_good_pod_runs_and_goes_as_recorded() {
    let theirs = recorded("s01-missing-tag", "checkout-5ffd8644d5-sff29");
    let mut bench = Bench::new(&[("registry.example.com/checkout:1.9.1", Image::pulled_in(1))]);
    let key = bench.add(theirs.bound);
    bench.run(Duration::from_secs(20));
    bench.delete(&key, 30);
    bench.run(Duration::from_secs(5));
    assert_same(&distinct(&bench.statuses), &theirs.statuses);
    assert_eq!(without_spans(&bench.said()), without_spans(&theirs.said));
    assert!(bench.view.object(&key).is_none());
}

#[test]
fn a_missing_image_alternates_as_recorded() {
    let theirs = recorded("s01-missing-tag", "checkout-598569ddbd-8n77v");
    let mut bench = Bench::new(&[]);
    let _key = bench.add(theirs.bound);
    bench.run(Duration::from_secs(92));
    bench.registry.push("registry.example.com/checkout:1.9.2", Image::pulled_in(1));
    bench.run(Duration::from_secs(200));
    // How often the two reasons alternate depends on the jitter; the kinds of states do not.
    assert_same(&kinds(&bench.statuses), &kinds(&theirs.statuses));
    assert_eq!(without_spans(&bench.said()), without_spans(&theirs.said));
    let reasons: Vec<String> = distinct(&bench.statuses)
        .iter()
        .map(|s| s["containerStatuses"][0]["state"]["waiting"]["reason"].as_str().unwrap_or("-").to_string())
        .collect();
    assert_eq!(reasons[2..6], ["ErrImagePull", "ImagePullBackOff", "ErrImagePull", "ImagePullBackOff"]);
}

#[test]
fn a_crash_is_restarted_at_once_and_then_waits() {
    let theirs = recorded("s01-missing-tag", "checkout-5ffd8644d5-sff29");
    let crash = Image { exit: Some(1), after: Duration::from_secs(2), ..Image::pulled_in(1) };
    let mut bench = Bench::new(&[("registry.example.com/checkout:1.9.1", crash)]);
    bench.add(theirs.bound);
    bench.run(Duration::from_secs(400));
    let starts: Vec<Instant> =
        bench.events.iter().filter(|(_, e)| e.reason == "Started").map(|(at, _)| *at).collect();
    let gaps: Vec<u64> = starts.windows(2).map(|w| w[1].since(w[0]).as_secs()).collect();
    // Two seconds of running, the back-off made up to half as long again (60 s at most before that), and the relist.
    for (gap, (least, most)) in gaps.iter().zip([(2, 3), (12, 20), (22, 35), (42, 65), (82, 154)]) {
        assert!((least..=most).contains(gap), "{gaps:?}");
    }
    assert!(gaps.len() >= 5, "{gaps:?}");
    let waits: Vec<&str> = bench
        .statuses
        .iter()
        .filter_map(|s| s["containerStatuses"][0]["state"]["waiting"]["message"].as_str())
        .filter(|m| m.starts_with("back-off"))
        .collect();
    assert!(
        waits[0].starts_with(
            "back-off 10s restarting failed container=checkout pod=checkout-5ffd8644d5-sff29_default("
        ),
        "{waits:?}"
    );
}

#[test]
fn probes_decide_readiness() {
    let theirs = recorded("s16-endpoints-during-a-rollout", &probed_pod());
    let mut bench =
        Bench::new(&[("example/web:1", Image::pulled_in(1)), ("example/web:2", Image::pulled_in(1))]);
    let key = bench.add(theirs.bound);
    let ready = |bench: &Bench| bench.view.object(&key).and_then(|o| o.get::<Pod>()).unwrap().is_ready();
    bench.run(Duration::from_secs(30));
    assert!(ready(&bench));
    let uid = bench.view.object(&key).unwrap().meta().uid.clone();
    bench.machine.set_probe(&uid, None, ProbeKind::Readiness, false);
    bench.run(Duration::from_secs(60));
    assert!(!ready(&bench));
    assert!(
        bench.said().iter().any(|s| s.starts_with("Warning Unhealthy: Readiness probe failed: ")),
        "{:?}",
        bench.said()
    );
    bench.machine.set_probe(&uid, None, ProbeKind::Readiness, true);
    bench.run(Duration::from_secs(60));
    assert!(ready(&bench));
}

fn probed_pod() -> String {
    let path = format!(
        "{}/../../tests/golden/sessions/s16-endpoints-during-a-rollout.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let first = file["changes"].as_array().unwrap().iter().find(|c| c["kind"] == "Pod").unwrap();
    first["name"].as_str().unwrap().into()
}

#[test]
fn a_quiet_kubelet_sets_no_timers_but_its_signs_of_life() {
    let theirs = recorded("s01-missing-tag", "checkout-5ffd8644d5-sff29");
    let mut bench = Bench::new(&[("registry.example.com/checkout:1.9.1", Image::pulled_in(1))]);
    bench.add(theirs.bound);
    bench.run(Duration::from_secs(10));
    assert!(!bench.timers.contains_key(&Timer::Relist), "{:?}", bench.timers);
    let left: Vec<&Timer> = bench.timers.keys().collect();
    assert_eq!(left, [&Timer::Sync, &Timer::Heartbeat, &Timer::HeartbeatImages, &Timer::Lease]);
}

/// Session, pod, its image (and what it does), milliseconds from its binding to its deletion, the grace period, and how long to watch.
type Life = (&'static str, &'static str, Option<(&'static str, Image)>, Option<(u64, i64)>, u64);

#[test]
fn lives_of_recorded_pods_show_the_recorded_states() {
    let web = |n: u8| Some((if n == 1 { "example/web:1" } else { "example/web:2" }, Image::pulled_in(1)));
    let flaky = Image { exit: Some(1), after: Duration::from_secs(5), ..Image::pulled_in(1) };
    let lives: [Life; 7] = [
        ("s02-typo-undo", "nginx-deployment-86769868fd-plglb", None, Some((6519, 30)), 10),
        ("s13-pending-for-cpu", "web-7dd786c95f-2qng5", web(1), Some((47_016, 30)), 50),
        ("s13-pending-for-cpu", "small-5f46bc9885-czkjc", web(1), Some((45_667, 30)), 50),
        ("s16-endpoints-during-a-rollout", "web-5899c5c4ff-qfktf", web(1), Some((12_531, 20)), 30),
        ("s36-min-ready-seconds", "web-689d59d69f-47nb5", web(1), Some((30_718, 2)), 35),
        ("s36-min-ready-seconds", "web-7df575cb4-st4n9", web(2), Some((80_531, 2)), 85),
        ("s36-min-ready-seconds", "web-65976d5cbb-67xqq", Some(("example/flaky:1", flaky)), None, 90),
    ];
    for (session, pod, image, deletion, seconds) in lives {
        let theirs = recorded(session, pod);
        let mut bench = Bench::new(image.as_slice());
        let key = bench.add(theirs.bound);
        let mut left = Duration::from_secs(seconds);
        if let Some((after, grace)) = deletion {
            let after = Duration::from_millis(after);
            bench.run(after);
            bench.delete(&key, grace);
            left -= after;
        }
        bench.run(left);
        assert_eq!(deletion.is_some(), bench.view.object(&key).is_none(), "{pod}");
        let (ours, theirs) = (kinds(&bench.statuses), kinds(&theirs.statuses));
        for status in &theirs {
            assert!(ours.contains(status), "{pod} does not show\n{status:#}\nbut\n{ours:#?}");
        }
        let more: Vec<&Value> = ours.iter().filter(|s| !theirs.contains(s)).collect();
        // A status that is overtaken by the next one before it is written shows in one run and not in the other;
        // a pod that lives on is watched for longer here than there.
        assert!(more.len() <= 1 || deletion.is_none(), "{pod} shows more: {more:#?}");
    }
}

#[test]
fn a_restarted_kubelet_finds_its_pods_as_they_are() {
    let theirs = recorded("s01-missing-tag", "checkout-5ffd8644d5-sff29");
    let mut bench = Bench::new(&[("registry.example.com/checkout:1.9.1", Image::pulled_in(1))]);
    let key = bench.add(theirs.bound);
    bench.run(Duration::from_secs(10));
    let before = bench.statuses.len();
    bench.kubelet = Kubelet::new(bench.machine.info());
    bench.timers.clear();
    bench.flights.clear();
    bench.tell(Input::Started);
    bench.run(Duration::from_secs(100));
    assert_eq!(bench.statuses.len(), before, "nothing is news");
    assert_eq!(bench.events.iter().filter(|(_, e)| e.reason == "Started").count(), 1);
    // After a power cut the pod gets another sandbox and its container another run.
    bench.machine.power_off();
    bench.kubelet = Kubelet::new(bench.machine.info());
    bench.timers.clear();
    bench.flights.clear();
    bench.tell(Input::Started);
    bench.run(Duration::from_secs(30));
    let pod = bench.view.object(&key).and_then(|o| o.get::<Pod>()).unwrap();
    assert!(pod.is_ready(), "{:#?}", pod.status);
    assert_eq!(pod.status.container_statuses[0].restart_count, 1);
    let last = pod.status.container_statuses[0].last_state.terminated.as_ref().unwrap();
    assert_eq!((last.exit_code, last.reason.as_str()), (255, "Unknown"));
}

#[test]
fn hooks_run_before_the_end() {
    let mut theirs = recorded("s01-missing-tag", "checkout-5ffd8644d5-sff29");
    theirs.bound.spec.containers[0].lifecycle = Some(json!({"preStop": {"sleep": {"seconds": 4}}}));
    let mut bench = Bench::new(&[("registry.example.com/checkout:1.9.1", Image::pulled_in(1))]);
    let key = bench.add(theirs.bound);
    bench.run(Duration::from_secs(5));
    bench.delete(&key, 30);
    bench.run(Duration::from_secs(4));
    assert!(bench.view.object(&key).is_some());
    bench.run(Duration::from_secs(2));
    assert!(bench.view.object(&key).is_none());
}

#[test]
fn a_full_node_refuses_a_pod() {
    let theirs = recorded("s01-missing-tag", "checkout-5ffd8644d5-sff29");
    let mut bench = Bench::new(&[]);
    let mut pod = theirs.bound;
    pod.spec.containers[0]
        .resources
        .requests
        .insert("cpu".into(), kubestep_model::Quantity::parse("5").unwrap());
    let key = bench.add(pod);
    bench.run(Duration::from_secs(1));
    let status = &bench.view.object(&key).and_then(|o| o.get::<Pod>()).unwrap().status;
    assert_eq!((status.phase.as_str(), status.reason.as_str()), ("Failed", "OutOfcpu"));
    let text = "Node didn't have enough resource: cpu, requested: 5000, used: 0, capacity: 4000";
    assert_eq!(status.message, format!("Pod was rejected: {text}"));
    assert_eq!(bench.said(), [format!("Warning OutOfcpu: {text}")]);
}
