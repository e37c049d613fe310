//! What Test::More says of a failed test in TAP: where it stands and what was compared,
//! each line of it set in. What follows is what the script says by itself, of this test
//! or of the next one.

use jelly_base::text::LazyPattern;

/// What Test::More says itself of a test that failed.
struct TestMoreWords {
    /// Bytes of it at the beginning.
    end: usize,
    /// It shows the values that were compared, and needs no other words.
    is_complete: bool,
}

/// What a script says between two tests that failed, behind the values that the first one
/// compared. `is(…) or diag(…)` says it of the first, and whoever speaks before a test of
/// the second.
#[derive(Default)]
pub(super) struct Between {
    /// It stands before the line of this test,
    before: Option<String>,
    /// and is about it by its name.
    is_its: bool,
    /// It stands behind the words of this test.
    behind: Option<String>,
}

impl Between {
    /// Takes it out of what was `said` of this test, for the next one that failed, too. It
    /// is only of that one where it names it, and not this one.
    pub(super) fn of_next(&mut self, said: &mut String, [own, next]: [&str; 2]) -> Self {
        let Some(words) = own_words(said).filter(|words| words.is_complete) else {
            return Self::default();
        };
        let between = said.split_off(words.end);
        let between = Some(between.trim_end().to_owned()).filter(|between| !between.is_empty());
        let names = |name| {
            between
                .as_deref()
                .is_some_and(|between| shares_word(between, name))
        };
        let is_its = names(next) && !names(own);
        self.behind = between.clone().filter(|_| !is_its);
        Self {
            before: between,
            is_its,
            behind: None,
        }
    }

    /// Puts what is about this test before what was `said` of it, and answers with what may
    /// be about it. Who says more than where it stands has no need of either.
    pub(super) fn settle(&mut self, said: &mut String) -> Option<String> {
        let says_nothing = own_words(said).is_some_and(|words| {
            let mut others = said[words.end..].lines();
            !words.is_complete && others.all(|line| line.trim().is_empty() || is_of_script(line))
        });
        let before = self.before.take();
        if let Some(before) = before.as_ref().filter(|_| self.is_its && says_nothing) {
            said.insert_str(0, &format!("{before}\n"));
            return self.behind.take();
        }
        let before = before.filter(|_| self.is_its || says_nothing);
        self.behind.take().or(before)
    }
}

/// Whether two texts have a word in common, or the beginning of one: `connect` and
/// `connects`.
fn shares_word(one: &str, other: &str) -> bool {
    const LETTERS: usize = 5;
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        let long = words.filter(|word| word.len() >= LETTERS);
        long.map(str::to_lowercase).collect()
    };
    let others = words(other);
    words(one).iter().any(|word| {
        let begins =
            |other: &String| word.starts_with(other.as_str()) || other.starts_with(word.as_str());
        others.iter().any(begins)
    })
}

/// Whether a line is said of the whole script, at its end.
fn is_of_script(line: &str) -> bool {
    line.starts_with("Looks like you ") || line.starts_with("Looks like your test ")
}

/// Of what stands behind the line of a test; nothing where Test::More did not write it.
fn own_words(said: &str) -> Option<TestMoreWords> {
    static HEAD: LazyPattern = LazyPattern::new(
        r"\A  Failed (?:\(TODO\) )?test(?: '(?:[^'\n]|'[^\n])*'\n)?\s+(?:in \S+ )?at [^\n]*line \d+\.\n",
    );
    static SET_IN: LazyPattern = LazyPattern::new(r"(?m)^ {4,}\S[^\n]*\n");
    let head = HEAD.find(said)?.end();
    let compared = SET_IN.find_iter(&said[head..]).last();
    let end = compared.map_or(head, |line| head + line.end());
    Some(TestMoreWords {
        end,
        is_complete: end > head && said[..end].trim_end().ends_with(['\'', ')', '"', '/']),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_all;
    use super::own_words;

    const AT: &str = "  Failed test 'title has x'\n  at d.t line 2.\n";

    #[test]
    fn values_that_were_compared_are_words_of_their_own() {
        for compared in [
            "                  'abc'\n    doesn't match '(?^:x)'\n",
            "         got: 'a'\n    expected: 'b'\n",
            "         got: 'a\nb'\n    expected: 'b'\n",
            "    Structures begin differing at:\n         $got->[0] = '1'\n    $expected->[0] = '2'\n",
        ] {
            let said = format!("{AT}{compared}no connection\n");
            let own = own_words(&said).unwrap();
            assert!(own.is_complete, "{compared}");
            assert_eq!(&said[own.end..], "no connection\n");
        }
        assert!(
            !own_words(&format!("{AT}no connection\n"))
                .unwrap()
                .is_complete
        );
        assert!(own_words("no connection\n").is_none());
    }

    fn told(tap: &str) -> Vec<(String, Option<String>)> {
        let (_, cases) = read_all(tap);
        let failures = cases.into_iter().flat_map(|case| case.failures);
        let told = failures.map(|failure| (failure.text.unwrap_or_default(), failure.system_out));
        told.collect()
    }

    #[test]
    fn what_stands_between_two_failed_tests_may_be_of_either() {
        let compared = "#          got: 'a'\n#     expected: 'b'\n";
        let first = "not ok 1 - title\n#   Failed test 'title'\n#   at d.t line 2.\n";
        let second = "not ok 2 - connects\n#   Failed test 'connects'\n#   at d.t line 4.\n";
        let end = "# Looks like you failed 2 tests of 2.\n";
        let all = told(&format!(
            "1..2\n{first}{compared}# no answer\n{second}{end}"
        ));
        assert!(!all[0].0.contains("no answer"));
        assert_eq!(all[0].1.as_deref(), Some("no answer"));
        assert_eq!(all[1].1.as_deref(), Some("no answer"));
        // It names the second one.
        let all = told(&format!(
            "1..2\n{first}{compared}# cannot connect\n{second}{end}"
        ));
        assert!(!all[0].0.contains("cannot connect"));
        assert_eq!(all[0].1, None);
        assert!(all[1].0.starts_with("cannot connect\n"));
        // `ok(…) or diag(…)`; and a second test that needs no words.
        let all = told(&format!("1..2\n{first}# cannot connect\n{second}{end}"));
        assert!(all[0].0.contains("cannot connect"));
        assert_eq!(all[1].1, None);
        let both = |between: &str| {
            let tap = format!("1..2\n{first}{compared}# {between}\n{second}{compared}{end}");
            told(&tap)
                .into_iter()
                .map(|(_, beside)| beside)
                .collect::<Vec<_>>()
        };
        assert_eq!(both("no answer"), [Some("no answer".to_owned()), None]);
        assert_eq!(
            both("cannot connect"),
            [None, Some("cannot connect".to_owned())]
        );
        // Nothing else failed that it could be of.
        let all = told(&format!(
            "1..2\n{first}{compared}# cannot connect\nok 2 - connects\n"
        ));
        assert!(all[0].0.contains("cannot connect"));
    }
}
