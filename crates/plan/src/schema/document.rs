//! The document as a whole.

use super::parts::{Anything, Argv, FixedName, Revision, TimeLimit};
use super::server::ServerSchema;
use super::step::StepSchema;
use indexmap::IndexMap;
use jelly_base::model::NeverNull;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

/// The JSON Schema of a plan.
#[must_use]
pub fn plan_schema() -> Schema {
    // Nothing is never a value in a plan: a key is left out instead.
    SchemaSettings::draft2020_12()
        .for_deserialize()
        .with_transform(NeverNull { of_required: true })
        .into_generator()
        .into_root_schema_for::<PlanDocument>()
}

/// A test plan of jelly: servers, the steps that are sent to them, and what is
/// expected of the answers.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "described, and never built")]
struct PlanDocument {
    /// Of the plan format.
    #[schemars(extend("const" = 1))]
    version: u32,
    /// What reports call the plan; the file's name without its extension if
    /// left out.
    name: Option<FixedName>,
    /// Variables by name, for ${NAME}. A value may use the variables before
    /// it.
    vars: Option<IndexMap<String, Anything>>,
    /// How often an action may happen, and how long all of it may take. The
    /// environment and flags win over what stands here.
    budgets: Option<Budgets>,
    /// Commands that mend what jelly can't.
    hooks: Option<HooksSchema>,
    /// strict: every message of every server is held against the
    /// specification, and a breach fails the run.
    wire: Option<Wire>,
    /// Runs the plan once for each combination, and compares.
    matrix: Option<MatrixSchema>,
    /// By name.
    #[schemars(extend("minProperties" = 1))]
    servers: IndexMap<String, ServerSchema>,
    /// Steps before the others. Where one does not pass, the steps of its
    /// server are blocked.
    setup: Option<Vec<StepSchema>>,
    /// What is tested.
    #[schemars(length(min = 1))]
    steps: Vec<StepSchema>,
    /// Steps after the others, whatever became of those.
    teardown: Option<Vec<StepSchema>>,
}

/// How often an action may happen in one run of the plan.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "described, and never built")]
struct Budgets {
    /// Passes of the loop. Default: 5.
    #[schemars(range(min = 1))]
    max_iterations: Option<u32>,
    /// Reruns for failures that may pass by themselves. Default: 2.
    retries: Option<u32>,
    /// Reruns to confirm a mismatch, for each failure. Default: 1.
    confirms: Option<u32>,
    /// Repairs of the plan. Default: 3.
    mcp_repairs: Option<u32>,
    /// Runs of the hook fix_tests. Default: 2.
    test_fixes: Option<u32>,
    /// Runs of the hook refine_code. Default: 2.
    code_refines: Option<u32>,
    /// Limit of the whole run, hooks and waiting included. Default: 15m.
    deadline: Option<TimeLimit>,
}

/// Commands that are run in the project folder, with the triage of the last
/// iteration as JSON on stdin (`jelly schema hook`). Exit code 0 means that
/// something changed.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "described, and never built")]
#[schemars(rename = "Hooks")]
struct HooksSchema {
    /// For a confirmed failure of the code under test.
    refine_code: Option<Argv>,
    /// For a failure of the plan or of what is around it. It may change the
    /// plan.
    fix_tests: Option<Argv>,
}

/// Whether messages are held against the specification.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "described, and never built")]
pub(super) enum Wire {
    /// They are.
    Strict,
    /// They are not.
    Lenient,
}

/// The axes of which each combination is run.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("minProperties" = 1))]
#[expect(dead_code, reason = "described, and never built")]
#[schemars(rename = "Matrix")]
struct MatrixSchema {
    /// Revisions of the protocol that the servers are held to, in turn.
    #[schemars(length(min = 2), extend("uniqueItems" = true))]
    protocol: Option<Vec<Revision>>,
    /// Servers that take turns, by the name that steps give as their server.
    servers: Option<IndexMap<String, Turns>>,
}

/// Names of servers that take turns.
#[derive(JsonSchema)]
#[schemars(transparent)]
#[expect(dead_code, reason = "described, and never built")]
struct Turns(#[schemars(length(min = 2), extend("uniqueItems" = true))] Vec<FixedName>);
