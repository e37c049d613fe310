#!/usr/bin/env bash
# The step of a workflow that tests a server over Streamable HTTP with curl and jq:
# what `http.yaml` beside it says as a plan. Written for this comparison, in the
# form that such steps have in public repositories.
#
#   curl.sh COMMAND [ARGS]…     starts the server, with PORT in its environment
set -euo pipefail

export PORT=${PORT:-3941}
URL=http://127.0.0.1:$PORT/mcp
"$@" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT

for attempt in $(seq 60); do
  if curl --silent --output /dev/null "$URL"; then break; fi
  if ! kill -0 "$server" 2>/dev/null; then
    echo "the server exited"
    exit 1
  fi
  sleep 0.5
done

headers=$(mktemp)
response=$(curl --silent --show-error --max-time 30 --dump-header "$headers" \
  -X POST "$URL" \
  -H "Content-Type: application/json" \
  -H "Accept: application/json, text/event-stream" \
  -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"ci","version":"1.0"}}}')
session=$(grep -i '^mcp-session-id:' "$headers" | cut -d' ' -f2 | tr -d '\r')
if [ -z "$session" ]; then
  echo "no session: $response"
  exit 1
fi
curl --silent --show-error --max-time 30 --output /dev/null \
  -X POST "$URL" \
  -H "Content-Type: application/json" \
  -H "Accept: application/json, text/event-stream" \
  -H "Mcp-Session-Id: $session" \
  -d '{"jsonrpc":"2.0","method":"notifications/initialized"}'

call() {
  curl --silent --show-error --max-time 30 \
    -X POST "$URL" \
    -H "Content-Type: application/json" \
    -H "Accept: application/json, text/event-stream" \
    -H "Mcp-Session-Id: $session" \
    -d "$1" | sed -n 's/^data: //p'
}

tools=$(call '{"jsonrpc":"2.0","id":2,"method":"tools/list"}')
if ! echo "$tools" | jq -e '.result.tools[] | select(.name == "echo")' >/dev/null; then
  echo "tools/list has no echo: $tools"
  exit 1
fi

echoed=$(call '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}')
text=$(echo "$echoed" | jq -r '.result.content[0].text')
if [ "$text" != "Echo: hello" ]; then
  echo "echo: wanted 'Echo: hello', got '$text'"
  exit 1
fi

weather=$(call '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"get-structured-content","arguments":{"location":"Chicago"}}}')
degrees=$(echo "$weather" | jq -r '.result.structuredContent.temperature')
if [ "$degrees" != "36" ]; then
  echo "get-structured-content: wanted 36, got '$degrees'"
  exit 1
fi

missing=$(call '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"no-such-tool","arguments":{}}}')
if ! echo "$missing" | jq -e '.error != null or .result.isError == true' >/dev/null; then
  echo "an unknown tool was accepted: $missing"
  exit 1
fi
echo "all checks passed"
