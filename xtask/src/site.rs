//! Puts the site together: `index.html` beside one folder of assets whose name is the hash of what is in it.
//!
//! So a browser may keep the assets for ever, a new build is never mixed with an old one, and every address is
//! relative: the folder works at the root of a server as well as under a path.
//!
//! `index.html` keeps the shape that `trunk` reads; its `data-trunk` links are the list of styles here, too.

use std::fs;
use std::path::{Path, PathBuf};

use crate::build::fresh;
use crate::tools::root;

/// Copies what was made to `dist` and writes the page.
pub(crate) fn assemble(made: &Path, dist: &Path) -> Result<PathBuf, String> {
    let source = read(&root().join("index.html"))?;
    let styles = styles(&source)?;
    write(&made.join("page.css"), styles.as_bytes())?;
    let loader = "importScripts(\"worker.js\");\nwasm_bindgen({ module_or_path: \"worker_bg.wasm\" });\n";
    write(&made.join("worker_loader.js"), loader.as_bytes())?;
    for script in [
        "embed/frame.js",
        "offline/offline.js",
        "export/export.js",
        "export/picture.js",
        "export/author_worker.js",
    ] {
        let name = script.split('/').next_back().unwrap_or(script);
        write(&made.join(name), read(&root().join("web").join(script))?.as_bytes())?;
    }

    // The languages other than English are fetched by those who ask for them.
    let words = root().join("web/words");
    copy(&words, &self::files(&words)?, made)?;

    fresh(dist)?;
    let files = files(made)?;
    let mut sum = Fnv::default();
    for file in &files {
        sum.eat(file.to_string_lossy().as_bytes());
        sum.eat(&fs::read(made.join(file)).map_err(|e| format!("{}: {e}", file.display()))?);
    }
    let assets = format!("assets-{:08x}", sum.0 as u32);
    copy(made, &files, &dist.join(&assets))?;
    // Lessons are fetched one by one, under the names that their map gives.
    let lessons = root().join("lessons");
    copy(&lessons, &self::files(&lessons)?, &dist.join("lessons"))?;
    let places = read(&root().join("web/places/places.js"))?;
    write(&dist.join("index.html"), page(&source, &assets, &places).as_bytes())?;
    beside(dist)?;
    offline(dist, &assets)?;
    Ok(dist.to_path_buf())
}

/// What stands beside the page under names that do not change: the script for other pages, and the classroom.
fn beside(dist: &Path) -> Result<(), String> {
    let web = root().join("web");
    for folder in ["sdk", "classroom", "author"] {
        copy(&web.join(folder), &files(&web.join(folder))?, dist)?;
    }
    // The same script under the name of its version: a page that names it is not changed by a later one.
    let version = env!("CARGO_PKG_VERSION");
    for end in ["js", "d.ts"] {
        let text = read(&web.join("sdk").join(format!("kubestep.{end}")))?;
        write(&dist.join(format!("kubestep-{version}.{end}")), text.as_bytes())?;
    }
    Ok(())
}

/// The script that keeps the site for times without a network: it names every file, and its text changes with them.
fn offline(dist: &Path, assets: &str) -> Result<(), String> {
    let mut sum = Fnv::default();
    let mut list = String::new();
    for file in files(dist)? {
        let name = file.to_string_lossy().replace('\\', "/");
        sum.eat(name.as_bytes());
        if !name.starts_with(assets) {
            sum.eat(&fs::read(dist.join(&file)).map_err(|e| format!("{name}: {e}"))?);
        }
        // Types are for editors, not for browsers.
        if !name.ends_with(".d.ts") {
            list.push_str(&format!("  {name:?},\n"));
        }
    }
    let source = read(&root().join("web/offline/sw.js"))?;
    let script =
        source.replace("__VERSION__", &format!("{:08x}", sum.0 as u32)).replace("  \"__FILES__\",\n", &list);
    write(&dist.join("sw.js"), script.as_bytes())
}

fn copy(from: &Path, files: &[PathBuf], to: &Path) -> Result<(), String> {
    for file in files {
        let to = to.join(file);
        let parent = to.parent().unwrap_or(&to);
        fs::create_dir_all(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
        fs::copy(from.join(file), &to).map_err(|e| format!("{}: {e}", to.display()))?;
    }
    Ok(())
}

/// The styles that index.html names, in its order.
fn styles(page: &str) -> Result<String, String> {
    let mut all = String::new();
    for line in page.lines().filter(|l| l.contains("data-trunk") && l.contains("rel=\"css\"")) {
        let href = line.split("href=\"").nth(1).and_then(|rest| rest.split('"').next());
        let href = href.ok_or_else(|| format!("index.html: no href in {line}"))?;
        all.push_str(&plain(&read(&root().join(href))?));
        all.push('\n');
    }
    Ok(all)
}

/// A style sheet without its comments: they are an eighth of what has to be fetched.
fn plain(style: &str) -> String {
    let mut out = String::new();
    let mut rest = style;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    out + rest
}

/// The page with the built assets instead of trunk's links.
fn page(source: &str, assets: &str, places: &str) -> String {
    // The simulator is by far the largest part: it is fetched first, beside everything else.
    let early = format!(
        "<script>try {{ (function (w, said) {{ w.onmessage = function (e) {{ said.push(e.data); }}; \
         w.onerror = function (e) {{ e.preventDefault(); said.push(e.message || \"its file could not be loaded\"); }}; \
         window.kubestepEarly = {{ worker: w, said: said }}; }})(new Worker(\"{assets}/worker_loader.js\"), []); }} catch (e) {{ }}</script>\n"
    );
    let head = format!(
        "{early}<script>\n{places}</script>\n<link rel=\"stylesheet\" href=\"{assets}/page.css\">\n\
         <link rel=\"modulepreload\" href=\"{assets}/app.js\">\n\
         <link rel=\"preload\" href=\"{assets}/app_bg.wasm\" as=\"fetch\" type=\"application/wasm\" crossorigin>\n\
         <script type=\"module\">import init from \"./{assets}/app.js\"; \
         if (document.documentElement.hasAttribute(\"data-embed\")) await import(\"./{assets}/frame.js\"); else import(\"./{assets}/offline.js\"); \
         init({{ module_or_path: new URL(\"{assets}/app_bg.wasm\", document.baseURI) }});</script>"
    );
    let mut out = String::new();
    for line in source.lines() {
        if line.contains("data-trunk") {
            continue;
        }
        if line.trim() == "</head>" {
            out.push_str(&head);
            out.push('\n');
        }
        out.push_str(&line.replace("data-assets=\"\"", &format!("data-assets=\"{assets}/\"")));
        out.push('\n');
    }
    out
}

/// Every file below a folder, relative to it, sorted.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut found, mut open) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(sub) = open.pop() {
        let here = dir.join(&sub);
        for entry in fs::read_dir(&here).map_err(|e| format!("{}: {e}", here.display()))? {
            let entry = entry.map_err(|e| e.to_string())?;
            let name = sub.join(entry.file_name());
            if entry.path().is_dir() { open.push(name) } else { found.push(name) }
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

/// FNV-1a: enough to give different builds different names.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn eat(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self.0 ^= self.0 >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_sheet_loses_its_comments_only() {
        assert_eq!(plain("/* a */ b { c: d } /* e\n*/\nf /* open"), " b { c: d } \nf ");
    }

    #[test]
    fn the_page_names_only_relative_addresses_of_one_folder() {
        let source = "<html data-assets=\"\">\n<link data-trunk rel=\"css\" href=\"a.css\">\n</head>\n<body>";
        let page = page(source, "assets-1", "");
        assert!(!page.contains("data-trunk") && page.contains("data-assets=\"assets-1/\""), "{page}");
        assert!(!page.contains("\"/") && !page.contains("http"), "{page}");
    }
}
