//! `setup`, `steps` and `teardown`.

use super::http::HTTP;
use super::mapping::{Key, Kind, Mapping, Rule, Words, mapping};
use super::operators::Target;
use super::server::{ERA, PROGRESS, RPC_ERROR};
use crate::LogLevel;
use jelly_base::mcp::ListKind;

mapping! {
    /// One request to one server, and what is expected of the answer. The request
    /// is exactly one of `tool`, `list`, `read`, `prompt`, `request`,
    /// `complete`, `subscribe`, `unsubscribe`, `raw`, `raw_base64` and `http`.
    STEP = "Step", "a step" {
        /// Unique in the plan. Default: derived from the request.
        id: Kind::Name("an id");
        /// Name in reports. Default: the id.
        name: Kind::Text;
        /// Name of the server. May be left out if there is only one.
        server: Kind::Name("a server's name");
        /// Calls the tool of this name, with `args`.
        tool: Kind::ForeignName("a tool's name"), also "call";
        /// Lists all pages of these.
        list: Kind::Choice(&LIST);
        /// Reads the resource of this URI.
        read: Kind::Filled, also "resource";
        /// Gets the prompt of this name, with `args`.
        prompt: Kind::ForeignName("a prompt's name");
        /// Sends one request of this method, with `args` as its parameters.
        request: Kind::Name("a method's name"), also "method";
        /// Asks for completions of an argument; `args` has the arguments that are
        /// already known.
        complete: Kind::Mapping(&COMPLETE), also "completion";
        /// Subscribes to changes.
        subscribe: Kind::Named(
            "Subscribe", "What to subscribe to: the URI of a resource, or several things.",
            &Kind::Either(&[
                ("The URI of a resource.", Kind::Filled),
                ("Several things.", Kind::Mapping(&SUBSCRIPTION)),
            ]),
        ), also "listen";
        /// Ends the subscription of the step with this id.
        unsubscribe: Kind::Name("the id of a step");
        /// Sends a plain HTTP request to the host of a server with a URL.
        http: Kind::Mapping(&HTTP);
        /// Sends this line unchanged.
        raw: Kind::Text;
        /// Sends these bytes unchanged.
        raw_base64: Kind::Base64;
        /// Arguments by name; for `request`, any JSON. Text may contain variables.
        args: Kind::Anything, also "arguments params input";
        /// Calls of tools that are sent at the same time as the step's own. Each must
        /// be answered; only the step's own answer is held against `expect`.
        at_once: Kind::List(&Kind::Mapping(&AT_ONCE), 1), also "concurrent parallel";
        /// What the client answers if the server asks it something during this
        /// step, in this order, once each.
        answers: Kind::List(&Kind::Mapping(&ANSWER), 0);
        /// What the answer must be. Without it, the step fails on a protocol
        /// error, on isError: true, and on output that breaks its declared
        /// schema.
        expect: Kind::Mapping(&EXPECT), also "assert asserts";
        /// Values of the answer to keep, by the name of a variable for later steps.
        capture: Kind::ByName(&Kind::JsonPath, 0), also "save";
        /// Tags for --only and --skip.
        tags: Kind::List(&Kind::Word, 0), also "tag";
        /// Steps, by id, that must have passed. If one did not, this one is skipped.
        needs: Kind::List(&Kind::Name("the id of a step"), 1), also "depends_on";
        /// What must be there for the step: secret:NAME, env:NAME or command:NAME.
        /// If it is not, the step fails, or is skipped under --skip-missing.
        requires: Kind::List(&Kind::Name("a requirement"), 1), also "require";
        /// When the step runs. If this does not hold, it is skipped.
        if: Kind::Mapping(&CONDITION), also "when condition";
        /// Runs the step once for each entry, with its variables set. An entry's
        /// `name`, otherwise its index, becomes part of the id, as in write[long].
        cases: Kind::List(&Kind::ByName(&Kind::Anything, 1), 1),
            also "parametrize parameters table each";
        /// Repeats the request until the expected answer comes.
        until: Kind::Mapping(&UNTIL), also "wait_for poll";
        /// Timeout for the request. Default: the server's request_timeout.
        timeout: Kind::Time;
        /// Whether progress restarts the timeout. Default: as the server says.
        progress: Kind::Choice(&PROGRESS);
        /// The longest that the request may take where progress extends its timeout.
        /// Default: the server's total_timeout.
        total_timeout: Kind::Time, also "max_total_timeout";
        /// Asks the server for log messages of this level and above.
        log_level: Kind::Choice(&LEVEL), also "loglevel";
        /// Cancels the request this long after it was sent. The step passes if no
        /// answer comes and the server stays alive.
        cancel_after: Kind::Time, also "cancel";
        /// How long to wait for an answer that must not come after `cancel_after`.
        /// Default: 500ms.
        quiet_for: Kind::Time;
        /// Sends the request with no parameters but `args`: without what the era adds;
        /// `http` without the headers and the token of its server.
        bare: Kind::Flag;
    }
    rule Rule::OneRequest(&[
        &["tool"], &["list"], &["read"], &["prompt"], &["request"], &["complete"],
        &["subscribe"], &["unsubscribe"], &["raw"], &["raw_base64"], &["http"],
    ], "request");
    hints {
        "notifications" => "they belong in `expect`",
        "retries" => "retries are a budget of the plan: `budgets`",
    }
}

mapping! {
    /// A call that is sent together with the step's own, on the same session.
    AT_ONCE = "AtOnce", "a call" {
        /// The tool that is called.
        tool: Kind::ForeignName("a tool's name"),
            required "a call needs a `tool`" "as in `at_once: [{ tool: count }]`", also "call name";
        /// Its arguments by name.
        args: Kind::AnyMap, also "arguments params input";
    }
    hints {
        "expect" => "it must be answered, be it with an error; what else is expected needs a step",
        "server" => "it is a call to the step's own server",
    }
}

mapping! {
    /// When a step runs: all of it must hold. Nothing here depends on what a
    /// server answers.
    CONDITION = "Condition", "`if`" {
        /// The system that jelly runs on is this, or one of these.
        platform: Kind::Named("Platforms", "A platform, or several.", &Kind::Either(&[
            ("This one.", Kind::Choice(&PLATFORMS)),
            ("One of these.", Kind::List(&Kind::Choice(&PLATFORMS), 1)),
        ])), also "os";
        /// The step's server is pinned to this era, by `era`, `protocol` or the
        /// matrix.
        era: Kind::Choice(&ERA);
        /// The variables of these names have these values.
        vars: Kind::ByName(&Kind::Anything, 1), also "var variables";
    }
    rule Rule::NotEmpty;
    hints {
        "env" => "give it to a variable, as in `vars: { CI: \"${env:CI}\" }`, and ask for that",
        "capabilities tools answer" => "whether a step runs never depends on what a server says",
    }
}

mapping! {
    /// The expected answer. The request is repeated until it comes.
    UNTIL = "Until", "`until`" {
        /// What the answer must be: `text`, `json`, `structured`, `is_error` and
        /// `error`; of `http`, `status`, `headers`, `text` and `json`.
        expect: Kind::Mapping(&EXPECT),
            required "`until` needs an `expect`" "as in `until: { expect: { text: { contains: done } } }`";
        /// How long to wait between requests. Default: 500ms.
        every: Kind::Time, also "interval";
        /// How long to repeat the request. Default: 30s.
        for: Kind::Time, also "timeout within";
    }
    hints {
        "text json structured is_error error status headers" => "put it into `expect`",
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
        /// What has been typed so far.
        value: Kind::Text;
    }
    rule Rule::OneOf(&[&["prompt"], &["resource"]]);
    hints {
        "context" => "the arguments that are known go into the step's `args`",
    }
}

mapping! {
    /// Several things to subscribe to.
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
    /// An answer to a request of the server.
    ANSWER = "Answer", "an answer" {
        /// Method of the request: roots/list, sampling/createMessage or
        /// elicitation/create.
        method: Kind::Name("a method's name"),
            required "an answer needs a `method`"
                "it is one of `roots/list`, `sampling/createMessage`, `elicitation/create`",
            also "request";
        /// What must hold of the params of the request.
        expect: Kind::List(&Kind::PathOperators, 0);
        /// The result to answer with.
        result: Kind::AnyMap, also "response give";
        /// The error to answer with.
        error: Kind::Mapping(&RPC_ERROR);
        /// Accepts an elicitation with the defaults of its schema.
        accept_defaults: Kind::True;
        /// The step passes even if the server does not ask. Only at a step.
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
        /// The result's `isError`. true also expects the error.
        is_error: Kind::Flag, also "isError";
        /// All text blocks, joined by newlines.
        text: Kind::Operators(Target::Text);
        /// Parts of the whole result.
        json: Kind::List(&Kind::PathOperators, 1);
        /// The structured output; if the server sends none, it is read from the
        /// text.
        structured: Kind::Operators(Target::Structured),
            also "structuredContent structured_content";
        /// Expects an error; {} for any.
        error: Kind::Mapping(&ERROR_EXPECT);
        /// How long the answer took: a time, as in `lt: 5s`, or milliseconds.
        duration: Kind::Operators(Target::Duration), also "time";
        /// What the server wrote on stderr during the step.
        stderr: Kind::Operators(Target::Stderr);
        /// Notifications that the server must send, or must not.
        notifications: Kind::List(&Kind::Mapping(&NOTIFICATION), 1),
            also "notification";
        /// Of `http`: the status, as in 200, or operators. Default: any from 200 to 299.
        status: Kind::Named("Status", "A status, or operators on it.", &Kind::Either(&[
            ("Exactly this one.", Kind::Integer),
            ("Operators.", Kind::Operators(Target::Status)),
        ])), also "status_code";
        /// Of `http`: headers, by name in any case.
        headers: Kind::ByName(&Kind::Operators(Target::Header), 1), also "header";
    }
    hints {
        "body" => "did you mean `text`, or `json` with a path?",
        "content" => "did you mean `text`, or `json` with a path?",
        "result" => "did you mean `json` with a path?",
        "equals" => "name the target, as in `text: { equals: … }`",
        "contains" => "name the target, as in `text: { contains: … }`",
        "matches" => "name the target, as in `text: { matches: … }`",
    }
}

mapping! {
    /// An error of JSON-RPC, or the text of a tool that says isError.
    ERROR_EXPECT = "ErrorExpect", "`error`" {
        /// A code such as -32602, or operators.
        code: Kind::Named("ErrorCode", "A code, or operators on it.", &Kind::Either(&[
            ("Exactly this one.", Kind::Integer),
            ("Operators.", Kind::Operators(Target::ErrorCode)),
        ]));
        /// Operators on the message.
        message: Kind::Operators(Target::ErrorMessage);
    }
}

mapping! {
    /// A notification that must come, or must not.
    NOTIFICATION = "Notification", "a notification" {
        /// Such as notifications/progress.
        method: Kind::Name("a method's name"),
            required "a notification needs a `method`" "as in `method: notifications/progress`";
        /// How long to wait for it after the answer. Default: the step's timeout.
        within: Kind::Time, also "timeout";
        /// What must hold of its params; one that does not match is not counted.
        json: Kind::List(&Kind::PathOperators, 1), also "expect";
        /// How many must come. Default: at least one.
        count: Kind::Named("Count", "A number, or operators on it.", &Kind::Either(&[
            ("Exactly so many.", Kind::Count(1)),
            ("Operators.", Kind::OperatorMap(Target::Count)),
        ])), also "times";
        /// None must come.
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

pub(crate) static PLATFORMS: Words = Words {
    name: "Platform",
    what: "platform",
    about: "A system that jelly runs on.",
    words: || vec!["linux", "macos"],
    meanings: &[],
};

pub(crate) static LEVEL: Words = Words {
    name: "Level",
    what: "log level",
    about: "How serious a log message must be, as of RFC 5424.",
    words: || LogLevel::ALL.map(|(name, _)| name).to_vec(),
    meanings: &[],
};
