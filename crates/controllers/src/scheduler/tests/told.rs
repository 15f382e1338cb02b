//! Every code of a note has a sentence, here and in the controllers of endpoints.

use crate::{endpoints, endpointslice, job, scheduler::sentences, sentences::Sentence, statefulset};
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
    let statefulset =
        ["mod.rs", "claims.rs", "pods.rs", "revisions.rs", "rolling.rs", "status.rs", "sync.rs"]
            .map(|file| format!("statefulset/{file}"));
    let statefulset: Vec<&str> = statefulset.iter().map(String::as_str).collect();
    let job = ["mod.rs", "manage.rs", "sync.rs", "track.rs"].map(|file| format!("job/{file}"));
    let job: Vec<&str> = job.iter().map(String::as_str).collect();
    let all: Vec<(&[Sentence], BTreeSet<String>)> = vec![
        (statefulset::SENTENCES, codes(&statefulset, "sts.")),
        (job::SENTENCES, codes(&job, "job.")),
        (
            sentences::SENTENCES,
            codes(
                &[
                    "scheduler/bind.rs",
                    "scheduler/handlers.rs",
                    "scheduler/preempt_now.rs",
                    "scheduler/volumes.rs",
                ],
                "scheduler.",
            ),
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
