//! Share links, restoring, and what is wrong with links.

use crate::page::Page;
use kubestep_protocol::{Command, ImageAct, LinkRefused, LoadedBy, Moment, NodeAct, Stop, Update};

fn refused(page: &mut Page, text: &str) -> LinkRefused {
    page.send(Command::LoadLink(text.into()));
    let found = page
        .answers
        .iter()
        .find_map(|u| if let Update::LinkRefused(why) = u { Some(why.clone()) } else { None });
    found.unwrap_or_else(|| panic!("{text:?} is refused"))
}

/// A session with acts of many kinds.
fn played() -> Page {
    let mut page = Page::open("P05");
    page.apply(page.doc());
    for _ in 0..20 {
        page.step();
    }
    page.send(Command::Advance { millis: 47_000 });
    page.kubectl("kubectl scale deployment checkout --replicas=4");
    page.send(Command::Node(NodeAct::Stop("node-2".into())));
    page.send(Command::Advance { millis: 90_000 });
    page.send(Command::Node(NodeAct::Start("node-2".into())));
    page.kubectl("kubectl rollout status deployment/checkout");
    page.send(Command::Image(ImageAct::Push("registry.example.com/checkout:1.9.2".into())));
    page.send(Command::Node(NodeAct::Add));
    page.send(Command::Advance { millis: 30_000 });
    page
}

#[test]
fn a_link_holds_the_exact_state() {
    let mut page = played();
    let (hash, shared) = (page.hash(), page.share());
    assert_eq!(shared.hash, hash);
    assert_eq!(shared.moment, page.frame().head.moment);
    assert!(shared.text.len() < 2_000, "{} characters", shared.text.len());
    assert!(
        shared.text.starts_with('1')
            && shared.text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    );
    let mut other = Page::new();
    assert_eq!(other.send(Command::LoadLink(shared.text.clone())), Stop::Finished);
    let loaded = other.loaded.clone().expect("loaded");
    assert_eq!((loaded.by, loaded.scenario.as_str(), loaded.differs), (LoadedBy::Link, "P05", None));
    assert_eq!(loaded.files, page.docs());
    assert_eq!(other.hash(), hash);
    assert_eq!(other.frame().head.moment.step, page.frame().head.moment.step);
    // Both go on in the same way.
    for page in [&mut page, &mut other] {
        page.send(Command::UntilCalm);
    }
    assert_eq!(page.hash(), other.hash());
    assert_eq!(page.frame().pods, other.frame().pods);
}

#[test]
fn a_link_to_the_past_holds_that_moment() {
    let mut page = played();
    for _ in 0..25 {
        page.send(Command::Back);
    }
    let (hash, shared) = (page.hash(), page.share());
    let mut other = Page::new();
    other.send(Command::LoadLink(format!("#{}", shared.text)));
    assert_eq!(other.hash(), hash);
    assert_eq!(other.frame().head.moment.step, page.frame().head.moment.step);
}

#[test]
fn what_was_kept_is_put_back_at_the_moment_before() {
    let mut page = played();
    let (hash, moment) = (page.hash(), page.frame().head.moment);
    for (step, want) in [(moment.step, Some(hash)), (moment.step - 7, None), (99_999, None)] {
        let mut other = Page::new();
        let stop =
            other.send(Command::Restore { save: page.kept.clone(), moment: Moment { step, ..moment } });
        assert_eq!(stop, Stop::Finished);
        assert_eq!(other.loaded.as_ref().map(|l| l.by), Some(LoadedBy::Restore));
        if let Some(want) = want {
            assert_eq!(other.hash(), want);
        } else {
            assert!(other.frame().head.moment.step <= step);
        }
    }
}

#[test]
fn what_was_played_is_kept_meanwhile_and_at_a_pause() {
    let mut page = played();
    let (before, begun) = (page.kept.clone(), page.frame().head.now);
    for _ in 0..30 {
        page.send(Command::Play { millis: 960, steps: 40 });
    }
    assert_ne!(page.kept, before, "a while of playing is kept");
    page.send(Command::Play { millis: 960, steps: 40 });
    page.send(Command::Pause);
    let (hash, head) = (page.hash(), page.frame().head.clone());
    assert!(head.now > begun);
    let mut other = Page::new();
    other.send(Command::Restore { save: page.kept.clone(), moment: head.moment });
    assert_eq!((other.hash(), other.frame().head.now), (hash, head.now));
}

#[test]
fn damaged_and_newer_links_are_told_apart() {
    let mut page = played();
    let text = page.share().text;
    let before = page.hash();
    for damaged in ["", "x", "hello world", "1", "1!!!!", &text[..text.len() / 2], &text[..text.len() - 3]] {
        let why = refused(&mut page, damaged);
        assert!(matches!(why, LinkRefused::Damaged { .. }), "{damaged:?}: {why:?}");
    }
    let mut flipped: Vec<u8> = text.bytes().collect();
    for at in (1..flipped.len()).step_by(7) {
        let old = flipped[at];
        flipped[at] = if old == b'A' { b'B' } else { b'A' };
        let damaged = String::from_utf8(flipped.clone()).expect("ASCII");
        let why = refused(&mut page, &damaged);
        assert!(matches!(why, LinkRefused::Damaged { .. }), "{at}: {why:?}");
        flipped[at] = old;
    }
    for newer in [format!("2{}", &text[1..]), format!("9{}", &text[1..])] {
        let why = refused(&mut page, &newer);
        assert!(matches!(why, LinkRefused::Newer { .. }), "{why:?}");
    }
    assert_eq!(page.hash(), before, "what was shown stays");
    assert_eq!(page.send(Command::LoadLink(text)), Stop::Finished);
    assert_eq!(page.hash(), before);
}

#[test]
fn a_link_that_unpacks_to_too_much_is_not_opened() {
    let mut page = Page::open("P05");
    let files = vec![kubestep_protocol::Doc { name: "big.yaml".into(), text: "#".repeat(20 << 20) }];
    page.send(Command::Share { files });
    let text = page
        .answers
        .iter()
        .find_map(|u| if let Update::Shared(s) = u { Some(s.text.clone()) } else { None })
        .expect("a link");
    assert!(matches!(refused(&mut page, &text), LinkRefused::TooLarge(_)));
}
