//! A rule as the files write it, validated: what it takes for the rule to
//! hold, and what it says then.

use super::field::{Field, RuleSide, Strength};
use super::when::When;
use jelly_base::model::{ErrorCategory, Failure, PlanIssue};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

/// Advice with placeholders: `{name}`, or `{name|what to say without it}`.
/// A line of `fix` with an unfilled placeholder is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdviceText {
    /// What happened.
    pub what: String,
    /// Why it happens.
    pub why: String,
    /// Steps in order; one that begins with `$ ` is a command to paste.
    pub fix: Vec<String>,
}

/// A failure that a rule must, or must not, explain.
#[derive(Debug, Clone, PartialEq)]
pub enum Example {
    /// Put into each field that the rule's patterns apply to.
    Text(String),
    Failure(Box<Failure>),
}

impl JsonSchema for Example {
    fn schema_name() -> Cow<'static, str> {
        "Example".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let failure = generator.subschema_for::<Failure>();
        json_schema!({
            "description": "A text, which is put into each field that the patterns apply to, or a whole failure.",
            "anyOf": [{"type": "string"}, failure],
        })
    }
}

impl<'de> Deserialize<'de> for Example {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Example;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a failure as a map")
            }

            fn visit_str<E>(self, text: &str) -> Result<Example, E> {
                Ok(Example::Text(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Example, A::Error> {
                Failure::deserialize(MapAccessDeserializer::new(map))
                    .map(|failure| Example::Failure(Box::new(failure)))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl Rule {
    /// What the id begins with: the file of a built-in rule.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.id.split_once('/').map_or("", |(domain, _)| domain)
    }
}

/// One validated rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// `domain/name`.
    pub id: String,
    pub root_cause: String,
    /// Present exactly when `retryable` is.
    pub error_category: Option<ErrorCategory>,
    pub retryable: Option<bool>,
    pub side: RuleSide,
    pub strength: Strength,
    /// Among matches of equal strength in equally telling texts, the higher
    /// one decides.
    pub priority: i32,
    /// The repair that mends this kind of failure, if any.
    pub repair: Option<String>,
    /// The typed facts that must hold.
    pub(super) when: When,
    /// Any of them must match, unless there are none.
    pub patterns: Vec<String>,
    /// None of them may match the text that a pattern matched.
    pub unless: Vec<String>,
    /// The fields that the patterns apply to.
    pub fields: Vec<Field>,
    pub advice: AdviceText,
    /// Must be diagnosed by this rule.
    pub examples: Vec<Example>,
    /// Must not be diagnosed by this rule.
    pub lookalikes: Vec<Example>,
}

/// Says that nothing is known.
pub(super) fn unknown() -> &'static Rule {
    static UNKNOWN: LazyLock<Rule> = LazyLock::new(|| Rule {
        id: "unknown/no-rule".into(),
        root_cause: "unknown".into(),
        error_category: None,
        retryable: None,
        side: RuleSide::Ambiguous,
        strength: Strength::Fallback,
        priority: 0,
        repair: None,
        when: super::when::When::default(),
        patterns: Vec::new(),
        unless: Vec::new(),
        fields: Vec::new(),
        advice: AdviceText {
            what: "No rule knows this failure.".into(),
            why: "Nothing in it names a cause, so it is held against nobody.".into(),
            fix: vec![
                "Read the whole output of the server or test in the report.".into(),
                "Run it by hand to see more.".into(),
                "$ {command}".into(),
            ],
        },
        examples: Vec::new(),
        lookalikes: Vec::new(),
    });
    &UNKNOWN
}

impl Rule {
    /// The fields that it reads, a bit for each.
    pub(super) fn fields_in_bits(&self) -> u32 {
        let fields = self.fields.iter();
        fields.fold(0, |bits, field| bits | field.bit())
    }

    /// A wrong name is mended by the one close name that exists; without it the
    /// step can only be taken out.
    pub(super) fn repair_of(&self, failure: &Failure) -> Option<String> {
        let repair = self.repair.as_deref()?;
        let replacement = match &failure.issue {
            Some(
                PlanIssue::UnknownTool { candidates, .. }
                | PlanIssue::UnknownServer { candidates, .. },
            ) if candidates.len() != 1 => "quarantine_step",
            Some(PlanIssue::UnknownArgument { candidates, .. }) if candidates.len() != 1 => {
                return None;
            }
            Some(
                PlanIssue::CommandNotFound { .. }
                | PlanIssue::NotExecutable { .. }
                | PlanIssue::MissingDirectory { .. }
                | PlanIssue::MissingVariable { .. }
                | PlanIssue::MissingPackageArgument { .. }
                | PlanIssue::InvalidPackage { .. }
                | PlanIssue::UnknownServer { .. }
                | PlanIssue::UnknownTool { .. }
                | PlanIssue::UnknownArgument { .. }
                | PlanIssue::MissingArgument { .. }
                | PlanIssue::ArgumentType { .. }
                | PlanIssue::InvalidArgument { .. }
                | PlanIssue::SnapshotMissing { .. }
                | PlanIssue::SchemaTooComplex { .. },
            )
            | None => repair,
        };
        Some(replacement.to_owned())
    }
}
