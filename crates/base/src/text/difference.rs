//! What differs between two texts, for a person who reads neither as a whole.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// A text of one line that is longer, in bytes, is told by where it differs.
const SHORT: usize = 120;
/// Characters that are told of a line before the first that differs, and after.
const BEFORE: usize = 24;
const AFTER: usize = 60;
/// Characters of a line of a diff.
const LINE: usize = 200;
/// Lines around a change that are told.
const CONTEXT: usize = 2;
/// Lines of both texts, from the first change to the last, that are compared at most; of
/// more, what was is told as gone and what is as new.
const COMPARED: usize = 60_000;

/// Whether a text is told by its changes only.
#[must_use]
pub fn is_long(text: &str) -> bool {
    text.len() > SHORT || text.trim_end().contains('\n')
}

/// The place where `got` begins to differ from `wanted`, in words: `line 7: got
/// "b" instead of "a"`; none where they are equal.
#[must_use]
pub fn first_difference(wanted: &str, got: &str) -> Option<String> {
    if wanted == got {
        return None;
    }
    let (before, after) = (lines(wanted), lines(got));
    let same = before
        .iter()
        .zip(&after)
        .take_while(|(a, b)| a == b)
        .count();
    let number = same + 1;
    Some(match (before.get(same), after.get(same)) {
        (Some(before), Some(after)) => {
            let same = common(before, after);
            let place = match (is_long(wanted) || is_long(got), wanted.contains('\n')) {
                (true, false) if !got.contains('\n') => format!("from character {}", same + 1),
                _ => format!("line {number}"),
            };
            let [before, after] = [before, after].map(|line| quoted(line, same));
            format!("{place}: got {after} instead of {before}")
        }
        (Some(before), None) => format!("line {number} is missing: {}", quoted(before, 0)),
        (None, Some(after)) => format!("line {number} is new: {}", quoted(after, 0)),
        // They differ by how the last line ends.
        (None, None) => "only the line feeds at the end differ".to_owned(),
    })
}

/// A line around its character at this place, as a JSON text.
fn quoted(line: &str, at: usize) -> String {
    serde_json::Value::from(window(line, at, BEFORE + AFTER)).to_string()
}

/// The characters that two lines begin with alike.
fn common(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(a, b)| a == b).count()
}

/// A line, or so many characters of it around the one at this place.
fn window(line: &str, at: usize, length: usize) -> Cow<'_, str> {
    let all = line.chars().count();
    if all <= length {
        return Cow::Borrowed(line);
    }
    let from = at.saturating_sub(BEFORE).min(all - length);
    let shown: String = line.chars().skip(from).take(length).collect();
    let head = if from > 0 { "…" } else { "" };
    let tail = if from + length < all { "…" } else { "" };
    Cow::Owned([head, &shown, tail].concat())
}

/// The changed lines with those around them, as the hunks of a unified diff,
/// of at most `max` lines; empty where the lines are equal.
#[must_use]
pub fn hunks(before: &str, after: &str, max: usize) -> String {
    let (before, after) = broken(before, after);
    let (before, after) = (lines(&before), lines(&after));
    let mut out = String::new();
    let mut told = 0;
    let mut untold = 0;
    for group in group_diff_ops(changes(&before, &after), CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let range = |range: fn(&DiffOp) -> Range<usize>| {
            let (start, end) = (range(first).start, range(last).end);
            format!("{},{}", start + 1, end - start)
        };
        if told < max {
            // Writing to a String can't fail.
            let _ = writeln!(
                out,
                "@@ -{} +{} @@",
                range(DiffOp::old_range),
                range(DiffOp::new_range)
            );
        }
        for op in &group {
            let (old, new) = (&before[op.old_range()], &after[op.new_range()]);
            for (mark, lines, others) in parts(op, old, new) {
                for (at, line) in lines.iter().enumerate() {
                    if told < max {
                        let other = others.get(at).copied().unwrap_or_default();
                        let _ = writeln!(out, "{mark}{}", window(line, common(line, other), LINE));
                        told += 1;
                    } else {
                        untold += 1;
                    }
                }
            }
        }
    }
    if untold > 0 {
        let _ = writeln!(out, "… {} more", super::plural(untold, "line"));
    }
    out
}

/// Some lines with their mark, and those that they are compared with.
type Part<'l> = (char, &'l [&'l str], &'l [&'l str]);

/// The lines of a change as they are told: of many, some that went and some that came in turn,
/// so that whoever reads the beginning sees both.
fn parts<'l>(op: &DiffOp, old: &'l [&'l str], new: &'l [&'l str]) -> Vec<Part<'l>> {
    const IN_TURN: usize = 4;
    if matches!(op, DiffOp::Equal { .. }) {
        return vec![(' ', old, new)];
    }
    if old.len().max(new.len()) <= 2 * IN_TURN {
        return vec![('-', old, new), ('+', new, old)];
    }
    let turns = old.len().max(new.len()).div_ceil(IN_TURN);
    let some = |lines: &'l [&'l str], turn: usize| {
        let from = (turn * IN_TURN).min(lines.len());
        &lines[from..(from + IN_TURN).min(lines.len())]
    };
    let turn = |turn| {
        let (old, new) = (some(old, turn), some(new, turn));
        [('-', old, new), ('+', new, old)]
    };
    (0..turns).flat_map(turn).collect()
}

/// Two texts with their long lines broken where people would: documents of JSON member by
/// member, other lines behind sentences and items of lists. Of a line, only one place is told.
fn broken<'t>(before: &'t str, after: &'t str) -> (Cow<'t, str>, Cow<'t, str>) {
    let is_long = |text: &str| text.lines().any(|line| line.len() > LINE);
    if !is_long(before) && !is_long(after) {
        return (Cow::Borrowed(before), Cow::Borrowed(after));
    }
    let document = |text: &str| {
        /// Brackets and bytes of a document that is told member by member: each level indents all
        /// below it.
        const DEEPEST: usize = 32;
        const LARGEST: usize = 1 << 20;
        let mut depth = 0_usize;
        let deepest = text.bytes().fold(0, |deepest, byte| {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            deepest.max(depth)
        });
        if text.len() > LARGEST || deepest > DEEPEST {
            return None;
        }
        let value = serde_json::from_str::<serde_json::Value>(text).ok()?;
        let is_one = value.is_object() || value.is_array();
        is_one.then(|| serde_json::to_string_pretty(&value).ok())?
    };
    match (document(before), document(after)) {
        (Some(before), Some(after)) if before != after => (before.into(), after.into()),
        _ => {
            let pieces = (in_pieces(before), in_pieces(after));
            // They may differ in nothing but where a line ends.
            match pieces.0 == pieces.1 {
                true => (Cow::Borrowed(before), Cow::Borrowed(after)),
                false => (pieces.0.into(), pieces.1.into()),
            }
        }
    }
}

/// A text with its long lines broken behind sentences and items of lists.
fn in_pieces(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 32);
    for line in text.lines() {
        let is_long = line.len() > LINE;
        let mut before = ' ';
        for c in line.chars() {
            let is_break = c == ' ' && matches!(before, '.' | ',' | ';' | '!' | '?');
            let is_break = is_break || matches!((before, c), (',', '{' | '[' | '"'));
            if is_long && is_break {
                out.push('\n');
            }
            out.push(c);
            before = c;
        }
        out.push('\n');
    }
    out
}

/// How many lines [`hunks`] left out, which its last line says.
#[must_use]
pub fn untold(hunks: &str) -> u64 {
    let told = hunks.lines().last();
    let number = told.and_then(|last| {
        let lines = last.strip_prefix("… ")?.strip_suffix(" more")?;
        lines.split(' ').next()?.parse().ok()
    });
    number.unwrap_or(0)
}

/// What changed, in whole lines. The same texts give the same changes on every
/// machine, so it is a number that bounds the search, and no time: the search itself costs as
/// much as there are changes, and of unlike texts it settles for some changes that are not the
/// fewest once it went far, as Git does.
fn changes(before: &[&str], after: &[&str]) -> Vec<DiffOp> {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = before.iter().zip(after).take_while(same).count();
    let (old, new) = (&before[head..], &after[head..]);
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(same)
        .count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    if old.len().saturating_add(new.len()) <= COMPARED {
        return capture_diff_slices(Algorithm::Myers, before, after);
    }
    let equal = |old_index, new_index, len| DiffOp::Equal {
        old_index,
        new_index,
        len,
    };
    vec![
        equal(0, 0, head),
        DiffOp::Replace {
            old_index: head,
            old_len: old.len(),
            new_index: head,
            new_len: new.len(),
        },
        equal(head + old.len(), head + new.len(), tail),
    ]
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

#[cfg(test)]
mod tests {
    use super::{first_difference, hunks, is_long, untold};
    use proptest::prelude::*;

    fn numbered(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("row {n}")).collect()
    }

    #[test]
    fn of_one_long_line_every_change_is_told() {
        let rows = |changed: &[usize]| -> Vec<serde_json::Value> {
            let name = |at| match changed.contains(&at) {
                true => "other".to_owned(),
                false => format!("row {at}"),
            };
            let row = |at| serde_json::json!({ "id": at, "name": name(at) });
            (0..600).map(row).collect()
        };
        let text = |changed: &[usize]| serde_json::Value::from(rows(changed)).to_string();
        let told = hunks(&text(&[]), &text(&[300, 480]), 40);
        assert_eq!(told.matches("other").count(), 2, "{told}");
        assert!(
            told.contains("row 300") && told.contains("row 480"),
            "{told}"
        );
        let prose = |changed: &[usize]| -> String {
            let word = |at| {
                if changed.contains(&at) {
                    "warm"
                } else {
                    "cold"
                }
            };
            (0..99)
                .map(|at| format!("Day {at} is {}. ", word(at)))
                .collect()
        };
        let told = hunks(&prose(&[]), &prose(&[9, 70]), 40);
        assert_eq!(told.matches("warm").count(), 2, "{told}");
    }

    #[test]
    fn a_line_that_ends_elsewhere_is_a_change() {
        let before = "It was so. ".repeat(99);
        let after = before.replacen(". It", ".\n It", 1);
        assert_ne!(hunks(&before, &after, 40), "");
    }

    #[test]
    fn where_all_lines_change_the_beginning_shows_both() {
        let rows = |word: &str| -> String { (0..500).map(|at| format!("{word} {at}\n")).collect() };
        let told = hunks(&rows("old"), &rows("new"), 16);
        assert!(
            told.contains("-old 0\n") && told.contains("+new 0\n"),
            "{told}"
        );
        assert_eq!(untold(&told), 984);
    }

    #[test]
    fn a_change_far_down_is_told_and_not_the_beginning() {
        let wanted = numbered(700);
        let mut got = wanted.clone();
        got[500] = "row five hundred".to_owned();
        let (wanted, got) = (wanted.join("\n"), got.join("\n"));
        assert!(is_long(&wanted));
        assert_eq!(
            first_difference(&wanted, &got).unwrap(),
            "line 501: got \"row five hundred\" instead of \"row 500\""
        );
        assert_eq!(
            hunks(&wanted, &got, 40),
            "@@ -499,5 +499,5 @@\n row 498\n row 499\n-row 500\n+row five hundred\n row 501\n row 502\n"
        );
        let cut = hunks(&wanted, &got, 3);
        assert!(cut.ends_with("-row 500\n… 3 lines more\n"));
        assert_eq!((untold(&cut), untold("-… 3 lines more\n")), (3, 0));
    }

    #[test]
    fn one_long_line_is_told_around_the_change() {
        let wanted = format!("{}x{}", "a".repeat(5000), "b".repeat(5000));
        let got = wanted.replace('x', "y");
        let told = first_difference(&wanted, &got).unwrap();
        assert!(
            told.starts_with("from character 5001: got \"…aaaa"),
            "{told}"
        );
        assert!(told.contains("ybbb") && told.len() < 300, "{told}");
    }

    #[test]
    fn more_fewer_and_no_lines() {
        assert_eq!(
            first_difference("a\nb", "a").unwrap(),
            "line 2 is missing: \"b\""
        );
        assert_eq!(
            first_difference("a", "a\nb").unwrap(),
            "line 2 is new: \"b\""
        );
        assert_eq!(
            first_difference("a\n", "a").unwrap(),
            "only the line feeds at the end differ"
        );
        assert_eq!(first_difference("a", "a"), None);
        assert_eq!(hunks("a\n", "a\n", 9), "");
    }

    #[test]
    fn what_changed_throughout_costs_no_search() {
        let (wanted, got) = ("a\n".repeat(100_000), "b\n".repeat(100_000));
        let text = hunks(&wanted, &got, 10);
        assert!(text.ends_with("… 199990 lines more\n"), "{text}");
    }

    #[test]
    fn a_few_changes_far_apart_in_many_lines_stay_a_few_hunks() {
        let wanted = numbered(20_000);
        let mut got = wanted.clone();
        for (at, word) in [(19_000, "three"), (10_000, "two"), (10, "one")] {
            got[at] = word.to_owned();
        }
        got.remove(7_000);
        let told = hunks(&wanted.join("\n"), &got.join("\n"), usize::MAX);
        let marked = |mark| told.lines().filter(|line| line.starts_with(mark)).count();
        assert_eq!(
            (marked("@@"), marked("-"), marked("+")),
            (4, 4, 3),
            "{told}"
        );
        assert!(told.contains("-row 7000\n row 7001\n"), "{told}");
    }

    #[test]
    fn lines_that_are_alike_everywhere_cost_no_search_of_all_pairs() {
        // No chance: the same texts in each run.
        let text = |seed: u64| -> String {
            let mut state = seed;
            let mut line = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                if state >> 63 == 0 { "a\n" } else { "b\n" }
            };
            (0..30_000).map(|_| line()).collect()
        };
        let (before, after) = (text(1), text(2));
        let told = hunks(&before, &after, usize::MAX);
        let marked = |mark| told.lines().filter(|line| line.starts_with(mark)).count();
        let (gone, new) = (marked('-'), marked('+'));
        assert_eq!(gone, new);
        assert!(gone < 15_000, "{gone}");
    }

    proptest! {
        #[test]
        fn hunks_lead_from_one_text_to_the_other(
            before in "([ab]\n){0,12}", after in "([abc]\n){0,12}",
        ) {
            let text = hunks(&before, &after, usize::MAX);
            let count = |mark| text.lines().filter(|l| l.starts_with(mark)).count();
            let (old, new) = (before.lines().count(), after.lines().count());
            prop_assert_eq!(old + count('+'), new + count('-'));
            prop_assert_eq!(text.is_empty(), before == after);
        }
    }
}
