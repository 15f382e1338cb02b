//! What the page and the engine say to each other: plain serialisable data in the page's words.
//!
//! The page sends a [`Request`], the engine answers with [`Update`]s. Nothing here knows Kubernetes: kinds,
//! conditions and messages arrive as words that the engine has already chosen.
//!
//! **Frames.** The engine sends a [`Frame`] (or a [`Delta`] on the last one) after every command that changes
//! what is shown, but never a second one before the page has said [`Command::Drawn`] for the first. So a run of
//! many slices cannot flood the page: while a frame is on its way the engine only remembers that there is news.
//! A page that cannot use a delta (its base is another) asks with [`Command::Whole`].
//!
//! **Time.** [`At`] is virtual milliseconds since the session's first moment. Ages are never sent: a row says
//! since when, the page subtracts. So a row changes only when its object does.
//!
//! **Identity.** Rows carry small numbers ([`Id`]) that the engine gives in order of creation, the same ones at
//! every replay. A person means a name, so commands name objects by [`ObjectRef`].
//!
//! Everything is safe for postcard: no flattening, no untagged enums, no skipped fields.
#![warn(missing_docs)]

mod check;
mod command;
mod delta;
mod frame;
mod inspect;
mod lesson;
mod loops;
mod objects;
mod terminal;
mod text;
mod timeline;
mod update;

pub use check::*;
pub use command::*;
pub use delta::*;
pub use frame::*;
pub use inspect::*;
pub use lesson::*;
pub use loops::*;
pub use objects::*;
pub use terminal::*;
pub use text::*;
pub use timeline::*;
pub use update::*;
