//! Flags and arguments as kubectl's own parser reads them. Upstream: spf13/pflag and cobra, as kubectl uses them.

use crate::{
    kc::{Flow, Kc, Stop},
    upstream,
};
use kubestep_model::text::{duration, go};
use std::{collections::BTreeMap, time::Duration};

/// What a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing, or `=true` and the like.
    Bool,
    /// One text; the last one given counts.
    Text,
    /// A text that may be left out, and what stands for it then.
    Maybe(&'static str),
    /// Texts between commas; the flag may be repeated.
    List,
    /// A text each time; the flag may be repeated.
    Each,
    /// A whole number.
    Int,
    /// A span of time as `1m30s`.
    Span,
}

/// One flag of a command.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its name, without the dashes.
    pub long: &'static str,
    /// Its one-letter form, if it has any.
    pub short: Option<char>,
    /// What it takes.
    pub takes: Takes,
    /// Whether Kubestep does what it asks for. A flag that is known but not done is refused in one clear line.
    pub done: bool,
}

/// A flag that is done.
pub const fn flag(long: &'static str, takes: Takes) -> Flag {
    Flag { long, short: None, takes, done: true }
}

/// A flag that is done and has a one-letter form.
pub const fn short(long: &'static str, short: char, takes: Takes) -> Flag {
    Flag { long, short: Some(short), takes, done: true }
}

/// A flag of kubectl that Kubestep does not do.
pub const fn not_done(long: &'static str, takes: Takes) -> Flag {
    Flag { long, short: None, takes, done: false }
}

/// Flags that every command has.
const GLOBAL: &[Flag] = &[
    short("namespace", 'n', Takes::Text),
    short("help", 'h', Takes::Bool),
    short("v", 'v', Takes::Int),
    flag("request-timeout", Takes::Text),
    flag("warnings-as-errors", Takes::Bool),
    flag("match-server-version", Takes::Bool),
    flag("cache-dir", Takes::Text),
    flag("kubeconfig", Takes::Text),
    flag("insecure-skip-tls-verify", Takes::Bool),
    flag("as", Takes::Text),
    flag("as-group", Takes::Each),
    not_done("as-uid", Takes::Text),
    not_done("certificate-authority", Takes::Text),
    not_done("client-certificate", Takes::Text),
    not_done("client-key", Takes::Text),
    not_done("cluster", Takes::Text),
    flag("context", Takes::Text),
    not_done("password", Takes::Text),
    not_done("token", Takes::Text),
    not_done("user", Takes::Text),
    not_done("username", Takes::Text),
    not_done("tls-server-name", Takes::Text),
    not_done("disable-compression", Takes::Bool),
    Flag { long: "server", short: Some('s'), takes: Takes::Text, done: false },
];

/// Before a folder of `-k` among the names of files; no file's name begins so.
pub(crate) const KUSTOMIZE: &str = "\u{0}kustomize:";

/// The flags that every command has.
pub(crate) fn global() -> &'static [Flag] {
    GLOBAL
}

/// The flags that are done, a command's own and those of every command, each with whether a value follows it.
pub(crate) fn done(flags: &[Flag]) -> Vec<(&'static str, bool)> {
    let known = flags.iter().chain(GLOBAL).filter(|f| f.done);
    known.map(|f| (f.long, !matches!(f.takes, Takes::Bool | Takes::Maybe(_)))).collect()
}

/// What was given on a command's line.
#[derive(Clone, Debug, Default)]
pub struct Args {
    /// The command with its parents, as `kubectl rollout status`.
    pub path: String,
    /// What is no flag.
    pub words: Vec<String>,
    /// How many of `words` stood before `--`; all of them if there was none.
    pub before_dash: Option<usize>,
    given: BTreeMap<&'static str, Vec<String>>,
    /// All flags as they came.
    pub order: Vec<(&'static str, String)>,
}

impl Args {
    /// Whether a flag was given.
    pub fn has(&self, long: &str) -> bool {
        self.given.contains_key(long)
    }

    /// The last value of a flag.
    pub fn text(&self, long: &str) -> Option<&str> {
        self.given.get(long)?.last().map(String::as_str)
    }

    /// The last value of a flag; empty if it was not given.
    pub fn text_or_empty(&self, long: &str) -> &str {
        self.text(long).unwrap_or_default()
    }

    /// All values of a flag.
    pub fn all(&self, long: &str) -> &[String] {
        self.given.get(long).map(Vec::as_slice).unwrap_or_default()
    }

    /// A flag that is on or off.
    pub fn on(&self, long: &str) -> bool {
        self.on_or(long, false)
    }

    /// A flag that is on or off, and what it is when it was not given.
    pub fn on_or(&self, long: &str, otherwise: bool) -> bool {
        self.text(long).map_or(otherwise, |text| parse_bool(text) == Some(true))
    }

    /// A whole number.
    pub fn int(&self, long: &str) -> Option<i64> {
        self.text(long).and_then(|text| go::parse_int(text).ok())
    }

    /// A span of time.
    pub fn span(&self, long: &str) -> Option<Duration> {
        let nanos = self.text(long).and_then(|text| duration::parse(text).ok())?;
        Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)))
    }

    /// Reads the words after a command's name. A mistake ends the command in pflag's words.
    pub fn read(kc: &mut Kc<'_>, path: &str, flags: &'static [Flag], words: &[String]) -> Flow<Args> {
        let mut reader = Reader { flags, args: Args { path: path.to_owned(), ..Args::default() } };
        match reader.read(words) {
            Ok(()) => {
                if let Some(folder) = reader.args.text("kustomize").filter(|f| !f.is_empty()) {
                    let source = format!("{KUSTOMIZE}{folder}");
                    if reader.args.has("filename") {
                        return Err(kc.fail("only one of -f or -k can be specified"));
                    }
                    reader.args.given.insert("filename", vec![source]);
                }
                Ok(reader.args)
            }
            Err(Refusal::NotDone(flag)) => Err(kc.not_done(&format!("--{flag}"))),
            // What diff says by its exit code leaves only higher ones for mistakes.
            Err(Refusal::Wrong(text)) if path == "kubectl diff" => {
                let _ = kc.usage(path, &text);
                Err(Stop::Exit(2))
            }
            Err(Refusal::Wrong(text)) => Err(kc.fail(format!("{text}\nSee '{path} --help' for usage."))),
        }
    }
}

enum Refusal {
    Wrong(String),
    NotDone(&'static str),
}

impl From<String> for Refusal {
    fn from(text: String) -> Self {
        Refusal::Wrong(text)
    }
}

struct Reader {
    flags: &'static [Flag],
    args: Args,
}

impl Reader {
    fn find(&self, wanted: impl Fn(&Flag) -> bool) -> Option<Flag> {
        self.flags.iter().chain(GLOBAL).find(|f| wanted(f)).copied()
    }

    fn read(&mut self, words: &[String]) -> Result<(), Refusal> {
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if word == "--" {
                self.args.before_dash = Some(self.args.words.len());
                self.args.words.extend(rest.by_ref().cloned());
            } else if let Some(long) = word.strip_prefix("--") {
                self.long(long, &mut rest)?;
            } else if word.len() > 1 && word.starts_with('-') {
                self.shorts(word, &mut rest)?;
            } else {
                self.args.words.push(word.clone());
            }
        }
        Ok(())
    }

    fn long(&mut self, word: &str, rest: &mut std::slice::Iter<'_, String>) -> Result<(), Refusal> {
        let (name, value) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
        if name.is_empty() || name.starts_with('-') {
            return Err(format!("bad flag syntax: --{word}").into());
        }
        let Some(found) = self.find(|f| f.long == name) else {
            return Err(match upstream::flag(&self.args.path, name).filter(|_| name.len() > 1) {
                Some(known) => Refusal::NotDone(known),
                None => format!("unknown flag: --{name}").into(),
            });
        };
        let value = match (value, found.takes) {
            (Some(value), _) => value.to_owned(),
            (None, Takes::Bool) => "true".to_owned(),
            (None, Takes::Maybe(value)) => value.to_owned(),
            (None, _) => rest.next().cloned().ok_or_else(|| format!("flag needs an argument: --{name}"))?,
        };
        self.set(found, value)
    }

    fn shorts(&mut self, word: &str, rest: &mut std::slice::Iter<'_, String>) -> Result<(), Refusal> {
        let group = &word[1..];
        for (at, c) in group.char_indices() {
            let Some(found) = self.find(|f| f.short == Some(c)) else {
                return Err(match upstream::flag(&self.args.path, c.encode_utf8(&mut [0; 4])) {
                    Some(known) => Refusal::NotDone(known),
                    None => format!("unknown shorthand flag: '{c}' in -{}", &group[at..]).into(),
                });
            };
            let tail = &group[at + c.len_utf8()..];
            // A sign alone is no separator, upstream.
            if let Some(value) = tail.strip_prefix('=').filter(|value| !value.is_empty()) {
                return self.set(found, value.to_owned());
            }
            match found.takes {
                Takes::Bool => self.set(found, "true".to_owned())?,
                Takes::Maybe(value) => self.set(found, value.to_owned())?,
                _ if !tail.is_empty() => return self.set(found, tail.to_owned()),
                _ => {
                    let missing = || format!("flag needs an argument: '{c}' in -{}", &group[at..]);
                    let value = rest.next().cloned().ok_or_else(missing)?;
                    return self.set(found, value);
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, flag: Flag, value: String) -> Result<(), Refusal> {
        if !flag.done {
            return Err(Refusal::NotDone(flag.long));
        }
        if let Some(fault) = wrong_value(flag.takes, &value) {
            let short = flag.short.map(|c| format!("-{c}, ")).unwrap_or_default();
            let name = format!("{short}--{}", flag.long);
            return Err(format!("invalid argument {} for \"{name}\" flag: {fault}", go::quote(&value)).into());
        }
        self.args.order.push((flag.long, value.clone()));
        let values = self.args.given.entry(flag.long).or_default();
        match flag.takes {
            Takes::List => values.extend(value.split(',').filter(|_| !value.is_empty()).map(str::to_owned)),
            _ => values.push(value),
        }
        Ok(())
    }
}

fn wrong_value(takes: Takes, value: &str) -> Option<String> {
    match takes {
        Takes::Bool if parse_bool(value).is_none() => {
            Some(format!("strconv.ParseBool: parsing {}: invalid syntax", go::quote(value)))
        }
        Takes::Int => go::parse_int(value).err().map(|fault| go::number_error("ParseInt", value, fault)),
        Takes::Span => duration::parse(value).err(),
        _ => None,
    }
}

pub(crate) fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::Instant;

    const FLAGS: &[Flag] = &[
        short("output", 'o', Takes::Text),
        short("filename", 'f', Takes::List),
        short("watch", 'w', Takes::Bool),
        flag("cascade", Takes::Maybe("background")),
        flag("replicas", Takes::Int),
        not_done("raw", Takes::Text),
    ];

    fn read(line: &str) -> Result<Args, String> {
        let files = BTreeMap::new();
        let mut kc = Kc::new(&files, "default".into(), Instant::START, &[]);
        let words = crate::shell::split(line).unwrap();
        let read = Args::read(&mut kc, "kubectl get", FLAGS, &words);
        let text = |kc: Kc<'_>| kc.end(Ok(0)).output.iter().map(|c| c.text.as_str()).collect::<String>();
        read.map_err(|_| text(kc))
    }

    #[test]
    fn reads_flags_as_pflag() {
        let args = read("pods -owide -f a,b -f=c --cascade web -w --replicas=-3 -n x -- -y").unwrap();
        assert_eq!(args.words, ["pods", "web", "-y"]);
        assert_eq!(args.before_dash, Some(2));
        assert_eq!(args.text("output"), Some("wide"));
        assert_eq!(args.all("filename"), ["a", "b", "c"]);
        assert_eq!(args.text("cascade"), Some("background"));
        assert_eq!(
            (args.on("watch"), args.int("replicas"), args.text("namespace")),
            (true, Some(-3), Some("x"))
        );
    }

    #[test]
    fn refuses_as_pflag() {
        let usage = "\nSee 'kubectl get --help' for usage.\n";
        for (line, want) in [
            ("--nope", "error: unknown flag: --nope"),
            ("-wx", "error: unknown shorthand flag: 'x' in -x"),
            ("-o", "error: flag needs an argument: 'o' in -o"),
            ("--output", "error: flag needs an argument: --output"),
            (
                "--replicas=a",
                "error: invalid argument \"a\" for \"--replicas\" flag: strconv.ParseInt: parsing \"a\": invalid syntax",
            ),
            (
                "-w=maybe",
                "error: invalid argument \"maybe\" for \"-w, --watch\" flag: strconv.ParseBool: parsing \"maybe\": invalid syntax",
            ),
        ] {
            assert_eq!(read(line).unwrap_err(), format!("{want}{usage}"), "{line}");
        }
        assert_eq!(read("--raw /x").unwrap_err(), "error: --raw: Kubestep does not do this\n");
    }
}
