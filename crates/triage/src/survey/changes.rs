//! What a text lost and got in place of another: whoever shows the same footer shows the same
//! change of it, in whatever form.

use super::signs::{changed, is_wrong_value};
use std::collections::HashMap;

/// Letters of a change, of one that is told line by line, and of a whole text.
const LETTERS: usize = 12;
const OF_LINES: usize = 24;

/// The changes of a text that failures of one fault share, where they say more than one word:
/// one word in place of another is a state.
pub(super) fn changes(root_cause: &str, text: &str) -> Vec<String> {
    let compares = is_wrong_value(root_cause);
    if !compares && root_cause != "snapshot_mismatch" {
        return Vec::new();
    }
    let mut found = Vec::new();
    let is_member = |line: &str| line.contains("\": ") || line.contains(": '");
    let (wanted, came) = match changed(text, |_| true) {
        Some(lines) => {
            let several = lines.lines().count() > 1 && lines.len() >= OF_LINES;
            let is_told = match compares {
                true => several && !lines.lines().any(is_member),
                false => several && lines.lines().all(is_sentence),
            };
            if is_told {
                found.push(lines);
                return found;
            }
            (marked(&lines, '-'), marked(&lines, '+'))
        }
        None => {
            let labelled = (value(text, "Expected: "), value(text, "Received: "));
            let (Some(wanted), Some(came)) = labelled else {
                return found;
            };
            // The same text in place of the same, however short its change.
            if wanted.len().min(came.len()) >= OF_LINES && wanted.contains(' ') {
                found.push(format!("{wanted} as {came}"));
            }
            (wanted.to_owned(), came.to_owned())
        }
    };
    if !compares {
        found.extend(put_in(&wanted, &came).map(|piece| format!("+{piece}")));
    }
    let (lost, got) = of_one_change(without_words(&wanted, &came), without_words(&came, &wanted));
    let letters: usize = lost.iter().chain(&got).map(|word| word.len()).sum();
    let is_state = lost.len() == 1 && got.len() == 1;
    if !is_state && letters >= LETTERS && lost.len() + got.len() > 1 {
        found.push(format!("-{} +{}", lost.join(" "), got.join(" ")));
    }
    found
}

/// What a snapshot first has besides: whatever else differs, those that have it have one change
/// in common.
fn put_in<'t>(wanted: &str, came: &'t str) -> Option<&'t str> {
    const AFTER: usize = 4;
    let same = wanted.chars().zip(came.chars());
    let same = same.take_while(|(one, other)| one == other);
    let begin: usize = same.map(|(letter, _)| letter.len_utf8()).sum();
    let (rest, other) = (&wanted[begin..], &came[begin..]);
    let after = rest
        .char_indices()
        .nth(AFTER)
        .map_or(rest, |(at, _)| &rest[..at]);
    let end = if after.is_empty() {
        other.len()
    } else {
        other.find(after)?
    };
    let piece = &other[..end];
    let letters = piece
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .count();
    (letters >= LETTERS).then_some(piece)
}

/// Whether a line holds words that somebody wrote for people, and no element, member or code:
/// the same such line in several snapshots is a part that they have in common.
fn is_sentence(line: &str) -> bool {
    const CODE: [char; 8] = ['<', '>', '{', '}', '[', ']', '=', '"'];
    let words = line.split_whitespace().filter(|word| {
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        letters > 0 || word.chars().any(|c| c.is_ascii_digit())
    });
    !line.contains(CODE) && !line.contains(": ") && words.count() > 1
}

/// The lines behind this mark, as one.
fn marked(lines: &str, mark: char) -> String {
    let of_mark = lines.lines().filter_map(|line| line.strip_prefix(mark));
    of_mark.collect::<Vec<_>>().join(" ")
}

/// The rest of the first line that begins so.
fn value<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    let mut lines = text.lines().map(str::trim_start);
    lines.find_map(|line| line.strip_prefix(label))
}

/// The words of a text that another has not, each as often, in the order of the alphabet.
fn without_words<'t>(text: &'t str, other: &str) -> Vec<&'t str> {
    fn words(text: &str) -> impl Iterator<Item = &str> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words.filter(|word| !word.is_empty())
    }
    // A report may hold texts of very many words.
    let mut others: HashMap<&str, usize> = HashMap::new();
    for word in words(other) {
        *others.entry(word).or_default() += 1;
    }
    let is_own = |word: &&str| match others.get_mut(*word) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    let mut own: Vec<&str> = words(text).filter(is_own).collect();
    own.sort_unstable();
    own
}

/// The words that one change takes out and puts in: a button that is there twice changes twice.
fn of_one_change<'t>(lost: Vec<&'t str>, got: Vec<&'t str>) -> (Vec<&'t str>, Vec<&'t str>) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in lost.iter().chain(&got) {
        *counts.entry(word).or_default() += 1;
    }
    let times = counts.values().copied().min().unwrap_or(1);
    if times < 2 || counts.values().any(|count| count % times != 0) {
        return (lost, got);
    }
    let once = |words: Vec<&'t str>| words.into_iter().step_by(times).collect();
    (once(lost), once(got))
}

#[cfg(test)]
mod tests {
    use super::{put_in, without_words};

    #[test]
    fn what_is_put_in_is_told_whatever_else_differs() {
        let told = Some("caption>Summary</caption><");
        for (wanted, came) in [
            (
                "<table></table>",
                "<table><caption>Summary</caption></table>",
            ),
            (
                "<table><tr><td>2</td></tr></table>",
                "<table><caption>Summary</caption><tr><td id=\"x\">2</td></tr></table>",
            ),
        ] {
            assert_eq!(put_in(wanted, came), told);
        }
        assert_eq!(put_in("<b>open</b>", "<b>closed</b>"), None);
        assert_eq!(put_in("a b", "a"), None);
    }

    #[test]
    fn words_are_told_as_often_as_the_other_lacks_them() {
        assert_eq!(without_words("a b, a c a", "a d b"), ["a", "a", "c"]);
        assert_eq!(without_words("a b", "b a a"), Vec::<&str>::new());
    }
}
