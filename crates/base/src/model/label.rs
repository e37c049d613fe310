//! What a diagnosis says, as one reads it again in a report of jelly's own.
//!
//! The main type is [`Label`]. A report carries it twice: as properties, or,
//! where the format has none, as the first line of a case's output; and, for
//! readers that keep neither, as a line of the failure's text. All are written
//! and read here, so that they can't drift apart, and taken away where somebody
//! else wrote them.

use super::diagnosis::{Advice, Diagnosis, ErrorCategory, Evidence, Side, Suspect};
use super::fix::Fix;
use super::json_word;
use super::proxy::{UpstreamErrorType, UpstreamTrouble, is_own_proxy};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;

/// How the names of all properties of jelly's begin.
const PREFIX: &str = "jelly.";

/// The name of the root of a report that `jelly run` wrote.
pub const RUN_REPORT: &str = "jelly";
/// The same of `jelly triage`, which writes the reports of others again.
pub const TRIAGE_REPORT: &str = "jelly triage";

/// What the line begins with.
const LINE: &str = "diagnosis: ";

/// What the first line of a case's output begins with; a JSON object follows.
const OUTPUT: &str = "jelly says: ";

/// A step of advice, among the properties.
const STEP: &str = "fix";

/// Steps of advice that are read, and bytes of a word.
const STEPS: usize = 32;
const WORD: usize = 128;

/// Whom a failure concerns and what it is called, without how that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Label {
    /// Without the evidence, the fingerprints and the advice that were not
    /// told.
    diagnosis: Box<Diagnosis>,
}

impl Label {
    /// The properties that say a diagnosis.
    #[must_use]
    pub fn properties(diagnosis: &Diagnosis) -> Vec<(&'static str, String)> {
        let mut said = vec![("jelly.side", json_word(&diagnosis.side))];
        let mut add = |name, value: Option<String>| {
            said.extend(value.map(|value| (name, value)));
        };
        let yes = |holds: bool| holds.then(|| "true".to_owned());
        let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        add("jelly.ambiguous", yes(diagnosis.ambiguous));
        let category = diagnosis.error_category.as_ref();
        add("jelly.error_category", category.map(json_word));
        add("jelly.root_cause", Some(diagnosis.root_cause.clone()));
        let retryable = diagnosis.retryable;
        add("jelly.retryable", retryable.map(|it| it.to_string()));
        add("jelly.rule", Some(diagnosis.rule.clone()));
        add("jelly.fingerprint", known(&diagnosis.fingerprint));
        add("jelly.test_fingerprint", known(&diagnosis.test_fingerprint));
        add("jelly.flaky", yes(diagnosis.flaky));
        add("jelly.suspect", diagnosis.suspect.as_ref().map(json_word));
        add("jelly.excused", diagnosis.excused.clone());
        if let Some(Evidence { field, text }) = &diagnosis.evidence {
            add("jelly.evidence_field", Some(field.clone()));
            add("jelly.evidence", Some(text.clone()));
        }
        let Advice { what, why, fix } = &diagnosis.advice;
        add("jelly.advice", known(what));
        add("jelly.why", known(why));
        for step in fix {
            add("jelly.fix", Some(step.line().into_owned()));
        }
        said
    }

    /// What properties say; nothing unless they say a whole diagnosis that can
    /// be meant.
    #[must_use]
    pub fn from_properties<'p>(
        properties: impl IntoIterator<Item = (&'p str, &'p str)>,
    ) -> Option<Self> {
        let mut diagnosis = Diagnosis {
            ambiguous: false,
            ..Diagnosis::BLANK
        };
        let mut side = None;
        let mut evidence = Evidence::default();
        for (name, value) in properties {
            let own = || Some(value.to_owned());
            match name.strip_prefix(PREFIX).unwrap_or_default() {
                "side" => side = Some(word(value)?),
                "ambiguous" => diagnosis.ambiguous = value == "true",
                "error_category" => diagnosis.error_category = Some(word(value)?),
                "root_cause" => diagnosis.root_cause = own()?,
                "retryable" => diagnosis.retryable = Some(value.parse().ok()?),
                "rule" => diagnosis.rule = own()?,
                "fingerprint" => diagnosis.fingerprint = own().filter(|it| is_print(it))?,
                "test_fingerprint" => {
                    diagnosis.test_fingerprint = own().filter(|it| is_print(it))?;
                }
                "flaky" => diagnosis.flaky = value == "true",
                "suspect" => diagnosis.suspect = Some(word::<Suspect>(value)?),
                "excused" => diagnosis.excused = own().filter(|it| is_name(it)),
                "evidence_field" => value.clone_into(&mut evidence.field),
                "evidence" => value.clone_into(&mut evidence.text),
                "advice" => value.clone_into(&mut diagnosis.advice.what),
                "why" => value.clone_into(&mut diagnosis.advice.why),
                "fix" if diagnosis.advice.fix.len() < STEPS => {
                    diagnosis.advice.fix.push(quoted_step(value));
                }
                _ => {}
            }
        }
        diagnosis.side = side?;
        diagnosis.evidence = (!evidence.text.is_empty()).then_some(evidence);
        Self::of(diagnosis)
    }

    /// What the proxy that `argv` starts says of the server behind it. Its
    /// commands are as good as its own word, if it is one of ours, and so is whom
    /// a death concerns, if nobody told it to bring that about.
    #[must_use]
    pub fn of_proxy(trouble: &UpstreamTrouble, argv: &[String]) -> Option<Self> {
        let is_own = is_own_proxy(argv);
        // What follows is the server's own.
        let mut flags = argv.iter().take_while(|arg| *arg != "--");
        let injects = flags.any(|arg| arg.starts_with("--fault"));
        let died = trouble.error_type == UpstreamErrorType::Died;
        let side = trouble.side.filter(|_| is_own && died && !injects);
        let steps = trouble.fix_instructions.iter().take(STEPS);
        let step = |line: &String| match is_own {
            true => Fix::from(line.as_str()),
            false => quoted_step(line),
        };
        Self::of(Diagnosis {
            side: side.unwrap_or(Side::Test),
            ambiguous: trouble.ambiguous,
            error_category: trouble.error_category,
            root_cause: trouble.root_cause.clone(),
            retryable: trouble.retryable,
            rule: trouble
                .rule
                .clone()
                .unwrap_or_else(|| "proxy/upstream".to_owned()),
            evidence: trouble.evidence.clone(),
            advice: Advice {
                what: trouble.details.clone(),
                why: String::new(),
                fix: steps.map(step).collect(),
            },
            ..Diagnosis::BLANK
        })
    }

    /// The properties as one line of a case's output, without its line feed.
    #[must_use]
    pub fn line_of_output(diagnosis: &Diagnosis) -> String {
        let mut said = serde_json::Map::new();
        let mut steps = Vec::new();
        for (name, value) in Self::properties(diagnosis) {
            match name.strip_prefix(PREFIX).unwrap_or(name) {
                STEP => steps.push(Value::from(value)),
                name => drop(said.insert(name.to_owned(), Value::from(value))),
            }
        }
        if !steps.is_empty() {
            said.insert(STEP.to_owned(), Value::from(steps));
        }
        format!("{OUTPUT}{}", Value::from(said))
    }

    /// What such a line says as the first one of an output, and the rest.
    #[must_use]
    pub fn from_output(output: &str) -> Option<(Self, &str)> {
        let rest = output.trim_start().strip_prefix(OUTPUT)?;
        let (line, rest) = rest.split_once('\n').unwrap_or((rest, ""));
        let said: serde_json::Map<String, Value> = serde_json::from_str(line).ok()?;
        let steps = said.get(STEP).and_then(Value::as_array);
        let steps = steps.into_iter().flatten().filter_map(Value::as_str);
        let steps = steps.map(|step| (format!("{PREFIX}{STEP}"), step));
        let others = said.iter().filter_map(|(name, value)| {
            let value = value.as_str()?;
            Some((format!("{PREFIX}{name}"), value))
        });
        let all: Vec<(String, &str)> = others.chain(steps).collect();
        let label = Self::from_properties(all.iter().map(|(name, value)| (&**name, *value)))?;
        Some((label, rest))
    }

    /// A text or an output of somebody else's, in which no line reads as one
    /// of jelly's.
    #[must_use]
    pub fn disarmed(text: &str) -> Cow<'_, str> {
        let is_ours = |line: &str| {
            let line = line.trim_start();
            line.starts_with(LINE) || line.starts_with(OUTPUT)
        };
        if !text.lines().any(is_ours) {
            return Cow::Borrowed(text);
        }
        let lines = text.split_inclusive('\n');
        let disarmed = lines.map(|line| match is_ours(line) {
            true => Cow::Owned(format!("said: {line}")),
            false => Cow::Borrowed(line),
        });
        Cow::Owned(disarmed.collect())
    }

    /// A message of somebody else's, likewise.
    #[must_use]
    pub fn disarmed_message(message: &str) -> Cow<'_, str> {
        let mark = format!("[{LINE}");
        match message.contains(&mark) {
            true => Cow::Owned(message.replace(&mark, "[said: ")),
            false => Cow::Borrowed(message),
        }
    }

    /// The line that says a diagnosis, without its line feed.
    #[must_use]
    pub fn line(diagnosis: &Diagnosis) -> String {
        let retry = match diagnosis.retryable {
            Some(true) => ", retryable",
            Some(false) => ", not retryable",
            None => "",
        };
        let ambiguous = if diagnosis.ambiguous {
            ", ambiguous"
        } else {
            ""
        };
        let flaky = if diagnosis.flaky { ", flaky" } else { "" };
        let category = diagnosis.error_category.as_ref();
        let category = category.map_or_else(String::new, |it| format!(", {}", json_word(it)));
        let print = match &*diagnosis.fingerprint {
            "" => String::new(),
            print => format!(", fingerprint {print}"),
        };
        format!(
            "{LINE}{} ({}-side{ambiguous}{category}{retry}{flaky}), rule {}{print}",
            diagnosis.root_cause,
            json_word(&diagnosis.side),
            diagnosis.rule
        )
    }

    /// What such a line says as the first one of a text. Below it stands what
    /// a server said, which could be anything.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let line = text.trim_start().lines().next()?;
        let (root_cause, rest) = line.strip_prefix(LINE)?.split_once(" (")?;
        let (said, rest) = rest.split_once("), rule ")?;
        let (rule, print) = match rest.split_once(", fingerprint ") {
            Some((rule, print)) => (rule, Some(print).filter(|it| is_print(it))?),
            None => (rest, ""),
        };
        let mut said = said.split(", ");
        let mut diagnosis = Diagnosis {
            side: word(said.next()?.strip_suffix("-side")?)?,
            ambiguous: false,
            root_cause: root_cause.to_owned(),
            rule: rule.to_owned(),
            fingerprint: print.to_owned(),
            ..Diagnosis::BLANK
        };
        for said in said {
            match said {
                "ambiguous" => diagnosis.ambiguous = true,
                "retryable" => diagnosis.retryable = Some(true),
                "not retryable" => diagnosis.retryable = Some(false),
                "flaky" => diagnosis.flaky = true,
                category => diagnosis.error_category = Some(word::<ErrorCategory>(category)?),
            }
        }
        Self::of(diagnosis)
    }

    /// The same line in brackets, to end a message with that is all some readers
    /// keep; `said` is the message, in which no other may stand.
    #[must_use]
    pub fn end_of_message(said: &str, diagnosis: &Diagnosis) -> String {
        let said = Self::disarmed_message(said);
        format!("{said} [{}]", Self::line(diagnosis))
    }

    /// What such an end of a message says.
    #[must_use]
    pub fn from_message(message: &str) -> Option<Self> {
        let (_, end) = message.trim_end().rsplit_once('[')?;
        Self::from_text(end.strip_suffix(']')?)
    }

    /// Nothing where a diagnosis can't be one of jelly's.
    fn of(diagnosis: Diagnosis) -> Option<Self> {
        let is_rule = diagnosis.rule.len() <= WORD && diagnosis.rule.split('/').all(is_name);
        let can_be_meant = is_name(&diagnosis.root_cause)
            && is_rule
            && diagnosis.error_category.is_some() == diagnosis.retryable.is_some()
            && !(diagnosis.side == Side::Code && diagnosis.ambiguous);
        can_be_meant.then(|| Self {
            diagnosis: Box::new(diagnosis),
        })
    }

    /// Lets `change` have every text that came from outside.
    pub fn for_each_text(&mut self, change: &mut impl FnMut(&mut String)) {
        let Diagnosis {
            evidence, advice, ..
        } = &mut *self.diagnosis;
        let Advice { what, why, fix } = advice;
        let quoted = evidence.iter_mut().map(|evidence| &mut evidence.text);
        let steps = fix.iter_mut().map(|step| &mut step.text);
        quoted.chain(steps).chain([what, why]).for_each(change);
    }

    /// Puts what was told in the place of what was read out of the texts.
    /// Evidence, fingerprints and advice that were not told stay.
    pub fn tell(&self, read: &mut Diagnosis) {
        let told = (*self.diagnosis).clone();
        let keep = |told: String, read: &mut String| match told.is_empty() {
            true => std::mem::take(read),
            false => told,
        };
        *read = Diagnosis {
            evidence: told.evidence.or_else(|| read.evidence.take()),
            fingerprint: keep(told.fingerprint, &mut read.fingerprint),
            test_fingerprint: keep(told.test_fingerprint, &mut read.test_fingerprint),
            advice: match self.advises() {
                true => told.advice,
                false => std::mem::take(&mut read.advice),
            },
            ..told
        };
    }

    /// Whose it is.
    #[must_use]
    pub fn side(&self) -> Side {
        self.diagnosis.side
    }

    /// What it is called.
    #[must_use]
    pub fn root_cause(&self) -> &str {
        &self.diagnosis.root_cause
    }

    /// Whether it went away by itself.
    #[must_use]
    pub fn is_flaky(&self) -> bool {
        self.diagnosis.flaky
    }

    /// What of the failure shows it, where that was told.
    #[must_use]
    pub fn evidence(&self) -> Option<&Evidence> {
        self.diagnosis.evidence.as_ref()
    }

    /// The rule that found it.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.diagnosis.rule
    }

    /// Whether it brings the steps of its advice.
    #[must_use]
    pub fn advises(&self) -> bool {
        !self.diagnosis.advice.fix.is_empty()
    }

    /// Bytes of text, about.
    #[must_use]
    pub fn size(&self) -> usize {
        let Diagnosis {
            evidence, advice, ..
        } = &*self.diagnosis;
        let steps: usize = advice.fix.iter().map(|step| step.text.len()).sum();
        let quoted = evidence.as_ref().map_or(0, |evidence| evidence.text.len());
        512 + steps + quoted + advice.what.len() + advice.why.len()
    }
}

/// A step of advice as a report has it. Anybody can write a report, so that a
/// command of it is told as its words, and is none to paste.
fn quoted_step(line: &str) -> Fix {
    let step = Fix::from(line);
    match step.is_command() {
        true => Fix::text(format!("The report says: {}", step.text)),
        false => step,
    }
}

/// The value that a document of jelly's writes as this word.
fn word<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_value(Value::from(text)).ok()
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.".contains(c);
    !text.is_empty() && text.len() <= WORD && text.chars().all(is_part)
}

/// `j1:0123456789abcdef`, of any version.
fn is_print(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let hex = |text: &str| text.len() == 16 && text.chars().all(|c| c.is_ascii_hexdigit());
    let parts = text.strip_prefix('j').and_then(|rest| rest.split_once(':'));
    parts.is_some_and(|(version, print)| digits(version) && hex(print))
}

#[cfg(test)]
mod tests {
    use super::Label;
    use crate::model::{Advice, Diagnosis, ErrorCategory, Evidence, Fix, Side, Suspect};

    /// Every kind of value in every field that is told.
    fn diagnoses() -> Vec<Diagnosis> {
        let whole = Diagnosis {
            side: Side::Test,
            ambiguous: true,
            error_category: Some(ErrorCategory::Timeout),
            root_cause: "call_timeout".into(),
            retryable: Some(true),
            rule: "timeout/call".into(),
            evidence: Some(Evidence {
                field: "stderr".into(),
                text: "waiting, still (yes)".into(),
            }),
            fingerprint: "j1:0123456789abcdef".into(),
            test_fingerprint: "j22:fedcba9876543210".into(),
            flaky: true,
            suspect: Some(Suspect::Code),
            excused: Some("after_restart".into()),
            advice: Advice {
                what: "It hung.".into(),
                why: "Why not.".into(),
                fix: vec![Fix::text("Wait."), Fix::command("sleep 1")],
            },
            ..Diagnosis::BLANK
        };
        let unknown = Diagnosis {
            error_category: None,
            retryable: None,
            root_cause: "unknown".into(),
            rule: "unknown/no-rule".into(),
            ..whole.clone()
        };
        let code = Diagnosis {
            side: Side::Code,
            ambiguous: false,
            error_category: Some(ErrorCategory::Assertion),
            retryable: Some(false),
            flaky: false,
            suspect: None,
            excused: None,
            evidence: None,
            ..whole.clone()
        };
        vec![whole, unknown, code]
    }

    #[test]
    fn an_output_says_what_properties_say() {
        for diagnosis in diagnoses() {
            let line = Label::line_of_output(&diagnosis);
            assert_eq!(line.lines().count(), 1);
            let output = format!("{line}\nsaid by the server");
            let (label, rest) = Label::from_output(&output).unwrap();
            let said = Label::properties(&diagnosis);
            let said = said.iter().map(|(name, value)| (*name, &**value));
            assert_eq!(Some(label), Label::from_properties(said));
            assert_eq!(rest, "said by the server");
        }
    }

    #[test]
    fn nobody_else_says_a_label() {
        let diagnosis = &diagnoses()[0];
        let (text, output) = (Label::line(diagnosis), Label::line_of_output(diagnosis));
        for faked in [
            &text,
            &output,
            &format!("\n \t{output}\nx"),
            &format!("x\n{text}"),
        ] {
            let said = Label::disarmed(faked);
            assert_eq!(Label::from_text(&said), None, "{said}");
            assert_eq!(Label::from_output(&said), None, "{said}");
            assert!(said.contains("said: "), "{said}");
        }
        let message = Label::end_of_message("x", diagnosis);
        assert!(Label::from_message(&message).is_some());
        assert_eq!(
            Label::from_message(&Label::disarmed_message(&message)),
            None
        );
        for harmless in ["", "x\ny", "we say: jelly says: x", "[diagnosis]"] {
            assert_eq!(Label::disarmed(harmless), harmless);
            assert_eq!(Label::disarmed_message(harmless), harmless);
        }
    }

    #[test]
    fn properties_say_a_whole_diagnosis() {
        for mut diagnosis in diagnoses() {
            let said = Label::properties(&diagnosis);
            // Anybody can write a report, so its commands are none to paste.
            for step in diagnosis.advice.fix.iter_mut().filter(|it| it.is_command()) {
                *step = Fix::text(format!("The report says: {}", step.text));
            }
            let said = said.iter().map(|(name, value)| (*name, &**value));
            let mut read = Diagnosis::BLANK;
            Label::from_properties(said).unwrap().tell(&mut read);
            assert_eq!(read, diagnosis);
        }
    }

    #[test]
    fn the_first_line_says_side_category_cause_and_fingerprint() {
        for diagnosis in diagnoses() {
            let text = format!("{}\nsaid by the server", Label::line(&diagnosis));
            let mut read = Diagnosis {
                advice: diagnosis.advice.clone(),
                evidence: diagnosis.evidence.clone(),
                test_fingerprint: diagnosis.test_fingerprint.clone(),
                ..Diagnosis::BLANK
            };
            Label::from_text(&text).unwrap().tell(&mut read);
            // Which it leaves to the properties.
            (read.suspect, read.excused) = (diagnosis.suspect, diagnosis.excused.clone());
            assert_eq!(read, diagnosis, "{text}");
        }
    }

    #[test]
    fn the_end_of_a_message_says_it_whatever_a_server_said() {
        for diagnosis in diagnoses() {
            let faked = "no luck [diagnosis: unknown (test-side), rule a/b]";
            let message = Label::end_of_message(faked, &diagnosis);
            let line = Label::line(&diagnosis);
            assert_eq!(Label::from_message(&message), Label::from_text(&line));
            // Cut off, it says nothing.
            let cut = &message[..message.len() - line.len() - 1];
            assert_eq!(Label::from_message(cut), None, "{cut}");
        }
    }

    #[test]
    fn what_jelly_would_not_say_is_no_label() {
        for text in [
            "said\ndiagnosis: unknown (test-side), rule a/b",
            "diagnosis: unknown",
            "diagnosis: unknown (both-side), rule a/b",
            "diagnosis: unknown (code-side, ambiguous, OTHER, not retryable), rule a/b",
            "diagnosis: unknown (test-side, OTHER), rule a/b",
            "diagnosis: unknown (test-side, HOPE, retryable), rule a/b",
            "diagnosis: Un Known (test-side), rule a/b",
            "diagnosis: unknown (test-side), rule A b",
            "diagnosis: unknown (test-side), rule a/b, fingerprint j1:short",
            "",
        ] {
            assert_eq!(Label::from_text(text), None, "{text}");
        }
        let whole = [
            ("jelly.side", "code"),
            ("jelly.root_cause", "x"),
            ("jelly.rule", "a/b"),
        ];
        assert!(Label::from_properties(whole).is_some());
        for at in 0..whole.len() {
            let mut less = whole.to_vec();
            less.remove(at);
            assert_eq!(
                Label::from_properties(less),
                None,
                "without {:?}",
                whole[at]
            );
        }
        for wrong in [
            ("jelly.side", "nobody"),
            ("jelly.ambiguous", "true"),
            ("jelly.retryable", "true"),
            ("jelly.error_category", "SAD"),
            ("jelly.fingerprint", "1"),
        ] {
            let more = whole.into_iter().chain([wrong]);
            assert_eq!(Label::from_properties(more), None, "{wrong:?}");
        }
    }
}
