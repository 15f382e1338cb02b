//! The life of objects from request to request.

use crate::{Actor, Outcome, Settings, Store, serve};
use kubestep_model::*;

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) now: Instant,
    pub(crate) dice: Dice,
    pub(crate) settings: Settings,
}

impl World {
    pub(crate) fn new() -> Self {
        let mut store = Store::new();
        let mut namespace = Namespace::default();
        namespace.metadata.name = "default".into();
        namespace.spec.finalizers = vec!["kubernetes".into()];
        let mut account = ServiceAccount::default();
        account.metadata.name = "default".into();
        account.metadata.namespace = "default".into();
        store.seed([namespace.into(), account.into()]);
        World { store, now: Instant::START, dice: Dice::new(1), settings: Settings::default() }
    }

    pub(crate) fn ask(&mut self, verb: Verb) -> Outcome {
        self.request(verb.into())
    }

    pub(crate) fn request(&mut self, request: Request) -> Outcome {
        let who = Actor::new("kubectl", "kubernetes-admin");
        let outcome = serve(self.store.clone(), &request, &who, self.now, &mut self.dice, &self.settings);
        self.store = outcome.store.clone();
        outcome
    }

    pub(crate) fn object(&mut self, verb: Verb) -> Object {
        match self.ask(verb).reply {
            Ok(Answer::Object { object, .. }) => object,
            other => panic!("not an object: {other:?}"),
        }
    }

    pub(crate) fn refusal(&mut self, verb: Verb) -> Status {
        match self.ask(verb).reply {
            Err(status) => status,
            Ok(other) => panic!("not refused: {other:?}"),
        }
    }
}

pub(crate) fn create(object: impl Into<Object>) -> Verb {
    let object: Object = object.into();
    Verb::Create { kind: object.kind(), namespace: "default".into(), body: Body::Typed(object) }
}

fn put(object: Object, subresource: Subresource) -> Verb {
    Verb::Replace { key: object.key(), subresource, body: Body::Typed(object) }
}

fn delete(key: &Key, grace: Option<i64>) -> Verb {
    let options = DeleteOptions { grace_period_seconds: grace, ..DeleteOptions::default() };
    Verb::Delete { key: key.clone(), options }
}

pub(crate) fn pod(generate: &str) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.generate_name = generate.into();
    pod.spec.containers = vec![Container { name: "c".into(), image: "web:1".into(), ..Container::default() }];
    pod
}

#[test]
fn a_pod_is_made_bound_and_goes_with_grace() {
    let mut world = World::new();
    let made = world.object(create(pod("web-")));
    let Object::Pod(p) = &made else { panic!() };
    assert!(p.metadata.name.starts_with("web-") && p.metadata.name.len() == 9);
    assert_eq!(
        (p.status.phase.as_str(), p.status.qos_class.as_str(), p.metadata.generation),
        ("Pending", "BestEffort", 1)
    );
    assert_eq!(p.spec.tolerations.len(), 2);
    assert_eq!(p.spec.volumes[0].name, p.spec.containers[0].volume_mounts[0].name);
    let key = made.key();
    let bind = Verb::Bind { pod: key.clone(), uid: p.metadata.uid.clone(), node: "node-1".into() };
    let outcome = world.ask(bind.clone());
    assert_eq!((outcome.audit[0].code, outcome.audit[0].subresource), (201, "binding"));
    let name = &key.name;
    assert_eq!(
        world.refusal(bind).message,
        format!(
            "Operation cannot be fulfilled on pods/binding \"{name}\": pod {name} is already assigned to node \"node-1\""
        )
    );
    world.object(delete(&key, None));
    let Some(Object::Pod(p)) = world.store.get(&key) else { panic!() };
    assert_eq!(p.metadata.deletion_grace_period_seconds, Some(30));
    assert_eq!(p.metadata.deletion_timestamp, Some(Time(Instant::START.to_time().0 + 30)));
    assert_eq!(p.metadata.generation, 2);
    let before = world.store.revision();
    world.object(delete(&key, None));
    assert_eq!(world.store.revision(), before, "a second delete changes nothing");
    world.object(delete(&key, Some(0)));
    assert_eq!(world.store.get(&key), None);
    let log: Vec<_> = world.store.log_after(before).map(|e| (e.new.is_some(), e.revision)).collect();
    assert_eq!(log, [(true, before + 1), (false, before + 2)]);
}

#[test]
fn stale_writes_conflict_and_idle_writes_make_no_revision() {
    let mut world = World::new();
    let mut first = Deployment::default();
    first.metadata.name = "web".into();
    let labels: Labels = [("app".to_owned(), "web".to_owned())].into();
    first.spec.selector = Some(LabelSelector::from_labels(&labels));
    first.spec.template.metadata.labels = labels;
    first.spec.template.spec = (*pod("").spec).clone();
    let made = world.object(create(first));
    let Object::Deployment(d) = &made else { panic!() };
    assert_eq!((d.metadata.generation, d.spec.replicas), (1, Some(1)));
    let mut status = (**d).clone();
    status.status.replicas = 1;
    status.spec.replicas = Some(9);
    status.metadata.annotations.insert("a".into(), "b".into());
    let changed = world.object(put(status.clone().into(), Subresource::Status));
    let Object::Deployment(c) = &changed else { panic!() };
    assert_eq!((c.spec.replicas, c.status.replicas, c.metadata.generation), (Some(1), 1, 1));
    assert_eq!(c.metadata.annotations.len(), 1, "a Deployment's status write may set annotations");
    let status = world.refusal(put(status.into(), Subresource::Status));
    assert_eq!(
        (status.code, status.message.as_str()),
        (
            409,
            "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again"
        )
    );
    let before = world.store.revision();
    world.object(put(changed.clone(), Subresource::None));
    assert_eq!(world.store.revision(), before);
    let mut annotated = changed.clone();
    annotated.meta_mut().annotations.insert("x".into(), "y".into());
    assert_eq!(world.object(put(annotated, Subresource::None)).meta().generation, 2);
}

#[test]
fn finalizers_hold_until_the_last_is_taken() {
    let mut world = World::new();
    let mut map = ConfigMap::default();
    map.metadata.name = "m".into();
    let key = world.object(create(map)).key();
    let options = DeleteOptions { propagation: Some(Propagation::Foreground), ..DeleteOptions::default() };
    let held = world.object(Verb::Delete { key: key.clone(), options });
    assert_eq!(held.meta().finalizers, ["foregroundDeletion"]);
    let mut free = held.clone();
    free.meta_mut().finalizers.clear();
    world.object(put(free, Subresource::None));
    assert_eq!(world.store.get(&key), None);
    assert!(world.store.entry(world.store.revision()).is_some_and(|e| e.new.is_none()));
}

#[test]
fn a_dry_run_keeps_nothing() {
    let mut world = World::new();
    let before = world.store.clone();
    let outcome = world.request(Request { dry_run: true, ..create(pod("x-")).into() });
    assert!(outcome.reply.is_ok());
    assert_eq!(world.store, before);
    let who = Actor::new("kubectl", "kubernetes-admin");
    let request: Request = create(pod("x-")).into();
    assert!(crate::check(&before, &request, &who, world.now, &world.settings).is_ok());
}

#[test]
fn a_service_gets_an_address_and_gives_it_back() {
    let mut world = World::new();
    let mut service = Service::default();
    service.metadata.name = "web".into();
    service.spec.ports = vec![ServicePort { port: 80, ..ServicePort::default() }];
    let verb = create(service);
    let outcome = world.ask(verb);
    let calls: Vec<_> =
        outcome.audit.iter().map(|a| format!("{} {} {}", a.who, a.verb, a.kind.resource())).collect();
    assert_eq!(calls, ["kubectl create services", "kube-apiserver create ipaddresses"]);
    let key = Key::new(Kind::Service, "default", "web");
    let Some(Object::Service(made)) = world.store.get(&key).cloned() else { panic!() };
    assert!(made.spec.cluster_ip.starts_with("10.96."), "{}", made.spec.cluster_ip);
    assert_eq!(made.spec.cluster_ips, std::slice::from_ref(&made.spec.cluster_ip));
    assert_eq!(made.spec.ports[0].target_port, IntOrString::Int(80));
    let outcome = world.ask(delete(&key, None));
    assert_eq!(outcome.audit.len(), 2);
    assert_eq!(world.store.len(), 2);
}
