//! Random sessions: each link opens at the same world, and how long links are. `KUBESTEP_SESSIONS=1000` plays more.

use crate::page::Page;
use crate::random::{Chance, command};
use kubestep_protocol::{BranchId, Command, Moment, Stop, Update};

/// So many, if nothing else is said.
const SESSIONS: u64 = 200;
/// The scenarios that they begin from, in turn.
const STARTS: [&str; 4] = ["P05", "P01", "P11", "empty"];

fn sessions() -> u64 {
    std::env::var("KUBESTEP_SESSIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(SESSIONS)
}

/// Any command; now and then somebody moves before his turn.
fn any(chance: &mut Chance, page: &mut Page) -> Command {
    if chance.next(12) == 0 {
        page.send(Command::Moves);
        let rows =
            page.answers.iter().find_map(|u| if let Update::Moves(rows) = u { Some(rows) } else { None });
        let row =
            rows.and_then(|rows| rows.get(usize::try_from(chance.next(rows.len() as u64)).unwrap_or(0)));
        if let Some(row) = row {
            return Command::Choose(row.id.clone());
        }
    }
    command(chance, page)
}

/// A session of some commands, those that lead elsewhere or search left out, and what they were.
fn play(seed: u64) -> (Page, Vec<String>) {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut page = Page::new();
    let start = STARTS[usize::try_from(seed % 4).unwrap_or(0)];
    assert_eq!(page.send(Command::LoadScenario(start.into())), Stop::Finished);
    let mut said = vec![];
    for _ in 0..2 + chance.next(10) {
        let command = any(&mut chance, &mut page);
        if !matches!(command, Command::Hello | Command::DropSnapshots) {
            said.push(format!("{command:?}").chars().take(160).collect());
            page.send(command);
        }
    }
    (page, said)
}

/// Its link's length, if it opens at the same world; else what was done in it.
fn round_trip(seed: u64) -> Result<usize, String> {
    let (mut page, said) = play(seed);
    let (hash, link) = (page.hash(), page.share());
    let mut other = Page::new();
    let stop = other.send(Command::LoadLink(link.text.clone()));
    let same = stop == Stop::Finished && other.hash() == hash && link.hash == hash;
    // What the page keeps for itself comes back to the same present.
    page.send(Command::Pause);
    let moment = page.frame().head.moment;
    let mut again = Page::new();
    let put_back = again.send(Command::Restore { save: page.kept.clone(), moment }) == Stop::Finished;
    if same && put_back { Ok(link.text.len()) } else { Err(format!("seed {seed}: {}", said.join(" | "))) }
}

#[test]
fn random_sessions_open_at_the_same_hash() {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(8) as u64;
    let all = sessions();
    let found: Vec<Result<usize, String>> = std::thread::scope(|scope| {
        let work =
            |first: u64| move || (first..all).step_by(workers as usize).map(round_trip).collect::<Vec<_>>();
        let running: Vec<_> = (0..workers).map(|w| scope.spawn(work(w))).collect();
        running.into_iter().flat_map(|r| r.join().expect("every session comes back")).collect()
    });
    let wrong: Vec<&String> = found.iter().filter_map(|f| f.as_ref().err()).collect();
    let mut lengths: Vec<usize> = found.iter().filter_map(|f| f.as_ref().ok().copied()).collect();
    lengths.sort_unstable();
    let at = |part: usize| lengths[(lengths.len() - 1) * part / 100];
    println!("characters of a link: half {}, nine of ten {}, longest {}", at(50), at(90), at(100));
    assert!(wrong.is_empty(), "{} of {all} sessions open at another world:\n{wrong:#?}", wrong.len());
    assert!(at(90) < 2_000, "nine of ten links are shorter than 2,000 characters: {}", at(90));
}

/// Links as they were written: they stay readable, whatever happens to the format.
const STORED: &str = include_str!("stored_links.txt");

#[test]
fn stored_links_of_earlier_versions_stay_readable() {
    let mut count = 0;
    for line in STORED.lines().filter(|l| !l.starts_with("//") && !l.is_empty()) {
        let (scenario, text) = line.split_once(' ').expect("a scenario and a link");
        let mut page = Page::new();
        assert_eq!(page.send(Command::LoadLink(text.into())), Stop::Finished, "{text}");
        assert_eq!(page.loaded.as_ref().map(|l| l.scenario.as_str()), Some(scenario));
        count += 1;
    }
    assert!(count >= 3, "{count}");
}

#[test]
fn hostile_links_are_refused_and_change_nothing() {
    let mut page = Page::open("P05");
    let before = page.hash();
    let mut chance = Chance(7);
    for round in 0..400 {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_%#=<>\"' ";
        let length = chance.next(200);
        let mut text = String::from("1");
        for _ in 0..length {
            text.push(char::from(letters[usize::try_from(chance.next(letters.len() as u64)).unwrap_or(0)]));
        }
        let stop = page.send(Command::LoadLink(text.clone()));
        assert!(
            page.answers.iter().any(|u| matches!(u, kubestep_protocol::Update::LinkRefused(_))),
            "{round}: {text} {stop:?}"
        );
    }
    assert_eq!(page.hash(), before);
}

/// Whether the link of what is shown opens at the same world.
fn opens_again(page: &mut Page) -> bool {
    let (hash, link) = (page.hash(), page.share());
    let mut other = Page::new();
    other.send(Command::LoadLink(link.text)) == Stop::Finished && other.hash() == hash && link.hash == hash
}

#[test]
fn what_follows_a_look_at_another_step_happens_where_one_stands() {
    let look = |page: &mut Page| {
        let moment = page.frame().head.moment;
        page.send(Command::Peek(Moment { step: 1, ..moment }));
        moment.step
    };
    let mut page = Page::open("P05");
    page.kubectl("kubectl create namespace other");
    page.kubectl("kubectl config set-context --current --namespace=other");
    look(&mut page);
    page.kubectl("kubectl create configmap mine");
    let entry = page.terminal();
    assert!(opens_again(&mut page));
    page.kubectl("kubectl get configmap mine -o jsonpath={.metadata.namespace}");
    assert_eq!(page.terminal().0, "other", "{entry:?}");
    // Time that passes in the past passes there, too.
    for _ in 0..6 {
        page.send(Command::Back);
    }
    let before = page.frame().head.moment.step;
    assert_eq!(look(&mut page), before);
    page.send(Command::Advance { millis: 1 });
    assert!(page.frame().head.moment.step >= before, "not at the step that was only looked at");
    assert!(opens_again(&mut page));
}

#[test]
fn a_timeline_that_is_not_there_is_refused() {
    let mut page = Page::open("P05");
    for _ in 0..3 {
        page.send(Command::Back);
    }
    let before = page.hash();
    for command in [
        Command::Branch(BranchId(9)),
        Command::Seek(Moment { branch: BranchId(9), ..page.frame().head.moment }),
    ] {
        assert!(matches!(page.send(command), Stop::Refused(_)));
        assert_eq!(page.hash(), before);
        assert!(opens_again(&mut page));
    }
}
