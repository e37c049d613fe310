//! `setup`, `steps` and `teardown`.

use super::mapping::{Key, Kind, Mapping, Rule, Words, mapping};
use super::operators::Target;
use super::server::RPC_ERROR;
use crate::LogLevel;
use jelly_base::mcp::ListKind;

mapping! {
    /// One request to one server, and what is expected of the answer. It says what
    /// it does by exactly one of `tool`, `list`, `read`, `prompt`, `request`,
    /// `complete`, `subscribe`, `unsubscribe`, `raw` and `raw_base64`.
    STEP = "Step", "a step" {
        /// Unique in the plan; made from what the step does if left out.
        id: Kind::Name("an id");
        /// What people call it; the id if left out.
        name: Kind::Text;
        /// Name of the server; may be left out where there is only one.
        server: Kind::Name("a server's name");
        /// Calls a tool of this name, with `args`.
        tool: Kind::ForeignName("a tool's name"), also "call";
        /// Lists all pages.
        list: Kind::Choice(&LIST);
        /// Reads the resource of this URI.
        read: Kind::Filled, also "resource";
        /// Gets the prompt of this name, with `args`.
        prompt: Kind::ForeignName("a prompt's name");
        /// Sends one request of this method, with `args` as its parameters.
        request: Kind::Name("a method's name"), also "method";
        /// Asks for completions of an argument; `args` holds the arguments that
        /// are known already.
        complete: Kind::Mapping(&COMPLETE), also "completion";
        /// Wants to hear of changes.
        subscribe: Kind::Named(
            "Subscribe", "What to hear of: the URI of a resource, or several things.",
            &Kind::Either(&[
                ("The URI of a resource.", Kind::Filled),
                ("Several things.", Kind::Mapping(&SUBSCRIPTION)),
            ]),
        ), also "listen";
        /// The id of the step whose subscription ends.
        unsubscribe: Kind::Name("the id of a step");
        /// Sends this line as it is.
        raw: Kind::Text;
        /// Sends these bytes as they are.
        raw_base64: Kind::Base64;
        /// Arguments by name; of a `request`, any parameters. Texts may hold
        /// variables.
        args: Kind::Anything, also "arguments params input";
        /// What the client answers when the server asks something of it during
        /// this step, one after the other.
        answers: Kind::List(&Kind::Mapping(&ANSWER), 0);
        /// What the answer must be. Without it, the step fails on a protocol
        /// error, on isError: true, and on an output that breaks its declared
        /// schema.
        expect: Kind::Mapping(&EXPECT), also "assert asserts";
        /// Values to keep, by the name of the variable that they become for later
        /// steps.
        capture: Kind::ByName(&Kind::JsonPath, 0), also "save";
        /// For --only and --skip.
        tags: Kind::List(&Kind::Word, 0), also "tag";
        /// How long the answer may take; the server's request_timeout if left
        /// out.
        timeout: Kind::Time;
        /// Asks for log messages of this level and above.
        log_level: Kind::Choice(&LEVEL), also "loglevel";
        /// Cancels the request so long after it was sent.
        cancel_after: Kind::Time, also "cancel";
        /// How long no answer may come after it was cancelled. Default: 500ms.
        quiet_for: Kind::Time;
        /// Sends the request without what the era adds to it.
        bare: Kind::Flag;
    }
    rule Rule::OneRequest(&[
        &["tool"], &["list"], &["read"], &["prompt"], &["request"], &["complete"],
        &["subscribe"], &["unsubscribe"], &["raw"], &["raw_base64"],
    ], "request");
    hints {
        "notifications" => "they belong into `expect`",
        "depends_on needs" => "a step waits by itself for the steps it captures from",
        "retries" => "retries are a budget of the plan: `budgets`",
    }
}

mapping! {
    /// An argument to complete.
    COMPLETE = "Complete", "`complete`" {
        /// The prompt whose argument it is.
        prompt: Kind::ForeignName("a prompt's name");
        /// The URI template of the resource whose argument it is.
        resource: Kind::Name("a template"), also "uri";
        /// Name of the argument.
        argument: Kind::Name("an argument's name"),
            required "`complete` needs the `argument` to complete" "", also "name";
        /// What is typed so far.
        value: Kind::Text;
    }
    rule Rule::OneOf(&[&["prompt"], &["resource"]]);
    hints {
        "context" => "the arguments that are known go into the step's `args`",
    }
}

mapping! {
    /// Several things to hear of.
    SUBSCRIPTION = "Subscription", "`subscribe`" {
        /// URIs of resources that may change.
        resources: Kind::List(&Kind::Word, 0), also "resourceSubscriptions";
        /// The list of tools.
        tools: Kind::Flag, also "toolsListChanged";
        /// The list of prompts.
        prompts: Kind::Flag, also "promptsListChanged";
        /// The list of resources.
        resources_list: Kind::Flag, also "resourcesListChanged";
    }
    rule Rule::NotEmpty;
    hints {
        "resource uri" => "did you mean `resources`, a list of URIs?",
    }
}

mapping! {
    /// An answer to a question of the server's.
    ANSWER = "Answer", "an answer" {
        /// What is asked, as in roots/list, sampling/createMessage or
        /// elicitation/create.
        method: Kind::Name("a method's name"),
            required "an answer needs a `method`"
                "it is one of `roots/list`, `sampling/createMessage`, `elicitation/create`",
            also "request";
        /// What must hold of the params of what is asked.
        expect: Kind::List(&Kind::PathOperators, 0);
        /// The result that is given.
        result: Kind::AnyMap, also "response give";
        /// The error that is given.
        error: Kind::Mapping(&RPC_ERROR);
        /// Accepts an elicitation with the defaults of its schema.
        accept_defaults: Kind::True;
        /// That nobody asks is as good. Of a step alone.
        optional: Kind::Flag;
    }
    rule Rule::OneOf(&[&["result"], &["error"], &["accept_defaults"]]);
    hints {
        "params" => "what was asked is tested with `expect`",
    }
}

mapping! {
    /// What the answer must be.
    EXPECT = "Expect", "`expect`" {
        /// What the tool says of itself. true also expects the error.
        is_error: Kind::Flag, also "isError";
        /// All text blocks, joined by newlines.
        text: Kind::Operators(Target::Text);
        /// Parts of the whole result.
        json: Kind::List(&Kind::PathOperators, 1);
        /// The structured output.
        structured: Kind::Operators(Target::Structured),
            also "structuredContent structured_content";
        /// An error is expected; {} for any.
        error: Kind::Mapping(&ERROR_EXPECT);
        /// How long the answer took.
        duration: Kind::Operators(Target::Duration), also "time";
        /// What the server wrote on stderr during the step.
        stderr: Kind::Operators(Target::Stderr);
        /// What the server must tell, or must not.
        notifications: Kind::List(&Kind::Mapping(&NOTIFICATION), 1),
            also "notification";
    }
    hints {
        "content" => "did you mean `text`, or `json` with a path?",
        "result" => "did you mean `json` with a path?",
        "equals" => "say of what, as in `text: { equals: … }`",
        "contains" => "say of what, as in `text: { contains: … }`",
        "matches" => "say of what, as in `text: { matches: … }`",
    }
}

mapping! {
    /// An error of JSON-RPC, or the text of a tool that says isError.
    ERROR_EXPECT = "ErrorExpect", "`error`" {
        /// As in -32602, or operators.
        code: Kind::Named("ErrorCode", "A code, or operators on it.", &Kind::Either(&[
            ("Exactly this one.", Kind::Integer),
            ("Operators.", Kind::Operators(Target::ErrorCode)),
        ]));
        /// Operators on its words.
        message: Kind::Operators(Target::ErrorMessage);
    }
}

mapping! {
    /// A notification that must come, or must not.
    NOTIFICATION = "Notification", "a notification" {
        /// As in notifications/progress.
        method: Kind::Name("a method's name"),
            required "a notification needs a `method`" "as in `method: notifications/progress`";
        /// How long it may take after the answer; the step's time limit if left
        /// out.
        within: Kind::Time, also "timeout";
        /// What must hold of its params; what does not fit is another one.
        json: Kind::List(&Kind::PathOperators, 1), also "expect";
        /// How many come; at least one if left out.
        count: Kind::Named("Count", "A number, or operators on it.", &Kind::Either(&[
            ("Exactly so many.", Kind::Count(1)),
            ("Operators.", Kind::OperatorMap(Target::Count)),
        ])), also "times";
        /// None may come.
        absent: Kind::Flag;
    }
    hints {
        "params" => "did you mean `json`? Its paths begin at the params",
    }
}

pub(crate) static LIST: Words = Words {
    name: "List",
    what: "list",
    about: "What a server has.",
    words: || ListKind::ALL.map(ListKind::plan_key).to_vec(),
    meanings: &[
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
    ],
};

pub(crate) static LEVEL: Words = Words {
    name: "Level",
    what: "log level",
    about: "How serious a log message must be, as of RFC 5424.",
    words: || LogLevel::ALL.map(|(name, _)| name).to_vec(),
    meanings: &[],
};
