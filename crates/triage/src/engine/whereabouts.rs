//! Where a server's own words point to: the file that it could not open and its
//! folder, the line at which a file could not be read, the line of its own
//! code that was at it.
//!
//! Main function: [`whereabouts`]. Reads texts only; whether a file is there is
//! for others to see.

use super::advice::Values;
use jelly_base::model::Failure;
use jelly_base::text::one_line;
use regex::bytes::{Captures, Regex, RegexBuilder};
use std::path::Path;
use std::sync::LazyLock;

/// Of a text, this much of the end is looked at.
const LOOKED_AT: usize = 64 * 1024;

/// How much of a path is said.
const SHOWN: usize = 300;

/// Causes that are about files.
const OF_FILES: &[&str] = &[
    "invalid_argument",
    "invalid_config",
    "missing_directory",
    "missing_file",
    "permission_denied",
];

/// A file that could not be opened, by the words of runtimes, loggers and
/// shells; the first that holds.
static PATHS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[
        r#"(?:No such file or directory|ENOENT|Permission denied|EACCES|EPERM|EROFS|Operation not permitted|Read-only file system)[^'"\n]{0,80}['"](?P<path>[^'"\n]{1,400})['"]"#,
        r"\b(?:open|create|mkdir|write|stat) (?P<path>/[^:\n]{1,400}): (?:permission denied|no such file|read-only file|operation not permitted)",
        r#"(?i)(?:can.?t|cannot|could not|unable to|failed to) (?:open|write|create|access|read)(?: to)?(?: the)?(?: log)?(?: ?file)?:? ['"`]?(?P<path>/[^'"`:\n]{1,400}?)['"`]?: permission denied"#,
        r"@ \w+ - (?P<path>[^\s(]{1,400})",
        r"\b(?:FileNotFoundException|NoSuchFileException|AccessDeniedException): (?P<path>/[^\s(]{1,400})",
        r#"(?i)\b(?:the path|file|stream|stream or file|directory at|open|opened?|opening(?: file)?|part of the path) ['"`](?P<path>[^'"`\n]{1,400})['"`]"#,
        r"\b(?:fopen|file_put_contents|open|openFile|file_get_contents)\((?P<path>/[^,)\n]{1,400})[,)]",
        r#"(?i)(?P<path>[~.]{0,2}/[^\s:'"`,()\[\]]{1,400})['"`]?:? ?(?:is not writ|\(?permission denied|\(?no such file|directory nonexistent|\(?enoent)"#,
        r#"(?i)\b(?:director(?:y|ies) (?:for )?\[?|create file |opening file |writable: |access to |cannot (?:create|touch) |can.t open log |(?:log|write) to |for log files, )['"`]?(?P<path>[~.]{0,2}/?[\w.\x80-\xff-]+/[^\s:'"`,\]]{1,400})"#,
        r#"(?i)\bfile:? ['"`]?(?P<path>[~.]{0,2}/[^\s:'"`,()]{1,400})"#,
    ])
});

/// A line of a file that could not be read, as parsers of YAML, JSON and TOML
/// say it; the first that holds.
static PLACES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[
        r#"in "(?P<file>[^"\n]{1,400})"(?:, line | at line | \()(?P<line>\d{1,9})"#,
        r"(?P<file>[^\s:'\x22(]{1,400}\.(?:ya?ml|json|toml|ini|cfg)):(?P<line>\d{1,9})\b",
        r"(?i)(?P<file>[^\s:'\x22(]{1,400}\.(?:ya?ml|json|toml|ini|cfg))\b[^\n]{0,120}?\bline (?P<line>\d{1,9})",
        r"(?P<file>[^\s:'\x22(`]{1,400}\.(?:ya?ml|json|toml|ini|cfg))\b[^\n]{0,80}\n\s*Caused by:\s*[^\n]{0,200}\bline (?P<line>\d{1,9})\b",
        // Before a column, no frame of a stack: `File "x.py", line 12, in f`.
        r"(?i)\bline:? (?P<line>\d{1,9}),? (?:and )?col(?:umn)?\b",
        r"(?i)\bline (?P<line>\d{1,9}) (?:of|in) ['\x22]?(?P<file>[^\s:'\x22(]{1,400}\.(?:ya?ml|json|toml|ini|cfg))\b",
        // Not the line of a frame: `File "x.py", line 12`.
        r"(?im)(?:^|[^\x22,\s]|[^\x22,]\s)line (?P<line>\d{1,9})\b",
        r"[(\[](?P<line>\d{1,9}):\d{1,9}[)\]]",
    ])
});

/// Files that a parser reads, among the words of a command.
static DATA_FILE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[r"(?i)^(?:--?[\w-]+=)?(?P<file>[^=]+\.(?:ya?ml|json|toml|ini|cfg))$"])
});

/// What kind of file it is, by the words of its parser.
static FORMATS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[
        r"(?i)(?:\b|_)(?P<YAML>yaml)|YAML(?:Exception|ParseError|Error)|\b(?:Scanner|Parser|Composer|Constructor)Error\b|mapping values are not allowed|while (?:scanning|parsing) an? \w+|\(Line: \d+, Col: \d+|tab characters must not|-quoted text|block mapping|implicit keys|\.ya?ml\b",
        r"(?i)(?P<TOML>toml)",
        r"(?i)(?P<JSON>json)",
    ])
});

/// A line of the server's code, by the frames of languages; Python's, whose
/// innermost is the last one, first of all.
static FRAMES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[
        r#"(?m)^[ |+]*File "(?P<file>[^"\n<]{1,400})", line (?P<line>\d{1,9})"#,
        r"(?m)^\s+at (?:[^\n(]{0,200}\()?(?:file://)?(?P<file>/[^\n():]{1,400}):(?P<line>\d{1,9}):\d{1,9}\)?$",
        // Ruby.
        r"(?m)^(?:\s+from )?(?P<file>/[^\n:]{1,400}\.rb):(?P<line>\d{1,9}):in ",
        // PHP and Perl.
        r"\b(?:in|at) (?P<file>/[^\n:]{1,400}\.(?:php|pl|pm))(?: on)?(?: line |:)(?P<line>\d{1,9})\b",
        // .NET.
        r"(?m) in (?P<file>[^\n:]{0,2}[^\n:]{1,400}):line (?P<line>\d{1,9})$",
        // Go.
        r"(?m)^\t(?P<file>/[^\n:]{1,400}\.go):(?P<line>\d{1,9})\b",
        // Rust.
        r"panicked at (?P<file>[^\n:']{1,400}\.rs):(?P<line>\d{1,9}):\d{1,9}",
        // The JVM, whose frames name no folder.
        r"(?m)^\s+at [\w.$/<>\x80-\xff]{1,200}\((?P<file>[\w\x80-\xff]+\.(?:java|kt|scala|groovy|clj)):(?P<line>\d{1,9})\)",
        // Elixir.
        r"(?m)^\s+(?:\([^)\n]{1,80}\) )?(?P<file>[\w./\x80-\xff-]{1,400}\.exs?):(?P<line>\d{1,9}): ",
        // Shells.
        r"(?m)^(?P<file>[^\s:]{1,400}\.(?:sh|bash)): (?:line )?(?P<line>\d{1,9}): ",
    ])
});

/// A line that a compiler or interpreter can't read, as it says it; the first
/// of a text.
static SOURCES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[
        // `s.js:4`, `s.ts(4,7)`, `S.java:4: error`, `main.go:4:7`, `s.rb:4:`
        r"(?m)^\s*(?:error: |lua: |PHP )?(?:[^\s:]{1,80}: )??(?:at |--> |╭─\[|,-\[|┌─ )?(?:[^\s()]{0,80}\()?(?:file://)?(?P<file>[^\s:'\x22(),<>\[\]]{1,300}\.(?:[cm]?[jt]sx?|vue|svelte|rbs?|java|kts?|go|rs|lua|exs?|erl|swift|cs|fs|php|pl|pm|sh|bash|zsh|scala|groovy|clj|dart|jl|R|nim|zig|cpp|cc|c|h|py))(?::|\()(?P<line>\d{1,9})\b",
        // `in s.php on line 4`, `at s.pl line 4`, `s.sh: line 4:`, `(s.py, line 4)`
        r"(?:\b(?:in|at|of|found (?:on|at)) |\(|^)(?:file://)?(?P<file>[^\s:'\x22(),<>\[\]]{1,300}\.\w{1,8})(?:,| on|:)? line:? (?P<line>\d{1,9})\b",
        // `at file:///srv/s.ts:4:7`, `found on s.exs:4:7`
        r"\b(?:at|in|on|from) (?:file://)?(?P<file>[^\s:'\x22(),<>\[\]]{1,300}\.\w{1,8}):(?P<line>\d{1,9})\b",
        // `s: 4: Syntax error`
        r"(?m)^(?P<file>[^\s:'\x22()]{1,300}): (?:line )?(?P<line>\d{1,9}): [Ss]yntax error",
    ])
});

/// The line of a module above an error of Node, marked.
static LINKED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[
        r"(?m)^(?:file://)?(?P<file>/[^\n:]{1,300}\.[cm]?[jt]sx?):(?P<line>\d{1,9})\n[^\n]{0,400}\n\s*\^+\s*\n",
    ])
});

/// A call of Python that replaces the server by another program.
static EXEC: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[r#"\bos\.(?:exec|spawn)\w*\([^\n'"]{0,40}['"](?P<name>[^'"\n]{1,200})['"]"#])
});

/// Folders, and packages of the JVM, of code that is not the server's own.
const LIBRARIES: &[&str] = &[
    "/lib/python",
    "/site-packages/",
    "/dist-packages/",
    "/node_modules/",
    "/lib/ruby/",
    "/gems/",
    "/vendor/",
    "/usr/share/gocode/",
    "/go/pkg/mod/",
    "/.cargo/registry/",
    " at java.",
    "\tat java.",
    "\tat jdk.",
    "\tat sun.",
    "\tat org.yaml.",
    "\tat org.springframework.",
    "\tat ch.qos.",
    "\tat org.apache.",
    "\tat com.fasterxml.",
    "(elixir ",
];

/// The patterns, by bytes: four hundred of any character of Unicode, which most
/// of them allow, take a hundred times as long to compile as four hundred bytes.
fn compiled(patterns: &[&str]) -> Vec<Regex> {
    let by_bytes = |pattern| RegexBuilder::new(pattern).unicode(false).build();
    let all: Result<_, _> = patterns.iter().copied().map(by_bytes).collect();
    #[expect(clippy::expect_used, reason = "constants that the tests below compile")]
    all.expect("the patterns compile")
}

/// What a group matched; `None` where a bound cut a character in two.
fn group<'t>(found: &Captures<'t>, name: &str) -> Option<&'t str> {
    std::str::from_utf8(found.name(name)?.as_bytes()).ok()
}

/// Adds what the words of the failure point to:
///
/// - `path`: the file that could not be opened, unless the rule knows it;
/// - `folder`: where it lies;
/// - `spot`: `file:line`, or `line N`, of what could not be read;
/// - `invalid`: the same as the head of a sentence, with the kind of file;
/// - `origin`: `file:line` of the server's own code;
/// - `source`: `file:line` of code that can't be read or compiled;
/// - `name`: the program that could not be started, unless the rule knows it.
pub(super) fn whereabouts(failure: &Failure, root_cause: &str, values: &mut Values) {
    let of_programs = root_cause == "command_not_found";
    let of_files = OF_FILES.contains(&root_cause);
    let answer = failure.tool_result.as_ref().map(|r| r.text.as_str());
    let noise = failure.stdout_noise.join("\n");
    let texts: Vec<&str> = [
        failure.stderr.as_deref(),
        answer,
        failure.message.as_deref(),
        Some(noise.as_str()),
    ]
    .into_iter()
    .flatten()
    .map(|text| &text[text.ceil_char_boundary(text.len().saturating_sub(LOOKED_AT))..])
    .collect();
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            values
                .entry(name.to_owned())
                .or_insert_with(|| one_line(&value, SHOWN));
        }
    };
    if root_cause == "invalid_config" {
        let spot = texts.iter().find_map(|text| spot(text, failure));
        if let Some(spot) = &spot {
            let format = texts.iter().find_map(|text| format(text));
            let kind = format.unwrap_or("file");
            set("invalid", Some(format!("Invalid {kind} at {spot}")));
        }
        set("spot", spot);
    } else if of_files {
        let path = texts.iter().find_map(|text| path(text));
        // In JSON, a quotation mark has one before it.
        set(
            "path",
            path.map(|path| path.trim_end_matches('\\').to_owned()),
        );
    }
    if of_programs {
        set("name", texts.iter().find_map(|text| program(text)));
    }
    set("origin", texts.iter().find_map(|text| origin(text)));
    if root_cause == "crashed_during_startup" {
        set("source", texts.iter().find_map(|text| source(text)));
    }
    if let Some(folder) = values.get("path").and_then(|path| folder(path, failure)) {
        values.entry("folder".to_owned()).or_insert(folder);
    }
}

/// The file that the server's words are about, and the line in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointedTo {
    pub file: Option<String>,
    pub line: Option<u64>,
}

/// What the words of a failure with this cause point to.
#[must_use]
pub fn pointed_to(failure: &Failure, root_cause: &str) -> PointedTo {
    let mut values = Values::new();
    whereabouts(failure, root_cause, &mut values);
    let spot = values.remove("spot").or_else(|| values.remove("source"));
    let Some(spot) = spot else {
        return PointedTo {
            file: values.remove("path"),
            line: None,
        };
    };
    let (file, line) = match spot.strip_prefix("line ") {
        Some(line) => (None, line),
        None => match spot.rsplit_once(':') {
            Some((file, line)) => (Some(file), line),
            None => (Some(&*spot), ""),
        },
    };
    PointedTo {
        file: file.map(str::to_owned),
        line: line.parse().ok(),
    }
}

/// The program that Python was to be replaced by, which its error does not name.
fn program(text: &str) -> Option<String> {
    let found = EXEC.first()?.captures_iter(text.as_bytes()).last()?;
    group(&found, "name").map(str::to_owned)
}

fn path(text: &str) -> Option<String> {
    // A frame of Python names code that is there.
    let is_frame = |found: &Captures<'_>| {
        let end = found.get(0).map_or(text.len(), |whole| whole.end());
        let rest = &text.as_bytes()[end..];
        let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
        rest.starts_with(b", line ")
    };
    let found = PATHS.iter().find_map(|pattern| {
        let mut all = pattern.captures_iter(text.as_bytes());
        all.by_ref().filter(|found| !is_frame(found)).last()
    })?;
    group(&found, "path").map(str::to_owned)
}

/// The folder of a file; a relative one from where the server runs.
fn folder(path: &str, failure: &Failure) -> Option<String> {
    let folder = Path::new(path).parent()?;
    let whole = match &failure.cwd {
        Some(cwd) => Path::new(cwd).join(folder),
        None => folder.to_owned(),
    };
    let shown = whole.to_str()?.to_owned();
    (!shown.is_empty()).then_some(shown)
}

/// The place in a file; where its parser does not name the file, and the
/// command names a single one, it is that.
fn spot(text: &str, failure: &Failure) -> Option<String> {
    // Of a quote that nothing closes, the end of the file is the second place.
    let is_open = text.contains("hile scanning a quoted scalar") && text.contains("end of stream");
    let found = PLACES.iter().find_map(|place| {
        let mut places = place.captures_iter(text.as_bytes());
        if is_open {
            places.next()
        } else {
            places.last()
        }
    })?;
    let line = group(&found, "line")?;
    let named = group(&found, "file");
    // What was read as a text, and not as a file.
    let named = named.filter(|file| !file.starts_with('<'));
    Some(match named.or_else(|| only_file(&failure.argv)) {
        Some(file) => format!("{file}:{line}"),
        None => format!("line {line}"),
    })
}

fn only_file(argv: &[String]) -> Option<&str> {
    let pattern = DATA_FILE.first()?;
    let mut files = argv
        .iter()
        .filter_map(|arg| group(&pattern.captures(arg.as_bytes())?, "file"));
    files.next().filter(|_| files.next().is_none())
}

fn format(text: &str) -> Option<&'static str> {
    let names = ["YAML", "TOML", "JSON"];
    names
        .into_iter()
        .zip(FORMATS.iter())
        .find(|(_, pattern)| pattern.is_match(text.as_bytes()))
        .map(|(name, _)| name)
}

/// The line that keeps the server's code from being read.
fn source(text: &str) -> Option<String> {
    static TOLD: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        compiled(&[
            r"(?i)\b(?:syntax|indentation|tab|parse|compil\w*|transform)\s?error|\bsyntax errors?\b|\berror (?:TS|CS|FS)\d|\berror(?:\[E\d+\])?:|: ERROR: |unexpected (?:symbol|token)|could not be parsed",
        ])
    });
    if !TOLD.first()?.is_match(text.as_bytes()) {
        return None;
    }
    let bytes = text.as_bytes();
    let python = FRAMES.first()?.captures_iter(bytes).last();
    let python = python.filter(|_| text.contains("Error: "));
    let frame = python.or_else(|| {
        let mut all = SOURCES.iter().filter_map(|place| place.captures(bytes));
        all.next()
    })?;
    at(&frame)
}

/// The line of the server's own code at which a stack was written.
pub(super) fn origin(text: &str) -> Option<String> {
    let (python, others) = FRAMES.split_first()?;
    let own = |frame: &Captures<'_>| {
        let line = String::from_utf8_lossy(&frame[0]);
        !LIBRARIES.iter().any(|library| line.contains(library))
    };
    let bytes = text.as_bytes();
    let frame = python.captures_iter(bytes).filter(own).last().or_else(|| {
        others
            .iter()
            .find_map(|language| language.captures_iter(bytes).find(own))
    });
    // Of modules that do not fit each other, Node shows the line alone.
    let linked = || LINKED.first()?.captures_iter(bytes).find(own);
    at(&frame.or_else(linked)?)
}

fn at(frame: &Captures<'_>) -> Option<String> {
    Some(format!(
        "{}:{}",
        group(frame, "file")?,
        group(frame, "line")?
    ))
}

#[cfg(test)]
mod tests {
    use super::{Values, whereabouts};
    use jelly_base::model::Failure;

    fn found(root_cause: &str, stderr: &str, argv: &[&str]) -> Values {
        let failure = Failure {
            stderr: Some(stderr.to_owned()),
            argv: argv.iter().map(|arg| (*arg).to_owned()).collect(),
            cwd: Some("/srv".to_owned()),
            ..Failure::default()
        };
        let mut values = Values::new();
        whereabouts(&failure, root_cause, &mut values);
        values
    }

    #[test]
    fn a_file_that_cant_be_opened_is_found_with_its_folder() {
        for (told, path, folder) in [
            (
                "FileNotFoundError: [Errno 2] No such file or directory: '/var/log/none/a b.log'",
                "/var/log/none/a b.log",
                "/var/log/none",
            ),
            (
                "Error: ENOENT: no such file or directory, open 'logs/a.log'",
                "logs/a.log",
                "/srv/logs",
            ),
            (
                "open /var/log/x/a.log: no such file or directory",
                "/var/log/x/a.log",
                "/var/log/x",
            ),
            (
                "log.rb:9:in `new': No such file or directory @ rb_sysopen - /var/log/x/a.log (Errno::ENOENT)",
                "/var/log/x/a.log",
                "/var/log/x",
            ),
            (
                "FileNotFoundException: /var/log/x/a.log (No such file or directory)",
                "/var/log/x/a.log",
                "/var/log/x",
            ),
            (
                "fopen(/var/log/x/a.log): Failed to open stream: No such file or directory",
                "/var/log/x/a.log",
                "/var/log/x",
            ),
            (
                "run.sh: line 2: /var/log/x/a.log: No such file or directory",
                "/var/log/x/a.log",
                "/var/log/x",
            ),
            (
                "Access to the path '/var/log/x/a.log' is denied.",
                "/var/log/x/a.log",
                "/var/log/x",
            ),
        ] {
            let values = found("missing_directory", told, &[]);
            assert_eq!(values["path"], path, "{told}");
            assert_eq!(values["folder"], folder, "{told}");
        }
    }

    #[test]
    fn the_line_that_no_compiler_can_read_is_found_in_every_language() {
        for (told, wanted) in [
            (
                "Traceback (most recent call last):\n  File \"/srv/s.py\", line 1, in <module>\n    import tools\n  File \"/srv/tools.py\", line 4\n    def x(:\n          ^\nSyntaxError: invalid syntax",
                "/srv/tools.py:4",
            ),
            (
                "Sorry: IndentationError: unexpected indent (s.py, line 4)",
                "s.py:4",
            ),
            (
                "/srv/s.js:4\nconst = 3;\n      ^\n\nSyntaxError: Unexpected token '='\n    at wrapSafe (node:internal/modules/cjs/loader:1378:20)",
                "/srv/s.js:4",
            ),
            (
                "file:///srv/s.mjs:4\nconst = 3;\n      ^\n\nSyntaxError: Unexpected token '='",
                "/srv/s.mjs:4",
            ),
            ("src/s.ts(4,7): error TS1005: ';' expected.", "src/s.ts:4"),
            (
                "src/s.ts:4:7 - error TS2304: Cannot find name 'foo'.",
                "src/s.ts:4",
            ),
            (
                "Error: Transform failed with 1 error:\n/srv/s.ts:4:6: ERROR: Expected identifier but found \"=\"",
                "/srv/s.ts:4",
            ),
            (
                "/srv/s.rb:4: syntax error, unexpected end-of-input",
                "/srv/s.rb:4",
            ),
            (
                "/srv/s.rb: --> /srv/s.rb\nUnmatched keyword, missing `end' ?\n/srv/s.rb:4: syntax errors found (SyntaxError)",
                "/srv/s.rb:4",
            ),
            (
                "PHP Parse error:  syntax error, unexpected token \"=\" in /srv/s.php on line 4",
                "/srv/s.php:4",
            ),
            (
                "S.java:4: error: ';' expected\n    int x = 3\nerror: compilation failed",
                "S.java:4",
            ),
            (
                "# depot\n./main.go:4:7: syntax error: unexpected newline",
                "./main.go:4",
            ),
            (
                "error[E0425]: cannot find value `x` in this scope\n --> src/main.rs:4:7\n  |\n4 | foo x",
                "src/main.rs:4",
            ),
            (
                "syntax error at /srv/s.pl line 4, near \"=;\"",
                "/srv/s.pl:4",
            ),
            (
                "/srv/s.sh: line 4: syntax error near unexpected token `done'",
                "/srv/s.sh:4",
            ),
            ("/srv/run: 4: Syntax error: \"fi\" unexpected", "/srv/run:4"),
            (
                "error: The module's source code could not be parsed: Expression expected at file:///srv/s.ts:4:7",
                "/srv/s.ts:4",
            ),
            (
                "4 |   const = 3;\n            ^\nerror: Expected identifier but found \"=\"\n    at /srv/s.ts:4:9",
                "/srv/s.ts:4",
            ),
            (
                "lua: /srv/s.lua:4: unexpected symbol near '='",
                "/srv/s.lua:4",
            ),
            (
                "** (SyntaxError) invalid syntax found on /srv/s.exs:4:7:\n    error: syntax error before: '='",
                "/srv/s.exs:4",
            ),
            (
                "/srv/S.cs(4,7): error CS1002: ; expected [/srv/depot.csproj]",
                "/srv/S.cs:4",
            ),
        ] {
            let values = found("crashed_during_startup", told, &[]);
            let source = values.get("source").map(String::as_str);
            assert_eq!(source, Some(wanted), "{told}");
        }
        let values = found("crashed_during_startup", "no depot at s.py line 4", &[]);
        assert!(!values.contains_key("source"), "{values:?}");
    }

    #[test]
    fn a_frame_is_never_the_file_that_is_missing() {
        let told = "Traceback (most recent call last):\n  File \"/srv/app/server.py\", line 3, in <module>\n    run()\nFileNotFoundError: no such thing";
        let values = found("missing_file", told, &[]);
        assert!(!values.contains_key("path"), "{values:?}");
        assert_eq!(values["origin"], "/srv/app/server.py:3");
    }

    #[test]
    fn the_line_of_an_invalid_file_is_found() {
        for (told, spot) in [
            (
                "ScannerError: mapping values\n  in \"config.yaml\", line 15, column 9",
                "config.yaml:15",
            ),
            ("/etc/app.json:15:3: unexpected", "/etc/app.json:15"),
            (
                "cannot read app.toml: expected a value at line 15",
                "app.toml:15",
            ),
            (
                "File \"/srv/server.py\", line 12, in <module>\nJSONDecodeError: Expecting value: line 15 column 2 (char 9)",
                "line 15",
            ),
            ("yaml: line 15: did not find expected key", "line 15"),
            (
                " in 'reader', line 15, column 24:\n\tat A.main(A.java:3)",
                "line 15",
            ),
            ("(Line: 15, Col: 24, Idx: 237): found a tab", "line 15"),
            (
                "bad indentation in \"/srv/c.yaml\" (15:5)",
                "/srv/c.yaml:15",
            ),
            ("[15:18] could not find end character", "line 15"),
            (
                "YAMLException: bad indentation of a mapping entry (15:4)",
                "line 15",
            ),
        ] {
            assert_eq!(found("invalid_config", told, &[])["spot"], spot, "{told}");
        }
        let told = "yaml: line 15: did not find expected key";
        let argv = ["srv", "--config=conf/app.yaml"];
        let values = found("invalid_config", told, &argv);
        assert_eq!(values["spot"], "conf/app.yaml:15");
        assert_eq!(values["invalid"], "Invalid YAML at conf/app.yaml:15");
        let two = ["srv", "a.yaml", "b.yaml"];
        assert_eq!(found("invalid_config", told, &two)["spot"], "line 15");
    }

    #[test]
    fn the_line_of_the_servers_own_code_is_none_of_the_file() {
        let told = "File \"/srv/server.py\", line 12, in <module>\nJSONDecodeError";
        let values = found("invalid_config", told, &[]);
        assert!(!values.contains_key("spot"), "{values:?}");
        assert_eq!(values["origin"], "/srv/server.py:12");
    }

    #[test]
    fn the_line_of_the_servers_own_code_is_found_among_frames_of_others() {
        let python = "Traceback (most recent call last):\n  File \"/srv/server.py\", line 12, in <module>\n  File \"/usr/lib/python3.11/logging/__init__.py\", line 9, in _open\nFileNotFoundError";
        let node = "Error: ENOENT\n    at Object.openSync (node:fs:581:18)\n    at file:///srv/node_modules/x/i.js:3:4\n    at start (/srv/server.js:7:3)\n    at /srv/main.js:1:1";
        for (told, origin) in [(python, "/srv/server.py:12"), (node, "/srv/server.js:7")] {
            assert_eq!(found("missing_file", told, &[])["origin"], origin);
        }
        for (told, origin) in [
            (
                "/usr/lib/ruby/3.1.0/logger.rb:9:in `open'\n\tfrom /srv/log.rb:1:in `new'",
                "/srv/log.rb:1",
            ),
            (
                "PHP Warning:  fopen(/v/a) in /srv/log.php on line 7",
                "/srv/log.php:7",
            ),
            (
                "   at System.IO.FileStream..ctor(String path)\n   at Program.Main() in /srv/Program.cs:line 14",
                "/srv/Program.cs:14",
            ),
            ("main.main()\n\t/srv/main.go:5 +0xa07", "/srv/main.go:5"),
            ("thread 'main' panicked at src/log.rs:8:50:", "src/log.rs:8"),
            (
                "\tat java.base/java.io.FileOutputStream.open0(FileOutputStream.java:293)\n\tat shop.Main.main(Main.java:17)",
                "Main.java:17",
            ),
            (
                "/srv/run.sh: line 2: /v/a: No such file or directory",
                "/srv/run.sh:2",
            ),
        ] {
            assert_eq!(found("missing_file", told, &[])["origin"], origin, "{told}");
        }
        let linked = "file:///srv/s.mjs:3\nimport {A} from './b.mjs';\n        ^\nSyntaxError: The requested module './b.mjs' does not provide an export named 'A'\n    at ModuleJob._instantiate (node:internal/modules/esm/module_job:213:21)";
        assert_eq!(
            found("crashed_during_startup", linked, &[])["origin"],
            "/srv/s.mjs:3"
        );
        let of_crash = found("crashed_during_startup", python, &[]);
        assert!(of_crash.keys().all(|name| name == "origin"), "{of_crash:?}");
        let exec = "  File \"/srv/s.py\", line 2, in <module>\n    os.execvp(\"up\", argv)\n  File \"<frozen os>\", line 574, in execvp\nFileNotFoundError: [Errno 2] No such file or directory";
        let values = found("command_not_found", exec, &[]);
        assert_eq!(
            (&*values["name"], &*values["origin"]),
            ("up", "/srv/s.py:2")
        );
    }
}
