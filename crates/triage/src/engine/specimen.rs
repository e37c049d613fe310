//! Failures made of a text, as rules are tried on: the smallest ones in which
//! the text may stand where a rule reads.

use super::diagnose::Engine;
use super::facts::Facts;
use super::field::Field;
use super::rule::{Example, Rule};
use jelly_base::model::{Exit, Failure, Outcome, Phase, RequestFacts, SpawnError, ToolResult};

/// The smallest failure with `text` in `field`.
#[must_use]
pub fn specimen(field: Field, text: &str) -> Failure {
    let text = text.to_owned();
    let seen = |phase: Phase| Failure {
        phase: Some(phase),
        ..Failure::default()
    };
    let died = || Failure {
        outcome: Some(Outcome::Eof),
        exit: Some(Exit {
            code: Some(1),
            signal: None,
        }),
        argv: vec!["server".into(), "arg".into()],
        ..seen(Phase::Handshake)
    };
    match field {
        Field::Stderr => Failure {
            stderr: Some(text),
            ..died()
        },
        Field::Stdout => Failure {
            stdout_noise: text.lines().map(str::to_owned).collect(),
            ..died()
        },
        Field::Answer => Failure {
            outcome: Some(Outcome::Result),
            tool_result: Some(ToolResult {
                is_error: true,
                text,
                structured_content: None,
            }),
            request: Some(RequestFacts {
                method: "tools/call".into(),
                params: None,
                ..RequestFacts::default()
            }),
            ..seen(Phase::Call)
        },
        Field::Message => Failure {
            message: Some(text),
            ..seen(Phase::Handshake)
        },
        Field::Spawn => Failure {
            spawn_error: Some(SpawnError {
                text: Some(text),
                ..SpawnError::default()
            }),
            ..seen(Phase::Spawn)
        },
        Field::Report => Failure {
            element: Some("error".into()),
            message: Some(text),
            ..Failure::default()
        },
        Field::Class => Failure {
            element: Some("error".into()),
            type_: Some(text),
            ..Failure::default()
        },
        Field::Title => Failure {
            element: Some("error".into()),
            name: Some(text),
            ..Failure::default()
        },
        Field::Log => Failure {
            element: Some("error".into()),
            system_err: Some(text),
            ..Failure::default()
        },
    }
}

/// The failures in which an example of a rule may stand: itself, or one a
/// field of the rule, so far as its typed conditions allow them.
pub(super) fn specimens(rule: &Rule, example: &Example) -> Vec<Failure> {
    match example {
        Example::Failure(failure) => vec![(**failure).clone()],
        Example::Text(text) => rule
            .fields
            .iter()
            .map(|field| specimen(*field, text))
            .filter(|failure| rule.when.holds(&Facts::new(failure)))
            .collect(),
    }
}

/// Something that a rule says of itself and that does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Slip {
    pub rule: String,
    /// Whether it is an example, which the rule must decide, or a look-alike,
    /// which it must not.
    pub example: bool,
    /// Its place in the rule's list, from 0.
    pub index: usize,
    /// The rule that decided instead; none where no failure can hold the
    /// example, since the rule's conditions shut it out.
    pub took: Option<String>,
    /// The failure that was tried.
    pub failure: Option<Box<Failure>>,
}

impl Engine {
    /// Tries the examples and look-alikes of a rule.
    #[must_use]
    pub fn slips(&self, rule: &Rule) -> Vec<Slip> {
        let mut slips = Vec::new();
        let lists = [(true, rule.examples()), (false, rule.lookalikes())];
        for (wanted, list) in lists {
            for (index, example) in list.iter().enumerate() {
                let failures = specimens(rule, example);
                let slip = |took, failure| Slip {
                    rule: rule.id.clone(),
                    example: wanted,
                    index,
                    took,
                    failure,
                };
                if failures.is_empty() && wanted {
                    slips.push(slip(None, None));
                }
                slips.extend(failures.into_iter().find_map(|failure| {
                    let took = self.diagnose(&failure).rule;
                    ((took == rule.id) != wanted).then(|| slip(Some(took), Some(Box::new(failure))))
                }));
            }
        }
        slips
    }
}
