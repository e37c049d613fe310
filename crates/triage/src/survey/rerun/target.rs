//! A test as its framework's command line names it.

use super::recipe::Recipe;

/// A test as its framework's command line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// The test for people and lists: unique, readable, of one line.
    pub(super) id: String,
    pub(super) recipe: Recipe,
    /// What stands for it in the recipe, mostly one text.
    pub(super) names: Vec<String>,
    /// What to know before the command is run.
    pub(super) note: Option<&'static str>,
    /// What the command runs besides the test, where its framework selects
    /// nothing smaller: `all of shop.CartTest`.
    pub(super) also: Option<String>,
    /// Its file, from the folder in which the command is run.
    pub(super) file: Option<String>,
    /// The project of the test, where the command names it itself: the module
    /// of the path of its report.
    pub(super) module: Option<String>,
}
