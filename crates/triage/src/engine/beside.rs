//! What a report shows beside its statement, and the statement does not hold: whom a
//! client asked, what differs, the code of a system's error, a page that was printed.

use super::statement::unwrapped_in_node;
use jelly_base::model::Failure;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// The members that differ, as Mocha draws them below the stack.
pub(super) fn drawn_difference(f: &Failure) -> Option<String> {
    let (_, drawn) = f.text.as_deref()?.split_once("+ expected - actual")?;
    let differs = |line: &&str| {
        let line = line.trim_start();
        line.starts_with(['+', '-']) && line.len() > 1
    };
    let lines: Vec<&str> = drawn.lines().filter(differs).map(str::trim).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The host and port that a client of Python was called with, as pytest shows the
/// arguments of its functions.
pub(super) fn asked_peer(f: &Failure) -> Option<String> {
    let text = f.text.as_deref()?;
    text.lines().find_map(|line| {
        let value = ["host = '", "hostname = '", "address = ('", "addr = ('"]
            .iter()
            .find_map(|name| line.strip_prefix(name))?;
        let (host, rest) = value.split_once('\'')?;
        let port = rest
            .trim_start_matches(", ")
            .trim_start_matches("port = ")
            .split(|c: char| !c.is_ascii_digit())
            .next()?;
        Some(match port.is_empty() {
            true => host.to_owned(),
            false => format!("{host}:{port}"),
        })
    })
}

/// Whether a line that a test printed tells that a request was answered with a page, as
/// clients log it: `POST http://shop:80/orders -> 200 text/html: '<!DOCTYPE html>'`.
pub(super) fn page_printed(f: &Failure) -> bool {
    let printed = [&f.system_out, &f.system_err].into_iter().flatten();
    printed.flat_map(|log| log.lines()).any(|line| {
        let Some(asked) = line.find("://") else {
            return false;
        };
        let lower = line.to_ascii_lowercase();
        let page = ["<!doctype html", "<html"]
            .iter()
            .filter_map(|mark| lower.find(mark))
            .min();
        // Pages of XHTML name an address of their own.
        page.is_some_and(|page| asked < page)
    })
}

/// The `code` that Node prints below the stack of a system's error.
pub(super) fn code_of_node(f: &Failure) -> Option<String> {
    static CODE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\n  code: '"));
    let text = f.text.as_deref().or(f.message.as_deref())?;
    // The code of the runner's own error tells nothing.
    let own = unwrapped_in_node(text);
    let text = own.as_deref().unwrap_or(text);
    let at = CODE.find(text.as_bytes())? + CODE.needle().len();
    let code = text[at..].split('\'').next()?;
    let named = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    (!code.is_empty() && code.bytes().all(named)).then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::page_printed;
    use jelly_base::model::Failure;

    #[test]
    fn a_page_that_a_request_was_answered_with_stands_behind_its_address() {
        let shown = |printed: &str| {
            page_printed(&Failure {
                system_out: Some(printed.into()),
                ..Failure::default()
            })
        };
        assert!(shown(
            "a\nWARN POST http://wiki.test/orders -> 200: '<!DOCTYPE html><html>'"
        ));
        for other in [
            "POST http://wiki.test/orders -> 200: '{}'\n<html>",
            "<!DOCTYPE html PUBLIC \"x\" \"http://www.w3.org/TR/xhtml1\">",
        ] {
            assert!(!shown(other), "{other}");
        }
    }
}
