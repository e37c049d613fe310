//! How a diagnosis comes about: every rule that holds, and why the others
//! stand behind the one that decided.
//!
//! It reads as [`Engine::diagnose`] reads, with the same keys, and keeps what
//! that one throws away.

use super::advice::Values;
use super::clues::{self, Text};
use super::engine::{Engine, Key, Ranked, Sight};
use super::facts::{Facts, When};
use super::rule::{Example, Rule};
use crate::model::{
    Advice, Asked, Explanation, Failure, MatchInfo, Matched, RuleInfo, TextInfo, VetoInfo,
    WithheldInfo,
};
use crate::text::one_line;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a text that are shown.
const SHOWN: usize = 160;

/// Where a pattern matched: indexes of the text and of the pattern.
type At = (usize, usize);

impl Engine {
    /// What `failure` means, and how that was found.
    #[must_use]
    pub fn explain(&self, failure: &Failure) -> Explanation {
        let facts = Facts::of(failure);
        let mut texts = clues::texts(&facts);
        // The strongest match of each rule.
        let mut held: BTreeMap<usize, (Key, Option<At>)> = BTreeMap::new();
        let mut vetoed: BTreeMap<usize, (At, usize)> = BTreeMap::new();
        let reading = self.consider(&facts, &mut texts, &mut |sight| {
            let Sight {
                key,
                rule,
                at,
                veto,
            } = sight;
            match (veto, at) {
                (Some(exception), Some(at)) => {
                    vetoed.entry(rule).or_insert((at, exception));
                }
                (Some(_) | None, at) => {
                    let stronger = held.get(&rule).is_none_or(|(known, _)| key < *known);
                    if stronger {
                        held.insert(rule, (key, at));
                    }
                }
            }
        });
        vetoed.retain(|rule, _| !held.contains_key(rule));
        let shown = texts
            .iter()
            .enumerate()
            .skip(reading.first)
            .map(|(index, text)| TextInfo {
                field: text.name.to_owned(),
                rank: text.rank,
                read: index < reading.end,
                text: one_line(text.text.trim(), SHOWN),
            })
            .collect();
        let withheld = self.shut_out(&facts, &texts[reading.first..reading.end]);
        let mut order: Vec<(usize, (Key, Option<At>))> = held.into_iter().collect();
        order.sort_by_key(|(_, (key, _))| *key);
        let first = order.first().map(|(_, (key, _))| *key);
        let matches = order
            .into_iter()
            .map(|(rule, (key, at))| {
                let behind = first
                    .filter(|first| *first != key)
                    .map(|first| self.behind(first, key));
                let matched = at.map(|(text, pattern)| self.matched(&texts[text], pattern));
                self.match_info(rule, key, matched, behind)
            })
            .collect();
        let vetoed = vetoed
            .into_iter()
            .map(|(rule, ((text, pattern), exception))| VetoInfo {
                rule: self.rules[rule].rule.id.clone(),
                matched: self.matched(&texts[text], pattern),
                unless: self.patterns[exception].text.clone(),
            })
            .collect();
        Explanation {
            failure: failure.clone(),
            diagnosis: self.diagnose(failure),
            texts: shown,
            matches,
            vetoed,
            withheld,
        }
    }

    /// Rules whose patterns match, and that do not apply to such failures.
    fn shut_out(&self, facts: &Facts<'_>, texts: &[Text<'_>]) -> Vec<WithheldInfo> {
        let mut known = BTreeSet::new();
        let mut withheld = Vec::new();
        for text in texts {
            for (rule, pattern) in self.withheld(facts, text) {
                if known.insert(rule) {
                    let what = &self.rules[rule].rule;
                    withheld.push(WithheldInfo {
                        rule: what.id.clone(),
                        matched: self.matched(text, pattern),
                        when: conditions(&what.when),
                    });
                }
            }
        }
        withheld
    }

    fn matched(&self, text: &Text<'_>, pattern: usize) -> Matched {
        Matched {
            field: text.name.to_owned(),
            pattern: self.patterns[pattern].text.clone(),
            text: self.quote(text, pattern, &mut Values::new()).text,
        }
    }

    fn match_info(
        &self,
        index: usize,
        key: Key,
        matched: Option<Matched>,
        behind: Option<String>,
    ) -> MatchInfo {
        let Ranked { rule, turn } = &self.rules[index];
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

    /// Why a match is behind the one that decided.
    fn behind(&self, first: Key, key: Key) -> String {
        let strength = |key: Key| word(&self.rules[key.4].rule.strength);
        if first.0 != key.0 {
            return "it is asked later".into();
        }
        if first.1 != key.1 {
            let (weak, strong) = (strength(key), strength(first));
            return if weak == strong {
                "what was printed counts less than what the report says".into()
            } else {
                format!("its evidence is weaker: a {weak} against a {strong}")
            };
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

    /// All rules as they are shown, in the order in which they are asked.
    #[must_use]
    pub fn describe(&self) -> Vec<RuleInfo> {
        self.rules
            .iter()
            .map(|Ranked { rule, turn }| info(rule, asked(*turn)))
            .collect()
    }
}

fn asked(turn: u8) -> Asked {
    match turn {
        0 => Asked::Before,
        1 => Asked::Builtin,
        _ => Asked::After,
    }
}

/// As the files write it.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
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
        advice: Advice {
            what: rule.advice.what.clone(),
            why: rule.advice.why.clone(),
            fix: rule.advice.fix.clone(),
        },
        examples: shown(&rule.examples),
        lookalikes: shown(&rule.lookalikes),
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
    use crate::model::Failure;
    use crate::triage::{Engine, Field, parse_rules, specimen};

    fn report(text: &str) -> Failure {
        specimen(Field::Report, text)
    }

    #[test]
    fn the_first_match_is_the_one_that_decides() {
        let engine = Engine::builtin();
        for rule in engine.rules() {
            for failure in rule
                .examples
                .iter()
                .flat_map(|e| crate::triage::specimen::specimens(rule, e))
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
            Engine::builtin().explain(&report("WebDriverException: chrome not reachable"));
        assert_eq!(explanation.matches[0].rule, "browser/session-gone");
        let weaker = "its evidence is weaker: a hint against a fact";
        assert!(
            explanation.matches[1..]
                .iter()
                .any(|m| m.behind.as_deref() == Some(weaker)),
            "{:?}",
            explanation.matches
        );
    }

    #[test]
    fn what_an_assertion_compares_is_not_read() {
        let explanation = Engine::builtin().explain(&report(
            "AssertionError: assert 'ok' == 'Connection refused'",
        ));
        assert!(
            explanation
                .texts
                .iter()
                .all(|text| !text.text.contains("refused"))
        );
        assert!(
            explanation
                .matches
                .iter()
                .all(|m| m.rule != "network/refused")
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
