//! The keyboard map. Single keys act only where no text is typed, never with a modifier, and can be turned off.

use kubestep_protocol::Tab;

use super::{Effect, FileMsg, Msg, Open, Phone, SingleKeys, State, TimeMsg, View};

/// A key that reached the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPress {
    /// `KeyboardEvent.key`.
    pub key: String,
    /// Ctrl or Cmd.
    pub ctrl: bool,
    /// Alt.
    pub alt: bool,
    /// A text field, a select or a menu has the focus.
    pub typing: bool,
    /// The focus is in the time panel.
    pub in_time: bool,
}

/// The map, as the list of keys shows it: key, what it does.
pub const KEY_MAP: &[(&str, &str)] = &[
    ("s", "Step (one write)"),
    ("r", "Reconcile"),
    ("c", "Run until calm"),
    ("1", "+10 s"),
    ("2", "+1 min"),
    ("p", "Play, pause"),
    ("b", "Back"),
    ("f", "Forward"),
    ("Home, End", "on the slider: first, last step"),
    ("Ctrl Enter", "Apply, from anywhere"),
    ("F1", "in the editor: what the field under the cursor is"),
    ("Ctrl R", "in the terminal: searches what was typed before"),
    ("Alt 1 … 9", "in the terminal: the terminal of this number"),
    ("o", "Objects"),
    ("g", "Loops"),
    ("w", "Why of the selection"),
    ("e", "into the editor"),
    ("t, /", "into the terminal"),
    ("[, ]", "older, newer timeline"),
    ("n", "the object with the oldest gap"),
    ("letters", "on the board: to the next name; what is a key of its own with Shift"),
    ("?", "this list"),
    ("Esc", "closes what floats; in the editor: the next Tab leaves"),
];

/// Whether a key of this name does something by itself.
pub fn is_single_key(key: &str) -> bool {
    KEY_MAP.iter().any(|(keys, _)| key.len() == 1 && keys.split(", ").any(|k| k == key))
}

impl State {
    pub(super) fn key(&mut self, press: KeyPress, todo: &mut Vec<Effect>) {
        if press.ctrl && press.key == "Enter" {
            return self.take(Msg::File(FileMsg::Apply), todo);
        }
        if press.key == "Escape" {
            return match self.ui.open {
                Some(_) => self.take(Msg::Close(None), todo),
                None if self.ui.searched_from.is_some() => self.end_search(true, todo),
                None if self.running() && !press.typing => self.stop_playing(todo),
                None => {}
            };
        }
        let allowed = match self.ui.prefs.keys {
            SingleKeys::On => true,
            SingleKeys::Time => press.in_time || press.key == "?",
            SingleKeys::Off => press.key == "?",
        };
        // Nor behind a dialog that has no focus yet.
        let behind = self.ui.has_dialog();
        if press.ctrl || press.alt || press.typing || behind || !allowed {
            return;
        }
        let msg = match press.key.as_str() {
            "s" => Msg::Time(TimeMsg::Step),
            "r" => Msg::Time(TimeMsg::Reconcile),
            "c" => Msg::Time(TimeMsg::Calm),
            "1" => Msg::Time(TimeMsg::Advance(10_000)),
            "2" => Msg::Time(TimeMsg::Advance(60_000)),
            "p" => Msg::Time(TimeMsg::Play),
            "b" => Msg::Time(TimeMsg::Back),
            "f" => Msg::Time(TimeMsg::Forward),
            "[" => Msg::Time(TimeMsg::Neighbour(false)),
            "]" => Msg::Time(TimeMsg::Neighbour(true)),
            "o" => Msg::View(View::Objects),
            "g" => Msg::View(View::Loops),
            "w" => return self.to_why(todo),
            "n" => return self.oldest_gap(todo),
            "e" => return self.into("manifest", Phone::File, todo),
            "t" | "/" => return self.into("kubectl", Phone::Terminal, todo),
            "?" => Msg::Open(Open::Keys),
            _ => return,
        };
        self.take(msg, todo);
    }

    fn to_why(&mut self, todo: &mut Vec<Effect>) {
        self.ui.side_inspect = true;
        self.take(Msg::Phone(Phone::Why), todo);
        self.take(Msg::Tab(Tab::Why), todo);
        todo.push(Effect::Focus("tab-why".into()));
    }

    fn into(&mut self, id: &str, phone: Phone, todo: &mut Vec<Effect>) {
        match phone {
            Phone::File => self.ui.side_inspect = false,
            Phone::Terminal => self.ui.dock = true,
            Phone::Cluster | Phone::Why => {}
        }
        self.take(Msg::Phone(phone), todo);
        todo.push(Effect::Focus(id.into()));
    }
}
