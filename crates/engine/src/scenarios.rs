//! What can be started: a start and inputs, never a stored world. Each is a session script with a few words more.

use crate::{
    act::act_of,
    link::Saved,
    run::{Goal, Run},
    session::{COMMAND_STEPS, Session},
};
use kubestep_lessons::{
    player::start_of,
    script::{Script, ScriptAct, ScriptStep},
    stage::{Files, perform},
};
use kubestep_model::yaml;
use kubestep_protocol::{Doc, ObjectRef, Rich, Scenario};
use serde_json::Value;
use std::time::Duration;

/// The seed of every scenario: links and lessons speak of the same run.
const SEED: u64 = 1;

/// The scripts, in the order of the list; the first is the opening story.
static SCRIPTS: &[&str] = &[
    include_str!("../scenarios/missing-tag.yaml"),
    include_str!("../scenarios/apply-is-an-acknowledgement.yaml"),
    include_str!("../scenarios/spec-and-status.yaml"),
    include_str!("../scenarios/chain-of-loops.yaml"),
    include_str!("../scenarios/rolling-update.yaml"),
    include_str!("../scenarios/three-of-two.yaml"),
    include_str!("../scenarios/revisions.yaml"),
    include_str!("../scenarios/fifty.yaml"),
    include_str!("../scenarios/rollout-status.yaml"),
    include_str!("../scenarios/labels.yaml"),
    include_str!("../scenarios/empty-selectors.yaml"),
    include_str!("../scenarios/immutable-selector.yaml"),
    include_str!("../scenarios/service-typo.yaml"),
    include_str!("../scenarios/request.yaml"),
    include_str!("../scenarios/self-healing.yaml"),
    include_str!("../scenarios/manual-edits.yaml"),
    include_str!("../scenarios/autoscaler.yaml"),
    include_str!("../scenarios/quota.yaml"),
    include_str!("../scenarios/readiness.yaml"),
    include_str!("../scenarios/limit-range.yaml"),
    include_str!("../scenarios/service-account.yaml"),
    include_str!("../scenarios/crash-at-start.yaml"),
    include_str!("../scenarios/no-node-fits.yaml"),
    include_str!("../scenarios/volume.yaml"),
    include_str!("../scenarios/back-off.yaml"),
    include_str!("../scenarios/memory.yaml"),
    include_str!("../scenarios/throttled.yaml"),
    include_str!("../scenarios/scheduling.yaml"),
    include_str!("../scenarios/namespaces.yaml"),
    include_str!("../scenarios/secrets.yaml"),
    include_str!("../scenarios/identity.yaml"),
    include_str!("../scenarios/commands-and-wishes.yaml"),
    include_str!("../scenarios/state-file.yaml"),
    include_str!("../scenarios/gitops.yaml"),
    include_str!("../scenarios/audit.yaml"),
    include_str!("../scenarios/faults.yaml"),
    include_str!("../scenarios/two-managers.yaml"),
    include_str!("../scenarios/lost-answer.yaml"),
    include_str!("../scenarios/asked-twice.yaml"),
    include_str!("../scenarios/forgotten-binding.yaml"),
    include_str!("../scenarios/one-too-many.yaml"),
    include_str!("../scenarios/never-settles.yaml"),
    include_str!("../scenarios/empty.yaml"),
];

/// A scenario's own words, beside its script.
#[derive(Clone, Debug, Default)]
struct Head {
    row: Scenario,
    opening: String,
    select: Option<ObjectRef>,
}

fn head(text: &str) -> Head {
    let value = yaml::read(text).documents.into_iter().next().map(|d| d.value).unwrap_or_default();
    let word = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_string();
    let row = Scenario {
        id: word("id"),
        group: word("group"),
        title: word("title"),
        blurb: word("about"),
        minutes: value
            .get("minutes")
            .and_then(Value::as_u64)
            .and_then(|m| u32::try_from(m).ok())
            .unwrap_or(5),
    };
    let select = word("select").split_once('/').map(|(kind, name)| ObjectRef {
        kind: kind.into(),
        namespace: "default".into(),
        name: name.into(),
    });
    Head { row, opening: word("opening"), select }
}

/// The text of a scenario.
pub(crate) fn find(id: &str) -> Option<&'static str> {
    SCRIPTS.iter().copied().find(|text| head(text).row.id == id)
}

/// The list.
pub(crate) fn list() -> Vec<Scenario> {
    SCRIPTS.iter().map(|text| head(text).row).collect()
}

/// What the teacher says before the first step, and what the inspector should show.
pub(crate) fn opening(id: &str) -> (Rich, Option<ObjectRef>) {
    let head = find(id).map(head).unwrap_or_default();
    (crate::words::marked(&head.opening), head.select)
}

/// Starts a scenario: its script is played, then it is handed to the person. `None` if there is none of this name.
pub(crate) fn load(id: &str) -> Option<(Session, Vec<Doc>)> {
    let text = find(id)?;
    let script = Script::read(text).ok()?;
    let mut session = Session::new(start_of(&script, SEED));
    // What is there from the start has its numbers before anything happens.
    crate::view::frame(&mut session, None);
    let mut files = script.files.clone();
    for step in &script.steps {
        play(&mut session, step, &mut files);
    }
    // The moment that is handed over is a step, so that a person can go back to it.
    session.mark_wait();
    let head = head(text);
    session.scenario = head.row.id;
    session.title = head.row.title;
    session.zero = session.world().now();
    session.scenario_inputs = session.track().saved.len();
    session.scenario_steps = session.history.last();
    let docs: Vec<Doc> = files.into_iter().map(|(name, text)| Doc { name, text }).collect();
    for doc in &docs {
        session.sees(doc);
    }
    Some((session, docs))
}

fn play(session: &mut Session, step: &ScriptStep, files: &mut Files) {
    match &step.act {
        ScriptAct::Kubectl(lines) => {
            for line in lines {
                let files = files.iter().map(|(n, t)| (n.clone(), t.clone())).collect();
                let saved = Saved::Run { terminal: 0, line: format!("kubectl {line}"), files };
                let act = act_of(session, &saved);
                session.command(act, saved, COMMAND_STEPS);
            }
        }
        ScriptAct::Settle(seconds) => {
            finish(session, Goal::Calm);
            wait(session, *seconds);
        }
        ScriptAct::Wait(seconds) => wait(session, *seconds),
        ScriptAct::Edit { file, replace, with } => {
            if let Some(text) = files.get_mut(file) {
                *text = text.replace(replace.as_str(), with);
            }
        }
        ScriptAct::Files(more) => files.extend(more.clone()),
        // As lessons do it. What could not be done as written, the tests tell.
        _ => drop(perform(session, step, files)),
    }
}

fn wait(session: &mut Session, seconds: f64) {
    let end = session.world().now() + Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default();
    finish(session, Goal::Time { end, steps: u32::MAX });
}

fn finish(session: &mut Session, goal: Goal) {
    let mut run = Run::new(goal, session);
    while run.slice(session, 10_000).is_none() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_starts() {
        let ids: std::collections::BTreeSet<String> = list().into_iter().map(|s| s.id).collect();
        assert_eq!(ids.len(), SCRIPTS.len(), "every scenario has a name of its own");
        for text in SCRIPTS {
            let head = head(text);
            let script = Script::read(text).unwrap_or_else(|e| panic!("{}: {e}", head.row.id));
            assert!(
                !head.row.title.is_empty()
                    && !head.row.group.is_empty()
                    && !head.row.blurb.is_empty()
                    && !head.opening.is_empty(),
                "{}",
                head.row.id
            );
            let only = |a: &ScriptAct| !matches!(a, ScriptAct::Until { .. } | ScriptAct::Parallel(_));
            assert!(script.steps.iter().all(|s| only(&s.act)), "{}: not for recordings only", head.row.id);
            let (session, files) = load(&head.row.id).expect("it starts");
            assert!(!files.is_empty(), "{}", head.row.id);
            let failed: Vec<String> = session
                .world()
                .clients()
                .filter(|(_, c)| c.ended.map(|e| e.0) != Some(0) && !c.goes_on())
                .map(|(_, c)| c.program.line())
                .collect();
            assert!(failed.is_empty(), "{}: {failed:?}", head.row.id);
        }
    }
}
