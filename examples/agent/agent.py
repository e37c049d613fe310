"""An agent that decides what to do about failures, by three fields of each diagnosis.

It reads no text: not the message, not the evidence, not the advice.

    jelly triage --input failures failures.jsonl --format jsonl | python3 agent.py
    python3 agent.py --plan plan.yaml            # runs a plan by `jelly run --format agent`
    python3 agent.py --report junit.xml          # asks `jelly serve` for the failures of a report

It prints a line for each failure: {"id", "decision"}.
"""

import json
import subprocess
import sys


def decide(diagnosis):
    """What to do next: `retry` it as it is, `repair` what it runs in, or `stop` and hand it over."""
    retryable = diagnosis.get("retryable")
    if retryable is None:
        return "stop"  # No known pattern matches: guessing would be worse.
    if retryable:
        return "retry"
    if diagnosis["side"] == "test" and not diagnosis.get("ambiguous"):
        return "repair"
    return "stop"  # The code is wrong, or may be, and no rerun makes it right.


def say(name, diagnosis):
    print(json.dumps({"id": name, "decision": decide(diagnosis)}))


def of_lines(lines):
    for line in lines:
        if line.strip():
            entry = json.loads(line)
            say(entry["id"], entry["diagnosis"])


def of_plan(plan):
    # Any exit code but 2 comes with a report.
    done = subprocess.run(["jelly", "run", plan, "--format", "agent"], stdout=subprocess.PIPE)
    for run in json.loads(done.stdout)["plans"]:
        for failure in run["failures"]:
            say(failure["fingerprint"], failure)


def of_report(report):
    server = subprocess.Popen(["jelly", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(message):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()

    def ask(number, method, params):
        send({"id": number, "method": method, "params": params})
        for line in server.stdout:
            answer = json.loads(line)
            if answer.get("id") == number:
                return answer["result"]
        raise SystemExit("jelly serve has ended")

    client = {"name": "agent.py", "version": "1"}
    ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    send({"method": "notifications/initialized"})
    call = {"name": "triage_report", "arguments": {"paths": [report]}}
    result = ask(2, "tools/call", call)["structuredContent"]
    for failure in result["failures"]:
        say(failure["name"], failure["diagnosis"])
    server.stdin.close()
    server.wait()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--plan", plan]:
            of_plan(plan)
        case ["--report", report]:
            of_report(report)
        case []:
            of_lines(sys.stdin)
        case _:
            raise SystemExit(__doc__)
