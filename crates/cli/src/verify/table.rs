//! The outcomes as a table for people, and as comma-separated values.

use super::result::{Outcome, lasting};

const HEAD: [&str; 9] =
    ["learner", "lesson", "solved", "steps", "acts", "hints", "predictions", "time", "note"];

fn solved(row: &Outcome) -> String {
    match (row.solved, row.shown) {
        (true, _) => "yes".into(),
        (false, 0) => "no".into(),
        (false, n) => format!("shown {n}"),
    }
}

fn cells(row: &Outcome) -> [String; 9] {
    let (right, close, all) = row.predictions;
    let near = if close > 0 { format!(" ({close} near)") } else { String::new() };
    [
        row.learner.clone(),
        row.lesson.clone(),
        solved(row),
        row.steps.to_string(),
        row.acts.to_string(),
        row.hints.to_string(),
        format!("{right} of {all}{near}"),
        lasting(row.seconds),
        row.note.clone(),
    ]
}

/// Columns as wide as what stands in them.
pub(super) fn plain(rows: &[Outcome]) -> String {
    let mut all: Vec<[String; 9]> = vec![HEAD.map(str::to_uppercase)];
    all.extend(rows.iter().map(cells));
    let wide = |column: usize| all.iter().map(|r| r[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(wide).collect();
    let mut out = String::new();
    for row in &all {
        let line: Vec<String> = row.iter().zip(&widths).map(|(cell, w)| format!("{cell:w$}")).collect();
        out.push_str(line.join("   ").trim_end());
        out.push('\n');
    }
    let good = rows.iter().filter(|r| r.solved).count();
    out.push_str(&format!("{good} of {} solved\n", rows.len()));
    out
}

/// For a spreadsheet: a cell that would be taken for a formula is told to be text.
fn quoted(cell: &str) -> String {
    let safe = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{cell}")
    } else {
        cell.to_string()
    };
    if safe.contains([',', '"', '\n', '\r']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}

/// One line for each session, numbers as numbers.
pub(super) fn csv(rows: &[Outcome]) -> String {
    let mut out = String::from(
        "class,learner,lesson,solved,shown,steps,acts,hints,right,near,predictions,seconds,minutes,note\n",
    );
    for row in rows {
        let (right, close, all) = row.predictions;
        let minutes = row.minutes.map_or_else(String::new, |m| m.to_string());
        let cells = [
            quoted(&row.class),
            quoted(&row.learner),
            quoted(&row.lesson),
            row.solved.to_string(),
            row.shown.to_string(),
            row.steps.to_string(),
            row.acts.to_string(),
            row.hints.to_string(),
            right.to_string(),
            close.to_string(),
            all.to_string(),
            row.seconds.to_string(),
            minutes,
            quoted(&row.note),
        ];
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Outcome {
        Outcome {
            class: "k8s-1".into(),
            learner: "=Ada, \"A\"".into(),
            lesson: "send-it-twice".into(),
            solved: true,
            steps: 41,
            acts: 5,
            hints: 1,
            predictions: (1, 1, 3),
            seconds: 754,
            ..Outcome::default()
        }
    }

    #[test]
    fn a_table_for_people() {
        let text = plain(&[row(), Outcome { learner: "Bo".into(), shown: 2, ..Outcome::default() }]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("LEARNER     LESSON          SOLVED"), "{text}");
        assert!(
            lines[1].contains("yes") && lines[1].contains("1 of 3 (1 near)") && lines[1].contains("12m 34s"),
            "{text}"
        );
        assert!(lines[2].contains("shown 2"), "{text}");
        assert_eq!(lines[3], "1 of 2 solved");
    }

    #[test]
    fn names_are_neither_formulas_nor_columns() {
        let text = csv(&[row()]);
        let line = text.lines().nth(1).expect("a row");
        assert_eq!(line, "k8s-1,\"'=Ada, \"\"A\"\"\",send-it-twice,true,0,41,5,1,1,1,3,754,,");
    }
}
