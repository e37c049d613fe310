//! Failures of several tests at one line of the product: a value that it can't
//! take is one cause, whatever the value.

use crate::engine::{Stumble, stumbled};
use jelly_base::model::FailureView;
use std::collections::HashMap;

/// Which failures stumble over one line of the product. `first_of` are places in
/// `views`, and `failed_at` tells lines by fingerprint.
pub(super) fn same_lines(
    views: &[FailureView<'_>],
    first_of: impl Iterator<Item = (usize, usize)>,
    failed_at: &HashMap<String, String>,
) -> Vec<Vec<usize>> {
    let mut lines: HashMap<String, Vec<(Stumble, Vec<usize>)>> = HashMap::new();
    for (group, first) in first_of {
        let view = &views[first];
        let said = view.evidence.map(|(_, text)| text).or(view.message);
        // A set-up may go through the same line.
        if !["code_exception", "fixture_error"].contains(&view.kind.root_cause.as_str()) {
            continue;
        }
        let (Some(place), Some(said)) = (failed_at.get(view.fingerprint), said) else {
            continue;
        };
        let Some(stumble) = stumbled(place, said) else {
            continue;
        };
        let here = lines.entry(stumble.at.clone()).or_default();
        match here.iter().position(|(known, _)| known.is_like(&stumble)) {
            Some(at) => here[at].1.push(group),
            None if here.len() < DIFFERENT => here.push((stumble, vec![group])),
            None => {}
        }
    }
    let groups = lines.into_values().flatten().map(|(_, groups)| groups);
    let mut found: Vec<Vec<usize>> = groups.filter(|all| all.len() > 1).collect();
    found.sort_unstable();
    found
}

/// Things that one line is known to stumble over. More are not compared.
const DIFFERENT: usize = 64;
