//! Words of a question: blanks separate, quotation marks keep together.

/// Splits a text into words. Errors: a quotation mark without its partner.
pub fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quoted) = (vec![], None::<String>, None::<char>);
    for c in text.chars() {
        match (c, quoted) {
            ('"' | '\'', None) => {
                quoted = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(mark)) if c == mark => quoted = None,
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if quoted.is_some() {
        return Err("A quotation mark is not closed.".into());
    }
    words.extend(word);
    Ok(words)
}
