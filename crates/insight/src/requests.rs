//! A person's program that sends a list of requests and ends: how searches and sweeps act on a world.

use kubestep_model::{
    Body, Instant, Kind, Request, Verb,
    client::{Client, ClientAsk, ClientProgress, ClientTurn},
};
use serde_json::Value;
use std::sync::Arc;

/// The requests, in order. A refusal does not end it.
#[derive(Clone, Debug)]
pub struct Requests(pub Vec<Request>);

impl Client for Requests {
    fn run(&self, _: Instant, told: &[ClientTurn]) -> ClientProgress {
        let next = self.0.get(told.len()).map_or(Ok(0), |r| Err(ClientAsk::Api(r.clone())));
        ClientProgress { output: vec![], next, rest: None }
    }
    fn line(&self) -> String {
        format!("{} requests", self.0.len())
    }
}

/// The request that creates an object from JSON with `apiVersion` and `kind`; `None` if its kind is not known.
pub fn create(object: &Value) -> Option<Request> {
    let kind = Kind::of_manifest(object["apiVersion"].as_str()?, object["kind"].as_str()?)?;
    let namespace =
        if kind.namespaced() { object["metadata"]["namespace"].as_str().unwrap_or("default") } else { "" };
    Some(
        Verb::Create { kind, namespace: namespace.into(), body: Body::Json(Arc::new(object.clone())) }.into(),
    )
}
