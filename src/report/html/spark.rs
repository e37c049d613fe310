//! The last ends of a test as a picture in a line.

use super::parts::ready;
use maud::{Markup, html};
use std::fmt::Write as _;

/// How a test, by suite, class and name, ended in earlier runs, oldest first;
/// of a step, these are plan, server and id.
pub type PastEnds<'p> = dyn Fn(&str, &str, &str) -> Vec<TestEnd> + 'p;

/// How a test ended in a run, or a step in an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestEnd {
    Passed,
    /// It failed, and passed when it was run again.
    Flaky,
    Failed,
    /// It did not run.
    NotRun,
}

impl TestEnd {
    fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Flaky => "flaky",
            Self::Failed => "failed",
            Self::NotRun => "did not run",
        }
    }

    /// Height and colour; the height alone tells them apart.
    fn bar(self) -> (u8, &'static str, &'static str) {
        match self {
            Self::Passed => (5, "b-good", "#1a7f37"),
            Self::Flaky => (10, "b-warn", "#8a5a00"),
            Self::Failed => (14, "b-bad", "#b3261e"),
            Self::NotRun => (2, "b-none", "#6e7781"),
        }
    }
}

/// The ends, oldest first, of which at most the last twenty are shown: `noun` is
/// what each is of, as in `run`.
pub(in crate::report) fn sparkline(ends: &[TestEnd], noun: &str) -> Markup {
    const MOST: usize = 20;
    let ends = &ends[ends.len().saturating_sub(MOST)..];
    if ends.is_empty() {
        return Markup::default();
    }
    let mut bars = String::new();
    for (at, end) in ends.iter().enumerate() {
        let (height, class, color) = end.bar();
        // Writing to a String can't fail.
        let _ = write!(
            bars,
            r#"<rect class="{class}" fill="{color}" x="{}" y="{}" width="4" height="{height}"/>"#,
            at * 5,
            14 - height
        );
    }
    let width = ends.len() * 5;
    html! {
        svg.spark role="img" aria-label=(in_words(ends, noun)) width=(width) height="14"
            viewBox={ "0 0 " (width) " 14" } { (ready(bars)) }
    }
}

/// `passed in 3 runs, then failed in 1`.
fn in_words(ends: &[TestEnd], noun: &str) -> String {
    let mut words = String::new();
    for (at, run) in ends.chunk_by(|one, other| one == other).enumerate() {
        let word = run[0].word();
        let _ = match at {
            0 => {
                let count = jelly_base::text::plural(run.len() as u64, noun);
                write!(words, "{word} in {count}")
            }
            _ => write!(words, ", then {word} in {}", run.len()),
        };
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{TestEnd, sparkline};

    #[test]
    fn a_picture_says_in_words_what_it_shows() {
        let ends = [
            TestEnd::Passed,
            TestEnd::Passed,
            TestEnd::Failed,
            TestEnd::Flaky,
        ];
        let svg = sparkline(&ends, "run").into_string();
        let words = "passed in 2 runs, then failed in 1, then flaky in 1";
        assert!(svg.contains(words), "{svg}");
        assert_eq!(svg.matches("<rect ").count(), 4);
        assert_eq!(sparkline(&[], "run").into_string(), "");
        let many = sparkline(&[TestEnd::Failed; 300], "run").into_string();
        assert_eq!(many.matches("<rect ").count(), 20);
    }
}
