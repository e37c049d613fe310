//! What was typed after `jelly mock`, and the script it amounts to.

use super::fault::{Fault, FaultError};
use super::interpolate;
use super::script::{self, ScriptError};
use super::spec::{Eras, Response, Script, Template, Tool, UnknownMethods};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A scriptable MCP server over stdio that fails on demand.
///
/// Without a script it is healthy and offers the tools echo, add, fail,
/// sleep, crash, counter, env and noise. A fault is written
/// `KIND[@PHASE][=VALUE]`, as in `exit@call:2=7`; --list-faults shows them all.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct MockArgs {
    /// Definition of the server, as YAML; flags override it or add to it
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// Inject a fault; can be repeated
    #[arg(long = "fault", value_name = "KIND[@PHASE][=VALUE]", value_parser = parse_fault)]
    pub faults: Vec<Fault>,

    /// List every fault with its values and phases
    #[arg(long)]
    pub list_faults: bool,

    /// Eras of MCP that the server speaks
    #[arg(long, value_enum)]
    pub era: Option<Eras>,

    /// Add a tool that answers with a text; ${args.NAME} is replaced; can be repeated
    #[arg(long = "tool", value_name = "NAME=TEXT", value_parser = parse_tool)]
    pub tools: Vec<(String, String)>,

    /// Serve the files below a directory, which must exist
    #[arg(long, value_name = "DIR")]
    pub files: Option<String>,

    /// Line to write to stderr at startup
    #[arg(long, value_name = "TEXT")]
    pub stderr: Option<String>,

    /// Random seed
    #[arg(long)]
    pub seed: Option<u64>,

    /// Count starts across processes in this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// Count calls across processes too
    #[arg(long, requires = "state")]
    pub persist: bool,

    /// Inject faults only in the first N starts
    #[arg(long, value_name = "N", requires = "state")]
    pub faulty_starts: Option<u64>,

    /// Number of tools per page of tools/list
    #[arg(long, value_name = "N")]
    pub page_size: Option<usize>,

    /// Check arguments against the input schema
    #[arg(long)]
    pub validate: bool,

    /// Response to unknown methods
    #[arg(long, value_enum, value_name = "RESPONSE")]
    pub unknown_methods: Option<UnknownMethods>,

    /// Makes this process the stubborn child of a mock (the fault `grandchild`)
    #[arg(long, hide = true, value_name = "PIDFILE")]
    pub stubborn_child: Option<String>,

    /// The stubborn child leaves its session first
    #[arg(long, hide = true, requires = "stubborn_child")]
    pub setsid: bool,
}

fn parse_fault(text: &str) -> Result<Fault, FaultError> {
    text.parse()
}

fn parse_tool(text: &str) -> Result<(String, String), String> {
    let (name, answer) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or("write a tool as NAME=TEXT")?;
    interpolate::check(&json!(answer))?;
    Ok((name.to_owned(), answer.to_owned()))
}

impl MockArgs {
    /// The script with what the flags say over it.
    ///
    /// # Errors
    /// The script can't be read, or it and the flags don't go together.
    pub fn resolve(&self) -> Result<Script, ScriptError> {
        let mut script = match &self.script {
            Some(path) => script::load(path)?,
            None => Script::default(),
        };
        // A tool by flag joins those that are there; it does not replace them.
        let bare = script.tools.is_empty() && script.files.is_none() && self.files.is_none();
        script.builtins = script.builtins.or(Some(bare));
        script.faults.extend(self.faults.iter().cloned());
        script
            .tools
            .extend(self.tools.iter().map(|(name, text)| text_tool(name, text)));
        script.era = self.era.unwrap_or(script.era);
        script.unknown_methods = self.unknown_methods.unwrap_or(script.unknown_methods);
        script.files = self.files.clone().or(script.files);
        script.stderr = self.stderr.clone().or(script.stderr);
        script.seed = self.seed.or(script.seed);
        script.state_file = self.state.clone().or(script.state_file);
        script.faulty_starts = self.faulty_starts.or(script.faulty_starts);
        script.page_size = self.page_size.or(script.page_size);
        script.persist |= self.persist;
        script.validate |= self.validate;
        script.check().map_err(ScriptError::Invalid)?;
        Ok(script)
    }
}

/// A tool that takes anything and answers with one text; what that names of its
/// arguments, it lists.
fn text_tool(name: &str, text: &str) -> Tool {
    let pieces = text.split("${args.").skip(1);
    let names = pieces.filter_map(|piece| piece.split(['.', '}']).next());
    let arguments: serde_json::Map<_, _> = names.map(|name| (name.to_owned(), json!({}))).collect();
    let mut input_schema = json!({"type": "object"});
    if !arguments.is_empty() {
        input_schema["properties"] = arguments.into();
    }
    Tool {
        name: name.to_owned(),
        description: None,
        input_schema,
        output_schema: None,
        annotations: None,
        responses: vec![Response {
            text: Some(Template(Value::String(text.to_owned()))),
            ..Response::default()
        }],
        cycle: false,
    }
}

#[cfg(test)]
mod tests {
    use super::MockArgs;
    use crate::spec::Eras;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        mock: MockArgs,
    }

    fn parse(args: &[&str]) -> Result<MockArgs, String> {
        Cli::try_parse_from(std::iter::once(&"mock").chain(args))
            .map(|cli| cli.mock)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn flags_win_over_the_script_and_faults_add_up() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.yaml");
        std::fs::write(&path, "era: legacy\nseed: 1\nfaults: [junk]\n").unwrap();
        let path = path.to_string_lossy().into_owned();
        let args = parse(&["--script", &path, "--era", "modern", "--fault", "hang"]).unwrap();
        let script = args.resolve().unwrap();
        assert_eq!(script.era, Eras::Modern);
        assert_eq!(script.seed, Some(1));
        assert_eq!(script.faults.len(), 2);
    }

    #[test]
    fn a_bad_fault_is_refused_with_what_was_meant() {
        let error = parse(&["--fault", "exot@call"]).unwrap_err();
        assert!(error.contains("did you mean `exit`"), "{error}");
        assert!(parse(&["--tool", "nameless"]).is_err());
        assert!(parse(&["--tool", "a=${nope}"]).is_err());
        assert!(parse(&["--persist"]).is_err());
    }

    #[test]
    fn two_tools_of_one_name_do_not_go_together() {
        let args = parse(&["--tool", "a=1", "--tool", "a=2"]).unwrap();
        assert!(
            args.resolve()
                .unwrap_err()
                .to_string()
                .contains("two tools")
        );
    }
}
