use crate::text::redact::{
    MARK, secrets_in_argv, secrets_in_header, show_argv, show_url, show_value,
};
use proptest::prelude::*;

fn shown(argv: &[&str]) -> Vec<String> {
    let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
    show_argv(&argv)
}

/// As people write them for real servers, bridges and containers; `S3`
/// stands for the secret.
const PLACES: &[&[&str]] = &[
    &["srv", "--token", "S3"],
    &["srv", "--token=S3"],
    &["srv", "-token", "S3"],
    &["srv", "--accessToken", "S3", "--port", "80"],
    &["srv", "--clientSecret=S3"],
    &["srv", "--api-key", "S3"],
    &["srv", "--key", "S3"],
    &["srv", "--password", "S3"],
    &["java", "-Dspring.datasource.password=S3", "-jar", "x.jar"],
    &["docker", "run", "-e", "API_KEY=S3", "img:1"],
    &["docker", "run", "-eAPI_KEY=S3", "img:1"],
    &["docker", "run", "--env=API_KEY=S3", "img:1"],
    &[
        "npx",
        "mcp-remote",
        "https://h/sse",
        "--header",
        "Authorization: Bearer S3",
    ],
    &[
        "npx",
        "mcp-remote",
        "https://h/sse",
        "--header",
        "Authorization:S3",
    ],
    &[
        "npx",
        "mcp-remote",
        "https://h/sse",
        "--header",
        "X-Whose-Key:S3",
    ],
    &[
        "npx",
        "mcp-remote",
        "https://h/sse",
        "--header=Authorization: Bearer S3",
    ],
    &["curl", "-H", "X-API-Key: S3"],
    &["curl", "-HCookie: S3"],
    &["curl", "-u", "deploy:S3", "https://h/x"],
    &["curl", "-sSu", "deploy:S3", "https://h/x"],
    &["curl", "-udeploy:S3", "https://h/x"],
    &["/usr/bin/curl", "--user", "deploy:S3", "https://h/x"],
    &[
        "mcp-proxy",
        "--headers",
        "Authorization",
        "Bearer S3",
        "https://h/sse",
    ],
    &["npx", "mcp-remote", "https://h/sse?token=S3"],
    &["npx", "mcp-remote", "https://h/sse?x=1&api_key=S3&y=2#z"],
    &["srv", "https://h/mcp?key=S3"],
    &["srv", "postgres://app:S3@db/shop"],
    &["srv", "--dsn=postgres://app:S3@db/shop"],
    &["srv", "jdbc:sqlserver://h;user=x;password=S3"],
    &["srv", "DATABASE_URL=postgres://app:S3@db/shop"],
    &["srv", "host=h user=u password=S3"],
    &["srv", "Server=h;User Id=u;Password=S3;Encrypt=true"],
    &["srv", "http://a/,http://u:S3@b/"],
    &[
        "npx",
        "@smithery/cli",
        "run",
        "x",
        "--config",
        r#"{"apiKey":"S3","n":1}"#,
    ],
    &[
        "npx",
        "@smithery/cli",
        "run",
        "x",
        "--config",
        r#"{ "a": { "token" : "S3" } }"#,
    ],
    &[
        "npx",
        "@smithery/cli",
        "run",
        "x",
        "--config",
        r#""{\"apiKey\":\"S3\"}""#,
    ],
    &["npx", "@smithery/cli", r#"--config={"password":"S3"#],
    &["sh", "-c", "exec srv --token S3 --port 80"],
    &["sh", "-c", "exec env API_KEY=S3 srv"],
    &["npx -y srv --token S3"],
    &[
        "bash",
        "-c",
        "curl -sH \"Authorization: Bearer S3\" https://h/ ; exit 1",
    ],
    &["bash", "-c", "exec srv --header \"X-Api-Key: S3\""],
    &[
        "node",
        "-e",
        "throw new Error(\"401 for Authorization: Bearer S3\")",
    ],
];

#[test]
fn a_secret_is_masked_wherever_people_put_it() {
    for argv in PLACES {
        let real: Vec<String> = argv
            .iter()
            .map(|w| w.replace("S3", "hunter2hunter2"))
            .collect();
        let masked: Vec<String> = argv.iter().map(|w| w.replace("S3", "[secret]")).collect();
        assert_eq!(show_argv(&real), masked);
        let found = secrets_in_argv(&real);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].value, "hunter2hunter2");
    }
}

#[test]
fn in_a_line_the_value_of_a_variable_ends_at_the_first_blank() {
    let lines: [(&[&str], &[&str]); 6] = [
        (
            &["API_KEY=abcdefgh node /srv/app/index.js"],
            &["API_KEY=[secret] node /srv/app/index.js"],
        ),
        (
            &["sh", "-c", "A_TOKEN=abcdefgh B_SECRET='a b c' srv (/x/y)"],
            &[
                "sh",
                "-c",
                "A_TOKEN=[secret] B_SECRET='[secret]' srv (/x/y)",
            ],
        ),
        (
            &["sh", "-c", "exec srv --password 'open sesame' /x/y"],
            &["sh", "-c", "exec srv --password '[secret]' /x/y"],
        ),
        (
            &["bash", "-lc", "A_TOKEN=1 sh -c 'srv --token abcdefgh /x/y'"],
            &["bash", "-lc", "A_TOKEN=1 sh -c 'srv --token [secret] /x/y'"],
        ),
        (
            &["docker", "run", "-e", "PASSWORD=a b c", "img:1"],
            &["docker", "run", "-e", "PASSWORD=[secret]", "img:1"],
        ),
        (
            &["=\"a b\" c", "sh", "-c", "x=\"=\"a b\" c"],
            &["=\"a b\" c", "sh", "-c", "x=\"=\"a b\" c"],
        ),
    ];
    for (argv, masked) in lines {
        assert_eq!(shown(argv), masked);
    }
    assert_eq!(show_value("PASSPHRASE", "a b c"), "[secret]");
}

#[test]
fn in_a_line_the_value_of_a_variable_ends_where_a_shell_ends_it() {
    for (line, masked) in [
        (
            "API_TOKEN=$(cat tokf) python3 srv.py",
            "API_TOKEN=$(cat tokf) python3 srv.py",
        ),
        (
            "API_TOKEN=$(a \"$(b c)\" (d) ) python3 srv.py",
            "API_TOKEN=$(a \"$(b c)\" (d) ) python3 srv.py",
        ),
        (
            "API_TOKEN=`cat tokf` srv x.py",
            "API_TOKEN=`cat tokf` srv x.py",
        ),
        (
            "API_TOKEN=hunter2\\ value99 srv x.py",
            "API_TOKEN=[secret] srv x.py",
        ),
        (
            "PASSWORD=hunter2'abc def' srv x.py",
            "PASSWORD=[secret] srv x.py",
        ),
        (
            "exec env PASSWORD=hunter2'abc def' srv x.py",
            "exec env PASSWORD=[secret] srv x.py",
        ),
        (
            "AWS_SECRET_ACCESS_KEY=\"hunter2 abc9 srv",
            "AWS_SECRET_ACCESS_KEY=\"[secret]",
        ),
        (
            "A=1 srv --password 'hunter2 abc9",
            "A=1 srv --password '[secret]",
        ),
        (
            "exec srv --password a\\ b9 /x",
            "exec srv --password [secret] /x",
        ),
        ("A_TOKEN=\"hunter2 abc9 ${X} y", "A_TOKEN=\"[secret]"),
    ] {
        assert_eq!(shown(&["sh", "-c", line])[2], masked);
    }
}

#[test]
fn only_a_shell_is_given_lines() {
    let of_shells: [&[&str]; 5] = [
        &["/bin/sh", "-c"],
        &["env", "A=b", "bash", "-o", "pipefail", "-lc"],
        &["docker", "run", "img:1", "/usr/bin/fish", "-c"],
        &["C:\\Git\\bin\\bash.exe", "-c"],
        &["zsh", "--rcfile", "x", "-euxc"],
    ];
    let of_others: [&[&str]; 4] = [
        &["x", "-c"],
        &["x", "-exec"],
        &["sh", "run.sh", "-c"],
        &["sh", "-c", "srv", "-c"],
    ];
    for (programs, masked) in [
        (&of_shells[..], "PASSWORD=[secret] of words"),
        (&of_others[..], "PASSWORD=[secret]"),
    ] {
        for words in programs {
            let argv = [*words, &["PASSWORD=hunter2 of words"][..]].concat();
            let shown = shown(&argv);
            assert_eq!(shown.last().map(String::as_str), Some(masked), "{argv:?}");
        }
    }
}

#[test]
fn what_is_no_secret_is_shown() {
    for argv in [
        &[
            "srv",
            "--max-tokens",
            "5",
            "--token-limit=7",
            "--port",
            "80",
        ][..],
        &["srv", "--no-auth-token", "/data", "--use-token", "x"],
        &[
            "srv",
            "--token-file",
            "/run/t",
            "--key",
            "certs/server.key",
            "--key=/etc/k.pem",
        ],
        &[
            "docker",
            "run",
            "-e",
            "API_KEY",
            "org/token:latest",
            "--env-file",
            ".env",
        ],
        &[
            "docker",
            "run",
            "-v",
            "/a/token:/b:ro",
            "--user",
            "1000:1000",
        ],
        &["srv", "--token", "--flag", "plain"],
        &[
            "srv",
            "--header",
            "Accept: text/html",
            "--header",
            "X-Trace:on",
        ],
        &[
            "srv",
            "--header",
            "Authorization:${AUTH_HEADER}",
            "--token",
            "<YOUR_TOKEN>",
        ],
        &[
            "srv",
            "https://h/a?page=1&q=token#key",
            "git@github.com:a/b",
            "ssh://git@h/a",
        ],
        &[
            "python3",
            "-c",
            "token = get(); print({'key': token})\nkey=1",
        ],
        &["srv", r#"{"jsonrpc":"2.0","keys":["a","b"],"token":null}"#],
        &[
            "srv",
            "--auth",
            "oauth2",
            "--password",
            "[secret PW]",
            "--cookie=true",
        ],
        &[
            "srv", "", "-", "--", "=", "a=", "--=x", "\"", "\\", "://", "é=ü",
        ],
    ] {
        assert_eq!(shown(argv), argv);
    }
}

#[test]
fn a_value_that_begins_with_a_dash_is_masked_and_a_flag_is_not() {
    assert_eq!(shown(&["--token", "-abc"]), ["--token", "[secret]"]);
    assert_eq!(shown(&["--token", "-p", "80"]), ["--token", "-p", "80"]);
    assert_eq!(shown(&["--token", "ghp_0123456789abcdef"])[1], "[secret]");
    assert_eq!(shown(&["ghp_0123456789abcdef"]), ["[secret]"]);
}

#[test]
fn a_url_is_shown_without_what_is_secret_in_it() {
    for (url, shown) in [
        ("http://h:1/mcp", "http://h:1/mcp"),
        ("https://me:pw@h/mcp?a=b", "https://h/mcp?a=b"),
        (
            "https://h/?api_key=abc&x=1",
            "https://h/?api_key=[secret]&x=1",
        ),
        (
            "https://h/?key=abc&sig=def#token=ghi",
            "https://h/?key=[secret]&sig=[secret]#token=[secret]",
        ),
        (
            "https://h/s/ghp_0123456789abcdef/mcp",
            "https://h/s/[secret]/mcp",
        ),
        // What stands in it already was found by its value.
        (
            "https://h/?key=[secret TEAM_KEY]&api_key=s3cr&x=1",
            "https://h/?key=[secret TEAM_KEY]&api_key=[secret]&x=1",
        ),
        ("https://h/a@b", "https://h/a@b"),
        ("https://h?x=a@b", "https://h?x=a@b"),
        ("nothing", "nothing"),
    ] {
        assert_eq!(show_url(url), shown);
    }
}

#[test]
fn a_variable_is_shown_without_what_is_secret_in_it() {
    for (name, value, shown) in [
        ("API_KEY", "hunter2", "[secret]"),
        (
            "DATABASE_URL",
            "postgres://u:hunter2@h/db",
            "postgres://u:[secret]@h/db",
        ),
        ("ANY", "ghp_0123456789abcdef", "[secret]"),
        (
            "GOOGLE_APPLICATION_CREDENTIALS",
            "/nope/cred.json",
            "/nope/cred.json",
        ),
        ("TOKEN_ENABLED", "true", "true"),
        (
            "HEADERS",
            r#"{"Authorization":"Bearer hunter2"}"#,
            r#"{"Authorization":"Bearer [secret]"}"#,
        ),
        ("HOME", "/root", "/root"),
    ] {
        assert_eq!(show_value(name, value), shown, "{name}");
    }
}

#[test]
fn of_a_header_the_scheme_is_no_secret() {
    let value = |name, value| {
        secrets_in_header(name, value)
            .first()
            .map(|found| found.value)
    };
    assert_eq!(value("Authorization", "Bearer abc"), Some("abc"));
    assert_eq!(value("Authorization", "abc def"), Some("abc def"));
    assert_eq!(value("X-Auth", "abc"), Some("abc"));
    assert_eq!(
        value("X-Any", "token ghp_0123456789abcdef"),
        Some("ghp_0123456789abcdef")
    );
    assert_eq!(value("Accept", "text/html"), None);
    assert_eq!(value("Authorization", "Bearer ${TOKEN}"), None);
}

proptest! {
    #[test]
    fn no_secret_shows_in_any_place(
        secret in "[a-zA-Z][a-zA-Z0-9_+-]{7,30}[0-9]", place in 0..PLACES.len(),
    ) {
        let argv: Vec<String> =
            PLACES[place].iter().map(|word| word.replace("S3", &secret)).collect();
        for word in show_argv(&argv) {
            prop_assert!(!word.contains(&secret), "{word}");
        }
    }

    #[test]
    fn whatever_the_words_are_only_what_is_found_is_masked(
        argv in proptest::collection::vec(
            "(-{0,2}(token|key|a|H|header|é)|[=:;&?#@/\"\\\\ {}]|://|Bearer |[a-z0-9]{1,9}|\\PC){0,9}",
            0..6,
        ),
    ) {
        let shown = show_argv(&argv);
        let found = secrets_in_argv(&argv);
        prop_assert_eq!(shown.len(), argv.len());
        for (n, (shown, word)) in shown.iter().zip(&argv).enumerate() {
            let here: Vec<_> = found.iter().filter(|found| found.word == n).collect();
            prop_assert_eq!(shown == word, here.is_empty());
            let gone: usize = here.iter().map(|found| found.value.len()).sum();
            let marks = here.len() * MARK.len();
            prop_assert_eq!(shown.len() + gone, word.len() + marks);
        }
    }
}

#[test]
fn the_key_of_a_webhook_is_known_by_its_address() {
    for (url, masked) in [
        (
            "https://hooks.slack.com/services/T0/B0/Pz01KqVbTx81mWr01Lf",
            "https://hooks.slack.com/services/T0/B0/[secret]",
        ),
        (
            "https://discord.com/api/webhooks/12/Pz01KqVbTx81mWr01Lf?wait=true",
            "https://discord.com/api/webhooks/12/[secret]?wait=true",
        ),
        (
            "https://mcp.zapier.com/api/mcp/s/Pz01KqVbTx81mWr01Lf/mcp",
            "https://mcp.zapier.com/api/mcp/s/[secret]/mcp",
        ),
        (
            "https://x.test/mcp/5d41402abc4b2a76b9719d911017c592",
            "https://x.test/mcp/[secret]",
        ),
        (
            "https://x.test/s/ODVmNTU4MDMtYTJk/sse?code=A1b2C3d4E5f6G7h8I9j0%3D%3D",
            "https://x.test/s/ODVmNTU4MDMtYTJk/sse?code=[secret]",
        ),
        (
            "https://x.test/s/ODVmNTU4MDMtYTJkMi00/sse",
            "https://x.test/s/[secret]/sse",
        ),
        (
            "https://example.com/services/T0/B0/Pz01KqVbTx81mWr01Lf",
            "https://example.com/services/T0/B0/Pz01KqVbTx81mWr01Lf",
        ),
        (
            "https://hooks.slack.com/services/",
            "https://hooks.slack.com/services/",
        ),
    ] {
        assert_eq!(show_url(url), masked);
        assert_eq!(shown(&["notify", url]), ["notify", masked]);
    }
}
