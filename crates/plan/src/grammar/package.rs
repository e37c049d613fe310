//! `package`: what a server is, in the words of the MCP registry. It is read by
//! `jelly_package`, which knows these keys too.

use super::mapping::{Key, Kind, Mapping, Rule, Words, mapping};
use jelly_package::Format;

mapping! {
    /// A package of the MCP registry, as in its server.json, of any date and in
    /// either casing.
    PACKAGE = "Package", "" {
        /// Where it comes from: npm, pypi, oci or nuget.
        registry: Kind::Word;
        /// The same as registry.
        registryType: Kind::Word;
        /// The same as registry, as of 2025-07-09.
        registry_type: Kind::Word;
        /// The same as registry, as of May 2025.
        registry_name: Kind::Word;
        /// Its name there, as in @modelcontextprotocol/server-filesystem, or a
        /// whole image reference.
        identifier: Kind::Word;
        /// The same as identifier, as of May 2025.
        name: Kind::Word;
        /// The version to start, such as 1.2.3.
        version: Kind::Word;
        /// What starts it: npx, bunx, uvx, pipx, docker, podman, dnx, ….
        runtime_hint: Kind::Word, camel;
        /// Where the registry is, if not in its usual place.
        registry_base_url: Kind::Word, camel;
        /// Digest of the file that a launcher fetches; jelly fetches none itself.
        file_sha256: Kind::Word, camel;
        /// Arguments of what starts it.
        runtime_arguments: Kind::List(&Kind::Mapping(&ARGUMENT), 0), camel;
        /// Arguments of the server.
        package_arguments: Kind::List(&Kind::Mapping(&ARGUMENT), 0), camel;
        /// Variables that it reads.
        environment_variables: Kind::List(&Kind::Mapping(&VARIABLE), 0), camel;
        /// How clients connect to it: stdio, or by the server's url.
        transport: Kind::Anything;
    }
}

mapping! {
    /// An argument of a package, or of what starts it.
    ARGUMENT = "Argument", "" {
        /// Whether it is named, or known by its position.
        type: Kind::Choice(&ARGUMENT_KIND);
        /// The flag, with its dashes.
        name: Kind::Word;
        /// What a positional argument is called.
        value_hint: Kind::Word, camel;
        /// Whether it can be repeated.
        is_repeated: Kind::Flag, camel;
        /// Values for the names in braces in value.
        variables: Kind::ByName(&Kind::Mapping(&INPUT), 0);
    }
    shared INPUT;
}

mapping! {
    /// A variable of the environment that a package reads.
    VARIABLE = "Variable", "" {
        /// Name, such as API_KEY.
        name: Kind::Word, required "it needs a `name`" "";
        /// Values for the names in braces in value.
        variables: Kind::ByName(&Kind::Mapping(&INPUT), 0);
    }
    shared INPUT;
}

mapping! {
    /// What is to be filled in.
    INPUT = "Input", "" {
        /// What it is for.
        description: Kind::Word;
        /// Whether the server cannot start without it.
        is_required: Kind::Flag, camel;
        /// Whether it must not be shown.
        is_secret: Kind::Flag, camel;
        /// What a value looks like.
        format: Kind::Choice(&FORMAT);
        /// A fixed value; a name in braces is one of the variables.
        value: Kind::Word;
        /// The value if none is given.
        default: Kind::Word;
        /// An example of a value.
        placeholder: Kind::Word;
        /// The only allowed values.
        choices: Kind::List(&Kind::Word, 0);
    }
}

static ARGUMENT_KIND: Words = Words {
    name: "Kind",
    what: "",
    about: "How an argument is known.",
    words: || vec!["named", "positional"],
    meanings: &["By its flag.", "By its place."],
};

static FORMAT: Words = Words {
    name: "Format",
    what: "",
    about: "What a value looks like.",
    words: || Format::ALL.map(Format::name).to_vec(),
    meanings: &[
        "Any text.",
        "A decimal number.",
        "true or false.",
        "A path.",
    ],
};
