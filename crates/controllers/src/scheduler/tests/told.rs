//! Every code of a note has a sentence, here and in the controllers of endpoints.

use crate::{endpoints, endpointslice, scheduler::sentences, sentences::Sentence};
use std::{collections::BTreeSet, fs, path::Path};

fn codes(files: &[&str], prefix: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(folder.join(file)).expect(file);
        let noted = text.split('"').filter(|t| t.starts_with(prefix) && !t.contains([' ', '/']));
        found.extend(noted.map(str::to_owned));
    }
    found
}

#[test]
fn every_code_has_one_sentence() {
    let all: [(&[Sentence], BTreeSet<String>); 3] = [
        (
            sentences::SENTENCES,
            codes(&["scheduler/bind.rs", "scheduler/handlers.rs", "scheduler/preempt_now.rs"], "scheduler."),
        ),
        (endpoints::SENTENCES, codes(&["endpoints/mod.rs"], "endpoints.")),
        (endpointslice::SENTENCES, codes(&["endpointslice/mod.rs"], "endpointslice.")),
    ];
    for (table, used) in all {
        let told: BTreeSet<String> = table.iter().map(|s| s.code.to_owned()).collect();
        assert_eq!(told.len(), table.len());
        assert_eq!(told, used.into_iter().filter(|code| !code.contains(".kubernetes")).collect());
    }
}
