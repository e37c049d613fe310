//! Errors that a test has come on purpose: of a block or a comparison that expects one, or
//! of a double that raises one. No machine is asked, whatever the error tells.

use super::frames::place;
use super::origin::{Origin, origin, raised_by_library};
use crate::engine::instead::{speaks_of_machines, tells_of_peers};
use jelly_base::model::Failure;

/// Lines above the failing one in which the block is looked for.
const ABOVE: usize = 40;

const OF_MACHINES: &str = "(raised where an error of machines is expected)";

/// What a rule knows such a failure by.
pub(super) fn of_expectation(f: &Failure) -> Option<&'static str> {
    let told = [f.type_.as_deref(), f.message.as_deref()];
    let mut told = told.into_iter().flatten();
    // A double that must not be asked asserts so.
    let asserts = told.any(|told| told.starts_with("AssertionError") || told.starts_with("Failed"));
    if !asserts && raised_by_double(f.text.as_deref()?) {
        return Some("(raised by a double)");
    }
    let of_machines = |(wanted, came)| speaks_of_machines(wanted) && tells_of_peers(came);
    if let Some(compared) = sentinel(f.text.as_deref()?) {
        // Rules know the words of all others.
        return of_machines(compared).then_some(OF_MACHINES);
    }
    let raised = raised_in_block(f)?;
    Some(match of_machines(raised) {
        true => OF_MACHINES,
        false => "(raised where another error is expected)",
    })
}

/// The error that a test expects, where another one came.
pub(in crate::engine) fn expected_error(f: &Failure) -> Option<&str> {
    let found = sentinel(f.text.as_deref()?).or_else(|| raised_in_block(f));
    found.map(|(wanted, _)| wanted)
}

/// What a block of pytest expects, and what came.
fn raised_in_block(f: &Failure) -> Option<(&str, &str)> {
    let text = f.text.as_deref()?;
    let wanted = expected_class(text)?;
    let told = f.message.as_deref().filter(|told| !told.is_empty());
    let told = told.or_else(|| text.lines().find_map(|line| line.strip_prefix("E   ")));
    let told = told?.trim_start();
    // What the test or its helpers do wrong themselves or with a library, and who ends it;
    // not what a double among them was told to raise.
    let raises = |line: &str| line[1..].trim_start().starts_with("raise ");
    let last = text.lines().rfind(|line| line.starts_with('>'));
    let by_double = !raised_by_library(f) && last.is_some_and(raises);
    let by_test = origin(f) == Origin::Test && !by_double;
    let ended = ["KeyboardInterrupt", "SystemExit", "GeneratorExit"];
    if by_test || ended.iter().any(|class| told.starts_with(class)) {
        return None;
    }
    // What came is the expected one, in other words than the test wants.
    let name = |class: &str| {
        class
            .rsplit('.')
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let head = name(told.split([':', '\n']).next().unwrap_or_default());
    let same = wanted.split(',').any(|class| name(class) == head);
    (!same && !told.starts_with("AssertionError")).then_some((wanted, told))
}

/// Whether the innermost line is the one by which `unittest.mock` raises what it was told
/// to raise.
fn raised_by_double(text: &str) -> bool {
    if !text.contains("mock.py") {
        return false;
    }
    let lines: Vec<&str> = text.lines().collect();
    // One error for each call, or the next of a list.
    let raises = |line: &str| {
        matches!(
            line.trim_start_matches(['>', ' ']),
            "raise effect" | "raise result"
        )
    };
    let Some(at) = lines.iter().rposition(|line| raises(line)) else {
        return false;
    };
    // Of all of the function, which pytest shows, the line that failed.
    let failing = lines[at].starts_with('>');
    let is_mock = |place: &str| {
        let place = place.replace('\\', "/");
        place.ends_with("unittest/mock.py") || place.ends_with("/mock/mock.py")
    };
    let below = |line: &&str| place(line).is_some_and(is_mock);
    let framed = at > 0 && below(&lines[at - 1]);
    let innermost = lines
        .iter()
        .rev()
        .find_map(|line| place(line).filter(|place| !place.is_empty()));
    (failing || framed) && innermost.is_some_and(is_mock)
}

/// The class that the block around the failing line of pytest's first frame expects, where
/// that line called something that failed.
fn expected_class(text: &str) -> Option<&str> {
    if !text.contains("raises(") {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let failing = lines.iter().position(|line| line.starts_with('>'))?;
    // What fails in the line of the test itself is a mistake of the test.
    let frames = lines[failing..].iter().filter(|line| place(line).is_some());
    if frames.count() < 2 {
        return None;
    }
    let depth = |line: &str| line.len() - line.trim_start_matches(['>', ' ']).len();
    let mut inside = depth(lines[failing]);
    for line in lines[..failing].iter().rev().take(ABOVE) {
        let code = line.trim_start();
        if code.is_empty() || depth(line) >= inside {
            continue;
        }
        inside = depth(line);
        if let Some((_, wanted)) = code.strip_prefix("with ")?.split_once("raises(") {
            // One class, or several of which any will do.
            let wanted = match wanted.strip_prefix('(') {
                Some(several) => several.split(')').next()?,
                None => &wanted[..wanted.find([',', ')'])?],
            };
            let wanted = wanted.trim();
            return (!wanted.is_empty()).then_some(wanted);
        }
    }
    None
}

/// The error that a test in Go holds another one against, and that one.
fn sentinel(text: &str) -> Option<(&str, &str)> {
    let (_, compared) = ["errors.Is(", "errors.As("]
        .iter()
        .find_map(|call| text.split_once(call))?;
    let (arguments, rest) = compared.split_once(')')?;
    let wanted = arguments.split_once(", ")?.1.trim_start_matches('&');
    let rest = rest.trim_start_matches([' ', '=', ':', ',']);
    let came = rest.trim_start_matches("got ").strip_prefix("false")?;
    Some((wanted, came.lines().next().unwrap_or_default()))
}

#[cfg(test)]
#[path = "expected_tests.rs"]
mod tests;
