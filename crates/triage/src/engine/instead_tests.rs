//! Errors of the machine that came instead of expected ones, and statuses that stand
//! where rules do not read.

use crate::engine::Engine;
use jelly_base::model::{Diagnosis, Failure, Side};

fn diagnose(type_: &str, text: &str) -> Diagnosis {
    Engine::builtin().diagnose(&Failure {
        element: Some("failure".into()),
        name: Some("order".into()),
        type_: (!type_.is_empty()).then(|| type_.into()),
        text: Some(text.into()),
        ..Failure::default()
    })
}

#[test]
fn an_error_of_the_machine_in_place_of_an_expected_one_is_the_machines() {
    for (text, root_cause) in [
        (
            "Unexpected exception type thrown, expected: <shop.NotFound> but was: <java.net.ConnectException>",
            "connection_refused",
        ),
        (
            "AssertionError: expected [Function] to throw NotFoundError but got Error: connect ECONNREFUSED 127.0.0.1:5432",
            "connection_refused",
        ),
        (
            "AssertionError: expected [Function] to throw error matching /not found/ but got 'getaddrinfo EAI_AGAIN db.internal'",
            "network_dns",
        ),
        (
            "Failure/Error: expect { get \"/fields/1\" }.to raise_error(Field::NotFound)\n\n  expected Field::NotFound, got #<Errno::ECONNREFUSED: Connection refused - connect(2) for \"localhost\" port 9200> with backtrace:",
            "connection_refused",
        ),
        (
            "  Expected: <Claims.PolicyNotFoundException>\n  But was:  <System.Net.Sockets.SocketException: No connection could be made because the target machine actively refused it.>",
            "connection_refused",
        ),
        (
            "Error: \tTarget error should be in err chain:\n\texpected: \"pantry: jar not found\"\n\tin chain: \"consul: Get \\\"http://127.0.0.1:8500/v1\\\"\"\n\t\"dial tcp 127.0.0.1:8500: connect: connection refused\"",
            "connection_refused",
        ),
    ] {
        let of = diagnose("", text);
        assert_eq!(
            (of.side, &*of.root_cause),
            (Side::Test, root_cause),
            "{text}"
        );
        assert!(!of.ambiguous, "{text}");
    }
}

#[test]
fn how_the_product_fails_where_a_machine_does_is_its_own() {
    for text in [
        "  Expected: <Claims.GatewayUnavailableException>\n  But was:  <System.Net.Sockets.SocketException: No connection could be made because the target machine actively refused it.>",
        "AssertionError: expected [Function] to throw ServiceDown but got Error: connect ECONNREFUSED 127.0.0.1:1",
        "  expected Kennel::Full, got #<NoMethodError: undefined method `capacity' for nil:NilClass> with backtrace:",
    ] {
        let of = diagnose("", text);
        assert_eq!(
            (of.side, &*of.root_cause),
            (Side::Code, "expected_error"),
            "{text}"
        );
    }
}

#[test]
fn a_status_that_may_come_of_others_is_undecided_wherever_it_stands() {
    let jest = |line: &str| {
        format!(
            "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 200\nReceived: 503\n\n  10 |   const res = await get();\n> 11 |   {line}\n     |   ^\n  12 |   expect(res.status).toBe(200);\n    at Object.toBe (a.test.js:11:3)"
        )
    };
    for text in [
        jest("expect(res.status).toBe(200);"),
        "Condition not satisfied:\n\nresponse.status == 200\n|        |      |\n|        502    false\n<Response status=502>".to_owned(),
        "java.lang.AssertionError: Status expected:<200> but was:<403>".to_owned(),
        "org.opentest4j.AssertionFailedError: expected: <200 OK> but was: <502 BAD_GATEWAY>".to_owned(),
    ] {
        let of = diagnose("", &text);
        assert!(of.ambiguous && of.rule == "http/status-compared", "{text}\n{}", of.rule);
    }
    for text in [
        jest("expect(res.body.total).toBe(200);"),
        "Expected response status code [503] but received 200.\nFailed asserting that 503 is identical to 200.".to_owned(),
        "java.lang.AssertionError: Status expected:<200> but was:<404>".to_owned(),
    ] {
        let of = diagnose("", &text);
        assert!(of.side == Side::Code && !of.ambiguous, "{text}\n{}", of.rule);
    }
}
