//! A terminal on which progress never reaches the right edge.
//!
//! When a person types Ctrl-C, the terminal writes `^C` where the cursor is.
//! The cursor rests at the end of the last line that is drawn: at the edge of
//! the window the echo would go on in the next line, and what is taken away
//! afterwards would be one line too few.

use console::Term;
use indicatif::{ProgressDrawTarget, TermLike};
use std::io;

/// Room for some keys that are typed between two drawings.
const MARGIN: u16 = 10;
/// Below that nothing can be read.
const LEAST: u16 = 10;
/// Drawings in a second.
const RATE: u8 = 20;

/// Where progress is drawn: stderr, with a margin.
#[must_use]
pub fn progress_target() -> ProgressDrawTarget {
    let terminal = Margin(Term::buffered_stderr());
    ProgressDrawTarget::term_like_with_hz(Box::new(terminal), RATE)
}

#[derive(Debug)]
struct Margin(Term);

fn within(width: u16) -> u16 {
    width.saturating_sub(MARGIN).max(LEAST.min(width))
}

impl TermLike for Margin {
    fn width(&self) -> u16 {
        within(self.0.size().1)
    }

    fn height(&self) -> u16 {
        self.0.size().0
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_left(n)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.0.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn a_margin_leaves_room_for_what_is_drawn() {
        assert_eq!([within(80), within(15), within(4)], [70, 10, 4]);
    }
}
