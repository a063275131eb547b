#!/bin/sh
# A host in one pipeline: questions in, answers out. What is still owed when the input ends is answered.
#
#     ./pipeline.sh toolwire serve ../tools.py

if [ $# -eq 0 ]; then
    echo "usage: ${0##*/} COMMAND..." >&2
    exit 2
fi

# jq's -e: a server that answers nothing is a failure.
printf '%s\n' \
    '{"jsonrpc":"2.0","id":"list","method":"tools/list"}' \
    '{"jsonrpc":"2.0","id":"sum","method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}' |
    "$@" |
    jq -er --slurp '
        (.[] | select(.id == "list").result.tools[] | "\(.name): \(.description)"),
        (.[] | select(.id == "sum").result | "add -> \(.structuredContent.result)")'
