//! Any bytes are a report that is read to its end, and its counts add up.
#![no_main]

use jelly::junit::{Case, CaseOutcome, CaseSink, Limits, read};
use libfuzzer_sys::fuzz_target;
use std::io::BufReader;

#[derive(Default, PartialEq, Debug)]
struct Seen {
    cases: u64,
    failing: Vec<(u64, String, CaseOutcome, usize)>,
}

impl CaseSink for Seen {
    fn case(&mut self, case: &Case<'_>) {
        self.cases += 1;
        let fine = matches!(case.outcome, CaseOutcome::Passed | CaseOutcome::Skipped);
        assert_eq!(fine, case.failures.is_empty());
        for failure in case.failures {
            assert!(failure.text.as_ref().is_none_or(|text| text.len() < 4_096));
        }
        if !fine {
            let last = self.failing.last().map(|last| last.0);
            assert!(last.is_none_or(|last| last < case.ordinal));
            self.failing.push((
                case.ordinal,
                case.name.to_owned(),
                case.outcome,
                case.failures.len(),
            ));
        }
    }

    fn turned_flaky(&mut self, ordinal: u64) {
        assert!(self.failing.iter().any(|case| case.0 == ordinal));
    }
}

fuzz_target!(|input: (u8, &[u8])| {
    let (buffer, bytes) = input;
    let limits = Limits {
        text: 64,
        message: 32,
        output: 64,
        name: 32,
        token: 256,
        depth: 32,
        failures_per_case: 4,
        held: 4_096,
        identities: 64,
    };
    let mut whole = Seen::default();
    let summary = read(&mut &*bytes, "report.xml", &limits, &mut whole);
    let sum = summary.passed + summary.failed + summary.errors + summary.skipped + summary.flaky;
    assert_eq!(summary.tests, sum);
    assert_eq!(whole.cases, summary.tests + summary.suite_errors);
    let mut cut = Seen::default();
    let mut pieces = BufReader::with_capacity(usize::from(buffer) + 1, bytes);
    let again = read(&mut pieces, "report.xml", &limits, &mut cut);
    // What is sniffed at the beginning of plain text depends on the piece.
    if summary.problem.is_none() && again.problem.is_none() && bytes.first() == Some(&b'<') {
        assert_eq!(whole, cut);
    }
});
