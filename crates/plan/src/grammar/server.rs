//! `servers`.

use super::mapping::{Key, Kind, Mapping, Rule, Words, mapping};
use super::package::PACKAGE;
use super::startup::STARTUP;
use super::step::ANSWER;
use crate::ALGORITHMS;
use jelly_base::mcp::REVISIONS;

mapping! {
    /// A server: one that is started (`command` or `package`), one that is
    /// reached over HTTP (`url`), or both.
    SERVER = "Server", "a server" {
        /// The program to start: one word, looked up on the PATH, or a path, which
        /// begins at `cwd`; never a shell command line.
        command: Kind::Filled, also "cmd";
        /// Its arguments.
        args: Kind::List(&Kind::Word, 0), also "arguments";
        /// Environment variables, in addition to the inherited ones.
        env: Kind::ByName(&Kind::Word, 0), also "environment";
        /// Working directory. Default: the project folder.
        cwd: Kind::Word, also "workdir working_directory";
        /// The package to start. Beside `command`, it only says which arguments
        /// that takes.
        package: Kind::Mapping(&PACKAGE);
        /// Values of the package's arguments, by the name of the flag or the hint of
        /// the positional argument.
        package_args: Kind::ByName(&Kind::Anything, 0);
        /// URL of its Streamable HTTP or HTTP+SSE endpoint.
        url: Kind::Url;
        /// Headers of every request. Their values appear in no output.
        headers: Kind::ByName(&Kind::Word, 0);
        /// How to get the tokens that it requires.
        auth: Kind::Named("Auth", "How to get tokens.", &Kind::Either(&[
            ("What `jelly login` has stored.", Kind::Choice(&LOGIN)),
            ("Without a person.", Kind::Mapping(&AUTH)),
        ])), also "oauth authorization";
        /// Pins the era. Default: detected.
        era: Kind::Choice(&ERA);
        /// Pins the revision of the protocol. Default: detected.
        protocol: Kind::Choice(&REVISION);
        /// Whether its messages are checked against the specification. Default: as
        /// the plan says.
        wire: Kind::Choice(&WIRE);
        /// Whether structured output is read from text if it sends none.
        /// Default: true.
        adapt: Kind::Flag;
        /// Capabilities that the client declares, as in { sampling: {} }. Default:
        /// those that the answers need.
        capabilities: Kind::ByName(&Kind::AnyMap, 0);
        /// What the client answers if the server asks it something, as often as it
        /// asks.
        answers: Kind::List(&Kind::Mapping(&ANSWER), 0);
        /// What must hold as it starts, or that it must not.
        startup: Kind::Mapping(&STARTUP), also "on_start start";
        /// What must be there for all of its steps; see the step's `requires`.
        requires: Kind::List(&Kind::Name("a requirement"), 1), also "require";
        /// Timeout for becoming ready. Default: 30s.
        startup_timeout: Kind::Time;
        /// How long to wait for a version that npx, uvx or pipx does not find yet, for
        /// example after a release: the start is retried until then.
        wait_for_package: Kind::Time;
        /// Timeout for a request. Default: 30s.
        request_timeout: Kind::Time;
        /// Whether progress that it reports restarts the timeout of a request.
        /// Default: ignored.
        progress: Kind::Choice(&PROGRESS);
        /// The longest that a request may take where progress extends its timeout.
        /// Default: 10m.
        total_timeout: Kind::Time, also "max_total_timeout";
        /// Timeout for exiting after its stdin is closed, and again after SIGTERM.
        /// Default: 2s.
        shutdown_timeout: Kind::Time;
    }
    rule Rule::AnyOf(&["command", "package", "url"]);
    hints {
        "timeout" => "say which: `startup_timeout`, `request_timeout` or `shutdown_timeout`",
        "type transport" => "leave it out: `url` means HTTP, and `command` alone stdio",
        "wire_check" => "write `wire: strict`",
        "roots" => "write `answers: [{ method: roots/list, result: { roots: […] } }]`",
        "argv" => "the first word goes into `command`, the others into `args`",
        "package_arguments packageArguments" =>
            "the definitions stand below `package`, the values in `package_args`",
    }
}

mapping! {
    /// Tokens without a person.
    AUTH = "Grant", "`auth`" {
        /// For a client with a secret or a key.
        client_credentials: Kind::Mapping(&CLIENT_CREDENTIALS);
        /// For a job whose platform vouches for it.
        workload: Kind::Mapping(&WORKLOAD);
        /// URL of the authorization server that the client is registered with.
        issuer: Kind::Word;
        /// URL of its token endpoint, if that is on another host. The client's proof
        /// is sent to no other.
        token_endpoint: Kind::Word, also "token_url";
    }
    rule Rule::OneOf(&[&["client_credentials", "issuer"], &["workload"]]);
    hints {
        "login" => "write `auth: login`",
        "token bearer" => "a token that is there already goes into \
            `headers: { Authorization: \"Bearer ${secret:TOKEN}\" }`",
        "client_id client_secret" => "put it under `client_credentials`",
        "scopes" => "put them under `client_credentials`",
    }
}

mapping! {
    /// A client with a secret or a key.
    CLIENT_CREDENTIALS = "ClientCredentials", "`client_credentials`" {
        /// ID that it is registered under.
        client_id: Kind::Word, required "a client needs a `client_id`" "", also "id";
        /// Its secret, as in ${secret:CLIENT_SECRET}.
        client_secret: Kind::Secret, also "secret";
        /// The key that it signs with (PEM), as in ${secret:PRIVATE_KEY}.
        private_key: Kind::Secret, also "key";
        /// Signature algorithm. Default: by the type of the key.
        algorithm: Kind::Choice(&ALGORITHM), also "alg";
        /// ID of the key.
        key_id: Kind::Word, also "kid";
        /// Scopes to request. Default: those that the server asks for.
        scopes: Kind::List(&Kind::Word, 0);
    }
    rule Rule::OneOf(&[&["client_secret"], &["private_key"]]);
    hints {
        "scope" => "write `scopes: [A, B]`",
        "issuer" => "put it beside `client_credentials`",
        "token_endpoint" => "put it beside `client_credentials`",
    }
}

mapping! {
    /// A job whose platform vouches for it.
    WORKLOAD = "Workload", "`workload`" {
        /// ID that it is registered under.
        client_id: Kind::Word, required "a client needs a `client_id`" "";
        /// The token that the platform issued to it, as in ${secret:ID_TOKEN}.
        token: Kind::Secret,
            required "a workload needs the `token` of its platform"
                "as in `token: \"${secret:TOKEN}\"`",
            also "assertion id_token";
        /// Scopes to request. Default: those that the server asks for.
        scopes: Kind::List(&Kind::Word, 0);
    }
    hints {
        "scope" => "write `scopes: [A, B]`",
    }
}

mapping! {
    /// An error of JSON-RPC.
    RPC_ERROR = "RpcError", "an error" {
        /// Code of the error, such as -32602.
        code: Kind::Integer,
            required "an error needs a `code`, a whole number"
                "as in `error: { code: -1, message: declined }`";
        /// Message of the error.
        message: Kind::Text;
        /// Any further data.
        data: Kind::Anything;
    }
}

pub(crate) static WIRE: Words = Words {
    name: "Wire",
    what: "wire",
    about: "Whether messages are checked against the specification.",
    words: || vec!["strict", "lenient"],
    meanings: &["They are.", "They are not."],
};

pub(crate) static PROGRESS: Words = Words {
    name: "Progress",
    what: "progress",
    about: "Whether progress that a server reports restarts a timeout.",
    words: || vec!["extends", "ignored"],
    meanings: &["It does, up to the `total_timeout`.", "It does not."],
};

pub(crate) static ERA: Words = Words {
    name: "Era",
    what: "era",
    about: "The two eras of the protocol.",
    words: || vec!["modern", "legacy"],
    meanings: &[
        "2026-07-28 and later: no handshake.",
        "2024-11-05 to 2025-11-25: initialize.",
    ],
};

pub(crate) static REVISION: Words = Words {
    name: "Revision",
    what: "revision",
    about: "A revision of the protocol.",
    words: || REVISIONS.iter().map(|revision| revision.name).collect(),
    meanings: &[],
};

pub(crate) static LOGIN: Words = Words {
    name: "Login",
    what: "way to get tokens",
    about: "",
    words: || vec!["login"],
    meanings: &["What `jelly login` has left."],
};

static ALGORITHM: Words = Words {
    name: "",
    what: "algorithm",
    about: "",
    words: || ALGORITHMS.to_vec(),
    meanings: &[],
};
