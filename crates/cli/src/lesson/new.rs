//! `kubestep lesson new`: a lesson that passes its check, to be changed into another.

use std::path::Path;

const LESSON: &str = include_str!("template.md");
const GERMAN: &str = include_str!("template.de.md");

/// Writes a lesson and its translation. Errors: why not.
pub(super) fn write(path: &str) -> Result<i32, String> {
    let Some(stem) = path.strip_suffix(".md").filter(|s| !s.is_empty()) else {
        return Err(format!("{path}: a lesson is a file that ends in .md"));
    };
    let file = stem.rsplit(['/', std::path::MAIN_SEPARATOR]).next().unwrap_or(stem);
    if file.contains('.') {
        let plain = file.split('.').next().unwrap_or(file);
        return Err(format!(
            "{path}: a lesson's own name has no full stop; write {plain}.md, its translation is made, too"
        ));
    }
    for (name, text) in [(path.to_string(), LESSON), (format!("{stem}.de.md"), GERMAN)] {
        if Path::new(&name).exists() {
            return Err(format!("{name} is there already; nothing was written over"));
        }
        if let Some(folder) = Path::new(&name).parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        std::fs::write(&name, text).map_err(|e| format!("{name}: {e}"))?;
        println!("wrote {name}");
    }
    println!("Change it, and after each change: kubestep lesson check {path}");
    Ok(0)
}
