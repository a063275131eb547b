//! Every type, and every way a call can go, with a client that contains its runtime.

#[path = "every_type_tools.rs"]
mod tools;

use crate::{fields, say};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tools::runtime::{Answer, Cancel, Content, Error, Question, Server};
use tools::*;

fn server(is_legacy: bool) -> Server {
    let mut server = Server::new(Tools::COMMAND);
    server.is_legacy = is_legacy;
    server
}

fn started(server: &Server) -> Tools {
    Tools::new(server.start().expect("the server starts"))
}

fn value() -> EveryTypeValue {
    let place = EveryTypeValuePlace { x: 1.0, y: Some(2.0) };
    let mut leaf = EveryTypeTree::new("leaf".into());
    leaf.parent = Some(None);
    let tree = EveryTypeTree { branches: Some(vec![leaf]), ..EveryTypeTree::new("root".into()) };
    let circle = EveryTypeValueShapeCircle { r#type: EveryTypeValueShapeCircleType::Circle, centre: EveryTypeValuePlace::new(1.0), radius: 2.5 };
    let mut options = EveryTypeValueOptions::new("x".into());
    options.func = Some(None);
    EveryTypeValue {
        kebab_case: Some("kebab".into()),
        ..EveryTypeValue::new(
            "grün </script> \u{2028}".into(),
            1 << 60,
            0.1,
            true,
            (),
            EveryTypeValueMode::AsUsual,
            EveryTypeValueColour::LightGreen,
            2,
            1,
            vec!["a".into(), String::new()],
            (1, "one".into()),
            [("a b".into(), 1)].into(),
            vec![vec![1.0, 2.5], vec![]],
            place,
            [("home".into(), vec![EveryTypeValuePlace::new(3.0)])].into(),
            EveryTypeValueShape::Circle(circle),
            tree,
            None,
            EveryTypeValueEither::IntegerList(vec![1, 2]),
            options,
            "2026-11-23".into(),
            json!({ "deep": [null, 1u64 << 60] }),
        )
    }
}

pub fn drive(is_legacy: bool) {
    let tools = started(&server(is_legacy));
    let handshake = tools.client().handshake();
    say("revision", handshake.get("protocolVersion").unwrap_or(&handshake["supportedVersions"][0]));
    say("tools", tools.client().tools().unwrap().len());
    let sum = AddArguments { a: 2, b: Some(3) };
    say("add", [tools.add(&sum).call().unwrap(), tools.add(&AddArguments::new(2)).call().unwrap()]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let awaited = tools.add(&AddArguments { a: 3, b: Some(5) }).call_async();
    say("awaited", runtime.block_on(awaited).unwrap());
    let both = tools.every_type(&EveryTypeArguments { value: value(), times: Some(2) }).call().unwrap();
    say("every type", &both);
    say("measure", tools.measure(&MeasureArguments { shape: MeasureShape::Square(MeasureShapeSquare { r#type: MeasureShapeSquareType::Square, side: 3.0 }) }).call().unwrap());
    let planted = tools.plant(&PlantArguments { depth: 2 }).call().unwrap();
    say("plant", [&planted.name, &planted.branches[0].name, &planted.branches[0].branches[0].name]);
    match &tools.picture().call().unwrap().content[..] {
        [Content::Image { data, mime_type }] => say("picture", [data, mime_type]),
        other => say("picture", format!("{other:?}")),
    }
    tools.nothing().call().unwrap();
    let text = tools.just_text(&JustTextArguments { words: vec!["two".into(), "words".into()] }).call().unwrap();
    say("just text", [text.text()]);
    let class = tools.class().call().unwrap().text();
    let url = tools.get_url_for(&GetUrlForArguments { page: "a".into() }).call().unwrap().text();
    say("names", [class, url]);
    let null = ListItemsV2Arguments { first: Some(5), max_items: Some(None) };
    let absent = ListItemsV2Arguments { first: Some(5), max_items: None };
    say("null", (serde_json::to_value(&null).unwrap(), serde_json::to_value(&absent).unwrap()));
    say("list", tools.list_items_v2(&null).call().unwrap());

    match tools.fail(&FailArguments { reason: "no \u{1b}[31mpaper".into() }).call() {
        Err(Error::Tool(result)) => say("fail", (result.text(), Error::Tool(result).to_string())),
        other => say("fail", format!("{other:?}")),
    }
    match tools.every_type(&EveryTypeArguments { value: value(), times: Some(9) }).call() {
        Err(error @ Error::Tool(_)) => say("bad arguments", error.to_string()),
        other => say("bad arguments", format!("{other:?}")),
    }
    match tools.client().call("missing", &(), runtime::content).call() {
        Err(Error::Request { code, .. }) => say("missing", code),
        other => say("missing", format!("{other:?}")),
    }

    let mut seen = Vec::new();
    let last = tools.count(&CountArguments { to: 3 }).on_progress(|now| seen.push((now.progress, now.total, now.message))).call();
    say("progress", (last.unwrap(), seen));
    say("cancel", cancelled(&tools));
    let slow = tools.wait(&WaitArguments { name: "late".into() }).timeout(Duration::from_secs(2)).call();
    let was_cancelled = tools.was_cancelled(&WasCancelledArguments { name: "late".into() }).call().unwrap();
    say("timeout", (matches!(slow, Err(Error::TimedOut { .. })), was_cancelled));

    let calls: Vec<_> = (0..10_000).map(|a| tools.add(&AddArguments { a, b: Some(1) }).start().unwrap()).collect();
    let mut sums = Vec::new();
    for call in calls {
        sums.push(call.wait().unwrap());
    }
    say("pipelined", sums.into_iter().eq(1..=10_000));
    let together: i64 = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for a in 0..8 {
            let tools = &tools;
            threads.push(scope.spawn(move || tools.add(&AddArguments::new(a)).call().unwrap()));
        }
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    say("threads", together);
    say("no questions", tools.order(&OrderArguments { dish: "soup".into() }).call().unwrap_err().to_string());
    tools.client().close();
    say("closed", matches!(tools.class().call(), Err(Error::Closed)));
    questions(is_legacy);
    death(is_legacy);
}

fn cancelled(tools: &Tools) -> (bool, bool, bool) {
    let cancel = Cancel::new();
    let arguments = WaitArguments { name: "first".into() };
    let call = tools.wait(&arguments).cancel(&cancel).on_progress(|_| cancel.cancel()).call();
    let later = tools.wait(&arguments).cancel(&cancel).call();
    let was_cancelled = tools.was_cancelled(&WasCancelledArguments { name: "first".into() }).call().unwrap();
    (matches!(call, Err(Error::Cancelled)), was_cancelled, matches!(later, Err(Error::Cancelled)))
}

fn questions(is_legacy: bool) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let mut server = server(is_legacy);
    let seen = Arc::clone(&asked);
    server.on_question = Some(Arc::new(move |question: &Question| {
        seen.lock().unwrap().push((question.message.clone(), question.schema["type"] == "object"));
        match question.message.as_str() {
            "How much soup?" => Answer::Accept(fields(json!({ "size": "large", "pieces": 2 }))),
            "How much tea?" => Answer::Decline,
            "How much water?" => Answer::Dismiss,
            _ => {
                // Longer than the time limit of the call, for which it does not count.
                std::thread::sleep(Duration::from_secs(4));
                Answer::Accept(fields(json!({ "size": "small" })))
            }
        }
    }));
    let tools = started(&server);
    for dish in ["soup", "tea", "water", "slow food"] {
        let arguments = OrderArguments { dish: dish.into() };
        let call = tools.order(&arguments).timeout(Duration::from_secs(if dish == "slow food" { 3 } else { 60 }));
        say("question", call.call().map_or_else(|error| error.to_string(), |result| result.text()));
    }
    say("asked", asked.lock().unwrap().clone());
}

fn death(is_legacy: bool) {
    let tools = started(&server(is_legacy));
    let waiting = tools.wait(&WaitArguments { name: "never".into() }).start().unwrap();
    let arguments = DieArguments { status: 7, words: "out of \u{1b}[31mpaper".into() };
    for outcome in [tools.die(&arguments).call().map(drop), waiting.wait().map(drop), tools.class().call().map(drop)] {
        match outcome {
            Err(ref gone @ Error::ServerGone { status, ref stderr }) => {
                say("death", (status.and_then(|status| status.code()), stderr, gone.to_string()));
            }
            other => say("death", format!("{other:?}")),
        }
    }
    let mut server = server(is_legacy);
    server.command = vec!["sh".into(), "-c".into(), "echo no config >&2; exit 3".into()];
    say("no start", server.start().unwrap_err().to_string());
    server.command = vec!["/nonexistent/program".into()];
    say("no program", server.start().unwrap_err().to_string());
}

/// Ends while a server runs, without dropping its client.
pub fn exits() {
    let mut stubborn = Server::new(["sh", "-c", "trap '' TERM; exec sleep 600"]);
    stubborn.start_timeout = Duration::from_millis(300);
    stubborn.is_legacy = true;
    let began = Instant::now();
    say("stubborn", matches!(stubborn.start(), Err(Error::TimedOut { .. })));
    assert!(began.elapsed() > Duration::from_secs(4));
    let tools = started(&server(false));
    say("add", tools.add(&AddArguments::new(1)).call().unwrap());
    std::mem::forget(tools);
    std::process::exit(0);
}
