//! The variables that a process in a container sees.

use crate::World;
use kubestep_model::{Kind, Pod, Service, Time};

type Variables = Vec<(String, String)>;

/// In the order in which the container runtime and the kubelet give them.
pub(super) fn of(world: &World, pod: &Pod, container: &str, host: &str) -> Variables {
    let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    let mut all = vec![("PATH".into(), path.into()), ("HOSTNAME".into(), host.to_owned())];
    let machine = world.machines().find(|(name, _)| ***name == *pod.spec.node_name).map(|(_, m)| m);
    let given = machine.and_then(|m| m.environment(&pod.metadata.uid, container));
    if let Some((given, started)) = given {
        for (name, value) in given {
            all.retain(|(n, _)| n != name);
            all.push((name.clone(), value.clone()));
        }
        // A container knows the Services that were there when it started.
        let old =
            |s: &&Service| s.metadata.creation_timestamp.map(Time::instant).is_some_and(|at| at <= started);
        for (name, value) in services(world, pod).filter(old).flat_map(variables) {
            if !all.iter().any(|(n, _)| *n == name) {
                all.push((name, value));
            }
        }
    }
    if !all.iter().any(|(n, _)| n == "HOME") {
        all.push(("HOME".into(), "/root".into()));
    }
    all
}

/// Upstream: pkg/kubelet/kubelet_pods.go, getServiceEnvVarMap (v1.37): those of the pod's namespace, unless it wants
/// none, and the API server's.
fn services<'a>(world: &'a World, pod: &'a Pod) -> impl Iterator<Item = &'a Service> {
    let links = pod.spec.enable_service_links != Some(false);
    let namespace = &pod.metadata.namespace;
    let all = world.store().list(Kind::Service, None).filter_map(|o| o.get::<Service>());
    all.filter(move |s| {
        let master = &*s.metadata.name == "kubernetes" && &*s.metadata.namespace == "default";
        let address = &s.spec.cluster_ip;
        let own = links && s.metadata.namespace == *namespace;
        (own || master) && !address.is_empty() && address != "None"
    })
}

/// Upstream: pkg/kubelet/envvars, FromServices (v1.37).
fn variables(service: &Service) -> Variables {
    let upper = |name: &str| name.replace('-', "_").to_ascii_uppercase();
    let (name, address) = (upper(&service.metadata.name), &service.spec.cluster_ip);
    let mut all = vec![(format!("{name}_SERVICE_HOST"), address.clone())];
    for (at, port) in service.spec.ports.iter().enumerate() {
        let number = port.port.to_string();
        if at == 0 {
            all.push((format!("{name}_SERVICE_PORT"), number.clone()));
        }
        if !port.name.is_empty() {
            all.push((format!("{name}_SERVICE_PORT_{}", upper(&port.name)), number));
        }
    }
    for (at, port) in service.spec.ports.iter().enumerate() {
        let protocol = if port.protocol.is_empty() { "TCP" } else { &port.protocol };
        let (number, small) = (port.port, protocol.to_ascii_lowercase());
        let url = format!("{small}://{address}:{number}");
        if at == 0 {
            all.push((format!("{name}_PORT"), url.clone()));
        }
        let start = format!("{name}_PORT_{number}_{}", protocol.to_ascii_uppercase());
        all.push((start.clone(), url));
        all.push((format!("{start}_PROTO"), small));
        all.push((format!("{start}_PORT"), number.to_string()));
        all.push((format!("{start}_ADDR"), address.clone()));
    }
    all
}

/// A script with the values of variables in it; one that is not set is nothing. Any other dollar stays.
pub(super) fn put_into(script: &str, all: &[(String, String)]) -> String {
    let (mut out, mut quote, mut rest) = (String::new(), None, script);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match (c, quote) {
            ('\\', None) => {
                out.push(c);
                out.extend(rest.chars().next());
                rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
                continue;
            }
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(q)) if c == q => quote = None,
            ('$', None | Some('"')) => {
                if let Some((name, after)) = name_of(rest) {
                    let value = all.iter().find(|(n, _)| n == name).map_or("", |(_, v)| v);
                    value.chars().for_each(|c| push(&mut out, c, quote.is_some()));
                    rest = after;
                    continue;
                }
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

/// A character of a value: no sign of the script.
fn push(out: &mut String, c: char, quoted: bool) {
    match c {
        '"' if quoted => out.push_str("\"\\\"\""),
        '"' | '\'' | '\\' | ';' | '&' | '|' | '>' | '\n' if !quoted => out.extend(['\\', c]),
        _ => out.push(c),
    }
}

/// The name of a variable after its dollar, and what follows.
fn name_of(text: &str) -> Option<(&str, &str)> {
    let (name, after) = match text.strip_prefix('{') {
        Some(inner) => inner.split_once('}')?,
        None => {
            text.split_at(text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len()))
        }
    };
    let first = name.chars().next()?;
    let fits = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (fits && !first.is_ascii_digit() && name != "PWD").then_some((name, after))
}

#[cfg(test)]
mod tests {
    use super::put_into;

    #[test]
    fn variables_stand_in_scripts() {
        let all = [("A", "one two"), ("B", "x;y\"'")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        for (script, want) in [
            ("echo $A ${A}s", "echo one two one twos"),
            ("echo '$A' \"$A\"", "echo '$A' \"one two\""),
            ("echo $B \"$B\"", "echo x\\;y\\\"\\' \"x;y\"\\\"\"'\""),
            ("echo \\$A $C.", "echo \\$A ."),
            ("echo $ $5 $(date) ${A:-b} $", "echo $ $5 $(date) ${A:-b} $"),
        ] {
            assert_eq!(put_into(script, &all), want, "{script}");
        }
    }
}
