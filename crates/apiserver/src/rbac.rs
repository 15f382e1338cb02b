//! Who may do what, by roles and their bindings. Asked for requests that are made in another's name; that the programs of
//! the cluster may do what they do is proven by a test that asks for each of their requests.
//!
//! Upstream: plugin/pkg/auth/authorizer/rbac and apiserver/pkg/endpoints/handlers/responsewriters (v1.37).

mod builtin;
mod escalation;

pub(crate) use builtin::{get as builtin, is_of_roles as has_builtins, list as builtins};
pub(crate) use escalation::{check as check_escalation, sum_up};

use crate::Store;
use kubestep_model::{Custom, Key, Kind, Object, Status, User, Verb};
use serde_json::Value;

const ROLE: Kind = Kind::other("rbac.authorization.k8s.io", "Role");
pub(crate) const CLUSTER_ROLE: Kind = Kind::other("rbac.authorization.k8s.io", "ClusterRole");
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
    let mut found = Found::default();
    if groups.iter().any(|g| g == MASTERS) || allows(store, user, &groups, &asked, &mut found) {
        return Ok(());
    }
    Err(refusal(user, &asked, &found.faults))
}

/// Whether rules let a program do what its audit record says. Nodes are not asked: they have an authorizer of their own.
pub fn lets(store: &Store, user: &str, record: &crate::Audit) -> bool {
    let user = User { name: user.into(), groups: vec![] };
    let asked = Asked {
        verb: record.verb,
        kind: record.kind,
        subresource: record.subresource,
        namespace: if record.kind.namespaced() { &record.namespace } else { "" },
        name: &record.name,
    };
    allows(store, &user, &groups(&user), &asked, &mut Found::default())
}

/// What was found on the way.
#[derive(Default)]
struct Found {
    /// Bindings to roles that are not there.
    faults: Vec<String>,
}

fn allows(store: &Store, user: &User, groups: &[String], asked: &Asked<'_>, found: &mut Found) -> bool {
    let fits = |binding: &Custom, namespace: &str, found: &mut Found| {
        names(binding, user, groups, namespace)
            && role_rules(store, binding, namespace, found).iter().any(|rule| rule_allows(rule, asked))
    };
    let mut bindings = customs(store, CLUSTER_ROLE_BINDING, None);
    if bindings.any(|binding| fits(binding, "", found)) {
        return true;
    }
    !asked.namespace.is_empty()
        && customs(store, ROLE_BINDING, Some(asked.namespace))
            .any(|binding| fits(binding, asked.namespace, found))
}

/// All that somebody may do, in a namespace or, if none is named, everywhere.
fn rules_of(store: &Store, user: &User, groups: &[String], namespace: &str, found: &mut Found) -> Vec<Value> {
    let mut rules = vec![];
    let cluster = customs(store, CLUSTER_ROLE_BINDING, None).map(|b| (b, ""));
    let local = (!namespace.is_empty()).then(|| customs(store, ROLE_BINDING, Some(namespace)));
    for (binding, namespace) in cluster.chain(local.into_iter().flatten().map(|b| (b, namespace))) {
        if names(binding, user, groups, namespace) {
            rules.extend_from_slice(role_rules(store, binding, namespace, found));
        }
    }
    rules
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

/// The rules of the role that a binding refers to.
fn role_rules<'a>(store: &'a Store, binding: &'a Custom, namespace: &str, found: &mut Found) -> &'a [Value] {
    let nothing = Value::Null;
    let role = binding.rest.get("roleRef").unwrap_or(&nothing);
    let (kind, name) = (text(role, "kind"), text(role, "name"));
    let key = match kind {
        "Role" => Key::new(ROLE, namespace, name),
        _ => Key::new(CLUSTER_ROLE, "", name),
    };
    if let Some(Object::Custom(role)) = store.get(&key) {
        return part(role, "rules");
    }
    let what = key.kind.singular();
    found.faults.push(format!("{what}.rbac.authorization.k8s.io \"{name}\" not found"));
    &[]
}

/// By which labels a cluster role is the sum of others.
fn selectors(role: &Custom) -> Option<Vec<kubestep_model::LabelSelector>> {
    let rule = role.rest.get("aggregationRule").filter(|rule| !rule.is_null())?;
    serde_json::from_value(rule["clusterRoleSelectors"].clone()).ok()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Upstream: RuleAllows.
fn rule_allows(rule: &Value, asked: &Asked<'_>) -> bool {
    let has = |part: &str, wanted: &dyn Fn(&str) -> bool| {
        items(&rule[part]).iter().filter_map(Value::as_str).any(wanted)
    };
    let resource = asked.kind.resource();
    let fits = |r: &str| {
        r == "*"
            || match r.split_once('/') {
                None => r == resource && asked.subresource.is_empty(),
                Some((own, sub)) => {
                    (own == resource || own == "*") && sub == asked.subresource && !sub.is_empty()
                }
            }
    };
    let names = items(&rule["resourceNames"]);
    has("verbs", &|v| v == "*" || v == asked.verb)
        && has("apiGroups", &|g| g == "*" || g == asked.kind.group())
        && has("resources", &fits)
        && (names.is_empty() || names.iter().any(|n| n.as_str() == Some(asked.name)))
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
            let outcome = serve(
                self.store.clone(),
                &request,
                &who,
                Instant::START,
                &mut self.dice,
                &Settings::default(),
            );
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
