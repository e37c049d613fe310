//! What a repair is, and what it may know of the world.

use jelly_base::model::ToolInfo;
use jelly_plan::{PlanEdit, Scope, Step};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The closed set of repairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RepairId {
    CreateDirectory,
    FilesystemWorkspace,
    RequiredArgument,
    RenameServer,
    RenameTool,
    RenameArgument,
    CoerceArgument,
    QuarantineStep,
    RaiseTimeout,
    FreePort,
}

impl RepairId {
    pub const ALL: [Self; 10] = [
        Self::CreateDirectory,
        Self::FilesystemWorkspace,
        Self::RequiredArgument,
        Self::RenameServer,
        Self::RenameTool,
        Self::RenameArgument,
        Self::CoerceArgument,
        Self::QuarantineStep,
        Self::RaiseTimeout,
        Self::FreePort,
    ];

    /// The name as reports write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CreateDirectory => "create_directory",
            Self::FilesystemWorkspace => "filesystem_workspace",
            Self::RequiredArgument => "required_argument",
            Self::RenameServer => "rename_server",
            Self::RenameTool => "rename_tool",
            Self::RenameArgument => "rename_argument",
            Self::CoerceArgument => "coerce_argument",
            Self::QuarantineStep => "quarantine_step",
            Self::RaiseTimeout => "raise_timeout",
            Self::FreePort => "free_port",
        }
    }
}

impl fmt::Display for RepairId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One way to mend the plan or its surroundings. A value: nothing has happened
/// yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    pub id: RepairId,
    /// Server, step or argument, as in `servers.files` or `steps.write.args.path`.
    pub target: String,
    /// A sentence for people.
    pub explanation: String,
    /// In the order in which they are to be applied.
    pub edits: Vec<PlanEdit>,
    /// Absolute folders to create, every one inside the project.
    pub create_dirs: Vec<PathBuf>,
    /// Ids of the steps to take out of the run, visibly.
    pub quarantine: Vec<String>,
    /// Servers that must get another port than last time.
    pub new_ports_for: Vec<String>,
    /// Ids of the steps that reach their server differently afterwards, so
    /// that what they see next proves nothing against the server.
    pub steps_touched: Vec<String>,
    /// Servers of which the same holds for every step.
    pub servers_touched: Vec<String>,
    /// It changes the contract between plan and server (a name, a type, a
    /// request's time limit), so that green needs somebody's consent.
    pub contract: bool,
}

impl Proposal {
    /// A proposal that does nothing yet.
    #[must_use]
    pub fn new(id: RepairId, target: impl Into<String>, explanation: impl Into<String>) -> Self {
        Self {
            id,
            target: target.into(),
            explanation: explanation.into(),
            edits: Vec::new(),
            create_dirs: Vec::new(),
            quarantine: Vec::new(),
            new_ports_for: Vec::new(),
            steps_touched: Vec::new(),
            servers_touched: Vec::new(),
            contract: false,
        }
    }

    /// One that changes the contract between a step and its server.
    pub(super) fn of_step(
        id: RepairId,
        target: impl Into<String>,
        explanation: impl Into<String>,
        step: &Step,
    ) -> Self {
        Self {
            steps_touched: vec![step.id.clone()],
            contract: true,
            ..Self::new(id, target, explanation)
        }
    }

    pub(super) fn with(mut self, edit: PlanEdit) -> Self {
        self.edits.push(edit);
        self
    }

    /// Whether it would do anything at all.
    #[must_use]
    pub fn changes_something(&self) -> bool {
        !(self.edits.is_empty()
            && self.create_dirs.is_empty()
            && self.quarantine.is_empty()
            && self.new_ports_for.is_empty())
    }
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    Missing,
    File,
    Dir { writable: bool },
}

/// What a repair may ask of the file system.
pub trait FsFacts {
    /// What stands there, symbolic links followed.
    fn kind(&self, path: &Path) -> PathKind;

    /// The path with every symbolic link resolved, whose last components need
    /// not exist yet; absent where a link leads nowhere or can't be read.
    fn resolve(&self, path: &Path) -> Option<PathBuf>;

    /// Whether the file holds one of the texts; also where it is there and
    /// can't be read to its end.
    fn mentions(&self, path: &Path, texts: &[&str]) -> bool;
}

/// What repairs know besides the plan and the failure.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// Absolute. No repair leaves it.
    pub project_dir: &'a Path,
    /// What the names in templates stand for.
    pub scope: &'a Scope,
    /// Of the plan, by their ids.
    pub steps: &'a HashMap<&'a str, &'a Step>,
    /// By server, as last listed.
    pub tools: &'a [(String, Vec<ToolInfo>)],
    pub fs: &'a dyn FsFacts,
}

impl<'a> Facts<'a> {
    /// The tool as its server listed it.
    #[must_use]
    pub fn tool(&self, server: &str, tool: &str) -> Option<&'a ToolInfo> {
        let (_, tools) = self.tools.iter().find(|(name, _)| name == server)?;
        tools.iter().find(|info| info.name == tool)
    }
}
