//! What jelly said of a failure in a report of its own, as it stands there.

use super::case::CaseOutcome;
use super::open::OpenCase;
use jelly_base::model::{Failure, Label, Side};

/// Takes from a report of jelly's own what it said of these failures: by the
/// properties of the case or the first line of its output, of which the first
/// failure is the last attempt, or by the first line of each text. Why that of
/// the case can't be, where it contradicts the case itself.
pub(super) fn label(
    failures: &mut [Failure],
    case: &OpenCase,
    outcome: CaseOutcome,
    output: Option<Label>,
) -> Option<&'static str> {
    for failure in failures.iter_mut() {
        let text = failure.text.as_deref().and_then(Label::from_text);
        let message = || failure.message.as_deref().and_then(Label::from_message);
        failure.label = text.or_else(message);
    }
    let properties = case.properties.iter();
    let said = Label::from_properties(properties.map(|(name, value)| (&**name, &**value)));
    let said = said.or(output)?;
    let first = failures.first_mut()?;
    let doubt = contradiction(&said, first, &case.name, outcome);
    if doubt.is_none() {
        first.label = Some(said);
    }
    doubt
}

/// What jelly said of a failure in a report that another tool has merged, which leaves neither
/// the name of its root nor its properties: its type, its message and its text say one cause.
pub(super) fn told_by_jelly(failure: &Failure) -> Option<Label> {
    let text = Label::from_text(failure.text.as_deref()?)?;
    let message = Label::from_message(failure.message.as_deref()?)?;
    let is_one = message == text && failure.type_.as_deref() == Some(text.root_cause());
    is_one.then_some(text)
}

/// What of a case its label can't be true beside.
fn contradiction(
    said: &Label,
    failure: &Failure,
    name: &str,
    outcome: CaseOutcome,
) -> Option<&'static str> {
    if said.side() == Side::Code && name.starts_with("(start ") {
        return Some("a server that does not start is no fault of the code under test");
    }
    if outcome == CaseOutcome::Flaky && !said.is_flaky() {
        return Some("the test passed in the end, and it says nothing of that");
    }
    // The text says the same cause, unless somebody changed one of them.
    let text = failure.text.as_deref().and_then(Label::from_text);
    let other =
        text.filter(|text| (text.side(), text.root_cause()) != (said.side(), said.root_cause()));
    other.map(|_| "the failure's text says another cause")
}
