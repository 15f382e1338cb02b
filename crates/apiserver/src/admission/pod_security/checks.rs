//! The checks of the levels: those of `baseline`, then those of `restricted`.
//!
//! Upstream: k8s.io/pod-security-admission/policy (v1.37).

mod baseline;
mod restricted;
mod words;

use serde_json::Value;

use baseline::baseline;
use restricted::restricted;

/// Why a pod is refused: the reason, and the details.
pub(super) type Found = (&'static str, String);

/// The version of the policies that is the latest.
pub(super) const LATEST: u32 = 37;

/// What a level finds at a minor version of the policies.
pub(super) fn all(level: &str, minor: u32, metadata: &Value, spec: &Value) -> Vec<Found> {
    match level {
        "baseline" => baseline(metadata, spec, minor, false),
        "restricted" => {
            let mut found = baseline(metadata, spec, minor, true);
            found.extend(restricted(spec, minor));
            found
        }
        _ => vec![],
    }
}

/// The reasons alone.
pub(super) fn reasons(level: &str, minor: u32, metadata: &Value, spec: &Value) -> Vec<String> {
    all(level, minor, metadata, spec).into_iter().map(|(reason, _)| reason.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(level: &str, spec: Value) -> Vec<String> {
        all(level, LATEST, &Value::Null, &spec).into_iter().map(|(r, d)| format!("{r} ({d})")).collect()
    }

    #[test]
    fn baseline_names_what_is_dangerous() {
        let spec = json!({"hostNetwork": true, "hostPID": true, "volumes": [{"name": "v", "hostPath": {"path": "/"}}],
            "containers": [{"name": "a", "ports": [{"hostPort": 80}], "securityContext": {"privileged": true,
                "capabilities": {"add": ["NET_ADMIN", "CHOWN"]}}}]});
        assert_eq!(
            said("baseline", spec),
            [
                "non-default capabilities (container \"a\" must not include \"NET_ADMIN\" in securityContext.capabilities.add)",
                "host namespaces (hostNetwork=true, hostPID=true)",
                "hostPath volumes (volume \"v\")",
                "hostPort (container \"a\" uses hostPort 80)",
                "privileged (container \"a\" must not set securityContext.privileged=true)",
            ]
        );
        assert!(said("baseline", json!({"containers": [{"name": "a"}]})).is_empty());
        assert!(said("privileged", json!({"hostPID": true})).is_empty());
    }

    #[test]
    fn older_policies_know_less() {
        let at = |minor: u32, spec: &Value| all("restricted", minor, &Value::Null, spec).len();
        let spec = json!({"securityContext": {"runAsUser": 0, "sysctls": [{"name": "net.ipv4.tcp_rmem"}]},
            "containers": [{"name": "a", "livenessProbe": {"httpGet": {"host": "x"}}}]});
        let counts: Vec<usize> = [7, 18, 22, 23, 32, 34].iter().map(|minor| at(*minor, &spec)).collect();
        assert_eq!(counts, [2, 3, 5, 6, 5, 6]);
    }

    #[test]
    fn restricted_wants_everything_said() {
        let good = json!({"securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{"name": "a", "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}]});
        assert!(said("restricted", good).is_empty());
        let bad = json!({"volumes": [{"name": "v", "hostPath": {"path": "/"}}], "securityContext": {"runAsUser": 0},
            "containers": [{"name": "a"}, {"name": "b"}]});
        let found = said("restricted", bad);
        assert_eq!(found.len(), 6, "{found:?}");
        assert_eq!(
            found[2],
            "restricted volume types (volume \"v\" uses restricted volume type \"hostPath\")"
        );
        assert!(found[0].contains("(containers \"a\", \"b\" must set"));
    }
}
