//! Triage: what a failure means, whom it concerns, and what to do about it.
//!
//! The main type is [`Engine`]: `Failure → Diagnosis`, pure, without I/O and
//! without a clock. What it knows stands in `rules/*.yaml`, one file a domain;
//! the code only asks which rules hold and which of them has the better
//! evidence.
//!
//! The module must not know plans, executions or budgets: what repetition
//! proves is the loop's to say, and what a repair may change is `repair`'s.

mod advice;
mod aggregate;
mod answer;
mod answered;
mod beside;
mod causes;
mod clues;
pub(crate) mod common_words;
mod contradicted;
mod decisive;
mod diagnose;
mod doing;
mod either;
mod error_answer;
mod evidence;
mod explain;
mod facts;
mod field;
mod fingerprint;
mod first;
mod flaws;
mod framework_talk;
mod given;
mod given_nothing;
mod handled;
mod instead;
mod launcher_usage;
mod launchers;
mod listening;
mod literals;
mod live;
mod load;
mod marks;
mod matcher;
mod outside;
mod own;
mod own_words;
mod pattern;
mod placed;
mod prefilter;
mod prescribed;
mod program;
mod proxies;
mod reading;
mod relabelled;
mod rule;
mod rule_index;
mod said_outside;
mod secrets;
mod spec;
mod specimen;
mod statement;
mod statement_lines;
mod statuses;
mod stumbled;
mod system_names;
pub(crate) mod tables;
mod teardown;
mod template;
#[cfg(test)]
mod test_failure;
mod translated;
mod variables;
mod when;
mod whereabouts;
mod windows;
mod writer;

pub use answer::unmarked_error;
pub use causes::{CAUSES, PROVAR};
pub use clues::{failing_line, failing_line_of_server};
pub(crate) use clues::{is_library, is_mistake, product_frame, product_function};
pub use diagnose::Engine;
pub use field::{Field, RuleSide, Strength};
pub use fingerprint::{Fingerprints, fingerprints};
pub use load::{RuleError, parse_rule_file, parse_rules};
pub use own::{
    RuleEntry, RuleFile, RuleFileError, RuleFileKind, RuleOrFile, RuleProblem, RuleText,
};
pub use rule::{AdviceText, Audience, Example, FixText, Rule};
pub use spec::{ProjectRules, RuleFileDocument};
pub use specimen::{Slip, specimen};
pub use stumbled::{Stumble, stumbled};
pub use teardown::without_teardown;
pub use template::skeleton;
pub use whereabouts::{PointedTo, pointed_to};

#[cfg(test)]
mod assertion_tests;
#[cfg(test)]
mod surroundings_tests;
