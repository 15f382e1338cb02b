//! `watch`: a command again and again.

use super::{
    env::{Env, Used},
    parse::{After, Pipeline, Stage, parse},
    pipe::lines,
    programs::said,
};
use crate::kc::{Flow, Kc};
use kubestep_model::client::Chunk;
use std::time::Duration;

/// Runs a command again and again; only its last output is kept, as on a screen.
pub(super) fn watch(kc: &mut Kc<'_>, env: &mut Env, args: &[String]) -> Flow<i32> {
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
        env.used = Used::default();
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
