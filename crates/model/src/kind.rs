//! Kinds: one row each. Adding a row makes the compiler list what the kind still lacks.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

/// What the API says about one kind: group, version, names, scope.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub struct KindRow {
    pub kind: &'static str,
    pub group: &'static str,
    pub version: &'static str,
    pub resource: &'static str,
    pub singular: &'static str,
    pub short: &'static [&'static str],
    pub namespaced: bool,
    /// Whether it is none of Kubernetes' own: somebody defined it.
    pub defined: bool,
}

macro_rules! kinds {
    ($($name:ident: $group:literal $version:literal $resource:literal $singular:literal [$($short:literal),*] $ns:literal;)*) => {
        /// A kind of object. The named ones have a struct and are read by loops; `Other` is kept as it was written.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)]
        pub enum Kind { $($name,)* Other(&'static KindRow) }

        impl Kind {
            /// Every kind that has a struct.
            pub const TYPED: &'static [Kind] = &[$(Kind::$name),*];

            /// This kind's row.
            pub fn row(self) -> &'static KindRow {
                match self {
                    $(Kind::$name => { const ROW: KindRow = KindRow { kind: stringify!($name), group: $group, version: $version,
                        resource: $resource, singular: $singular, short: &[$($short),*], namespaced: $ns, defined: false }; &ROW })*
                    Kind::Other(row) => row,
                }
            }
        }
    };
}

kinds! {
    Namespace: "" "v1" "namespaces" "namespace" ["ns"] false;
    Node: "" "v1" "nodes" "node" ["no"] false;
    Pod: "" "v1" "pods" "pod" ["po"] true;
    ReplicaSet: "apps" "v1" "replicasets" "replicaset" ["rs"] true;
    Deployment: "apps" "v1" "deployments" "deployment" ["deploy"] true;
    Service: "" "v1" "services" "service" ["svc"] true;
    Endpoints: "" "v1" "endpoints" "endpoints" ["ep"] true;
    EndpointSlice: "discovery.k8s.io" "v1" "endpointslices" "endpointslice" [] true;
    ConfigMap: "" "v1" "configmaps" "configmap" ["cm"] true;
    Secret: "" "v1" "secrets" "secret" [] true;
    ServiceAccount: "" "v1" "serviceaccounts" "serviceaccount" ["sa"] true;
    Event: "" "v1" "events" "event" ["ev"] true;
    ResourceQuota: "" "v1" "resourcequotas" "resourcequota" ["quota"] true;
    Lease: "coordination.k8s.io" "v1" "leases" "lease" [] true;
}

macro_rules! others {
    ($($kind:literal $group:literal $version:literal $resource:literal $singular:literal [$($short:literal),*] $ns:literal;)*) => {
        /// The other built-in kinds of v1.37: kept whole and served; no loop acts on them.
        pub static OTHERS: &[KindRow] = &[$(KindRow { kind: $kind, group: $group, version: $version, resource: $resource,
            singular: $singular, short: &[$($short),*], namespaced: $ns, defined: false }),*];
    };
}

others! {
    "ComponentStatus" "" "v1" "componentstatuses" "componentstatus" ["cs"] false;
    "LimitRange" "" "v1" "limitranges" "limitrange" ["limits"] true;
    "PersistentVolumeClaim" "" "v1" "persistentvolumeclaims" "persistentvolumeclaim" ["pvc"] true;
    "PersistentVolume" "" "v1" "persistentvolumes" "persistentvolume" ["pv"] false;
    "PodTemplate" "" "v1" "podtemplates" "podtemplate" [] true;
    "ReplicationController" "" "v1" "replicationcontrollers" "replicationcontroller" ["rc"] true;
    "MutatingAdmissionPolicy" "admissionregistration.k8s.io" "v1" "mutatingadmissionpolicies" "mutatingadmissionpolicy" [] false;
    "MutatingAdmissionPolicyBinding" "admissionregistration.k8s.io" "v1" "mutatingadmissionpolicybindings" "mutatingadmissionpolicybinding" [] false;
    "MutatingWebhookConfiguration" "admissionregistration.k8s.io" "v1" "mutatingwebhookconfigurations" "mutatingwebhookconfiguration" [] false;
    "ValidatingAdmissionPolicy" "admissionregistration.k8s.io" "v1" "validatingadmissionpolicies" "validatingadmissionpolicy" [] false;
    "ValidatingAdmissionPolicyBinding" "admissionregistration.k8s.io" "v1" "validatingadmissionpolicybindings" "validatingadmissionpolicybinding" [] false;
    "ValidatingWebhookConfiguration" "admissionregistration.k8s.io" "v1" "validatingwebhookconfigurations" "validatingwebhookconfiguration" [] false;
    "CustomResourceDefinition" "apiextensions.k8s.io" "v1" "customresourcedefinitions" "customresourcedefinition" ["crd", "crds"] false;
    "APIService" "apiregistration.k8s.io" "v1" "apiservices" "apiservice" [] false;
    "ControllerRevision" "apps" "v1" "controllerrevisions" "controllerrevision" [] true;
    "DaemonSet" "apps" "v1" "daemonsets" "daemonset" ["ds"] true;
    "StatefulSet" "apps" "v1" "statefulsets" "statefulset" ["sts"] true;
    "HorizontalPodAutoscaler" "autoscaling" "v2" "horizontalpodautoscalers" "horizontalpodautoscaler" ["hpa"] true;
    "CronJob" "batch" "v1" "cronjobs" "cronjob" ["cj"] true;
    "Job" "batch" "v1" "jobs" "job" [] true;
    "CertificateSigningRequest" "certificates.k8s.io" "v1" "certificatesigningrequests" "certificatesigningrequest" ["csr"] false;
    "ClusterTrustBundle" "certificates.k8s.io" "v1" "clustertrustbundles" "clustertrustbundle" [] false;
    "PodCertificateRequest" "certificates.k8s.io" "v1" "podcertificaterequests" "podcertificaterequest" [] true;
    "FlowSchema" "flowcontrol.apiserver.k8s.io" "v1" "flowschemas" "flowschema" [] false;
    "PriorityLevelConfiguration" "flowcontrol.apiserver.k8s.io" "v1" "prioritylevelconfigurations" "prioritylevelconfiguration" [] false;
    "IngressClass" "networking.k8s.io" "v1" "ingressclasses" "ingressclass" [] false;
    "Ingress" "networking.k8s.io" "v1" "ingresses" "ingress" ["ing"] true;
    "IPAddress" "networking.k8s.io" "v1" "ipaddresses" "ipaddress" ["ip"] false;
    "NetworkPolicy" "networking.k8s.io" "v1" "networkpolicies" "networkpolicy" ["netpol"] true;
    "ServiceCIDR" "networking.k8s.io" "v1" "servicecidrs" "servicecidr" [] false;
    "RuntimeClass" "node.k8s.io" "v1" "runtimeclasses" "runtimeclass" [] false;
    "PodDisruptionBudget" "policy" "v1" "poddisruptionbudgets" "poddisruptionbudget" ["pdb"] true;
    "ClusterRoleBinding" "rbac.authorization.k8s.io" "v1" "clusterrolebindings" "clusterrolebinding" [] false;
    "ClusterRole" "rbac.authorization.k8s.io" "v1" "clusterroles" "clusterrole" [] false;
    "RoleBinding" "rbac.authorization.k8s.io" "v1" "rolebindings" "rolebinding" [] true;
    "Role" "rbac.authorization.k8s.io" "v1" "roles" "role" [] true;
    "DeviceClass" "resource.k8s.io" "v1" "deviceclasses" "deviceclass" [] false;
    "DeviceTaintRule" "resource.k8s.io" "v1" "devicetaintrules" "devicetaintrule" [] false;
    "ResourceClaim" "resource.k8s.io" "v1" "resourceclaims" "resourceclaim" [] true;
    "ResourceClaimTemplate" "resource.k8s.io" "v1" "resourceclaimtemplates" "resourceclaimtemplate" [] true;
    "ResourceSlice" "resource.k8s.io" "v1" "resourceslices" "resourceslice" [] false;
    "PriorityClass" "scheduling.k8s.io" "v1" "priorityclasses" "priorityclass" ["pc"] false;
    "CSIDriver" "storage.k8s.io" "v1" "csidrivers" "csidriver" [] false;
    "CSINode" "storage.k8s.io" "v1" "csinodes" "csinode" [] false;
    "CSIStorageCapacity" "storage.k8s.io" "v1" "csistoragecapacities" "csistoragecapacity" [] true;
    "StorageClass" "storage.k8s.io" "v1" "storageclasses" "storageclass" ["sc"] false;
    "VolumeAttachment" "storage.k8s.io" "v1" "volumeattachments" "volumeattachment" [] false;
    "VolumeAttributesClass" "storage.k8s.io" "v1" "volumeattributesclasses" "volumeattributesclass" ["vac"] false;
    "StorageVersionMigration" "storagemigration.k8s.io" "v1" "storageversionmigrations" "storageversionmigration" [] false;
}

/// Other versions and groups that are served beside: objects are stored once and converted on their way.
pub static OLDER: &[KindRow] = &[
    KindRow {
        kind: "HorizontalPodAutoscaler",
        group: "autoscaling",
        version: "v1",
        resource: "horizontalpodautoscalers",
        singular: "horizontalpodautoscaler",
        short: &["hpa"],
        namespaced: true,
        defined: false,
    },
    KindRow {
        kind: "Event",
        group: "events.k8s.io",
        version: "v1",
        resource: "events",
        singular: "event",
        short: &["ev"],
        namespaced: true,
        defined: false,
    },
];

/// What a metrics server answers for; nothing of it is stored.
static MEASURED: [KindRow; 2] = [
    KindRow {
        kind: "NodeMetrics",
        group: "metrics.k8s.io",
        version: "v1beta1",
        resource: "nodes",
        singular: "",
        short: &[],
        namespaced: false,
        defined: false,
    },
    KindRow {
        kind: "PodMetrics",
        group: "metrics.k8s.io",
        version: "v1beta1",
        resource: "pods",
        singular: "",
        short: &[],
        namespaced: true,
        defined: false,
    },
];

/// The group that has events under other names of fields.
const EVENTS: &str = "events.k8s.io";

/// The rows of kinds that people defined, in any cluster. A row is found again by what it says, so worlds and their
/// copies share it; it says only what is for life in a definition, so it never has to change.
static DEFINED: Mutex<Vec<&'static KindRow>> = Mutex::new(Vec::new());

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// Whether two texts are equal, at compile time.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

impl Kind {
    /// What a node uses, as a metrics server measured it.
    pub const NODE_METRICS: Kind = Kind::Other(&MEASURED[0]);
    /// What a pod uses, as a metrics server measured it.
    pub const POD_METRICS: Kind = Kind::Other(&MEASURED[1]);

    /// A kind that is kept whole, by group and kind name; for constants: an unknown name does not compile.
    pub const fn other(group: &str, kind: &str) -> Kind {
        let mut i = 0;
        while !(same(OTHERS[i].group, group) && same(OTHERS[i].kind, kind)) {
            i += 1;
        }
        Kind::Other(&OTHERS[i])
    }

    /// All kinds: those with a struct, then the others.
    pub fn all() -> impl Iterator<Item = Kind> {
        Kind::TYPED.iter().copied().chain(OTHERS.iter().map(Kind::Other))
    }

    /// The kind of this group and kind name (`apps`, `Deployment`).
    pub fn find(group: &str, kind: &str) -> Option<Kind> {
        Kind::all().find(|k| k.group() == group && k.name() == kind)
    }

    /// The kind that a manifest's `apiVersion` and `kind` name, in the version that is served.
    pub fn of_manifest(api_version: &str, kind: &str) -> Option<Kind> {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let fits = |k: &Kind| k.group() == group && k.name() == kind && k.version() == version;
        Kind::all().chain(OLDER.iter().map(Kind::Other)).find(fits)
    }

    /// A version of a kind that somebody defined. Short names and the like are the definition's, not the kind's.
    pub fn defined(group: &str, version: &str, kind: &str, resource: &str, namespaced: bool) -> Kind {
        let mut rows = DEFINED.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |row: &&&KindRow| {
            row.resource == resource
                && row.group == group
                && row.version == version
                && row.kind == kind
                && row.namespaced == namespaced
        };
        if let Some(row) = rows.iter().find(same) {
            return Kind::Other(row);
        }
        let row: &'static KindRow = Box::leak(Box::new(KindRow {
            kind: leaked(kind),
            group: leaked(group),
            version: leaked(version),
            resource: leaked(resource),
            singular: leaked(&kind.to_ascii_lowercase()),
            short: &[],
            namespaced,
            defined: true,
        }));
        rows.push(row);
        Kind::Other(row)
    }

    /// Whether somebody defined this kind: it is none of Kubernetes' own.
    pub fn is_defined(self) -> bool {
        matches!(self, Kind::Other(row) if row.defined)
    }

    /// The name by which tables of Kubernetes' own kinds know it; empty for a kind that somebody defined, whatever
    /// its name.
    pub fn own_name(self) -> &'static str {
        if self.is_defined() { "" } else { self.name() }
    }

    /// The kind as it is stored: the same, unless this is another version of it.
    pub fn stored(self) -> Kind {
        match self {
            Kind::Other(row) if row.group == EVENTS && !row.defined => Kind::Event,
            Kind::Other(row) if OLDER.iter().any(|older| older == row) => {
                Kind::find(row.group, row.kind).unwrap_or(self)
            }
            kind => kind,
        }
    }

    /// Whether this is an Event as the newer group has it: the same objects, with other names of fields.
    pub fn is_newer_event(self) -> bool {
        matches!(self, Kind::Other(row) if row.group == EVENTS && !row.defined)
    }

    /// The kind's own name, as `Deployment`.
    pub fn name(self) -> &'static str {
        self.row().kind
    }
    /// The API group; empty for the core group.
    pub fn group(self) -> &'static str {
        self.row().group
    }
    /// The version in which it is stored and served, as `v1`.
    pub fn version(self) -> &'static str {
        self.row().version
    }
    /// The plural resource name, as `deployments`.
    pub fn resource(self) -> &'static str {
        self.row().resource
    }
    /// The singular resource name, as `deployment`.
    pub fn singular(self) -> &'static str {
        self.row().singular
    }
    /// Whether objects of this kind live in a namespace.
    pub fn namespaced(self) -> bool {
        self.row().namespaced
    }
    /// `apps/v1`, or `v1` in the core group.
    pub fn api_version(self) -> String {
        if self.group().is_empty() {
            self.version().into()
        } else {
            format!("{}/{}", self.group(), self.version())
        }
    }
    /// `deployments.apps`, or `pods` in the core group.
    pub fn qualified(self) -> String {
        if self.group().is_empty() {
            self.resource().into()
        } else {
            format!("{}.{}", self.resource(), self.group())
        }
    }
    /// `Deployment.apps`, or `Pod` in the core group.
    pub fn qualified_kind(self) -> String {
        if self.group().is_empty() { self.name().into() } else { format!("{}.{}", self.name(), self.group()) }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
