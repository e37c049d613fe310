//! Which program wrote a report.

use super::elements::Node;

/// Collects what points at the writer.
#[derive(Debug, Default)]
pub(super) struct Dialect {
    name: Option<&'static str>,
    cases: u32,
}

impl Dialect {
    pub(super) fn of_file(_path: &str) -> Self {
        Self::default()
    }

    /// `junit` where it can't be told.
    pub(super) fn name(&self) -> &'static str {
        self.name.unwrap_or("junit")
    }

    pub(super) fn element(&mut self, _node: Node) {}

    pub(super) fn suite_attribute(&mut self, _node: Node, name: &str, value: &str) {
        if name == "name" && value == "pytest" {
            self.name = Some("pytest");
        }
    }

    pub(super) fn property(&mut self, _name: &str, _value: &str) {}

    /// Only the first cases are looked at.
    pub(super) fn looks_at_cases(&mut self) -> bool {
        self.cases += 1;
        self.cases <= 64
    }

    pub(super) fn case_attribute(&mut self, _name: &str, _value: &str) {}

    pub(super) fn case(&mut self, _classname: &str, _name: &str) {}

    pub(super) fn message(&mut self, _value: &str) {}

    pub(super) fn type_(&mut self, _value: &str) {}
}
