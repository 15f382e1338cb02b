//! Which of several mistakes in a line is told first: each command looks at them in an order of its own.
//! Upstream: Complete, Validate and Run of each command (v1.37).

use super::{
    common::{self, DryRun},
    delete,
};
use crate::{
    args::Args,
    kc::{Flow, Kc, Stop},
    output::format::Format,
    select::{self, Select},
};

/// What looks at the form of its answer before anything else, besides all that `create` makes.
const FORMS_FIRST: [&str; 7] =
    ["create", "expose", "set env", "set image", "set resources", "set serviceaccount", "wait"];

/// Tells what a command tells before it looks at its own arguments and flags.
pub(super) fn look(kc: &mut Kc<'_>, command: &str, args: &Args) -> Flow<()> {
    let nameless = args.words.is_empty() && args.all("filename").is_empty();
    match command {
        "create token" => {}
        _ if FORMS_FIRST.contains(&command) || command.starts_with("create ") => {
            forms(kc, args)?;
        }
        "apply" => apply(kc, args)?,
        "scale" if !args.has("replicas") => return Err(kc.fail("required flag(s) \"replicas\" not set")),
        "replace" => {
            DryRun::of(kc, args)?;
            if !matches!(args.text("cascade"), Some("true" | "false")) {
                delete::cascade(kc, args)?;
            }
        }
        "taint" => {
            DryRun::of(kc, args)?;
            common::strict(kc, args)?;
        }
        _ if command.starts_with("rollout ") && nameless => {
            DryRun::of(kc, args)?;
            return Err(kc.fail("required resource not specified"));
        }
        "cordon" | "uncordon" | "drain" if args.words.is_empty() && !args.has("selector") => {
            let text = format!("USAGE: {command} NODE [flags]");
            return Err(kc.usage(&args.path, &text));
        }
        "delete" if nameless && !["all", "selector", "field-selector"].iter().any(|f| args.has(f)) => {
            DryRun::of(kc, args)?;
            return Err(nothing_named(kc)?);
        }
        "apply view-last-applied" if nameless => return Err(nothing_named(kc)?),
        _ => {}
    }
    let changes = matches!(command, "set image" | "set resources" | "set subject");
    if changes && nameless && args.on("local") {
        return Err(nothing_named(kc)?);
    }
    Ok(())
}

fn forms(kc: &mut Kc<'_>, args: &Args) -> Flow<()> {
    DryRun::of(kc, args)?;
    Format::of(kc, args, false)?;
    if args.has("validate") {
        common::strict(kc, args)?;
    }
    Ok(())
}

fn apply(kc: &mut Kc<'_>, args: &Args) -> Flow<()> {
    if !args.words.is_empty() {
        return Err(kc.usage(&args.path, &format!("Unexpected args: [{}]", args.words.join(" "))));
    }
    if args.all("filename").is_empty() {
        DryRun::of(kc, args)?;
        common::strict(kc, args)?;
        return Err(kc.fail("must specify one of -f and -k"));
    }
    Ok(())
}

/// Nothing is named: the words for it.
pub(super) fn nothing_named(kc: &mut Kc<'_>) -> Flow<Stop> {
    match select::named(kc, &Select::default())? {
        Err(fault) => Ok(kc.fault(&fault)),
        Ok(_) => Ok(Stop::Exit(1)),
    }
}
