//! Sessions as text: start, seed and inputs, packed. What a share link and the page's own safety copy hold.

use crate::{lesson::Shelf, scenarios, session::Session};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kubestep_model::Instant;
use kubestep_protocol::{Doc, LinkRefused};
use serde::{Deserialize, Serialize};

/// The format that is written. Its number stands before the packed text.
pub(crate) const FORMAT: u32 = 1;
/// A link that unpacks to more than this is not opened.
const MOST_BYTES: usize = 16 << 20;
/// More inputs or steps are not replayed.
const MOST_INPUTS: usize = 100_000;
const MOST_RECORDS: u64 = 3_000_000;
/// No session comes to this time: some decades on, in nanoseconds.
const MOST_NANOS: i64 = 4_000_000_000_000_000_000;

/// An image that a person pushed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedImage {
    pub(crate) pull_millis: u64,
    pub(crate) denied: bool,
}

/// What a person did, in a form that can be kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Saved {
    Run {
        terminal: u32,
        line: String,
        files: Vec<(String, String)>,
    },
    Interrupt {
        terminal: u32,
    },
    Image {
        name: String,
        image: Option<SavedImage>,
    },
    NodeAdd {
        name: String,
    },
    NodeStop {
        name: String,
    },
    NodeStart {
        name: String,
    },
    Probe {
        namespace: String,
        pod: String,
        ready: bool,
    },
    Exit {
        namespace: String,
        pod: String,
        container: Option<String>,
        code: i32,
    },
    Fault {
        id: String,
        on: bool,
    },
    WhatIf(bool),
    /// A step of a lesson's script that is no command, as it is written there.
    Script(String),
    /// An answer to a lesson's question, with what was true; `None`: it was skipped.
    Predicted {
        index: u32,
        answer: Option<String>,
        truth: String,
    },
    /// A hint was asked for.
    Hinted,
    /// What follows up to the next of these was shown, not done.
    Shown,
    /// Somebody moved before his turn: the step's name.
    Choice(String),
}

/// Everything that a session follows from, after its scenario's own beginning.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Packed {
    pub(crate) scenario: String,
    /// The moment of the scenario's own beginning at which this line parted from it, if it did.
    pub(crate) parted: Option<(u64, i64)>,
    /// Record number, nanoseconds and act, of each input.
    pub(crate) inputs: Vec<(u64, i64, Saved)>,
    /// Where it stands: record and nanoseconds.
    pub(crate) end: (u64, i64),
    files: Vec<(String, String)>,
    /// Of the world there; empty where nobody will compare.
    hash: String,
}

fn pack(session: &Session, step: usize, whole: bool, files: &[Doc]) -> Packed {
    let branch = &session.history.branches()[session.history.branch()];
    let step = step.min(branch.moments.len() - 1);
    let moment = &branch.moments[step];
    // A step that is looked at for a moment is that step, wherever else the person stands.
    let between = session.between && session.peeking.is_none();
    let at_present = whole || (step + 1 >= branch.moments.len() && !between);
    let count = if at_present { branch.inputs.len() } else { moment.inputs };
    // A line that parted from the scenario's own beginning says where.
    let shared = session.shared_with_root().min(step);
    let parted = branch.moments.get(shared).filter(|_| shared < session.scenario_steps);
    let skip = parted.map_or(session.scenario_inputs, |m| m.inputs);
    let rows = branch.inputs.iter().zip(&session.track().saved).take(count).skip(skip);
    let inputs = rows.map(|(input, saved)| (input.after, input.at.0, saved.clone())).collect();
    let live = session.history.live();
    let end = match at_present {
        false if between => (session.world().next_record(), session.world().now().0),
        true => (live.next_record(), live.now().0),
        false => (moment.next_record, moment.at.0),
    };
    Packed {
        scenario: session.scenario.clone(),
        parted: parted.map(|m| (m.next_record, m.at.0)),
        inputs,
        end,
        files: files.iter().map(|f| (f.name.clone(), f.text.clone())).collect(),
        hash: String::new(),
    }
}

fn encode(packed: &Packed) -> String {
    let bytes = postcard::to_stdvec(packed).unwrap_or_default();
    let small = miniz_oxide::deflate::compress_to_vec(&bytes, 9);
    let whole = [&checksum(&small).to_le_bytes()[..], &small].concat();
    format!("{FORMAT}{}", URL_SAFE_NO_PAD.encode(whole))
}

/// Tells a link in which a letter was changed from one that is whole: FNV-1a.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum: u32, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// The link to the moment that is looked at, and the hash of the world there.
pub(crate) fn share(session: &Session, files: &[Doc]) -> (String, String) {
    let mut packed = pack(session, session.step(), false, files);
    packed.hash = session.world().hash();
    (encode(&packed), packed.hash)
}

/// The session as it now is, for the page to keep.
pub(crate) fn keep(session: &Session) -> String {
    encode(&pack(session, session.history.last(), true, &[]))
}

/// A session that was opened from text.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) session: Session,
    pub(crate) files: Vec<Doc>,
    /// The hash that the text says, if the replay ended with another.
    pub(crate) differs: bool,
}

fn damaged(words: &str) -> LinkRefused {
    LinkRefused::Damaged { words: words.into(), scenario: None }
}

/// Why a link cannot be opened, for people without a page.
pub(crate) fn said(why: &LinkRefused) -> String {
    match why {
        LinkRefused::Newer { format, reads } => {
            format!("It has format {format}; this version reads {reads:?}.")
        }
        LinkRefused::Lesson(id) => format!("It leads into the lesson {id}, whose files are not at hand."),
        LinkRefused::TooLarge(words) | LinkRefused::Damaged { words, .. } => words.clone(),
    }
}

impl Packed {
    /// It is a moment of the scenario's own beginning, and nothing was done there.
    pub(crate) fn ends_where_it_parted(&self) -> bool {
        self.parted == Some(self.end) && self.inputs.is_empty()
    }
}

/// Opens a session from text. Errors: what is wrong with the text.
pub(crate) fn open(text: &str, shelf: &Shelf) -> Result<Opened, LinkRefused> {
    replay(unpack(text)?, shelf)
}

/// What a text holds. Errors: what is wrong with it.
pub(crate) fn unpack(text: &str) -> Result<Packed, LinkRefused> {
    let text = text.trim().trim_start_matches('#');
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    // The packed text may itself begin with a digit: only the first one is the format, until there are ten formats.
    let format: u32 = text
        .get(..digits.min(1))
        .and_then(|d| d.parse().ok())
        .ok_or_else(|| damaged("It does not begin with a number."))?;
    if format == 0 {
        return Err(damaged("No link begins with a 0."));
    }
    if format != FORMAT {
        return Err(LinkRefused::Newer { format, reads: vec![FORMAT] });
    }
    let bytes = URL_SAFE_NO_PAD
        .decode(&text[1..])
        .map_err(|_| damaged("It holds characters that no link has, or its end is missing."))?;
    let changed = || damaged("A part of it is missing or was changed.");
    let (sum, small) = bytes.split_at_checked(4).ok_or_else(changed)?;
    if sum != checksum(small).to_le_bytes() {
        return Err(changed());
    }
    let unpacked = miniz_oxide::inflate::decompress_to_vec_with_limit(small, MOST_BYTES);
    let bytes = unpacked.map_err(|e| match e.status {
        miniz_oxide::inflate::TINFLStatus::HasMoreOutput => {
            LinkRefused::TooLarge("It unpacks to more than 16 MiB.".into())
        }
        _ => changed(),
    })?;
    postcard::from_bytes(&bytes).map_err(|_| damaged("It is whole, but does not hold a session."))
}

/// The session that it begins from, at the moment where this line of time begins, and the files there.
pub(crate) fn begin(packed: &Packed, shelf: &Shelf) -> Result<(Session, Vec<Doc>), LinkRefused> {
    let late = |at: i64| at > MOST_NANOS;
    let never = late(packed.end.1) || packed.inputs.iter().any(|(_, at, _)| late(*at));
    if never || packed.inputs.len() > MOST_INPUTS || packed.end.0 > MOST_RECORDS {
        return Err(LinkRefused::TooLarge("It asks for more steps than this page makes.".into()));
    }
    if let Some(id) = packed.scenario.strip_prefix(crate::lesson::PREFIX)
        && shelf.find(id).is_none()
    {
        return Err(LinkRefused::Lesson(id.into()));
    }
    let loaded = match packed.scenario.strip_prefix(crate::lesson::PREFIX) {
        Some(id) => crate::lesson::load(id, shelf).ok(),
        None => scenarios::load(&packed.scenario),
    };
    let Some((mut session, files)) = loaded else {
        return Err(LinkRefused::Damaged {
            words: "It begins from a scenario that is not here.".into(),
            scenario: None,
        });
    };
    if let Some((record, at)) = packed.parted {
        let moments = &session.history.branches()[0].moments;
        let found = moments.iter().position(|m| m.next_record == record && m.at.0 == at);
        session.seek(found.unwrap_or(0));
        if !packed.ends_where_it_parted() {
            session.part();
        }
    }
    Ok((session, files))
}

fn replay(packed: Packed, shelf: &Shelf) -> Result<Opened, LinkRefused> {
    let (mut session, files) = begin(&packed, shelf)?;
    for (after, at, saved) in &packed.inputs {
        session.run_to(*after, Instant(*at));
        let proved = crate::lesson::proved(&session, saved);
        session.put(proved);
    }
    if !packed.ends_where_it_parted() {
        session.run_to(packed.end.0, Instant(packed.end.1));
    }
    let differs = !packed.hash.is_empty() && session.world().hash() != packed.hash;
    let files = if packed.files.is_empty() {
        files
    } else {
        packed.files.into_iter().map(|(name, text)| Doc { name, text }).collect()
    };
    Ok(Opened { session, files, differs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_protocol::Grade;

    /// A session of a lesson that claims these answers, played again.
    fn claimed(claims: &[(u32, &str, &str)]) -> kubestep_protocol::LessonNow {
        let text = include_str!("../../cli/src/lesson/template.md").to_string();
        let mut shelf = Shelf::default();
        shelf.take(&[Doc { name: "own/hello.md".into(), text }], "en");
        let (session, _) = crate::lesson::load("hello", &shelf).expect("it starts");
        let mut packed = pack(&session, session.history.last(), true, &[]);
        for (index, answer, truth) in claims {
            let answer = Some((*answer).to_string());
            let claim = Saved::Predicted { index: *index, answer, truth: (*truth).into() };
            packed.inputs.push((packed.end.0, packed.end.1, claim));
            packed.end.0 += 1;
        }
        let opened = open(&encode(&packed), &shelf).expect("it opens");
        crate::lesson::now(&opened.session).expect("a lesson")
    }

    #[test]
    fn what_was_true_is_found_again_whatever_a_session_claims() {
        let grade = |claims: &[(u32, &str, &str)]| claimed(claims).answers[0].as_ref().map(|a| a.grade);
        assert_eq!(grade(&[(0, "3", "3")]), Some(Grade::Wrong));
        assert_eq!(grade(&[(0, "2", "3")]), Some(Grade::Right));
        // A question is asked once: a second answer counts as none.
        assert_eq!(grade(&[(0, "3", "3"), (0, "2", "2")]), Some(Grade::Wrong));
        assert_eq!(grade(&[(7, "2", "2")]), None);
    }
}
