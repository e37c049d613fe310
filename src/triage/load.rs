//! Rules from YAML. The only file of this room that names the parser.

use super::advice;
use super::facts::When;
use super::rule::{AdviceText, Example, Field, Rule, RuleSide, Strength};
use crate::model::ErrorCategory;
use serde::Deserialize;
use thiserror::Error;

/// The rule files inside the binary, by domain.
pub(super) const BUILTIN: &[(&str, &str)] = &[
    ("process", include_str!("rules/process.yaml")),
    ("mcp", include_str!("rules/mcp.yaml")),
    ("network", include_str!("rules/network.yaml")),
    ("files", include_str!("rules/files.yaml")),
    ("config", include_str!("rules/config.yaml")),
    ("node", include_str!("rules/node.yaml")),
    ("python", include_str!("rules/python.yaml")),
    ("runtimes", include_str!("rules/runtimes.yaml")),
    ("domain", include_str!("rules/domain.yaml")),
    ("assertion", include_str!("rules/assertion.yaml")),
    ("jvm", include_str!("rules/jvm.yaml")),
    ("go", include_str!("rules/go.yaml")),
    ("rust", include_str!("rules/rust.yaml")),
    ("dotnet", include_str!("rules/dotnet.yaml")),
    ("ruby", include_str!("rules/ruby.yaml")),
    ("php", include_str!("rules/php.yaml")),
    ("native", include_str!("rules/native.yaml")),
    ("javascript", include_str!("rules/javascript.yaml")),
    ("pytest", include_str!("rules/pytest.yaml")),
    ("shell", include_str!("rules/shell.yaml")),
    ("lint", include_str!("rules/lint.yaml")),
    ("exception", include_str!("rules/exception.yaml")),
    ("report", include_str!("rules/report.yaml")),
    ("timeout", include_str!("rules/timeout.yaml")),
];

/// Why a rule file can't be used.
#[derive(Debug, Error)]
pub enum RuleError {
    #[error("rules of {domain} can't be read: {problem}")]
    Syntax { domain: String, problem: String },
    #[error("rule {rule}: {problem}")]
    Invalid { rule: String, problem: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleSpec {
    id: String,
    root_cause: String,
    error_category: Option<ErrorCategory>,
    retryable: Option<bool>,
    side: RuleSide,
    strength: Strength,
    #[serde(default)]
    priority: i32,
    repair: Option<String>,
    #[serde(default)]
    when: When,
    #[serde(default)]
    patterns: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    fields: Vec<Field>,
    advice: AdviceText,
    #[serde(default)]
    examples: Vec<Example>,
    #[serde(default)]
    lookalikes: Vec<Example>,
}

/// The rules of one file. `domain` is what their ids must begin with.
///
/// # Errors
/// When the YAML can't be read or a rule contradicts itself.
pub fn parse_rules(domain: &str, yaml: &str) -> Result<Vec<Rule>, RuleError> {
    let specs: Vec<RuleSpec> = serde_yaml::from_str(yaml).map_err(|error| RuleError::Syntax {
        domain: domain.to_owned(),
        problem: error.to_string(),
    })?;
    specs
        .into_iter()
        .map(|spec| {
            let id = spec.id.clone();
            validate(domain, spec).map_err(|problem| RuleError::Invalid { rule: id, problem })
        })
        .collect()
}

fn validate(domain: &str, spec: RuleSpec) -> Result<Rule, String> {
    if spec
        .id
        .strip_prefix(domain)
        .and_then(|rest| rest.strip_prefix('/'))
        .is_none_or(str::is_empty)
    {
        return Err(format!("its id does not begin with `{domain}/`"));
    }
    if spec.error_category.is_some() != spec.retryable.is_some() {
        return Err("category and retryable must be given together or not at all".into());
    }
    if spec.retryable == Some(true)
        && !matches!(
            spec.error_category,
            Some(ErrorCategory::Infrastructure | ErrorCategory::Timeout)
        )
    {
        return Err("only infrastructure and time-outs may pass by themselves".into());
    }
    match spec.strength {
        Strength::Signature | Strength::Hint if spec.patterns.is_empty() => {
            return Err("a signature or hint needs a pattern".into());
        }
        Strength::Fact | Strength::Fallback if spec.when.is_empty() => {
            return Err("a typed fact needs a condition".into());
        }
        Strength::Fact | Strength::Signature | Strength::Hint | Strength::Fallback => {}
    }
    if spec.patterns.is_empty() && !(spec.unless.is_empty() && spec.fields.is_empty()) {
        return Err("`unless` and `fields` mean nothing without patterns".into());
    }
    advice::validate(&spec.advice, &spec.patterns)?;
    let fields = if spec.fields.is_empty() && !spec.patterns.is_empty() {
        vec![Field::Stderr, Field::Answer, Field::Message, Field::Report]
    } else {
        spec.fields
    };
    Ok(Rule {
        id: spec.id,
        root_cause: spec.root_cause,
        error_category: spec.error_category,
        retryable: spec.retryable,
        side: spec.side,
        strength: spec.strength,
        priority: spec.priority,
        repair: spec.repair,
        when: spec.when,
        patterns: spec.patterns,
        unless: spec.unless,
        fields,
        advice: spec.advice,
        examples: spec.examples,
        lookalikes: spec.lookalikes,
    })
}
