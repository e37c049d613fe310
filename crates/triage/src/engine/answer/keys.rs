//! The vocabulary of envelopes: what their keys stand for.

/// What a key stands for, by its name in lower case without `_` and `-`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The error itself.
    Error,
    /// False where it failed.
    Success,
    /// True where it failed.
    Failure,
    /// A word or a number for how it went.
    Status,
    /// A number or word for the error.
    Code,
    /// What kind of object this is.
    Kind,
    /// Sentences.
    Words,
    /// Frames.
    Stack,
    Stdout,
    Stderr,
    Exit,
    /// Where the result stands.
    Wrap,
    /// What belongs to errors and says nothing of them.
    Beside,
    /// What data has and an error has not.
    Entity,
    Other,
}

/// What a key stands for.
pub(super) fn role(key: &str) -> Role {
    let key: String = key
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .map(|c| c.to_ascii_lowercase())
        .collect();
    match key.as_str() {
        "error" | "errors" | "err" | "exception" | "fault" | "errormessage" | "errormessages"
        | "errormsg" | "errmsg" | "errordescription" | "errordetail" | "errordetails"
        | "errortext" | "errorinfo" | "faultstring" | "innererror" | "innerexception"
        | "rootcause" | "cause" | "lasterror" | "exceptionmessage" => Role::Error,
        "ok" | "success" | "successful" | "succeeded" | "issuccess" => Role::Success,
        "iserror" | "haserror" | "haserrors" | "failed" | "isfailed" | "failure" => Role::Failure,
        "status" | "statuscode" | "httpstatus" | "httpstatuscode" | "httpcode" | "cod"
        | "responsecode" | "state" | "outcome" => Role::Status,
        "code" | "errorcode" | "errno" | "errcode" | "errornumber" | "sqlstate" | "faultcode" => {
            Role::Code
        }
        "type" | "kind" | "object" | "errortype" | "exceptiontype" | "name" | "errorname"
        | "class" | "exceptionclass" => Role::Kind,
        "message" | "messages" | "msg" | "detail" | "details" | "description" | "reason"
        | "title" | "statustext" | "statusmessage" | "usermessage" | "developermessage"
        | "localizedmessage" | "summary" | "explanation" | "info" | "note" | "hint"
        | "suggestion" | "help" => Role::Words,
        "stack" | "stacktrace" | "trace" | "traceback" | "backtrace" | "frames" => Role::Stack,
        "stdout" | "out" => Role::Stdout,
        "stderr" => Role::Stderr,
        "exitcode" | "exitstatus" | "returncode" | "rc" | "retcode" => Role::Exit,
        "result" | "results" | "data" | "content" | "contents" | "text" | "output" | "response"
        | "body" | "value" | "payload" | "answer" | "toolresult" => Role::Wrap,
        "timestamp" | "time" | "date" | "datetime" | "path" | "url" | "uri" | "instance"
        | "requestid" | "traceid" | "correlationid" | "xrequestid" | "activityid" | "eventid"
        | "errorid" | "incidentid" | "logid" | "documentationurl" | "helpurl" | "docs"
        | "docurl" | "link" | "links" | "moreinfo" | "infourl" | "jsonrpc" | "method" | "tool"
        | "toolname" | "host" | "hostname" | "address" | "port" | "syscall" | "retryafter"
        | "retryable" | "retryafterms" | "isretryable" | "temporary" | "context" | "params"
        | "param" | "parameters" | "args" | "arguments" | "input" | "inputs" | "request"
        | "target" | "metadata" | "meta" | "extensions" | "headers" | "config" | "apiversion"
        | "responsemetadata" | "limit" | "remaining" | "reset" | "quota" | "domain"
        | "locationtype" | "location" | "locations" | "file" | "filename" | "line" | "column"
        | "severity" | "fields" | "field" | "ctx" | "loc" | "warnings" | "warningmessages"
        | "nextsteps" | "suggestions" | "didyoumean" | "server" | "service" | "operation"
        | "action" | "command" | "cmd" | "cwd" | "query" | "sql" | "statement" | "signal"
        | "killed" | "timedout" | "version" | "env" | "environment" | "region"
        | "validationlevel" | "position" | "expected" | "received" => Role::Beside,
        "valid" | "isvalid" | "passed" | "createdat" | "updatedat" | "startedat" | "finishedat"
        | "completedat" | "duration" | "durationms" | "elapsed" | "branch" | "commit"
        | "author" | "owner" | "assignee" | "total" | "count" | "errorcount" | "failedcount"
        | "successcount" | "level" | "logger" | "rule" | "ruleid" | "score" | "progress" => {
            Role::Entity
        }
        other => {
            let names_choices = [
                "available",
                "valid",
                "allowed",
                "supported",
                "known",
                "accepted",
            ]
            .iter()
            .any(|word| other.starts_with(word));
            if names_choices {
                Role::Beside
            } else {
                Role::Other
            }
        }
    }
}

/// Words for a status that went wrong, of services and of gRPC.
pub(super) fn is_bad(word: &str) -> bool {
    matches!(
        word,
        "error"
            | "errored"
            | "failed"
            | "failure"
            | "fail"
            | "fatal"
            | "exception"
            | "err"
            | "ko"
            | "nok"
            | "not_ok"
            | "timeout"
            | "timed_out"
            | "unauthorized"
            | "forbidden"
            | "denied"
            | "rejected"
            | "unavailable"
            | "permission_denied"
            | "unauthenticated"
            | "resource_exhausted"
            | "deadline_exceeded"
            | "not_found"
            | "invalid_argument"
            | "failed_precondition"
            | "internal"
            | "internal_error"
            | "aborted"
            | "unimplemented"
            | "invalid_request"
            | "request_denied"
            | "over_query_limit"
            | "zero_results_error"
    )
}

/// A status of HTTP that tells an error, in words.
pub(super) fn http_status(number: i64) -> Option<String> {
    (400..600)
        .contains(&number)
        .then(|| format!("status {number}"))
}

/// A code or a class that is an error's.
pub(super) fn names_error(word: &str) -> bool {
    let word = word.trim();
    let lower = word.to_ascii_lowercase();
    if word.is_empty() || word.contains(' ') || word.contains("://") && !lower.contains("error") {
        return false;
    }
    let is_errno = word.len() > 4
        && word.starts_with('E')
        && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    is_errno
        || [
            "error",
            "exception",
            "denied",
            "thrott",
            "invalid",
            "unauthor",
            "unauthen",
            "forbidden",
            "notfound",
            "not_found",
            "timeout",
            "timed_out",
            "unavailable",
            "refused",
            "failed",
            "failure",
            "fault",
            "limit",
            "exceeded",
            "exhausted",
            "expired",
            "missing",
            "overloaded",
            "unreachable",
            "conflict",
            "problem",
        ]
        .iter()
        .any(|part| lower.contains(part))
}

/// What a value says that no error has.
pub(super) fn is_none(said: &str) -> bool {
    let said = said.trim_end_matches('.').to_ascii_lowercase();
    matches!(
        said.as_str(),
        "" | "none"
            | "null"
            | "nil"
            | "no"
            | "false"
            | "ok"
            | "0"
            | "n/a"
            | "na"
            | "-"
            | "no error"
            | "no errors"
            | "success"
            | "undefined"
    )
}
