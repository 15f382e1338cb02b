//! Holds the state for the components: a message goes through the reducer at once, its effects are performed, and the
//! app is drawn anew.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use yew::prelude::*;

use crate::effects;
use crate::state::{Msg, State, TimeMsg, reduce};

struct Store {
    state: RefCell<Rc<State>>,
    waiting: RefCell<VecDeque<Msg>>,
    busy: Cell<bool>,
    told: RefCell<String>,
    draw: RefCell<Option<Callback<Rc<State>>>>,
}

impl Store {
    /// Messages that effects cause are taken after the present one.
    fn take(self: &Rc<Self>, msg: Msg) {
        self.waiting.borrow_mut().push_back(msg);
        if self.busy.replace(true) {
            return;
        }
        let mut seen = false;
        loop {
            let next = self.waiting.borrow_mut().pop_front();
            let Some(msg) = next else { break };
            seen |= shows(&msg);
            let state = self.state.borrow().clone();
            let (state, todo) = reduce(&state, msg);
            let state = Rc::new(state);
            *self.state.borrow_mut() = state.clone();
            let store = self.clone();
            let send: effects::Send = Rc::new(move |m| store.take(m));
            for effect in todo {
                effects::perform(effect, &state, &send);
            }
        }
        self.busy.set(false);
        self.tell();
        let draw = self.draw.borrow().clone();
        if let Some(draw) = draw.filter(|_| seen) {
            draw.emit(self.state.borrow().clone());
        }
    }
}

impl Store {
    /// The page around a figure is told what is new.
    fn tell(&self) {
        let state = self.state.borrow().clone();
        if state.embed.is_none() {
            return;
        }
        let told = state.told_outside();
        if *self.told.borrow() != told {
            crate::browser::tell_outside(&told);
            *self.told.borrow_mut() = told;
        }
    }
}

/// Whether a message can change what is drawn: not the word that something was drawn, nor the beat of playing.
fn shows(msg: &Msg) -> bool {
    !matches!(msg, Msg::Time(TimeMsg::Drawn(_) | TimeMsg::Tick(_)))
}

/// How components say that something happened.
pub(crate) type Send = Callback<Msg>;

/// The state, and the way to change it.
#[hook]
pub(crate) fn use_store() -> (Rc<State>, Send) {
    let shown = use_state(|| Rc::new(State::default()));
    let store = use_memo((), |()| {
        let state = RefCell::new(Rc::new(State::default()));
        Rc::new(Store {
            state,
            waiting: RefCell::default(),
            busy: Cell::new(false),
            told: RefCell::default(),
            draw: RefCell::default(),
        })
    });
    let setter = shown.setter();
    let send = use_memo((), |()| {
        *store.draw.borrow_mut() = Some(Callback::from(move |state| setter.set(state)));
        let store = (*store).clone();
        Callback::from(move |msg| store.take(msg))
    });
    ((*shown).clone(), (*send).clone())
}

/// The way to change the state, inside components.
#[hook]
pub(crate) fn use_send() -> Send {
    use_context::<Send>().expect("components stand inside the app")
}

/// A callback that says one thing whatever the event was.
pub(crate) fn on<E: 'static>(send: &Send, msg: Msg) -> Callback<E> {
    let send = send.clone();
    Callback::from(move |_| send.emit(msg.clone()))
}
