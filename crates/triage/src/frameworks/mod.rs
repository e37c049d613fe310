//! What is known of each test framework, from the files of this folder: one
//! for a framework, or for what several share of a language. The build script
//! checks them and writes them down as data; `spec` says what may stand there.

use regex::Regex;
use std::sync::OnceLock;

macro_rules! described {
    ($($item:item)*) => {
        $(#[derive(Debug)]
        $item)*
    };
}

#[cfg(test)]
pub(crate) mod example;
pub(crate) mod spec;

#[cfg(test)]
use example::{Case, Example};
use spec::{Change::*, Condition, Framework, Piece, Rerun, Sign::*, Template, Value, Way};

type Text = &'static str;
type List<T> = &'static [T];
type Pattern = &'static Lazy;

/// A pattern that is compiled when it is first asked.
#[derive(Debug)]
pub(crate) struct Lazy {
    text: Text,
    compiled: OnceLock<Option<Regex>>,
}

impl Lazy {
    const fn new(text: Text) -> Self {
        let compiled = OnceLock::new();
        Self { text, compiled }
    }

    /// `None` is no pattern, which the build script does not let through.
    pub(crate) fn get(&self) -> Option<&Regex> {
        let compiled = || Regex::new(self.text).ok();
        self.compiled.get_or_init(compiled).as_ref()
    }
}

/// By their ranks.
pub(crate) static FRAMEWORKS: List<Framework> =
    include!(concat!(env!("OUT_DIR"), "/frameworks.rs"));

/// By framework, tests with the commands that run them again.
#[cfg(test)]
pub(crate) static EXAMPLES: List<(Text, List<Example>)> =
    include!(concat!(env!("OUT_DIR"), "/framework-examples.rs"));

/// The framework that a writer of reports is known to write for, as far as one
/// is.
pub(crate) fn of_writer(writer: &str) -> Option<&'static Framework> {
    let writer = writer.to_ascii_lowercase();
    FRAMEWORKS.iter().find(|framework| {
        let is_in = |part: &&str| writer.contains(part);
        framework.writers.iter().any(is_in) || framework.exactly.contains(&writer.as_str())
    })
}

pub(crate) fn called(name: &str) -> Option<&'static Framework> {
    FRAMEWORKS.iter().find(|framework| framework.name == name)
}
