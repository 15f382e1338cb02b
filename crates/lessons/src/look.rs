//! An author looks at the world of a lesson: where its start leads, and its solution, answers to questions and commands.

use crate::{
    ask::ask,
    lesson::{Lesson, Source},
    question::{Ask, Over, Question},
    script::ScriptStep,
    stage::{Bare, Files, perform, run_until},
};
use kubestep_cluster::{Record, World};
use kubestep_insight::Gaps;
use std::time::Duration;

/// Plays the start of the lesson at a path, then its solution if that is wanted, then so many seconds; and answers lines:
/// what begins with `kubectl` is asked without an act, all else is a question.
/// Errors: why it cannot be played, or which line is not understood.
pub fn look(
    path: &str,
    sources: &[Source],
    solved: bool,
    seconds: u64,
    lines: &[String],
) -> Result<String, String> {
    let lesson = Lesson::read(path, sources, "en")
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let mut sees = |_: &World, _: &Gaps, _: Option<&Record>| {};
    let world = World::boot(&lesson.start_world());
    let gaps = Gaps::begin(&world);
    let mut stage = Bare { world, gaps, sees: &mut sees };
    let mut files = lesson.files.clone();
    play(&mut stage, "start", &lesson.start, &mut files)?;
    if solved {
        play(&mut stage, "solution", &lesson.solution, &mut files)?;
    }
    let end = stage.world.now() + Duration::from_secs(seconds);
    run_until(&mut stage, end);
    let mut out = String::new();
    for line in lines {
        out.push_str(&format!("> {line}\n{}\n", answer(&stage, line, &files)?.trim_end()));
    }
    Ok(out)
}

fn play(stage: &mut Bare<'_>, name: &str, steps: &[ScriptStep], files: &mut Files) -> Result<(), String> {
    for step in steps {
        perform(stage, step, files).map_err(|why| format!("the {name} cannot be played: {why}"))?;
    }
    Ok(())
}

fn answer(stage: &Bare<'_>, line: &str, files: &Files) -> Result<String, String> {
    let (world, gaps) = (&stage.world, &stage.gaps);
    if line == "kubectl" || line.starts_with("kubectl ") {
        let answer = ask(world, line, files.clone());
        return Ok(answer.output.iter().map(|c| c.text.as_str()).collect());
    }
    if let Ok(question) = Question::parse(line) {
        let so = if question.holds(world, gaps) { "yes" } else { "no" };
        return Ok(format!("{so}; it is `{}`", question.now(world, gaps)));
    }
    let asked = Ask::parse(line).map_err(|why| format!("{line}: {why}"))?;
    let mut over = Over::new(&asked, world);
    over.see(world, gaps);
    Ok(over.end(world, gaps).unwrap_or_else(|| "(nothing)".into()))
}
