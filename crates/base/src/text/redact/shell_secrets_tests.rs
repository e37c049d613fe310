use crate::text::redact::show_argv;
use proptest::prelude::*;

fn shown(shell: &[&str], line: &str) -> String {
    let argv: Vec<String> = shell.iter().chain([&line]).map(|&w| w.to_owned()).collect();
    show_argv(&argv).pop().unwrap()
}

fn in_sh(line: &str) -> String {
    shown(&["sh", "-c"], line)
}

#[test]
fn a_secret_is_hidden_wherever_in_a_line_of_a_shell_it_stands() {
    for (line, masked) in [
        (
            "if [ -f x ]; then S_TOKEN='hunter2 v9' srv; fi",
            "if [ -f x ]; then S_TOKEN='[secret]' srv; fi",
        ),
        (
            "srv -j '{\"a\": 1}' --token 'hunter2 v9' x",
            "srv -j '{\"a\": 1}' --token '[secret]' x",
        ),
        ("(S_TOKEN=hunter2v9)", "(S_TOKEN=[secret])"),
        ("{ S_TOKEN=hunter2\\ v9 srv; }", "{ S_TOKEN=[secret] srv; }"),
        (
            "f() { S_TOKEN='hunter2 v9' srv; }; f",
            "f() { S_TOKEN='[secret]' srv; }; f",
        ),
        (
            "true&&S_TOKEN=hunter2\\ v9 srv",
            "true&&S_TOKEN=[secret] srv",
        ),
        ("true&&S_TOKEN=hunter2&&srv", "true&&S_TOKEN=[secret]&&srv"),
        (
            "echo a|S_TOKEN=hunter2\\ v9 srv",
            "echo a|S_TOKEN=[secret] srv",
        ),
        ("S_TOKEN=hunter2\\ v9>log srv", "S_TOKEN=[secret]>log srv"),
        ("$(S_TOKEN=hunter2\\ v9 srv)", "$(S_TOKEN=[secret] srv)"),
        (
            "A=1\nS_TOKEN='hunter2\nv9'\nsrv",
            "A=1\nS_TOKEN='[secret]'\nsrv",
        ),
        (
            "echo '{\"a\":\"b\"}' | x; S_TOKEN='it'\\''s hunter2' srv",
            "echo '{\"a\":\"b\"}' | x; S_TOKEN=[secret] srv",
        ),
        ("G_TOKEN+='hunter2 v9' srv", "G_TOKEN+='[secret]' srv"),
        (
            "export \"G_TOKEN\"='hunter2 v9'; srv",
            "export \"G_TOKEN\"='[secret]'; srv",
        ),
        ("env 'G_TOKEN=hunter2 v9' srv", "env 'G_TOKEN=[secret]' srv"),
        (
            "[ a ] && srv --token \\\n  hunter2v9 /x",
            "[ a ] && srv --token \\\n  [secret] /x",
        ),
        (
            "[ a ] && srv --token=hunter2v9 /x",
            "[ a ] && srv --token=[secret] /x",
        ),
        (
            "cd /x # a's\nS_TOKEN='hunter2 v9' srv",
            "cd /x # a's\nS_TOKEN='[secret]' srv",
        ),
        (
            "case a in a) S_TOKEN='hunter2 v9' srv;; esac",
            "case a in a) S_TOKEN='[secret]' srv;; esac",
        ),
        ("S_TOKEN=$'hunter2 v9' srv", "S_TOKEN=$'[secret]' srv"),
        (
            "sh -c \"cd /x && S_TOKEN='hunter2 v9' srv (a)\"",
            "sh -c \"cd /x && S_TOKEN='[secret]' srv (a)\"",
        ),
        (
            "bash -c 'S_TOKEN=\"hunter2 v9\" srv (a)'",
            "bash -c 'S_TOKEN=\"[secret]\" srv (a)'",
        ),
        (
            "(curl -H \"X-Api-Key: hunter2 v9\" https://h/x)",
            "(curl -H \"X-Api-Key: [secret]\" https://h/x)",
        ),
        (
            "(curl 'https://h/?token=hunter2v9&x=1')",
            "(curl 'https://h/?token=[secret]&x=1')",
        ),
        (
            "srv -j '{\"token\": \"hunter2 v9\", \"n\": 1}' x",
            "srv -j '{\"token\": \"[secret]\", \"n\": 1}' x",
        ),
        (
            "S_TOKEN=hunter2${X}v9 srv",
            "S_TOKEN=[secret]${X}[secret] srv",
        ),
        ("S_TOKEN=${X:-hunter2} srv", "S_TOKEN=[secret] srv"),
        ("S_TOKEN=hunter2\\ v9 srv", "S_TOKEN=[secret] srv"),
        ("S_TOKEN=hunter2\" v9\" srv", "S_TOKEN=[secret] srv"),
        ("S_TOKEN=\"hunter2 $X\"v9 srv", "S_TOKEN=[secret] srv"),
        ("srv --token hunter2\\ v9 /x", "srv --token [secret] /x"),
    ] {
        assert_eq!(in_sh(line), masked);
    }
}

#[test]
fn where_the_end_of_a_value_is_not_sure_all_that_follows_is_hidden() {
    for (line, masked) in [
        (
            "API_TOKEN=$'hunter\\' Uio2pas' srv1",
            "API_TOKEN=$'[secret]",
        ),
        ("A_TOKENS=(hunter2 v9) srv2", "A_TOKENS=[secret]"),
        (
            "A=1 A_TOKEN=$(case x in x) echo hunter2;; esac) srv",
            "A=1 A_TOKEN=[secret]",
        ),
        (
            "echo don't; S_TOKEN='hunter2 v9' srv",
            "echo don't; S_TOKEN='[secret]",
        ),
        (
            "srv <<E\nit's\nS_TOKEN=hunter2 v9\nE",
            "srv <<E\nit's\nS_TOKEN=[secret]",
        ),
        (
            "bash -c 'cd /x; A_TOKEN=hunter2\"v 9\" srv' y",
            "bash -c 'cd /x; A_TOKEN=[secret]' y",
        ),
        (
            "bash -c 'cd /x; A_TOKEN='\\''hunter2 v9'\\'' srv' y",
            "bash -c 'cd /x; A_TOKEN='[secret]",
        ),
        (
            "cat >x <<E\npassword: hunter2 v9\nE",
            "cat >x <<E\npassword: [secret]",
        ),
        ("srv --token \"hunter2 v9", "srv --token \"[secret]"),
    ] {
        assert_eq!(in_sh(line), masked);
    }
}

#[test]
fn each_shell_sets_its_variables_in_its_own_way() {
    let fish: &[&str] = &["fish", "-c"];
    let csh: &[&str] = &["csh", "-c"];
    let power: &[&str] = &[
        "pwsh",
        "-NoProfile",
        "-ExecutionPolicy",
        "Bypass",
        "-Command",
    ];
    let cmd: &[&str] = &["cmd.exe", "/d", "/c"];
    let nu: &[&str] = &["nu", "-c"];
    for (shell, line, masked) in [
        (
            fish,
            "set -gx API_TOKEN hunter2 v9; srv",
            "set -gx API_TOKEN [secret]; srv",
        ),
        (
            fish,
            "set -x API_TOKEN 'it\\'s hunter2'; srv",
            "set -x API_TOKEN '[secret]'; srv",
        ),
        (
            fish,
            "set -x API_TOKEN (cat /run/x); srv",
            "set -x API_TOKEN (cat /run/x); srv",
        ),
        (
            &["fish", "-C", "x", "-c"],
            "set -x API_TOKEN hunter2v9",
            "set -x API_TOKEN [secret]",
        ),
        (
            csh,
            "setenv API_TOKEN hunter2v9; srv",
            "setenv API_TOKEN [secret]; srv",
        ),
        (
            csh,
            "set api_token = hunter2v9; srv",
            "set api_token = [secret]; srv",
        ),
        (
            power,
            "$env:API_TOKEN='hunter2 v9'; srv",
            "$env:API_TOKEN='[secret]'; srv",
        ),
        (
            power,
            "$env:API_TOKEN = \"hunter2\\\"; srv 'a b'",
            "$env:API_TOKEN = \"[secret]\\\"; srv 'a b'",
        ),
        (
            power,
            "${env:API_TOKEN} = 'hunter2' + 'v9'; srv",
            "${env:API_TOKEN} = '[secret]'; srv",
        ),
        (
            power,
            "$env:API_TOKEN = (Get-Content x); srv",
            "$env:API_TOKEN = (Get-Content x); srv",
        ),
        (
            power,
            "& { srv --token 'hunter2 v9' }",
            "& { srv --token '[secret]' }",
        ),
        (
            power,
            "Set-Item -Path Env:\\API_TOKEN -Value 'hunter2 v9'; srv",
            "Set-Item -Path Env:\\API_TOKEN -Value '[secret]'; srv",
        ),
        (
            power,
            "[Environment]::SetEnvironmentVariable('API_TOKEN', 'hunter2 v9'); srv",
            "[Environment]::SetEnvironmentVariable('API_TOKEN', '[secret]'); srv",
        ),
        (
            power,
            "srv --token $env:API_TOKEN --port 1",
            "srv --token $env:API_TOKEN --port 1",
        ),
        (
            &["powershell"],
            "$env:API_TOKEN='hunter2 v9'; srv",
            "$env:API_TOKEN='[secret]'; srv",
        ),
        (
            cmd,
            "set API_TOKEN=hunter2 v9&& srv (x)",
            "set API_TOKEN=[secret]&& srv (x)",
        ),
        (
            cmd,
            "set \"API_TOKEN=hunter2 v9\" && srv (x)",
            "set \"API_TOKEN=[secret]\" && srv (x)",
        ),
        (
            nu,
            "$env.API_TOKEN = 'hunter2 v9'; srv",
            "$env.API_TOKEN = '[secret]'; srv",
        ),
        (
            &["sh", "-c", "-e"],
            "P_TOKEN=hunter2\\ v9 srv (x)",
            "P_TOKEN=[secret] srv (x)",
        ),
        (
            &["sh", "-cx"],
            "P_TOKEN=hunter2\\ v9 srv (x)",
            "P_TOKEN=[secret] srv (x)",
        ),
        (
            &["su", "-", "bob", "-c"],
            "P_TOKEN=hunter2\\ v9 srv (x)",
            "P_TOKEN=[secret] srv (x)",
        ),
        (
            &["nix-shell", "-p", "x", "--run"],
            "P_TOKEN=hunter2\\ v9 srv (x)",
            "P_TOKEN=[secret] srv (x)",
        ),
    ] {
        assert_eq!(shown(shell, line), masked);
    }
}

#[test]
fn a_whole_command_may_hold_the_line_of_a_shell() {
    for (command, masked) in [
        (
            "sh -c \"if [ -f x ]; then S_TOKEN='hunter2 v9' srv; fi\"",
            "sh -c \"if [ -f x ]; then S_TOKEN='[secret]' srv; fi\"",
        ),
        (
            "env A=b bash -lc 'f() { S_TOKEN=\"hunter2 v9\" srv; }; f'",
            "env A=b bash -lc 'f() { S_TOKEN=\"[secret]\" srv; }; f'",
        ),
    ] {
        assert_eq!(show_argv(&[command.to_owned()]), [masked]);
        let found = crate::text::redact::secrets_in_line(command);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].value, "hunter2 v9");
    }
}

#[test]
fn what_a_line_of_a_shell_does_not_spell_out_is_shown() {
    for line in [
        "D_TOKEN=$(cat /run/secrets/x) srv",
        "D_TOKEN=\"$(op read 'op://a/b')\" srv",
        "D_TOKEN=`cat /run/x` srv",
        "D_TOKEN=$X E_TOKEN=\"${Y}\" srv --token \"$D_TOKEN\" --key ${K}",
        "export D_TOKEN; read -s D_TOKEN; unset D_TOKEN",
        "A_TOKEN=[secret A_TOKEN] srv --token [secret B]",
        "echo \"Invalid token: expected (x)\" && [ -n \"$API_TOKEN\" ] || exit 1",
        "IFS=$'\\n'; cat >f <<E\nit's\nE\nA_TOKEN=$X srv --token \"${Y}\" (x)",
        "python3 -c 'for x in [\"API_TOKEN\", \"HOME\"]: print(x)'",
        "set -x; srv --max-tokens 5 --token-file /run/t",
        "curl -H \"Authorization: Bearer $TOKEN\" https://h/x",
        "select * from t where name = 'a b'; {x} [y] (z)",
    ] {
        assert_eq!(in_sh(line), line);
    }
}

#[test]
fn what_no_shell_reads_is_split_no_finer_than_before() {
    for word in [
        "const token = get(); f({ token: token }); if (token == null) { x = 1 }",
        "select token from t where (key = 'a b') and token = 'x y'",
        "if [ -f x ]; then echo; fi",
    ] {
        assert_eq!(shown(&["node", "-e"], word), word);
    }
}

#[test]
fn a_long_line_of_values_without_an_end_takes_no_longer_than_it_is() {
    let start = std::time::Instant::now();
    for part in [
        "A_TOKEN=hunter2v9$( ${X} ",
        "A_TOKEN=\"hunter2v9 ${X} ",
        "export A_TOKEN=`x$( ",
        "A_TOKEN=$(A_TOKEN=$(",
        "A_TOKEN=${X} ",
        "A_TOKEN=\"${X}\" ",
        "'A_TOKEN=$X A_TOKEN=\"$X\" ",
        "A_TOKEN=hunter2v9 ",
        "='a =\"b ",
        "A_TOKEN[ ",
        "'$(A_TOKEN=\"",
        "<<A A_TOKEN=$X ",
        "set A_TOKEN = $X ",
    ] {
        let many = part.repeat(4_000);
        for argv in [
            &["sh", "-c", &many][..],
            &["x", &many][..],
            &[many.as_str()][..],
        ] {
            let argv: Vec<String> = argv.iter().map(|&w| w.to_owned()).collect();
            assert_eq!(show_argv(&argv).len(), argv.len());
        }
    }
    assert!(start.elapsed().as_secs() < 60);
}

proptest! {
    /// Whatever stands around it, a secret that a shell reads whole is hidden whole.
    #[test]
    fn a_quoted_value_never_shows_in_a_line_of_a_shell(
        before in "((if|case|a|x=|srv|it's|#) |[;&|(){}<>\\[\\]\n\"'`$] ?|<<E\n|\\$\\(|\\$\\{A\\}|\\\\.){0,8}",
        sign in "(=|\\+=)",
        quote in "['\"]",
        after in "( [a-z;'\"(){}|&]{0,5}){0,3}",
    ) {
        let line = format!("{before} X_TOKEN{sign}{quote}hunter2 v9x z8{quote}{after}");
        let shown = in_sh(&line);
        prop_assert!(!shown.contains("hunter2") && !shown.contains("v9x"), "{line:?}\n{shown:?}");
        prop_assert!(!shown.contains("z8"), "{line:?}\n{shown:?}");
    }

    #[test]
    fn whatever_a_line_is_it_can_be_shown(
        line in "(X_TOKEN|--token|set|case|hunter2|é|\u{a0}|[=+:;&|(){}<>\\[\\]\n\"'`$#\\\\ ,?-]){0,24}",
        shell in 0..5_usize,
    ) {
        let shells: [&[&str]; 5] =
            [&["sh", "-c"], &["fish", "-c"], &["pwsh", "-c"], &["cmd", "/c"], &["srv"]];
        shown(shells[shell], &line);
    }
}
