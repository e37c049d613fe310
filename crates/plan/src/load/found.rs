//! What is wrong with a plan and shows only beside a server, at its place in the
//! text.
//!
//! Main type: [`PlanFinding`].

use super::problem::{PlanError, Problem};
use crate::syntax::{self, Data, Node, Span};
use crate::{DocPath, Location, Plan, PlanSource, Segment};
use jelly_base::text::Lines;

/// One thing that a good plan has wrong all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFinding {
    /// Where it is, as steps and servers say it: from the document on.
    pub path: DocPath,
    /// The key is wrong, and not its value.
    pub on_key: bool,
    /// A fragment in lower case.
    pub message: String,
    pub hints: Vec<String>,
}

impl PlanError {
    /// The findings, each at the place of the text that comes nearest to what it
    /// is about; nothing where there are none.
    #[must_use]
    pub fn of_findings(plan: &Plan, findings: Vec<PlanFinding>) -> Option<Self> {
        if findings.is_empty() {
            return None;
        }
        let files: Vec<&PlanSource> = [&plan.source].into_iter().chain(&plan.included).collect();
        let texts: Vec<PlacedText<'_>> =
            files.iter().map(|source| PlacedText::of(source)).collect();
        let problems = findings.into_iter().map(|finding| {
            let PlanFinding {
                path,
                on_key,
                message,
                hints,
            } = finding;
            let (file, field) = own_path(&path, plan.included.len());
            let text = texts.get(file).or(texts.first());
            let span = text.map_or_else(Span::default, |text| text.find(&field, on_key));
            Problem {
                location: Location {
                    file: u16::try_from(file).unwrap_or_default(),
                    ..text
                        .map(|text| text.lines.place(span.start as usize))
                        .unwrap_or_default()
                        .into()
                },
                field,
                message,
                hints,
                span: span.range(),
                also: None,
                secret: false,
            }
        });
        let problems = problems.collect();
        Some(Self::new(
            plan.source.clone(),
            plan.included.clone(),
            problems,
        ))
    }
}

/// The file that a path leads into, and the path in it.
fn own_path(path: &DocPath, included: usize) -> (usize, DocPath) {
    match path.0.as_slice() {
        [Segment::Key(key), Segment::Index(index), rest @ ..]
            if key == "include" && *index < included && !rest.is_empty() =>
        {
            (index + 1, DocPath(rest.to_vec()))
        }
        _ => (0, path.clone()),
    }
}

struct PlacedText<'t> {
    lines: Lines<'t>,
    root: Option<Node<'t>>,
}

impl<'t> PlacedText<'t> {
    fn of(source: &'t PlanSource) -> Self {
        Self {
            lines: Lines::of(&source.text),
            root: syntax::parse(source).0,
        }
    }

    /// What stands there, or the nearest thing above it: a case may have filled
    /// in what the text has a variable for.
    fn find(&self, path: &DocPath, on_key: bool) -> Span {
        let Some(mut node) = self.root.as_ref() else {
            return Span::default();
        };
        let mut key = None;
        for segment in &path.0 {
            let (below, its_key) = match (segment, &node.data) {
                (Segment::Key(name), Data::Map(_)) => match node.entry(name) {
                    Some(entry) => (&entry.value, Some(entry.key_span)),
                    None => return node.span,
                },
                (Segment::Index(index), Data::List(items)) => match items.get(*index) {
                    Some(item) => (item, None),
                    None => return node.span,
                },
                _ => return node.span,
            };
            (node, key) = (below, its_key);
        }
        key.filter(|_| on_key).unwrap_or(node.span)
    }
}

#[cfg(test)]
mod tests {
    use super::PlanFinding;
    use crate::{DocPath, PlanError, PlanSource, load};

    #[test]
    fn a_finding_points_at_what_it_is_about_or_at_what_holds_it() {
        let text = "version: 1\nservers:\n  m: { command: x }\nsteps:\n  - tool: t\n    args:\n      \
                    one: 1\n      two: [a, b]\n";
        let source = PlanSource {
            path: "p.yaml".into(),
            text: text.into(),
            variant: None,
        };
        let plan = load(source).unwrap();
        let step = &plan.steps[0].path;
        let finding = |path: DocPath, on_key| PlanFinding {
            path,
            on_key,
            message: "it is wrong".to_owned(),
            hints: Vec::new(),
        };
        for (path, on_key, line, column) in [
            (step.key("tool"), false, 5, 11),
            (step.key("args").key("one"), true, 7, 7),
            (step.key("args").key("one"), false, 7, 12),
            (step.key("args").key("two").index(1), false, 8, 16),
            (step.key("args").key("two").index(7), false, 8, 12),
            (step.key("args").key("none"), true, 7, 7),
            (step.key("args").key("one").key("deeper"), false, 7, 12),
        ] {
            let error = PlanError::of_findings(&plan, vec![finding(path, on_key)]).unwrap();
            let at = error.problems()[0].location;
            assert_eq!((at.line, at.column), (line, column), "{error}");
        }
        assert!(PlanError::of_findings(&plan, Vec::new()).is_none());
    }
}
