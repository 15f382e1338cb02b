//! The page's pieces, one per file, each with its styles beside it.

mod banner;
mod board;
mod breakmenu;
mod cluster;
mod desired;
mod gap;
mod glyph;
mod inspector;
mod keys;
mod loops;
mod manifest;
mod menu;
mod models;
mod pod;
mod registry;
mod resizer;
mod rich;
mod scheduler;
mod score;
mod share;
mod speech;
mod tabs;
mod terminal;
mod timeline;
mod topbar;
mod verdict;
mod why;

pub(crate) use banner::BannerRow;
pub(crate) use cluster::Cluster;
pub(crate) use desired::Desired;
pub(crate) use glyph::Sprite;
pub(crate) use inspector::Inspector;
pub(crate) use keys::KeysDialog;
pub(crate) use models::ModelsDialog;
pub(crate) use timeline::TimePanel;
pub(crate) use topbar::Topbar;
