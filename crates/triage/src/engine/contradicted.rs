//! What a server says although it was seen to be otherwise: that there is no such
//! tool, where it lists it; that a variable is not set, where it is.
//!
//! Main function: [`contradiction`]. Advice that rests on the server's word would
//! send people to correct what is right.

use super::advice::Values;
use super::facts::{self, FailureSource};
use super::live;
use super::rule::{AdviceText, Rule};
use super::tables::{built, table};
use jelly_base::model::Failure;
use jelly_base::text::LazyPattern;
use serde::Deserialize;
use std::sync::LazyLock;

/// What was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SeenFact {
    /// The tool stands in the server's own list.
    ToolListed,
    /// The variable has a value in the environment that the server was given.
    VariableSet,
    /// It has a value, and the words that match say that another one is wanted.
    VariableRefused,
    /// It is there, and empty.
    VariableEmpty,
    /// The arguments meet the input schema that the server lists.
    ArgumentsFit,
    /// The tool was called without arguments.
    NothingSent,
}

/// An entry of `tables/contradicted.yaml`, which says what each member is.
#[derive(Deserialize)]
pub(super) struct Contradiction {
    fact: SeenFact,
    domains: Vec<String>,
    root_causes: Vec<String>,
    /// Rules that say less than the others of their root cause.
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    pub(super) suspect: bool,
    #[serde(default)]
    pub(super) ambiguous: bool,
    pub(super) advice: AdviceText,
}

static CONTRADICTIONS: LazyLock<Vec<Contradiction>> =
    LazyLock::new(|| table(built!("contradicted")));

/// What speaks against the words that `rule` matched, of which the evidence and `values` are
/// known.
pub(super) fn contradiction(
    rule: &Rule,
    failure: &Failure,
    source: FailureSource,
    (evidence, values): (Option<&str>, &Values),
) -> Option<&'static Contradiction> {
    // A plan's own issue rests on what was seen, and not on words.
    if source != FailureSource::Live || failure.issue.is_some() {
        return None;
    }
    let domain = rule.id.split('/').next().unwrap_or_default();
    let known = |entry: &&Contradiction| {
        entry.root_causes.contains(&rule.root_cause)
            && entry.domains.iter().any(|known| known == domain)
            && !entry.except.contains(&rule.id)
            && entry.fact.holds(failure, evidence, values)
    };
    CONTRADICTIONS.iter().find(known)
}

/// A status, and no part of a longer number: `HTTP404`, `404:`.
static NOT_FOUND: LazyPattern = LazyPattern::ascii(r"(?:^|[^0-9.])404(?:[^0-9]|$)");

impl SeenFact {
    fn holds(self, failure: &Failure, evidence: Option<&str>, values: &Values) -> bool {
        let variable = || failure.env_delta.get(values.get("name")?)?.as_str();
        match self {
            Self::ToolListed => facts::tool_listed(failure) == Some(true),
            Self::VariableSet => variable().is_some_and(|value| !value.is_empty()),
            Self::VariableRefused => {
                let is_set = || variable().is_some_and(|value| !value.is_empty());
                let name = values.get("name").map_or("", String::as_str);
                is_set() && refuses_value(evidence.unwrap_or_default(), name)
            }
            Self::VariableEmpty => variable().is_some_and(str::is_empty),
            // Which address answers 404, the server's settings say.
            Self::NothingSent => {
                let answer = failure.tool_result.as_ref();
                let is_status = answer.is_some_and(|result| NOT_FOUND.is_match(&result.text));
                live::nothing_sent(failure) && !is_status
            }
            Self::ArgumentsFit => failure
                .request
                .as_ref()
                .is_some_and(|request| request.fits_schema),
        }
    }
}

/// Whether a text wants another value of a variable: `Set DIR to an existing folder`, `Invalid
/// KEY`.
fn refuses_value(said: &str, name: &str) -> bool {
    static WANTED: LazyPattern = LazyPattern::ascii(
        r"(?i)\A[\x27\x22\x60]? ?(?:to|must be|should be|has to be|needs to be) (?:an? |the |your )?(?:absolute|correct|existing|numeric|positive|proper|real|valid|writable|working)\b|\A[\x27\x22\x60]? (?:is|was) (?:invalid|malformed|wrong|not valid|not a valid|incorrect)\b",
    );
    static REFUSED: LazyPattern = LazyPattern::ascii(
        r"(?i)\b(?:invalid|malformed|wrong|incorrect|bad)(?: value (?:of|for))? [\x27\x22\x60]?\z",
    );
    !name.is_empty()
        && said.match_indices(name).any(|(at, _)| {
            let (before, after) = (&said[..at], &said[at + name.len()..]);
            WANTED.is_match(after) || REFUSED.is_match(before)
        })
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use jelly_base::model::{Failure, Side, Suspect};
    use serde_json::{Value, json};

    fn told(facts: Value) -> (String, bool, Option<Suspect>) {
        let failure: Failure = serde_json::from_value(facts).unwrap();
        let diagnosis = Engine::builtin().diagnose(&failure);
        assert_eq!(diagnosis.side, Side::Test);
        (
            diagnosis.advice.what,
            diagnosis.ambiguous,
            diagnosis.suspect,
        )
    }

    fn call(name: &str, listed: &[&str], answer: &str) -> Value {
        json!({
            "phase": "call", "outcome": "error", "server": "s", "tools_listed": listed,
            "request": {"method": "tools/call", "params": {"name": name}},
            "rpc_error": {"code": -32602, "message": answer},
        })
    }

    #[test]
    fn a_value_that_is_refused_is_no_variable_that_is_not_set() {
        let of = |said: &str| {
            told(json!({
                "phase": "handshake", "outcome": "eof", "exit": {"code": 1}, "server": "s",
                "env_delta": {"API_KEY": "x"}, "stderr": said,
            }))
            .0
        };
        for said in [
            "Invalid API_KEY. Please set API_KEY to a valid key",
            "Please set API_KEY to a valid key",
        ] {
            assert_eq!(
                of(said),
                "The server does not take the value of API_KEY.",
                "{said}"
            );
        }
        let unset = "Please set API_KEY in the environment";
        assert!(of(unset).contains("is not set"));
    }

    #[test]
    fn a_call_without_arguments_names_nothing_wrongly() {
        let answered = |arguments: Value| {
            told(json!({
                "phase": "call", "outcome": "result", "server": "s",
                "request": {"method": "tools/call", "params": {"name": "total", "arguments": arguments}},
                "tool_result": {"isError": true, "text": "Error executing tool total: no such table: orders"},
            }))
        };
        let (what, ambiguous, _) = answered(json!({}));
        assert!(what.starts_with("`total` was sent no arguments"), "{what}");
        assert!(ambiguous);
        let (what, ambiguous, _) = answered(json!({"of": "orders"}));
        assert!(!what.contains("no arguments") && !ambiguous, "{what}");
    }

    #[test]
    fn a_tool_that_is_listed_and_denied_speaks_against_the_server() {
        let (what, ambiguous, suspect) = told(call("x", &["w", "x"], "Unknown tool: x"));
        assert!(what.ends_with("no tool `x`, and has listed it."), "{what}");
        assert!(ambiguous);
        assert_eq!(suspect, Some(Suspect::Code));
        let (what, ambiguous, suspect) = told(call("y", &["w", "x"], "Unknown tool: y"));
        assert_eq!(what, "The server s has no tool `y`.");
        assert_eq!((ambiguous, suspect), (false, None));
    }

    #[test]
    fn what_the_plan_sets_is_not_told_as_unset() {
        let dead = |env: Value| {
            told(json!({
                "phase": "handshake", "outcome": "eof", "exit": {"code": 1}, "env_delta": env,
                "stderr": "API_KEY environment variable is not set",
            }))
            .0
        };
        assert_eq!(dead(json!({})), "The variable API_KEY is not set.");
        assert_eq!(
            dead(json!({"API_KEY": ""})),
            "The variable API_KEY is empty."
        );
        assert_eq!(
            dead(json!({"API_KEY": "[secret]"})),
            "The server says that API_KEY is not set, and the plan sets it."
        );
    }

    #[test]
    fn a_key_that_may_be_no_variable_is_not_told_as_one() {
        let (what, ..) = told(json!({
            "phase": "call", "outcome": "result", "env_delta": {"MAX_ITEMS": "5"},
            "request": {"method": "tools/call", "params": {"name": "cap"}},
            "tool_result": {"isError": true, "text": "KeyError: 'MAX_ITEMS'"},
        }));
        assert!(what.ends_with("or as a key of its own."), "{what}");
    }

    #[test]
    fn arguments_that_fit_are_not_to_be_compared_with_the_schema() {
        let fixes = |fits: bool| {
            let mut facts = call("x", &["x"], "Invalid arguments: n must be a string");
            facts["request"]["fits_schema"] = fits.into();
            let failure: Failure = serde_json::from_value(facts).unwrap();
            let fixes = Engine::builtin().diagnose(&failure).advice.fix;
            fixes.into_iter().map(|fix| fix.text).collect::<String>()
        };
        assert!(fixes(false).contains("with the tool's input schema"));
        assert!(fixes(true).contains("what its own schema allows"));
        // A rule that knows more keeps its own words.
        let mut facts = call("x", &["x"], "near \"Brien\": syntax error");
        facts["request"] = json!({
            "method": "tools/call", "fits_schema": true,
            "params": {"name": "x", "arguments": {"name": "O'Brien"}},
        });
        let (what, ambiguous, _) = told(facts);
        assert!(what.contains("a statement that the server made"), "{what}");
        assert!(ambiguous);
    }
}
