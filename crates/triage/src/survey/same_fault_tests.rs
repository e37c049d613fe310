//! Pairs of failures that are of one fault by what they show, and pairs that only look so.

use super::signs_tests::of_tests;

/// Whether two failures of different tests are one cause.
fn is_one(writer: &str, one: &str, other: &str) -> bool {
    let tests = [("one", "a first", one), ("other", "b second", other)];
    of_tests(writer, &tests).len() == 1
}

#[test]
fn what_is_shown_in_other_words_is_one_fault() {
    for (writer, one, other, wanted) in [
        // The document of an error, whenever it was sent
        (
            "surefire",
            "HttpClientErrorException: 401 Unauthorized: {\"error_description\":\"The access token expired at 2026-03-02T02:42:11Z\"}",
            "AssertionError: Status expected:<200> but was:<401> {\"error_description\":\"The access token expired at 2026-03-04T08:36:30Z\"}",
            true,
        ),
        (
            "surefire",
            "HttpClientErrorException: 401 Unauthorized: {\"error_description\":\"The access token expired at 2026-03-02T02:42:11Z\"}",
            "AssertionError: Status expected:<200> but was:<401> {\"error_description\":\"The client shelf-7 is not known here\"}",
            false,
        ),
        // One request
        (
            "robot",
            "HTTPError: 500 Server Error: Internal Server Error for url: http://depot.test/v1/shelves/8095",
            "Url: http://depot.test/v1/shelves?page=2 Expected status: 500 != 200",
            true,
        ),
        (
            "robot",
            "HTTPError: 500 Server Error: Internal Server Error for url: http://depot.test/v1/shelves",
            "Url: http://depot.test/v1/boxes Expected status: 500 != 200",
            false,
        ),
        (
            "robot",
            "HTTPError: 404 Client Error: Not Found for url: http://depot.test:8080/v1",
            "HTTPError: 404 Client Error: Not Found for url: http://depot.test:9090/v2",
            false,
        ),
        // A value that an enumeration lacks
        (
            "gradle",
            "java.lang.IllegalArgumentException: No enum constant com.acme.Carrier.POST_NL",
            "com.fasterxml.jackson.databind.exc.InvalidFormatException: Cannot deserialize value of type `com.acme.Carrier` from String \"POST_NL\": not one of the values accepted for Enum class: [DHL, UPS]",
            true,
        ),
        (
            "gradle",
            "java.lang.IllegalArgumentException: No enum constant com.acme.Carrier.POST_NL",
            "com.fasterxml.jackson.databind.exc.InvalidFormatException: Cannot deserialize value of type `com.acme.Carrier` from String \"HERMES\": not one of the values accepted for Enum class: [DHL, UPS]",
            false,
        ),
        (
            "gradle",
            "java.lang.IllegalArgumentException: No enum constant com.acme.order.Status.NEW",
            "java.lang.IllegalArgumentException: No enum constant com.acme.user.Status.NEW",
            false,
        ),
        // Who is signed in no more
        (
            "playwright",
            "Error: expect(page).toHaveURL(expected) failed\n\nExpected: \"http://my-shop.test/account\"\nReceived: \"http://my-shop.test/login?next=%2Faccount\"",
            "Error: apiRequestContext.get: 401 Unauthorized\nCall log:\n  - → GET http://my-shop.test/api/me",
            true,
        ),
        (
            "playwright",
            "Error: expect(page).toHaveURL(expected) failed\n\nExpected: \"http://shop.test/account\"\nReceived: \"http://shop.test/login?next=%2Faccount\"",
            "Error: apiRequestContext.get: 401 Unauthorized\nCall log:\n  - → GET http://depot.test/api/me",
            false,
        ),
        // What GoogleTest is told of a value
        (
            "gtest",
            "depot/jpeg_test.cc:40\nValue of: decode(\"a.jpg\").ok()\n  Actual: false (jpeg: SOF2 not supported)\nExpected: true",
            "depot/jpeg_test.cc:77\nValue of: decode(\"b.jpg\").ok()\n  Actual: false (jpeg: SOF2 not supported)\nExpected: true",
            true,
        ),
    ] {
        assert_eq!(is_one(writer, one, other), wanted, "{one}\n{other}");
    }
}

#[test]
fn a_server_that_only_some_name_is_the_one_that_others_speak_with() {
    let named = "connect nats://depot.test:4222: dial tcp 10.1.4.20:4222: connect: connection refused: nats: no servers available for connection";
    let nameless = "nats: no servers available for connection";
    let database = "dial tcp 10.1.4.9:5432: connect: connection refused";
    let tests = |second: &str| {
        let tests = [
            ("one", "a", named),
            ("two", "b", nameless),
            ("three", "c", second),
        ];
        of_tests("go-junit-report", &tests)
    };
    assert_eq!(tests(database), [vec!["a", "b"], vec!["c"]]);
    // Of two that are away nobody knows which is meant.
    let other = "connect nats://shelf.test:4222: dial tcp 10.1.4.21:4222: connect: connection refused: nats: no servers available for connection";
    assert_eq!(tests(other).len(), 3);
}

#[test]
fn one_change_of_many_snapshots_is_one_cause() {
    let snapshot = |margin: usize, change: &str| {
        let change = change.replace('~', &" ".repeat(margin));
        format!(
            "Error: expect(received).toMatchSnapshot()\n\nSnapshot name: `shelf {margin} 1`\n\n- Snapshot  - 1\n+ Received  + 1\n\n@@ -2,5 +2,5 @@\n   <b\n{change}\n   >"
        )
    };
    let causes = |change: &str| {
        let texts: Vec<String> = (2..14).map(|margin| snapshot(margin, change)).collect();
        let names: Vec<String> = (2..14).map(|margin| format!("test of {margin}")).collect();
        let tests: Vec<(&str, &str, &str)> = names
            .iter()
            .zip(&texts)
            .map(|(name, text)| ("Shelf", name.as_str(), text.as_str()))
            .collect();
        of_tests("jest-junit", &tests).len()
    };
    assert_eq!(
        causes("-~className=\"btn btn-primary\"\n+~className=\"button button--primary\""),
        1
    );
    assert_eq!(causes("+~scope=\"col\""), 1);
    // What flips in any component.
    assert!(causes("+~disabled={true}") > 1);
}
