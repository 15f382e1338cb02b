//! A container's process: a program, its files and what it printed.

use super::program::{self, Join, Program};
use kubestep_control::Files;
use kubestep_model::Instant;
use kubestep_model::arrange::Arrange;
use kubestep_model::tree::{OrdMap, Vector};
use std::{sync::Arc, time::Duration};

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// It sleeps so long.
    Sleeps(Duration),
    /// It runs until it is stopped.
    Stays,
    /// It ended with this code.
    Ended(i32),
}

/// What a program reads and writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Disk {
    /// What it wrote itself.
    pub(super) written: OrdMap<Arc<str>, Arc<str>>,
    /// What lies on its mounts.
    pub(super) mounted: Files,
    pub(super) printed: Vector<(Instant, Arc<str>)>,
}

impl Disk {
    fn read(&self, path: &str) -> Option<Arc<str>> {
        self.written.get(path).or_else(|| self.mounted.get(path)).cloned()
    }

    /// What lies in a folder, by name, each once.
    fn names_in(&self, folder: &str) -> Vec<String> {
        let folder = format!("{}/", folder.trim_end_matches('/'));
        let mut names: Vec<String> = Vec::new();
        let written = self.written.keys().map(|path| &**path);
        for path in written.chain(self.mounted.keys().map(String::as_str)) {
            let Some(name) = path.strip_prefix(folder.as_str()).and_then(|rest| rest.split('/').next())
            else {
                continue;
            };
            if !name.is_empty() && !names.iter().any(|n| n == name) {
                names.push(name.to_owned());
            }
        }
        names.arrange();
        names
    }

    pub(super) fn print(&mut self, now: Instant, text: &str) {
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.printed.push_back((now, format!("{line}\n").into()));
        }
    }
}

/// Where a program stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cursor {
    pub(super) program: Arc<Program>,
    pub(super) next: usize,
    pub(super) code: i32,
    /// In a probe, hook or `exec` an unknown command succeeds instead of running on.
    pub(super) probe: bool,
}

/// What the statements of a program print and end with that somebody else knows the answer to, in order.
pub(crate) type Said = [Option<(String, i32)>];

impl Cursor {
    pub(super) fn new(program: Program, probe: bool) -> Self {
        Cursor { program: Arc::new(program), next: 0, code: 0, probe }
    }

    /// Whether it has come to a command that is none of the little language's: a server, it is taken.
    pub(super) fn runs_a_server(&self) -> bool {
        let statement = self.next.checked_sub(1).and_then(|at| self.program.get(at));
        statement.and_then(|s| s.words.first()).is_some_and(|word| !program::is_known(word))
    }

    /// Runs on to the next sleep or the end.
    pub(super) fn run(&mut self, disk: &mut Disk, now: Instant, said: &Said) -> Run {
        let program = self.program.clone();
        while let Some(statement) = program.get(self.next) {
            self.next += 1;
            let skip = match statement.join {
                Join::Always => false,
                Join::IfOk => self.code != 0,
                Join::IfFailed => self.code == 0,
            };
            if skip {
                continue;
            }
            if let Some(Some((text, code))) = said.get(self.next - 1) {
                if !text.is_empty() {
                    disk.print(now, text);
                }
                self.code = *code;
                continue;
            }
            if let Some(stop) = self.statement(&statement.words, disk, now) {
                return stop;
            }
        }
        Run::Ended(self.code)
    }

    fn statement(&mut self, words: &[String], disk: &mut Disk, now: Instant) -> Option<Run> {
        let (first, args) = words.split_first()?;
        self.code = 0;
        match program::base(first) {
            "true" | ":" => {}
            "false" => self.code = 1,
            "exit" => {
                let code = args.first().and_then(|a| a.parse().ok()).unwrap_or(0);
                return Some(Run::Ended(code));
            }
            "sleep" => return Some(program::sleep(args.first()).map_or(Run::Stays, Run::Sleeps)),
            "echo" => match args {
                [text @ .., arrow, file] if arrow == ">" => {
                    disk.written.insert(file.as_str().into(), text.join(" ").into());
                }
                _ => disk.print(now, &args.join(" ")),
            },
            "touch" => args.iter().for_each(|f| {
                disk.written.insert(f.as_str().into(), "".into());
            }),
            "rm" => args.iter().for_each(|f| {
                disk.written.remove(f.as_str());
            }),
            "cat" => self.cat(args, disk, now),
            "ls" if self.probe => self.ls(args, disk, now),
            "test" | "[" => {
                let there = |pair: &[String]| {
                    matches!(pair[0].as_str(), "-f" | "-e" | "-s") && disk.read(&pair[1]).is_some()
                };
                self.code = i32::from(!args.windows(2).any(there));
            }
            _ if self.probe => {}
            _ => return Some(Run::Stays),
        }
        None
    }

    /// The files of folders that are mounted or written; only these are known.
    fn ls(&mut self, args: &[String], disk: &mut Disk, now: Instant) {
        let folders: Vec<&String> = args.iter().filter(|a| !a.starts_with('-')).collect();
        let many = folders.len() > 1;
        for (at, folder) in folders.iter().enumerate() {
            let names = disk.names_in(folder);
            if names.is_empty() {
                let text = match disk.read(folder) {
                    Some(_) => (*folder).clone(),
                    None => {
                        self.code = 2;
                        format!("ls: cannot access '{folder}': No such file or directory")
                    }
                };
                disk.print(now, &text);
                continue;
            }
            if many {
                let gap = if at > 0 { "\n" } else { "" };
                disk.print(now, &format!("{gap}{folder}:"));
            }
            names.iter().for_each(|name| disk.print(now, name));
        }
    }

    fn cat(&mut self, files: &[String], disk: &mut Disk, now: Instant) {
        for file in files {
            match disk.read(file) {
                Some(text) if text.is_empty() => {}
                Some(text) => disk.print(now, &text),
                None => {
                    disk.print(now, &format!("cat: {file}: No such file or directory"));
                    self.code = 1;
                }
            }
        }
    }
}

/// Runs a command in a container at once: how long it takes, its code and what it prints. `Err`: it does not end.
pub(super) fn exec(
    command: &[String],
    disk: &mut Disk,
    now: Instant,
    said: &Said,
) -> Result<(Duration, i32, String), ()> {
    let Some(program) = program::parse(command) else {
        let (text, code) = said.first().cloned().flatten().unwrap_or_default();
        let end = if text.is_empty() { "" } else { "\n" };
        return Ok((Duration::ZERO, code, text + end));
    };
    let mut cursor = Cursor::new(program, true);
    let printed = std::mem::take(&mut disk.printed);
    let mut took = Duration::ZERO;
    let code = loop {
        match cursor.run(disk, now, said) {
            Run::Sleeps(length) => took += length,
            Run::Stays => break None,
            Run::Ended(code) => break Some(code),
        }
    };
    let output = std::mem::replace(&mut disk.printed, printed);
    let text: String = output.iter().map(|(_, line)| &**line).collect();
    code.map(|code| (took, code, text)).ok_or(())
}
