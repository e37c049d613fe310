//! Arguments, URLs and variables as they may be shown.

use super::places::{
    Found, secrets_behind_scheme, secrets_in_argv, secrets_in_text, secrets_in_variable,
};

/// What stands in the place of a secret.
pub const MARK: &str = "[secret]";

/// An argv as it may be shown: what is secret in it is masked.
#[must_use]
pub fn show_argv(argv: &[String]) -> Vec<String> {
    let mut shown = argv.to_vec();
    // From the end, so that what is found before keeps its place.
    for found in secrets_in_argv(argv).iter().rev() {
        shown[found.word].replace_range(found.at.clone(), MARK);
    }
    shown
}

/// A URL as it may be shown: without user and password, and with what is
/// secret in its query masked.
#[must_use]
pub fn show_url(url: &str) -> String {
    let url = match url.split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let user = rest[..host].rfind('@').map_or(0, |at| at + 1);
            format!("{scheme}://{}", &rest[user..])
        }
        None => url.to_owned(),
    };
    let url = masked(&url, &secrets_in_text(&url));
    // It is one address to its end, even if a mark in it has a blank.
    let behind = url.find("://").map_or(0, |at| at + "://".len());
    let rest = masked(&url[behind..], &secrets_behind_scheme(&url[behind..]));
    format!("{}{rest}", &url[..behind])
}

/// The value of a variable as it may be shown.
#[must_use]
pub fn show_value(name: &str, value: &str) -> String {
    masked(value, &secrets_in_variable(name, value))
}

fn masked(text: &str, found: &[Found<'_>]) -> String {
    let mut shown = text.to_owned();
    for found in found.iter().rev() {
        shown.replace_range(found.at.clone(), MARK);
    }
    shown
}
