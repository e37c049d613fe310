//! What of the servers' lists was exercised.
//!
//! Main type: [`Coverage`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is counted.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CoverageKind {
    /// Tools that were called, and answered.
    Tools,
    /// Prompts that were got.
    Prompts,
    /// Resources that were read.
    Resources,
    /// Templates of which a resource was read.
    ResourceTemplates,
    /// Arguments of tools and prompts that were given, nested ones included.
    Arguments,
    /// Values of enums that were given.
    EnumValues,
    /// Tools with arguments that answered with an error.
    ErrorPaths,
}

impl CoverageKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Tools,
        Self::Prompts,
        Self::Resources,
        Self::ResourceTemplates,
        Self::Arguments,
        Self::EnumValues,
        Self::ErrorPaths,
    ];

    /// As in `enum_values`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resource_templates",
            Self::Arguments => "arguments",
            Self::EnumValues => "enum_values",
            Self::ErrorPaths => "error_paths",
        }
    }
}

/// One thing that a server lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct CoverageItem {
    /// Name of the server in the plan.
    pub server: String,
    /// What it is.
    pub kind: CoverageKind,
    /// As in `tools/echo`, `tools/echo/message` or `tools/paint/color=red`.
    pub item: String,
    /// Whether it was exercised.
    pub covered: bool,
}

/// How many of a kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageTotal {
    /// Of what.
    pub kind: CoverageKind,
    /// How many were exercised.
    pub covered: u64,
    /// How many the servers list.
    pub total: u64,
}

impl CoverageTotal {
    /// Of 100, rounded down; 100 where there is nothing to cover.
    #[must_use]
    pub fn percent(&self) -> u64 {
        match self.total {
            0 => 100,
            total => self.covered * 100 / total,
        }
    }
}

/// What of the servers' lists was exercised, of one plan or of several.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// By kind, without the kinds that no server lists.
    pub totals: Vec<CoverageTotal>,
    /// All that is listed, by server and kind.
    pub items: Vec<CoverageItem>,
}

impl Coverage {
    /// Of items, each as often as it was listed: covered where one of them is.
    #[must_use]
    pub fn of(items: impl IntoIterator<Item = CoverageItem>) -> Self {
        let mut all: BTreeMap<(String, CoverageKind, String), bool> = BTreeMap::new();
        for item in items {
            let covered = all.entry((item.server, item.kind, item.item)).or_default();
            *covered |= item.covered;
        }
        let totals = CoverageKind::ALL.into_iter().map(|kind| {
            let own = all.iter().filter(|((_, of, _), _)| *of == kind);
            let (mut covered, mut total) = (0, 0);
            for (_, is_covered) in own {
                total += 1;
                covered += u64::from(*is_covered);
            }
            CoverageTotal {
                kind,
                covered,
                total,
            }
        });
        Self {
            totals: totals.filter(|total| total.total > 0).collect(),
            items: all
                .into_iter()
                .map(|((server, kind, item), covered)| CoverageItem {
                    server,
                    kind,
                    item,
                    covered,
                })
                .collect(),
        }
    }

    /// Of several plans or shards: what one of them covers is covered.
    #[must_use]
    pub fn union<'c>(all: impl IntoIterator<Item = &'c Self>) -> Self {
        let items = all.into_iter().flat_map(|coverage| coverage.items.clone());
        Self::of(items)
    }

    /// Of the plans of a call, where they were counted; none where none of them was.
    #[must_use]
    pub fn of_plans<'c>(plans: impl IntoIterator<Item = Option<&'c Self>>) -> Option<Self> {
        let mut all = plans.into_iter().flatten();
        let first = all.next()?;
        Some(Self::union(std::iter::once(first).chain(all)))
    }

    /// The count of a kind; nothing of nothing where no server lists it.
    #[must_use]
    pub fn total(&self, kind: CoverageKind) -> CoverageTotal {
        let found = self.totals.iter().find(|total| total.kind == kind);
        found.copied().unwrap_or(CoverageTotal {
            kind,
            covered: 0,
            total: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Coverage, CoverageItem, CoverageKind};

    fn item(name: &str, covered: bool) -> CoverageItem {
        CoverageItem {
            server: "s".to_owned(),
            kind: CoverageKind::Tools,
            item: format!("tools/{name}"),
            covered,
        }
    }

    #[test]
    fn what_one_shard_covers_is_covered() {
        let one = Coverage::of([item("a", true), item("b", false), item("c", false)]);
        let other = Coverage::of([item("a", false), item("b", true), item("c", false)]);
        let total = Coverage::union([&one, &other]).total(CoverageKind::Tools);
        assert_eq!((total.covered, total.total, total.percent()), (2, 3, 66));
        assert_eq!(one.total(CoverageKind::Tools).covered, 1);
        let none = one.total(CoverageKind::Prompts);
        assert_eq!((none.total, none.percent()), (0, 100));
    }
}
