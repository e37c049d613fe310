//! What Bats says in TAP of a run in which tests are missing.

use jelly_base::text::plural;

/// The set-up of a file failed, whose tests were planned, and not run.
#[derive(Debug, Default)]
pub(super) struct BatsRun {
    set_up_failed: bool,
    /// The number of the last test, and whether it was such a set-up.
    last: (u64, bool),
    /// Tests that are missing right behind such a set-up.
    left_out: u64,
    /// How many tests it ran, and how many of them it had planned, by its own account.
    ran: Option<[u64; 2]>,
}

impl BatsRun {
    /// A test failed, or what Bats writes like one.
    pub(super) fn failed(&mut self, name: &str) {
        self.set_up_failed |= is_set_up(name);
    }

    /// A test of this number ended: what is left out between it and the one before is of that
    /// one's file.
    pub(super) fn numbered(&mut self, number: u64, name: &str) {
        let (last, was_set_up) = self.last;
        if was_set_up {
            let missing = number.saturating_sub(last.saturating_add(1));
            self.left_out = self.left_out.saturating_add(missing);
        }
        self.last = (number, is_set_up(name));
    }

    /// `# bats warning: Executed 3 instead of expected 4 tests`: whether a line is this.
    pub(super) fn warned(&mut self, line: &str) -> bool {
        let numbers = line
            .strip_prefix("# bats warning: Executed ")
            .and_then(|said| said.split_once(" instead of expected "))
            .and_then(|(ran, planned)| {
                let planned = planned.split(' ').next()?;
                Some([ran.parse().ok()?, planned.parse().ok()?])
            });
        self.ran = numbers.or(self.ran);
        numbers.is_some()
    }

    /// Why fewer tests were written than planned, where that is known, and nothing was
    /// cut off.
    pub(super) fn explains(&self, planned: u64, seen: u64) -> Option<String> {
        let (last, was_set_up) = self.last;
        let at_the_end = if was_set_up {
            planned.saturating_sub(last)
        } else {
            0
        };
        let is_whole = self.ran == Some([seen, planned])
            && self.left_out.saturating_add(at_the_end) == planned.saturating_sub(seen);
        let missing = planned.checked_sub(seen).filter(|missing| *missing > 0)?;
        let (were, them) = if missing == 1 {
            ("was", "it")
        } else {
            ("were", "them")
        };
        let tests = plural(missing, "test");
        (is_whole && self.set_up_failed).then(|| {
            format!("{tests} {were} planned and did not run, since a set-up before {them} failed")
        })
    }
}

/// Whether Bats writes so of a set-up.
fn is_set_up(name: &str) -> bool {
    ["setup_file failed", "setup_suite failed"].contains(&name.trim())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read_all, totals};

    #[test]
    fn tests_behind_a_set_up_that_failed_are_not_cut_off() {
        let failed = "1..4\nnot ok 1 setup_file failed\n# (from function `setup_file' in test file \
                      a.bats, line 1)\n#   `false' failed\nnot ok 3 health\n# (in test file b.bats, \
                      line 1)\n#   `false' failed\nok 4 fine\n";
        let warning = "# bats warning: Executed 3 instead of expected 4 tests\n";
        let (summary, cases) = read_all(&format!("{failed}{warning}"));
        assert_eq!(summary.problem, None);
        assert_eq!(totals(&summary), [1, 1, 0, 0, 0, 1]);
        assert_eq!(
            summary.warnings,
            ["1 test was planned and did not run, since a set-up before it failed"]
        );
        assert!(cases.iter().all(|case| {
            let texts = case
                .failures
                .iter()
                .filter_map(|failure| failure.text.as_deref());
            texts.into_iter().all(|text| !text.contains("bats warning"))
        }));
        // Without that line it was cut off, and without a set-up nobody knows why.
        let (summary, _) = read_all(failed);
        assert!(summary.problem.is_some());
        let (summary, _) = read_all(&format!("1..4\nok 1 a\nok 2 b\nok 3 c\n{warning}"));
        assert!(summary.problem.is_some());
    }
}
