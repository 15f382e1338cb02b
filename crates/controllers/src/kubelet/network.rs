//! Which address a probe or a hook asks. Upstream: pkg/probe/http/request.go, pkg/probe/util.go (v1.37).

use kubestep_control::{NetAsk, NetKind};
use kubestep_model::{Container, Probe};
use serde_json::Value;
use std::sync::Arc;

/// A port by its number or its name. Upstream: ResolveContainerPort.
fn port(value: &Value, container: &Container) -> Result<u16, String> {
    let number = match value.as_str() {
        Some(name) => {
            let found = container.ports.iter().find(|port| port.name == name);
            i64::from(found.ok_or_else(|| format!("port \"{name}\" not found"))?.container_port)
        }
        None => value.as_i64().unwrap_or(0),
    };
    u16::try_from(number).ok().filter(|n| *n > 0).ok_or_else(|| format!("invalid port number: {number}"))
}

fn host(action: &Value, ip: &str) -> Arc<str> {
    action["host"].as_str().filter(|host| !host.is_empty()).unwrap_or(ip).into()
}

/// An action over HTTP. Upstream: NewRequestForHTTPGetAction.
pub(super) fn http(action: &Value, container: &Container, ip: &str) -> Result<NetAsk, String> {
    Ok(NetAsk {
        kind: NetKind::Http,
        scheme: if action["scheme"] == "HTTPS" { "https" } else { "http" },
        host: host(action, ip),
        port: port(&action["port"], container)?,
        path: action["path"].as_str().unwrap_or("/").into(),
    })
}

/// Whom a probe asks over the network; `None` for a command.
pub(super) fn of_probe(probe: &Probe, container: &Container, ip: &str) -> Option<Result<NetAsk, String>> {
    let ask = |kind, host: Arc<str>, port| NetAsk { kind, scheme: "", host, port, path: "".into() };
    if probe.exec.is_some() {
        return None;
    }
    if let Some(action) = &probe.http_get {
        return Some(http(action, container, ip));
    }
    if let Some(action) = &probe.tcp_socket {
        let port = port(&action["port"], container);
        return Some(port.map(|port| ask(NetKind::Tcp, host(action, ip), port)));
    }
    let action = probe.grpc.as_ref()?;
    Some(port(&action["port"], container).map(|port| ask(NetKind::Grpc, ip.into(), port)))
}
