//! The CI systems that are known, and how one knows to be on them.

/// A CI system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CiSystem {
    Github,
    Azure,
    TeamCity,
    Buildkite,
    Gitlab,
}

/// A variable that says so.
#[derive(Debug, Clone, Copy)]
pub struct CiVariable {
    pub system: CiSystem,
    /// As in `--ci NAME`.
    pub name: &'static str,
    pub variable: &'static str,
    /// What it must be, whatever the case of its letters; anything, where none
    /// is given.
    pub value: Option<&'static str>,
}

/// All of them; the first whose variable is there is meant.
pub static CI_SYSTEMS: [CiVariable; 5] = [
    row(CiSystem::Github, "github", "GITHUB_ACTIONS", Some("true")),
    row(CiSystem::Azure, "azure", "TF_BUILD", Some("true")),
    row(CiSystem::TeamCity, "teamcity", "TEAMCITY_VERSION", None),
    row(CiSystem::Buildkite, "buildkite", "BUILDKITE", Some("true")),
    row(CiSystem::Gitlab, "gitlab", "GITLAB_CI", Some("true")),
];

const fn row(
    system: CiSystem,
    name: &'static str,
    variable: &'static str,
    value: Option<&'static str>,
) -> CiVariable {
    CiVariable {
        system,
        name,
        variable,
        value,
    }
}

impl CiVariable {
    /// Whether a value of the variable says that this is the system.
    #[must_use]
    pub fn says(&self, value: Option<&String>) -> bool {
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            return false;
        };
        self.value
            .is_none_or(|wanted| value.eq_ignore_ascii_case(wanted))
    }
}
