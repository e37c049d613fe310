//! Which cases and which runs are the same.

use super::case::CaseOutcome;
use super::open::OpenCase;
use foldhash::fast::FixedState;
use jelly_base::model::FailureTexts;
use std::collections::HashMap;

/// The same on every machine, and good enough for identities, which nobody gains
/// anything by forging.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fold(u64);

impl Default for Fold {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fold {
    fn word(&mut self, word: u64) {
        // Unmixed, the last letter of one word and the first of the next cancelled each
        // other: `row[19]` was `row[92]`.
        self.0 = (self.0.rotate_left(5) ^ mixed(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(word));
        self.word(bytes.len() as u64);
    }

    fn finish(self) -> u64 {
        mixed(self.0)
    }
}

/// Mixes all bits into all bits; no two numbers become one (the finalizer of SplitMix64).
fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// One number for some texts.
pub(super) fn hash(parts: &[&str]) -> u64 {
    let mut fold = Fold::default();
    parts.iter().for_each(|part| fold.bytes(part.as_bytes()));
    fold.finish()
}

/// Numbers for cases by their class and name. Most cases have the class of the
/// one before them, which then is not looked through again.
#[derive(Debug, Default)]
pub(super) struct CaseNumbers {
    class: Option<String>,
    of_class: Fold,
}

impl CaseNumbers {
    /// What [`hash`] makes of both.
    pub(super) fn hash(&mut self, class: &str, name: &str) -> u64 {
        if self.class.as_deref() != Some(class) {
            self.of_class = Fold::default();
            self.of_class.bytes(class.as_bytes());
            let known = self.class.get_or_insert_default();
            known.clear();
            known.push_str(class);
        }
        let mut fold = self.of_class;
        fold.bytes(name.as_bytes());
        fold.finish()
    }
}

/// One number for two.
pub(super) fn join(one: u64, other: u64) -> u64 {
    let mut fold = Fold::default();
    fold.word(one);
    fold.word(other);
    fold.finish()
}

/// A digest over all cases, whatever their order.
#[derive(Debug, Default)]
pub(super) struct Identity {
    cases: u64,
    sums: [u64; 2],
    times: [u64; 2],
    lasted: bool,
    texts: u64,
}

impl Identity {
    /// Takes in a case, or what failed of a suite; `names` is the hash of its
    /// class and name. A report with such a failure tells more than one
    /// without it, although both have the same cases.
    pub(super) fn case(&mut self, names: u64, case: &OpenCase, outcome: CaseOutcome) {
        let duration = case.duration_s.unwrap_or(0.0);
        self.lasted |= duration > 0.0;
        let mut fold = Fold::default();
        fold.word(names);
        fold.word(outcome as u64);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, and durations are not negative"
        )]
        fold.word((duration * 1000.0).round() as u64);
        let one = fold.finish();
        fold.word(0x9e37_79b9_7f4a_7c15);
        let other = fold.finish();
        self.cases += u64::from(!case.of_suite);
        self.sums[0] = self.sums[0].wrapping_add(one);
        self.sums[1] = self.sums[1].wrapping_add(other);
        self.times[0] = self.times[0].wrapping_add(case.timestamp);
    }

    /// Takes in what a case, by the hash of its names, says of its failures.
    pub(super) fn said(&mut self, names: u64, case: &OpenCase) {
        if case.failures.is_empty() {
            return;
        }
        let mut fold = Fold::default();
        fold.word(names);
        for failure in &case.failures {
            let text = failure.message.as_deref().or(failure.text.as_deref());
            fold.bytes(text.unwrap_or_default().as_bytes());
        }
        self.texts = self.texts.wrapping_add(fold.finish());
    }

    /// What all cases said of their failures, in the format of a writer.
    pub(super) fn texts(&self, dialect: &str, format: &str) -> FailureTexts {
        FailureTexts {
            format: Some(hash(&[dialect, format])),
            texts: self.texts,
        }
    }

    pub(super) fn timestamp(&mut self, value: &str) {
        self.times[1] = self.times[1].wrapping_add(hash(&[value]));
    }

    /// Two runs of nothing but quick tests differ in their times alone; two
    /// writers of one run often differ there, so they count only then.
    pub(super) fn digest(&self) -> Option<String> {
        if self.cases == 0 {
            return None;
        }
        let times = if self.lasted { [0; 2] } else { self.times };
        Some(format!(
            "{:x}-{:016x}{:016x}",
            self.cases,
            self.sums[0].wrapping_add(times[0]),
            self.sums[1].wrapping_add(times[1])
        ))
    }
}

/// The digest of a report that holds all cases of these ones: a digest is a
/// sum over cases.
#[must_use]
pub fn digest_of_all<'d>(digests: impl IntoIterator<Item = &'d str>) -> Option<String> {
    let (mut cases, mut sums) = (0_u64, [0_u64; 2]);
    for digest in digests {
        let (count, rest) = digest.split_once('-')?;
        let (one, other) = rest.split_at_checked(16)?;
        cases = cases.wrapping_add(u64::from_str_radix(count, 16).ok()?);
        for (sum, part) in sums.iter_mut().zip([one, other]) {
            *sum = sum.wrapping_add(u64::from_str_radix(part, 16).ok()?);
        }
    }
    (cases > 0).then(|| format!("{cases:x}-{:016x}{:016x}", sums[0], sums[1]))
}

/// Which cases were written more than once.
#[derive(Debug)]
pub(super) struct Attempts {
    /// All cases in their order: eight bytes for each, and no more, since
    /// there may be a million of them.
    seen: Vec<u64>,
    /// Places in `seen` of those that did not pass, rising.
    not_passed: Vec<usize>,
    failed: HashMap<u64, Vec<Failed>, FixedState>,
    /// Failed cases of which another one of the same name passed, by suite
    /// element: whether these are attempts is known at the end of it.
    passed: Vec<(u64, Failed)>,
    /// How the cases of open suite elements follow each other, where the writer
    /// puts attempts behind all others.
    rounds: HashMap<u64, Rounds, FixedState>,
    limit: usize,
}

/// The cases of a suite element in their order.
#[derive(Debug, Default)]
struct Rounds {
    cases: usize,
    /// By the hash of class and name, each case's outcomes.
    of: HashMap<u64, NameOutcomes, FixedState>,
    /// The place of the last case with a name that was not there before.
    last_new: usize,
}

/// How the cases of one name ended.
#[derive(Debug, Default)]
struct NameOutcomes {
    passes: usize,
    last_pass: usize,
    failures: usize,
    first_failure: usize,
    last_failure: usize,
    /// What the failures say, as a hash, and whether all say the same.
    said: Option<u64>,
    differs: bool,
    /// The name may be that of several rows of a table.
    of_rows: bool,
}

impl Rounds {
    fn ended(&mut self, names: u64, said: Option<u64>, of_rows: bool) {
        self.cases += 1;
        let at = self.cases;
        if !self.of.contains_key(&names) {
            self.last_new = at;
        }
        let ended = self.of.entry(names).or_default();
        ended.of_rows = of_rows;
        match said {
            None => {
                ended.passes += 1;
                ended.last_pass = at;
            }
            Some(said) => {
                if ended.failures == 0 {
                    ended.first_failure = at;
                }
                ended.failures += 1;
                ended.last_failure = at;
                ended.differs |= ended.said.is_some_and(|before| before != said);
                ended.said = Some(said);
            }
        }
    }

    /// Whether a test that failed was run again and passed: at the end, behind
    /// all cases that were run once, and once. Rows of a table that share a
    /// name stand beside each other, and mostly pass more than once; two of
    /// them at the end look like a test that was run again. Attempts that fail in
    /// different ways are such where no row has the name, or others ran between them.
    fn passed_in_the_end(&self, names: u64) -> bool {
        self.of.get(&names).is_some_and(|ended| {
            let beside = ended.last_failure + 1 == ended.last_pass;
            // Behind the limit nothing is noted.
            let rows = ended.last_pass.saturating_sub(ended.first_failure);
            let in_one_row = rows == ended.failures;
            ended.passes == 1
                && ended.last_pass > ended.last_failure
                && ended.last_pass > self.last_new
                && !(ended.differs && in_one_row && ended.of_rows)
                && !(beside && ended.of_rows)
        })
    }
}

/// A case that failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failed {
    pub(super) ordinal: u64,
    pub(super) outcome: CaseOutcome,
    /// The hash of its class and name.
    pub(super) names: u64,
}

impl Attempts {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            seen: Vec::new(),
            not_passed: Vec::new(),
            failed: HashMap::default(),
            passed: Vec::new(),
            rounds: HashMap::default(),
            limit,
        }
    }

    /// A case of a suite element ended, whose writer puts attempts behind all
    /// other cases; `said` is the hash of what its failures say, where it did
    /// not pass.
    pub(super) fn ended(&mut self, suite: u64, names: u64, said: Option<u64>, of_rows: bool) {
        let rounds = self.rounds.entry(suite).or_default();
        if rounds.cases < self.limit {
            rounds.ended(names, said, of_rows);
        }
    }

    pub(super) fn seen(&mut self, key: u64, passed: bool) {
        if self.seen.len() < self.limit {
            if !passed {
                self.not_passed.push(self.seen.len());
            }
            self.seen.push(key);
        }
    }

    /// All cases in their order, unless there were too many of them.
    pub(super) fn keys(&self) -> &[u64] {
        &self.seen
    }

    /// Whether the case at this place among all passed.
    pub(super) fn has_passed(&self, at: usize) -> bool {
        self.not_passed.binary_search(&at).is_err()
    }

    /// A case of a suite element failed.
    pub(super) fn failed(&mut self, suite: u64, failed: Failed) {
        let key = join(suite, failed.names);
        self.failed.entry(key).or_default().push(failed);
    }

    /// A case passed: others of its suite with its name did not.
    pub(super) fn passed(&mut self, suite: u64, names: u64) {
        if self.failed.is_empty() {
            return;
        }
        let earlier = self.failed.remove(&join(suite, names)).unwrap_or_default();
        self.passed
            .extend(earlier.into_iter().map(|failed| (suite, failed)));
    }

    /// At the end of a suite element: its failed cases of which another one
    /// passed later.
    pub(super) fn end_suite(&mut self, suite: u64) -> Vec<Failed> {
        let of_suite = |(of, failed): &(u64, Failed)| (*of == suite).then_some(*failed);
        let mut ended: Vec<Failed> = self.passed.iter().filter_map(of_suite).collect();
        self.passed.retain(|(of, _)| *of != suite);
        if let Some(rounds) = self.rounds.remove(&suite) {
            ended.retain(|failed| rounds.passed_in_the_end(failed.names));
        }
        ended
    }

    /// Forgets nearly all cases that were written once: to sort all of them
    /// takes far longer than to note in a bit for each, or for a few of them
    /// together, that it was seen once, and in another that it was again.
    fn forget_single(&mut self) {
        /// Bits for each case; with more of them, fewer cases share one.
        const BITS: usize = 16;
        let bits = (self.seen.len() * BITS).next_power_of_two().max(64);
        let [mut once, mut again] = [(); 2].map(|()| vec![0_u64; bits / 64]);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "any bits of a hash will do"
        )]
        let place = |key: u64| {
            let slot = key as usize % bits;
            (slot / 64, 1_u64 << (slot % 64))
        };
        for (word, bit) in self.seen.iter().map(|key| place(*key)) {
            again[word] |= once[word] & bit;
            once[word] |= bit;
        }
        self.seen.retain(|key| {
            let (word, bit) = place(*key);
            again[word] & bit != 0
        });
    }

    /// At the end: how many cases were written again, in words, but for those of which
    /// it is known why.
    pub(super) fn repeated(&mut self, known: u64) -> Option<String> {
        self.forget_single();
        self.seen.sort_unstable();
        let repeated = self
            .seen
            .windows(2)
            .filter(|pair| pair[0] == pair[1])
            .count();
        let known = usize::try_from(known).unwrap_or(usize::MAX);
        match repeated.saturating_sub(known) {
            0 => None,
            1 => Some("one case is written a second time".to_owned()),
            n => Some(format!(
                "{n} cases are written again after their first time"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Attempts, CaseNumbers, hash};
    use std::collections::HashSet;

    #[test]
    fn a_class_that_comes_again_changes_no_number() {
        let mut names = CaseNumbers::default();
        for (class, name) in [("", "a"), ("x.Y", "a"), ("x.Y", "b"), ("", "a"), ("x", "")] {
            assert_eq!(names.hash(class, name), hash(&[class, name]));
        }
    }

    #[test]
    fn rows_of_a_table_are_all_different() {
        for class in ["tests.test_klv", "tests.test_oep", "com.acme.CartTest", ""] {
            for (before, after) in [("test_v[", "]"), ("test_rates[USD-", "]"), ("row ", "")] {
                let names = (0..10_000).map(|row| format!("{before}{row}{after}"));
                let all: HashSet<u64> = names.map(|name| hash(&[class, &name])).collect();
                assert_eq!(all.len(), 10_000, "{class} {before}");
            }
        }
    }

    #[test]
    fn what_was_written_again_is_counted_among_many() {
        let mut attempts = Attempts::new(usize::MAX);
        for number in 0..5_000_u64 {
            attempts.seen(hash(&[&number.to_string()]), true);
            if number % 1_000 == 7 {
                attempts.seen(hash(&[&number.to_string()]), true);
            }
        }
        let said = attempts.repeated(0);
        let wanted = "5 cases are written again after their first time";
        assert_eq!(said.as_deref(), Some(wanted));
        assert_eq!(Attempts::new(9).repeated(0), None);
    }
}
