# shellcheck shell=bash
# Steps of .ci/run: each prints its name and its time; those in the background print when they are finished. Needs $work,
# a folder for what they print meanwhile.

# step TITLE COMMAND...: run the command, and print how long it took.
step() {
    local title=$1 began=$SECONDS
    shift
    printf '\n=== %s\n' "$title"
    "$@"
    printf -- '--- %s: %d s\n' "$title" "$((SECONDS - began))"
}

declare -A background=()

# start NAME COMMAND...: run the command in the background, in a process group of its own. The command is a function
# whose steps end with the first that fails.
start() {
    local name=$1
    shift
    set -m # jobs get groups
    (
        set -e +m
        began=$SECONDS
        trap 'echo "$((SECONDS - began))" > "$work/$name.seconds"' EXIT
        "$@"
    ) > "$work/$name.log" 2>&1 < /dev/null &
    background[$name]=$!
    set +m
}

# finish NAME: wait for what was started under this name, print its output, and exit with its status if it failed.
# Everything else is printed before the output, so that this ends with the summary of its last tests.
finish() {
    local name=$1 began=$SECONDS status=0
    wait "${background[$name]}" || status=$?
    unset "background[$name]"
    printf '\n=== in the background: %s\n' "$name"
    printf -- '--- %s: %s s, waited for %d s\n' "$name" "$(cat "$work/$name.seconds")" "$((SECONDS - began))"
    [ "$status" = 0 ] || echo ".ci/run: $name failed with status $status; this is what it printed:" >&2
    cat "$work/$name.log"
    [ "$status" = 0 ] || exit "$status"
}

# stop_all: end everything that still runs in the background, with what it has started.
stop_all() {
    local name
    for name in "${!background[@]}"; do
        kill -- "-${background[$name]}" 2> /dev/null || true
    done
}
