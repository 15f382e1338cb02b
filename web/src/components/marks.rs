//! The marks of the score as paths: one element for all marks of a lane, however many there are.

use kubestep_protocol::Who;

use super::glyph::px;

/// A mark's outline around its middle, in a box of 16.
enum Outline {
    Points(&'static [(f64, f64)]),
    Circle(f64),
    /// Outer and inner radius.
    Ring(f64, f64),
    /// The upper half of a disc: its radius, and how far its base is below the middle.
    Dome(f64, f64),
}

/// The same shapes as the sprite's.
fn outline(who: Who) -> Outline {
    Outline::Points(match who {
        Who::Person => return Outline::Circle(5.6),
        Who::Other => return Outline::Ring(5.8, 3.4),
        Who::Node => return Outline::Dome(6.5, 4.0),
        Who::Api => &[(-5.2, -5.2), (5.2, -5.2), (5.2, 5.2), (-5.2, 5.2)],
        Who::Deployment => &[(0.0, -6.2), (6.6, 5.6), (-6.6, 5.6)],
        Who::ReplicaSet => &[(0.0, -7.2), (7.2, 0.0), (0.0, 7.2), (-7.2, 0.0)],
        Who::Scheduler => &[
            (-2.0, -6.5),
            (2.0, -6.5),
            (2.0, -2.0),
            (6.5, -2.0),
            (6.5, 2.0),
            (2.0, 2.0),
            (2.0, 6.5),
            (-2.0, 6.5),
            (-2.0, 2.0),
            (-6.5, 2.0),
            (-6.5, -2.0),
            (-2.0, -2.0),
        ],
        Who::Kubelet => &[(0.0, 6.2), (6.6, -5.6), (-6.6, -5.6)],
        Who::EndpointSlice => &[(-6.5, -5.5), (6.5, 5.5), (6.5, -5.5), (-6.5, 5.5)],
        Who::Gc => &[
            (-5.8, -3.7),
            (-3.7, -5.8),
            (0.0, -2.1),
            (3.7, -5.8),
            (5.8, -3.7),
            (2.1, 0.0),
            (5.8, 3.7),
            (3.7, 5.8),
            (0.0, 2.1),
            (-3.7, 5.8),
            (-5.8, 3.7),
            (-2.1, 0.0),
        ],
        Who::Fault => &[
            (0.0, -7.5),
            (2.0, -2.0),
            (7.5, 0.0),
            (2.0, 2.0),
            (0.0, 7.5),
            (-2.0, 2.0),
            (-7.5, 0.0),
            (-2.0, -2.0),
        ],
    })
}

/// Draws one sort of mark again and again.
pub(super) struct Pen {
    /// Where the outline begins, from the middle.
    from: (f64, f64),
    /// The way from there, relative.
    way: String,
}

impl Pen {
    /// For marks of this size.
    pub(super) fn new(who: Who, size: f64) -> Self {
        let k = size / 16.0;
        let circle = |r: f64, sweep: u8| {
            format!("a{0} {0} 0 1 {2} {1} 0a{0} {0} 0 1 {2} -{1} 0z", px(k * r), px(2.0 * k * r), sweep)
        };
        match outline(who) {
            Outline::Points(points) => {
                let mut way = String::new();
                for pair in points.windows(2) {
                    way.push_str(&format!(
                        "l{} {}",
                        px(k * (pair[1].0 - pair[0].0)),
                        px(k * (pair[1].1 - pair[0].1))
                    ));
                }
                let (x, y) = points.first().copied().unwrap_or_default();
                Pen { from: (k * x, k * y), way: way + "z" }
            }
            Outline::Circle(r) => Pen { from: (-k * r, 0.0), way: circle(r, 0) },
            Outline::Ring(outer, inner) => {
                // The hole is drawn the other way round, so that marks may overlap.
                let hole = circle(inner, 1);
                let way = format!("{}m{} 0{hole}", circle(outer, 0), px(k * (outer - inner)));
                Pen { from: (-k * outer, 0.0), way }
            }
            Outline::Dome(r, down) => Pen {
                from: (-k * r, k * down),
                way: format!("a{0} {0} 0 0 1 {1} 0z", px(k * r), px(2.0 * k * r)),
            },
        }
    }

    /// Adds a mark with its middle at a place.
    pub(super) fn draw(&self, path: &mut String, x: f64, y: f64) {
        path.push('M');
        path.push_str(&px(x + self.from.0));
        path.push(' ');
        path.push_str(&px(y + self.from.1));
        path.push_str(&self.way);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_begins_at_its_outline_and_is_closed() {
        for who in [Who::Person, Who::Api, Who::Fault, Who::Node, Who::Other, Who::Gc, Who::Scheduler] {
            let mut path = String::new();
            Pen::new(who, 16.0).draw(&mut path, 100.0, 50.0);
            assert!(path.starts_with('M') && path.ends_with('z'), "{who:?}: {path}");
        }
        let mut path = String::new();
        let pen = Pen::new(Who::Deployment, 8.0);
        pen.draw(&mut path, 100.0, 50.0);
        pen.draw(&mut path, 110.0, 50.0);
        assert_eq!(path, "M100.0 46.9l3.3 5.9l-6.6 0.0zM110.0 46.9l3.3 5.9l-6.6 0.0z");
    }
}
