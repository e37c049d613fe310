//! `package`: what a server is, in the words of the MCP registry.

use super::parts::{Anything, Word};
use indexmap::IndexMap;
use schemars::JsonSchema;

/// A package of the MCP registry, as in its server.json, of any date and in
/// either casing.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "described, and never built")]
pub(super) struct Package {
    /// Where it comes from: npm, pypi, oci or nuget.
    registry: Option<Word>,
    /// The same as registry.
    #[schemars(rename = "registryType")]
    registry_type_camel: Option<Word>,
    /// The same as registry, as of 2025-07-09.
    registry_type: Option<Word>,
    /// The same as registry, as of May 2025.
    registry_name: Option<Word>,
    /// Its name there, as in @modelcontextprotocol/server-filesystem, or a
    /// whole image reference.
    identifier: Option<Word>,
    /// The same as identifier, as of May 2025.
    name: Option<Word>,
    /// The version that is started, as in 1.2.3.
    version: Option<Word>,
    /// What starts it, as in npx, bunx, uvx, pipx, docker, podman or dnx.
    runtime_hint: Option<Word>,
    /// The same as runtime_hint.
    #[schemars(rename = "runtimeHint")]
    runtime_hint_camel: Option<Word>,
    /// Where the registry is, if not in its usual place.
    registry_base_url: Option<Word>,
    /// The same as registry_base_url.
    #[schemars(rename = "registryBaseUrl")]
    registry_base_url_camel: Option<Word>,
    /// Of the file that a launcher fetches; jelly fetches none itself.
    file_sha256: Option<Word>,
    /// The same as file_sha256.
    #[schemars(rename = "fileSha256")]
    file_sha256_camel: Option<Word>,
    /// Arguments of what starts it.
    runtime_arguments: Option<Vec<Argument>>,
    /// The same as runtime_arguments.
    #[schemars(rename = "runtimeArguments")]
    runtime_arguments_camel: Option<Vec<Argument>>,
    /// Arguments of the server.
    package_arguments: Option<Vec<Argument>>,
    /// The same as package_arguments.
    #[schemars(rename = "packageArguments")]
    package_arguments_camel: Option<Vec<Argument>>,
    /// Variables that it reads.
    environment_variables: Option<Vec<Variable>>,
    /// The same as environment_variables.
    #[schemars(rename = "environmentVariables")]
    environment_variables_camel: Option<Vec<Variable>>,
    /// How it is talked to: stdio, or what the server's url says.
    transport: Option<Anything>,
}

/// An argument of a package, or of what starts it.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "described, and never built")]
struct Argument {
    /// Whether it is named, or known by its position.
    #[schemars(rename = "type")]
    kind: Option<Kind>,
    /// The flag, with its dashes.
    name: Option<Word>,
    /// What a positional argument is called.
    value_hint: Option<Word>,
    /// The same as value_hint.
    #[schemars(rename = "valueHint")]
    value_hint_camel: Option<Word>,
    /// Whether it may stand there several times.
    is_repeated: Option<bool>,
    /// The same as is_repeated.
    #[schemars(rename = "isRepeated")]
    is_repeated_camel: Option<bool>,
    /// Values for what stands in braces in value.
    variables: Option<IndexMap<String, Input>>,
    #[schemars(flatten)]
    input: Input,
}

/// How an argument is known.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "described, and never built")]
enum Kind {
    /// By its flag.
    Named,
    /// By its place.
    Positional,
}

/// A variable of the environment that a package reads.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "described, and never built")]
struct Variable {
    /// As in API_KEY.
    name: Word,
    /// Values for what stands in braces in value.
    variables: Option<IndexMap<String, Input>>,
    #[schemars(flatten)]
    input: Input,
}

/// What is to be filled in.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "described, and never built")]
struct Input {
    /// What it is for.
    description: Option<Word>,
    /// Whether nothing starts without it.
    is_required: Option<bool>,
    /// The same as is_required.
    #[schemars(rename = "isRequired")]
    is_required_camel: Option<bool>,
    /// Whether it must not be shown.
    is_secret: Option<bool>,
    /// The same as is_secret.
    #[schemars(rename = "isSecret")]
    is_secret_camel: Option<bool>,
    /// What a value looks like.
    format: Option<FormatSchema>,
    /// A value that is fixed; what stands in braces is one of the variables.
    value: Option<Word>,
    /// The value where none is given.
    default: Option<Word>,
    /// An example of a value.
    placeholder: Option<Word>,
    /// The only values there are.
    choices: Option<Vec<Word>>,
}

/// What a value looks like.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "described, and never built")]
#[schemars(rename = "Format")]
enum FormatSchema {
    /// Any text.
    String,
    /// A decimal number.
    Number,
    /// true or false.
    Boolean,
    /// A path.
    Filepath,
}
