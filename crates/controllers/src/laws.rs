//! Laws of the two controllers together, whatever the order and however far their caches are behind.

use crate::{
    deployment::{DeploymentController, max_surge, min_available},
    harness::pass_behind,
    replicaset::ReplicaSetController,
};
use kubestep_control::Controller;
use kubestep_model::{
    Container, Deployment, Dice, Instant, IntOrString, Key, Kind, LabelSelector, Labels, Object, ObjectMeta,
    Pod, PodCondition, ReplicaSet, Resource,
};
use std::{collections::BTreeMap, time::Duration};

type State = BTreeMap<Key, Object>;

struct Small {
    history: Vec<State>,
    now: Instant,
    dice: Dice,
    next_uid: u32,
    version: u32,
}

impl Small {
    fn new(d: Deployment, seed: u64) -> Small {
        let state = State::from([(d.key(), d.into())]);
        Small { history: vec![state], now: Instant::START, dice: Dice::new(seed), next_uid: 1, version: 1 }
    }

    fn state(&self) -> &State {
        self.history.last().expect("a state")
    }

    fn all<R: Resource>(&self) -> Vec<R> {
        self.state().values().filter_map(R::of).cloned().collect()
    }

    fn deployment(&self) -> Deployment {
        self.all::<Deployment>().pop().expect("the deployment")
    }

    /// What the API server adds: versions, uids, times, generations.
    fn commit(&mut self, mut state: State) {
        let before = self.state().clone();
        for (key, object) in &mut state {
            let old = before.get(key);
            if old == Some(object) {
                continue;
            }
            self.version += 1;
            object.meta_mut().resource_version = self.version.to_string();
            let changed = old.is_none_or(|old| spec_differs(old, object));
            let (now, uid) = (self.now.to_time(), format!("uid-{}", self.next_uid));
            match object {
                Object::Deployment(d) if changed => std::sync::Arc::make_mut(d).metadata.generation += 1,
                Object::ReplicaSet(set) => {
                    let meta = &mut std::sync::Arc::make_mut(set).metadata;
                    meta.generation += i64::from(changed);
                    fill(meta, old.is_none(), now, &uid, &mut self.next_uid);
                }
                Object::Pod(pod) => {
                    fill(
                        &mut std::sync::Arc::make_mut(pod).metadata,
                        old.is_none(),
                        now,
                        &uid,
                        &mut self.next_uid,
                    );
                }
                _ => {}
            }
        }
        self.history.push(state);
    }

    /// Edits the Deployment.
    fn edit(&mut self, change: impl Fn(&mut Deployment)) {
        let mut d = self.deployment();
        change(&mut d);
        let mut state = self.state().clone();
        state.insert(d.key(), d.into());
        self.commit(state);
    }

    /// One controller looks at one key. A ReplicaSet has read its own writes, a Deployment may be behind.
    fn think(&mut self, key: &Key) -> bool {
        let back = self.dice.below("behind", 4) as usize;
        let controller: &dyn Controller =
            if key.kind == Kind::Deployment { &DeploymentController } else { &ReplicaSetController };
        let behind = if key.kind == Kind::Deployment { back.min(self.history.len() - 1) } else { 0 };
        let cached = self.history[self.history.len() - 1 - behind].clone();
        let done = pass_behind(controller, key.clone(), &cached, self.state().clone(), self.now, vec![]);
        assert!(done.progress.is_some(), "{key:?} never ends");
        let wrote = !done.actions.is_empty() || !done.pods.is_empty();
        self.commit(done.stored);
        wrote
    }

    /// A pod becomes ready.
    fn ready(&mut self) -> bool {
        let waiting: Vec<Pod> = self.all::<Pod>().into_iter().filter(|pod| !pod.is_ready()).collect();
        let Some(pod) = waiting.first() else { return false };
        let mut pod = pod.clone();
        pod.status.phase = "Running".into();
        pod.status.conditions = vec![PodCondition {
            r#type: "Ready".into(),
            status: "True".into(),
            last_transition_time: Some(self.now.to_time()),
            ..Default::default()
        }];
        let mut state = self.state().clone();
        state.insert(pod.key(), pod.into());
        self.commit(state);
        true
    }

    /// Runs until nobody has anything to do; after each step `law` is asked.
    fn settle(&mut self, law: impl Fn(&Small)) {
        let mut idle = 0;
        for _ in 0..3000 {
            self.now = self.now + Duration::from_millis(u64::from(self.dice.below("time", 300)));
            let keys: Vec<Key> = self.state().keys().filter(|k| k.kind != Kind::Pod).cloned().collect();
            let choice = self.dice.below("who", u32::try_from(keys.len()).expect("few") + 1) as usize;
            let moved = match keys.get(choice) {
                Some(key) => self.think(key),
                None => self.ready(),
            };
            law(self);
            idle = if moved { 0 } else { idle + 1 };
            if idle > 60 {
                return;
            }
        }
        panic!("no rest after 3000 steps");
    }
}

fn spec_differs(old: &Object, new: &Object) -> bool {
    match (old, new) {
        (Object::Deployment(old), Object::Deployment(new)) => old.spec != new.spec,
        (Object::ReplicaSet(old), Object::ReplicaSet(new)) => old.spec != new.spec,
        _ => false,
    }
}

fn fill(meta: &mut ObjectMeta, new: bool, now: kubestep_model::Time, uid: &str, next: &mut u32) {
    if new {
        *next += 1;
        meta.uid = uid.into();
        meta.creation_timestamp = Some(now);
    }
}

fn deployment(replicas: i32, surge: IntOrString, unavailable: IntOrString) -> Deployment {
    let labels = Labels::from([("app".to_owned(), "web".to_owned())]);
    let metadata = ObjectMeta {
        name: "web".into(),
        namespace: "default".into(),
        uid: "uid-web".into(),
        ..Default::default()
    };
    let mut d = Deployment { metadata, ..Default::default() };
    (d.metadata.generation, d.metadata.resource_version) = (1, "1".into());
    d.spec.replicas = Some(replicas);
    d.spec.selector = Some(LabelSelector::from_labels(&labels));
    d.spec.progress_deadline_seconds = Some(600);
    d.spec.revision_history_limit = Some(2);
    d.spec.strategy.r#type = "RollingUpdate".into();
    let rolling = d.spec.strategy.rolling_update.get_or_insert_default();
    (rolling.max_surge, rolling.max_unavailable) = (Some(surge), Some(unavailable));
    d.spec.template.metadata.labels = labels;
    d.spec.template.spec.containers =
        vec![Container { name: "web".into(), image: "1".into(), ..Default::default() }];
    d
}

/// Everything is as wanted: all pods of the present template, the status true, the history short.
fn is_done(small: &Small) {
    let (d, sets, pods) = (small.deployment(), small.all::<ReplicaSet>(), small.all::<Pod>());
    let want = d.replicas();
    let image = |pod: &Pod| pod.spec.containers[0].image.clone();
    assert_eq!(pods.len(), usize::try_from(want).expect("not negative"));
    assert!(pods.iter().all(|pod| image(pod) == d.spec.template.spec.containers[0].image));
    let s = &d.status;
    assert_eq!(
        (s.replicas, s.updated_replicas, s.available_replicas, s.unavailable_replicas),
        (want, want, want, 0)
    );
    assert_eq!(s.observed_generation, d.metadata.generation);
    assert_eq!(d.condition("Progressing").map(|c| c.reason.as_str()), Some("NewReplicaSetAvailable"));
    assert_eq!(d.condition("Available").map(|c| c.status.as_str()), Some("True"));
    assert!(sets.len() <= 3, "{} replica sets", sets.len());
}

/// A rollout keeps within surge and unavailable.
fn within_limits(small: &Small) {
    let (d, sets, pods) = (small.deployment(), small.all::<ReplicaSet>(), small.all::<Pod>());
    let wanted: i32 = sets.iter().map(ReplicaSet::replicas).sum();
    assert!(wanted <= d.replicas() + max_surge(&d), "{wanted} pods wanted");
    let ready = i32::try_from(pods.iter().filter(|pod| pod.is_ready()).count()).expect("few");
    assert!(ready >= min_available(&d), "{ready} ready of at least {}", min_available(&d));
}

#[test]
fn rollouts_end_and_keep_within_their_limits() {
    let percent = |text: &str| IntOrString::Str(text.into());
    let limits = [
        (1, percent("25%"), percent("25%")),
        (3, percent("25%"), percent("25%")),
        (4, IntOrString::Int(0), IntOrString::Int(2)),
        (5, percent("50%"), IntOrString::Int(0)),
        (8, percent("25%"), percent("25%")),
    ];
    for (i, (replicas, surge, unavailable)) in limits.into_iter().enumerate() {
        for seed in 0..4 {
            let d = deployment(replicas, surge.clone(), unavailable.clone());
            let mut small = Small::new(d, seed * 10 + i as u64);
            small.settle(|_| {});
            is_done(&small);
            for image in ["2", "3", "1", "4", "5"] {
                small.edit(|d| d.spec.template.spec.containers[0].image = image.into());
                small.settle(within_limits);
                is_done(&small);
            }
            let mut revisions: Vec<String> = small
                .all::<ReplicaSet>()
                .iter()
                .filter_map(|set| set.metadata.annotations.get("deployment.kubernetes.io/revision").cloned())
                .collect();
            revisions.sort();
            assert_eq!(revisions, ["4", "5", "6"], "two old ones are kept");
        }
    }
}

#[test]
fn edits_in_the_middle_of_a_rollout_come_to_an_end() {
    for seed in 0..20 {
        let mut small = Small::new(deployment(4, IntOrString::Int(1), IntOrString::Int(1)), seed);
        for round in 0..8 {
            let (what, n) = (small.dice.below("what", 4), small.dice.below("n", 9));
            small.edit(|d| match what {
                0 => d.spec.replicas = i32::try_from(n).ok(),
                1 => d.spec.template.spec.containers[0].image = format!("{}", n % 3),
                2 => {
                    d.spec.strategy.r#type =
                        if n % 2 == 0 { "Recreate".into() } else { "RollingUpdate".into() }
                }
                _ => drop(d.metadata.annotations.insert("note".into(), format!("{round}"))),
            });
            for _ in 0..small.dice.below("steps", 20) {
                let keys: Vec<Key> = small.state().keys().filter(|k| k.kind != Kind::Pod).cloned().collect();
                let choice = small.dice.below("who", u32::try_from(keys.len()).expect("few") + 1) as usize;
                match keys.get(choice) {
                    Some(key) => small.think(key),
                    None => small.ready(),
                };
            }
        }
        small.settle(|_| {});
        is_done(&small);
    }
}
