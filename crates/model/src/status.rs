//! What the API server answers when it refuses: code, reason, exact message and the fields at fault.

use crate::Kind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a request was refused, in the API's own words. Upstream: metav1.StatusReason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Reason {
    Unknown,
    Unauthorized,
    Forbidden,
    NotFound,
    AlreadyExists,
    Conflict,
    Gone,
    Invalid,
    BadRequest,
    MethodNotAllowed,
    NotAcceptable,
    UnsupportedMediaType,
    InternalError,
    Expired,
    TooManyRequests,
    ServiceUnavailable,
    Timeout,
    ServerTimeout,
}

/// One field that a refusal names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// `FieldValueRequired`, `FieldValueInvalid`, …
    pub reason: String,
    /// What is wrong with it.
    pub message: String,
    /// The path in the object, as `spec.template.spec.containers[0].image`.
    pub field: String,
}

/// A refusal. Upstream: metav1.Status as built by apimachinery/pkg/api/errors.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Status {
    pub code: u16,
    pub reason: Reason,
    pub message: String,
    pub causes: Vec<Cause>,
    /// Resource and name that the refusal is about, as `details` says them: (group, kind or resource, name).
    pub about: Option<(String, String, String)>,
    /// For 429: after how many seconds to try again.
    pub retry_after: Option<i64>,
    /// For 410 to a chunk: where the list can go on all the same, as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What is said beside it, as beside an answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Worlds are compared by this text; what is rarely there is left out where it is not.
impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Status");
        shown
            .field("code", &self.code)
            .field("reason", &self.reason)
            .field("message", &self.message)
            .field("causes", &self.causes)
            .field("about", &self.about)
            .field("retry_after", &self.retry_after);
        if let Some(next) = &self.next {
            shown.field("next", next);
        }
        if !self.warnings.is_empty() {
            shown.field("warnings", &self.warnings);
        }
        shown.finish()
    }
}

impl Status {
    /// A refusal with a message and nothing more.
    pub fn new(code: u16, reason: Reason, message: impl Into<String>) -> Self {
        let message = message.into();
        let (causes, warnings) = (vec![], vec![]);
        Status { code, reason, message, causes, about: None, retry_after: None, next: None, warnings }
    }

    fn of(code: u16, reason: Reason, kind: Kind, name: &str, message: String) -> Self {
        Status {
            about: Some((kind.group().into(), kind.resource().into(), name.into())),
            ..Status::new(code, reason, message)
        }
    }

    /// 404: `deployments.apps "web" not found`.
    pub fn not_found(kind: Kind, name: &str) -> Self {
        Self::of(404, Reason::NotFound, kind, name, format!("{} \"{name}\" not found", kind.qualified()))
    }

    /// 409: `pods "x" already exists`.
    pub fn already_exists(kind: Kind, name: &str) -> Self {
        Self::of(
            409,
            Reason::AlreadyExists,
            kind,
            name,
            format!("{} \"{name}\" already exists", kind.qualified()),
        )
    }

    /// 409 because the object was changed since it was read.
    pub fn conflict(kind: Kind, name: &str) -> Self {
        let text =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict_because(kind, name, text)
    }

    /// 409 with another explanation.
    pub fn conflict_because(kind: Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", kind.qualified());
        Self::of(409, Reason::Conflict, kind, name, message)
    }

    /// 403: `pods "x" is forbidden: …`.
    pub fn forbidden(kind: Kind, name: &str, why: &str) -> Self {
        let message = if name.is_empty() {
            format!("{} is forbidden: {why}", kind.qualified())
        } else {
            format!("{} \"{name}\" is forbidden: {why}", kind.qualified())
        };
        Self::of(403, Reason::Forbidden, kind, name, message)
    }

    /// 422 from the fields at fault. Upstream: apierrors.NewInvalid.
    pub fn invalid(kind: Kind, name: &str, causes: Vec<Cause>) -> Self {
        let each: Vec<String> = causes.iter().map(|c| format!("{}: {}", c.field, c.message)).collect();
        let list = match each.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let qualified = kind.qualified_kind();
        let mut status =
            Status::new(422, Reason::Invalid, format!("{qualified} \"{name}\" is invalid: {list}"));
        status.about = Some((kind.group().into(), kind.name().into(), name.into()));
        status.causes = causes;
        status
    }

    /// 404 of a path that is not served, as the scale of a kind that has none.
    pub fn no_such_resource() -> Self {
        Status::new(404, Reason::NotFound, "the server could not find the requested resource")
    }

    /// 405.
    pub fn method_not_allowed() -> Self {
        let text = "the server does not allow this method on the requested resource";
        Status::new(405, Reason::MethodNotAllowed, text)
    }

    /// 400 with a message.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Status::new(400, Reason::BadRequest, message)
    }

    /// Whether this is the answer to a write with an old resource version.
    pub fn is_conflict(&self) -> bool {
        self.reason == Reason::Conflict
    }
    /// Whether the object was not there.
    pub fn is_not_found(&self) -> bool {
        self.reason == Reason::NotFound
    }
    /// Whether an object of that name was there already.
    pub fn is_already_exists(&self) -> bool {
        self.reason == Reason::AlreadyExists
    }
}
