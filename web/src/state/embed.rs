//! A figure in somebody's page: which parts it shows, and what the page around it asks for.

use std::rc::Rc;

use kubestep_protocol::*;

use super::{Effect, FileMsg, Msg, State, TermMsg, TimeMsg, View};

/// What a figure was asked to be, by the address' query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Embed {
    /// The parts it shows, parted by spaces.
    pub show: String,
    /// `full`, `few` or `none`.
    pub controls: String,
    /// The reader can move in time, and change nothing.
    pub readonly: bool,
    /// Dark or light, where it was said.
    dark: Option<bool>,
    /// The teacher is silent.
    silent: bool,
    /// Runs until calm at the start.
    calm: bool,
}

/// Between the name of what is asked, and its values.
const PART: char = '\u{1f}';
/// What is shown where nothing was said.
const USUAL: &str = "board verdict steps timeline";
/// The name of a manifest that came with the address.
const MANIFEST: &str = "manifest.yaml";
/// The id of a lesson that came with the address.
pub(super) const DRAFT: &str = "draft";
/// The scenario that a manifest of the address is applied to.
const EMPTY: &str = "empty";
/// The most virtual time that steps which are still to come may take.
const MOST: u64 = 366 * 24 * 3_600_000;

impl Embed {
    /// Read from a query; `None` where it asks for no figure.
    pub fn of(query: &str) -> Option<Embed> {
        let query = query.trim_start_matches('?');
        let has = |name: &str| query.split('&').any(|p| p == name || p.starts_with(&format!("{name}=")));
        let value = |name: &str| {
            let mut pairs = query.split('&').filter_map(|p| p.split_once('='));
            pairs.find(|(n, _)| *n == name).map(|(_, v)| decoded(v))
        };
        if !has("embed") {
            return None;
        }
        let show = value("show").map(|s| s.replace([',', '+'], " ")).filter(|s| !s.trim().is_empty());
        let usual = if has("lesson") { format!("lesson {USUAL}") } else { USUAL.to_string() };
        Some(Embed {
            show: show.unwrap_or(usual),
            controls: value("controls").filter(|c| c == "full" || c == "none").unwrap_or("few".into()),
            readonly: has("readonly") && value("readonly").as_deref() != Some("false"),
            dark: value("theme").and_then(|t| match t.as_str() {
                "dark" => Some(true),
                "light" => Some(false),
                _ => None,
            }),
            silent: value("teacher").as_deref() == Some("off"),
            calm: value("step").as_deref() == Some("calm"),
        })
    }

    /// Whether a part is shown.
    pub fn shows(&self, part: &str) -> bool {
        self.show.split_whitespace().any(|p| p == part)
    }
}

/// `%41` is `A`. What is no such sign stays as it is; what is no text afterwards becomes marks of it.
pub(super) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit =
        |i: usize| bytes.get(i).and_then(|b| char::from(*b).to_digit(16)).and_then(|d| u8::try_from(d).ok());
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push(high * 16 + low);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl State {
    /// Whether this page is a figure that shows a part; the whole page shows all.
    pub fn shows(&self, part: &str) -> bool {
        self.embed.as_ref().is_none_or(|e| e.shows(part))
    }

    /// The reader can change nothing.
    pub fn readonly(&self) -> bool {
        self.embed.as_ref().is_some_and(|e| e.readonly)
    }

    /// How a figure looks: what it was asked, over what is usual.
    pub(super) fn look_of_figure(&mut self) {
        let Some(embed) = self.embed.clone() else { return };
        self.ui.prefs.dark = embed.dark.unwrap_or(self.ui.prefs.dark);
        self.ui.prefs.teacher = !embed.silent;
        if embed.shows("loops") && !embed.shows("board") {
            self.ui.view = View::Loops;
        }
    }

    /// Whether the reader of a figure may not do this.
    pub(super) fn forbids(&self, msg: &Msg) -> bool {
        let acts = match msg {
            Msg::Act(Command::Predict { .. } | Command::Hint) => false,
            Msg::Act(_) | Msg::End(_) | Msg::TryAgain => true,
            Msg::File(m) => {
                !matches!(m, FileMsg::CheckDue(_) | FileMsg::Front(_) | FileMsg::Go(..) | FileMsg::Help(..))
            }
            Msg::Term(m) => matches!(m, TermMsg::Enter | TermMsg::Interrupt),
            _ => false,
        };
        acts && self.readonly()
    }

    /// A fragment that holds a text: `yaml=…` is a manifest, `draft=…` a lesson.
    pub(super) fn open_text(&mut self, link: &str, todo: &mut Vec<Effect>) -> bool {
        if let Some(text) = link.strip_prefix("yaml=") {
            self.manifest = Some(Rc::from(decoded(text)));
            self.ask(Command::LoadScenario(EMPTY.into()), todo);
            return true;
        }
        if link.starts_with("draft=") {
            self.open_draft(link, todo);
            return true;
        }
        false
    }

    /// `draft=LESSON&de=TRANSLATION&at=LINK`: only the first has to be there; the last is a moment of its run.
    fn open_draft(&mut self, link: &str, todo: &mut Vec<Effect>) {
        let mut load = Command::LoadLesson(DRAFT.into());
        let mut sources = vec![];
        for (name, text) in link.split('&').filter_map(|part| part.split_once('=')) {
            let language = match name {
                "at" => {
                    load = Command::LoadLink(text.into());
                    continue;
                }
                "draft" => String::new(),
                other => format!(".{other}"),
            };
            sources.push(Doc { name: format!("own/{DRAFT}{language}.md"), text: decoded(text) });
        }
        self.lesson_docs = Rc::new(sources.clone());
        self.ask(Command::Lessons { sources, language: self.ui.prefs.language.into() }, todo);
        self.ask(load, todo);
    }

    /// A session was opened: the manifest of the address is put into it, and a figure goes to its moment.
    pub(super) fn opened_figure(&mut self, todo: &mut Vec<Effect>) {
        if let Some(text) = self.manifest.take() {
            self.only_file(MANIFEST, &text);
            if self.embed.is_some() {
                self.apply_front(todo);
            }
        }
        let Some(embed) = self.embed.clone() else { return };
        if embed.calm {
            self.ask(Command::UntilCalm, todo);
        }
    }

    /// The first picture of a figure is there: it goes to the step of its address.
    pub(super) fn first_picture(&mut self, todo: &mut Vec<Effect>) {
        if let Some(step) = self.wanted_step.take_if(|_| self.embed.is_some()) {
            self.go_to(step, todo);
        }
    }

    /// Shows a step, also one that is still to come.
    fn go_to(&mut self, step: u32, todo: &mut Vec<Effect>) {
        let last = self.frame.as_ref().map_or(0, |f| f.head.last);
        let moment = |step| Moment { step, ..self.moment() };
        let (seen, more) = (moment(step.min(last)), step.saturating_sub(last));
        self.ask(Command::Seek(seen), todo);
        if more > 0 {
            self.ask(Command::Play { millis: MOST, steps: more }, todo);
        }
    }

    /// What the page around a figure asks for: a name, and values.
    pub(super) fn asked_from_outside(&mut self, text: &str, todo: &mut Vec<Effect>) {
        let mut parts = text.split(PART);
        let (name, value, second) =
            (parts.next().unwrap_or_default(), parts.next().unwrap_or_default(), parts.next());
        let time = match name {
            "step" => Some(TimeMsg::Step),
            "back" => Some(TimeMsg::Back),
            "forward" => Some(TimeMsg::Forward),
            "reconcile" => Some(TimeMsg::Reconcile),
            "calm" => Some(TimeMsg::Calm),
            "advance" => value.parse().ok().map(TimeMsg::Advance),
            "until" => Some(TimeMsg::Until(Until::Question(value.into()))),
            "play" if !self.running() => Some(TimeMsg::Play),
            _ => None,
        };
        if let Some(time) = time {
            return self.time(time, todo);
        }
        match name {
            "pause" => self.stop_playing(todo),
            "seek" => {
                self.stop_playing(todo);
                self.go_to(value.parse().unwrap_or(0), todo);
            }
            "apply" => {
                self.stop_playing(todo);
                let doc = Doc {
                    name: self.front().map_or(MANIFEST.into(), |f| f.name.to_string()),
                    text: value.into(),
                };
                self.shown_files(vec![doc], todo);
                self.apply_front(todo);
            }
            "kubectl" => {
                self.stop_playing(todo);
                self.ask(Command::Kubectl { terminal: 0, line: value.into(), files: self.docs() }, todo);
            }
            "share" => {
                self.shared = None;
                let files = self.docs();
                self.ask(Command::Share { files }, todo);
            }
            "open" => {
                self.banner = None;
                self.open_address(value, todo);
            }
            "predict" => {
                let index = value.parse().unwrap_or(0);
                self.act(Command::Predict { index, answer: second.map(str::to_string) }, todo);
            }
            "hint" => self.act(Command::Hint, todo),
            "show" => self.act(Command::ShowMe, todo),
            "theme" => self.ui.prefs.dark = value == "dark",
            "teacher" => self.ui.prefs.teacher = value != "off",
            _ => {}
        }
        if matches!(name, "theme" | "teacher") {
            todo.push(Effect::Look);
        }
    }

    /// A figure that tells why needs something to tell about.
    pub(super) fn choose_subject(&mut self, frame: &Frame, todo: &mut Vec<Effect>) {
        let wants = self.embed.as_ref().is_some_and(|e| e.shows("why")) && self.ui.selected.is_none();
        let subject = frame.rows.iter().find(|r| r.object.kind != "Service" && r.object.kind != "Node");
        if let Some(object) = subject.map(|r| r.object.clone()).filter(|_| wants) {
            self.select(object, todo);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Prefs, tests::*};

    #[test]
    fn a_query_says_what_a_figure_is() {
        assert_eq!(Embed::of("?lesson=x&step=2"), None);
        let figure = Embed::of("?embed&show=board,why&controls=full&readonly&theme=dark").expect("a figure");
        assert!(figure.shows("why") && !figure.shows("editor") && figure.readonly);
        assert_eq!((figure.controls.as_str(), figure.dark), ("full", Some(true)));
        assert_eq!(Embed::of("?embed").expect("a figure").show, USUAL);
        assert!(
            Embed::of("?embed=1&lesson=x&readonly=false").is_some_and(|e| e.shows("lesson") && !e.readonly)
        );
    }

    #[test]
    fn signs_of_an_address_become_text() {
        assert_eq!(decoded("a%3A%201%0Ab: %C3%A4 100%"), "a: 1\nb: ä 100%");
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }

    #[test]
    fn a_manifest_of_the_address_is_applied_in_a_figure_only() {
        for (query, applied) in [("?embed", true), ("", false)] {
            let mut state = State::default();
            step(&mut state, Msg::Stored(query.into(), None, Default::default()));
            step(&mut state, Msg::Start(Prefs::default(), vec![], "#yaml=kind%3A%20Pod".into()));
            step(&mut state, Msg::EngineReady);
            let asked = sent(&step(&mut state, Msg::Engine(vec![hello()])));
            assert!(asked.contains(&Command::LoadScenario(EMPTY.into())), "{asked:?}");
            let asked = sent(&step(&mut state, Msg::Engine(vec![loaded(LoadedBy::Scenario)])));
            assert_eq!(
                asked.iter().any(|c| matches!(c, Command::Apply { doc } if doc.text == "kind: Pod")),
                applied
            );
            assert_eq!(&*state.front().expect("a file").text, "kind: Pod");
        }
    }

    #[test]
    fn a_draft_brings_its_translation_and_a_moment_of_its_run() {
        let mut state = running(vec![]);
        state.ui.prefs.language = "de";
        let asked = sent(&step(&mut state, Msg::Outside("open\u{1f}draft=a%26b&de=%C3%A4".into())));
        let doc = |name: &str, text: &str| Doc { name: name.into(), text: text.into() };
        let sources = vec![doc("own/draft.md", "a&b"), doc("own/draft.de.md", "ä")];
        let lessons = Command::Lessons { sources, language: "de".into() };
        assert_eq!(asked, [lessons, Command::LoadLesson(DRAFT.into())]);
        let asked = sent(&step(&mut state, Msg::Outside("open\u{1f}draft=a&at=1xyz".into())));
        assert_eq!(asked.last(), Some(&Command::LoadLink("1xyz".into())));
    }

    #[test]
    fn a_figure_that_cannot_start_says_why_and_shows_nothing_else() {
        for (query, why) in
            [("?embed&lesson=none", "there is no lesson none"), ("?embed", "No such scenario.")]
        {
            let mut state = State::default();
            step(&mut state, Msg::Stored(query.into(), None, Default::default()));
            step(&mut state, Msg::Start(Prefs::default(), vec![], "#scenario=P99".into()));
            step(&mut state, Msg::EngineReady);
            if query.contains("lesson") {
                state.link = None;
            }
            step(&mut state, Msg::Engine(vec![hello()]));
            assert!(state.told_outside().contains("\"busy\":true"));
            let asked = sent(&step(&mut state, Msg::Lesson(crate::state::LessonMsg::Course(vec![]))));
            assert_eq!(asked, []);
            let ids: Vec<_> = state.pending.iter().map(|(id, c)| (*id, c.clone())).collect();
            for (id, command) in ids {
                let stop = if matches!(command, Command::LoadScenario(_)) {
                    Stop::Refused(Rich::words("No such scenario."))
                } else {
                    Stop::Refused(Rich::words("Nothing is loaded."))
                };
                step(&mut state, Msg::Engine(vec![Update::Done { id, stop, steps: 0 }]));
            }
            let told = state.told_outside();
            assert!(told.contains(&format!("\"error\":\"{why}\"")), "{told}");
            assert!(told.contains("\"ready\":false,\"busy\":false"), "{told}");
        }
    }

    #[test]
    fn a_reader_of_a_readonly_figure_moves_in_time_and_changes_nothing() {
        let mut state = running(vec![]);
        state.embed = Embed::of("?embed&readonly").map(Rc::new);
        assert_eq!(sent(&step(&mut state, Msg::File(FileMsg::Apply))), []);
        assert_eq!(sent(&step(&mut state, Msg::Act(Command::Node(NodeAct::Add)))), []);
        assert_eq!(sent(&step(&mut state, Msg::Time(TimeMsg::Back))), [Command::Back]);
        // The page around it may.
        let asked = sent(&step(&mut state, Msg::Outside("kubectl\u{1f}kubectl get pods".into())));
        assert!(asked.iter().any(|c| matches!(c, Command::Kubectl { .. })), "{asked:?}");
    }

    #[test]
    fn a_step_that_is_still_to_come_is_played_to() {
        let mut state = running(vec![]);
        let last = state.frame.as_ref().expect("a frame").head.last;
        let asked = sent(&step(&mut state, Msg::Outside(format!("seek\u{1f}{}", last + 3))));
        assert!(asked.contains(&Command::Play { millis: MOST, steps: 3 }), "{asked:?}");
        assert_eq!(sent(&step(&mut state, Msg::Outside("nonsense".into()))), []);
    }
}
