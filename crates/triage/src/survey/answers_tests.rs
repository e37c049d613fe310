//! What answers and logs tell of the cause, and one file by several paths.

use super::signs_tests::of_tests;
use super::victims_tests::{causes, report, told};

#[test]
fn two_answers_with_an_error_are_apart_by_what_they_tell() {
    let status = "Expected status code <200> but was <500>.";
    let null = "HTTP/1.1 500\n{\n  \"message\": \"Cannot invoke \\\"a.Bin.aisle()\\\" because \\\"left\\\" is null\"\n}";
    let full =
        "HTTP/1.1 500\n{\n  \"message\": \"the shelf of depot north is full to the brim\"\n}";
    let of = |one, other| {
        let failures = [
            told("one", status, "", one),
            told("other", status, "", other),
        ];
        causes(&report("surefire", &failures)).len()
    };
    assert_eq!(of(null, full), 2);
    assert_eq!(of(null, null), 1);
    assert_eq!(
        of("HTTP/1.1 500\n{\"error\": \"Internal Server Error\"}", ""),
        1
    );
}

#[test]
fn a_host_that_is_out_of_order_is_one_cause_whatever_it_was_asked() {
    let of = |status: u16, other: &str| {
        let message = |url: &str| -> &'static str {
            format!("Expected status 200 but got {status} for {url}").leak()
        };
        let (one, other) = (message("https://pay.test/a"), message(other));
        let failures = [told("one", one, "", ""), told("other", other, "", "")];
        causes(&report("pytest", &failures)).len()
    };
    assert_eq!(of(503, "https://pay.test/b/1"), 1);
    assert_eq!(of(503, "https://bill.test/b/1"), 2);
    assert_eq!(of(404, "https://pay.test/b/1"), 2);
}

#[test]
fn an_answer_tells_the_exception_of_another() {
    let null = "java.lang.NullPointerException: Cannot invoke \"com.acme.Bin.aisle()\" because \"left\" is null";
    let stack = "java.lang.NullPointerException: Cannot invoke \"com.acme.Bin.aisle()\" because \"left\" is null\n\tat com.acme.pick.Sorter.compare(Sorter.java:27)\n\tat com.acme.pick.SorterTest.sorts(SorterTest.java:9)";
    let answer = "HTTP/1.1 500\n{\n  \"message\": \"Cannot invoke \\\"com.acme.Bin.aisle()\\\" because \\\"left\\\" is null\"\n}";
    let report = report(
        "surefire",
        &[
            told("sorts", null, stack, ""),
            told(
                "releases",
                "Expected status code <200> but was <500>.",
                "",
                answer,
            ),
        ],
    );
    assert_eq!(causes(&report), [["releases", "sorts"]]);
}

#[test]
fn a_file_is_one_by_the_paths_of_two_folders() {
    let one = "FileNotFoundError: [Errno 2] No such file or directory: '/home/ci/app/data/rates/2025.csv'";
    let same = "FileNotFoundError: [Errno 2] No such file or directory: 'data/rates/2025.csv'";
    let other = "FileNotFoundError: [Errno 2] No such file or directory: 'data/rates/2026.csv'";
    let of = |second| {
        let failures = [told("one", one, "", ""), told("two", second, "", "")];
        causes(&report("pytest", &failures)).len()
    };
    assert_eq!(of(same), 1);
    assert_eq!(of(other), 2);
}

#[test]
fn a_session_that_the_database_refuses_is_refused_for_all() {
    let refused =
        "** (Postgrex.Error) FATAL 53300 (too_many_connections) sorry, too many clients already";
    let queue = "** (DBConnection.ConnectionError) connection not available and request was dropped from queue after 2270ms";
    let log = "[error] Postgrex.Protocol failed to connect: ** (Postgrex.Error) FATAL 53300 (too_many_connections) sorry, too many clients already";
    let failures = [
        told("migrates", refused, "", ""),
        told("stores", queue, "", log),
    ];
    assert_eq!(
        causes(&report("exunit", &failures)),
        [["migrates", "stores"]]
    );
    let other = "[error] ** (Postgrex.Error) FATAL 57P03 (cannot_connect_now) the database system is starting up";
    let failures = [
        told("migrates", refused, "", ""),
        told("stores", queue, "", other),
    ];
    assert_eq!(causes(&report("exunit", &failures)).len(), 2);
}

#[test]
fn what_covers_an_element_covers_others() {
    let of = |over: &str| {
        format!(
            "CypressError: Timed out retrying after 4000ms: `cy.click()` failed because this \
             element:\n\n`<a href=\"/{over}\">Go</a>`\n\nis being covered by another \
             element:\n\n`<div class=\"{over}-bar\">...</div>`"
        )
    };
    let same = of("cookie").replace("/cookie", "/map");
    let tests = [
        ("a", "one", of("cookie")),
        ("b", "two", same),
        ("c", "other", of("toast")),
    ];
    let tests = tests
        .each_ref()
        .map(|(class, name, said)| (*class, *name, said.as_str()));
    let found = of_tests("cypress", &tests);
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn three_files_of_one_folder_lack_the_folder() {
    let of = |name: &str| {
        format!("FileNotFoundError: [Errno 2] No such file or directory: '/srv/out/{name}'")
    };
    let files = [of("a.csv"), of("b.csv"), of("c.json")];
    let tests = [
        ("a", "one", files[0].as_str()),
        ("b", "two", &files[1]),
        ("c", "three", &files[2]),
    ];
    assert_eq!(of_tests("pytest", &tests).len(), 1);
    assert_eq!(of_tests("pytest", &tests[..2]).len(), 2);
}

#[test]
fn an_error_that_came_for_a_value_is_the_outages() {
    let refused = "connect ECONNREFUSED 127.0.0.1:18701";
    let came = "Expected values to be strictly equal:\n+ actual - expected\n\n+ '{\"error\":\"connect ECONNREFUSED 127.0.0.1:18701\"}'\n- '{\"name\":\"Bob\"}'\n";
    let found = of_tests("cucumber-js", &[("a", "Ann", refused), ("b", "Bob", came)]);
    assert_eq!(found.len(), 1, "{found:?}");
    // Nobody is named, and there is one who can be meant.
    let refused = "<urlopen error [Errno 111] Connection refused>";
    let came = "ASSERT FAILED: city not in {'error': 'URLError: <urlopen error [Errno 111] Connection refused>'}";
    let found = of_tests("behave", &[("a", "Ann", refused), ("b", "Bob", came)]);
    assert_eq!(found.len(), 1, "{found:?}");
}
