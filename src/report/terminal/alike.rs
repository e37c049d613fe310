//! Lines about steps that did not pass, of which a person reads a few of many
//! alike: the others are counted at the end of the iteration, and each stands
//! in the report.

use jelly_base::text::without_numbers;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// So many lines of one shape are told in an iteration.
const OF_A_SHAPE: usize = 5;
/// So many lines are told in an iteration, of whatever shape.
const OF_AN_ITERATION: usize = 60;

/// What was told of the steps of an iteration.
#[derive(Debug, Default)]
pub(super) struct AlikeLines {
    iteration: u32,
    told: usize,
    shapes: HashMap<u64, usize>,
    /// By the word of their lines.
    rest: BTreeMap<&'static str, Rest>,
    /// What was said of a step, by the step, in this iteration and in the one
    /// before.
    said: HashMap<String, u64>,
    said_before: HashMap<String, u64>,
}

/// What stands behind a word of the lines that were not told: names of steps.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// They went as in the iteration before.
    pub(super) as_before: Vec<String>,
    /// Others are told in their place.
    pub(super) too_many: Vec<String>,
}

impl AlikeLines {
    pub(super) fn begin(&mut self, iteration: u32) {
        let said = std::mem::take(&mut self.said);
        *self = Self {
            iteration,
            said_before: said,
            ..Self::default()
        };
    }

    /// The number of the iteration before.
    pub(super) fn before(&self) -> u32 {
        self.iteration.saturating_sub(1)
    }

    /// Whether a line is told, of a step by this name.
    pub(super) fn tells(&mut self, word: &'static str, step: &str, why: &str) -> bool {
        let exact = hash(&(word, why));
        self.said.insert(step.to_owned(), exact);
        if self.said_before.get(step) == Some(&exact) {
            let rest = self.rest.entry(word).or_default();
            rest.as_before.push(step.to_owned());
            return false;
        }
        let of_shape = self
            .shapes
            .entry(hash(&(word, without_numbers(why))))
            .or_default();
        *of_shape += 1;
        let tells = *of_shape <= OF_A_SHAPE && self.told < OF_AN_ITERATION;
        if tells {
            self.told += 1;
        } else {
            let rest = self.rest.entry(word).or_default();
            rest.too_many.push(step.to_owned());
        }
        tells
    }

    /// What was not told, by the word of its lines.
    pub(super) fn take_rest(&mut self) -> BTreeMap<&'static str, Rest> {
        std::mem::take(&mut self.rest)
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::AlikeLines;

    #[test]
    fn a_few_of_many_alike_are_told_and_the_others_are_counted() {
        let mut lines = AlikeLines::default();
        lines.begin(1);
        let told = |lines: &mut AlikeLines| {
            let steps = (0..300)
                .filter(|n| lines.tells("FAIL", &format!("m/s{n}"), &format!("got \"v{n}\"")));
            steps.count()
        };
        assert_eq!(told(&mut lines), 5);
        assert!(lines.tells("FAIL", "m/other", "no such tool"));
        assert!(lines.tells("HELD", "m/held", "got \"v1\""));
        let rest = lines.take_rest();
        assert_eq!(rest["FAIL"].too_many.len(), 295);
        assert_eq!(rest["FAIL"].too_many[0], "m/s5");
        assert!(!rest.contains_key("HELD"));

        lines.begin(2);
        assert_eq!(told(&mut lines), 0);
        assert!(lines.tells("FAIL", "m/other", "another reason"));
        let rest = lines.take_rest();
        assert_eq!((lines.before(), rest["FAIL"].as_before.len()), (1, 300));
    }

    #[test]
    fn unlike_lines_have_an_end_too() {
        let mut lines = AlikeLines::default();
        lines.begin(1);
        let letters = |n: u32| -> String {
            let digits = n.to_string();
            digits
                .bytes()
                .map(|b| char::from(b - b'0' + b'a'))
                .collect()
        };
        let told = (0..1000).filter(|n| lines.tells("FAIL", &letters(*n), &letters(*n)));
        assert_eq!(told.count(), 60);
        assert_eq!(lines.take_rest()["FAIL"].too_many.len(), 940);
    }
}
