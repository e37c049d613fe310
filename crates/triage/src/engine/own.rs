//! Rules of the user's: a file of them, and what is wrong with one.
//!
//! Main types: [`RuleFile`], [`RuleFileError`]. How a file is parsed stands in
//! `load`; where files are found is `cli`'s to know.

use super::either::{TextOr, text_or_map};
use super::rule::Rule;
use jelly_base::text::{Lines, Quoted, render_quoted};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The text of a file, with the path as errors show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleText {
    pub path: String,
    pub text: Arc<str>,
}

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleFileKind {
    /// `jelly.yaml`: rules stand under its key `rules`, and may name files.
    Project,
    /// A list of rules, or a map with `before` and `after`.
    Rules,
}

/// One entry of a list of rules, with its place in the text.
#[derive(Debug, Clone)]
pub struct RuleEntry {
    pub what: RuleOrFile,
    /// Bytes of the text.
    pub span: Range<usize>,
}

/// What an entry of a list may be, in words.
pub(super) const RULE_OR_FILE: &str = "a rule, or the path of a file of rules";

/// A rule, or the path of a file that holds some.
#[derive(Debug, Clone)]
pub enum RuleOrFile {
    Rule(Box<Rule>),
    File(String),
}

impl JsonSchema for RuleOrFile {
    fn schema_name() -> Cow<'static, str> {
        "RuleOrFile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rule = generator.subschema_for::<Rule>();
        json_schema!({
            "description": "A rule, or the path of a file of rules, from the folder of this file.",
            "anyOf": [rule, {"type": "string"}],
        })
    }
}

impl<'de> Deserialize<'de> for RuleOrFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match text_or_map(deserializer, RULE_OR_FILE)? {
            TextOr::Text(path) => Self::File(path),
            TextOr::Other(rule) => Self::Rule(Box::new(rule)),
        })
    }
}

/// A file of rules, read and found good.
#[derive(Debug, Clone)]
pub struct RuleFile {
    pub source: RuleText,
    /// Asked before the built-in rules.
    pub before: Vec<RuleEntry>,
    /// Asked when the built-in rules say nothing.
    pub after: Vec<RuleEntry>,
}

impl RuleFile {
    /// That something about one of its entries is wrong after all.
    #[must_use]
    pub fn problem(
        &self,
        entry: &RuleEntry,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> RuleFileError {
        let problem = RuleProblem {
            rule: match &entry.what {
                RuleOrFile::Rule(rule) => Some(rule.id.clone()),
                RuleOrFile::File(_) => None,
            },
            message: message.into(),
            hints: vec![hint.into()],
            span: entry.span.clone(),
        };
        RuleFileError::new(self.source.clone(), vec![problem])
    }
}

/// One thing that is wrong with a file of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleProblem {
    /// Id of the rule, where it has one.
    pub rule: Option<String>,
    /// A fragment in lower case.
    pub message: String,
    /// What would help, such as "did you mean `patterns`?".
    pub hints: Vec<String>,
    /// Bytes of the text.
    pub span: Range<usize>,
}

/// Everything that is wrong with a file of rules, in the order of the file.
#[derive(Debug, Clone)]
pub struct RuleFileError {
    source: RuleText,
    problems: Vec<RuleProblem>,
}

impl RuleFileError {
    pub(super) fn new(source: RuleText, mut problems: Vec<RuleProblem>) -> Self {
        problems.sort_by_key(|problem| problem.span.start);
        Self { source, problems }
    }

    /// At least one.
    #[must_use]
    pub fn problems(&self) -> &[RuleProblem] {
        &self.problems
    }

    /// The path as it was named.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.source.path
    }

    /// Line and column of a problem, both 1-based.
    #[must_use]
    pub fn place(&self, problem: &RuleProblem) -> (usize, usize) {
        Lines::of(&self.source.text).place(problem.span.start)
    }

    /// All problems with file, line and column, the line itself, a caret and
    /// hints.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        let problems: Vec<Quoted<'_>> = self
            .problems
            .iter()
            .map(|problem| Quoted {
                title: match &problem.rule {
                    Some(rule) => format!("{rule}: {}", problem.message),
                    None => problem.message.clone(),
                },
                span: problem.span.clone(),
                also: None,
                hints: &problem.hints,
            })
            .collect();
        render_quoted(&self.source.path, &self.source.text, &problems, color)
    }
}

impl fmt::Display for RuleFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl std::error::Error for RuleFileError {}

#[cfg(test)]
mod tests {
    use super::{RuleFileKind, RuleOrFile, RuleText};
    use crate::engine::{RuleFile, RuleFileError, parse_rule_file};

    const RULE: &str = "\
- id: shop/no-stock
  root_cause: data_setup
  error_category: OTHER
  retryable: false
  side: test
  strength: signature
  patterns:
    - 'out of stock'
  advice: { what: w, why: y, fix: [f] }
  examples: [out of stock, 'sku 7 is out of stock']
  lookalikes: [in stock, stock out]
";

    fn parse(kind: RuleFileKind, text: &str) -> Result<RuleFile, RuleFileError> {
        let source = RuleText {
            path: "rules.yaml".into(),
            text: text.into(),
        };
        parse_rule_file(kind, source)
    }

    /// What is wrong with the rule after a change, with its line.
    fn wrong(from: &str, to: &str) -> Vec<(usize, String)> {
        assert!(RULE.contains(from), "{from}");
        let error = parse(RuleFileKind::Rules, &RULE.replace(from, to)).unwrap_err();
        let told = |p: &super::RuleProblem| (error.place(p).0, p.message.clone());
        error.problems().iter().map(told).collect()
    }

    #[test]
    fn a_list_is_asked_before_the_others_and_a_map_says_when() {
        let list = parse(RuleFileKind::Rules, RULE).unwrap();
        assert_eq!((list.before.len(), list.after.len()), (1, 0));
        let indented: String = RULE.lines().map(|line| format!("  {line}\n")).collect();
        let map = parse(RuleFileKind::Rules, &format!("after:\n{indented}")).unwrap();
        assert_eq!((map.before.len(), map.after.len()), (0, 1));
        assert_eq!(&map.source.text[map.after[0].span.clone()], "shop/no-stock");
    }

    #[test]
    fn a_project_file_names_rules_and_files_of_rules() {
        let text = "rules:\n  before: [ci/rules.yaml]\n  after:\n    - more.yaml\n";
        let file = parse(RuleFileKind::Project, text).unwrap();
        assert!(matches!(&file.before[0].what, RuleOrFile::File(path) if path == "ci/rules.yaml"));
        assert_eq!(file.after.len(), 1);
        assert!(parse(RuleFileKind::Project, "# nothing yet\n").is_ok());
        assert!(parse(RuleFileKind::Rules, "[other.yaml]").is_err());
    }

    #[test]
    fn every_flaw_of_a_rule_points_at_its_line() {
        let one = |line: usize, message: &str| vec![(line, message.to_owned())];
        assert_eq!(
            wrong("shop/no-stock", "NoStock"),
            one(1, "`NoStock` can't be the id of a rule")
        );
        assert_eq!(
            wrong("data_setup", "Data Setup"),
            one(2, "`Data Setup` can't be a root cause")
        );
        assert_eq!(
            wrong("retryable: false", "retryable: true"),
            one(4, "only INFRASTRUCTURE and TIMEOUT may pass on a rerun")
        );
        assert_eq!(
            wrong("'out of stock'\n", "'out of (stock'\n"),
            one(8, "this is no regular expression: unclosed group")
        );
        assert_eq!(
            wrong("'out of stock'\n", "['a', '.*']\n"),
            one(8, "this pattern matches every text")
        );
        assert_eq!(
            wrong("[in stock, stock out]", "[in stock]"),
            one(
                11,
                "a rule needs at least 2 entries under `lookalikes`, not 1"
            )
        );
        assert_eq!(
            wrong("  lookalikes: [in stock, stock out]\n", ""),
            one(
                1,
                "a rule needs at least 2 entries under `lookalikes`, not 0"
            )
        );
        assert_eq!(
            wrong("[f]", "['$ rm {file}']"),
            one(9, "advice names `{file}`, which nothing fills")
        );
    }

    #[test]
    fn a_slip_of_the_pen_is_answered_with_the_right_word() {
        let hint = |from: &str, to: &str| {
            let text = RULE.replace(from, to);
            let error = parse(RuleFileKind::Rules, &text).unwrap_err();
            let problem = &error.problems()[0];
            (error.place(problem).0, problem.hints.join(""))
        };
        assert_eq!(
            hint("patterns:", "pattern:"),
            (7, "did you mean `patterns`?".into())
        );
        assert_eq!(
            hint("side: test", "side: tests"),
            (5, "did you mean `test`?".into())
        );
        assert_eq!(
            hint("what: w", "waht: w"),
            (9, "did you mean `what`?".into())
        );
        let (line, all) = hint("  side: test\n", "");
        assert!(line >= 1 && all.contains("`side`"), "{line} {all}");
    }

    #[test]
    fn what_is_no_list_of_rules_is_refused() {
        for text in [
            "1",
            "befor: []",
            "rules: []",
            "- - id: x",
            "- {id: [}",
            "a: &a [*a]",
            "\u{0}",
        ] {
            let error = parse(RuleFileKind::Rules, text).unwrap_err();
            assert!(error.render(false).contains("rules.yaml:1:"), "{error}");
        }
    }
}
