//! The names of what a plan can't mean.

use jelly_base::model::PlanIssue;

/// The issue's name as the data contract writes it.
pub(super) fn issue_kind(issue: &PlanIssue) -> &'static str {
    match issue {
        PlanIssue::CommandNotFound { .. } => "command_not_found",
        PlanIssue::NotExecutable { .. } => "not_executable",
        PlanIssue::MissingDirectory { .. } => "missing_directory",
        PlanIssue::MissingVariable { .. } => "missing_variable",
        PlanIssue::MissingPackageArgument { .. } => "missing_package_argument",
        PlanIssue::InvalidPackage { .. } => "invalid_package",
        PlanIssue::UnknownServer { .. } => "unknown_server",
        PlanIssue::UnknownTool { .. } => "unknown_tool",
        PlanIssue::UnknownArgument { .. } => "unknown_argument",
        PlanIssue::MissingArgument { .. } => "missing_argument",
        PlanIssue::ArgumentType { .. } => "argument_type",
        PlanIssue::InvalidArgument { .. } => "invalid_argument",
        PlanIssue::SnapshotMissing { .. } => "snapshot_missing",
        PlanIssue::SchemaTooComplex { .. } => "schema_too_complex",
    }
}
