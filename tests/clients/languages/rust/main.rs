//! Drives generated clients; prints each step as a line of JSON.

mod every_type;
mod everything;
mod official;

use serde::Serialize;
use serde_json::{json, Value};

fn say(step: &str, value: impl Serialize) {
    println!("{}", json!([step, value]));
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let is_legacy = words[2] == "legacy";
    match words[1].as_str() {
        "every_type" => every_type::drive(is_legacy),
        "official" => official::drive(is_legacy),
        "everything" => everything::drive(),
        "exits" => every_type::exits(),
        other => panic!("no driver {other}"),
    }
}

/// The fields of a form.
fn fields(value: Value) -> serde_json::Map<String, Value> {
    value.as_object().cloned().expect("an object")
}
