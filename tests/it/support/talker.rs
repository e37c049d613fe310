//! A server that says what it is told to, wherever a server can say anything.

use super::Project;
use std::fs;
use std::path::Path;

/// Writes `server.py`, which takes a way to behave (`good`, `noisy`: text among
/// its messages, `dead`: it exits at once) and names of files `<name>.txt`
/// beside it, and says what stands in them: to stderr, in noise, in answers, in
/// what it offers.
pub fn talker(beside: &Project) -> String {
    beside.write(
        "server.py",
        r#"import json, os, sys
words = b"".join(open(os.path.join(os.path.dirname(__file__), n + ".txt"), "rb").read() for n in sys.argv[2:])
text = words.decode()
sys.stderr.buffer.write(words)
sys.stderr.flush()
if sys.argv[1] == "dead":
    sys.exit(7)
def send(message, ascii=True):
    sys.stdout.write(json.dumps(message, ensure_ascii=ascii) + "\n")
    sys.stdout.flush()
if sys.argv[1] == "noisy":
    print(text, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if id is None:
        continue
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "small", "version": "1", "title": text}, "instructions": text}
    elif method == "tools/list":
        result = {"tools": [{"name": n, "description": text, "annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object",
                  "properties": {"it": {"type": "string", "description": text}}}} for n in ("work", "refuse", "fail")]}
    elif method == "tools/call" and message["params"]["name"] == "refuse":
        send({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": text, "data": {"details": text}}}, False)
        continue
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": text}], "structuredContent": {"said": text.splitlines()},
                  "isError": message["params"]["name"] == "fail"}
    else:
        send({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}})
        continue
    send({"jsonrpc": "2.0", "id": id, "result": result})
"#,
    );
    beside.at("server.py")
}

/// Every file below the folder, by its path.
pub fn files(folder: &Path, all: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            files(&path, all);
        } else {
            let bytes = fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            all.push((path.display().to_string(), text));
        }
    }
}
