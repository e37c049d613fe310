//! Which rules match the texts of a failure, and which of them has the best
//! evidence.
//!
//! The main type is [`RuleMatcher`]. It must not know what a match means for
//! the diagnosis: side, fingerprint and advice are the engine's.

use super::advice::Values;
use super::clues::Text;
use super::evidence::evidence;
use super::facts::{Facts, FailureSource};
use super::field::Strength;
use super::literals::literals;
use super::load::{RuleError, builtin_literals};
use super::marks::Marks;
use super::pattern::{BUILTIN_TURN, Pattern, RankedRule, builder, own_pattern};
use super::prefilter::{PatternLiterals, Prefilter, PrefilterPattern};
use super::reading::{without_repeated, without_values};
use super::rule::Rule;
use super::rule_index::{Applying, Ask, Key, RuleIndex};
use jelly_base::model::Evidence;
use jelly_base::text::truncate;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;

/// Finds the rules that hold for a failure.
pub(super) struct RuleMatcher {
    pub(super) rules: Vec<RankedRule>,
    /// One for each pattern of the rules, in their order.
    pub(super) patterns: Vec<Pattern>,
    pub(super) index: RuleIndex,
    prefilter: OnceLock<Option<Prefilter>>,
}

/// A rule that holds, with what it matched.
pub(super) struct RuleMatch<'a> {
    key: Key,
    pub(super) rule: &'a Rule,
    /// Index of the text and of the pattern, for rules with patterns.
    pub(super) at: Option<(usize, usize)>,
}

impl RuleMatcher {
    /// The matcher of these rules, which are asked in their order.
    ///
    /// # Errors
    /// When a pattern does not compile or an id occurs twice.
    pub(super) fn new(rules: Vec<RankedRule>) -> Result<Self, RuleError> {
        let mut patterns: Vec<Pattern> = Vec::new();
        let mut ids: HashSet<&str> = HashSet::with_capacity(rules.len());
        for (index, RankedRule { rule, turn, .. }) in rules.iter().enumerate() {
            let invalid = |problem: String| RuleError::Invalid {
                rule: rule.id.clone(),
                problem,
            };
            if !ids.insert(&rule.id) {
                return Err(invalid("this id occurs twice".into()));
            }
            for (list, veto) in [(&rule.patterns, false), (&rule.unless, true)] {
                for text in list {
                    // The built-in ones are compiled by the tests.
                    let text = match *turn == BUILTIN_TURN {
                        true => Cow::Borrowed(text.as_str()),
                        false => own_pattern(text),
                    };
                    if *turn != BUILTIN_TURN {
                        builder(&text).build().map_err(|e| invalid(e.to_string()))?;
                    }
                    patterns.push(Pattern {
                        rule: index,
                        veto,
                        text: text.into_owned(),
                        compiled: OnceLock::new(),
                    });
                }
            }
        }
        let matcher = Self {
            index: RuleIndex::new(&rules, &patterns),
            rules,
            patterns,
            prefilter: OnceLock::new(),
        };
        matcher.check_own()?;
        Ok(matcher)
    }

    /// What is too large must be said, not left out. The prefilter of the built-in
    /// rules is known to compile.
    fn check_own(&self) -> Result<(), RuleError> {
        let own = self
            .rules
            .iter()
            .find(|ranked| ranked.turn != BUILTIN_TURN && !ranked.rule.patterns.is_empty());
        match own {
            Some(own) if self.prefilter().is_none() => Err(RuleError::Invalid {
                rule: own.rule.id.clone(),
                problem: "its patterns, or those of its neighbours, are too large together".into(),
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether this rule is the user's own, to be asked before all others.
    pub(super) fn is_asked_first(&self, rule: &str) -> bool {
        let mut first = self
            .rules
            .iter()
            .take_while(|ranked| ranked.turn < BUILTIN_TURN);
        first.any(|ranked| ranked.rule.id == rule)
    }

    pub(super) fn prefilter(&self) -> Option<&Prefilter> {
        let build = || {
            let known = builtin_literals();
            let mut of_builtin = known.patterns.iter();
            let patterns = self.patterns.iter().map(|pattern| {
                let RankedRule { rule, turn, .. } = &self.rules[pattern.rule];
                let is_builtin = *turn == BUILTIN_TURN;
                let builtin = if is_builtin { of_builtin.next() } else { None };
                PrefilterPattern {
                    pattern: &pattern.text,
                    literals: match builtin {
                        Some(Some(builtin)) => PatternLiterals::Builtin(builtin),
                        Some(None) => PatternLiterals::Nothing,
                        None => literals(&pattern.text)
                            .map_or(PatternLiterals::Nothing, PatternLiterals::Own),
                    },
                    fields: rule.fields_in_bits(),
                }
            });
            Prefilter::new(known, patterns)
        };
        self.prefilter.get_or_init(build).as_ref()
    }

    /// The strongest rule that holds. Texts of an assertion get a copy
    /// without the values that it compares.
    pub(super) fn strongest<'a>(
        &'a self,
        facts: &Facts<'_>,
        texts: &mut Vec<Text<'_>>,
    ) -> Option<RuleMatch<'a>> {
        let applying = Applying::new(&self.rules, &self.index, facts);
        let mut best: Option<RuleMatch<'a>> = None;
        for index in self.index.factual.iter().copied() {
            if applying.is(index) {
                let found = RuleMatch {
                    key: self.index.key(index, None),
                    rule: &self.rules[index].rule,
                    at: None,
                };
                keep(&mut best, found);
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
                let candidates = self.candidates(text);
                let asked = self.index.asked(&candidates, Ask::Syntax);
                self.keep_strongest(&asked, &applying, (text, index), &mut assertion);
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
                        self.candidates(text)
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
                    live = self.candidates(text);
                    &live
                }
            };
            let asked = self.index.asked(candidates, ask);
            self.keep_strongest(&asked, &applying, (text, index), &mut best);
        }
        best
    }

    /// Keeps the strongest of the rules that match a text, among those whose
    /// patterns are asked. The text stands at an index in the list of all.
    fn keep_strongest<'a>(
        &'a self,
        patterns: &[usize],
        applying: &Applying<'_>,
        (text, index): (&Text<'_>, usize),
        best: &mut Option<RuleMatch<'a>>,
    ) {
        let rule_of = |pattern: &usize| self.index.rule_of(*pattern);
        let mut rules: Vec<(Key, &[usize])> = Vec::new();
        for patterns in patterns.chunk_by(|one, other| rule_of(one) == rule_of(other)) {
            let rule = rule_of(&patterns[0]);
            let key = self.index.key(rule, Some(text));
            let stronger = best.as_ref().is_none_or(|best| key < best.key);
            if stronger && applying.is(rule) {
                rules.push((key, patterns));
            }
        }
        rules.sort_unstable_by_key(|(key, _)| *key);
        for (key, patterns) in rules {
            let matching = |veto: bool| {
                patterns.iter().copied().find(|pattern| {
                    let pattern = &self.patterns[*pattern];
                    pattern.veto == veto && pattern.matches(&text.text)
                })
            };
            if let Some(hit) = matching(false)
                && matching(true).is_none()
            {
                *best = Some(RuleMatch {
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
    fn candidates(&self, text: &Text<'_>) -> Marks {
        let candidates = |prefilter: &Prefilter| prefilter.candidates(&text.text, text.field.bit());
        let mut candidates = self.prefilter().map(candidates).unwrap_or_default();
        candidates.keep(self.index.readers(text.field));
        candidates
    }

    /// The patterns, of rules that are `readers`, that a text matches.
    pub(super) fn hits(&self, text: &Text<'_>, readers: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut hits = Vec::new();
        self.candidates(text).each(|hit| {
            let pattern = &self.patterns[hit];
            if readers(pattern.rule) && pattern.matches(&text.text) {
                hits.push(hit);
            }
        });
        hits
    }

    /// The lines that the pattern matched, and its named groups as values.
    pub(super) fn quote(&self, text: &Text<'_>, pattern: usize, values: &mut Values) -> Evidence {
        // What is quoted, and what a group holds, is what was written.
        let whole = text.written().as_ref();
        let Some((regex, groups)) = self.patterns[pattern]
            .regex()
            .and_then(|regex| Some((regex, regex.captures(text.text.as_bytes())?)))
        else {
            return evidence(text.name, whole);
        };
        for name in regex.capture_names().flatten() {
            if let Some(group) = groups.name(name) {
                let value = String::from_utf8_lossy(&whole.as_bytes()[group.range()]);
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
            // It ends what was quoted over several lines.
            [.., last] if last.trim_start().starts_with('"') => lines.join(" "),
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

fn keep<'a>(best: &mut Option<RuleMatch<'a>>, candidate: RuleMatch<'a>) {
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
