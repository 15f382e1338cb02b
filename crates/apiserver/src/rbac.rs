//! Who may do what, by roles and their bindings. Asked for requests that are made in another's name; the programs of
//! the cluster and its administrator may do what they do.
//!
//! Upstream: plugin/pkg/auth/authorizer/rbac and apiserver/pkg/endpoints/handlers/responsewriters (v1.37).

mod defaults;

use crate::Store;
use kubestep_model::{Custom, Key, Kind, Object, Status, User, Verb};
use serde_json::Value;

const ROLE: Kind = Kind::other("rbac.authorization.k8s.io", "Role");
const CLUSTER_ROLE: Kind = Kind::other("rbac.authorization.k8s.io", "ClusterRole");
const ROLE_BINDING: Kind = Kind::other("rbac.authorization.k8s.io", "RoleBinding");
const CLUSTER_ROLE_BINDING: Kind = Kind::other("rbac.authorization.k8s.io", "ClusterRoleBinding");
const MASTERS: &str = "system:masters";

/// What is asked, as rules speak of it.
struct Asked<'a> {
    verb: &'a str,
    kind: Kind,
    subresource: &'a str,
    namespace: &'a str,
    name: &'a str,
}

/// Refuses what no role allows. `review` asks about another verb than the request's own, as `verb/subresource`.
pub(crate) fn authorize(store: &Store, user: &User, verb: &Verb, review: Option<&str>) -> Result<(), Status> {
    let (other, part) = review.map_or((None, None), |r| match r.split_once('/') {
        Some((verb, part)) => (Some(verb), Some(part)),
        None => (Some(r), None),
    });
    let (namespace, name) = place(verb);
    let kind = verb.kind();
    let asked = Asked {
        verb: other.unwrap_or(verb.name()),
        kind,
        subresource: part.unwrap_or(verb.subresource().name()),
        namespace: if kind.namespaced() { namespace } else { "" },
        name,
    };
    let groups = groups(user);
    if groups.iter().any(|g| g == MASTERS) {
        return Ok(());
    }
    let mut faults = vec![];
    if by_cluster_roles(store, user, &groups, &asked, &mut faults)
        || by_roles(store, user, &groups, &asked, &mut faults)
    {
        return Ok(());
    }
    Err(refusal(user, &asked, &faults))
}

/// The namespace and the name that a request is about.
fn place(verb: &Verb) -> (&str, &str) {
    match verb {
        Verb::Get { key, .. }
        | Verb::Replace { key, .. }
        | Verb::Patch { key, .. }
        | Verb::Delete { key, .. } => (&key.namespace, &key.name),
        Verb::List { namespace, .. } => (namespace.as_deref().unwrap_or_default(), ""),
        Verb::Create { namespace, .. } | Verb::DeleteCollection { namespace, .. } => (namespace, ""),
        Verb::Bind { pod, .. } | Verb::Evict { pod, .. } => (&pod.namespace, &pod.name),
        Verb::Token { account } => (&account.namespace, &account.name),
    }
}

/// The groups of a user, with those that follow from the name.
///
/// Upstream: apiserver/pkg/endpoints/filters, WithImpersonation.
pub(crate) fn groups(user: &User) -> Vec<String> {
    let mut groups = user.groups.clone();
    if groups.is_empty()
        && let Some(account) = user.name.strip_prefix("system:serviceaccount:")
    {
        let namespace = account.split(':').next().unwrap_or_default();
        groups.push("system:serviceaccounts".into());
        groups.push(format!("system:serviceaccounts:{namespace}"));
    }
    let known = |g: &String| g == "system:authenticated" || g == "system:unauthenticated";
    if user.name != "system:anonymous" && !groups.iter().any(known) {
        groups.push("system:authenticated".into());
    }
    groups
}

fn by_cluster_roles(
    store: &Store,
    user: &User,
    groups: &[String],
    asked: &Asked<'_>,
    faults: &mut Vec<String>,
) -> bool {
    let default = defaults::CLUSTER_BINDINGS.iter().any(|(role, group)| {
        groups.iter().any(|g| g == group)
            && defaults::rules(role).is_some_and(|rules| rules.iter().any(|r| r.allows_asked(asked)))
    });
    default
        || customs(store, CLUSTER_ROLE_BINDING, None)
            .any(|binding| names(binding, user, groups, "") && role_allows(store, binding, "", asked, faults))
}

fn by_roles(
    store: &Store,
    user: &User,
    groups: &[String],
    asked: &Asked<'_>,
    faults: &mut Vec<String>,
) -> bool {
    if asked.namespace.is_empty() {
        return false;
    }
    customs(store, ROLE_BINDING, Some(asked.namespace)).any(|binding| {
        names(binding, user, groups, asked.namespace)
            && role_allows(store, binding, asked.namespace, asked, faults)
    })
}

fn customs<'a>(store: &'a Store, kind: Kind, namespace: Option<&str>) -> impl Iterator<Item = &'a Custom> {
    store.list(kind, namespace).filter_map(|o| if let Object::Custom(c) = o { Some(&**c) } else { None })
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn part<'a>(custom: &'a Custom, name: &str) -> &'a [Value] {
    custom.rest.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether a binding is about a user.
fn names(binding: &Custom, user: &User, groups: &[String], namespace: &str) -> bool {
    part(binding, "subjects").iter().any(|subject| {
        let name = text(subject, "name");
        match text(subject, "kind") {
            "User" => name == user.name,
            "Group" => groups.iter().any(|g| g == name),
            "ServiceAccount" => {
                let own = text(subject, "namespace");
                let own = if own.is_empty() { namespace } else { own };
                user.name == format!("system:serviceaccount:{own}:{name}")
            }
            _ => false,
        }
    })
}

fn role_allows(
    store: &Store,
    binding: &Custom,
    namespace: &str,
    asked: &Asked<'_>,
    faults: &mut Vec<String>,
) -> bool {
    let nothing = Value::Null;
    let role = binding.rest.get("roleRef").unwrap_or(&nothing);
    let (kind, name) = (text(role, "kind"), text(role, "name"));
    let key = match kind {
        "Role" => Key::new(ROLE, namespace, name),
        _ => Key::new(CLUSTER_ROLE, "", name),
    };
    match store.get(&key) {
        Some(Object::Custom(role)) => {
            let own = part(role, "rules").iter().any(|rule| Rule::Written(rule).allows(asked));
            own || aggregated(store, role, asked)
        }
        _ => match defaults::rules(name).filter(|_| kind == "ClusterRole") {
            Some(rules) => rules.iter().any(|r| r.allows_asked(asked)),
            None => {
                let what = key.kind.singular();
                faults.push(format!("{what}.rbac.authorization.k8s.io \"{name}\" not found"));
                false
            }
        },
    }
}

/// A cluster role may be the sum of others, by their labels.
fn aggregated(store: &Store, role: &Custom, asked: &Asked<'_>) -> bool {
    let selectors = role.rest.get("aggregationRule").map(|a| a["clusterRoleSelectors"].clone());
    let selectors: Vec<kubestep_model::LabelSelector> =
        serde_json::from_value(selectors.unwrap_or_default()).unwrap_or_default();
    customs(store, CLUSTER_ROLE, None).any(|other| {
        selectors.iter().any(|s| s.matches(&other.metadata.labels))
            && part(other, "rules").iter().any(|rule| Rule::Written(rule).allows(asked))
    })
}

/// A rule of a role, as it is written or one of the defaults.
enum Rule<'a> {
    Written(&'a Value),
    Default(&'a defaults::Rule),
}

impl defaults::Rule {
    fn allows_asked(&self, asked: &Asked<'_>) -> bool {
        Rule::Default(self).allows(asked)
    }
}

impl Rule<'_> {
    fn has(&self, part: &str, wanted: impl Fn(&str) -> bool) -> bool {
        match self {
            Rule::Written(rule) => {
                rule[part].as_array().into_iter().flatten().filter_map(Value::as_str).any(wanted)
            }
            Rule::Default(rule) => rule.part(part).split(' ').any(wanted),
        }
    }

    /// Upstream: RuleAllows.
    fn allows(&self, asked: &Asked<'_>) -> bool {
        let resource = asked.kind.resource();
        let whole = if asked.subresource.is_empty() {
            resource.to_owned()
        } else {
            format!("{resource}/{}", asked.subresource)
        };
        let fits = |r: &str| {
            r == "*"
                || r == whole
                || r.strip_prefix("*/").is_some_and(|sub| sub == asked.subresource && !sub.is_empty())
        };
        let named = match self {
            Rule::Written(rule) => match rule["resourceNames"].as_array().filter(|n| !n.is_empty()) {
                Some(names) => names.iter().any(|n| n.as_str() == Some(asked.name)),
                None => true,
            },
            Rule::Default(_) => true,
        };
        self.has("verbs", |v| v == "*" || v == asked.verb)
            && self.has("apiGroups", |g| g == "*" || g == asked.kind.group())
            && self.has("resources", fits)
            && named
    }
}

/// 403 in the words of the handler.
fn refusal(user: &User, asked: &Asked<'_>, faults: &[String]) -> Status {
    let resource = asked.kind.resource();
    let resource = if asked.subresource.is_empty() {
        resource.to_owned()
    } else {
        format!("{resource}/{}", asked.subresource)
    };
    let place = if asked.namespace.is_empty() {
        "at the cluster scope".to_owned()
    } else {
        format!("in the namespace \"{}\"", asked.namespace)
    };
    let mut why = format!(
        "User \"{}\" cannot {} resource \"{resource}\" in API group \"{}\" {place}",
        user.name,
        asked.verb,
        asked.kind.group()
    );
    match faults {
        [] => {}
        [one] => why.push_str(&format!(": rbac: RBAC: {one}")),
        many => why.push_str(&format!(": rbac: RBAC: [{}]", many.join(", "))),
    }
    Status::forbidden(asked.kind, asked.name, &why)
}

#[cfg(test)]
mod tests {
    use crate::{Actor, Settings, Store, first_objects, serve};
    use kubestep_model::{Body, Dice, Instant, Key, Kind, Request, Subresource, User, Verb};
    use serde_json::{Value, json};
    use std::sync::Arc;

    struct World {
        store: Store,
        dice: Dice,
    }

    impl World {
        fn new() -> World {
            let mut dice = Dice::new(1);
            let mut store = Store::new();
            store.seed(first_objects(Instant::START, &mut dice));
            World { store, dice }
        }

        fn make(&mut self, value: Value) {
            let text = |name: &str| value[name].as_str().expect("a text").to_owned();
            let kind = Kind::of_manifest(&text("apiVersion"), &text("kind")).expect("a kind");
            let namespace = if kind.namespaced() { "default" } else { "" };
            let verb = Verb::Create { kind, namespace: namespace.into(), body: Body::Json(Arc::new(value)) };
            assert_eq!(self.ask(verb.into()), "");
        }

        fn ask(&mut self, request: Request) -> String {
            let who = Actor::new("kubectl", "kubernetes-admin");
            let outcome =
                serve(&self.store, &request, &who, Instant::START, &mut self.dice, &Settings::default());
            self.store = outcome.store;
            outcome.reply.err().map(|s| s.message).unwrap_or_default()
        }

        fn ask_as(&mut self, name: &str, groups: &[&str], verb: Verb) -> String {
            let groups = groups.iter().map(|g| (*g).to_owned()).collect();
            let user = Some(Arc::new(User { name: name.into(), groups }));
            self.ask(Request { user, ..verb.into() })
        }
    }

    fn list(kind: Kind, namespace: &str) -> Verb {
        let namespace = (!namespace.is_empty()).then(|| namespace.into());
        Verb::List { kind, namespace, labels: None, fields: None }
    }

    fn binding(role: &str, kind: &str, subject: Value) -> Value {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": role},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}, "subjects": [subject]})
    }

    #[test]
    fn nobody_may_anything_until_a_role_says_so() {
        let mut world = World::new();
        let refused = "pods is forbidden: User \"dana\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"";
        assert_eq!(world.ask_as("dana", &[], list(Kind::Pod, "default")), refused);
        let nodes = "nodes is forbidden: User \"dana\" cannot list resource \"nodes\" in API group \"\" at the cluster scope";
        assert_eq!(world.ask_as("dana", &[], list(Kind::Node, "")), nodes);
        assert_eq!(world.ask_as("dana", &["system:masters"], list(Kind::Pod, "default")), "");
        let dana = json!({"kind": "User", "name": "dana"});
        world.make(binding("never-written", "Role", dana.clone()));
        let missing =
            format!("{refused}: rbac: RBAC: role.rbac.authorization.k8s.io \"never-written\" not found");
        assert_eq!(world.ask_as("dana", &[], list(Kind::Pod, "default")), missing);
        world.make(json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "reader"},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]}));
        world.make(binding("reader", "Role", dana));
        assert_eq!(world.ask_as("dana", &[], list(Kind::Pod, "default")), "");
        assert!(
            world
                .ask_as("dana", &[], list(Kind::Pod, "kube-system"))
                .contains("in the namespace \"kube-system\"")
        );
        let key = Key::new(Kind::Pod, "default", "web");
        let get = Verb::Get { key: key.clone(), subresource: Subresource::None };
        assert_eq!(world.ask_as("dana", &[], get), "pods \"web\" not found");
        let delete = Verb::Delete { key, options: Default::default() };
        assert!(
            world
                .ask_as("dana", &[], delete)
                .starts_with("pods \"web\" is forbidden: User \"dana\" cannot delete")
        );
    }

    #[test]
    fn service_accounts_are_bound_to_default_roles() {
        let mut world = World::new();
        world.make(binding(
            "view",
            "ClusterRole",
            json!({"kind": "ServiceAccount", "name": "robot", "namespace": "default"}),
        ));
        let robot = "system:serviceaccount:default:robot";
        assert_eq!(world.ask_as(robot, &[], list(Kind::Deployment, "default")), "");
        assert!(
            world
                .ask_as(robot, &[], list(Kind::Secret, "default"))
                .contains("cannot list resource \"secrets\"")
        );
        let other = "system:serviceaccount:other:robot";
        assert!(world.ask_as(other, &[], list(Kind::Deployment, "default")).contains("is forbidden"));
    }

    #[test]
    fn a_review_asks_and_changes_nothing() {
        let mut world = World::new();
        let key = Key::new(Kind::Pod, "default", "");
        let review = |user: &str, groups: Vec<String>| Request {
            user: Some(Arc::new(User { name: user.into(), groups })),
            review: Some("create".into()),
            ..Verb::Get { key: key.clone(), subresource: Subresource::None }.into()
        };
        assert!(world.ask(review("dana", vec![])).contains("cannot create resource \"pods\""));
        assert_eq!(world.ask(review("dana", vec!["system:masters".into()])), "");
    }
}
