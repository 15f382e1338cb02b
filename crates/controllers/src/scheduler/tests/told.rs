//! Every code of a note has a sentence, here and in the controllers of endpoints.

use crate::{
    cronjob, daemonset, endpoints, endpointslice, job, podautoscaler, scheduler::sentences,
    sentences::Sentence, statefulset, ttl_after_finished,
};
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
    let in_folder = |folder: &str, files: &[&str], prefix: &str| {
        let files: Vec<String> = files.iter().map(|file| format!("{folder}/{file}.rs")).collect();
        codes(&files.iter().map(String::as_str).collect::<Vec<_>>(), prefix)
    };
    let sets = ["mod", "claims", "pods", "revisions", "rolling", "status", "sync"];
    let daemons = ["mod", "manage", "nodes", "revisions", "rolling", "status"];
    let all: Vec<(&[Sentence], BTreeSet<String>)> = vec![
        (statefulset::SENTENCES, in_folder("statefulset", &sets, "sts.")),
        (job::SENTENCES, in_folder("job", &["mod", "manage", "sync", "track"], "job.")),
        (cronjob::SENTENCES, in_folder("cronjob", &["mod", "active", "start"], "cron.")),
        (podautoscaler::SENTENCES, codes(&["podautoscaler/mod.rs"], "hpa.")),
        (ttl_after_finished::SENTENCES, codes(&["ttl_after_finished/mod.rs"], "ttl.")),
        (daemonset::SENTENCES, in_folder("daemonset", &daemons, "ds.")),
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
