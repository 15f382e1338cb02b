//! Steps that do nothing: a machine, a container or pods that are not there.

use super::corpus::Corpus;
use crate::{
    lesson::{Lesson, Problem},
    script::{ScriptAct, ScriptStep},
};
use kubestep_cluster::{NodeAct, World};
use kubestep_model::{Kind, text::Selector};

/// Why a step would do nothing in this world.
pub(super) fn vain(step: &ScriptStep, world: &World) -> Option<String> {
    match &step.act {
        ScriptAct::Node {
            act: NodeAct::Stop(name) | NodeAct::Crash(name) | NodeAct::Start(name), ..
        } => {
            let there = world.machines().any(|(n, _)| **n == **name);
            (!there).then(|| format!("there is no machine {name}"))
        }
        ScriptAct::Exit { pods, text, .. } => {
            let there = world.store().list(Kind::Pod, None).any(|p| pods.matches(&p.meta().labels));
            (!there).then(|| format!("exit {text} finds no pod"))
        }
        _ => None,
    }
}

/// Probes may be answered for pods that come later; but some pod has to come.
pub(super) fn check(lesson: &Lesson, corpus: &Corpus, problems: &mut Vec<Problem>) {
    let mut look = |line: usize, steps: &[ScriptStep]| {
        for step in steps {
            let (pods, text): (&Selector, &str) = match &step.act {
                ScriptAct::Probe { pods, text, .. } => (pods, text),
                _ => continue,
            };
            if !corpus.has_pod(pods) {
                problems.push(Problem {
                    path: lesson.path.clone(),
                    line,
                    text: format!("The step probe {text} is about no pod that ever is there."),
                    remedy: "`pod:` takes labels of pods, as `app=web`.".into(),
                });
            }
        }
    };
    look(lesson.lines.start, &lesson.start);
    look(lesson.lines.solution, &lesson.solution);
    lesson.wrong.iter().zip(&lesson.lines.wrong).for_each(|(steps, line)| look(*line, steps));
}
