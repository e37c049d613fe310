//! Many secrets, in every form in which others write them, through everything
//! that jelly prints or writes: read as a terminal, a browser or a parser reads
//! it, none of them is there.

use crate::support::talker::{files, talker};
use crate::support::{Ended, Project, slice};
use aho_corasick::AhoCorasick;
use std::collections::HashMap;
use std::fmt::Write;

/// Kinds of secrets: of letters and digits, with what escapes stumble over,
/// of several lines, as others issue them. None is a word of jelly's own.
const SECRETS: [&str; 25] = [
    "correct-horse-battery",
    "p4ssW0rd!",
    "a1b2c3d4e5f60718293a4b5c6d7e8f90",
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "xoxb-17653672481-19874698323-pdFZKVeTuE8s",
    "sk-ant-api03-Zm9vYmFy_QUJDREVG-9x",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3",
    "quote\"and'apostrophe",
    "less<than>more&amper",
    "back\\slash\\n-not-a-line",
    "percent%41%zz%percent",
    "space in the middle",
    "dollar$HOME`tick`",
    "ünïcödé-pässwörd",
    "密码是一个长的秘密",
    "emoji\u{1f511}key\u{1f512}lock",
    "tab\tseparated\tvalue",
    "8374625190",
    "postgres://svc:h4ckme99@db.internal/app",
    "{\"api_key\":\"json-in-json-77\"}",
    "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nAgMBAAECggEBAKTmjaSlfm\n-----END KEY-----",
    "#anchor?query=1&x=2;y=3",
    "~tilde*star(paren)=+",
];

/// What is too much for one run is run in so many.
const PARTS: usize = 12;

const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Written out here, so that the test does not trust what it tests.
fn base64(bytes: &[u8]) -> String {
    let mut all = String::new();
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (at, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            all.push(match at <= group.len() {
                true => char::from(BASE64[(bits >> shift) as usize & 63]),
                false => '=',
            });
        }
    }
    all
}

/// What is the secret's own, whatever stands around it.
fn whole_groups(encoded: &str, before: usize) -> String {
    let own = encoded.trim_end_matches('=');
    own[before..own.len() - own.len() % 4].to_lowercase()
}

/// Each character, or as `otherwise` writes it where it has other words.
fn escaped(text: &str, otherwise: impl Fn(char) -> Option<String>) -> String {
    text.chars()
        .map(|c| otherwise(c).unwrap_or_else(|| c.to_string()))
        .collect()
}

fn json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

/// As JSON for which every character is escaped that `which` names.
fn json_units(text: &str, which: impl Fn(char) -> bool) -> String {
    escaped(text, |c| {
        let mut units = [0; 2];
        let units = c.encode_utf16(&mut units);
        which(c).then(|| units.iter().map(|unit| format!("\\u{unit:04X}")).collect())
    })
}

fn percent(text: &str, kept: &str) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        match byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
            true => all.push(char::from(byte)),
            false => write!(all, "%{byte:02X}").unwrap(),
        }
        all
    })
}

fn html(text: &str, apostrophe: &str) -> String {
    escaped(text, |c| match c {
        '&' => Some("&amp;".into()),
        '<' => Some("&lt;".into()),
        '>' => Some("&gt;".into()),
        '"' => Some("&#34;".into()),
        '\'' => Some(apostrophe.into()),
        _ => None,
    })
}

fn hex(text: &str, between: &str) -> String {
    let bytes: Vec<String> = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(between)
}

/// As the debug forms of languages print bytes.
fn listed(text: &str, number: impl Fn(u8) -> String) -> String {
    text.bytes().map(number).collect::<Vec<String>>().join(", ")
}

/// Broken over two lines, the second with an indent, in a text in JSON.
fn wrapped_json(text: &str) -> String {
    let (head, tail) = text.split_at(text.floor_char_boundary(text.len() / 2));
    format!("{}\\n    {}", json(head), json(tail))
}

/// With this before each character at an odd place.
fn broken_by(text: &str, mark: &str) -> String {
    let odd = |(at, c): (usize, char)| match at % 2 {
        0 => c.to_string(),
        _ => format!("{mark}{c}"),
    };
    text.chars().enumerate().map(odd).collect()
}

/// As `rich` prints it: digits in a colour of their own.
fn with_coloured_digits(text: &str) -> String {
    escaped(text, |c| {
        c.is_ascii_digit()
            .then(|| format!("\u{1b}[1;36m{c}\u{1b}[0m"))
    })
}

/// The forms in which a secret is found in what others write.
fn forms(secret: &str) -> Vec<(&'static str, String)> {
    let half = secret.len() / 2;
    let (head, tail) = secret.split_at(secret.floor_char_boundary(half));
    vec![
        ("as it is", secret.to_owned()),
        ("JSON", json(secret)),
        ("JSON in JSON", json(&json(secret))),
        (
            "JSON in ASCII",
            json_units(&json(secret), |c| !c.is_ascii()),
        ),
        (
            "JSON for HTML",
            json_units(&json(secret), |c| "<>&'=+".contains(c)),
        ),
        ("JSON, all escaped", json_units(secret, |_| true)),
        ("URL", percent(secret, "-_.~")),
        ("URL in lower case", percent(secret, "-_.~").to_lowercase()),
        ("URL twice", percent(&percent(secret, "-_.~"), "-_.~")),
        ("a form", percent(secret, "-_.* ").replace(' ', "+")),
        ("HTML", html(secret, "&#x27;")),
        ("HTML of XML", html(secret, "&apos;")),
        ("HTML twice", html(&html(secret, "&#39;"), "&#39;")),
        (
            "HTML, all escaped",
            escaped(secret, |c| Some(format!("&#{};", u32::from(c)))),
        ),
        ("Rust", format!("{secret:?}").trim_matches('"').to_owned()),
        ("Base64", base64(secret.as_bytes())),
        (
            "Base64 of a pair",
            base64(format!("user:{secret}").as_bytes()),
        ),
        (
            "Base64 for URLs",
            base64(secret.as_bytes())
                .replace('+', "-")
                .replace('/', "_"),
        ),
        ("hex", hex(secret, "")),
        ("hex in upper case", hex(secret, "").to_uppercase()),
        ("hex with colons", hex(secret, ":")),
        ("hex with spaces", hex(secret, " ")),
        ("upper case", secret.to_uppercase()),
        ("lower case", secret.to_lowercase()),
        ("a shell's quotes", secret.replace('\'', "'\\''")),
        (
            "a shell's backslashes",
            escaped(secret, |c| {
                (c.is_ascii() && !c.is_ascii_alphanumeric()).then(|| format!("\\{c}"))
            }),
        ),
        ("coloured digits", with_coloured_digits(secret)),
        ("colours between all", broken_by(secret, "\u{1b}[31m")),
        (
            "a link",
            format!("{head}\u{1b}]8;;https://x.test/\u{7}{tail}\u{1b}]8;;\u{7}"),
        ),
        ("returns", broken_by(secret, "\r")),
        ("backspaces", broken_by(secret, "\u{8}")),
        ("deletes", broken_by(secret, "\u{7f}")),
        ("NULs, as UTF-16 has them", broken_by(secret, "\0")),
        ("marks of direction", broken_by(secret, "\u{202e}")),
        ("no width", broken_by(secret, "\u{200b}")),
        ("selectors", broken_by(secret, "\u{e0100}")),
        ("fillers", broken_by(secret, "\u{3164}")),
        (
            "a list of hex",
            listed(secret, |byte| format!("0x{byte:02x}")),
        ),
        ("a list of bytes", listed(secret, |byte| byte.to_string())),
        ("Base64 twice", base64(base64(secret.as_bytes()).as_bytes())),
        ("wrapped, as JSON", wrapped_json(secret)),
        (
            "escape sequences as JSON",
            json(&with_coloured_digits(secret)),
        ),
    ]
}

/// Without what a terminal or a viewer takes away.
fn seen(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => match rest.next() {
                Some('[') => while rest.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
                Some(']') => while rest.next().is_some_and(|c| c != '\u{7}') {},
                _ => {}
            },
            '\n' | '\t' => kept.push(c),
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{3164}' | '\u{e0100}' => {}
            // As jelly names what is not seen.
            '<' if rest.clone().take(2).eq("U+".chars()) => {
                while rest.next().is_some_and(|c| c != '>') {}
            }
            c if c.is_control() => {}
            c => kept.push(c),
        }
    }
    kept
}

/// With the escapes of JSON undone, of XML, of URLs: each by itself.
fn read(text: &str) -> [String; 3] {
    let mut of_json = String::with_capacity(text.len());
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let unit = rest.strip_prefix("\\u").and_then(|after| after.get(..4));
        if let Some(unit) = unit.and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            units.push(unit);
            rest = &rest[6..];
            continue;
        }
        of_json.push_str(&String::from_utf16_lossy(&units));
        units.clear();
        rest = &rest[c.len_utf8()..];
        match (c, rest.chars().next()) {
            ('\\', Some(escape @ ('"' | '\\' | '/' | 'n' | 't' | 'r' | 'b' | 'f'))) => {
                rest = &rest[1..];
                of_json.push(match escape {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    itself => itself,
                });
            }
            (c, _) => of_json.push(c),
        }
    }
    of_json.push_str(&String::from_utf16_lossy(&units));

    let mut of_xml = String::with_capacity(text.len());
    let mut pieces = text.split('&');
    of_xml.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let meant = piece.split_once(';').and_then(|(name, after)| {
            let number = |digits, radix| char::from_u32(u32::from_str_radix(digits, radix).ok()?);
            let c = match name {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "apos" => '\'',
                _ => match (name.strip_prefix("#x"), name.strip_prefix('#')) {
                    (Some(digits), _) => number(digits, 16)?,
                    (None, digits) => number(digits?, 10)?,
                },
            };
            Some((c, after))
        });
        match meant {
            Some((c, after)) => {
                of_xml.push(c);
                of_xml.push_str(after);
            }
            None => {
                of_xml.push('&');
                of_xml.push_str(piece);
            }
        }
    }

    let mut of_url: Vec<u8> = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let digits = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten();
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                of_url.push(byte);
                at += 3;
            }
            None => {
                of_url.push(bytes[at]);
                at += 1;
            }
        }
    }
    [
        of_json,
        of_xml,
        String::from_utf8_lossy(&of_url).into_owned(),
    ]
}

/// All that somebody may read in a text, in lower case.
fn readings(text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned(), seen(text)];
    let mut last = all.clone();
    for _ in 0..2 {
        let mut next: Vec<String> = last.iter().flat_map(|text| read(text)).collect();
        next.retain(|text| !all.contains(text));
        next.sort();
        next.dedup();
        all.extend(next.iter().map(|text| seen(text)));
        last = next;
    }
    all.sort();
    all.dedup();
    all.into_iter().map(|text| text.to_lowercase()).collect()
}

/// What must be in no reading of anything, in lower case.
fn needles() -> Vec<(&'static str, String)> {
    let mut needles = Vec::new();
    for secret in SECRETS {
        let lines = secret
            .lines()
            .filter(|line| line.len() >= 8 && !line.contains("----"));
        needles.extend(lines.map(|line| (secret, line.to_lowercase())));
        needles.push((secret, hex(secret, "")));
        needles.push((secret, hex(secret, ":")));
        needles.push((secret, hex(secret, " ")));
        needles.push((secret, whole_groups(&base64(secret.as_bytes()), 0)));
        let pair = base64(format!("user:{secret}").as_bytes());
        needles.push((secret, whole_groups(&pair, 8)));
        needles.push((secret, listed(secret, |byte| format!("0x{byte:02x}"))));
        needles.push((secret, listed(secret, |byte| byte.to_string())));
        let twice = base64(base64(secret.as_bytes()).as_bytes());
        needles.push((secret, whole_groups(&twice, 0)));
        needles.push((secret, wrapped_json(secret).to_lowercase()));
    }
    needles
}

/// All that was printed and all that lies in the folder holds no secret, and
/// so much at least was masked.
#[track_caller]
fn nothing_leaks(project: &Project, ended: &Ended, least: usize) {
    let mut places = vec![
        ("stdout".to_owned(), ended.stdout.clone()),
        ("stderr".to_owned(), ended.stderr.clone()),
    ];
    files(project.dir(), &mut places);
    let masked = places.iter().map(|(_, text)| {
        let marks = ["[secret ", "[redacted]", "****"];
        marks
            .iter()
            .map(|mark| text.matches(mark).count())
            .sum::<usize>()
    });
    assert!(
        masked.sum::<usize>() >= least,
        "{}{}",
        ended.stdout,
        ended.stderr
    );
    // No form goes over the end of a line, and most lines stand in many places.
    let mut lines: HashMap<&str, &str> = HashMap::new();
    for (place, text) in &places {
        lines.extend(text.split('\n').map(|line| (line, place.as_str())));
    }
    let needles = needles();
    let search = AhoCorasick::new(needles.iter().map(|(_, needle)| needle)).unwrap();
    let mut leaks = String::new();
    for (line, place) in lines {
        for reading in readings(line) {
            for found in search.find_overlapping_iter(&reading) {
                let (secret, _) = needles[found.pattern()];
                let from = reading.floor_char_boundary(found.start().saturating_sub(60));
                let around: String = reading[from..].chars().take(160).collect();
                writeln!(leaks, "{secret:?} is in {place}: {around:?}").unwrap();
            }
        }
    }
    assert!(leaks.is_empty(), "{leaks}");
}

/// With every secret in the environment, under a name that tells.
fn output(project: &Project, args: &[&str], more: &[(&str, &str)]) -> Ended {
    let mut call = project.jelly(args);
    for (number, secret) in SECRETS.iter().enumerate() {
        call = call.env(&format!("API_TOKEN_{number}"), secret);
    }
    for (name, value) in more {
        call = call.env(name, value);
    }
    call.output()
}

/// A line for each form of a secret.
fn said(secret: &str) -> String {
    let line = |(what, form): (&str, String)| format!("{what}: <{form}>\n");
    forms(secret).into_iter().map(line).collect()
}

/// What is said of each secret, in files beside the project, and a server that
/// says it: to stderr, in noise, in answers, in what it offers.
fn server() -> Project {
    let beside = Project::empty();
    for (number, secret) in SECRETS.iter().enumerate() {
        beside.write(&format!("{number}.txt"), said(secret));
    }
    beside.script(
        "say.sh",
        "#!/bin/sh\ncat > hook-stdin-$$\ncat \"$(dirname \"$0\")\"/0.txt \"$(dirname \"$0\")\"/1?.txt\nexit 1\n",
    );
    talker(&beside);
    beside
}

/// A plan for each secret, which fails in every way.
fn plan(beside: &Project, number: usize) -> String {
    let (server, hook) = (beside.at("server.py"), beside.at("say.sh"));
    let entry = |how: &str| {
        format!(
            "{{ command: python3, args: [\"{server}\", {how}, \"{number}\"], env: {{ IT: \"${{secret:API_TOKEN_{number}}}\" }} }}"
        )
    };
    format!(
        "version: 1
hooks: {{ fix_tests: [\"{hook}\"] }}
servers:
  s: {}
  noisy: {}
  dead: {}
steps:
  - {{ id: wrong, server: s, tool: work, args: {{ it: \"${{secret:API_TOKEN_{number}}}\" }}, expect: {{ text: {{ equals: \"not ${{secret:API_TOKEN_{number}}}\" }} }} }}
  - {{ id: shaped, server: s, tool: work, expect: {{ structured: {{ equals: {{ said: [] }} }} }} }}
  - {{ id: stored, server: s, tool: work, expect: {{ text: {{ snapshot: it }} }} }}
  - {{ id: refused, server: s, tool: refuse }}
  - {{ id: failed, server: s, tool: fail }}
  - {{ id: misspelt, server: s, tool: wrok }}
  - {{ id: loud, server: noisy, tool: work, expect: {{ text: {{ contains: zzz }} }} }}
  - {{ id: gone, server: dead, tool: work }}
",
        entry("good"),
        entry("noisy"),
        entry("dead"),
    )
}

#[test]
fn no_form_of_a_secret_is_in_what_a_run_leaves() {
    let beside = server();
    // Each part has secrets of all kinds.
    for first in slice(PARTS, 0..PARTS) {
        let numbers: Vec<usize> = (first..SECRETS.len()).step_by(PARTS).collect();
        a_run_leaves_no_secret(&beside, &numbers);
    }
}

fn a_run_leaves_no_secret(beside: &Project, numbers: &[usize]) {
    let project = Project::empty();
    let plans: Vec<String> = numbers.iter().map(|n| format!("p{n}.yaml")).collect();
    for (number, name) in numbers.iter().zip(&plans) {
        project.write(name, plan(beside, *number));
    }
    let mut args = vec![
        "run",
        "--record",
        "--retries",
        "0",
        "--no-confirm",
        "--wire-check",
    ];
    args.extend(plans.iter().map(String::as_str));
    let summary = project.at("summary.md");
    let ended = output(
        &project,
        &args,
        &[
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_STEP_SUMMARY", &summary),
        ],
    );
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    nothing_leaks(&project, &ended, numbers.len());
    // What the hook was told lies among the files that were walked.
    let told = std::fs::read_dir(project.dir()).unwrap().flatten();
    let told = told.filter(|entry| {
        entry
            .file_name()
            .to_string_lossy()
            .starts_with("hook-stdin")
    });
    assert_eq!(told.count(), numbers.len());
    // What looks at that run later.
    for args in [
        &["snapshot", "review"] as &[&str],
        &["snapshot", "accept"],
        &["apply", "--dry-run"],
    ] {
        let ended = output(&project, args, &[("CI", "")]);
        nothing_leaks(&project, &ended, numbers.len());
    }
}

#[test]
fn no_form_of_a_secret_is_in_what_the_hook_for_code_is_told() {
    let (beside, project) = (server(), Project::empty());
    let numbers = slice(3, 0..SECRETS.len());
    let names: Vec<String> = numbers.iter().map(|n| format!("p{n}.yaml")).collect();
    for (number, name) in numbers.iter().zip(&names) {
        let (server, hook) = (beside.at("server.py"), beside.at("say.sh"));
        let plan = format!(
            "version: 1\nhooks: {{ refine_code: [\"{hook}\"] }}\nservers:\n  s: {{ command: python3, \
             args: [\"{server}\", good, \"{number}\"], env: {{ IT: \"${{secret:API_TOKEN_{number}}}\" }} }}\n\
             steps:\n  - {{ id: wrong, tool: work, args: {{ it: \"${{secret:API_TOKEN_{number}}}\" }}, expect: {{ text: {{ contains: zzz }} }} }}\n"
        );
        project.write(name, plan);
    }
    let mut args = vec!["run", "--retries", "0", "--trust-plan"];
    args.extend(["--report", "html=report.html"]);
    args.extend(names.iter().map(String::as_str));
    let ended = output(&project, &args, &[]);
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    nothing_leaks(&project, &ended, 25);
    let told = std::fs::read_dir(project.dir()).unwrap().flatten();
    let told = told.filter(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with("hook-stdin")
    });
    assert!(told.count() >= numbers.len(), "{}", ended.stdout);
}

/// What a plan spells out, where it is shown: with a problem in its line, or as
/// the line of a repair.
#[test]
fn no_form_of_a_secret_is_in_what_check_and_apply_show_of_a_plan() {
    for (number, secret) in slice(8, SECRETS.iter().enumerate()) {
        let quoted = |text: &str| serde_json::json!(text.replace("${", "$${")).to_string();
        let (it, all) = (quoted(secret), quoted(&said(secret)));
        let plan = |tool: &str, rest: &str| {
            format!(
                "version: 1\nservers: {{ s: {{ command: jelly, args: [mock], env: {{ OWN: \
                 \"${{secret:API_TOKEN_{number}}}\" }} }} }}\nsteps:\n  - {{ id: one, tool: {tool}, \
                 args: {{ message: {it} }}{rest} }}\n"
            )
        };
        let beside = Project::empty();
        let wrong = plan(
            "echo",
            &format!(", expect: {{ text: {{ equal: {all} }} }}, {it}: 1"),
        );
        let wrong = beside.write("c.yaml", wrong).display().to_string();
        // Of a line so long nothing need be quoted.
        for format in ["human", "json"] {
            let project = Project::empty();
            let ended = output(&project, &["check", "--format", format, &wrong], &[]);
            assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
            nothing_leaks(&project, &ended, 0);
        }
        let short = plan("echo", &format!(", {it}: 1"));
        let short = beside.write("k.yaml", short).display().to_string();
        let project = Project::empty();
        let ended = output(&project, &["check", &short], &[]);
        assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
        nothing_leaks(&project, &ended, 1);
        let slip = beside.write("s.yaml", plan("ecoh", ""));
        let slip = slip.display().to_string();
        let project = Project::empty();
        let ended = output(&project, &["run", "--accept-repairs", &slip], &[]);
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        nothing_leaks(&project, &ended, 1);
        for args in [["apply", "--dry-run"], ["apply", "--yes"]] {
            let ended = output(&project, &args, &[]);
            assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
            nothing_leaks(&project, &ended, 1);
        }
        let after = beside.read("s.yaml");
        assert!(
            after.contains(&it) && after.contains("tool: echo"),
            "{after}"
        );
    }
}

#[test]
fn no_form_of_a_secret_is_in_the_json_of_a_run() {
    let (beside, project) = (server(), Project::empty());
    project.write(
        "p.yaml",
        plan(&beside, 9).replace("\"9\"", "\"9\", \"10\", \"20\""),
    );
    let ended = output(
        &project,
        &["run", "--format", "json", "--retries", "0", "p.yaml"],
        &[],
    );
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    nothing_leaks(&project, &ended, 25);
}

#[test]
fn no_form_of_a_secret_is_in_what_triage_says() {
    let beside = Project::empty();
    let mut report = String::from("<testsuite name=\"s\">\n");
    for (number, secret) in SECRETS.iter().enumerate() {
        // XML has no NUL, not even as a reference.
        let text = html(&said(secret).replace('\0', "\u{1}"), "&#x27;");
        writeln!(
            report,
            "<testcase classname=\"c{number}\" name=\"t{number}\"><failure message=\"Error {number}: \
             {text}\">Error {number}: {text}</failure><system-err>{text}</system-err></testcase>"
        )
        .unwrap();
    }
    report.push_str("</testsuite>\n");
    let file = beside.write("report.xml", &report).display().to_string();
    for format in ["human", "json"] {
        let project = Project::empty();
        let summary = project.at("summary.md");
        let ended = output(
            &project,
            &[
                "triage",
                "--format",
                format,
                "--report",
                "html=report.html",
                &file,
            ],
            &[
                ("GITHUB_ACTIONS", "true"),
                ("GITHUB_STEP_SUMMARY", &summary),
            ],
        );
        assert!(
            matches!(ended.code, Some(1 | 3)),
            "{}{}",
            ended.stdout,
            ended.stderr
        );
        nothing_leaks(&project, &ended, 25);
    }
}

#[test]
fn no_form_of_a_secret_is_in_what_doctor_says() {
    let beside = server();
    let mut entries = serde_json::Map::new();
    for (number, secret) in slice(3, SECRETS.iter().enumerate()) {
        for how in ["noisy", "dead"] {
            let server = beside.at("server.py");
            let entry = serde_json::json!({
                "command": "python3", "args": [server, how, number.to_string()],
                "env": { format!("API_TOKEN_{number}"): secret },
            });
            entries.insert(format!("{how}-{number}"), entry);
        }
    }
    let config = serde_json::json!({ "mcpServers": entries }).to_string();
    let file = beside.write("mcp.json", config).display().to_string();
    for format in ["human", "json"] {
        let project = Project::empty();
        let ended = output(&project, &["doctor", "--format", format, &file], &[]);
        assert_eq!(ended.code, Some(3), "{}{}", ended.stdout, ended.stderr);
        nothing_leaks(&project, &ended, 9);
    }
}

#[test]
fn no_form_of_a_secret_is_in_what_init_writes() {
    let beside = server();
    let numbers = slice(3, 0..SECRETS.len()).into_iter();
    let numbers: Vec<String> = numbers.map(|n| n.to_string()).collect();
    for how in ["noisy", "dead"] {
        let project = Project::empty();
        let server = beside.at("server.py");
        let mut args = vec!["init", "--", "python3", &server, how];
        args.extend(numbers.iter().map(String::as_str));
        let ended = output(&project, &args, &[]);
        nothing_leaks(&project, &ended, 1);
    }
}
