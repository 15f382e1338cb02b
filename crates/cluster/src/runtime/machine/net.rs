//! What a container answers over the network: to probes and hooks of its kubelet.
//!
//! The texts of what fails are those of Go's net, net/http and of the kubelet's probers (pkg/probe, v1.37).

use super::{Held, Machine};
use crate::runtime::registry::Image;
use kubestep_control::{ExecAnswer, NetAsk, NetKind, ProbeKind, RuntimeState};
use kubestep_model::Instant;
use std::time::Duration;

/// What is heard at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    /// Nobody listens.
    Refused,
    /// A code as HTTP has them; 200 is well.
    Code(u16),
}

fn ended(well: bool, output: String) -> ExecAnswer {
    ExecAnswer::Ended { code: i32::from(!well), output: output.into() }
}

/// What an image's process says at a port, so long after its start.
fn says(image: Option<&Image>, ask: &NetAsk, age: Duration) -> Heard {
    let Some(image) = image else { return Heard::Code(200) };
    if age < image.ready_after || image.listens(ask.port) == Some(false) {
        return Heard::Refused;
    }
    if image.fails_after.is_some_and(|after| age >= after) {
        return Heard::Code(500);
    }
    if ask.kind != NetKind::Http {
        return Heard::Code(200);
    }
    let path = ask.path.split(['?', '#']).next().unwrap_or_default();
    Heard::Code(image.answer(if path.is_empty() { "/" } else { path }))
}

impl Held {
    /// Whether a server runs in it: neither a shell's `sleep` nor what has ended.
    fn serves(&self) -> bool {
        let server = self.process.as_ref().is_none_or(|cursor| cursor.runs_a_server());
        self.info.state == RuntimeState::Running && server
    }

    fn hears(&self, ask: &NetAsk, now: Instant) -> Heard {
        if !self.serves() {
            return Heard::Refused;
        }
        let age = self.info.started.map_or(Duration::ZERO, |started| now.since(started));
        says(self.image.as_deref(), ask, age)
    }
}

impl Machine {
    /// What a pod answers at a port to who asks over the network, as a code of HTTP; `None`: nobody listens.
    pub fn answers(&self, pod: &str, port: u16, path: &str, now: Instant) -> Option<u16> {
        let ask = NetAsk { kind: NetKind::Http, scheme: "http", host: "".into(), port, path: path.into() };
        let says = |h: &&Held| h.image.as_ref().is_some_and(|image| image.listens(port) == Some(true));
        let of_pod = || self.containers.values().filter(|h| *h.pod == *pod);
        // Who says that it listens there comes before who does not say where it listens.
        let heard = of_pod().filter(says).chain(of_pod()).map(|h| h.hears(&ask, now));
        heard.filter_map(|h| if let Heard::Code(code) = h { Some(code) } else { None }).next()
    }

    /// How long a question over the network takes, and what comes of it.
    pub(super) fn net(
        &self,
        pod: &str,
        id: &str,
        probe: ProbeKind,
        ask: &NetAsk,
        timeout: i64,
        now: Instant,
    ) -> (Duration, ExecAnswer) {
        // Without a host it is the pod's own address.
        let own = self.sandboxes.get(pod).map(|s| s.ip.clone()).filter(|_| ask.host.is_empty());
        let ask = &NetAsk { host: own.unwrap_or_else(|| ask.host.clone()), ..ask.clone() };
        let Some(held) = self.containers.get(id) else {
            return answer(Heard::Refused, ask, probe, timeout);
        };
        let by_name = |name: &str| self.answers.get(&(pod.into(), name.into(), probe)).copied();
        let told = by_name(&held.info.name).or_else(|| by_name(""));
        let runs = held.info.state == RuntimeState::Running;
        let heard = match told {
            Some(true) if runs => Heard::Code(200),
            Some(false) if runs && ask.kind == NetKind::Tcp => Heard::Refused,
            Some(false) if runs => Heard::Code(503),
            _ if !self.is_address(pod, &ask.host) => Heard::Refused,
            _ => self.heard(pod, held, ask, now),
        };
        answer(heard, ask, probe, timeout)
    }

    /// The containers of a pod share its address: who is not asked itself has to say that it listens there.
    fn heard(&self, pod: &str, held: &Held, ask: &NetAsk, now: Instant) -> Heard {
        let own = held.hears(ask, now);
        if own != Heard::Refused {
            return own;
        }
        let declares =
            |h: &&Held| h.image.as_ref().is_some_and(|image| image.listens(ask.port) == Some(true));
        let others = self.containers.values().filter(|h| *h.pod == *pod && h.info.id != held.info.id);
        others.filter(declares).map(|h| h.hears(ask, now)).find(|h| *h != Heard::Refused).unwrap_or(own)
    }

    fn is_address(&self, pod: &str, host: &str) -> bool {
        // A pod on its node's network has no address of its own here.
        self.sandboxes.get(pod).is_some_and(|s| s.ip.is_empty() || *s.ip == *host)
    }
}

/// How long an answer takes, and its words.
fn answer(heard: Heard, ask: &NetAsk, probe: ProbeKind, timeout: i64) -> (Duration, ExecAnswer) {
    let NetAsk { host, port, .. } = ask;
    let at = format!("{host}:{port}");
    let numeric = host.chars().all(|c| c.is_ascii_digit() || ".:".contains(c));
    let dial = if numeric {
        format!("dial tcp {at}: connect: connection refused")
    } else {
        format!("dial tcp: lookup {host}: no such host")
    };
    let limit = Duration::from_secs(u64::try_from(timeout).unwrap_or(0).max(1));
    match (ask.kind, heard) {
        (NetKind::Http, Heard::Refused) => {
            let slash = if ask.path.starts_with('/') || ask.path.is_empty() { "" } else { "/" };
            let url = format!("{}://{at}{slash}{}", ask.scheme, ask.path);
            (Duration::ZERO, ended(false, format!("Get \"{url}\": {dial}")))
        }
        // To a hook every answer is one.
        (NetKind::Http, Heard::Code(code)) if (200..400).contains(&code) || probe == ProbeKind::Hook => {
            (Duration::ZERO, ended(true, String::new()))
        }
        (NetKind::Http, Heard::Code(code)) => {
            (Duration::ZERO, ended(false, format!("HTTP probe failed with statuscode: {code}")))
        }
        (NetKind::Tcp, Heard::Refused) => (Duration::ZERO, ended(false, dial)),
        (NetKind::Tcp, Heard::Code(_)) => (Duration::ZERO, ended(true, String::new())),
        // Its client tries again until the time is over.
        (NetKind::Grpc, Heard::Refused) => {
            let within = format!("{}s", limit.as_secs());
            let text = format!(
                "timeout: failed to connect service \"{at}\" within {within}: context deadline exceeded"
            );
            (limit, ended(false, text))
        }
        (NetKind::Grpc, Heard::Code(200)) => (Duration::ZERO, ended(true, String::new())),
        (NetKind::Grpc, Heard::Code(_)) => {
            (Duration::ZERO, ended(false, "service unhealthy (responded with \"NOT_SERVING\")".to_owned()))
        }
    }
}
