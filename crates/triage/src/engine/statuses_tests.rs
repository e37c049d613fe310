//! Compared statuses that stand where rules do not read.

use crate::engine::Engine;
use crate::engine::test_failure::diagnose;
use jelly_base::model::{Failure, Side};

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
        "AssertionError: HTTP 503 from gateway".to_owned(),
        "Expected response.StatusCode to be HttpStatusCode.OK {value: 200}, but found HttpStatusCode.ServiceUnavailable {value: 503}.".to_owned(),
        "  Expected: OK\n  But was:  ServiceUnavailable".to_owned(),
        "Assert.AreEqual failed. Expected:<Created>. Actual:<GatewayTimeout>. ".to_owned(),
        "AssertionError: assert 503 == 404\n +  where 503 = <Response [503]>.status_code".to_owned(),
        "java.lang.AssertionError: expected:<200> but was:<503>".to_owned(),
        "org.opentest4j.AssertionFailedError: HTTP status ==> expected: <200> but was: <401>".to_owned(),
        "\n  expected: 200\n       got: 503\n\n  (compared using ==)".to_owned(),
        "Expected: 200\n  Actual: 503".to_owned(),
        "thread 'orders' panicked at tests/a.rs:3:5:\nassertion `left == right` failed: GET /orders\n  left: 503\n right: 200".to_owned(),
        "Expected equality of these values:\n  answer.status\n    Which is: 503\n  200".to_owned(),
        "org.opentest4j.AssertionFailedError: expected: <200 OK> but was: <502 BAD_GATEWAY>".to_owned(),
    ] {
        let of = diagnose("", &text);
        assert!(of.ambiguous && of.rule == "http/status-compared", "{text}\n{}", of.rule);
    }
    for text in [
        jest("expect(res.body.total).toBe(200);"),
        "Expected response status code [503] but received 200.\nFailed asserting that 503 is identical to 200.".to_owned(),
        "java.lang.AssertionError: Status expected:<200> but was:<404>".to_owned(),
        "java.lang.AssertionError: expected:<200> but was:<190>".to_owned(),
    ] {
        let of = diagnose("", &text);
        assert!(of.side == Side::Code && !of.ambiguous, "{text}\n{}", of.rule);
    }
}

#[test]
fn a_number_of_which_pytest_tells_another_origin_is_no_status() {
    for (text, rule) in [
        (
            "assert 300 == 200\n +  where 300 = open_rows(3)",
            "pytest/assertion",
        ),
        (
            "AssertionError: assert 503 == 200\n +  where 503 = len([1, 2, 3])",
            "pytest/assertion",
        ),
        (
            "assert 404 == 200\n +  where 404 = <Shelf 4>.width",
            "pytest/assertion",
        ),
        (
            "assert 404 == 200\n +  where 404 = <Reply 4>.status",
            "http/request-refused-where-none-was",
        ),
        (
            "assert 503 == 200\n +  where 503 = ask('/shelves')",
            "http/status-compared",
        ),
        (
            "assert 503 == 200\n +  where 503 = getattr(<Response [503]>, 'status_code')",
            "http/status-compared",
        ),
        ("assert 503 == 200", "http/status-compared"),
        (
            "assert 503 == 200\n +  where 503 = api.ping()",
            "http/status-compared",
        ),
        (
            "assert 429 == 200\n +  where 429 = shop.order(3)",
            "http/status-compared",
        ),
    ] {
        assert_eq!(diagnose("", text).rule, rule, "{text}");
    }
}

#[test]
fn two_numbers_are_statuses_where_the_tests_name_says_so() {
    for text in [
        "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 200\nReceived: 500\n    at Object.toBe (/srv/a.test.js:10:198)".to_owned(),
        "[Error [ERR_TEST_FAILURE]: Expected values to be strictly equal:\n\n500 !== 200\n] {\n  code: 'ERR_TEST_FAILURE',\n  cause: AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n  \n  500 !== 200\n  \n      at TestContext.<anonymous> (/srv/a.test.js:13:19) {\n    code: 'ERR_ASSERTION'\n  }\n}".to_owned(),
    ] {
        for (name, undecided) in [("fetch answers 200", true), ("total of five shelves", false)] {
            let failure = Failure {
                element: Some("failure".into()),
                name: Some(name.into()),
                text: Some(text.clone()),
                ..Failure::default()
            };
            let of = Engine::builtin().diagnose(&failure);
            assert_eq!(of.ambiguous, undecided, "{name}: {text}");
        }
    }
}
