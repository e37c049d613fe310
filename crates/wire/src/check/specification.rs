//! What a revision of the specification says of the messages of servers.
//!
//! Main type: [`Specification`]. A *type* has the name that it has in the schema:
//! its members, each with a shape, or the types that it is one of. The data
//! ([`jelly_base::mcp::Revision::messages`]) states for each revision what
//! differs from the one before:
//!
//! - `fields` are added, and replaced where they are known; `null` takes one
//!   out. A shape that begins with `maybe` need not be there.
//! - `with` names the types whose members it has too.
//! - `needs`: at least one of these members must be there.
//! - `by` and `of`: which type it is, by the value of a member; `default` is
//!   meant where that member is left out.
//! - `see`: page and heading of the specification; that of the type around it
//!   where it is left out.
//! - `results`, `notifications` and `requests` say by method what they carry;
//!   `errors` say by code what their `data` is; `rules` say how binding a rule
//!   is and where it stands.

use super::rules::Rule;
use super::strings::{Form, Scalar};
use jelly_base::mcp::Era;
use jelly_base::model::WireLevel;
use std::collections::HashMap;

/// A place in the specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// Path below the revision, as in `server/tools`.
    page: String,
    heading: Option<String>,
}

impl Section {
    /// Reads `page, Heading` or `page`.
    pub(super) fn parse(text: &str) -> Self {
        match text.split_once(", ") {
            Some((page, heading)) => Self {
                page: page.to_owned(),
                heading: Some(heading.to_owned()),
            },
            None => Self {
                page: text.to_owned(),
                heading: None,
            },
        }
    }

    /// As in `2025-11-25, server/tools, Tool Result`.
    pub(super) fn describe(&self, revision: &str) -> String {
        match &self.heading {
            Some(heading) => format!("{revision}, {}, {heading}", self.page),
            None => format!("{revision}, {}", self.page),
        }
    }

    pub(super) fn url(&self, revision: &str) -> String {
        let page = format!(
            "https://modelcontextprotocol.io/specification/{revision}/{}",
            self.page
        );
        let Some(heading) = &self.heading else {
            return page;
        };
        let anchor: String = heading
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        format!("{page}#{anchor}")
    }
}

/// What a value must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    Any,
    Scalar(&'static Scalar),
    /// A string of a form.
    Form(&'static Form),
    /// An object with the keys that `_meta` may have.
    Meta,
    /// One of these words.
    Words(Vec<String>),
    /// Of no more items than this.
    List(Box<Shape>, Option<usize>),
    /// An object with values of this shape.
    Map(Box<Shape>),
    /// A value, or a list of such.
    OneOrMany(Box<Shape>),
    Named(String),
}

/// One member of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) required: bool,
    pub(super) shape: Shape,
    /// Of the type that it was taken over from, if that has one.
    pub(super) see: Option<Section>,
}

/// Which type a value is, by one of its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) member: String,
    /// Type by value.
    pub(super) of: HashMap<String, String>,
    /// The value that is meant without the member.
    pub(super) default: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) see: Option<Section>,
    pub(super) fields: Vec<Field>,
    pub(super) needs: Vec<String>,
    pub(super) choice: Option<Choice>,
    /// Its other members have the keys that `_meta` may have.
    pub(super) is_meta: bool,
}

/// A revision, with all that it took over from the ones before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Specification {
    pub(super) name: &'static str,
    pub(super) era: Era,
    pub(super) types: HashMap<String, Type>,
    pub(super) results: HashMap<String, String>,
    pub(super) notifications: HashMap<String, String>,
    pub(super) requests: HashMap<String, String>,
    pub(super) errors: HashMap<i64, String>,
    pub(super) rules: HashMap<Rule, (WireLevel, Section)>,
}

impl Specification {
    pub(super) fn has(&self, rule: Rule) -> bool {
        self.rules.contains_key(&rule)
    }

    pub(super) fn is_modern(&self) -> bool {
        self.era == Era::Modern
    }
}

#[cfg(test)]
mod tests {
    use super::Section;

    #[test]
    fn a_section_leads_to_its_heading() {
        let section = Section::parse("server/tools, Tool Result");
        assert_eq!(
            section.describe("2025-11-25"),
            "2025-11-25, server/tools, Tool Result"
        );
        assert_eq!(
            section.url("2025-11-25"),
            "https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result"
        );
        assert_eq!(
            Section::parse("basic/patterns/mrtr, Server Requirements (Basic Workflow)").url("x"),
            "https://modelcontextprotocol.io/specification/x/basic/patterns/mrtr\
             #server-requirements-basic-workflow"
        );
        assert_eq!(Section::parse("basic").describe("r"), "r, basic");
    }
}
