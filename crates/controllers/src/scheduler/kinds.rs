//! The kinds without a struct that plugins read.

use kubestep_model::{Kind, kind::OTHERS};

/// The kind of this name among those without a struct; a wrong name does not compile.
const fn other(name: &str) -> Kind {
    let mut i = 0;
    while i < OTHERS.len() {
        if same(OTHERS[i].kind, name) {
            return Kind::Other(&OTHERS[i]);
        }
        i += 1;
    }
    panic!("no such kind")
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

pub const CLAIM: Kind = other("PersistentVolumeClaim");
pub const VOLUME: Kind = other("PersistentVolume");
pub const CLASS: Kind = other("StorageClass");
pub const BUDGET: Kind = other("PodDisruptionBudget");
