//! Counts what a namespace uses and writes it into its quotas.
//!
//! Upstream: pkg/controller/resourcequota/resource_quota_controller.go (v1.37). Objects that free room (pods that are
//! gone or have ended) wake the quotas of their namespace after the batching time of the replenishment.

use crate::sentences::Sentence;
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::arrange::Gather;
use kubestep_model::{
    Instant, Key, Kind, Object, Pod, Quantity, ResourceQuota,
    defined::{DEFINITION, Definition},
    resources::{
        Amounts,
        quota::{count_name, in_scope, usage},
    },
    text::Format,
};
use std::time::Duration;

/// How often every quota is counted again whatever happens.
const RESYNC: Duration = Duration::from_secs(5 * 60);

/// The resource quota controller.
#[derive(Debug)]
pub struct ResourceQuotaController;

macro_rules! counted {
    ($($kind:expr),* $(,)?) => {
        /// Kinds that quotas count.
        const COUNTED: &[Kind] = &[$($kind),*];
        static WATCHES: &[Watch] = &[
            Watch { kind: Kind::ResourceQuota, wakes: quota },
            $(Watch { kind: $kind, wakes: freed }),*
        ];
    };
}
counted![
    Kind::Pod,
    Kind::Service,
    Kind::ConfigMap,
    Kind::Secret,
    Kind::ResourceQuota,
    Kind::ReplicaSet,
    Kind::Deployment,
    Kind::Endpoints,
    Kind::EndpointSlice,
    Kind::ServiceAccount,
    Kind::other("", "PersistentVolumeClaim"),
    Kind::other("", "ReplicationController"),
    Kind::other("", "LimitRange"),
    Kind::other("apps", "StatefulSet"),
    Kind::other("apps", "DaemonSet"),
    Kind::other("apps", "ControllerRevision"),
    Kind::other("batch", "Job"),
    Kind::other("batch", "CronJob"),
    Kind::other("autoscaling", "HorizontalPodAutoscaler"),
    Kind::other("networking.k8s.io", "Ingress"),
    Kind::other("networking.k8s.io", "NetworkPolicy"),
    Kind::other("policy", "PodDisruptionBudget"),
    Kind::other("rbac.authorization.k8s.io", "Role"),
    Kind::other("rbac.authorization.k8s.io", "RoleBinding"),
];

/// A quota is counted when it is new or its limits changed; changes of its status wake nobody.
fn quota(change: &Change, view: &View) -> Vec<Wake> {
    let of = |o: &Option<Object>| o.as_ref().and_then(|o| o.get::<ResourceQuota>()).cloned();
    match (of(&change.old), of(&change.new)) {
        (Some(old), Some(new)) if old.spec == new.spec => vec![],
        (_, Some(_)) => vec![Wake::now(change.key.clone())],
        (_, None) => quotas_of(change, view),
    }
}

fn quotas_of(change: &Change, view: &View) -> Vec<Wake> {
    view.objects_of(Kind::ResourceQuota, Some(&change.key.namespace)).map(|q| Wake::now(q.key())).collect()
}

/// Something that is gone, or a pod that has ended, frees room.
fn freed(change: &Change, view: &View) -> Vec<Wake> {
    let ended = |o: &Option<Object>| o.as_ref().and_then(|o| o.get::<Pod>()).is_some_and(Pod::is_terminal);
    let frees = change.new.is_none() || (change.old.is_some() && !ended(&change.old) && ended(&change.new));
    if frees { quotas_of(change, view) } else { vec![] }
}

impl Controller for ResourceQuotaController {
    fn name(&self) -> &'static str {
        "resourcequota"
    }
    fn actor(&self) -> &'static str {
        "resourcequota-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        WATCHES
    }
    fn of_defined(&self) -> Option<fn(&Change, &View) -> Vec<Wake>> {
        Some(freed)
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(quota) = cx.get::<ResourceQuota>(&key.namespace, &key.name) else {
            return Ok(Done::Settled);
        };
        let used = used(cx.view(), quota, cx.now());
        let limits_changed = quota.status.hard != quota.spec.hard;
        if !limits_changed && quota.status.used == used {
            return Ok(Done::Again(RESYNC));
        }
        let listed: Vec<String> = used.iter().map(|(name, amount)| format!("{name}={amount}")).collect();
        cx.because(
            "quota.count",
            vec![("quota", quota.metadata.name.to_string()), ("used", listed.join(", "))],
        );
        let mut fresh = quota.clone();
        fresh.status.hard = quota.spec.hard.clone();
        fresh.status.used = used;
        cx.set_status(fresh)?;
        Ok(Done::Again(RESYNC))
    }
}

/// Whether the quota limits anything that objects of this kind count for.
fn is_limited(quota: &ResourceQuota, kind: Kind) -> bool {
    let hard = &quota.spec.hard;
    let many = matches!(kind, Kind::Pod | Kind::Service) || kind.name() == "PersistentVolumeClaim";
    many || hard.contains_key(&count_name(kind)) || hard.contains_key(kind.resource())
}

/// What the objects of the quota's namespace use of the resources it limits.
fn used(view: &View, quota: &ResourceQuota, now: Instant) -> Amounts {
    let mut used: Amounts =
        quota.spec.hard.keys().map(|name| (name.clone(), Quantity::new(0, Format::DecimalSI))).gather();
    let definitions = view.objects_of(DEFINITION, None).filter_map(Definition::of);
    let defined: Vec<Kind> = definitions.map(Definition::stored_kind).collect();
    for kind in COUNTED.iter().chain(&defined).filter(|k| is_limited(quota, **k)) {
        for object in view.objects_of(*kind, Some(&quota.metadata.namespace)) {
            if !in_scope(quota, object) {
                continue;
            }
            for (name, amount) in usage(object, now) {
                if let Some(sum) = used.get_mut(&name) {
                    *sum = sum.add(&amount);
                }
            }
        }
    }
    used
}

/// What the codes above mean.
pub static SENTENCES: &[Sentence] = &[Sentence {
    code: "quota.count",
    text: "The quota controller counts what quota {quota} covers: {used}.",
    upstream: "pkg/controller/resourcequota/resource_quota_controller.go, syncResourceQuota",
}];
