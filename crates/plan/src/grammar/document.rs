//! The document as a whole.

use super::mapping::{Key, Kind, Mapping, Rule, mapping};
use super::server::{REVISION, SERVER, WIRE};
use super::step::STEP;

mapping! {
    /// A test plan of jelly: servers, the steps that are sent to them, and what is
    /// expected of the answers.
    PLAN = "", "a plan" {
        /// Of the plan format.
        version: Kind::Version, required "`version` is missing" "write `version: 1`";
        /// What reports call the plan; the file's name without its extension if
        /// left out.
        name: Kind::Name("a plan's name");
        /// Variables by name, for ${NAME}. A value may use the variables before
        /// it.
        vars: Kind::ByName(&Kind::Anything, 0), also "variables";
        /// How often an action may happen, and how long all of it may take. The
        /// environment and flags win over what stands here.
        budgets: Kind::Mapping(&BUDGETS);
        /// Commands that mend what jelly can't.
        hooks: Kind::Mapping(&HOOKS);
        /// strict: every message of every server is held against the
        /// specification, and a breach fails the run.
        wire: Kind::Choice(&WIRE);
        /// Runs the plan once for each combination, and compares.
        matrix: Kind::Mapping(&MATRIX);
        /// By name.
        servers: Kind::ByName(&Kind::Mapping(&SERVER), 1),
            required "`servers` is missing" "as in `servers: { mine: { command: ./server } }`",
            also "mcpServers";
        /// Steps before the others. Where one does not pass, the steps of its
        /// server are blocked.
        setup: Kind::List(&Kind::Mapping(&STEP), 0), also "before";
        /// What is tested.
        steps: Kind::List(&Kind::Mapping(&STEP), 1),
            required "`steps` is missing" "as in `steps: [ { list: tools } ]`", also "tests";
        /// Steps after the others, whatever became of those.
        teardown: Kind::List(&Kind::Mapping(&STEP), 0), also "after";
    }
    hints {
        "wire_check" => "write `wire: strict`",
        "protocol" => "write `matrix: { protocol: [OLD, NEW] }`, or `protocol` at a server",
    }
}

mapping! {
    /// How often an action may happen in one run of the plan.
    BUDGETS = "Budgets", "`budgets`" {
        /// Passes of the loop. Default: 5.
        max_iterations: Kind::Count(1);
        /// Reruns for failures that may pass by themselves. Default: 2.
        retries: Kind::Count(0);
        /// Reruns to confirm a mismatch, for each failure. Default: 1.
        confirms: Kind::Count(0);
        /// Repairs of the plan. Default: 3.
        mcp_repairs: Kind::Count(0);
        /// Runs of the hook fix_tests. Default: 2.
        test_fixes: Kind::Count(0);
        /// Runs of the hook refine_code. Default: 2.
        code_refines: Kind::Count(0);
        /// Limit of the whole run, hooks and waiting included. Default: 15m.
        deadline: Kind::Time, also "timeout";
    }
}

mapping! {
    /// Commands that are run in the project folder, with the triage of the last
    /// iteration as JSON on stdin (`jelly schema hook`). Exit code 0 means that
    /// something changed.
    HOOKS = "Hooks", "`hooks`" {
        /// For a confirmed failure of the code under test.
        refine_code: Kind::Argv;
        /// For a failure of the plan or of what is around it. It may change the
        /// plan.
        fix_tests: Kind::Argv;
    }
}

mapping! {
    /// The axes of which each combination is run.
    MATRIX = "Matrix", "`matrix`" {
        /// Revisions of the protocol that the servers are held to, in turn.
        protocol: Kind::Axis(&Kind::Choice(&REVISION)),
            also "protocols version versions";
        /// Servers that take turns, by the name that steps give as their server.
        servers: Kind::ByName(&TURNS, 0), also "server";
    }
    rule Rule::NotEmpty;
}

static TURNS: Kind = Kind::Named(
    "Turns",
    "Names of servers that take turns.",
    &Kind::Axis(&Kind::Name("a server's name")),
);
