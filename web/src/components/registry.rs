//! The registry: images are rows of data; how long a pull takes, what happens, who asked.

use std::sync::Arc;

use kubestep_protocol::*;
use yew::prelude::*;

use super::menu::{Entry, Menu};
use crate::state::{Msg, Open};
use crate::store::{Send, on, use_send};
use crate::words::{said, t, tf, w};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) images: Vec<Arc<Image>>,
    pub(crate) host: String,
    pub(crate) now: At,
    pub(crate) open: Option<Open>,
}

/// The panel.
#[component]
pub(crate) fn Registry(props: &Props) -> Html {
    let send = use_send();
    html! {
        <div class="registry" role="group" aria-label={t("Registry")}>
            <h3>{w("Registry")}<small>{props.host.clone()}</small></h3>
            <div class="images">{ for props.images.iter().map(|i| image(i, props, &send)) }</div>
        </div>
    }
}

fn image(image: &Image, props: &Props, send: &Send) -> Html {
    let missing = image.look == ImageLook::Missing;
    let mut words = said(&image.words);
    if missing || image.look == ImageLook::Denied {
        words.push_str(" · ");
        words.push_str(&match image.asked {
            0 => t("nobody asked yet").to_string(),
            n => tf!("asked {}×", n),
        });
    }
    let next = image
        .next
        .filter(|n| *n > props.now)
        .map(|n| format!(" · {}", tf!("next in {}", age(n.0 - props.now.0))));
    let open = props.open == Some(Open::Image(image.id));
    let push = Msg::Act(Command::Image(ImageAct::Push(image.reference.clone())));
    let words = format!("{words}{}", next.unwrap_or_default());
    html! {
        <div class={classes!("image", missing.then_some("missing"))} key={image.id.0} data-look={look(image.look)}>
            <b class="cut" title={image.reference.clone()}>{image.name.clone()}</b><span class="label wraps">{words.clone()}</span>
            if missing {
                <button class="btn btn-s" aria-label={tf!("Push it: {}", image.name)} onclick={on(send, push)}>{w("Push it")}</button>
            } else {
                <span class="anchor up">
                    <button class="btn btn-bare btn-s" id={format!("open-image-{}", image.id.0)} aria-haspopup="menu" aria-expanded={open.to_string()}
                        aria-label={tf!("{}: remove, slow, deny", image.name)} onclick={on(send, Msg::Open(Open::Image(image.id)))}>{"⋯"}</button>
                    if open { { menu(image) } }
                </span>
            }
        </div>
    }
}

fn look(look: ImageLook) -> &'static str {
    match look {
        ImageLook::There => "there",
        ImageLook::Missing => "missing",
        ImageLook::Slow => "slow",
        ImageLook::Denied => "denied",
    }
}

fn menu(image: &Image) -> Html {
    let reference = || image.reference.clone();
    let act = |act: ImageAct| Msg::Act(Command::Image(act));
    let denied = image.look == ImageLook::Denied;
    let entries = vec![
        Entry::of("Remove from the registry", "pods that run it go on", act(ImageAct::Remove(reference()))),
        Entry::of("Slow: 10 s a pull", "", act(ImageAct::Slow(reference(), 10_000))),
        Entry {
            on: Some(denied),
            ..Entry::of("Deny pulls", "401 Unauthorized", act(ImageAct::Deny(reference(), !denied)))
        },
        Entry::of(
            "Behaviour…",
            "what its process does, from its next start on",
            Msg::Open(Open::Behaviour(image.id)),
        ),
    ];
    html! { <Menu name={image.name.clone()} key_name={format!("image-{}", image.id.0)} entries={entries} /> }
}
