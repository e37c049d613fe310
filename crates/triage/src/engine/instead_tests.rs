//! Errors of the machine that came instead of expected ones.

use crate::engine::Engine;
use crate::engine::test_failure::diagnose;
use jelly_base::model::{Failure, Side};

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
fn a_500_is_held_against_the_program_only_for_what_is_its_fault() {
    let answered = |log: &str| {
        let failure = Failure {
            element: Some("failure".into()),
            message: Some(
                "assert 500 == 200\n +  where 500 = <WrapperTestResponse streamed [500 INTERNAL \
                 SERVER ERROR]>.status_code"
                    .into(),
            ),
            system_err: Some(format!(
                "ERROR depot.api:app.py:875 Exception on /shelves [GET]\nTraceback (most recent \
                 call last):\n  File \"/srv/depot/api.py\", line 15, in shelves\n    return \
                 load()\n{log}\n"
            )),
            ..Failure::default()
        };
        let of = Engine::builtin().diagnose(&failure);
        (of.side == Side::Code && !of.ambiguous, of.root_cause)
    };
    for log in [
        "AttributeError: 'NoneType' object has no attribute 'id'",
        "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
    ] {
        assert!(answered(log).0, "{log}");
    }
    for log in [
        "KeyError: 'DATABASE_URL'",
        "ModuleNotFoundError: No module named 'redis'",
        "sqlite3.OperationalError: no such table: shelves",
        "psycopg2.errors.UndefinedTable: relation \"shelves\" does not exist",
        "requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='stock.internal', port=443): Read timed out. (read timeout=5)",
        "redis.exceptions.AuthenticationError: Authentication required.",
    ] {
        let of = answered(log);
        assert!(!of.0, "{log}: {}", of.1);
    }
}

#[test]
fn names_are_read_word_by_word() {
    let instead_of = |wanted: &str| {
        let of = diagnose(
            "",
            &format!(
                "AssertionError: expected [Function] to throw {wanted} but got Error: connect ECONNREFUSED 127.0.0.1:5432"
            ),
        );
        (of.side, of.root_cause)
    };
    for wanted in [
        "InvoiceNotFoundError",
        "PresetMissing",
        "ObserverMissing",
        "PortfolioError",
        "BadRequestException",
        "TailoringError",
        "DuplicateServerError",
        "InvalidHostError",
        "NetworkPlanNotFound",
        "/connection is missing/",
        "service.OutOfStock",
        "GiftCertificateExpired",
        "RequestAlreadyApproved",
        "Http404",
        "HostessRota",
        "/Preset 7 is not there/",
        "AssertionError",
    ] {
        assert_eq!(
            instead_of(wanted),
            (Side::Test, "connection_refused".to_owned()),
            "{wanted}"
        );
    }
    for wanted in [
        "UpstreamGone",
        "RetryError",
        "IOError",
        "NetworkUnexpectedEof",
        "ServiceFailed",
        "StorageException",
        "PaymentServiceException",
        "ErrStorage",
        "DBConnectionLost",
        "ERR_TIMED_OUT",
        "RequestTimeout",
        "/ENOTFOUND/",
        "/could not fetch rates/",
    ] {
        assert_eq!(
            instead_of(wanted),
            (Side::Code, "expected_error".to_owned()),
            "{wanted}"
        );
    }
}

#[test]
fn what_a_framework_tells_around_the_expected_error_is_not_it() {
    for text in [
        "shop.test.js:8 client.fetch()\nAssertionError: expected [Function: fetch] to throw NotFound but got Error: connect ECONNREFUSED 127.0.0.1:5432",
        "Failed asserting that exception of type \"GuzzleHttp\\Exception\\ConnectException\" matches expected exception \"Shop\\NotFound\". Message was: \"cURL error 7: Failed to connect to localhost port 9200: Connection refused\" at",
    ] {
        let of = diagnose("", text);
        assert_eq!(
            (of.side, &*of.root_cause),
            (Side::Test, "connection_refused"),
            "{text}"
        );
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
