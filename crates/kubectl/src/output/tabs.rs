//! Columns from text with tabs. Upstream: Go's text/tabwriter, as kubectl uses it (spaces for padding).

pub(super) fn blanks(out: &mut String, mut count: usize) {
    const BLANKS: &str = "                ";
    while count > 0 {
        let some = &BLANKS[..count.min(BLANKS.len())];
        out.push_str(some);
        count -= some.len();
    }
}

/// How wide the columns are.
#[derive(Clone, Copy, Debug)]
pub struct Tabs {
    /// No column is narrower.
    pub min: usize,
    /// Blanks between columns.
    pub padding: usize,
}

impl Tabs {
    /// As the tables of `kubectl get`.
    pub const TABLE: Tabs = Tabs { min: 6, padding: 3 };
    /// As `kubectl describe` and `rollout history`.
    pub const DESCRIBE: Tabs = Tabs { min: 0, padding: 2 };

    /// Aligns the columns. A cell that ends in a tab belongs to a column together with those above and below it
    /// in an unbroken run of lines; what stands after a line's last tab is left as it is.
    pub fn align(self, text: &str) -> String {
        let lines: Vec<Vec<&str>> = text.split('\n').map(|line| line.split('\t').collect()).collect();
        let widths = self.widths(&lines);
        let mut out = String::with_capacity(text.len() * 2);
        for (at, (line, widths)) in lines.iter().zip(&widths).enumerate() {
            if at > 0 {
                out.push('\n');
            }
            for (cell, width) in line.iter().zip(widths.iter().map(Some).chain([None])) {
                out.push_str(cell);
                if let Some(width) = width {
                    blanks(&mut out, width.saturating_sub(cell.chars().count()));
                }
            }
        }
        out
    }

    /// Aligns lines that all have the same columns, never narrower than those that were aligned before.
    pub fn align_on(self, text: &str, widths: &mut Vec<usize>) -> String {
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        for line in &lines {
            for (at, cell) in line.iter().enumerate() {
                if widths.len() <= at {
                    widths.push(self.min);
                }
                widths[at] = widths[at].max(cell.chars().count() + self.padding);
            }
        }
        let mut out = String::with_capacity(text.len() * 2);
        for line in &lines {
            for (at, cell) in line.iter().enumerate() {
                out.push_str(cell);
                if at + 1 < line.len() {
                    blanks(&mut out, widths[at].saturating_sub(cell.chars().count()));
                }
            }
            out.push('\n');
        }
        out
    }

    /// For each line the widths of all its cells but the last.
    fn widths(self, lines: &[Vec<&str>]) -> Vec<Vec<usize>> {
        let mut widths: Vec<Vec<usize>> = lines.iter().map(|line| vec![0; line.len() - 1]).collect();
        let columns = widths.iter().map(Vec::len).max().unwrap_or(0);
        for column in 0..columns {
            let mut start = 0;
            while start < lines.len() {
                let run = lines[start..].iter().take_while(|line| line.len() > column + 1).count();
                let cells =
                    lines[start..start + run].iter().map(|line| line[column].chars().count() + self.padding);
                let width = cells.max().unwrap_or(0).max(self.min);
                for line in &mut widths[start..start + run] {
                    line[column] = width;
                }
                start += run.max(1);
            }
        }
        widths
    }
}

#[cfg(test)]
mod tests {
    use super::Tabs;

    #[test]
    fn aligns_as_go() {
        let text = "NAME\tAGE\nweb-long-name\t5s\n";
        assert_eq!(Tabs::TABLE.align(text), "NAME            AGE\nweb-long-name   5s\n");
        assert_eq!(Tabs::TABLE.align("UP\tX"), "UP    X");
        let text = "Name:\tweb\nLabels:\ta=b\n\tc=d\nplain\nIP:\tx\n";
        let want = "Name:    web\nLabels:  a=b\n         c=d\nplain\nIP:  x\n";
        assert_eq!(Tabs::DESCRIBE.align(text), want);
        assert_eq!(Tabs::DESCRIBE.align("a\t\tb\nccc\tdd\te"), "a        b\nccc  dd  e");
    }
}
