//! Reading and writing the kinds that the store keeps whole.

use kubestep_control::{Cx, Halt, View};
use kubestep_model::{Answer, Body, Key, Kind, Object, ObjectMeta, Reply, Status, Subresource, Verb, Whole};

/// An object from the cache, as a struct.
pub(crate) fn get<W: Whole>(view: &View, namespace: &str, name: &str) -> Option<W> {
    view.object(&Key::new(W::KIND, namespace, name)).and_then(W::read)
}

/// The owner of this kind that manages an object, if the cache has the very same. Upstream: resolveControllerRef.
pub(crate) fn controller_of<W: Whole>(view: &View, object: &ObjectMeta) -> Option<W> {
    let reference = object.controller().filter(|reference| reference.kind == W::KIND.name())?;
    get::<W>(view, &object.namespace, &reference.name).filter(|owner| owner.meta().uid == reference.uid)
}

/// All objects of a kind in a namespace, as structs.
pub(crate) fn list<W: Whole>(view: &View, namespace: &str) -> impl Iterator<Item = W> {
    view.objects_of(W::KIND, Some(namespace)).filter_map(W::read)
}

pub(crate) fn key<W: Whole>(object: &W) -> Key {
    Key::new(W::KIND, object.meta().namespace.clone(), object.meta().name.clone())
}

fn read<W: Whole>(reply: Reply) -> Result<W, Status> {
    match reply? {
        Answer::Object { object, .. } => {
            W::read(&object).ok_or_else(|| Status::bad_request("the answer is of another kind"))
        }
        Answer::List { .. } | Answer::Chunk { .. } | Answer::Json { .. } => {
            Err(Status::bad_request("the answer is not an object"))
        }
    }
}

/// Creates an object; the answer may be a refusal to look at.
pub(crate) fn create<W: Whole>(cx: &mut Cx<'_>, object: &W) -> Result<Result<W, Status>, Halt> {
    Ok(read(create_object(cx, object.to_object())?))
}

/// Creates an object of any kind.
pub(crate) fn create_object(cx: &mut Cx<'_>, object: Object) -> Result<Reply, Halt> {
    let (kind, namespace): (Kind, _) = (object.kind(), object.meta().namespace.clone());
    cx.ask(Verb::Create { kind, namespace, body: Body::Typed(object) })
}

/// Replaces an object (PUT).
pub(crate) fn replace<W: Whole>(cx: &mut Cx<'_>, object: &W) -> Result<Result<W, Status>, Halt> {
    let body = Body::Typed(object.to_object());
    Ok(read(cx.ask(Verb::Replace { key: key(object), subresource: Subresource::None, body })?))
}

/// Replaces an object's status.
pub(crate) fn set_status<W: Whole>(cx: &mut Cx<'_>, object: &W) -> Result<Result<W, Status>, Halt> {
    let body = Body::Typed(object.to_object());
    Ok(read(cx.ask(Verb::Replace { key: key(object), subresource: Subresource::Status, body })?))
}

/// Reads an object from the API server itself.
pub(crate) fn live<W: Whole>(
    cx: &mut Cx<'_>,
    namespace: &str,
    name: &str,
) -> Result<Result<W, Status>, Halt> {
    let key = Key::new(W::KIND, namespace, name);
    Ok(read(cx.ask(Verb::Get { key, subresource: Subresource::None })?))
}
