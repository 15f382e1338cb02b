//! A pod: the box is the promise (spec), the square in it is the container as it is (status).

use std::sync::Arc;

use kubestep_protocol::*;
use yew::prelude::*;

use super::board::dom_id;
use crate::board_plan::Density;
use crate::state::{Item, Msg};
use crate::store::{on, use_send};
use crate::words::{said, t, tf};

/// The pattern's name.
pub(crate) fn look_key(pod: &Pod) -> &'static str {
    match (pod.life, pod.look) {
        (Life::Gone, _) => "gone",
        (Life::Terminating, _) | (_, PodLook::Terminating) => "terminating",
        (_, PodLook::Pending) => "pending",
        (_, PodLook::Waiting) => "waiting",
        (_, PodLook::Crashed) => "crashed",
        (_, PodLook::Running) => "notready",
        (_, PodLook::Ready) => "running",
        (_, PodLook::Finished) => "finished",
    }
}

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) pod: Arc<Pod>,
    pub(crate) node: String,
    pub(crate) selected: bool,
    pub(crate) touched: bool,
    /// Tab reaches it.
    pub(crate) tab: bool,
}

/// A pod as a card.
#[component]
pub(crate) fn PodCard(props: &Props) -> Html {
    let send = use_send();
    let pod = &props.pod;
    let item = Item::Pod(pod.id);
    let focus = send.clone();
    let stub = pod.services.first().filter(|_| pod.node.is_some() && pod.life == Life::There);
    let words = if pod.life == Life::Gone { t("deleted").to_string() } else { said(&pod.words) };
    let place = if props.node.is_empty() { t("not scheduled").to_string() } else { tf!("on {}", props.node) };
    html! {
        <button class={classes!("pod", props.touched.then_some("is-touched"))} role="treeitem" aria-level="3" id={dom_id(item)}
            aria-selected={props.selected.to_string()}
            tabindex={if props.tab { "0" } else { "-1" }} data-s={look_key(pod)} data-on={place.clone()}
            onfocus={Callback::from(move |_| focus.emit(Msg::Focused(item)))} onclick={on(&send, Msg::Select(pod.object.clone()))}>
            <span class="c" /><span class="vh">{"Pod"}{" "}</span><span class="id cut" title={pod.object.name.clone()}>{pod.suffix.clone()}</span>
            <span class="st">{ breaking(&words) }</span><span class="vh">{format!(" {place}")}</span>
            { for stub.map(|(_, ready)| html! { <span class={classes!("stub", (!ready).then_some("open"))} /> }) }
        </button>
    }
}

/// Long words of Kubernetes may break where a capital begins.
fn breaking(words: &str) -> Html {
    let mut parts: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for c in words.chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
        before = c;
    }
    // Two halves at most: "ImagePull", "BackOff".
    let middle = parts.len().div_ceil(2);
    let (first, second) = parts.split_at(middle);
    html! { <>{first.concat()}<wbr />{second.concat()}</> }
}

#[derive(Properties, PartialEq)]
pub(crate) struct CrowdProps {
    pub(crate) pods: Vec<Arc<Pod>>,
    pub(crate) density: Density,
    pub(crate) selected: Option<ObjectRef>,
    pub(crate) tab: Option<Id>,
    pub(crate) node: String,
}

/// Many pods of one cell: squares with their patterns, names on focus and hover.
#[component]
pub(crate) fn Crowd(props: &CrowdProps) -> Html {
    let size = match props.density {
        Density::Card | Density::Square => "14",
        Density::Mosaic | Density::Grain => "9",
    };
    let square = |pod: &Arc<Pod>| {
        let selected = props.selected.as_ref() == Some(&pod.object);
        html! { <Podlet key={pod.id.0} pod={pod.clone()} selected={selected} tab={props.tab == Some(pod.id)} /> }
    };
    let ready = props.pods.iter().filter(|p| p.look == PodLook::Ready).count();
    let counts = match props.pods.len() - ready {
        _ if props.pods.is_empty() => String::new(),
        0 => tf!("{} ready", ready),
        rest => tf!("{} ready, {} not", ready, rest),
    };
    html! {
        <div class="crowd" role="none" style={format!("--podlet:{size}px")}>
            { for props.pods.iter().map(square) }
            <span class="label" aria-hidden="true">{counts}</span>
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct PodletProps {
    pod: Arc<Pod>,
    selected: bool,
    tab: bool,
}

/// One of many: drawn again only when it changes.
#[component]
fn Podlet(props: &PodletProps) -> Html {
    let send = use_send();
    let pod = &props.pod;
    let item = Item::Pod(pod.id);
    let label = AttrValue::from(format!("Pod {}, {}", pod.object.name, said(&pod.words)));
    let (focus, choose) = (send.clone(), pod.clone());
    let onfocus = Callback::from(move |_: FocusEvent| focus.emit(Msg::Focused(item)));
    let onclick = Callback::from(move |_: MouseEvent| send.emit(Msg::Select(choose.object.clone())));
    html! {
        <button class="podlet" role="treeitem" aria-level="3" id={dom_id(item)} data-s={look_key(pod)} title={label.clone()}
            aria-label={label} aria-selected={if props.selected { "true" } else { "false" }} tabindex={if props.tab { "0" } else { "-1" }}
            onfocus={onfocus} onclick={onclick}><span class="c" /></button>
    }
}
