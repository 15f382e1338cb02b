//! Runs lines: kubectl, a few programs beside it, pipes, watch and sleep.

use super::{
    filters,
    parse::{After, Input, Pipeline, Stage, parse},
};
use crate::{
    commands, docs,
    kc::{Flow, Kc, Stop},
    machines,
};
use kubestep_model::{
    Instant,
    client::{Chunk, Client, ClientProgress, ClientTurn},
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// A line that a person typed in a terminal.
#[derive(Clone, Debug)]
pub struct Shell {
    line: String,
    script: Result<Vec<Pipeline>, String>,
    files: Arc<BTreeMap<String, String>>,
    namespace: Arc<str>,
}

/// Programs that one could expect in a terminal.
const ABSENT: &[&str] = &[
    "awk", "bash", "curl", "docker", "helm", "jq", "less", "more", "nano", "python3", "sed", "sh", "tee",
    "vi", "vim", "wget", "xargs", "yq",
];

impl Shell {
    /// A line, the files that lie beside it, and the namespace of the current context.
    pub fn new(line: &str, files: Arc<BTreeMap<String, String>>, namespace: &str) -> Shell {
        Shell { line: line.trim().to_owned(), script: parse(line), files, namespace: namespace.into() }
    }
}

impl Client for Shell {
    fn run(&self, started: Instant, told: &[ClientTurn]) -> ClientProgress {
        let mut kc = Kc::new(&self.files, self.namespace.clone(), started, told);
        let flow = match &self.script {
            Ok(script) => lines(&mut kc, script),
            Err(why) => {
                kc.err(format!("{why}\n"));
                Err(Stop::Exit(2))
            }
        };
        kc.end(flow)
    }

    fn line(&self) -> String {
        self.line.clone()
    }

    fn user_agent(&self) -> &str {
        let first = self.script.iter().flatten().flat_map(|p| &p.stages).find_map(|s| s.words.first());
        first.and_then(|word| machines::agent_of(word)).unwrap_or("kubectl")
    }

    fn reads_schemas(&self) -> bool {
        let stages = self.script.iter().flatten().flat_map(|p| &p.stages);
        let mut words = stages.filter_map(|s| s.words.iter().find(|w| !w.starts_with('-') && !is_kubectl(w)));
        words.any(|verb| verb == "apply" || verb == "diff")
    }
}

fn is_kubectl(word: &str) -> bool {
    matches!(word, "kubectl" | "k")
}

fn lines(kc: &mut Kc<'_>, script: &[Pipeline]) -> Flow<i32> {
    let mut code = 0;
    for pipeline in script {
        let runs = match pipeline.after {
            After::Always => true,
            After::Success => code == 0,
            After::Failure => code != 0,
        };
        if runs {
            code = ended(pipe(kc, &pipeline.stages))?;
        }
    }
    Ok(code)
}

/// A command's exit code; what it waits for goes on.
fn ended(flow: Flow<i32>) -> Flow<i32> {
    match flow {
        Ok(code) | Err(Stop::Exit(code)) => Ok(code),
        Err(waiting) => Err(waiting),
    }
}

fn pipe(kc: &mut Kc<'_>, stages: &[Stage]) -> Flow<i32> {
    let mut code = 0;
    let mut text: Option<String> = None;
    for (at, stage) in stages.iter().enumerate() {
        let last = at + 1 == stages.len();
        let mark = kc.printed();
        let input = match &stage.input {
            Some(Input::Text(text)) => Some(text.clone()),
            Some(Input::File(name)) => match kc.file(name) {
                Some(text) => Some(text.to_owned()),
                None => {
                    kc.err(format!("{name}: No such file or directory\n"));
                    return Ok(1);
                }
            },
            None => text.take(),
        };
        let flow = program(kc, &stage.words, input);
        match ended(flow) {
            Ok(ended) => code = ended,
            Err(waiting) => {
                follow(kc, &stages[at + 1..], mark);
                return Err(waiting);
            }
        }
        if !last {
            let printed = kc.take(mark);
            if docs::waits(&printed) {
                let rest: Vec<Vec<String>> = stages[at + 1..].iter().map(|s| s.words.clone()).collect();
                kc.out(docs::piped(&rest, &printed));
                return Ok(0);
            }
            text = Some(printed);
        }
    }
    Ok(code)
}

/// Shows what a command that waits printed so far through the filters behind it, if they show lines as they come.
fn follow(kc: &mut Kc<'_>, filters: &[Stage], mark: usize) {
    if filters.is_empty() {
        return;
    }
    let mut text = kc.take(mark);
    if !filters.iter().all(|s| filters::follows(&s.words)) {
        return;
    }
    text.truncate(text.rfind('\n').map_or(0, |at| at + 1));
    for stage in filters {
        match filters::run(&stage.words, &text) {
            Some(Ok((filtered, _))) => text = filtered,
            _ => return,
        }
    }
    kc.out(text);
}

fn program(kc: &mut Kc<'_>, words: &[String], input: Option<String>) -> Flow<i32> {
    let Some((name, args)) = words.split_first() else { return Ok(0) };
    match name.as_str() {
        name if is_kubectl(name) => kubectl(kc, args, input),
        "watch" => watch(kc, args),
        "sleep" => match args.first().and_then(|a| a.trim_end_matches('s').parse::<f64>().ok()) {
            Some(seconds) if (0.0..1e7).contains(&seconds) => {
                kc.sleep(Duration::from_secs_f64(seconds))?;
                Ok(0)
            }
            _ => said(kc, "sleep: missing or invalid operand\n", 1),
        },
        "echo" => {
            let plain = args.first().is_some_and(|a| a == "-n");
            let text = args[usize::from(plain)..].join(" ");
            kc.out(if plain { text } else { text + "\n" });
            Ok(0)
        }
        "cat" if !args.is_empty() && input.is_none() => cat(kc, args),
        "ls" => {
            let names: Vec<String> = kc.files().map(|(name, _)| format!("{name}\n")).collect();
            kc.out(names.concat());
            Ok(0)
        }
        name if machines::agent_of(name).is_some() => {
            kc.fresh(input);
            machines::run(kc, words)
        }
        "true" | ":" => Ok(0),
        "clear" => said(
            kc,
            "clear: the terminal shows what was typed up to the moment that is looked at; going back in time takes it away\n",
            1,
        ),
        "false" => Ok(1),
        "help" => {
            kc.out("This terminal knows kubectl (k), cat, cut, echo, grep, head, ls, sleep, sort, tail, uniq, watch and wc, pipes between them, <<EOF, ;, && and ||; and four clients of Kubestep's own: order, declare, statefile and gitops.\nThe word kubectl may be left out. kubectl help lists its commands; kubectl help COMMAND tells of one.\n");
            Ok(0)
        }
        name if ABSENT.contains(&name) => said(kc, &format!("{name}: Kubestep does not do this\n"), 127),
        // A command of kubectl without `kubectl` before it is understood.
        name if commands::is_command(name) && input.is_none() => kubectl(kc, words, None),
        name => match filters::run(words, &input.unwrap_or_default()) {
            Some(Ok((text, code))) => {
                kc.out(text);
                Ok(code)
            }
            Some(Err((text, code))) => said(kc, &text, code),
            None => said(kc, &format!("{name}: command not found\n"), 127),
        },
    }
}

fn said(kc: &mut Kc<'_>, text: &str, code: i32) -> Flow<i32> {
    kc.err(text);
    Ok(code)
}

fn kubectl(kc: &mut Kc<'_>, words: &[String], input: Option<String>) -> Flow<i32> {
    kc.fresh(input);
    commands::start(kc, words)
}

fn cat(kc: &mut Kc<'_>, names: &[String]) -> Flow<i32> {
    let mut code = 0;
    for name in names {
        match kc.file(name) {
            Some(text) => kc.out(text.to_owned()),
            None => code = said(kc, &format!("cat: {name}: No such file or directory\n"), 1)?,
        }
    }
    Ok(code)
}

/// Runs a command again and again; only its last output is kept, as on a screen.
fn watch(kc: &mut Kc<'_>, args: &[String]) -> Flow<i32> {
    let (mut every, mut rest) = (2.0, args);
    while let Some(flag) = rest.first().filter(|w| w.starts_with('-')) {
        let (value, used) = match flag.as_str() {
            "-n" | "--interval" => (rest.get(1).cloned(), 2),
            other => (other.strip_prefix("-n").or(other.strip_prefix("--interval=")).map(str::to_owned), 1),
        };
        match value.and_then(|v| v.parse::<f64>().ok()).filter(|v| (0.1..1e6).contains(v)) {
            Some(seconds) => every = seconds,
            None if matches!(flag.as_str(), "-d" | "-t" | "--differences" | "--no-title") => {}
            None => return said(kc, &format!("watch: {flag}: Kubestep does not do this\n"), 1),
        }
        rest = &rest[used.min(rest.len())..];
    }
    if rest.is_empty() {
        return said(kc, "Usage: watch [-n SECONDS] COMMAND\n", 1);
    }
    let title = format!("Every {every:.1}s: {}\n\n", rest.join(" "));
    let script = match rest {
        [line] => parse(line),
        words => Ok(vec![Pipeline {
            after: After::Always,
            stages: vec![Stage { words: words.to_vec(), input: None }],
        }]),
    };
    let script = match script {
        Ok(script) => script,
        Err(why) => return said(kc, &format!("{why}\n"), 2),
    };
    let screen = kc.printed();
    let mut before: Vec<Chunk> = Vec::new();
    loop {
        kc.out(title.clone());
        if let Err(waiting) = lines(kc, &script) {
            // Until the new picture is whole, the old one stays.
            if !before.is_empty() {
                kc.replace(screen, before);
            }
            return Err(waiting);
        }
        before = kc.since(screen);
        kc.sleep(Duration::from_secs_f64(every))?;
        kc.replace(screen, vec![]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::client::{ClientAsk, ClientTold};

    fn play(line: &str, turns: usize) -> (Option<i32>, String) {
        let files = BTreeMap::from([("a.txt".to_owned(), "two\none\n".to_owned())]);
        let shell = Shell::new(line, Arc::new(files), "default");
        let mut told: Vec<ClientTurn> = vec![];
        loop {
            let progress = shell.run(Instant::START, &told);
            let text: String = progress.output.iter().map(|c| c.text.as_str()).collect();
            match progress.next {
                Ok(code) => return (Some(code), text),
                Err(_) if told.len() >= turns => return (None, text),
                Err(ask) => {
                    let answer = match &ask {
                        ClientAsk::Sleep(_) => ClientTold::Slept,
                        _ => ClientTold::Text(Err("no".into())),
                    };
                    told.push(ClientTurn { ask, told: answer, at: Instant::START });
                }
            }
        }
    }

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
            ("kubectl help rollout undo | tail -1", 0, "  kubectl rollout undo [options]\n"),
            ("help | wc -l", 0, "2\n"),
            ("foo", 127, "foo: command not found\n"),
            ("jq .", 127, "jq: Kubestep does not do this\n"),
            ("cat b.txt", 1, "cat: b.txt: No such file or directory\n"),
            ("sleep 3; echo up", 0, "up\n"),
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
}
