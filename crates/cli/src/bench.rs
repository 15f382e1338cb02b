//! `kubestep bench`: how fast and how large things are. One line of JSON for each number.

mod check;
mod frames;
mod kubectl;
mod measure;
mod memory;
mod nodes;
mod replicas;
mod scene;
mod seek;
mod sweep;

const USAGE: &str = "usage: kubestep bench NAME [SIZE]

  replicas [N]   N replicas of a Deployment (1000), with and without a Service, from apply to calm
  seek [N]       seeking to 1,000 steps of a run of N steps (10000), with all worlds kept and after thinning
  memory [N]     resident memory for N kept worlds (10000)
  check          checks of a manifest of 40 lines and of files of 50 documents
  frames         the page's pictures at 300 and at 1,000 pods
  kubectl [N]    what kubectl's commands cost at N pods (1000)
  sweep [N]      N random scenarios with faults (20)
  nodes [N]      a cluster of N nodes and thirty pods for each (5000)";

/// The command. Exit code 0, 2 for a bad call.
pub fn main(args: &[String]) -> i32 {
    let size = args.get(1).map(|n| n.parse::<usize>());
    let (Some(name), None | Some(Ok(_)), true) = (args.first(), &size, args.len() < 3) else {
        return usage();
    };
    let size = |usual: usize| size.clone().and_then(Result::ok).unwrap_or(usual);
    match name.as_str() {
        "replicas" => replicas::run(size(1000)),
        "seek" => seek::run(size(10_000)),
        "memory" => memory::run(size(10_000)),
        "check" => check::run(),
        "frames" => frames::run(),
        "kubectl" => kubectl::run(size(1000)),
        "sweep" => sweep::run(size(20)),
        "nodes" => nodes::run(size(5000)),
        _ => return usage(),
    }
    0
}

fn usage() -> i32 {
    eprintln!("{USAGE}");
    2
}
