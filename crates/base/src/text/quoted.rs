//! Problems of a text that a person wrote, shown with the lines that they
//! stand in.
//!
//! Main types: [`Lines`], [`Quoted`].

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use std::ops::Range;

/// Bytes between two places whose characters are counted beforehand.
const STRIDE: usize = 4096;
/// A longer line is not shown, but named by line and column: to quote it costs
/// a walk through all of it.
const LONGEST: usize = 4096;

/// Where the lines of a text begin, so that a place costs no walk through it.
#[derive(Debug, Clone)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<u32>,
    /// Characters before every so many bytes: a line may be all of the text.
    characters: Vec<u32>,
}

impl<'t> Lines<'t> {
    /// `text` is shorter than 4 GiB.
    #[must_use]
    pub fn of(text: &'t str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at as u32 + 1));
        let mut characters = vec![0];
        for bytes in text.as_bytes().chunks(STRIDE) {
            let before = characters.last().copied().unwrap_or_default();
            characters.push(before + begun(bytes) as u32);
        }
        Self {
            text,
            starts,
            characters,
        }
    }

    /// Characters that begin before this byte.
    fn characters_before(&self, offset: usize) -> usize {
        let known = offset / STRIDE;
        let rest = &self.text.as_bytes()[known * STRIDE..offset];
        self.characters[known] as usize + begun(rest)
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
        let start = self.start_of(line);
        let before = match offset - start {
            // Most lines are short, and this is asked of every step of a plan.
            0..=STRIDE => begun(&self.text.as_bytes()[start..offset]),
            _ => self.characters_before(offset) - self.characters_before(start),
        };
        let bom = line == 1 && before > 0 && self.text.starts_with('\u{feff}');
        (line, before + 1 - usize::from(bom))
    }
}

/// Characters that begin in these bytes.
fn begun(bytes: &[u8]) -> usize {
    let continues = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    bytes.len() - bytes.iter().filter(continues).count()
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
    let title = Level::ERROR.primary_title(problem.title.as_str());
    let mut group = Group::with_title(title);
    let also = problem.also.as_ref();
    let also = also.map(|(span, what)| (span, AnnotationKind::Context, Some(*what)));
    let places = [(&problem.span, AnnotationKind::Primary, None)];
    for (span, kind, label) in places.into_iter().chain(also) {
        let (line, column) = lines.place(span.start.min(lines.text.len()));
        let long = lines.start_of(line + 1) - lines.start_of(line) > LONGEST;
        group = match label {
            None if long => group.element(Origin::path(path).line(line).char_column(column)),
            Some(_) if long => group,
            Some(_) | None => group.element(snippet(lines, path, span, kind, label)),
        };
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

    #[test]
    fn a_column_far_along_a_line_is_counted_in_characters_too() {
        let text = format!("\u{feff}{}x\nä", "日本".repeat(5000));
        let lines = Lines::of(&text);
        assert_eq!(lines.place(text.find('x').unwrap()), (1, 10_001));
        assert_eq!(lines.place(text.len()), (2, 2));
        assert_eq!(lines.place(0), (1, 1));
        assert_eq!(lines.place(3), (1, 1));
    }
}
