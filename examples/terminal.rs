//! Draws what a command prints on a terminal: escape sequences on stdin, SVG on
//! stdout. `docs/record` makes the pictures of the documents with it.

use std::io::Read;

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    if let Some(command) = std::env::args().nth(1) {
        text = format!("\u{1b}[1m$ {command}\u{1b}[0m\n");
    }
    std::io::stdin().read_to_string(&mut text)?;
    let picture = anstyle_svg::Term::new()
        .palette(anstyle_svg::WIN10_CONSOLE)
        .fg_color(anstyle::RgbColor(0xd0, 0xd0, 0xd0).into())
        .bg_color(anstyle::RgbColor(0x16, 0x1b, 0x22).into())
        .render_svg(text.trim_end());
    std::io::Write::write_all(&mut std::io::stdout(), picture.as_bytes())
}
