//! Programs that run what their arguments name, and the words that say where it stands.
//!
//! One list for what several readers of command lines know. Each walks the words in its
//! own way, as strictly as it has to, and adds what it alone takes for such a word.
//!
//! Source: each program's own manual, as of November 2026.

use super::WordList;

/// Interpreters of JavaScript.
pub const NODES: WordList = WordList("node nodejs tsx ts-node bun deno");

/// Their flags that take the code itself.
pub const NODE_CODE: WordList = WordList("-e --eval -p --print");

/// Flags of Node and Python whose value is the argument behind them.
pub const VALUED_FLAGS: WordList = WordList(
    "-r --require --import --loader --experimental-loader -C --conditions --env-file \
     --env-file-if-exists --inspect-port --stack-trace-limit --title -W -X",
);

/// What runs the scripts of a `package.json`.
pub const SCRIPT_RUNNERS: WordList = WordList("npm pnpm yarn");

/// What else runs a project by a manifest in the folder that it is called in.
pub const PROJECT_RUNNERS: WordList = WordList(
    "bun bundle cargo composer deno dotnet go gradle hatch just make mvn pdm pipenv poetry rake \
     task uv",
);

/// Interpreters whose first argument, if it is no flag, is a file or folder, besides those of
/// JavaScript.
pub const INTERPRETERS: WordList =
    WordList("python python3 ruby perl php java lua luajit Rscript julia sh bash zsh dash");

/// How the names of files end that an interpreter runs.
pub const SCRIPT_ENDINGS: WordList = WordList("bash cjs cts jar js lua mjs mts php pl py rb sh ts");

/// What fetches packages of Python at each start.
pub const PYTHON_LAUNCHERS: WordList = WordList("uvx pipx uv");

/// Other interpreters, shells and tools whose arguments name the program.
pub const OTHER_LAUNCHERS: WordList = WordList(
    "ruby perl php java dotnet go cargo lua luajit Rscript julia elixir mix sh bash zsh dash fish \
     pwsh powershell cmd env sudo nice nohup timeout npx pnpx bunx bundle rake poetry pdm hatch rye \
     pipenv conda mamba micromamba make just task docker podman nerdctl nix mise volta fnm asdf wsl",
);

/// Flags with the folder that other words are relative to.
pub const FOLDER_FLAGS: WordList = WordList("--directory --project --cwd --prefix -C");

/// Flags of containers with a value that is not the image.
pub const CONTAINER_FLAGS: WordList = WordList(
    "-e --env --env-file -v --volume --mount --name --network --net -p --publish -u --user -w \
     --workdir --pull --platform -l --label -m --memory --cpus --add-host -h --hostname",
);

/// Variables with folders that code is loaded from.
pub const LOAD_PATHS: WordList = WordList("PYTHONPATH NODE_PATH RUBYLIB PERL5LIB CLASSPATH");

/// Variables that may have code loaded before any other.
pub const LOADERS: WordList = WordList(
    "NODE_OPTIONS BASH_ENV LD_PRELOAD DYLD_INSERT_LIBRARIES JAVA_TOOL_OPTIONS RUBYOPT PERL5OPT",
);

/// The word of a command that has to stand in the working directory for the command to work:
/// a program or script by its relative path, or what runs the project of the folder that it is
/// called in. A folder that is made anew has neither.
pub fn started_from_its_folder<'c>(program: &'c str, first: Option<&'c str>) -> Option<&'c str> {
    let is_relative =
        |word: &str| !word.starts_with(['/', '$', '-', '~', '\\']) && !word.contains(':');
    let name = program.rsplit('/').next().unwrap_or(program);
    if program.contains('/') && is_relative(program) {
        return Some(program);
    }
    let interprets = NODES.has(name) || INTERPRETERS.has(name);
    if let Some(script) = first.filter(|word| interprets && is_relative(word)) {
        return Some(script);
    }
    (SCRIPT_RUNNERS.has(name) || PROJECT_RUNNERS.has(name)).then_some(program)
}

#[cfg(test)]
mod tests {
    use super::started_from_its_folder;

    #[test]
    fn what_a_command_needs_in_its_folder_is_told() {
        for (program, first, needed) in [
            ("node", Some("dist/index.js"), Some("dist/index.js")),
            ("/usr/bin/python3", Some("server.py"), Some("server.py")),
            ("./run", None, Some("./run")),
            ("npm", Some("start"), Some("npm")),
            ("python3", Some("-m"), None),
            ("node", Some("/opt/server.js"), None),
            ("node", Some("C:\\server.js"), None),
            ("/opt/server", Some("data"), None),
            ("npx", Some("-y"), None),
        ] {
            assert_eq!(started_from_its_folder(program, first), needed, "{program}");
        }
    }
}
