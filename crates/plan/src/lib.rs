//! YAML or JSON → validated [`Plan`] with spans; variables; edits that keep
//! comments. Must not know how a plan is executed.

mod anything;
mod argument_files;
mod auth;
mod compare;
mod condition;
mod due_services;
mod edit;
mod features;
mod grammar;
mod json_schema;
mod load;
mod masked;
mod matrix;
mod package;
mod same_path;
mod scope;
mod source;
mod syntax;
mod template;
mod types;
mod unread;
mod uses;

pub use anything::{can_not_fail, takes_anything};
pub use argument_files::ArgumentFiles;
pub use auth::{ALGORITHMS, Auth, AuthGrant, AuthProof};
pub use compare::compare;
#[cfg(any(test, feature = "witness"))]
pub use edit::witness;
pub use edit::{EditError, PlanEdit, apply, diff, yaml_flow, yaml_key};
pub use features::{
    Answer, CallAtOnce, Cancel, Completion, CompletionOf, Give, HeaderExpect, HttpCall, HttpExpect,
    LogLevel, NotificationExpect, Raw, RefusalExpect, Service, ServiceReady, StartupExpect,
    Subscription,
};
pub use grammar::{Operator, is_value_type, plan_schema};
pub use jelly_base::text::Volatile;
pub use json_schema::{BoundedSchema, SchemaError, TooComplex};
pub use load::{
    PlanError, PlanFinding, Problem, Project, ProjectSetting, SettingKey, SettingKind,
    UnknownKeyword, check, check_in, included_files, load, load_in, load_with, parse_duration,
    read_known, read_project, unknown_keyword,
};
pub use masked::{shown_diff, shown_plan};
pub use matrix::{Matrix, Variant};
pub use package::PackageUse;
pub use scope::{Scope, Unresolved, resolve_json};
pub use source::{Format, Location, PlanSource, ReadError, ReplaceError};
pub use template::{Part, Template, TemplateError, each_reference, has_reference, is_name};
pub use types::{
    BudgetOverrides, Capture, Command, Condition, DocPath, ErrorExpect, Expect, Flag, Hooks,
    JsonExpect, Plan, Predicate, Redaction, Request, Requirement, Segment, Server, Step, StepCase,
    Transport, Until, VarCondition,
};
pub use unread::unread_properties;
pub use uses::snapshot_path;
