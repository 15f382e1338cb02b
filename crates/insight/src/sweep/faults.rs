//! A fault, drawn from all that there are.

use kubestep_cluster::{
    Act, FaultAct, Mood, NodeAct, ProcessId, Trouble,
    loops::{ALL, scheduler},
};
use kubestep_model::{Dice, Kind};
use std::{collections::BTreeSet, time::Duration};

fn one_of<T: Clone>(dice: &mut Dice, purpose: &'static str, all: &[T]) -> Option<T> {
    let bound = u32::try_from(all.len()).unwrap_or(u32::MAX);
    all.get(dice.below(purpose, bound.max(1)) as usize).cloned()
}

fn node(dice: &mut Dice) -> String {
    format!("node-{}", 1 + dice.below("node", 2))
}

/// A process of the cluster; the controller manager more often than others.
fn process(dice: &mut Dice) -> ProcessId {
    match dice.below("process", 6) {
        0 => ProcessId::Scheduler,
        1 | 2 => ProcessId::Kubelet(node(dice).as_str().into()),
        _ => ProcessId::Manager,
    }
}

/// One of the watches of a process.
fn watch(dice: &mut Dice) -> (ProcessId, Kind) {
    let process = process(dice);
    let kinds: Vec<Kind> = match &process {
        ProcessId::Scheduler => scheduler::WATCHES.to_vec(),
        ProcessId::Kubelet(_) => vec![Kind::Pod, Kind::Node],
        _ => {
            let all: BTreeSet<Kind> = ALL.iter().flat_map(|c| c.watches()).map(|w| w.kind).collect();
            all.into_iter().collect()
        }
    };
    // Pods are what most loops read.
    let kind = if dice.below("of pods", 3) == 0 { None } else { one_of(dice, "watch", &kinds) };
    (process, kind.unwrap_or(Kind::Pod))
}

fn trouble(dice: &mut Dice) -> Trouble {
    let troubles = [Trouble::Dropped, Trouble::Unanswered, Trouble::Doubled, Trouble::Conflict];
    one_of(dice, "trouble", &troubles).unwrap_or(Trouble::Dropped)
}

/// A fault.
pub(super) fn fault(dice: &mut Dice) -> Act {
    let of = Act::Fault;
    match dice.below("fault", 26) {
        0 | 1 => {
            let (process, kind) = watch(dice);
            of(FaultAct::Hold { process, kind, held: true })
        }
        2 => {
            let (process, kind) = watch(dice);
            of(FaultAct::Lose { process, kind, lost: true })
        }
        3 => of(FaultAct::Crash { process: process(dice) }),
        4 => of(FaultAct::CrashAfter { process: process(dice), writes: 1 + dice.below("writes", 6) }),
        5 | 6 => {
            let names: Vec<&str> = ALL.iter().map(|c| c.name()).collect();
            let controller = one_of(dice, "stop", &names).unwrap_or("deployment");
            of(FaultAct::Stop { controller: controller.into(), stopped: true })
        }
        7 => Act::Node(NodeAct::Stop(node(dice))),
        8 => Act::Node(NodeAct::Crash(node(dice))),
        9..=12 => {
            let (process, trouble) = (process(dice), trouble(dice));
            of(FaultAct::Requests { process, trouble, next: 1 + dice.below("next", 8) })
        }
        13 => of(FaultAct::Programs { trouble: trouble(dice), next: 1 + dice.below("next", 3) }),
        14 => {
            let by = Duration::from_millis(u64::from(dice.below("slow", 5_000)));
            of(FaultAct::Slow { process: process(dice), by })
        }
        15 => of(FaultAct::Mute { process: process(dice), mute: true }),
        16 => of(FaultAct::Deafen { process: process(dice), deaf: true }),
        17 => of(FaultAct::CutHistory),
        18 => of(FaultAct::ApiServer { away: true }),
        19 => {
            let behind = u64::from(dice.below("behind", 60));
            of(FaultAct::RestartStale { process: process(dice), behind })
        }
        20 => of(FaultAct::SecondManager { running: true }),
        21 => of(FaultAct::Registry(
            [Mood::Away, Mood::Slow(20), Mood::Throttling(3)][dice.below("registry", 3) as usize % 3],
        )),
        22 => of(FaultAct::ClockJump { by: Duration::from_secs(u64::from(dice.below("jump", 120))) }),
        23 => {
            let (process, kind) = watch(dice);
            let by = Duration::from_millis(u64::from(dice.below("delay", 20_000)));
            of(FaultAct::Delay { process, kind, by })
        }
        24 => {
            let by = Duration::from_millis(u64::from(dice.below("delay", 3_000)));
            of(FaultAct::SlowPrograms { by })
        }
        _ => of(FaultAct::ClockJump { by: Duration::from_secs(u64::from(dice.below("jump", 900))) }),
    }
}
