//! Numbers as they are written, no digit of them lost.
//!
//! JSON bounds neither digits nor exponents, so nothing here computes with the
//! value: numbers are compared by their digits and the place of the point, in
//! time linear in what is written.

use serde_json::{Number, Value};
use std::cmp::Ordering;

/// How two numbers stand to each other: `1`, `1.0` and `1e0` are equal.
#[must_use]
pub fn order(a: &Number, b: &Number) -> Ordering {
    // Most are small and whole.
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a.cmp(&b);
    }
    let (a, b) = (Decimal::of(a), Decimal::of(b));
    match (a.sign(), b.sign()) {
        (-1, -1) => b.magnitude(&a),
        (1, 1) => a.magnitude(&b),
        (a, b) => a.cmp(&b),
    }
}

/// Equality of JSON values, with numbers compared as numbers.
#[must_use]
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => order(x, y).is_eq(),
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len()
                && x.iter()
                    .all(|(key, x)| y.get(key).is_some_and(|y| same(x, y)))
        }
        _ => a == b,
    }
}

/// Whether it is a whole number; `1.0` and `1e999` are.
#[must_use]
pub fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || Decimal::of(number).is_whole()
}

/// About what it is; infinite beyond what a double holds.
#[must_use]
pub fn roughly(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_str().parse().ok(),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

/// A number as people and YAML write it, who may put a plus before it and leave
/// out the digits on one side of its point. None where it is none; infinities
/// are none.
#[must_use]
pub fn read_number(text: &str) -> Option<Number> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let point = mantissa.contains('.');
    if whole.is_empty() && (!point || fraction.is_empty()) {
        return None;
    }
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let fraction = match (point, fraction) {
        (false, _) => String::new(),
        (true, "") => ".0".to_owned(),
        (true, fraction) => format!(".{fraction}"),
    };
    format!("{sign}{whole}{fraction}{exponent}").parse().ok()
}

/// `0.d₁d₂d₃… × 10^point`, with a first digit that is not zero.
struct Decimal<'n> {
    negative: bool,
    /// Before the exponent, from the first digit on that is not zero; with the
    /// point. Empty for zero.
    written: &'n [u8],
    point: i128,
}

impl<'n> Decimal<'n> {
    fn of(number: &'n Number) -> Self {
        let text = number.as_str();
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let whole = mantissa.find('.').unwrap_or(mantissa.len());
        let first = mantissa.find(|c: char| matches!(c, '1'..='9'));
        let Some(first) = first else {
            return Self {
                negative: false,
                written: &[],
                point: 0,
            };
        };
        // How far before the point the first digit stands, or behind it.
        let place = match first < whole {
            true => whole as i128 - first as i128,
            false => whole as i128 + 1 - first as i128,
        };
        // What is longer than this is past comparing, and still no error.
        let exponent = exponent.parse().unwrap_or(match exponent.starts_with('-') {
            true => i128::MIN,
            false => i128::MAX,
        });
        Self {
            negative,
            written: &mantissa.as_bytes()[first..],
            point: place.saturating_add(exponent),
        }
    }

    fn sign(&self) -> i8 {
        match (self.written, self.negative) {
            ([], _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.written.iter().copied().filter(u8::is_ascii_digit)
    }

    fn magnitude(&self, other: &Self) -> Ordering {
        self.point.cmp(&other.point).then_with(|| {
            let (mut a, mut b) = (self.digits(), other.digits());
            loop {
                match (a.next(), b.next()) {
                    (None, None) => return Ordering::Equal,
                    (a, b) => match a.unwrap_or(b'0').cmp(&b.unwrap_or(b'0')) {
                        Ordering::Equal => {}
                        unequal => return unequal,
                    },
                }
            }
        })
    }

    fn is_whole(&self) -> bool {
        let last = self
            .digits()
            .enumerate()
            .filter(|(_, digit)| *digit != b'0');
        last.last()
            .is_none_or(|(index, _)| (index as i128) < self.point)
    }
}

#[cfg(test)]
mod tests {
    use super::{is_whole, order, read_number, same};
    use proptest::prelude::*;
    use serde_json::{Number, Value};
    use std::cmp::Ordering;
    use std::time::{Duration, Instant};

    fn number(text: &str) -> Number {
        text.parse().unwrap_or_else(|_| panic!("{text}"))
    }

    #[test]
    fn numbers_are_compared_with_every_digit() {
        for row in "
            1 = 1.0
            1 = 1e0
            10 = 1e1
            1 = 100e-2
            0 = -0.0
            0 = 0e999999999
            100 = 1.00e2
            9007199254740993.5 > 9007199254740993.25
            9007199254740993 > 9007199254740992
            9007199254740992.0 = 9007199254740992
            1e-400 > 0
            -1e-400 < 0
            1e-400 > 1e-401
            1e400 > 1e399
            -1e400 < 1e399
            -2 > -2.5
            0.05 < 0.5
            0.05 = 5e-2
            18446744073709551616 > 18446744073709551615
            12345678901234567890123456789012345678901234567890 < 12345678901234567890123456789012345678901234567891
            0.1234567890123456789012345678901234567890123456789 < 0.12345678901234567890123456789012345678901234567891
            1e999999999 > 1e999999998
            1e999999999 = 10e999999998
            1e-999999999 < 1
            -1e999999999 < -1e999999998
            1e99999999999999999999999999 > 1
            1e-99999999999999999999999999 > 0
            1e99999999999999999999999999999999999999999999999999 > 1e99999"
            .trim()
            .lines()
        {
            let [a, sign, b] = row.split_whitespace().collect::<Vec<_>>()[..] else {
                panic!("{row}");
            };
            let wanted = match sign {
                "<" => Ordering::Less,
                "=" => Ordering::Equal,
                _ => Ordering::Greater,
            };
            assert_eq!(order(&number(a), &number(b)), wanted, "{row}");
            assert_eq!(order(&number(b), &number(a)), wanted.reverse(), "{row}");
        }
    }

    #[test]
    fn whole_numbers_are_told_however_they_are_written() {
        for whole in [
            "0",
            "1.0",
            "1e0",
            "1e999999999",
            "-12.50e1",
            "0e-9",
            "1200e-2",
        ] {
            assert!(is_whole(&number(whole)), "{whole}");
        }
        for other in [
            "0.5",
            "1e-1",
            "9007199254740993.5",
            "1e-999999999",
            "1201e-2",
        ] {
            assert!(!is_whole(&number(other)), "{other}");
        }
    }

    #[test]
    fn values_are_equal_with_their_numbers_written_otherwise() {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert!(same(
            &value(r#"{"a": [1, {"b": 2.50}]}"#),
            &value(r#"{"a": [1e0, {"b": 2.5}]}"#)
        ));
        assert!(!same(&value("[1e-400]"), &value("[0]")));
    }

    #[test]
    fn numbers_that_people_write_are_read() {
        for (text, wanted) in [
            ("+5", "5"),
            (".5", "0.5"),
            ("1.", "1.0"),
            ("-.5e3", "-0.5e+3"),
            ("007", "7"),
            ("9007199254740993.25", "9007199254740993.25"),
            ("1e-400", "1e-400"),
        ] {
            assert_eq!(read_number(text).unwrap().as_str(), wanted, "{text}");
        }
        for none in [
            "", "-", ".", "+.", "inf", "NaN", "1e", "1 2", "0x1f", "1,5", "--1", ".",
        ] {
            assert_eq!(read_number(none), None, "{none}");
        }
    }

    #[test]
    fn long_numbers_cost_what_they_are_long() {
        let long = format!("0.{}1", "0".repeat(1 << 20));
        let begin = Instant::now();
        assert!(order(&number(&long), &number("1e999999999")).is_lt());
        assert!(begin.elapsed() < Duration::from_secs(5));
    }

    proptest! {
        #[test]
        fn doubles_are_ordered_as_they_are(a in any::<f64>(), b in any::<f64>()) {
            prop_assume!(a.is_finite() && b.is_finite());
            let number = |float| Number::from_f64(float).unwrap();
            prop_assert_eq!(Some(order(&number(a), &number(b))), a.partial_cmp(&b));
            prop_assert_eq!(is_whole(&number(a)), a.fract() == 0.0);
        }
    }
}
