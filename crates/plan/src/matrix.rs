//! `matrix`: the combinations that a plan is run in.
//!
//! Main types: [`Matrix`], what a plan says, and [`Variant`], one combination
//! of it. Which one a [`super::PlanSource`] stands for belongs to the source,
//! so that an edited text is read again as the same one.

use super::source::Location;
use indexmap::IndexMap;

/// More combinations than this are a slip, not a question.
pub const MAX_VARIANTS: usize = 64;

/// The axes of a plan's matrix; at least one of them has values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matrix {
    /// Revisions that servers are held to.
    pub protocol: Vec<String>,
    /// By the name that steps use, the servers that take turns under it.
    pub servers: IndexMap<String, Vec<String>>,
    /// Where `protocol` stands.
    pub protocol_at: Option<Location>,
}

/// One combination.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variant {
    /// The revision that servers without a pin of their own are held to.
    pub protocol: Option<String>,
    /// The server that steps get for the name that they use.
    pub servers: IndexMap<String, String>,
}

impl Matrix {
    /// The axes as a report names them, with their values.
    #[must_use]
    pub fn axes(&self) -> Vec<(String, Vec<String>)> {
        let protocol =
            (!self.protocol.is_empty()).then(|| ("protocol".to_owned(), self.protocol.clone()));
        let servers = self
            .servers
            .iter()
            .map(|(name, servers)| (format!("servers.{name}"), servers.clone()));
        protocol.into_iter().chain(servers).collect()
    }

    /// How many combinations there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.axes().iter().fold(1, |size: usize, (_, values)| {
            size.saturating_mul(values.len())
        })
    }

    /// All combinations, the last axis turning fastest. No more than
    /// `MAX_VARIANTS`.
    #[must_use]
    pub fn variants(&self) -> Vec<Variant> {
        let mut variants = vec![Variant::default()];
        if !self.protocol.is_empty() {
            variants = each(&variants, &self.protocol, |variant, revision| {
                variant.protocol = Some(revision.clone());
            });
        }
        for (name, servers) in &self.servers {
            variants = each(&variants, servers, |variant, server| {
                variant.servers.insert(name.clone(), server.clone());
            });
        }
        variants
    }
}

fn each(
    variants: &[Variant],
    values: &[String],
    set: impl Fn(&mut Variant, &String),
) -> Vec<Variant> {
    let pairs = variants
        .iter()
        .flat_map(|variant| values.iter().map(move |value| (variant, value)));
    pairs
        .take(MAX_VARIANTS)
        .map(|(variant, value)| {
            let mut variant = variant.clone();
            set(&mut variant, value);
            variant
        })
        .collect()
}

impl Variant {
    /// What tells it from the others, as in `2025-06-18, files_next`.
    #[must_use]
    pub fn label(&self) -> String {
        let values: Vec<&str> = self
            .protocol
            .iter()
            .chain(self.servers.values())
            .map(String::as_str)
            .collect();
        values.join(", ")
    }

    /// Its value on each axis of [`Matrix::axes`].
    #[must_use]
    pub fn values(&self) -> IndexMap<String, String> {
        let protocol = self
            .protocol
            .iter()
            .map(|p| ("protocol".to_owned(), p.clone()));
        let servers = self
            .servers
            .iter()
            .map(|(name, server)| (format!("servers.{name}"), server.clone()));
        protocol.chain(servers).collect()
    }

    /// The server behind the name that a step uses.
    #[must_use]
    pub fn server<'n>(&'n self, name: &'n str) -> &'n str {
        self.servers.get(name).map_or(name, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_VARIANTS, Matrix};

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn every_value_of_an_axis_meets_every_value_of_the_others() {
        let matrix = Matrix {
            protocol: names(&["old", "new"]),
            servers: [("files".to_owned(), names(&["a", "b"]))].into(),
            protocol_at: None,
        };
        let labels: Vec<String> = matrix.variants().iter().map(|v| v.label()).collect();
        assert_eq!(labels, ["old, a", "old, b", "new, a", "new, b"]);
        assert_eq!(matrix.size(), 4);
        let first = &matrix.variants()[0];
        assert_eq!(first.server("files"), "a");
        assert_eq!(first.server("other"), "other");
        assert_eq!(first.values()["servers.files"], "a");
    }

    #[test]
    fn there_is_an_end_to_combinations() {
        let many: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
        let axes = ["a", "b", "c", "d"].map(|name| (name.to_owned(), many.clone()));
        let matrix = Matrix {
            servers: axes.into(),
            ..Matrix::default()
        };
        assert_eq!(matrix.variants().len(), MAX_VARIANTS);
        assert_eq!(matrix.size(), 1_000_000_000_000);
    }
}
