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
use example::{ExampleTest, RerunExample};
use spec::{
    Change::*, Condition, Framework, NamedValue, Placeholder, Rerun, RerunWay, Sign::*, Template,
};

type StaticText = &'static str;
type Items<T> = &'static [T];
type PatternRef = &'static LazyPattern;

/// A pattern that is compiled when it is first asked.
#[derive(Debug)]
pub(crate) struct LazyPattern {
    text: StaticText,
    compiled: OnceLock<Option<Regex>>,
}

impl LazyPattern {
    const fn new(text: StaticText) -> Self {
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
pub(crate) static FRAMEWORKS: Items<Framework> =
    include!(concat!(env!("OUT_DIR"), "/frameworks.rs"));

/// By framework, tests with the commands that run them again.
#[cfg(test)]
pub(crate) static EXAMPLES: Items<(StaticText, Items<RerunExample>)> =
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

/// The file of a test, as its failure tells it in the way of its framework.
pub(crate) fn file_of<'t>(writer: &str, failure: &'t str) -> Option<&'t str> {
    let framework = of_writer(writer)?;
    let of_language = || called(framework.language)?.place;
    let place = framework.place.or_else(of_language)?.get()?;
    Some(place.captures_iter(failure).last()?.name("file")?.as_str())
}

pub(crate) fn called(name: &str) -> Option<&'static Framework> {
    FRAMEWORKS.iter().find(|framework| framework.name == name)
}
