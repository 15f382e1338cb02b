//! ServiceAccount.

use super::{Page, events};
use crate::{
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::{Object, ServiceAccount};
use std::sync::Arc;

pub(super) fn describe(
    kc: &mut Kc<'_>,
    page: &mut Page,
    o: &Arc<ServiceAccount>,
    events: bool,
) -> Flow<Result<(), Fault>> {
    page.head(&o.metadata);
    if o.image_pull_secrets.is_empty() {
        page.field(0, "Image pull secrets", "<none>");
    }
    for (at, secret) in o.image_pull_secrets.iter().enumerate() {
        let title = if at == 0 { "Image pull secrets:" } else { "                   " };
        page.line(0, format!("{title}\t{}", secret.name));
    }
    self::events::show(kc, page, &Object::ServiceAccount(o.clone()), events)?;
    Ok(Ok(()))
}
