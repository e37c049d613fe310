use super::{template, without_stamps};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

#[test]
fn a_time_inside_an_answer_is_not_the_answer() {
    let kept = |text: &str| {
        let mut value = serde_json::json!({ "a": [text] });
        without_stamps(&mut value);
        value["a"][0].as_str().unwrap().to_owned()
    };
    for stamp in [
        "Sun Nov 22 2026 03:47:32",
        "Sun Nov  2 03:47:32 2026",
        "Sun, 22 Nov 2026 03:47:32",
        "2026-11-22T03:47:32.123Z",
        "2026-11-22 03:47",
    ] {
        assert_eq!(
            kept(&format!("size: 12\nat {stamp}")),
            "size: 12\nat <time>"
        );
        assert_eq!(kept(stamp), stamp, "a value like any other");
    }
    assert_eq!(kept("born 1815-12-10, call 7"), "born 1815-12-10, call 7");
}

#[test]
fn chance_is_replaced() {
    for (message, expected) in [
        (
            "connect ECONNREFUSED 127.0.0.1:59991",
            "connect ECONNREFUSED localhost:<port>",
        ),
        ("no answer within 30 s", "no answer within <amount>"),
        ("at 2026-01-02T03:04:05.123Z it broke", "at <time> it broke"),
        ("<X object at 0x7f12ab>", "<X object at <id>>"),
        ("open '/tmp/pytest-12/b.txt'", "open '<dir>/b.txt'"),
        ("open '/home/ci/work/app/b.txt'", "open '<dir>/app/b.txt'"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id <id>"),
        ("bad {\"b\": 1, \"a\": 2}", "bad {\"a\": 2, \"b\": 1}"),
        (
            "{z: {b: [2, 1], a: 1}, y: 0}",
            "{y: 0, z: {a: 1, b: [1, 2]}}",
        ),
        ("state map[b:2 a:1]", "state map[a:1 b:2]"),
        (
            "unknown columns sku, qty, note.",
            "unknown columns note, qty, sku.",
        ),
        ("unbalanced } {b, a", "unbalanced } {b, a"),
        ("10.20.0.14:5432 and 192.168.0.7", "<ip>:5432 and <ip>"),
        (
            "http://localhost:80/s/3f1bd0a6c2e94f21/x",
            "http://localhost:80/s/<id>/x",
        ),
        ("waited 1m30.5s", "waited <amount>"),
        ("line   : 4", "line : <line>"),
        ("at cart.c:12:4: bad", "at cart.c<line>: bad"),
        ("response took 690 of 100", "response took <id> of 100"),
        (
            "Job JID-21e07be5442ad219929dca23 is gone",
            "Job JID-<id> is gone",
        ),
        (
            "Job JID-a11754d685b1eb42297cdbc3 is gone",
            "Job JID-<id> is gone",
        ),
        (
            "key py-Linux-X64-0528a133835bd363bbd5cf9c699b9dba102b961a041ed04b",
            "key py-Linux-<id>",
        ),
        ("pod0bcce247_3fad_be64_f546_55405bbecf0a", "pod<id>"),
        (
            "jdk.proxy2.$Proxy38 is no mock",
            "jdk.proxy<id>.<addr> is no mock",
        ),
        (
            "see 2026-11-22T10_10_03_924Z-debug-0.log",
            "see <time>-debug-0.log",
        ),
        ("no label with id :r1f:", "no label with id :<id>:"),
        (
            "received {\"created\":\"@1728964310.287033258\",\"file_line\":335}",
            "received {\"created\":\"@<id>\", \"file_line\"<line>}",
        ),
        (
            "Timed out receiving message: -0.002",
            "Timed out receiving message: <id>",
        ),
        ("cannot import ../../src/cart", "cannot import src/cart"),
        ("[87] fatal: no depot", "[<id>] fatal: no depot"),
        ("pid 87 is gone", "pid <id> is gone"),
        ("==871==ERROR: heap", "==<id>==ERROR: heap"),
        ("got: (\"maria.kowalski22@example.com\")", "got: (\"<id>\")"),
        ("invite for aisha_k@example.org.", "invite for <id>."),
        (
            "Failing row contains (3862, Jonas Schmidt, null).",
            "Failing row contains (<id>).",
        ),
        (
            "Key (lower(email))=(jonas) already exists",
            "Key (lower(email))=(<id>) already exists",
        ),
        (
            "Duplicate entry 'it's Jonas' for key 'email'",
            "Duplicate entry '<id>' for key 'email'",
        ),
        (
            "index: slug_1 dup key: { slug: \"dyjoiltt\" }",
            "index: slug_1 dup key: {<id>}",
        ),
        (
            "INSERT INTO a (b) values (1, Jonas (7), x) failed",
            "INSERT INTO a (b) values (<id>) failed",
        ),
        ("assert 12.480000000000002 == 12.5", "assert 12.48 == 12.5"),
        (
            "expected 1, got Mock<IMailGateway:7>",
            "expected 1, got Mock<IMailGateway:<id>>",
        ),
        ("host id: /a1B2c3D4e5F6g7H8i9J0k1L2/x=", "host id: <id>"),
        (
            "database \"ShopTests_0642bde55115cf9baa60acdad455bf83\"",
            "database \"ShopTests_<id>\"",
        ),
        (
            "Ask on Actor[akka://OrderSpec/user/orders#-675013200]",
            "Ask on Actor[akka://OrderSpec/user/orders#<id>]",
        ),
        (
            "Query failed (#20261126_101112_00042_km1kb)",
            "Query failed (#<id>)",
        ),
        (
            "headers: content-length: 46",
            "headers: content-length: <id>",
        ),
        (
            "Timeout, inst: 0, qu: 1, qs: 3, in: 7, ops: 15, mc: 4, aoc: 2, sec: 11.68, max=8, a: 1, b: 2, c: 3, code: 4",
            "Timeout, inst: <id>, qu: <id>, qs: <id>, in: <id>, ops: <id>, mc: <id>, aoc: <id>, sec: <id>, max=<id>, a: <id>, b: <id>, c: <id>, code: 4",
        ),
        (
            "at Thu Nov 26 2026 17:43:10 GMT+0100 (Central European Standard Time) it broke",
            "at <time> it broke",
        ),
        (
            "scandir '/scratch/ci/shop-V2NfMU'",
            "scandir '<dir>/shop-<id>'",
        ),
        (
            "open '/builds/shop.tmp/a-kdjfh3/x.txt'",
            "open '<dir>/x.txt'",
        ),
        (
            "expected 'order 0f84026b-1919-4bbd-b156-ebb22ba…' to equal 'x'",
            "expected 'order <id>…' to equal 'x'",
        ),
        (
            "no item x0598660c-9d29-4c1f-8e57-0b3d2c1a4f5e",
            "no item x<id>",
        ),
        (
            "input_value={'ref': '67ee9505-fbfd-4c...5711368.6821282, 'qty': 2}",
            "input_value={'qty': 2, 'ref': '<id>...<cut>}",
        ),
        (
            "due datetime.datetime(2026, 11, 26, 17, 43, 10, 118912)",
            "due datetime.datetime(<id>)",
        ),
        ("[parameters: [('x', -6), ('y', 2)]]", "[<id>]"),
        (
            "Expected 0.10000000048752905 to be close to 0.2",
            "Expected 0.1 to be close to 0.2",
        ),
        (
            "assert 2 == 3\n +  where 2 = len([Order(id='d2a1', at=41, 3, ...5-5e5c')])",
            "assert 2 == 3\n + where 2 = len(<cut>)",
        ),
        (
            "assert {'order_id': ...lNRRg51-mpXA'} == {}",
            "assert {'order_id': ...<id>'} == {}",
        ),
        (
            "assert {'id': '5435e....719457', ...} == 1",
            "assert {'id': '<id>...<cut>', ...} == 1",
        ),
        (
            "no item xace449ad-808e-4d1c-8283-c4fc05c4b7b9",
            "no item x<id>",
        ),
        ("namespace \"ci-amqbj1\"", "namespace \"ci-<id>\""),
        (
            "(restarts: 9, last exit code 78)",
            "(restarts: <id>, last exit code 78)",
        ),
    ] {
        assert_eq!(template(message), expected);
    }
}

#[test]
fn what_means_something_is_kept() {
    for message in [
        "Error 111 connecting",
        "HTTP 404: Not Found",
        "No module named 'yaml'",
        "exit code 1, nothing on stderr",
        "process exited with code 3221225477",
        "Cannot access directory /srv/projects",
        "expected 5 items, got 7",
        "[2] the depot is closed",
        "items[2] error",
        "total(c) ≈ 24.0125 Evaluated: 28.8125 ≈ 24.0125",
        "expected 100000 but was 250000",
        "-32601: Method not found",
        "HRESULT 0x80070005",
        "dead beef and a facade",
        "ORA-00942: table or view does not exist",
        "SQLSTATE[42S02]",
        "[WinError 10054] connection problem",
        "Unsupported protocol version: 2025-06-18",
        "bean AbstractAutowireCapableCartServiceFactoryBean is missing",
        "listen EADDRINUSE :::3000",
        "s3://acme-invoices/reports",
        "cannot decode utf8mb4",
        "tenant 00000000-0000-0000-0000-000000000001",
        "assert '5 s' == '10 s'",
        "TLS 1.2 refused",
        "no account hello@acme.test",
        "Loading...done, ten...twenty in the list",
        "expected datetime.datetime(2026, 11, 26)",
        "open '/etc/db-mysql8/server-Button'",
        "open '/etc/us-west1a/lib-18beta'",
        "expected admin@example.com",
        "no tests for Mock<IMailGateway>",
        "assert 12.48 == 12.5",
    ] {
        assert_eq!(template(message), message);
    }
}

/// Failures that are one, each with what differs between its sightings.
const SIGHTINGS: &[(&str, &str)] = &[
    ("container {} exited with code 137", "[0-9a-f]{12}"),
    ("No such container: {}", "[a-f][0-9a-f]{11}"),
    (
        "pod cart-{} is not ready",
        "[bcdfghjklmnpqrstvwxz2456789]{9}-[bcdfghjklmnpqrstvwxz2456789]{5}",
    ),
    ("job migrate-{} failed", "[bcdfghjklmnpqrstvwxz2456789]{5}"),
    ("request ID: {} denied", "[0-9][A-Z0-9]{15}"),
    (
        "X-Amzn-RequestId: {}",
        "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}",
    ),
    ("event {} was lost", "01[0-9A-HJKMNP-TV-Z]{24}"),
    ("traceparent: 00-{}-01", "[0-9a-f]{32}-[0-9a-f]{16}"),
    ("tweet {} is gone", "[1-9][0-9]{17}"),
    (
        "session {} expired",
        "[0-9][a-z][A-Z][0-9][a-z][A-Z][0-9a-zA-Z]{18}",
    ),
    ("[{}] fatal: no lock", "[1-9][0-9]{3,4}"),
    ("postgres[{}]: shut down", "[1-9][0-9]{2,4}"),
    (
        "Process {} waits for ShareLock on transaction 7",
        "[1-9][0-9]{1,5}",
    ),
    (
        "while updating tuple ({},4) in relation \"orders\"",
        "[0-9]{1,3}",
    ),
    ("Invoice#{} has no lines", "[1-9][0-9]{2,5}"),
    ("artifact of build #{} is gone", "[1-9][0-9]{0,5}"),
    ("order {} is not paid", "[1-9][0-9]{0,5}"),
    (
        "Duplicate entry '{}' for key 'orders.PRIMARY'",
        "[1-9][0-9]{3,8}",
    ),
    ("no such file: '/tmp/{}/cart.json'", "tmp[a-z0-9_]{8}"),
    ("no such file: '/tmp/{}'", "tmp[a-z0-9_]{8}"),
    (
        "cannot remove '/tmp/shop-{}'",
        "[A-Z][a-z][A-Z][a-z][0-9][A-Z]",
    ),
    (
        "no such file: /private/var/folders/{}/T/cart.json",
        "[a-z0-9]{2}/[a-z0-9]{20}0000gn",
    ),
    (
        "no file 'C:\\Users\\{}\\AppData\\Local\\Temp\\cart.tmp'",
        "[a-z]{3,8}( [a-z]{3,5})?",
    ),
    (
        "no file 'C:\\Users\\ci\\AppData\\Local\\Temp\\tmp{}.tmp'",
        "[0-9A-F]{4}",
    ),
    ("no file /tmp/TestCart{}/001/cart.json", "[1-9][0-9]{8,9}"),
    ("Task-{} was destroyed", "[1-9][0-9]?"),
    ("[gw{}] node down", "[0-9]{1,2}"),
    ("HikariPool-{} is empty", "[0-9]{1,2}"),
    ("[pool-{}-thread-2] rejected", "[0-9]{1,2}"),
    ("ForkJoinPool.commonPool-worker-{} threw", "[0-9]{1,2}"),
    ("heap usage {} MB is over the limit", "[1-9][0-9]{2,3}"),
    (
        "Failed asserting that {} is less than 100.",
        "[1-9][0-9]{2,3}",
    ),
    ("lost runner fv-az{}", "[1-9][0-9]{2,3}-[1-9][0-9]{0,2}"),
    (
        "agent ip-10-{}.ec2.internal left",
        "[0-9]{1,3}-[0-9]{1,3}-[0-9]{1,3}",
    ),
    ("['redis-server', '--port', '{}'] failed", "[3-5][0-9]{4}"),
    (
        "127.0.0.1 - - [{} +0000] \"GET /\" 500",
        "[12][0-8]/(Jan|Nov|Dec)/2026:1[0-9]:[0-5][0-9]:[0-5][0-9]",
    ),
    ("no rates for {}", "202[0-9]-1[0-2]-[12][0-8]"),
    ("out of range at offset {}", "[0-9]{1,6}"),
    ("user test{}@acme.test exists", "[0-9]{1,5}"),
    ("Unexpected token at line {}, column 5", "[1-9][0-9]{0,2}"),
    ("found Subscription@{}", "[0-9a-f]{8}"),
    ("Cart$MockitoMock${} refused", "[1-9][0-9]{5,9}"),
    ("asset /static/main.{}.js is gone", "[0-9a-f]{8}"),
    ("token expired at {}", "17[0-9]{8}"),
    ("no shot at /srv/shop/shots/cart_{}.png", "[1-9][0-9]{2}"),
    ("test/cart_test.dart {}:5 main", "[1-9][0-9]{1,2}"),
    ("[error] 31#31: *{} upstream closed", "[1-9][0-9]{0,3}"),
    ("no connection (total=10, waiting={})", "[0-9]{1,2}"),
    (
        "couldn't find remote ref refs/pull/{}/merge",
        "[1-9][0-9]{0,4}",
    ),
    (
        "shop 1.4.dev{} is not installed",
        "[1-9][0-9]?\\+g[0-9a-f]{7}",
    ),
    ("no rates for {} at all", "202[0-9]-W[0-4][0-9]"),
    (
        "license {} has expired",
        "([A-Z][0-9][A-Z][0-9]-){3}[0-9][A-Z]{2}[0-9]",
    ),
    (
        "the object has been modified (resourceVersion: {})",
        "[1-9][0-9]{2,7}",
    ),
];

#[test]
fn sightings_of_one_failure_have_one_template() {
    let mut runner = TestRunner::new(Config::with_cases(24));
    for (failure, chance) in SIGHTINGS {
        let of = |chance: &str| template(&failure.replace("{}", chance));
        let strategy = (
            proptest::string::string_regex(chance).unwrap(),
            proptest::string::string_regex(chance).unwrap(),
        );
        let checked = runner.run(&strategy, |(one, other)| {
            prop_assert_eq!(of(&one), of(&other));
            Ok(())
        });
        assert!(checked.is_ok(), "{failure}: {}", checked.unwrap_err());
    }
}

#[test]
fn near_misses_stay_apart() {
    for (failure, one, other) in [
        (
            "GET https://{}.acme.test/v1/items returned 500",
            "billing",
            "ledger",
        ),
        (
            "GET https://acme.test/api/{}/all/list returned 500",
            "carts",
            "orders",
        ),
        (
            "access denied to s3://acme-{}/2026/report.csv",
            "invoices",
            "payslips",
        ),
        ("connect ECONNREFUSED 127.0.0.1:{}", "5432", "6379"),
        (
            "null value in column \"{}\" violates it. Failing row contains (1, a).",
            "name",
            "email",
        ),
        ("Duplicate entry 'a' for key '{}'", "email", "slug"),
        ("expected values ({}) to equal (2)", "1", "3"),
        ("assert 12.{}480000000000002 == 12.5", "4", "5"),
        (
            "postgres://app01@{}.acme.de:5432/shop refused",
            "db-a",
            "db-b",
        ),
        ("ssh: deploy42@{}.acme.de: refused", "host-a", "host-b"),
        ("Downloading...{} not found", "404", "500"),
        ("exit status...{}", "1", "127"),
        (
            "Pool: a=1, b=2, c=3, d=4, e=5, f=6, g=7, h=8, i=9, j=1, k=2, l=3, errno={}",
            "111",
            "13",
        ),
        ("assert 123456789.{} == 123456789.5", "123456", "123457"),
        ("open '/srv/lib-{}/x.so'", "OpenGL", "WebGPU"),
        (
            "assert 3 == 4\n +  where 3 = total([1, ...]).count('{}')",
            "a",
            "b",
        ),
        ("Key (country)=({}) is not present", "DE", "XX"),
        ("unknown (mode) values ({})", "fast", "slow"),
        ("password attempts: {}", "3", "5"),
        ("nothing listens on port {}", "5432", "27017"),
        ("process exited with {}", "3221225477", "3221225725"),
        ("no budget for fiscal year {}", "2024", "2025"),
        ("unknown model {} of it", "ABCD-EFGH-IJKL", "ABCD-EFGH-IJKM"),
        (
            "protocol version {} is not supported",
            "2025-06-18",
            "2025-03-26",
        ),
        ("requires shop-core {}", "1.2.3", "1.2.4"),
        ("assert '{}' == '10 s'", "5 s", "7 s"),
        ("Expected: \"{}\"\nReceived: \"14%\"", "12%", "13%"),
        (
            "expected: \"{}\" got: \"2024-03-01\"",
            "2024-02-28",
            "2024-02-29",
        ),
        ("expected:<{}> but was:<1>", "1234567", "7654321"),
        (
            "HTTPSConnectionPool(host='{}.acme.test', port=443)",
            "api1",
            "api2",
        ),
        ("ERROR {} (28000): refused", "1045", "1049"),
        ("(SQLSTATE {})", "23505", "23503"),
        ("error TS{} in the build", "2345", "2322"),
        ("E{} write failed", "11000", "11600"),
        (
            "unknown setting enable_experimental_checkout_flow_for_{}",
            "guests",
            "members",
        ),
        ("Argument #{} must be of type int", "1", "2"),
        ("no capacity in eu-west-{}", "1", "2"),
        ("cannot read /etc/{}/cert.pem", "shop", "stock"),
        ("open '/tmp/{}.csv' failed", "report", "orders"),
        ("expected '#{}' but was '#00ff00'", "ff0000", "0000ff"),
        ("pod {}-7d9f8b6c5-x2x4z is not ready", "cart", "stock"),
        ("Failed asserting that 690 is less than {}.", "100", "200"),
        ("getaddrinfo ENOTFOUND {}.acme.test", "db1", "db2"),
        ("index {} out of bounds for length 9", "10", "12"),
        ("image node:{} not found", "20", "22"),
        ("table users_{} missing", "2023", "2024"),
        ("getByTestId('row-{}') not found", "1", "2"),
        ("the {}_path of the depot is closed", "happy", "sad"),
        ("step {}_test_9 is missing", "buy", "sell"),
        ("css-{} can't be loaded", "loader", "parser"),
        ("OperationalError: ({}) can't connect", "2003", "2006"),
        ("cannot load cart-{}.js", "settings", "products"),
        ("cannot load cart.{}.js", "getTotal", "getPrice"),
        ("relation \"orders_{}\" does not exist", "2025", "2026"),
        ("the node{} is closed", "jsx", "manager"),
        ("container shop-{} is gone", "postgres", "memcached"),
        ("bucket acme-{} is missing", "invoices", "receipts"),
        ("element .card__{} not found", "title", "footer"),
        ("the colour is acme-{}", "faded1", "faded2"),
        ("needs tool 2026.{} or later", "10.22", "11.12"),
        ("stage {} of the plan failed", "3", "4"),
    ] {
        let of = |means: &str| template(&failure.replace("{}", means));
        assert_ne!(of(one), of(other), "{failure}");
    }
}

#[test]
fn names_that_programs_invent_are_chance() {
    for (failure, one, other) in [
        ("lock held by runnervm{} pid 24193", "naeff", "wb3k7"),
        (
            "container {} exited with code 137",
            "quirky_darwin",
            "nifty_noether3",
        ),
        ("database \"app_test_{}\" does not exist", "1", "16"),
        ("Unknown database 'test_shop-{}'", "2", "9"),
        (
            "No such payment_intent: 'pi_{}'",
            "s1jZ43Kjr2ZZJRX6FwIfIJFZ",
            "3Lm0pQ7rStUvWxYz12AbCdEf",
        ),
        ("image acme/web:sha-{} not found", "abc1234", "0f3d9b2"),
        ("image acme/web:{} not found", "20240611", "20251102"),
        ("element .css-{} not visible", "83rwzk", "1qk2wz"),
        (
            "failed to fetch http://localhost:41256/assets/Cart-{}.js",
            "ZYD2sJn5",
            "GZTYsDYD",
        ),
        ("dist/index-{}.css is broken", "PJ9s3rHp", "uG1GsUtx"),
        ("Unknown database 'shop_test{}'", "3", "4"),
        ("BadDigest: part {} does not match", "390", "73"),
        (
            "leaked goroutine 209: acme/gw.(*Pool).loop(0xca0558524f, 0x{})",
            "81",
            "c0",
        ),
        (
            "denied on arn:aws:lambda:eu-west-1:123456789012:function:rates:{}",
            "141",
            "9",
        ),
        ("download stalled at 3% ({}/91.0 MB, 2.6MB/s)", "89.6", "7"),
        (
            "trace /tmp/pw/traces/4bca21362fb95ec8ed87-recording{}.trace is broken",
            "8",
            "6",
        ),
        ("Request charge: {}", "79.39", "2.11"),
        (
            "npm ci failed, see /home/ci/.npm/_logs/{}-debug-0.log",
            "2026-11-22T10_10_03_924Z",
            "2026-11-07T21_42_58_193Z",
        ),
        ("container build_{} is gone", "ncsugyvi", "k4jkan2d"),
        ("node kind-{}-worker2 is not ready", "0nartb", "nlzgcj"),
        (
            "arn:aws:sqs:eu-west-1:123456789012:orders-{} is purged",
            "xbxzymxy",
            "llf3sbo7",
        ),
        ("failed to load /assets/index-{}.js", "Nnic2bVO", "H3wogsxw"),
        ("element .Button_primary__{} not found", "OqfZB", "y7vsF"),
        ("slug acme-{} is taken", "fdcbe4", "a60b5b"),
        ("falsified (path: \"{}\")", "43:6:3", "8:11:0:2"),
        (
            "reproduce with b'{}'",
            "ql30EV0UpGT7TItKXfGX==",
            "9dAP/ybp1jkbE67+OOe1==",
        ),
        (
            "no frame in test-results/cart-Cart-{}-sums-chromium/video.webm",
            "0ab1c",
            "a8239",
        ),
        ("port #Port<0.{}> closed", "85", "9"),
        ("no reply from <0.{}.0>", "721", "4093"),
        ("relation \"pg_temp_{}.plan\" does not exist", "6", "21"),
        ("index shop-2026.11.{} is read-only", "12", "26"),
        (
            "run manual__{}+00:00 failed",
            "2026-11-25T22:48:39",
            "2026-11-21T19:41:39",
        ),
        (
            "missing /home/ci/_temp/{}.sh",
            "b1b314e8-8eb3-410f-a730-525b42b3bbd7",
            "231c24e4-d374-4e99-abc6-005f44543246",
        ),
        ("element _ngcontent-{} not found", "qix-c631", "rji-c787"),
        ("element .svelte-{} not found", "wj657vk", "159x9rf"),
        ("link veth{} is down", "d15a4f4", "ef27e95"),
        ("task 35 in stage {} failed", "68.0", "7.1"),
        (
            "[signal SIGSEGV: code=0x1 addr=0x{} pc=0x01b932]",
            "2b",
            "8",
        ),
    ] {
        let of = |chance: &str| template(&failure.replace("{}", chance));
        assert_eq!(of(one), of(other), "{failure}");
    }
}

proptest! {
    #[test]
    fn any_text_has_a_template(text in "\\PC{0,200}") {
        let _ = template(&text);
    }

    #[test]
    fn texts_of_odd_parts_have_one(parts in proptest::collection::vec(
        "[-_.:/\\\\@#$'\"\\[\\](){}<>=,% ~0-9a-fA-Zé\n]{0,6}|https://|\\.\\./|0x|map\\[|2026-01-|<id>", 0..12,
    )) {
        let _ = template(&parts.concat());
    }
}

#[test]
fn what_a_run_has_of_its_own_is_chance() {
    for (one, other) in [
        (
            "Cannot connect to the Docker daemon at unix:///home/runner/work/_temp/docker.sock.",
            "Cannot connect to the Docker daemon at unix:///srv/jenkins/tmp/jenkins4827361029/docker.sock.",
        ),
        (
            "/home/ci/tmp/expRfk5CN vanished",
            "/home/gitlab/tmp/expiCuf0c vanished",
        ),
        (
            "/srv/jenkins/tmp/jenkins48273610/pytest-of-root/pytest-0/test_x0/out-hqin_u5w is empty",
            "/home/ci/_temp/pytest-of-root/pytest-3/test_x0/out-228r48u5 is empty",
        ),
        (
            "Too many open files: '/proc/164/fd/75'",
            "Too many open files: '/proc/1064/fd/9'",
        ),
        (
            "Command '['w', '--pid', '213']' died",
            "Command '['w', '--pid', '87']' died",
        ),
        (
            "expected A, got #<E: pid 651>",
            "expected A, got #<E: pid 1266>",
        ),
        (
            "fv-az1112-384[164]: can't reach localhost:5433",
            "ip-10-0-3-117[73]: can't reach localhost:5433",
        ),
        (
            "404 for url: http://h/a?Signature=rO%2BYx4rd%3D&Expires=1796042147",
            "404 for url: http://h/a?Signature=aQcWv52K%2D&Expires=1796042231",
        ),
    ] {
        assert_eq!(super::template(one), super::template(other));
    }
}
