#!/usr/bin/env bash
# A smoke test as many workflows have it: pipe a few messages into the server, and
# see with jq that it lists tools and answers a call.
set -euo pipefail
printf '%s\n' \
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"ci","version":"1.0"}}}' \
  '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
  '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' \
  '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":40}}}' |
  timeout 10 sh server.sh >answers.jsonl
jq -es 'any(.[]; .id == 2 and (.result.tools | length > 0))' answers.jsonl >/dev/null
jq -es 'any(.[]; .id == 3 and .result.content)' answers.jsonl >/dev/null
