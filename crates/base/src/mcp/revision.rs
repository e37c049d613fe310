//! The published revisions, and what sets them apart.
//!
//! Main type: [`Revision`].

use super::Era;

/// One published revision of the protocol.
#[derive(Debug, PartialEq, Eq)]
pub struct Revision {
    /// As it stands on the wire. Names are dates: they sort as they came.
    pub name: &'static str,
    pub era: Era,
    /// The result of a tool may have `structuredContent`.
    pub has_structured_content: bool,
    /// In which modes a client that answers `elicitation/create` says that it
    /// does; none where servers can't ask that.
    pub elicitation: Option<&'static [&'static str]>,
    /// What a server may send, as it differs from the revision before: YAML for
    /// whoever checks messages.
    pub messages: &'static str,
}

/// Every revision, newest first.
pub static REVISIONS: [Revision; 5] = [
    Revision {
        name: "2026-07-28",
        era: Era::Modern,
        has_structured_content: true,
        elicitation: Some(&["form"]),
        messages: include_str!("revisions/2026-07-28.yaml"),
    },
    Revision {
        name: "2025-11-25",
        era: Era::Legacy,
        has_structured_content: true,
        elicitation: Some(&["form"]),
        messages: include_str!("revisions/2025-11-25.yaml"),
    },
    Revision {
        name: "2025-06-18",
        era: Era::Legacy,
        has_structured_content: true,
        elicitation: Some(&[]),
        messages: include_str!("revisions/2025-06-18.yaml"),
    },
    Revision {
        name: "2025-03-26",
        era: Era::Legacy,
        has_structured_content: false,
        elicitation: None,
        messages: include_str!("revisions/2025-03-26.yaml"),
    },
    Revision {
        name: "2024-11-05",
        era: Era::Legacy,
        has_structured_content: false,
        elicitation: None,
        messages: include_str!("revisions/2024-11-05.yaml"),
    },
];

impl Revision {
    /// The revision with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        REVISIONS.iter().find(|revision| revision.name == name)
    }

    /// Those of an era, newest first.
    pub fn all(era: Era) -> impl Iterator<Item = &'static Self> {
        REVISIONS.iter().filter(move |revision| revision.era == era)
    }

    /// The newest one of an era.
    #[must_use]
    pub fn newest(era: Era) -> &'static Self {
        // The table holds both eras, so its first row is never needed.
        Self::all(era).next().unwrap_or(&REVISIONS[0])
    }

    /// The newest one of an era that is among `offered`.
    #[must_use]
    pub fn newest_among(era: Era, offered: &[String]) -> Option<&'static Self> {
        Self::all(era).find(|revision| offered.iter().any(|name| name == revision.name))
    }

    /// All names, for a message.
    #[must_use]
    pub fn all_names() -> String {
        let names: Vec<&str> = REVISIONS.iter().map(|revision| revision.name).collect();
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::{Era, REVISIONS, Revision};

    #[test]
    fn the_table_is_in_order_and_holds_both_eras() {
        assert!(REVISIONS.is_sorted_by(|newer, older| newer.name > older.name));
        assert_eq!(Revision::newest(Era::Modern).name, "2026-07-28");
        assert_eq!(Revision::newest(Era::Legacy).name, "2025-11-25");
        assert!(Revision::find("2024-11-05").is_some());
        assert!(Revision::find("1999-01-01").is_none());
    }
}
