//! What is wrong with a plan, and how it is shown.

use crate::masked::{HiddenTexts, hidden_parts, starred};
use crate::types::file_of;
use crate::{DocPath, Location, PlanSource, Segment};
use jelly_base::text::redact::Redactor;
use jelly_base::text::truncate_middle;
use jelly_base::text::{Quoted, render_quoted};
use std::borrow::Cow;
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
    /// What stands there is not to be shown.
    pub(super) secret: bool,
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

    pub(super) fn hide(&mut self) -> &mut Self {
        self.secret = true;
        self
    }

    /// The message with the field it is about.
    #[must_use]
    pub fn title(&self) -> String {
        if self.field.0.is_empty() {
            self.message.clone()
        } else {
            let field = self.field.to_string();
            format!(
                "{}: {}",
                truncate_middle(&field, LONGEST_FIELD),
                self.message
            )
        }
    }
}

/// Bytes of the name of a place: the keys in it may be of any length.
const LONGEST_FIELD: usize = 300;

/// Everything that is wrong with a plan, in the order of the file.
#[derive(Debug, Clone)]
pub struct PlanError {
    pub source: PlanSource,
    /// The files that it includes.
    included: Vec<PlanSource>,
    problems: Vec<Problem>,
    /// What is shown of the plan holds none of its secrets.
    redactor: Redactor,
}

impl PlanError {
    /// Sorts the problems, drops those that one place of the text caused several
    /// times, as aliases do, and leaves out of what they say what is not shown of
    /// the texts: whoever gets one may print it.
    pub(super) fn new(
        source: PlanSource,
        included: Vec<PlanSource>,
        mut problems: Vec<Problem>,
    ) -> Self {
        problems.sort_by_key(|problem| (problem.location.file, problem.span.start));
        let mut kept: Vec<Problem> = Vec::with_capacity(problems.len());
        for problem in problems {
            let known = kept
                .iter()
                .rev()
                .take_while(|known| {
                    known.span.start == problem.span.start
                        && known.location.file == problem.location.file
                })
                .any(|known| known.span == problem.span && known.message == problem.message);
            if !known {
                kept.push(problem);
            }
        }
        mask(&source, &included, &mut kept);
        Self {
            source,
            included,
            problems: kept,
            redactor: Redactor::none(),
        }
    }

    /// The file that a problem is in.
    #[must_use]
    pub fn file(&self, problem: &Problem) -> &PlanSource {
        file_of(&self.source, &self.included, problem.location)
    }

    /// As it is, but that nothing of it shows a secret that is known elsewhere:
    /// a plan that can't be read says nothing of its own.
    #[must_use]
    pub fn hiding(self, redactor: Redactor) -> Self {
        let mut hidden = Self { redactor, ..self };
        let texts = hidden.included.iter().chain([&hidden.source]);
        let secrets: Vec<&str> = texts
            .flat_map(|source| {
                let places = hidden.redactor.places(&source.text);
                places
                    .into_iter()
                    .filter_map(|place| source.text.get(place))
            })
            .collect();
        let shown = |text: &mut String| {
            if let Cow::Owned(redacted) = hidden.redactor.redact(text) {
                *text = redacted;
            }
        };
        for problem in &mut hidden.problems {
            shown(&mut problem.message);
            if holds_a_part(&problem.message, &secrets) {
                problem.message = HOLDS_A_SECRET.to_owned();
            }
            problem.hints.iter_mut().for_each(shown);
            problem.hints.retain(|hint| !holds_a_part(hint, &secrets));
            problem.also.iter_mut().for_each(|(_, what)| shown(what));
        }
        hidden
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
        let quoted = |problem| {
            let quoted = quoted(problem);
            Quoted {
                title: self.redactor.redact(&quoted.title).into_owned(),
                ..quoted
            }
        };
        let files = [&self.source].into_iter().chain(&self.included);
        let mut shown = String::new();
        for (number, source) in files.enumerate() {
            let of_file = self
                .problems
                .iter()
                .filter(|problem| usize::from(problem.location.file) == number);
            let problems: Vec<Quoted<'_>> = of_file.clone().map(quoted).collect();
            if problems.is_empty() {
                continue;
            }
            if !shown.is_empty() {
                shown.push('\n');
            }
            let path = source.path.display().to_string();
            let text = self.shown_text(source, of_file);
            shown.push_str(&render_quoted(&path, &text, &problems, color));
        }
        shown
    }

    /// The plan's text, with stars in the place of what is secret, so that all
    /// else stays where it is.
    fn shown_text<'s>(
        &self,
        source: &'s PlanSource,
        problems: impl Iterator<Item = &'s Problem>,
    ) -> Cow<'s, str> {
        let secret = problems.filter(|problem| problem.secret);
        let secret = secret.map(|problem| problem.span.clone());
        let known = self.redactor.places(&source.text);
        starred(
            &source.text,
            secret.chain(hidden_parts(source)).chain(known),
        )
    }
}

/// What is not shown of the texts is not said of them either.
fn mask(source: &PlanSource, included: &[PlanSource], problems: &mut [Problem]) {
    let files = [source].into_iter().chain(included).enumerate();
    let hidden: Vec<HiddenTexts<'_>> = files
        .map(|(number, file)| {
            let secret = problems
                .iter()
                .filter(|problem| problem.secret && usize::from(problem.location.file) == number);
            HiddenTexts::of(file, secret.map(|problem| problem.span.clone()))
        })
        .collect();
    for problem in problems {
        for (number, hidden) in hidden.iter().enumerate() {
            let here = usize::from(problem.location.file) == number;
            let about = here.then_some(&problem.span);
            let shown = |text: &mut String, about: Option<&Range<usize>>| {
                if let Some(masked) = hidden.masked(text, about) {
                    *text = masked;
                }
            };
            let is_cut = |text: &str| text.contains(LEFT_OUT) && hidden.is_cut_in(text);
            shown(&mut problem.message, about);
            if is_cut(&problem.message) {
                problem.message = HOLDS_A_SECRET.to_owned();
            }
            for hint in &mut problem.hints {
                shown(hint, about);
            }
            problem.hints.retain(|hint| !is_cut(hint));
            if let Some((span, what)) = &mut problem.also {
                shown(what, here.then_some(&*span));
            }
            for segment in &mut problem.field.0 {
                if let Segment::Key(key) = segment
                    && let Some(masked) = hidden.masked_key(key)
                {
                    *key = masked;
                }
            }
        }
    }
}

/// In a text that was cut in its middle.
const LEFT_OUT: &str = "bytes left out";
/// Instead of a message that quotes a part of one.
const HOLDS_A_SECRET: &str = "this value is wrong, and contains a secret";

/// Whether a text quotes a secret that is cut off in it, or begins in it.
fn holds_a_part(text: &str, secrets: &[&str]) -> bool {
    // As much of it as is told from a word.
    const PART: usize = 8;
    let parts = |secret: &&str| {
        let bytes = secret.as_bytes();
        [
            bytes.get(..PART),
            bytes.len().checked_sub(PART).map(|from| &bytes[from..]),
        ]
        .into_iter()
        .flatten()
        .any(|part| text.as_bytes().windows(PART).any(|window| window == part))
    };
    secrets.iter().any(parts)
}

fn quoted(problem: &Problem) -> Quoted<'_> {
    let also = problem.also.as_ref();
    Quoted {
        title: problem.title(),
        span: problem.span.clone(),
        also: also.map(|(span, what)| (span.clone(), what.as_str())),
        hints: &problem.hints,
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl std::error::Error for PlanError {}
