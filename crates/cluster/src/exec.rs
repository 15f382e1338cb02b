//! What people run in a container and the container runtime's little language does not know: its environment, names in
//! DNS, requests to Services and pods. Everything else is refused in one line; nothing is silent.
//!
//! The texts are those of busybox's wget and nslookup and of curl.

mod environment;
mod names;

use crate::{
    World,
    runtime::{is_known, parse},
    traffic::{Heard, Reached, Sent, to_address, to_service},
};
use kubestep_model::Pod;
use names::{Found, lookup};

/// What a command prints, and its exit code.
type Ended = (String, i32);

/// As a shell says that there is no such program, and that it cannot be run so.
const ABSENT: i32 = 127;
const CANNOT: i32 = 126;

fn refused(name: &str, why: &str) -> Ended {
    (format!("{name}: Kubestep's containers do not do this: {why}"), CANNOT)
}

/// What is said of a command that runs on.
pub(crate) fn endless() -> Ended {
    ("Kubestep waits for no command that does not end\n".into(), CANNOT)
}

/// The answers of a command's statements that the container runtime does not know, in order.
pub(crate) fn answers(world: &World, pod: &Pod, container: &str, command: &[String]) -> Vec<Option<Ended>> {
    let asker = Asker { world, pod, container };
    let Some(program) = parse(command) else { return vec![asker.answer(command, 0)] };
    let script = !command.first().is_some_and(|c| is_known(c));
    let signs = |w: &String| w.contains(['$', '`', '<', '|']) || w.ends_with('&');
    if script && program.iter().any(|s| s.words.iter().any(signs)) {
        let why = "in `sh -c` they know ;, &&, ||, $NAME and echo TEXT > FILE, no pipes, jobs or $(…)";
        let mut said = vec![Some((String::new(), CANNOT)); program.len()];
        said[0] = Some(refused("sh", why));
        return said;
    }
    program.iter().zip(0..).map(|(statement, count)| asker.answer(&statement.words, count)).collect()
}

/// A command as the container's shell reads it: `sh -c` with the variables of its process put in.
pub(crate) fn with_variables(world: &World, pod: &Pod, container: &str, command: &[String]) -> Vec<String> {
    let script = command.first().is_some_and(|c| !is_known(c)) && parse(command).is_some();
    if !script || !command.iter().any(|w| w.contains('$')) {
        return command.to_vec();
    }
    let asker = Asker { world, pod, container };
    let all = environment::of(world, pod, container, asker.host());
    command.iter().map(|word| environment::put_into(word, &all)).collect()
}

/// Who asks.
struct Asker<'a> {
    world: &'a World,
    pod: &'a Pod,
    container: &'a str,
}

impl Asker<'_> {
    /// `None`: the container runtime knows the answer.
    fn answer(&self, words: &[String], count: u32) -> Option<Ended> {
        let (first, args) = words.split_first()?;
        let name = first.rsplit('/').next().unwrap_or(first);
        let wrong = args.iter().any(|a| a == ">") && name != "echo";
        Some(match name {
            _ if wrong => refused(name, "only echo writes into a file"),
            "env" | "printenv" => self.variables(name, args),
            "hostname" if args.is_empty() => (self.host().to_owned(), 0),
            "wget" | "curl" => self.fetch(name, args, count),
            "nslookup" => self.nslookup(args),
            "sh" | "bash" | "ash" => {
                refused(name, "one cannot type in them; give one command, sh -c 'COMMAND'")
            }
            "ls" if args.iter().any(|a| !a.starts_with('-')) => return None,
            "ls" => refused(name, "name a folder that is mounted or was written to"),
            _ if is_known(name) => return None,
            _ => {
                let known = "cat, curl, echo, env, exit, false, hostname, ls, nslookup, printenv, rm, sh -c, sleep, \
                             test, touch, true, wget";
                (format!("{name}: Kubestep's containers do not know this command, only {known}"), ABSENT)
            }
        })
    }

    fn host(&self) -> &str {
        match &*self.pod.spec.hostname {
            "" => &*self.pod.metadata.name,
            name => name,
        }
    }

    fn variables(&self, program: &str, names: &[String]) -> Ended {
        if let Some(other) = names.iter().find(|n| program == "env" || n.starts_with('-')) {
            return refused(program, &format!("{other} is more than they know"));
        }
        let all = environment::of(self.world, self.pod, self.container, self.host());
        if names.is_empty() {
            let lines: Vec<String> = all.iter().map(|(name, value)| format!("{name}={value}")).collect();
            return (lines.join("\n"), 0);
        }
        let found: Vec<&str> =
            names.iter().filter_map(|n| all.iter().find(|(name, _)| name == n)).map(|(_, v)| &**v).collect();
        (found.join("\n"), i32::from(found.len() < names.len()))
    }

    fn nslookup(&self, args: &[String]) -> Ended {
        let [name] = args else { return refused("nslookup", "give one name") };
        let server = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n";
        match lookup(self.world, self.pod, name) {
            Some(Found { name, alias: Some(alias), .. }) => {
                (format!("{server}{name}\tcanonical name = {alias}"), 0)
            }
            Some(found) if !found.addresses.is_empty() => {
                let lines = found.addresses.iter().map(|a| format!("Name:\t{}\nAddress: {a}", found.name));
                (format!("{server}{}", lines.collect::<Vec<_>>().join("\n")), 0)
            }
            _ => (format!("{server}** server can't find {name}: NXDOMAIN"), 1),
        }
    }

    fn fetch(&self, program: &str, args: &[String], count: u32) -> Ended {
        let asked = match Asked::read(program, args) {
            Ok(asked) => asked,
            Err(why) => return refused(program, &why),
        };
        let Asked { host, port, path, .. } = &asked;
        let heard = match lookup(self.world, self.pod, host) {
            Some(Found { service: Some(service), .. }) if *service.metadata.name == *"kubernetes" => {
                return refused(program, "the API server is asked with kubectl");
            }
            Some(Found { service: Some(service), addresses, .. }) => {
                let to = addresses.first().cloned().unwrap_or_default();
                (to, to_service(self.world, service, Some(*port), path, count))
            }
            Some(Found { addresses, .. }) if !addresses.is_empty() => {
                // Without a virtual address in between the program takes the first that it is told.
                let to = &addresses[0];
                (to.clone(), Sent::To(to_address(self.world, to, *port, path)))
            }
            _ => return asked.no_host(program),
        };
        asked.ended(program, &heard.0, heard.1)
    }
}

/// A request as curl and wget are asked for it.
#[derive(Default)]
struct Asked {
    host: String,
    port: i32,
    path: String,
    /// An error of the server is one of curl too.
    fails: bool,
    /// What is printed in the place of the answer.
    instead: Option<String>,
}

impl Asked {
    fn read(program: &str, args: &[String]) -> Result<Asked, String> {
        let (mut asked, mut url, mut to_screen) = (Asked::default(), None, program == "curl");
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match (program, arg.as_str()) {
                (_, "-T" | "-t" | "-m" | "--max-time" | "--connect-timeout") => drop(args.next()),
                ("wget", "-O" | "-qO" | "-o") if args.next().is_some_and(|to| to == "-") => to_screen = true,
                ("wget", "-O-" | "-qO-" | "--output-document=-" | "--spider") => to_screen = true,
                ("wget", flag) if flag == "-q" || flag.starts_with("--timeout=") => {}
                ("wget", flag) if flag.starts_with("-T") || flag.starts_with("-t") => {}
                ("curl", "-o") if args.next().is_some_and(|to| to == "/dev/null") => {
                    asked.instead.get_or_insert_default();
                }
                ("curl", "-w") => asked.instead = args.next().cloned(),
                ("curl", flag) if flag.len() > 1 && flag.starts_with('-') => {
                    asked.fails |= flag.contains('f');
                    let small = flag[1..].chars().all(|c| "fsSkL".contains(c));
                    if !small && !matches!(flag, "--silent" | "--show-error" | "--location" | "--fail") {
                        return Err(format!("{flag} is more than they know"));
                    }
                }
                (_, flag) if flag.starts_with('-') => return Err(format!("{flag} is more than they know")),
                (_, place) if url.is_none() => url = Some(place),
                _ => return Err("give one URL".into()),
            }
        }
        if !to_screen {
            return Err("it would write a file; use wget -qO- URL".into());
        }
        let url = url.ok_or("give one URL")?;
        let place = url.strip_prefix("http://").unwrap_or(url);
        if place.contains("://") {
            return Err("only http:// is modelled".into());
        }
        let (place, path) = place.split_once('/').unwrap_or((place, ""));
        let (host, port) = place.split_once(':').unwrap_or((place, "80"));
        let port = port.parse::<u16>().map_err(|_| format!("{port} is no port"))?;
        Ok(Asked { host: host.into(), port: port.into(), path: format!("/{path}"), ..asked })
    }

    fn no_host(&self, program: &str) -> Ended {
        match program {
            "curl" => (format!("curl: (6) Could not resolve host: {}", self.host), 6),
            _ => (format!("wget: bad address '{}'", self.host), 1),
        }
    }

    fn refused(&self, program: &str, to: &str) -> Ended {
        let Asked { host, port, .. } = self;
        match program {
            "curl" => (
                format!(
                    "curl: (7) Failed to connect to {host} port {port} after 0 ms: Could not connect to server"
                ),
                7,
            ),
            _ => (format!("wget: can't connect to remote host ({to}): Connection refused"), 1),
        }
    }

    fn ended(&self, program: &str, to: &str, sent: Sent<'_>) -> Ended {
        let Asked { host, port, .. } = self;
        let reached = match sent {
            Sent::Elsewhere => return self.no_host(program),
            Sent::Nobody(_) => return self.refused(program, to),
            Sent::To(reached) => Some(reached),
            // Nobody takes what is sent to another port of a Service's address.
            Sent::NoPort => None,
        };
        let Some(Reached { place, heard, pod: Some(pod), .. }) =
            reached.filter(|r| r.heard != Heard::Nothing)
        else {
            return match program {
                "curl" => {
                    (format!("curl: (28) Failed to connect to {host} port {port}: Connection timed out"), 28)
                }
                _ => (format!("wget: can't connect to remote host ({to}): Connection timed out"), 1),
            };
        };
        let Heard::Code(code) = heard else { return self.refused(program, to) };
        if code >= 400 && program == "wget" {
            return (format!("wget: server returned error: HTTP/1.1 {code}"), 1);
        }
        if code >= 400 && self.fails {
            return (format!("curl: (22) The requested URL returned error: {code}"), 22);
        }
        let body = if code < 400 {
            format!("Pod {} answered at {place}.", pod.metadata.name)
        } else {
            format!("Pod {} answered at {place} with the error {code}.", pod.metadata.name)
        };
        let instead = self.instead.as_ref().map(|text| {
            text.replace("%{http_code}", &code.to_string()).replace("\\n", "\n").trim_end().to_owned()
        });
        (instead.unwrap_or(body), 0)
    }
}
