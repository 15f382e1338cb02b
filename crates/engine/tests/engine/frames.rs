//! How often pictures are sent: while a run goes on, only when the page has drawn the one before.

use crate::page::Page;
use kubestep_protocol::{Command, CommandId, FrameId, Request, Stop, Update};

fn pictures(updates: &[Update]) -> Vec<FrameId> {
    let id = |u: &Update| match u {
        Update::Delta(delta) => Some(delta.head.id),
        Update::Frame(frame) => Some(frame.head.id),
        _ => None,
    };
    updates.iter().filter_map(id).collect()
}

#[test]
fn a_run_sends_no_picture_before_the_last_one_is_drawn_and_one_when_it_is_stopped() {
    let mut page = Page::open("P05");
    page.apply(page.doc());
    let ask = |page: &mut Page, id: u32, command: Command| {
        page.engine.handle(Request { id: CommandId(id), command })
    };
    let drawn = page.frame().head.id;
    assert!(ask(&mut page, 900, Command::Drawn(drawn)).is_empty());
    assert!(ask(&mut page, 901, Command::UntilCalm).is_empty());

    let first = pictures(&page.engine.idle(1));
    assert_eq!(first.len(), 1, "the page can take one");
    for _ in 0..20 {
        assert_eq!(pictures(&page.engine.idle(1)), [], "the page has not drawn it yet");
    }
    ask(&mut page, 902, Command::Drawn(drawn));
    assert_eq!(pictures(&page.engine.idle(1)), [], "that was an older one");
    ask(&mut page, 903, Command::Drawn(first[0]));
    assert_eq!(pictures(&page.engine.idle(1)).len(), 1);
    assert_eq!(pictures(&page.engine.idle(1)), []);

    let updates = ask(&mut page, 904, Command::Pause);
    assert_eq!(pictures(&updates).len(), 1, "where it stopped has not been seen yet");
    let stops: Vec<_> = updates
        .iter()
        .filter_map(|u| if let Update::Done { id, stop, .. } = u { Some((id.0, stop.clone())) } else { None })
        .collect();
    assert_eq!(stops, [(901, Stop::Interrupted), (904, Stop::Finished)]);
}
