//! The one published version that a command line starts, where it names one.
//!
//! Strict, since something is proved by it: where a word could mean anything
//! else, there is none. Whoever wants a likely package to give advice about has
//! other means.

use jelly_base::text::{WordList, is_code_file};

/// How versions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ecosystem {
    Npm,
    Pypi,
    Nuget,
    Image,
}

/// A command that fetches a package and starts it.
struct Fetcher {
    command: &'static str,
    /// Words that must follow.
    then: &'static [&'static str],
    /// Flags that name a package, so that the first word is a program of it.
    packages: WordList,
    /// Flags that name one which is installed beside.
    beside: WordList,
    /// Flags without a value that say nothing of what is run.
    bare: WordList,
    /// The same with a value.
    valued: WordList,
    ecosystem: Ecosystem,
}

const NONE: WordList = WordList("");

const fn npm(command: &'static str, then: &'static [&'static str]) -> Fetcher {
    Fetcher {
        command,
        then,
        packages: WordList("-p --package"),
        beside: NONE,
        bare: WordList(
            "-y --yes -q --quiet -s --silent --prefer-offline --prefer-online --offline --bun \
             --no-fund --no-audit --ignore-scripts",
        ),
        valued: WordList("--registry --cache --loglevel"),
        ecosystem: Ecosystem::Npm,
    }
}

const fn uv(command: &'static str, then: &'static [&'static str]) -> Fetcher {
    Fetcher {
        command,
        then,
        packages: WordList("--from"),
        beside: WordList("--with"),
        bare: WordList(
            "-q --quiet -v --verbose --isolated --no-cache -n --refresh --offline --no-config \
             --no-progress --native-tls",
        ),
        valued: WordList(
            "-p --python --index-url -i --index --default-index --extra-index-url --cache-dir \
             --python-preference",
        ),
        ecosystem: Ecosystem::Pypi,
    }
}

/// No flag that brings files of the machine into a container is among them: what
/// runs then may be those.
const fn container(command: &'static str, then: &'static [&'static str]) -> Fetcher {
    Fetcher {
        command,
        then,
        packages: NONE,
        beside: NONE,
        bare: WordList(
            "-i -t -it -ti --interactive --tty --rm --init --privileged -q --quiet --read-only",
        ),
        valued: WordList(
            "-e --env --env-file --name --network --net -p --publish -u --user -w --workdir \
             --pull --platform -l --label -m --memory --cpus --add-host -h --hostname --cap-drop \
             --cap-add --security-opt --shm-size --ulimit --entrypoint --gpus --tmpfs --runtime",
        ),
        ecosystem: Ecosystem::Image,
    }
}

const fn nuget(command: &'static str, then: &'static [&'static str]) -> Fetcher {
    Fetcher {
        command,
        then,
        packages: NONE,
        beside: NONE,
        bare: WordList("-y --yes"),
        valued: WordList("--source --add-source -v --verbosity"),
        ecosystem: Ecosystem::Nuget,
    }
}

/// Source: each program's own manual, as of November 2026.
const FETCHERS: [Fetcher; 18] = [
    npm("npx", &[]),
    npm("npm", &["exec"]),
    npm("bunx", &[]),
    npm("bun", &["x"]),
    npm("pnpx", &[]),
    npm("pnpm", &["dlx"]),
    npm("yarn", &["dlx"]),
    uv("uvx", &[]),
    uv("uv", &["tool", "run"]),
    Fetcher {
        packages: WordList("--spec"),
        beside: NONE,
        ..uv("pipx", &["run"])
    },
    container("docker", &["run"]),
    container("docker", &["container", "run"]),
    container("podman", &["run"]),
    container("podman", &["container", "run"]),
    container("nerdctl", &["run"]),
    container("nerdctl", &["container", "run"]),
    nuget("dnx", &[]),
    nuget("dotnet", &["tool", "exec"]),
];

/// Packages and programs that run, or reach, what their arguments name.
const RUNNERS: WordList = WordList(
    "node deno bun tsx ts-node esno vite-node jiti nodemon concurrently python python3 sh bash \
     mcp fastmcp uvicorn gunicorn hypercorn flask supergateway mcp-proxy mcp-remote inspector \
     mcp-inspector mcpo",
);

/// Which exact versions a command line fetches and starts, as in `npm a@1.2.3`;
/// none where it may start anything else: a range, a tag, a folder, a URL, what a
/// word behind the package names.
#[must_use]
pub fn exact_version(argv: &[String]) -> Option<String> {
    let (command, args) = argv.split_first()?;
    // One that is named by where it lies may be any program.
    if command.contains('/') && !command.starts_with('/') {
        return None;
    }
    let name = command.rsplit('/').next().unwrap_or(command);
    let fetcher = FETCHERS.iter().find(|fetcher| {
        let then = fetcher.then.iter();
        fetcher.command == name
            && args.len() >= fetcher.then.len()
            && then.zip(args).all(|(word, arg)| word == arg)
    })?;
    fetcher.read(&args[fetcher.then.len()..])
}

impl Fetcher {
    fn read(&self, args: &[String]) -> Option<String> {
        let mut found: Vec<String> = Vec::new();
        let mut named = false;
        let mut words = args.iter().map(String::as_str);
        let first = loop {
            let word = words.next()?;
            let (flag, joined) = match word.split_once('=') {
                Some((flag, value)) if word.starts_with("--") => (flag, Some(value)),
                Some(_) | None => (word, None),
            };
            if self.packages.has(flag) || self.beside.has(flag) {
                let value = joined.or_else(|| words.next())?;
                found.push(self.exact(value)?);
                named |= self.packages.has(flag);
            } else if self.valued.has(flag) {
                joined.or_else(|| words.next())?;
            } else if joined.is_none() && (word == "--" || self.bare.has(word)) {
                // It says nothing of what is run.
            } else if word.starts_with('-') {
                return None;
            } else {
                break word;
            }
        };
        if named {
            // A program of theirs, it is to be hoped; an interpreter is none.
            let plain = !first.contains(['/', '\\']) && !RUNNERS.has(first);
            (plain && !is_code_file(first)).then_some(())?;
        } else {
            found.insert(0, self.exact(first)?);
        }
        let more = words.all(|word| !says_what_runs(word));
        more.then(|| {
            found.sort_unstable();
            found.join(", ")
        })
    }

    /// What is fetched by this word, if that is one version for ever.
    fn exact(&self, spec: &str) -> Option<String> {
        let (ecosystem, name, version) = match self.ecosystem {
            Ecosystem::Npm => {
                let (name, version) = spec.get(1..)?.split_once('@')?;
                let name = format!("{}{name}", &spec[..1]);
                is_numbered(version, 3..=3).then_some(("npm", name, format!("@{version}")))?
            }
            Ecosystem::Nuget => {
                let (name, version) = spec.split_once('@')?;
                is_numbered(version, 2..=4).then_some((
                    "nuget",
                    name.to_owned(),
                    format!("@{version}"),
                ))?
            }
            Ecosystem::Pypi => {
                let (name, version) = spec.split_once("==").or_else(|| spec.split_once('@'))?;
                let version = version.trim();
                is_pypi_version(version).then_some((
                    "pypi",
                    name.trim().to_owned(),
                    format!("=={version}"),
                ))?
            }
            Ecosystem::Image => {
                let (name, digest) = spec.split_once("@sha256:")?;
                let whole = digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit());
                let digest = digest.to_ascii_lowercase();
                return (whole && !name.is_empty()).then(|| format!("image sha256:{digest}"));
            }
        };
        let plain = name.rsplit('/').next().unwrap_or(&name);
        let plain = plain.split('[').next().unwrap_or(plain);
        // A slash is one of a scope, else of a repository or a folder.
        let scoped = match name.strip_prefix('@') {
            Some(rest) => rest.matches('/').count() == 1,
            None => !name.contains('/'),
        };
        let spelled = name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"@/._-[],".contains(&b));
        let usable = scoped && spelled && !name.starts_with(['.', '-']) && !plain.is_empty();
        (usable && !RUNNERS.has(plain)).then(|| format!("{ecosystem} {name}{version}"))
    }
}

/// Whether a word behind the package may be what is really run, or reached.
fn says_what_runs(word: &str) -> bool {
    let value = word.split_once('=').map_or(word, |(_, value)| value);
    let addresses = ["http://", "https://", "ws://", "wss://"];
    let is_url = addresses.iter().any(|scheme| value.starts_with(scheme));
    // As in `server.py:app`.
    let file = value.split(':').next().unwrap_or(value);
    is_url || is_code_file(value) || is_code_file(file) || value.contains(char::is_whitespace)
}

/// So many numbers, as in `1.2.3`, with what may be behind them. Less is a range
/// to npm.
fn is_numbered(version: &str, wanted: std::ops::RangeInclusive<usize>) -> bool {
    let numbers = version.split(['-', '+']).next().unwrap_or(version);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    numbers.split('.').all(is_number)
        && wanted.contains(&numbers.split('.').count())
        && is_spelled(version)
}

/// A version of PEP 440, without a wildcard.
fn is_pypi_version(version: &str) -> bool {
    version.starts_with(|c: char| c.is_ascii_digit()) && is_spelled(version)
}

fn is_spelled(version: &str) -> bool {
    version
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b".-+!_".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::exact_version;

    fn of(line: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        exact_version(&words)
    }

    const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn one_exact_version_is_known() {
        for (line, wanted) in [
            ("npx -y a@1.2.3", "npm a@1.2.3"),
            (
                "npx -y @s/a@1.2.3-rc.1 /data --flag x",
                "npm @s/a@1.2.3-rc.1",
            ),
            (
                "npx --yes --registry https://r.example a@1.2.3",
                "npm a@1.2.3",
            ),
            ("npx --package=a@1.2.3 -- cmd", "npm a@1.2.3"),
            ("npm exec --yes -- a@1.2.3", "npm a@1.2.3"),
            ("/usr/bin/npx -y a@1.2.3", "npm a@1.2.3"),
            ("pnpm dlx a@1.2.3", "npm a@1.2.3"),
            ("bunx a@1.2.3", "npm a@1.2.3"),
            ("uvx a==1.2", "pypi a==1.2"),
            ("uvx a@2026.1.2", "pypi a==2026.1.2"),
            (
                "uvx --python 3.12 --from a[x]==2.0rc1 cmd",
                "pypi a[x]==2.0rc1",
            ),
            ("uvx --with b==1.0 a==2.0", "pypi a==2.0, pypi b==1.0"),
            ("uv tool run a==1.2.3", "pypi a==1.2.3"),
            ("pipx run --spec a==1.2.3 a", "pypi a==1.2.3"),
            ("dnx A.B@1.2.3 --yes -- x", "nuget A.B@1.2.3"),
        ] {
            assert_eq!(of(line).as_deref(), Some(wanted), "{line}");
        }
        for line in [
            format!("docker run -i --rm -e KEY --network=none h:5000/a:1@sha256:{DIGEST} x"),
            format!("podman container run -i b@sha256:{DIGEST}"),
        ] {
            let wanted = format!("image sha256:{DIGEST}");
            assert_eq!(of(&line), Some(wanted), "{line}");
        }
    }

    #[test]
    fn whatever_may_be_another_tomorrow_is_none() {
        for line in [
            "npx",
            "npx -y a",
            "npx -y a@latest",
            "npx -y a@next",
            "npx -y a@^1.2.3",
            "npx -y a@1.2",
            "npx -y a@1.x",
            "npx -y a@*",
            "npx -y a@v1.2.3",
            "npx -y ./a@1.2.3",
            "npx -y user/a@1.2.3",
            "npx -y b@npm:a@1.2.3",
            "npx -y https://h.example/a@1.2.3",
            "npx -y -p a@1.2.3 -p b cmd",
            "npx -y -p node@20.1.0 node server.js",
            "npx -y -p a@1.2.3 ./cmd",
            "npx -c a@1.2.3",
            "npx --unknown a@1.2.3",
            "./npx -y a@1.2.3",
            // Code of this machine, run by a package that is known.
            "npx -y tsx@4.7.0 src/server.ts",
            "npx -y c@4.7.0 src/server.ts",
            "npx -y mcp-remote@1.2.3 https://h.example/mcp",
            "npx -y c@1.2.3 --url=https://h.example/mcp",
            "uvx a",
            "uvx a==1.*",
            "uvx a>=1.2",
            "uvx a==1.2,!=1.3",
            "uvx a@latest",
            "uvx --with b a==1.2",
            "uvx --with-editable . a==1.2",
            "uvx --from git+https://h.example/a@1.2.3 a",
            "uvx --from mcp==1.2.0 mcp run server.py",
            "uvx --from c==1.2.0 serve server.py:app",
            "uv run server.py",
            "pipx run a",
            "docker run -i a:1.2.3",
            "docker run -i a@sha256:abc",
            "node server.js",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
        for line in [
            format!("docker run -i -v /src:/app a@sha256:{DIGEST}"),
            format!("docker run -i --mount=type=bind,src=/s,dst=/d a@sha256:{DIGEST}"),
            format!("docker exec -i a@sha256:{DIGEST}"),
            format!("docker run -i a@sha256:{DIGEST} node server.js"),
        ] {
            assert_eq!(of(&line), None, "{line}");
        }
        let blank = ["npx", "-y", "c@1.2.3", "--stdio", "node x"].map(str::to_owned);
        assert_eq!(exact_version(&blank), None);
    }
}
