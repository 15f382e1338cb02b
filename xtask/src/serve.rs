//! `cargo xtask serve`: a small static server for this machine only.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use crate::tools::say;

/// A server that listens, not yet answering.
pub(crate) struct Server {
    listener: TcpListener,
    dist: PathBuf,
    prefix: String,
}

impl Server {
    /// Listens on the loopback address; port 0 takes a free one. `prefix` is the path the site is served under (`/`).
    pub(crate) fn bind(dist: &Path, port: u16, prefix: &str) -> Result<Server, String> {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|e| format!("port {port}: {e}"))?;
        Ok(Server { listener, dist: dist.to_path_buf(), prefix: prefix.into() })
    }

    /// Where the site is.
    pub(crate) fn address(&self) -> Result<String, String> {
        let port = self.listener.local_addr().map_err(|e| e.to_string())?.port();
        Ok(format!("http://127.0.0.1:{port}{}", self.prefix))
    }

    /// Answers for ever, a thread for each connection.
    pub(crate) fn answer(self) {
        let (dist, prefix) = (std::sync::Arc::new(self.dist), std::sync::Arc::new(self.prefix));
        for stream in self.listener.incoming().flatten() {
            let (dist, prefix) = (dist.clone(), prefix.clone());
            // A browser that goes away in the middle is no failure of ours.
            std::thread::spawn(move || converse(stream, &dist, &prefix).ok());
        }
    }
}

/// Serves until it is stopped.
pub(crate) fn run(dist: &Path, port: u16) -> Result<(), String> {
    let server = Server::bind(dist, port, "/")?;
    say(&format!("\n   Kubestep is at {}\n   Ctrl-C ends it.", server.address()?));
    server.answer();
    Ok(())
}

/// Several requests of one connection.
fn converse(stream: TcpStream, dist: &Path, prefix: &str) -> std::io::Result<()> {
    stream.set_read_timeout(Some(std::time::Duration::from_secs(30)))?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream).take(64 * 1024 * 1024);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let mut line = String::new();
        while reader.read_line(&mut line)? > 2 {
            line.clear();
        }
        let mut words = first.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or("/"));
        let answer = respond(dist, prefix, method, path);
        writer.write_all(answer.head().as_bytes())?;
        if method != "HEAD" {
            writer.write_all(&answer.body)?;
        }
        writer.flush()?;
    }
}

struct Answer {
    status: &'static str,
    mime: &'static str,
    cache: &'static str,
    body: Vec<u8>,
}

impl Answer {
    fn head(&self) -> String {
        format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: {}\r\n\
             Access-Control-Allow-Origin: *\r\nX-Content-Type-Options: nosniff\r\nConnection: keep-alive\r\n\r\n",
            self.status,
            self.mime,
            self.body.len(),
            self.cache
        )
    }
}

fn respond(dist: &Path, prefix: &str, method: &str, path: &str) -> Answer {
    let plain = |status, words: &str| Answer {
        status,
        mime: "text/plain; charset=utf-8",
        cache: "no-store",
        body: words.as_bytes().to_vec(),
    };
    if method != "GET" && method != "HEAD" {
        return plain("405 Method Not Allowed", "only GET and HEAD");
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let Some(inside) = path.strip_prefix(prefix) else {
        return plain("404 Not Found", "nothing here");
    };
    // Names of this site are plain; anything else, above all "..", is not one of them.
    let plain_char = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let known = |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(plain_char);
    let file = if inside.is_empty() { "index.html" } else { inside };
    if !file.split('/').all(known) {
        return plain("404 Not Found", "nothing here");
    }
    match std::fs::read(dist.join(file)) {
        Ok(body) => {
            let cache = if file.contains('/') { "public, max-age=31536000, immutable" } else { "no-cache" };
            Answer { status: "200 OK", mime: mime(file), cache, body }
        }
        Err(_) => plain("404 Not Found", "nothing here"),
    }
}

fn mime(file: &str) -> &'static str {
    match file.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_site_are_given_with_their_types() {
        let dir = std::env::temp_dir().join(format!("kubestep-serve-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("assets-1")).expect("folder");
        std::fs::write(dir.join("index.html"), "page").expect("file");
        std::fs::write(dir.join("assets-1/app_bg.wasm"), "wasm").expect("file");
        let ask = |prefix: &str, path: &str| {
            let answer = respond(&dir, prefix, "GET", path);
            (answer.status, answer.mime, answer.body.len())
        };
        assert_eq!(ask("/", "/?x#y"), ("200 OK", "text/html; charset=utf-8", 4));
        assert_eq!(ask("/sub/", "/sub/assets-1/app_bg.wasm"), ("200 OK", "application/wasm", 4));
        for path in ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "/nothing", "//etc/passwd", "/assets-1/"] {
            assert_eq!(ask("/", path).0, "404 Not Found", "{path}");
        }
        assert_eq!(ask("/sub/", "/assets-1/app_bg.wasm").0, "404 Not Found");
        std::fs::remove_dir_all(&dir).expect("removed");
    }
}
