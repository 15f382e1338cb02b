//! Lines as in a shell.

use super::Shell;
use kubestep_model::{
    Instant, Status,
    client::{Client, ClientAsk, ClientTold, ClientTurn},
};
use std::{collections::BTreeMap, sync::Arc};

/// What a line prints and how it ends, after so many answers at most: run again from its start with each answer, and gone on
/// with from where it stands, which has to be the same.
fn play(line: &str, turns: usize) -> (Option<i32>, String) {
    let (again, rested) = (run(line, turns, false), run(line, turns, true));
    assert_eq!((&again.0, &again.1), (&rested.0, &rested.1), "{line}");
    assert!(rested.2 <= again.2);
    (again.0, again.1)
}

/// The same, with the number of answers that the last run had to go through.
fn run(line: &str, turns: usize, rests: bool) -> (Option<i32>, String, usize) {
    let files = BTreeMap::from([("a.txt".to_owned(), "two\none\n".to_owned())]);
    let mut shell: Arc<dyn Client> = Arc::new(Shell::new(line, Arc::new(files), "default"));
    let (mut told, mut all, mut at): (Vec<ClientTurn>, usize, Instant) = (vec![], 0, Instant::START);
    let (mut stands, mut longest) = (String::new(), 0);
    loop {
        let progress = shell.run(at, &told);
        longest = longest.max(told.len());
        let text = |from: usize, to: usize| {
            progress.output[from..to].iter().map(|c| c.text.as_str()).collect::<String>()
        };
        let ask = match &progress.next {
            Ok(code) => return (Some(*code), stands + &text(0, progress.output.len()), longest),
            Err(_) if all >= turns => return (None, stands + &text(0, progress.output.len()), longest),
            Err(ask) => ask.clone(),
        };
        if let Some(rest) = progress.rest.as_ref().filter(|_| rests) {
            stands += &text(0, rest.printed);
            told.drain(..rest.turns);
            (shell, at) = (rest.program.clone(), rest.at);
        }
        let answer = match &ask {
            ClientAsk::Sleep(_) => ClientTold::Slept,
            ClientAsk::Api(_) => ClientTold::Reply(Err(Status::bad_request("no"))),
            ClientAsk::Discover => ClientTold::Definitions(Arc::default()),
            _ => ClientTold::Text(Err("no".into())),
        };
        all += 1;
        told.push(ClientTurn { ask, told: answer, at: Instant::START });
    }
}

const THERE: &str = "help tells what this terminal knows, kubectl help what kubectl does\n";
const NOT_SET: &str = "$Z is not set: here a variable lives in the line that sets it (Z=…; echo $Z), and in single quotes it is left to the container\n";

#[test]
fn lines_run_as_in_a_shell() {
    for (line, code, want) in [
        ("cat a.txt | sort", 0, "one\ntwo\n"),
        ("cat a.txt | sort | head -1; echo x", 0, "one\nx\n"),
        ("false && echo a || echo b", 0, "b\n"),
        ("echo a | grep b", 1, ""),
        ("cat <<EOF | wc -l\na\nb\nEOF", 0, "2\n"),
        ("wc -l < a.txt", 0, "2\n"),
        ("kubectl version --client | grep -c v1.37", 0, "1\n"),
        ("version --client | head -1", 0, "Client Version: v1.37.2\n"),
        ("kubectl help | head -1", 0, "kubectl asks the cluster and changes what it is to be.\n"),
        ("kubectl help get | head -1", 0, "Shows one or many objects.\n"),
        ("grep one a.txt", 0, "one\n"),
        ("wc -l a.txt", 0, "2 a.txt\n"),
        ("sort a.txt", 0, "one\ntwo\n"),
        (
            "head -n 1 a.txt b.txt",
            1,
            "==> a.txt <==\ntwo\nhead: cannot open 'b.txt' for reading: No such file or directory\n",
        ),
        ("grep -c two *.txt", 0, "1\n"),
        ("cat *.none", 1, "cat: *.none: No such file or directory\n"),
        ("grep x b.txt", 2, "grep: b.txt: No such file or directory\n"),
        ("cat b.txt 2>&1 | grep -c such", 0, "1\n"),
        ("false; # nothing", 1, ""),
        ("# nothing", 0, ""),
        ("order --help | head -1", 0, "order -f FILE [--times N] [--retry]\n"),
        ("help declare | head -1", 0, "declare -f FILE [--times N] [--every 30s]\n"),
        (
            "declare",
            1,
            "error: there is no file of YAML in the editor: write one, or name one with -f FILE\n",
        ),
        (
            "kubectl help rollout undo | tail -1",
            0,
            "  kubectl rollout undo (KIND NAME | KIND/NAME | -f FILE) [options]\n",
        ),
        ("help | wc -l", 0, "2\n"),
        (
            "foo",
            127,
            "foo: command not found\nhelp tells what this terminal knows, kubectl help what kubectl does\n",
        ),
        (
            "gte pods -l 'a b'",
            127,
            &*format!("gte: command not found\nDid you mean: kubectl get pods -l 'a b'\n{THERE}"),
        ),
        (
            "kubctl aply -f a.txt",
            127,
            &format!("kubctl: command not found\nDid you mean: kubectl apply -f a.txt\n{THERE}"),
        ),
        ("kubctl nonsense", 127, &format!("kubctl: command not found\n{THERE}")),
        (
            "echo x | get pods",
            127,
            &format!("get: command not found\nDid you mean: kubectl get pods\n{THERE}"),
        ),
        ("export A=1; echo $A", 0, "export: here a variable lasts as long as the line that sets it\n1\n"),
        ("echo {1..3} '{1..3}'", 0, "1 2 3 {1..3}\n"),
        (
            "for i in {1..2001}; do echo; done",
            2,
            "{1..2001}: more than 2000 numbers: Kubestep does not do this\n",
        ),
        ("seq 100000 | wc -l", 0, "100000\n"),
        ("seq 9 1", 0, ""),
        (
            "A=0123456789; for i in {1..60}; do A=$A$A; done; echo x",
            1,
            "more than 4 MiB in the words of one line: Kubestep does not do this; the rest of the line was not run\n",
        ),
        (
            "seq -9223372036854775808 9223372036854775807 | wc -l; echo x",
            1,
            "seq: more than 100000 numbers in one line: Kubestep does not do this\n",
        ),
        (
            "echo $(seq 1000000000); echo x",
            1,
            "seq: more than 100000 numbers in one line: Kubestep does not do this\n",
        ),
        (
            "for i in $(seq 3000); do kubectl version --client; done",
            1,
            "for with 3000 words, more than 2000: Kubestep does not do this; nothing of it was run\n",
        ),
        (
            "for i in $(seq 201); do version --client; done | wc -l || echo x",
            1,
            "more than 200 commands of kubectl within one pipe or $(…): Kubestep does not do this; `version --client` and what comes after it were not run\n",
        ),
        ("for i in $(seq 200); do k version --client; done | grep -c Client", 0, "200\n"),
        ("jq .", 127, "jq: Kubestep does not do this\n"),
        ("cat b.txt", 1, "cat: b.txt: No such file or directory\n"),
        ("sleep 3; echo up", 0, "up\n"),
        ("echo $(cat a.txt | sort) \"$(cat a.txt)\" `echo 3`", 0, "one two two\none 3\n"),
        ("A=$(cat a.txt | head -1); echo x${A}y '$A' \"$A\" $Z", 1, NOT_SET),
        (
            "A='1 2'; B=$A; for i in $A \"$A\" {3..1}; do echo -n \"<$i>\"; done; echo",
            0,
            "<1><2><1 2><3><2><1>\n",
        ),
        ("for i in $(seq 2)\ndo\n  for j in a b; do echo $i$j; done\ndone | grep -c 2", 0, "2\n"),
        ("false; echo $?; $(false) || echo no", 0, "1\nno\n"),
        ("echo a; exit 3; echo b", 3, "a\n"),
        ("for i in 1 2; do exit 4; done; echo b", 4, ""),
        ("echo \\$HOME '$(x)' $ $5", 0, "$HOME $(x) $ $5\n"),
        ("echo $(sleep 2; echo later)", 0, "later\n"),
        ("get pods -l app=$(echo", 2, "unexpected EOF while looking for matching `)'\n"),
        ("while true; do ls; done", 2, "while: Kubestep does not do this\n"),
        ("KUBECONFIG=x kubectl get pods", 1, "a variable for one command: Kubestep does not do this\n"),
        ("kubectl get pods > pods.txt", 2, "writing to files: Kubestep does not do this\n"),
        (
            "for i in {1..100}; do for j in {1..100}; do :; done; done",
            1,
            "more than 2000 commands in one line: Kubestep does not do this; the rest of the line was not run\n",
        ),
        ("", 0, ""),
    ] {
        assert_eq!(play(line, 9), (Some(code), want.to_owned()), "{line}");
    }
}

#[test]
fn watch_keeps_one_picture() {
    let want = "Every 2.0s: echo a\n\na\n".to_owned();
    assert_eq!(play("watch echo a", 0), (None, want.clone()));
    assert_eq!(play("watch echo a", 5), (None, want));
    assert_eq!(play("watch -n 5 'cat a.txt | wc -l'", 1).1, "Every 5.0s: cat a.txt | wc -l\n\n2\n");
}

#[test]
fn a_line_goes_on_from_where_it_stands() {
    const LINE: &str = "X=1; for i in a b c; do for j in 1 2; do get pods $i$j$X || echo $?; echo $i$j; done; sleep 1; done; echo end";
    let (code, text, longest) = run(LINE, 99, true);
    assert_eq!((code, text.lines().last(), longest), (Some(0), Some("end"), 1));
    assert_eq!((Some(0), text), (run(LINE, 99, false).0, play(LINE, 99).1));
    // What stands within a pipe is one command.
    assert_eq!(run("for i in 1 2 3; do sleep 1; done | wc -l; sleep 1; sleep 1", 99, true).2, 3);
    let (code, text, longest) = run("for i in $(seq 300); do get pods; done; echo $i", 999, true);
    assert_eq!((code, text.lines().last(), longest), (Some(0), Some("300"), 1));
    let left = run("for i in 1 2; do sleep 1; exit 4; done; echo no", 9, true);
    assert_eq!((left.0, left.1.as_str()), (Some(4), ""));
}
