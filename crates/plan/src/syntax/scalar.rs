//! What a plain (unquoted) scalar stands for: the core schema of YAML 1.2.2,
//! section 10.3.2, narrowed where a test plan would be surprised.
//!
//! Narrowed: a number with a leading zero (`012`) is a string, since it is a
//! code or a date more often than a number; `.inf` and `.nan`, which JSON
//! can't carry, are refused. Every other number keeps its digits.

use super::node::Data;
use jelly_base::text::read_number;

/// A plain scalar, resolved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Plain {
    Value(Data<'static>),
    /// None of the others: the text itself.
    Text,
    /// Looks like a number and can't be one; why.
    Refused(&'static str),
}

/// Resolves the text of a plain scalar.
pub(crate) fn plain(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Plain::Value(Data::Null),
        "true" | "True" | "TRUE" => Plain::Value(Data::Bool(true)),
        "false" | "False" | "FALSE" => Plain::Value(Data::Bool(false)),
        _ if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) => {
            Plain::Text
        }
        _ => number(text),
    }
}

fn number(text: &str) -> Plain {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(digits, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Plain::Refused("JSON has no such number");
    }
    let radix = |prefix: &str, radix: u32| {
        let rest = text.strip_prefix(prefix)?;
        (!rest.is_empty() && rest.chars().all(|c| c.is_digit(radix)))
            .then(|| u64::from_str_radix(rest, radix).ok())
    };
    if let Some(value) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return match value {
            Some(value) => Plain::Value(Data::Number(value.into())),
            None => Plain::Refused("too large to be kept exactly"),
        };
    }
    let Some(shape) = ScalarShape::of(digits) else {
        return Plain::Text;
    };
    match shape {
        ScalarShape::LeadingZero => Plain::Text,
        ScalarShape::Number => match read_number(text) {
            Some(number) => Plain::Value(Data::Number(number)),
            None => Plain::Text,
        },
    }
}

enum ScalarShape {
    Number,
    LeadingZero,
}

impl ScalarShape {
    /// `[0-9]+`, or `(\.[0-9]+ | [0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
    fn of(digits: &str) -> Option<Self> {
        let count = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let whole = count(digits);
        let mut rest = &digits[whole..];
        let mut fraction = 0;
        if let Some(after) = rest.strip_prefix('.') {
            fraction = count(after);
            rest = &after[fraction..];
        }
        if whole + fraction == 0 {
            return None;
        }
        if let Some(after) = rest.strip_prefix(['e', 'E']) {
            let exponent = after.strip_prefix(['+', '-']).unwrap_or(after);
            let length = count(exponent);
            if length == 0 {
                return None;
            }
            rest = &exponent[length..];
        }
        if !rest.is_empty() {
            None
        } else if whole > 1 && digits.starts_with('0') {
            Some(Self::LeadingZero)
        } else {
            Some(Self::Number)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Plain, plain};
    use crate::syntax::Data;
    use serde_json::json;

    fn value(text: &str) -> Option<serde_json::Value> {
        match plain(text) {
            Plain::Value(data) => Some(match data {
                Data::Null => json!(null),
                Data::Bool(value) => json!(value),
                Data::Number(number) => json!(number),
                Data::String(_) | Data::List(_) | Data::Map(_) => unreachable!(),
            }),
            Plain::Text | Plain::Refused(_) => None,
        }
    }

    #[test]
    fn numbers_are_kept_exactly() {
        assert_eq!(value("0"), Some(json!(0)));
        assert_eq!(value("+5"), Some(json!(5)));
        assert_eq!(value("-12"), Some(json!(-12)));
        assert_eq!(
            value("18446744073709551615"),
            Some(json!(18_446_744_073_709_551_615_u64))
        );
        assert_eq!(
            value("-9223372036854775808"),
            Some(json!(-9_223_372_036_854_775_808_i64))
        );
        for long in [
            "18446744073709551616",
            "-9223372036854775809",
            "9007199254740993.5",
            "1e-400",
        ] {
            assert_eq!(value(long).unwrap().to_string(), long);
        }
        assert_eq!(value("1e999").unwrap().to_string(), "1e+999");
        assert_eq!(value("0x1F"), Some(json!(31)));
        assert_eq!(value("0o17"), Some(json!(15)));
        assert_eq!(value("1.50").unwrap().to_string(), "1.50");
        assert_eq!(value(".5"), Some(json!(0.5)));
        assert_eq!(value("1e20").unwrap().to_string(), "1e+20");
    }

    #[test]
    fn what_only_looks_like_a_number_is_a_string() {
        for text in [
            "012",
            "1_000",
            "1.2.3",
            "1e",
            "-",
            "+",
            ".",
            "00.5",
            "0x",
            "1 2",
            "yes",
            "no",
            "on",
            "off",
            "0o9",
            "--5",
            "2026-07-28",
            "12:30",
            "1,5",
            "e5",
            "..",
            "-x",
        ] {
            assert_eq!(plain(text), Plain::Text, "{text}");
        }
    }

    #[test]
    fn numbers_that_json_cannot_carry_are_refused() {
        for text in [".inf", "-.INF", ".nan", "0xFFFFFFFFFFFFFFFFF"] {
            assert!(matches!(plain(text), Plain::Refused(_)), "{text}");
        }
    }
}
