//! `kubestep bench`: how fast and how large things are. One line of JSON for each number.

mod check;
mod frames;
mod kubectl;
mod measure;
mod memory;
mod nodes;
mod page;
mod replicas;
mod scene;
mod seek;
mod steps;
mod sweep;
mod terminal;

const USAGE: &str = "usage: kubestep bench NAME [SIZE [PODS]]

  replicas [N]   N replicas of a Deployment (1000), with and without a Service, from apply to calm
  seek [N]       seeking to 1,000 steps of a run of N steps (10000), with all worlds kept and after thinning
  memory [N]     resident memory for N kept worlds (10000)
  check          checks of a manifest of 40 lines and of files of 50 documents
  frames         the page's pictures at 300 and at 1,000 pods
  kubectl [N]    what kubectl's commands cost at N pods (1000)
  terminal [N]   the same, typed on the page, with its picture
  steps [N]      the slowest sorts of steps while N pods come up (1000), with and without a Service
  sweep [N]      N random scenarios with faults (20)
  nodes [N [P]]  a cluster of N nodes (5000) and P pods for each (30)";

/// The command. Exit code 0, 2 for a bad call.
pub fn main(args: &[String]) -> i32 {
    let numbers: Result<Vec<usize>, _> = args.iter().skip(1).map(|n| n.parse()).collect();
    let (Some(name), Ok(numbers), true) = (args.first(), numbers, args.len() < 4) else {
        return usage();
    };
    if numbers.len() > 1 && name != "nodes" {
        return usage();
    }
    let number = |at: usize, usual: usize| numbers.get(at).copied().unwrap_or(usual);
    let size = |usual| number(0, usual);
    match name.as_str() {
        "replicas" => replicas::run(size(1000)),
        "seek" => seek::run(size(10_000)),
        "memory" => memory::run(size(10_000)),
        "check" => check::run(),
        "frames" => frames::run(),
        "kubectl" => kubectl::run(size(1000)),
        "terminal" => terminal::run(size(1000)),
        "sweep" => sweep::run(size(20)),
        "nodes" => nodes::run(size(5000), number(1, 30)),
        "steps" => steps::run(size(1000)),
        _ => return usage(),
    }
    0
}

fn usage() -> i32 {
    eprintln!("{USAGE}");
    2
}
