//! Crowds of pods: one drawing a cell, a shape for each state, drawn again only when the cell changes. A list beside the
//! board names them, for the keyboard and for those who do not see the drawing.

use std::rc::Rc;
use std::sync::Arc;

use kubestep_protocol::*;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::pod::look_key;
use crate::browser;
use crate::state::Msg;
use crate::store::{on, use_send};
use crate::words::{lower, said, t, tf, wf, ws};

/// Grains in a line, and the distance from one to the next.
const LINE: usize = 16;
const PITCH: usize = 6;
/// How many rows the list has at once; typing narrows it.
const SHOWN: usize = 100;

/// The shape of a state, drawn from the grain's upper left corner: no two states differ by colour alone.
fn shape(look: &str) -> &'static str {
    match look {
        "running" => "h5v5h-5z",
        "notready" => "m0 2.5h5v2.5h-5z",
        "waiting" => "m0 4l4-4h1v1l-4 4h-1z",
        "crashed" => "h1l1.5 1.5 1.5-1.5h1v1l-1.5 1.5 1.5 1.5v1h-1l-1.5-1.5-1.5 1.5h-1v-1l1.5-1.5-1.5-1.5z",
        "finished" => "m1.5 1.5h2v2h-2z",
        // An outline: nothing runs yet, or it is being ended.
        _ => "h5v5h-5zm1 1v3h3v-3z",
    }
}

/// The states in the order in which a crowd is sorted.
const LOOKS: &[&str] =
    &["pending", "waiting", "crashed", "notready", "running", "terminating", "finished", "gone"];

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) pods: Vec<Arc<Pod>>,
    pub(crate) selected: Option<ObjectRef>,
    pub(crate) node: String,
}

/// Where a grain stands.
fn place(i: usize) -> (usize, usize) {
    (i % LINE * PITCH, i / LINE * PITCH)
}

/// Which grain is at a place, if one is.
fn grain_at(x: f64, y: f64, count: usize) -> Option<usize> {
    let (column, line) = ((x / PITCH as f64) as usize, (y / PITCH as f64) as usize);
    Some(line * LINE + column).filter(|i| column < LINE && *i < count)
}

/// The pods of one cell.
#[component]
pub(crate) fn Grains(props: &Props) -> Html {
    let send = use_send();
    if props.pods.is_empty() {
        return html! {};
    }
    let count = props.pods.len();
    let path = |key: &&'static str| {
        let mut d = String::new();
        for (i, _) in props.pods.iter().enumerate().filter(|(_, p)| look_key(p) == *key) {
            let (x, y) = place(i);
            d.push_str(&format!("M{x} {y}{}", shape(key)));
        }
        (!d.is_empty()).then(|| html! { <path data-s={*key} d={d} fill-rule="evenodd" /> })
    };
    let chosen =
        props.selected.as_ref().and_then(|s| props.pods.iter().position(|p| p.object == *s)).map(place);
    let ready = props.pods.iter().filter(|p| p.look == PodLook::Ready).count();
    let words = match count - ready {
        0 => tf!("{} ready", ready),
        rest => tf!("{} ready, {} not", ready, rest),
    };
    let label = if props.node.is_empty() { words.clone() } else { format!("{}: {words}", props.node) };
    let onclick = {
        let pods = props.pods.clone();
        Callback::from(move |e: MouseEvent| {
            let Some(drawing) = browser::closest(&e, ".grains") else { return };
            let seen = drawing.get_bounding_client_rect();
            let (x, y) = (f64::from(e.client_x()) - seen.left(), f64::from(e.client_y()) - seen.top());
            if let Some(i) = grain_at(x, y, pods.len()) {
                send.emit(Msg::Select(pods[i].object.clone()));
            }
        })
    };
    let (width, height) = (LINE * PITCH, count.div_ceil(LINE) * PITCH);
    html! {
        <>
        <svg class="grains" role="img" aria-label={label} width={width.to_string()} height={height.to_string()} onclick={onclick}>
            { for LOOKS.iter().filter_map(path) }
            { for chosen.map(|(x, y)| html! { <rect x={x.to_string()} y={y.to_string()} width="5" height="5" /> }) }
        </svg>
        <span class="label" aria-hidden="true">{words}</span>
        </>
    }
}

#[derive(Properties, PartialEq)]
pub(crate) struct ListProps {
    pub(crate) frame: Rc<Frame>,
    pub(crate) selected: Option<ObjectRef>,
}

/// All pods by name; made only while it is open.
#[component]
pub(crate) fn PodList(props: &ListProps) -> Html {
    let open = use_state_eq(|| false);
    let wanted = use_state_eq(String::new);
    let toggle = {
        let open = open.clone();
        Callback::from(move |_: MouseEvent| open.set(!*open))
    };
    let oninput = {
        let wanted = wanted.clone();
        Callback::from(move |e: InputEvent| {
            wanted.set(e.target_dyn_into::<HtmlInputElement>().map(|i| i.value()).unwrap_or_default());
        })
    };
    html! {
        <div class="podlist" role="group" aria-label={t("Pods as a list")}>
            <button class="btn btn-s" aria-expanded={open.to_string()} onclick={toggle}>{wf!("{} pods as a list", props.frame.pods.len())}</button>
            if *open {
                <input class="menu-search" type="search" aria-label={t("Find a pod")} placeholder={t("name, state or node")} value={(*wanted).clone()} oninput={oninput} />
                { rows(props, &wanted) }
            }
        </div>
    }
}

fn rows(props: &ListProps, wanted: &str) -> Html {
    let frame = &props.frame;
    let node = |pod: &Pod| {
        let found = pod.node.and_then(|id| frame.nodes.iter().find(|n| n.id == id));
        found.map_or_else(|| t("not scheduled").to_string(), |n| n.name.clone())
    };
    let wanted = lower(wanted);
    let is_found = |pod: &&Arc<Pod>| {
        let text = lower(&format!("{} {} {}", pod.object.name, said(&pod.words), node(pod)));
        wanted.split_whitespace().all(|w| text.contains(w))
    };
    // By state, as a crowd stands.
    let of = |look: &&'static str| {
        frame.pods.iter().filter(|p| look_key(p) == *look).filter(is_found).collect::<Vec<_>>()
    };
    let found: Vec<&Arc<Pod>> = LOOKS.iter().flat_map(of).collect();
    let row = |pod: &&Arc<Pod>| html! { <Named key={pod.id.0} pod={(*pod).clone()} node={node(pod)} chosen={props.selected.as_ref() == Some(&pod.object)} /> };
    let rest = found.len().saturating_sub(SHOWN);
    html! {
        <>
        <ul aria-label={t("Pods")}>{ for found.iter().take(SHOWN).map(row) }</ul>
        if rest > 0 { <p class="label">{wf!("and {} more; type to find them", rest)}</p> }
        </>
    }
}

#[derive(Properties, PartialEq)]
struct NamedProps {
    pod: Arc<Pod>,
    node: String,
    chosen: bool,
}

/// One line of the list.
#[component]
fn Named(props: &NamedProps) -> Html {
    let send = use_send();
    let pod = &props.pod;
    html! {
        <li><button class="link" aria-pressed={props.chosen.to_string()} onclick={on(&send, Msg::Select(pod.object.clone()))}>{pod.object.name.clone()}</button>
            <span>{ws(&pod.words)}</span><span class="label">{props.node.clone()}</span></li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grain_is_found_where_it_stands_and_nowhere_else() {
        for i in [0, 1, 15, 16, 37, 59] {
            let (x, y) = place(i);
            assert_eq!(grain_at(x as f64 + 2.0, y as f64 + 2.0, 60), Some(i));
        }
        assert_eq!(grain_at(2.0, 4.0 * PITCH as f64, 60), None);
        assert_eq!(grain_at((LINE * PITCH) as f64 + 1.0, 1.0, 60), None);
    }

    #[test]
    fn every_state_has_a_shape_that_no_other_but_an_outline_has() {
        let filled = ["running", "notready", "waiting", "crashed", "finished"];
        for (i, a) in filled.iter().enumerate() {
            assert!(LOOKS.contains(a));
            assert!(filled[i + 1..].iter().all(|b| shape(a) != shape(b)));
            assert_ne!(shape(a), shape("pending"));
        }
    }
}
