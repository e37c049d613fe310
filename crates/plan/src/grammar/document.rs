//! The document as a whole.

use super::mapping::{Key, Kind, Mapping, Rule, Words, mapping};
use super::server::{PROGRESS, REVISION, SERVER, WIRE};
use super::service::SERVICE;
use super::step::STEP;

mapping! {
    /// A test plan of jelly: servers, the steps that are sent to them, and what is
    /// expected of the answers.
    PLAN = "", "a plan" {
        /// Version of the plan format.
        version: Kind::Version, required "`version` is missing" "write `version: 1`";
        /// Name of the plan in reports. Default: the file name without extension.
        name: Kind::Name("a plan's name");
        /// Variables, used as ${NAME}. A value may use the variables before it.
        vars: Kind::ByName(&Kind::Anything, 0), also "variables";
        /// How often each action may happen, and the time limit of the run. The
        /// environment and flags override it.
        budgets: Kind::Mapping(&BUDGETS);
        /// Commands of yours that fix what jelly cannot.
        hooks: Kind::Mapping(&HOOKS);
        /// strict: checks every message of every server against the specification;
        /// a violation fails the run.
        wire: Kind::Choice(&WIRE);
        /// Who is blamed for a breaking change of a server's lists, under `--locked`.
        /// Default: watched.
        contract: Kind::Choice(&CONTRACT);
        /// Runs the plan once for each combination, and compares the results.
        matrix: Kind::Mapping(&MATRIX);
        /// Defaults for every step and server that does not set its own.
        defaults: Kind::Mapping(&DEFAULTS), also "default";
        /// Files in the project, relative to this one, whose servers and steps belong to
        /// the plan too: their steps come before its own.
        include: Kind::Named("Include", "A file, or several.", &Kind::Either(&[
            ("This file.", Kind::Filled),
            ("These, in this order.", Kind::List(&Kind::Filled, 1)),
        ])), also "includes import imports extends";
        /// Servers by name.
        servers: Kind::ByName(&Kind::Mapping(&SERVER), 1),
            required "`servers` is missing" "as in `servers: { mine: { command: ./server } }`",
            unless "include", also "mcpServers";
        /// Processes beside the servers, by name, that are started before them.
        services: Kind::ByName(&Kind::Mapping(&SERVICE), 0), also "service";
        /// Steps that run before the others, in every iteration. If one does not
        /// pass, the steps of its server are blocked.
        setup: Kind::List(&Kind::Mapping(&STEP), 0), also "before";
        /// The steps that are tested: one at least, or an empty list where a server
        /// has `startup`.
        steps: Kind::List(&Kind::Mapping(&STEP), 0),
            required "`steps` is missing" "as in `steps: [ { list: tools } ]`",
            unless "include", also "tests";
        /// Steps that run after the others, in every iteration, whatever their result.
        teardown: Kind::List(&Kind::Mapping(&STEP), 0), also "after";
    }
    // A server's `startup` is tested too, and so is what is included.
    rule Rule::SomeUnless {
        list: "steps",
        beside: "include",
        by_name: "servers",
        with: "startup",
    };
    hints {
        "wire_check" => "write `wire: strict`",
        "protocol" => "write `matrix: { protocol: [OLD, NEW] }`, or `protocol` at a server",
    }
}

mapping! {
    /// Defaults for every step and server that does not set its own.
    DEFAULTS = "Defaults", "`defaults`" {
        /// The server of a step.
        server: Kind::Name("a server's name");
        /// The tags of a step.
        tags: Kind::List(&Kind::Word, 0), also "tag";
        /// Timeout for a step's request. It takes precedence over the server's request_timeout.
        timeout: Kind::Time;
        /// Timeout for a server to become ready.
        startup_timeout: Kind::Time;
        /// Timeout for a request to a server.
        request_timeout: Kind::Time;
        /// Whether progress that a server reports restarts the timeout of a request.
        progress: Kind::Choice(&PROGRESS);
        /// The longest that a request may take where progress extends its timeout.
        total_timeout: Kind::Time, also "max_total_timeout";
        /// Timeout for a server to exit.
        shutdown_timeout: Kind::Time;
    }
    rule Rule::NotEmpty;
    hints {
        "expect" => "write `expect` at each step",
        "args env" => "use a variable: `vars`",
    }
}

mapping! {
    /// How often each action may happen in one run of the plan.
    BUDGETS = "Budgets", "`budgets`" {
        /// Maximum number of iterations. Default: 5.
        max_iterations: Kind::Count(1);
        /// Reruns of failures that may pass unchanged. Default: 2.
        retries: Kind::Count(0);
        /// Reruns to confirm a mismatch, per failure. Default: 1.
        confirms: Kind::Count(0);
        /// Repairs of the plan. Default: 3.
        mcp_repairs: Kind::Count(0);
        /// Runs of the fix_tests hook. Default: 2.
        test_fixes: Kind::Count(0);
        /// Runs of the refine_code hook. Default: 2.
        code_refines: Kind::Count(0);
        /// Time limit for the whole run, including hooks and waiting. Default: 15m.
        deadline: Kind::Time, also "timeout";
    }
}

mapping! {
    /// Commands that run in the project folder, with the triage of the last
    /// iteration as JSON on stdin (`jelly schema hook`). Exit code 0 means that
    /// something was changed.
    HOOKS = "Hooks", "`hooks`" {
        /// For a confirmed failure of the code under test.
        refine_code: Kind::Argv;
        /// For a failure of the plan or its environment. It may change the plan.
        fix_tests: Kind::Argv;
    }
}

mapping! {
    /// The axes. Every combination is run.
    MATRIX = "Matrix", "`matrix`" {
        /// Revisions of the protocol that all servers are pinned to, in turn.
        protocol: Kind::Axis(&Kind::Choice(&REVISION)),
            also "protocols version versions";
        /// Servers that take turns, by the name that steps use as `server`.
        servers: Kind::ByName(&TURNS, 0), also "server";
    }
    rule Rule::NotEmpty;
}

pub(crate) static CONTRACT: Words = Words {
    name: "Contract",
    what: "contract",
    about: "Whose failure a breaking change of what a server lists is.",
    words: || vec!["promised", "watched"],
    meanings: &[
        "The server's: its code is to blame.",
        "Nobody's: the lock may be out of date.",
    ],
};

mapping! {
    /// A file that plans include.
    INCLUDED = "Included", "an included file" {
        /// Version of the plan format.
        version: Kind::Version;
        /// Files that it includes itself.
        include: Kind::Named("Include", "A file, or several.", &Kind::Either(&[
            ("This file.", Kind::Filled),
            ("These, in this order.", Kind::List(&Kind::Filled, 1)),
        ]));
        /// Servers by name.
        servers: Kind::ByName(&Kind::Mapping(&SERVER), 1);
        /// Steps that run before the others.
        setup: Kind::List(&Kind::Mapping(&STEP), 0);
        /// The steps that are tested: one at least, or an empty list where a server
        /// has `startup`.
        steps: Kind::List(&Kind::Mapping(&STEP), 0);
        /// Steps that run after the others.
        teardown: Kind::List(&Kind::Mapping(&STEP), 0);
    }
    hints {
        "vars services" => "define it in the plan that includes the file",
        "defaults budgets hooks matrix wire name" => "it belongs in the plan that includes the file",
    }
}

static TURNS: Kind = Kind::Named(
    "Turns",
    "Names of servers that take turns.",
    &Kind::Axis(&Kind::Name("a server's name")),
);
