//! The cluster's own programs are not held up to ask the roles for each request. Here they are asked: in recorded
//! sessions every request that was answered is one that the default roles allow under the program's own name.

use kubestep_cluster::{LogEntry, Record, World, roles_allow};
use kubestep_lessons::{
    player::{Observer, Player},
    script::Script,
};
use kubestep_model::{Instant, Kind};
use std::collections::BTreeSet;

/// Sessions that between them set every loop to work.
const SESSIONS: [&str; 9] = [
    "s02-typo-undo",
    "s08-deleting",
    "s09-quota-blocks-pods",
    "s16-endpoints-during-a-rollout",
    "s17-statefulset",
    "s19-daemonset",
    "s20-jobs",
    "s27-node-stops",
    "s33-drain-and-budget",
];

#[derive(Default)]
struct Asker {
    revision: u64,
    last_change: Option<Instant>,
    asked: BTreeSet<String>,
    refused: BTreeSet<String>,
    users: BTreeSet<String>,
}

fn is_change(entry: &LogEntry) -> bool {
    !matches!(entry.key.kind, Kind::Event | Kind::Lease | Kind::Node)
}

impl Observer for Asker {
    fn see(&mut self, world: &World, _record: &Record) {
        for audit in world.audit() {
            // Nodes have an authorizer of their own, and the administrator may do everything.
            let other = audit.user.starts_with("system:node:") || &*audit.user == "kubernetes-admin";
            if other || &*audit.user == "system:apiserver" {
                continue;
            }
            self.users.insert(audit.user.to_string());
            let what = format!(
                "{} {} {}{}{}",
                audit.user,
                audit.verb,
                audit.kind.qualified(),
                if audit.subresource.is_empty() { "" } else { "/" },
                audit.subresource
            );
            if self.asked.insert(what.clone()) && !roles_allow(world.store(), &audit.user, audit) {
                self.refused.insert(what);
            }
        }
        for entry in world.store().log_after(self.revision).filter(|e| is_change(e)) {
            self.last_change = Some(entry.at);
        }
        self.revision = world.store().revision();
    }

    fn last_change(&self) -> Instant {
        self.last_change.unwrap_or(Instant::START)
    }
}

#[test]
fn the_default_roles_allow_what_the_clusters_programs_do() {
    let (mut refused, mut users, mut asked) = (BTreeSet::new(), BTreeSet::new(), 0);
    for name in SESSIONS {
        let path = format!("{}/../../tests/golden/sessions/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect("the session is there");
        let script = Script::read(&text).expect("a script");
        let mut player = Player::new(&script, 1, Asker::default(), None);
        player.play(&script);
        refused.extend(player.observer.refused);
        users.extend(player.observer.users);
        asked += player.observer.asked.len();
    }
    println!("{asked} sorts of requests by {users:#?}");
    assert!(users.len() >= 12, "{users:?}");
    assert!(refused.is_empty(), "{refused:#?}");
}
