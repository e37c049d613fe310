//! `servers`.

use super::mapping::{Key, Kind, Mapping, Rule, Words, mapping};
use super::package::PACKAGE;
use super::step::ANSWER;
use crate::ALGORITHMS;
use jelly_base::mcp::REVISIONS;

mapping! {
    /// A server: one that is started (`command` or `package`), one that is
    /// reached over HTTP (`url`), or both.
    SERVER = "Server", "a server" {
        /// What is started: one word, looked for on PATH, and never a line for a
        /// shell.
        command: Kind::Filled, also "cmd";
        /// Its arguments.
        args: Kind::List(&Kind::Word, 0), also "arguments";
        /// Variables of its environment, besides those that are inherited.
        env: Kind::ByName(&Kind::Word, 0), also "environment";
        /// The folder that it is started in; the project folder if left out.
        cwd: Kind::Word, also "workdir working_directory";
        /// The package that is started; beside a `command`, what that takes.
        package: Kind::Mapping(&PACKAGE);
        /// Values for the package's arguments, by the name of the flag or the hint
        /// of the positional argument.
        package_args: Kind::ByName(&Kind::Anything, 0);
        /// Where it is reached over Streamable HTTP.
        url: Kind::Url;
        /// Headers of every request.
        headers: Kind::ByName(&Kind::Word, 0);
        /// How to get the tokens that it wants.
        auth: Kind::Named("Auth", "How to get tokens.", &Kind::Either(&[
            ("What `jelly login` has left.", Kind::Choice(&LOGIN)),
            ("Without a person.", Kind::Mapping(&AUTH)),
        ])), also "oauth authorization";
        /// Pins the era instead of finding it out.
        era: Kind::Choice(&ERA);
        /// Pins the revision of the protocol.
        protocol: Kind::Choice(&REVISION);
        /// Whether its messages are held against the specification; as the plan
        /// says if left out.
        wire: Kind::Choice(&WIRE);
        /// Whether structured outputs are read out of text where it sends none.
        /// Default: true.
        adapt: Kind::Flag;
        /// What the client declares, as in { sampling: {} }. If left out, what
        /// follows from the answers.
        capabilities: Kind::ByName(&Kind::AnyMap, 0);
        /// What the client answers when the server asks something of it, as often
        /// as asked.
        answers: Kind::List(&Kind::Mapping(&ANSWER), 0);
        /// How long it may take to become ready. Default: 30s.
        startup_timeout: Kind::Time;
        /// How long it may take to answer a request. Default: 30s.
        request_timeout: Kind::Time;
        /// How long it may take to end when it is asked to. Default: 2s.
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
        /// For a machine that shows a secret or a key.
        client_credentials: Kind::Mapping(&CLIENT_CREDENTIALS);
        /// For a job whose platform vouches for it.
        workload: Kind::Mapping(&WORKLOAD);
        /// URL of the authorization server that the client is registered with.
        issuer: Kind::Word;
        /// URL of its token endpoint, where that is on another host: the client is
        /// shown nowhere else.
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
    /// A client that shows who it is.
    CLIENT_CREDENTIALS = "ClientCredentials", "`client_credentials`" {
        /// The name that it is registered under.
        client_id: Kind::Word, required "a client needs a `client_id`" "", also "id";
        /// What it shows, as in ${secret:CLIENT_SECRET}.
        client_secret: Kind::Secret, also "secret";
        /// What it signs with, as in ${secret:PRIVATE_KEY}.
        private_key: Kind::Secret, also "key";
        /// How it signs; by the kind of key if left out.
        algorithm: Kind::Choice(&ALGORITHM), also "alg";
        /// Which of its keys it signs with.
        key_id: Kind::Word, also "kid";
        /// What the token is to allow.
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
    /// A job whose platform says who it is.
    WORKLOAD = "Workload", "`workload`" {
        /// The name that it is registered under.
        client_id: Kind::Word, required "a client needs a `client_id`" "";
        /// What the platform has made out for it, as in ${secret:ID_TOKEN}.
        token: Kind::Secret,
            required "a workload needs the `token` of its platform"
                "as in `token: \"${secret:TOKEN}\"`",
            also "assertion id_token";
        /// What the token is to allow.
        scopes: Kind::List(&Kind::Word, 0);
    }
    hints {
        "scope" => "write `scopes: [A, B]`",
    }
}

mapping! {
    /// An error of JSON-RPC.
    RPC_ERROR = "RpcError", "an error" {
        /// As in -32602.
        code: Kind::Integer,
            required "an error needs a `code`, a whole number"
                "as in `error: { code: -1, message: declined }`";
        /// In words.
        message: Kind::Text;
        /// Whatever else there is to say.
        data: Kind::Anything;
    }
}

pub(crate) static WIRE: Words = Words {
    name: "Wire",
    what: "wire",
    about: "Whether messages are held against the specification.",
    words: || vec!["strict", "lenient"],
    meanings: &["They are.", "They are not."],
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
