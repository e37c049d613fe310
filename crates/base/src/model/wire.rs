//! What the wire check found at one server.

use super::schema::is_zero;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Further different breaches are counted and not kept.
const KEPT: usize = 100;

/// How binding the specification makes a rule, in the words of RFC 2119.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum WireLevel {
    /// MUST, or a member or type that the schema requires: a contract failure
    /// of the server.
    Must,
    /// SHOULD: told, and no failure.
    Should,
}

/// One way in which a server departed from the specification, however often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WireBreach {
    /// Name of the rule, as in `stdout_purity`; see `docs/wire-check.md`.
    pub rule: String,
    pub level: WireLevel,
    /// A fragment that completes "the server …", of the first sighting.
    pub text: String,
    /// JSON pointer into the message as it was sent; empty for all of it. Of
    /// the first sighting.
    pub pointer: String,
    /// As in `2025-11-25, server/tools, Tool Result`.
    pub section: String,
    /// Where to read it.
    pub url: String,
    /// Sightings.
    pub count: u64,
}

/// What became of checking the messages of one server in one iteration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WireCheck {
    /// Messages that were checked.
    pub messages: u64,
    /// In the order of their first sightings.
    pub breaches: Vec<WireBreach>,
    /// Sightings of breaches beyond those that are kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub further: u64,
    /// Lines that came before the revision was known, and were too many to be
    /// kept until then.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unchecked: u64,
}

impl WireCheck {
    /// Adds what was seen, or raises the count of what was seen before.
    pub fn add(&mut self, breach: WireBreach) {
        let known = self.breaches.iter().position(|known| {
            (&known.rule, &known.section) == (&breach.rule, &breach.section)
                && known.text == breach.text
        });
        if let Some(known) = known {
            let known = &mut self.breaches[known];
            known.count = known.count.saturating_add(breach.count);
        } else if self.of_level(breach.level).count() < KEPT {
            self.breaches.push(breach);
        } else {
            self.further = self.further.saturating_add(breach.count);
        }
    }

    /// Takes in what was seen in another life of the same server.
    pub fn merge(&mut self, other: Self) {
        self.messages = self.messages.saturating_add(other.messages);
        self.further = self.further.saturating_add(other.further);
        self.unchecked = self.unchecked.saturating_add(other.unchecked);
        for breach in other.breaches {
            self.add(breach);
        }
    }

    /// What fails the server.
    pub fn failing(&self) -> impl Iterator<Item = &WireBreach> {
        self.of_level(WireLevel::Must)
    }

    fn of_level(&self, level: WireLevel) -> impl Iterator<Item = &WireBreach> {
        let of_level = move |breach: &&WireBreach| breach.level == level;
        self.breaches.iter().filter(of_level)
    }
}

impl WireBreach {
    /// Where it stands in the message, if not all of it is meant, and in the
    /// specification.
    #[must_use]
    pub fn place(&self) -> String {
        if self.pointer.is_empty() {
            self.section.clone()
        } else {
            format!("{}; {}", self.pointer, self.section)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, WireBreach, WireCheck, WireLevel};

    fn breach(rule: &str, text: &str) -> WireBreach {
        WireBreach {
            rule: rule.into(),
            level: WireLevel::Must,
            text: text.into(),
            pointer: format!("/{text}"),
            section: "s".into(),
            url: String::new(),
            count: 1,
        }
    }

    #[test]
    fn a_breach_that_repeats_is_kept_once_with_its_count() {
        let mut one = WireCheck::default();
        one.add(breach("a", "x"));
        one.add(breach("a", "x"));
        let mut other = one.clone();
        other.add(breach("a", "y"));
        one.merge(other);
        let counts: Vec<u64> = one.breaches.iter().map(|b| b.count).collect();
        assert_eq!(counts, [4, 1]);
    }

    #[test]
    fn a_flood_of_what_should_not_be_hides_nothing_that_must_not() {
        let mut check = WireCheck::default();
        for i in 0..1000 {
            check.add(WireBreach {
                level: WireLevel::Should,
                ..breach("a", &format!("x{i}"))
            });
        }
        check.add(breach("b", "y"));
        assert_eq!(check.failing().count(), 1);
    }

    #[test]
    fn a_flood_is_counted_and_not_kept() {
        let mut check = WireCheck::default();
        for i in 0..1000 {
            check.add(breach("a", &format!("x{i}")));
        }
        assert_eq!(check.breaches.len(), KEPT);
        assert_eq!(check.further, 1000 - KEPT as u64);
    }
}
