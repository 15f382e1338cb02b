//! The columns of `kubectl get`, one file per kind. Upstream: pkg/printers/internalversion (v1.37).

mod common;
mod config_map;
mod deployment;
mod endpoint_slice;
mod endpoints;
mod event;
mod lease;
mod namespace;
mod node;
mod pod;
mod replica_set;
mod resource_quota;
mod secret;
mod service;
mod service_account;

pub use common::{age, find_roles, host_port, micro_age, sum_up};

use kubestep_model::{Instant, Kind, Object, Resource, kinds::*};
use std::fmt;

/// One column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its head, before it is put into capitals.
    pub name: &'static str,
    /// Whether it is shown with `-o wide` only.
    pub wide: bool,
    /// Whether it holds numbers.
    pub number: bool,
}

/// A column that is always shown.
pub const fn column(name: &'static str) -> Column {
    Column { name, wide: false, number: false }
}

/// A column of numbers.
pub const fn number(name: &'static str) -> Column {
    Column { name, wide: false, number: true }
}

/// A column of `-o wide`.
pub const fn wide(name: &'static str) -> Column {
    Column { name, wide: true, number: false }
}

/// The value in one column of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Cell {
    Text(String),
    Number(i64),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Text(text) => f.write_str(text),
            Cell::Number(number) => write!(f, "{number}"),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}
impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}
impl From<i32> for Cell {
    fn from(number: i32) -> Cell {
        Cell::Number(number.into())
    }
}
impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        Cell::Number(number)
    }
}

/// The cells of one object, those of `-o wide` among them.
pub type Row = Vec<Cell>;

macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$($crate::printers::Cell::from($cell)),*] };
}
use row;

/// How one kind is shown.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    /// Its columns.
    pub columns: &'static [Column],
    /// The cells of an object at a time; the last argument says whether all columns will be shown.
    pub row: fn(&Object, Instant, bool) -> Row,
}

/// Makes a function about one kind a function about any object.
fn typed<R: Resource>(object: &Object, of: impl Fn(&R) -> Row) -> Row {
    object.get::<R>().map(of).unwrap_or_default()
}

macro_rules! printer {
    ($module:ident, $kind:ident) => {
        Printer {
            columns: $module::COLUMNS,
            row: |o, now, wide| typed::<$kind>(o, |o| $module::row(o, now, wide)),
        }
    };
}

const NAME_AND_AGE: &[Column] = &[column("Name"), column("Age")];

/// How a kind is shown.
pub fn of(kind: Kind) -> Printer {
    match kind {
        Kind::Namespace => printer!(namespace, Namespace),
        Kind::Node => printer!(node, Node),
        Kind::Pod => printer!(pod, Pod),
        Kind::ReplicaSet => printer!(replica_set, ReplicaSet),
        Kind::Deployment => printer!(deployment, Deployment),
        Kind::Service => printer!(service, Service),
        Kind::Endpoints => printer!(endpoints, Endpoints),
        Kind::EndpointSlice => printer!(endpoint_slice, EndpointSlice),
        Kind::ConfigMap => printer!(config_map, ConfigMap),
        Kind::Secret => printer!(secret, Secret),
        Kind::ServiceAccount => printer!(service_account, ServiceAccount),
        Kind::Event => printer!(event, Event),
        Kind::ResourceQuota => printer!(resource_quota, ResourceQuota),
        Kind::Lease => printer!(lease, Lease),
        Kind::Other(_) => Printer {
            columns: NAME_AND_AGE,
            row: |o, now, _| row![&*o.meta().name, age(o.meta().creation_timestamp, now)],
        },
    }
}
