//! ResourceQuota.

use super::Page;
use kubestep_model::arrange::Arrange;
use kubestep_model::{Quantity, ResourceQuota};

pub(super) fn describe(page: &mut Page, o: &ResourceQuota) {
    page.field(0, "Name", &o.metadata.name);
    page.field(0, "Namespace", &o.metadata.namespace);
    scopes(page, o, 0, " * ");
    page.line(0, "Resource\tUsed\tHard");
    page.line(0, "--------\t----\t----");
    for (name, hard) in &o.status.hard {
        let used = o.status.used.get(name).cloned().unwrap_or_default();
        let used =
            if used.format() == hard.format() { used } else { Quantity::new(used.value(), hard.format()) };
        page.line(0, format!("{name}\t{used}\t{hard}"));
    }
}

/// The scopes of a quota, each with what it means.
pub(super) fn scopes(page: &mut Page, o: &ResourceQuota, level: usize, bullet: &str) {
    let mut scopes: Vec<&str> = o.spec.scopes.iter().map(String::as_str).collect();
    scopes.arrange();
    if scopes.is_empty() {
        return;
    }
    page.field(level, "Scopes", scopes.join(", "));
    scopes.iter().filter_map(|s| help(s)).for_each(|text| page.line(level, format!("{bullet}{text}")));
}

fn help(scope: &str) -> Option<&'static str> {
    Some(match scope {
        "Terminating" => {
            "Matches all pods that have an active deadline. These pods have a limited lifespan on a node before being actively terminated by the system."
        }
        "NotTerminating" => {
            "Matches all pods that do not have an active deadline. These pods usually include long running pods whose container command is not expected to terminate."
        }
        "BestEffort" => {
            "Matches all pods that do not have resource requirements set. These pods have a best effort quality of service."
        }
        "NotBestEffort" => {
            "Matches all pods that have at least one resource requirement set. These pods have a burstable or guaranteed quality of service."
        }
        _ => return None,
    })
}
