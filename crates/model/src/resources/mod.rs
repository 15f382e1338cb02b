//! What pods ask for and may use: their totals, their class of service, and what they count for in quotas.

pub mod qos;
pub mod quota;
mod totals;

pub use totals::{limits, requests};

use crate::Quantity;
use std::collections::BTreeMap;

/// Amounts by resource name.
pub type Amounts = BTreeMap<String, Quantity>;

/// Adds amounts, name by name.
pub fn add(sums: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        match sums.get_mut(name) {
            Some(sum) => *sum = sum.add(amount),
            None => {
                sums.insert(name.clone(), amount.clone());
            }
        }
    }
}
