//! What stands for a secret in a text to be pasted: a blank, which whoever has it fills in.

use super::places::secrets_in_argv;

/// How the place of a value begins that is to be filled in.
const BLANK: &str = "<value of ";

/// An argv to be pasted: what is secret in it is a blank to fill in, for whoever
/// has it.
#[must_use]
pub fn argv_with_blanks(argv: &[String]) -> Vec<String> {
    let mut shown = argv.to_vec();
    // From the end, so that what is found before keeps its place.
    for found in secrets_in_argv(argv).iter().rev() {
        let name = found.name.trim_start_matches('-');
        shown[found.word].replace_range(found.at.clone(), &blank_for(name));
    }
    shown
}

/// What stands in a text to be pasted for the value of this name, which is to be
/// filled in.
#[must_use]
pub fn blank_for(name: &str) -> String {
    format!("{BLANK}{name}>")
}

/// The first such blank of a text.
#[must_use]
pub fn first_blank(text: &str) -> Option<&str> {
    let blank = &text[text.find(BLANK)?..];
    Some(&blank[..=blank.find('>')?])
}
