//! ConfigMap.

use super::{Page, events};
use crate::{
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::{ConfigMap, Object};
use std::sync::Arc;

pub(super) fn describe(
    kc: &mut Kc<'_>,
    page: &mut Page,
    o: &Arc<ConfigMap>,
    events: bool,
) -> Flow<Result<(), Fault>> {
    page.head(&o.metadata);
    page.line(0, "\nData\n====");
    for (key, value) in &o.data {
        page.line(0, format!("{key}:\n----\n{value}\n"));
    }
    page.line(0, "\nBinaryData\n====");
    for (key, value) in &o.binary_data {
        page.line(0, format!("{key}: {} bytes", super::secret::bytes(value)));
    }
    page.line(0, "");
    self::events::show(kc, page, &Object::ConfigMap(o.clone()), events)?;
    Ok(Ok(()))
}
