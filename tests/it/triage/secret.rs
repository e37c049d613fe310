//! What is secret by its name or form alone stands in nothing that a triage says.

use super::{report, triage};
use crate::support::Project;

const SECRETS: [&str; 5] = [
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "S3cretPass99",
    "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123",
    "zz99yy88xx77ww66",
    "MIIEowIBAAKCAQEAfoobarfoobarfoobar",
];

fn told() -> String {
    let [jwt, password, token, key, file] = SECRETS;
    report(&format!(
        r#"<testcase classname="shop.Api" name="asks"><failure message="401">requests.exceptions.HTTPError: 401 Client Error, sent Authorization: Bearer {jwt}</failure></testcase>
<testcase classname="shop.Db" name="reads"><error message="ConnectionError: cannot connect to postgres://admin:{password}@db:5432/x">ConnectionError: cannot connect to postgres://admin:{password}@db:5432/x: Connection refused</error></testcase>
<testcase classname="shop.Git" name="clones"><failure message="Error: 401 for token {token}">Error: 401 Unauthorized for token {token}</failure></testcase>
<testcase classname="shop.Env" name="starts"><failure message="KeyError: 1">api_key: "{key}" KeyError: 'x'</failure><system-err>api_key={key}</system-err></testcase>
<testcase classname="shop.Tls" name="loads"><failure message="key">-----BEGIN RSA PRIVATE KEY-----
{file}
-----END RSA PRIVATE KEY----- could not load: ValueError: bad key</failure></testcase>"#
    ))
}

#[test]
fn what_is_secret_by_its_form_is_in_no_format_and_not_remembered() {
    let project = Project::empty();
    project.write("a.xml", told());
    let no_secret = |where_: &str, text: &str| {
        for secret in SECRETS {
            assert!(!text.contains(secret), "{where_}: {secret} in\n{text}");
        }
    };
    for format in [
        "human", "json", "jsonl", "md", "table", "ctrf", "junit", "github",
    ] {
        let ended = triage(&project, &["a.xml", "-f", format, "--history", "h.jsonl"]);
        assert_eq!(ended.code, Some(3), "{format}: {}", ended.stderr);
        no_secret(format, &ended.stdout);
        no_secret(format, &ended.stderr);
    }
    no_secret("history", &project.read("h.jsonl"));
    let ended = triage(&project, &["a.xml", "--no-history"]);
    // The server is told, whose password is not.
    assert!(
        ended.stdout.contains("db:5432 can't be reached"),
        "{}",
        ended.stdout
    );
}

#[test]
fn what_is_compared_stays_apart_and_an_address_is_no_secret() {
    let project = Project::empty();
    let refused = "jwt.exceptions.DecodeError: Invalid token: https://auth.acme.test:8443/keys.json Connection refused";
    let compared = "AssertionError: assert {'api_key': 'k1-aaa'} == {'api_key': 'k2-aaa'}";
    let denied = "psycopg2.OperationalError: connection to server at \"db\" (10.0.0.3), port 5432 failed: FATAL:  password authentication failed for user \"app\"";
    let case = |name: &str, said: &str| {
        let said = said.replace('"', "&quot;");
        format!(
            "<testcase classname=\"t\" name=\"{name}\"><failure message=\"{said}\">{said}</failure></testcase>"
        )
    };
    let cases = [case("a", refused), case("b", compared), case("c", denied)].concat();
    project.write("a.xml", report(&cases));
    let said = triage(&project, &["a.xml", "--no-history"]).stdout;
    let [one, two] = ["'[secret api_key 1]'", "'[secret api_key 2]'"];
    for told in ["https://auth.acme.test:8443", one, two] {
        assert!(said.contains(told), "{told} in\n{said}");
    }
    assert!(
        !said.contains("k1-aaa") && !said.contains("k2-aaa"),
        "{said}"
    );

    // What stands beside the values, and what was printed, is masked as well.
    let beside =
        "AssertionError: assert None == '1' where get = environ({'DB_PASSWORD': 'hunter2xyz'}).get";
    let printed = "<testcase classname=\"t\" name=\"d\"><failure message=\"assert 1 == 2\">assert 1 == 2</failure><system-out>login with api_key=ak-1112-2223 ok</system-out></testcase>";
    project.write("a.xml", report(&(case("b", beside) + printed)));
    for format in ["human", "json", "md", "junit", "ctrf", "github"] {
        let said = triage(&project, &["a.xml", "--no-history", "-f", format]).stdout;
        assert!(
            !said.contains("hunter2xyz") && !said.contains("ak-1112-2223"),
            "{said}"
        );
    }

    // What has the form of a token is one, behind whatever name it is compared.
    let [.., token, _, _] = SECRETS;
    let compared = format!("AssertionError: assert {{'api_key': '{token}'}} == {{}}");
    project.write("a.xml", report(&case("b", &compared)));
    for format in ["human", "json", "junit"] {
        let said = triage(&project, &["a.xml", "--no-history", "-f", format]).stdout;
        assert!(
            !said.contains(token) && said.contains("[secret api_key]"),
            "{said}"
        );
    }
}
