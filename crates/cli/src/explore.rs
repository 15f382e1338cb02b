//! `kubestep explore`: every order on a small world; prints the shortest way to a broken promise as a session script,
//! which `kubestep replay` plays.

use kubestep_insight::explore::{
    Found, Promise, explore, promise, promise_without_crashes, small_world, way,
};
use kubestep_model::yaml;
use serde_json::Value;

const USAGE: &str = "usage: kubestep explore FILE [--crashes N] [--limit STATES] [--forget-writes]

FILE holds objects. --forget-writes: what if controllers did not wait for their own writes?";
const LIMIT: usize = 200_000;

/// The command. Exit code 0, 1 when a promise can be broken, 2 for a bad call or file.
pub fn main(args: &[String]) -> i32 {
    match options(args).and_then(|o| Ok((search(&o)?, o))) {
        Ok((found, options)) => {
            let cut = if found.cut { ", cut at the limit" } else { "" };
            eprintln!("{} states, {} of them quiet{cut}", found.states, found.ends);
            match broken(&options, &found) {
                Some(text) => {
                    print!("{text}");
                    1
                }
                None => {
                    println!("every order keeps the promise");
                    0
                }
            }
        }
        Err(text) => {
            eprintln!("kubestep explore: {text}");
            2
        }
    }
}

#[derive(Debug, Default)]
struct Options {
    objects: Vec<Value>,
    crashes: u32,
    limit: usize,
    forget_writes: bool,
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut found = Options { limit: LIMIT, ..Options::default() };
    let mut file = None;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut number = || {
            rest.next().and_then(|n| n.parse::<u32>().ok()).ok_or(format!("{arg} needs a number\n{USAGE}"))
        };
        match arg.as_str() {
            "--crashes" => found.crashes = number()?,
            "--limit" => found.limit = number()? as usize,
            "--forget-writes" => found.forget_writes = true,
            name if file.is_none() && !name.starts_with('-') => file = Some(name),
            _ => return Err(USAGE.into()),
        }
    }
    let file = file.ok_or(USAGE)?;
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let reading = yaml::read(&text);
    if let Some(error) = reading.error {
        return Err(format!("{file}: {}", error.text));
    }
    found.objects = reading.documents.into_iter().map(|d| d.value).collect();
    Ok(found)
}

fn start(options: &Options) -> Result<kubestep_cluster::World, String> {
    let mut world = small_world(&options.objects)?;
    if options.forget_writes {
        world.forget_writes();
    }
    Ok(world)
}

fn search(options: &Options) -> Result<Found, String> {
    let promise: Promise<'_> = if options.crashes == 0 { &promise_without_crashes } else { &promise };
    Ok(explore(&start(options)?, options.crashes, promise, options.limit))
}

/// What is broken, and the way there.
fn broken(options: &Options, found: &Found) -> Option<String> {
    let (way, text) = found.broken.as_ref()?;
    let script = way::script(&options.objects, &start(options).ok()?, way);
    Some(format!(
        "# broken: {text}\n# the shortest way there, {} moves\n{}",
        way.len(),
        yaml::to_yaml(&script)
    ))
}

/// Plays such a script, if a text is one; answers what became of the promise.
pub fn replay(text: &str) -> Option<Result<(kubestep_cluster::World, String), String>> {
    let script = yaml::read(text).documents.into_iter().next()?.value;
    if script["world"] != "small" {
        return None;
    }
    Some(way::play(&script).map(|world| {
        let said = promise_without_crashes(&world, false)
            .err()
            .unwrap_or_else(|| "as many pods as wanted, or fewer".into());
        (world, said)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_way_to_a_broken_promise_can_be_played_again() {
        let labels = json!({"app": "web"});
        let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "web"}]}});
        let spec = json!({"replicas": 2, "selector": {"matchLabels": labels}, "template": template});
        let set =
            json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": spec});
        let options = Options { objects: vec![set], crashes: 0, limit: 10_000, forget_writes: true };
        let found = search(&options).expect("a search");
        let text = broken(&options, &found).expect("controllers that forget their writes make too many");
        let (_, said) = replay(&text).expect("a script of choices").expect("a way that can be gone");
        assert!(text.contains(&said), "{said}\n{text}");
        assert!(said.contains("wants 2 pods and has 3"), "{said}");
        assert!(replay("steps: []\n").is_none());
        let refused = replay(&text.replace("thinks about", "dreams of")).expect("a script of choices");
        assert!(refused.is_err_and(
            |e| e.contains("nobody can") && e.contains("replicaset thinks about replicasets/web")
        ));

        let keeps = search(&Options { forget_writes: false, ..options }).expect("a search");
        assert!(keeps.broken.is_none() && !keeps.cut);
    }
}
