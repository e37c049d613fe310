//! Typed facts of live failures that take some reading: what was raised, by
//! whose code, and where a request was sent.

use super::tables::{built, table};
use jelly_base::mcp::{Method, Notification};
use jelly_base::model::{AssertionTarget, Exit, Failure, Outcome, RequestFacts};
use jelly_base::text::{http_parts, http_variables};
use serde::Deserialize;
use serde_json::Value;
use std::net::Ipv4Addr;
use std::sync::LazyLock;

/// `tables/facts.yaml`, which says what each list is.
#[derive(Deserialize)]
pub(super) struct FactWords {
    package_folders: Vec<String>,
    reserved_hosts: Vec<String>,
    login_pages: Vec<String>,
    shell_scripts: Vec<String>,
    pub(super) interpreters: Vec<String>,
    pub(super) writing_tools: Vec<String>,
    pub(super) listing_tools: Vec<String>,
    pub(super) absent: Vec<String>,
    /// Members of an error's `data` that say what to do.
    pub(super) error_help: Vec<String>,
    /// Those that say why, and in which a stack stands.
    pub(super) error_details: Vec<String>,
    pub(super) error_stacks: Vec<String>,
    /// Of one of several errors: its message, which value it is about, of which class it is.
    pub(super) error_messages: Vec<String>,
    pub(super) error_values: Vec<String>,
    pub(super) error_classes: Vec<String>,
    pub(super) spawning: DoingPatterns,
    pub(super) writing: DoingPatterns,
}

/// What tells what was being done: the stack, and words.
#[derive(Deserialize)]
pub(super) struct DoingPatterns {
    pub(super) stack: Vec<String>,
    pub(super) words: Vec<String>,
}

pub(super) static FACT_WORDS: LazyLock<FactWords> = LazyLock::new(|| table(built!("facts")));

/// Bytes at the end of stderr that are searched for what was raised.
const TAIL: usize = 64 * 1024;

/// The class of the exception that became the answer: some SDKs answer with
/// the exception's message alone and log its class on stderr. The line on
/// stderr must end the answer, so that the story of another request is not
/// taken for this one's.
pub(super) fn raised(failure: &Failure) -> Option<&str> {
    let answer = match (&failure.tool_result, &failure.rpc_error) {
        (Some(result), _) if result.is_error => result.text.trim(),
        (_, Some(error)) => error.message.trim(),
        _ => return None,
    };
    let last_line = answer.lines().next_back().unwrap_or_default();
    let hides = !failure.stderr_is_older && hides_its_exception(answer);
    tail(failure.stderr.as_deref()?)
        .lines()
        .rev()
        .map(str::trim)
        .find_map(|line| {
            let (class, message) = match line.split_once(": ") {
                Some((class, message)) => (class, message.trim()),
                None => (line, ""),
            };
            // What an SDK wraps an exception in says no more than the answer.
            if hides && message == answer {
                return None;
            }
            let told = if message.is_empty() {
                // `Error calling tool 'x':` has lost an empty message.
                answer.ends_with(':') || hides
            } else {
                last_line.ends_with(message) || hides
            };
            (told && is_exception(class)).then(|| class.rsplit('.').next().unwrap_or(class))
        })
}

/// Whether an answer tells of an exception of a tool, and not what it says: `Error executing
/// tool pay`, as SDKs for Python write it that keep the words back.
fn hides_its_exception(answer: &str) -> bool {
    // The SDK for .NET keeps them back, too.
    let tool = [
        "Error executing tool ",
        "Error calling tool ",
        "An error occurred invoking ",
    ]
    .iter()
    .find_map(|words| answer.strip_prefix(words));
    tool.is_some_and(|tool| !tool.is_empty() && !tool.contains([' ', ':', '\n']))
}

fn is_exception(class: &str) -> bool {
    (class.ends_with("Error") || class.ends_with("Exception"))
        && class.starts_with(|c: char| c.is_ascii_alphabetic())
        && class
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_')
}

/// The last bytes of a text, whole characters.
pub(super) fn tail(text: &str) -> &str {
    let mut start = text.len().saturating_sub(TAIL);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// Whether any revision of MCP knows the method of the request.
pub(super) fn method_known(failure: &Failure) -> Option<bool> {
    let method = failure.request.as_ref()?.method.as_str();
    Some(
        Method::find(method).is_some()
            || Method::find_of_server(method).is_some()
            || method.starts_with(Notification::PREFIX),
    )
}

/// What the call sends to the tool.
pub(super) fn arguments(failure: &Failure) -> Option<&Value> {
    let params = failure.request.as_ref()?.params.as_ref()?;
    params.get("arguments")
}

/// Whether a number of the call's arguments is zero, or something there is
/// divided by it: then a division by zero is what was asked for.
pub(super) fn zero_given(failure: &Failure) -> Option<bool> {
    fn holds_zero(value: &Value) -> bool {
        match value {
            Value::Number(number) => number.as_f64() == Some(0.0),
            Value::String(text) => {
                let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
                text == "0"
                    || ["/0", "%0", "//0", "mod0"]
                        .iter()
                        .any(|by| text.contains(by))
            }
            Value::Array(values) => values.iter().any(holds_zero),
            Value::Object(members) => members.values().any(holds_zero),
            Value::Null | Value::Bool(_) => false,
        }
    }
    arguments(failure).map(holds_zero)
}

/// Whether the code that failed was installed, not written here: the
/// innermost frame of a traceback, the first of a JavaScript stack, or the
/// file that could not be compiled lies in a folder of packages.
pub(super) fn packaged(failure: &Failure) -> bool {
    let Some(stderr) = failure.stderr.as_deref().map(tail) else {
        return false;
    };
    let python = stderr
        .lines()
        .map(str::trim_start)
        .rfind(|line| line.starts_with("File \""));
    let frame = python.or_else(|| {
        stderr.lines().map(str::trim_start).find(|line| {
            // Node names the file itself above the line that it can't run. Its own frames
            // are nobody's code.
            (line.starts_with("at ") && line.contains('/') && !line.contains("(node:"))
                || ((line.starts_with('/') || line.starts_with("file://"))
                    && line
                        .rsplit(':')
                        .next()
                        .is_some_and(|number| number.parse::<u32>().is_ok()))
        })
    });
    frame.is_some_and(|frame| {
        let mut folders = FACT_WORDS.package_folders.iter();
        folders.any(|folder| frame.contains(folder))
    })
}

/// Whether a host is named, by the plan, that can't exist outside: RFC 2606
/// and RFC 6762 reserve these endings, and `.internal` is private.
pub(super) fn reserved_host(failure: &Failure) -> bool {
    any_given(failure, &names_reserved_host)
}

/// Whether a URL of the plan or the call names this machine or a bare address,
/// so that no name has to be resolved.
pub(super) fn numeric_host(failure: &Failure) -> bool {
    let is_numeric = |text: &str| {
        text.split_once("://").map(|(_, rest)| {
            let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
            let host = authority.rsplit('@').next().unwrap_or(authority);
            let name = host.split(':').next().unwrap_or(host);
            name == "localhost" || host.starts_with('[') || name.parse::<Ipv4Addr>().is_ok()
        })
    };
    // Of several services that the variables name, nobody knows which was asked.
    let values = failure.env_delta.values().filter_map(Value::as_str);
    let mut named = values.filter_map(is_numeric).peekable();
    any_given(failure, &|text| is_numeric(text) == Some(true))
        || named.peek().is_some() && named.all(|is_numeric| is_numeric)
}

/// Whether the path of the URL is the one where the old HTTP transport opens
/// its event stream.
pub(super) fn sse_path(failure: &Failure) -> bool {
    failure.url.as_deref().is_some_and(|url| {
        let path = url.split(['?', '#']).next().unwrap_or(url);
        path.trim_end_matches('/').ends_with("/sse")
    })
}

/// How a process ended, where that is known: `signal SIGSEGV`, `exit code 3`.
pub(super) fn exit_in_words(exit: &Exit) -> Option<String> {
    match (&exit.signal, exit.code) {
        (Some(signal), _) => Some(format!("signal {signal}")),
        (None, Some(code)) => Some(format!("exit code {code}")),
        (None, None) => None,
    }
}

/// Whether a call that was to be cancelled was over by then, or nearly so.
pub(super) fn answered_too_soon(failure: &Failure) -> bool {
    let assertion = failure.assertion.as_ref();
    assertion
        .is_some_and(|it| it.kind == "cancelled" && it.target == Some(AssertionTarget::Duration))
}

/// Whether its arguments or variables make of it a server of HTTP.
pub(super) fn http_mode(failure: &Failure) -> bool {
    let args = failure.argv.get(1..).unwrap_or_default();
    let env = failure.env_delta.iter();
    let variables = env.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
    failure.outcome == Some(Outcome::Timeout)
        && failure.url.is_none()
        && (!http_parts(args).is_empty() || !http_variables(variables).is_empty())
}

/// Whether the test holds for a text of the command, the URL or the call.
fn any_given(failure: &Failure, test: &dyn Fn(&str) -> bool) -> bool {
    let given = failure
        .argv
        .iter()
        .map(String::as_str)
        .chain(failure.url.as_deref())
        .any(test);
    given
        || failure
            .request
            .as_ref()
            .and_then(|request| request.params.as_ref())
            .is_some_and(|params| any_text(params, test))
}

fn names_reserved_host(text: &str) -> bool {
    let host = match text.split_once("://") {
        Some((_, rest)) => rest,
        None => text,
    };
    let host = host.split(['/', '?', '#']).next().unwrap_or(host);
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.split(':').next().unwrap_or(host);
    let mut endings = FACT_WORDS.reserved_hosts.iter();
    endings.any(|ending| host.len() > ending.len() && host.ends_with(ending))
}

/// Whether the test holds for any text in `value`.
pub(super) fn any_text(value: &Value, test: &dyn Fn(&str) -> bool) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if test(text) => return true,
            Value::Array(items) => open.extend(items),
            Value::Object(map) => open.extend(map.values()),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    false
}

/// Whether the endpoint sends the client to a page for signing in.
pub(super) fn login_redirect(failure: &Failure) -> bool {
    let Some(http) = &failure.http else {
        return false;
    };
    http.status.is_some_and(|s| (300..400).contains(&s))
        && http_header(failure, "location").is_some_and(|location| {
            let location = location.to_ascii_lowercase();
            let mut words = FACT_WORDS.login_pages.iter();
            words.any(|word| location.contains(word))
        })
}

/// Whether the server redirects to the address that was asked, so that nobody comes to an
/// end.
pub(super) fn redirects_to_itself(failure: &Failure) -> bool {
    let (Some(url), Some(location)) = (&failure.url, http_header(failure, "location")) else {
        return false;
    };
    let bare = |text: &str| {
        text.split_once('#')
            .map_or(text.len(), |(bare, _)| bare.len())
    };
    let (url, location) = (&url[..bare(url)], &location[..bare(location)]);
    let status = failure.http.as_ref().and_then(|http| http.status);
    let path = url
        .find("://")
        .and_then(|scheme| Some(scheme + 3 + url[scheme + 3..].find('/')?));
    let path = path.map_or("/", |at| &url[at..]);
    status.is_some_and(|status| (300..400).contains(&status))
        && (url == location || location.starts_with('/') && path == location)
}

/// Whether the request went through a proxy of the environment.
pub(super) fn proxied(failure: &Failure) -> bool {
    failure
        .http
        .as_ref()
        .is_some_and(|http| http.proxy.is_some())
}

/// Whether a proxy of the environment may have answered in the place of the server: it
/// sees plain HTTP alone, and says no in words of its own, not in JSON.
pub(super) fn proxy_may_answer(failure: &Failure) -> bool {
    let Some(http) = &failure.http else {
        return false;
    };
    let json = http
        .body
        .as_deref()
        .is_some_and(|body| body.trim_start().starts_with(['{', '[']));
    let asks = http_header(failure, "www-authenticate").is_some();
    http.proxy.is_some() && plain_http(failure) && !json && !asks && failure.rpc_error.is_none()
}

/// A header of the answer over HTTP.
pub(super) fn http_header<'f>(failure: &'f Failure, name: &str) -> Option<&'f str> {
    let headers = &failure.http.as_ref()?.headers;
    let header = headers
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))?;
    header.1.as_str()
}

/// Whether the server's URL is one of plain HTTP.
pub(super) fn plain_http(failure: &Failure) -> bool {
    let url = failure.url.as_deref();
    url.is_some_and(|url| url.starts_with("http://"))
}

/// How long the answer over HTTP asks to be left alone (`Retry-After`), if at all.
pub(super) fn pause(failure: &Failure) -> Option<String> {
    let secs = failure.http.as_ref()?.retry_after()?.as_secs();
    match secs {
        0 => None,
        1..600 => Some(format!("{secs} s")),
        600..7200 => Some(format!("{} min", secs.div_ceil(60))),
        7200.. => Some(format!("{} h", secs.div_ceil(3600))),
    }
}

/// What is to be known beside a proxy that refuses a connection: many allow one port alone.
pub(super) fn other_port(failure: &Failure) -> Option<String> {
    let url = failure.url.as_deref()?.strip_prefix("https://")?;
    let host = url.split(['/', '?', '#']).next()?;
    let (_, port) = host.rsplit_once(':')?;
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (is_port && port != "443").then(|| "; many allow port 443 alone".to_owned())
}

/// Whether plain HTTP was spoken to a port whose number says TLS, as 443 and
/// 8443 do.
pub(super) fn plain_to_tls_port(failure: &Failure) -> bool {
    failure
        .url
        .as_deref()
        .and_then(|url| url.strip_prefix("http://"))
        .map(|rest| rest.split(['/', '?', '#']).next().unwrap_or(rest))
        .and_then(|host| host.rsplit_once(':'))
        .is_some_and(|(_, port)| port.ends_with("443"))
}

/// Whether the command is a shell script around the server.
pub(super) fn shell_script(failure: &Failure) -> bool {
    let is_script = |arg: &String| {
        FACT_WORDS
            .shell_scripts
            .iter()
            .any(|end| arg.ends_with(end))
    };
    failure.argv.iter().take(2).any(is_script)
}

/// Whether an argument of the call looks like a path, where the call is known.
pub(super) fn path_in_arguments(failure: &Failure) -> Option<bool> {
    let params = failure.request.as_ref()?.params.as_ref()?;
    Some(params.get("arguments").is_some_and(|arguments| {
        any_text(arguments, &|text| {
            text.contains(['/', '\\', '.']) && !text.contains('\n')
        })
    }))
}

/// Whether an argument of the call holds words of SQL, or is called so; `None` where
/// it is not known what was sent. A name that has a quote in it holds none.
pub(super) fn sql_in_arguments(failure: &Failure) -> Option<bool> {
    const WORDS: [&str; 12] = [
        "alter", "create", "delete", "drop", "from", "insert", "join", "order", "select", "update",
        "where", "with",
    ];
    let params = failure.request.as_ref()?.params.as_ref()?;
    let Some(arguments) = params.get("arguments") else {
        return Some(false);
    };
    // `selec 1` is one too: several words, or a sign that compares.
    let is_sql = |text: &str| {
        let words = text.split_whitespace();
        let known = |word: &str| {
            WORDS.iter().any(|sql| {
                let word = word.to_ascii_lowercase();
                word.starts_with(&sql[..sql.len() - 1]) || sql.starts_with(&word) && word.len() > 3
            })
        };
        text.contains(['=', ';', '*']) || words.clone().count() > 1 && words.clone().any(known)
    };
    let tool = params.get("name").and_then(Value::as_str).unwrap_or("");
    let names = arguments.as_object().into_iter().flatten();
    let is_named = |(name, value): (&String, &Value)| value.is_string() && is_for_sql(name, tool);
    Some(any_text(arguments, &is_sql) || names.into_iter().any(is_named))
}

/// Whether an argument of this name is a statement, whatever stands in it. What is
/// searched for is called a query too.
fn is_for_sql(name: &str, tool: &str) -> bool {
    let (name, tool) = (name.to_ascii_lowercase(), tool.to_ascii_lowercase());
    let of_query = || {
        ["sql", "query", "execute"]
            .iter()
            .any(|word| tool.contains(word))
    };
    name.contains("sql") || ["statement", "stmt"].contains(&&*name) || name == "query" && of_query()
}

/// Whether a tool was called without any argument.
pub(super) fn nothing_sent(failure: &Failure) -> bool {
    let Some(request) = failure.request.as_ref() else {
        return false;
    };
    // Which tool it was has to be known, or nothing of the request is.
    let params = request.params.as_ref().and_then(Value::as_object);
    request.method == "tools/call"
        && params.is_some_and(|params| match params.get("arguments") {
            None | Some(Value::Null) => params.contains_key("name"),
            Some(Value::Object(arguments)) => arguments.is_empty(),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => false,
        })
}

/// What was asked for that is no tool, and what it takes.
pub(super) fn asked_of(method: &str) -> Vec<(&'static str, &'static str)> {
    match method {
        "tools/call" => Vec::new(),
        "prompts/get" => vec![
            ("asked", "The prompt"),
            ("takes", "the arguments that the prompt lists"),
            ("has_it", "the prompt lists it"),
        ],
        "resources/read" => vec![
            ("asked", "The resource"),
            ("takes", "what the resource takes"),
            ("has_it", "the resource takes it"),
        ],
        _ => vec![
            ("asked", "The server"),
            ("takes", "the parameters of the method"),
            ("has_it", "the method takes it"),
        ],
    }
}

pub(super) fn tool_of(request: &RequestFacts) -> Option<String> {
    let params = request.params.as_ref();
    let name = params.and_then(|params| params.get("name")?.as_str());
    // What is no tool's has a method, at least.
    let method = Some(request.method.as_str()).filter(|method| *method != "tools/call");
    name.or(method).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn failure(facts: Value) -> Failure {
        serde_json::from_value(facts).unwrap()
    }

    fn calling(params: Value) -> Value {
        json!({"request": {"method": "tools/call", "params": params}})
    }

    fn redirected(status: u16, location: &str) -> Value {
        json!({"http": {"status": status, "headers": {"Location": location}}})
    }

    fn looping(location: &str) -> Value {
        json!({"url": "http://h/mcp", "http": {"status": 308, "headers": {"Location": location}}})
    }

    #[test]
    fn what_was_raised_is_read_off_stderr_when_it_is_this_answers_story() {
        let story = "INFO start\nNotImplementedError: payment backend\n";
        for (answer, stderr, class) in [
            (
                "Error calling tool 'x': payment backend",
                story,
                Some("NotImplementedError"),
            ),
            ("Error calling tool 'x': no", story, None),
            (
                "Error calling tool 'x': ",
                "  MemoryError  ",
                Some("MemoryError"),
            ),
            ("ok", "INFO: ok", None),
            // An SDK that keeps the words back.
            (
                "Error executing tool pay",
                "KeyError: 'rate'",
                Some("KeyError"),
            ),
            (
                "Error executing tool pay",
                "KeyError: 'rate'\n\nThe above exception was the direct cause of it:\n\n\
                 mcp.exceptions.ToolError: Error executing tool pay\n",
                Some("KeyError"),
            ),
            ("Error executing tool pay: no", "KeyError: 'rate'", None),
        ] {
            let result = json!({"isError": true, "text": answer});
            let answered = failure(json!({"stderr": stderr, "tool_result": result}));
            assert_eq!(raised(&answered), class, "{answer}");
        }
    }

    #[test]
    fn hosts_that_cannot_exist_are_known_by_their_ending() {
        for (text, expected) in [
            ("http://api.weather.invalid/v1?x=1", true),
            ("postgres://u:p@db.internal:5432/x", true),
            ("printer.local", true),
            ("https://api.example.com/x.invalid", false),
            ("/srv/x", false),
            (".local", false),
            ("", false),
        ] {
            assert_eq!(names_reserved_host(text), expected, "{text}");
        }
    }

    #[test]
    fn facts_are_told_from_what_only_looks_like_them() {
        let own = "  File \"/v/site-packages/x/s.py\", line 2\n  File \"/srv/a.py\", line 1\nAttributeError: a";
        let installed = "  File \"/srv/a.py\", line 1\n  File \"/v/lib/python3.11/site-packages/x/s.py\", line 2\nAttributeError: a";
        let module = "/srv/node_modules/x/i.js:3\nfoo\n^\n\nSyntaxError: a\n    at wrapSafe (node:internal/x:1:2)";
        let script = "TypeError: a\n    at Object.<anonymous> (/srv/x.js:2:25)";
        let hosts = json!({"arguments": {"urls": ["http://a.test/"]}});
        type Reading = (fn(&Failure) -> bool, Value, bool);
        let cases: [Reading; 36] = [
            (packaged, json!({"stderr": installed}), true),
            (packaged, json!({"stderr": own}), false),
            (packaged, json!({"stderr": module}), true),
            (packaged, json!({"stderr": script}), false),
            (packaged, json!({"stderr": ""}), false),
            (reserved_host, calling(hosts), true),
            (
                login_redirect,
                redirected(302, "https://sso.acme.io/start"),
                true,
            ),
            (login_redirect, redirected(303, "/login?next=/mcp"), true),
            (login_redirect, redirected(307, "/mcp/"), false),
            (redirects_to_itself, looping("/mcp"), true),
            (redirects_to_itself, looping("http://h/mcp#a"), true),
            (redirects_to_itself, looping("/mcp/"), false),
            (login_redirect, redirected(200, "/login"), false),
            (
                plain_to_tls_port,
                json!({"url": "http://127.0.0.1:8443/mcp"}),
                true,
            ),
            (
                plain_to_tls_port,
                json!({"url": "https://127.0.0.1:8443/mcp"}),
                false,
            ),
            (
                plain_to_tls_port,
                json!({"url": "http://127.0.0.1:8080/443"}),
                false,
            ),
            (plain_to_tls_port, json!({"url": "http://h/mcp"}), false),
            (plain_http, json!({"url": "http://h/mcp"}), true),
            (plain_http, json!({"url": "https://h/mcp"}), false),
            (plain_http, json!({}), false),
            (shell_script, json!({"argv": ["sh", "start.sh"]}), true),
            (
                shell_script,
                json!({"argv": ["node", "x.js", "y.sh"]}),
                false,
            ),
            (nothing_sent, calling(json!({"name": "t"})), true),
            (
                nothing_sent,
                calling(json!({"name": "t", "arguments": {}})),
                true,
            ),
            (
                nothing_sent,
                calling(json!({"name": "t", "arguments": {"a": null}})),
                false,
            ),
            (
                nothing_sent,
                json!({"request": {"method": "tools/call"}}),
                false,
            ),
            (nothing_sent, calling(json!({})), false),
            (
                numeric_host,
                json!({"argv": ["bridge", "http://127.0.0.1:9/mcp"]}),
                true,
            ),
            (
                numeric_host,
                json!({"argv": ["bridge", "redis://u:p@localhost:6379/0"]}),
                true,
            ),
            (
                numeric_host,
                json!({"argv": ["bridge", "http://[::1]:9"]}),
                true,
            ),
            (
                numeric_host,
                json!({"argv": ["bridge", "https://127.acme.com/"]}),
                false,
            ),
            (
                numeric_host,
                json!({"argv": ["bridge", "127.0.0.1"]}),
                false,
            ),
            (sse_path, json!({"url": "http://h:1/api/sse/?k=1"}), true),
            (sse_path, json!({"url": "http://h:1/essence"}), false),
            (reserved_host, json!({}), false),
            (nothing_sent, json!({}), false),
        ];
        for (fact, facts, expected) in cases {
            assert_eq!(fact(&failure(facts.clone())), expected, "{facts}");
        }
    }

    #[test]
    fn a_pause_is_told_in_a_unit_that_fits_and_none_is_none() {
        for (value, told) in [
            ("2", Some("2 s")),
            ("601", Some("11 min")),
            ("145277", Some("41 h")),
            ("0", None),
            ("soon", None),
        ] {
            let asks = json!({"http": {"status": 503, "headers": {"Retry-After": value}}});
            assert_eq!(pause(&failure(asks)).as_deref(), told, "{value}");
        }
        assert_eq!(pause(&Failure::default()), None);
    }

    #[test]
    fn another_port_than_that_of_https_is_told_where_a_proxy_refuses() {
        for (url, is_told) in [
            ("https://h:8443/mcp", true),
            ("https://[::1]:8443", true),
            ("https://h/mcp:8443", false),
            ("https://h:443/mcp", false),
            ("https://[::1]/mcp", false),
            ("http://h:8080/mcp", false),
        ] {
            let told = other_port(&failure(json!({"url": url})));
            assert_eq!(told.is_some(), is_told, "{url}");
        }
    }

    #[test]
    fn paths_are_seen_in_what_is_sent() {
        for (arguments, expected) in [
            (json!({"path": "/w/a"}), true),
            (json!({"query": "a"}), false),
            (json!({}), false),
        ] {
            let called = failure(calling(json!({"name": "t", "arguments": arguments})));
            assert_eq!(path_in_arguments(&called), Some(expected));
        }
        assert_eq!(path_in_arguments(&Failure::default()), None);
    }
}
