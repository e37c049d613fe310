//! `cases`, `needs`, `if`, `until` and `defaults`, as they are read.

use crate::{Plan, PlanSource, check};
use serde_json::json;
use std::time::Duration;

fn source(text: &str) -> PlanSource {
    PlanSource {
        path: "p.yaml".into(),
        text: text.into(),
        variant: None,
    }
}

const HEAD: &str = "version: 1\nvars: { mode: quick }\nservers:\n  m: { command: x }\n  n: { command: y, era: legacy }\n";

fn steps(steps: &str) -> String {
    format!("{HEAD}steps:\n{steps}")
}

fn good(text: &str) -> Plan {
    check(source(text)).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

#[test]
fn each_case_is_a_step_with_its_values_in_it() {
    let plan = good(&steps(
        "  - id: w
    server: m
    tool: \"${tool}\"
    cases:
      - { name: a, tool: one, n: 3, wrong: false, told: \"${mode}!\" }
      - { tool: two, n: [1, \"${mode}\"], wrong: true, told: x }
    args: { n: \"${n}\", text: \"n is ${n} (${told})\", fixed: \"${mode}\" }
    expect: { is_error: \"${wrong}\" }
  - { id: after, server: n, tool: t, needs: [w], if: { era: legacy } }
  - { id: one, server: n, tool: t, needs: [\"w[1]\"] }
",
    ));
    let ids: Vec<&str> = plan.steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(ids, ["w[a]", "w[1]", "after", "one"]);
    let [first, second, after, one] = plan.steps.as_slice() else {
        panic!("{ids:?}");
    };
    assert_eq!(
        first.args,
        json!({ "n": 3, "text": "n is 3 (${mode}!)", "fixed": "${mode}" })
    );
    assert_eq!(second.args["n"], json!([1, "${mode}"]));
    assert_eq!(second.args["text"], "n is [1,\"${mode}\"] (x)");
    assert_eq!(
        (first.expects_error(), second.expects_error()),
        (false, true)
    );
    assert_eq!(first.request.kind(), "tool");
    let case = first.case.as_ref().unwrap();
    let filled: Vec<String> = case.filled.iter().map(ToString::to_string).collect();
    let wanted = ["tool", "args.n", "args.text", "expect.is_error"];
    assert_eq!(filled, wanted.map(|at| format!("steps[0].{at}")));
    assert_eq!(
        (first.path.to_string(), first.at.line),
        ("steps[0]".to_owned(), 11)
    );
    assert_eq!(after.needs, ["w[a]", "w[1]"]);
    assert_eq!(one.needs, ["w[1]"]);
}

#[test]
fn what_a_step_does_not_say_the_defaults_do() {
    let text = steps(
        "  - { tool: a }
  - { tool: b, server: n, tags: [own], timeout: 2s }
  - { tool: c, until: { expect: { text: { equals: x } }, for: 3s } }
",
    )
    .replace(
        "servers:",
        "defaults: { server: m, tags: [d], timeout: 9s, request_timeout: 8s, startup_timeout: 7s, shutdown_timeout: 6s }\nservers:",
    );
    let plan = good(&text);
    let seconds = Duration::from_secs;
    let (a, b) = (&plan.steps[0], &plan.steps[1]);
    assert_eq!((a.server.as_str(), a.timeout), ("m", Some(seconds(9))));
    assert_eq!((a.tags[0].as_str(), b.tags[0].as_str()), ("d", "own"));
    assert_eq!((b.server.as_str(), b.timeout), ("n", Some(seconds(2))));
    let server = &plan.servers["n"];
    assert_eq!(server.request_timeout, seconds(8));
    assert_eq!(server.startup_timeout, seconds(7));
    assert_eq!(server.shutdown_timeout, seconds(6));
    let until = plan.steps[2].until.as_ref().unwrap();
    assert_eq!(
        (until.every, until.lasts),
        (Duration::from_millis(500), seconds(3))
    );
    assert_eq!(
        plan.steps[2].predicates().count(),
        2,
        "the last one is held to it too"
    );
}

#[test]
fn mistakes_are_explained() {
    let one = |rest: &str| steps(&format!("  - {{ server: m, tool: t, {rest} }}\n"));
    let mistakes = [
        ("no cases", one("cases: []")),
        ("a case of nothing", one("cases: [{}]")),
        ("cases that are no list", one("cases: { a: 1 }")),
        (
            "two cases of one name",
            one("cases: [{ name: a, x: 1 }, { name: a, x: 2 }], args: { x: '${x}' }"),
        ),
        ("a name with brackets", one("cases: [{ name: 'a[1]' }]")),
        (
            "a case whose id is taken",
            steps(
                "  - { id: a, server: m, tool: t, cases: [{ name: b }] }\n  - { id: 'a[b]', server: m, tool: t }\n",
            ),
        ),
        ("a variable that nothing uses", one("cases: [{ x: 1 }]")),
        (
            "a variable that one case lacks",
            one("cases: [{ x: 1 }, { name: b }], args: { x: '${x}' }"),
        ),
        (
            "a variable of the plan",
            one("cases: [{ mode: 1 }], args: { x: '${mode}' }"),
        ),
        (
            "a capture out of cases",
            one("cases: [{ name: a }], capture: { y: $.z }"),
        ),
        (
            "a value that does not fit",
            one("cases: [{ x: '(' }], expect: { text: { matches: '${x}' } }"),
        ),
        ("a need of nothing", one("needs: []")),
        (
            "a need of a slip",
            steps(
                "  - { id: write, server: m, tool: t }\n  - { server: m, tool: t, needs: [wirte] }\n",
            ),
        ),
        (
            "a need of what comes later",
            steps("  - { server: m, tool: t, needs: [b] }\n  - { id: b, server: m, tool: t }\n"),
        ),
        ("a need of itself", one("id: me, needs: [me]")),
        ("an if of nothing", one("if: {}")),
        (
            "an if of a platform that is none",
            one("if: { platform: [linux, windows] }"),
        ),
        (
            "an if of an era that is found out",
            one("if: { era: legacy }"),
        ),
        (
            "an if of a capture",
            steps(
                "  - { server: m, tool: t, capture: { it: $.a } }\n  - { server: m, tool: t, if: { vars: { it: 1 } } }\n",
            ),
        ),
        (
            "an if of a variable that is none",
            one("if: { vars: { mood: 1 } }"),
        ),
        ("an if of an answer", one("if: { tools: [a] }")),
        (
            "an until without what it waits for",
            one("until: { every: 1s }"),
        ),
        (
            "an until that asks once",
            one("until: { expect: { is_error: false }, every: 1s, for: 1s }"),
        ),
        (
            "an until of how long it took",
            one("until: { expect: { duration: { lt: 1s } } }"),
        ),
        (
            "an until of a snapshot",
            one("until: { expect: { text: { snapshot: a } } }"),
        ),
        (
            "an until of raw bytes",
            steps("  - { server: m, raw: x, until: { expect: { error: {} } } }\n"),
        ),
        (
            "an until of what is cancelled",
            one("cancel_after: 1s, until: { expect: { text: { equals: a } } }"),
        ),
        (
            "an until that says otherwise",
            one("until: { expect: { error: {} } }, expect: { text: { equals: a } }"),
        ),
        (
            "defaults of nothing",
            one("id: a").replace("servers:", "defaults: {}\nservers:"),
        ),
        (
            "defaults of a server that is none",
            one("id: a").replace("servers:", "defaults: { server: k }\nservers:"),
        ),
        (
            "defaults of what stands at each step",
            one("id: a").replace("servers:", "defaults: { expect: {} }\nservers:"),
        ),
    ];
    let mut text = String::new();
    for (title, plan) in mistakes {
        let error = check(source(&plan)).expect_err(title);
        text.push_str(&format!("# {title}\n\n{}\n", error.render(false)));
    }
    insta::assert_snapshot!(text);
}
