//! Requests to the API server and what it answers.

use crate::{Key, Kind, Object, Revision, Status, text::FieldSelector, text::Selector};
use serde_json::Value;
use std::{fmt, sync::Arc};

/// A part of an object that is read or written on its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Subresource {
    #[default]
    None,
    Status,
    Scale,
    Binding,
    Eviction,
    Token,
    /// A namespace's own finalizers.
    Finalize,
    /// Whether a request for a certificate is approved.
    Approval,
}

impl Subresource {
    /// As in a path and in the audit record; empty for the object itself.
    pub fn name(self) -> &'static str {
        match self {
            Subresource::None => "",
            Subresource::Status => "status",
            Subresource::Scale => "scale",
            Subresource::Binding => "binding",
            Subresource::Eviction => "eviction",
            Subresource::Token => "token",
            Subresource::Finalize => "finalize",
            Subresource::Approval => "approval",
        }
    }
}

/// The object that a write carries: typed from a loop, plain JSON (with `apiVersion` and `kind`) from a client.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Body {
    Typed(Object),
    Json(Arc<Value>),
}

/// How a patch is to be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PatchKind {
    Json,
    Merge,
    Strategic,
    Apply,
}

/// What happens to dependents when their owner is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Propagation {
    #[default]
    Background,
    Foreground,
    Orphan,
}

/// Options of a delete.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct DeleteOptions {
    pub grace_period_seconds: Option<i64>,
    pub propagation: Option<Propagation>,
    pub uid: Option<Arc<str>>,
    pub resource_version: Option<String>,
}

/// What is asked. Namespaces and names stand in the key or the body's metadata.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Verb {
    Get {
        key: Key,
        subresource: Subresource,
    },
    /// All of a kind, in one namespace or (`None`) in all, by label and field.
    List {
        kind: Kind,
        namespace: Option<Arc<str>>,
        labels: Option<Selector>,
        fields: Option<FieldSelector>,
    },
    Create {
        kind: Kind,
        namespace: Arc<str>,
        body: Body,
    },
    /// PUT of the object, its status or its scale.
    Replace {
        key: Key,
        subresource: Subresource,
        body: Body,
    },
    Patch {
        key: Key,
        subresource: Subresource,
        kind: PatchKind,
        patch: Arc<Value>,
    },
    /// POST pods/NAME/binding.
    Bind {
        pod: Key,
        uid: Arc<str>,
        node: Arc<str>,
    },
    /// POST pods/NAME/eviction.
    Evict {
        pod: Key,
        options: DeleteOptions,
    },
    /// POST serviceaccounts/NAME/token.
    Token {
        account: Key,
    },
    Delete {
        key: Key,
        options: DeleteOptions,
    },
    DeleteCollection {
        kind: Kind,
        namespace: Arc<str>,
        labels: Option<Selector>,
        fields: Option<FieldSelector>,
        options: DeleteOptions,
    },
}

/// How much of a list is wanted, and of which time. Upstream: meta/internalversion, ListOptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// At most so many objects; all if it is not above zero.
    pub limit: i64,
    /// Where the chunk before stopped, in the API server's own words; empty at the start.
    pub continue_token: String,
    /// As old or as new as this; empty for the newest.
    pub resource_version: String,
    /// `Exact`, `NotOlderThan` or empty.
    pub resource_version_match: String,
    /// Whether not a list is wanted but the beginning of a watch.
    pub watch: bool,
    /// For a watch: whether it tells first of what is there, if that was said.
    pub send_initial_events: Option<bool>,
}

/// One request with the query that all writes share.
#[derive(Clone, PartialEq)]
pub struct Request {
    /// What is asked.
    pub verb: Verb,
    /// Check and answer, but keep nothing.
    pub dry_run: bool,
    /// Refuse unknown and duplicate fields (kubectl's default); otherwise they are dropped with a warning.
    pub strict: bool,
    /// For server-side apply: who applies, and whether conflicts are taken over.
    pub field_manager: Option<Arc<str>>,
    /// See `field_manager`.
    pub force: bool,
    /// In whose name it is made, if not in that of who asks.
    pub user: Option<Arc<User>>,
    /// Only whether it would be allowed is asked; for this verb (and subresource, behind a slash).
    pub review: Option<Arc<str>>,
    /// Whether what is read shows who owns which fields (`managedFields`).
    pub owners: bool,
    /// For a list: how much of it, and of which time.
    pub list: Option<Arc<ListOptions>>,
}

/// Worlds are compared by this text. A limit follows from the line that asks, which stands there too, so a list that
/// fits into its first chunk looks as one without a limit.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Request");
        shown
            .field("verb", &self.verb)
            .field("dry_run", &self.dry_run)
            .field("strict", &self.strict)
            .field("field_manager", &self.field_manager)
            .field("force", &self.force)
            .field("user", &self.user)
            .field("review", &self.review)
            .field("owners", &self.owners);
        let more =
            |list: &&Arc<ListOptions>| ListOptions { limit: list.limit, ..Default::default() } != ***list;
        if let Some(list) = self.list.as_ref().filter(more) {
            shown.field("list", list);
        }
        shown.finish()
    }
}

/// Somebody who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name, as `dana` or `system:serviceaccount:default:robot`.
    pub name: String,
    /// The groups that were named besides.
    pub groups: Vec<String>,
}

impl From<Verb> for Request {
    fn from(verb: Verb) -> Self {
        Request {
            verb,
            dry_run: false,
            strict: false,
            field_manager: None,
            force: false,
            user: None,
            review: None,
            owners: false,
            list: None,
        }
    }
}

impl Verb {
    /// The verb in the audit record's words.
    pub fn name(&self) -> &'static str {
        match self {
            Verb::Get { .. } => "get",
            Verb::List { .. } => "list",
            Verb::Create { .. } | Verb::Bind { .. } | Verb::Evict { .. } | Verb::Token { .. } => "create",
            Verb::Replace { .. } => "update",
            Verb::Patch { .. } => "patch",
            Verb::Delete { .. } => "delete",
            Verb::DeleteCollection { .. } => "deletecollection",
        }
    }

    /// The kind it is about.
    pub fn kind(&self) -> Kind {
        match self {
            Verb::Get { key, .. }
            | Verb::Replace { key, .. }
            | Verb::Patch { key, .. }
            | Verb::Delete { key, .. } => key.kind,
            Verb::List { kind, .. } | Verb::Create { kind, .. } | Verb::DeleteCollection { kind, .. } => {
                *kind
            }
            Verb::Bind { pod, .. } | Verb::Evict { pod, .. } => pod.kind,
            Verb::Token { account } => account.kind,
        }
    }

    /// The part of the object it is about.
    pub fn subresource(&self) -> Subresource {
        match self {
            Verb::Get { subresource, .. }
            | Verb::Replace { subresource, .. }
            | Verb::Patch { subresource, .. } => *subresource,
            Verb::Bind { .. } => Subresource::Binding,
            Verb::Evict { .. } => Subresource::Eviction,
            Verb::Token { .. } => Subresource::Token,
            Verb::List { .. } | Verb::Create { .. } | Verb::Delete { .. } | Verb::DeleteCollection { .. } => {
                Subresource::None
            }
        }
    }

    /// Whether it only reads.
    pub fn reads(&self) -> bool {
        matches!(self, Verb::Get { .. } | Verb::List { .. })
    }
}

/// What a granted request answers.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Answer {
    /// The object after the write, or as read.
    Object { object: Object, warnings: Vec<String> },
    /// A list at a revision, sorted by namespace and name.
    List { items: Vec<Object>, revision: Revision },
    /// A part of a list; the rest is asked for with `next`. How many remain is not said where a selector was given.
    Chunk { items: Vec<Object>, revision: Revision, next: String, remaining: Option<u64> },
    /// An answer that is no stored object: a Scale, a Status of success, a token.
    Json { value: Arc<Value>, warnings: Vec<String> },
}

/// An answer or a refusal.
pub type Reply = Result<Answer, Status>;
