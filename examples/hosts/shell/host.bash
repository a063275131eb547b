#!/usr/bin/env bash
# A host in Bash with jq: the server is a coprocess, one JSON-RPC message per line, both ways.
#
#     ./host.bash toolwire serve ../tools.py
set -euo pipefail

if [ $# -eq 0 ]; then
    echo "usage: ${0##*/} COMMAND..." >&2
    exit 2
fi
# Bash forgets the descriptors when the coprocess ends, so it starts the server once we have our own.
coproc SERVER { read -r && exec "$@"; }
exec {answers}<&"${SERVER[0]}" {questions}>&"${SERVER[1]}"
eval "exec ${SERVER[0]}<&- ${SERVER[1]}>&-"
server=$SERVER_PID
echo >&"$questions"
id=0

# Without this, writing to a server that has ended kills Bash before it can say so.
trap '' PIPE

ended() {
    echo "the server ended before it answered" >&2
    exit 1
}

send() { printf '%s\n' "$1" >&"$questions" 2> /dev/null || ended; }

# ask METHOD PARAMS: send a request; its id is in $id.
ask() {
    id=$((id + 1))
    send "$(jq -cn --argjson id $id --arg method "$1" --argjson params "$2" \
        '{jsonrpc: "2.0", $id, $method, $params}')"
}

# call NAME ARGUMENTS: ask for a tool's result, with progress.
call() {
    ask tools/call "$(jq -cn --arg name "$1" --argjson arguments "$2" --argjson token $((id + 1)) \
        '{$name, $arguments, _meta: {progressToken: $token}}')"
}

# answer [COMMAND…]: read up to the answer of the last request, into $message; run COMMAND for each progress.
answer() {
    while IFS= read -r message <&"$answers"; do
        if jq -e --argjson id $id '.id == $id' <<< "$message" > /dev/null; then return; fi
        if [ $# -gt 0 ] && jq -e '.method == "notifications/progress"' <<< "$message" > /dev/null; then "$@"; fi
    done
    ended
}

show() { jq -r "$1" <<< "$message"; }

ask tools/list '{}'
answer
show '.result.tools[] | "\(.name): \(.description)"'

call add '{"a": 2, "b": 3}'
answer
show '"add -> \(.result.structuredContent.result)"'

call add '{"a": "two", "b": 3}'
answer
show '.result | "add \(if .isError then "failed" else "worked" end): \(.content[0].text)"'

call count '{"to": 3}'
answer show '.params | "count: \(.progress) of \(.total)"'
show '"count -> \(.result.content[0].text)"'

cancel() { send '{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": '$id'}}'; }
call wait '{"seconds": 60}'
answer cancel
show '"wait cancelled: \(.error.code)"'

exec {questions}>&-
status=0
wait "$server" || status=$?
echo "the server left with status $status"
