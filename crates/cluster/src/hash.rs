//! A fingerprint of the whole world, the same natively and in wasm.

use crate::World;
use std::fmt::{self, Write};

/// 128-bit FNV-1a over text.
struct Fingerprint(u128);

impl Write for Fingerprint {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
        Ok(())
    }
}

impl World {
    /// A fingerprint of everything that can make a difference later: objects, caches, queues, requests, timers,
    /// machines, dice. Two worlds with the same fingerprint go on alike.
    pub fn hash(&self) -> String {
        let mut print = Fingerprint(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        let World {
            store,
            processes,
            machines,
            clients,
            flights,
            due,
            now,
            dice,
            faults,
            settings,
            registry,
            probe_rules,
            loads,
            ..
        } = self;
        // Writing into a fingerprint cannot fail.
        let mut add = |part: &dyn fmt::Debug| write!(print, "{part:?};").unwrap_or(());
        add(now);
        add(store);
        add(processes);
        add(machines);
        add(flights);
        add(due);
        add(dice);
        add(faults);
        add(settings);
        add(registry);
        add(probe_rules);
        if !loads.is_empty() {
            add(loads);
        }
        for (id, client) in clients {
            add(id);
            add(&client.program.line());
            add(&client.told.len());
            add(&client.output);
            add(&client.ended);
        }
        format!("{:032x}", print.0)
    }
}
