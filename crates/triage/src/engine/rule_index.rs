//! What is asked of every rule for every text, in a few bytes a rule: a walk
//! through the rules themselves would touch as much memory as the texts do.

use super::clues::Text;
use super::facts::{Facts, Promise};
use super::field::{Field, Strength};
use super::marks::Marks;
use super::pattern::{Pattern, RankedRule};
use super::reading::{CLASS, MatchLevel, level};
use super::rule::Rule;
use super::when::known;
use jelly_base::model::ErrorCategory;
use std::cell::Cell;

/// What decides between two matches, the smaller one: turn, strength, rank of
/// the text, priority (negated), order of the rules, and whether it matched no
/// more than the name of a class.
pub(super) type Key = (u8, MatchLevel, u8, i32, usize, bool);

/// The rules and their patterns by their numbers.
pub(super) struct RuleIndex {
    standings: Vec<Standing>,
    /// By pattern, its rule.
    rules: Vec<usize>,
    /// By [`Field`], the patterns of the rules that read it.
    readers: [Marks; Field::ALL.len()],
    /// The patterns of rules that know an assertion by how it is written.
    syntax: Marks,
    /// The rules without patterns, which are asked of every failure.
    pub(super) factual: Vec<usize>,
    /// By rule, what must be known of a failure: see [`When::needs`].
    ///
    /// [`When::needs`]: super::when::When::needs
    needs: Vec<u32>,
}

/// What a rule brings to the key of its matches.
struct Standing {
    turn: u8,
    /// Of a match in a text, and in one that is held in reserve.
    levels: [MatchLevel; 2],
    /// It counts how telling the text is.
    by_rank: bool,
    priority: i32,
}

impl RuleIndex {
    pub(super) fn new(rules: &[RankedRule], patterns: &[Pattern]) -> Self {
        let marked = |is_wanted: &dyn Fn(&RankedRule) -> bool| {
            let mut marks = Marks::new(patterns.len());
            for (number, pattern) in patterns.iter().enumerate() {
                if is_wanted(&rules[pattern.rule]) {
                    marks.set(number);
                }
            }
            marks
        };
        let is_factual = |(_, ranked): &(usize, &RankedRule)| ranked.rule.patterns.is_empty();
        let factual = rules.iter().enumerate().filter(is_factual);
        Self {
            standings: rules.iter().map(Standing::new).collect(),
            rules: patterns.iter().map(|pattern| pattern.rule).collect(),
            readers: Field::ALL.map(|field| marked(&|of| of.rule.fields.contains(&field))),
            syntax: marked(&|ranked| ranked.syntax),
            factual: factual.map(|(number, _)| number).collect(),
            needs: rules
                .iter()
                .map(|ranked| ranked.rule.when.needs())
                .collect(),
        }
    }

    pub(super) fn rule_of(&self, pattern: usize) -> usize {
        self.rules[pattern]
    }

    /// The patterns that are matched with texts of this field.
    pub(super) fn readers(&self, field: Field) -> &Marks {
        &self.readers[field as usize]
    }

    /// Those of the candidates for a text that are asked.
    pub(super) fn asked(&self, candidates: &Marks, ask: Ask) -> Vec<usize> {
        let mut asked = Vec::new();
        let take = |pattern| asked.push(pattern);
        match ask {
            Ask::All => candidates.each(take),
            Ask::Syntax => candidates.each_of(&self.syntax, true, take),
            Ask::Others => candidates.each_of(&self.syntax, false, take),
        }
        asked
    }

    /// Whether all is known that a rule needs.
    pub(super) fn may_hold(&self, rule: usize, known: u32) -> bool {
        self.needs[rule] & !known == 0
    }

    /// How strong a match of a rule is: of its patterns in a text, or of its
    /// typed conditions alone.
    pub(super) fn key(&self, rule: usize, text: Option<&Text<'_>>) -> Key {
        let Standing {
            turn,
            levels,
            by_rank,
            priority,
        } = &self.standings[rule];
        let rank = text.filter(|_| *by_rank).map_or(0, |text| text.rank);
        let reserve = text.is_some_and(|text| text.reserve);
        // A name of a class says less to a reader than a line.
        let class = text.is_some_and(|text| text.name == CLASS);
        let level = levels[usize::from(reserve)];
        (*turn, level, rank, -priority, rule, class)
    }
}

impl Standing {
    fn new(ranked: &RankedRule) -> Self {
        let rule = &ranked.rule;
        Self {
            turn: ranked.turn,
            levels: [false, true].map(|reserve| level(rule, reserve)),
            by_rank: match rule.strength {
                Strength::Signature | Strength::Hint => true,
                Strength::Fact | Strength::Fallback => false,
            },
            priority: rule.priority,
        }
    }
}

/// Which rules are asked of a text.
#[derive(Clone, Copy)]
pub(super) enum Ask {
    All,
    /// Those that know an assertion by how it is written.
    Syntax,
    /// All but those.
    Others,
}

/// Which rules may speak of a failure, each asked when it matters.
pub(super) struct Applying<'a> {
    rules: &'a [RankedRule],
    index: &'a RuleIndex,
    facts: &'a Facts<'a>,
    /// See [`known`].
    known: u32,
    answers: Vec<Cell<Option<bool>>>,
}

impl<'a> Applying<'a> {
    pub(super) fn new(rules: &'a [RankedRule], index: &'a RuleIndex, facts: &'a Facts<'a>) -> Self {
        Self {
            rules,
            index,
            facts,
            known: known(facts),
            answers: vec![Cell::new(None); rules.len()],
        }
    }

    pub(super) fn is(&self, rule: usize) -> bool {
        if !self.index.may_hold(rule, self.known) {
            return false;
        }
        let answer = &self.answers[rule];
        answer.get().unwrap_or_else(|| {
            let applies = applies(&self.rules[rule].rule, self.facts);
            answer.set(Some(applies));
            applies
        })
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
        // What it says again and again is what it waits for.
        let again = facts.said_again.or(facts.logged_again);
        let may_be_why =
            again.is_some() && rule.error_category == Some(ErrorCategory::Infrastructure);
        if facts.timed_out && !rule.when.asks_for_timeout() && !may_be_why {
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
mod tests {
    use crate::engine::Field;

    #[test]
    fn every_field_stands_at_its_number() {
        for (number, field) in Field::ALL.into_iter().enumerate() {
            assert_eq!(field as usize, number);
        }
    }
}
