//! Signs of a comparison that tell how what came differs from what was wanted, and whether
//! a function was called too often.

use super::difference::Difference;
use super::lacks::{Subject, SubjectKind};
use super::shifted::{compared, is_rare};
use super::titles::{suite_of_failure, titles_around};
use jelly_base::model::Failure;
use jelly_base::text::{LazyPattern, holds_whole};
use regex::Captures;

/// How a value differs, in one suite or as an edit that hardly comes twice by chance. `said`
/// are the message and the evidence.
pub(super) fn compared_signs(failure: &Failure, said: &[Option<&str>], text: &str) -> Vec<Subject> {
    const SIGNS: [fn(&str, &str) -> Option<Difference>; 6] =
        [odd_value, apart, times, negated, each_apart, column_put_in];
    // Who computes with nothing gets the same from many functions, bare and within a text.
    let odd_of = |told: &(String, String)| odd(&told.0, &told.1);
    let suite = suite_of_failure(failure).unwrap_or_default();
    let told: Vec<(String, String)> = said
        .iter()
        .flatten()
        .filter_map(|said| compared(said))
        .collect();
    // Of a source the lines of a test would be compared.
    let edit = told.iter().find_map(|(wanted, came)| edit(wanted, came));
    let padded = told.iter().find_map(|(wanted, came)| padded(wanted, came));
    // Within a suite it is one, and across suites where many are.
    let padded = padded.into_iter().flat_map(|told| {
        [
            Difference::rare(told.clone()).within(suite),
            Difference::common(told).anywhere(),
        ]
    });
    let in_text = compared(text);
    let all = || told.iter().chain(&in_text);
    let signs = SIGNS
        .iter()
        .filter_map(|sign| all().find_map(|(wanted, came)| sign(wanted, came)));
    let signs = signs.map(|difference| difference.within(suite));
    // Who computes all amounts so does it in all suites.
    let ratio = all().find_map(|(wanted, came)| ratio(wanted, came));
    // A part of a hundred may be another one's as well.
    let is_rare = |times: &f64| ((times * 100.0) - (times * 100.0).round()).abs() > 1e-3;
    let anywhere = ratio.filter(is_rare);
    let anywhere = anywhere.map(|times| Difference::common(told_times(times)).anywhere());
    const OF_NUMBERS: [&str; 4] = ["NaN", "Infinity", "+Inf", "-Inf"];
    let odd = all()
        .find_map(odd_of)
        .filter(|odd| OF_NUMBERS.contains(odd));
    let unset = all().find_map(|(wanted, came)| unset(wanted, came));
    let unset = unset.or_else(|| said.iter().flatten().find_map(|said| unset_by_words(said)));
    // Two records may each have a member of that name.
    let unset = unset.into_iter().flat_map(|told| {
        [
            Difference::rare(told.clone()).within(suite),
            Difference::common(told).anywhere(),
        ]
    });
    let odd = odd.map(|odd| Difference::common(format!("any {odd}")).within(suite));
    let edit = edit.map(|edit| Difference::rare(edit).anywhere());
    signs
        .chain(anywhere)
        .chain(odd)
        .chain(unset)
        .chain(edit)
        .chain(padded)
        .collect()
}

/// How many digits the numbers of a text were to have, and have, where all are the same numbers,
/// and behind which mark: dates and times have formats of their own.
fn padded(wanted: &str, came: &str) -> Option<String> {
    static NUMBER: LazyPattern = LazyPattern::new(r"\d+");
    // A framework cuts a text off, and the word with it.
    let whole = |text: &str| {
        let kept = text.strip_suffix('…').and_then(|cut| {
            let (kept, _) = cut.rsplit_once([' ', '\n'])?;
            Some(kept)
        });
        kept.unwrap_or(text).replace("\\n", "\n")
    };
    let (wanted, came) = (whole(wanted), whole(came));
    let form = |text: &str| NUMBER.replace_all(text, "0").into_owned();
    let numbers = |text: &str| -> Vec<(char, String)> {
        let found = NUMBER.find_iter(text);
        let mark = |at: usize| match text[..at].chars().next_back() {
            Some(',') => '.',
            mark => mark.unwrap_or(' '),
        };
        found
            .map(|one| (mark(one.start()), one.as_str().to_owned()))
            .collect()
    };
    let (one, other) = (numbers(&wanted), numbers(&came));
    if form(&wanted) != form(&came) || one.len() < 2 {
        return None;
    }
    let bare = |number: &str| number.trim_start_matches('0').to_owned();
    let mut differ = None;
    for ((mark, one), (_, other)) in one.iter().zip(&other) {
        if bare(one) != bare(other) {
            return None;
        }
        let digits = (one.len(), other.len(), *mark);
        if digits.0 != digits.1 && *differ.get_or_insert(digits) != digits {
            return None;
        }
    }
    let (digits, others, mark) = differ?;
    Some(format!(
        "numbers of {digits} digits behind {mark:?} have {others}"
    ))
}

/// How a value came out that no program means to show.
fn odd_value(wanted: &str, came: &str) -> Option<Difference> {
    let odd = odd(wanted, came)?;
    let came = came.trim_matches(['"', '\'', '`', ' ']);
    Some(Difference {
        by_chance: came == odd,
        ..Difference::rare(came)
    })
}

fn odd(wanted: &str, came: &str) -> Option<&'static str> {
    const ODD: [&str; 7] = [
        "NaN",
        "[object Object]",
        "Invalid Date",
        "Infinity",
        "+Inf",
        "-Inf",
        "undefined",
    ];
    let is_odd = |odd: &&str| holds_whole(came, odd) && !wanted.contains(*odd);
    ODD.into_iter()
        .find(is_odd)
        .filter(|odd| *odd != "undefined" || came != *odd)
}

/// The member that has nothing in place of a value, by its name of several words.
fn unset(wanted: &str, came: &str) -> Option<String> {
    static NOTHING: LazyPattern = LazyPattern::ascii(
        r#"['":]?\b([A-Za-z]+(?:_[a-z0-9]+|[A-Z][a-z0-9]+)+)['"]?\s*(?:=>|:|=|,)\s*(?:None|null|nil|undefined)\b"#,
    );
    let found = NOTHING.captures(came)?;
    let name = &found[1];
    let nothing = NOTHING.captures_iter(wanted);
    let is_wanted =
        holds_whole(wanted, name) && nothing.map(|it| it[1].to_owned()).all(|it| it != name);
    is_wanted.then(|| format!("{name} is not set"))
}

/// The same, as an author tells beside nothing what it is of: `None != 12.5 : gain_db of KX-11`.
fn unset_by_words(said: &str) -> Option<String> {
    static NOTHING: LazyPattern = LazyPattern::ascii(
        r"\A(?:AssertionError: )?(?:unexpectedly None|None != [^\n]{1,80}?|[^\n]{1,80}? != None) : ([A-Za-z]+(?:_[a-z0-9]+|[A-Z][a-z0-9]+)+)\b",
    );
    let found = NOTHING.captures(said)?;
    Some(format!("{} is not set", &found[1]))
}

/// The column that the first line of a text has besides, behind the others: all that is written
/// so has it.
fn column_put_in(wanted: &str, came: &str) -> Option<Difference> {
    static COLUMN: LazyPattern = LazyPattern::ascii(r"\A[;|,\t]([a-z_]{4,})\z");
    let first = |text: &str| -> String {
        let text = text.replace("\\n", "\n");
        text.lines().next().unwrap_or_default().to_owned()
    };
    let (head, other) = (first(wanted), first(came));
    let is_row = head.matches([';', '|', ',', '\t']).count() > 1;
    let column = COLUMN.captures(other.strip_prefix(&head)?)?;
    is_row.then(|| Difference::rare(format!("{} is a column", &column[1])))
}

/// Whether the numbers that came are those that were wanted but for their signs.
fn negated(wanted: &str, came: &str) -> Option<Difference> {
    static SIGN: LazyPattern = LazyPattern::new(r"(?:^|[\s\[({,])[-+](\d)");
    let bare = |text: &str| {
        let bare = SIGN.replace_all(text, " $1");
        bare.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let has_digit = |text: &str| text.contains(|c: char| ('1'..='9').contains(&c));
    let zeros = |text: &str| text.replace("+0", "0").replace("-0,", "0,");
    let is_negated = zeros(wanted) != zeros(came) && bare(wanted) == bare(came);
    (has_digit(wanted) && is_negated).then(|| Difference::rare("signs are turned"))
}

/// How far several numbers of one value are apart, each as far: of two, not by chance.
fn each_apart(wanted: &str, came: &str) -> Option<Difference> {
    static NUMBER: LazyPattern = LazyPattern::new(r"\d{1,9}");
    let numbers = |text: &str| -> Vec<i64> {
        let found = NUMBER.find_iter(text);
        found.filter_map(|one| one.as_str().parse().ok()).collect()
    };
    let form = |text: &str| NUMBER.replace_all(text, "0").into_owned();
    let (all, others) = (numbers(wanted), numbers(came));
    let is_date = wanted.contains("datetime") || wanted.matches(['-', ':']).count() > 1;
    if form(wanted) != form(came) || is_date {
        return None;
    }
    let apart = all.iter().zip(&others).map(|(one, other)| other - one);
    let apart: Vec<i64> = apart.filter(|apart| *apart != 0).collect();
    let first = apart.first()?;
    (apart.len() > 1 && apart.iter().all(|one| one == first))
        .then(|| by(*first, format!("each {first:+}")))
}

/// How far two whole numbers are apart, beside the same unit. A few by chance.
fn apart(wanted: &str, came: &str) -> Option<Difference> {
    static NUMBER: LazyPattern = LazyPattern::new(r"\A([^\d-]{0,8})(-?\d{1,9})([^\d.,]{0,8})\z");
    let (wanted, came) = (NUMBER.captures(wanted)?, NUMBER.captures(came)?);
    if wanted[1] != came[1] || wanted[3] != came[3] {
        return None;
    }
    let (wanted, came) = (wanted[2].parse::<i64>().ok()?, came[2].parse::<i64>().ok()?);
    // The status of an answer is no amount.
    let is_status = |number: i64| (100..600).contains(&number);
    let is_answer = [200, 201, 202, 204].contains(&wanted) && is_status(came);
    let more = came - wanted;
    if is_answer || (-1..=1).contains(&more) {
        return None;
    }
    Some(by(more, format!("{more:+} apart")))
}

/// What of a text came in another form, with the same words in it: `strong>…</strong` as
/// `em>*…*</em`.
fn edit(wanted: &str, came: &str) -> Option<String> {
    const LETTERS: usize = 10;
    let (wanted, came) = middle(wanted, came);
    let (form, other) = (without_shared(wanted, came), without_shared(came, wanted));
    let has_both = form.contains('…') && other.contains('…');
    let letters = [&form, &other].into_iter().flat_map(|form| form.chars());
    let letters = letters.filter(|letter| *letter != '…').count();
    let is_form = |form: &str| form.contains(|c: char| c.is_ascii_punctuation());
    (has_both && letters >= LETTERS && (is_form(&form) || is_form(&other)) && form != other)
        .then(|| format!("{form} as {other}"))
}

/// Two texts without what both begin and end with.
fn middle<'t>(one: &'t str, other: &'t str) -> (&'t str, &'t str) {
    let same = one.chars().zip(other.chars());
    let begin: usize = same
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let (one, other) = (&one[begin..], &other[begin..]);
    let same = one.chars().rev().zip(other.chars().rev());
    let end: usize = same
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    (&one[..one.len() - end], &other[..other.len() - end])
}

/// A text with a mark for each run of words that another has, too.
fn without_shared(text: &str, other: &str) -> String {
    static WORD: LazyPattern = LazyPattern::new(r"\w{2,}");
    let others: Vec<&str> = WORD.find_iter(other).map(|word| word.as_str()).collect();
    let bare = WORD.replace_all(text, |word: &Captures<'_>| {
        match others.contains(&&word[0]) {
            true => "…".to_owned(),
            false => word[0].to_owned(),
        }
    });
    let mut form = bare.into_owned();
    while form.contains("… …") {
        form = form.replace("… …", "…");
    }
    form
}

/// The numbers in which two texts differ that else are the same.
fn differing_numbers(wanted: &str, came: &str) -> Option<Vec<(f64, f64)>> {
    static NUMBER: LazyPattern = LazyPattern::new(r"-?\d+(?:[.,]\d+)?");
    const READ: usize = 400;
    if wanted.len().max(came.len()) > READ {
        return None;
    }
    let form = |text: &str| NUMBER.replace_all(text, "0").into_owned();
    if form(wanted) != form(came) {
        return None;
    }
    let number = |text: &str| text.replace(',', ".").parse::<f64>().ok();
    NUMBER
        .find_iter(wanted)
        .zip(NUMBER.find_iter(came))
        .filter(|(one, other)| one.as_str() != other.as_str())
        .map(|(one, other)| Some((number(one.as_str())?, number(other.as_str())?)))
        .collect()
}

/// How many times the number that was wanted came. A twelfth of a whole is a month, or an hour.
fn times(wanted: &str, came: &str) -> Option<Difference> {
    let times = ratio(wanted, came)?;
    let size = times.max(times.recip());
    Some(Difference {
        by_chance: is_whole_by(size, 12),
        ..Difference::rare(told_times(times))
    })
}

fn told_times(times: f64) -> String {
    format!("{times:.4} times")
}

/// Whether one of the first multiples of a number is whole, up to this one.
fn is_whole_by(number: f64, most: u32) -> bool {
    (1..=most).any(|part| {
        let parts = number * f64::from(part);
        (parts - parts.round()).abs() < 1e-6
    })
}

/// The number that came by the one that was wanted, of numbers of several digits: twice, half and
/// powers of ten come by chance or are told elsewhere.
fn ratio(wanted: &str, came: &str) -> Option<f64> {
    const DIGITS: f64 = 10.0;
    let differing = differing_numbers(wanted, came)?;
    let (wanted, came) = *differing.first()?;
    let times = came / wanted;
    let is_so = |(wanted, came): &(f64, f64)| {
        *wanted >= DIGITS && *came >= DIGITS && (came / wanted - times).abs() < 1e-6
    };
    if !differing.iter().all(is_so) {
        return None;
    }
    // The status of an answer is no amount.
    let is_answer = (200.0..300.0).contains(&wanted) && (100.0..600.0).contains(&came);
    let size = times.max(times.recip());
    // Small numbers are such parts of each other.
    let is_part = (1..=4).any(|part| {
        let parts = size * f64::from(part);
        (parts - parts.round()).abs() < 1e-6 && parts <= 10.0
    });
    let is_usual = is_part || [100.0, 1000.0].contains(&size);
    (!is_usual && !is_answer).then_some(times)
}

/// The difference of whole numbers, of which small and round ones come by chance.
fn by(difference: i64, told: String) -> Difference {
    Difference {
        by_chance: !is_rare(&difference.abs().to_string()),
        ..Difference::rare(told)
    }
}

/// Whether a mock was called too often or too seldom, in one block of tests.
pub(super) fn called_signs(
    failure: &Failure,
    said: &[Option<&str>],
    text: &str,
) -> Option<Subject> {
    let told = said.iter().copied().flatten().chain([text]);
    let told: Vec<String> = told.filter_map(calls).collect();
    // The text shows the line, and the message may not.
    let calls = told
        .iter()
        .find(|calls| !calls.starts_with(' '))
        .or(told.first())?;
    let block = whole_block(failure)?;
    Some(Subject::new(SubjectKind::Tested, calls).within(&block))
}

/// What a test calls two numbers that differ, for tests of its suite: `Flow in l/min`.
pub(super) fn labelled<'t>(
    failure: &Failure,
    said: impl Iterator<Item = &'t str>,
) -> Option<Subject> {
    static LABEL: LazyPattern =
        LazyPattern::new(r"\A(?:AssertionError: )?([A-Z][^:=\n]{8,60}): -?[\d.]+ != -?[\d.]+");
    // With what it was asked for, as in `locker for 9 x 38: none != S`.
    static ASKED: LazyPattern = LazyPattern::new(
        r"\A(?:AssertionError: )?([A-Za-z][a-z]{2,}(?: [a-z]+)* [^:=\n]{0,40}\d[^:=\n]{0,40}): \S{1,24} != \S{1,24}\z",
    );
    let mut said = said;
    let label = said.find_map(|said| {
        let found = LABEL
            .captures(said)
            .or_else(|| ASKED.captures(said.trim()))?;
        Some(found.get(1)?.as_str())
    })?;
    let counts = [
        "number", "count", "length", "total", "size", "row", "item", "line", "case", "step",
    ];
    let small = label.to_ascii_lowercase();
    if counts.iter().any(|word| small.starts_with(word)) {
        return None;
    }
    let label: String = label.chars().filter(|c| !c.is_ascii_digit()).collect();
    let suite = failure.classname.as_deref().unwrap_or_default();
    Some(Subject::new(SubjectKind::WrongValue, &label).within(suite))
}

/// The suite of a failure with the titles around its own.
fn whole_block(failure: &Failure) -> Option<String> {
    let name = failure.name.as_deref()?;
    let block = titles_around(name)?;
    Some(format!("{} {block}", suite_of_failure(failure)?))
}

/// Whether a function was called too often or too seldom, as Vitest and Jest tell it, and
/// which it was where they tell that.
fn calls(said: &str) -> Option<String> {
    static CALLS: LazyPattern = LazyPattern::new(
        r"(?x)\bto\ be\ called\ (?P<w1>\d+)\ times?,\ but\ got\ (?P<c1>\d+)\ times?
              | \bExpected\ number\ of\ calls:\ (?P<w2>\d+)\s+Received\ number\ of\ calls:\ (?P<c2>\d+)
              | \bto\ not\ be\ called\ at\ all,\ but\ actually\ been\ called\ (?P<c3>\d+)\ times?",
    );
    static MOCK: LazyPattern = LazyPattern::new(
        r"(?m)^>? *\d+ ?\| *[^\n]*\bexpect\(([\w.]+)\)\.(?:not\.)?toHaveBeenCalled",
    );
    if !said.contains("call") {
        return None;
    }
    let found = CALLS.captures(said)?;
    let number = |names: &[&str]| {
        let told = names.iter().find_map(|name| found.name(name))?;
        told.as_str().parse::<u64>().ok()
    };
    let (wanted, came) = (
        number(&["w1", "w2"]).unwrap_or(0),
        number(&["c1", "c2", "c3"])?,
    );
    let mock = MOCK
        .captures(said)
        .map_or("", |mock| mock.extract::<1>().1[0]);
    let way = if came > wanted { "often" } else { "seldom" };
    Some(format!("{mock} called too {way}"))
}

#[cfg(test)]
mod tests {
    use super::super::shifted::compared;
    use super::{
        Difference, apart, column_put_in, each_apart, edit, negated, odd_value, padded, times,
        unset, unset_by_words,
    };

    fn told<T>(sign: fn(&str, &str) -> Option<T>, said: &str) -> Option<T> {
        let (wanted, came) = compared(said)?;
        sign(&wanted, &came)
    }

    fn differs(sign: fn(&str, &str) -> Option<Difference>, said: &str) -> Option<String> {
        let difference = told(sign, said)?;
        let often = if difference.by_chance { "often: " } else { "" };
        Some(format!("{often}{}", difference.told))
    }

    #[test]
    fn numbers_that_lost_a_zero_are_told_by_their_digits() {
        for (said, sign) in [
            (
                "expected '00:00:00,00' to equal '00:00:00,000'",
                Some("numbers of 3 digits behind '.' have 2"),
            ),
            (
                "expected '01:00:00.42' to equal '01:00:00.042'",
                Some("numbers of 3 digits behind '.' have 2"),
            ),
            (
                "expected '1\\n00:00:01,00 --> 00:00:03,500\\nGood…' to equal '1\\n00:00:01,000 --> 00:00:03,500\\nGoo…'",
                Some("numbers of 3 digits behind '.' have 2"),
            ),
            (
                "left: \"3:0\"\n right: \"3:00\"",
                Some("numbers of 2 digits behind ':' have 1"),
            ),
            ("expected '1:5' to equal '1:50'", None),
            ("expected '2:06' to equal '1:06'", None),
            ("expected '5' to equal '05'", None),
        ] {
            assert_eq!(told(padded, said).as_deref(), sign, "{said}");
        }
    }

    #[test]
    fn what_no_program_means_and_how_far_numbers_are_apart_is_told() {
        let shown = "Expected: \"38%\"\n    Received: \"NaN%\"";
        assert_eq!(differs(odd_value, shown).as_deref(), Some("NaN%"));
        let bare = "expected: <1> but was: <NaN>";
        assert_eq!(differs(odd_value, bare).as_deref(), Some("often: NaN"));
        assert_eq!(differs(odd_value, "expected: <1> but was: <2>"), None);
        for (said, wanted) in [
            ("expected: <50> but was: <100>", Some("often: +50 apart")),
            ("expected: <50> but was: <8223>", Some("+8173 apart")),
            ("expected: <3> but was: <5>", Some("often: +2 apart")),
            ("expected: <3> but was: <4>", None),
            ("expected: <200> but was: <500>", None),
            (
                "expected: <5 km> but was: <95 km>",
                Some("often: +90 apart"),
            ),
            ("expected: <5 km> but was: <95 mi>", None),
        ] {
            assert_eq!(differs(apart, said).as_deref(), wanted, "{said}");
        }
    }

    #[test]
    fn numbers_of_one_factor_are_told() {
        let factor = told(times, "500 != 6000");
        assert!(factor.is_some());
        assert_eq!(factor, told(times, "250 != 3000"));
        let several = "expected: <6000 and 3000> but was: <500 and 250>";
        assert_eq!(factor, told(times, several));
        let one = "expected: <500 and 250> but was: <6000 and 2999>";
        assert_eq!(told(times, one), None);
        for said in [
            "500 != 1000",
            "expected: <30> but was: <20>",
            "expected: <25> but was: <75>",
            "5 != 60",
            "500 != 500",
            "ab != cd",
            "500 != -6000",
            "expected: <200> but was: <500>",
        ] {
            assert_eq!(told(times, said), None, "{said}");
        }
    }

    #[test]
    fn turned_signs_and_numbers_that_are_each_as_far_apart_are_told() {
        for said in [
            "expected: -500\n     got: 500",
            "expected [ 13.53, -52.58 ] to deeply equal [ 13.53, 52.58 ]",
        ] {
            assert!(told(negated, said).is_some(), "{said}");
        }
        for said in ["expected: 0\n     got: 8000", "expected: 5\n     got: 5"] {
            assert!(told(negated, said).is_none(), "{said}");
        }
        let size = "expected: <800x600> but was: <799x599>";
        assert_eq!(differs(each_apart, size).as_deref(), Some("often: each -1"));
        assert_eq!(
            differs(each_apart, "expected: <800x600> but was: <799x600>"),
            None
        );
        assert_eq!(
            differs(each_apart, "expected: <800x600> but was: <799x598>"),
            None
        );
    }

    #[test]
    fn what_is_not_set_or_put_in_is_told_by_its_name() {
        let pair = "{'serial': 'K1', 'gain_db': None} != {'serial': 'K1', 'gain_db': 9.0}";
        assert_eq!(told(unset, pair).as_deref(), Some("gain_db is not set"));
        for said in [
            "None != 12.5 : gain_db of K1",
            "AssertionError: unexpectedly None : gain_db of K2",
        ] {
            assert_eq!(unset_by_words(said).as_deref(), Some("gain_db is not set"));
        }
        assert_eq!(told(unset, "{'gain_db': 3} != {'gain_db': 9}"), None);
        assert_eq!(
            told(unset, "{'gain_db': None} != {'gain_db': None, 'x': 1}"),
            None
        );
        let put = |head: &str, row: &str| {
            let said = format!("expected: \"{head}\\nA\"\n     got: \"{head}{row}\\nA\"");
            told(column_put_in, &said)
        };
        let column = Some(Difference::rare("barcode is a column"));
        assert_eq!(put("shelf;title;author", ";barcode"), column);
        assert_eq!(put("shelf|title|author", "|barcode"), column);
        assert_eq!(put("shelf", ";barcode"), None);
        assert_eq!(put("shelf;title;author", "s"), None);
    }

    #[test]
    fn the_same_words_in_another_form_are_one_edit() {
        let of = |word: &str| {
            let said = format!(
                "Failed asserting that two strings are identical. --- Expected +++ Actual -'a <strong>{word}</strong> c' +'a <em>*{word}*</em> c'"
            );
            told(edit, &said)
        };
        assert!(of("big").is_some());
        assert_eq!(of("big"), of("small"));
        assert_eq!(told(edit, "expected: <a b> but was: <a c>"), None);
    }
}
