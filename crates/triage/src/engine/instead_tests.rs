//! Errors of the machine that came instead of expected ones.

use crate::engine::test_failure::diagnose;
use jelly_base::model::Side;

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
