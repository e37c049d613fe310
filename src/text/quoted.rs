//! Problems of a text that a person wrote, shown with the lines that they
//! stand in.
//!
//! Main types: [`Lines`], [`Quoted`].

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;

/// Where the lines of a text begin, so that a place costs no walk through it.
#[derive(Debug, Clone)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<u32>,
}

impl<'t> Lines<'t> {
    /// `text` is shorter than 4 GiB.
    #[must_use]
    pub fn of(text: &'t str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at as u32 + 1));
        Self { text, starts }
    }

    /// 1-based.
    fn line_of(&self, offset: usize) -> usize {
        self.starts
            .partition_point(|start| *start as usize <= offset)
    }

    /// Where the 1-based `line` begins; the end of the text for lines after it.
    fn start_of(&self, line: usize) -> usize {
        self.starts
            .get(line.saturating_sub(1))
            .map_or(self.text.len(), |start| *start as usize)
    }

    /// Line and column of a byte, both 1-based; columns count characters.
    #[must_use]
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.line_of(offset);
        let before = &self.text[self.start_of(line)..offset];
        let bom = usize::from(line == 1 && before.starts_with('\u{feff}'));
        (line, before.chars().count() + 1 - bom)
    }
}

/// One problem, to be shown.
#[derive(Debug, Clone)]
pub struct Quoted<'a> {
    pub title: String,
    /// Bytes of the text.
    pub span: Range<usize>,
    /// A second place that belongs to it, and what it is.
    pub also: Option<(Range<usize>, &'a str)>,
    /// What would help, such as "did you mean `tool`?".
    pub hints: &'a [String],
}

/// All problems with file, line and column, the line itself, a caret and
/// hints; one blank line between two.
#[must_use]
pub fn render_quoted(path: &str, text: &str, problems: &[Quoted<'_>], color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let lines = Lines::of(text);
    let mut shown = String::new();
    for problem in problems {
        if !shown.is_empty() {
            shown.push('\n');
        }
        shown.push_str(&renderer.render(&[group(&lines, path, problem)]));
        shown.push('\n');
    }
    shown
}

fn group<'a>(lines: &Lines<'a>, path: &'a str, problem: &'a Quoted<'a>) -> Group<'a> {
    let mut group = Level::ERROR
        .primary_title(problem.title.as_str())
        .element(snippet(
            lines,
            path,
            &problem.span,
            AnnotationKind::Primary,
            None,
        ));
    if let Some((span, what)) = &problem.also {
        group = group.element(snippet(
            lines,
            path,
            span,
            AnnotationKind::Context,
            Some(what),
        ));
    }
    for hint in problem.hints {
        group = group.element(Level::HELP.message(hint.as_str()));
    }
    group
}

/// The line that `span` begins in, so that quoting a long text costs no more
/// than quoting a short one.
fn snippet<'a>(
    lines: &Lines<'a>,
    path: &'a str,
    span: &Range<usize>,
    kind: AnnotationKind,
    label: Option<&'a str>,
) -> Snippet<'a, Annotation<'a>> {
    let text = lines.text;
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

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn columns_count_characters_and_lines_end_at_their_feed() {
        let lines = Lines::of("é: 1\nb: ü2\n");
        assert_eq!(lines.place(0), (1, 1));
        assert_eq!(lines.place(4), (1, 4));
        assert_eq!(lines.place("é: 1\nb: ü".len()), (2, 5));
        assert_eq!(lines.place(1000), (3, 1));
    }
}
