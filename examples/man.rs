//! Writes the manual pages, one for each command, into a folder.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1) else {
        return Err(std::io::Error::other("usage: man FOLDER"));
    };
    std::fs::create_dir_all(&folder)?;
    clap_mangen::generate_to(jelly::cli::command_line(), Path::new(&folder))
}
