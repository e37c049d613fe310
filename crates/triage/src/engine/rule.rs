//! A rule as the files write it: what it takes for the rule to hold, and what it
//! says then.

use super::either::{self, TextOr, text_or_map};
use super::field::{Field, RuleSide, Strength};
use super::tables::{built, table};
use super::when::When;
use jelly_base::model::{ErrorCategory, Failure, PlanIssue};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
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
                            "description": "Who the advice is for; both if left out.",
                            "enum": ["plan", "configuration"],
                        },
                        "text": {"description": "What to do; a command begins with `$ `.", "type": "string"},
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
        Ok(
            match text_or_map(deserializer, "a text, or a failure as a map")? {
                TextOr::Text(text) => Self::Text(text),
                TextOr::Other(failure) => Self::Failure(Box::new(failure)),
            },
        )
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

        Ok(
            match text_or_map(deserializer, "a text, or a map with an `id` and a `text`")? {
                TextOr::Text(text) => Self::from(text.as_str()),
                TextOr::Other(FixMap { id, only, text }) => Self { id, only, text },
            },
        )
    }
}

/// A rule of triage.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RuleSpec")]
pub struct Rule {
    /// `domain/name`, in small letters, digits and `-`; no two rules share one.
    pub id: String,
    /// A snake_case word; best one of those that `jelly rules list --format md` knows.
    pub root_cause: String,
    /// The kind of failure; present exactly when `retryable` is.
    pub error_category: Option<ErrorCategory>,
    /// Whether the same test may pass unchanged. Only INFRASTRUCTURE and TIMEOUT may.
    pub retryable: Option<bool>,
    /// Whom it is held against.
    pub side: RuleSide,
    /// How much a match proves.
    pub strength: Strength,
    /// The higher wins among equals.
    #[serde(default)]
    pub priority: i32,
    /// The id of a repair of the plan that mends this kind of failure.
    pub repair: Option<String>,
    /// Typed conditions, all of which must hold.
    #[serde(default)]
    pub(super) when: When,
    /// Regular expressions, of which one must match. `^` and `$` are the ends of a line.
    #[serde(default, deserialize_with = "either::flattened")]
    #[schemars(with = "Vec<either::Texts>")]
    pub patterns: Vec<String>,
    /// Exceptions: none may match the text that a pattern matched.
    #[serde(default, deserialize_with = "either::flattened")]
    #[schemars(with = "Vec<either::Texts>")]
    pub unless: Vec<String>,
    /// Which texts are read; `stderr`, `answer`, `message` and `report` if left out.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// What to tell people.
    pub advice: AdviceText,
    /// At least two failures that the rule must decide.
    #[serde(default)]
    pub(super) examples: Vec<Example>,
    /// At least two failures that it must not decide.
    #[serde(default)]
    pub(super) lookalikes: Vec<Example>,
    /// Its number among the built-in rules, whose examples are read when they
    /// are asked for.
    #[serde(skip)]
    pub(super) builtin: Option<usize>,
}

/// Says that nothing is known.
pub(super) fn unknown() -> &'static Rule {
    static UNKNOWN: LazyLock<Rule> = LazyLock::new(|| table(built!("unknown")));
    &UNKNOWN
}

impl Rule {
    /// What the id begins with: the file of a built-in rule.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.id.split_once('/').map_or("", |(domain, _)| domain)
    }

    /// At least two failures that it must decide.
    #[must_use]
    pub fn examples(&self) -> &[Example] {
        self.builtin_examples()
            .map_or(&self.examples, |[examples, _]| examples)
    }

    /// At least two failures that it must not decide.
    #[must_use]
    pub fn lookalikes(&self) -> &[Example] {
        self.builtin_examples()
            .map_or(&self.lookalikes, |[_, lookalikes]| lookalikes)
    }

    fn builtin_examples(&self) -> Option<&'static [Vec<Example>; 2]> {
        static EXAMPLES: LazyLock<Vec<[Vec<Example>; 2]>> =
            LazyLock::new(|| table(built!("examples-of-rules")));
        EXAMPLES.get(self.builtin?)
    }

    /// Has a rule with patterns that names no texts read the usual ones.
    pub(super) fn set_default_fields(&mut self) {
        if self.fields.is_empty() && !self.patterns.is_empty() {
            self.fields = vec![Field::Stderr, Field::Answer, Field::Message, Field::Report];
        }
    }

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
            Some(_) | None => repair,
        };
        Some(replacement.to_owned())
    }
}
