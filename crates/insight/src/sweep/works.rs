//! What is made in a scenario, and how it is changed: every kind of workload, and what stands around them.

use super::Turn;
use kubestep_model::{Dice, Key, Kind};
use serde_json::{Value, json};

/// One thing of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Rolling,
    Recreate,
    Ordered,
    Parallel,
    Daemon,
    Parallelism,
    Indexed,
    Failing,
    Schedule,
    Controller,
    Scaled,
    Quota,
    Claim,
    Namespace,
}

const ALL: [Work; 14] = [
    Work::Rolling,
    Work::Recreate,
    Work::Ordered,
    Work::Parallel,
    Work::Daemon,
    Work::Parallelism,
    Work::Indexed,
    Work::Failing,
    Work::Schedule,
    Work::Controller,
    Work::Scaled,
    Work::Quota,
    Work::Claim,
    Work::Namespace,
];

/// Two or three of them, each once.
pub(super) fn drawn(dice: &mut Dice) -> Vec<Work> {
    let mut left = ALL.to_vec();
    let many = 2 + dice.below("works", 2);
    let mut found: Vec<Work> = (0..many)
        .map(|_| {
            left.remove(dice.below("work", u32::try_from(left.len()).unwrap_or(1)) as usize % left.len())
        })
        .collect();
    // A quota that stands before what it counts is the harder case.
    if let Some(place) = found.iter().position(|w| *w == Work::Quota) {
        found.swap(0, place);
    }
    found
}

fn pod_spec(image: &str, policy: &str) -> Value {
    json!({"restartPolicy": policy, "containers": [{"name": "web", "image": image}]})
}

fn template(app: &str, image: &str, policy: &str) -> Value {
    json!({"metadata": {"labels": {"app": app}}, "spec": pod_spec(image, policy)})
}

/// An object whose pods have its name as their label `app`.
fn owner(version: &str, kind: &str, name: &str, more: Value) -> Value {
    let mut spec =
        json!({"selector": {"matchLabels": {"app": name}}, "template": template(name, "web:1", "Always")});
    for (field, value) in more.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

fn plain(version: &str, kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

fn service(name: &str) -> Value {
    plain("v1", "Service", name, json!({"selector": {"app": name}, "ports": [{"port": 80}]}))
}

fn job(name: &str, image: &str, more: Value) -> Value {
    let mut spec = json!({"template": template(name, image, "Never")});
    for (field, value) in more.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    plain("batch/v1", "Job", name, spec)
}

fn class() -> Value {
    json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}, "provisioner": "example.com/fast"})
}

fn claim_spec(class: &str) -> Value {
    json!({"storageClassName": class, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}})
}

impl Work {
    /// The name of what it makes, which is the label of its pods, too.
    fn name(self) -> &'static str {
        match self {
            Work::Rolling => "web",
            Work::Recreate => "once",
            Work::Ordered => "db",
            Work::Parallel => "cache",
            Work::Daemon => "agent",
            Work::Parallelism => "count",
            Work::Indexed => "parts",
            Work::Failing => "never",
            Work::Schedule => "tick",
            Work::Controller => "old",
            Work::Scaled => "scaled",
            Work::Quota => "room",
            Work::Claim => "store",
            Work::Namespace => "north",
        }
    }

    fn key(self) -> Key {
        let (group, kind) = match self {
            Work::Rolling | Work::Recreate | Work::Scaled | Work::Claim => ("apps", "Deployment"),
            Work::Ordered | Work::Parallel => ("apps", "StatefulSet"),
            Work::Daemon => ("apps", "DaemonSet"),
            Work::Parallelism | Work::Indexed | Work::Failing => ("batch", "Job"),
            Work::Schedule => ("batch", "CronJob"),
            Work::Controller => ("", "ReplicationController"),
            Work::Quota => ("", "ResourceQuota"),
            Work::Namespace => ("", "Namespace"),
        };
        let namespace = match self {
            Work::Schedule => "times",
            Work::Namespace => "",
            _ => "default",
        };
        Key::new(Kind::find(group, kind).unwrap_or(Kind::Pod), namespace, self.name())
    }

    /// What is asked for at first.
    pub(super) fn objects(self, dice: &mut Dice) -> Vec<Value> {
        let name = self.name();
        let replicas = 1 + dice.below("replicas", 4);
        match self {
            Work::Rolling => {
                let budget = json!({"maxUnavailable": 1, "selector": {"matchLabels": {"app": name}}});
                let rolling = [
                    json!({"maxSurge": 1, "maxUnavailable": 0}),
                    json!({"maxSurge": 0, "maxUnavailable": 1}),
                    json!({"maxSurge": "50%", "maxUnavailable": "25%"}),
                ];
                let rolling = &rolling[dice.below("strategy", 3) as usize % 3];
                let strategy = json!({"type": "RollingUpdate", "rollingUpdate": rolling});
                let min_ready = dice.below("min ready", 3);
                vec![
                    owner(
                        "apps/v1",
                        "Deployment",
                        name,
                        json!({"replicas": replicas, "strategy": strategy, "minReadySeconds": min_ready}),
                    ),
                    service(name),
                    plain("policy/v1", "PodDisruptionBudget", name, budget),
                ]
            }
            Work::Recreate => {
                let strategy = json!({"type": "Recreate"});
                vec![owner(
                    "apps/v1",
                    "Deployment",
                    name,
                    json!({"replicas": replicas, "strategy": strategy}),
                )]
            }
            Work::Ordered => {
                let claims = json!([{"metadata": {"name": "data"}, "spec": claim_spec("fast")}]);
                let more = json!({"replicas": replicas, "serviceName": name, "volumeClaimTemplates": claims});
                vec![class(), service(name), owner("apps/v1", "StatefulSet", name, more)]
            }
            Work::Parallel => {
                let more =
                    json!({"replicas": replicas, "serviceName": name, "podManagementPolicy": "Parallel"});
                vec![owner("apps/v1", "StatefulSet", name, more)]
            }
            Work::Daemon => vec![owner("apps/v1", "DaemonSet", name, json!({}))],
            // What a node that fails takes along counts against the limit, too.
            Work::Parallelism => {
                let more = json!({"completions": 1 + replicas, "parallelism": 2, "backoffLimit": 50});
                vec![job(name, "ends:1", more)]
            }
            Work::Indexed => {
                let more = json!({"completionMode": "Indexed", "completions": replicas, "parallelism": 2, "backoffLimit": 50});
                vec![job(name, "ends:1", more)]
            }
            Work::Failing => vec![job(name, "fails:1", json!({"backoffLimit": dice.below("limit", 3)}))],
            Work::Schedule => {
                let policy = ["Allow", "Forbid", "Replace"][dice.below("policy", 3) as usize % 3];
                let spec = json!({"schedule": "* * * * *", "concurrencyPolicy": policy, "jobTemplate": {"spec": {"backoffLimit": 50, "template": template(name, "ends:1", "Never")}}});
                let mut cron = plain("batch/v1", "CronJob", name, spec);
                cron["metadata"]["namespace"] = json!("times");
                vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "times"}}), cron]
            }
            Work::Controller => {
                let more = json!({"replicas": replicas, "selector": {"app": name}});
                vec![owner("v1", "ReplicationController", name, more), service(name)]
            }
            Work::Scaled => {
                let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": name});
                let metrics = json!([{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}]);
                let spec =
                    json!({"minReplicas": 2, "maxReplicas": 3, "scaleTargetRef": target, "metrics": metrics});
                vec![
                    owner("apps/v1", "Deployment", name, json!({"replicas": replicas})),
                    plain("autoscaling/v2", "HorizontalPodAutoscaler", name, spec),
                ]
            }
            Work::Quota => {
                let pods = dice.below("room", 6).to_string();
                vec![plain("v1", "ResourceQuota", name, json!({"hard": {"pods": pods}}))]
            }
            Work::Claim => {
                let volume = json!({"storageClassName": "slow", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/d"}});
                let mut spec = pod_spec("web:1", "Always");
                spec["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
                let template = json!({"metadata": {"labels": {"app": name}}, "spec": spec});
                vec![
                    plain("v1", "PersistentVolume", "disk", volume),
                    plain("v1", "PersistentVolumeClaim", "data", claim_spec("slow")),
                    owner(
                        "apps/v1",
                        "Deployment",
                        name,
                        json!({"replicas": 1, "strategy": {"type": "Recreate"}, "template": template}),
                    ),
                ]
            }
            Work::Namespace => {
                let mut set = owner("apps/v1", "Deployment", "web", json!({"replicas": replicas}));
                set["metadata"]["namespace"] = json!(name);
                vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}), set]
            }
        }
    }

    /// A change of it.
    pub(super) fn change(self, dice: &mut Dice) -> Turn {
        let patch = |spec: Value| Turn::Change(self.key(), json!({ "spec": spec }));
        let away = Turn::Away { app: self.name(), evict: dice.below("evict", 2) == 0 };
        match self {
            Work::Namespace => Turn::Delete(self.key()),
            Work::Schedule => away,
            Work::Quota => patch(json!({"hard": {"pods": dice.below("room", 8).to_string()}})),
            Work::Parallelism | Work::Indexed => match dice.below("change", 2) {
                0 => patch(json!({"parallelism": 1 + dice.below("parallelism", 4)})),
                _ => away,
            },
            Work::Failing if dice.below("change", 2) == 0 => patch(json!({"parallelism": 2})),
            Work::Failing => away,
            // Its pods stay as they are when the template changes: which of them are new, the faults decide.
            Work::Controller => match dice.below("change", 2) {
                0 => patch(json!({"replicas": dice.below("replicas", 6)})),
                _ => away,
            },
            _ => match dice.below("change", 4) {
                0 if self != Work::Daemon => patch(json!({"replicas": dice.below("replicas", 6)})),
                0 | 1 => away,
                2 => {
                    let image = format!("web:{}", 1 + dice.below("image", 3));
                    patch(json!({"template": {"spec": {"containers": [{"name": "web", "image": image}]}}}))
                }
                _ => {
                    let note = dice.below("note", 3).to_string();
                    patch(json!({"template": {"metadata": {"annotations": {"note": note}}}}))
                }
            },
        }
    }

    /// What has to come last: a quota gets large enough.
    pub(super) fn last(self) -> Option<Turn> {
        (self == Work::Quota).then(|| Turn::Change(self.key(), json!({"spec": {"hard": {"pods": "60"}}})))
    }
}
