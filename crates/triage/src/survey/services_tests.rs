//! Outages that are told without an address, by the service that the words name.

use super::victims_tests::{causes, report, report_of, told};
use crate::engine::Engine;
use jelly_base::model::Failure;

const SQL_SERVER: &str = "Microsoft.Data.SqlClient.SqlException : A network-related or instance-specific error occurred while establishing a connection to SQL Server. (provider: TCP Provider, error: 40 - Could not open a connection to SQL Server)\n  ----> System.Net.Sockets.SocketException : Connection refused";
const BLOBS: &str = "Azure.RequestFailedException : Connection refused (127.0.0.1:10000)";
const GATE: &str = "System.Net.Http.HttpRequestException : Connection refused (127.0.0.1:7411)";
const MYSQL: &str = "PDOException: SQLSTATE[HY000] [2002] Connection refused";

#[test]
fn a_database_without_an_address_is_no_other_server_at_a_port() {
    for other in [BLOBS, GATE] {
        let report = report(
            "nunit",
            &[
                told("adds", SQL_SERVER, SQL_SERVER, ""),
                told("stores", other, other, ""),
            ],
        );
        assert_eq!(causes(&report), [["adds"], ["stores"]], "{other}");
    }
}

#[test]
fn an_answer_that_names_the_service_is_a_victim_of_its_outage() {
    let healthy = "  Expected: \"Healthy\"\n  But was:  \"Unhealthy: sqlserver: (error: 40 - Could not open a connection to SQL Server)\"";
    let report = report(
        "nunit",
        &[
            told("adds", SQL_SERVER, SQL_SERVER, ""),
            told("stores", BLOBS, BLOBS, ""),
            told("is_healthy", healthy, healthy, ""),
        ],
    );
    assert_eq!(
        causes(&report),
        [vec!["adds", "is_healthy"], vec!["stores"]]
    );
}

#[test]
fn a_body_that_names_another_service_or_a_server_of_its_own_is_no_victim() {
    let status = "Expected response status code [200] but received 500.";
    for (body, apart) in [
        (
            "PDOException: SQLSTATE[HY000] [2002] Connection refused",
            false,
        ),
        ("Predis: redis: Connection refused", true),
        // It waited.
        ("mysql: the query timed out", true),
    ] {
        let body = format!("{status}\n\nThe following exception occurred:\n\n{body}");
        let report = report(
            "phpunit",
            &[
                told("lists", MYSQL, MYSQL, ""),
                told("shows", status, body.leak(), ""),
            ],
        );
        assert_eq!(causes(&report).len(), 1 + usize::from(apart), "{apart}");
    }
}

#[test]
fn a_socket_that_is_not_there_is_no_port_that_refuses() {
    let socket = "PDOException: SQLSTATE[HY000] [2002] No such file or directory";
    let named = "PDOException: SQLSTATE[HY000] [2002] Connection refused (Connection: mysql, Host: my.test, Port: 3306, SQL: select 1)";
    for refused in [MYSQL, named] {
        let tests = [
            told("lists", refused, refused, ""),
            told("shows", socket, socket, ""),
        ];
        assert_eq!(
            causes(&report("phpunit", &tests)),
            [["lists"], ["shows"]],
            "{refused}"
        );
    }
}

#[test]
fn a_client_that_shows_its_request_asked_the_server_of_it() {
    let status = "AxiosError: Request failed with status code 503";
    let of = |shown: [&str; 2]| {
        let text = |shown: &str| -> &'static str {
            format!("{status}\n    at settle (/r/node_modules/axios/lib/core/settle.js:19:12) {{\n  config: {{\n    {shown}\n  }}").leak()
        };
        let tests = [
            told("pays", status, text(shown[0]), ""),
            told("bills", status, text(shown[1]), ""),
        ];
        report("jest-junit", &tests)
    };
    for shown in [
        ["url: 'https://pay.test/x'", "url: 'https://bill.test/x'"],
        [
            "method: 'get',\n    baseURL: 'https://pay.test',\n    url: '/x'",
            "method: 'get',\n    baseURL: 'https://bill.test',\n    url: '/x'",
        ],
    ] {
        let report = of(shown);
        assert_eq!(causes(&report), [["bills"], ["pays"]]);
        assert_eq!(
            report.clusters[0].title,
            "the server at pay.test answered with errors of its own"
        );
    }
    let report = of(["url: 'https://pay.test/x'", "url: 'https://pay.test/y'"]);
    assert_eq!(causes(&report), [["bills", "pays"]]);
}

#[test]
fn two_servers_of_one_service_are_two_causes() {
    let one = "redis.exceptions.ConnectionError: Error 111 connecting to cache.acme.test:6379. Connection refused.";
    let two = "assert 'redis: sessions.acme.test:6379: Connection refused' == 'ok'";
    let report = report(
        "pytest",
        &[told("a", one, one, ""), told("b", two, two, "")],
    );
    assert_eq!(causes(&report), [["a"], ["b"]]);
}

#[test]
fn a_page_that_shows_a_wrong_value_waited_for_no_server() {
    let away = "Error: page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:4870/";
    let console = "[browser console] Failed to load resource: net::ERR_CONNECTION_REFUSED http://localhost:4870/chat.js";
    for (value, apart) in [("Nothing found for undefined", true), ("", false)] {
        let shown = format!(
            "Error: Timed out 5000ms waiting for expect(locator).toHaveText(expected)\n\n    Locator: getByRole('heading')\n    Expected string: \"Nothing found for xyz\"\n    Received string: \"{value}\"\n    Call log:\n      - waiting for getByRole('heading')\n        9 × locator resolved to <h1>{value}</h1>\n          - unexpected value \"{value}\"\n"
        );
        let report = report(
            "playwright",
            &[
                told("opens", "help.spec.ts:5:3 opens", away, ""),
                told("finds", "search.spec.ts:9:3 finds", shown.leak(), console),
            ],
        );
        assert_eq!(causes(&report).len(), 1 + usize::from(apart), "{value}");
    }
}

#[test]
fn a_producer_and_an_admin_client_of_one_broker_are_one_cause() {
    let sends = "Send failed; nested exception is org.apache.kafka.common.errors.TimeoutException: Topic parcels.v7 not present in metadata after 60000 ms.";
    let creates = "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment. Call: createTopics";
    let log = |broker: &str| -> &'static str {
        format!("2026-03-01T10:00:00Z  WARN 7 --- [p-1] org.apache.kafka.clients.NetworkClient : Connection to node -1 ({broker}) could not be established. Node may not be available.\n2026-03-01T10:00:00Z  WARN 7 --- [p-1] org.apache.kafka.clients.NetworkClient : Bootstrap broker {broker} (id: -1 rack: null) disconnected").leak()
    };
    for (output, apart) in [
        (log("localhost:29192"), false),
        // Another broker, and one that answers.
        (log("queue.acme.test:29192"), true),
        ("", true),
    ] {
        let report = report(
            "junit",
            &[
                told("sends", sends, sends, output),
                told("creates", creates, creates, log("localhost:29192")),
            ],
        );
        assert_eq!(causes(&report).len(), 1 + usize::from(apart), "{output}");
    }
}

#[test]
fn a_model_without_an_attribute_lacks_the_column_of_that_name() {
    let model = "unknown attribute 'branch' for Stock.";
    for (column, apart) in [("branch", false), ("shelf", true)] {
        let query = format!("PG::UndefinedColumn: ERROR:  column stocks.{column} does not exist");
        let query: &str = query.leak();
        let text = "Failure/Error: branch { 'x' }\n\nActiveModel::UnknownAttributeError:\n  unknown attribute 'branch' for Stock.\n./spec/factories/stocks.rb:6:in `block (3 levels) in <top (required)>'";
        let report = report(
            "rspec",
            &[
                told("keeps", model, text, ""),
                told("counts", query, query, ""),
            ],
        );
        assert_eq!(causes(&report).len(), 1 + usize::from(apart), "{column}");
    }
}

#[test]
fn a_pool_that_ran_dry_since_its_server_is_away_takes_the_answers_along() {
    let dry = "Error: pool timed out while waiting for an open connection";
    let body = "assertion `left == right` failed: body: {\"error\":\"pool timed out while waiting for an open connection\"}\n  left: 500\n right: 200";
    let log = |server: &str| -> &'static str {
        format!("2026-03-01T10:00:00Z  WARN sqlx_core::pool: connect to postgres://shop@{server}/shop failed: failed to lookup address information: Name or service not known").leak()
    };
    for (server, apart) in [("db.acme.test:5432", false), ("log.acme.test:5432", true)] {
        let report = report(
            "nextest",
            &[
                told("adds", dry, dry, log("db.acme.test:5432")),
                told("lists", body, body, log(server)),
            ],
        );
        assert_eq!(causes(&report).len(), 1 + usize::from(apart), "{server}");
    }
}

#[test]
fn a_panic_takes_the_tests_along_that_were_running() {
    let panic = "=== RUN   TestSends/again\npanic: assignment to entry in nil map\n\ngoroutine 7 [running]:\nexample.com/shop/mail.(*Box).Put(0xc0000b4000)\n\t/src/mail/box.go:27 +0x85\nFAIL\texample.com/shop/mail\t0.034s";
    let running = "=== RUN   TestSends/once\n=== PAUSE TestSends/once\n=== CONT  TestSends/once";
    let ended = "=== RUN   TestCounts\n--- FAIL: TestCounts (0.01s)";
    let report = report(
        "go-junit-report",
        &[
            told("TestSends/again", "Failed", panic, ""),
            told("TestSends/once", "Failed", running, ""),
            told("TestCounts", "Failed", ended, ""),
        ],
    );
    assert_eq!(
        causes(&report),
        [
            vec!["TestCounts"],
            vec!["TestSends/again", "TestSends/once"]
        ]
    );
}

#[test]
fn a_browser_that_does_not_start_is_one_cause_in_any_set_up() {
    let broken = |stage: &str, browser: &str| -> &'static str {
        format!("{stage}WebDriverException: Message: unknown error: cannot find {browser} binary\nStacktrace:\n#0 0x55d0c8a3a4e3 <unknown>").leak()
    };
    for (browser, apart) in [("Chrome", false), ("Firefox", true)] {
        let report = report(
            "robot",
            &[
                told(
                    "buys",
                    broken("Parent suite setup failed:\n", "Chrome"),
                    "",
                    "",
                ),
                told("pays", broken("Setup failed:\n", browser), "", ""),
            ],
        );
        assert_eq!(causes(&report).len(), 1 + usize::from(apart), "{browser}");
    }
}

#[test]
fn workers_that_crash_in_one_module_are_one_cause() {
    let report = report(
        "pytest",
        &[
            told(
                "test_small",
                "worker 'gw0' crashed while running 'tests/test_resize.py::test_small'",
                "worker 'gw0' crashed while running 'tests/test_resize.py::test_small'",
                "",
            ),
            told(
                "test_large",
                "worker 'gw1' crashed while running 'tests/test_resize.py::test_large'",
                "worker 'gw1' crashed while running 'tests/test_resize.py::test_large'",
                "",
            ),
            told(
                "test_plays",
                "worker 'gw2' crashed while running 'tests/test_video.py::test_plays'",
                "worker 'gw2' crashed while running 'tests/test_video.py::test_plays'",
                "",
            ),
        ],
    );
    assert_eq!(
        causes(&report),
        [vec!["test_large", "test_small"], vec!["test_plays"]]
    );
}

#[test]
fn services_without_a_name_are_apart_where_they_answer_differently() {
    let fails = |test, said| told(test, said, said, "");
    let report = report(
        "pytest",
        &[
            fails("scores", "ApiError: fraud service answered 503 for 12"),
            fails("scores_again", "ServiceError: it said 503, try later"),
            fails("rates", "ApiError: fx service answered 429 for EURUSD"),
            fails("knows", "AuthError: login refused (401)"),
            fails("may", "LoginError: token was refused: 401"),
            fails(
                "logs_in",
                "psycopg.OperationalError: password authentication failed for user \"ci\"",
            ),
        ],
    );
    let causes = causes(&report);
    let together = |one: &str, other: &str| {
        let of = |name: &str| causes.iter().position(|all| all.contains(&name));
        of(one) == of(other)
    };
    assert!(together("scores", "scores_again"), "{causes:?}");
    assert!(!together("scores", "rates"), "{causes:?}");
    assert!(together("knows", "may"), "{causes:?}");
    assert!(!together("knows", "logs_in"), "{causes:?}");
}

/// A failure of the JVM in a client of this name.
fn of_client(name: &'static str, error: &str) -> super::victims_tests::Told {
    let text = format!(
        "{error}\n\tat shop.{name}.call({name}.java:10)\n\tat shop.{name}Test.asks({name}Test.java:7)"
    );
    told(name, error.to_owned().leak(), text.leak(), "")
}

#[test]
fn another_client_that_names_nobody_asks_somebody_else() {
    let stock = "java.net.ConnectException: Connection refused: stock.test/10.2.3.4:8443";
    let refused = "java.net.ConnectException: Connection refused";
    let report = report(
        "surefire",
        &[
            of_client("Stock", stock),
            of_client("Payments", refused),
            of_client("Mail", refused),
        ],
    );
    assert_eq!(causes(&report), [["Mail"], ["Payments"], ["Stock"]]);
}

#[test]
fn only_who_was_refused_is_told_to_be() {
    for (said, titled) in [
        (
            "RedisConnectionException: Unable to connect to cache.acme.test:6379",
            "the cache at cache.acme.test:6379 can't be reached",
        ),
        (
            "RedisConnectionException: Unable to connect to cache.acme.test:6379: Connection refused",
            "the cache at cache.acme.test:6379 refused connections",
        ),
        (
            "Error: connect EHOSTUNREACH 10.0.0.7:22 - Local (10.0.0.3:51234)",
            "the server at 10.0.0.7:22 can't be reached",
        ),
        (
            "Errno::ENOENT: No such file or directory - connect(2) for /run/mysqld/mysqld.sock",
            "the server at /run/mysqld/mysqld.sock can't be reached",
        ),
    ] {
        let report = report("surefire", &[told("asks", said, said, "")]);
        assert_eq!(report.clusters[0].title, titled);
    }
}

/// What keeps them apart stands in words, behind which a number is mostly chance.
#[test]
fn servers_that_differ_in_port_or_name_alone_are_two_causes() {
    for (writer, said, [one, two]) in [
        (
            "pytest",
            r#"psycopg2.OperationalError: connection to server at "localhost" (127.0.0.1), port {} failed: Connection refused"#,
            ["5432", "5433"],
        ),
        (
            "surefire",
            "com.microsoft.sqlserver.jdbc.SQLServerException: The TCP/IP connection to the host localhost, port {} has failed. Error: \"Connection refused.\"",
            ["1433", "1434"],
        ),
        (
            "rspec",
            r#"Errno::ECONNREFUSED: Connection refused - connect(2) for "127.0.0.1" port {}"#,
            ["9200", "9201"],
        ),
        (
            "pytest",
            "curl: (7) Failed to connect to 127.0.0.1 port {} after 0 ms: Connection refused",
            ["8081", "8082"],
        ),
        (
            "surefire",
            "com.mongodb.MongoTimeoutException: Timed out after 30000 ms while waiting to connect. Client view of cluster state is {type=UNKNOWN, servers=[{address={}:27017, type=UNKNOWN, state=CONNECTING, exception={com.mongodb.MongoSocketOpenException: Exception opening socket}, caused by {java.net.ConnectException: Connection refused}}]",
            ["mongo-a", "mongo-b"],
        ),
        (
            "nunit",
            "StackExchange.Redis.RedisConnectionException : It was not possible to connect to the redis server(s). UnableToConnect on {}:6379/Interactive, Initializing/NotStarted, last: NONE",
            ["cache-a", "cache-b"],
        ),
        (
            "pytest",
            "ConnectionRefusedError: [Errno 111] Connect call failed ('127.0.0.1', {})",
            ["5432", "6379"],
        ),
        (
            "surefire",
            "io.lettuce.core.RedisConnectionException: Unable to connect to {}/<unresolved>:6379",
            ["cache-a", "cache-b"],
        ),
        (
            "surefire",
            "redis.clients.jedis.exceptions.JedisConnectionException: Failed to connect to any host resolved for DNS name: {}",
            ["cache-a", "cache-b"],
        ),
        (
            "pytest",
            r#"psycopg2.OperationalError: connection to server on socket "/run/postgresql/.s.PGSQL.{}" failed: No such file or directory"#,
            ["5432", "5433"],
        ),
        (
            "phpunit",
            r"Illuminate\Database\QueryException: SQLSTATE[HY000] [2002] Connection refused (Connection: {}, SQL: select * from `users`)",
            ["orders", "ledger"],
        ),
    ] {
        let [one, two] =
            [one, two].map(|name| -> &'static str { said.replacen("{}", name, 1).leak() });
        let failures = [
            told("adds", one, one, ""),
            told("lists", one, one, ""),
            told("shows", two, two, ""),
        ];
        let report = report(writer, &failures);
        assert_eq!(
            causes(&report),
            [vec!["adds", "lists"], vec!["shows"]],
            "{said}"
        );
    }
}

/// A table over servers and answers is no table of values.
#[test]
fn rows_of_one_test_that_met_other_servers_or_answers_are_two_causes() {
    for (said, [one, two], apart) in [
        (
            "requests.get: Connection refused: http://{}.acme.test:8080/v1",
            ["orders", "users"],
            true,
        ),
        (
            "client_test.go:31: status = {}, want 200",
            ["401", "409"],
            true,
        ),
        (
            "client_test.go:31: unexpected error: {}",
            [
                "token signature is invalid",
                "csv: wrong number of fields in row",
            ],
            true,
        ),
        (
            "client_test.go:31: Round({0}) = {}, want 3",
            ["7", "9"],
            false,
        ),
    ] {
        let [one, two] =
            [one, two].map(|name| -> &'static str { said.replacen("{}", name, 1).leak() });
        let failures = [
            told("TestClient/a", one, one, ""),
            told("TestClient/b", two, two, ""),
        ];
        let report = report("go", &failures);
        assert_eq!(causes(&report).len(), 1 + usize::from(apart), "{said}");
    }
}

#[test]
fn who_names_nobody_asks_what_its_suite_asks() {
    let failure = |class: &str, name: &str, message: &str| Failure {
        dialect: Some("pytest".into()),
        element: Some("error".into()),
        classname: Some(class.into()),
        name: Some(name.into()),
        message: Some(message.into()),
        text: Some(message.into()),
        ..Failure::default()
    };
    let bare = "URLError: <urlopen error [Errno 111] Connection refused>";
    let gates = "curl: (7) Failed to connect to localhost port 8582: Connection refused";
    let log = "connection to server at \"127.0.0.1\", port 5440 failed: Connection refused";
    let report = report_of(
        Engine::builtin(),
        &[
            failure("tests.test_gates", "curl", gates),
            failure("tests.test_gates", "opens", bare),
            failure("tests.test_log", "writes", log),
            failure("tests.test_log", "reads", bare),
            failure("tests.test_mail", "sends", bare),
        ],
    );
    assert_eq!(
        causes(&report),
        [
            vec!["curl", "opens"],
            vec!["reads", "writes"],
            vec!["sends"]
        ]
    );
}

#[test]
fn who_got_nothing_fails_of_what_its_suite_fails_of() {
    let refused = "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6390. Connection refused.";
    let health = "assert False\n +  where False = <function healthy at 0x7f19>()";
    let of = |suite: &str, last: &str| {
        let failures = [
            ("stores", refused),
            ("reads", refused),
            ("is_healthy", health),
            ("adds", last),
        ]
        .map(|(name, message)| Failure {
            dialect: Some("pytest".into()),
            element: Some("failure".into()),
            classname: Some(suite.into()),
            name: Some(name.into()),
            message: Some(message.into()),
            text: Some(message.into()),
            ..Failure::default()
        });
        let report = report_of(Engine::builtin(), &failures);
        causes(&report).iter().map(Vec::len).collect::<Vec<_>>()
    };
    let cache = "tests.test_cache";
    assert_eq!(of(cache, "assert 3 == 4"), [1, 3]);
    assert_eq!(of(cache, "cache unavailable"), [4]);
    // Where tests of the suite pass, a value proves nothing against the environment, and neither
    // does a mistake.
    assert_eq!(of("shop", "assert 3 == 4"), [1, 1, 2]);
    let mistake = "NoMethodError: undefined method `offline' for nil";
    assert_eq!(of("shop", mistake), [1, 1, 2]);
    assert_eq!(of("shop", "assert 'unavailable' == 'ok'"), [1, 1, 2]);
    assert_eq!(of("shop", "OrderClosed: order 7 is closed"), [1, 1, 2]);
    assert_eq!(of("shop", "CacheError: cache unavailable"), [3, 1]);
    assert_eq!(of("shop", "BrokerUnavailable: gave up"), [3, 1]);
    // What is wanted, and what a business is about, tells of no server.
    for said in [
        "AssertionError: seat 4 should be unavailable after booking\nassert True is False",
        "AssertionError: ConnectionError not raised",
        "AssertionError: assert 'size M not available' in '<p>size M in stock</p>'",
        "BookingError: seat 12 is not available",
        "PriceError: price is down to -3",
        "DropDownError: option 4 is not in the list",
    ] {
        assert_eq!(of("shop", said), [1, 1, 2], "{said}");
    }
}
