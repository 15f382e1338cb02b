//! Lessons on a disk: the files of a folder and of the folders above it.

use kubestep_lessons::lesson::Source;
use std::path::{Path, PathBuf};

/// The languages that the page speaks beside English.
pub(super) const LANGUAGES: [&str; 1] = ["de"];

/// The lessons below a path, and every file that they may need.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    /// The folder that all paths are below.
    pub root: PathBuf,
    /// All Markdown files.
    pub sources: Vec<Source>,
    /// The originals that were asked for, in order.
    pub lessons: Vec<String>,
    /// What was asked for.
    pub(super) asked: PathBuf,
    /// Files that are no text, and why.
    pub(super) unread: Vec<(String, String)>,
}

impl Shelf {
    /// Opens a file or a folder. Errors: what cannot be read.
    pub fn open(path: &Path) -> Result<Shelf, String> {
        let said = |e: std::io::Error| format!("{}: {e}", path.display());
        let full = original(path).canonicalize().map_err(said)?;
        let mut root =
            if full.is_dir() { full.clone() } else { full.parent().unwrap_or(&full).to_path_buf() };
        while let Some(above) = root.parent().filter(|above| above.join("folder.md").exists()) {
            root = above.to_path_buf();
        }
        let mut shelf = Shelf { root: root.clone(), asked: full.clone(), ..Shelf::default() };
        shelf.walk(&root)?;
        shelf.sources.sort_by(|a, b| a.path.cmp(&b.path));
        let all = shelf.sources.iter().map(|s| s.path.clone());
        shelf.lessons = all.filter(|p| is_lesson(p) && shelf.is_asked(p)).collect();
        if shelf.lessons.is_empty() && shelf.unread.is_empty() {
            return Err(format!("{}: there is no lesson", path.display()));
        }
        Ok(shelf)
    }

    /// Whether a file is, or lies below, what was asked for.
    pub(super) fn is_asked(&self, path: &str) -> bool {
        self.root.join(path).starts_with(&self.asked)
    }

    fn walk(&mut self, folder: &Path) -> Result<(), String> {
        let said = |e: std::io::Error| format!("{}: {e}", folder.display());
        for entry in std::fs::read_dir(folder).map_err(said)? {
            let path = entry.map_err(said)?.path();
            if path.is_dir() {
                self.walk(&path)?;
            } else if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("md")) {
                let below = path.strip_prefix(&self.root).unwrap_or(&path);
                let name = below.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
                let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
                match String::from_utf8(bytes) {
                    Ok(text) => self.sources.push(Source { path: name, text }),
                    Err(_) => {
                        self.unread.push((name, "The file is no text in UTF-8. Save it as UTF-8.".into()))
                    }
                }
            }
        }
        Ok(())
    }
}

/// The original of a translation: who asks for one means both.
fn original(path: &Path) -> PathBuf {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let parts: Vec<&str> = name.split('.').collect();
    match parts[..] {
        [stem, language, "md"] if LANGUAGES.contains(&language) => {
            let other = path.with_file_name(format!("{stem}.md"));
            if other.exists() { other } else { path.to_path_buf() }
        }
        _ => path.to_path_buf(),
    }
}

/// Whether a file is the original of a lesson: neither a folder's, nor a translation, nor for readers of the folder.
pub(super) fn is_lesson(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name != "README.md" && name.ends_with(".md") && name.split('.').count() == 2 && name != "folder.md"
}
