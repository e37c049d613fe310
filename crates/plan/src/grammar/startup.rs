//! `startup` of a server.

use super::mapping::{Key, Kind, Mapping, Rule, mapping};
use super::operators::Target;
use super::step::CONDITION;

mapping! {
    /// What must hold as the server starts. It is a step of its own, with the id
    /// `startup:NAME`.
    STARTUP = "Startup", "`startup`" {
        /// What it writes on stderr, from its start until it is ready.
        stderr: Kind::Operators(Target::Stderr);
        /// Parts of its `serverInfo`.
        server_info: Kind::List(&Kind::PathOperators, 1), also "serverInfo info";
        /// Parts of its capabilities.
        capabilities: Kind::List(&Kind::PathOperators, 1);
        /// It must exit by itself before it is ready; {} for any way to exit. No step
        /// can use it then.
        refuses: Kind::Mapping(&REFUSES), also "refuse fails";
        /// Tags for --only and --skip.
        tags: Kind::List(&Kind::Word, 0), also "tag";
        /// When to start the server for this.
        if: Kind::Mapping(&CONDITION), also "when condition";
    }
    rule Rule::AnyOf(&["stderr", "server_info", "capabilities", "refuses"]);
    hints {
        "exit" => "it belongs in `refuses`",
        "timeout" => "set `startup_timeout`, beside `startup`",
        "text json expect" => "name the target: `stderr`, `server_info`, `capabilities` or `refuses`",
    }
}

mapping! {
    /// How a server that must not start exits.
    REFUSES = "Refuses", "`refuses`" {
        /// A code such as 2, or operators.
        exit: Kind::Named("ExitCode", "An exit code, or operators on it.", &Kind::Either(&[
            ("Exactly this one.", Kind::Integer),
            ("Operators.", Kind::Operators(Target::ExitCode)),
        ])), also "code exit_code status";
        /// What it writes on stderr, from its start to its end.
        stderr: Kind::Operators(Target::Stderr), also "text message";
    }
}
