//! What a server itself says of its error in the `data` of a JSON-RPC error, or in the
//! body of an answer over HTTP: evidence, and what to do next.

use super::clues;
use super::live::FACT_WORDS;
use super::whereabouts;
use jelly_base::model::{Failure, Fix, HttpFacts};
use jelly_base::text::{WordList, one_line};
use serde_json::{Map, Value};

/// Texts and members of `data` that are looked at, and how deep.
const MOST: usize = 64;
const DEEPEST: usize = 4;
/// Lines of a kind that are passed on, and bytes of each.
const STEPS: usize = 4;
/// Letters of what it logged.
const LOGGED: usize = 300;
const BYTES: usize = 300;

/// The texts in `data`, but for those of its members that name something: one
/// each, as it stands there. An exception that stands there in parts is one.
pub(super) fn sentences(data: &Value) -> Vec<String> {
    let mut found = Vec::new();
    each(data, 0, &mut |_, value| {
        let text = value
            .as_str()
            .filter(|text| text.contains(char::is_whitespace));
        found.extend(text.map(str::to_owned));
    });
    members(data, "", 0, &mut |name, object| {
        found.extend(raised(object));
        found.extend(status_of(name, object));
    });
    found
}

/// The status of HTTP that somebody answered, in words: beside other members of an answer, or
/// one that a server passes on and has hardly of its own. Orders and parcels have a status, too,
/// and a framework puts 500 beside each exception.
fn status_of(name: &str, object: &Map<String, Value>) -> Option<String> {
    const NAMES: WordList = WordList(
        "http_status http_status_code httpstatus httpstatuscode response_status responsestatus \
         status status_code statuscode",
    );
    const ANSWERS: WordList =
        WordList("answer http http_response remote reply response service upstream");
    const BESIDE: WordList = WordList(
        "body endpoint headers host request request_url requesturl response retry_after retryafter \
         statustext uri url",
    );
    const PASSED_ON: [u64; 4] = [429, 502, 503, 504];
    let small = |name: &str| name.to_ascii_lowercase();
    let status = object.iter().find_map(|(name, value)| {
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        number.filter(|status| (400..600).contains(status) && NAMES.has(&small(name)))
    })?;
    let is_answer = ANSWERS.has(&small(name)) || object.keys().any(|name| BESIDE.has(&small(name)));
    let is_passed_on = name.is_empty() && PASSED_ON.contains(&status);
    (is_answer || is_passed_on).then(|| format!("HTTP status {status}"))
}

/// The message of an error with the reason that its `data` gives, as one statement.
pub(super) fn statement(message: &str, data: &Value) -> Option<String> {
    let reason = ToldError::of(data).reason?;
    let message = message.trim().trim_end_matches([':', '.']);
    (!message.contains(&reason)).then(|| format!("{message}: {reason}"))
}

/// What the server says of why and of what to do, in its own words, and the place that it
/// names. What is quoted already is not said again.
pub(super) fn steps(failure: &Failure, quoted: Option<&str>) -> Vec<Fix> {
    let message = failure.rpc_error.as_ref().map(|error| error.message.trim());
    let told = match (&failure.rpc_error, &failure.http) {
        (Some(error), _) => error.data.as_ref().map(ToldError::of),
        (None, Some(http)) => in_body(http),
        (None, None) => None,
    };
    let logged = failure.error_logged.as_deref().map(str::trim);
    let logged = logged.filter(|logged| !quoted.is_some_and(|quoted| quoted.contains(logged)));
    let logged = logged.filter(|logged| !logged.is_empty() && failure.label.is_none());
    let logged =
        logged.map(|logged| Fix::text(format!("The server logged: {}", one_line(logged, LOGGED))));
    let Some(mut told) = told else {
        return logged.into_iter().collect();
    };
    // Our own proxy has labelled the failure, and says nothing else here.
    if failure.label.is_some() {
        told.why.clear();
    }
    let is_known =
        |text: &str| message == Some(text) || quoted.is_some_and(|quoted| quoted.contains(text));
    told.why.retain(|text| !is_known(text));
    told.why.truncate(STEPS);
    told.help.truncate(STEPS);
    let said = told.why.into_iter().chain(told.help);
    let said = said.map(|text| format!("The server says: {text}"));
    let place = told.place;
    let place = place.map(|place| format!("The server names this place: {place}"));
    said.chain(place).map(Fix::text).chain(logged).collect()
}

/// What an answer over HTTP that says no tells of it: in JSON, or by the stack that a
/// framework shows.
fn in_body(http: &HttpFacts) -> Option<ToldError> {
    let body = http.body.as_deref()?;
    http.status.filter(|status| *status >= 400)?;
    if let Ok(data) = serde_json::from_str::<Value>(body) {
        return Some(ToldError::of(&data));
    }
    let mut told = ToldError::default();
    if body.trim_start().starts_with('<') {
        told.stack(&without_markup(body));
    } else {
        told.stack(body);
    }
    Some(told)
}

/// The text of a page.
fn without_markup(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let (tag, behind) = tag.split_once('>').unwrap_or((tag, ""));
        if tag.starts_with("br") || tag.starts_with("/p") {
            text.push('\n');
        }
        rest = behind;
    }
    text.push_str(rest);
    // The ampersand last: what it begins is no entity any more.
    [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&amp;", "&"),
    ]
    .into_iter()
    .fold(text, |text, (entity, sign)| text.replace(entity, sign))
}

/// What a server says of an error, line by line.
#[derive(Default)]
struct ToldError {
    /// Why it came about.
    why: Vec<String>,
    /// The first of these that is a sentence of the server's own.
    reason: Option<String>,
    /// What to do.
    help: Vec<String>,
    place: Option<String>,
}

impl ToldError {
    fn of(data: &Value) -> Self {
        let words = &*FACT_WORDS;
        let is = |known: &[String], name: &str| known.iter().any(|known| known == name);
        let mut told = Self::default();
        if let Value::String(text) = data
            && text.contains(char::is_whitespace)
        {
            told.detail(text);
        }
        members(data, "", 0, &mut |_, object| {
            let line = refused(object).or_else(|| raised(object));
            let in_parts = line.is_some();
            if let Some(line) = line {
                add(&mut told.why, &line);
            }
            for (name, value) in object {
                if is(&words.error_help, name) {
                    let texts = texts(value);
                    texts.for_each(|text| add(&mut told.help, text));
                } else if is(&words.error_stacks, name) {
                    told.stack(&stack_in(value));
                } else if !in_parts && is(&words.error_details, name) {
                    texts(value).for_each(|text| told.detail(text));
                }
            }
            if told.place.is_none() {
                told.place = place_in(object);
            }
        });
        told
    }

    fn detail(&mut self, text: &str) {
        if text.trim().contains('\n') {
            self.stack(text);
            if let Some(line) = clues::telling_line(text) {
                add(&mut self.why, &line);
            }
            return;
        }
        add(&mut self.why, text);
        if self.reason.is_none() && text.contains(char::is_whitespace) {
            self.reason = Some(one_line(text, BYTES));
        }
    }

    fn stack(&mut self, text: &str) {
        if let Some(line) = clues::trace_line(text) {
            add(&mut self.why, &line);
        }
        if self.place.is_none() {
            self.place = whereabouts::origin(text);
        }
    }
}

/// Adds a line that is not there yet.
fn add(lines: &mut Vec<String>, text: &str) {
    let text = one_line(text, BYTES);
    if !text.is_empty() && !lines.contains(&text) {
        lines.push(text);
    }
}

/// The text that a value is, or those that it lists.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let listed = value.as_array().into_iter().flatten().take(MOST);
    let listed = listed.filter_map(Value::as_str);
    value.as_str().into_iter().chain(listed)
}

/// A stack, whose frames may be listed without what they begin with in a text.
fn stack_in(value: &Value) -> String {
    let frames = texts(value).map(|frame| match frame.starts_with("at ") {
        true => format!("    {frame}"),
        false => frame.to_owned(),
    });
    frames.collect::<Vec<_>>().join("\n")
}

/// The first member of these names that is a text.
fn named<'o>(object: &'o Map<String, Value>, names: &[String]) -> Option<&'o str> {
    let mut found = names.iter().filter_map(|name| object.get(name)?.as_str());
    found.find(|text| !text.trim().is_empty())
}

/// A value that was refused, and why: libraries that validate list them so.
fn refused(object: &Map<String, Value>) -> Option<String> {
    let words = &*FACT_WORDS;
    let why = named(object, &words.error_messages)?;
    let mut places = words.error_values.iter();
    let place = places.find_map(|name| match object.get(name)? {
        Value::String(place) => Some(place.clone()),
        Value::Array(steps) => {
            let step = |step: &Value| {
                step.as_str()
                    .map_or_else(|| step.to_string(), str::to_owned)
            };
            Some(steps.iter().map(step).collect::<Vec<_>>().join("."))
        }
        _ => None,
    })?;
    // A place in a file is none of a value.
    let is_of_value = !place.is_empty() && place_in(object).is_none();
    is_of_value.then(|| format!("`{}`: {why}", one_line(&place, BYTES)))
}

/// The head of an exception whose class and message are members of their own.
fn raised(object: &Map<String, Value>) -> Option<String> {
    let words = &*FACT_WORDS;
    let class = named(object, &words.error_classes)?;
    let message = named(object, &words.error_messages)?;
    let is_class = ["Error", "Exception", "Warning", "Fault"]
        .iter()
        .any(|end| class.ends_with(end));
    let has_stack = || {
        words
            .error_stacks
            .iter()
            .any(|name| object.contains_key(name))
    };
    let is_name = !class.contains(char::is_whitespace);
    (is_name && (is_class || has_stack())).then(|| format!("{class}: {message}"))
}

/// `file:line`, where an object has both.
fn place_in(object: &Map<String, Value>) -> Option<String> {
    // `file_name`, `fileName` and `FileName` are one.
    let of = |names: &[&str]| {
        object.iter().find_map(|(own, value)| {
            let own = own.replace(['_', '-'], "").to_ascii_lowercase();
            names.contains(&&*own).then_some(value)
        })
    };
    let file = of(&["file", "filename", "filepath", "path"])?.as_str()?;
    let line = of(&["line", "lineno", "linenumber"])?.as_u64()?;
    Some(format!("{}:{line}", one_line(file, BYTES)))
}

/// Every value, with the name of the member that it is of.
fn each(data: &Value, depth: usize, take: &mut impl FnMut(&str, &Value)) {
    match data {
        Value::Object(object) if depth < DEEPEST => {
            for (name, value) in object.iter().take(MOST) {
                take(name, value);
                each(value, depth + 1, take);
            }
        }
        Value::Array(values) if depth < DEEPEST => {
            for value in values.iter().take(MOST) {
                take("", value);
                each(value, depth + 1, take);
            }
        }
        _ => {}
    }
}

/// Every object, with the name of the member that it is of.
fn members(
    data: &Value,
    name: &str,
    depth: usize,
    take: &mut impl FnMut(&str, &Map<String, Value>),
) {
    match data {
        Value::Object(object) if depth < DEEPEST => {
            take(name, object);
            for (name, value) in object.iter().take(MOST) {
                members(value, name, depth + 1, take);
            }
        }
        Value::Array(values) if depth < DEEPEST => {
            for value in values.iter().take(MOST) {
                members(value, name, depth + 1, take);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::steps;
    use crate::engine::Engine;
    use jelly_base::model::{Failure, Fix};
    use serde_json::{Value, json};

    fn failure(data: &Value) -> Failure {
        serde_json::from_value(json!({
            "phase": "call", "outcome": "error",
            "rpc_error": {"code": -32603, "message": "Internal error", "data": data},
            "request": {"method": "tools/call", "params": {"name": "work"}},
        }))
        .unwrap()
    }

    #[test]
    fn a_server_that_says_what_to_do_is_quoted() {
        let lines = |data: &Value| -> Vec<String> {
            let steps = steps(&failure(data), None);
            steps.iter().map(Fix::to_string).collect()
        };
        let told = json!({
            "fix_instructions": ["Set the key.", "$ rm -rf /", "Set the key."],
            "error_context": {"command": "srv", "file": "/srv/app.py", "line": 12},
        });
        let camel = json!({ "errorContext": {"fileName": "acme.toml", "lineNumber": 7} });
        assert_eq!(lines(&camel), ["The server names this place: acme.toml:7"]);
        // Its words are no command of ours.
        assert_eq!(
            lines(&told),
            [
                "The server says: Set the key.",
                "The server says: $ rm -rf /",
                "The server names this place: /srv/app.py:12",
            ]
        );
        assert_eq!(
            lines(&json!({"error": {"hint": "Wait a while."}})),
            ["The server says: Wait a while."]
        );
        for data in [
            json!("text"),
            json!(null),
            json!({"hint": 3}),
            json!({"file": "a"}),
        ] {
            assert!(lines(&data).is_empty(), "{data}");
        }
        let engine = Engine::builtin();
        let fix = engine.diagnose(&failure(&told)).advice.fix;
        assert_eq!(fix[0].to_string(), "The server says: Set the key.");
    }

    #[test]
    fn what_a_server_says_of_its_error_is_shown_in_whatever_shape_it_says_it() {
        let lines = |data: &Value| -> Vec<String> {
            let steps = steps(&failure(data), None);
            steps.iter().map(Fix::to_string).collect()
        };
        let place = "The server names this place: /srv/app/src/tools/ping.ts:42";
        let stack = "TypeError: x is undefined\n    at handler (/srv/app/src/tools/ping.ts:42:13)";
        for (data, told) in [
            (
                json!({"validation_errors": [
                    {"path": ["city"], "message": "Required"},
                    {"loc": ["body", "days", 0], "msg": "too many", "type": "value_error"},
                    {"instancePath": "/unit", "message": "must be string"},
                ]}),
                &[
                    "The server says: `city`: Required",
                    "The server says: `body.days.0`: too many",
                    "The server says: `/unit`: must be string",
                ][..],
            ),
            (
                json!({ "stack": stack }),
                &["The server says: TypeError: x is undefined", place],
            ),
            (
                json!({"trace": ["at handler (/srv/app/src/tools/ping.ts:42:13)"]}),
                &[place],
            ),
            (
                json!({"exception": {"type": "KeyError", "message": "'rows'",
                    "traceback": ["File \"/srv/q.py\", line 17, in f"]}}),
                &[
                    "The server says: KeyError: 'rows'",
                    "The server names this place: /srv/q.py:17",
                ],
            ),
            (
                json!("config.json not found"),
                &["The server says: config.json not found"],
            ),
            (json!({"type": "missing", "n": 3}), &[]),
            (json!({"reason": "Internal error"}), &[]),
        ] {
            assert_eq!(lines(&data), told, "{data}");
        }
        let exception = json!({"exception": {"type": "KeyError", "message": "'rows'"}});
        let diagnosis = Engine::builtin().diagnose(&failure(&exception));
        assert_eq!(diagnosis.rule, "mcp/key-error", "{diagnosis:#?}");
    }

    #[test]
    fn the_reason_in_data_and_the_message_are_one_statement() {
        let data = json!({
            "details": "config.json not found",
            "fix_instructions": ["Write it."],
            "error_context": {"file": "s.py", "line": 3},
        });
        let refused: Failure = serde_json::from_value(json!({
            "phase": "handshake", "outcome": "error",
            "rpc_error": {"code": -32603, "message": "Configuration invalid", "data": data},
            "request": {"method": "initialize"},
        }))
        .unwrap();
        let diagnosis = Engine::builtin().diagnose(&refused);
        assert_eq!(diagnosis.root_cause, "missing_file", "{diagnosis:#?}");
        let evidence = diagnosis.evidence.unwrap().text;
        assert_eq!(evidence, "Configuration invalid: config.json not found");
        let fix: Vec<String> = diagnosis.advice.fix.iter().map(Fix::to_string).collect();
        assert_eq!(fix[0], "The server says: Write it.");
    }

    #[test]
    fn the_stack_in_the_body_of_an_http_500_names_its_place() {
        let python = "Traceback (most recent call last):\n  File \"/srv/app.py\", line 9, in f\n    rows = d['rows']\nKeyError: 'rows'";
        let express = "<html><body><pre>KeyError: &#39;rows&#39;<br> &nbsp; &nbsp;at f (/srv/app.js:9:3)</pre></body></html>";
        let json = json!({ "detail": python }).to_string();
        for (body, file) in [(python, "app.py"), (express, "app.js"), (&*json, "app.py")] {
            let answered: Failure = serde_json::from_value(json!({
                "phase": "call", "url": "http://h/mcp",
                "request": {"method": "tools/call", "params": {"name": "work"}},
                "http": {"status": 500, "body": body},
            }))
            .unwrap();
            let diagnosis = Engine::builtin().diagnose(&answered);
            let advice = serde_json::to_string(&diagnosis.advice).unwrap();
            assert!(advice.contains(&format!("/srv/{file}:9")), "{advice}");
            let said = format!("{:?} {advice}", diagnosis.evidence);
            assert!(said.contains("KeyError: 'rows'"), "{said}");
        }
    }

    #[test]
    fn a_status_in_data_is_what_somebody_answered() {
        for (data, cause) in [
            (json!({"statusCode": 429}), "rate_limited"),
            (json!({"httpStatus": 503}), "upstream_error"),
            (json!({"upstream": {"status": 502}}), "upstream_error"),
            (
                json!({"error": {"url": "https://x.test", "status": "503"}}),
                "upstream_error",
            ),
            (json!({"response": {"status": 500}}), "upstream_error"),
            (json!({"status": 200}), "internal_error"),
            (json!({"status": 500, "statusCode": 500}), "internal_error"),
            (json!({"parcel": {"status": 503}}), "internal_error"),
            (json!({"count": 503}), "internal_error"),
        ] {
            let failure = serde_json::json!({
                "phase": "call", "outcome": "error",
                "request": {"method": "tools/call", "params": {"name": "t", "arguments": {}}},
                "rpc_error": {"code": -32603, "message": "Internal error", "data": data},
            });
            let failure: Failure = serde_json::from_value(failure).unwrap();
            let said = Engine::builtin().diagnose(&failure);
            assert_eq!(said.root_cause, cause, "{data} {}", said.rule);
        }
    }

    #[test]
    fn details_and_logs_are_evidence() {
        let refused = "connect ECONNREFUSED 127.0.0.1:5432";
        let told = failure(&json!({"details": format!("Error: {refused}")}));
        let mut logged = failure(&Value::Null);
        logged.logs = vec!["starting".to_owned(), refused.to_owned()];
        for (failure, field) in [(told, "rpc_error.data"), (logged, "logs")] {
            let diagnosis = Engine::builtin().diagnose(&failure);
            assert_eq!(diagnosis.root_cause, "connection_refused", "{field}");
            assert_eq!(diagnosis.evidence.unwrap().field, field);
        }
        let plain = Engine::builtin().diagnose(&failure(&Value::Null));
        assert_eq!(plain.root_cause, "internal_error");
    }
}
