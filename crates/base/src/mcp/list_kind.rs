//! What a server can be asked to list.

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListKind {
    Tools,
    Resources,
    ResourceTemplates,
    Prompts,
}

impl ListKind {
    pub const ALL: [Self; 4] = [
        Self::Tools,
        Self::Resources,
        Self::ResourceTemplates,
        Self::Prompts,
    ];

    /// The kind that a method lists, if it lists any.
    #[must_use]
    pub fn listed_by(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.method() == method)
    }

    /// The request for it.
    #[must_use]
    pub fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::ResourceTemplates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The member of the result that holds the items.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    /// The capability of a server that has any.
    #[must_use]
    pub fn capability(self) -> &'static str {
        match self {
            Self::ResourceTemplates => Self::Resources.key(),
            Self::Tools | Self::Resources | Self::Prompts => self.key(),
        }
    }

    /// As a plan writes it.
    #[must_use]
    pub fn plan_key(self) -> &'static str {
        match self {
            Self::ResourceTemplates => "resource_templates",
            Self::Tools | Self::Resources | Self::Prompts => self.key(),
        }
    }

    /// The member that names an item.
    #[must_use]
    pub fn name_key(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::ResourceTemplates => "uriTemplate",
        }
    }

    /// One item of the list.
    #[must_use]
    pub fn item(self) -> &'static str {
        match self {
            Self::Tools => "tool",
            Self::Resources => "resource",
            Self::ResourceTemplates => "resource template",
            Self::Prompts => "prompt",
        }
    }
}
