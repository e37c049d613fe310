//! What may leave an iteration: texts without secrets, without what only this
//! iteration has, and no longer than a report can bear.
//!
//! Main type: [`Cleaner`].

use super::bound::{ANSWER, KEPT, bound, bound_failure, bound_text, bound_to};
use jelly_base::model::{
    Because, Failure, IterationRecord, Offers, StepReport, for_each_json_text,
};
use jelly_base::text::redact::{Redactor, mask_json, mask_text, show_text};
use jelly_base::text::{one_line, truncate};
use jelly_plan::Scope;
use serde_json::Value;
use std::borrow::Cow;

/// How much of a text a message quotes.
const QUOTED: usize = 300;

/// How much of all answers is kept to be compared with those of another variant;
/// beyond that each is cut as those of failures are.
const ANSWERS: usize = 16 * 1024 * 1024;
/// A quotation is cleaned before it is cut, so that no secret survives by
/// being cut in two; of a huge text this much is looked at.
const LOOKED_AT: usize = 64 * 1024;

/// A number of so many digits that is a port of this iteration is hardly
/// anything else; a shorter one may be a count. Systems give such ports.
const TELLING: usize = 5;

/// Takes secrets out of texts, and puts names in the place of what only this
/// iteration has: its `${tmp}` and its ports. So two runs of the same plan
/// read the same, and have the same fingerprints.
#[derive(Debug, Clone, Default)]
pub struct Cleaner {
    redactor: Redactor,
    /// What to replace, and by what.
    names: Vec<(String, String)>,
    /// The ports, which are replaced where they are all of a text, and where a
    /// number of [`TELLING`] digits is one.
    whole: Vec<String>,
    /// The project folder, as it was named and as it is with links followed.
    workspace: Vec<String>,
}

impl Cleaner {
    /// Of secrets alone.
    pub fn of_secrets(redactor: Redactor) -> Self {
        Self {
            redactor,
            ..Self::default()
        }
    }

    pub fn new(redactor: Redactor, scope: &Scope) -> Self {
        let tmp = (scope.tmp.display().to_string(), "${tmp}".to_owned());
        let ports = scope.ports.values().map(|port| {
            let address = format!("127.0.0.1:{port}");
            (address, "127.0.0.1:${port}".to_owned())
        });
        let resolved = scope.workspace.canonicalize().ok();
        let folders = resolved.into_iter().chain([scope.workspace.clone()]);
        let mut workspace: Vec<String> = folders
            .map(|folder| folder.display().to_string())
            // Every path begins with the root.
            .filter(|folder| folder.len() > 1)
            .collect();
        workspace.dedup();
        Self {
            redactor,
            workspace,
            // An iteration without a folder has no name for it either.
            names: std::iter::once(tmp)
                .chain(ports)
                .filter(|(value, _)| !value.is_empty())
                .collect(),
            whole: scope.ports.values().map(u16::to_string).collect(),
        }
    }

    /// `text` without the secrets that are known. What is compared is no more: what
    /// only looks like a secret has to stay what it is.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = self.redactor.redact(text);
        for (value, name) in &self.names {
            if clean.contains(value.as_str()) {
                clean = Cow::Owned(clean.replace(value.as_str(), name));
            }
        }
        if self.whole.iter().any(|port| *port == clean) {
            return Cow::Borrowed("${port}");
        }
        for port in self.whole.iter().filter(|port| port.len() >= TELLING) {
            if let Some(named) = name_port(&clean, port) {
                clean = Cow::Owned(named);
            }
        }
        clean
    }

    /// What somebody tells, as a report has it: without what is secret in it by its
    /// name or form either.
    pub fn told(&self, text: &str) -> String {
        self.text(&show_text(text)).into_owned()
    }

    /// `text` with `${workspace}` for the project folder: what is stored is
    /// the same in every checkout.
    pub fn portable<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut named = Cow::Borrowed(text);
        for folder in &self.workspace {
            if let Some(text) = name_between(&named, folder, "${workspace}", is_path_edge) {
                named = Cow::Owned(text);
            }
        }
        named
    }

    /// A line of `text` for a message.
    pub fn quote(&self, text: &str) -> String {
        let head = &text[..text.floor_char_boundary(LOOKED_AT)];
        one_line(&self.text(head), QUOTED)
    }

    /// A value for a message, as JSON.
    pub fn quote_value(&self, value: &Value) -> String {
        let json = match value {
            Value::String(text) => {
                let head = &text[..text.floor_char_boundary(LOOKED_AT)];
                Value::from(self.text(head)).to_string()
            }
            Value::Number(number) => match self.redactor.number(number) {
                Some(mark) => Value::from(mark).to_string(),
                None => value.to_string(),
            },
            Value::Null | Value::Bool(_) => value.to_string(),
            Value::Array(_) | Value::Object(_) => {
                let json = value.to_string();
                let head = &json[..json.floor_char_boundary(LOOKED_AT)];
                self.text(head).into_owned()
            }
        };
        truncate(&json, QUOTED).into_owned()
    }

    fn in_place(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.text(text) {
            *text = clean;
        } else if self.whole.contains(text) {
            "${port}".clone_into(text);
        }
    }

    /// Every text of `value`, keys included. A number that counts something
    /// must stay one.
    fn json(&self, value: &mut Value) {
        for_each_json_text(value, &mut |text| self.in_place(text));
    }

    /// A value that somebody else made, in which no field is ours: numbers may
    /// be secrets there.
    fn foreign(&self, value: &mut Value) {
        self.json(value);
        self.numbers(value);
    }

    fn numbers(&self, value: &mut Value) {
        match value {
            Value::Number(number) => {
                if let Some(mark) = self.redactor.number(number) {
                    *value = Value::String(mark);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.numbers(item)),
            Value::Object(map) => map.values_mut().for_each(|value| self.numbers(value)),
            _ => {}
        }
    }

    /// A step's report as an event or a report may show it.
    pub fn step(&self, step: &mut StepReport) {
        if let Some(Because::Plan(reason)) = &mut step.because {
            self.in_place(reason);
        }
    }

    /// Every text of a failure.
    pub(super) fn failure(&self, failure: &mut Failure) {
        // Two values that differ have to differ still.
        let compared = (failure.assertion.take(), failure.wanted.take());
        failure.for_each_text(&mut mask_text);
        (failure.assertion, failure.wanted) = compared;
        failure.for_each_text(&mut |text| self.in_place(text));
        if let Some(issue) = &mut failure.issue {
            issue.for_each_text(&mut bound_text);
        }
        // What is null is written as if it were absent.
        failure.limits.take_if(|value| value.is_null());
        for value in foreign_values(failure) {
            value.take_if(|value| value.is_null());
            value.iter_mut().for_each(|value| {
                mask_json(value, &mut |name, _| name.to_owned());
                self.numbers(value);
            });
        }
        let assertion = failure.assertion.iter_mut();
        let compared = assertion.flat_map(|a| [&mut a.expected, &mut a.actual]);
        let wanted = failure.wanted.iter_mut().flat_map(|w| &mut w.values);
        let values = compared.chain(wanted).chain(&mut failure.tools_listed);
        values.for_each(|value| self.numbers(value));
        bound_failure(failure);
    }

    /// Cleans a whole record.
    pub fn record(&self, record: &mut IterationRecord) {
        for failure in &mut record.failures {
            self.failure(failure);
        }
        for server in &mut record.servers {
            let breaches = server.wire_check.iter_mut().flat_map(|c| &mut c.breaches);
            let breaches = breaches.flat_map(|breach| [&mut breach.text, &mut breach.pointer]);
            let words = server
                .notes
                .iter_mut()
                .chain(&mut server.stdout_noise_sample);
            for text in words.chain(breaches).chain([&mut server.stderr_tail]) {
                *text = self.told(text);
            }
            for name in server.offers.iter_mut().flat_map(Offers::names_mut) {
                self.in_place(name);
            }
            if let Some(info) = &mut server.server_info {
                self.foreign(info);
                bound(info);
            }
        }
        for step in &mut record.steps {
            self.step(step);
        }
        // A name is kept as it is, or not at all.
        record
            .outputs
            .retain(|seen| self.text(&seen.tool) == seen.tool);
        for declared in record
            .outputs
            .iter_mut()
            .filter_map(|o| o.declared.as_mut())
        {
            self.json(declared);
        }
        let mut room = ANSWERS;
        for answer in record.answers.values_mut() {
            self.foreign(answer);
            for part in answer
                .as_object_mut()
                .into_iter()
                .flat_map(|of| of.values_mut())
            {
                bound_to(part, room.clamp(KEPT, ANSWER));
                room = room.saturating_sub(part.to_string().len());
            }
        }
    }
}

/// What the server or the plan made, and what may be absent.
fn foreign_values(failure: &mut Failure) -> impl Iterator<Item = &mut Option<Value>> {
    let error = failure.rpc_error.iter_mut().map(|error| &mut error.data);
    let request = failure
        .request
        .iter_mut()
        .map(|request| &mut request.params);
    let result = failure.tool_result.iter_mut();
    let structured = result.map(|result| &mut result.structured_content);
    let values = error.chain(request).chain(structured);
    values.chain([&mut failure.server_info])
}

/// The text with `${port}` where the port stands as a number of its own; `None`
/// where it does not.
fn name_port(text: &str, port: &str) -> Option<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    name_between(text, port, "${port}", |before, after| {
        !before.ends_with(is_digit) && !after.starts_with(is_digit)
    })
}

/// Whether a folder that stands between these is no part of another's name.
fn is_path_edge(before: &str, after: &str) -> bool {
    let of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    // A full stop ends a sentence, or begins an extension.
    let next = after.strip_prefix('.').unwrap_or(after);
    !before.ends_with(|c| of_name(c) || c == '.') && !next.starts_with(of_name)
}

/// The text with `name` for each `value` of which `stands_alone` says so, given
/// what is before and after it; `None` where there is none.
fn name_between(
    text: &str,
    value: &str,
    name: &str,
    stands_alone: impl Fn(&str, &str) -> bool,
) -> Option<String> {
    let mut named = String::new();
    let mut copied = 0;
    for (start, _) in text.match_indices(value) {
        let end = start + value.len();
        if stands_alone(&text[..start], &text[end..]) {
            named.push_str(&text[copied..start]);
            named.push_str(name);
            copied = end;
        }
    }
    (copied > 0).then(|| named + &text[copied..])
}

#[cfg(test)]
mod tests {
    use super::super::bound::KEPT;
    use super::{Cleaner, name_port};
    use jelly_base::model::{
        Assertion, AssertionTarget, Exit, Failure, IterationRecord, Phase, PlanIssue, RequestFacts,
        ToolResult,
    };
    use jelly_base::text::redact::Redactor;
    use jelly_plan::Scope;
    use serde_json::{Value, json};

    fn cleaner(secret: &str) -> Cleaner {
        let scope = Scope {
            tmp: "/tmp/jelly-x1".into(),
            ports: [("s".to_owned(), 4711)].into(),
            ..Scope::default()
        };
        Cleaner::new(Redactor::new([("KEY", secret)]), &scope)
    }

    fn cleaned(secret: &str, failure: Failure) -> Failure {
        let mut record = IterationRecord {
            failures: vec![failure],
            ..IterationRecord::default()
        };
        cleaner(secret).record(&mut record);
        record.failures.remove(0)
    }

    fn mismatch(actual: Value) -> Failure {
        Failure {
            phase: Some(Phase::Assert),
            assertion: Some(Assertion {
                kind: "equals".into(),
                target: Some(AssertionTarget::Text),
                actual,
                ..Assertion::default()
            }),
            ..Failure::default()
        }
    }

    #[test]
    fn what_only_one_iteration_has_is_called_by_its_name() {
        let cleaner = cleaner("swordfish");
        let both = "open /tmp/jelly-x1/a on 127.0.0.1:4711";
        for (text, clean) in [
            (both, "open ${tmp}/a on 127.0.0.1:${port}"),
            ("4711", "${port}"),
            ("47110 of 4711", "47110 of 4711"),
        ] {
            assert_eq!(cleaner.text(text), clean);
        }
    }

    #[test]
    fn a_long_port_is_named_wherever_it_stands_as_a_number_of_its_own() {
        for (text, named) in [
            ("address in use :::45221", Some("address in use :::${port}")),
            (
                "localhost:45221, or 45221.",
                Some("localhost:${port}, or ${port}."),
            ),
            ("4522145221 45221", Some("4522145221 ${port}")),
            ("pid 145221, 452210", None),
        ] {
            assert_eq!(name_port(text, "45221").as_deref(), named);
        }
    }

    #[test]
    fn the_project_folder_is_named_where_it_is_no_part_of_another_name() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("app");
        let link = real.with_file_name("link");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let scope = |workspace: &std::path::Path| Scope {
            workspace: workspace.to_owned(),
            ..Scope::default()
        };
        let cleaner = Cleaner::new(Redactor::none(), &scope(&link));
        for at in [&real, &link] {
            let at = at.display();
            let text = format!("file://{at}/a, {at}. {at} {at}s {at}.bak /x{at}/b");
            assert_eq!(
                cleaner.portable(&text),
                format!(
                    "file://${{workspace}}/a, ${{workspace}}. ${{workspace}} {at}s {at}.bak /x{at}/b"
                )
            );
        }
        let root = Cleaner::new(Redactor::none(), &scope(std::path::Path::new("/")));
        assert_eq!(root.portable("/a"), "/a");
    }

    #[test]
    fn a_secret_of_digits_is_masked_where_it_is_a_number() {
        let mut failure = mismatch(json!({"pin": 83712345, "n": 8371, "of": [83712345]}));
        failure.request = Some(RequestFacts {
            params: Some(json!({"arguments": {"pin": 83712345}})),
            ..RequestFacts::default()
        });
        failure.tool_result = Some(ToolResult {
            structured_content: Some(json!(83712345)),
            ..ToolResult::default()
        });
        let failure = cleaned("83712345", failure);
        assert!(!format!("{failure:?}").contains("83712345"), "{failure:?}");
        let kept = &failure.assertion.unwrap().actual["n"];
        assert_eq!(kept, &json!(8371));
        let exit = Failure {
            exit: Some(Exit {
                code: Some(4711),
                signal: None,
            }),
            ..Failure::default()
        };
        assert_eq!(cleaned("4711", exit.clone()), exit, "a count is none");
    }

    #[test]
    fn a_secret_that_is_a_word_of_ours_costs_no_fact() {
        let unknown = |name: &str| PlanIssue::UnknownTool {
            name: name.to_owned(),
            candidates: Vec::new(),
        };
        for word in "assert text unknown_tool equals message e name".split(' ') {
            let failure = Failure {
                issue: Some(unknown(word)),
                message: Some(format!("a {word}")),
                ..mismatch(json!(word))
            };
            let clean = cleaned(word, failure);
            assert_eq!(clean.phase, Some(Phase::Assert), "{word}");
            let target = clean.assertion.as_ref().and_then(|a| a.target);
            assert_eq!(target, Some(AssertionTarget::Text));
            assert_eq!(clean.message.as_deref(), Some("a [secret KEY]"));
            assert_eq!(clean.issue, Some(unknown("[secret KEY]")));
        }
    }

    #[test]
    fn huge_values_are_cut_and_still_differ_where_they_differed() {
        let text = |middle: char| {
            let mut text = "a".repeat(3 * KEPT);
            text.replace_range(KEPT..=KEPT, &middle.to_string());
            text
        };
        let list = |middle: char| json!([text('x'), text(middle)]);
        let values: [(Value, Value); 2] =
            [(json!(text('x')), json!(text('y'))), (list('x'), list('y'))];
        for (one, other) in values {
            let cut = cleaned("s", mismatch(one.clone()));
            assert_eq!(cut, cleaned("s", mismatch(one)));
            assert_ne!(cut, cleaned("#", mismatch(other)));
            assert!(cut.assertion.unwrap().actual.to_string().len() < KEPT + 200);
        }
    }

    #[test]
    fn every_huge_part_of_a_failure_is_cut() {
        let huge = "é".repeat(40 * KEPT);
        let failure = Failure {
            message: Some(huge.clone()),
            request: Some(RequestFacts {
                method: "tools/call".into(),
                params: Some(json!({"name": "t", "arguments": {"a": huge, "b": 1}})),
                ..RequestFacts::default()
            }),
            tool_result: Some(ToolResult {
                is_error: false,
                text: huge.clone(),
                structured_content: Some(json!({"a": huge})),
            }),
            ..mismatch(json!(huge))
        };
        let clean = cleaned("#", failure);
        assert!(serde_json::to_string(&clean).unwrap().len() < 7 * KEPT);
        let params = clean.request.unwrap().params.unwrap();
        assert_eq!(
            (&params["name"], &params["arguments"]["b"]),
            (&json!("t"), &json!(1))
        );
    }

    #[test]
    fn a_quotation_never_cuts_a_secret_in_two() {
        let secret = "swordfish-".repeat(40);
        let text = format!("{}{secret}", "x".repeat(200));
        let quoted = cleaner(&secret).quote(&text);
        assert!(!quoted.contains("swordfish"), "{quoted}");
        let value = cleaner(&secret).quote_value(&json!({"k": text}));
        assert!(!value.contains("swordfish"), "{value}");
    }
}
