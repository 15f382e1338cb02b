//! Whether a shell waits for more of a line: a quote is open, a text behind `<<` has not ended, or `\\` stands at its end.

/// Whether it does, of all lines so far.
pub(super) fn unfinished(text: &str) -> bool {
    let mut quote = None;
    let mut escaped = false;
    let mut lines = text.split('\n');
    while let Some(line) = lines.next() {
        let texts;
        (texts, escaped) = line_of(line, &mut quote);
        for (end, bare) in texts {
            let ends =
                |l: &str| (if bare { l.trim_start_matches('\t') } else { l }).trim_end_matches('\r') == end;
            if !lines.any(ends) {
                return true;
            }
        }
    }
    quote.is_some() || escaped
}

/// The words that end the texts which a line announces, with whether tabs before them do not count; and whether the line's
/// end is escaped. Knows of the quote that is open at its begin, and then at its end.
fn line_of(line: &str, quote: &mut Option<char>) -> (Vec<(String, bool)>, bool) {
    let mut texts = vec![];
    let mut chars = line.chars().peekable();
    let mut begins = true;
    while let Some(c) = chars.next() {
        match (*quote, c) {
            (None | Some('"'), '\\') if chars.next().is_none() => return (texts, true),
            (None, '"' | '\'') => *quote = Some(c),
            (Some(open), _) if open == c => *quote = None,
            (None, '#') if begins => break,
            (None, '<') if chars.next_if_eq(&'<').is_some() => {
                let bare = chars.next_if_eq(&'-').is_some();
                while chars.next_if(|c| c.is_whitespace()).is_some() {}
                let mut end = String::new();
                while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !"|;&<>()".contains(*c)) {
                    end.extend(Some(c).filter(|c| !"'\"\\".contains(*c)));
                }
                if !end.is_empty() {
                    texts.push((end, bare));
                }
            }
            _ => {}
        }
        begins = c.is_whitespace() || ";&|(".contains(c);
    }
    (texts, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_on_where_a_shell_would_wait() {
        let more = [
            "cat <<EOF | kubectl apply -f -",
            "cat <<EOF | kubectl apply -f -\nkind: Pod\n",
            "cat <<-'X Y'\n",
            "echo 'a",
            "echo \"a\nb",
            "kubectl get \\",
            "cat <<A <<B\nA\n",
        ];
        let done = [
            "",
            "kubectl get pods",
            "cat <<EOF | kubectl apply -f -\nkind: it's\nEOF",
            "cat <<-EOF\n\tx\n\tEOF",
            "echo 'a\nb'",
            "kubectl get \\\n pods",
            "# it's a remark <<EOF",
            "echo \\' a#b <",
            "cat <<",
        ];
        for line in more {
            assert!(unfinished(line), "{line:?}");
        }
        for line in done {
            assert!(!unfinished(line), "{line:?}");
        }
    }
}
