//! How a command's lines may look.

use super::settings::World;
use anstyle::{AnsiColor, Style};
use jelly_base::text::{hunks, sanitize};
use similar::{ChangeTag, TextDiff};

/// How it may look.
#[derive(Debug, Clone, Copy)]
pub struct DiffPaint {
    pub color: bool,
    /// Columns.
    pub width: usize,
}

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

    /// The lines that differ, with some around them.
    pub fn differences(self, one: &str, other: &str) -> String {
        let mut text = String::new();
        for line in hunks(one, other, usize::MAX).lines() {
            let (mark, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
            let style = match mark {
                "-" => RED,
                "+" => GREEN,
                // From the first line on, nothing is left out above.
                "@" if line.starts_with("@@ -1,") => continue,
                "@" => {
                    text.push_str(&format!("  {}\n", self.tone(DIM, line)));
                    continue;
                }
                _ => Style::new(),
            };
            let line = format!("{mark} {}", sanitize(rest));
            text.push_str(&format!("  {}\n", self.tone(style, &line)));
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
