//! Which scopes to ask for. Pure; by the specification's "Scope Selection
//! Strategy" and "Step-Up Authorization Flow".

/// So many scopes are looked at, and so long ones.
const MAX_SCOPES: usize = 256;
const MAX_LENGTH: usize = 256;

/// Whether a text can be a scope (RFC 6749, section 3.3).
pub(super) fn is_scope(text: &str) -> bool {
    let fits = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5B | 0x5D..=0x7E);
    !text.is_empty() && text.len() <= MAX_LENGTH && text.bytes().all(fits)
}

/// The scopes in a text, each once, in their order; what can be none is left
/// out.
pub(super) fn split(text: &str) -> Vec<String> {
    gathered(text.split([' ', '\t']))
}

/// The same of a list.
pub(super) fn gathered<'a>(scopes: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for scope in scopes {
        if all.len() < MAX_SCOPES && is_scope(scope) && !all.iter().any(|known| known == scope) {
            all.push(scope.to_owned());
        }
    }
    all
}

/// What to ask for at first: what the plan says, else what the challenge
/// wants, else all that the resource knows, else nothing.
pub(super) fn first(
    pinned: &[String],
    challenged: Option<&[String]>,
    supported: Option<&[String]>,
) -> Vec<String> {
    if !pinned.is_empty() {
        return pinned.to_vec();
    }
    challenged.or(supported).unwrap_or_default().to_vec()
}

/// What to ask for when more is wanted: what was asked for before, so that
/// nothing is lost, and what is wanted now.
pub(super) fn union(before: &[String], more: &[String]) -> Vec<String> {
    gathered(before.iter().chain(more).map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::{first, split, union};
    use proptest::prelude::*;

    fn list(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_challenge_goes_before_what_is_supported_and_the_plan_before_both() {
        let (plan, challenge, all) = (list("p"), list("c d"), list("a b c"));
        assert_eq!(first(&plan, Some(&challenge), Some(&all)), plan);
        assert_eq!(first(&[], Some(&challenge), Some(&all)), challenge);
        assert_eq!(first(&[], Some(&[]), Some(&all)), list(""));
        assert_eq!(first(&[], None, Some(&all)), all);
        assert_eq!(first(&[], None, None), list(""));
    }

    #[test]
    fn a_step_up_keeps_what_was_there() {
        assert_eq!(union(&list("a b"), &list("b c")), list("a b c"));
    }

    #[test]
    fn what_can_be_no_scope_is_left_out() {
        assert_eq!(split("a  b\ta \"q\" é \\"), list("a b"));
    }

    proptest! {
        #[test]
        fn scopes_are_bounded_and_each_is_there_once(text in "[a-e \\PC]{0,400}") {
            let scopes = split(&text);
            prop_assert!(scopes.len() <= 256);
            let mut once = scopes.clone();
            once.sort();
            once.dedup();
            prop_assert_eq!(once.len(), scopes.len());
        }
    }
}
