//! What is wrong with a plan, and how it is shown.

use crate::plan::source::Lines;
use crate::plan::{DocPath, Location, PlanSource};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt;
use std::ops::Range;

/// One thing that is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub location: Location,
    /// Where in the document, as in `steps[2].expect`; empty for the document.
    pub field: DocPath,
    /// A fragment in lower case.
    pub message: String,
    /// What would help, such as "did you mean `tool`?".
    pub hints: Vec<String>,
    /// Bytes of the text.
    pub(super) span: Range<usize>,
    /// A second place that belongs to it, and what it is.
    pub(super) also: Option<(Range<usize>, String)>,
}

impl Problem {
    pub(super) fn hint(&mut self, hint: impl Into<String>) -> &mut Self {
        self.hints.push(hint.into());
        self
    }

    pub(super) fn also(&mut self, span: Range<usize>, what: impl Into<String>) -> &mut Self {
        self.also = Some((span, what.into()));
        self
    }

    /// The message with the field it is about.
    #[must_use]
    pub fn title(&self) -> String {
        if self.field.0.is_empty() {
            self.message.clone()
        } else {
            format!("{}: {}", self.field, self.message)
        }
    }
}

/// Everything that is wrong with a plan, in the order of the file.
#[derive(Debug, Clone)]
pub struct PlanError {
    pub source: PlanSource,
    problems: Vec<Problem>,
}

impl PlanError {
    /// Sorts the problems, and drops those that one place of the text caused
    /// several times, as aliases do.
    pub(super) fn new(source: PlanSource, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.span.start);
        let mut kept: Vec<Problem> = Vec::with_capacity(problems.len());
        for problem in problems {
            let known = kept
                .iter()
                .rev()
                .take_while(|known| known.span.start == problem.span.start)
                .any(|known| known.span == problem.span && known.message == problem.message);
            if !known {
                kept.push(problem);
            }
        }
        Self {
            source,
            problems: kept,
        }
    }

    /// At least one.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// All problems with file, line and column, the line itself, a caret and
    /// hints; one blank line between two.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        let renderer = if color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let path = self.source.path.display().to_string();
        let lines = Lines::of(&self.source.text);
        let mut text = String::new();
        for problem in &self.problems {
            if !text.is_empty() {
                text.push('\n');
            }
            let group = group(&self.source.text, &lines, &path, problem);
            text.push_str(&renderer.render(&[group]));
            text.push('\n');
        }
        text
    }
}

fn group<'a>(text: &'a str, lines: &Lines<'_>, path: &'a str, problem: &'a Problem) -> Group<'a> {
    let mut group = Level::ERROR.primary_title(problem.title()).element(snippet(
        text,
        lines,
        path,
        &problem.span,
        AnnotationKind::Primary,
        None,
    ));
    if let Some((span, what)) = &problem.also {
        group = group.element(snippet(
            text,
            lines,
            path,
            span,
            AnnotationKind::Context,
            Some(what),
        ));
    }
    for hint in &problem.hints {
        group = group.element(Level::HELP.message(hint.as_str()));
    }
    group
}

/// The line that `span` begins in, so that quoting a long plan costs no more
/// than quoting a short one.
fn snippet<'a>(
    text: &'a str,
    lines: &Lines<'_>,
    path: &'a str,
    span: &Range<usize>,
    kind: AnnotationKind,
    label: Option<&'a str>,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let start = text.floor_char_boundary(span.start.min(text.len()));
    let number = lines.line_of(start);
    let line_start = lines.start_of(number);
    let line = &text[line_start..lines.start_of(number + 1).max(line_start)];
    let line = line.trim_end_matches(['\n', '\r']);
    let from = (start - line_start).min(line.len());
    let to = text.floor_char_boundary(span.end.min(text.len()));
    let to = to.saturating_sub(line_start).clamp(from, line.len());
    Snippet::source(line)
        .line_start(number)
        .path(path)
        .annotation(kind.span(from..to).label(label))
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl std::error::Error for PlanError {}
