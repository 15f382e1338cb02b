//! `kubectl create`: from files, or one object from flags.

mod config;
mod household;
mod ingress;
pub(super) mod make;
mod rights;
mod service;
mod token;
mod workload;

use super::common::{
    self, DRY_RUN, DryRun, FIELD_MANAGER, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE,
    VALIDATE,
};
use super::{Entry, aliases, done, group};
use crate::{
    args::{Args, Flag, Takes, flag, not_done},
    fault::Fault,
    kc::{Flow, Kc},
    manifest::{self, Manifest},
    output::format::Format,
};
use kubestep_model::{Body, Object, Request, Verb, patch::with_last_applied};
use serde_json::Value;
use std::sync::Arc;

pub(super) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    TEMPLATE,
    DRY_RUN,
    FIELD_MANAGER,
    VALIDATE,
    flag("save-config", Takes::Bool),
    flag("record", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    flag("windows-line-endings", Takes::Bool),
    not_done("edit", Takes::Bool),
    not_done("raw", Takes::Text),
    KUSTOMIZE,
];

const SERVICES: &[Entry] = &[
    done(
        "clusterip",
        "Creates a service with an address inside the cluster",
        service::CLUSTER_IP,
        service::cluster_ip,
    ),
    done("nodeport", "Creates a service with a port on each node", service::NODE_PORT, service::node_port),
    done(
        "loadbalancer",
        "Creates a service with a load balancer",
        service::LOAD_BALANCER,
        service::load_balancer,
    ),
    done(
        "externalname",
        "Creates a service that stands for a name outside",
        service::EXTERNAL_NAME,
        service::external_name,
    ),
];

const SECRETS: &[Entry] = &[
    done("docker-registry", "Creates a secret for an image registry", config::DOCKER, config::docker),
    done("tls", "Creates a secret of a certificate and its key", config::TLS, config::tls),
    done(
        "generic",
        "Creates a secret from files, folders or literal values",
        config::GENERIC,
        config::generic,
    ),
];

/// The objects that `create` makes from flags alone.
pub(super) const GENERATORS: &[Entry] = &[
    aliases(done("namespace", "Creates a namespace", household::NAMESPACE, household::namespace), &["ns"]),
    aliases(
        done("quota", "Creates a resource quota", household::QUOTA, household::quota),
        &["resourcequota"],
    ),
    group("secret", "Creates a secret", SECRETS),
    aliases(
        done(
            "configmap",
            "Creates a config map from files, folders or literal values",
            config::CONFIG_MAP,
            config::config_map,
        ),
        &["cm"],
    ),
    aliases(
        done("serviceaccount", "Creates a service account", rights::SERVICE_ACCOUNT, rights::service_account),
        &["sa"],
    ),
    aliases(group("service", "Creates a service", SERVICES), &["svc"]),
    aliases(
        done("deployment", "Creates a deployment", workload::DEPLOYMENT, workload::deployment),
        &["deploy"],
    ),
    done("clusterrole", "Creates a cluster role", rights::CLUSTER_ROLE, rights::cluster_role),
    done(
        "clusterrolebinding",
        "Creates a binding of a cluster role",
        rights::CLUSTER_ROLE_BINDING,
        rights::cluster_role_binding,
    ),
    done("role", "Creates a role", rights::ROLE, rights::role),
    done("rolebinding", "Creates a binding of a role", rights::ROLE_BINDING, rights::role_binding),
    aliases(
        done("poddisruptionbudget", "Creates a disruption budget", household::BUDGET, household::budget),
        &["pdb"],
    ),
    aliases(
        done(
            "priorityclass",
            "Creates a priority class",
            household::PRIORITY_CLASS,
            household::priority_class,
        ),
        &["pc"],
    ),
    done("job", "Creates a job", workload::JOB, workload::job),
    aliases(done("cronjob", "Creates a cron job", workload::CRON_JOB, workload::cron_job), &["cj"]),
    aliases(done("ingress", "Creates an ingress", ingress::FLAGS, ingress::run), &["ing"]),
    done("token", "Asks for a token of a service account", token::FLAGS, token::run),
];

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if !args.words.is_empty() {
        return Err(kc.usage(&args.path, &format!("Unexpected args: [{}]", args.words.join(" "))));
    }
    if args.all("filename").is_empty() {
        return Err(kc.fail("must specify one of -f and -k"));
    }
    let (dry, format) = (DryRun::of(kc, args)?, Format::of(kc, args, false)?);
    let strict = common::strict(kc, args)?;
    let mut count = 0;
    let mut faults = Vec::new();
    for item in manifests(kc, args)? {
        let made = match item {
            Ok(manifest) => create(kc, &manifest, dry, strict, args.on("save-config"))?,
            Err(fault) => Err(fault),
        };
        match made {
            Ok(object) => {
                count += 1;
                common::say(kc, &format, &object, "created", dry)?;
            }
            Err(fault) => faults.push(fault),
        }
    }
    if count == 0 && faults.is_empty() {
        return Err(kc.fail("no objects passed to create"));
    }
    common::finish(kc, faults)
}

/// What the files of `-f` hold; a file that is not there ends the command.
pub(super) fn manifests(kc: &mut Kc<'_>, args: &Args) -> Flow<Vec<Result<Manifest, Fault>>> {
    let validate = args.text("validate").is_none_or(|v| !matches!(v, "ignore" | "false"));
    let reading =
        manifest::Reading { files: args.all("filename").to_vec(), recursive: args.on("recursive"), validate };
    let read = manifest::read(kc, &reading)?;
    manifest::look_for_kinds(kc, &read)?;
    match Fault::all(read.stops) {
        Some(fault) => Err(kc.fault(&fault)),
        None => Ok(read.items),
    }
}

/// The body of a manifest, with the annotation of apply where it is wanted or was there.
pub(super) fn body(manifest: &Manifest, save_config: bool) -> Value {
    if save_config { with_last_applied(&manifest.value) } else { manifest.value.clone() }
}

/// Creates the object of a manifest.
pub(super) fn create(
    kc: &mut Kc<'_>,
    manifest: &Manifest,
    dry: DryRun,
    strict: bool,
    save_config: bool,
) -> Flow<Result<Object, Fault>> {
    let body = body(manifest, save_config);
    let made = if dry == DryRun::Client {
        common::unsent(manifest.kind, body)
    } else {
        let verb = Verb::Create {
            kind: manifest.kind,
            namespace: manifest.namespace.clone(),
            body: Body::Json(Arc::new(body)),
        };
        kc.ask_object(Request { strict, ..dry.request(verb) })?.map_err(Fault::from)
    };
    Ok(made.map_err(|fault| fault.when("creating", &manifest.source)))
}
