//! JSON as people and programs keep it in files: with comments, trailing
//! commas and a byte order mark, and nothing else of JSON5.

use jsonc_parser::ast::Value;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, ParseStringErrorKind, parse_to_ast};

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_trailing_commas: false,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

const AS_IN_FILES: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    ..STRICT
};

/// Why a text is no JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsoncError {
    /// In bytes.
    pub offset: usize,
    /// A fragment in lower case.
    pub what: String,
    pub slip: Option<JsonSlip>,
}

/// What people write who know another notation, where there is no doubt about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonSlip {
    /// A backslash that begins no escape, as in a path of Windows.
    Backslash,
    SingleQuotes,
}

/// The text without its byte order mark: what offsets count from.
#[must_use]
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The value of a text without a byte order mark; `None` where there is none.
/// The parser bounds its depth.
///
/// # Errors
/// It is no JSON.
pub fn parse_jsonc(text: &str) -> Result<Option<Value<'_>>, JsoncError> {
    parse_with(text, &AS_IN_FILES)
}

/// What a parser of JSON that takes no trailing commas, and no comments unless
/// these are allowed, refuses in a text.
#[must_use]
pub fn refused_by_strict_json(text: &str, allow_comments: bool) -> Option<JsoncError> {
    let options = ParseOptions {
        allow_comments,
        ..STRICT
    };
    parse_with(text, &options).err()
}

fn parse_with<'t>(text: &'t str, options: &ParseOptions) -> Result<Option<Value<'t>>, JsoncError> {
    match parse_to_ast(text, &CollectOptions::default(), options) {
        Ok(parsed) => Ok(parsed.value),
        Err(error) => Err(JsoncError {
            offset: error.range().start,
            what: format!("invalid JSON: {}", error.kind().to_string().to_lowercase()),
            slip: match error.kind() {
                ParseErrorKind::SingleQuotedStringsNotAllowed => Some(JsonSlip::SingleQuotes),
                ParseErrorKind::String(
                    ParseStringErrorKind::InvalidEscape
                    | ParseStringErrorKind::ExpectedFourHexDigits,
                ) => Some(JsonSlip::Backslash),
                _ => None,
            },
        }),
    }
}
