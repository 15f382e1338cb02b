//! One row above the columns, once: it does not cover the verdict and does not come back by itself.

use std::rc::Rc;

use kubestep_protocol::{At, Hello, LinkRefused};
use yew::prelude::*;

use super::rich::rich;
use crate::state::{Banner, LessonMsg, Msg};
use crate::store::{Send, on, use_send};
use crate::words::{said, w, wf, ws};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) banner: Rc<Banner>,
    pub(crate) hello: Option<Rc<Hello>>,
    /// What the open session began from.
    pub(crate) begun: String,
    pub(crate) now: At,
}

/// The row.
#[component]
pub(crate) fn BannerRow(props: &Props) -> Html {
    let send = use_send();
    let role = if props.banner.warns() { "alert" } else { "status" };
    html! {
        <div class="banner" role={role}>
            <svg class="g g-l" viewBox="0 0 16 16" aria-hidden="true"><use href="#who-fault" /></svg>
            { words(props, &send) }
            <button class="btn btn-s" onclick={on(&send, Msg::Dismiss)}>{w("All right")}</button>
        </div>
    }
}

fn words(props: &Props, send: &Send) -> Html {
    match &*props.banner {
        Banner::Restarted(step, command, why) => html! {
            <>
            <span class="grow"><b>{w("The simulator stopped and was started again.")}</b>
                {" "}{wf!("You are at step {}, the moment before. Nothing of yours is lost.", step)}
                <details><summary>{w("What it said")}</summary><code>{ws(why)}</code></details></span>
            if command.is_some() { <button class="btn btn-s" onclick={on(send, Msg::TryAgain)}>{w("Try it again")}</button> }
            <button class="btn btn-s" onclick={on(send, Msg::Share)}>{w("Report, with this session")}</button>
            </>
        },
        Banner::Dead(why) => html! {
            <span class="grow"><b>{w("The simulator cannot be started here.")}</b>
                {" "}{w("Your files are safe; reload the page to try again.")}
                <details><summary>{w("What it said")}</summary><code>{ws(why)}</code></details></span>
        },
        Banner::Link(why) => link(why, props, send),
        Banner::NoStorage => html! {
            <>
            <span class="grow"><b>{w("Drafts will not survive a reload.")}</b>
                {" "}{w("This browser lets the page store nothing. Everything else works; a link still holds your session.")}</span>
            <button class="btn btn-s" onclick={on(send, Msg::Share)}>{w("Make a link now")}</button>
            </>
        },
        Banner::Back(step) => {
            let anew = match props.begun.strip_prefix("lesson:") {
                Some(id) => Msg::Lesson(LessonMsg::Start(id.into())),
                None => Msg::Scenario(props.begun.clone()),
            };
            html! {
                <>
                <span class="grow"><b>{w("Your run was put back.")}</b>{" "}{wf!("You are at step {}, where you left.", step)}</span>
                <button class="btn btn-s" onclick={on(send, anew)}>{w("Start over")}</button>
                </>
            }
        }
        Banner::Notice(notice) => {
            html! { <span class="grow">{ rich(&notice.words, props.now, send) }</span> }
        }
    }
}

fn link(why: &LinkRefused, props: &Props, send: &Send) -> Html {
    match why {
        LinkRefused::Damaged { words, scenario } => {
            let found =
                props.hello.iter().flat_map(|h| &h.scenarios).find(|s| Some(&s.id) == scenario.as_ref());
            html! {
                <>
                <span class="grow"><b>{w("This link is not whole.")}</b>{" "}{ws(words)}
                    {" "}{w("Ask for it again; chat programs sometimes cut long links.")}</span>
                { for found.map(|s| html! {
                    <button class="btn btn-s" onclick={on(send, Msg::Scenario(s.id.clone()))}>{wf!("Start “{}”", said(&s.title))}</button>
                }) }
                </>
            }
        }
        LinkRefused::Newer { format, reads } => {
            let reads = reads.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            html! {
                <span class="grow"><b>{w("This link was made by a newer Kubestep.")}</b>
                    {" "}{wf!("It uses format {}; this page reads {}. The page keeps what you had.", format, reads)}</span>
            }
        }
        LinkRefused::Lesson(id) => html! {
            <span class="grow"><b>{w("This link leads into a lesson that is not here.")}</b>{format!(" {id}")}</span>
        },
        LinkRefused::TooLarge(words) => html! {
            <span class="grow"><b>{w("This link asks for more than the page allows.")}</b>{" "}{ws(words)}</span>
        },
    }
}
