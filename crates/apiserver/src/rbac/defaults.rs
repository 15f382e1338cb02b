//! The cluster roles that every cluster has, as far as people are bound to them.
//!
//! Upstream: plugin/pkg/auth/authorizer/rbac/bootstrappolicy, policy.go (v1.37).

/// One rule: words between blanks.
#[derive(Debug)]
pub(super) struct Rule {
    groups: &'static str,
    resources: &'static str,
    verbs: &'static str,
}

impl Rule {
    pub(super) fn part(&self, name: &str) -> &'static str {
        match name {
            "apiGroups" => self.groups,
            "resources" => self.resources,
            _ => self.verbs,
        }
    }
}

const fn rule(groups: &'static str, resources: &'static str, verbs: &'static str) -> Rule {
    Rule { groups, resources, verbs }
}

/// Which default role whole groups have.
pub(super) const CLUSTER_BINDINGS: [(&str, &str); 2] =
    [("cluster-admin", "system:masters"), ("system:basic-user", "system:authenticated")];

const READ: &str = "get list watch";
const WRITE: &str = "create delete deletecollection patch update";

const CLUSTER_ADMIN: [Rule; 1] = [rule("*", "*", "*")];
const BASIC_USER: [Rule; 2] = [
    rule("authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews", "create"),
    rule("authentication.k8s.io", "selfsubjectreviews", "create"),
];

const VIEW: [Rule; 9] = [
    rule(
        "",
        "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status",
        READ,
    ),
    rule(
        "",
        "bindings events limitranges namespaces namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status",
        READ,
    ),
    rule("discovery.k8s.io", "endpointslices", READ),
    rule(
        "apps",
        "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status",
        READ,
    ),
    rule("autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status", READ),
    rule("batch", "cronjobs cronjobs/status jobs jobs/status", READ),
    rule("policy", "poddisruptionbudgets poddisruptionbudgets/status", READ),
    rule("networking.k8s.io", "ingresses ingresses/status networkpolicies", READ),
    rule("resource.k8s.io", "resourceclaims resourceclaims/status resourceclaimtemplates", READ),
];

const EDIT: [Rule; 13] = [
    rule("", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy", READ),
    rule("", "serviceaccounts", "impersonate"),
    rule("", "pods pods/attach pods/exec pods/portforward pods/proxy", WRITE),
    rule("", "pods/eviction", "create"),
    rule(
        "",
        "configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy",
        WRITE,
    ),
    rule("", "serviceaccounts/token", "create"),
    rule(
        "apps",
        "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale",
        WRITE,
    ),
    rule("autoscaling", "horizontalpodautoscalers", WRITE),
    rule("batch", "cronjobs jobs", WRITE),
    rule("policy", "poddisruptionbudgets", WRITE),
    rule("networking.k8s.io", "ingresses networkpolicies", WRITE),
    rule("coordination.k8s.io", "leases", "create delete deletecollection get list patch update watch"),
    rule("resource.k8s.io", "resourceclaims resourceclaimtemplates", WRITE),
];

const ADMIN: [Rule; 2] = [
    rule("authorization.k8s.io", "localsubjectaccessreviews", "create"),
    rule(
        "rbac.authorization.k8s.io",
        "rolebindings roles",
        "create delete deletecollection get list patch update watch",
    ),
];

/// The rules of a default role; none if there is no such role.
pub(super) fn rules(name: &str) -> Option<Vec<&'static Rule>> {
    static PARTS: [&[Rule]; 5] = [&CLUSTER_ADMIN, &BASIC_USER, &VIEW, &EDIT, &ADMIN];
    let parts: &[usize] = match name {
        "cluster-admin" => &[0],
        "system:basic-user" => &[1],
        "view" => &[2],
        "edit" => &[2, 3],
        "admin" => &[2, 3, 4],
        _ => return None,
    };
    Some(parts.iter().filter_map(|at| PARTS.get(*at)).flat_map(|rules| rules.iter()).collect())
}
