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
use std::sync::{Arc, LazyLock};

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
    pub fix: Vec<FixText>,
}

/// Who reads advice, which chooses its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// Who has written a plan.
    Plan,
    /// Who has a client's configuration.
    Configuration,
}

/// A step with placeholders: a text alone, or a map that gives it an id, or
/// keeps it to one audience.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FixText {
    /// By which a better step takes its place, as in [`Fix::id`].
    ///
    /// [`Fix::id`]: jelly_base::model::Fix::id
    pub id: Option<Arc<str>>,
    pub only: Option<Audience>,
    pub text: String,
}

impl From<&str> for FixText {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }
}

impl JsonSchema for FixText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FixText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A text, or a map with what else is to be known of it.",
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {
                        "id": {
                            "description": "By which `jelly doctor` replaces it where it knows better.",
                            "type": "string",
                        },
                        "only": {
                            "description": "Who is told; both if left out.",
                            "enum": ["plan", "configuration"],
                        },
                        "text": {"type": "string"},
                    },
                    "required": ["text"],
                    "additionalProperties": false,
                },
            ],
        })
    }
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
        deserializer.deserialize_any(TextOrMap {
            expecting: "a text, or a failure as a map",
            of_text: |text| Self::Text(text.to_owned()),
            of_map: |failure: Failure| Self::Failure(Box::new(failure)),
        })
    }
}

impl<'de> Deserialize<'de> for FixText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct FixMap {
            id: Option<Arc<str>>,
            only: Option<Audience>,
            text: String,
        }

        deserializer.deserialize_any(TextOrMap {
            expecting: "a text, or a map with an `id` and a `text`",
            of_text: |text| Self::from(text),
            of_map: |FixMap { id, only, text }| Self { id, only, text },
        })
    }
}

/// Reads what is a text alone where it says no more.
struct TextOrMap<T, M> {
    expecting: &'static str,
    of_text: fn(&str) -> T,
    of_map: fn(M) -> T,
}

impl<'de, T, M: Deserialize<'de>> Visitor<'de> for TextOrMap<T, M> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok((self.of_text)(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        M::deserialize(MapAccessDeserializer::new(map)).map(self.of_map)
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
                FixText {
                    id: Some("read-output".into()),
                    ..FixText::from(
                        "Read the whole output of the server or test{ in the report//}.",
                    )
                },
                FixText {
                    id: Some("see-more-by-hand".into()),
                    ..FixText::from("Run it by hand to see more.")
                },
                FixText {
                    id: Some("run-by-hand".into()),
                    ..FixText::from("$ {command}")
                },
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
