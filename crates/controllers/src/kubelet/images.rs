//! The image manager: pull policies, one pull at a time, waiting after refusals.
//! Upstream: pkg/kubelet/images/image_manager.go.

use super::{Ask, Cx, Kubelet, Uid, pod_reference, start::container};
use kubestep_control::{Order, RuntimeImage, full_image_name};
use kubestep_model::{Instant, Key, Kind, Subresource, Verb, text::duration};
use std::sync::Arc;

/// A pull that waits for its turn, or is under way (the first).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PullRequest {
    uid: Uid,
    container: Arc<str>,
    image: Arc<str>,
    asked: Instant,
    begun: Option<Instant>,
}

/// What is wrong with an image's name. Upstream: distribution/reference, ParseNormalizedNamed and splitDockerDomain.
fn invalid_name(image: &str) -> Option<String> {
    if image.len() == 64 && image.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        let text = "cannot specify 64-byte hexadecimal strings";
        return Some(format!("invalid repository name ({image}), {text}"));
    }
    let full;
    let (host, remainder) = match image.split_once('/') {
        Some(("docker.io" | "index.docker.io", rest)) => {
            full = if rest.contains('/') { rest.to_owned() } else { format!("library/{rest}") };
            ("", full.as_str())
        }
        // A first part that is no name of a repository is taken for a host.
        Some((first, rest))
            if first == "localhost"
                || first.contains(['.', ':'])
                || first.chars().any(char::is_uppercase) =>
        {
            (first, rest)
        }
        Some(_) => ("", image),
        None => {
            full = format!("library/{image}");
            ("", full.as_str())
        }
    };
    let remote = remainder.split_once(':').map_or(remainder, |(remote, _)| remote);
    if remote.chars().any(char::is_uppercase) {
        return Some(format!("invalid reference format: repository name ({remote}) must be lowercase"));
    }
    let (name, digest) = remainder.split_once('@').unwrap_or((remainder, ""));
    let (path, tag) = name.split_once(':').map_or((name, None), |(path, tag)| (path, Some(tag)));
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let tag_ok = tag
        .is_none_or(|t| !t.is_empty() && t.len() <= 128 && t.chars().all(word) && !t.starts_with(['.', '-']));
    let part_ok = |p: &str| {
        let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        ends(p.chars().next()) && ends(p.chars().last()) && p.chars().all(word)
    };
    let host_ok = host.chars().all(|c| word(c) || c == ':');
    let digest_ok = image.find('@').is_none()
        || digest.split_once(':').is_some_and(|(a, d)| !a.is_empty() && d.len() >= 32);
    let good = tag_ok && host_ok && digest_ok && path.split('/').all(part_ok);
    (!good).then(|| "invalid reference format".into())
}

impl Kubelet {
    fn image(&self, name: &str) -> Option<&RuntimeImage> {
        let full = full_image_name(name);
        self.images
            .get(full.as_str())
            .or_else(|| self.images.values().find(|i| *i.id == *name || *i.image_ref == *name))
    }

    /// Sees to a container's image. Answers whether the sync now waits (for a pull, or the start that follows).
    pub(super) fn ensure_image(&mut self, cx: &mut Cx<'_>, uid: &Uid, name: &Arc<str>) -> bool {
        let Some(worker) = self.workers.get(uid) else { return true };
        let pod = worker.pod.clone();
        let Some(container) = container(&pod, name) else { return false };
        let (image, policy) = (container.image.clone(), container.image_pull_policy.as_str());
        let about = pod_reference(&pod, Some(name));
        if let Some(why) = invalid_name(&image) {
            let text = format!(
                "Failed to apply default image tag \"{image}\": couldn't parse image name \"{image}\": {why}"
            );
            cx.event(about.clone(), "Warning", "InspectFailed", text.clone());
            self.image_failed(cx, uid, name, "InvalidImageName", &text);
            return false;
        }
        let present = self.image(&image).is_some();
        if present && policy != "Always" {
            let text = format!(
                "Container image \"{image}\" already present on machine and can be accessed by the pod"
            );
            cx.event(about, "Normal", "Pulled", text);
            self.start_container(cx, uid, name);
            return true;
        }
        if policy == "Never" {
            let text = format!("Container image \"{image}\" is not present with pull policy of Never");
            cx.event(about, "Warning", "ErrImageNeverPull", text.clone());
            self.image_failed(cx, uid, name, "ErrImageNeverPull", &text);
            return false;
        }
        let image: Arc<str> = image.as_str().into();
        if worker.pulls.is_in_backoff_since_update(&image, cx.now.0) {
            let text = format!("Back-off pulling image \"{image}\"");
            cx.event(about, "Normal", "BackOff", text.clone());
            let text =
                worker.pull_errors.get(&image).map_or(text.clone(), |e| format!("{text}: ErrImagePull: {e}"));
            self.image_failed(cx, uid, name, "ImagePullBackOff", &text);
            return false;
        }
        cx.event(about, "Normal", "Pulling", format!("Pulling image \"{image}\""));
        cx.because("kubelet.pull", vec![("image", image.to_string()), ("container", name.to_string())]);
        self.pulls.push_back(PullRequest {
            uid: uid.clone(),
            container: name.clone(),
            image,
            asked: cx.now,
            begun: None,
        });
        self.pull_next(cx);
        true
    }

    /// Tells when an image whose pull has failed may be pulled again, once for each pod that waits for it.
    pub fn next_pulls<'a>(&'a self, tell: &mut dyn FnMut(&'a str, Instant)) {
        for worker in self.workers.values() {
            for (image, entry) in worker.pulls.entries() {
                tell(image, Instant(entry.last_update.saturating_add(entry.backoff)));
            }
        }
    }

    fn image_failed(&mut self, cx: &mut Cx<'_>, uid: &Uid, name: &Arc<str>, reason: &str, message: &str) {
        let Some(pod) = self.workers.get(uid).map(|w| w.pod.clone()) else { return };
        cx.event(pod_reference(&pod, Some(name)), "Warning", "Failed", format!("Error: {reason}"));
        let code = if reason == "ImagePullBackOff" { "kubelet.pull-back-off" } else { "kubelet.pull-failed" };
        cx.because(code, vec![("container", name.to_string()), ("text", message.into())]);
        self.start_failed(uid, name, reason, message, None);
    }

    fn pull_next(&mut self, cx: &mut Cx<'_>) {
        if let Some(first) = self.pulls.front_mut()
            && first.begun.is_none()
        {
            first.begun = Some(cx.now);
            cx.order(Order::Pull { image: first.image.clone() });
        }
    }

    /// A pull has ended.
    pub(super) fn pulled(
        &mut self,
        cx: &mut Cx<'_>,
        image: &Arc<str>,
        result: Result<RuntimeImage, Arc<str>>,
    ) {
        if let Ok(pulled) = &result {
            self.images.insert(pulled.name.clone(), pulled.clone());
        }
        let Some(request) = self.pulls.front().filter(|p| p.image == *image && p.begun.is_some()).cloned()
        else {
            return;
        };
        self.pulls.pop_front();
        let PullRequest { uid, container, image, asked, begun } = request;
        let now = cx.now;
        if let Some(worker) = self.worker(&uid) {
            let pod = worker.pod.clone();
            let about = pod_reference(&pod, Some(&container));
            match result {
                Ok(pulled) => {
                    worker.pull_errors.remove(&image);
                    let text = |since: Instant| duration::go_string(whole_millis(now.nanos_since(since)));
                    let (took, waited) = (text(begun.unwrap_or(asked)), text(asked));
                    let size = pulled.size;
                    let message = format!(
                        "Successfully pulled image \"{image}\" in {took} ({waited} including waiting). Image size: {size} bytes."
                    );
                    cx.event(about, "Normal", "Pulled", message);
                    self.start_container(cx, &uid, &container);
                }
                Err(text) => {
                    worker.pulls.next(&image, now.0, now.0);
                    worker.pull_errors.insert(image.clone(), text.clone());
                    cx.event(about, "Warning", "Failed", format!("Failed to pull image \"{image}\": {text}"));
                    self.image_failed(cx, &uid, &container, "ErrImagePull", &text);
                    if let Some(starting) = self.starting(&uid) {
                        starting.pull_failed = true;
                    }
                    self.start_next(cx, &uid);
                }
            }
        }
        self.pull_next(cx);
    }
}

impl Kubelet {
    /// A sync in which a pull was refused says which of the pod's secrets for pulls are not there. Upstream: SyncPod,
    /// getPullSecretsForPod; there they are looked up before the pull.
    pub(super) fn look_for_pull_secrets(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let Some(worker) = self.worker(uid) else { return };
        let named = worker.pod.spec.image_pull_secrets.iter().filter(|s| !s.name.is_empty());
        let names: Vec<String> = named.map(|s| s.name.clone()).collect();
        worker.pull_secrets = names.iter().map(|name| (name.clone(), None)).collect();
        let namespace = worker.pod.metadata.namespace.clone();
        for name in names {
            let key = Key::new(Kind::Secret, namespace.clone(), name.as_str());
            let ticket = cx.ask(Verb::Get { key, subresource: Subresource::None });
            self.asks.insert(ticket, Ask::PullSecret(uid.clone(), name));
        }
    }

    pub(super) fn pull_secret_answered(&mut self, cx: &mut Cx<'_>, uid: &Uid, name: &str, there: bool) {
        let Some(worker) = self.worker(uid) else { return };
        if let Some((_, known)) =
            worker.pull_secrets.iter_mut().find(|(n, known)| n == name && known.is_none())
        {
            *known = Some(there);
        }
        if worker.pull_secrets.is_empty() || worker.pull_secrets.iter().any(|(_, known)| known.is_none()) {
            return;
        }
        let missing =
            std::mem::take(&mut worker.pull_secrets).into_iter().filter(|(_, known)| *known == Some(false));
        let missing: Vec<String> = missing.map(|(name, _)| name).collect();
        if missing.is_empty() {
            return;
        }
        let text = format!(
            "Unable to retrieve some image pull secrets ({}); attempting to pull the image may not succeed.",
            missing.join(", ")
        );
        cx.event(pod_reference(&worker.pod, None), "Warning", "FailedToRetrieveImagePullSecret", text);
    }
}

/// A span in nanoseconds, cut to milliseconds.
fn whole_millis(span: i64) -> i64 {
    span - span % 1_000_000
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_judged_as_references() {
        for (name, good) in [
            ("example/web:1", true),
            ("registry.example.com:5000/a/b:1.2", true),
            ("web", true),
            ("example/Web:1", false),
            ("web:", false),
            ("web: 1", false),
            ("/web", false),
            ("", false),
        ] {
            assert_eq!(super::invalid_name(name).is_none(), good, "{name}");
        }
        for (name, part) in [("Example/A:1", "A"), ("example/A:1", "example/A"), ("Web:1", "library/Web")] {
            let text = format!("invalid reference format: repository name ({part}) must be lowercase");
            assert_eq!(super::invalid_name(name), Some(text), "{name}");
        }
    }
}
