//! How a command's lines may look.

use super::settings::World;
use anstyle::{AnsiColor, Style};
use jelly_base::text::sanitize;
use similar::{ChangeTag, TextDiff};
use std::time::Duration;

/// How it may look.
#[derive(Debug, Clone, Copy)]
pub struct DiffPaint {
    pub color: bool,
    /// Columns.
    pub width: usize,
}

/// How long two texts are compared; answers may be of any size.
const PATIENCE: Duration = Duration::from_secs(2);

pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const RED: Style = AnsiColor::Red.on_default();
pub const GREEN: Style = AnsiColor::Green.on_default();

impl DiffPaint {
    pub fn of_stdout(world: &World) -> Self {
        Self {
            color: world.colors_stdout(),
            width: usize::from(world.width().unwrap_or(100)),
        }
    }

    pub fn tone(self, style: Style, text: &str) -> String {
        if self.color && !text.trim().is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// Lines below a heading.
    pub fn block(self, heading: &str, lines: &[String]) -> String {
        let mut block = format!("\n{}\n", self.tone(BOLD, heading));
        for line in lines {
            let options = textwrap::Options::new(self.width.max(40))
                .initial_indent("  ")
                .subsequent_indent("    ")
                .break_words(false);
            let line = sanitize(line);
            for wrapped in textwrap::wrap(&line, options) {
                block.push_str(wrapped.trim_end());
                block.push('\n');
            }
        }
        block
    }

    /// Both texts line by line, those that they share once.
    pub fn differences(self, one: &str, other: &str) -> String {
        let mut text = String::new();
        for change in lines(one, other).iter_all_changes() {
            let line = sanitize(change.value().trim_end_matches('\n')).into_owned();
            let (mark, style) = match change.tag() {
                ChangeTag::Equal => (" ", Style::new()),
                ChangeTag::Delete => ("-", RED),
                ChangeTag::Insert => ("+", GREEN),
            };
            text.push_str(&format!(
                "  {}\n",
                self.tone(style, &format!("{mark} {line}"))
            ));
        }
        text
    }

    /// The same within one line, word by word.
    pub fn inline_differences(self, one: &str, other: &str) -> String {
        let mut text = String::from("  ");
        for change in TextDiff::from_words(one, other).iter_all_changes() {
            let words = sanitize(change.value());
            text.push_str(&match change.tag() {
                ChangeTag::Equal => words.into_owned(),
                ChangeTag::Delete => self.tone(RED, &format!("[-{words}-]")),
                ChangeTag::Insert => self.tone(GREEN, &format!("{{+{words}+}}")),
            });
        }
        text.push('\n');
        text
    }
}

/// A comparison that ends in time, if need be with more lines than it takes.
fn lines<'t>(one: &'t str, other: &'t str) -> TextDiff<'t, 't, str> {
    TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(one, other)
}
