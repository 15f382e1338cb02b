//! `kubestep replay`: plays a saved session or a session script again and says what it came to.

use kubestep_cluster::{Record, World};
use kubestep_insight::{Gaps, verdict};
use kubestep_lessons::{
    player::{Observer, Player},
    script::Script,
};
use kubestep_model::{Instant, Kind as ObjectKind};

const USAGE: &str = "usage: kubestep replay SESSION [--seed N] [--hash]

SESSION is the text of a link, a file that holds one, or a session script (.yaml; --seed is for it).";

/// The command. Exit code 0, 1 when a saved session ends with another hash than it says, 2 for a bad call or file.
pub fn main(args: &[String]) -> i32 {
    match options(args).and_then(|o| play(&o).map(|p| (o.hash, p))) {
        Ok((hash, played)) => {
            println!("{} steps, {}", played.steps, played.verdict);
            played.failed.iter().for_each(|line| eprintln!("{line}"));
            if hash {
                println!("{}", played.hash);
            }
            if played.differs {
                eprintln!("kubestep replay: the session was saved with another hash");
            }
            i32::from(played.differs)
        }
        Err(text) => {
            eprintln!("kubestep replay: {text}");
            2
        }
    }
}

struct Options {
    session: String,
    hash: bool,
    seed: u64,
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut found = Options { session: String::new(), hash: false, seed: 1 };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--hash" => found.hash = true,
            "--seed" => {
                let number = rest.next().and_then(|n| n.parse().ok());
                found.seed = number.ok_or(format!("--seed needs a number\n{USAGE}"))?;
            }
            flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}\n{USAGE}")),
            session if found.session.is_empty() => found.session = session.into(),
            other => return Err(format!("one session at a time: {other}\n{USAGE}")),
        }
    }
    if found.session.is_empty() { Err(USAGE.into()) } else { Ok(found) }
}

#[derive(Debug)]
struct Played {
    steps: usize,
    verdict: String,
    hash: String,
    differs: bool,
    failed: Vec<String>,
}

fn play(options: &Options) -> Result<Played, String> {
    let session = &options.session;
    if session.ends_with(".yaml") {
        let text = std::fs::read_to_string(session).map_err(|e| format!("{session}: {e}"))?;
        if let Some(played) = crate::explore::replay(&text) {
            let (world, said) = played.map_err(|e| format!("{session}: {e}"))?;
            let steps = usize::try_from(world.next_record()).unwrap_or(usize::MAX);
            return Ok(Played { steps, verdict: said, hash: world.hash(), differs: false, failed: vec![] });
        }
        let script = Script::read(&text).map_err(|e| format!("{session}: {e}"))?;
        return Ok(of_script(&script, options.seed));
    }
    let file = std::path::Path::new(session).is_file();
    let text = if file {
        std::fs::read_to_string(session).map_err(|e| format!("{session}: {e}"))?
    } else {
        session.clone()
    };
    let found = kubestep_engine::replay(text.trim())?;
    Ok(Played {
        steps: found.steps,
        verdict: found.verdict.into(),
        hash: found.hash,
        differs: found.differs,
        failed: vec![],
    })
}

/// Counts steps and follows gaps.
struct Counter {
    steps: usize,
    gaps: Option<Gaps>,
    changed: Instant,
}

impl Observer for Counter {
    fn see(&mut self, world: &World, record: &Record) {
        self.steps += usize::from(record.visible());
        self.gaps.get_or_insert_with(|| Gaps::begin(world)).follow(world, &record.changes);
        let background =
            |k: ObjectKind| matches!(k, ObjectKind::Event | ObjectKind::Lease | ObjectKind::Node);
        if record.changes.iter().any(|c| !background(c.key.kind)) {
            self.changed = record.at;
        }
    }
    fn last_change(&self) -> Instant {
        self.changed
    }
}

fn of_script(script: &Script, seed: u64) -> Played {
    let counter = Counter { steps: 0, gaps: None, changed: Instant::START };
    let mut player = Player::new(script, seed, counter, None);
    player.play(script);
    let world = &player.world;
    let gaps = player.observer.gaps.take().unwrap_or_else(|| Gaps::begin(world));
    let verdict = verdict(world, &gaps).kind.name();
    Played {
        steps: player.observer.steps,
        verdict: verdict.into(),
        hash: world.hash(),
        differs: false,
        failed: player.failed.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "id: small
images:
  web:1: {pullSeconds: 1}
files:
  web.yaml: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec: {containers: [{name: web, image: web:1}]}
steps:
- kubectl: apply -f web.yaml
- wait: 20
";

    #[test]
    fn a_script_comes_to_the_same_hash_each_time_and_to_another_with_another_seed() {
        let script = Script::read(SCRIPT).expect("a script");
        let (a, b, c) = (of_script(&script, 1), of_script(&script, 1), of_script(&script, 2));
        assert_eq!(a.failed, Vec::<String>::new());
        assert_eq!((a.steps, &a.hash), (b.steps, &b.hash));
        assert_ne!(a.hash, c.hash);
        assert_eq!(a.verdict, "converged");
        assert!(a.steps > 10, "{}", a.steps);
    }

    #[test]
    fn what_is_no_session_is_refused_with_words() {
        let call = |session: &str| play(&Options { session: session.into(), hash: false, seed: 1 });
        assert_eq!(call("x").err().as_deref(), Some("It does not begin with a number."));
        assert!(call("9abc").err().is_some_and(|e| e.contains("format 9")));
        assert!(call("no-such.yaml").is_err());
    }
}
