//! The root causes that rules name, with what they mean.

use jelly_base::model::CauseInfo;

const fn cause(group: &'static str, root_cause: &'static str, meaning: &'static str) -> CauseInfo {
    CauseInfo {
        root_cause,
        group,
        meaning,
    }
}

/// All root causes of the built-in rules, by group. Rules of users may name
/// others.
pub const CAUSES: &[CauseInfo] = &[
    cause(
        "launch_command",
        "command_not_found",
        "a launcher, interpreter or command can't be found",
    ),
    cause(
        "launch_command",
        "not_executable",
        "it exists and can't be executed",
    ),
    cause(
        "package_not_found",
        "package_not_found",
        "a package, version or container image does not exist",
    ),
    cause(
        "missing_dependency",
        "missing_module",
        "a module, library, program, browser or called test case is not installed",
    ),
    cause(
        "missing_dependency",
        "dependency_version_mismatch",
        "an installed dependency has another interface",
    ),
    cause(
        "missing_dependency",
        "driver_version_mismatch",
        "browser and driver do not belong together",
    ),
    cause(
        "runtime_version",
        "runtime_version_mismatch",
        "the wrong version of Node, Python, Java or of an ABI",
    ),
    cause(
        "compile",
        "compile_error",
        "source that the test needs does not compile",
    ),
    cause(
        "compile",
        "lint_violation",
        "a linter or type checker objects",
    ),
    cause(
        "arguments",
        "missing_argument",
        "a required argument is absent",
    ),
    cause(
        "arguments",
        "invalid_argument",
        "an unknown flag or a bad value",
    ),
    cause(
        "missing_env_var",
        "missing_env_var",
        "a required variable or credential of a server is not set",
    ),
    cause(
        "missing_env_var",
        "config_missing",
        "a variable, credential or setting that a test needs is not set",
    ),
    cause(
        "invalid_config",
        "invalid_config",
        "a configuration or data file does not parse or validate",
    ),
    cause(
        "invalid_config",
        "missing_snapshot",
        "nothing is stored yet for a snapshot of the plan",
    ),
    cause(
        "invalid_config",
        "schema_too_complex",
        "a JSON Schema takes more to judge by than jelly gives one",
    ),
    cause(
        "missing_directory",
        "missing_directory",
        "a working directory, allowed root or parent does not exist",
    ),
    cause("missing_file", "missing_file", "a file does not exist"),
    cause(
        "data_setup",
        "data_setup",
        "data that a test relies on is missing, or left over and in the way",
    ),
    cause("data_setup", "fixture_error", "a set-up or tear-down broke"),
    cause(
        "data_setup",
        "stale_metadata",
        "a stored description of an outside system is missing or out of date",
    ),
    cause(
        "permission",
        "permission_denied",
        "the operating system, a database or a service refuses a known user",
    ),
    cause(
        "permission",
        "path_not_allowed",
        "a policy refuses: a server's own, or the browser's rule of one origin",
    ),
    cause(
        "license",
        "license_invalid",
        "a licence has expired, is used up or can't be checked",
    ),
    cause(
        "network",
        "connection_refused",
        "a peer refuses, or is not there",
    ),
    cause("network", "connection_reset", "a peer hung up"),
    cause(
        "network",
        "network_dns",
        "a name does not resolve, or there is no network",
    ),
    cause(
        "network",
        "network_timeout",
        "a peer does not answer in time",
    ),
    cause("tls", "tls_error", "a certificate or the TLS handshake"),
    cause("auth", "auth_failed", "credentials are refused"),
    cause(
        "auth",
        "authorization_failed",
        "no token that the server takes is to be had",
    ),
    cause(
        "rate_limited",
        "rate_limited",
        "too many requests, or the quota is used up",
    ),
    cause(
        "upstream",
        "upstream_error",
        "a service behind the server or test fails",
    ),
    cause(
        "endpoint",
        "wrong_endpoint",
        "there is no MCP endpoint at the URL",
    ),
    cause(
        "endpoint",
        "transport_mismatch",
        "another transport is spoken than the plan says",
    ),
    cause(
        "timeout",
        "waits_for_input",
        "it asks a person for something before it starts",
    ),
    cause(
        "endpoint",
        "session_expired",
        "the HTTP session is not known any more",
    ),
    cause(
        "port_in_use",
        "port_in_use",
        "another process listens at the port",
    ),
    cause(
        "external_program",
        "dependency_unavailable",
        "an outside program is missing or not running",
    ),
    cause(
        "external_program",
        "browser_session",
        "the browser, or the session with it, was lost",
    ),
    cause(
        "external_program",
        "runner_lost",
        "the machine that ran the tests went away",
    ),
    cause(
        "resources",
        "resource_exhausted",
        "memory, descriptors or connections; of a test, also its disk, or a lock that another holds",
    ),
    cause(
        "resources",
        "disk_full",
        "no space left where a server writes",
    ),
    cause(
        "resources",
        "resource_locked",
        "a lock that a server needs is held by another",
    ),
    cause(
        "resources",
        "response_too_large",
        "a result is over a limit",
    ),
    cause(
        "protocol",
        "protocol_error",
        "a message breaks MCP or JSON-RPC",
    ),
    cause(
        "protocol",
        "protocol_version_mismatch",
        "the protocol's version is refused",
    ),
    cause(
        "protocol",
        "own_limit",
        "a limit of jelly's own: what came was not read or kept, so nothing can be said",
    ),
    cause(
        "protocol",
        "client_error",
        "a fault or missing capability of the client",
    ),
    cause(
        "stdout_pollution",
        "stdout_pollution",
        "text on stdout breaks the exchange",
    ),
    cause(
        "timeout",
        "startup_timeout",
        "a server was not ready in time",
    ),
    cause(
        "timeout",
        "call_timeout",
        "a server did not answer a call in time",
    ),
    cause(
        "timeout",
        "test_timeout",
        "a test or job ran out of its own time",
    ),
    cause(
        "timeout",
        "wait_timeout",
        "a state that a test waited for did not come",
    ),
    cause(
        "startup_exit",
        "crashed_during_startup",
        "a server exits non-zero before it is ready",
    ),
    cause(
        "startup_exit",
        "clean_exit_before_handshake",
        "a server exits with 0 before it answers",
    ),
    cause(
        "crash",
        "crashed_during_call",
        "a server goes away inside a call",
    ),
    cause(
        "crash",
        "process_crashed",
        "a process of a test crashed or was killed",
    ),
    cause(
        "shutdown",
        "would_not_stop",
        "a server does not end when it is told to",
    ),
    cause("unknown_name", "unknown_tool", "a tool is not offered"),
    cause(
        "unknown_name",
        "unknown_resource",
        "what a step names does not exist",
    ),
    cause(
        "unknown_name",
        "method_not_found",
        "a method is not offered",
    ),
    cause(
        "unknown_name",
        "server_not_configured",
        "the plan defines no such server",
    ),
    cause(
        "locator",
        "locator_not_found",
        "an element or window of a page is not there",
    ),
    cause(
        "locator",
        "locator_ambiguous",
        "a locator fits several elements, or is not well formed",
    ),
    cause(
        "locator",
        "locator_stale",
        "an element is gone from the page or can't be used",
    ),
    cause(
        "invalid_params",
        "invalid_params",
        "arguments are wrong, missing or refused",
    ),
    cause(
        "internal_error",
        "internal_error",
        "an unhandled exception of the server",
    ),
    cause(
        "internal_error",
        "code_exception",
        "an unexpected exception of the code under test",
    ),
    cause(
        "contract",
        "assertion_mismatch",
        "a value is another than expected",
    ),
    cause(
        "contract",
        "schema_mismatch",
        "a result breaks its declared schema",
    ),
    cause(
        "contract",
        "expected_error",
        "an expected error did not come, or another did",
    ),
    cause(
        "contract",
        "mock_expectation",
        "a mock was called otherwise than expected",
    ),
    cause(
        "contract",
        "snapshot_mismatch",
        "an output differs from its snapshot",
    ),
    cause("unknown", "unknown", "no rule knows the failure"),
];

#[cfg(test)]
mod tests {
    use super::CAUSES;
    use crate::engine::Engine;
    use std::collections::BTreeSet;

    #[test]
    fn every_root_cause_of_a_rule_is_described_and_no_other() {
        let described: BTreeSet<&str> = CAUSES.iter().map(|cause| cause.root_cause).collect();
        assert_eq!(described.len(), CAUSES.len());
        let mut named: BTreeSet<&str> = Engine::builtin()
            .rules()
            .map(|rule| rule.root_cause.as_str())
            .collect();
        named.insert("unknown");
        assert_eq!(described, named);
    }
}
