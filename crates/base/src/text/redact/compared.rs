//! Secrets in a text that compares values.
//!
//! Main function: [`mask_compared`].

use super::prose::{secrets_in_prose, without};
use std::collections::HashMap;

/// Masks what [`mask_text`](super::mask_text) masks, and numbers the values of one name that
/// differ, so that they differ in a report, too. From the tenth value of a name on they are
/// told apart no more.
pub fn mask_compared(text: &mut String) {
    let found = secrets_in_prose(text);
    if found.is_empty() {
        return;
    }
    let mut values: HashMap<String, Vec<&str>> = HashMap::new();
    for one in &found {
        let known = values.entry(one.name.to_ascii_lowercase()).or_default();
        if known.len() < NUMBERED && !known.iter().any(|value| is_same(value, one.value)) {
            known.push(one.value);
        }
    }
    let number = |name: &str, value: &str| {
        let of_name = &values[&name.to_ascii_lowercase()];
        let at = of_name.iter().position(|known| is_same(known, value));
        match (of_name.len(), at) {
            (1, _) => name.to_owned(),
            (_, Some(at)) => format!("{name} {}", at + 1),
            (_, None) => format!("{name} of many"),
        }
    };
    *text = without(text, &found, &mut |name, value| number(name, value));
}

/// Values of one name that are numbered.
const NUMBERED: usize = 9;

/// Whether two values are one, which a writer may have cut.
fn is_same(one: &str, other: &str) -> bool {
    fn cut(value: &str) -> Option<&str> {
        value
            .strip_suffix("...")
            .or_else(|| value.strip_suffix('…'))
    }
    let begins = |one: &str, other: &str| cut(one).is_some_and(|begin| other.starts_with(begin));
    one == other || begins(one, other) || begins(other, one)
}

#[cfg(test)]
mod tests {
    use super::mask_compared;

    const TOKEN: &str = "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123";

    #[test]
    fn what_is_compared_is_masked_by_its_form_whatever_it_stands_behind() {
        let masked = |text: &str| {
            let mut text = text.to_owned();
            mask_compared(&mut text);
            text
        };
        let plain = "{'api_key': 'k1-aaaaaa9'} == {'api_key': 'k2-aaaaaa9'}";
        let numbered = "{'api_key': '[secret api_key 1]'} == {'api_key': '[secret api_key 2]'}";
        assert_eq!(masked(plain), numbered);
        let cut = masked("{'api_key': 'k1-aaaaaa9'} in {'api_key': 'k1-aa...'}");
        assert!(!cut.contains("k1-aa") && !cut.contains("key 2"), "{cut}");
        let beside = "assert 'a' == 'b'\nenviron({'DB_PASSWORD': 'hunter2xyz', 'N': '1'})";
        let shown = masked(beside);
        assert!(
            !shown.contains("hunter2xyz") && shown.contains("'N': '1'"),
            "{shown}"
        );
        for behind in [
            "'api_key': ",
            "Authorization: Bearer ",
            "'",
            "postgres://a:",
        ] {
            let text = format!("{behind}{TOKEN}@db/x' == 'ok'");
            assert!(!masked(&text).contains(TOKEN), "{text}");
        }
    }
}
