//! The engine: which rules hold for a failure, and what the strongest says.

use super::advice;
use super::clues;
use super::contradicted::contradiction;
use super::error_answer::Reading;
use super::evidence::{bare_of_runner, evidence_of, in_message, with_values};
use super::facts::{ErrorAnswer, Facts, FailureSource};
use super::field::RuleSide;
use super::fingerprint::{self, Algorithm, FingerprintParts};
use super::given_nothing::is_given_nothing;
use super::handled::{Handled, handled};
use super::load::{RuleError, builtin_rules};
use super::matcher::RuleMatcher;
use super::outside::second_fix;
use super::own_words;
use super::pattern::{BUILTIN_TURN, RankedRule};
use super::prescribed::advice_of;
use super::reading::is_syntax;
use super::rule::{Audience, Rule, unknown};
use super::secrets::unmarked;
use super::statuses;
use super::teardown::without_teardown;
use super::translated::Translated;
use super::variables::missing_variables;
use super::writer::without_writer;
use jelly_base::model::{
    Diagnosis, ErrorCategory, Evidence, Failure, Fix, Outcome, Phase, Side, Suspect, Template,
    ToolResult,
};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Classifies failures by its rules.
///
/// Building one costs the reading of the rule files; [`Engine::builtin`] does
/// so once, when the first failure is diagnosed. Patterns are compiled one by
/// one, each when the first text comes that may match it.
pub struct Engine {
    pub(super) matcher: RuleMatcher,
}

/// A server that died in a call without a word of it: what it wrote of calls before, which it
/// answered, says nothing of its end.
fn without_older_words(failure: &Failure) -> Cow<'_, Failure> {
    let died = failure.outcome == Some(Outcome::Eof);
    let in_call = matches!(
        failure.phase,
        Some(Phase::Call | Phase::Assert | Phase::Teardown)
    );
    match failure.stderr_is_older && died && in_call {
        true => Cow::Owned(Failure {
            stderr: None,
            ..failure.clone()
        }),
        false => Cow::Borrowed(failure),
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
        let mut rules: Vec<RankedRule> = Vec::new();
        let mut add = |turn: u8, more: Vec<Rule>| {
            rules.extend(more.into_iter().map(|rule| RankedRule {
                syntax: is_syntax(&rule),
                rule,
                turn,
            }));
        };
        add(0, before);
        for (_, rules) in builtin_rules()? {
            add(BUILTIN_TURN, rules);
        }
        add(2, after);
        Ok(Self {
            matcher: RuleMatcher::new(rules)?,
        })
    }

    /// All rules, in the order in which they are asked.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.matcher.rules.iter().map(|ranked| &ranked.rule)
    }

    /// Whether this rule is the user's own, to be asked before all others.
    #[must_use]
    pub fn is_asked_first(&self, rule: &str) -> bool {
        self.matcher.is_asked_first(rule)
    }

    /// What `failure` means. Never fails: what no rule knows is `unknown`,
    /// test-side and ambiguous.
    #[must_use]
    pub fn diagnose(&self, failure: &Failure) -> Diagnosis {
        self.diagnose_for(failure, Audience::Plan)
    }

    /// The same, in the words for this audience.
    #[must_use]
    pub fn diagnose_for(&self, failure: &Failure, audience: Audience) -> Diagnosis {
        let second = Algorithm::Second;
        self.diagnose_with_parts(failure, audience, second).0
    }

    /// The test fingerprint that releases before `j2:` gave this failure, for
    /// what they remembered.
    #[must_use]
    pub fn first_test_fingerprint(&self, failure: &Failure) -> String {
        let first = self.diagnose_with_parts(failure, Audience::Plan, Algorithm::First);
        first.0.test_fingerprint
    }

    /// The same, with what the diagnosis' fingerprint was made of.
    #[must_use]
    pub fn diagnose_with_template(&self, failure: &Failure) -> (Diagnosis, Template) {
        let (diagnosis, parts) =
            self.diagnose_with_parts(failure, Audience::Plan, Algorithm::Second);
        (diagnosis, parts.template())
    }

    /// The diagnosis of a failure as it would be in English, and without a
    /// tear-down that failed after it.
    fn diagnose_with_parts(
        &self,
        failure: &Failure,
        audience: Audience,
        algorithm: Algorithm,
    ) -> (Diagnosis, FingerprintParts) {
        let (read, own, fresh);
        let failure = match algorithm {
            // Those releases read all of it together.
            Algorithm::First => failure,
            Algorithm::Second => {
                read = without_writer(failure);
                own = without_teardown(&read);
                fresh = without_older_words(&own);
                &*fresh
            }
        };
        let as_said = || self.diagnose_read(failure, audience, algorithm);
        let Some(english) = Translated::of(failure) else {
            return as_said();
        };
        // A project's own rules look for what is said.
        let said = as_said();
        if self.matcher.is_asked_first(&said.0.rule) {
            return said;
        }
        let mut read = self.diagnose_read(&english.failure, audience, algorithm);
        // What is compared is compared as it was said.
        if read.0.error_category == Some(ErrorCategory::Assertion) {
            return said;
        }
        english.restore(&mut read.0);
        read
    }

    /// The stages of a diagnosis: read → facts → texts → match → evidence →
    /// side → fingerprint → advice.
    pub(super) fn diagnose_read(
        &self,
        failure: &Failure,
        audience: Audience,
        algorithm: Algorithm,
    ) -> (Diagnosis, FingerprintParts) {
        if let Some(Handled { ended, caught }) = handled(failure) {
            let (mut diagnosis, parts) = self.diagnose_read(&ended, audience, algorithm);
            let (caught, parts_of_caught) = self.diagnose_read(&caught, audience, algorithm);
            // A project's own rules look at all that is said.
            let is_own = |of: &Diagnosis| self.matcher.is_asked_first(&of.rule);
            if is_own(&diagnosis) {
                return (diagnosis, parts);
            }
            if is_own(&caught) {
                return (caught, parts_of_caught);
            }
            if caught.side == Side::Test && diagnosis.side == Side::Code {
                (diagnosis.side, diagnosis.ambiguous) = (Side::Test, true);
            }
            return (diagnosis, parts);
        }
        let diagnose = |facts: &Facts<'_>| self.diagnose_facts(facts, audience, algorithm);
        let (failure, mark) = unmarked(failure);
        let mut facts = Facts::new(&failure);
        let (mut diagnosis, parts) = match self.reading_of(&facts) {
            Some(Reading::Surroundings(instead)) => diagnose(&Facts::new(&instead)),
            Some(Reading::Path(instead)) => {
                let (mut diagnosis, parts) = diagnose(&Facts::new(&instead));
                diagnosis.ambiguous = true;
                diagnosis.error_answer = true;
                (diagnosis, parts)
            }
            Some(Reading::Mismatch { shows, says }) => {
                facts.error_answer = Some((shows, says));
                diagnose(&facts)
            }
            None => {
                let mut whole = diagnose(&facts);
                match (
                    self.carried(&facts, &whole.0),
                    self.part_of_surroundings(&facts, &whole.0),
                ) {
                    (Some((part, of)), _) if of.side == Side::Test && !of.ambiguous => {
                        diagnose(&Facts::new(&part))
                    }
                    // What the product raises itself is its own.
                    (Some((_, of)), None) => {
                        if of.side == Side::Code || of.root_cause == "code_exception" {
                            (whole.0.side, whole.0.ambiguous) = (Side::Code, false);
                        }
                        whole
                    }
                    (_, Some(part)) => {
                        let (mut diagnosis, parts) = diagnose(&Facts::new(&part));
                        diagnosis.ambiguous = true;
                        (diagnosis, parts)
                    }
                    (None, None) => {
                        if let Some(part) = self.came_instead(&facts, &whole.0) {
                            diagnose(&Facts::new(&part))
                        } else if let Some((part, of)) = self.raised_in_log(&facts, &whole.0) {
                            if of.ambiguous {
                                (whole.0.side, whole.0.ambiguous) = (Side::Test, true);
                                whole
                            } else {
                                diagnose(&Facts::new(&part))
                            }
                        } else {
                            whole
                        }
                    }
                }
            }
        };
        self.doubt_by_words(&facts, &mut diagnosis);
        if let Some(mark) = mark {
            mark.restore(&mut diagnosis);
        }
        if let Some(label) = &failure.label
            && !self.is_of_own_rule(&diagnosis, label, &failure, audience)
        {
            let made = (&diagnosis.fingerprint, &diagnosis.test_fingerprint);
            let made = (made.0.clone(), made.1.clone());
            self.relabel(&mut diagnosis, label, &Facts::new(&failure), audience);
            // Reports of other releases have fingerprints of other algorithms.
            if !diagnosis.fingerprint.starts_with(algorithm.version()) {
                (diagnosis.fingerprint, diagnosis.test_fingerprint) = made;
            }
        }
        (diagnosis, parts)
    }

    /// The rule `id` for what the product said, in place of one that took its
    /// words for those of a machine.
    fn of_product<'r>(&'r self, rule: &'r Rule, id: &str) -> &'r Rule {
        let own = self.matcher.is_asked_first(&rule.id);
        let other = self.rules().find(|rule| rule.id == id);
        other.filter(|_| !own).unwrap_or(rule)
    }

    /// What a server that died in a call died of by its own words, failed of where it
    /// answers HTTP 500, or told on stderr beside an exception of its own, where an answer
    /// in the same words would be the environment's; and whether nothing was reached then
    /// that would have answered. Death and exception stay its code's: others answer an
    /// error in words, and live on. But neither proves anything beside a service that did not
    /// answer at all, since it need not come where the network is there; and neither does an
    /// answer with nothing in it.
    fn second_reading(
        &self,
        rule: &Rule,
        facts: &Facts<'_>,
        evidence: Option<&Evidence>,
        audience: Audience,
    ) -> Option<(Fix, bool)> {
        let died = rule.root_cause == "crashed_during_call";
        // What is read here is an answer without stderr, whatever rules of a project
        // say of it.
        let answered = facts.failure.outcome == Some(Outcome::Result);
        // Nothing in place of a value may be what is left without that service.
        let gave_nothing =
            || rule.root_cause == "assertion_mismatch" && is_given_nothing(facts.failure);
        let failed_inside = answered && (rule.root_cause == "internal_error" || gave_nothing());
        // What is logged by notifications is of this call, and is no talk of others.
        let is_wrong = answered
            && ["assertion_mismatch", "internal_error"].contains(&rule.root_cause.as_str());
        let logged = || {
            let logged = facts.failure.logs.join("\n");
            let logged = clues::without_coped_with(&logged).into_owned();
            (is_wrong && !logged.trim().is_empty()).then_some(logged)
        };
        let is_of_them = failed_inside || is_wrong || !answered && (died || rule.id == HTTP_500);
        if !is_of_them || facts.source != FailureSource::Live {
            return None;
        }
        if let Some(said) =
            logged().and_then(|words| self.environment(facts, &words, audience, died))
        {
            return Some(second_fix(
                "In its log it names",
                "which may be behind it",
                &said,
            ));
        }
        let words = match &facts.failure.http {
            _ if answered => {
                let fresh = facts.failure.stderr.as_ref();
                let fresh = fresh.filter(|_| failed_inside && !facts.failure.stderr_is_older);
                fresh?.clone()
            }
            Some(http) if !died => http.body.clone()?,
            // How it ended is told by jelly, and is nobody's words.
            Some(_) | None => evidence
                .filter(|said| {
                    ["stderr", "stdout", "stdout_noise", "logs"].contains(&&*said.field)
                })?
                .text
                .clone(),
        };
        let said = self.environment(facts, &words, audience, died)?;
        let (words, what_of_it) = match (answered, died) {
            (true, _) => ("On stderr it names", "which may be behind it"),
            (false, true) => ("Its last words name", "which to put right first"),
            (false, false) => ("The body names", "which to put right first"),
        };
        Some(second_fix(words, what_of_it, &said))
    }

    /// What an answer in these words would be, where that is surely the environment's.
    pub(super) fn environment(
        &self,
        facts: &Facts<'_>,
        words: &str,
        audience: Audience,
        died: bool,
    ) -> Option<Diagnosis> {
        let answer = Failure {
            phase: Some(Phase::Call),
            outcome: Some(Outcome::Result),
            server: facts.failure.server.clone(),
            request: facts.failure.request.clone(),
            tool_result: Some(ToolResult {
                is_error: true,
                text: words.to_owned(),
                ..ToolResult::default()
            }),
            ..Failure::default()
        };
        let read = Facts::new(&answer);
        let (said, _) = self.diagnose_facts(&read, audience, Algorithm::Second);
        let is_environment = said.side == Side::Test
            && !said.ambiguous
            && said.error_category == Some(ErrorCategory::Infrastructure)
            // "Internal Server Error" is what any 500 says.
            && (died || said.root_cause != "upstream_error");
        is_environment.then_some(said)
    }

    /// The stages from the texts on, of a failure that is read as it is.
    pub(super) fn diagnose_facts(
        &self,
        facts: &Facts<'_>,
        audience: Audience,
        algorithm: Algorithm,
    ) -> (Diagnosis, FingerprintParts) {
        let failure = facts.failure;
        let mut texts = clues::texts(facts);
        let found = self.matcher.strongest(facts, &mut texts);
        let rule = match &found {
            Some(found) => found.rule,
            None => unknown(),
        };
        let mut values = advice::values(failure);
        let evidence = match found.and_then(|found| found.at) {
            Some((text, pattern)) => {
                let said = &texts[text];
                let quoted = self.matcher.quote(said, pattern, &mut values);
                let path = values.get_mut("path");
                if let Some(whole) = path
                    .as_deref()
                    .and_then(|p| given_path(p, &said.text, failure))
                {
                    values.insert("path".to_owned(), whole);
                }
                if rule.root_cause == "missing_env_var" {
                    missing_variables((&said.text, &quoted.text), failure, &mut values);
                }
                Some(quoted)
            }
            None => evidence_of(facts),
        };
        let evidence = evidence.map(|said| bare_of_runner(in_message(said, failure)));
        let evidence = match rule.error_category {
            Some(ErrorCategory::Assertion) if facts.source == FailureSource::Report => {
                evidence.map(|said| with_values(said, facts))
            }
            Some(_) | None => evidence,
        };
        let owner = |said: &Evidence| {
            let owner = own_words::owner_rule(rule, facts, &said.text);
            owner.or_else(|| statuses::status_rule(rule, facts))
        };
        let rule = match evidence.as_ref().and_then(owner) {
            Some(id) => self.of_product(rule, id),
            None => rule,
        };
        let (side, ambiguous) = side(rule, facts);
        let said = evidence.as_ref().map(|said| said.text.as_str());
        let contradicted = contradiction(rule, failure, facts.source, (said, &values));
        let suspected = contradicted.is_some_and(|known| known.suspect);
        let doubted = suspected || contradicted.is_some_and(|known| known.ambiguous);
        let prints = fingerprint::of_facts(facts, &rule.root_cause, evidence.as_ref(), algorithm);
        let text = contradicted.map_or(&rule.advice, |known| &known.advice);
        let mut advice = advice_of((rule, text), facts, evidence.as_ref(), values, audience);
        let (mut side, mut ambiguous) = (side, ambiguous || doubted);
        let mut unreached = false;
        let second = self.second_reading(rule, facts, evidence.as_ref(), audience);
        if let Some((other, unanswered)) = second {
            let answered = facts.failure.outcome == Some(Outcome::Result);
            let place = if answered { advice.fix.len() } else { 0 };
            advice.fix.insert(place, other);
            unreached = unanswered && rule.id != HTTP_500;
            if rule.id == HTTP_500 || unreached {
                (side, ambiguous) = (Side::Test, true);
            }
        }
        if side == Side::Code
            && let Some(doubt) = self.doubt(rule, facts, audience)
        {
            (side, ambiguous) = (Side::Test, true);
            if !unreached {
                advice.fix.extend(doubt.fix());
            }
        }
        let shows = facts.error_answer.as_ref().map(|(shows, _)| *shows);
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
            suspect: suspected
                .then_some(Suspect::Code)
                .or_else(|| suspect(rule, facts)),
            error_answer: shows == Some(ErrorAnswer::Other),
            unreached,
            repair: rule.repair_of(failure).filter(|_| contradicted.is_none()),
            excused: None,
            excused_by: None,
            same_code: Vec::new(),
            advice,
        };
        (diagnosis, prints.parts)
    }
}

/// The rule for a server that answers HTTP 500, which is all that it says unless its
/// body has words.
const HTTP_500: &str = "network/http-500";

/// The rule for an internal error that says no more than that.
const BARE_ERROR: &str = "mcp/internal-error-said";

/// Whom a failure concerns, and whether that is doubtful.
fn side(rule: &Rule, facts: &Facts<'_>) -> (Side, bool) {
    match rule.side {
        RuleSide::Test => (Side::Test, false),
        RuleSide::Ambiguous => (Side::Test, true),
        RuleSide::Code if facts.starting => (Side::Test, true),
        // An error that says nothing may be of what the server logged beside it.
        RuleSide::Code if rule.id == BARE_ERROR && logs_an_error(facts.failure) => {
            (Side::Test, true)
        }
        RuleSide::Code => (Side::Code, false),
    }
}

/// Whether the server logged an error, and no exception of its own.
fn logs_an_error(failure: &Failure) -> bool {
    let logged = failure.error_logged.as_deref().unwrap_or_default();
    let stacks = ["Traceback (most recent call last)", "\n    at ", "\n\tat "];
    let has_stack = stacks.iter().any(|stack| logged.contains(stack));
    let is_own = clues::ended_by_mistake(logged) || has_stack && !clues::tells_of_system(logged);
    !logged.trim().is_empty() && !is_own
}

/// What speaks against the code of the server where the side does not.
fn suspect(rule: &Rule, facts: &Facts<'_>) -> Option<Suspect> {
    let is_internal = matches!(facts.error_answer, Some((ErrorAnswer::Internal, _)));
    let raised = || facts.failure.stderr.as_deref().and_then(clues::trace_line);
    let died_of_code = facts.starting && rule.side != RuleSide::Test && raised().is_some();
    (is_internal || died_of_code).then_some(Suspect::Code)
}

/// The argument that a path is the beginning of, where a text has the whole of it: blanks end a
/// path in most texts, and not in this one.
fn given_path(path: &str, text: &str, failure: &Failure) -> Option<String> {
    let is_whole = |arg: &&String| {
        let rest = arg.strip_prefix(path);
        rest.is_some_and(|rest| rest.starts_with(' ')) && text.contains(arg.as_str())
    };
    failure.argv.iter().find(is_whole).cloned()
}

#[cfg(test)]
#[path = "diagnose_tests.rs"]
mod tests;
