//! `kubectl apply view-last-applied`. Upstream: kubectl/pkg/cmd/apply (v1.37).

use super::common::{self, ALL, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR};
use crate::{
    args::{Args, Flag},
    fault::Fault,
    kc::{Flow, Kc},
    output::json,
    select::{self, Select},
};
use kubestep_model::{patch::last_applied::original, yaml};

pub(super) const FLAGS: &[Flag] = &[FILENAME, RECURSIVE, OUTPUT, SELECTOR, ALL, KUSTOMIZE];

pub(super) fn view(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let output = args.text("output").filter(|o| !o.is_empty()).unwrap_or("yaml");
    if !matches!(output, "yaml" | "json") {
        let text = format!("Unexpected -o output mode: {output}, the flag 'output' must be one of yaml|json");
        return Err(kc.usage(&args.path, &text));
    }
    let found = select::find(kc, &Select::from(args, &args.words))?;
    if let Some(fault) = found.faults.first() {
        return Err(kc.fault(fault));
    }
    let mut texts = Vec::new();
    for info in &found.infos {
        match original(&info.object.to_value()) {
            Some(value) if output == "json" => texts.push(json::pretty(&value)),
            Some(value) => texts.push(yaml::to_yaml(&value)),
            None => {
                let name = &info.key.name;
                let text = format!("no last-applied-configuration annotation found on resource: {name}\n");
                return Err(kc.fault(&Fault::Text(text).when("retrieving", &info.source)));
            }
        }
    }
    texts.into_iter().for_each(|text| kc.out(text));
    common::finish(kc, vec![])
}
