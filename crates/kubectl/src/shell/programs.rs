//! The programs that a line may name.

use super::{
    env::{Env, MOST_NUMBERS},
    expand::assignments,
    filters, nearest,
    watch::watch,
};
use crate::{
    commands,
    kc::{Flow, Kc},
    machines,
};
use std::time::Duration;

/// Programs that one could expect in a terminal.
const ABSENT: &[&str] = &[
    "[", "alias", "awk", "bash", "break", "cd", "continue", "curl", "date", "docker", "eval", "exec", "env",
    "helm", "history", "jq", "less", "more", "nano", "printf", "python3", "pwd", "read", "sed", "sh",
    "source", "ssh", "sudo", "tee", "test", "tr", "type", "unset", "vi", "vim", "wget", "which", "xargs",
    "yq",
];
pub(super) fn is_kubectl(word: &str) -> bool {
    matches!(word, "kubectl" | "k")
}

pub(super) fn program(kc: &mut Kc<'_>, env: &mut Env, words: &[String], input: Option<String>) -> Flow<i32> {
    // Nothing is left of a command whose words all came to nothing: the code is that of what was put in.
    let Some((name, args)) = words.split_first() else { return Ok(env.code) };
    if let Some(set) = assignments(words) {
        let Some(set) = set else {
            return said(kc, "a variable for one command: Kubestep does not do this\n", 1);
        };
        set.iter().for_each(|(name, value)| env.set(name, value));
        if name == "export" {
            kc.err("export: here a variable lasts as long as the line that sets it\n");
        }
        return Ok(0);
    }
    let calls = is_kubectl(name) || machines::agent_of(name).is_some() || commands::is_command(name);
    if calls && !env.calls_one(kc, words) {
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
        "help" if args.first().is_some_and(|a| machines::agent_of(a).is_some()) => {
            kc.out(machines::help(&args[0]));
            Ok(0)
        }
        "help" => {
            kc.out("This terminal knows kubectl (k), cat, cut, echo, exit, grep, head, ls, seq, sleep, sort, tail, uniq, watch and wc, pipes between them, <<EOF, ;, && and ||, $(…), NAME=… and $NAME within a line, for NAME in …; do …; done; and four clients of Kubestep's own: order, declare, statefile and gitops.\nThe word kubectl may be left out. kubectl help lists its commands; kubectl help COMMAND tells of one.\n");
            Ok(0)
        }
        name if ABSENT.contains(&name) => said(kc, &format!("{name}: Kubestep does not do this\n"), 127),
        // A command of kubectl without `kubectl` before it is understood.
        name if commands::is_command(name) && input.is_none() => kubectl(kc, words, None),
        name if input.is_none() && filters::files(words).is_some_and(|(_, files)| !files.is_empty()) => {
            let (own, files) = filters::files(words).unwrap_or_default();
            filtered(kc, name, &own, &files)
        }
        name => match filters::run(words, &input.unwrap_or_default()) {
            Some(Ok((text, code))) => {
                kc.out(text);
                Ok(code)
            }
            Some(Err((text, code))) => said(kc, &text, code),
            None => {
                let meant = nearest::meant(words).map(|line| format!("Did you mean: {line}\n"));
                let there = "help tells what this terminal knows, kubectl help what kubectl does";
                let meant = meant.unwrap_or_default();
                said(kc, &format!("{name}: command not found\n{meant}{there}\n"), 127)
            }
        },
    }
}

/// What a filter makes of files, one after the other.
fn filtered(kc: &mut Kc<'_>, program: &str, own: &[String], files: &[String]) -> Flow<i32> {
    let (mut code, mut failed) = (1, 0);
    for (at, name) in files.iter().enumerate() {
        let Some(text) = kc.file(name) else {
            let (why, with) = filters::unreadable(program, name);
            kc.err(why);
            failed = with;
            continue;
        };
        match filters::run(own, text) {
            Some(Ok((text, ended))) => {
                code = code.min(ended);
                let several = files.len() > 1;
                if at > 0 && several && matches!(program, "head" | "tail") {
                    kc.out("\n");
                }
                kc.out(filters::of_file(program, name, several, text));
            }
            Some(Err((why, code))) => return said(kc, &why, code),
            None => return Ok(127),
        }
    }
    Ok(if failed == 0 { code } else { failed })
}

fn seq(kc: &mut Kc<'_>, env: &mut Env, args: &[String]) -> Flow<i32> {
    let numbers: Option<Vec<i64>> = args.iter().map(|a| a.parse().ok()).collect();
    let (from, to) = match numbers.as_deref() {
        Some([to]) => (1, *to),
        Some([from, to]) => (*from, *to),
        _ => return said(kc, "seq: give one number, or the first and the last\n", 1),
    };
    let many = if to < from { 0 } else { to.abs_diff(from).saturating_add(1) };
    env.used.numbers = env.used.numbers.saturating_add(many);
    if env.used.numbers > MOST_NUMBERS {
        let what = format!("seq: more than {MOST_NUMBERS} numbers in one line");
        env.too_much(kc, &what, "");
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

pub(super) fn said(kc: &mut Kc<'_>, text: &str, code: i32) -> Flow<i32> {
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
