//! The board: row = who owns it, column = where it runs. Rows and columns are only ever appended, so nothing jumps.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use kubestep_protocol::*;
use yew::prelude::*;

use super::gap::{ring, slots};
use super::grains::{Grains, PodList};
use super::menu::{Entry, Menu};
use super::pod::{Crowd, PodCard};
use super::rich::rich;
use crate::board_plan::{self, Cell, Density, Line, Plan, Walk, Wire};
use crate::browser;
use crate::state::{self, Ghosts, Item, Msg, Open, SingleKeys};
use crate::store::{Send, on, use_send};
use crate::words::{said, said_plain, t, tf, w, wf, ws};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) frame: Rc<Frame>,
    pub(crate) ghosts: Rc<Ghosts>,
    pub(crate) limit: u64,
    pub(crate) selected: Option<ObjectRef>,
    pub(crate) item: Option<Item>,
    pub(crate) folded: Rc<Vec<Id>>,
    pub(crate) others: bool,
    pub(crate) open: Option<Open>,
    /// When single keys act; what they leave over jumps to names.
    pub(crate) keys: SingleKeys,
}

/// What a line needs beside its plan.
struct Around<'a> {
    props: &'a Props,
    now: At,
    nodes: &'a [Arc<Node>],
    density: Density,
    /// The item that Tab reaches.
    tab: Option<Item>,
    send: &'a Send,
}

/// Beside so many characters of how a node is, there is room for how many pods it has.
const BRIEF: usize = 8;
/// So many characters of what there is have room in one line.
const SHORT: usize = 12;

/// The board.
#[component]
pub(crate) fn Board(props: &Props) -> Html {
    let send = use_send();
    let density = use_mut_ref(Density::default);
    let typed = use_mut_ref(|| (String::new(), f64::MIN));
    let before = *density.borrow();
    let plan = board_plan::plan(&props.frame, &props.ghosts, &props.folded, props.others, before);
    *density.borrow_mut() = plan.density;
    let items = plan.items();
    let chosen = props.item.filter(|i| items.iter().any(|(x, _)| x == i));
    let around = Around {
        props,
        now: props.frame.head.now,
        nodes: &plan.nodes,
        density: plan.density,
        tab: chosen
            .or_else(|| {
                selected_item(&props.frame, props.selected.as_ref())
                    .filter(|i| items.iter().any(|(x, _)| x == i))
            })
            .or(items.first().map(|i| i.0)),
        send: &send,
    };
    let last = plan.lines.len() + 1 + usize::from(plan.others > 0);
    let style = format!("--nodes:{}", plan.nodes.len().max(1));
    let boxes = (0..=plan.nodes.len()).map(|i| {
        let class = if i == 0 { "nodebox unsched" } else { "nodebox" };
        html! { <div class={class} style={format!("grid-column:{};grid-row:1 / span {}", i + 2, last)} /> }
    });
    html! {
        <>
        <div class="board" style={style} data-density={(plan.density as u8 + 1).to_string()}>
            { for boxes }
            { heads(&plan, &around) }
            <div role="tree" aria-label={t("Objects")} style="display:contents" onkeydown={keys(&plan, &around, &typed)}>
                { for plan.lines.iter().enumerate().map(|(i, l)| line(l, i + 2, &around)) }
                if plan.others > 0 { { others(plan.others, plan.lines.len() + 2, &around) } }
                if plan.lines.is_empty() {
                    <div class="row" role="none" style="grid-row:2"><div class="own" role="treeitem" aria-level="1" tabindex="0"><b>{w("No objects yet.")}</b><br />
                        <span class="label wraps">{w("Write a file and apply it, or choose a scenario. The nodes are ready.")}</span></div></div>
                }
            </div>
        </div>
        if plan.is_crowded() { <PodList frame={props.frame.clone()} selected={props.selected.clone()} /> }
        </>
    }
}

fn selected_item(frame: &Frame, selected: Option<&ObjectRef>) -> Option<Item> {
    let object = selected?;
    let pod = frame.pods.iter().find(|p| p.object == *object).map(|p| Item::Pod(p.id));
    pod.or_else(|| frame.rows.iter().find(|r| r.object == *object).map(|r| Item::Row(r.id)))
}

/// The element of an item.
pub(crate) fn dom_id(item: Item) -> String {
    match item {
        Item::Row(id) => format!("row-{}", id.0),
        Item::Pod(id) => format!("pod-{}", id.0),
        Item::Others => "row-others".into(),
    }
}

/// The item of an element.
fn item_of(id: &str) -> Option<Item> {
    if id == "row-others" {
        return Some(Item::Others);
    }
    let (sort, number) = id.split_once('-')?;
    let id = Id(number.parse().ok()?);
    match sort {
        "row" => Some(Item::Row(id)),
        "pod" => Some(Item::Pod(id)),
        _ => None,
    }
}

/// What was typed on the tree, and when the last letter.
type Typed = Rc<RefCell<(String, f64)>>;

/// Letters this far apart, in milliseconds, belong to different words.
const WORD: f64 = 800.0;

/// The letters typed so far, if this key is one that jumps to a name. What is a key of its own jumps with Shift, or as
/// the second letter of a word.
fn letters(event: &KeyboardEvent, single: SingleKeys, typed: &Typed) -> Option<String> {
    let key = event.key();
    let mut chars = key.chars();
    let letter = chars.next().filter(|c| chars.next().is_none() && !c.is_whitespace())?;
    let mut typed = typed.borrow_mut();
    let now = browser::now();
    let goes_on = now - typed.1 < WORD;
    if !goes_on && (letter == '?' || single == SingleKeys::On && state::is_single_key(&key)) {
        return None;
    }
    if !goes_on {
        typed.0.clear();
    }
    typed.0.push(letter.to_ascii_lowercase());
    typed.1 = now;
    Some(typed.0.clone())
}

fn keys(plan: &Plan, around: &Around<'_>, typed: &Typed) -> Callback<KeyboardEvent> {
    let (plan, send, typed) = (plan.clone(), around.send.clone(), typed.clone());
    let (tab, single) = (around.tab, around.props.keys);
    Callback::from(move |event: KeyboardEvent| {
        if event.ctrl_key() || event.alt_key() || event.meta_key() {
            return;
        }
        // From where the focus is: the next key may come before this one is drawn.
        let at = item_of(&browser::focused_id()).or(tab);
        if let Some(word) = letters(&event, single, &typed) {
            // Whether there is such a name or not: the page's own keys do not act in the middle of a word.
            event.prevent_default();
            if let Some(item) = board_plan::jump(&plan, at, &word) {
                browser::focus(&dom_id(item));
            }
            return;
        }
        match board_plan::walk(&plan, at, &event.key()) {
            Some(Walk::To(item)) => {
                event.prevent_default();
                browser::focus(&dom_id(item));
            }
            Some(Walk::Fold(id)) => {
                event.prevent_default();
                send.emit(Msg::Fold(id));
            }
            None => {}
        }
    })
}

fn heads(plan: &Plan, around: &Around<'_>) -> Html {
    html! {
        <div role="group" aria-label={t("Nodes")} style="display:contents">
            <div class="boardhead" style="grid-row:1;grid-column:1">
                <div class="pairgrid label"><span>{"spec"}</span><span /><span>{"status"}</span><span>{w("gap age")}</span></div>
            </div>
            <div class="nodehead" style="grid-row:1;grid-column:2;padding:6px 2px;text-align:center">
                <span class="label" style="white-space:normal">{w("not scheduled")}</span>
                <b style="font-family:var(--font-ui)">{plan.unscheduled}</b>
            </div>
            { for plan.nodes.iter().zip(&plan.sizes).enumerate().map(|(i, (n, many))| node(n, *many, i + 3, around)) }
        </div>
    }
}

fn node(node: &Node, many: usize, column: usize, around: &Around<'_>) -> Html {
    let open = around.props.open == Some(Open::Node(node.id));
    let pods = if node.pods == 1 { t("1 pod").to_string() } else { tf!("{} pods", node.pods) };
    let percent = u32::from(node.cpu) / 10;
    let look = match node.look {
        NodeLook::Ready => "ready",
        NodeLook::Cordoned => "cordoned",
        NodeLook::Tainted => "tainted",
        NodeLook::NotReady => "notready",
        NodeLook::Stopped => "stopped",
        NodeLook::Removed => "removed",
    };
    let told = said_plain(&node.words, around.now);
    // A bar that says nothing is not drawn; it keeps its place.
    let idle = (percent == 0).then_some("visibility:hidden");
    // What is done to a node is done to one.
    let there = node.look != NodeLook::Removed && many == 1;
    html! {
        <div style={format!("grid-row:1;grid-column:{column}")} key={node.id.0}>
            <div class="nodehead" data-look={look}>
                if there { <span class="anchor menu-end">
                    <button class="menu" id={format!("open-node-{}", node.id.0)} aria-label={tf!("{}: cordon, stop, remove", node.name)} aria-haspopup="menu"
                        aria-expanded={open.to_string()} onclick={on(around.send, Msg::Open(Open::Node(node.id)))}>{"⋯"}</button>
                    if open { { node_menu(node) } }
                </span> }
                <b>{node.name.clone()}</b>
                if many > 1 { <span class="label">{wf!("{} nodes", many)}</span> }
                <span class="label cut" title={format!("{told} · {pods}")}>{ rich(&node.words, around.now, around.send) }{ if told.len() <= BRIEF { format!(" · {pods}") } else { String::new() } }</span>
                <span class="cap" role="img" style={idle} aria-label={tf!("cpu requested {} percent", percent)} title={said(&node.room)}>
                    <i style={format!("width:{}%", percent.min(100))} /></span>
            </div>
        </div>
    }
}

fn node_menu(node: &Node) -> Html {
    let name = || node.name.clone();
    let act = |act: NodeAct| Msg::Act(Command::Node(act));
    let stay = match node.pods {
        0 => t("no new pods").to_string(),
        1 => t("no new pods; the one stays").to_string(),
        n => tf!("no new pods; the {} stay", n),
    };
    let entries = vec![
        if node.cordoned {
            Entry::of("Uncordon", "new pods may come", act(NodeAct::Uncordon(name())))
        } else {
            Entry::of("Cordon", stay, act(NodeAct::Cordon(name())))
        },
        if node.stopped {
            Entry::of("Start", "its kubelet speaks again", act(NodeAct::Start(name())))
        } else {
            Entry::of("Stop", "its kubelet goes silent; noticed after 50s", act(NodeAct::Stop(name())))
        },
        Entry::of(
            "Cut the power",
            "its containers are gone, and nobody was told",
            Msg::Act(Command::Fault { id: format!("power:{}", node.name), on: true }),
        ),
        Entry::of("Remove", "stops it and deletes its Node object", act(NodeAct::Remove(name()))),
    ];
    let pods = if node.pods == 1 { t("1 pod").to_string() } else { tf!("{} pods", node.pods) };
    let small = format!("{pods} · {}", said(&node.room));
    html! { <Menu name={node.name.clone()} key_name={format!("node-{}", node.id.0)} small={small} entries={entries} /> }
}

fn line(line: &Line, grid_row: usize, around: &Around<'_>) -> Html {
    let key = line.row.as_ref().map_or("orphans".to_string(), |r| r.id.0.to_string());
    let gone = line.row.as_ref().is_some_and(|r| r.life == Life::Gone);
    html! {
        <div class={classes!("row", gone.then_some("is-gone"))} style={format!("grid-row:{grid_row}")} role="none" key={key}>
            { match &line.row { Some(row) => own(row, line, around), None => orphans() } }
            { for line.cells.iter().enumerate().map(|(i, c)| cell(c, i, line, around)) }
        </div>
    }
}

fn orphans() -> Html {
    html! {
        <div class="own" role="none" data-depth="1">
            <div class="kind"><span>{w("Pods")}</span></div><div class="name">{w("nobody owns")}</div>
        </div>
    }
}

fn own(row: &Row, line: &Line, around: &Around<'_>) -> Html {
    let item = Item::Row(row.id);
    let selected = around.props.selected.as_ref() == Some(&row.object);
    let touched = around.props.frame.head.touched.contains(&row.object);
    let has_items = line.children > 0 || line.cells.iter().any(|c| !c.pods.is_empty());
    let expanded = has_items.then(|| (!line.folded).to_string());
    let tag = match row.life {
        Life::There if row.no_loop => t("no loop acts on it").to_string(),
        Life::There => said(&row.tag),
        Life::Terminating => format!("{} {}", said(&row.tag), t("terminating")).trim().to_string(),
        Life::Gone => t("deleted").into(),
    };
    let space = &row.object.namespace;
    // Two of one name are told apart; what is owned lies where its owner lies.
    let elsewhere = line.depth == 1 && !matches!(space.as_str(), "" | "default");
    let place = elsewhere.then(|| format!(" · {space}"));
    let (focus, choose) = (around.send.clone(), Msg::Select(row.object.clone()));
    html! {
        <div class={classes!("own", line.more.then_some("more"), touched.then_some("is-touched"))} role="treeitem" id={dom_id(item)}
            aria-level={line.depth.to_string()} aria-expanded={expanded} aria-selected={selected.to_string()}
            tabindex={if around.tab == Some(item) { "0" } else { "-1" }} data-depth={line.depth.to_string()}
            onfocus={Callback::from(move |_| focus.emit(Msg::Focused(item)))} onclick={on(around.send, choose.clone())} onkeydown={enter(around.send, choose)}>
            <div class="kind"><span>{row.object.kind.clone()}{ place }</span><span class="tag cut" title={tag.clone()}>{tag.clone()}</span>
                if line.folded { <span class="tag">{w("▸ folded")}</span> }</div>
            <div class="name" title={row.object.name.clone()}>{row.object.name.clone()}</div>
            { measures(row, around) }
        </div>
    }
}

fn measures(row: &Row, around: &Around<'_>) -> Html {
    if let Some(selector) = &row.selector
        && row.want.is_none()
    {
        return html! {
            <div class="svcgrid"><span class="selector cut" title={selector.clone()}>{selector.clone()}</span>{ for row.slots.map(slots) }<span>{ws(&row.has)}</span></div>
        };
    }
    html! {
        <div class="pairgrid">
            <span class="want">{ for row.want.map(|n| html! { <>{n}<span class="vh">{" "}{w("wanted")}</span></> }) }</span>
            { match row.slots { Some(s) => slots(s), None => html! { <span /> } } }
            <span class={classes!("has", if row.has.chars().count() > SHORT { "long" } else { "cut" })} title={said(&row.has)}>{ws(&row.has)}</span>
            if row.gap.is_some() || row.want.is_some() { { ring(row.gap.as_ref(), around.now, around.props.limit) } }
        </div>
    }
}

/// Enter or Space chooses; the focus stays.
fn enter(send: &Send, msg: Msg) -> Callback<KeyboardEvent> {
    let send = send.clone();
    Callback::from(move |event: KeyboardEvent| {
        if matches!(event.key().as_str(), "Enter" | " ") && !event.ctrl_key() {
            event.prevent_default();
            send.emit(msg.clone());
        }
    })
}

fn cell(cell: &Cell, column: usize, line: &Line, around: &Around<'_>) -> Html {
    let wires = cell.wires.iter().map(|(place, wire)| {
        let class = match wire {
            Wire::From => "wire from",
            Wire::Through => "wire",
            Wire::To => "wire to",
        };
        html! { <span class={class} style={format!("right:{}px", 1 + 4 * place)} /> }
    });
    if let Some(members) = cell.members.filter(|m| m.ready + m.not_ready > 0) {
        return html! {
            <div class="cell svc-cell">
                if members.ready > 0 { {wf!("{} ready", members.ready)} }
                if members.ready > 0 && members.not_ready > 0 { <br /> }
                if members.not_ready > 0 { {wf!("{} not", members.not_ready)} }
                { for wires }
            </div>
        };
    }
    let node =
        column.checked_sub(1).and_then(|i| around.nodes.get(i)).map(|n| n.name.clone()).unwrap_or_default();
    let class = classes!(
        "cell",
        (column == 0).then_some("unsched"),
        (cell.pods.is_empty() || line.folded).then_some("empty")
    );
    html! {
        <div class={class}>
            if !line.folded { { pods(cell, node, around) } }
            { for wires }
        </div>
    }
}

fn pods(cell: &Cell, node: String, around: &Around<'_>) -> Html {
    let head = &around.props.frame.head;
    let selected = around.props.selected.clone();
    if around.density == Density::Grain {
        return html! { <Grains pods={cell.pods.clone()} selected={selected} node={node} /> };
    }
    if around.density != Density::Card {
        let tab = if let Some(Item::Pod(id)) = around.tab { Some(id) } else { None };
        return html! { <Crowd pods={cell.pods.clone()} density={around.density} selected={selected} tab={tab} node={node} /> };
    }
    let card = |pod: &Arc<Pod>| {
        html! {
            <PodCard key={pod.id.0} pod={pod.clone()} node={node.clone()} selected={selected.as_ref() == Some(&pod.object)}
                touched={head.touched.contains(&pod.object)} tab={around.tab == Some(Item::Pod(pod.id))} />
        }
    };
    cell.pods.iter().map(card).collect()
}

fn others(count: usize, grid_row: usize, around: &Around<'_>) -> Html {
    let shown = around.props.others;
    let words = match (shown, count) {
        (true, _) => t("− hide the quiet objects").to_string(),
        (false, 1) => t("+ 1 quiet object").to_string(),
        (false, n) => tf!("+ {} quiet objects", n),
    };
    let focus = around.send.clone();
    html! {
        <div class="row row-others" style={format!("grid-row:{grid_row}")} role="none">
            <div class="own" role="treeitem" aria-level="1" id="row-others" tabindex={if around.tab == Some(Item::Others) { "0" } else { "-1" }}
                onfocus={Callback::from(move |_| focus.emit(Msg::Focused(Item::Others)))}
                onclick={on(around.send, Msg::Others)} onkeydown={enter(around.send, Msg::Others)}><span class="label">{words}</span></div>
        </div>
    }
}
