//! Starts the page.

fn main() {
    kubestep_web::start();
}
