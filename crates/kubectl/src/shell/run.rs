//! Runs lines: kubectl, a few programs beside it, pipes, watch and sleep.

use super::{
    filters,
    parse::{After, Each, Fills, Input, Pipeline, Stage, parse},
    token::is_name,
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
    code: i32,
}

/// Programs that one could expect in a terminal.
const ABSENT: &[&str] = &[
    "[", "alias", "awk", "bash", "break", "cd", "continue", "curl", "date", "docker", "eval", "exec", "env",
    "helm", "history", "jq", "less", "more", "nano", "printf", "python3", "pwd", "read", "sed", "sh",
    "source", "ssh", "sudo", "tee", "test", "tr", "type", "unset", "vi", "vim", "wget", "which", "xargs",
    "yq",
];
/// So many commands run of one line at most, and a loop goes over so many words.
pub(super) const MOST_COMMANDS: u32 = 2_000;
/// So many of them ask the cluster: with each answer the line is run again from its start, all in one step of the page.
const MOST_CALLS: u32 = 200;
/// So many numbers does seq print in one line.
const MOST_NUMBERS: u64 = 100_000;

/// So many bytes do variables and outputs put into the words of one line.
const MOST_PUT: usize = 4 << 20;

/// What a line knows while it runs.
#[derive(Debug, Default)]
struct Env {
    variables: BTreeMap<String, String>,
    /// The last exit code.
    code: i32,
    /// How many commands ran.
    ran: u32,
    /// How many of them ask the cluster.
    calls: u32,
    /// How many numbers were printed.
    numbers: u64,
    /// How many bytes were put into its words.
    put: usize,
    /// It was left.
    left: bool,
    /// It was left because it is too long: nothing of it is run any more, wherever it stands.
    full: bool,
}

impl Shell {
    /// A line, the files that lie beside it, and the namespace of the current context.
    pub fn new(line: &str, files: Arc<BTreeMap<String, String>>, namespace: &str) -> Shell {
        Shell {
            line: line.trim().to_owned(),
            script: parse(line),
            files,
            namespace: namespace.into(),
            code: 0,
        }
    }

    /// The exit code of the line before.
    pub fn after(self, code: i32) -> Shell {
        Shell { code, ..self }
    }
}

impl Client for Shell {
    fn run(&self, started: Instant, told: &[ClientTurn]) -> ClientProgress {
        let mut kc = Kc::new(&self.files, self.namespace.clone(), started, told);
        let flow = match &self.script {
            Ok(script) => lines(&mut kc, &mut Env { code: self.code, ..Env::default() }, script),
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
        let mut commands = vec![];
        super::gather(self.script.as_deref().unwrap_or_default(), &mut commands);
        let verb =
            |words: &Vec<String>| words.iter().find(|w| !w.starts_with('-') && !is_kubectl(w)).cloned();
        commands.iter().filter_map(verb).any(|verb| verb == "apply" || verb == "diff")
    }
}

fn is_kubectl(word: &str) -> bool {
    matches!(word, "kubectl" | "k")
}

fn lines(kc: &mut Kc<'_>, env: &mut Env, script: &[Pipeline]) -> Flow<i32> {
    for pipeline in script {
        let runs = match pipeline.after {
            After::Always => true,
            After::Success => env.code == 0,
            After::Failure => env.code != 0,
        };
        if runs && !env.left {
            env.ran += 1;
            if env.ran > MOST_COMMANDS {
                let what = format!("more than {MOST_COMMANDS} commands in one line");
                too_much(kc, env, &what, "; the rest of the line was not run");
                break;
            }
            env.code = ended(pipe(kc, env, &pipeline.stages))?;
        }
    }
    Ok(env.code)
}

/// Leaves the line because it is too long, and says so.
fn too_much(kc: &mut Kc<'_>, env: &mut Env, what: &str, rest: &str) {
    kc.err(format!("{what}: Kubestep does not do this{rest}\n"));
    (env.code, env.left, env.full) = (1, true, true);
}

/// A command's exit code; what it waits for goes on.
fn ended(flow: Flow<i32>) -> Flow<i32> {
    match flow {
        Ok(code) | Err(Stop::Exit(code)) => Ok(code),
        Err(waiting) => Err(waiting),
    }
}

fn pipe(kc: &mut Kc<'_>, env: &mut Env, stages: &[Stage]) -> Flow<i32> {
    let mut all: Vec<Vec<String>> = vec![];
    for stage in stages {
        match expanded(kc, env, stage)? {
            Ok(words) => all.push(words),
            Err(why) => return said(kc, &why, 1),
        }
    }
    let mut code = 0;
    let mut text: Option<String> = None;
    for (at, (stage, words)) in stages.iter().zip(&all).enumerate() {
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
        let flow = match &stage.each {
            Some(each) => repeat(kc, env, each, words),
            None => program(kc, env, words, input),
        };
        match ended(flow) {
            Ok(ended) => code = ended,
            Err(waiting) => {
                follow(kc, &all[at + 1..], mark);
                return Err(waiting);
            }
        }
        if env.full {
            // Half a text is nothing that one could count.
            if !last {
                kc.take(mark);
            }
            return Ok(1);
        }
        if !last {
            let printed = kc.take(mark);
            if docs::waits(&printed) {
                kc.out(docs::piped(&all[at + 1..], &printed));
                return Ok(0);
            }
            text = Some(printed);
        }
    }
    Ok(code)
}

fn repeat(kc: &mut Kc<'_>, env: &mut Env, each: &Each, words: &[String]) -> Flow<i32> {
    env.code = 0;
    if words.len() > MOST_COMMANDS as usize {
        let what = format!("for with {} words, more than {MOST_COMMANDS}", words.len());
        too_much(kc, env, &what, "; nothing of it was run");
    }
    for word in words.iter().take(MOST_COMMANDS as usize) {
        env.variables.insert(each.name.clone(), word.clone());
        lines(kc, env, &each.body)?;
    }
    Ok(env.code)
}

/// A program's words with everything put into them. Without quotes what is put in is split at blanks.
fn expanded(kc: &mut Kc<'_>, env: &mut Env, stage: &Stage) -> Flow<Result<Vec<String>, String>> {
    let mut out: Vec<String> = vec![];
    for (at, text) in stage.words.iter().enumerate() {
        let (mut word, mut from) = (None::<String>, 0);
        let mut holes = stage.holes.iter().filter(|h| h.word == at).peekable();
        if holes.peek().is_none() {
            out.push(text.clone());
            continue;
        }
        for hole in holes {
            let literal = &text[from..hole.place];
            if !literal.is_empty() {
                word.get_or_insert_default().push_str(literal);
            }
            from = hole.place;
            let filling = match filling(kc, env, &hole.fills)? {
                Ok(filling) => filling,
                Err(why) => return Ok(Err(why)),
            };
            if hole.quoted || assigned(text).is_some() {
                word.get_or_insert_default().push_str(&filling);
                continue;
            }
            if filling.starts_with(char::is_whitespace) {
                out.extend(word.take());
            }
            for (i, part) in filling.split_whitespace().enumerate() {
                if i > 0 {
                    out.extend(word.take());
                }
                word.get_or_insert_default().push_str(part);
            }
            if filling.ends_with(char::is_whitespace) {
                out.extend(word.take());
            }
        }
        if from < text.len() {
            word.get_or_insert_default().push_str(&text[from..]);
        }
        out.extend(word);
    }
    Ok(Ok(out))
}

fn filling(kc: &mut Kc<'_>, env: &mut Env, fills: &Fills) -> Flow<Result<String, String>> {
    let script = match fills {
        Fills::Variable(name) if name == "?" => return Ok(Ok(env.code.to_string())),
        Fills::Variable(name) => {
            let why = || {
                format!(
                    "${name} is not set: here a variable lives in the line that sets it ({name}=…; echo ${name}), and in single quotes it is left to the container\n"
                )
            };
            return Ok(match env.variables.get(name).cloned() {
                Some(value) => put(kc, env, value),
                None => Err(why()),
            });
        }
        Fills::Output(script) => script,
    };
    let mark = kc.printed();
    // What is set in there does not leave it.
    let mut inner = Env { variables: env.variables.clone(), ..*env };
    let flow = lines(kc, &mut inner, script);
    let text = kc.take(mark);
    let code = ended(flow)?;
    (env.ran, env.calls, env.numbers, env.put) = (inner.ran, inner.calls, inner.numbers, inner.put);
    env.code = code;
    if inner.full {
        (env.left, env.full) = (true, true);
        return Ok(Err(String::new()));
    }
    if docs::waits(&text) {
        return Ok(Err("kubectl explain within a command: Kubestep does not do this\n".to_owned()));
    }
    Ok(put(kc, env, text.trim_end_matches('\n').to_owned()))
}

/// A filling that the line still has room for. Errors: it was left, as it has become too long.
fn put(kc: &mut Kc<'_>, env: &mut Env, filling: String) -> Result<String, String> {
    env.put = env.put.saturating_add(filling.len());
    if env.put > MOST_PUT {
        too_much(kc, env, "more than 4 MiB in the words of one line", "; the rest of the line was not run");
        return Err(String::new());
    }
    Ok(filling)
}

/// The name and the value of `NAME=VALUE`.
fn assigned(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|(name, _)| is_name(name))
}

/// Shows what a command that waits printed so far through the filters behind it, if they show lines as they come.
fn follow(kc: &mut Kc<'_>, filters: &[Vec<String>], mark: usize) {
    if filters.is_empty() {
        return;
    }
    let mut text = kc.take(mark);
    if !filters.iter().all(|words| filters::follows(words)) {
        return;
    }
    text.truncate(text.rfind('\n').map_or(0, |at| at + 1));
    for words in filters {
        match filters::run(words, &text) {
            Some(Ok((filtered, _))) => text = filtered,
            _ => return,
        }
    }
    kc.out(text);
}

fn program(kc: &mut Kc<'_>, env: &mut Env, words: &[String], input: Option<String>) -> Flow<i32> {
    // Nothing is left of a command whose words all came to nothing: the code is that of what was put in.
    let Some((name, args)) = words.split_first() else { return Ok(env.code) };
    if let Some(set) = assignments(words) {
        let Some(set) = set else {
            return said(kc, "a variable for one command: Kubestep does not do this\n", 1);
        };
        env.variables.extend(set);
        if name == "export" {
            kc.err("export: here a variable lasts as long as the line that sets it\n");
        }
        return Ok(0);
    }
    let calls = is_kubectl(name) || machines::agent_of(name).is_some() || commands::is_command(name);
    env.calls += u32::from(calls);
    if calls && env.calls > MOST_CALLS {
        let what = format!("more than {MOST_CALLS} commands of kubectl in one line");
        too_much(kc, env, &what, &format!("; `{}` and what comes after it were not run", words.join(" ")));
        return Ok(1);
    }
    match name.as_str() {
        "exit" => {
            env.left = true;
            Ok(args.first().and_then(|a| a.parse::<u8>().ok()).map_or(env.code, i32::from))
        }
        "seq" => seq(kc, env, args),
        "alias" if args == ["k=kubectl"] => Ok(0),
        name if is_kubectl(name) => kubectl(kc, args, input),
        "watch" => watch(kc, env, args),
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
            kc.out("This terminal knows kubectl (k), cat, cut, echo, exit, grep, head, ls, seq, sleep, sort, tail, uniq, watch and wc, pipes between them, <<EOF, ;, && and ||, $(…), NAME=… and $NAME within a line, for NAME in …; do …; done; and four clients of Kubestep's own: order, declare, statefile and gitops.\nThe word kubectl may be left out. kubectl help lists its commands; kubectl help COMMAND tells of one.\n");
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
            None => {
                let there = "help tells what this terminal knows, kubectl help what kubectl does";
                said(kc, &format!("{name}: command not found\n{there}\n"), 127)
            }
        },
    }
}

/// The variables that the words set, if they do; within, none if a command stands behind them.
fn assignments(words: &[String]) -> Option<Option<Vec<(String, String)>>> {
    let exports = words[0] == "export" && words.len() > 1;
    let words = &words[usize::from(exports)..];
    assigned(&words[0])?;
    let own = |word: &String| assigned(word).map(|(name, value)| (name.to_owned(), value.to_owned()));
    Some(words.iter().map(own).collect())
}

fn seq(kc: &mut Kc<'_>, env: &mut Env, args: &[String]) -> Flow<i32> {
    let numbers: Option<Vec<i64>> = args.iter().map(|a| a.parse().ok()).collect();
    let (from, to) = match numbers.as_deref() {
        Some([to]) => (1, *to),
        Some([from, to]) => (*from, *to),
        _ => return said(kc, "seq: give one number, or the first and the last\n", 1),
    };
    let many = if to < from { 0 } else { to.abs_diff(from).saturating_add(1) };
    env.numbers = env.numbers.saturating_add(many);
    if env.numbers > MOST_NUMBERS {
        let what = format!("seq: more than {MOST_NUMBERS} numbers in one line");
        too_much(kc, env, &what, "");
        return Ok(1);
    }
    let mut text = String::new();
    for i in from..=to {
        text += &i.to_string();
        text.push('\n');
    }
    kc.out(text);
    Ok(0)
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
fn watch(kc: &mut Kc<'_>, env: &mut Env, args: &[String]) -> Flow<i32> {
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
        words => Ok(vec![Pipeline { after: After::Always, stages: vec![Stage::of(words.to_vec())] }]),
    };
    let script = match script {
        Ok(script) => script,
        Err(why) => return said(kc, &format!("{why}\n"), 2),
    };
    let screen = kc.printed();
    let mut before: Vec<Chunk> = Vec::new();
    loop {
        kc.out(title.clone());
        (env.ran, env.calls, env.numbers, env.put) = (0, 0, 0, 0);
        if let Err(waiting) = lines(kc, env, &script) {
            // Until the new picture is whole, the old one stays.
            if !before.is_empty() {
                kc.replace(screen, before);
            }
            return Err(waiting);
        }
        if env.full {
            return Ok(1);
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
            ("kubectl help rollout undo | tail -1", 0, "  kubectl rollout undo [options]\n"),
            ("help | wc -l", 0, "2\n"),
            (
                "foo",
                127,
                "foo: command not found\nhelp tells what this terminal knows, kubectl help what kubectl does\n",
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
                "more than 200 commands of kubectl in one line: Kubestep does not do this; `version --client` and what comes after it were not run\n",
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
}
