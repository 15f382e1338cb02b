//! Lessons on a disk: the files of a folder and of the folders above it.

use kubestep_lessons::lesson::Source;
use std::path::{Path, PathBuf};

/// The lessons below a path, and every file that they may need.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    /// The folder that all paths are below.
    pub root: PathBuf,
    /// All Markdown files.
    pub sources: Vec<Source>,
    /// The originals that were asked for, in order.
    pub lessons: Vec<String>,
}

impl Shelf {
    /// Opens a file or a folder. Errors: what cannot be read.
    pub fn open(path: &Path) -> Result<Shelf, String> {
        let said = |e: std::io::Error| format!("{}: {e}", path.display());
        let full = path.canonicalize().map_err(said)?;
        let mut root =
            if full.is_dir() { full.clone() } else { full.parent().unwrap_or(&full).to_path_buf() };
        while let Some(above) = root.parent().filter(|above| above.join("folder.md").exists()) {
            root = above.to_path_buf();
        }
        let mut shelf = Shelf { root: root.clone(), ..Shelf::default() };
        shelf.walk(&root)?;
        shelf.sources.sort_by(|a, b| a.path.cmp(&b.path));
        let below = |p: &str| root.join(p).starts_with(&full);
        let all = shelf.sources.iter().map(|s| s.path.clone());
        shelf.lessons = all.filter(|p| is_lesson(p) && below(p)).collect();
        if shelf.lessons.is_empty() {
            return Err(format!("{}: there is no lesson", path.display()));
        }
        Ok(shelf)
    }

    fn walk(&mut self, folder: &Path) -> Result<(), String> {
        let said = |e: std::io::Error| format!("{}: {e}", folder.display());
        for entry in std::fs::read_dir(folder).map_err(said)? {
            let path = entry.map_err(said)?.path();
            if path.is_dir() {
                self.walk(&path)?;
            } else if path.extension().is_some_and(|e| e == "md") {
                let below = path.strip_prefix(&self.root).unwrap_or(&path);
                let text = std::fs::read_to_string(&path).map_err(said)?;
                let path = below.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
                self.sources.push(Source { path, text });
            }
        }
        Ok(())
    }
}

/// Whether a file is the original of a lesson: neither a folder's, nor a translation, nor for readers of the folder.
pub(super) fn is_lesson(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name != "README.md" && name.split('.').count() == 2 && name != "folder.md"
}
