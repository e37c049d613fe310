//! How a diagnosis comes about: every rule that holds, and why the others
//! stand behind the one that decided.
//!
//! It reads as [`Engine::diagnose`] reads, with the same keys, and keeps what
//! that one throws away.

use super::advice::Values;
use super::clues::{self, Text};
use super::diagnose::Engine;
use super::error_answer::Reading;
use super::facts::{Facts, FailureSource};
use super::field::word;
use super::fingerprint::Algorithm;
use super::matcher::says_enough;
use super::pattern::{Pattern, RankedRule};
use super::reading::{is_syntax, without_values};
use super::rule::{Audience, Example, Rule};
use super::rule_index::{Key, applies};
use super::teardown::without_teardown;
use super::translated::Translated;
use super::when::When;
use super::writer::without_writer;
use jelly_base::model::{
    Asked, Explanation, Failure, MatchInfo, Matched, RuleInfo, TextInfo, VetoInfo, WithheldInfo,
};
use jelly_base::text::one_line;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Bytes of a text that are shown.
const SHOWN: usize = 160;

/// A rule that holds: its key, and where a pattern of it matched.
type RankedMatch = (Key, Option<Matched>);

/// What came to light while the texts were read.
#[derive(Default)]
struct Findings {
    /// By rule, with the strongest match of each.
    held: BTreeMap<usize, RankedMatch>,
    vetoed: BTreeMap<usize, VetoInfo>,
    withheld: BTreeMap<usize, WithheldInfo>,
}

impl Findings {
    fn hold(&mut self, rule: usize, key: Key, matched: Option<Matched>) {
        let known = self.held.get(&rule);
        if known.is_none_or(|(known, _)| key < *known) {
            self.held.insert(rule, (key, matched));
        }
    }
}

impl Engine {
    /// What `failure` means, and how that was found.
    #[must_use]
    pub fn explain(&self, failure: &Failure) -> Explanation {
        let read = without_writer(failure);
        let of_test = without_teardown(&read);
        let failure = &*of_test;
        let own = |failure: &Failure| {
            let said = self.diagnose_read(failure, Audience::Plan, Algorithm::Second);
            self.matcher.is_asked_first(&said.0.rule)
        };
        let english = Translated::of(failure).filter(|_| !own(failure));
        let failure = english.as_ref().map_or(failure, |read| &read.failure);
        let mut facts = Facts::new(failure);
        let instead;
        match self.reading_of(&facts) {
            Some(Reading::Surroundings(other) | Reading::Path(other)) => {
                instead = other;
                facts = Facts::new(&instead);
            }
            Some(Reading::Mismatch { shows, says }) => facts.error_answer = Some((shows, says)),
            None => {}
        }
        let mut texts = clues::texts(&facts);
        let applying: Vec<bool> = self
            .matcher
            .rules
            .iter()
            .map(|ranked| applies(&ranked.rule, &facts))
            .collect();
        let mut findings = Findings::default();
        for (index, RankedRule { rule, .. }) in self.matcher.rules.iter().enumerate() {
            if rule.patterns.is_empty() && applying[index] {
                findings.hold(index, self.matcher.index.key(index, None), None);
            }
        }
        if facts.source == FailureSource::Report {
            for text in &texts {
                self.look(text, &applying, &mut findings, |rule| rule.syntax);
            }
            let assertion = |rule: &usize| is_syntax(&self.matcher.rules[*rule].rule);
            if findings.held.keys().any(assertion) {
                texts = texts.iter().map(without_values).collect();
            }
        }
        let mut shown = Vec::new();
        let mut enough = false;
        for text in &texts {
            enough |= facts.source == FailureSource::Live
                && text.reserve
                && findings.held.keys().any(|rule| self.says_enough(*rule));
            shown.push(TextInfo {
                field: text.name.to_owned(),
                rank: text.rank,
                read: !enough,
                text: one_line(text.written().trim(), SHOWN),
            });
            if !enough {
                self.look(text, &applying, &mut findings, |rule| {
                    !rule.syntax || facts.source == FailureSource::Live
                });
            }
        }
        let Findings {
            held,
            mut vetoed,
            mut withheld,
        } = findings;
        vetoed.retain(|rule, _| !held.contains_key(rule));
        withheld.retain(|rule, _| !held.contains_key(rule));
        let mut held: Vec<(usize, RankedMatch)> = held.into_iter().collect();
        held.sort_by_key(|(_, (key, _))| *key);
        let first = held.first().map(|(_, (key, _))| *key);
        let matches = held
            .into_iter()
            .map(|(rule, (key, matched))| {
                let behind = first
                    .filter(|first| *first != key)
                    .map(|first| behind(first, key));
                self.match_info(rule, key, matched, behind)
            })
            .collect();
        Explanation {
            failure: failure.clone(),
            diagnosis: self.diagnose(failure),
            texts: shown,
            matches,
            vetoed: vetoed.into_values().collect(),
            withheld: withheld.into_values().collect(),
        }
    }

    fn says_enough(&self, rule: usize) -> bool {
        says_enough(self.matcher.rules[rule].rule.strength)
    }

    /// Notes what every rule makes of one text.
    fn look(
        &self,
        text: &Text<'_>,
        applying: &[bool],
        findings: &mut Findings,
        asked: impl Fn(&RankedRule) -> bool,
    ) {
        let hits = self.matcher.hits(text, |rule| {
            let ranked = &self.matcher.rules[rule];
            asked(ranked) && ranked.rule.fields.contains(&text.field)
        });
        for hit in &hits {
            let Pattern {
                rule,
                veto,
                text: pattern,
                ..
            } = &self.matcher.patterns[*hit];
            if *veto {
                continue;
            }
            let matched = Matched {
                field: text.name.to_owned(),
                pattern: pattern.clone(),
                text: self.matcher.quote(text, *hit, &mut Values::new()).text,
            };
            let exception = hits
                .iter()
                .map(|other| &self.matcher.patterns[*other])
                .find(|other| other.veto && other.rule == *rule);
            let what = &self.matcher.rules[*rule].rule;
            match exception {
                Some(exception) => {
                    findings.vetoed.entry(*rule).or_insert_with(|| VetoInfo {
                        rule: what.id.clone(),
                        matched,
                        unless: exception.text.clone(),
                    });
                }
                None if applying[*rule] => {
                    findings.hold(
                        *rule,
                        self.matcher.index.key(*rule, Some(text)),
                        Some(matched),
                    );
                }
                None => {
                    findings
                        .withheld
                        .entry(*rule)
                        .or_insert_with(|| WithheldInfo {
                            rule: what.id.clone(),
                            matched,
                            when: conditions(&what.when),
                        });
                }
            }
        }
    }

    fn match_info(
        &self,
        index: usize,
        key: Key,
        matched: Option<Matched>,
        behind: Option<String>,
    ) -> MatchInfo {
        let RankedRule { rule, turn, .. } = &self.matcher.rules[index];
        MatchInfo {
            rule: rule.id.clone(),
            asked: asked(*turn),
            root_cause: rule.root_cause.clone(),
            error_category: rule.error_category,
            retryable: rule.retryable,
            side: word(&rule.side),
            strength: word(&rule.strength),
            rank: key.2,
            priority: rule.priority,
            matched,
            behind,
        }
    }

    /// All rules as they are shown, in the order in which they are asked.
    #[must_use]
    pub fn describe(&self) -> Vec<RuleInfo> {
        self.matcher
            .rules
            .iter()
            .map(|RankedRule { rule, turn, .. }| info(rule, asked(*turn)))
            .collect()
    }
}

/// Why a match is behind the one that decided.
fn behind(first: Key, key: Key) -> String {
    if first.0 != key.0 {
        return "it is asked later".into();
    }
    if first.1 != key.1 {
        return format!(
            "its evidence is weaker: a {} against a {}",
            word(&key.1),
            word(&first.1)
        );
    }
    if first.2 != key.2 {
        return format!(
            "it matched a less telling text: rank {} against {}",
            key.2, first.2
        );
    }
    if first.3 != key.3 {
        return format!("its priority is lower: {} against {}", -key.3, -first.3);
    }
    "it stands later in the files".into()
}

fn asked(turn: u8) -> Asked {
    match turn {
        0 => Asked::Before,
        1 => Asked::Builtin,
        _ => Asked::After,
    }
}

/// The conditions that are given.
fn conditions(when: &When) -> Value {
    let given: Map<String, Value> = match serde_json::to_value(when) {
        Ok(Value::Object(all)) => all
            .into_iter()
            .filter(|(_, value)| !value.is_null() && value.as_array().is_none_or(|l| !l.is_empty()))
            .collect(),
        Ok(_) | Err(_) => Map::new(),
    };
    Value::Object(given)
}

fn info(rule: &Rule, asked: Asked) -> RuleInfo {
    let shown = |list: &[Example]| list.iter().map(example).collect();
    RuleInfo {
        id: rule.id.clone(),
        domain: rule.domain().to_owned(),
        asked,
        root_cause: rule.root_cause.clone(),
        error_category: rule.error_category,
        retryable: rule.retryable,
        side: word(&rule.side),
        strength: word(&rule.strength),
        priority: rule.priority,
        repair: rule.repair.clone(),
        when: conditions(&rule.when),
        patterns: rule.patterns.clone(),
        unless: rule.unless.clone(),
        fields: rule.fields.iter().map(word).collect(),
        advice: rule.advice.unfilled(Audience::Plan),
        examples: shown(rule.examples()),
        lookalikes: shown(rule.lookalikes()),
    }
}

fn example(example: &Example) -> Value {
    match example {
        Example::Text(text) => Value::String(text.clone()),
        Example::Failure(failure) => serde_json::to_value(failure).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::{Engine, Field, parse_rules, specimen};
    use jelly_base::model::Failure;

    fn report(text: &str) -> Failure {
        specimen(Field::Report, text)
    }

    #[test]
    fn the_first_match_is_the_one_that_decides() {
        let engine = Engine::builtin();
        for rule in engine.rules() {
            for failure in rule
                .examples()
                .iter()
                .flat_map(|e| crate::engine::specimen::specimens(rule, e))
            {
                let explanation = engine.explain(&failure);
                assert_eq!(
                    explanation.matches.first().map(|m| m.rule.as_str()),
                    Some(explanation.diagnosis.rule.as_str()),
                    "{failure:?}"
                );
                assert_eq!(explanation.matches[0].behind, None);
                assert!(explanation.matches[1..].iter().all(|m| m.behind.is_some()));
            }
        }
    }

    #[test]
    fn what_stands_behind_says_why() {
        let explanation =
            Engine::builtin().explain(&report("Error: connect ECONNREFUSED 127.0.0.1:1"));
        let behind = explanation
            .matches
            .iter()
            .find(|m| m.rule == "exception/unknown-class")
            .and_then(|m| m.behind.clone());
        assert_eq!(
            behind.as_deref(),
            Some("its evidence is weaker: a hint against a signature")
        );
    }

    #[test]
    fn an_exception_of_a_rule_and_its_conditions_are_told() {
        let own = parse_rules(
            "own",
            "[{id: own/x, root_cause: unknown, side: test, strength: hint, patterns: [frob], \
             unless: ['frobbed twice'], advice: {what: w, why: y, fix: [f]}}, \
             {id: own/live, root_cause: unknown, side: test, strength: hint, patterns: [frob], \
             when: {source: live}, advice: {what: w, why: y, fix: [f]}}]",
        )
        .unwrap();
        let engine = Engine::with_rules(own, Vec::new()).unwrap();
        let explanation = engine.explain(&report("frobbed twice"));
        assert_eq!(explanation.vetoed[0].rule, "own/x");
        assert_eq!(explanation.vetoed[0].unless, "frobbed twice");
        assert_eq!(explanation.withheld[0].rule, "own/live");
        assert_eq!(explanation.withheld[0].when["source"], "live");
    }

    #[test]
    fn nothing_known_is_an_empty_list() {
        let explanation = Engine::builtin().explain(&Failure::default());
        assert!(explanation.matches.is_empty() && explanation.texts.is_empty());
        assert_eq!(explanation.diagnosis.root_cause, "unknown");
    }
}
