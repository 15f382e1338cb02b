//! Wrong lines, as the real kubectl v1.37 refused them: the words and the exit code.

use kubestep_kubectl::Kubectl;
use kubestep_model::{
    Answer, Instant, Status, Verb,
    client::{Client, ClientAsk, ClientTold, ClientTurn, Stream},
};
use std::{collections::BTreeMap, sync::Arc};

/// One line each: the exit code, the command and what was on standard error, as JSON.
const REFUSED: &str = include_str!("wrong.jsonl");

/// A cluster in which there is nothing.
fn answer(ask: &ClientAsk) -> ClientTold {
    let ClientAsk::Api(request) = ask else {
        return match ask {
            ClientAsk::Watch { from, .. } => ClientTold::Events { events: vec![], revision: *from },
            ClientAsk::Sleep(_) => ClientTold::Slept,
            ClientAsk::Discover => ClientTold::Definitions(Default::default()),
            _ => ClientTold::Text(Err("nothing is there".into())),
        };
    };
    ClientTold::Reply(match &request.verb {
        Verb::List { .. } => Ok(Answer::List { items: vec![], revision: 1 }),
        Verb::Get { key, .. }
        | Verb::Patch { key, .. }
        | Verb::Delete { key, .. }
        | Verb::Replace { key, .. } => Err(Status::not_found(key.kind, &key.name)),
        other => Err(Status::bad_request(format!("{} is refused", other.name()))),
    })
}

fn run(line: &str) -> (i32, String) {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n".to_owned();
    let files = Arc::new(BTreeMap::from([("x.yaml".to_owned(), map)]));
    let kubectl = Kubectl::new(line, files, "default");
    let mut told: Vec<ClientTurn> = vec![];
    loop {
        let progress = kubectl.run(Instant::START, &told);
        match progress.next {
            Ok(code) => {
                let said = progress.output.iter().filter(|c| c.stream == Stream::Err);
                return (code, said.map(|c| c.text.as_str()).collect());
            }
            Err(ask) => {
                let answered = answer(&ask);
                told.push(ClientTurn { ask, told: answered, at: Instant::START });
                assert!(told.len() < 100, "{line} does not end");
            }
        }
    }
}

#[test]
fn wrong_lines_are_refused_as_by_the_real_kubectl() {
    let mut wrong = vec![];
    let mut count = 0;
    for row in REFUSED.lines() {
        let (exit, line, want): (i32, String, String) = serde_json::from_str(row).expect("a row");
        count += 1;
        let (code, said) = run(&line);
        if (code, &said) != (exit, &want) {
            wrong.push(format!("{line}\n  wanted {exit}: {want:?}\n  got {code}: {said:?}"));
        }
    }
    assert!(count >= 200, "only {count} lines");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
