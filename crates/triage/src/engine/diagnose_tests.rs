//! The built-in rules against their own examples, and what holds for every
//! diagnosis.

use super::Engine;
use crate::engine::marks::Marks;
use jelly_base::model::{
    Assertion, AssertionTarget, Exit, Failure, Fix, Outcome, Phase, RequestFacts, RpcError, Side,
    ToolResult,
};
use proptest::prelude::*;

fn failure(phase: Option<Phase>) -> Failure {
    Failure {
        phase,
        ..Failure::default()
    }
}

#[test]
fn every_pattern_compiles() {
    let engine = Engine::builtin();
    for pattern in &engine.matcher.patterns {
        assert!(pattern.regex().is_some(), "{}", pattern.text);
    }
    assert!(engine.matcher.prefilter().is_some());
}

/// All that the rules' own examples say, in no order.
fn texts_of_examples() -> Vec<String> {
    let mut texts = Vec::new();
    for rule in Engine::builtin().rules() {
        for example in rule.examples().iter().chain(rule.lookalikes()) {
            match example {
                crate::engine::Example::Text(text) => texts.push(text.clone()),
                crate::engine::Example::Failure(failure) => {
                    let facts = crate::engine::facts::Facts::new(failure);
                    let read = crate::engine::clues::texts(&facts);
                    texts.extend(read.into_iter().map(|text| text.text.into_owned()));
                }
            }
        }
    }
    texts
}

/// The patterns of any field that `text` may match.
fn candidates(engine: &Engine, text: &str) -> Marks {
    let prefilter = engine.matcher.prefilter().unwrap();
    prefilter.candidates(text, u32::MAX)
}

/// The patterns that match `text` and are no candidates for it.
fn missed(engine: &Engine, text: &str) -> Vec<String> {
    let candidates = candidates(engine, text);
    let missed =
        |index: &usize| !candidates.has(*index) && engine.matcher.patterns[*index].matches(text);
    (0..engine.matcher.patterns.len())
        .filter(missed)
        .map(|index| engine.matcher.patterns[index].text.clone())
        .collect()
}

#[test]
fn whatever_matches_a_text_is_a_candidate_for_it() {
    let engine = Engine::builtin();
    // All at once, so that each pattern is tried with all literals around.
    let all = texts_of_examples();
    for texts in all.chunks(64) {
        let text = texts.join("\n");
        assert_eq!(missed(engine, &text), [""; 0]);
        assert_eq!(missed(engine, &text.to_ascii_uppercase()), [""; 0]);
    }
    // A candidate is worth something only if it is rare.
    let few = all
        .iter()
        .filter(|text| {
            let mut count = 0;
            candidates(engine, text).each(|_| count += 1);
            count < 100
        })
        .count();
    assert!(few * 10 > all.len() * 9, "{few} of {}", all.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pieces_of_examples_make_no_pattern_miss_its_text(
        pieces in prop::collection::vec((any::<prop::sample::Index>(), 0usize..80, 1usize..80), 1..12),
    ) {
        static ALL: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(texts_of_examples);
        let engine = Engine::builtin();
        let mut text = String::new();
        for (which, from, length) in pieces {
            text.extend(which.get(&ALL).chars().skip(from).take(length));
        }
        prop_assert_eq!(missed(engine, &text), [""; 0]);
    }
}

#[test]
fn an_own_rule_is_asked_before_or_after_the_others() {
    let own = |strength: &str| {
        crate::engine::parse_rules(
            "own",
            &format!(
                "[{{id: own/x, root_cause: connection_refused, error_category: INFRASTRUCTURE, \
                 retryable: true, side: test, strength: {strength}, patterns: ['refused|frob'], \
                 advice: {{what: w, why: y, fix: [f]}}}}]"
            ),
        )
        .unwrap()
    };
    let says = |engine: &Engine, text: &str| {
        engine
            .diagnose(&Failure {
                tool_result: Some(ToolResult {
                    is_error: true,
                    text: text.into(),
                    ..ToolResult::default()
                }),
                ..failure(Some(Phase::Call))
            })
            .rule
    };
    let before = Engine::with_rules(own("hint"), Vec::new()).unwrap();
    assert_eq!(says(&before, "connection refused"), "own/x");
    let after = Engine::with_rules(Vec::new(), own("hint")).unwrap();
    assert_eq!(says(&after, "connection refused"), "network/refused");
    assert!(Engine::with_rules(own("hint"), own("hint")).is_err());
}

#[test]
fn a_rule_that_contradicts_itself_is_refused() {
    let rule = |fields: &str| {
        crate::engine::parse_rules(
            "own",
            &format!(
                "[{{id: own/x, root_cause: x, side: test, {fields}, \
                 advice: {{what: w, why: y, fix: [f]}}}}]"
            ),
        )
    };
    assert!(rule("strength: hint, patterns: [a]").is_ok());
    for wrong in [
        "strength: hint",
        "strength: fact",
        "strength: hint, patterns: [a], retryable: true",
        "strength: hint, patterns: [a], retryable: true, error_category: ASSERTION",
        "strength: hint, patterns: [a], colour: red",
    ] {
        assert!(rule(wrong).is_err(), "{wrong}");
    }
    assert!(
        Engine::with_rules(rule("strength: hint, patterns: ['(']").unwrap(), Vec::new()).is_err()
    );
}

#[test]
fn every_rule_has_examples_and_lookalikes() {
    for rule in Engine::builtin().rules() {
        assert!(rule.examples().len() >= 2, "{} needs examples", rule.id);
        assert!(
            rule.lookalikes().len() >= 2,
            "{} needs look-alikes",
            rule.id
        );
    }
}

#[test]
fn every_rule_decides_its_examples_and_none_of_its_lookalikes() {
    let engine = Engine::builtin();
    let slips: Vec<String> = engine
        .rules()
        .flat_map(|rule| engine.slips(rule))
        .map(|slip| format!("{slip:?}"))
        .collect();
    assert!(slips.is_empty(), "{}", slips.join("\n"));
}

#[test]
fn a_failure_without_facts_is_unknown_and_test_side() {
    let diagnosis = Engine::builtin().diagnose(&Failure::default());
    assert_eq!(diagnosis.root_cause, "unknown");
    assert_eq!((diagnosis.side, diagnosis.ambiguous), (Side::Test, true));
    assert_eq!(
        (diagnosis.error_category, diagnosis.retryable),
        (None, None)
    );
    assert_eq!(diagnosis.evidence, None);
}

#[test]
fn a_traceback_at_startup_is_a_suspicion_and_no_verdict() {
    let diagnosis = Engine::builtin().diagnose(&Failure {
        outcome: Some(Outcome::Eof),
        exit: Some(Exit {
            code: Some(1),
            signal: None,
        }),
        stderr: Some(
            "Traceback (most recent call last):\n  File \"s.py\", line 4\nNameError: name 'Strng' is not defined"
                .into(),
        ),
        ..failure(Some(Phase::Handshake))
    });
    assert_eq!((diagnosis.side, diagnosis.ambiguous), (Side::Test, true));
    assert_eq!(diagnosis.suspect, Some(jelly_base::model::Suspect::Code));
    assert_eq!(
        diagnosis.evidence.unwrap().text,
        "NameError: name 'Strng' is not defined"
    );
}

#[test]
fn a_server_that_exits_after_the_handshake_is_test_side_when_it_never_became_ready() {
    let died = Failure {
        outcome: Some(Outcome::Eof),
        exit: Some(Exit {
            code: Some(1),
            signal: None,
        }),
        stderr: Some("fatal: lost the shelves".into()),
        ..failure(Some(Phase::List))
    };
    assert_eq!(Engine::builtin().diagnose(&died).side, Side::Code);
    let live = Failure {
        message: Some("exited during startup (exit code 1)".into()),
        ..died
    };
    assert_eq!(Engine::builtin().diagnose(&live).side, Side::Test);
}

#[test]
fn a_stack_of_a_server_that_was_asked_for_its_lists_is_the_servers() {
    let stack = "Traceback (most recent call last):\n  File \"/srv/server.py\", line 3, in list_tools\n    return shelves[7]\nIndexError: list index out of range\n";
    let listing = Failure {
        outcome: Some(Outcome::Eof),
        exit: Some(Exit {
            code: Some(1),
            signal: None,
        }),
        message: Some("exited during startup with code 1, before it answered `tools/list`".into()),
        stderr: Some(stack.into()),
        ..failure(Some(Phase::List))
    };
    let diagnosis = Engine::builtin().diagnose(&listing);
    assert_eq!((diagnosis.side, diagnosis.ambiguous), (Side::Code, false));
    let starting = Failure {
        phase: Some(Phase::Handshake),
        ..listing.clone()
    };
    let diagnosis = Engine::builtin().diagnose(&starting);
    assert_eq!((diagnosis.side, diagnosis.ambiguous), (Side::Test, true));
    let speechless = Failure {
        stderr: None,
        message: None,
        ..listing
    };
    let diagnosis = Engine::builtin().diagnose(&speechless);
    assert_eq!((diagnosis.side, diagnosis.ambiguous), (Side::Test, true));
    let refused = Failure {
        outcome: Some(Outcome::Error),
        exit: None,
        rpc_error: Some(RpcError {
            code: Some(0),
            message: "shelves".into(),
            data: None,
        }),
        stderr: Some(stack.into()),
        ..failure(Some(Phase::List))
    };
    let diagnosis = Engine::builtin().diagnose(&refused);
    assert_eq!((diagnosis.side, diagnosis.ambiguous), (Side::Code, false));
}

#[test]
fn deaths_without_a_word_say_that_there_is_no_evidence() {
    let diagnosis = Engine::builtin().diagnose(&Failure {
        outcome: Some(Outcome::Eof),
        exit: Some(Exit {
            code: Some(1),
            signal: None,
        }),
        request: Some(RequestFacts::default()),
        ..failure(Some(Phase::Call))
    });
    assert_eq!(diagnosis.side, Side::Code);
    assert_eq!(
        diagnosis.evidence.unwrap().text,
        "exit code 1, nothing on stderr"
    );
}

#[test]
fn the_repair_of_a_wrong_name_depends_on_what_else_there_is() {
    let issue = |candidates: &[&str]| {
        Engine::builtin()
            .diagnose(&Failure {
                issue: Some(jelly_base::model::PlanIssue::UnknownTool {
                    name: "read".into(),
                    candidates: candidates.iter().map(|c| (*c).to_owned()).collect(),
                }),
                ..failure(Some(Phase::Call))
            })
            .repair
    };
    assert_eq!(issue(&["read_file"]).as_deref(), Some("rename_tool"));
    assert_eq!(issue(&[]).as_deref(), Some("quarantine_step"));
    assert_eq!(issue(&["a", "b"]).as_deref(), Some("quarantine_step"));
}

#[test]
fn a_tool_that_nobody_lists_can_be_called_all_the_same() {
    let diagnosis = Engine::builtin().diagnose(&Failure {
        issue: Some(jelly_base::model::PlanIssue::UnknownTool {
            name: "hidden".into(),
            candidates: Vec::new(),
        }),
        ..failure(Some(Phase::Call))
    });
    let as_it_is = "`request: tools/call` with `args: { name: hidden, arguments: { … } }`";
    let mut fix = diagnosis.advice.fix.iter();
    assert!(fix.any(|fix| fix.text.contains(as_it_is)));
}

#[test]
fn the_same_cause_in_two_steps_shares_one_fingerprint() {
    let refused = |step: &str, port: u16| {
        Engine::builtin().diagnose(&Failure {
            step: Some(step.into()),
            outcome: Some(Outcome::Result),
            tool_result: Some(ToolResult {
                is_error: true,
                text: format!("connect ECONNREFUSED 127.0.0.1:{port}"),
                structured_content: None,
            }),
            ..failure(Some(Phase::Call))
        })
    };
    let (a, b) = (refused("a", 41001), refused("b", 52002));
    assert_eq!(a.fingerprint, b.fingerprint);
    assert_ne!(a.test_fingerprint, b.test_fingerprint);
    assert_eq!(a.test_fingerprint, refused("a", 60000).test_fingerprint);
}

#[test]
fn wrong_differently_is_another_fingerprint() {
    let mismatch = |actual: &str| {
        Engine::builtin().diagnose(&Failure {
            step: Some("s".into()),
            outcome: Some(Outcome::Result),
            assertion: Some(Assertion {
                kind: "equals".into(),
                target: Some(AssertionTarget::Text),
                expected: "8 ms".into(),
                actual: actual.into(),
                ..Assertion::default()
            }),
            tool_result: Some(ToolResult {
                text: actual.into(),
                ..ToolResult::default()
            }),
            ..failure(Some(Phase::Assert))
        })
    };
    assert_ne!(
        mismatch("7 ms").test_fingerprint,
        mismatch("6 ms").test_fingerprint
    );
    assert_eq!(
        mismatch("7 ms").test_fingerprint,
        mismatch("7 ms").test_fingerprint
    );
}

const WORDS: &[&str] = &[
    "timeout",
    "Connection refused",
    "ECONNREFUSED 127.0.0.1:1",
    "no such file or directory",
    "Unknown tool: x",
    "Error: ",
    "\n",
    "Traceback (most recent call last):\n  File \"a\"\nKeyError: 'A_B'",
    "HTTP 503",
    "permission denied",
    "é‘’\u{0}",
    "{\"jsonrpc\":\"2.0\"",
    "panicked at src/main.rs:1:1:\nboom",
    "ok",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(prop::sample::select(WORDS), 0..6).prop_map(|words| words.concat()),
        "\\PC{0,60}",
    ]
}

fn phase() -> impl Strategy<Value = Option<Phase>> {
    prop::sample::select(vec![
        None,
        Some(Phase::Config),
        Some(Phase::Spawn),
        Some(Phase::Handshake),
        Some(Phase::List),
        Some(Phase::Call),
        Some(Phase::Assert),
        Some(Phase::Teardown),
    ])
}

fn any_failure() -> impl Strategy<Value = Failure> {
    let outcome = prop::sample::select(vec![
        None,
        Some(Outcome::SpawnError),
        Some(Outcome::Eof),
        Some(Outcome::Timeout),
        Some(Outcome::Error),
        Some(Outcome::Result),
        Some(Outcome::Ok),
    ]);
    let exit = prop::option::of((prop::option::of(-1i32..256), any::<bool>()).prop_map(
        |(code, killed)| Exit {
            code,
            signal: killed.then(|| "SIGSEGV".to_owned()),
        },
    ));
    let rpc = prop::option::of((prop::option::of(-32800i64..1), text()).prop_map(
        |(code, message)| RpcError {
            code,
            message,
            data: None,
        },
    ));
    let result =
        prop::option::of(
            (any::<bool>(), text()).prop_map(|(is_error, text)| ToolResult {
                is_error,
                text,
                structured_content: None,
            }),
        );
    (
        phase(),
        outcome,
        exit,
        prop::option::of(text()),
        rpc,
        result,
        prop::option::of(text()),
        prop::option::of(text()),
        any::<bool>(),
    )
        .prop_map(
            |(phase, outcome, exit, stderr, rpc_error, tool_result, message, text, requested)| {
                Failure {
                    phase,
                    outcome,
                    exit,
                    stderr,
                    rpc_error,
                    tool_result,
                    message,
                    text,
                    request: requested.then(RequestFacts::default),
                    ..Failure::default()
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(jelly_base::testing::random_cases(300)))]

    #[test]
    fn every_diagnosis_is_whole_and_reproducible(failure in any_failure()) {
        let engine = Engine::builtin();
        let diagnosis = engine.diagnose(&failure);
        prop_assert_eq!(diagnosis.error_category.is_some(), diagnosis.retryable.is_some());
        prop_assert!(!diagnosis.rule.is_empty() && !diagnosis.advice.what.is_empty());
        prop_assert!(!(diagnosis.ambiguous && diagnosis.side == Side::Code));
        prop_assert_eq!(diagnosis, engine.diagnose(&failure));
    }

    #[test]
    fn a_server_that_never_became_ready_is_never_code(failure in any_failure()) {
        prop_assume!(matches!(
            failure.phase,
            Some(Phase::Config | Phase::Spawn | Phase::Handshake)
        ));
        prop_assert_eq!(Engine::builtin().diagnose(&failure).side, Side::Test);
    }

    #[test]
    fn compared_values_are_no_evidence(expected in text(), actual in text()) {
        // The answer begins with data, so that as a whole it states no error.
        let failure = Failure {
            phase: Some(Phase::Assert),
            outcome: Some(Outcome::Result),
            tool_result: Some(ToolResult { text: format!("value: {actual}"), ..ToolResult::default() }),
            assertion: Some(Assertion {
                kind: "equals".into(),
                expected: expected.into(),
                actual: actual.into(),
                ..Assertion::default()
            }),
            ..Failure::default()
        };
        let diagnosis = Engine::builtin().diagnose(&failure);
        prop_assert_eq!(diagnosis.root_cause.as_str(), "assertion_mismatch");
    }
}

#[test]
fn a_death_whose_words_are_the_environments_says_so_first() {
    let died = |stderr: &str, side: (Side, bool)| {
        let failure: Failure = serde_json::from_value(serde_json::json!({
            "phase": "call", "outcome": "eof", "exit": {"code": 1}, "server": "s",
            "request": {"method": "tools/call", "params": {"name": "x"}}, "stderr": stderr,
        }))
        .unwrap();
        let diagnosis = Engine::builtin().diagnose(&failure);
        assert_eq!((diagnosis.side, diagnosis.ambiguous), side, "{stderr}");
        diagnosis.advice.fix[0].text.clone()
    };
    let (code, undecided) = ((Side::Code, false), (Side::Test, true));
    for (stderr, side) in [
        // It need not have died where the service answers.
        (
            "Traceback (most recent call last):\n  File \"s.py\", line 3, in f\n    c()\nConnectionRefusedError: [Errno 111] Connection refused",
            undecided,
        ),
        (
            "Error: connect ECONNREFUSED 127.0.0.1:54399\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1611:16)",
            undecided,
        ),
        ("OSError: [Errno 28] No space left on device", code),
    ] {
        let first = died(stderr, side);
        assert!(
            first.starts_with("Its last words name something outside"),
            "{first}"
        );
    }
    let own = died(
        "Traceback (most recent call last):\n  File \"s.py\", line 3, in f\n    x\nKeyError: 'a'",
        code,
    );
    assert!(!own.contains("outside of its code"), "{own}");
}

#[test]
fn a_death_for_want_of_a_variable_or_a_program_is_not_the_codes() {
    for (stderr, cause) in [
        (
            "Error: STRIPE_SECRET_KEY environment variable is not set",
            "missing_env_var",
        ),
        (
            "Traceback (most recent call last):\n  File \"s.py\", line 3, in f\n    os.environ[\"GITHUB_TOKEN\"]\n  File \"<frozen os>\", line 685, in __getitem__\nKeyError: 'GITHUB_TOKEN'",
            "missing_env_var",
        ),
        (
            "ModuleNotFoundError: No module named 'depotlib'",
            "missing_module",
        ),
        (
            "Error: spawn lpr-label ENOENT\n    at ChildProcess._handle.onexit (node:internal/child_process:285:19)",
            "dependency_unavailable",
        ),
    ] {
        let failure: Failure = serde_json::from_value(serde_json::json!({
            "phase": "call", "outcome": "eof", "exit": {"code": 1}, "server": "s",
            "request": {"method": "tools/call", "params": {"name": "x"}}, "stderr": stderr,
        }))
        .unwrap();
        let diagnosis = Engine::builtin().diagnose(&failure);
        assert_eq!(
            (diagnosis.side, diagnosis.ambiguous),
            (Side::Test, false),
            "{stderr}"
        );
        assert_eq!(diagnosis.root_cause, cause, "{stderr}");
    }
}

#[test]
fn what_a_server_said_before_a_call_is_no_evidence_of_its_end() {
    let died = |older: bool| {
        let failure: Failure = serde_json::from_value(serde_json::json!({
            "phase": "call", "outcome": "eof", "exit": {"code": 3},
            "stderr": "Error calling tool 'buggy'", "stderr_is_older": older,
            "request": {"method": "tools/call", "params": {"name": "exitnow"}},
        }))
        .unwrap();
        let diagnosis = Engine::builtin().diagnose(&failure);
        assert_eq!(diagnosis.root_cause, "crashed_during_call");
        diagnosis.evidence.map(|evidence| evidence.text)
    };
    assert_eq!(died(false).as_deref(), Some("Error calling tool 'buggy'"));
    assert_eq!(died(true).as_deref(), Some("exit code 3"));
}

#[test]
fn what_stderr_names_beside_an_exception_is_told_and_the_side_is_kept_if_it_was_an_answer() {
    let answered = |stderr: &str, older: bool| {
        let failure: Failure = serde_json::from_value(serde_json::json!({
            "phase": "call", "outcome": "result", "server": "s", "stderr": stderr,
            "stderr_is_older": older,
            "request": {"method": "tools/call", "params": {"name": "x"}},
            "tool_result": {"isError": true, "text": "Cannot read properties of undefined (reading 'map')"},
        }))
        .unwrap();
        let diagnosis = Engine::builtin().diagnose(&failure);
        let told = |fix: &Fix| fix.text.starts_with("On stderr it names something outside");
        let told = diagnosis.advice.fix.last().is_some_and(told);
        (told, diagnosis.side, diagnosis.ambiguous)
    };
    let code = |told: bool| (told, Side::Code, false);
    let refused = "GET https://api.example.com/items -> 401 Unauthorized";
    assert_eq!(answered(refused, false), code(true));
    assert_eq!(answered(refused, true), code(false));
    assert_eq!(answered("listening for requests", false), code(false));
    let own =
        "TypeError: Cannot read properties of undefined (reading 'map')\n    at f (/srv/s.js:4:36)";
    assert_eq!(answered(own, false), code(false));
    // Nothing came back, so nothing of what the server had to look at.
    let away = "fetching the rates failed: getaddrinfo ENOTFOUND api.example.com";
    assert_eq!(answered(away, false), (true, Side::Test, true));
    assert_eq!(answered(away, true), code(false));
}

#[test]
fn an_internal_error_of_http_whose_body_names_the_environment_proves_nothing() {
    let answered = |body: &str| {
        let failure: Failure = serde_json::from_value(serde_json::json!({
            "phase": "call", "outcome": "error", "server": "s", "url": "http://127.0.0.1:9/mcp",
            "request": {"method": "tools/call", "params": {"name": "x"}},
            "http": {"status": 500, "body": body},
        }))
        .unwrap();
        let diagnosis = Engine::builtin().diagnose(&failure);
        (diagnosis.side, diagnosis.ambiguous, diagnosis.advice.fix)
    };
    let (side, ambiguous, fix) = answered(r#"{"error":"connect ECONNREFUSED 127.0.0.1:5432"}"#);
    assert_eq!((side, ambiguous), (Side::Test, true));
    assert!(fix[0].text.starts_with("The body names"), "{fix:?}");
    let (side, ambiguous, _) = answered(r#"{"error":"boom"}"#);
    assert_eq!((side, ambiguous), (Side::Code, false));
}

#[test]
fn what_is_to_be_created_is_the_folder_and_not_the_file_in_it() {
    let created = |said: &str| {
        let failure: Failure = serde_json::from_value(serde_json::json!({
            "phase": "call", "outcome": "result", "server": "s",
            "request": {"method": "tools/call", "params": {"name": "remember"}},
            "tool_result": {"isError": true, "text": said},
        }))
        .unwrap();
        let diagnosis = Engine::builtin().diagnose(&failure);
        assert_eq!(diagnosis.root_cause, "missing_directory", "{said}");
        let fixes = diagnosis.advice.fix.iter();
        let mut made = fixes.filter_map(|fix| fix.text.strip_prefix("mkdir -p "));
        made.next().map(str::to_owned)
    };
    for (said, folder) in [
        (
            "ENOENT: no such file or directory, open '/srv/none/a.jsonl.c44ad3d21bb4.tmp'",
            Some("/srv/none"),
        ),
        (
            "Could not find a part of the path '/srv/none/a.json'.",
            Some("/srv/none"),
        ),
        (
            "Could not find a part of the path '/srv/none'.",
            Some("/srv/none"),
        ),
        (
            "cannot create /srv/none/a.log: Directory nonexistent",
            Some("/srv/none"),
        ),
        (
            "unable to open database file '/srv/none/a.db'",
            Some("/srv/none"),
        ),
        (
            "ENOENT: no such file or directory, mkdir '/srv/none/a'",
            Some("/srv/none/a"),
        ),
        ("unable to open database file", None),
    ] {
        assert_eq!(created(said).as_deref(), folder, "{said}");
    }
}
