//! The client with servers that are shell scripts, each with a fault of its own.

use serde::{Deserialize, Serialize};
use serde_json::{json, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolwire_client::{alternative, content, present, read, structured, wrapped};
use toolwire_client::{Answer, Cancel, Client, Content, Error, Result, Server};

/// Answers `initialize`, after which `$line` has the first call, whose id is 2.
const READY: &str = r#"
say() { printf '%s\n' "$1"; }
read line; say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"s"}}}'
read line; read line
"#;

fn script(text: &str) -> Server {
    let mut server = Server::new(["sh", "-c", &format!("{READY}{text}")]);
    server.is_legacy = true;
    server
}

fn called(client: &Client) -> Result<String> {
    client.call("t", &(), content).call().map(|result| result.text())
}

fn outcome(text: &str) -> Result<String> {
    called(&script(text).start().unwrap())
}

const DONE: &str = r#"say '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}'"#;

#[test]
fn noise_does_not_disturb_a_call() {
    let noise = r#"
        say 'Starting…'; say ''; say '{"level":"info"}'; say '[]'; say '5'; say 'null'; printf '\377\376\n'
        say '{"jsonrpc":"2.0","id":77,"result":{}}'; say '{"jsonrpc":"2.0","method":"notifications/unknown"}'
        say '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}'
        say '{"jsonrpc":"2.0","method":"notifications/progress"}'; printf '\357\273\277'
    "#;
    assert_eq!(outcome(&format!("{noise}{DONE}")).unwrap(), "done");
}

#[test]
fn an_id_may_come_back_as_a_text_or_a_fraction_and_a_line_may_have_no_end() {
    assert_eq!(outcome(&DONE.replace(r#""id":2"#, r#""id":"2""#)).unwrap(), "done");
    assert_eq!(outcome(&DONE.replace(r#""id":2"#, r#""id":2.0"#)).unwrap(), "done");
    assert_eq!(outcome(&DONE.replace("say", "printf %s")).unwrap(), "done");
}

#[test]
fn an_answer_that_cannot_be_read_fails_its_call() {
    let deep = "[".repeat(200);
    for result in [r#""\ud800""#, "1e999", "NaN", deep.as_str()] {
        let answers = [
            format!(r#"say '{{"jsonrpc":"2.0","id":2,"result":{result}}}'"#),
            format!(r#"say '{{"result":{result},"id":2,"jsonrpc":"2.0"}}'"#),
        ];
        for answer in answers {
            assert!(matches!(outcome(&format!("{answer}; read line")), Err(Error::Protocol(_))), "{answer}");
        }
    }
    for answer in [r#"{"jsonrpc":"2.0","id":2}"#, r#"{"jsonrpc":"2.0","id":2,"result":[]}"#] {
        assert!(matches!(outcome(&format!("say '{answer}'; read line")), Err(Error::Protocol(_))), "{answer}");
    }
}

#[test]
fn a_line_that_is_too_long_fails_its_call_and_no_other() {
    let long =
        r#"printf '{"jsonrpc":"2.0","id":2,"result":"'; head -c 300000 /dev/zero | tr '\0' x; say '"}'; read line;"#;
    let mut server = script(&(long.to_owned() + &DONE.replace(r#""id":2"#, r#""id":3"#) + "; read line"));
    server.max_message_bytes = 100_000;
    let client = server.start().unwrap();
    assert!(matches!(called(&client), Err(Error::Protocol(_))));
    assert_eq!(called(&client).unwrap(), "done");
}

#[test]
fn a_server_that_dies_fails_its_calls_with_its_status_and_the_end_of_its_stderr() {
    let client = script("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; exit 3").start().unwrap();
    for _ in 0..2 {
        match called(&client) {
            Err(Error::ServerGone { status: Some(status), stderr }) => {
                assert_eq!(status.code(), Some(3));
                assert_eq!(stderr.lines().count(), 20);
                assert!(stderr.ends_with("line 2999"));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_server_that_closes_its_output_and_lives_on_fails_its_calls() {
    let client = script("exec >&-; sleep 600").start().unwrap();
    assert!(matches!(called(&client), Err(Error::ServerGone { status: None, .. })));
}

#[test]
fn a_descendant_that_keeps_the_output_open_ends_with_its_server() {
    assert!(matches!(outcome("sleep 600 & exit 0"), Err(Error::ServerGone { status: Some(_), .. })));
}

#[test]
fn a_server_that_never_reads_holds_up_no_caller_with_a_time_limit() {
    let client = script("sleep 600").start().unwrap();
    let text = "x".repeat(3 << 20);
    let began = Instant::now();
    for _ in 0..5 {
        let call = client.call("t", &json!({ "text": text }), content).timeout(Duration::from_millis(50)).call();
        assert!(matches!(call, Err(Error::TimedOut { .. })));
    }
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        let call = client.call("t", &(), content).cancel(&cancel);
        let waiting = scope.spawn(move || call.call());
        cancel.cancel();
        assert!(matches!(waiting.join().unwrap(), Err(Error::Cancelled)));
    });
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_flood_of_progress_neither_grows_without_end_nor_hides_a_time_limit() {
    let flood =
        r#"yes '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}'"#;
    let client = script(flood).start().unwrap();
    let call = client.call("t", &(), content).timeout(Duration::from_millis(300)).on_progress(drop);
    assert!(matches!(call.call(), Err(Error::TimedOut { .. })));
}

#[test]
fn a_question_has_an_answer_even_if_the_host_panics() {
    let ask = r#"
        say '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}'
        read answer; say '{"jsonrpc":"2.0","id":5,"method":"ping"}'; read pong
        say '{"jsonrpc":"2.0","id":6,"method":"roots/list"}'; read roots
        say "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"structuredContent\":[$answer,$pong,$roots]}}"
    "#;
    let answered = |server: &Server| -> Vec<Value> {
        server.start().unwrap().call("t", &(), structured::<Vec<Value>>).call().unwrap()
    };
    let mut server = script(ask);
    let all = answered(&server);
    assert_eq!(all[0]["error"]["code"], -32601);
    assert_eq!(all[1], json!({ "jsonrpc": "2.0", "id": 5, "result": {} }));
    assert_eq!(all[2]["error"]["code"], -32601);
    server.on_question = Some(Arc::new(|question| {
        Answer::Accept([("m".into(), question.message.clone().into())].into_iter().collect())
    }));
    let accepted = json!({ "action": "accept", "content": { "m": "?" } });
    assert_eq!(answered(&server)[0], json!({ "jsonrpc": "2.0", "id": "q", "result": accepted }));
    server.on_question = Some(Arc::new(|_| panic!("the window is gone")));
    assert_eq!(answered(&server)[0]["error"]["code"], -32603);
}

#[test]
fn pages_of_tools_end() {
    let page = |cursor: &str| {
        format!(r#"say '{{"jsonrpc":"2.0","id":%,"result":{{"tools":[{{}}],"nextCursor":{cursor}}}}}';"#)
    };
    let pages =
        [page(r#""a""#).replace('%', "2"), "read line;".into(), page(r#""a""#).replace('%', "3"), "read line".into()];
    assert_eq!(script(&pages.concat()).start().unwrap().tools().unwrap().len(), 2);
    assert_eq!(script(&(page("null").replace('%', "2") + "read line")).start().unwrap().tools().unwrap().len(), 1);
}

#[test]
fn a_server_that_knows_no_version_of_ours_is_refused() {
    let answer = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"1999-01-01"}}'; read line"#;
    let mut server = Server::new(["sh", "-c", answer]);
    server.is_legacy = true;
    assert!(matches!(server.start(), Err(Error::Protocol(_))));
    assert!(matches!(Server::new(Vec::<String>::new()).start(), Err(Error::NotStarted(_))));
}

#[test]
fn a_server_that_ends_at_an_unknown_request_gets_another_process() {
    let picky = format!("read first; case $first in *discover*) exit 1; esac; {}", READY.replacen("read line;", "", 1));
    let client = Server::new(["sh", "-c", &format!("{picky}{DONE}; read line")]).start().unwrap();
    assert_eq!(client.handshake()["serverInfo"]["name"], "s");
    assert_eq!(called(&client).unwrap(), "done");
}

#[test]
fn a_server_gets_few_variables() {
    std::env::set_var("TOOLWIRE_SECRET", "1");
    let answer = r#"say "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$TOOLWIRE_SECRET$OWN\"}]}}""#;
    let mut server = script(answer);
    server.env.push(("OWN".into(), "own".into()));
    assert_eq!(called(&server.start().unwrap()).unwrap(), "own");
}

#[test]
fn content_of_a_kind_that_is_not_known_is_kept() {
    let blocks = r#"[{"type":"text","text":"a"},{"type":"text"},{"type":"new","x":1}]"#;
    let answer =
        format!(r#"say '{{"jsonrpc":"2.0","id":2,"result":{{"content":{blocks},"isError":false}}}}'; read line"#);
    let result = script(&answer).start().unwrap().call("t", &(), content).call().unwrap();
    let other = Content::Other(json!({ "type": "new", "x": 1 }));
    let all = vec![Content::Text { text: "a".into() }, Content::Other(json!({ "type": "text" })), other];
    assert_eq!(result.content, all);
}

#[test]
fn structured_content_becomes_a_value_or_an_error_that_keeps_it() {
    let answer = |content: &str| {
        format!(r#"say '{{"jsonrpc":"2.0","id":2,"result":{{"structuredContent":{content}}}}}'; read l"#)
    };
    let client = |content: &str| script(&answer(content)).start().unwrap();
    assert_eq!(client(r#"{"result":2.0}"#).call("t", &(), wrapped::<i64>).call().unwrap(), 2);
    match client(r#"{"result":"two"}"#).call("t", &(), wrapped::<i64>).call() {
        Err(Error::Mismatch(problem, result)) => {
            assert!(problem.contains("two"));
            assert_eq!(result.structured, Some(json!({ "result": "two" })));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(client("{}").call("t", &(), wrapped::<i64>).call(), Err(Error::Protocol(_))));
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Node {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    inner: Option<Option<Box<Either>>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Strict {
    inner: Box<Either>,
    needed: i64,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Either {
    Strict(Strict),
    Node(Node),
}

impl<'de> Deserialize<'de> for Either {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        alternative(from, &[|value| read(value, Either::Strict), |value| read(value, Either::Node)])
    }
}

#[test]
fn null_and_absent_are_apart_and_unions_keep_what_they_can() {
    for text in ["{}", r#"{"inner":null}"#, r#"{"inner":{"inner":null}}"#, r#"{"inner":{},"needed":1}"#] {
        let read: Either = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
    assert!(serde_json::from_str::<Either>("5").is_err());
}

#[test]
fn a_union_within_a_union_is_not_read_for_ever() {
    let deep = r#"{"inner":"#.repeat(60) + "{}" + &"}".repeat(60);
    let began = Instant::now();
    let _ = serde_json::from_str::<Either>(&deep);
    assert!(began.elapsed() < Duration::from_secs(60));
    assert!(serde_json::from_str::<Either>("{}").is_ok());
}

/// A server of MCP 2025-11-25 whose one task gets its states from the words of `states`.
fn with_task(states: &str) -> Server {
    let script = r#"
    say() { printf '%s\n' "$1"; }
    reply() { say '{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}'; }
    read line
    capabilities='{"tasks":{"requests":{"tools":{"call":{}}}}}'
    say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":'"$capabilities"'}}'
    read line
    set -- STATES
    while read line; do
        id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
        case $line in
        *tasks/get*) reply '{"taskId":"t","status":"'"$1"'","statusMessage":"is '"$1"'","pollInterval":1}'
            [ $# -gt 1 ] && shift ;;
        *tasks/result*) reply '{"content":[{"type":"text","text":"done"}]}' ;;
        *tasks/cancel*) set -- cancelled; reply '{"taskId":"t","status":"cancelled"}' ;;
        *'"task":{}'*) reply '{"task":{"taskId":"t","status":"working"}}' ;;
        *) say '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"runs only as a task"}}' ;;
        esac
    done
    "#;
    let mut server = Server::new(["sh", "-c", &script.replace("STATES", states)]);
    server.is_legacy = true;
    server
}

#[test]
fn a_call_that_becomes_a_task_is_waited_for() {
    let client = with_task("working input_required").start().unwrap();
    let mut messages = Vec::new();
    let call = client.call("t", &(), content).on_progress(|report| messages.extend(report.message));
    assert_eq!(call.call().unwrap().text(), "done");
    assert_eq!(messages, ["is working", "is input_required"]);
}

#[test]
fn a_task_is_left_at_its_server_and_found_again() {
    let client = with_task("working completed").start().unwrap();
    let mut pending = client.call("t", &(), content).as_task().start().unwrap();
    assert_eq!(pending.task_id().unwrap().as_deref(), Some("t"));
    pending.leave();
    assert_eq!(client.task("t", content).call().unwrap().text(), "done");
    assert!(matches!(client.task("other", content).call(), Err(Error::Protocol(_))));
}

#[test]
fn a_task_ends_with_the_limit_or_the_drop_of_its_call() {
    let client = with_task("working").start().unwrap();
    let limit = Duration::from_millis(200);
    assert!(matches!(client.call("t", &(), content).timeout(limit).call(), Err(Error::TimedOut { .. })));
    let cancelled = client.task("t", content).call();
    assert!(matches!(cancelled, Err(Error::Request { code: -32800, .. })), "{cancelled:?}");
    client.cancel_task("t").unwrap();
}

#[test]
fn a_wait_for_a_task_is_cancelled_and_leaves_it() {
    let client = with_task("working").start().unwrap();
    let cancel = Cancel::new();
    let other = cancel.clone();
    let thread = std::thread::spawn(move || other.cancel());
    assert!(matches!(client.task("t", content).cancel(&cancel).call(), Err(Error::Cancelled)));
    thread.join().unwrap();
    let limit = Duration::from_millis(100);
    assert!(matches!(client.task("t", content).timeout(limit).call(), Err(Error::TimedOut { .. })));
}
