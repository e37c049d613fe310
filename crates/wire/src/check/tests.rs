//! Each rule by a conversation that breaks it, and the same without a breach.

use super::{Checker, RULES, Rule};
use jelly_base::mcp::Revision;
use jelly_base::model::WireLevel;
use jelly_base::text::redact::Redactor;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A conversation that is checked.
struct Talk(Checker);

impl Talk {
    /// Settled and initialized, with these capabilities of the server.
    fn with(version: &str, capabilities: &Value, client: &Value) -> Self {
        let mut talk = Self(Checker::new(Redactor::new([("KEY", "swordfish")])));
        let version = Revision::find(version).unwrap();
        let modern = version.name == "2026-07-28";
        if modern {
            talk.asks(1, "server/discover", &Value::Null);
            talk.0.settle(version);
            talk.says(
                json!({"jsonrpc": "2.0", "id": 1, "result": modern_result(json!({
                    "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
                    "ttlMs": 0, "cacheScope": "private",
                }))}),
            );
        } else {
            talk.asks(1, "initialize", &json!({"capabilities": client}));
            talk.says(json!({"jsonrpc": "2.0", "id": 1, "result": {
                "protocolVersion": version.name,
                "capabilities": capabilities,
                "serverInfo": {"name": "s", "version": "1"},
            }}));
            talk.0.settle(version);
            talk.0.told("notifications/initialized");
        }
        talk
    }

    fn new(version: &str) -> Self {
        let all = json!({"tools": {}, "resources": {}, "prompts": {}, "logging": {},
                         "completions": {}});
        Self::with(version, &all, &json!({}))
    }

    fn asks(&mut self, id: u64, method: &str, params: &Value) {
        self.0.asked(id, method, params);
    }

    fn says(&mut self, message: Value) {
        self.0.received(message.to_string().as_bytes());
    }

    fn result(&mut self, id: u64, result: Value) {
        self.says(json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn refuses(&mut self, id: u64, code: i64) {
        self.says(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}}));
    }

    fn notes(&mut self, method: &str, params: Value) {
        self.says(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Rule and pointer of all that was found.
    fn found(&self) -> Vec<(&str, &str)> {
        let breaches = self.0.found().breaches.iter();
        breaches
            .map(|b| (b.rule.as_str(), b.pointer.as_str()))
            .collect()
    }

    #[track_caller]
    fn breaks(&self, rule: Rule, pointer: &str) {
        assert_eq!(
            self.found(),
            [(rule.name(), pointer)],
            "{:#?}",
            self.0.found()
        );
    }

    #[track_caller]
    fn is_clean(&self) {
        assert!(self.found().is_empty(), "{:#?}", self.0.found());
    }
}

fn modern_result(mut result: Value) -> Value {
    result["resultType"] = json!("complete");
    result["_meta"] = json!({"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}});
    result
}

fn cached(mut result: Value, scope: &str) -> Value {
    result["ttlMs"] = json!(0);
    result["cacheScope"] = json!(scope);
    modern_result(result)
}

const VERSIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];
const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

#[test]
fn a_healthy_conversation_breaks_nothing_in_any_version() {
    for version in VERSIONS {
        let mut talk = Talk::new(version);
        let modern = version == MODERN;
        let answer = |result: Value| {
            if modern {
                modern_result(result)
            } else {
                result
            }
        };
        let list = |result: Value| {
            if modern {
                cached(result, "public")
            } else {
                result
            }
        };
        let tool = json!({"name": "t", "inputSchema": {"type": "object"}});
        talk.asks(2, "tools/list", &json!({}));
        talk.result(2, list(json!({"tools": [tool], "nextCursor": "2"})));
        talk.asks(3, "tools/list", &json!({"cursor": "2"}));
        talk.result(3, list(json!({"tools": []})));
        talk.asks(4, "tools/call", &json!({"_meta": {"progressToken": 4}}));
        talk.notes(
            "notifications/progress",
            json!({"progressToken": 4, "progress": 1}),
        );
        talk.notes(
            "notifications/progress",
            json!({"progressToken": 4, "progress": 2.5}),
        );
        talk.result(
            4,
            answer(json!({"content": [{"type": "text", "text": "x"}]})),
        );
        talk.asks(5, "resources/read", &json!({"uri": "a:b"}));
        talk.result(5, list(json!({"contents": [{"uri": "a:b", "text": ""}]})));
        talk.asks(6, "prompts/get", &json!({"name": "p"}));
        talk.result(6, answer(json!({"messages": [
            {"role": "user", "content": {"type": "image", "data": "Zg==", "mimeType": "image/png"}}
        ]})));
        talk.asks(7, "tools/call", &json!({"name": "unknown"}));
        talk.refuses(7, -32602);
        talk.asks(8, "my/method", &json!({}));
        talk.refuses(8, -32601);
        if !modern {
            talk.says(json!({"jsonrpc": "2.0", "id": "a", "method": "ping"}));
            talk.notes("notifications/message", json!({"level": "info", "data": 1}));
            talk.asks(9, "ping", &Value::Null);
            talk.result(9, json!({}));
        }
        talk.0.received(b"");
        talk.is_clean();
        assert!(talk.0.found().messages >= 10, "{version}");
    }
}

#[test]
fn what_comes_before_the_revision_is_known_is_checked_when_it_is() {
    let mut talk = Talk(Checker::new(Redactor::none()));
    talk.asks(1, "server/discover", &Value::Null);
    talk.asks(2, "initialize", &json!({"capabilities": {}}));
    talk.0.received(b"hello");
    talk.refuses(1, -32601);
    talk.result(2, json!({"protocolVersion": LEGACY, "capabilities": {}}));
    talk.is_clean();
    talk.0.settle(Revision::find(LEGACY).unwrap());
    assert_eq!(
        talk.found(),
        [("stdout_purity", ""), ("shape", "/result/serverInfo")]
    );
    let breach = &talk.0.found().breaches[1];
    assert_eq!(
        breach.text,
        "answers `initialize` with an InitializeResult without `serverInfo`"
    );
    assert_eq!(
        breach.section,
        "2025-11-25, basic/lifecycle, Initialization"
    );
    assert!(
        breach
            .url
            .ends_with("/2025-11-25/basic/lifecycle#initialization")
    );
}

#[test]
fn a_modern_server_that_was_sent_initialize_too_may_take_that_for_what_counts() {
    let mut talk = Talk(Checker::new(Redactor::none()));
    talk.asks(1, "server/discover", &Value::Null);
    assert!(!talk.0.was_opened_twice());
    talk.asks(2, "initialize", &json!({"capabilities": {}}));
    talk.0.settle(Revision::find(MODERN).unwrap());
    assert!(talk.0.was_opened_twice());
    assert!(!Talk::new(LEGACY).0.was_opened_twice());
    assert!(!Talk::new(MODERN).0.was_opened_twice());
}

#[test]
fn lines_that_are_no_messages_break_the_purity_of_stdout() {
    for line in [
        "[INFO] up",
        "{}",
        "[]",
        "42",
        "{\"level\":30}",
        "{\"jsonrpc\":",
    ] {
        let mut talk = Talk::new(LEGACY);
        talk.0.received(line.as_bytes());
        talk.0.received(line.as_bytes());
        talk.breaks(Rule::StdoutPurity, "");
        assert_eq!(talk.0.found().breaches[0].count, 2, "{line}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_no_message() {
    let mut talk = Talk::new(LEGACY);
    talk.0
        .received(b"{\"jsonrpc\":\"2.0\",\"method\":\"x\xff\"}");
    talk.breaks(Rule::Utf8, "");
}

#[test]
fn a_batch_is_of_one_revision_only() {
    let batch = json!([{"jsonrpc": "2.0", "method": "a"}, {"jsonrpc": "1.0", "method": "b"}]);
    for (version, found) in [
        ("2025-03-26", vec![("jsonrpc", "/1/jsonrpc")]),
        ("2025-06-18", vec![("batch", ""), ("jsonrpc", "/1/jsonrpc")]),
    ] {
        let mut talk = Talk::new(version);
        talk.says(batch.clone());
        assert_eq!(talk.found(), found);
    }
}

#[test]
fn messages_have_their_form() {
    for (message, rule, pointer) in [
        (json!({"id": 2, "result": {}}), Rule::Jsonrpc, "/jsonrpc"),
        (
            json!({"jsonrpc": "2.0", "method": 3}),
            Rule::InvalidMessage,
            "/method",
        ),
        (
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": []}),
            Rule::InvalidMessage,
            "/params",
        ),
        (
            json!({"jsonrpc": "2.0", "id": 2, "result": {}, "error": {"code": 1, "message": ""}}),
            Rule::ResultOrError,
            "",
        ),
        (json!({"jsonrpc": "2.0", "id": 2}), Rule::ResultOrError, ""),
        (
            json!({"jsonrpc": "2.0", "id": 2, "result": null}),
            Rule::ResultObject,
            "/result",
        ),
        (
            json!({"jsonrpc": "2.0", "id": 2, "error": {"code": "E", "message": ""}}),
            Rule::Shape,
            "/error/code",
        ),
        (
            json!({"jsonrpc": "2.0", "id": 2, "error": {"code": 1}}),
            Rule::Shape,
            "/error/message",
        ),
        (
            json!({"jsonrpc": "2.0", "id": 3, "method": "notifications/message",
                   "params": {"level": "info", "data": 1}}),
            Rule::NotificationId,
            "/id",
        ),
    ] {
        let mut talk = Talk::new(LEGACY);
        talk.asks(2, "ping/like", &Value::Null);
        talk.says(message.clone());
        let found = talk.found();
        // Params that can't be read leave out what they should hold.
        assert_eq!(found[0], (rule.name(), pointer), "{message}");
        assert_eq!(talk.0.found().breaches[0].level, WireLevel::Must);
    }
}

#[test]
fn responses_are_for_requests() {
    let result = |id: Value| json!({"jsonrpc": "2.0", "id": id, "result": {}});
    for (id, rule) in [
        (json!(77), Rule::UnknownId),
        (json!("x"), Rule::UnknownId),
        (json!("2"), Rule::RetypedId),
        (json!(1), Rule::AnsweredTwice),
        (Value::Null, Rule::MissingId),
    ] {
        let mut talk = Talk::new(LEGACY);
        talk.asks(2, "my/method", &Value::Null);
        talk.says(result(id));
        talk.breaks(rule, "/id");
    }
    let mut talk = Talk::new(LEGACY);
    talk.asks(2, "my/method", &Value::Null);
    talk.0.gave_up(2);
    talk.says(result(json!(2)));
    talk.is_clean();
}

#[test]
fn error_codes_have_their_ranges() {
    for (version, code, rule) in [
        (MODERN, -32002, Some(Rule::ReservedErrorCode)),
        (MODERN, -32042, Some(Rule::ReservedErrorCode)),
        (MODERN, -32050, Some(Rule::ReservedErrorCode)),
        (MODERN, -32001, Some(Rule::LegacyErrorCode)),
        (MODERN, -32700, None),
        (MODERN, -32020, None),
        (MODERN, 7, None),
        (MODERN, -32500, Some(Rule::JsonrpcErrorCode)),
        (LEGACY, -32500, Some(Rule::JsonrpcErrorCode)),
        (LEGACY, -32002, None),
        (LEGACY, -32050, None),
        ("2025-06-18", -32042, None),
    ] {
        let mut talk = Talk::new(version);
        talk.asks(2, "resources/read", &json!({}));
        talk.refuses(2, code);
        match rule {
            Some(rule) => talk.breaks(rule, "/error/code"),
            None => talk.is_clean(),
        }
    }
}

#[test]
fn errors_with_a_meaning_carry_their_data() {
    let mut talk = Talk::new(MODERN);
    talk.asks(2, "tools/call", &json!({}));
    talk.refuses(2, -32021);
    talk.breaks(Rule::Shape, "/error/data");
    let mut talk = Talk::new(MODERN);
    talk.asks(2, "tools/call", &json!({}));
    talk.says(json!({"jsonrpc": "2.0", "id": 2, "error": {
        "code": -32022, "message": "", "data": {"supported": ["2026-07-28"]}
    }}));
    talk.breaks(Rule::Shape, "/error/data/requested");
}

#[test]
fn keys_of_meta_have_a_form_since_2025_06_18() {
    let result = json!({"content": [], "_meta": {"-bad": 1, "com.example/ok": 2}});
    let mut talk = Talk::new("2025-03-26");
    talk.asks(2, "tools/call", &json!({}));
    talk.result(2, result.clone());
    talk.is_clean();
    let mut talk = Talk::new("2025-06-18");
    talk.asks(2, "tools/call", &json!({}));
    talk.result(2, result);
    talk.breaks(Rule::MetaKey, "/result/_meta/-bad");
}

#[test]
fn reserved_prefixes_of_meta_are_not_for_servers() {
    let mut talk = Talk::new(LEGACY);
    talk.asks(2, "tools/call", &json!({}));
    talk.result(
        2,
        json!({"content": [], "_meta": {"dev.mcp/mine": 1,
        "io.modelcontextprotocol/related-task": {"taskId": "t"}}}),
    );
    talk.breaks(Rule::MetaReserved, "/result/_meta/dev.mcp~1mine");
    assert_eq!(talk.0.found().breaches[0].level, WireLevel::Should);
}

#[test]
fn modern_results_say_their_type() {
    for (result, rule, pointer) in [
        (json!({"content": []}), Rule::Shape, "/result/resultType"),
        (
            json!({"content": [], "resultType": "other"}),
            Rule::ResultType,
            "/result/resultType",
        ),
        (
            json!({"resultType": "input_required"}),
            Rule::Shape,
            "/result",
        ),
        (
            json!({"resultType": "input_required", "requestState": 1}),
            Rule::Shape,
            "/result/requestState",
        ),
        (
            json!({"resultType": "input_required", "inputRequests": {"a/b": {"method": "ping"}}}),
            Rule::Shape,
            "/result/inputRequests/a~1b/method",
        ),
        (
            json!({"resultType": "input_required",
                   "inputRequests": {"a": {"method": "roots/list"}}}),
            Rule::UndeclaredClient,
            "/result/inputRequests/a/method",
        ),
    ] {
        let mut talk = Talk::new(MODERN);
        talk.asks(2, "tools/call", &json!({}));
        let mut result = result;
        result["_meta"] = modern_result(json!({}))["_meta"].clone();
        talk.result(2, result);
        talk.breaks(rule, pointer);
    }
    let mut talk = Talk::new(MODERN);
    talk.asks(2, "tools/list", &json!({}));
    let mut result = modern_result(json!({"requestState": "x"}));
    result["resultType"] = json!("input_required");
    talk.result(2, result);
    talk.breaks(Rule::InputRequired, "/result/resultType");
}

#[test]
fn an_extension_may_have_types_of_result_of_its_own() {
    let mut talk = Talk::with(
        MODERN,
        &json!({"tools": {}, "extensions": {"x/y": {}}}),
        &json!({}),
    );
    talk.asks(2, "tools/call", &json!({}));
    talk.result(2, json!({"resultType": "task"}));
    talk.is_clean();
}

#[test]
fn modern_results_name_the_server() {
    let mut talk = Talk::new(MODERN);
    talk.asks(2, "tools/call", &json!({}));
    talk.result(2, json!({"content": [], "resultType": "complete"}));
    talk.breaks(Rule::ServerInfo, "/result/_meta");
    assert_eq!(talk.0.found().failing().count(), 0, "it only should");
}

#[test]
fn modern_lists_say_how_long_they_hold_and_for_whom() {
    for (result, pointer) in [
        (
            json!({"tools": [], "cacheScope": "public"}),
            "/result/ttlMs",
        ),
        (
            json!({"tools": [], "ttlMs": -1, "cacheScope": "public"}),
            "/result/ttlMs",
        ),
        (
            json!({"tools": [], "ttlMs": 0.5, "cacheScope": "public"}),
            "/result/ttlMs",
        ),
        (json!({"tools": [], "ttlMs": 1}), "/result/cacheScope"),
        (
            json!({"tools": [], "ttlMs": 1, "cacheScope": "all"}),
            "/result/cacheScope",
        ),
    ] {
        let mut talk = Talk::new(MODERN);
        talk.asks(2, "tools/list", &json!({}));
        talk.result(2, modern_result(result));
        talk.breaks(Rule::Shape, pointer);
        let section = &talk.0.found().breaches[0].section;
        assert_eq!(
            section,
            "2026-07-28, server/utilities/caching, Cacheable Results"
        );
    }
    let mut talk = Talk::new(MODERN);
    talk.asks(2, "tools/list", &json!({}));
    talk.result(
        2,
        cached(json!({"tools": [], "nextCursor": "n"}), "private"),
    );
    talk.asks(3, "tools/list", &json!({"cursor": "n"}));
    talk.result(3, cached(json!({"tools": []}), "public"));
    talk.breaks(Rule::CacheScope, "/result/cacheScope");
}

#[test]
fn progress_is_of_a_request_and_goes_up_and_ends() {
    let progress = |token: Value, n: f64| json!({"progressToken": token, "progress": n});
    let method = "notifications/progress";
    let talk = || {
        let mut talk = Talk::new(LEGACY);
        talk.asks(2, "tools/call", &json!({"_meta": {"progressToken": "t"}}));
        talk
    };
    let mut unknown = talk();
    unknown.notes(method, progress(json!(2), 1.0));
    unknown.breaks(Rule::ProgressToken, "/params/progressToken");
    let mut falling = talk();
    falling.notes(method, progress(json!("t"), 1.0));
    falling.notes(method, progress(json!("t"), 1.0));
    falling.breaks(Rule::ProgressOrder, "/params/progress");
    let mut late = talk();
    late.result(2, json!({"content": []}));
    late.notes(method, progress(json!("t"), 1.0));
    late.breaks(Rule::ProgressAfterEnd, "/params/progressToken");
    let mut given_up = talk();
    given_up.0.gave_up(2);
    given_up.notes(method, progress(json!("t"), 1.0));
    given_up.is_clean();
}

#[test]
fn only_what_was_asked_for_can_be_cancelled() {
    let method = "notifications/cancelled";
    let mut talk = Talk::with(LEGACY, &json!({}), &json!({"roots": {}}));
    talk.says(json!({"jsonrpc": "2.0", "id": 5, "method": "roots/list"}));
    talk.notes(method, json!({"requestId": 5}));
    talk.is_clean();
    talk.notes(method, json!({"requestId": 6}));
    talk.breaks(Rule::CancelledUnknown, "/params/requestId");
    let mut talk = Talk::new(MODERN);
    talk.asks(2, "tools/call", &json!({}));
    talk.notes(method, json!({"requestId": 2}));
    talk.breaks(Rule::CancelledUnknown, "/params/requestId");
}

#[test]
fn ping_is_not_refused() {
    let mut talk = Talk::new(LEGACY);
    talk.asks(2, "ping", &Value::Null);
    talk.refuses(2, -32601);
    talk.breaks(Rule::PingRefused, "/error/code");
}

#[test]
fn an_unknown_prompt_or_uri_is_no_unknown_method() {
    let all = json!({"prompts": {}, "resources": {"subscribe": true}, "completions": {}});
    let prompt = json!({"name": "greet"});
    let uri = json!({"uri": "demo://a"});
    let of_prompt = json!({"ref": {"type": "ref/prompt", "name": "greet"}});
    let of_template = json!({"ref": {"type": "ref/resource", "uri": "demo://{x}"}});
    for (method, params, rule) in [
        ("prompts/get", &prompt, Rule::RefusedPrompts),
        ("resources/read", &uri, Rule::RefusedResources),
        ("resources/subscribe", &uri, Rule::RefusedResources),
        ("resources/unsubscribe", &uri, Rule::RefusedResources),
        ("completion/complete", &of_prompt, Rule::RefusedCompletions),
        (
            "completion/complete",
            &of_template,
            Rule::RefusedCompletions,
        ),
    ] {
        let mut talk = Talk::with(LEGACY, &all, &json!({}));
        talk.asks(2, method, params);
        talk.refuses(2, -32601);
        talk.is_clean();
        // What the server lists itself, it knows: then it is the method.
        let mut talk = Talk::with(LEGACY, &all, &json!({}));
        for (id, list, items) in [
            (2, "prompts/list", json!({"prompts": [{"name": "greet"}]})),
            (
                3,
                "resources/list",
                json!({"resources": [{"uri": "demo://a", "name": "a"}]}),
            ),
            (
                4,
                "resources/templates/list",
                json!({"resourceTemplates": [{"uriTemplate": "demo://{x}", "name": "x"}]}),
            ),
        ] {
            talk.asks(id, list, &json!({}));
            talk.result(id, items);
        }
        talk.asks(5, method, params);
        talk.refuses(5, -32601);
        talk.breaks(rule, "/error/code");
    }
}

#[test]
fn what_comes_before_the_greeting_is_judged_by_what_the_greeting_declares() {
    for (capabilities, declared) in [
        (json!({"logging": {}, "tools": {"listChanged": true}}), true),
        (json!({}), false),
    ] {
        let mut talk = Talk(Checker::new(Redactor::none()));
        talk.asks(1, "initialize", &json!({"capabilities": {}}));
        talk.notes(
            "notifications/message",
            json!({"level": "info", "data": "hello"}),
        );
        talk.notes("notifications/tools/list_changed", json!({}));
        talk.says(json!({"jsonrpc": "2.0", "id": 1, "result": {
            "protocolVersion": LEGACY, "capabilities": capabilities,
            "serverInfo": {"name": "s", "version": "1"},
        }}));
        talk.0.settle(Revision::find(LEGACY).unwrap());
        if declared {
            talk.is_clean();
        } else {
            let rules: Vec<&str> = talk.found().iter().map(|(rule, _)| *rule).collect();
            assert_eq!(rules, ["undeclared_logging", "undeclared_notification"]);
        }
    }
}

#[test]
fn a_greeting_that_was_not_seen_may_have_declared_everything() {
    let mut talk = Talk(Checker::new(Redactor::none()));
    talk.asks(1, "initialize", &json!({}));
    talk.0.passed_over();
    talk.0.settle(Revision::find(LEGACY).unwrap());
    talk.0.told("notifications/initialized");
    talk.notes("notifications/message", json!({"level": "info", "data": 1}));
    talk.asks(2, "tools/list", &json!({}));
    talk.result(2, json!({"tools": []}));
    talk.asks(3, "prompts/list", &json!({}));
    talk.refuses(3, -32601);
    talk.is_clean();
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_message() {
    let mut talk = Talk::new(LEGACY);
    let line = json!({"jsonrpc": "2.0", "method": "my/own"}).to_string();
    talk.0.received(format!("\u{FEFF}{line}").as_bytes());
    talk.breaks(Rule::ByteOrderMark, "");
}

#[test]
fn a_member_that_stands_twice_is_told() {
    let mut talk = Talk::new(LEGACY);
    let line = r#"{"jsonrpc": "2.0", "method": "my/own", "params": {"a": {"b": 1, "b": 1}}}"#;
    talk.0.received(line.as_bytes());
    talk.breaks(Rule::DuplicateMember, "/params/a/b");
}

#[test]
fn half_of_a_surrogate_pair_is_within_the_grammar() {
    let mut talk = Talk::new(LEGACY);
    talk.0
        .received(br#"{"jsonrpc":"2.0","method":"my/own","params":{"t":"\ud83d"}}"#);
    talk.is_clean();
}

#[test]
fn what_is_offered_is_declared_and_the_reverse() {
    for (method, result, undeclared, refused) in [
        (
            "tools/list",
            json!({"tools": []}),
            Rule::UndeclaredTools,
            Rule::RefusedTools,
        ),
        (
            "resources/list",
            json!({"resources": []}),
            Rule::UndeclaredResources,
            Rule::RefusedResources,
        ),
        (
            "prompts/list",
            json!({"prompts": []}),
            Rule::UndeclaredPrompts,
            Rule::RefusedPrompts,
        ),
        (
            "completion/complete",
            json!({"completion": {"values": []}}),
            Rule::UndeclaredCompletions,
            Rule::RefusedCompletions,
        ),
        (
            "logging/setLevel",
            json!({}),
            Rule::UndeclaredLogging,
            Rule::RefusedLogging,
        ),
    ] {
        let mut talk = Talk::with(LEGACY, &json!({}), &json!({}));
        talk.asks(2, method, &json!({}));
        talk.result(2, result);
        talk.breaks(undeclared, "/result");
        let mut talk = Talk::new(LEGACY);
        talk.asks(2, method, &json!({}));
        talk.refuses(2, -32601);
        talk.breaks(refused, "/error/code");
        let mut talk = Talk::with(LEGACY, &json!({}), &json!({}));
        talk.asks(2, method, &json!({}));
        talk.refuses(2, -32601);
        talk.is_clean();
    }
    let mut talk = Talk::with("2024-11-05", &json!({}), &json!({}));
    talk.asks(2, "completion/complete", &json!({}));
    talk.result(2, json!({"completion": {"values": []}}));
    talk.is_clean();
}

#[test]
fn changes_are_told_by_those_who_declare_it() {
    let method = "notifications/tools/list_changed";
    for (version, level) in [("2025-03-26", WireLevel::Should), (LEGACY, WireLevel::Must)] {
        let mut talk = Talk::with(
            version,
            &json!({"tools": {"listChanged": false}}),
            &json!({}),
        );
        talk.notes(method, json!({}));
        talk.breaks(Rule::UndeclaredNotification, "/method");
        assert_eq!(talk.0.found().breaches[0].level, level);
        let mut talk = Talk::with(
            version,
            &json!({"tools": {"listChanged": true}}),
            &json!({}),
        );
        talk.notes(method, json!({}));
        talk.is_clean();
    }
    let mut talk = Talk::with(LEGACY, &json!({}), &json!({}));
    talk.notes(
        "notifications/message",
        json!({"level": "info", "data": "x"}),
    );
    talk.breaks(Rule::UndeclaredLogging, "/method");
}

#[test]
fn the_client_is_asked_for_what_it_has() {
    let sampling = json!({"messages": [], "maxTokens": 1});
    let with_tools = json!({"messages": [], "maxTokens": 1, "tools": []});
    let form = json!({"message": "m", "requestedSchema": {"type": "object", "properties": {}}});
    let url = json!({"mode": "url", "message": "m", "url": "https://x", "elicitationId": "1"});
    for (client, method, params, broken) in [
        (
            json!({}),
            "roots/list",
            json!({}),
            Some((Rule::UndeclaredClient, "/method")),
        ),
        (json!({"roots": {}}), "roots/list", json!({}), None),
        (
            json!({}),
            "sampling/createMessage",
            sampling.clone(),
            Some((Rule::UndeclaredClient, "/method")),
        ),
        (
            json!({"sampling": {}}),
            "sampling/createMessage",
            sampling,
            None,
        ),
        (
            json!({"sampling": {}}),
            "sampling/createMessage",
            with_tools,
            Some((Rule::UndeclaredSamplingTools, "/params/tools")),
        ),
        (
            json!({"elicitation": {}}),
            "elicitation/create",
            form.clone(),
            None,
        ),
        (
            json!({"elicitation": {"url": {}}}),
            "elicitation/create",
            form,
            Some((Rule::UndeclaredMode, "/params/mode")),
        ),
        (
            json!({"elicitation": {}}),
            "elicitation/create",
            url,
            Some((Rule::UndeclaredMode, "/params/mode")),
        ),
    ] {
        let mut talk = Talk::with(LEGACY, &json!({}), &client);
        talk.says(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        match broken {
            Some((rule, pointer)) => talk.breaks(rule, pointer),
            None => talk.is_clean(),
        }
    }
}

#[test]
fn requests_of_servers_have_ids_of_their_own() {
    let ping = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    for id in [Value::Null, json!(1.5), json!([])] {
        let mut talk = Talk::new(LEGACY);
        talk.says(ping(id));
        talk.breaks(Rule::RequestId, "/id");
    }
    let mut talk = Talk::new(LEGACY);
    talk.says(ping(json!(0)));
    talk.is_clean();
    talk.says(ping(json!(0)));
    talk.breaks(Rule::RequestIdReused, "/id");
    let mut talk = Talk::new(MODERN);
    talk.says(ping(json!(0)));
    talk.breaks(Rule::ServerRequest, "/method");
}

#[test]
fn before_it_is_initialized_a_client_is_only_pinged() {
    let mut talk = Talk(Checker::new(Redactor::none()));
    talk.asks(1, "initialize", &json!({"capabilities": {"roots": {}}}));
    talk.says(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    talk.says(json!({"jsonrpc": "2.0", "id": 2, "method": "roots/list"}));
    talk.0.settle(Revision::find(LEGACY).unwrap());
    talk.breaks(Rule::EarlyRequest, "/method");
}

#[test]
fn modern_servers_tell_what_was_subscribed_to() {
    let change = "notifications/tools/list_changed";
    let acknowledged = "notifications/subscriptions/acknowledged";
    let meta = |id: u64| json!({"io.modelcontextprotocol/subscriptionId": id});
    let mut talk = Talk::new(MODERN);
    talk.notes(change, json!({}));
    talk.breaks(Rule::UnaskedNotification, "/method");

    let listening = || {
        let mut talk = Talk::new(MODERN);
        let filter = json!({"notifications": {"toolsListChanged": true}});
        talk.asks(2, "subscriptions/listen", &filter);
        talk
    };
    let mut talk = listening();
    talk.notes(
        acknowledged,
        json!({"_meta": meta(2), "notifications": {"toolsListChanged": true}}),
    );
    talk.notes(change, json!({"_meta": meta(2)}));
    talk.is_clean();
    talk.notes(
        "notifications/prompts/list_changed",
        json!({"_meta": meta(2)}),
    );
    talk.breaks(Rule::UnaskedNotification, "/method");
    let mut talk = listening();
    talk.notes(change, json!({"_meta": meta(2)}));
    talk.breaks(Rule::AcknowledgedFirst, "/method");
    let mut talk = listening();
    talk.notes(change, json!({}));
    talk.breaks(
        Rule::SubscriptionId,
        "/params/_meta/io.modelcontextprotocol~1subscriptionId",
    );
    let mut talk = Talk::new(MODERN);
    talk.asks(2, "tools/call", &json!({}));
    talk.notes("notifications/message", json!({"level": "info", "data": 1}));
    talk.breaks(Rule::UnaskedLog, "/method");
}

#[test]
fn tools_have_names_and_schemas() {
    let tool = |name: &str, schema: Value| json!({"name": name, "inputSchema": schema});
    let object = json!({"type": "object"});
    for (tools, rule, pointer) in [
        (
            json!([tool("a b", object.clone())]),
            Rule::ToolName,
            "/result/tools/0/name",
        ),
        (
            json!([tool("a", object.clone()), tool("a", object.clone())]),
            Rule::ToolTwice,
            "/result/tools/1/name",
        ),
        (
            json!([tool("a", json!({"type": "object", "minProperties": "one"}))]),
            Rule::SchemaInvalid,
            "/result/tools/0/inputSchema/minProperties",
        ),
        (
            json!([tool("a", json!({"properties": {}}))]),
            Rule::Shape,
            "/result/tools/0/inputSchema/type",
        ),
    ] {
        let mut talk = Talk::new(LEGACY);
        talk.asks(2, "tools/list", &json!({}));
        talk.result(2, json!({"tools": tools}));
        talk.breaks(rule, pointer);
    }
    let mut talk = Talk::new(LEGACY);
    talk.asks(2, "tools/list", &json!({}));
    talk.result(2, json!({"tools": [
        tool("a", json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"})),
        tool("b", json!({"$schema": "https://example.com/mine", "type": "object", "minItems": ""})),
        tool("c", json!({"$schema": "https://json-schema.org/of/mine", "type": "object"})),
    ]}));
    talk.is_clean();
}

#[test]
fn a_breach_of_many_items_is_one_with_a_count() {
    let mut talk = Talk::new(LEGACY);
    talk.asks(2, "tools/list", &json!({}));
    let tools = json!([{"name": "a"}, {"name": "b"}, {"name": "c"}]);
    talk.result(2, json!({"tools": tools}));
    talk.breaks(Rule::Shape, "/result/tools/0/inputSchema");
    assert_eq!(talk.0.found().breaches[0].count, 3);
}

#[test]
fn no_secret_gets_into_a_breach() {
    let mut talk = Talk::new(LEGACY);
    talk.0.received(b"the key is swordfish");
    talk.asks(2, "tools/call", &json!({}));
    talk.result(2, json!({"content": [], "_meta": {"-swordfish": 1}}));
    let found = format!("{:?}", talk.0.found());
    assert!(!found.contains("swordfish"), "{found}");
}

#[test]
fn no_part_of_a_secret_stays_where_a_quote_is_cut() {
    for before in 50..=100 {
        let word = format!("{}swordfish", "x".repeat(before));
        let mut talk = Talk::new(LEGACY);
        talk.0.received(word.as_bytes());
        talk.notes(&word, json!([]));
        talk.asks(2, "tools/list", &json!({}));
        talk.result(
            2,
            json!({"tools": [{"name": word, "inputSchema": {"type": word}}]}),
        );
        talk.asks(3, "resources/read", &json!({}));
        talk.result(
            3,
            json!({"contents": [{"uri": "a:b"}], "_meta": {format!("-{word}"): 1}}),
        );
        talk.asks(4, "tools/call", &json!({}));
        talk.result(4, json!({"content": [{"type": word}]}));
        talk.says(json!({"jsonrpc": "2.0", "id": 7, "method": word}));
        let mut modern = Talk::new(MODERN);
        modern.asks(2, "tools/call", &json!({}));
        modern.result(2, json!({"resultType": word}));
        modern.says(json!({"jsonrpc": "2.0", "id": 7, "method": word}));
        for talk in [talk, modern] {
            let found = talk.0.found();
            assert!(!found.breaches.is_empty());
            let found = format!("{found:?}");
            assert!(!found.contains("xsw"), "{before}: {found}");
        }
    }
}

#[test]
fn the_page_of_the_wire_check_names_every_rule() {
    let path = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("docs/wire-check.md");
    let page = std::fs::read_to_string(path).unwrap();
    for rule in RULES {
        let name = format!("`{}`", rule.name());
        assert!(page.contains(&name), "docs/wire-check.md lacks {name}");
    }
}

/// JSON as a hostile server may send it, made of the words of the protocol.
fn anything() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "jsonrpc",
        "2.0",
        "id",
        "method",
        "params",
        "result",
        "error",
        "_meta",
        "tools",
        "name",
        "inputSchema",
        "type",
        "object",
        "content",
        "text",
        "image",
        "data",
        "resultType",
        "input_required",
        "inputRequests",
        "elicitation/create",
        "capabilities",
        "listChanged",
        "progressToken",
        "progress",
        "code",
        "notifications/progress",
        "notifications/cancelled",
        "notifications/tools/list_changed",
        "sampling/createMessage",
        "requestId",
        "$schema",
        "mode",
        "io.modelcontextprotocol/subscriptionId",
        "contents",
        "messages",
        "nextCursor",
        "a/b~c",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..40).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..6).prop_map(|members| {
                Value::Object(
                    members
                        .into_iter()
                        .map(|(k, v)| (k.to_owned(), v))
                        .collect(),
                )
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_message_is_too_strange_to_be_checked(
        version in prop::sample::select(VERSIONS.to_vec()),
        method in prop::sample::select(vec![
            "tools/list", "tools/call", "resources/read", "prompts/get", "initialize",
            "server/discover", "completion/complete", "subscriptions/listen", "ping", "x",
        ]),
        values in prop::collection::vec(anything(), 1..6),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut talk = Talk::new(version);
        talk.asks(2, method, &values[0]);
        for value in &values {
            talk.says(value.clone());
            talk.says(json!({"jsonrpc": "2.0", "id": 2, "result": value}));
            talk.says(json!({"jsonrpc": "2.0", "id": 3, "error": value}));
            talk.says(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": value}));
            talk.says(json!({"jsonrpc": "2.0", "id": value, "method": method, "params": value}));
            talk.asks(3, method, value);
        }
        talk.0.received(&bytes);
        for breach in &talk.0.found().breaches {
            prop_assert!(breach.count > 0 && !breach.text.is_empty());
            prop_assert!(breach.pointer.is_empty() || breach.pointer.starts_with('/'));
            prop_assert!(breach.section.starts_with(version), "{}", breach.section);
        }
    }

    /// A pointer that is told leads somewhere, or to what is missing there.
    #[test]
    fn a_pointer_leads_into_the_message(value in anything()) {
        let message = json!({"jsonrpc": "2.0", "id": 2, "result": {"tools": [value]}});
        let mut talk = Talk::new(LEGACY);
        talk.asks(2, "tools/list", &Value::Null);
        talk.says(message.clone());
        for breach in &talk.0.found().breaches {
            let parent = breach.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
            prop_assert!(message.pointer(parent).is_some(), "{}", breach.pointer);
        }
    }
}
