//! What is kept between visits, as lines of `key=value`.

use std::rc::Rc;

use crate::state::{SingleKeys, Speed};
use crate::words::{ENGLISH, known};

/// The person's choices.
#[derive(Clone, Debug, PartialEq)]
pub struct Prefs {
    /// The language, `en` or `de`.
    pub language: &'static str,
    /// Dark colours.
    pub dark: bool,
    /// The teacher speaks.
    pub teacher: bool,
    /// How long a gap may be open, in milliseconds.
    pub limit: u64,
    /// How fast playing is.
    pub speed: Speed,
    /// When single keys act.
    pub keys: SingleKeys,
    /// The scenario that was open last.
    pub scenario: Rc<str>,
}

impl Default for Prefs {
    fn default() -> Self {
        let (limit, speed, keys) = (300_000, Speed::default(), SingleKeys::On);
        Prefs { language: ENGLISH, dark: false, teacher: true, limit, speed, keys, scenario: Rc::from("") }
    }
}

/// A draft as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDraft {
    /// The scenario it belongs to.
    pub scenario: String,
    /// The file's name.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Prefs {
    /// For the storage.
    pub fn to_text(&self) -> String {
        let keys = match self.keys {
            SingleKeys::On => "on",
            SingleKeys::Time => "time",
            SingleKeys::Off => "off",
        };
        let (theme, teacher) =
            (if self.dark { "dark" } else { "light" }, if self.teacher { "on" } else { "off" });
        format!(
            "theme={theme}\nlang={}\nteacher={teacher}\nlimit={}\nspeed={}\nkeys={keys}\nscenario={}\n",
            self.language, self.limit, self.speed.0, self.scenario
        )
    }

    /// From the storage; what cannot be read stays as it is by default. `dark` is what the system prefers.
    pub fn from_text(text: &str, dark: bool) -> Self {
        let mut prefs = Prefs { dark, ..Prefs::default() };
        for (key, value) in text.lines().filter_map(|l| l.split_once('=')) {
            match key {
                "theme" => prefs.dark = value == "dark",
                "lang" => prefs.language = known(value),
                "teacher" => prefs.teacher = value != "off",
                "limit" => prefs.limit = value.parse().unwrap_or(prefs.limit),
                "speed" => prefs.speed = value.parse().map_or(prefs.speed, Speed),
                "keys" => {
                    prefs.keys = match value {
                        "time" => SingleKeys::Time,
                        "off" => SingleKeys::Off,
                        _ => SingleKeys::On,
                    }
                }
                "scenario" => prefs.scenario = Rc::from(value),
                _ => {}
            }
        }
        prefs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences_survive_the_storage_and_rubbish_does_not_hurt() {
        let mine = Prefs {
            language: "de",
            dark: true,
            teacher: false,
            limit: 60_000,
            speed: Speed(600),
            keys: SingleKeys::Time,
            scenario: "P05".into(),
        };
        assert_eq!(Prefs::from_text(&mine.to_text(), false), mine);
        assert_eq!(Prefs::from_text("limit=soon\n\0=\nspeed", false), Prefs::default());
    }
}
