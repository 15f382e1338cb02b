//! Faults by the names that the page's menu and lessons use: `stop:replicaset`, `hold:manager:pods`,
//! `delay:scheduler:nodes:5000`, `crash:scheduler`.

use kubestep_cluster::{Act, FaultAct, Mood, NodeAct, ProcessId, Trouble, loops::ALL};
use kubestep_model::Kind;
use std::time::Duration;

/// The name of a person's programs, in faults of requests.
const PROGRAMS: &str = "programs";
/// Nothing is made later than by an hour.
const MOST_MILLIS: u64 = 3_600_000;

/// The act that switches a fault on or off: what, of whom, and how much or of which kind.
pub fn fault(id: &str, on: bool) -> Act {
    let mut parts = id.splitn(3, ':');
    let (what, who, kind) =
        (parts.next().unwrap_or(""), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let process = process_named(who);
    let (named, much) = kind.split_once(':').unwrap_or((kind, ""));
    let resource = || Kind::all().find(|k| k.resource() == named).unwrap_or(Kind::Pod);
    let millis = |text: &str, default: u64| {
        Duration::from_millis(if on {
            text.parse::<u64>().map_or(default, |n| n.min(MOST_MILLIS))
        } else {
            0
        })
    };
    let number = |default: u32| kind.parse().unwrap_or(default);
    let requests = |trouble| match who {
        PROGRAMS => FaultAct::Programs { trouble, next: if on { number(1) } else { 0 } },
        _ => FaultAct::Requests { process: process.clone(), trouble, next: if on { number(5) } else { 0 } },
    };
    let act = match what {
        "hold" => FaultAct::Hold { process, kind: resource(), held: on },
        "lose" => FaultAct::Lose { process, kind: resource(), lost: on },
        "delay" if who == PROGRAMS => FaultAct::SlowPrograms { by: millis(kind, 2000) },
        "delay" => FaultAct::Delay { process, kind: resource(), by: millis(much, 5000) },
        "power" if on => return Act::Node(NodeAct::Crash(who.into())),
        "power" => return Act::Node(NodeAct::Start(who.into())),
        "stop" => FaultAct::Stop { controller: who.into(), stopped: on },
        "crash-after" => FaultAct::CrashAfter { process, writes: if on { number(1) } else { 0 } },
        "drop" => requests(Trouble::Dropped),
        "unanswered" => requests(Trouble::Unanswered),
        "double" => requests(Trouble::Doubled),
        "conflict" => requests(Trouble::Conflict),
        "slow" => {
            let by = Duration::from_millis(if on { number(2000).into() } else { 0 });
            FaultAct::Slow { process, by }
        }
        "mute" => FaultAct::Mute { process, mute: on },
        "deaf" => FaultAct::Deafen { process, deaf: on },
        "history" => FaultAct::CutHistory,
        "api" => FaultAct::ApiServer { away: on },
        "stale" => FaultAct::RestartStale { process, behind: number(50).into() },
        "second" => FaultAct::SecondManager { running: on },
        "registry" => FaultAct::Registry(match who {
            "away" if on => Mood::Away,
            "slow" if on => Mood::Slow(number(10)),
            "throttling" if on => Mood::Throttling(number(3)),
            _ => Mood::Well,
        }),
        "jump" => FaultAct::ClockJump { by: Duration::from_secs(number(600).into()) },
        _ if on => FaultAct::Crash { process },
        _ => FaultAct::Restart { process },
    };
    Act::Fault(act)
}

/// Faults that name a process, and perhaps a number.
const OF_PROCESSES: [&str; 12] = [
    "crash",
    "crash-after",
    "drop",
    "unanswered",
    "double",
    "conflict",
    "slow",
    "mute",
    "deaf",
    "stale",
    "second",
    "power",
];

/// Whether there is such a fault. Errors: what is wrong with the name.
pub fn known(id: &str) -> Result<(), String> {
    let mut parts = id.splitn(3, ':');
    let (what, who, kind) =
        (parts.next().unwrap_or(""), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let loops = || ALL.iter().map(|c| c.name()).collect::<Vec<_>>().join(", ");
    match what {
        "stop" if ALL.iter().any(|c| c.name() == who) => Ok(()),
        "stop" => Err(format!("there is no loop {who}: {}", loops())),
        "hold" | "lose" if Kind::all().any(|k| k.resource() == kind) => Ok(()),
        "delay" if who == PROGRAMS => Ok(()),
        "delay" => {
            let (resource, _) = kind.split_once(':').unwrap_or((kind, ""));
            let there = Kind::all().any(|k| k.resource() == resource);
            if there { Ok(()) } else { Err(format!("there is no resource {resource}")) }
        }
        "hold" | "lose" => Err(format!("there is no resource {kind}")),
        "api" | "registry" | "jump" | "history" => Ok(()),
        _ if OF_PROCESSES.contains(&what) && !who.is_empty() => Ok(()),
        _ => Err(format!(
            "{id} is no fault: stop:LOOP, hold:PROCESS:RESOURCE, delay:PROCESS:RESOURCE:MILLISECONDS, crash:PROCESS, crash-after:PROCESS:N, and others"
        )),
    }
}

fn process_named(name: &str) -> ProcessId {
    match name {
        "scheduler" => ProcessId::Scheduler,
        "manager" => ProcessId::Manager,
        node => ProcessId::Kubelet(node.into()),
    }
}
