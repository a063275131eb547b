//! The same client on Tokio, with servers that are shell scripts. Each runtime has one thread, which must stay free.

#![cfg(feature = "tokio")]

use std::future::pending;
use std::time::Duration;
use tokio::time::timeout;
use toolwire_client::{content, Call, CallResult, Client, Error, Result, Server};

/// Answers `initialize`, and has a function that answers the request `$1` with the text `$2`.
const READY: &str = r#"
say() { printf '%s\n' "$1"; }
answer() { say '{"jsonrpc":"2.0","id":'"$1"',"result":{"content":[{"type":"text","text":"'"$2"'"}]}}'; }
read line; say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"s"}}}'
read line
"#;

async fn started(text: &str) -> Client {
    let mut server = Server::new(["sh", "-c", &format!("{READY}{text}")]);
    server.is_legacy = true;
    server.start_async().await.unwrap()
}

fn prepared(client: &Client) -> Call<'static, CallResult> {
    client.call("t", &(), content)
}

async fn called(client: &Client) -> Result<String> {
    prepared(client).call_async().await.map(|result| result.text())
}

#[tokio::test]
async fn calls_that_are_open_together_get_their_own_answers() {
    let client = started("read line; read line; read line; answer 4 last; answer 3 second; answer 2 first").await;
    let answers = tokio::join!(called(&client), called(&client), called(&client));
    let mut texts = vec![answers.0.unwrap(), answers.1.unwrap(), answers.2.unwrap()];
    texts.sort();
    assert_eq!(texts, ["first", "last", "second"]);
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_and_another_goes_on() {
    let client = started(
        r#"
        read line; read line
        case $line in *notifications/cancelled*) ;; *) exit 1 ;; esac
        read line; answer 3 cancelled
        "#,
    )
    .await;
    let dropped = timeout(Duration::from_millis(300), called(&client)).await;
    assert!(dropped.is_err(), "the server has not answered");
    assert_eq!(called(&client).await.unwrap(), "cancelled");
}

#[tokio::test]
async fn progress_and_a_time_limit_are_as_without_tokio() {
    let report = r#"read line
        say '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}'
        answer 2 done; read line; read line"#;
    let client = started(report).await;
    let (sender, seen) = std::sync::mpsc::channel();
    let call = prepared(&client).on_progress(move |now| sender.send(now.progress).unwrap());
    assert_eq!(call.call_async().await.unwrap().text(), "done");
    assert_eq!(seen.recv(), Ok(1.0));
    let late = prepared(&client).timeout(Duration::from_millis(50)).call_async().await;
    assert!(matches!(late, Err(Error::TimedOut { .. })));
}

#[tokio::test]
async fn a_client_that_is_closed_fails_its_open_calls() {
    let client = started("read line; answer 2 ready; read line; read line").await;
    assert_eq!(called(&client).await.unwrap(), "ready");
    let open = tokio::spawn({
        let client = client.clone();
        async move { called(&client).await }
    });
    tokio::task::yield_now().await; // so that the call is sent, or will be refused
    client.close_async().await;
    assert!(matches!(open.await.unwrap(), Err(Error::Closed)));
}

#[test]
fn a_runtime_that_ends_does_not_wait_for_an_answer() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = runtime.block_on(started("read line; read line; read line"));
    runtime.spawn({
        let client = client.clone();
        async move { called(&client).await }
    });
    runtime.block_on(async { timeout(Duration::from_millis(50), pending::<()>()).await }).unwrap_err();
    drop(runtime);
    client.close();
}

#[tokio::test]
async fn a_server_that_does_not_start_says_why() {
    let server = Server::new(["/nonexistent/program"]);
    assert!(matches!(server.start_async().await, Err(Error::NotStarted(_))));
}
