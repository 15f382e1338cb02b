//! Roles and their bindings.

use super::Page;
use crate::{fields::Fields, output::go_print};
use kubestep_model::Object;
use kubestep_model::arrange::Arrange;
use serde_json::{Value, json};

/// One line of a role: what may be done to one resource.
#[derive(Clone, Default, PartialEq)]
struct Rule {
    verbs: Vec<String>,
    group: Option<String>,
    resource: Option<String>,
    names: Vec<String>,
    urls: Vec<String>,
}

impl Rule {
    /// Whether two lines differ in their verbs only.
    fn same_target(&self, other: &Rule) -> bool {
        (&self.group, &self.resource, &self.names) == (&other.group, &other.resource, &other.names)
    }

    /// The order of lines is that of their text. Upstream: SortableRuleSlice.
    fn order(&self) -> String {
        format!(
            "Verbs:[{}],APIGroups:[{}],Resources:[{}],ResourceNames:[{}],NonResourceURLs:[{}]",
            self.verbs.join(" "),
            self.group.clone().unwrap_or_default(),
            self.resource.clone().unwrap_or_default(),
            self.names.join(" "),
            self.urls.join(" ")
        )
    }

    /// `deployments.apps/scale`. Upstream: CombineResourceGroup.
    fn target(&self) -> String {
        let Some(resource) = &self.resource else { return String::new() };
        let (name, below) = resource.split_once('/').map_or((resource.as_str(), None), |(n, b)| (n, Some(b)));
        let group = self.group.as_deref().filter(|g| !g.is_empty());
        let group = group.map(|g| format!(".{g}")).unwrap_or_default();
        let below = below.map(|b| format!("/{b}")).unwrap_or_default();
        format!("{name}{group}{below}")
    }
}

/// Takes rules apart and joins those about the same target. Upstream: BreakdownRule, CompactRules.
fn compact(rules: &[Value]) -> Vec<Rule> {
    let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<String>>();
    let (mut found, mut urls): (Vec<Rule>, Vec<Rule>) = (Vec::new(), Vec::new());
    for rule in rules {
        let verbs = owned(rule.texts("verbs"));
        let names = owned(rule.texts("resourceNames"));
        let names: Vec<Vec<String>> =
            if names.is_empty() { vec![vec![]] } else { names.into_iter().map(|n| vec![n]).collect() };
        for group in rule.texts("apiGroups") {
            for resource in rule.texts("resources") {
                for names in &names {
                    let (group, resource) = (Some(group.to_owned()), Some(resource.to_owned()));
                    let one =
                        Rule { verbs: verbs.clone(), group, resource, names: names.clone(), urls: vec![] };
                    join(&mut found, one);
                }
            }
        }
        for url in rule.texts("nonResourceURLs") {
            let one = |verb: &String| Rule {
                verbs: vec![verb.clone()],
                urls: vec![url.to_owned()],
                ..Rule::default()
            };
            urls.extend(verbs.iter().map(one));
        }
    }
    urls.extend(found.into_iter().filter(|r| !r.verbs.is_empty()));
    urls.arrange_by_key(Rule::order);
    urls
}

fn join(found: &mut Vec<Rule>, one: Rule) {
    match found.iter_mut().find(|r| r.same_target(&one)) {
        Some(there) => {
            for verb in one.verbs {
                if !there.verbs.contains(&verb) {
                    there.verbs.push(verb);
                }
            }
        }
        None => found.push(one),
    }
}

/// Role and ClusterRole.
pub(super) fn role(page: &mut Page, object: &Object) {
    let (meta, o) = (object.meta(), object.to_value());
    page.field(0, "Name", &meta.name);
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    page.line(0, "PolicyRule:");
    page.line(1, "Resources\tNon-Resource URLs\tResource Names\tVerbs");
    page.line(1, "---------\t-----------------\t--------------\t-----");
    for rule in compact(o.list("rules")) {
        let list = |texts: &[String]| go_print(&json!(texts));
        page.line(
            1,
            format!("{}\t{}\t{}\t{}", rule.target(), list(&rule.urls), list(&rule.names), list(&rule.verbs)),
        );
    }
}

/// RoleBinding and ClusterRoleBinding.
pub(super) fn binding(page: &mut Page, object: &Object) {
    let (meta, o) = (object.meta(), object.to_value());
    page.field(0, "Name", &meta.name);
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    page.line(0, "Role:");
    page.field(1, "Kind", o.text("roleRef.kind"));
    page.field(1, "Name", o.text("roleRef.name"));
    page.line(0, "Subjects:");
    page.line(1, "Kind\tName\tNamespace");
    page.line(1, "----\t----\t---------");
    for s in o.list("subjects") {
        page.line(1, format!("{}\t{}\t{}", s.text("kind"), s.text("name"), s.text("namespace")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_taken_apart_and_joined() {
        let rules = json!([
            {"apiGroups": ["", "apps"], "resources": ["pods", "deployments/scale"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "get"]},
            {"nonResourceURLs": ["/healthz"], "verbs": ["get"]},
        ]);
        let shown: Vec<String> = compact(rules.as_array().unwrap())
            .iter()
            .map(|r| format!("{} {}", r.target(), r.verbs.join(",")))
            .collect();
        let want =
            ["pods get,list", " get", "deployments/scale get", "deployments.apps/scale get", "pods.apps get"];
        assert_eq!(shown, want);
    }
}
