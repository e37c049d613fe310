//! The engine: which rules hold for a failure, and what the strongest says.

use super::advice::{self, Values};
use super::builder::builder;
use super::clues::{self, Text};
use super::error_answer::Reading;
use super::evidence::{evidence, evidence_of, with_values};
use super::facts::{ErrorAnswer, Facts, FailureSource, Promise};
use super::field::{Field, RuleSide, Strength};
use super::fingerprint::{self, Parts};
use super::launchers::launchers;
use super::literals::literals;
use super::load::{self, RuleError};
use super::marks::Marks;
use super::pattern_filter::{KnownPattern, PatternFilter};
use super::reading::{is_syntax, without_repeated, without_values};
use super::rule::{Rule, unknown};
use super::rule_index::{Applying, Ask, Asked, Key, RuleIndex, Scratch};
use super::secrets::unmarked;
use super::whereabouts::whereabouts;
use super::windows::PassMemory;
use jelly_base::model::{Diagnosis, ErrorCategory, Evidence, Failure, Side, Suspect, Template};
use jelly_base::text::truncate;
use regex::bytes::Regex;
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

/// The turn of the built-in rules.
const BUILTIN_TURN: u8 = 1;
/// Classifies failures by its rules.
///
/// Building one costs the reading of the rule files; [`Engine::builtin`] does
/// so once, when the first failure is diagnosed. Patterns are compiled one by
/// one, each when the first text comes that may match it.
pub struct Engine {
    pub(super) rules: Vec<Ranked>,
    /// One for each pattern of the rules, in their order.
    pub(super) patterns: Vec<Pattern>,
    pub(super) rule_index: RuleIndex,
    filter: OnceLock<Option<PatternFilter>>,
    /// The same for names of tests alone, which few rules read.
    sieve_of_titles: OnceLock<Option<PatternFilter>>,
    /// Room of failures that were read, for those that come: one for each
    /// thread that reads at the same time.
    spare: Mutex<Vec<Scratch>>,
}

pub(super) struct Ranked {
    pub(super) rule: Rule,
    /// 0 for rules asked before the built-in ones, 1, or 2 for those after.
    pub(super) turn: u8,
    /// Whether it recognises assertions in reports.
    pub(super) syntax: bool,
}

pub(super) struct Pattern {
    pub(super) rule: usize,
    /// Whether a match keeps its rule from applying.
    pub(super) veto: bool,
    pub(super) text: String,
    compiled: OnceLock<Option<Regex>>,
}

/// A rule that holds, with what it matched.
struct Match<'a> {
    key: Key,
    rule: &'a Rule,
    /// Index of the text and of the pattern, for rules with patterns.
    at: Option<(usize, usize)>,
}

impl Pattern {
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| builder(&self.text).build().ok())
            .as_ref()
    }

    fn matches(&self, text: &str) -> bool {
        self.regex()
            .is_some_and(|regex| regex.is_match(text.as_bytes()))
    }
}

impl Engine {
    /// The engine with the rules inside the binary.
    pub fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<Engine> = LazyLock::new(|| {
            #[expect(
                clippy::expect_used,
                reason = "the files are part of the program, and its tests load them"
            )]
            Engine::with_rules(Vec::new(), Vec::new()).expect("the built-in rules are valid")
        });
        &BUILTIN
    }

    /// The built-in rules with others that are asked before them, and others
    /// that are asked when they say nothing.
    ///
    /// # Errors
    /// When a pattern does not compile or an id occurs twice.
    pub fn with_rules(before: Vec<Rule>, after: Vec<Rule>) -> Result<Self, RuleError> {
        let mut rules: Vec<Ranked> = Vec::new();
        let mut add = |turn: u8, more: Vec<Rule>| {
            rules.extend(more.into_iter().map(|rule| Ranked {
                syntax: is_syntax(&rule),
                rule,
                turn,
            }));
        };
        add(0, before);
        for (domain, json) in load::BUILTIN {
            add(BUILTIN_TURN, load::builtin_rules(domain, json)?);
        }
        add(2, after);
        Self::new(rules)
    }

    fn new(rules: Vec<Ranked>) -> Result<Self, RuleError> {
        let mut patterns: Vec<Pattern> = Vec::new();
        for (index, Ranked { rule, turn, .. }) in rules.iter().enumerate() {
            let invalid = |problem: String| RuleError::Invalid {
                rule: rule.id.clone(),
                problem,
            };
            if rules[..index].iter().any(|other| other.rule.id == rule.id) {
                return Err(invalid("this id occurs twice".into()));
            }
            for (list, veto) in [(&rule.patterns, false), (&rule.unless, true)] {
                for text in list {
                    // The built-in ones are compiled by the tests.
                    if *turn != BUILTIN_TURN {
                        builder(text).build().map_err(|e| invalid(e.to_string()))?;
                    }
                    patterns.push(Pattern {
                        rule: index,
                        veto,
                        text: text.clone(),
                        compiled: OnceLock::new(),
                    });
                }
            }
        }
        let engine = Self {
            rule_index: RuleIndex::of(&rules, &patterns),
            rules,
            patterns,
            filter: OnceLock::new(),
            sieve_of_titles: OnceLock::new(),
            spare: Mutex::default(),
        };
        engine.check_own()?;
        Ok(engine)
    }

    /// What is too large must be said, not left out. The filter of the built-in
    /// rules is known to compile.
    fn check_own(&self) -> Result<(), RuleError> {
        let own = self
            .rules
            .iter()
            .find(|ranked| ranked.turn != BUILTIN_TURN && !ranked.rule.patterns.is_empty());
        match own {
            Some(own) if self.filter().is_none() => Err(RuleError::Invalid {
                rule: own.rule.id.clone(),
                problem: "its patterns, or those of its neighbours, are too large together".into(),
            }),
            Some(_) | None => Ok(()),
        }
    }

    fn filter(&self) -> Option<&PatternFilter> {
        self.filter
            .get_or_init(|| {
                let known = load::builtin_literals();
                self.sieve_of(|pattern| match known.get(&pattern.text) {
                    Some(literals) => literals.clone(),
                    None => literals(&pattern.text),
                })
            })
            .as_ref()
    }

    fn sieve_of_titles(&self) -> Option<&PatternFilter> {
        self.sieve_of_titles
            .get_or_init(|| {
                self.sieve_of(|pattern| {
                    let fields = &self.rules[pattern.rule].rule.fields;
                    match fields.contains(&Field::Title) {
                        true => literals(&pattern.text),
                        // It needs one of none, so it is no candidate.
                        false => Some(Vec::new()),
                    }
                })
            })
            .as_ref()
            .or_else(|| self.filter())
    }

    fn sieve_of(
        &self,
        literals: impl Fn(&Pattern) -> Option<Vec<String>>,
    ) -> Option<PatternFilter> {
        PatternFilter::new(self.patterns.iter().map(|pattern| KnownPattern {
            pattern: &pattern.text,
            literals: literals(pattern),
            fields: self.rules[pattern.rule].rule.fields_in_bits(),
        }))
    }

    /// All rules, in the order in which they are asked.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|ranked| &ranked.rule)
    }

    /// What `failure` means. Never fails: what no rule knows is `unknown`,
    /// test-side and ambiguous.
    #[must_use]
    pub fn diagnose(&self, failure: &Failure) -> Diagnosis {
        self.read_unmarked(failure).0
    }

    /// The same, with what the diagnosis' fingerprint was made of.
    #[must_use]
    pub fn diagnose_with_template(&self, failure: &Failure) -> (Diagnosis, Template) {
        let (diagnosis, parts) = self.read_unmarked(failure);
        (diagnosis, parts.template())
    }

    fn read_unmarked(&self, failure: &Failure) -> (Diagnosis, Parts) {
        let (unmarked, mark) = unmarked(failure);
        let (mut diagnosis, parts) = self.read_through(&unmarked);
        if let Some(mark) = mark {
            mark.restore(&mut diagnosis);
        }
        (diagnosis, parts)
    }

    fn read_through(&self, failure: &Failure) -> (Diagnosis, Parts) {
        let mut facts = Facts::of(failure);
        match self.reading_of(&facts) {
            Some(Reading::Surroundings(instead)) => self.read_facts(&Facts::of(&instead)),
            Some(Reading::Path(instead)) => {
                let (mut diagnosis, parts) = self.read_facts(&Facts::of(&instead));
                diagnosis.ambiguous = true;
                diagnosis.error_answer = true;
                (diagnosis, parts)
            }
            Some(Reading::Mismatch { shows, says }) => {
                facts.error_answer = Some((shows, says));
                self.read_facts(&facts)
            }
            None => self.read_facts(&facts),
        }
    }

    /// Reads a failure as it is.
    pub(super) fn read_facts(&self, facts: &Facts<'_>) -> (Diagnosis, Parts) {
        let failure = facts.failure;
        let mut texts = clues::texts(facts);
        let found = self.strongest(facts, &mut texts);
        let mut values = advice::values(failure);
        let (rule, evidence) = match &found {
            Some(Match {
                rule,
                at: Some((text, pattern)),
                ..
            }) => (
                *rule,
                Some(self.quote(&texts[*text], *pattern, &mut values)),
            ),
            Some(Match { rule, at: None, .. }) => (*rule, evidence_of(facts)),
            None => (unknown(), evidence_of(facts)),
        };
        let evidence = match rule.error_category {
            Some(ErrorCategory::Assertion) if facts.source == FailureSource::Report => {
                evidence.map(|said| with_values(said, facts))
            }
            Some(_) | None => evidence,
        };
        if let Some(evidence) = &evidence {
            values.insert("evidence".into(), evidence.text.clone());
        }
        if facts.source == FailureSource::Live {
            whereabouts(failure, &rule.root_cause, &mut values);
            launchers(failure, &rule.root_cause, &mut values);
        }
        let (side, ambiguous) = match rule.side {
            RuleSide::Test => (Side::Test, false),
            RuleSide::Ambiguous => (Side::Test, true),
            RuleSide::Code if facts.starting => (Side::Test, true),
            RuleSide::Code => (Side::Code, false),
        };
        let shows = facts.error_answer.as_ref().map(|(shows, _)| *shows);
        let suspect = (shows == Some(ErrorAnswer::Internal)
            || facts.starting
                && rule.side != RuleSide::Test
                && failure
                    .stderr
                    .as_deref()
                    .and_then(clues::trace_line)
                    .is_some())
        .then_some(Suspect::Code);
        let prints = fingerprint::of_facts(facts, &rule.root_cause, evidence.as_ref());
        let diagnosis = Diagnosis {
            side,
            ambiguous,
            error_category: rule.error_category,
            root_cause: rule.root_cause.clone(),
            retryable: rule.retryable,
            rule: rule.id.clone(),
            evidence,
            fingerprint: prints.cause,
            test_fingerprint: prints.test,
            repeated: None,
            standing: None,
            flaky: false,
            suspect,
            error_answer: shows == Some(ErrorAnswer::Other),
            repair: rule.repair_of(failure),
            excused: None,
            excused_by: None,
            advice: advice::render(
                &rule.advice,
                &values,
                failure.dialect.as_deref().unwrap_or_default(),
            ),
        };
        (diagnosis, prints.parts)
    }

    /// The strongest rule that holds. Texts of an assertion get a copy
    /// without the values that it compares.
    fn strongest<'a>(&'a self, facts: &Facts<'_>, texts: &mut Vec<Text<'_>>) -> Option<Match<'a>> {
        let applying = Applying::new(self, facts);
        let mut scratch = self.spare_room().pop().unwrap_or_default();
        let mut best: Option<Match<'a>> = None;
        for index in self.rule_index.factual.iter().copied() {
            if applying.is(index) {
                let rule = &self.rules[index].rule;
                let key = self.rule_index.key(index, None);
                keep(
                    &mut best,
                    Match {
                        key,
                        rule,
                        at: None,
                    },
                );
            }
        }
        without_repeated(texts);
        // What an assertion compares is no evidence, so first of all it is
        // settled whether this is one.
        let mut first = 0;
        let mut read: Vec<Marks> = Vec::new();
        if facts.source == FailureSource::Report {
            let mut assertion = None;
            for (index, text) in texts.iter().enumerate() {
                let candidates = self.candidates(text, &mut scratch.room);
                let asked = scratch.ask(&self.rule_index, &candidates, Ask::Syntax);
                self.read(asked, &applying, (text, index), &mut assertion);
                read.push(candidates);
            }
            if let Some(assertion) = assertion {
                keep(&mut best, assertion);
                first = texts.len();
                let masked: Vec<Text<'_>> = texts.iter().map(without_values).collect();
                for (index, text) in masked.iter().enumerate() {
                    let candidates = if text.text == texts[index].text {
                        std::mem::take(&mut read[index])
                    } else {
                        self.candidates(text, &mut scratch.room)
                    };
                    read.push(candidates);
                }
                texts.extend(masked);
            }
        }
        let ask = match facts.source {
            FailureSource::Live => Ask::All,
            FailureSource::Report => Ask::Others,
        };
        for (index, text) in texts.iter().enumerate().skip(first) {
            // Texts in reserve come last.
            if facts.source == FailureSource::Live
                && text.reserve
                && best
                    .as_ref()
                    .is_some_and(|best| says_enough(best.rule.strength))
            {
                break;
            }
            let live;
            let candidates = match read.get(index) {
                Some(candidates) => candidates,
                None => {
                    live = self.candidates(text, &mut scratch.room);
                    &live
                }
            };
            let asked = scratch.ask(&self.rule_index, candidates, ask);
            self.read(asked, &applying, (text, index), &mut best);
        }
        self.spare_room().push(scratch);
        best
    }

    fn spare_room(&self) -> MutexGuard<'_, Vec<Scratch>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the strongest of the rules that match a text, among those whose
    /// patterns are asked. The text stands at an index in the list of all.
    fn read<'a>(
        &'a self,
        Asked { patterns, rules }: Asked<'_>,
        applying: &Applying<'_>,
        (text, index): (&Text<'_>, usize),
        best: &mut Option<Match<'a>>,
    ) {
        let rule_of = |pattern: &usize| self.rule_index.rule_of(*pattern);
        let mut begin = 0;
        for of_rule in patterns.chunk_by(|one, other| rule_of(one) == rule_of(other)) {
            let place = begin..begin + of_rule.len();
            begin = place.end;
            let Some(rule) = of_rule.first().map(rule_of) else {
                continue;
            };
            let key = self.rule_index.key(rule, Some(text));
            let stronger = best.as_ref().is_none_or(|best| key < best.key);
            if stronger && applying.is(rule) {
                rules.push((key, place));
            }
        }
        rules.sort_unstable_by_key(|(key, _)| *key);
        for (key, place) in rules.drain(..) {
            let patterns = &patterns[place];
            let matching = |veto: bool| {
                patterns.iter().copied().find(|pattern| {
                    let pattern = &self.patterns[*pattern];
                    pattern.veto == veto && pattern.matches(&text.text)
                })
            };
            if let Some(hit) = matching(false)
                && matching(true).is_none()
            {
                *best = Some(Match {
                    key,
                    rule: &self.rules[rule_of(&hit)].rule,
                    at: Some((index, hit)),
                });
                // All others are weaker.
                break;
            }
        }
    }

    /// The patterns that a text may match, of the rules that read its field.
    fn candidates(&self, text: &Text<'_>, room: &mut PassMemory) -> Marks {
        let filter = if text.field == Field::Title {
            self.sieve_of_titles()
        } else {
            self.filter()
        };
        let candidates =
            |filter: &PatternFilter| filter.candidates(&text.text, text.field.bit(), room);
        let mut candidates = filter.map(candidates).unwrap_or_default();
        candidates.keep(self.rule_index.readers(text.field));
        candidates
    }

    /// The patterns, of rules that are `readers`, that a text matches.
    pub(super) fn hits(&self, text: &Text<'_>, readers: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut hits = Vec::new();
        self.candidates(text, &mut PassMemory::default())
            .each(|hit| {
                let pattern = &self.patterns[hit];
                if readers(pattern.rule) && pattern.matches(&text.text) {
                    hits.push(hit);
                }
            });
        hits
    }

    /// The lines that the pattern matched, and its named groups as values.
    pub(super) fn quote(&self, text: &Text<'_>, pattern: usize, values: &mut Values) -> Evidence {
        let whole = text.text.as_ref();
        let Some((regex, groups)) = self.patterns[pattern]
            .regex()
            .and_then(|regex| Some((regex, regex.captures(whole.as_bytes())?)))
        else {
            return evidence(text.name, whole);
        };
        for name in regex.capture_names().flatten() {
            if let Some(group) = groups.name(name) {
                let value = String::from_utf8_lossy(group.as_bytes());
                values.insert(name.to_owned(), truncate(value.trim(), 200).into_owned());
            }
        }
        if let Some(shown) = &text.shown {
            return evidence(text.name, shown);
        }
        let found = groups.get(0).map_or(0..0, |m| m.range());
        let start = whole.as_bytes()[..found.start]
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        let end = whole.as_bytes()[found.end..]
            .iter()
            .position(|b| *b == b'\n')
            .map_or(whole.len(), |at| found.end + at);
        // Line feeds are borders of characters, so the slice is one of text.
        let lines: Vec<&str> = whole
            .get(start..end)
            .unwrap_or(whole)
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        // Of a longer passage, its end is what was being said.
        let telling = match lines.as_slice() {
            [] => whole.to_owned(),
            // A heading announces what the next line tells.
            [one] if one.trim_end().ends_with(':') => match next_line(whole, end) {
                Some(next) => format!("{} {next}", one.trim_end()),
                None => (*one).to_owned(),
            },
            [one] => (*one).to_owned(),
            [one, two] => format!("{one} {two}"),
            [.., last] => (*last).to_owned(),
        };
        evidence(text.name, &telling)
    }
}

/// The first line with anything on it from the byte `at` on.
fn next_line(text: &str, at: usize) -> Option<&str> {
    text.get(at..)?
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
}

fn keep<'a>(best: &mut Option<Match<'a>>, candidate: Match<'a>) {
    if best.as_ref().is_none_or(|best| candidate.key < best.key) {
        *best = Some(candidate);
    }
}

/// Whether a match leaves the texts in reserve unread.
pub(super) fn says_enough(strength: Strength) -> bool {
    match strength {
        Strength::Fact | Strength::Signature | Strength::Hint => true,
        Strength::Fallback => false,
    }
}

/// Whether a rule may speak of this failure at all. What a server that died
/// or fell silent in a call had said before is mostly talk, so then only the
/// rules about deaths or time-outs read it.
pub(super) fn applies(rule: &Rule, facts: &Facts<'_>) -> bool {
    if !facts.starting && facts.promise.is_none() && !facts.answered {
        if facts.died && !rule.when.asks_for_death() {
            return false;
        }
        if facts.timed_out && !rule.when.asks_for_timeout() {
            return false;
        }
    }
    // The code of an error that was to be another one is what was compared.
    if facts.promise == Some(Promise::Expectation) && rule.when.asks_for_rpc_code() {
        return false;
    }
    rule.when.holds(facts)
}

#[cfg(test)]
#[path = "diagnose_tests.rs"]
mod tests;
