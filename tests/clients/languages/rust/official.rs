//! A server of the official Python SDK, with a client that imports its runtime.

#[path = "official_tools.rs"]
mod tools;

use crate::{fields, say};
use serde_json::json;
use std::sync::Arc;
use tools::runtime::{Answer, Cancel, Error, Server};
use tools::*;

pub fn drive(is_legacy: bool) {
    let mut server = Server::new(Tools::COMMAND);
    server.is_legacy = is_legacy;
    server.on_question = Some(Arc::new(|_| Answer::Accept(fields(json!({ "sure": true })))));
    let tools = Tools::new(server.start().unwrap());
    say("add", tools.add(&AddArguments { a: 2, b: 3 }).call().unwrap());
    say("fail", tools.fail().call().unwrap_err().to_string());
    let mut seen = Vec::new();
    let counted = tools.count().on_progress(|now| seen.push(now.progress)).call().unwrap();
    say("count", (counted, seen));
    say("delete", tools.delete(&DeleteArguments { what: "it".into() }).call().unwrap());
    let cancel = Cancel::new();
    let waiting = tools.wait().cancel(&cancel).start().unwrap();
    cancel.cancel();
    say("wait", matches!(waiting.wait(), Err(Error::Cancelled)));
}
