//! Every namespace gets its default service account and the certificate of the API server.
//!
//! Upstream: pkg/controller/serviceaccount/serviceaccounts_controller.go and
//! pkg/controller/certificates/rootcacertpublisher (v1.37).

use crate::{sentences::Sentence, stop::namespace_terminating};
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::{ConfigMap, Key, Kind, Namespace, ObjectMeta, ServiceAccount};

/// The service account that every namespace has.
const DEFAULT: &str = "default";
/// The config map with the certificate.
const ROOT_CA: &str = "kube-root-ca.crt";
/// A certificate in form only: nothing here speaks TLS.
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nS3ViZXN0ZXA=\n-----END CERTIFICATE-----\n";

fn wakes(change: &Change, _: &View) -> Vec<Wake> {
    let key = &change.key;
    let namespace = if key.kind == Kind::Namespace { key.name.clone() } else { key.namespace.clone() };
    let ours = match key.kind {
        Kind::Namespace => change
            .new
            .as_ref()
            .and_then(|o| o.get::<Namespace>())
            .is_some_and(|n| n.status.phase != "Terminating"),
        Kind::ServiceAccount => change.new.is_none() && &*key.name == DEFAULT,
        Kind::ConfigMap => &*key.name == ROOT_CA,
        _ => false,
    };
    if ours { vec![Wake::now(Key::new(Kind::Namespace, "", namespace))] } else { vec![] }
}

fn active<'a>(cx: &Cx<'a>, key: &Key) -> Option<&'a Namespace> {
    cx.get::<Namespace>("", &key.name)
        .filter(|n| n.status.phase != "Terminating" && !n.metadata.is_terminating())
}

/// Makes the service account `default`.
#[derive(Debug)]
pub struct ServiceAccounts;

static ACCOUNT_WATCHES: [Watch; 2] =
    [Watch { kind: Kind::Namespace, wakes }, Watch { kind: Kind::ServiceAccount, wakes }];

impl Controller for ServiceAccounts {
    fn name(&self) -> &'static str {
        "serviceaccount"
    }
    fn actor(&self) -> &'static str {
        "service-account-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &ACCOUNT_WATCHES
    }
    fn workers(&self) -> usize {
        1
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(namespace) = active(cx, key) else { return Ok(Done::Settled) };
        let namespace = namespace.metadata.name.clone();
        if cx.get::<ServiceAccount>(&namespace, DEFAULT).is_some() {
            return Ok(Done::Settled);
        }
        cx.because("sa.create", vec![("namespace", namespace.to_string())]);
        let metadata = ObjectMeta { name: DEFAULT.into(), namespace, ..Default::default() };
        match cx.try_create(ServiceAccount { metadata, ..Default::default() })? {
            Ok(_) => Ok(Done::Settled),
            Err(status) if status.is_already_exists() => Ok(Done::Settled),
            Err(status) => Err(cx.fail(status)),
        }
    }
}

/// Makes the config map `kube-root-ca.crt` and puts it right.
#[derive(Debug)]
pub struct RootCaPublisher;

static CA_WATCHES: [Watch; 2] =
    [Watch { kind: Kind::Namespace, wakes }, Watch { kind: Kind::ConfigMap, wakes }];

impl Controller for RootCaPublisher {
    fn name(&self) -> &'static str {
        "root-ca-certificate-publisher"
    }
    fn actor(&self) -> &'static str {
        "root-ca-cert-publisher"
    }
    fn watches(&self) -> &'static [Watch] {
        &CA_WATCHES
    }
    fn workers(&self) -> usize {
        1
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        // In a namespace that is going it is tried as well, and refused.
        let namespace = key.name.clone();
        let data = [("ca.crt".to_string(), CERTIFICATE.to_string())].into();
        if let Some(have) = cx.get::<ConfigMap>(&namespace, ROOT_CA) {
            if have.data == data {
                return Ok(Done::Settled);
            }
            let mut fresh = have.clone();
            fresh.data = data;
            cx.replace(fresh)?;
            return Ok(Done::Settled);
        }
        cx.because("root-ca.create", vec![("namespace", namespace.to_string())]);
        let note = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";
        let annotations = [("kubernetes.io/description".to_string(), note.to_string())].into();
        let metadata = ObjectMeta { name: ROOT_CA.into(), namespace, annotations, ..Default::default() };
        match cx.try_create(ConfigMap { metadata, data, ..Default::default() })? {
            Ok(_) => Ok(Done::Settled),
            Err(status) if status.is_already_exists() || status.is_not_found() => Ok(Done::Settled),
            Err(status) if namespace_terminating(&status) => Ok(Done::Settled),
            Err(status) => Err(cx.fail(status)),
        }
    }
}

/// What the codes above mean.
pub static SENTENCES: &[Sentence] = &[
    Sentence {
        code: "sa.create",
        text: "The service account controller gives the namespace {namespace} its default service account.",
        upstream: "pkg/controller/serviceaccount/serviceaccounts_controller.go, syncNamespace",
    },
    Sentence {
        code: "root-ca.create",
        text: "The publisher gives the namespace {namespace} the API server's certificate.",
        upstream: "pkg/controller/certificates/rootcacertpublisher/publisher.go, syncNamespace",
    },
];
