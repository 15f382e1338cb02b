//! Pipelines: what each program prints is what the next one reads. All of one is run again with each answer.

use super::{
    env::{Env, MOST_COMMANDS},
    expand::expanded,
    filters,
    parse::{After, Each, Input, Pipeline, Stage},
    programs::{program, said},
};
use crate::{
    docs,
    kc::{Flow, Kc, Stop},
};

/// Whether a pipeline is run after one that ended so.
pub(super) fn due(after: After, code: i32) -> bool {
    match after {
        After::Always => true,
        After::Success => code == 0,
        After::Failure => code != 0,
    }
}

pub(super) fn lines(kc: &mut Kc<'_>, env: &mut Env, script: &[Pipeline]) -> Flow<i32> {
    for pipeline in script {
        if due(pipeline.after, env.code) && !env.left {
            if !env.runs_one(kc) {
                break;
            }
            env.code = ended(pipe(kc, env, &pipeline.stages))?;
        }
    }
    Ok(env.code)
}

/// A command's exit code; what it waits for goes on.
pub(super) fn ended(flow: Flow<i32>) -> Flow<i32> {
    match flow {
        Ok(code) | Err(Stop::Exit(code)) => Ok(code),
        Err(waiting) => Err(waiting),
    }
}

pub(super) fn pipe(kc: &mut Kc<'_>, env: &mut Env, stages: &[Stage]) -> Flow<i32> {
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
            let printed = if stage.both { kc.take_both(mark) } else { kc.take(mark) };
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
    begin_loop(kc, env, words);
    for word in words.iter().take(MOST_COMMANDS as usize) {
        env.set(&each.name, word);
        lines(kc, env, &each.body)?;
    }
    Ok(env.code)
}

/// A loop begins with 0, and there are not too many words for it.
pub(super) fn begin_loop(kc: &mut Kc<'_>, env: &mut Env, words: &[String]) {
    env.code = 0;
    if words.len() > MOST_COMMANDS as usize {
        let what = format!("for with {} words, more than {MOST_COMMANDS}", words.len());
        env.too_much(kc, &what, "; nothing of it was run");
    }
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
