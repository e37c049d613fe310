//! Which patterns a text may match at all, found in one pass over it.
//!
//! There are some thousand patterns, and nearly none of them matches a given
//! text. Most need a literal that is not there, so one pass looks for the
//! literals of all of them at once; only the patterns whose literals it finds
//! are matched. The few that need no literal are matched in sets: of each,
//! first whether any of it matches, which is quick and mostly is the answer.

use super::marks::Marks;
use super::placed::PlacedLiterals;
use super::windows::Windows;
use regex::bytes::{RegexSet, RegexSetBuilder};
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Patterns in one set. Larger sets need fewer passes over a text, and build
/// larger states for each of its letters.
const SET: usize = 32;

/// The literals of all patterns, and sets of the patterns without one.
pub(super) struct Prefilter {
    /// Each built-in literal with the patterns that need it.
    builtin: Windows,
    /// Those of other patterns, where there are any.
    own: Option<Windows>,
    sets: Vec<PatternSet>,
    /// How many patterns there are.
    patterns: usize,
}

/// A pattern with what is known of it.
pub(super) struct PrefilterPattern<'p> {
    pub(super) pattern: &'p str,
    pub(super) literals: PatternLiterals<'p>,
    /// The fields whose texts it is matched with, a bit for each.
    pub(super) fields: u32,
}

/// Of which literals a pattern needs one.
pub(super) enum PatternLiterals<'p> {
    /// Of none.
    Nothing,
    /// Of these built-in ones.
    Builtin(&'p [u32]),
    Own(Vec<String>),
}

/// Patterns without literals, for the same fields.
struct PatternSet {
    fields: u32,
    patterns: Vec<usize>,
    compiled: RegexSet,
}

impl PatternSet {
    fn new(members: &[(u32, usize, String)]) -> Option<Self> {
        Some(Self {
            fields: members.first()?.0,
            patterns: members.iter().map(|(_, index, _)| *index).collect(),
            compiled: RegexSetBuilder::new(members.iter().map(|(_, _, loose)| loose))
                .unicode(false)
                .multi_line(true)
                .build()
                .ok()?,
        })
    }
}

impl Prefilter {
    /// The prefilter of these patterns; `None` where they are too large together.
    pub(super) fn new<'p>(
        builtin: &PlacedLiterals,
        patterns: impl Iterator<Item = PrefilterPattern<'p>>,
    ) -> Option<Self> {
        let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); builtin.places.len()];
        let mut own: Vec<(String, usize)> = Vec::new();
        let mut without: Vec<(u32, usize, String)> = Vec::new();
        let mut count = 0;
        for (index, known) in patterns.enumerate() {
            count = index + 1;
            match known.literals {
                PatternLiterals::Builtin(needed) => {
                    for literal in needed {
                        if let Some(patterns) = needed_by.get_mut(*literal as usize) {
                            patterns.push(index);
                        }
                    }
                }
                PatternLiterals::Own(needed) => {
                    own.extend(needed.into_iter().map(|one| (one, index)));
                }
                PatternLiterals::Nothing => {
                    without.push((known.fields, index, loosened(known.pattern)));
                }
            }
        }
        without.sort_unstable();
        let sets = without
            .chunk_by(|(one, ..), (other, ..)| one == other)
            .flat_map(|group| group.chunks(SET))
            .map(PatternSet::new)
            .collect::<Option<_>>()?;
        let own = own.iter().map(|(literal, owner)| (&**literal, *owner));
        Some(Self {
            builtin: Windows::of_builtin(builtin, &needed_by),
            own: (own.len() > 0).then(|| Windows::new(own)),
            sets,
            patterns: count,
        })
    }

    /// The patterns that `text` may match, all those among them that are
    /// matched with any of the `fields`; no other one of these matches it.
    pub(super) fn candidates(&self, text: &str, fields: u32) -> Marks {
        let mut candidates = Marks::new(self.patterns);
        for windows in std::iter::once(&self.builtin).chain(&self.own) {
            windows.find(text, |pattern| candidates.set(pattern));
        }
        for set in &self.sets {
            if set.fields & fields != 0 && set.compiled.is_match(text.as_bytes()) {
                for hit in set.compiled.matches(text.as_bytes()) {
                    candidates.set(set.patterns[hit]);
                }
            }
        }
        candidates
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
