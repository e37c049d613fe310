//! Answers with `isError: false` that fail an expectation: what is said of
//! errors in all their forms, and of what only looks like one.

use crate::engine::Engine;
use jelly_base::model::{
    Assertion, AssertionTarget, Diagnosis, Failure, Outcome, Phase, RequestFacts, RpcError, Side,
    Suspect, ToolResult, Wanted,
};
use serde_json::{Value, json};

/// A text of which the plan wants something else.
fn failure(text: &str) -> Failure {
    Failure {
        phase: Some(Phase::Assert),
        server: Some("s".into()),
        step: Some("look".into()),
        outcome: Some(Outcome::Result),
        request: Some(RequestFacts {
            method: "tools/call".into(),
            params: Some(json!({"name": "look", "arguments": {"what": "Ada"}})),
            ..RequestFacts::default()
        }),
        tool_result: Some(ToolResult {
            is_error: false,
            text: text.into(),
            structured_content: None,
        }),
        assertion: Some(Assertion {
            kind: "contains".into(),
            target: Some(AssertionTarget::Text),
            expected: json!("Ada Lovelace"),
            actual: json!(text),
            ..Assertion::default()
        }),
        wanted: Some(Wanted {
            error: false,
            values: vec![json!("Ada Lovelace")],
        }),
        message: Some(format!(
            "expected the text to contain \"Ada\", got {text:?}"
        )),
        ..Failure::default()
    }
}

fn diagnosis(failure: &Failure) -> Diagnosis {
    Engine::builtin().diagnose(failure)
}

#[derive(Debug, PartialEq)]
enum Said {
    Surroundings,
    Internal,
    Other,
    Nothing,
}

fn said(diagnosis: &Diagnosis) -> Said {
    if diagnosis.error_answer {
        Said::Other
    } else if diagnosis.root_cause != "assertion_mismatch" {
        assert_eq!(diagnosis.side, Side::Test);
        assert!(!diagnosis.ambiguous, "{diagnosis:?}");
        Said::Surroundings
    } else if diagnosis.suspect == Some(Suspect::Code) {
        Said::Internal
    } else {
        Said::Nothing
    }
}

/// All that are not as they should be, at once.
#[track_caller]
fn all_are(wanted: &Said, texts: &[&str]) {
    let wrong: Vec<String> = texts
        .iter()
        .map(|text| (text, diagnosis(&failure(text))))
        .filter(|(_, diagnosis)| said(diagnosis) != *wanted)
        .map(|(text, diagnosis)| {
            let said = said(&diagnosis);
            format!("{said:?} by {}: {text}", diagnosis.rule)
        })
        .collect();
    assert!(wrong.is_empty(), "not {wanted:?}:\n{}", wrong.join("\n"));
}

#[test]
fn errors_of_the_surroundings_are_known_in_every_form() {
    all_are(&Said::Surroundings, SURROUNDINGS);
}

const SURROUNDINGS: &[&str] = &[
    "connect ECONNREFUSED 127.0.0.1:5432",
    "connect ETIMEDOUT 10.0.0.5:443",
    "connect EHOSTUNREACH 10.1.1.1:80",
    "Access token expired",
    // Sentences
    "Error: connect ECONNREFUSED 127.0.0.1:5432",
    "Error executing query: connection to server at \"db\" (10.0.0.4), port 5432 failed: Connection refused",
    "Failed to fetch https://api.example.com/v1: 503 Service Unavailable",
    "Request failed with status code 500",
    "AxiosError: Request failed with status code 502",
    "HTTP 503: Service Unavailable",
    "HTTP error! status: 504",
    "[ERROR] getaddrinfo EAI_AGAIN api.example.com",
    "❌ Request failed with status code 429",
    "❌ Could not reach the database: connection timed out",
    "⚠️ Rate limit exceeded, retry in 30 seconds",
    "**Error:** API rate limit exceeded for user ID 42.",
    "## Error\n\nconnect ETIMEDOUT 10.0.0.9:443",
    "429 Too Many Requests",
    "503 Service Temporarily Unavailable",
    "Error 429: You exceeded your current quota, please check your plan and billing details.",
    "GitHub API error: 401 Bad credentials",
    "Notion API error: rate_limited",
    "Slack API error: ratelimited",
    "An API error occurred: ratelimited",
    "Jira request failed: 401 Unauthorized",
    "Error from server: etcdserver: request timed out",
    "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
    "Unable to connect to the server: dial tcp 10.0.0.1:6443: i/o timeout",
    "Unable to locate credentials. You can configure credentials by running \"aws configure\".",
    "An error occurred (ThrottlingException) when calling the DescribeInstances operation (reached max retries: 4): Rate exceeded",
    "An error occurred (ExpiredToken) when calling the ListBuckets operation: The provided token has expired.",
    "An error occurred (AccessDenied) when calling the GetObject operation: User: arn:aws:iam::1:user/ci is not authorized to perform: s3:GetObject",
    "psql: error: connection to server at \"localhost\" (127.0.0.1), port 5432 failed: Connection refused",
    "FATAL: password authentication failed for user \"app\"",
    "FATAL:  sorry, too many clients already",
    "ERROR 2002 (HY000): Can't connect to local MySQL server through socket '/tmp/mysql.sock' (2)",
    "ERROR 1045 (28000): Access denied for user 'app'@'localhost' (using password: YES)",
    "(2003, \"Can't connect to MySQL server on 'db' ([Errno 111] Connection refused)\")",
    "SQLSTATE[HY000] [2002] Connection refused",
    "ORA-01017: invalid username/password; logon denied",
    "MongoServerSelectionError: connect ECONNREFUSED 127.0.0.1:27017",
    "NOAUTH Authentication required.",
    "sqlite3.OperationalError: database is locked",
    "Database error: database is locked",
    "Could not acquire lock on workspace: locked by another process",
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    "docker: Cannot connect to the Docker daemon at tcp://localhost:2375. Is the docker daemon running?",
    "curl: (6) Could not resolve host: api.example.com",
    "ssh: Could not resolve hostname build.example.com: Name or service not known",
    "fatal: unable to access 'https://git.example.com/a.git/': Could not resolve host: git.example.com",
    "Get \"https://api.example.com/v1/items\": dial tcp: lookup api.example.com: no such host",
    "Post \"https://api.example.com/graphql\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
    "rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial tcp 10.0.0.1:50051: connect: connection refused\"",
    "14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED 127.0.0.1:50051",
    "HTTPSConnectionPool(host='api.example.com', port=443): Max retries exceeded with url: / (Caused by NewConnectionError('Failed to establish a new connection: [Errno -2] Name or service not known'))",
    "<urlopen error [Errno -3] Temporary failure in name resolution>",
    "[Errno 111] Connection refused",
    "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
    "Server error '503 Service Unavailable' for url 'https://api.example.com/'",
    "Client error '429 Too Many Requests' for url 'https://api.example.com/search'",
    "401 Client Error: Unauthorized for url: https://api.example.com/me",
    "TypeError: fetch failed",
    "fetch failed",
    "socket hang up",
    "read ECONNRESET",
    "net::ERR_NAME_NOT_RESOLVED at https://app.example.com/",
    "page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:3000/",
    "Missing required environment variable: GITHUB_TOKEN",
    "SLACK_BOT_TOKEN is not set",
    "Please set the OPENAI_API_KEY environment variable",
    "No API key provided. Set API_KEY in your environment.",
    "Invalid API key",
    "Incorrect API key provided: sk-***. You can find your key in the dashboard.",
    "Authentication required",
    "Authentication failed: token expired",
    "You are not logged in. Please log in first.",
    "The security token included in the request is expired",
    "self-signed certificate in certificate chain",
    "SSL: CERTIFICATE_VERIFY_FAILED certificate verify failed: unable to get local issuer certificate",
    "No space left on device",
    "OSError: [Errno 28] No space left on device",
    "Internal Server Error",
    "Bad Gateway",
    "Service Unavailable",
    "Gateway Timeout",
    "Request timed out",
    "Timeout: the upstream did not answer within 30000 ms",
    "TimeoutError: The operation was aborted due to timeout",
    "Sorry, the service is temporarily unavailable. Please try again later.",
    "The server responded with a status of 502",
    "The upstream API returned 503",
    "Got HTTP 500 from https://api.example.com/v2/things",
    "Something went wrong: the backend is not responding",
    "We encountered an error: connection reset by peer",
    "bash: line 1: kubectl: command not found",
    "Error: spawn docker ENOENT",
    "Executable doesn't exist at /root/.cache/ms-playwright/chromium-1091/chrome-linux/chrome",
    "permission denied for table users",
    "User does not have permission to access this repository: 403 Forbidden",
    "Fehler: connect ECONNREFUSED 127.0.0.1:8080",
    "Traceback (most recent call last):\n  File \"/srv/app.py\", line 9, in call\n    r = requests.get(url)\n  File \"/usr/lib/python3/site-packages/requests/api.py\", line 73, in get\nrequests.exceptions.ConnectionError: HTTPConnectionPool(host='10.0.0.7', port=80): Max retries exceeded with url: / (Caused by NewConnectionError: [Errno 111] Connection refused)",
    "Error: connect ECONNREFUSED ::1:6379\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1494:16)\n    at process.processTicks (node:internal/x:1:1)",
    // Envelopes
    r#"{"error": "connect ECONNREFUSED 127.0.0.1:5432"}"#,
    r#"{"error": {"message": "Rate limit reached for requests", "type": "requests", "code": "rate_limit_exceeded"}}"#,
    r#"{"error": {"code": 503, "message": "The service is currently unavailable.", "status": "UNAVAILABLE"}}"#,
    r#"{"error": {"code": 403, "message": "The caller does not have permission", "status": "PERMISSION_DENIED", "details": [{"reason": "SERVICE_DISABLED"}]}}"#,
    r#"{"error": {"code": 429, "message": "Quota exceeded for quota metric 'Read requests'", "errors": [{"reason": "rateLimitExceeded", "domain": "usageLimits"}]}}"#,
    r#"{"message": "Bad credentials", "documentation_url": "https://docs.example.com/rest", "status": "401"}"#,
    r#"{"message": "API rate limit exceeded for 10.0.0.1.", "documentation_url": "https://docs.example.com/rest"}"#,
    r#"{"message": "Unauthorized"}"#,
    r#"{"message": "Internal server error"}"#,
    r#"{"ok": false, "error": "invalid_auth"}"#,
    r#"{"ok": false, "error": "ratelimited", "retry_after": 30}"#,
    r#"{"success": false, "error": "getaddrinfo ENOTFOUND db.internal"}"#,
    r#"{"success": false, "message": "Could not connect to Redis at 127.0.0.1:6379: Connection refused", "data": null}"#,
    r#"{"status": "error", "message": "upstream request timeout"}"#,
    r#"{"status": "error", "errorType": "timeout", "error": "query timed out in expression evaluation"}"#,
    r#"{"status": 503, "error": "Service Unavailable", "path": "/v1/users", "timestamp": "2026-01-02T03:04:05Z"}"#,
    r#"{"statusCode": 429, "message": "Too many requests, slow down"}"#,
    r#"{"object": "error", "status": 429, "code": "rate_limited", "message": "You have been rate limited. Please try again in a few minutes."}"#,
    r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#,
    r#"{"type": "https://problems.example.com/upstream", "title": "Bad Gateway", "status": 502, "detail": "The inventory did not answer", "instance": "/orders/7"}"#,
    r#"{"errors": [{"message": "Something failed: connect ETIMEDOUT 10.0.0.4:443", "path": ["user"], "locations": [{"line": 1, "column": 3}]}], "data": {"user": null}}"#,
    r#"{"errors": [{"message": "Must be signed in", "extensions": {"code": "UNAUTHENTICATED"}}]}"#,
    r#"{"__type": "com.amazon.coral.service#ThrottlingException", "message": "Rate exceeded"}"#,
    r#"{"__type": "ExpiredTokenException", "message": "The security token included in the request is expired"}"#,
    r#"{"errorMessages": ["You are not authenticated. Authentication required to perform this operation."], "errors": {}}"#,
    r#"{"errorMessage": "2026-01-01 Task timed out after 3.00 seconds", "errorType": "Sandbox.Timedout"}"#,
    r#"{"detail": "Authentication credentials were not provided."}"#,
    r#"{"detail": "Request was throttled. Expected available in 41 seconds."}"#,
    r#"{"code": "ECONNREFUSED", "errno": -111, "syscall": "connect", "address": "127.0.0.1", "port": 5432}"#,
    r#"{"name": "AxiosError", "message": "Request failed with status code 502", "code": "ERR_BAD_RESPONSE", "config": {"url": "https://a.example"}, "status": 502}"#,
    r#"{"isError": true, "content": [{"type": "text", "text": "Error: connect ECONNREFUSED 127.0.0.1:1"}]}"#,
    r#"{"result": "Error: connect ECONNREFUSED 127.0.0.1:1"}"#,
    r#"{"result": "{\"error\": \"connect ECONNREFUSED 127.0.0.1:1\"}"}"#,
    r#"{"data": {"error": {"message": "getaddrinfo ENOTFOUND example.invalid"}}}"#,
    r#"[{"error": "HTTP 503"}, {"error": "HTTP 503"}]"#,
    r#"[{"type": "text", "text": "Error: 503 Service Unavailable"}]"#,
    "{'error': \"HTTPConnectionPool(host='h', port=80): Max retries exceeded (Connection refused)\"}",
    "{'success': False, 'error': 'Connection refused', 'results': []}",
    "```json\n{\"error\": \"connect ECONNREFUSED 127.0.0.1:9200\"}\n```",
    "\"{\\\"error\\\": \\\"429 Too Many Requests\\\"}\"",
    "Error calling the API: 401 {\"message\": \"Bad credentials\"}",
    "API request failed: {\"error\": {\"code\": 503, \"message\": \"overloaded\"}}",
    r#"{"cod": 401, "message": "Invalid API key. Please see the FAQ."}"#,
    r#"{"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "Unauthorized", "reason": "Unauthorized", "code": 401}"#,
    r#"{"error": "Connection refused", "query": "select 1", "rows": []}"#,
    r#"{"error": true, "message": "Too Many Requests", "status": 429}"#,
    r#"{"stdout": "", "stderr": "curl: (7) Failed to connect to localhost port 8080: Connection refused", "exit_code": 7}"#,
    r#"{"error": {"root_cause": [{"type": "security_exception", "reason": "missing authentication credentials for REST request"}], "type": "security_exception", "reason": "missing authentication credentials for REST request"}, "status": 401}"#,
    // Commands
    "Exit status: 1\nSTDOUT:\n\nSTDERR:\nfatal: unable to access 'https://h/': Could not resolve host: h",
    "Command failed with exit code 7: curl http://localhost:1\ncurl: (7) Failed to connect to localhost port 1: Connection refused",
    "exit code: 127\nstderr:\nsh: 1: docker: not found",
    "Exit code: 127\n/bin/sh: terraform: command not found",
    "Command: npm view left-pad\nExit code: 1\nStdout:\n\nStderr:\nnpm error code ENOTFOUND\nnpm error network request to https://registry.example/left-pad failed, reason: getaddrinfo ENOTFOUND registry.example",
    "STDERR:\nUnable to connect to the server: dial tcp 10.0.0.1:443: connect: connection refused\n\nExit code: 1",
    "Command 'git push' returned non-zero exit status 128.\nremote: HTTP Basic: Access denied\nfatal: Authentication failed for 'https://git.example.com/a.git/'",
    "Process exited with code 1\n[stderr]\nError: connect ECONNREFUSED 127.0.0.1:3306",
    // Pages and documents
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>",
    "<!DOCTYPE html><html><head><title>example.com | 521: Web server is down</title></head><body>…</body></html>",
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>SlowDown</Code><Message>Please reduce your request rate: Too Many Requests.</Message><RequestId>4442</RequestId></Error>",
    "<error>connect ECONNREFUSED 127.0.0.1:5432</error>",
];

#[test]
fn an_error_of_the_servers_own_code_is_evidence_against_it() {
    all_are(&Said::Internal, INTERNAL);
}

const INTERNAL: &[&str] = &[
    "Traceback (most recent call last):\n  File \"/srv/shop.py\", line 12, in total\n    return order['price']\nKeyError: 'price'",
    "Error executing tool total: 'NoneType' object is not subscriptable",
    "TypeError: Cannot read properties of undefined (reading 'id')",
    "Error: Cannot read properties of null (reading 'map')",
    "AttributeError: 'dict' object has no attribute 'items_'",
    "ReferenceError: foo is not defined\n    at total (/srv/shop.js:3:9)\n    at main (/srv/shop.js:9:1)",
    "java.lang.NullPointerException: Cannot invoke \"String.length()\" because \"s\" is null",
    "panic: runtime error: invalid memory address or nil pointer dereference",
    "thread 'main' panicked at src/main.rs:4:9:\nindex out of bounds: the len is 1 but the index is 7",
    r#"{"error": {"code": -32603, "message": "Internal error"}}"#,
    r#"{"error": "Internal error", "ok": false}"#,
    r#"{"error": "TypeError: undefined is not a function", "stack": "TypeError: undefined is not a function\n    at total (/srv/shop.js:3:9)"}"#,
    r#"{"success": false, "traceback": "Traceback (most recent call last):\n  File \"/srv/a.py\", line 1, in f\nIndexError: list index out of range"}"#,
    r#"{"errorMessage": "'price'", "errorType": "KeyError", "stackTrace": ["  File \"/var/task/a.py\", line 3, in handler\n    return a['price']\n"], "trace": "Traceback (most recent call last):"}"#,
    "Exit code: 1\nSTDERR:\nTraceback (most recent call last):\n  File \"/srv/a.py\", line 1, in <module>\nNameError: name 'x' is not defined",
    "Internal error: the index is broken",
    "UnhandledPromiseRejection: Unhandled promise rejection",
    "Unhandled exception: System.NullReferenceException: Object reference not set to an instance of an object.",
];

#[test]
fn any_other_error_is_ambiguous() {
    all_are(&Said::Other, OTHERS);
}

const OTHERS: &[&str] = &[
    "Invalid path: ../x",
    "Invalid cursor",
    "Error: user 5 does not exist",
    "User 5 not found.",
    "Key nokey does not exist",
    "Repository not found",
    "File not found: /data/report.csv",
    "ENOENT: no such file or directory, open '/data/report.csv'",
    "Error: EACCES: permission denied, open '/etc/shadow'",
    "cat: /etc/shadow: Permission denied",
    "ls: cannot access '/nope': No such file or directory",
    "PermissionError: [Errno 13] Permission denied: '/root/x'",
    "Access denied - path outside allowed directories: /etc/passwd not in /data",
    "Failed to parse the date 'yesterday'",
    "Could not find a match for 'Ada'",
    "Unable to process the request",
    "Cannot divide by zero",
    "Invalid argument: limit must be positive",
    "Missing required parameter: owner",
    "Unknown column 'nmae' in 'field list'",
    "Database error: no such table: custmers",
    "relation \"orders\" does not exist",
    "Unsupported file type: .xyz",
    "Validation error: name is required",
    "Error: Only SELECT queries are allowed",
    "Error",
    "error: unknown",
    "An error occurred.",
    "An unexpected error occurred.",
    "Something went wrong",
    "❌ Entry 'Ada' not found",
    "Operation failed",
    "fatal: not a git repository (or any of the parent directories): .git",
    "MCP error -32602: Invalid arguments for tool look",
    "404 Not Found",
    "HTTP 404: no route for /v1/things",
    "Error from server (NotFound): pods \"web-0\" not found",
    "UNIQUE constraint failed: users.id\nError: insert rejected",
    "WRONGTYPE Operation against a key holding the wrong kind of value",
    r#"{"error": "Not found"}"#,
    r#"{"error": "channel_not_found", "ok": false}"#,
    r#"{"detail": "Not Found"}"#,
    r#"{"detail": [{"loc": ["query", "limit"], "msg": "field required", "type": "value_error.missing"}]}"#,
    r#"{"message": "Not Found", "documentation_url": "https://docs.example.com/rest"}"#,
    r#"{"message": "Error: no entry named Ada"}"#,
    r#"{"success": false}"#,
    r#"{"ok": false, "error": {"reason": "no_such_shelf"}}"#,
    r#"{"success": false, "name": "Ada", "error": "already registered"}"#,
    r#"{"status": "error", "message": "no entry named Ada"}"#,
    r#"{"errors": {"name": ["can't be blank"], "age": ["is not a number"]}}"#,
    r#"{"errors": ["name can't be blank"]}"#,
    r#"{"errors": [{"message": "Cannot query field \"nmae\" on type \"User\".", "locations": [{"line": 1, "column": 3}]}]}"#,
    r#"{"title": "One or more validation errors occurred.", "status": 400, "errors": {"name": ["required"]}}"#,
    r#"{"error": "Unknown tool", "available_tools": ["a", "b"]}"#,
    r#"{"error": "no entry", "name_asked_for": "Ada", "suggestions": ["Adam"]}"#,
    r#"{"jsonrpc": "2.0", "id": 3, "error": {"code": -32602, "message": "Invalid params"}}"#,
    "Exit status: 1\nSTDOUT:\n\nSTDERR:\ngrep: /data/x: No such file or directory",
    "Command failed with exit code 2",
    r#"{"stdout": "", "stderr": "rm: cannot remove 'x': No such file or directory", "returncode": 1}"#,
    "<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>",
    "<html><head><title>404 Not Found</title></head><body></body></html>",
];

#[test]
fn what_only_looks_like_an_error_is_an_ordinary_answer() {
    all_are(&Said::Nothing, LOOKALIKES);
}

const LOOKALIKES: &[&str] = &[
    "connect timeout: 5000",
    "Ports: 5432, 6379",
    "Invalid cursors rejected so far: 3",
    "",
    "ok",
    "hello",
    "Found 0 results for 'timeout error'",
    "No results found for 'connection refused'",
    "No errors found.",
    "0 errors, 3 warnings",
    "3 tests failed, 10 passed",
    "The error rate is 3 %",
    "Error rate: 3 %",
    "Mean squared error: 0.23",
    "Standard error: 0.5",
    "Margin of error: 3 points",
    "Last error: none",
    "Errors: 0",
    "Errors: 4, warnings: 2",
    "Error count: 17",
    "Failed: 3, passed: 7",
    "Failed jobs: 3",
    "Tests failed: 3",
    "Timeout: 30",
    "Timeout set to 30 s",
    "Connection to the database established",
    "Request to join accepted",
    "Error handling in Rust: use Result for what can fail, and panic for bugs.",
    "Error codes:\n404: not found\n503: service unavailable",
    "Error 404 means that the page is missing.",
    "HTTP 503 is sent when a service is overloaded.",
    "404 rows",
    "The API returned 404 rows",
    "500 tokens used",
    "Fatal Attraction (1987)",
    "The server said: connection refused",
    "The log says: connection refused",
    "Alice could not come to the party",
    "Ada wrote: failed to load",
    "How do I fix 'connect ECONNREFUSED'?",
    "Note: cannot be undone",
    "Summary: the import failed twice last week because of ECONNREFUSED",
    "Fixed: connection refused on start",
    "✅ 5 checks passed\n❌ 1 check failed: connection refused",
    "❌ Buy milk\n✅ Walk the dog",
    "2026-01-01 10:00:00 ERROR connect ECONNREFUSED\n2026-01-01 10:00:01 INFO recovered",
    "2026-01-01T10:00:00Z ERROR db: connection refused",
    "[ERROR] connection refused\n[INFO] retrying\n[INFO] connected",
    "[ERROR] connection refused\n[ERROR] connection refused",
    "throw new Error('connect ECONNREFUSED');",
    "raise ConnectionError('refused')\nexcept ConnectionError:",
    "function f() {\n  if (status === 429) throw new Error('rate limit');\n}",
    "# Troubleshooting\n\nIf you see `connect ECONNREFUSED`, start the database.",
    "- Error: connect ECONNREFUSED (seen 3 times)\n- 429 Too Many Requests (seen twice)\n2026-01-01 10:00:00 total\n2026-01-01 10:00:01 end",
    "Exit code: 0\nSTDERR:\nwarning: connection refused once",
    "EXAMPLE: a name",
    "EMAIL: ada@example.com",
    "Timer: 10",
    "Errands: 3",
    "total,error\n3,connection refused",
    r#"{"errors": [], "total": 41}"#,
    r#"{"status": "ok", "error": null}"#,
    r#"{"message": "hello"}"#,
    r#"{"status": "failed", "count": 3, "jobs": [{"id": 1, "error": "connection refused"}]}"#,
    r#"{"status": "failed", "job": "build"}"#,
    r#"{"id": 7, "name": "build", "status": "failed", "error": "connection refused"}"#,
    r#"{"id": 7, "status": "failed", "error": "connection refused"}"#,
    r#"{"name": "worker-1", "state": "error", "message": "connection refused"}"#,
    r#"{"errors": 3, "files": 12}"#,
    r#"{"errors": 0}"#,
    r#"{"error": "", "result": 5}"#,
    r#"{"error": null, "result": "ok"}"#,
    r#"{"error": false, "message": "connection refused is handled"}"#,
    r#"{"success": true, "errors": ["connection refused once"]}"#,
    r#"{"ok": true, "log": "Error: connection refused"}"#,
    r#"{"code": 200, "message": "OK"}"#,
    r#"{"code": 0, "msg": "success"}"#,
    r#"{"valid": false, "errors": ["connection refused is no name"]}"#,
    r#"{"errors": [{"file": "a.js", "line": 3, "severity": 2, "message": "connection refused is unused"}]}"#,
    r#"{"log": "Error: Connection refused"}"#,
    r#"{"title": "503 Service Unavailable", "author": "Ada", "pages": 12}"#,
    r#"{"title": "Error handling", "status": "available"}"#,
    r#"{"data": {"user": {"name": "Bob"}}, "errors": [{"message": "avatar: connection refused"}]}"#,
    r#"{"results": [{"title": "429 Too Many Requests"}]}"#,
    r#"[{"title": "How to fix ECONNREFUSED"}, {"title": "429 explained"}]"#,
    r#"["Error: a", "fine"]"#,
    r#"{"text": "Connection refused, she said, and closed the door."}"#,
    r#"{"level": "error", "msg": "connection refused", "ts": 1}"#,
    r#"{"temperature": 36, "conditions": "Light rain"}"#,
    r#"{"stdout": "Error: connection refused (in a log)", "stderr": "", "exit_code": 0}"#,
    "{'errors': [], 'total': 41}",
    "<html><head><title>Error handling in Go</title></head><body>connection refused</body></html>",
    "<Errors count=\"0\"/>",
    "<rss><channel><title>503 news</title></channel></rss>",
];

#[test]
fn a_long_text_with_an_error_in_the_middle_is_data() {
    let prose = "The ship left the harbour at dawn and nobody waved. ".repeat(40);
    for text in [
        format!("{prose}Error: connect ECONNREFUSED 127.0.0.1:5432\n{prose}"),
        format!("Error: {prose}"),
        format!(
            "{}\nError: connect ECONNREFUSED\n{}",
            "row\n".repeat(30),
            "row\n".repeat(30)
        ),
        format!("Error: {}", "x".repeat(5000)),
    ] {
        assert_eq!(said(&diagnosis(&failure(&text))), Said::Nothing, "{text}");
    }
}

fn with(change: impl FnOnce(&mut Failure), text: &str) -> Diagnosis {
    let mut failure = failure(text);
    change(&mut failure);
    diagnosis(&failure)
}

fn expects_error(values: &[Value]) -> impl FnOnce(&mut Failure) {
    move |failure| {
        failure.wanted = Some(Wanted {
            error: true,
            values: values.to_vec(),
        });
    }
}

const DNS: &str = "getaddrinfo ENOTFOUND api.example.com";

#[test]
fn an_error_that_was_not_asked_for_decides_where_an_error_is_expected() {
    let not_found = [json!("not found")];
    let told = with(expects_error(&not_found), DNS);
    assert_eq!(said(&told), Said::Surroundings);
    for values in [
        vec![json!("ENOTFOUND")],
        vec![json!(-32000), json!("getaddrinfo")],
        vec![json!("(?i)enotfound|timeout")],
        vec![json!("could not resolve host")],
    ] {
        let told = with(expects_error(&values), DNS);
        assert_eq!(said(&told), Said::Nothing, "{values:?}");
    }
    let limited = "HTTP 429: Too Many Requests";
    for values in [[json!(429)], [json!("429")], [json!("rate limit exceeded")]] {
        let told = with(expects_error(&values), limited);
        assert_eq!(said(&told), Said::Nothing, "{values:?}");
    }
    let told = with(expects_error(&[json!("429")]), DNS);
    assert_eq!(said(&told), Said::Surroundings);
}

#[test]
fn any_other_error_is_an_ordinary_mismatch_where_one_is_expected() {
    for text in [
        "Error: user 5 does not exist",
        "TypeError: x is not a function",
    ] {
        assert_eq!(said(&with(expects_error(&[]), text)), Said::Nothing);
    }
}

#[test]
fn errors_that_say_so_are_read_in_the_same_way() {
    let as_tool_error = |failure: &mut Failure| {
        expects_error(&[json!("not found")])(failure);
        failure.tool_result.as_mut().unwrap().is_error = true;
    };
    assert_eq!(said(&with(as_tool_error, DNS)), Said::Surroundings);
    assert_eq!(
        said(&with(as_tool_error, "card must be digits")),
        Said::Nothing
    );
    let as_rpc_error = |code: i64, message: &str| {
        with(
            |failure| {
                expects_error(&[json!(-32002)])(failure);
                failure.tool_result = None;
                failure.rpc_error = Some(RpcError {
                    code: Some(code),
                    message: message.into(),
                    data: None,
                });
            },
            "",
        )
    };
    assert_eq!(said(&as_rpc_error(-32603, DNS)), Said::Surroundings);
    for (code, message) in [
        (-32601, "Method not found"),
        (-32603, "boom"),
        (-32602, "Invalid params"),
    ] {
        let told = as_rpc_error(code, message);
        assert_eq!(told.rule, "assertion/mismatch", "{code}");
    }
}

#[test]
fn what_must_not_stand_there_does_not_ask_for_it() {
    let told = with(
        |failure| {
            failure.wanted = None;
            let assertion = failure.assertion.as_mut().unwrap();
            assertion.kind = "not_contains".into();
            assertion.expected = json!("ECONNREFUSED");
        },
        "Error: connect ECONNREFUSED 127.0.0.1:5432",
    );
    assert_eq!(said(&told), Said::Surroundings);
}

#[test]
fn a_structured_output_counts_too() {
    let structured = |text: &str, value: Value| {
        with(
            |failure| {
                failure.tool_result.as_mut().unwrap().structured_content = Some(value);
            },
            text,
        )
    };
    let refused = "Error: connect ECONNREFUSED 127.0.0.1:1";
    for (text, value) in [
        ("", json!({"error": refused})),
        (refused, json!({"result": refused})),
        (refused, json!({})),
        (
            "{\"error\": \"connection refused\"}",
            json!({"error": "connection refused"}),
        ),
    ] {
        assert_eq!(said(&structured(text, value)), Said::Surroundings, "{text}");
    }
    let data = structured(refused, json!({"user": {"name": "Bob"}}));
    assert_eq!(said(&data), Said::Nothing);
}

#[test]
fn a_broken_schema_is_the_servers_unless_its_surroundings_fail() {
    let breach = |text: &str| {
        with(
            |failure| {
                let assertion = failure.assertion.as_mut().unwrap();
                assertion.kind = "output_schema".into();
                assertion.target = Some(AssertionTarget::OutputSchema);
            },
            text,
        )
    };
    for text in [
        "{}",
        "Error: user 5 does not exist",
        "TypeError: x is not a function",
    ] {
        let told = breach(text);
        assert_eq!(
            (told.side, told.root_cause.as_str()),
            (Side::Code, "schema_mismatch"),
            "{text}"
        );
    }
    let told = breach("Error: connect ECONNREFUSED 127.0.0.1:1");
    assert_eq!(
        (told.side, told.root_cause.as_str()),
        (Side::Test, "connection_refused")
    );
}

#[test]
fn stderr_is_asked_only_where_an_error_names_no_cause() {
    let logged = |text: &str, stderr: &str, older: bool| {
        with(
            |failure| {
                failure.stderr = Some(stderr.into());
                failure.stderr_is_older = older;
            },
            text,
        )
    };
    let refused = "ERROR db: connect ECONNREFUSED 127.0.0.1:5432\n";
    for text in [
        "Error executing tool look",
        "{\"success\": false}",
        "Something went wrong",
        "Error: look failed",
    ] {
        let told = logged(text, refused, false);
        assert_eq!(said(&told), Said::Surroundings, "{text}");
        assert_eq!(told.evidence.unwrap().field, "stderr");
        assert_eq!(said(&logged(text, refused, true)), Said::Other, "{text}");
    }
    // It names its cause itself.
    assert_eq!(
        said(&logged("Error: user 5 does not exist", refused, false)),
        Said::Other
    );
    // An ordinary answer.
    for text in ["3", "hello", "{\"errors\": [], \"total\": 41}"] {
        assert_eq!(said(&logged(text, refused, false)), Said::Nothing, "{text}");
    }
    let raised = "Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in f\nKeyError: 'price'\n";
    assert_eq!(
        said(&logged("Something went wrong", raised, false)),
        Said::Internal
    );
}

#[test]
fn what_differs_in_an_error_from_run_to_run_makes_no_other_failure() {
    let print = |id: &str| {
        let text = format!("{{\"error\": \"no entry named Ada\", \"request_id\": \"{id}\"}}");
        diagnosis(&failure(&text)).test_fingerprint
    };
    assert_eq!(
        print("0f8fad5b-d9cb-469f-a165-70867728950e"),
        print("7c9e6679-7425-40de-944b-e07fc1f90ae7")
    );
    let other = diagnosis(&failure("{\"error\": \"the shelf is full\"}"));
    assert_ne!(other.test_fingerprint, print("a"));
}

/// A server that was to refuse to start, and exited otherwise than it should.
#[test]
fn what_keeps_a_server_from_starting_is_no_wrong_refusal() {
    let refusal = |stderr: &str, wanted: Value| Failure {
        request: None,
        tool_result: None,
        outcome: Some(Outcome::Ok),
        exit: Some(jelly_base::model::Exit {
            code: Some(1),
            ..jelly_base::model::Exit::default()
        }),
        stderr: Some(stderr.to_owned()),
        assertion: Some(Assertion {
            kind: "equals".into(),
            target: Some(AssertionTarget::Exit),
            expected: json!(2),
            actual: json!(1),
            ..Assertion::default()
        }),
        wanted: Some(Wanted {
            error: true,
            values: vec![json!(2), wanted],
        }),
        ..failure("")
    };
    let refused = "Error: connect ECONNREFUSED 127.0.0.1:5432";
    let around = diagnosis(&refusal(refused, json!("no key")));
    assert_eq!((around.side, around.ambiguous), (Side::Test, false));
    assert_eq!(around.root_cause, "connection_refused");
    // The plan asks for just that; or for an argument that is wrong.
    for (stderr, wanted) in [
        (refused, "ECONNREFUSED"),
        (
            "usage: server --root DIR\nserver: error: the following arguments are required: --root",
            "x",
        ),
        (
            "Error: ENOENT: no such file or directory, open '/nowhere'",
            "x",
        ),
        ("", "x"),
    ] {
        let own = diagnosis(&refusal(stderr, json!(wanted)));
        assert_eq!(own.root_cause, "assertion_mismatch", "{stderr}");
        assert!(own.ambiguous, "{stderr}");
    }
}
