//! What an answer says of the server, judged without a plan.
//!
//! Main function: [`judge`].

use super::case::{Input, Way};
use super::fault_texts::{mistake_line, stack_line};
use super::observe::{Answer, Observation};
use super::report::FindingKind;
use jelly_base::mcp::code;
use jelly_base::text::{LazyPattern, Volatile, one_line, without_volatile};

/// Bytes of a text of the server's that is quoted.
const QUOTED: usize = 200;

/// Something that was seen once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    pub kind: FindingKind,
    /// Not a finding: told, and no failure.
    pub is_notice: bool,
    /// What happened; a fragment that completes "the server …".
    pub what: String,
    /// What makes it the same as another sighting, without what varies with values.
    pub evidence: String,
}

impl Sighting {
    /// Of a kind, with a text that completes "the server …".
    #[must_use]
    pub fn new(kind: FindingKind, what: String, evidence: &str) -> Self {
        Self {
            kind,
            is_notice: false,
            what,
            evidence: without_values(evidence),
        }
    }

    fn notice(self) -> Self {
        Self {
            is_notice: true,
            ..self
        }
    }

    /// Whether it is the same thing, seen again.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind && self.evidence == other.evidence
    }
}

/// A text without what is another one for each value.
fn without_values(text: &str) -> String {
    static QUOTES: LazyPattern = LazyPattern::new(r#"'[^'\n]*'|"[^"\n]*"|`[^`\n]*`|\d+"#);
    let cut = &text[..text.floor_char_boundary(2_000)];
    let kinds = [Volatile::Timestamp, Volatile::Uuid, Volatile::Hash];
    let text = without_volatile(cut, &kinds);
    let text = QUOTES.replace_all(&text, "…");
    one_line(&text, 160)
}

/// What is wrong with what was seen of a call, all of it.
#[must_use]
pub fn judge(input: Input, seen: &Observation) -> Vec<Sighting> {
    let mut found = Vec::new();
    judge_answer(input, seen, &mut found);
    if let Some(why) = seen.output.as_ref().filter(|_| input == Input::Valid) {
        // Values of the answer are quoted in it, and where they stand is what counts.
        found.push(Sighting::new(FindingKind::OutputSchema, why.clone(), why));
    }
    // What can't be read is one slip, however many rules it breaks.
    let is_unreadable = matches!(seen.answer, Answer::Broken(_));
    for slip in seen.wire.iter().filter(|_| !is_unreadable) {
        let kind = match slip.rule.as_str() {
            "answered_twice" => FindingKind::AnsweredTwice,
            _ => FindingKind::Protocol,
        };
        found.push(Sighting::new(kind, slip.text.clone(), &slip.rule));
    }
    match &seen.afterwards {
        Some(Answer::Died { exit, .. }) => {
            let how = exit_words(exit.as_ref());
            let what = format!("answered, and then exited {how}");
            found.push(Sighting::new(
                FindingKind::Died,
                what,
                &format!("after {how}"),
            ));
        }
        Some(Answer::Nothing { .. }) => {
            let what = "answered, and nothing after that".to_owned();
            found.push(Sighting::new(FindingKind::Hung, what, "afterwards"));
        }
        Some(_) | None => {}
    }
    if let Some(what) = &seen.changed {
        found.push(Sighting::new(FindingKind::StateChanged, what.clone(), ""));
    }
    found
}

fn exit_words(exit: Option<&jelly_base::model::Exit>) -> String {
    match exit.map(|exit| (&exit.signal, exit.code)) {
        Some((Some(signal), _)) => format!("by {signal}"),
        Some((None, Some(code))) => format!("with code {code}"),
        Some((None, None)) | None => "without a word".to_owned(),
    }
}

fn judge_answer(input: Input, seen: &Observation, found: &mut Vec<Sighting>) {
    let text = seen.answer.text();
    let quoted = || one_line(&text, QUOTED);
    match &seen.answer {
        Answer::Died { exit, .. } => {
            let how = exit_words(exit.as_ref());
            let what = format!("exited {how} in the call");
            found.push(Sighting::new(FindingKind::Died, what, &how));
            return;
        }
        Answer::Nothing { showed_progress } => {
            let sighting = Sighting::new(FindingKind::Hung, "did not answer".to_owned(), "");
            found.push(match showed_progress {
                true => Sighting {
                    what: "was still working, and told of its progress".to_owned(),
                    ..sighting
                }
                .notice(),
                false => sighting,
            });
            return;
        }
        Answer::Broken(why) => {
            let kind = why.split(" (").next().unwrap_or(why);
            found.push(Sighting::new(FindingKind::Protocol, why.clone(), kind));
            return;
        }
        Answer::HttpStatus(status) if *status >= 500 => {
            let what = format!("answered with HTTP {status}");
            found.push(Sighting::new(FindingKind::InternalError, what, "http"));
            return;
        }
        Answer::Unjudged(_) | Answer::HttpStatus(_) => return,
        Answer::Result(_) | Answer::Error { .. } => {}
    }
    if let Some(line) = stack_line(&text) {
        let what = format!("shows a stack trace to its client: {line}");
        // Where a stack is, its last line names the mistake.
        let last = text.trim_end().lines().next_back().unwrap_or_default();
        found.push(Sighting::new(FindingKind::Traceback, what, last));
        if seen.answer.is_refusal() {
            return;
        }
    } else if let Answer::Error {
        code: Some(number), ..
    } = &seen.answer
        && *number == code::INTERNAL_ERROR
    {
        let what = format!("answered with the internal error {number}: {}", quoted());
        found.push(Sighting::new(FindingKind::InternalError, what, &text));
        return;
    } else if seen.answer.is_refusal()
        && let Some(line) = mistake_line(&text)
    {
        let what = format!("answered with a mistake of its own program: {line}");
        let sighting = Sighting::new(FindingKind::InternalError, what, &line);
        found.push(match input {
            Input::Valid => sighting,
            // It is a refusal all the same.
            Input::Invalid(_) => sighting.notice(),
        });
        return;
    }
    if let (Input::Invalid(way), Some(_)) = (input, seen.answer.good()) {
        let what = accepted(way);
        let sighting = Sighting::new(FindingKind::AcceptedInvalid, what, way.name());
        found.push(match way.must_be_refused() {
            true => sighting,
            false => sighting.notice(),
        });
    }
}

fn accepted(way: Way) -> String {
    let what = match way {
        Way::Type => "a value of another type than its input schema says",
        Way::Coercible => "a value of another type, which it may have converted",
        Way::Enum => "a value that is not in the enum of its input schema",
        Way::Bound => "a value beyond a bound of its input schema",
        Way::Missing => "a call without a member that its input schema requires",
        Way::Extra => "a member that its input schema does not allow",
        Way::Format => "a text that is not in the format that its input schema names",
        Way::Pattern => "a text that the pattern of its input schema does not match",
        Way::Multiple => "a number that is not a multiple as its input schema says",
        Way::Unique => "a list with the same item twice, against its input schema",
    };
    format!("accepted {what}")
}

/// Whether a refusal says itself that a value is out of its range, where the schema
/// says that it is the last one in it.
#[must_use]
pub(crate) fn says_out_of_range(answer: &Answer) -> bool {
    static RANGE: LazyPattern = LazyPattern::new(
        r"(?i)out of (?:range|bounds)|too (?:large|big|small|long|short|high|low|many|few)|at (?:most|least)|(?:less|greater|more|fewer|smaller|larger|longer|shorter) than|exceed|maximum|minimum|\bmax\b|\bmin\b|\blimit|between|must be (?:<|>|below|above|under|over)|[<>]=?\s*\d",
    );
    answer.is_refusal() && RANGE.is_match(&answer.text())
}

/// A refusal of a value at a bound, beside the answer to the value one step inside.
#[must_use]
pub fn judge_bound(at_bound: &Answer, inside: &Answer) -> Option<Sighting> {
    let differs = says_out_of_range(at_bound) && inside.good().is_some();
    differs.then(|| {
        let what = format!(
            "refused a value at the bound of its own input schema, as out of range: {}",
            one_line(&at_bound.text(), QUOTED)
        );
        Sighting::new(FindingKind::BoundRefused, what, "bound")
    })
}

/// What is wrong with two answers to calls that were made at once, beside those to the
/// same calls made one after the other.
#[must_use]
pub fn judge_pair(at_once: [&Answer; 2], in_turn: [&Answer; 2]) -> Option<Sighting> {
    let [one, other] = at_once;
    let died = at_once.iter().find_map(|answer| match answer {
        Answer::Died { exit, .. } => Some(exit_words(exit.as_ref())),
        _ => None,
    });
    if let Some(how) = died {
        let what = format!("exited {how} while it had two requests at once");
        return Some(Sighting::new(FindingKind::Died, what, &how));
    }
    let is_lost = |answer: &Answer| {
        matches!(
            answer,
            Answer::Nothing {
                showed_progress: false
            }
        )
    };
    // A call that hangs alone is another finding.
    if in_turn.iter().any(|answer| is_lost(answer)) {
        return None;
    }
    if is_lost(one) || is_lost(other) {
        let both = is_lost(one) && is_lost(other);
        let what = match both {
            true => "answered neither of two requests that it had at once",
            false => "answered only one of two requests that it had at once",
        };
        return Some(Sighting::new(FindingKind::LostRequest, what.to_owned(), ""));
    }
    let goods = [
        one.good(),
        other.good(),
        in_turn[0].good(),
        in_turn[1].good(),
    ];
    if let [Some(one), Some(other), Some(first), Some(second)] = goods
        && first != second
        && one == second
        && other == first
    {
        let what = "answered each of two requests that it had at once with the other's result";
        return Some(Sighting::new(
            FindingKind::CrossedAnswers,
            what.to_owned(),
            "",
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{FindingKind, judge, judge_bound, judge_pair};
    use crate::case::{Input, Way};
    use crate::observe::{Answer, Observation};
    use serde_json::json;

    fn told(text: &str, is_error: bool) -> Answer {
        Answer::Result(json!({"content": [{"type": "text", "text": text}], "isError": is_error}))
    }

    fn error(code: i64, message: &str) -> Answer {
        Answer::Error {
            code: Some(code),
            message: message.to_owned(),
            data: None,
        }
    }

    const NOTHING: Answer = Answer::Nothing {
        showed_progress: false,
    };

    #[test]
    fn each_answer_is_what_the_rules_say() {
        use FindingKind as Kind;
        let trace = "Traceback (most recent call last):\n  File \"x\", line 1, in f\nKeyError: 'a'";
        let type_ = Input::Invalid(Way::Type);
        for (input, answer, kind, is_notice) in [
            (Input::Valid, told("fine", false), None, false),
            (Input::Valid, told("no such file", true), None, false),
            (Input::Valid, error(-32602, "invalid"), None, false),
            (
                Input::Valid,
                error(-32603, "x"),
                Some(Kind::InternalError),
                false,
            ),
            (
                Input::Valid,
                told("Internal error", true),
                Some(Kind::InternalError),
                false,
            ),
            (
                Input::Valid,
                told(trace, true),
                Some(Kind::Traceback),
                false,
            ),
            (
                Input::Valid,
                told(trace, false),
                Some(Kind::Traceback),
                false,
            ),
            (
                Input::Valid,
                Answer::Died {
                    exit: None,
                    stderr: String::new(),
                },
                Some(Kind::Died),
                false,
            ),
            (Input::Valid, NOTHING, Some(Kind::Hung), false),
            (
                Input::Valid,
                Answer::Nothing {
                    showed_progress: true,
                },
                Some(Kind::Hung),
                true,
            ),
            (
                Input::Valid,
                Answer::Broken("x".to_owned()),
                Some(Kind::Protocol),
                false,
            ),
            (
                Input::Valid,
                Answer::HttpStatus(500),
                Some(Kind::InternalError),
                false,
            ),
            (type_, told("not a number", true), None, false),
            (type_, error(-32602, "x"), None, false),
            (type_, error(-32603, "x"), Some(Kind::InternalError), false),
            (
                type_,
                told("fine", false),
                Some(Kind::AcceptedInvalid),
                false,
            ),
            (
                type_,
                told("KeyError", true),
                Some(Kind::InternalError),
                true,
            ),
            (type_, told(trace, true), Some(Kind::Traceback), false),
            (
                Input::Invalid(Way::Format),
                told("fine", false),
                Some(Kind::AcceptedInvalid),
                true,
            ),
            (
                Input::Invalid(Way::Coercible),
                told("fine", false),
                Some(Kind::AcceptedInvalid),
                true,
            ),
            (
                Input::Invalid(Way::Extra),
                told("fine", false),
                Some(Kind::AcceptedInvalid),
                true,
            ),
            (
                Input::Invalid(Way::Bound),
                told("fine", false),
                Some(Kind::AcceptedInvalid),
                false,
            ),
        ] {
            let found = judge(input, &Observation::of(answer.clone()));
            let found: Vec<_> = found.iter().map(|it| (it.kind, it.is_notice)).collect();
            let wanted: Vec<_> = kind.map(|kind| (kind, is_notice)).into_iter().collect();
            assert_eq!(found, wanted, "{input:?} {answer:?}");
        }
    }

    #[test]
    fn the_same_mistake_over_other_values_is_alike() {
        let of = |text: &str| judge(Input::Valid, &Observation::of(error(-32603, text)));
        assert!(of("no 'red' at 5")[0].is_like(&of("no 'blue' at 77")[0]));
        assert!(!of("no 'red'")[0].is_like(&of("gone")[0]));
    }

    #[test]
    fn a_bound_that_is_refused_as_out_of_range_contradicts_the_schema() {
        let fine = told("fine", false);
        let refused = told("n must be less than 10", true);
        assert!(judge_bound(&refused, &fine).is_some());
        assert!(judge_bound(&refused, &refused).is_none());
        assert!(judge_bound(&told("no such page", true), &fine).is_none());
        assert!(judge_bound(&fine, &fine).is_none());
    }

    #[test]
    fn two_at_once_lose_and_cross_nothing() {
        let (a, b) = (told("a", false), told("b", false));
        let kind = |at_once, in_turn| judge_pair(at_once, in_turn).map(|it| it.kind);
        assert_eq!(kind([&a, &b], [&a, &b]), None);
        assert_eq!(kind([&b, &a], [&a, &b]), Some(FindingKind::CrossedAnswers));
        assert_eq!(
            kind([&a, &NOTHING], [&a, &b]),
            Some(FindingKind::LostRequest)
        );
        assert_eq!(kind([&a, &NOTHING], [&a, &NOTHING]), None);
        assert_eq!(kind([&a, &a], [&a, &a]), None);
    }
}
