//! The registry that nodes pull from: rows of data, pushed by a session.

use super::sha256;
use kubestep_control::{RuntimeImage, full_image_name};
use kubestep_model::tree::OrdMap;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::{fmt, sync::Arc, time::Duration};

/// Bytes.
pub const MEBIBYTE: f64 = 1_048_576.0;

/// One image of the registry and what its process does. Keys as in a session's `images`.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Image {
    /// How long a pull takes.
    #[serde(rename = "pullSeconds", deserialize_with = "seconds")]
    pub pull: Duration,
    /// The process ends with this code …
    pub exit: Option<i32>,
    /// … after this long.
    #[serde(rename = "afterSeconds", deserialize_with = "seconds")]
    pub after: Duration,
    /// Its process listens only this long after its start …
    #[serde(rename = "readyAfterSeconds", deserialize_with = "seconds")]
    pub ready_after: Duration,
    /// … and answers with errors from so long after it on.
    #[serde(rename = "failsAfterSeconds", deserialize_with = "maybe_seconds")]
    pub fails_after: Option<Duration>,
    /// The ports it listens at; any, if none is named.
    pub ports: Value,
    /// What it answers by path, other paths with 404; 200 to all, if none is named.
    pub paths: Value,
    /// A pull answers "unauthorized".
    pub denied: bool,
    /// How long the process needs after SIGTERM (0.1 s if not given).
    #[serde(rename = "stopSeconds", deserialize_with = "maybe_seconds")]
    pub stop: Option<Duration>,
    /// Its exit code then.
    pub stop_exit: i32,
    /// It does not answer SIGTERM.
    pub ignores_term: bool,
    /// With exit code 137 the reason is OOMKilled.
    pub oom: bool,
    /// The process cannot be started; runc's text.
    pub start_error: String,
    /// Printed at the start.
    pub logs: String,
    /// Size; drawn from the name if 0.
    pub size_bytes: i64,
    /// Its process needs so many bytes of memory at its start …
    #[serde(rename = "memoryMiB", deserialize_with = "mebibytes")]
    pub memory: i64,
    /// … and so many more with every second.
    #[serde(rename = "memoryGrowsMiBPerSecond", deserialize_with = "mebibytes")]
    pub grows: i64,
}

/// Fingerprints are made of this: what came to it later stands in it only where it is said.
impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("Image");
        all.field("pull", &self.pull)
            .field("exit", &self.exit)
            .field("after", &self.after)
            .field("ready_after", &self.ready_after)
            .field("fails_after", &self.fails_after)
            .field("ports", &self.ports)
            .field("paths", &self.paths)
            .field("denied", &self.denied)
            .field("stop", &self.stop)
            .field("stop_exit", &self.stop_exit)
            .field("ignores_term", &self.ignores_term)
            .field("oom", &self.oom)
            .field("start_error", &self.start_error)
            .field("logs", &self.logs)
            .field("size_bytes", &self.size_bytes);
        if self.uses_memory() {
            all.field("memory", &(self.memory, self.grows));
        }
        all.finish()
    }
}

/// In bytes, at most a pebibyte.
fn mebibytes<'de, D: Deserializer<'de>>(d: D) -> Result<i64, D::Error> {
    let amount = Option::<f64>::deserialize(d)?.unwrap_or_default();
    Ok((amount * MEBIBYTE).round().clamp(0.0, 1e15) as i64)
}

fn to_duration(seconds: f64) -> Duration {
    let millis = (seconds * 1000.0).round().clamp(0.0, 1e15);
    Duration::from_millis(millis as u64)
}

fn seconds<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
    Ok(Option::<f64>::deserialize(d)?.map_or(Duration::ZERO, to_duration))
}

fn maybe_seconds<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Duration>, D::Error> {
    Ok(Option::<f64>::deserialize(d)?.map(to_duration))
}

impl Image {
    /// An image whose pull takes so many whole seconds and whose process runs until it is stopped.
    pub fn pulled_in(seconds: u64) -> Self {
        Image { pull: Duration::from_secs(seconds), ..Image::default() }
    }

    /// Whether its process listens at a port; `None` if the image does not say where.
    pub(super) fn listens(&self, port: u16) -> Option<bool> {
        let ports = self.ports.as_array().filter(|ports| !ports.is_empty())?;
        Some(ports.iter().any(|p| p.as_u64() == Some(port.into())))
    }

    /// What it answers to a path.
    pub(super) fn answer(&self, path: &str) -> u16 {
        let Some(paths) = self.paths.as_object().filter(|paths| !paths.is_empty()) else { return 200 };
        paths.get(path).and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok()).unwrap_or(404)
    }

    /// Whether it says what memory its process needs.
    pub fn uses_memory(&self) -> bool {
        self.memory > 0 || self.grows > 0
    }

    /// Whether its process ends by itself.
    pub fn ends(&self) -> bool {
        self.exit.is_some() || !self.after.is_zero()
    }

    /// The image as it lies on a node once it was pulled under this full name.
    pub(super) fn pulled(&self, name: &str) -> RuntimeImage {
        let drawn = name.bytes().fold(0x811c_9dc5u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
        let size =
            if self.size_bytes > 0 { self.size_bytes } else { 20_000_000 + i64::from(drawn % 60_000_000) };
        RuntimeImage {
            name: name.into(),
            id: format!("sha256:{}", sha256::hex(&format!("config {name}"))).into(),
            image_ref: format!("{}@sha256:{}", repository(name), sha256::hex(&format!("manifest {name}")))
                .into(),
            size,
        }
    }
}

/// How the registry answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// As it should.
    #[default]
    Well,
    /// Not at all.
    Away,
    /// So many times slower.
    Slow(u32),
    /// It refuses every pull but one in so many.
    Throttling(u32),
}

/// Everything that can be pulled, by full name; and how the registry answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registry(pub OrdMap<Arc<str>, Image>, pub Mood);

impl Mood {
    /// How long a pull takes that takes so long when all is well.
    pub(super) fn stretch(self, pull: Duration) -> Duration {
        if let Mood::Slow(times) = self { pull.saturating_mul(times.max(1)) } else { pull }
    }

    /// Why the registry refuses a pull, in containerd's words; `turn` counts the pulls of a node.
    pub(super) fn refusal(self, name: &str, turn: u32) -> Option<String> {
        let start =
            format!("failed to pull and unpack image \"{name}\": failed to resolve reference \"{name}\": ");
        let host = name.split('/').next().unwrap_or(name);
        let host = if host == "docker.io" { "registry-1.docker.io" } else { host };
        let (path, tag) = repository(name)
            .split_once('/')
            .map_or((name, ""), |(_, path)| (path, name.rsplit_once(':').map_or("latest", |(_, tag)| tag)));
        let request = format!("Head \"https://{host}/v2/{path}/manifests/{tag}\"");
        match self {
            Mood::Away => {
                Some(format!("{start}failed to do request: {request}: dial tcp: lookup {host}: no such host"))
            }
            Mood::Throttling(of) if !turn.is_multiple_of(of.max(2)) => Some(format!(
                "{start}unexpected status from {} request to https://{host}/v2/{path}/manifests/{tag}: 429 Too Many Requests",
                "HEAD"
            )),
            _ => None,
        }
    }
}

impl Registry {
    /// Puts an image (or another one under the same name) into the registry.
    pub fn push(&mut self, name: &str, image: Image) {
        self.0.insert(full_image_name(name).into(), image);
    }

    /// Takes an image out.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(full_image_name(name).as_str());
    }

    /// The image of this name, given in full or as pods write it.
    pub fn get(&self, name: &str) -> Option<&Image> {
        let full = full_image_name(name);
        self.0
            .get(full.as_str())
            .or_else(|| self.0.iter().find(|(n, _)| full_image_name(n) == full).map(|(_, i)| i))
    }
}

fn repository(name: &str) -> &str {
    let slash = name.rfind('/').map_or(0, |i| i + 1);
    name[slash..].find([':', '@']).map_or(name, |i| &name[..slash + i])
}

/// What containerd says when a pull is refused, as the kubelet hands it on: only an unknown code goes unsaid.
pub(super) fn pull_error(name: &str, denied: bool) -> String {
    let start =
        format!("failed to pull and unpack image \"{name}\": failed to resolve reference \"{name}\": ");
    if !denied {
        return format!("rpc error: code = NotFound desc = {start}{name}: not found");
    }
    let (host, path) = repository(name).split_once('/').unwrap_or((name, ""));
    let why = if host == "docker.io" {
        "pull access denied, repository does not exist or may require authorization: server message: \
         insufficient_scope: authorization failed"
            .into()
    } else {
        let scope = query_escape(&format!("repository:{path}:pull"));
        format!(
            "failed to authorize: failed to fetch anonymous token: unexpected status from GET request to \
             https://{host}/token?scope={scope}&service={host}: 401 Unauthorized"
        )
    };
    format!("{start}{why}")
}

fn query_escape(text: &str) -> String {
    text.bytes()
        .map(|b| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(b).to_string(),
            b' ' => "+".into(),
            _ => format!("%{b:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sizes_and_digests_are_those_of_the_recordings() {
        let image = Image::default().pulled("registry.example.com/checkout:1.9.1");
        assert_eq!(image.size, 42_296_983);
        let digest = "ef3e913a95a3d2676e97e17b82a788a25b0e047bf54ad379898ecc6f3a716675";
        assert_eq!(&*image.image_ref, format!("registry.example.com/checkout@sha256:{digest}"));
        assert_eq!(Image::default().pulled("docker.io/example/crash:1").size, 75_638_933);
        for (name, full) in [
            ("web", "docker.io/library/web:latest"),
            ("example/web:1", "docker.io/example/web:1"),
            ("docker.io/web", "docker.io/library/web:latest"),
            ("localhost/web", "localhost/web:latest"),
            ("host:5000/a/b", "host:5000/a/b:latest"),
        ] {
            assert_eq!(full_image_name(name), full);
        }
    }

    #[test]
    fn refusals_are_worded_as_containerd_does() {
        assert!(
            pull_error("docker.io/example/x:1", false)
                .ends_with("\"docker.io/example/x:1\": docker.io/example/x:1: not found")
        );
        let denied = pull_error("registry.example.com/a/b:1", true);
        assert!(denied.contains("https://registry.example.com/token?scope=repository%3Aa%2Fb%3Apull&service=registry.example.com: 401"));
    }

    #[test]
    fn rows_are_read_with_their_keys() {
        let text = r#"{"pullSeconds": 0.5, "exit": 1, "afterSeconds": 2, "stopSeconds": 3, "ignoresTerm": true, "oom": true, "memoryMiB": 0.5, "memoryGrowsMiBPerSecond": 2}"#;
        let image: Image = serde_json::from_str(text).unwrap();
        assert_eq!(
            (image.pull, image.exit, image.after),
            (Duration::from_millis(500), Some(1), Duration::from_secs(2))
        );
        assert_eq!((image.memory, image.grows), (1 << 19, 2 << 20));
        assert_eq!((image.stop, image.ignores_term, image.oom), (Some(Duration::from_secs(3)), true, true));
    }
}
