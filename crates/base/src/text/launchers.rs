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

/// Programs that start the one that their arguments name, in the same place: each with its
/// flags whose value is the next word, and how many words of its own stand before that program.
const CARRIERS: &[(&str, WordList, usize)] = &[
    (
        "sudo",
        WordList(
            "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --close-from --role \
             --type --command-timeout --other-user --chdir --chroot",
        ),
        0,
    ),
    ("doas", WordList("-u -C"), 0),
    ("env", WordList("-u --unset -C --chdir"), 0),
    ("nice", WordList("-n --adjustment"), 0),
    ("ionice", WordList("-c -n --class --classdata"), 0),
    ("chrt", WordList("-T -P -D"), 1),
    ("taskset", WordList(""), 1),
    ("timeout", WordList("-k -s --kill-after --signal"), 1),
    ("stdbuf", WordList("-i -o -e --input --output --error"), 0),
    ("setsid", WordList(""), 0),
    ("nohup", WordList(""), 0),
    ("time", WordList("-f -o --format --output"), 0),
    (
        "flock",
        WordList("-w -E --timeout --wait --conflict-exit-code"),
        1,
    ),
    ("chroot", WordList(""), 1),
    (
        "dbus-run-session",
        WordList("--config-file --dbus-daemon"),
        0,
    ),
    (
        "xvfb-run",
        WordList(
            "-e -f -n -p -s -w --error-file --auth-file --server-num --xauth-protocol \
             --server-args --wait",
        ),
        0,
    ),
    ("caffeinate", WordList("-t -w"), 0),
    ("arch", WordList("-e -d"), 0),
    (
        "wsl",
        WordList("-d -u --distribution --user --cd --shell-type"),
        0,
    ),
    ("cmd", WordList(""), 0),
];

/// Where the program stands that is started in the end: behind `sudo -u me`, `timeout 30` and
/// others, which carry it. 0 where the first word is that program.
pub fn carried(words: &[impl AsRef<str>]) -> usize {
    let text = |at: usize| words.get(at).map(AsRef::as_ref);
    let mut at = 0;
    while let Some(carrier) = text(at) {
        let name = carrier.rsplit(['/', '\\']).next().unwrap_or(carrier);
        let name = name.trim_end_matches(".exe");
        let Some((_, valued, own)) = CARRIERS.iter().find(|(known, ..)| *known == name) else {
            break;
        };
        let mut next = at + 1;
        while let Some(word) = text(next) {
            let is_flag = word.starts_with('-') || name == "cmd" && word.starts_with('/');
            let is_set = matches!(name, "env" | "sudo" | "doas") && word.contains('=');
            match word {
                "--" => {
                    next += 1;
                    break;
                }
                flag if valued.has(flag) => next += 2,
                _ if is_flag || is_set => next += 1,
                _ => break,
            }
        }
        next += own;
        // It carries nothing.
        if next >= words.len() {
            break;
        }
        at = next;
    }
    at
}

/// What has to be in the working directory for a command to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeededThere<'c> {
    /// A program or script by its relative name.
    File(&'c str),
    /// The project that this program runs.
    ProjectOf(&'c str),
}

/// What a command needs in its working directory, so that one that is made anew is of no use.
/// Flags whose values are not known may hide it.
pub fn needed_there<'c>(program: &'c str, args: &[&'c str]) -> Option<NeededThere<'c>> {
    /// What follows these words of Bun and Deno is the script, if it is none of the project's.
    const RUNS: WordList = WordList("run start exec task serve");
    let is_relative =
        |word: &str| !word.starts_with(['/', '$', '-', '~', '\\']) && !word.contains(':');
    let is_path = |word: &str| {
        let ending = word.rsplit_once('.').map(|(_, ending)| ending);
        word.starts_with("./") || ending.is_some_and(|ending| SCRIPT_ENDINGS.has(ending))
    };
    if program.contains('/') && is_relative(program) {
        return Some(NeededThere::File(program));
    }
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let script = args
        .iter()
        .copied()
        .find(|word| is_relative(word) && is_path(word) && !word.contains(' '));
    if NODES.has(name) || INTERPRETERS.has(name) {
        let mut words = args.iter().copied();
        while let Some(word) = words.next() {
            match word {
                // Code may run anything, and so may a module, which is installed more often.
                "-c" | "-e" | "--eval" | "-p" | "--print" => break,
                "-m" if name.starts_with("python") => return None,
                "x" if name == "bun" => return None,
                "-jar" => {
                    return words
                        .next()
                        .filter(|it| is_relative(it))
                        .map(NeededThere::File);
                }
                flag if VALUED_FLAGS.has(flag) => {
                    words.next();
                }
                flag if flag.starts_with('-') => {}
                run if RUNS.has(run) && matches!(name, "bun" | "deno") => {}
                word => {
                    let is_script = is_path(word) || !matches!(name, "bun" | "deno");
                    return match (is_relative(word), is_script) {
                        (true, true) => Some(NeededThere::File(word)),
                        (true, false) => Some(NeededThere::ProjectOf(name)),
                        (false, _) => None,
                    };
                }
            }
        }
        return script.map(NeededThere::File);
    }
    let is_elsewhere = || args.iter().any(|word| FOLDER_FLAGS.has(word));
    let runs_project =
        (SCRIPT_RUNNERS.has(name) || PROJECT_RUNNERS.has(name)) && !fetches(name, args);
    match script {
        Some(script) => Some(NeededThere::File(script)),
        None if runs_project && !is_elsewhere() => Some(NeededThere::ProjectOf(name)),
        None => None,
    }
}

/// Whether a runner of projects is asked for a package instead, which it fetches wherever that is.
/// `bundle exec`, `pnpm exec` and `dotnet tool run` start what the project has.
fn fetches(name: &str, args: &[&str]) -> bool {
    let word = args.first().copied().unwrap_or_default();
    match name {
        "npm" => matches!(word, "exec" | "x"),
        "pnpm" | "yarn" => word == "dlx",
        "bun" => word == "x",
        "uv" => word == "tool",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{NeededThere, carried, needed_there};

    #[test]
    fn what_others_carry_is_found_behind_their_own_words() {
        for (line, program) in [
            ("docker run x", "docker"),
            ("setsid --wait /usr/bin/docker run x", "/usr/bin/docker"),
            ("nice -n 5 docker run x", "docker"),
            ("nice --adjustment=5 docker run x", "docker"),
            ("sudo -E -u me docker run x", "docker"),
            ("env -u A B=1 docker run x", "docker"),
            ("timeout -k 5 30 nice docker run x", "docker"),
            ("cmd /c npx -y srv", "npx"),
            ("sudo -- npx srv", "npx"),
            ("sbx -b docker", "sbx"),
            ("sudo sbx -b docker", "sbx"),
            ("sudo -u docker", "sudo"),
            ("env", "env"),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(words[carried(&words)], program, "{line}");
        }
    }

    #[test]
    fn what_a_command_needs_in_its_folder_is_told() {
        for (command, needed) in [
            ("node dist/index.js", "dist/index.js"),
            ("/usr/bin/python3 server.py", "server.py"),
            ("python -u server.py", "server.py"),
            ("node --import tsx src/index.ts", "src/index.ts"),
            ("ruby -Ilib bin/srv", "bin/srv"),
            ("sh -c ./run.sh", "./run.sh"),
            ("java -jar target/x.jar", "target/x.jar"),
            ("npx tsx src/index.ts", "src/index.ts"),
            ("env X=1 node index.js", "index.js"),
            ("node.exe dist\\index.js", "dist\\index.js"),
            ("bun run src/i.ts", "src/i.ts"),
            ("./run", "./run"),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            let found = needed_there(words[0], &words[1..]);
            assert_eq!(found, Some(NeededThere::File(needed)), "{command}");
        }
        for (command, project) in [
            ("npm start", Some("npm")),
            ("uv run depot", Some("uv")),
            ("bundle exec depot", Some("bundle")),
            ("pnpm exec depot", Some("pnpm")),
            ("dotnet tool run depot", Some("dotnet")),
            ("uv tool run depot", None),
            ("bun run dev", Some("bun")),
            ("uv --directory /srv/depot run depot", None),
            ("node /opt/server.js", None),
            ("node C:\\server.js", None),
            ("/opt/server data", None),
            ("npx -y @acme/depot", None),
            ("python3 -c pass", None),
            ("python3 -m mcp_server_git", None),
            ("bun x @acme/depot", None),
            ("npm exec -y @acme/depot", None),
            ("pnpm dlx @acme/depot", None),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            let found = needed_there(words[0], &words[1..]);
            assert_eq!(found, project.map(NeededThere::ProjectOf), "{command}");
        }
    }
}
