//! What the visitor has to fetch: the gzip size of every asset, against the budget in `web/budget.txt`.

use std::path::Path;
use std::process::Command;

use crate::build::{fresh, released};
use crate::tools::{cargo_command, output, root, run, say, target_dir};

/// The table, and what is over its budget.
pub(crate) struct Report {
    pub(crate) lines: Vec<String>,
    pub(crate) over: Vec<String>,
}

/// node compresses: it is there anyway, and so this program needs no library for it.
const GZIP: &str = "const fs = require('fs'), path = require('path'), zlib = require('zlib');\
    for (const f of fs.readdirSync(process.argv[1], { recursive: true }).map(String).sort()) {\
      const p = path.join(process.argv[1], f); if (!fs.statSync(p).isFile()) continue;\
      const b = fs.readFileSync(p); console.log(f.replace(/^assets-\\w+[\\\\/]/, ''), b.length, zlib.gzipSync(b, { level: 9 }).length); }";

/// Measures the site.
pub(crate) fn report(dist: &Path) -> Result<Report, String> {
    let sizes = output(Command::new("node").args(["-e", GZIP]).arg(dist))?;
    let budget_file = root().join("web/budget.txt");
    let budget =
        std::fs::read_to_string(&budget_file).map_err(|e| format!("{}: {e}", budget_file.display()))?;
    Ok(compare(&sizes, &budget))
}

/// Prints what the functions of each crate and module take in the simulator's wasm, the largest first, each compressed by itself.
pub(crate) fn parts() -> Result<(), String> {
    let out = target_dir()?.join("parts");
    fresh(&out)?;
    let mut cargo = cargo_command();
    cargo.args(["run", "--quiet", "-p", "xtask", "--features", "parts", "--bin", "xtask-parts", "--"]);
    run(cargo.arg(released()?.join("worker.wasm")).arg(&out))?;
    let sizes = output(Command::new("node").args(["-e", GZIP]).arg(&out))?;
    let mut rows: Vec<&str> = sizes.lines().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.rsplit(' ').next().and_then(|n| n.parse::<u64>().ok())));
    say("   part                           bytes     gzip");
    for row in rows {
        if let [gzip, bytes, name] = row.rsplitn(3, ' ').collect::<Vec<_>>()[..] {
            say(&format!("   {name:<26} {bytes:>9} {gzip:>8}"));
        }
    }
    Ok(())
}

/// `sizes` has lines of name, bytes, gzip bytes; `budget` lines of name and the gzip bytes it may have.
fn compare(sizes: &str, budget: &str) -> Report {
    let mut report = Report {
        lines: vec!["   asset                          bytes     gzip   budget".into()],
        over: vec![],
    };
    for row in sizes.lines() {
        let mut words = row.split(' ');
        let (Some(name), Some(bytes), Some(gzip)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let allowed =
            budget.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok());
        let allowed_word = allowed.map_or("-".into(), |n| n.to_string());
        report.lines.push(format!("   {name:<26} {bytes:>9} {gzip:>8} {allowed_word:>8}"));
        let used = gzip.parse::<u64>().unwrap_or(u64::MAX);
        if allowed.is_some_and(|allowed| used > allowed) {
            report.over.push(format!("{name}: {gzip} bytes gzip, and web/budget.txt allows {allowed_word}"));
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_over_its_budget_is_named() {
        let report =
            compare("app_bg.wasm 300 120\neditor.js 10 9\nx.css 5 5\n", "app_bg.wasm 119\neditor.js 9\n");
        assert_eq!(report.over, ["app_bg.wasm: 120 bytes gzip, and web/budget.txt allows 119"]);
        assert_eq!(report.lines.len(), 4);
    }
}
