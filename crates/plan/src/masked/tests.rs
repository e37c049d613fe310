use super::{is_masked, shown_diff, shown_plan};
use crate::{PlanSource, check, load, load_with};
use jelly_base::text::redact::Redactor;
use serde_json::Value;

fn source(name: &str, text: &str) -> PlanSource {
    PlanSource {
        path: name.into(),
        text: text.into(),
        variant: None,
    }
}

fn shown(name: &str, text: &str) -> String {
    shown_plan(&source(name, text), &Redactor::none())
}

/// Each value that is not to be shown is `hunter2-` and something, or `hush`.
#[test]
fn all_of_headers_and_what_looks_secret_is_left_out_however_it_is_written() {
    for text in [
        "servers: { a: { url: u, headers: { X-Trace: hush, X-N: 'hush', X-D: \"hush\" } } }\n",
        "servers:\n  a:\n    headers:\n      X-Trace: hush # of nobody\n",
        "servers:\n  a:\n    headers:\n      Authorization: Bearer hush\n",
        "servers:\n  a:\n    headers:\n      Authorization: \"Bearer hu\\u0073h\"\n",
        "servers:\n  a:\n    headers:\n      X: |\n        hush\n        hush two\n",
        "servers:\n  a:\n    headers:\n      X: >-\n        hush\n\n        hush two\n      Y: hush\n",
        "servers:\n  a:\n    headers:\n      X: 'hush\n        hush'\n      Y: hush\n        hush\n",
        "servers:\n  a:\n    headers:\n      X: hush-${env:A}-hush\n",
        "servers:\n  a: &a\n    headers: &h { X: &v hush }\n  b:\n    <<: *a\n  c: { headers: *h }\nvars: { x: *v }\n",
        "vars: { x: &v hush }\nservers: { a: { headers: { X: *v } } }\n",
        "servers: { a: { env: { API_KEY: hunter2-1, PIN_TOKEN: 8371234599 } } }\n",
        "servers: { a: { env: { URL: 'https://u:hunter2-1@h/?x=1&token=hunter2-2' } } }\n",
        "servers: { a: { env: { WHAT: ghp_hunter2hunter2hunter2 } } }\n",
        "servers: { a: { env: { API_KEY: 'hunter2-1${env:X}' } } }\n",
        "servers: { a: { args: [x, --token, hunter2-1, '--api-key=hunter2-2', -H, 'X-Auth: hunter2-3'] } }\n",
        "servers: { a: { url: 'https://u:hunter2-1@h/mcp?key=hunter2-2' } }\n",
        "servers: { a: { package_args: { api-key: hunter2-1 } } }\n",
        "hooks: { fix_tests: [./fix, --password, hunter2-1] }\n",
        "vars: { db_password: hunter2-1, tokens: [hunter2-2, hunter2-3] }\n",
        "steps: [{ tool: t, args: { login: { password: hunter2-1 } } }]\n",
        "vars: { token: hunter2-1 }\n# token: hunter2-2\n#API_KEY=hunter2-3\nname: x # --token hunter2-4\n",
        "vars: { token: hunter2-123 }\nsteps: [{ tool: t, expect: { text: { contains: 'is hunter2-123' } } }]\n",
        "vars:\n  private_key: |\n    hunter2-1\n    hunter2-2\n",
        // No document at all.
        "servers:\n  a:\n    headers:\n      X: hush\n      Y: hush\n   bad: [\n",
        "servers: { a: { headers: { X: hush }\n",
        "vars: { token: hunter2-1\n  api_key: hunter2-2\n",
    ] {
        let shown = shown("p.yaml", text);
        assert!(!shown.contains("hunter2"), "{text}\n{shown}");
        assert!(!shown.contains("hush"), "{text}\n{shown}");
        assert!(is_masked(&shown), "{shown}");
        // Nothing else moves.
        assert_eq!(shown.lines().count(), text.lines().count() + 1, "{shown}");
    }
    let json = "{\n\t\"servers\": { \"a\": { \"headers\": { \"X\": \"hu\\u0073h\", \"Y\": 5 },\n \
                \"env\": { \"API_KEY\": \"hunter2-1\" } } }\n}\n";
    let shown = shown("p.json", json);
    assert!(
        !shown.contains("hu\\u0073h") && !shown.contains("hunter2"),
        "{shown}"
    );
    assert!(!shown.contains('5'), "{shown}");
}

#[test]
fn in_a_command_line_the_value_of_a_variable_ends_at_the_first_blank() {
    for line in [
        "command: API_KEY=hunter2value99 node /srv/index.js",
        "command: [API_KEY=hunter2value99 node /srv/index.js]",
        "command: sh, args: [-c, API_KEY=hunter2value99 node /srv/index.js]",
        "command: sh, args: [-lc, \"API_KEY='hunter2 value' node /srv/index.js\"]",
    ] {
        let shown = shown("p.yaml", &format!("servers: {{ a: {{ {line} }} }}\n"));
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains(" node /srv/index.js"), "{shown}");
    }
    let whole = "servers: { a: { command: x, args: ['PASSWORD=hunter2 of words'] } }\n";
    assert!(!shown("p.yaml", whole).contains("words"));
}

#[test]
fn commands_in_a_text_that_is_no_document_hide_what_they_hold() {
    for text in [
        "env:\n  - API_TOKEN=hunter2value99\nname: [\n",
        "args:\n  - --api-key\n  - @hunter2value99\n",
        "args: [--api-key, hunter2value99, @x]\n",
        "args: [-y, --token=hunter2value99{{x}}, {]\n",
    ] {
        let shown = shown("p.yaml", text);
        assert!(!shown.contains("hunter2value99"), "{shown}");
    }
    let plain = "args: [--token, ${T}, --root, /srv/data, @x]\nsteps: [\n";
    assert_eq!(shown("p.yaml", plain), plain);
}

#[test]
fn what_spells_out_nothing_is_shown_as_it_is() {
    for text in [
        "servers: { a: { headers: { Authorization: 'Bearer ${secret:T}', X: '${env:X}' } } }\n",
        "servers: { a: { env: { API_KEY: '${secret:K}', MODE: production, KEYS_DIR: /etc/keys } } }\n",
        "servers: { a: { args: [--max-tokens, '4096', --token-file, /run/token] } }\n",
        "steps: [{ tool: t, capture: { token: $.token }, expect: { text: { contains: x } } }]\n",
        "# a comment: with a colon\nname: x # and another\n",
        "name: [\n",
        "",
    ] {
        assert_eq!(shown("p.yaml", text), text);
    }
}

#[test]
fn a_masked_plan_reads_as_one_and_is_run_by_nobody() {
    let text = "version: 1\nservers:\n  a:\n    url: https://h/mcp\n    headers:\n      \
                Authorization: Bearer hush # why\n      X: hush-${env:A}\nsteps: [{ tool: t }]\n";
    let shown = shown("p.yaml", text);
    let (first, rest) = shown.split_once('\n').unwrap();
    let wanted = text
        .replace("Bearer hush", "Bearer <masked>")
        .replace("hush-", "<masked>");
    assert_eq!(rest, wanted);
    assert!(first.contains("jelly apply"), "{first}");
    load(source("p.yaml", rest)).unwrap();
    for (name, text) in [
        ("p.yaml", shown.clone()),
        ("p.json", shown.clone()),
        ("p.yaml", format!("\u{feff}{shown}")),
    ] {
        for read in [load, check] {
            let told = read(source(name, &text)).unwrap_err().to_string();
            assert!(told.contains(":1:1"), "{told}");
            assert!(told.contains("`jelly apply`"), "{told}");
            assert!(told.contains("--write-repairs"), "{told}");
        }
    }
}

#[test]
fn a_diff_leaves_out_what_the_plans_do() {
    let before = source("p.yaml", "headers: { X: hush-one }\nname: a\n");
    let redactor = Redactor::none();
    let to = |text: &str| shown_diff(&before, &source("p.yaml", text), &redactor);
    assert_eq!(to(&before.text), "");
    let both = to("headers: { X: hush-two }\nname: b\n");
    assert!(!both.contains("hush"), "{both}");
    assert!(both.contains("\n-name: a\n+name: b\n"), "{both}");
    assert!(is_masked(&both), "{both}");
    let hidden = to("headers: { X: hush-two }\nname: a\n");
    assert!(is_masked(&hidden) && !hidden.contains("hush"), "{hidden}");
    // A patch that holds all that it needs is one that can be applied.
    let far = "\n".repeat(9);
    let before = source("p.yaml", &format!("headers: {{ X: hush }}\n{far}name: a\n"));
    let after = source("p.yaml", &format!("headers: {{ X: hush }}\n{far}name: b\n"));
    let plain = shown_diff(&before, &after, &redactor);
    assert!(plain.starts_with("--- a/p.yaml\n"), "{plain}");
}

#[test]
fn a_problem_is_quoted_without_what_stands_beside_it() {
    let text = "version: 1\nservers: { a: { url: https://h/mcp, hedaers: {}, headers: { X: hush } } }\nsteps: [{ tool: t }]\n";
    let told = check(source("p.yaml", text)).unwrap_err().to_string();
    assert!(
        told.contains("hedaers") && told.contains("X: ****"),
        "{told}"
    );
    assert!(!told.contains("hush"), "{told}");
}

#[test]
fn what_is_said_of_a_problem_quotes_no_more_than_its_line_shows() {
    for line in [
        "    env: { API_TOKEN: @hunter2value99 }",
        "    env: { API_TOKEN: %hunter2value99 }",
        "    env: { API_TOKEN: *hunter2value99 }",
        "    env: { API_TOKEN: hunter2value99{{x}} }",
        "    env:\n      API_TOKEN:hunter2value99",
        "    env:\n\tAPI_TOKEN: hunter2value99",
        "    env:\n      DB_PASSWORD: \"hunter2\\svalue99\"",
        "    headers:\n      Authorization: Bearer: hunter2value99",
        "    headers: { X: @hush }",
        "    args: --token hunter2value99",
    ] {
        let text = format!(
            "version: 1\nservers:\n  s:\n    command: x\n{line}\nsteps: [{{ list: tools }}]\n"
        );
        let error = check(source("p.yaml", &text)).unwrap_err();
        let mut said = error.render(false);
        for problem in error.problems() {
            said.push_str(&problem.title());
            said.push_str(&problem.hints.concat());
        }
        assert!(!said.contains("hunter2"), "{said}");
        assert!(!said.contains("svalue99"), "{said}");
        assert!(!said.contains("hush"), "{said}");
    }
    // A variable is no secret, and what to write for it is worth reading.
    let text = "version: 1\nservers:\n  s:\n    url: u\n    headers:\n      \
                X: [{{token}}]\nsteps: [{ list: tools }]\n";
    let error = check(source("p.yaml", text)).unwrap_err();
    let hints: String = error.problems().iter().map(|p| p.hints.concat()).collect();
    assert!(hints.contains("${token}"), "{hints}");
}

/// What is said of a plan that is refused, and what a report shows of it.
fn said_and_shown(text: &str) -> String {
    let source = source("p.yaml", text);
    let mut said = match check(source.clone()) {
        Ok(_) => String::new(),
        Err(error) => {
            let problems = error.problems().iter();
            let parts = problems.map(|problem| problem.title() + &problem.hints.concat());
            error.render(false) + &parts.collect::<String>()
        }
    };
    said.push_str(&shown_plan(&source, &Redactor::none()));
    said
}

#[test]
fn a_secret_that_became_a_key_is_not_shown() {
    const TOKEN: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    for line in [
        "env: {API_TOKEN=hunter2v99zz}",
        "env: {API_TOKEN=hush}",
        "env: {API_TOKEN:hunter2v99zz}",
        "env: {API_TOKEN hunter2v99zz}",
        "env: {API_TOKEN=hunter2v99zz, API_TOKEN=hunter2v99zz}",
        "env: {\"API_TOKEN=hunter2v99zz\": x}",
        "env: {API_TOKEN: {hunter2v99zz}}",
        "env: {API_TOKEN: hunter2v9,hush}",
        "env: {? API_TOKEN=hunter2v99zz}",
        "env: {A: b, API_TOKEN=hunter2v99zz",
        "env:\n      API_TOKEN=hunter2v99zz:",
        "env:\n      \"API_TOKEN=hunter2v99zz\": x",
        "env: {\"DB_PASSWORD=hunter2\\u0076alue99\"}",
        "headers: {Authorization=Bearer hush}",
        "headers: {X-Any=hush, X-Other:hush}",
        "headers: {\"X-Any: hush\": \"\"}",
        "headers: {X-Any: {hush}}",
        "headers: {X-Any: a,hush}",
        "package_args: {--token=hunter2v99zz}",
        "env: {postgres://u:hunter2v99zz@h/db}",
        "env: {ghp_abcdefghijklmnopqrstuvwxyz0123456789}",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789: x",
        "env: {K: \"${ghp_abcdefghijklmnopqrstuvwxyz0123456789}\"}",
        "env: {K: \"${vars.ghp_abcdefghijklmnopqrstuvwxyz0123456789}\"}",
        "env: {K: ${ghp_abcdefghijklmnopqrstuvwxyz0123456789}}",
    ] {
        let text = format!(
            "version: 1\nservers:\n  s:\n    command: x\n    {line}\nsteps: [{{ tool: t }}]\n"
        );
        let said = said_and_shown(&text);
        for secret in ["hunter2", "alue99", "hush", TOKEN] {
            assert!(!said.contains(secret), "{line}\n{said}");
        }
    }
}

#[test]
fn a_key_that_names_a_secret_is_shown() {
    for step in [
        "args: { token:read: true, 'secret santa': '${env:T}', 'password reset': { a: b } }",
        "args: { api_token: '${env:T}', next: , headers: { a: '${env:T}' } }",
        "capture: { token: $.token }",
    ] {
        let text = format!("steps: [{{ tool: t, {step} }}]\n");
        assert_eq!(shown("p.yaml", &text), text);
    }
}

#[test]
fn a_line_of_a_shell_shows_no_secret_wherever_that_stands() {
    for server in [
        "{ command: sh, args: [-c, \"if [ -f x ]; then S_TOKEN='hush xyz' srv; fi\"] }",
        "{ command: sh, args: [-c, \"srv -j '{\\\"a\\\": 1}' --token 'hush xyz'\"] }",
        "{ command: sh, args: [-c, \"A_TOKENS=(hush xyz) srv\"] }",
        "{ command: fish, args: [-c, 'set -x API_TOKEN hush; srv'] }",
        "{ command: pwsh, args: [-Command, \"$env:API_TOKEN='hush xyz'; srv\"] }",
        "{ command: \"sh -c \\\"f() { S_TOKEN='hush xyz' srv; }; f\\\"\" }",
        // No document.
        "{ command: sh, args: [-c, \"[ x ] && S_TOKEN='hush xyz' srv\"",
        "{ command: sh, args: [-c, \"f() { S_TOKEN='hush xyz' srv; }\"] }\n  - [",
    ] {
        let text = format!("servers: {{ a: {server} }}\n");
        let said = said_and_shown(&text);
        assert!(!said.contains("hush"), "{said}");
        assert!(
            !said.contains("xyz'") && !said.contains("hush xyz"),
            "{said}"
        );
    }
    let plain = "servers: { a: { command: sh, args: [-c, 'T_TOKEN=$(cat /run/t) srv --k \"$T_TOKEN\"'] } }\n";
    assert_eq!(shown("p.yaml", plain), plain);
}

#[test]
fn a_long_line_of_values_without_an_end_is_read_in_a_moment() {
    let line = "A_TOKEN=hunter2v9$( ${X} ".repeat(4_000);
    let text = format!(
        "{{\"version\": 1, \"servers\": {{\"m\": {{\"command\": \"sh\", \
         \"args\": [\"-c\", \"{line}\"], \"bogus\": 1}}}}, \"steps\": [{{\"tool\": \"a\"}}]}}"
    );
    let start = std::time::Instant::now();
    let said = said_and_shown(&text);
    assert!(!said.contains("hunter2"));
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn a_secret_in_the_place_of_a_name_stays_masked() {
    for secret in [
        "hunter2hunter2",
        "AKIA7EXAMPLE7EXAMPLE",
        "SK_LIVE_4EC39HQLYJW",
        "ABCDEFGHIJKLMNOPQRST",
    ] {
        let text = format!(
            "version: 1\nservers:\n  s: {{ command: x, env: {{ API_TOKEN: {secret} }}, \
             args: [--token, ${{secret:{secret}}}] }}\nsteps: []\n"
        );
        let source = source("p.yaml", &text);
        let error = check(source.clone()).unwrap_err();
        assert!(!error.render(false).contains(secret), "{secret}");
        let shown = shown_plan(&source, &Redactor::none());
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn a_token_in_the_place_of_a_name_is_masked_by_its_form_alone() {
    let token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    for member in [
        format!("args: [--token, ${{secret:{token}}}]"),
        format!("env: {{ K: ${{secret:{token}}} }}"),
        format!("env: {{ API_TOKEN: ${{secret:{token}}} }}"),
    ] {
        let text = format!("version: 1\nservers: {{ s: {{ command: x, {member} }} }}\nsteps: []\n");
        let shown = shown("p.yaml", &text);
        assert!(!shown.contains(token), "{shown}");
        let error = check(source("p.yaml", &text)).unwrap_err();
        assert!(!error.render(false).contains(token), "{member}");
    }
}

#[test]
fn what_no_shell_is_given_is_hidden_to_its_end() {
    for server in [
        "{ command: x, args: [\"-c\", \"Password=hush of hush;Server=hush\"] }",
        "{ command: x, args: [\"-exec\", \"PASSWORD=hush of hush\"] }",
        "{ command: sh, args: [\"-c\", \"PASSWORD=hush\\\\ hush srv\"] }",
    ] {
        let shown = shown("p.yaml", &format!("servers: {{ a: {server} }}\n"));
        assert!(!shown.contains("hush"), "{shown}");
    }
    let line = "servers: { a: { command: sh, args: [-c, \"PASSWORD=hush srv /x.py\"] } }\n";
    let shown = shown("p.yaml", line);
    assert!(
        !shown.contains("hush") && shown.contains(" srv /x.py"),
        "{shown}"
    );
}

#[test]
fn the_name_of_a_secret_that_lacks_its_quotes_is_told() {
    for (name, member) in [
        ("KEY", "env: { K: ${secret:KEY} }"),
        (
            "DEPOT_API_TOKEN",
            "env: { API_TOKEN: ${secret:DEPOT_API_TOKEN} }",
        ),
        (
            "DEPOT_API_TOKEN",
            "args: [--token, ${secret:DEPOT_API_TOKEN}]",
        ),
        ("depot_key", "args: [--token, ${secret:depot_key}]"),
        ("TOKEN1", "env: { API_TOKEN: ${secret:TOKEN1} }"),
        ("GITHUB-TOKEN", "args: [--token, ${secret:GITHUB-TOKEN}]"),
    ] {
        let text = format!("version: 1\nservers: {{ s: {{ command: x, {member} }} }}\nsteps: []\n");
        let error = check(source("p.yaml", &text)).unwrap_err();
        let hints: String = error.problems().iter().map(|p| p.hints.concat()).collect();
        assert!(
            hints.contains(&format!("\"${{secret:{name}}}\"")),
            "{member}: {hints}"
        );
        assert!(error.render(false).contains(&format!("${{secret:{name}}}")));
    }
}

#[test]
fn what_is_spelled_out_is_known_wherever_it_stands() {
    let text = r#"
version: 1
hooks: { fix_tests: [./fix, --token, hunter2-g] }
vars: { db_password: hunter2-h, where: here, key: hunter2-not }
servers:
  a:
    command: x
    args: [--token, hunter2-a, "--api-key=hunter2-b", --key, users, "--token=${secret:T}"]
    env: { API_KEY: hunter2-c, PASSWORD: postgres, MODE: development, SECRET: "${env:S}x" }
  b:
    url: "https://me:hunter2-d@host.example/mcp?api_key=hunter2-e"
    headers: { Authorization: Bearer hunter2-f, X-Trace: hunter2-not }
steps:
  - { server: a, tool: t, args: { login: { password: hunter2-i }, key: hunter2-not } }
  - { server: b, tool: t, capture: { token: $.hunter2_not } }
"#;
    let given = [("api_key", "hunter2-j"), ("what", "hunter2-not")];
    let given = given.map(|(name, value)| (name.to_owned(), Value::from(value)));
    let plan = load_with(source("p.yaml", text), &given.into_iter().collect()).unwrap();
    let mut found: Vec<&str> = plan
        .literal_secrets
        .iter()
        .map(|(_, value)| value.as_str())
        .collect();
    found.sort_unstable();
    let wanted = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    assert_eq!(found, wanted.map(|end| format!("hunter2-{end}")));
}
