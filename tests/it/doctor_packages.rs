//! What `jelly doctor` says of packages, environments and runtimes that don't
//! fit together: by what is installed, and not by a fixed list.

use crate::support::doctor::{examined, fixes, of};
use crate::support::{Project, real};
use serde_json::{Value, json};
use std::path::Path;

/// Writes an environment of Python: a server that calls what the installed
/// version of `dep` does not have, and a script that starts it.
fn environment(project: &Project, name: &str, requires: &str, keeper: &str) -> Value {
    let site = format!("{name}/lib/python3.11/site-packages");
    project.write(&format!("{site}/dep/__init__.py"), "");
    project.write(
        &format!("{site}/dep-2.3.0.dist-info/METADATA"),
        "Metadata-Version: 2.1\nName: dep\nVersion: 2.3.0\n",
    );
    project.write(&format!("{site}/srv/__init__.py"), "from dep import gone\n");
    project.write(
        &format!("{site}/srv-1.0.0.dist-info/METADATA"),
        format!("Metadata-Version: 2.1\nName: srv\nVersion: 1.0.0\n{requires}\n"),
    );
    if !keeper.is_empty() {
        let receipt = format!("[tool]\nrequirements = [{{ name = \"{name}\" }}]\n");
        project.write(&format!("{name}/{keeper}"), receipt);
    }
    let folder = project.path(&site).display().to_string();
    let start = project.write(
        &format!("{name}-start.py"),
        format!("import sys\nsys.path.insert(0, {folder:?})\nimport srv\n"),
    );
    json!({ "command": "python3", "args": [start] })
}

#[track_caller]
fn tells(report: &Value, name: &str, cause: &str, told: &str) {
    let server = of(report, name);
    assert_eq!(server["state"], "broken", "{server:#}");
    let diagnosis = &server["diagnosis"];
    assert_eq!(diagnosis["root_cause"], cause, "{server:#}");
    let said = format!(
        "{} {} {}",
        diagnosis["advice"]["what"],
        diagnosis["advice"]["why"],
        fixes(server).join("\n")
    );
    assert!(said.contains(told), "{name}, {told}: {said}");
}

#[test]
fn the_servers_own_metadata_says_which_version_it_was_written_for() {
    let project = Project::empty();
    let asks = |range: &str| format!("Requires-Dist: other>=1\nRequires-Dist: dep[x]{range}");
    let mut servers = json!({
        "open": environment(&project, "open", &asks(">=1.6.0"), ""),
        "early": environment(&project, "early", &asks(">=0.1.0"), ""),
        "broken": environment(&project, "broken", &asks("<2,>=1.6"), ""),
        "inside": environment(&project, "inside", &asks(">=2.1"), ""),
        "silent": environment(&project, "silent", "", ""),
        "tool": environment(&project, "tool", &asks(">=1.6.0"), "uv-receipt.toml"),
        "piped": environment(&project, "piped", &asks(">=1.6.0"), "pipx_metadata.json"),
        "extra": environment(&project, "extra", "Requires-Dist: dep>=9; extra == 'x'", ""),
    });
    let uvx = project.script(
        "bin/uvx",
        &format!(
            "#!/bin/sh\nexec python3 {}\n",
            project.path("open-start.py").display()
        ),
    );
    servers["uvx"] = json!({ "command": uvx, "args": ["--with", "dep", "srv"] });
    let report = examined(&project, &servers, "30s");
    let cause = "dependency_version_mismatch";
    // uv's environments have no pip.
    let uv = "$ uv pip install --python python3 'dep";
    tells(&report, "open", cause, &format!("{uv}<2'"));
    tells(&report, "open", cause, "`srv` was written for `dep>=1.6.0`");
    // Nobody wrote for 0.1, which may never have been published.
    tells(&report, "early", cause, &format!("{uv}<2'"));
    tells(&report, "broken", cause, &format!("{uv}<2,>=1.6'"));
    tells(&report, "inside", cause, &format!("{uv}<2.3'"));
    tells(&report, "silent", cause, &format!("{uv}<2'"));
    tells(
        &report,
        "extra",
        cause,
        "does not say which version it needs",
    );
    tells(
        &report,
        "tool",
        cause,
        "$ uv tool install --with 'dep<2' tool",
    );
    tells(&report, "piped", cause, "$ pipx inject piped 'dep<2'");
    tells(
        &report,
        "uvx",
        cause,
        r#""args": ["--with", "dep<2", "srv"]"#,
    );
    tells(&report, "uvx", cause, "--exclude-newer");
}

/// A package of npm in a folder of modules.
fn npm(project: &Project, folder: &str, package: &Value, files: &[(&str, &str)]) {
    project.write(&format!("{folder}/package.json"), package.to_string());
    for (file, text) in files {
        project.write(&format!("{folder}/{file}"), text);
    }
}

#[test]
fn what_an_installed_package_of_npm_lacks_is_told_with_the_range_that_is_asked_for() {
    let project = Project::empty();
    let wants = |range: &str| json!({ "name": "own", "type": "module", "dependencies": { "@s/sdk": range } });
    let sdk = json!({ "name": "@s/sdk", "version": "0.6.0", "type": "module", "exports": { "./*": "./dist/*" } });
    let types: &[(&str, &str)] = &[("dist/types.js", "export const A = 1\n")];
    for (name, range) in [("app", "^1.12.0"), ("late", ">=0.4")] {
        npm(&project, name, &wants(range), &[]);
        npm(
            &project,
            &format!("{name}/node_modules/@s/sdk"),
            &sdk,
            types,
        );
    }
    project.write("app/mcp.js", "import '@s/sdk/server/mcp.js'\n");
    project.write("app/export.js", "import { B } from '@s/sdk/types.js'\n");
    project.write("late/export.js", "import { B } from '@s/sdk/types.js'\n");
    project.write("app/ending.js", "import '@s/sdk/types'\n");
    // Nothing says which version it was written for.
    let own = json!({ "name": "own", "type": "module" });
    npm(
        &project,
        "free",
        &own,
        &[("export.js", "import { B } from '@s/sdk/types.js'\n")],
    );
    npm(&project, "free/node_modules/@s/sdk", &sdk, types);
    let tool = json!({ "name": "tool", "version": "2.0.0", "bin": "dist/cli.js" });
    npm(
        &project,
        "app/node_modules/tool",
        &tool,
        &[("dist/cli.js", "")],
    );
    let at = |path: &str| project.path(path).display().to_string();
    let servers = json!({
        "subpath": { "command": "node", "args": [at("app/mcp.js")] },
        "export": { "command": "node", "args": [at("app/export.js")] },
        "ending": { "command": "node", "args": [at("app/ending.js")] },
        "blank": { "command": "node", "args": [" --no-warnings", at("app/ending.js")] },
        "open": { "command": "node", "args": [at("late/export.js")] },
        "free": { "command": "node", "args": [at("free/export.js")] },
        "moved": { "command": "node", "args": [at("app/node_modules/tool/build/index.js")] },
        "absent": { "command": "node", "args": [at("app/node_modules/none/index.js")] },
    });
    let report = examined(&project, &servers, "30s");
    let cause = "dependency_version_mismatch";
    let app = at("app");
    let install = format!("$ cd {app} && npm install '@s/sdk@^1.12.0'");
    tells(&report, "subpath", cause, &install);
    tells(
        &report,
        "subpath",
        cause,
        "The installed `@s/sdk` 0.6.0 has no",
    );
    tells(&report, "export", cause, &install);
    let ending = format!("as in `…/types.js`, in {} or", at("app/ending.js"));
    tells(&report, "ending", cause, &ending);
    let blank = r#""args": ["--no-warnings", "#;
    tells(&report, "blank", "invalid_argument", blank);
    tells(&report, "open", cause, "npm install '@s/sdk@<0.5'");
    let free = format!(
        "Install that one by `cd {} && npm install '@s/sdk@<version>'`, which writes",
        at("free")
    );
    tells(&report, "free", cause, &free);
    tells(
        &report,
        "moved",
        "missing_file",
        &at("app/node_modules/tool/dist/cli.js"),
    );
    tells(
        &report,
        "absent",
        "missing_file",
        &format!("npm install --prefix {app} none"),
    );
}

#[test]
fn an_old_node_is_told_by_what_the_package_asks_for() {
    let project = Project::empty();
    let node = project.script(
        "old/node",
        "#!/bin/sh\n[ \"$1\" = --version ] && { echo v16.20.2; exit; }\necho boom >&2\nexit 1\n",
    );
    let asks =
        json!({ "name": "srv", "version": "1.0.0", "engines": { "node": "^20.19 || >=22" } });
    npm(&project, "n/node_modules/srv", &asks, &[("cli.js", "")]);
    let says_nothing = json!({ "name": "top", "dependencies": { "srv": "1" } });
    npm(&project, "n", &says_nothing, &[("index.js", "")]);
    let at = |path: &str| project.path(path).display().to_string();
    let servers = json!({
        "old": { "command": node, "args": [at("n/node_modules/srv/cli.js")] },
        "below": { "command": node, "args": [at("n/index.js")] },
    });
    let report = examined(&project, &servers, "30s");
    let told = "`srv` needs Node ^20.19 || >=22, and 16.20.2 runs it.";
    for name in ["old", "below"] {
        tells(&report, name, "runtime_version_mismatch", told);
        let own = format!("$ {} --version", Path::new(&node).display());
        tells(&report, name, "runtime_version_mismatch", &own);
    }
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn who_waits_for_a_debugger_is_never_healthy() {
    let project = Project::empty();
    let memory = real("npm/node_modules/@modelcontextprotocol/server-memory/dist/index.js");
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let servers = json!({
        "flag": { "command": "node", "args": [format!("--inspect-brk={port}"), memory] },
        "options": { "command": "node", "args": [memory], "env": { "NODE_OPTIONS": "--inspect-brk=0" } },
        "pdb": { "command": "python3", "args": ["-m", "pdb", project.write("x.py", "import time\n")] },
    });
    let report = examined(&project, &servers, "6s");
    let (cause, told) = ("startup_timeout", "The server waits for a debugger");
    for name in ["flag", "options", "pdb"] {
        tells(&report, name, cause, told);
    }
    let args = json!([memory]).to_string();
    tells(&report, "flag", cause, &format!("\"args\": {args}"));
    tells(
        &report,
        "options",
        cause,
        r#""env": { "NODE_OPTIONS": "" }"#,
    );
}

#[test]
fn runtimes_and_tools_that_are_not_meant_or_not_there_are_named() {
    let project = Project::empty();
    let write = |name: &str, text: &str| project.write(name, text).display().to_string();
    let py = write("own.py", "from mcp import x\n");
    let ts = write("own.ts", "const a: number\nenum X { A }\n");
    let coded = write(
        "coded.js",
        "const status = 1\nif (status) throw new Error('no') // 429 rate limit, API_KEY is not set\n",
    );
    project.write("proj/pyproject.toml", "[project]\nname = \"proj\"\n");
    let says = |name: &str, words: &str| {
        project.script(name, &format!("#!/bin/sh\necho '{words}' >&2\nexit 2\n"))
    };
    let uv = says("a/uv", "error: Failed to spawn: `main.py`");
    let old = says(
        "b/uvx",
        "error: No interpreter found for Python 3.8 in managed installations",
    );
    let docker = says(
        "c/docker",
        "docker: Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?",
    );
    let lost = project.script(
        "uv/tools/srv/bin/srv",
        "#!/nowhere/uv/tools/srv/bin/python\n",
    );
    let servers = json!({
        "python": { "command": "node", "args": [py] },
        "by_shell": { "command": "sh", "args": [py] },
        "typescript": { "command": "node", "args": [ts] },
        "coded": { "command": "node", "args": [coded] },
        "script": { "command": uv, "args": ["--directory", project.path("proj"), "run", "main.py"] },
        "folder": { "command": uv, "args": ["--directory", "/nowhere/proj", "run", "main.py"] },
        "interpreter": { "command": old, "args": ["--python", "3.8", "srv"] },
        "daemon": { "command": docker, "args": ["run", "-i", "x/y"] },
        "tool": { "command": "mcp-server-sqlite", "args": ["--db-path", "x"], "env": { "PATH_": "" } },
        "lost": { "command": lost },
    });
    let report = examined(&project, &servers, "30s");
    tells(
        &report,
        "python",
        "invalid_argument",
        "is a script of Python, and `node` runs it",
    );
    tells(
        &report,
        "python",
        "invalid_argument",
        r#""command": "python3""#,
    );
    tells(
        &report,
        "by_shell",
        "invalid_argument",
        "is a script of Python, and `sh` runs it",
    );
    tells(&report, "typescript", "invalid_argument", "tsx");
    tells(
        &report,
        "script",
        "missing_file",
        "proj/main.py does not exist",
    );
    tells(
        &report,
        "folder",
        "missing_directory",
        "/nowhere/proj does not exist",
    );
    assert!(!fixes(of(&report, "folder")).join("\n").contains("mkdir"));
    tells(
        &report,
        "interpreter",
        "runtime_version_mismatch",
        "$ uv python install 3.8",
    );
    tells(
        &report,
        "daemon",
        "dependency_unavailable",
        "The daemon of docker is not running",
    );
    tells(
        &report,
        "tool",
        "command_not_found",
        r#""command": "uvx", "args": ["mcp-server-sqlite", "--db-path", "x"]"#,
    );
    tells(
        &report,
        "lost",
        "command_not_found",
        "uv installed it; install it again by `uv tool install --force` from the source",
    );
    // Printed code is no evidence.
    let coded = &of(&report, "coded")["diagnosis"]["root_cause"];
    assert_eq!(coded, "crashed_during_startup");
}
