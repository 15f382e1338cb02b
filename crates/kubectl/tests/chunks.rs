//! Lists of many objects come in chunks, as `--chunk-size` says.

use kubestep_kubectl::Kubectl;
use kubestep_model::{
    Answer, Instant, Kind, ListOptions, Object, Reason, Reply, Request, Status, Verb,
    client::{Client, ClientAsk, ClientTold, ClientTurn, Stream},
};
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc};

/// Pods `p000` to `p599`.
fn pods() -> Vec<Object> {
    let pod = |i: usize| {
        let meta = json!({"name": format!("p{i:03}"), "namespace": "default", "resourceVersion": "7"});
        let spec = json!({"containers": [{"name": "c", "image": "i"}]});
        Object::from_value(Kind::Pod, json!({"metadata": meta, "spec": spec})).expect("a pod")
    };
    (0..600).map(pod).collect()
}

/// A server whose tokens are the places in the list, and run out behind `end`.
fn answer(request: &Request, end: usize) -> Reply {
    let Verb::List { kind: Kind::Pod, .. } = &request.verb else {
        return Ok(Answer::List { items: vec![], revision: 7 });
    };
    let options = request.list.as_deref().cloned().unwrap_or_default();
    let from: usize = options.continue_token.parse().unwrap_or(0);
    if from > end {
        return Err(Status::new(410, Reason::Expired, "too old"));
    }
    let mut items = pods().split_off(from);
    let limit = usize::try_from(options.limit).ok().filter(|l| *l > 0).unwrap_or(items.len());
    let remaining = items.len().saturating_sub(limit);
    items.truncate(limit);
    if remaining == 0 {
        return Ok(Answer::List { items, revision: 7 });
    }
    let next = (from + limit).to_string();
    Ok(Answer::Chunk { items, revision: 7, next, remaining: Some(remaining as u64) })
}

struct Ran {
    code: i32,
    out: String,
    err: String,
    /// Limit and token of each list of pods.
    lists: Vec<(i64, String)>,
}

fn run(line: &str, end: usize) -> Ran {
    let client = Kubectl::new(line, Arc::new(BTreeMap::new()), "default");
    let (mut told, mut lists) = (Vec::<ClientTurn>::new(), vec![]);
    loop {
        let progress = client.run(Instant::START, &told);
        let join = |stream: Stream| {
            progress.output.iter().filter(|c| c.stream == stream).map(|c| c.text.as_str()).collect::<String>()
        };
        let ask = match progress.next {
            Ok(code) => return Ran { code, out: join(Stream::Out), err: join(Stream::Err), lists },
            Err(ask) => ask,
        };
        let reply = match &ask {
            ClientAsk::Api(request) => {
                if matches!(&request.verb, Verb::List { kind: Kind::Pod, .. }) {
                    let options = request.list.as_deref().cloned().unwrap_or_default();
                    let ListOptions { limit, continue_token, .. } = options;
                    lists.push((limit, continue_token));
                }
                ClientTold::Reply(answer(request, end))
            }
            _ => ClientTold::Definitions(Arc::default()),
        };
        told.push(ClientTurn { ask, told: reply, at: Instant::START });
        assert!(told.len() < 1000, "{line} does not end");
    }
}

#[test]
fn a_list_goes_on_until_nothing_is_left() {
    let whole: &[(i64, &str)] = &[(0, "")];
    let rows: &[(&str, &[(i64, &str)])] = &[
        ("kubectl get pods -o name", &[(500, ""), (500, "500")]),
        ("kubectl get pods -A -o name", &[(500, ""), (500, "500")]),
        ("kubectl get pods -o name --chunk-size=250", &[(250, ""), (250, "250"), (250, "500")]),
        ("kubectl get pods -o name --chunk-size=600", &[(600, "")]),
        ("kubectl get pods -o name --chunk-size=0", whole),
        // What is sorted is read at once.
        ("kubectl get pods -o name --sort-by=.metadata.name", whole),
    ];
    for (line, lists) in rows {
        let ran = run(line, 600);
        let asked: Vec<(i64, &str)> =
            ran.lists.iter().map(|(limit, token)| (*limit, token.as_str())).collect();
        assert_eq!(asked, *lists, "{line}");
        let names: Vec<String> = (0..600).map(|i| format!("pod/p{i:03}")).collect();
        assert_eq!(
            (ran.code, ran.out.trim_end(), ran.err.as_str()),
            (0, names.join("\n").as_str(), ""),
            "{line}"
        );
    }
}

#[test]
fn commands_that_have_no_chunk_size_list_at_once() {
    for (line, limit) in [
        ("kubectl describe pods --show-events=false", 500),
        ("kubectl label pods --all a=b --dry-run=client", 0),
        ("kubectl delete pods --all --dry-run=client", 0),
    ] {
        assert_eq!(run(line, 600).lists.first().map(|(limit, _)| *limit), Some(limit), "{line}");
    }
}

#[test]
fn what_came_before_a_refusal_is_shown() {
    let ran = run("kubectl get pods -o name", 100);
    assert_eq!((ran.code, ran.out.lines().count()), (1, 500));
    assert_eq!(ran.err, "Error from server (Expired): too old\n");
}
