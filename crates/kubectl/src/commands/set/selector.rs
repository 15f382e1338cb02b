//! `kubectl set selector`.

use crate::{
    args::{Args, Flag, Takes, flag, not_done, short},
    commands::common::{self, DRY_RUN, DryRun, FIELD_MANAGER, FILENAME, LOCAL, OUTPUT, RECURSIVE, TEMPLATE},
    fault::Fault,
    kc::{Flow, Kc},
    output::format::Format,
    select::{self, Select},
};
use kubestep_model::{
    Labels, Object, PatchKind,
    text::{
        Selector,
        selector::{Operator, Requirement},
    },
};
use std::sync::Arc;

pub(in crate::commands) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    TEMPLATE,
    DRY_RUN,
    FIELD_MANAGER,
    flag("all", Takes::Bool),
    short("all-namespaces", 'A', Takes::Bool),
    flag("record", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    not_done("resource-version", Takes::Text),
    LOCAL,
];

pub(in crate::commands) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let (dry, format) = (DryRun::of(kc, args)?, Format::of(kc, args, false)?);
    let Some((last, words)) = args.words.split_last() else {
        return Err(kc.fail("one selector is required"));
    };
    let selector = match Selector::parse(last) {
        Ok(selector) => selector,
        Err(why) => return Err(kc.fail(format!("couldn't parse the selector string \"{last}\": {why}"))),
    };
    let labels = equalities(&selector);
    let select = Select { types_alone: args.on("all"), all: false, ..Select::from(args, words) };
    let local = args.on("local");
    let found = if local { super::find(kc, args, words)? } else { select::find(kc, &select)? };
    common::each(kc, found, |kc, info| {
        let Object::Service(service) = &info.object else {
            return Ok(Err(Fault::Text("setting a selector is only supported for Services".into())));
        };
        let Some(labels) = &labels else {
            return Ok(Err(Fault::Text(format!(
                "match expression [{}] not supported on this object",
                expressions(&selector)
            ))));
        };
        let mut after = service.clone();
        Arc::make_mut(&mut after).spec.selector.clone_from(labels);
        let after = Object::Service(after);
        if local || dry == DryRun::Client {
            common::say(kc, &format, &after, "selector updated", dry)?;
            return Ok(Ok(()));
        }
        let patch = match common::difference(info.key.kind, &info.object.to_value(), &after.to_value()) {
            Ok(patch) => patch,
            Err(why) => return Ok(Err(Fault::Text(why))),
        };
        match common::patch(kc, &info.key, PatchKind::Strategic, patch, dry)? {
            Ok(object) => {
                common::say(kc, &format, &object, "selector updated", dry)?;
                Ok(Ok(()))
            }
            Err(status) => Ok(Err(status.into())),
        }
    })
}

/// What is no equality, as Go prints it.
fn expressions(selector: &Selector) -> String {
    let one = |r: &Requirement| {
        let sign = match r.operator() {
            Operator::In => "In",
            Operator::NotIn | Operator::NotEquals => "NotIn",
            Operator::Exists => "Exists",
            Operator::DoesNotExist => "DoesNotExist",
            _ => return None,
        };
        Some(format!("{{{} {sign} [{}]}}", r.key(), r.values().join(" ")))
    };
    selector.requirements().iter().filter_map(one).collect::<Vec<_>>().join(" ")
}

/// A selector that only demands equal values, as labels; None if it demands more.
fn equalities(selector: &Selector) -> Option<Labels> {
    let mut labels = Labels::new();
    for requirement in selector.requirements() {
        let equals = matches!(requirement.operator(), Operator::Equals | Operator::DoubleEquals);
        match requirement.values() {
            [value] if equals => labels.insert(requirement.key().to_owned(), value.clone()),
            _ => return None,
        };
    }
    Some(labels)
}
