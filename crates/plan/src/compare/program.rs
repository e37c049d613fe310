//! Which program answers for a server: the words of its command line that say
//! what is run, as opposed to those that say what it is told.
//!
//! Where that can't be told apart, a word counts as one that says what is run.

use super::spelled::SpelledNames;
use crate::{Command, PackageUse, Server, Transport};
use jelly_base::text::launchers::{
    CONTAINER_FLAGS, LOAD_PATHS, LOADERS, NODE_CODE, NODES, PYTHON_LAUNCHERS, SCRIPT_RUNNERS,
};
use jelly_base::text::{WordList, is_code_file};
use jelly_package::Package;
use serde_json::{Value, json};

/// A command that runs what its arguments name: words with blanks between
/// them.
struct Launcher {
    names: &'static str,
    /// Words before the one that names the program.
    subcommands: &'static str,
    /// Flags without a value.
    bare: &'static str,
    /// Flags whose value is something else than a program.
    valued: &'static str,
    /// Flags whose value is the program, so that no other word names it.
    last: &'static str,
    /// Where it is called makes no difference to what it runs.
    fetches: bool,
}

/// Source: each program's own manual, as of November 2026.
const LAUNCHERS: &[Launcher] = &[
    Launcher {
        names: "npx bunx pnpx",
        subcommands: "",
        bare: "-y --yes -q --quiet --no --no-install --ignore-scripts --bun",
        valued: "--registry --cache --loglevel --prefix",
        last: "-c --call",
        fetches: true,
    },
    Launcher {
        names: SCRIPT_RUNNERS.0,
        subcommands: "exec x dlx run run-script",
        bare: "-y --yes -q --quiet -s --silent --ignore-scripts",
        valued: "--registry --cache --loglevel",
        last: "-c --call",
        fetches: false,
    },
    Launcher {
        names: NODES.0,
        subcommands: "run x exec watch",
        bare: "--enable-source-maps --no-warnings --trace-warnings --inspect --inspect-brk \
            --experimental-strip-types --watch -A --allow-all --allow-net --allow-read \
            --allow-write --allow-env --allow-run --no-lock --quiet",
        valued: "--title --env-file --conditions --stack-trace-limit",
        last: NODE_CODE.0,
        fetches: false,
    },
    Launcher {
        names: "python pypy",
        subcommands: "",
        bare: "-u -B -E -I -O -OO -q -s -S -v -P -b -d",
        valued: "-W -X",
        last: "-c -m",
        fetches: false,
    },
    Launcher {
        names: PYTHON_LAUNCHERS.0,
        subcommands: "tool run",
        bare: "-q --quiet --isolated --no-cache --refresh --offline --verbose -v",
        valued: "--python --index-url --index --default-index --extra-index-url --cache-dir",
        last: "-m --module",
        fetches: false,
    },
    Launcher {
        names: "docker podman nerdctl",
        subcommands: "run container exec",
        bare: "-i -t -it -ti --interactive --tty --rm --init --privileged -q",
        valued: CONTAINER_FLAGS.0,
        last: "",
        fetches: true,
    },
    Launcher {
        names: "sh bash zsh dash ksh fish cmd powershell pwsh",
        subcommands: "",
        bare: "-e -u -x -l -i --login --norc --noprofile",
        valued: "-o",
        last: "-c -lc -ec /c /C -Command -File",
        fetches: false,
    },
    Launcher {
        names: "java",
        subcommands: "",
        bare: "-server -client",
        valued: "",
        last: "-jar -m --module",
        fetches: false,
    },
    Launcher {
        names: "dotnet dnx go cargo ruby perl php lua mono Rscript",
        subcommands: "run exec tool",
        bare: "-q --quiet --release -w --yes -y",
        valued: "",
        last: "-e -r",
        fetches: false,
    },
    Launcher {
        names: "poetry pipenv hatch pdm rye conda mise make just task",
        subcommands: "run exec",
        bare: "-q --quiet -s --no-capture-output",
        valued: "-n --name",
        last: "",
        fetches: false,
    },
];

/// Commands that run all that follows.
const WRAPPERS: &str = "\
    env timeout nice nohup sudo doas exec stdbuf setsid time xargs ssh kubectl \
    xvfb-run unshare nsenter chroot strace flock command";

/// Variables that decide which code a command runs, beside those that have some loaded.
const STEERING: &str = "\
    PATH PYTHONHOME PYTHONSTARTUP ENV LD_LIBRARY_PATH DYLD_LIBRARY_PATH VIRTUAL_ENV";

/// What a server is, by the keys that plans write it with.
pub(super) fn program(server: &Server, names: SpelledNames<'_>) -> Vec<(&'static str, Value)> {
    let (url, command) = match &server.transport {
        Transport::Stdio(command) => (Value::Null, Some(command)),
        Transport::Http {
            url,
            headers: _,
            auth: _,
            command,
        } => (names.template(url), command.as_ref()),
    };
    let mut parts = vec![("url", url)];
    parts.extend(command.map_or_else(Vec::new, |command| started(command, names)));
    parts
}

fn started(command: &Command, names: SpelledNames<'_>) -> Vec<(&'static str, Value)> {
    let Command {
        command,
        args,
        env,
        cwd,
        package,
    } = command;
    let name = command.as_ref().map(|command| names.word(command));
    let args: Vec<String> = args.iter().map(|arg| names.word(arg)).collect();
    let words = match &name {
        Some(name) => identifying(name, &args),
        None => Vec::new(),
    };
    // A path that begins nowhere is another one elsewhere.
    let moves = match (&name, package) {
        (Some(name), _) => is_at_home(name, &words),
        (None, _) => false,
    };
    let cwd = cwd.as_ref().filter(|_| moves);
    let steers = |name: &str| {
        let lists = [WordList(STEERING), LOAD_PATHS, LOADERS];
        lists.iter().any(|list| list.has(name))
    };
    let steering: Value = env
        .iter()
        .filter(|(name, _)| steers(name))
        .map(|(name, value)| (name.clone(), names.template(value)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    vec![
        ("command", json!([name, words])),
        ("cwd", cwd.map_or(Value::Null, |cwd| names.template(cwd))),
        ("env", steering),
        (
            "package",
            package
                .as_ref()
                .map_or(Value::Null, |used| of_package(used)),
        ),
    ]
}

fn of_package(used: &PackageUse) -> Value {
    let Package {
        registry,
        registry_base_url,
        identifier,
        version,
        file_sha256,
        runtime_hint,
        runtime_arguments,
        package_arguments: _,
        environment_variables: _,
        transport,
    } = &used.package;
    json!([
        registry.name(),
        registry_base_url,
        identifier,
        version,
        file_sha256,
        runtime_hint,
        format!("{runtime_arguments:?}"),
        transport.kind,
        transport.url,
    ])
}

/// As in `python` of `/usr/bin/python3.12`.
fn base(command: &str) -> &str {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let name = name.strip_suffix(".cmd").unwrap_or(name);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn launcher(command: &str) -> Option<&'static Launcher> {
    let name = base(command);
    LAUNCHERS.iter().find(|l| WordList(l.names).has(name))
}

fn is_address(word: &str) -> bool {
    ["http://", "https://", "ws://", "wss://"]
        .iter()
        .any(|scheme| word.starts_with(scheme))
}

/// The arguments that say what is run or reached.
fn identifying(command: &str, args: &[String]) -> Vec<String> {
    if WordList(WRAPPERS).has(base(command)) {
        return args.to_vec();
    }
    let (mut own, reach) = match launcher(command) {
        Some(launcher) => launcher.identifying(args),
        None => (Vec::new(), 0),
    };
    // Some programs run what another word names.
    let rest = args.iter().skip(reach);
    own.extend(
        rest.filter(|word| is_code_file(word) || is_address(word))
            .cloned(),
    );
    own
}

impl Launcher {
    /// The arguments that say what is run, and how many there are up to them.
    fn identifying(&self, args: &[String]) -> (Vec<String>, usize) {
        let mut own = Vec::new();
        let mut unsure = false;
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            let word = arg.as_str();
            at += 1;
            if WordList(self.valued).has(word) {
                at += 1;
                continue;
            }
            if word == "--" || WordList(self.bare).has(word) {
                continue;
            }
            own.push(arg.clone());
            if WordList(self.last).has(word) {
                own.extend(args.get(at).cloned());
                return (own, at + 1);
            }
            if word.starts_with('-') {
                // Whether the next word is its value, nobody knows here.
                unsure = !word.contains('=');
            } else if unsure || WordList(self.subcommands).has(word) {
                unsure = false;
            } else {
                return (own, at);
            }
        }
        (own, at)
    }
}

/// Whether it depends on the working directory what is run.
fn is_at_home(command: &str, words: &[String]) -> bool {
    let relative = |word: &str| !word.starts_with(['/', '-', '\0']) && !is_address(word);
    match launcher(command) {
        Some(launcher) => !launcher.fetches,
        None => {
            command.contains(['/', '\\']) && relative(command)
                || words.iter().any(|word| relative(word))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{identifying, is_at_home};

    fn words(line: &str) -> Vec<String> {
        let mut words = line.split(' ').map(str::to_owned);
        let command = words.next().unwrap();
        let args: Vec<String> = words.collect();
        identifying(&command, &args)
    }

    #[test]
    fn what_a_launcher_runs_is_another_program_and_what_that_is_told_is_not() {
        for (one, other) in [
            ("node server.js", "node other.js"),
            (
                "node --inspect server.js --port 1",
                "node other.js --port 1",
            ),
            ("node -r ./hook.js server.js", "node -r ./hook.js other.js"),
            ("node -r ./hook.js server.js", "node -r ./else.js server.js"),
            ("node -e 1", "node -e 2"),
            ("python3 -u server.py", "python3 -u other.py"),
            (
                "/usr/bin/python3.12 -m server",
                "/usr/bin/python3.12 -m other",
            ),
            ("npx -y @scope/server /data", "npx -y @scope/other /data"),
            (
                "npx mcp-remote https://a.example/mcp",
                "npx mcp-remote https://b.example/mcp",
            ),
            ("uvx --python 3.12 server", "uvx --python 3.12 other"),
            ("uvx --from package server", "uvx --from other server"),
            ("uv run server.py", "uv run other.py"),
            (
                "docker run -i --rm -e TOKEN image:1",
                "docker run -i --rm -e TOKEN image:2",
            ),
            ("sh -c ./a", "sh -c ./b"),
            ("sh ./a", "sh ./b"),
            ("java -jar a.jar", "java -jar b.jar"),
            ("env X=1 node a.js", "env X=1 node b.js"),
            ("timeout 5 server one", "timeout 5 server two"),
            ("./launch a.py", "./launch b.py"),
            ("go run ./a", "go run ./b"),
        ] {
            assert_ne!(words(one), words(other), "{one} | {other}");
        }
        for (one, other) in [
            ("node server.js --port 1", "node server.js --port 2"),
            ("python3 server.py /a", "python3 -u server.py /b"),
            ("npx -y @scope/server /a", "npx -y @scope/server /b"),
            ("uvx server --db a.db", "uvx server --db b.db"),
            ("uvx --python 3.12 server", "uvx --python 3.13 server"),
            (
                "docker run -i -v /a:/data image:1",
                "docker run -i -v /b:/data image:1",
            ),
            ("docker run -i image:1 /a", "docker run -i image:1 /b"),
            ("server --data /a", "server --data /b"),
            ("jelly mock --state a.json", "jelly mock --state b.json"),
        ] {
            assert_eq!(words(one), words(other), "{one} | {other}");
        }
    }

    #[test]
    fn where_it_is_started_matters_to_what_is_found_from_there() {
        for line in [
            "node server.js",
            "./server",
            "python -m server",
            "make serve",
        ] {
            let command = line.split(' ').next().unwrap();
            assert!(is_at_home(command, &words(line)), "{line}");
        }
        for line in ["npx -y server", "docker run image", "/opt/server", "server"] {
            let command = line.split(' ').next().unwrap();
            assert!(!is_at_home(command, &words(line)), "{line}");
        }
    }
}
