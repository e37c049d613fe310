//! Operators, and what they can be said of.

use super::mapping::{Key, Kind, Mapping, Rule, mapping};
use jelly_base::text::WordList;

/// What kind of question an operator asks, which decides where it makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperatorGroup {
    Equality,
    Paths,
    Content,
    Order,
    Presence,
    Length,
    Schema,
    Snapshot,
}

/// What must stand behind an operator. The reader and the JSON Schema go by it,
/// and the question whether an expectation could fail at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperandKind {
    /// A value like that which it is compared with.
    Value,
    /// A path into the same answer.
    Path,
    /// A part: of a text a text, else any value.
    Part,
    Text,
    /// A regular expression.
    Pattern,
    /// A list of values.
    Values,
    Number,
    Flag,
    /// The name of a JSON type, or a list of them.
    Types,
    /// A number, or comparisons with numbers.
    Bounds,
    JsonSchema,
    SnapshotName,
}

/// Writes the operators as a table: what each means, its name, its group, what
/// its operand is, other words for it with blanks between them, how a message
/// goes on behind "expected …", and whether its operand is what the value is to
/// be or to hold.
macro_rules! operators {
    ($(
        #[doc = $about:literal]
        $operator:ident $name:literal, $group:ident, $operand:ident, $also:literal,
        $relation:literal, $names_value:literal;
    )*) => {
        /// The closed set of operators.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operator {
            $(#[doc = $about] $operator,)*
        }

        impl Operator {
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$operator),*];

            /// The name as plans write it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$operator => $name,)*
                }
            }

            /// Whether its operand is what the value is to be or to hold.
            #[must_use]
            pub fn names_value(self) -> bool {
                match self {
                    $(Self::$operator => $names_value,)*
                }
            }

            /// What it means.
            pub(crate) fn about(self) -> &'static str {
                match self {
                    $(Self::$operator => $about,)*
                }
            }

            /// As in "expected the text to contain", in front of the operand.
            #[must_use]
            pub fn relation(self) -> &'static str {
                match self {
                    $(Self::$operator => $relation,)*
                }
            }

            pub(crate) fn group(self) -> OperatorGroup {
                match self {
                    $(Self::$operator => OperatorGroup::$group,)*
                }
            }

            pub(crate) fn operand(self) -> OperandKind {
                match self {
                    $(Self::$operator => OperandKind::$operand,)*
                }
            }

            /// Other words for it, with blanks between them.
            fn also(self) -> &'static str {
                match self {
                    $(Self::$operator => $also,)*
                }
            }
        }
    };
}

operators! {
    /// The value equals this in type and value. Numbers are compared by value; the order of keys does not matter.
    Equals "equals", Equality, Value, "eq is equal == const", "to equal", true;
    /// The value does not equal this.
    NotEquals "not_equals", Equality, Value, "ne neq !=", "not to equal", false;
    /// The value equals the one at this path of the same answer.
    EqualsPath "equals_path", Paths, Path, "equals_json same_as path_equals", "to equal what stands at", false;
    /// A text contains this text; a list contains this item, or an object with these keys and values; an object has this key, or these keys with these values.
    Contains "contains", Content, Part, "includes include has", "to contain", true;
    /// `contains` does not hold.
    NotContains "not_contains", Content, Part, "", "not to contain", false;
    /// This regular expression matches somewhere in the text.
    Matches "matches", Content, Pattern, "regex regexp match pattern", "to match", true;
    /// `matches` does not hold.
    NotMatches "not_matches", Content, Pattern, "", "not to match", false;
    /// The text starts with this.
    StartsWith "starts_with", Content, Text, "", "to start with", true;
    /// The text ends with this.
    EndsWith "ends_with", Content, Text, "", "to end with", true;
    /// The value equals one of these.
    OneOf "one_of", Equality, Values, "enum in any_of", "to be one of", true;
    /// The number is greater than this. A text that reads as a number counts as one.
    Gt "gt", Order, Number, ">", "to be greater than", false;
    /// The number is this or greater.
    Ge "ge", Order, Number, "gte >= min", "to be at least", false;
    /// The number is less than this.
    Lt "lt", Order, Number, "<", "to be less than", false;
    /// The number is this or less.
    Le "le", Order, Number, "lte <= max", "to be at most", false;
    /// true: the value exists; false: it does not. null exists.
    Exists "exists", Presence, Flag, "", "to exist, wanted", false;
    /// The JSON type is this, or one of these. A whole number is an integer and a number.
    Type "type", Presence, Types, "", "to be of type", false;
    /// The number of characters of a text, items of a list, or keys of an object: a number, or a map of comparisons.
    Length "length", Length, Bounds, "len size count", "to have the length", false;
    /// The value is valid against this JSON Schema.
    Schema "schema", Schema, JsonSchema, "", "to fit the schema", false;
    /// The value equals the snapshot of this name, stored beside the plan; see `jelly snapshot`.
    Snapshot "snapshot", Snapshot, SnapshotName, "", "to equal the snapshot", true;
}

impl Operator {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }

    /// The operator that another word stands for.
    pub(crate) fn meant_by(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|op| WordList(op.also()).has(word))
    }
}

/// What a predicate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Text,
    Stderr,
    Json,
    Structured,
    ErrorCode,
    ErrorMessage,
    Duration,
    Count,
    ExitCode,
    Status,
    Header,
}

impl Target {
    /// As plans write it, as the schema calls it, and an example.
    fn row(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Text => (
                "text",
                "Text",
                "as in `text: { contains: \"done\" }`, or `{ equals: … }` for all of it",
            ),
            Self::Stderr => (
                "stderr",
                "Stderr",
                "as in `stderr: { not_contains: \"error\" }`",
            ),
            Self::Json => (
                "json",
                "Json",
                "as in `{ path: \"$.content[0].text\", equals: \"done\" }`",
            ),
            Self::Structured => (
                "structured",
                "Structured",
                "as in `structured: { equals: { ok: true } }`",
            ),
            Self::ErrorCode => (
                "error.code",
                "ErrorCode",
                "as in `code: -32602`, or `code: { one_of: [-32602, -32603] }`",
            ),
            Self::ErrorMessage => (
                "error.message",
                "ErrorMessage",
                "as in `message: { contains: \"not found\" }`",
            ),
            Self::Duration => ("duration", "Duration", "as in `duration: { lt: 500ms }`"),
            Self::Count => ("count", "Count", "as in `count: 2`, or `count: { ge: 2 }`"),
            Self::Status => (
                "status",
                "Status",
                "as in `status: 200`, or `status: { one_of: [401, 403] }`",
            ),
            Self::Header => (
                "headers",
                "Header",
                "as in `content-type: { contains: json }`",
            ),
            Self::ExitCode => (
                "exit",
                "ExitCode",
                "as in `exit: 2`, or `exit: { one_of: [1, 2] }`",
            ),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    pub(crate) fn schema_name(self) -> &'static str {
        self.row().1
    }

    pub(crate) fn example(self) -> &'static str {
        self.row().2
    }

    pub(crate) fn is_text(self) -> bool {
        match self {
            Self::Text | Self::Stderr | Self::ErrorMessage | Self::Header => true,
            Self::Json
            | Self::Structured
            | Self::ErrorCode
            | Self::Duration
            | Self::Count
            | Self::ExitCode
            | Self::Status => false,
        }
    }

    /// Whether `operator` means something here; if not, what would.
    pub(crate) fn takes(self, operator: Operator) -> Result<(), &'static str> {
        use OperatorGroup as Group;
        match (self, operator.group()) {
            (Self::Json, _) => Ok(()),
            (_, Group::Paths) => Err(
                "as in `json: [{ path: $.structuredContent.a, equals_path: $.structuredContent.b }]`",
            ),
            (Self::Structured, _) => Ok(()),
            (Self::Text | Self::Stderr | Self::ErrorMessage | Self::Header, Group::Order) => {
                Err("it is text; compare its `length`, or a number by `json` with a path")
            }
            (Self::Text | Self::Stderr | Self::ErrorMessage | Self::Header, Group::Schema) => {
                Err("it is text; use `structured`, or `json` with a path")
            }
            (Self::Text | Self::Stderr | Self::ErrorMessage | Self::Header, _) => Ok(()),
            (
                Self::ErrorCode | Self::Count | Self::ExitCode | Self::Status,
                Group::Equality | Group::Order | Group::Presence,
            ) => Ok(()),
            (Self::ErrorCode | Self::Count | Self::ExitCode | Self::Status, _) => {
                Err("it is a number; use `equals`, `one_of` or a comparison")
            }
            (Self::Duration, Group::Order) => Ok(()),
            (Self::Duration, _) => Err("use `lt`, `le`, `gt` or `ge`"),
        }
    }

    pub(crate) fn operators(self) -> impl Iterator<Item = Operator> {
        let all = Operator::ALL.into_iter();
        all.filter(move |operator| self.takes(*operator).is_ok())
    }
}

/// The types of JSON.
pub(crate) const VALUE_TYPES: [(&str, ()); 7] = [
    ("string", ()),
    ("number", ()),
    ("integer", ()),
    ("boolean", ()),
    ("array", ()),
    ("object", ()),
    ("null", ()),
];

/// Whether a type of JSON is called so.
#[must_use]
pub fn is_value_type(name: &str) -> bool {
    VALUE_TYPES.iter().any(|(known, ())| *known == name)
}

mapping! {
    /// What a path selects, or what a pattern matches.
    REDACTION = "RedactAt", "a redaction" {
        /// Path from the root of the value.
        path: Kind::JsonPath, also "json";
        /// A regular expression, as for `matches`, over the text that is compared.
        pattern: Kind::Text, also "regex regexp matches";
        /// Replacement, taken literally. Default: `[redacted]`.
        with: Kind::Text, also "value replace";
    }
    rule Rule::OneOf(&[&["path"], &["pattern"]]);
}
