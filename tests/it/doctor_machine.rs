//! What `jelly doctor`, and a run, see on the machine of a server that can't start: what is the
//! project's own, how a file was saved, which characters an entry has.

use crate::doctor_launch::examined;
use crate::support::Project;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

/// What the fixes of a server say as one text.
#[track_caller]
fn told(project: &Project, server: &Value) -> (String, String) {
    let (server, fixes) = examined(project, server);
    let diagnosis = &server["diagnosis"];
    let what = diagnosis["advice"]["what"].as_str().unwrap_or_default();
    (what.to_owned(), fixes.join("\n"))
}

#[test]
fn what_is_the_projects_own_is_never_to_be_installed() {
    let project = Project::empty();
    for (file, text) in [
        ("conf/srvpkg/__init__.py", ""),
        ("conf/srvpkg/server.py", "import srvpkg.utl\n"),
        ("conf/srvpkg/util.py", ""),
        ("conf/lib/core.py", "class Thing:\n    pass\n"),
        (
            "conf/kw.py",
            "from lib.core import Thing\nThing(colour=1)\n",
        ),
        ("conf/name.py", "from lib.core import Other\n"),
        ("conf/pyproject.toml", ""),
        ("conf/src/deep.py", "import src.util\n"),
        ("conf/src/util.py", ""),
    ] {
        project.write(file, text);
    }
    for (args, wanted) in [
        (json!(["-m", "srvpkg.server"]), "`util` is there"),
        (json!(["-m", "srvpkg.servr"]), "\"srvpkg.server\""),
        (json!(["kw.py"]), "kw.py:2"),
        (json!(["name.py"]), "name.py:1, or define `Other` there"),
        (json!(["src/deep.py"]), "\"PYTHONPATH\""),
    ] {
        let server = json!({ "command": "python3", "args": args, "cwd": project.path("conf") });
        let (what, fixes) = told(&project, &server);
        assert!(fixes.contains(wanted), "{args}: {what}\n{fixes}");
        let installs = ["pip", "uvx", "--with"].iter().any(|it| fixes.contains(it));
        assert!(!installs, "{args}: {fixes}");
    }
}

#[test]
fn npm_has_nothing_of_the_projects_own() {
    let project = Project::empty();
    let workspaces = json!({ "name": "root", "workspaces": ["packages/*"] });
    for (file, text) in [
        ("conf/package.json", workspaces.to_string()),
        (
            "conf/packages/b/package.json",
            json!({ "name": "@me/b" }).to_string(),
        ),
        ("conf/src/util.ts", String::new()),
        ("conf/ws.mjs", "import '@me/b';\n".to_owned()),
        ("conf/own.mjs", "import 'root/util.js';\n".to_owned()),
        ("conf/src.mjs", "import 'src/util';\n".to_owned()),
        ("conf/alias.mjs", "import '@/lib/util.js';\n".to_owned()),
        ("conf/other.mjs", "import 'left-pad';\n".to_owned()),
    ] {
        project.write(file, text);
    }
    for (script, wanted, is_installed) in [
        ("ws.mjs", "have the workspaces linked", false),
        ("own.mjs", "is the project itself", false),
        ("src.mjs", "`tsconfig.json`", false),
        ("alias.mjs", "`tsconfig.json`", false),
        ("other.mjs", "npm install left-pad", true),
    ] {
        let server =
            json!({ "command": "node", "args": [project.path(&format!("conf/{script}"))] });
        let (what, fixes) = told(&project, &server);
        assert!(fixes.contains(wanted), "{script}: {what}\n{fixes}");
        let named = fixes.lines().any(|line| line.contains("npm install "));
        assert_eq!(named, is_installed, "{script}: {fixes}");
    }
}

#[test]
fn a_character_that_looks_like_a_blank_is_gone_from_what_is_to_be_pasted() {
    let project = Project::empty();
    project.write("conf/server.js", "");
    let script = project.path("conf/server.js").display().to_string();
    for (command, args, wanted) in [
        ("node", json!([format!("{script}\u{a0}")]), json!([script])),
        ("node", json!([format!("{script}\n")]), json!([script])),
        ("node", json!([format!("{script}\r")]), json!([script])),
        (
            "node",
            json!([format!("{script}\u{200b}")]),
            json!([script]),
        ),
        (
            "node",
            json!([format!("{script}\u{a0}--root")]),
            json!([script, "--root"]),
        ),
        (
            "sh",
            json!(["-c", "nonode\u{a0}x"]),
            json!(["-c", "nonode x"]),
        ),
    ] {
        let (server, fixes) = examined(&project, &json!({ "command": command, "args": args }));
        let pasted = fixes.iter().find_map(|fix| fix.strip_prefix("\"args\": "));
        let pasted: Value = serde_json::from_str(pasted.unwrap_or_default())
            .unwrap_or_else(|error| panic!("{args}: {error}: {server:#}"));
        assert_eq!(pasted, wanted, "{args}");
    }
    let (_, fixes) = examined(
        &project,
        &json!({ "command": "node\u{a0}", "args": [script] }),
    );
    assert!(
        fixes.contains(&"\"command\": \"node\"".to_owned()),
        "{fixes:?}"
    );
}

#[test]
fn a_script_that_was_saved_on_windows_is_told_as_such() {
    let project = Project::empty();
    project.write("conf/run.sh", "set -e\r\ncd sub\r\nexec node server.js\r\n");
    project.write("conf/mixed.sh", "#!/bin/sh\nexec node none.js\r\n");
    let utf_16: Vec<u8> = "#!/bin/sh\nexec true\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let wide = [&b"\xff\xfe"[..], &utf_16].concat();
    for name in ["conf/wide.sh", "conf/wide.py"] {
        project.write(name, "");
        fs::write(project.path(name), &wide).unwrap();
    }
    for name in ["conf/wide.sh", "conf/mixed.sh"] {
        fs::set_permissions(project.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = |name: &str| project.path(&format!("conf/{name}")).display().to_string();
    for (server, wanted) in [
        (
            json!({ "command": "bash", "args": [path("run.sh")] }),
            "run.sh:1 on",
        ),
        (json!({ "command": path("mixed.sh") }), "mixed.sh:2 on"),
        (
            json!({ "command": path("wide.sh") }),
            "wide.sh is saved in UTF-16",
        ),
        (
            json!({ "command": "python3", "args": [path("wide.py")] }),
            "wide.py is saved in UTF-16",
        ),
    ] {
        let (what, fixes) = told(&project, &server);
        assert!(what.contains(wanted), "{server}: {what}\n{fixes}");
        assert!(
            !fixes.contains("chmod") && !fixes.contains("npm"),
            "{server}: {fixes}"
        );
    }
}

#[test]
fn what_docker_refuses_inside_of_a_server_is_none_of_the_servers_arguments() {
    let project = Project::empty();
    let refuses = "#!/bin/sh\necho 'unknown flag: --rmm' >&2\necho >&2\necho \"See 'docker run --help'.\" >&2\nexit 125\n";
    for name in ["conf/sbx", "conf/docker"] {
        project.write(name, refuses);
        fs::set_permissions(project.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = |name: &str| project.path(&format!("conf/{name}")).display().to_string();
    let inside = json!({ "command": path("sbx"), "args": ["-b", "docker"] });
    let (what, fixes) = told(&project, &inside);
    assert!(
        what.contains("starts `docker run`, which refuses `--rmm`"),
        "{what}"
    );
    assert!(!fixes.contains("args"), "{fixes}");
    let carried = json!({
        "command": "nice", "args": ["-n", "5", path("docker"), "run", "--rmm", "x"],
    });
    let (what, fixes) = told(&project, &carried);
    assert!(what.contains("`docker run` refuses `--rmm`"), "{what}");
    assert!(!fixes.contains("\"args\""), "{fixes}");
}

#[test]
fn a_run_says_what_doctor_sees_of_a_command_that_is_not_there() {
    let project = Project::empty();
    let run = |server: Value| {
        let plan =
            json!({ "version": 1, "servers": { "s": server }, "steps": [{ "list": "tools" }] });
        project.write("p.json", plan.to_string());
        let ended = project.jelly(&["run", "p.json", "--retries", "0"]).output();
        ended.stdout
    };
    let told = run(json!({ "command": "pyhton3" }));
    assert!(
        told.contains("`pyhton3` is probably `python3`, mistyped"),
        "{told}"
    );
    assert!(!told.contains("Install `pyhton3`"), "{told}");
    project.write(".venv/pyvenv.cfg", "");
    project.write(".venv/bin/x", "");
    symlink("/none/python3", project.path(".venv/bin/python")).unwrap();
    let told = run(json!({ "command": "./.venv/bin/python", "args": ["x.py"] }));
    assert!(told.contains("has lost its Python"), "{told}");
    assert!(!told.contains("A relative path begins"), "{told}");
    let told = run(json!({ "command": "./bin/none" }));
    assert!(told.contains("A relative path begins"), "{told}");
}
