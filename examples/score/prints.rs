//! Marks for fingerprints.

use crate::marks::share;
use crate::rows::Row;
use jelly_triage::engine::Engine;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

const WHOLE: f64 = 0.98;
const APART: f64 = 0.95;

/// How often the same failure keeps its fingerprint, and others don't share it.
pub struct Prints {
    groups: usize,
    whole: usize,
    pairs: usize,
    apart: usize,
    pub wrong: Vec<String>,
}

impl Prints {
    pub fn of(rows: &[Row]) -> Self {
        let mut groups: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let mut pairs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for row in rows {
            let print = || Engine::builtin().diagnose(&row.failure).fingerprint;
            if let Some(pair) = &row.pair {
                pairs.entry(pair).or_default().push(print());
            } else if let Some(group) = &row.group {
                groups.entry(group).or_default().insert(print());
            }
        }
        let torn = groups
            .iter()
            .filter(|(_, prints)| prints.len() > 1)
            .map(|(group, prints)| format!("torn into {}: {group}", prints.len()));
        let mixed = pairs
            .iter()
            .filter(|(_, prints)| prints.iter().collect::<BTreeSet<_>>().len() < prints.len())
            .map(|(pair, _)| format!("taken for one: {pair}"));
        let (torn, mixed): (Vec<String>, Vec<String>) = (torn.collect(), mixed.collect());
        Self {
            groups: groups.len(),
            whole: groups.len() - torn.len(),
            pairs: pairs.len(),
            apart: pairs.len() - mixed.len(),
            wrong: torn.into_iter().chain(mixed).collect(),
        }
    }

    /// What is below its bar.
    pub fn below(&self, file: &Path) -> Vec<String> {
        [
            ("groups whole", share(self.whole, self.groups), WHOLE),
            ("near-misses apart", share(self.apart, self.pairs), APART),
        ]
        .iter()
        .filter(|(_, score, bar)| score < bar)
        .map(|(what, score, bar)| format!("{}: {what} {score:.3}, less than {bar}", file.display()))
        .collect()
    }
}

impl fmt::Display for Prints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "fingerprints")?;
        writeln!(
            f,
            "  groups whole           {:>6.3} ({} of {})",
            share(self.whole, self.groups),
            self.whole,
            self.groups
        )?;
        write!(
            f,
            "  near-misses apart      {:>6.3} ({} of {})",
            share(self.apart, self.pairs),
            self.apart,
            self.pairs
        )
    }
}
