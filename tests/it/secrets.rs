//! A secret is nowhere in anything that jelly prints or writes.

use crate::support::{Ended, Project, python};
use std::fs;
use std::path::Path;

/// All that quoting, escaping and encoding may stumble over.
const TOKEN: &str = "p\"ä/s\\+Z k&%7$~öß<x>'";
/// Stands in the middle of an argument.
const KEY: &str = "kkey-12345/secret+9";
const HEADER: &str = "hdr/sek+ret=99\"ü";

/// It is used in the environment, in an argument, in a header, in a call, in
/// an expectation and in a step that a repair touches; and the server says it
/// again, in all the ways there are.
const PLAN: &str = r#"version: 1
name: secrets
hooks: { fix_tests: [./fix.sh] }
servers:
  s:
    command: jelly
    args:
      - mock
      - --stderr
      - "my key is ${secret:KEY}."
      - --fault
      - echo_env=TOKEN
      - --fault
      - echo_env=TOKEN,split
      - --fault
      - echo_env=TOKEN,url
      - --fault
      - echo_env=TOKEN,base64
      - --fault
      - echo_env=TOKEN,json
      - --fault
      - echo_env@call=TOKEN,result
      - --fault
      - echo_env@call=TOKEN,split
      - --fault
      - split@any=3
    env: { TOKEN: "${secret:TOKEN}" }
  remote:
    url: "http://127.0.0.1:1/mcp"
    headers: { Authorization: "Bearer ${secret:HEADER}" }
  dead:
    command: jelly
    args: [mock, --fault, "echo_env=TOKEN", --fault, "echo_env=TOKEN,base64", --fault, "exit=7", "--tool", "t=${secret:KEY}"]
    env: { TOKEN: "${secret:TOKEN}" }
steps:
  - id: wrong
    server: s
    tool: echo
    args: { message: "${secret:TOKEN}" }
    expect: { text: { equals: "not ${secret:TOKEN}" } }
    capture: { said: "$.content[0].text" }
  - id: captured
    server: s
    tool: echo
    args: { message: "${said}", key: "${secret:KEY}" }
    expect: { text: { contains: "${secret:KEY}" }, stderr: { contains: nothing } }
  - id: renamed
    server: s
    tool: ech
    args: { message: "${secret:TOKEN} ${secret:HEADER}" }
  - id: refused
    server: s
    tool: fail
    args: { message: "no ${secret:TOKEN}" }
  - id: far
    server: remote
    tool: echo
    args: { message: hi }
  - id: gone
    server: dead
    tool: echo
    args: { message: "${secret:TOKEN}" }
"#;

const HOOK: &str =
    "#!/bin/sh\ncat > hook-stdin\necho \"fixing with $TOKEN\"; echo \"$HEADER\" >&2\nexit 1\n";

/// The secret as it is, as JSON (also twice), percent-encoded in both cases
/// and as a form, in Base64 in both alphabets, escaped for XML and for Rust.
fn forms(secret: &str) -> Vec<String> {
    let json = |text: &str| {
        let quoted = serde_json::to_string(text).unwrap();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let ascii_json: String = json(secret)
        .chars()
        .map(|c| match c.is_ascii() {
            true => c.to_string(),
            false => format!("\\u{:04x}", u32::from(c)),
        })
        .collect();
    let percent = |upper: bool, keep: &str, space: &str| -> String {
        secret
            .bytes()
            .map(|byte| match byte {
                b' ' => space.to_owned(),
                _ if byte.is_ascii_alphanumeric() || keep.as_bytes().contains(&byte) => {
                    char::from(byte).to_string()
                }
                _ if upper => format!("%{byte:02X}"),
                _ => format!("%{byte:02x}"),
            })
            .collect()
    };
    let base64 = base64(secret.as_bytes());
    let xml = secret
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    vec![
        secret.to_owned(),
        json(secret),
        json(&json(secret)),
        ascii_json,
        percent(true, "-_.~", "%20"),
        percent(false, "-_.~", "%20"),
        percent(true, "-_.~!*'()", "%20"),
        percent(true, "-_.*", "+"),
        xml.clone(),
        xml.replace('"', "&quot;"),
        xml.replace('"', "&quot;").replace('\'', "&apos;"),
        format!("{secret:?}").trim_matches('"').to_owned(),
        base64.replace('+', "-").replace('/', "_"),
        base64,
    ]
}

/// Written out here, so that the test does not trust what it tests. Without
/// the last group, which depends on what follows.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bytes
        .chunks_exact(3)
        .flat_map(|group| {
            let bits = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
            [18, 12, 6, 0].map(|shift| char::from(DIGITS[(bits >> shift) as usize & 63]))
        })
        .collect()
}

/// Every file below the folder.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            all.push((name, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    all
}

fn project() -> Project {
    let project = Project::with(PLAN);
    project.script("fix.sh", HOOK);
    project
}

fn output(project: &Project, args: &[&str]) -> Ended {
    project
        .call(args)
        .env("TOKEN", TOKEN)
        .env("KEY", KEY)
        .env("HEADER", HEADER)
        .output()
}

#[track_caller]
fn nothing_leaks(project: &Project, ended: &Ended) -> Vec<(String, String)> {
    let mut places = vec![
        ("stdout".to_owned(), ended.stdout.clone()),
        ("stderr".to_owned(), ended.stderr.clone()),
    ];
    places.extend(files(project.dir()));
    for secret in [TOKEN, KEY, HEADER] {
        for form in forms(secret) {
            for (place, text) in &places {
                if let Some(at) = text.find(&form) {
                    let around: String = text[at.saturating_sub(0)..].chars().take(80).collect();
                    panic!("{secret} is in {place} as {form}: {around}");
                }
            }
        }
    }
    places
}

#[test]
fn a_secret_is_in_no_output_no_report_no_patch_no_recording_and_no_hooks_input() {
    let project = project();
    let page = ["--report", "html=report.html"];
    let ended = output(
        &project,
        &[&["--record", "--retries", "1"], &page[..]].concat(),
    );
    let places = nothing_leaks(&project, &ended);
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.stderr, "");

    // Each of these was written, and had something to hide.
    let text_of = |name: &str| {
        let found = places.iter().find(|(place, _)| place == name);
        &found.unwrap_or_else(|| panic!("no {name}")).1
    };
    for name in [
        "stdout",
        "test_results.md",
        "results.json",
        "junit.xml",
        "report.html",
        "wire.jsonl",
        "s.stderr.log",
        "dead.stderr.log",
        "hook-stdin",
    ] {
        let text = text_of(name);
        assert!(text.contains("[secret TOKEN]"), "{name}: {text}");
    }
    for name in ["repair.patch", "repaired-plan.yaml"] {
        assert!(text_of(name).contains("${secret:TOKEN}"), "{name}");
    }
    let results = text_of("results.json");
    assert!(results.contains("fixing with [secret TOKEN]"), "{results}");
    assert!(results.contains("[secret HEADER]"), "{results}");
    assert!(results.contains("my key is [secret KEY]."), "{results}");
    let lines = text_of("s.stderr.log").lines();
    assert!(
        lines.filter(|line| line.contains("[secret TOKEN]")).count() >= 10,
        "five ways, in two iterations"
    );
}

#[test]
fn a_secret_is_in_no_json_either() {
    let project = project();
    let ended = output(&project, &["--format", "json", "--no-repair"]);
    nothing_leaks(&project, &ended);
    assert!(ended.stdout.contains("[secret TOKEN]"), "{}", ended.stdout);
}

#[test]
fn a_secret_is_in_no_annotation_and_no_job_summary() {
    let project = project();
    let ended = project
        .call(&["--no-repair", "--quiet"])
        .env("TOKEN", TOKEN)
        .env("KEY", KEY)
        .env("HEADER", HEADER)
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", project.path("summary.md"))
        .output();
    nothing_leaks(&project, &ended);
    assert!(ended.stdout.contains("::error"), "{}", ended.stdout);
    assert!(project.read("summary.md").contains("[secret TOKEN]"));
}

#[test]
fn a_secret_that_is_not_set_is_named_before_anything_starts() {
    let project = project();
    let ended = project.call(&["--no-repair"]).output();
    let all = format!("{}{}", ended.stdout, ended.stderr);
    for name in ["TOKEN", "KEY"] {
        assert!(all.contains(name), "{name} in {all}");
    }
    assert!(!all.contains("READY"), "{all}");
}

#[test]
fn an_argument_that_looks_like_a_secret_is_not_shown() {
    let project = Project::with(
        "version: 1\n\
         servers:\n  s: { command: sh, args: [-c, 'exit 3', --, --token, abcdef123456, '--api-key=zyx987654', --verbose, 'plain'] }\n\
         steps:\n  - { id: a, tool: echo }\n",
    );
    let run = project.run(&["--record"]);
    run.ends(3, "needs_user_help");
    let mut places = files(&project.path("reports"));
    places.push(("stdout".to_owned(), run.stdout.clone()));
    for (place, text) in &places {
        // The plan's own text is the user's.
        assert!(!text.contains("abcdef123456"), "{place}: {text}");
        assert!(!text.contains("zyx987654"), "{place}: {text}");
    }
    assert!(run.stdout.contains("plain"), "{}", run.stdout);
}

/// What nobody has called a secret, in the places that are known for it.
const IN_PLAIN_SIGHT: &str = r#"version: 1
servers:
  a:
    command: no-such-command
    args: ["-y", "x", "--accessToken", "hunter2-a", "--clientSecret=hunter2-b", "--env=API_KEY=hunter2-c",
           "-H", "X-API-Key: hunter2-d", "--header=Authorization: Bearer hunter2-e", "--key", "hunter2-f",
           "https://h/sse?x=1&token=hunter2-g", '{"apiKey":"hunter2-h"}', "--token", "-hunter2-i",
           "--token-file", "/run/token", "--max-tokens", "4096"]
    env: { DATABASE_URL: "postgres://u:hunter2-j@h/db", DB_PASS: hunter2-k, KEYS_DIR: /etc/keys }
  b: { url: "http://u:hunter2-l@127.0.0.1:1/mcp?key=hunter2-m&sig=hunter2-n&page=1" }
steps:
  - { id: one, server: a, tool: t }
  - { id: two, server: b, tool: t }
"#;

#[test]
fn a_secret_in_plain_sight_is_in_no_report_of_a_run() {
    let project = Project::with(IN_PLAIN_SIGHT);
    let run = project.run(&["--retries", "0"]);
    run.ends(3, "needs_user_help");
    let mut places = files(&project.path("reports"));
    places.push(("stdout".to_owned(), run.stdout.clone()));
    for (place, text) in &places {
        assert!(!text.contains("hunter2"), "{place}: {text}");
    }
    let argv = run.last().failure("a")["argv"].to_string();
    for word in [
        "--accessToken",
        "/run/token",
        "4096",
        "https://h/sse?x=1&token=[secret token]",
    ] {
        assert!(argv.contains(word), "{argv}");
    }
    let url = run.last().failure("b")["url"].to_string();
    assert!(
        url.contains("127.0.0.1:1/mcp?key=[secret key]&sig=[secret sig]&page=1"),
        "{url}"
    );
}

#[test]
fn a_secret_in_plain_sight_is_in_nothing_that_doctor_prints() {
    let project = Project::empty();
    project.write(
        "mcp.json",
        r#"{"mcpServers": {
            "a": {"command": "no-such -y x --token hunter2-a"},
            "b": {"command": "/no/docker", "args": ["run", "--env=API_KEY=hunter2-b", "img:1.0"]},
            "c": {"command": "/no/x", "args": ["--header=Authorization: Bearer hunter2-c"]},
            "d": {"command": "/no/x", "args": ["https://h/sse?x=1&api_key=hunter2-d"]},
            "e": {"command": "/no/x", "args": ["--apiKey", "hunter2-e", "{\"secret\": \"hunter2-f\"}"]},
            "g": {"command": "/no/x", "env": {"GOOGLE_APPLICATION_CREDENTIALS": "/nope/cred.json"}},
            "h": {"url": "http://127.0.0.1:1/mcp", "headers": {"X-Auth": "hunter2-h", "Cookie": "sid=hunter2-i"}},
            "i": {"url": "http://user:hunter2-j@127.0.0.1:1/mcp?sig=hunter2-k"}
        }}"#,
    );
    for args in [
        &["doctor", "mcp.json"][..],
        &["doctor", "--format", "json", "mcp.json"],
    ] {
        let ended = project.jelly(args).output();
        for text in [&ended.stdout, &ended.stderr] {
            assert!(!text.contains("hunter2"), "{text}");
        }
        // The image is no secret of the flag before it.
        let shows_argv = args.contains(&"json");
        assert_eq!(ended.stdout.contains("img:1.0"), shows_argv);
        assert!(!ended.stdout.contains("[secret GOOGLE"), "{}", ended.stdout);
    }
}

#[test]
fn a_secret_that_fix_tests_brings_and_one_of_digits_are_nowhere() {
    const WORD: &str = "hunter2hunter2";
    const PIN: &str = "83712345";
    let server = python(
        r#"
def call(request):
    result = text(json.dumps(request["params"].get("arguments")))
    result["structuredContent"] = {"pin": int(os.environ["PIN"])}
    answer(request, result)
serve(call)
"#,
    );
    let plan = format!(
        "version: 1
hooks: {{ fix_tests: [./fix.sh] }}
servers:
  s: {server}
  t: {{ command: jelly, args: [mock], env: {{ PIN: \"${{secret:PIN}}\" }} }}
steps:
  - {{ id: a, server: s, tool: work, args: WHAT, expect: {{ text: {{ contains: zzz }} }} }}
  - {{ id: b, server: s, tool: work, expect: {{ structured: {{ equals: {{ pin: 1 }} }} }} }}
  - {{ id: c, server: s, tool: work, expect: {{ json: [{{ path: $.structuredContent.pin, equals: 5 }}] }} }}
"
    );
    let project = Project::with(&plan.replace("WHAT", "{ file: \"${secret:NONE}\" }"));
    project.write(
        "next.yaml",
        plan.replace("WHAT", "{ q: \"${secret:DBPW}\" }"),
    );
    project.script(
        "fix.sh",
        &format!("#!/bin/sh\necho using {WORD}\ncp next.yaml plan.yaml\n"),
    );
    let call = project.call(&["--record"]);
    let ended = call.env("DBPW", WORD).env("PIN", PIN).output();
    assert!(ended.stdout.contains("fix_tests"), "{}", ended.stdout);
    let mut shown = files(&project.path("reports"));
    shown.push(("stdout".into(), ended.stdout));
    shown.push(("stderr".into(), ended.stderr));
    for (file, text) in shown {
        assert!(!text.contains(WORD), "{file}: {text}");
        assert!(!text.contains(PIN), "{file}: {text}");
    }
}

#[test]
fn the_arguments_of_a_hook_are_shown_like_a_servers() {
    let project = Project::with(
        "version: 1
hooks: { fix_tests: [./fix.sh, --token, tok_abcdef] }
servers: { s: { command: /nowhere/at/all } }
steps: [{ id: a, tool: t }]
",
    );
    project.script("fix.sh", "#!/bin/sh\nexit 1\n");
    let ended = project.call(&[]).output();
    assert!(ended.stdout.contains("fix_tests"), "{}", ended.stdout);
    let mut shown = files(&project.path("reports"));
    shown.push(("stdout".into(), ended.stdout));
    for (file, text) in shown {
        assert!(!text.contains("tok_abcdef"), "{file}: {text}");
    }
}

#[test]
fn a_secret_that_the_plan_spells_out_is_masked_where_the_server_says_it_again() {
    let server = python(
        "import os\n\
         print('my key is', os.environ['API_KEY'], file=sys.stderr, flush=True)\n\
         serve(lambda m: answer(m, {'content': [{'type': 'text', 'text': os.environ['API_KEY'] + ' in ' + os.environ['MODE']}], 'isError': True}))",
    );
    let server = server.replacen(
        '{',
        "{ env: { API_KEY: k3y-of-nobody, MODE: production },",
        1,
    );
    let project = Project::with(&format!(
        "version: 1\nservers:\n  s: {server}\nsteps: [{{ server: s, tool: work }}]\n"
    ));
    let run = project.run(&["--record"]);
    run.ends(3, "needs_user_help");
    assert!(
        run.stdout.contains("[secret API_KEY] in production"),
        "{}",
        run.stdout
    );
    let mut places = files(&project.path("reports"));
    places.push(("stdout".to_owned(), run.stdout.clone()));
    for (place, text) in &places {
        assert!(!text.contains("k3y-of-nobody"), "{place}: {text}");
    }
}
