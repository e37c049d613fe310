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
}

impl Target {
    pub(super) fn new(id: impl Into<String>, recipe: Recipe, name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            recipe,
            names: vec![name.into()],
            note: None,
            also: None,
        }
    }

    /// Another text that may be the name by which the framework knows the
    /// test: one that selects nothing does no harm beside one that does.
    pub(super) fn or(mut self, name: impl Into<String>) -> Self {
        self.names.push(name.into());
        self
    }

    pub(super) fn also(mut self, what: impl Into<String>) -> Self {
        self.also = Some(what.into());
        self
    }

    pub(super) fn note(mut self, note: &'static str) -> Self {
        self.note = Some(note);
        self
    }
}
