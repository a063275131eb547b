//! Calls `add(a, b)` many times at once, twice, and then one after the other: `drive CALLS COMMAND…`.

mod tools;

use std::time::Instant;
use tools::{runtime::Server, AddArguments, Tools};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let calls: i64 = words[0].parse().expect("a number of calls");
    let mut server = Server::new(&words[1..]);
    server.env.extend(std::env::vars_os());
    let tools = Tools::new(server.start().expect("the server starts"));
    let mut seconds = 0.0;
    for _ in 0..2 {
        let began = Instant::now();
        let mut pending = Vec::new();
        for a in 0..calls {
            pending.push(tools.add(&AddArguments { a, b: 3 }).start().unwrap());
        }
        for (call, sum) in pending.into_iter().zip(3..) {
            assert_eq!(call.wait().unwrap(), sum);
        }
        seconds = began.elapsed().as_secs_f64();
    }
    let mut times = Vec::new();
    for a in 0..calls / 10 {
        let before = Instant::now();
        tools.add(&AddArguments { a, b: 3 }).call().unwrap();
        times.push(before.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let (speed, p50) = (calls as f64 / seconds, times[times.len() / 2]);
    println!("{{\"per_second\": {speed}, \"p50_seconds\": {p50}}}");
}
