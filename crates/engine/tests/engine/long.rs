//! Long answers: a terminal shows their end, and is not slower for what stands before it.

use crate::page::Page;

#[test]
fn a_long_list_ends_as_its_text_does() {
    let mut page = Page::open("empty");
    for form in ["yaml", "json"] {
        page.kubectl(&format!("kubectl get clusterroles -o {form}"));
        let end = |(text, code): (String, Option<i32>)| {
            let (word, end) = text.split_once(" not kept.\n").expect("it says that lines are missing");
            assert!(word.ends_with(" are") && !word.contains(['{', ':']), "{word}");
            (end.to_string(), code)
        };
        let (shown, code) = end(page.terminal());
        assert!(((63 << 10)..=(64 << 10)).contains(&shown.len()) && code == Some(0), "{}", shown.len());
        // Through a pipe all of it is written first.
        page.kubectl(&format!("kubectl get clusterroles -o {form} | cat"));
        assert_eq!(end(page.terminal()), (shown, code));
        page.kubectl(&format!("kubectl get clusterroles -o {form} | head -1"));
        assert!(["{\n", "apiVersion: v1\n"].contains(&page.terminal().0.as_str()));
        page.kubectl(&format!("kubectl get services -o {form} | cat"));
        let (short, _) = page.terminal();
        page.kubectl(&format!("kubectl get services -o {form}"));
        assert_eq!(page.terminal(), (short, Some(0)));
    }
}
