//! Two clients for one bad network: `order` says "make me one more", `declare` says "so it should be".

use super::{Said, name_of, put, stamp, unanswered};
use crate::kc::{Flow, Kc};
use kubestep_model::{Body, Verb};
use std::{sync::Arc, time::Duration};

/// How long both wait before they send again what nobody answered.
const AGAIN: Duration = Duration::from_secs(2);
/// So often they do.
const TRIES: u32 = 5;
/// So often a line may ask for the same at most.
const MOST: u32 = 100;

/// The editor is empty, and no file was named.
const NOTHING: &str = "there is no file of YAML in the editor: write one, or name one with -f FILE";

/// `order -f FILE [--times N] [--retry]`: a command. Without an answer it cannot know whether it was carried out.
pub(super) fn order(kc: &mut Kc<'_>, said: &Said) -> Flow<i32> {
    let retries = said.flags.contains_key("retry");
    let manifests = said.manifests(kc)?;
    if manifests.is_empty() {
        return Err(kc.fail(NOTHING));
    }
    let mut code = 0;
    for _ in 0..said.number("times", 1).min(MOST) {
        for manifest in &manifests {
            let body = Body::Json(Arc::new(manifest.value.clone()));
            let verb = Verb::Create { kind: manifest.kind, namespace: manifest.namespace.clone(), body };
            for attempt in 1..=TRIES {
                match kc.ask_object(verb.clone())? {
                    Ok(object) => {
                        kc.out(format!("{} made\n", name_of(&object.key())));
                        break;
                    }
                    Err(status) if unanswered(&status) => {
                        kc.err("no answer: was it done or not?\n");
                        if !retries || attempt == TRIES {
                            code = 1;
                            break;
                        }
                        kc.sleep(AGAIN)?;
                        kc.err("sending the order again\n");
                    }
                    Err(status) => {
                        kc.err(format!("refused: {}\n", status.message));
                        code = 1;
                        break;
                    }
                }
            }
        }
    }
    Ok(code)
}

/// `declare -f FILE [--times N] [--every 30s]`: a wish. Sent again until it is answered; sending it again does no harm.
pub(super) fn declare(kc: &mut Kc<'_>, said: &Said) -> Flow<i32> {
    kc.field_manager = Some("declare".into());
    let manifests = said.manifests(kc)?;
    if manifests.is_empty() {
        return Err(kc.fail(NOTHING));
    }
    let mut last: Vec<String> = vec![String::new(); manifests.len()];
    let every = said.span("every");
    let mut code = 0;
    for _ in 0..said.number("times", 1).min(MOST) {
        for (manifest, before) in manifests.iter().zip(&mut last) {
            let key = manifest.key();
            for attempt in 1..=TRIES {
                match put(kc, &key, &manifest.value, false)? {
                    Ok(object) => {
                        let now = stamp(&object);
                        let what = if now == *before { "unchanged" } else { "declared" };
                        *before = now;
                        kc.out(format!("{} {what}\n", name_of(&key)));
                        break;
                    }
                    Err(status) if unanswered(&status) && attempt < TRIES => {
                        kc.err("no answer: it does not matter, it is sent again\n");
                        kc.sleep(AGAIN)?;
                    }
                    Err(status) => {
                        kc.err(format!("refused: {}\n", status.message));
                        code = 1;
                        break;
                    }
                }
            }
        }
    }
    match every {
        Some(every) => Err(kc.again(every)),
        None => Ok(code),
    }
}
