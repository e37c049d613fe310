//! Slips of a person who writes a first plan: each makes one problem, at its place, which says
//! what to write.

use super::check;
use crate::PlanSource;

const MORE: &str = "steps: [{ list: tools }]\n";

/// The problems of a plan: place, message, hints.
fn problems(path: &str, text: &str) -> Vec<(String, String, String)> {
    let source = PlanSource {
        path: path.into(),
        text: text.into(),
        variant: None,
    };
    let error = check(source).expect_err(text);
    let problem = |problem: &super::Problem| {
        let at = format!("{}:{}", problem.location.line, problem.location.column);
        (at, problem.message.clone(), problem.hints.join(" / "))
    };
    error.problems().iter().map(problem).collect()
}

#[track_caller]
fn slip(text: &str, at: &str, message: &str, hint: &str) {
    let found = problems("plan.yaml", text);
    let [(place, said, hints)] = found.as_slice() else {
        panic!("{text}\n{found:#?}");
    };
    assert_eq!(place, at, "{text}\n{said}");
    assert!(said.contains(message), "{text}\n{said}");
    assert!(hints.contains(hint), "{text}\n{said}\n{hints}");
}

/// A plan whose server has these arguments, which begin in line 5, column 11.
fn args(list: &str) -> String {
    format!("version: 1\nservers:\n  m:\n    command: x\n    args: {list}\n{MORE}")
}

#[test]
fn what_yaml_keeps_for_itself_is_shown_in_quotes() {
    for (list, at, hint) in [
        ("[-y, @scope/pkg, .]", "5:16", r#"write "@scope/pkg""#),
        ("[-y, `x`]", "5:16", "write \"`x`\""),
        ("[%d]", "5:12", r#"write "%d""#),
        ("[*.txt]", "5:12", r#"write "*.txt""#),
        ("[-]", "5:12", r#"write "-""#),
        (
            "[-y, ${workspace}/data, a]",
            "5:16",
            r#"write "${workspace}/data""#,
        ),
        ("['it's']", "5:12", r#"write "it's""#),
        (r#"["say "hi" now"]"#, "5:12", r#"write 'say "hi" now'"#),
        (r#"["C:\Users\me"]"#, "5:12", r"write 'C:\Users\me'"),
    ] {
        slip(&args(list), at, "", hint);
    }
    let block = args("\n      - @scope/pkg # the latest");
    slip(&block, "6:9", "begins with `@`", r#"write "@scope/pkg""#);
    let colon = format!("{}        query: select: x\n", HEAD_OF_ARGS);
    slip(
        &colon,
        "7:16",
        "contains `: `",
        r#"write `query: "select: x"`"#,
    );
}

const HEAD_OF_ARGS: &str = "version: 1\nservers: { m: { command: x } }\nsteps:\n    - tool: t\n      args:\n        a: 1\n";

#[test]
fn variables_of_other_tools_are_shown_as_a_plan_writes_them() {
    for (list, at, hint) in [
        ("[{{x}}]", "5:12", r#"write "${x}""#),
        ("[{{ x }}/foo, b]", "5:12", r#"write "${x}/foo""#),
        ("[{{ secrets.KEY }}]", "5:12", r#"write "${secret:KEY}""#),
        ("[{{ env.HOME }}]", "5:12", r#"write "${env:HOME}""#),
        (r#"["${{ secrets.KEY }}"]"#, "5:13", "write `${secret:KEY}`"),
        (r#"["${ workspace }"]"#, "5:13", "write `${workspace}`"),
        (r#"["${input:key}"]"#, "5:13", "write `${key}`"),
    ] {
        slip(&args(list), at, "", hint);
    }
    let text = format!("{HEAD_OF_ARGS}        b: {{{{ x }}}}/foo\n");
    slip(
        &text,
        "7:12",
        "not a variable of a plan",
        r#"write "${x}/foo""#,
    );
}

#[test]
fn lost_indentation_is_said_once_and_with_the_lines_to_indent() {
    let server = "    command: npx\n    args: [-y, pkg]\n";
    let less = |text: &str| text.replace("    ", "  ");
    slip(
        &format!("version: 1\nservers:\n  fs:\n{}{MORE}", less(server)),
        "4:3",
        "`command`, `args` stand beside `fs`, and belong below it",
        "indent lines 4 to 5 by two more spaces",
    );
    slip(
        &format!("version: 1\nservers:\nfs:\n{}{MORE}", less(server)),
        "3:1",
        "`fs` stands beside `servers`, and belongs below it",
        "indent lines 3 to 5",
    );
    let step =
        |step: &str| format!("version: 1\nservers: {{ m: {{ command: x }} }}\nsteps:\n{step}");
    slip(
        &step("- id: a\nserver: m\ntool: x\n"),
        "5:1",
        "belong below it",
        "indent lines 5 to 6",
    );
    slip(
        &step("- tool: x\n  expect:\n  text: { contains: a }\n"),
        "6:3",
        "`text` stands beside `expect`",
        "indent line 6",
    );
    slip(
        &step("- tool: x\n  args:\n  path: a\n"),
        "6:3",
        "`path` stands beside `args`",
        "indent line 6",
    );
    slip(
        "version: 1\nservers:\n  m: { command: x }\n  steps:\n  - list: tools\n",
        "4:3",
        "`steps` stands below `servers`, and belongs beside it",
        "begin it where `servers` begins",
    );
    slip(
        &step("- tool: x\n    id: a\n"),
        "5:5",
        "below `tool`",
        "`  id: a`",
    );
    slip(
        &step("  - id: a\n    tool: x\n   name: y\n"),
        "6:4",
        "3 spaces",
        "`    name: y`",
    );
    slip(
        "version: 1\nservers:\n  m:\n    command: x\n   env: {}\nsteps: []\n",
        "5:4",
        "3 spaces",
        "`    env: {}`",
    );
}

#[test]
fn variables_of_other_tools_are_found_within_a_value() {
    slip(
        &args("[srv.py, --root={{root}}]"),
        "5:27",
        "`{{root}}` is not a variable",
        r#"write "--root=${root}""#,
    );
    let nested = "version: 1\nservers:\n  m: { command: x, args: [--root={{root}}] }\n";
    slip(
        &format!("{nested}{MORE}"),
        "3:34",
        "`{{root}}` is not a variable",
        r#"write "--root=${root}""#,
    );
    let of_map = args("[a]").replace("args: [a]", "env: { A: hello {{x}} and {{y}} }");
    slip(
        &of_map,
        "5:21",
        "`{{x}}` is not a variable",
        r#"write "hello ${x} and ${y}""#,
    );
    // In a text they are meant, as servers of templates take them.
    let text = "version: 1\nvars: { who: Bob }\nservers: { m: { command: x } }\nsteps:\n  \
                - tool: t\n    args:\n      a: \"hi {{who}}\"\n      b: hi {{x}}\n";
    let source = crate::PlanSource {
        path: "p.yaml".into(),
        text: text.into(),
        variant: None,
    };
    assert!(crate::load(source).is_ok());
}

#[test]
fn a_slip_in_a_list_or_in_the_servers_is_said_once() {
    let step =
        |step: &str| format!("version: 1\nservers: {{ m: {{ command: x }} }}\nsteps:\n{step}");
    slip(
        &step("  - tool: ping\n  args:\n    a: 1\n"),
        "5:3",
        "`args` stands where the `-` of the list does",
        "indent lines 5 to 6 by 2 more spaces",
    );
    slip(
        &step("  - tool: t\n    expect:\n      json: - path: $.a\n              equals: 1\n"),
        "6:13",
        "a list begins on the line after its key",
        "write `        - path: $.a` on a line of its own",
    );
    let steps = "steps:\n  - tool: ping\n";
    slip(
        &format!("version: 1\nservers:\n  - name: s\n    command: x\n{steps}"),
        "3:3",
        "expected a map",
        "",
    );
    slip(
        &format!("version: 1\nserver:\n  s: {{ command: x }}\n{steps}"),
        "2:1",
        "unknown key `server`",
        "did you mean `servers`?",
    );
}

#[test]
fn tabs_and_other_blanks_are_pointed_at() {
    let text = |blank: &str| format!("version: 1\nservers:\n{blank}m: {{ command: x }}\n{MORE}");
    slip(&text("\t"), "3:1", "a tab indents", "`  m: { command: x }`");
    slip(
        &text("\u{a0}\u{a0}"),
        "3:1",
        "U+00A0",
        "`  m: { command: x }`",
    );
    let step = "version: 1\nservers: { m: { command: x } }\nsteps:\n  - server: m\n\tlist: tools\n";
    slip(step, "5:1", "a tab indents", "`    list: tools`");
}

#[test]
fn a_key_without_its_colon_and_a_bracket_without_its_end_are_said() {
    let server = |line: &str| format!("version: 1\nservers:\n  m:\n    {line}\n{MORE}");
    slip(&server("command:x"), "4:5", "", "`command: x`");
    slip(&server("command = x"), "4:5", "", "`command: x`");
    slip(&server("command: x\n    cwd:y"), "5:5", "", "`cwd: y`");
    slip(
        &server("command: x\n    args: [a],"),
        "5:14",
        "without a comma",
        "`args: [a]`",
    );
    slip(
        &server("command: x\n    args: [a, b"),
        "5:11",
        "never closed",
        "`args: [a, b]`",
    );
    slip(
        &server("command: \"x\n    args: [a, b]"),
        "4:14",
        "never closed",
        "write `\"`",
    );
    let step = |args: &str| {
        format!(
            "version: 1\nservers: {{ m: {{ command: x }} }}\nsteps:\n  - tool: t\n    args: {args}\n    timeout: 1s\n"
        )
    };
    let closes_nothing = "so that the `}` in it closes nothing";
    slip(
        &step("{ channel: #general }"),
        "5:22",
        closes_nothing,
        "write \"#general\"",
    );
    slip(
        &step("{ text: issue #7, n: 1 }"),
        "5:25",
        closes_nothing,
        "write \"issue #7\"",
    );
    slip(
        &step("{ text: 'a' # }"),
        "5:23",
        closes_nothing,
        "before the `#`",
    );
}

#[test]
fn the_configuration_of_a_client_is_told_from_a_plan_with_its_key() {
    let plan = format!("version: 1\nmcpServers: {{ m: {{ command: x }} }}\n{MORE}");
    slip(&plan, "2:1", "unknown key `mcpServers`", "write `servers:`");
    for config in [
        r#"{"mcpServers": {"m": {"command": "x"}}}"#,
        r#"{"servers": {"m": {"type": "http", "url": "http://h/"}}, "inputs": []}"#,
        r#"{"mcp": {"servers": {"m": {"command": "x"}}}}"#,
        r#"{"extensions": {"m": {"type": "stdio", "cmd": "x"}, "developer": {"type": "builtin"}}}"#,
    ] {
        let found = problems("mcp.json", config);
        let [(_, said, hints)] = found.as_slice() else {
            panic!("{config}\n{found:#?}");
        };
        assert!(said.contains("not a plan"), "{said}");
        assert!(hints.contains("`jelly init --config mcp.json`"), "{hints}");
    }
}

#[test]
fn the_settings_of_an_editor_have_their_servers_a_level_too_deep() {
    let plan = format!("version: 1\nmcp: {{ servers: {{ m: {{ command: x }} }} }}\n{MORE}");
    slip(&plan, "2:1", "unknown key `mcp`", "`servers:` at the top");
}

#[test]
fn a_second_key_in_a_line_is_given_one_of_its_own() {
    let step = |step: &str| {
        format!("version: 1\nservers: {{ m: {{ command: x }} }}\nsteps:\n  - {step}\n")
    };
    slip(
        &step("tool: a args: { x: 1 }"),
        "4:13",
        "`args` is a key of its own",
        "write `tool: a`, and `args: { x: 1 }` on a line of its own",
    );
    let server = "version: 1\nservers:\n  m:\n    command: node, args: [\"x.js\"]\n";
    slip(
        &format!("{server}{MORE}"),
        "4:20",
        "`args` is a key of its own",
        "write `command: node`, and `args: [\"x.js\"]` on a line of its own",
    );
    slip(
        &step("tool: a, args: { x: 1, y: 2 }, expect: { text: { contains: hi } }"),
        "4:14",
        "`args` is a key of its own",
        "write `tool: a`, and `args: { x: 1, y: 2 }` and `expect: { text: { contains: hi } }` \
         each on a line of its own",
    );
    slip(
        &format!("version: 1\nservers:\n  m: command: jelly\n{MORE}"),
        "3:6",
        "`command` is a key of its own",
        "write `m: { command: jelly }`",
    );
    slip(
        &step("tool: a\n    expect: is_error: false"),
        "5:13",
        "`is_error` is a key of its own",
        "write `expect: { is_error: false }`",
    );
    // A text may well have a colon, and the word of a key before it.
    slip(
        &step("name: note: this"),
        "4:11",
        "needs quotes",
        "`name: \"note: this\"`",
    );
    slip(
        &step("id: x\n    name: calls tool: x\n    tool: y"),
        "5:11",
        "needs quotes",
        "`name: \"calls tool: x\"`",
    );
}

#[test]
fn a_sign_of_yaml_with_nothing_behind_it_is_a_text() {
    for (list, at, hint) in [
        ("[-y, &x]", "5:16", "write \"&x\""),
        ("[!foo]", "5:12", "write \"!foo\""),
        ("\n      - &x", "6:9", "write \"&x\""),
    ] {
        slip(&args(list), at, "needs quotes", hint);
    }
}

#[test]
fn what_stands_in_place_of_a_map_is_shown_as_one() {
    let step = |lines: &str| {
        format!("version: 1\nservers: {{ m: {{ command: x }} }}\nsteps:\n  - {lines}\n")
    };
    for (expect, hint) in [
        ("hello", "write `{ text: { contains: hello } }`"),
        ("text contains hi", "write `{ text: { contains: hi } }`"),
        (
            "\"it is: 5\"",
            "write `{ text: { contains: \"it is: 5\" } }`",
        ),
        ("[ok]", "write `{ text: { contains: ok } }`"),
        (
            "[a, b]",
            "write `{ text: [{ contains: a }, { contains: b }] }`",
        ),
        ("[{ text: { contains: hi } }]", "without `-`"),
        ("text length 5", "write `{ text: { length: 5 } }`"),
        ("text exists true", "write `{ text: { exists: true } }`"),
        (
            "text one_of [a, 1]",
            "write `{ text: { one_of: [a, \"1\"] } }`",
        ),
        ("text equals 5", "write `{ text: { equals: \"5\" } }`"),
        (
            "structured equals 5",
            "write `{ structured: { equals: 5 } }`",
        ),
        ("\"is_error: false\"", "write `{ is_error: false }`"),
        ("duration lt 5s", "write `{ duration: { lt: 5s } }`"),
        (
            "duration less_than 5s",
            "as in `{ text: { contains: hi } }`",
        ),
        ("json contains x", "as in `{ text: { contains: hi } }`"),
    ] {
        let plan = step(&format!("tool: t\n    expect: {expect}"));
        slip(&plan, "5:13", "expected a map (`expect`)", hint);
    }
    for (env, hint) in [
        ("A=1", "write `{ A: \"1\" }`"),
        ("[A=1, B=x y]", "write `{ A: \"1\", B: x y }`"),
        ("A=b D=e", "write `{ A: b, D: e }`"),
        ("\"A=b c D=e\"", "as in `{ NAME: value }`"),
    ] {
        let plan = format!("version: 1\nservers:\n  m:\n    command: x\n    env: {env}\n{MORE}");
        slip(&plan, "5:10", "expected a map (names with values)", hint);
    }
    for (lines, at, message, hint) in [
        (
            "tool: t\n    args: '{\"x\": 1}'",
            "5:11",
            "(arguments by name), found a string",
            "without quotes around it: `{\"x\": 1}`",
        ),
        (
            "tool: t\n    args: \"a=1 b=x\"",
            "5:11",
            "(arguments by name), found a string",
            "write `args: { a: 1, b: x }`",
        ),
        (
            "tool: t\n    args: [a=1, b=2]",
            "5:11",
            "(arguments by name), found a list",
            "write `args: { a: 1, b: 2 }`",
        ),
        (
            "tools/list",
            "4:5",
            "(a step), found a string",
            "write `list: tools`",
        ),
        (
            "initialize",
            "4:5",
            "(a step), found a string",
            "write `request: initialize`",
        ),
        (
            "tool t",
            "4:5",
            "(a step), found a string",
            "write `tool: t`",
        ),
        (
            "echo",
            "4:5",
            "(a step), found a string",
            "write `tool: echo`",
        ),
        (
            "tool: { name: t, arguments: { x: 1 } }",
            "4:11",
            "expected a string, found a map",
            "write `tool: t`, and beside it `args: { x: 1 }`",
        ),
    ] {
        slip(&step(lines), at, message, hint);
    }
}

#[test]
fn a_variable_as_other_tools_write_it_is_shown_as_plans_do() {
    for (written, meant) in [
        ("${env.HOME}", "write `${env:HOME}`"),
        ("${secret.TOKEN}", "write `${secret:TOKEN}`"),
        ("${process.env.HOME}", "write `${env:HOME}`"),
    ] {
        let list = args(&format!("['{written}']"));
        slip(&list, "5:13", "nothing is called", meant);
    }
}

#[test]
fn the_port_of_a_service_is_found_by_a_name_like_its_own() {
    let plan = |port: &str| {
        format!(
            "version: 1\nservices: {{ api: {{ command: x, args: ['${{port}}'], ready: {{ port: '${{port}}' }} }} }}\nservers:\n  m:\n    command: x\n    args: ['${{port:{port}}}']\n{MORE}"
        )
    };
    slip(
        &plan("apx"),
        "6:13",
        "no server or service is called `apx`",
        "did you mean `${port:api}`?",
    );
}

#[test]
fn a_file_in_another_format_is_said_to_be_one() {
    let codex = "[mcp_servers.m]\ncommand = \"x\"\n";
    for (text, hint) in [
        (codex, "`jelly init --config config.toml`"),
        ("a = 1\n", "version: 1"),
    ] {
        let found = problems("config.toml", text);
        let [(_, said, hints)] = found.as_slice() else {
            panic!("{text}\n{found:#?}");
        };
        assert!(said.contains("this is TOML"), "{said}");
        assert!(hints.contains(hint), "{hints}");
    }
}

#[test]
fn an_answer_to_what_the_pinned_revision_never_asks_is_refused() {
    let plan = |pin: &str, of_server: &str, of_step: &str| {
        format!(
            "version: 1\nservers:\n  m:\n    command: x\n{pin}{of_server}steps:\n  - server: m\n    tool: t\n{of_step}"
        )
    };
    let answers = "    answers: [{ method: elicitation/create, result: { action: decline } }]\n";
    let old = "    protocol: \"2025-03-26\"\n";
    let message = "`elicitation/create` under `protocol: 2025-03-26`";
    slip(&plan(old, answers, ""), "6:25", message, "since 2025-06-18");
    slip(&plan(old, "", answers), "9:25", message, "since 2025-06-18");
    for pin in [
        "",
        "    protocol: \"2025-06-18\"\n",
        "    era: legacy\n",
        "    era: modern\n",
    ] {
        let text = plan(pin, answers, answers);
        let source = PlanSource {
            path: "plan.yaml".into(),
            text: text.as_str().into(),
            variant: None,
        };
        check(source).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_free_port_that_the_command_is_not_told_of_is_refused() {
    let server = |more: &str| {
        format!(
            "version: 1\nvars: {{ p: '${{port:m}}', q: a }}\nservers:\n  m:\n    command: x\n    url: \"http://h:${{port}}/\"\n{more}steps: [{{ server: m, list: tools }}]\n"
        )
    };
    for more in [
        "",
        "    args: [\"8123\", \"${q}\"]\n",
        "  n: { command: y, args: [\"${port}\"] }\n",
    ] {
        slip(&server(more), "6:20", "`${port}`", "pass it, as in");
    }
    for more in [
        "    args: [\"${port}\"]\n",
        "    args: [\"${port:m}\"]\n",
        "    args: [\"${p}\"]\n",
        "    env: { PORT: \"${port}\" }\n",
        "  n: { command: y, args: [\"${port:m}\"] }\n",
    ] {
        let text = server(more);
        let source = PlanSource {
            path: "plan.yaml".into(),
            text: text.as_str().into(),
            variant: None,
        };
        check(source).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_free_port_of_a_service_that_its_command_is_not_told_of_is_refused() {
    let service = |more: &str| {
        format!(
            "version: 1\nvars: {{ q: '1' }}\nservices:\n  db:\n    command: x\n    ready: {{ port: \"${{port}}\" }}\n{more}servers:\n  m: {{ command: y }}\nsteps: [{{ server: m, list: tools }}]\n"
        )
    };
    slip(&service(""), "6:12", "`${port}`", "pass it, as in");
    slip(
        &service("    args: [\"8123\"]\n"),
        "6:12",
        "`${port}`",
        "pass it, as in",
    );
    for more in [
        "    args: [\"${port}\"]\n",
        "    args: [\"${q}\"]\n",
        "    env: { PORT: \"${port:db}\" }\n",
    ] {
        let text = service(more);
        let source = PlanSource {
            path: "plan.yaml".into(),
            text: text.as_str().into(),
            variant: None,
        };
        check(source).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_free_port_of_a_server_that_jelly_does_not_start_is_refused() {
    let text = |more: &str| {
        format!(
            "version: 1\nservers:\n  m:\n    url: \"http://h:${{port}}/\"\n{more}steps: [{{ server: m, list: tools }}]\n"
        )
    };
    slip(
        &text(""),
        "4:20",
        "nothing is started that gets it",
        "write its `command` beside the `url`",
    );
    let told = text("  n: { command: y, args: [\"${port:m}\"] }\n");
    let source = PlanSource {
        path: "plan.yaml".into(),
        text: told.as_str().into(),
        variant: None,
    };
    check(source).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_request_that_the_pinned_revisions_do_not_have_is_refused() {
    let plan = |pin: &str, step: &str| {
        format!("version: 1\nservers:\n  m:\n    command: x\n    {pin}\nsteps:\n  - {step}\n")
    };
    for (pin, method, since) in [
        ("era: legacy", "server/discover", "2026-07-28"),
        ("era: modern", "initialize", "2024-11-05 to 2025-11-25"),
        (
            "era: modern",
            "logging/setLevel",
            "2024-11-05 to 2025-11-25",
        ),
        ("protocol: \"2025-06-18\"", "tasks/list", "2025-11-25"),
    ] {
        let text = plan(pin, &format!("request: {method}"));
        slip(&text, "7:14", &format!("`{method}` does not exist"), since);
        for (pin, step) in [
            ("era: modern", "request: server/discover".to_owned()),
            (
                pin,
                format!("{{ request: {method}, expect: {{ error: {{ code: -32601 }} }} }}"),
            ),
            ("adapt: false", format!("request: {method}")),
            (pin, "request: acme/own".to_owned()),
        ] {
            let text = plan(pin, &step);
            let source = PlanSource {
                path: "plan.yaml".into(),
                text: text.as_str().into(),
                variant: None,
            };
            check(source).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[test]
fn an_answer_to_what_nobody_asks_and_roots_without_a_place_are_refused() {
    let answer = |answer: &str| {
        format!(
            "version: 1\nservers: {{ m: {{ command: x }} }}\nsteps:\n- tool: t\n  answers: [{answer}]\n"
        )
    };
    slip(
        &answer("{ method: sampling/create, result: { role: user, content: {}, model: m } }"),
        "5:23",
        "no server asks for `sampling/create`",
        "did you mean `sampling/createMessage`?",
    );
    slip(
        &answer("{ method: roots/list, result: { roots: [/tmp] } }"),
        "5:52",
        "each item of `roots` needs `uri`",
        "as in `result: { roots: [{ uri:",
    );
    for (result, at, message, hint) in [
        (
            "{ method: roots/list, result: { roots: [{ uri: /tmp }] } }",
            "5:60",
            "the `uri` of a root begins with `file://`",
            "write `uri: \"file:///tmp\"`",
        ),
        (
            "{ method: sampling/createMessage, result: { role: user, content: hello, model: m } }",
            "5:78",
            "a block of content",
            "write `content: { type: text, text: hello }`",
        ),
        (
            "{ method: elicitation/create, result: { action: decline, content: { a: 1 } } }",
            "5:70",
            "does not go with `action: decline`",
            "take `content` out",
        ),
    ] {
        slip(&answer(result), at, message, hint);
    }
}

#[test]
fn a_port_that_the_command_gets_and_the_url_does_not_name_is_refused() {
    let server = |url: &str, args: &str| {
        format!(
            "version: 1\nservers:\n  m:\n    command: x\n    args: [{args}]\n    url: \"{url}\"\nsteps: [{{ list: tools }}]\n"
        )
    };
    let fixed = "http://127.0.0.1:8791/mcp";
    let port = "\"--port\", \"${port}\"";
    slip(&server(fixed, port), "6:28", "8791", "write `${port}` into");
    for (url, args) in [
        (fixed, "a.py"),
        (fixed, "\"--port\", 8791, \"--metrics\", \"${port}\""),
        ("http://127.0.0.1:${port}/mcp", port),
        ("http://mcp.example.com:8791/mcp", port),
    ] {
        let text = server(url, args);
        let source = PlanSource {
            path: "plan.yaml".into(),
            text: text.as_str().into(),
            variant: None,
        };
        check(source).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn an_answer_that_no_server_could_read_is_refused() {
    let answer = |method: &str, result: &str| {
        format!(
            "version: 1\nservers: {{ m: {{ command: x }} }}\nsteps:\n- tool: t\n  answers: [{{ method: {method}, result: {result} }}]\n"
        )
    };
    for (method, result, needs, hint) in [
        (
            "elicitation/create",
            "{ name: Bob }",
            "`action`",
            "{ action: accept, content: { name: Bob } }",
        ),
        ("elicitation/create", "{}", "`action`", "action: decline"),
        (
            "sampling/createMessage",
            "{ text: hi }",
            "`role`",
            "role: assistant",
        ),
        ("roots/list", "{}", "`roots`", "roots: ["),
    ] {
        let text = answer(method, result);
        let at = format!("5:{}", 33 + method.len());
        slip(&text, &at, needs, hint);
    }
}

#[test]
fn slips_of_who_writes_a_first_plan_are_shown_with_what_is_meant() {
    let steps = "steps: [{ server: m, list: tools }]\n";
    for (text, at, message, hint) in [
        (
            format!("version:1\nservers:\n  m: {{ command: x }}\n{steps}"),
            "1:1",
            "a colon followed by a space",
            "write `version: 1`",
        ),
        (
            format!("version: 1\nservers:\n  m: {{ command: x, startup_timeout: 5000 }}\n{steps}"),
            "3:37",
            "a duration needs a unit",
            "write `5000ms` for milliseconds",
        ),
        (
            format!(
                "version: 1\nservers:\n  m: {{ command: x, args: [\"${{TOKEN:-x}}\"] }}\n{steps}"
            ),
            "3:28",
            "is no reference",
            "`${env:TOKEN}`, and has no default",
        ),
        (
            format!("version: 1\nservers:\n  - name: m\n    command: x\n{steps}"),
            "3:3",
            "expected a map (servers by name)",
            "under its name, as in `NAME: { … }`",
        ),
    ] {
        slip(&text, at, message, hint);
    }
    let items = "version: 1\nservers:\n  m: { command: x }\nsteps:\n  - server: m\n  - tool: a\n";
    let found = problems("plan.yaml", items);
    assert!(found[0].2.contains("only its first line"), "{found:?}");
}

#[test]
fn the_correction_of_an_answer_without_an_action_can_be_pasted() {
    let plan = |result: &str| {
        format!(
            "version: 1\nservers:\n  m: {{ command: x }}\nsteps:\n  - tool: a\n    answers:\n      - method: elicitation/create\n        result{result}\n"
        )
    };
    for result in [
        ": { content: { a: 1 } }",
        ": { a: 1 }",
        ":\n          content: { a: 1 }",
        ":\n          a: 1",
    ] {
        let found = problems("plan.yaml", &plan(result));
        let [(_, _, hints)] = found.as_slice() else {
            panic!("{result}: {found:?}");
        };
        let written = hints.split('`').nth(1).unwrap();
        let pasted = written.strip_prefix("result").unwrap();
        assert!(pasted.contains("content: { a: 1 } }"), "{result}: {pasted}");
        let text = plan(pasted);
        let source = PlanSource {
            path: "plan.yaml".into(),
            text: text.as_str().into(),
            variant: None,
        };
        check(source).unwrap_or_else(|error| panic!("{pasted}: {error}"));
    }
}

#[test]
fn a_secret_in_the_place_of_its_name_is_refused_and_not_shown() {
    const TOKEN: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    for kind in ["secret", "env"] {
        let plan = |name: &str| {
            format!(
                "version: 1\nservers:\n  m:\n    command: x\n    env: {{ T: \"${{{kind}:{name}}}\" }}\nsteps:\n  - tool: a\n"
            )
        };
        let found = problems("plan.yaml", &plan(TOKEN));
        let [(_, what, hint)] = found.as_slice() else {
            panic!("{kind}: {found:?}");
        };
        assert!(what.contains("looks like a secret itself"), "{what}");
        assert!(hint.contains(&format!("${{{kind}:TOKEN}}")), "{hint}");
        assert!(!format!("{what}{hint}").contains(TOKEN));
        let source = PlanSource {
            path: "plan.yaml".into(),
            text: plan("GITHUB_TOKEN").as_str().into(),
            variant: None,
        };
        check(source).unwrap();
    }
}

/// A plan with one step, which begins in line 5, column 5.
fn step(text: &str) -> String {
    format!("version: 1\nservers:\n  m: {{ command: x }}\nsteps:\n  - {text}\n")
}

#[test]
fn only_the_result_of_a_tool_says_that_it_is_an_error() {
    for (request, flag, hint) in [
        ("list: tools", "true", "write `error: {}`"),
        ("read: a://b", "true", "write `error: {}`"),
        ("prompt: p", "true", "write `error: {}`"),
    ] {
        let text = step(&format!("{request}\n    expect: {{ is_error: {flag} }}"));
        let kind = request.split(':').next().unwrap();
        let message = format!("the answer to `{kind}` has no `isError`");
        slip(&text, "6:15", &message, hint);
    }
    let until = step("list: tools\n    until: { expect: { is_error: true } }");
    slip(&until, "6:24", "has no `isError`", "write `error: {}`");
    for request in ["tool: t", "request: tools/call"] {
        assert_good(&step(&format!(
            "{request}\n    expect: {{ is_error: true }}"
        )));
    }
    // It says nothing that is not so.
    assert_good(&step("list: tools\n    expect: { is_error: false }"));
}

#[test]
fn a_path_from_the_message_around_the_result_is_refused() {
    for (request, path, hint) in [
        (
            "tool: t",
            "$.error.code",
            "`expect: { error: { code: … } }`",
        ),
        (
            "tool: t",
            "$.error.message",
            "error: { message: { contains: … } } }`",
        ),
        ("tool: t", "$['error'].data", "`expect: { error: {} }`"),
        (
            "tool: t",
            "$.result.content[0].text",
            "write `$.content[0].text`",
        ),
        ("tool: t", "$['result'].isError", "write `$.content`"),
        ("tool: t", "$.jsonrpc", "as in `$.content`"),
        (
            "list: tools",
            "$.result.tools[0].name",
            "write `$.tools[0].name`",
        ),
        ("request: tools/list", "$.result", "write `$.tools`"),
        (
            "read: a://b",
            "$.result.contents[0].text",
            "write `$.contents[0].text`",
        ),
    ] {
        let json = format!("json: [{{ path: \"{path}\", type: string }}]");
        let text = step(&format!("{request}\n    expect: {{ {json} }}"));
        slip(&text, "6:30", "a path begins at the result", hint);
        let text = step(&format!("{request}\n    capture: {{ it: \"{path}\" }}"));
        slip(&text, "6:20", "a path begins at the result", hint);
    }
    for (request, path) in [
        ("tool: t", "$.structuredContent.error.code"),
        ("tool: t", "$.structuredContent.result"),
        ("tool: t", "$..error.code"),
        ("tool: t", "$.error"),
        ("tool: t", "$.errors"),
        ("tool: t", "$.result.temperature"),
        ("request: my/own", "$.error.code"),
        ("request: my/own", "$.result.content"),
    ] {
        let json = format!("json: [{{ path: \"{path}\", type: string }}]");
        assert_good(&step(&format!("{request}\n    expect: {{ {json} }}")));
    }
}

#[track_caller]
fn assert_good(text: &str) {
    let source = PlanSource {
        path: "plan.yaml".into(),
        text: text.into(),
        variant: None,
    };
    check(source).unwrap_or_else(|error| panic!("{text}\n{error}"));
}

#[test]
fn an_answer_without_a_result_is_shown_one_of_its_method() {
    for (method, hint) in [
        ("roots/list", "result: { roots: [{ uri:"),
        ("sampling/createMessage", "result: { role: assistant"),
        ("elicitation/create", "result: { action: decline }"),
    ] {
        let text = step(&format!("tool: t\n    answers: [{{ method: {method} }}]"));
        slip(&text, "6:15", "needs a `result` or an `error`", hint);
    }
}

#[test]
fn a_command_line_in_the_place_of_a_program_is_refused() {
    let plan = |command: &str| {
        format!("version: 1\nservers:\n  m:\n    command: {command}\nsteps:\n  - list: tools\n")
    };
    for (command, first) in [("npx -y foo", "npx"), ("python3 server.py", "python3")] {
        let hint = format!("write `command: {first}`");
        slip(&plan(command), "4:14", "a whole command line", &hint);
    }
    let names = ["npx", "/opt/My Depot/server", "/opt/node js/bin/server"];
    for command in names
        .into_iter()
        .chain(["\"${tool} -y\"", "my server", "My - App"])
    {
        assert_good(&plan(command).replace("version: 1", "version: 1\nvars: { tool: x }"));
    }
}
