//! One thing that is tried, and the order in which all are.
//!
//! Main types: [`Case`] and [`CaseSequence`].

use super::target::Target;
use fastrand::Rng;
use serde_json::Value;

/// The label of a case that chance made.
pub const BY_CHANCE: &str = "by_chance";

/// In which way an input is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    Type,
    /// Another type that a lenient reader may convert.
    Coercible,
    Enum,
    Bound,
    Missing,
    Extra,
    Format,
    Pattern,
    Multiple,
    Unique,
}

impl Way {
    /// As in `type`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Coercible => "coercible_type",
            Self::Enum => "enum",
            Self::Bound => "bound",
            Self::Missing => "missing_member",
            Self::Extra => "extra_member",
            Self::Format => "format",
            Self::Pattern => "pattern",
            Self::Multiple => "multiple",
            Self::Unique => "unique_items",
        }
    }

    /// Whether a server that accepts it breaks what it declares.
    #[must_use]
    pub fn must_be_refused(self) -> bool {
        match self {
            Self::Type | Self::Enum | Self::Bound | Self::Missing => true,
            Self::Coercible
            | Self::Extra
            | Self::Format
            | Self::Pattern
            | Self::Multiple
            | Self::Unique => false,
        }
    }
}

/// What the tool's schema says of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Input {
    Valid,
    Invalid(Way),
}

/// What is done.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// One call.
    Call(Value),
    /// Two at once: of the tool, and of the one at this index.
    Pair(Value, usize, Value),
}

/// One thing that is tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its place in the sequence.
    pub number: u64,
    /// Index of its tool.
    pub tool: usize,
    /// What is tried, as in `empty`.
    pub label: &'static str,
    /// JSON pointer into the arguments; empty for all of them.
    pub pointer: String,
    pub input: Input,
    pub act: Act,
}

/// The cases of all tools, one of each tool after the other. Depends on the tools and
/// the seed alone, so that any part of it can be tried again.
#[derive(Debug)]
pub struct CaseSequence {
    seed: u64,
}

impl CaseSequence {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The case at a place; none where there is nothing to try there.
    #[must_use]
    pub fn case(&self, targets: &[Target], number: u64) -> Option<Case> {
        let tools = u64::try_from(targets.len()).unwrap_or(u64::MAX).max(1);
        let tool = usize::try_from(number % tools).ok()?;
        let round = usize::try_from(number / tools).ok()?;
        let target = targets.get(tool)?;
        if let Some(made) = target.systematic(round) {
            return Some(Case {
                number,
                tool,
                ..made.clone()
            });
        }
        // Two at once come last of what is not by chance.
        let after = round - target.systematic_len();
        let other = [tool, (tool + 1) % targets.len()].get(after).copied();
        if let Some(other) = other {
            let (one, another) = (target.alternative(), targets.get(other)?.plain());
            let is_new = after == 0 || other != tool;
            return is_new.then(|| Case {
                number,
                tool,
                label: "two_at_once",
                pointer: String::new(),
                input: Input::Valid,
                act: Act::Pair(one.clone(), other, another.clone()),
            });
        }
        let mixed = self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let arguments = target.by_chance(&mut Rng::with_seed(mixed))?;
        Some(Case {
            number,
            tool,
            label: BY_CHANCE,
            pointer: String::new(),
            input: Input::Valid,
            act: Act::Call(arguments),
        })
    }

    /// The place behind the last case that is not by chance, or none where there is
    /// always more.
    #[must_use]
    pub fn end(&self, targets: &[Target]) -> Option<u64> {
        if targets.iter().any(Target::varies) {
            return None;
        }
        let longest = targets.iter().map(|it| it.systematic_len() + 2).max();
        let all = longest.unwrap_or(0).saturating_mul(targets.len());
        u64::try_from(all).ok()
    }
}
