//! The edge of a column: dragged, moved by arrows, put back by a double click.

use yew::prelude::*;

use crate::browser;
use crate::state::{Column, Msg};
use crate::store::use_send;
use crate::words::t;

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) column: Column,
    /// Its width now; `None`: as the page is made.
    pub(crate) width: Option<u32>,
}

/// How far one press of an arrow moves it.
const STEP: i32 = 16;

/// The edge.
#[component]
pub(crate) fn Resizer(props: &Props) -> Html {
    let send = use_send();
    let column = props.column;
    let name = match column {
        Column::Desired => "Width of the file",
        Column::Inspect => "Width of the inspector",
    };
    let down = Callback::from(|e: PointerEvent| {
        e.prevent_default();
        if let Some(edge) = browser::closest(&e, "[role=separator]") {
            edge.set_pointer_capture(e.pointer_id()).ok();
        }
    });
    let drag = {
        let send = send.clone();
        Callback::from(move |e: PointerEvent| {
            if e.buttons() & 1 == 1 {
                let x = e.client_x();
                let width = if column == Column::Desired { x } else { browser::size().0 as i32 - x };
                send.emit(Msg::Width(column, Some(width.max(0) as u32)));
            }
        })
    };
    let keys = {
        let (send, now) = (send.clone(), props.width.unwrap_or(column.least()) as i32);
        Callback::from(move |e: KeyboardEvent| {
            let outward = if column == Column::Desired { 1 } else { -1 };
            let by = match e.key().as_str() {
                "ArrowRight" => STEP * outward,
                "ArrowLeft" => -STEP * outward,
                "Home" => -10_000,
                _ => return,
            };
            e.prevent_default();
            send.emit(Msg::Width(column, Some((now + by).max(0) as u32)));
        })
    };
    let reset = {
        let send = send.clone();
        Callback::from(move |_: MouseEvent| send.emit(Msg::Width(column, None)))
    };
    html! {
        <div class={classes!("resizer", if column == Column::Desired { "at-end" } else { "at-start" })} role="separator" aria-orientation="vertical"
            aria-label={t(name)} aria-valuemin={column.least().to_string()} aria-valuemax="900" aria-valuenow={props.width.unwrap_or(column.least()).to_string()}
            tabindex="0" title={t("Drag; double click resets")} onpointerdown={down} onpointermove={drag} onkeydown={keys} ondblclick={reset} />
    }
}
