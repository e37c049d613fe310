//! The client that the suite starts: a use of jelly's library, and no more.
//!
//! It does what a reader of a server's lists would do, whatever the scenario:
//! call each tool, read each resource, get each prompt.

use jelly_base::mcp::ListKind;
use jelly_base::text::redact::Redactor;
use jelly_wire::auth::{
    Algorithm, AuthSettings, Authorizer, Client, Code, FollowRedirects, Grant, SigningKey,
    WorkloadToken,
};
use jelly_wire::{
    Answers, Ask, Endpoint, Launch, Reach, ReplyOutcome, Session, accept_defaults, start,
};
use serde_json::{Map, Value, json};
use std::env;
use std::sync::Arc;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);

#[test]
#[ignore = "not a test: the conformance suite starts it, with the URL of its server"]
fn client() {
    let Ok(scenario) = env::var("MCP_CONFORMANCE_SCENARIO") else {
        return;
    };
    let url = env::args().next_back().expect("a URL");
    let context = env::var("MCP_CONFORMANCE_CONTEXT").map_or(Value::Null, |text| {
        serde_json::from_str(&text).expect("the context is JSON")
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(visit(&scenario, &url, &context));
}

async fn visit(scenario: &str, url: &str, context: &Value) {
    let mut launch = Launch::new("suite", Reach::Http(endpoint(scenario, url, context)));
    launch.startup_timeout = LIMIT;
    let accept = |ask: &Ask<'_>| match ask.method {
        "elicitation/create" => Some(Ok(accept_defaults(ask.params))),
        _ => None,
    };
    launch.answers = Answers::default()
        .with("roots/list", json!({ "roots": [] }))
        .by(["elicitation/create"], accept);
    let mut session = match start(&launch).await {
        Ok(session) => session,
        Err(failure) => panic!("{failure}"),
    };
    for call in calls(scenario, context, &session) {
        ask(&session, "tools/call", call).await;
    }
    for (area, kind, method, key) in [
        ("resources", ListKind::Resources, "resources/read", "uri"),
        ("prompts", ListKind::Prompts, "prompts/get", "name"),
    ] {
        if session.capabilities().get(area).is_none() {
            continue;
        }
        let listed = session.list(kind, Value::Null, LIMIT).await;
        let ReplyOutcome::Answered(list) = listed.outcome else {
            panic!("{}: {:?}", kind.method(), listed.outcome);
        };
        for item in list[kind.key()].as_array().expect("a list") {
            ask(&session, method, json!({ key: item[key] })).await;
        }
    }
    session.shutdown(LIMIT).await;
}

fn endpoint(scenario: &str, url: &str, context: &Value) -> Endpoint {
    let auth = scenario.starts_with("auth/").then(|| {
        let settings = AuthSettings {
            server: url.to_owned(),
            grant: grant(context),
            scopes: Vec::new(),
            issuer: None,
            patience: LIMIT,
            is_offered: false,
        };
        Arc::new(Authorizer::new(settings, &Redactor::none()).expect("settings"))
    });
    Endpoint {
        url: url.to_owned(),
        auth,
        ..Endpoint::default()
    }
}

/// By what the scenario has registered before; else as a person would, whom
/// the suite's authorization server does not ask.
fn grant(context: &Value) -> Grant {
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    let registered = text("client_id").map(|id| match text("private_key_pem") {
        Some(pem) => {
            let algorithm = text("signing_algorithm").expect("an algorithm");
            let algorithm = Algorithm::find(&algorithm).expect("a known algorithm");
            Client::with_key(
                id,
                SigningKey::from_pem(&pem, Some(algorithm), None).expect("a key"),
            )
        }
        None => Client::new(id, text("client_secret")),
    });
    if let (Some(client), Some(token)) = (&registered, text("valid_jwt")) {
        return Grant::Assertion(client.clone(), WorkloadToken(token));
    }
    match (registered, context["name"].as_str()) {
        (Some(client), Some(name)) if name.starts_with("auth/client-credentials") => {
            Grant::ClientCredentials(client)
        }
        (client, _) => Grant::Code(Code {
            client,
            metadata_url: Some("https://conformance-test.local/client-metadata.json".to_owned()),
            visitor: Arc::new(FollowRedirects { patience: LIMIT }),
            visit_takes: LIMIT,
            port: 0,
            store: None,
        }),
    }
}

/// What to call: what the scenario says, or every tool that may be called.
fn calls(scenario: &str, context: &Value, session: &Session) -> Vec<Value> {
    if let Some(calls) = context["toolCalls"].as_array() {
        return calls.clone();
    }
    if scenario == "json-schema-2020-12-preservation" {
        // It wants to see the schema of one tool again as it sent it.
        let mut tools = session.tools().iter();
        let seen = tools.find(|tool| tool.name == "json_schema_2020_12_tool");
        let schema = seen.and_then(|tool| tool.input_schema.clone());
        return vec![json!({ "name": "json_schema_echo", "arguments": { "schema": schema } })];
    }
    session
        .tools()
        .iter()
        .filter(|tool| !session.refuses_tool(&tool.name))
        .map(
            |tool| json!({ "name": tool.name, "arguments": arguments(tool.input_schema.as_ref()) }),
        )
        .collect()
}

/// An argument of the right type for each property that has a simple one.
fn arguments(schema: Option<&Value>) -> Value {
    let properties = schema.and_then(|schema| schema["properties"].as_object());
    let mut arguments = Map::new();
    for (name, property) in properties.into_iter().flatten() {
        let value = match property["type"].as_str() {
            Some("number" | "integer") => json!(2),
            Some("boolean") => json!(true),
            Some("string") => json!("text"),
            _ => continue,
        };
        arguments.insert(name.clone(), value);
    }
    Value::Object(arguments)
}

/// An error of the server is an answer; no answer at all is none.
async fn ask(session: &Session, method: &str, params: Value) {
    let reply = session.request(method, params, LIMIT).await;
    match reply.outcome {
        ReplyOutcome::Answered(_) | ReplyOutcome::RpcError(_) => {}
        other => panic!("{method}: {other:?}"),
    }
}
