//! `kubectl create token`. Upstream: kubectl/pkg/cmd/create, create_token.go (v1.37).

use super::make::name;
use crate::{
    args::{Args, Flag, Takes, flag, not_done},
    fields::Fields,
    kc::{Flow, Kc},
};
use kubestep_model::{Answer, Key, Kind, Verb};
use std::time::Duration;

pub(super) const FLAGS: &[Flag] = &[
    flag("audience", Takes::Each),
    flag("duration", Takes::Span),
    not_done("bound-object-kind", Takes::Text),
    not_done("bound-object-name", Takes::Text),
    not_done("bound-object-uid", Takes::Text),
    not_done("output", Takes::Text),
    not_done("template", Takes::Text),
    not_done("show-managed-fields", Takes::Bool),
    not_done("allow-missing-template-keys", Takes::Bool),
];

/// The shortest life that the API server gives a token, and the longest that a request can ask for.
const SHORTEST: Duration = Duration::from_secs(600);
const LONGEST: Duration = Duration::from_secs(1 << 32);

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let name = name(kc, args)?;
    let duration = args.span("duration").filter(|d| !d.is_zero());
    if args.text_or_empty("duration").starts_with('-') {
        return Err(kc.fail("--duration must be greater than or equal to 0"));
    }
    if duration.is_some_and(|d| d.subsec_nanos() != 0) {
        return Err(kc.fail("--duration cannot be expressed in units less than seconds"));
    }
    if let Some(sign) = ['/', '%'].into_iter().find(|sign| name.contains(*sign)) {
        let text =
            format!("failed to create token: invalid resource name {name:?}: [may not contain '{sign}']");
        return Err(kc.fail(text));
    }
    let account = Key::new(Kind::ServiceAccount, kc.namespace.clone(), name);
    let wrong = match duration {
        Some(d) if d < SHORTEST => Some((d, "may not specify a duration less than 10 minutes")),
        Some(d) if d > LONGEST => Some((d, "may not specify a duration larger than 2^32 seconds")),
        _ => None,
    };
    let answer = kc.ask(Verb::Token { account })?;
    match (answer, wrong) {
        (Err(status), _) => Err(kc.fail(format!("failed to create token: {}", status.message))),
        (Ok(_), Some((d, why))) => Err(kc.fail(format!(
            "failed to create token: TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: {}: {why}",
            d.as_secs()
        ))),
        (Ok(Answer::Json { value, .. }), None) => {
            kc.out(format!("{}\n", value.text("status.token")));
            Ok(0)
        }
        (Ok(_), None) => Err(kc.fail("failed to create token: no token in server response")),
    }
}
