//! Which patterns a text may match at all, found in one pass over it.
//!
//! There are some thousand patterns, and nearly none of them matches a given
//! text. Most need a literal that is not there, so one pass looks for the
//! literals of all of them at once; only the patterns whose literals it finds
//! are matched. The few that need no literal are matched in sets.

use super::marks::Marks;
use super::windows::Windows;
use regex::bytes::{RegexSet, RegexSetBuilder};
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Patterns in one set. Larger sets need fewer passes over a text, and build
/// larger states for each of its letters.
const SET: usize = 32;

/// The literals of all patterns, and sets of the patterns without one.
pub(super) struct Sieve {
    /// Each literal with the pattern that needs it.
    literals: Windows,
    sets: Vec<Set>,
    /// How many patterns there are.
    patterns: usize,
}

struct Set {
    patterns: Vec<usize>,
    compiled: RegexSet,
}

impl Sieve {
    /// The sieve of these patterns with their literals; `None` where they are
    /// too large together.
    pub(super) fn new<'p>(
        patterns: impl Iterator<Item = (&'p str, Option<Vec<String>>)>,
    ) -> Option<Self> {
        let mut needed: Vec<(String, usize)> = Vec::new();
        let mut without: Vec<(usize, String)> = Vec::new();
        let mut count = 0;
        for (index, (pattern, literals)) in patterns.enumerate() {
            count = index + 1;
            match literals {
                Some(literals) => needed.extend(literals.into_iter().map(|l| (l, index))),
                None => without.push((index, loosened(pattern))),
            }
        }
        let sets = without
            .chunks(SET)
            .map(|chunk| {
                Some(Set {
                    patterns: chunk.iter().map(|(index, _)| *index).collect(),
                    compiled: RegexSetBuilder::new(chunk.iter().map(|(_, loose)| loose))
                        .unicode(false)
                        .multi_line(true)
                        .build()
                        .ok()?,
                })
            })
            .collect::<Option<_>>()?;
        Some(Self {
            literals: Windows::new(needed.iter().map(|(l, pattern)| (l.as_str(), *pattern))),
            sets,
            patterns: count,
        })
    }

    /// The patterns that `text` may match, in their order; no other one
    /// matches it. Of those that no literal rules out, only `wanted` ones are
    /// looked for.
    pub(super) fn candidates(&self, text: &str, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut candidates = Marks::new(self.patterns);
        self.literals
            .find(text.as_bytes(), |pattern| candidates.set(pattern));
        for set in &self.sets {
            if set.patterns.iter().any(|pattern| wanted(*pattern)) {
                for hit in set.compiled.matches(text.as_bytes()) {
                    candidates.set(set.patterns[hit]);
                }
            }
        }
        candidates.iter().collect()
    }
}

/// The pattern with its bounded gaps (`.{0,40}`) unbounded. It matches all that
/// the pattern matches and more, and the automaton of the set stays small: a
/// bounded gap costs a state for each of its lengths.
fn loosened(pattern: &str) -> String {
    static GAP: LazyLock<Regex> = LazyLock::new(|| {
        #[expect(clippy::expect_used, reason = "a constant that every test compiles")]
        Regex::new(r"\{([01]),[0-9]+\}").expect("the pattern of gaps compiles")
    });
    GAP.replace_all(
        pattern,
        |gap: &Captures<'_>| {
            if &gap[1] == "0" { "*" } else { "+" }
        },
    )
    .into_owned()
}
