//! What advice may say: commands that exist, that can be pasted, and that
//! destroy nothing.

use super::Machine;
use super::written::written_commands;
use crate::cli::args::Cli;
use clap::{Command, CommandFactory as _, Parser as _};
use jelly_base::model::{Failure, Fix, Phase};
use jelly_base::testing::{all_cases, slice};
use jelly_base::text::is_variable_name;
use jelly_base::text::launchers::carried;
use jelly_base::text::redact::Redactor;
use jelly_setup::doctor::{REPLACED_STEPS, RemedyContext, Sight, prescribe, read};
use jelly_triage::engine::{Audience, Engine, Example, specimen};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn no_advice_of_a_rule_speaks_of_a_plan() {
    let text = r#"{"mcpServers": {"a": {"command": "srv"}}}"#;
    let config = read(Path::new("mcp.json"), text, Path::new("/")).unwrap();
    let (failure, redactor) = (Failure::default(), Redactor::none());
    let context = RemedyContext {
        config: &config,
        entry: &config.entries[0],
        failure: &failure,
        redactor: &redactor,
        home: None,
        sight: &Machine { path: "" },
        proven: None,
        tried: false,
    };
    let engine = Engine::builtin();
    for rule in engine.rules() {
        let mut diagnosis = engine.diagnose(&failure);
        diagnosis.advice = rule.advice.unfilled(Audience::Configuration);
        prescribe(&mut diagnosis, &context);
        let advice = diagnosis.advice;
        let fix: Vec<String> = advice.fix.iter().map(Fix::to_string).collect();
        let said = format!("{} {} {}", advice.what, advice.why, fix.join(" ")).to_lowercase();
        // A database has plans too.
        let said = said.replace("the plan of the statement", "");
        assert!(!said.contains("the plan"), "{}: {said}", rule.id);
        assert!(!said.contains("in the report"), "{}: {said}", rule.id);
    }
}

#[test]
fn rules_have_the_steps_that_remedies_replace_and_one_id_for_one_text() {
    let engine = Engine::builtin();
    let unknown = engine.diagnose(&Failure::default());
    let mut ids: BTreeSet<String> = BTreeSet::new();
    let mut known: BTreeMap<String, Option<String>> = BTreeMap::new();
    let advice = engine
        .rules()
        .map(|rule| rule.advice.unfilled(Audience::Plan))
        .chain([unknown.advice]);
    for fix in advice.flat_map(|advice| advice.fix) {
        let id = fix.id.as_deref().map(str::to_owned);
        let other = known.entry(fix.text.clone()).or_insert_with(|| id.clone());
        assert_eq!(*other, id, "{}", fix.text);
        ids.extend(id);
    }
    let replaced: BTreeSet<String> = REPLACED_STEPS.words().map(str::to_owned).collect();
    assert_eq!(ids, replaced);
}

/// Programs other than jelly that people may be told to run, with the
/// subcommands and flags that they have.
const PROGRAMS: &str = "\
./gradlew: --configuration, --dependency, dependencies
adb: wait-for-device
apk: add git
apt-get: install git
bash: -n
bats: --filter, --print-output-on-failure, -r
bun: add zod, install, run, run compile
bundle: install
cargo: --tests, --workspace, check, insta review, test, update
cd:
chmod: +x
chromedriver: --version
command: -v
composer: --lock, dump-autoload, update
ctest: --output-on-failure, --rerun-failed, -R
curl: --max-time, -H, -X, -d, -i, -sS, -v
df: -h
dmesg: --ctime, -T
docker: --all, --help, --rm, -i, -it, compose config, compose ps, info, login, logs, pull, run, system df
dotnet: --blame-hang, --blame-hang-timeout, --filter, --include-transitive, --list-runtimes, --list-sdks, list package, test
du: -xsh
echo:
export:
file:
fuser:
getconf:
getent:
git: --add, --global, --heads, --init, --recursive, config, init, lfs pull, ls-remote, submodule update
go: -count, -race, -run, -timeout, mod tidy, test, version, vet
grep: -i
grpc_health_probe: -addr
head: -1
helm: rollback, template
java: -version
jest: --maxWorkers
kill:
kubectl: --dry-run, --list, --previous, --sort-by, apply, auth can-i, config current-context, describe nodes, describe pod, get events, logs
locale: -a
ls: -l, -ld
lsof: -iTCP, -nP, -sTCP
mkdir: -p
mv:
mvn: -Dverbose, dependency:tree
mysqladmin: ping
node: --help, --test, --test-reporter, --version
npm: --help, --prefix, --silent, ci, install, install zod, ls, ls zod, rebuild, run, run build, run compile, view, view mcp-hello-world, view srv
npx: --help, --package, --with-deps, -c, -y
nvidia-smi:
php: -m
pip: config list, config set, index versions
pipx: inject, list, reinstall
pnpm: add zod, install, run, run build, run compile
podman: machine start
poetry: lock
pytest: --last-failed, --setup-show, -n, -o, -vv, -x
python: -m pip
python3: --help, -m pip, -m srv, -m venv
redis-cli: ping
rustc: --version
sf: --name, org assign
sh: -c
sort: -h
ss: -ltnp
sudo:
sysctl:
systemctl: start docker
tail:
terraform: force-unlock
ulimit: -a, -u
uv: --directory, --force, --from, --help, --only-installed, --python, --with, -c, lock, pip install, python install, python list, run, sync, tool install, tool list, tool run
uvx: --from, --help
vendor/bin/phpunit: --filter
xcrun: simctl bootstatus
yarn: add zod, install, run, run compile
";

/// Programs whose first words say what they do.
const WITH_SUBCOMMANDS: &[&str] = &[
    "./gradlew",
    "adb",
    "apk",
    "apt-get",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "docker",
    "dotnet",
    "git",
    "go",
    "helm",
    "kubectl",
    "mvn",
    "mysqladmin",
    "npm",
    "pip",
    "pipx",
    "pnpm",
    "podman",
    "poetry",
    "redis-cli",
    "sf",
    "systemctl",
    "terraform",
    "uv",
    "xcrun",
    "yarn",
];

/// The simple commands of a line, the variables before them left out.
fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let words = shlex::split(line).unwrap_or_else(|| panic!("unbalanced quotes: {line}"));
    let is_between = |word: &String| matches!(&**word, "&&" | "|" | ";" | "{" | "}");
    let is_set = |word: &&String| {
        word.split_once('=')
            .is_some_and(|(name, _)| is_variable_name(name))
    };
    words
        .split(is_between)
        .map(|words| words.iter().skip_while(is_set).cloned().collect())
        .filter(|words: &Vec<String>| !words.is_empty())
        .flat_map(|words| carrier_and_carried(&words))
        .collect()
}

/// What stands behind `sudo` and its likes is a command of its own.
fn carrier_and_carried(words: &[String]) -> Vec<Vec<String>> {
    match carried(words) {
        0 => vec![words.to_vec()],
        at => vec![words[..at].to_vec(), words[at..].to_vec()],
    }
}

/// What of a command its program has to know.
fn known_words(words: &[String]) -> BTreeSet<String> {
    let [program, rest @ ..] = words else {
        return BTreeSet::new();
    };
    let is_word = |word: &&String| {
        word.chars()
            .all(|c| c.is_ascii_lowercase() || "-:".contains(c))
    };
    let mut known = BTreeSet::new();
    if WITH_SUBCOMMANDS.contains(&&**program) {
        let named = rest
            .iter()
            .take_while(|word| !word.starts_with('-'))
            .take(2);
        let named: Vec<&str> = named.take_while(is_word).map(String::as_str).collect();
        known.insert(named.join(" "));
    }
    for (at, word) in rest.iter().enumerate() {
        if word == "--" {
            break;
        }
        if word == "-m" {
            known.insert(format!(
                "-m {}",
                rest.get(at + 1).map_or("", String::as_str)
            ));
        } else if word.starts_with(['-', '+']) && word.len() > 1 {
            known.insert(word.split(['=', ':']).next().unwrap_or(word).to_owned());
        }
    }
    known.remove("");
    known
}

/// Whether a command deletes, clears or overwrites something.
fn destroys(words: &[String]) -> bool {
    let [program, rest @ ..] = &words[carried(words)..] else {
        return false;
    };
    let program = program.rsplit('/').next().unwrap_or(program);
    if rest.iter().any(|word| word.starts_with("--dry-run")) {
        return false;
    }
    let has = |word: &str| rest.iter().any(|own| own == word);
    let any = |words: &[&str]| words.iter().any(|word| has(word));
    let is_forced = any(&[
        "--force",
        "--clear",
        "-f",
        "--hard",
        "--prune",
        "--volumes",
        "--yes",
    ]);
    let by_program = match program {
        "rm" | "rmdir" | "unlink" | "shred" | "truncate" | "dd" | "kill" | "pkill" | "killall"
        | "mkfs" | "tee" => true,
        "docker" | "podman" => any(&["prune", "rm", "rmi", "down", "kill", "stop"]),
        "git" => any(&["clean", "reset", "checkout", "restore", "stash", "push"]),
        "npm" | "pnpm" | "yarn" => any(&["ci", "prune", "uninstall", "cache", "clean"]),
        "pip" | "python" | "python3" | "pipx" | "uv" => any(&["uninstall", "purge", "clean"]),
        "kubectl" => any(&["delete", "apply", "replace", "drain"]),
        _ => false,
    };
    is_forced || by_program || rest.iter().any(|word| matches!(&**word, ">" | ">>"))
}

/// A machine on which every path is there, or none, with this text in each
/// file.
struct Everywhere<'a> {
    there: bool,
    text: &'a str,
}

impl Sight for Everywhere<'_> {
    fn is_there(&self, _: &Path) -> bool {
        self.there
    }

    fn is_folder(&self, _: &Path) -> bool {
        self.there
    }

    fn names(&self, _: &Path) -> Vec<String> {
        match self.there {
            true => vec!["index.js".to_owned(), "pyproject.toml".to_owned()],
            false => Vec::new(),
        }
    }

    fn text(&self, _: &Path) -> Option<String> {
        self.there.then(|| self.text.to_owned())
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        self.there.then(|| path.to_owned())
    }

    fn version(&self, _: &Path) -> Option<String> {
        self.there.then(|| "v10.0.0".to_owned())
    }

    fn on_path(&self, command: &str) -> Option<PathBuf> {
        self.there.then(|| Path::new("/usr/bin").join(command))
    }
}

/// A machine with these files alone.
struct Scripts<'f>(&'f [(&'f str, &'f str)]);

impl Sight for Scripts<'_> {
    fn is_there(&self, path: &Path) -> bool {
        self.0.iter().any(|(own, _)| path == Path::new(own))
    }
    fn is_folder(&self, _: &Path) -> bool {
        false
    }
    fn names(&self, folder: &Path) -> Vec<String> {
        let below = self
            .0
            .iter()
            .filter_map(|(own, _)| Path::new(own).strip_prefix(folder).ok());
        let mut names: Vec<String> = below
            .filter_map(|path| path.iter().next())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.dedup();
        names
    }
    fn text(&self, file: &Path) -> Option<String> {
        let own = self.0.iter().find(|(own, _)| file == Path::new(own));
        own.map(|(_, text)| (*text).to_owned())
    }
    fn real(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }
    fn version(&self, _: &Path) -> Option<String> {
        None
    }
    fn on_path(&self, _: &str) -> Option<PathBuf> {
        None
    }
}

/// Texts that remedies read in files.
const TEXTS: &[&str] = &[
    "#!/usr/bin/python3.9\n",
    "#!/opt/other/venv/bin/python\n",
    r#"{"name": "srv", "version": "1.0.0", "scripts": {"build": "tsc"}, "engines": {"node": ">=99"}, "dependencies": {"a": "1"}}"#,
    "[project]\nname = 'srv'\n[project.scripts]\nsrv = 'srv:main'\n",
    "home = /usr/bin\n",
];

/// What a failure of an entry is called for the remedies of these.
const ENTRIES: &str = r#"{"mcpServers": {
    "npx": {"command": "npx", "args": ["-y", "srv@1.0.0"], "env": {"A": "/gone"}},
    "node": {"command": "node", "args": ["/gone/index.js"]},
    "python": {"command": "python3", "args": ["-m", "srv"]},
    "uvx": {"command": "uvx", "args": ["srv"]},
    "script": {"command": "/gone/bin/srv"},
        "uv": {"command": "uv", "args": ["--directory", "/gone", "run", "srv"]},
        "docker": {"command": "docker", "args": ["run", "-i", "x/y"]},
        "npm": {"command": "npm", "args": ["--prefix", "/gone", "start"]},
        "url": {"url": "http://localhost:3000/mcp"}
}}"#;

/// What is printed for projects of each package manager.
fn commands_of_managers() -> Vec<String> {
    let text = r#"{"mcpServers": {"s": {"command": "node", "args": ["/gone/dist/index.js"]}}}"#;
    let config = read(Path::new("mcp.json"), text, Path::new("/")).unwrap();
    let (engine, redactor) = (Engine::builtin(), Redactor::none());
    let mut printed = Vec::new();
    for lock in [
        "package-lock.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "bun.lock",
    ] {
        let manifest =
            r#"{"name": "srv", "scripts": {"compile": "tsc"}, "dependencies": {"a": "1"}}"#;
        let lock = format!("/gone/{lock}");
        let files = [("/gone/package.json", manifest), (&*lock, "")];
        for stderr in [
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /gone/dist/index.js",
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'a' imported from /gone/dist/index.js",
            "Error: Cannot find module '/gone/dist/index.js'",
        ] {
            let failure: Failure = serde_json::from_value(serde_json::json!({
                "phase": "handshake", "outcome": "eof", "exit": {"code": 1},
                "argv": ["node", "/gone/dist/index.js"], "cwd": "/gone", "stderr": stderr,
            }))
            .unwrap();
            let mut diagnosis = engine.diagnose_for(&failure, Audience::Configuration);
            let context = RemedyContext {
                config: &config,
                entry: &config.entries[0],
                failure: &failure,
                redactor: &redactor,
                home: None,
                sight: &Scripts(&files),
                proven: None,
                tried: false,
            };
            prescribe(&mut diagnosis, &context);
            let commands = diagnosis.advice.fix.iter().filter(|fix| fix.is_command());
            printed.extend(commands.map(|fix| fix.text.clone()));
        }
    }
    assert!(
        printed.iter().any(|line| line.ends_with("bun add zod")),
        "{printed:#?}"
    );
    assert!(
        printed.iter().any(|line| line.contains("yarn run compile")),
        "{printed:#?}"
    );
    printed
}

/// Of the entries on the machines that a rule is tried with, each so-many-th.
const SLICE: usize = 10;

/// Every command that any rule and any remedy prints, with the server's own
/// program; of what the remedies print for an entry, a slice.
fn printed_commands() -> BTreeSet<(String, Vec<String>)> {
    let config = read(Path::new("mcp.json"), ENTRIES, Path::new("/")).unwrap();
    let (engine, redactor) = (Engine::builtin(), Redactor::none());
    let mut machines = vec![Everywhere {
        there: false,
        text: "",
    }];
    machines.extend(TEXTS.iter().map(|text| Everywhere { there: true, text }));
    let mut printed = BTreeSet::new();
    // Remedies go by the cause.
    let mut of_cause: BTreeMap<&str, usize> = BTreeMap::new();
    for rule in engine.rules() {
        let rules = of_cause.entry(&rule.root_cause).or_default();
        *rules += 1;
        let machines = if *rules <= 4 {
            &machines[..]
        } else {
            &machines[..1]
        };
        let failures = rule.examples().iter().filter_map(|example| match example {
            Example::Failure(failure) => Some((**failure).clone()),
            Example::Text(text) => Some(specimen(*rule.fields.first()?, text)),
        });
        for mut failure in failures.take(1) {
            // What stands before it, too.
            let argv = &failure.argv;
            let own = argv.first().into_iter().chain(argv.get(carried(argv)));
            let own: Vec<String> = own.cloned().collect();
            let mut take = |fixes: &[Fix]| {
                let commands = fixes.iter().filter(|fix| fix.is_command());
                printed.extend(commands.map(|fix| (fix.text.clone(), own.clone())));
            };
            let diagnosis = engine.diagnose(&failure);
            take(&diagnosis.advice.fix);
            take(&rule.advice.unfilled(Audience::Plan).fix);
            failure.phase = Some(Phase::Handshake);
            let diagnosis = engine.diagnose_for(&failure, Audience::Configuration);
            let on_machines = config
                .entries
                .iter()
                .flat_map(|entry| machines.iter().map(move |machine| (entry, machine)));
            // Another part for each rule of a cause.
            for (entry, machine) in slice(SLICE, on_machines.skip(*rules % SLICE)) {
                let mut diagnosis = diagnosis.clone();
                let context = RemedyContext {
                    config: &config,
                    entry,
                    failure: &failure,
                    redactor: &redactor,
                    home: Some(Path::new("/home/me")),
                    sight: machine,
                    proven: None,
                    tried: false,
                };
                prescribe(&mut diagnosis, &context);
                take(&diagnosis.advice.fix);
            }
        }
    }
    printed
}

/// What texts name and no line to paste holds: each says beside it what it does.
const NAMED_ALONE: &[&str] = &["kill PID", "npm ci", "terraform force-unlock"];

#[test]
fn what_destroys_is_seen_behind_what_carries_it() {
    for line in [
        "rm -r x",
        "sudo rm -r x",
        "sudo -u me rm x",
        "cd x && sudo rm y",
        "timeout 5 sudo docker system prune",
        "env A=1 git reset --hard",
    ] {
        let commands = simple_commands(line);
        assert!(commands.iter().any(|words| destroys(words)), "{line}");
    }
    for line in ["sudo systemctl start docker", "mv a a.old", "npm install x"] {
        let commands = simple_commands(line);
        assert!(!commands.iter().any(|words| destroys(words)), "{line}");
    }
}

#[test]
fn commands_to_paste_exist_and_destroy_nothing() {
    let mut programs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let of_managers = commands_of_managers()
        .into_iter()
        .map(|line| (line, Vec::new()));
    let printed = printed_commands().into_iter().chain(of_managers);
    let printed = printed.map(|(line, own)| (line, own, false));
    let written = written_commands().into_iter();
    let written = written.map(|line| (line, Vec::new(), true));
    for (line, own, is_written) in printed.chain(written) {
        for words in simple_commands(&line) {
            // It is uv's own environment of the entry's own tool.
            let is_own_tool = line.starts_with("uv tool install --force");
            let is_named = NAMED_ALONE.contains(&&*line);
            assert!(is_own_tool || is_named || !destroys(&words), "{line}");
            match &*words[0] {
                // In a sentence, arguments are left out.
                "jelly" if is_written => {
                    let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
                    assert_eq!(unknown_word(&words), None, "{line}");
                }
                "jelly" => {
                    let parsed = Cli::try_parse_from(&words);
                    parsed.unwrap_or_else(|error| panic!("{line}: {error}"));
                }
                program if program.contains('{') && words.iter().any(|word| word == "-m") => {
                    let known = programs.entry("python3".to_owned()).or_default();
                    known.extend(known_words(&words));
                }
                // The server's own, or what stands for it.
                program if own.iter().any(|own| own == program) || program.contains(['{', '<']) => {
                }
                program if program.starts_with("/usr/bin/") || program.starts_with("/gone") => {}
                program => programs
                    .entry(program.to_owned())
                    .or_default()
                    .extend(known_words(&words)),
            }
        }
    }
    if all_cases() {
        let told: Vec<String> = programs
            .iter()
            .map(|(program, words)| {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                format!("{program}: {}", words.join(", "))
                    .trim_end()
                    .to_owned()
            })
            .collect();
        assert_eq!(told.join("\n"), PROGRAMS.trim());
    }
    let known: BTreeMap<&str, Vec<&str>> = PROGRAMS
        .trim()
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(program, words)| (program, words.split(", ").map(str::trim).collect()))
        .collect();
    for (program, words) in &programs {
        let known = known.get(&**program);
        let is_known = |word: &String| known.is_some_and(|known| known.contains(&word.trim()));
        let strange: Vec<_> = words.iter().filter(|word| !is_known(word)).collect();
        assert!(
            known.is_some() && strange.is_empty(),
            "{program}: {strange:?}"
        );
    }
    assert!(programs.len() > 40, "{}", programs.len());
}

/// All lines of the sources and rules that are no comments.
fn lines_of_sources() -> Vec<(PathBuf, String)> {
    let mut open = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
    open.push(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("crates"));
    let mut lines = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_test = name.contains("test") || path.components().any(|c| c.as_os_str() == "tests");
        if is_test || !(name.ends_with(".rs") || name.ends_with(".yaml")) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let own = text.split("\n#[cfg(test)]").next().unwrap_or_default();
        // A text goes on behind a backslash.
        let mut joined = String::new();
        for line in own.lines() {
            joined.push_str(line.trim());
            if joined.ends_with('\\') {
                joined.pop();
                continue;
            }
            lines.push((path.clone(), std::mem::take(&mut joined)));
        }
    }
    lines.retain(|(_, line)| !line.starts_with("//") && !line.starts_with('#'));
    lines
}

/// A word of jelly's command line that it does not have.
fn unknown_word(words: &[&str]) -> Option<String> {
    let cli = Cli::command();
    let mut command: &Command = &cli;
    let mut all: Vec<&Command> = vec![command];
    for (at, word) in words.iter().enumerate() {
        let word = word.trim_matches(|c: char| !(c.is_ascii_alphanumeric() || "-_<{".contains(c)));
        if let Some(flag) = word.strip_prefix("--") {
            let name = flag.split(['=', ' ']).next().unwrap_or(flag);
            let has = |of: &&Command| of.get_arguments().any(|a| a.get_long() == Some(name));
            if !name.is_empty() && name != "help" && !all.iter().any(has) {
                return Some(format!("--{name}"));
            }
        } else if let Some(sub) = command.find_subcommand(word) {
            command = sub;
            all.push(sub);
        } else if at == 0 && !word.is_empty() && !word.starts_with(['{', '-', '<']) {
            return Some(word.to_owned());
        }
    }
    None
}

#[test]
fn every_jelly_command_in_a_text_exists() {
    assert_eq!(
        unknown_word(&["check", "--alive"]),
        Some("--alive".to_owned())
    );
    assert_eq!(
        unknown_word(&["snapshot", "accept", "{name}", "--plan"]),
        None
    );
    assert_eq!(unknown_word(&["chekc"]), Some("chekc".to_owned()));
    let mut seen = 0;
    for (path, line) in lines_of_sources() {
        for (before, end) in [("`jelly ", '`'), ("$ jelly ", '"')] {
            for (at, found) in line.match_indices(before) {
                let rest = &line[at + found.len()..];
                let words = rest.split([end, '`', '"']).next().unwrap_or(rest);
                let words: Vec<&str> = words.split_whitespace().collect();
                let unknown = unknown_word(&words);
                assert_eq!(unknown, None, "{}: {line}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "{seen}");
}

#[test]
fn no_text_of_a_remedy_or_a_rule_holds_a_command_that_destroys() {
    let mut seen = 0;
    for (path, line) in lines_of_sources() {
        let is_advice = ["remedy", "rules"]
            .map(|folder| path.components().any(|part| part.as_os_str() == folder));
        if !is_advice.contains(&true) {
            continue;
        }
        seen += 1;
        // What a rule looks for, and its examples, are not what it prints.
        if line.starts_with("- '") || ["stderr:", "phase:"].iter().any(|key| line.contains(key)) {
            continue;
        }
        for word in [
            "rm -",
            "rmdir",
            "prune",
            "--volumes",
            "reset --hard",
            "kill -",
            "truncate -",
        ] {
            assert!(!line.contains(word), "{}: {line}", path.display());
        }
        // Where it was seen to be the entry's own.
        assert!(
            !line.contains("-m venv --clear"),
            "{}: {line}",
            path.display()
        );
        if line.contains("install --force") {
            assert!(path.ends_with("installed.rs"), "{}: {line}", path.display());
        }
    }
    assert!(seen > 2000, "{seen}");
}

#[test]
fn only_an_environment_of_the_entrys_own_is_cleared() {
    let own = &[
        ("/work/.venv/bin/srv", "#!/work/.venv/bin/python3\n"),
        ("/work/.venv/bin/python3.11", ""),
        ("/work/.venv/pyvenv.cfg", ""),
        (
            "/work/.venv/lib/python3.11/site-packages/srv-1.0.dist-info/RECORD",
            "srv/__init__.py,,\n../../../bin/srv,sha256=x,203\n",
        ),
        // Nobody has installed it.
        ("/work/.venv/bin/backup.sh", "#!/bin/sh\n"),
        // A package has a file of that name inside.
        (
            "/work/.venv/lib/python3.11/site-packages/other-1.0.dist-info/RECORD",
            "other/bin/backup.sh,sha256=x,203\n",
        ),
    ];
    for (command, files, is_cleared) in [
        ("/work/.venv/bin/srv", &own[..4], true),
        ("/work/.venv/bin/srv", &own[..5], false),
        ("/work/.venv/bin/srv", &own[..], false),
        ("/work/.venv/bin/srv", &own[..3], false),
        (
            "/work/srv.py",
            &[
                ("/work/srv.py", "#!/work/.venv/bin/python3\n"),
                ("/work/.venv/pyvenv.cfg", ""),
            ],
            true,
        ),
        // Somebody's work lies in it.
        (
            "/work/bin/srv",
            &[
                ("/work/bin/srv", "#!/work/bin/python3\n"),
                ("/work/pyvenv.cfg", ""),
                ("/work/server.py", ""),
            ],
            false,
        ),
        // The environment of a neighbour.
        (
            "/work/other/srv",
            &[
                ("/work/other/srv", "#!/work/bad/bin/python3\n"),
                ("/work/bad/pyvenv.cfg", ""),
            ],
            false,
        ),
        // Nothing says that it was an environment.
        ("/work/.venv/bin/srv", &own[..1], false),
        (
            "/work/srv",
            &[("/work/srv", "#!/usr/bin/python3.9\n")],
            false,
        ),
        (
            "/work/srv",
            &[
                ("/work/srv", "#!/usr/bin/python3.9\n"),
                ("/usr/pyvenv.cfg", ""),
            ],
            false,
        ),
        // Another's.
        (
            "/work/srv",
            &[
                ("/work/srv", "#!/opt/x/bin/python\n"),
                ("/opt/x/pyvenv.cfg", ""),
            ],
            false,
        ),
    ] {
        let text = serde_json::json!({"mcpServers": {"a": {"command": command}}}).to_string();
        let config = read(Path::new("mcp.json"), &text, Path::new("/")).unwrap();
        let failure: Failure = serde_json::from_value(serde_json::json!({
            "phase": "spawn", "argv": [command], "cwd": "/work",
            "spawn_error": {"name": "ENOENT", "text": "No such file or directory"},
        }))
        .unwrap();
        let redactor = Redactor::none();
        let mut diagnosis = Engine::builtin().diagnose_for(&failure, Audience::Configuration);
        assert_eq!(diagnosis.root_cause, "command_not_found");
        let context = RemedyContext {
            config: &config,
            entry: &config.entries[0],
            failure: &failure,
            redactor: &redactor,
            home: None,
            sight: &Scripts(files),
            proven: None,
            tried: false,
        };
        prescribe(&mut diagnosis, &context);
        let fixes: Vec<String> = diagnosis.advice.fix.iter().map(Fix::to_string).collect();
        let cleared = fixes.iter().any(|fix| fix.contains("$ mv "));
        assert!(
            !fixes.iter().any(|fix| fix.contains("--clear")),
            "{fixes:#?}"
        );
        assert_eq!(cleared, is_cleared, "{command}: {fixes:#?}");
    }
}
