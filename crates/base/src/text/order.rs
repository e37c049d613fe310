//! The order in which a person would put names with numbers in them.

use std::cmp::Ordering;

/// Compares names so that their numbers count as numbers: `build/9` comes
/// before `build/17`, and `Results` before `Results(2)`. Names that differ only
/// in leading zeros follow the order of their bytes, so the order is total.
#[must_use]
pub fn natural_cmp(one: &str, other: &str) -> Ordering {
    let (mut a, mut b) = (one, other);
    while !a.is_empty() && !b.is_empty() {
        let (x, y) = (first_chunk(a), first_chunk(b));
        let order = if is_number(x) && is_number(y) {
            let (m, n) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
            m.len().cmp(&n.len()).then_with(|| m.cmp(n))
        } else {
            // `Results.xml` before `Results(2).xml`: a mark of the place where
            // a name ends comes first.
            rank(x).cmp(&rank(y)).then_with(|| x.cmp(y))
        };
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (&a[x.len()..], &b[y.len()..]);
    }
    a.len().cmp(&b.len()).then_with(|| one.cmp(other))
}

fn is_number(chunk: &str) -> bool {
    chunk.starts_with(|c: char| c.is_ascii_digit())
}

fn rank(chunk: &str) -> u8 {
    match chunk.as_bytes().first() {
        Some(b'/' | b'\\') => 0,
        Some(b'.') => 1,
        Some(_) | None => 2,
    }
}

/// The digits at the start, or what stands before the next of them; a
/// separator or a dot is a chunk by itself.
fn first_chunk(text: &str) -> &str {
    let digits = is_number(text);
    let single = |c: char| matches!(c, '/' | '\\' | '.');
    if text.starts_with(single) {
        return &text[..1];
    }
    let end = text
        .find(|c: char| c.is_ascii_digit() != digits || single(c))
        .unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::natural_cmp;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    #[test]
    fn numbers_count_as_numbers() {
        let wanted = [
            "Results.xml",
            "Results(2).xml",
            "Results(7).xml",
            "Results(10).xml",
            "build/9/r.xml",
            "build/17/r.xml",
            "build/17/s.xml",
            "build/170/r.xml",
            "results",
            "results/1",
        ];
        let mut sorted = wanted;
        sorted.reverse();
        sorted.sort_by(|a, b| natural_cmp(a, b));
        assert_eq!(sorted, wanted);
    }

    proptest! {
        #[test]
        fn the_order_is_total(a in "[a0-9./(]{0,6}", b in "[a0-9./(]{0,6}", c in "[a0-9./(]{0,6}") {
            prop_assert_eq!(natural_cmp(&a, &b), natural_cmp(&b, &a).reverse());
            prop_assert_eq!(natural_cmp(&a, &b) == Ordering::Equal, a == b);
            if natural_cmp(&a, &b).is_le() && natural_cmp(&b, &c).is_le() {
                prop_assert!(natural_cmp(&a, &c).is_le());
            }
        }
    }
}
