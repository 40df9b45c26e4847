//! Plays a script file to real clients: `cargo run -p tenter-model-server --example play -- script.json`.
//!
//! A script is `{"turns": [TURN, …], "lanes": [{"name": "sub", "when": {"first_user": "TEXT"}, "turns": [TURN, …]}]}`, and a turn
//! `{"parts": [{"text": "…"}, {"call": ["Bash", "shell"], "arguments": {…}}]}`; see the functions below for the other fields. The
//! program prints the server's addresses, and at the end of its input each request that it received, as a line of JSON.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;
use std::io::{self, Read};

use serde_json::{Value, json};
use tenter_model_server::{Fault, Format, Lane, LenientScript, Match, ModelReply, ModelServer};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: play SCRIPT.json")?;
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let server = ModelServer::start(script(&file))?;
    for format in Format::ALL {
        println!("{format:?} {}", server.base_url(format));
    }
    io::stdin().read_to_string(&mut String::new())?;
    for request in server.requests() {
        let format = format!("{:?}", request.format);
        println!(
            "{}",
            json!({
                "format": format, "path": request.path, "lane": request.lane, "turn": request.turn,
                "tools": request.tools(), "text": request.text(), "body": request.body,
            })
        );
    }
    for other in server.other_requests() {
        println!("{}", json!({"method": other.method, "path": other.path}));
    }
    Ok(())
}

fn script(file: &Value) -> LenientScript {
    let mut script = LenientScript::new(elements(&file["turns"]).map(turn));
    if file["counted"] == true {
        script = script.select_by_order();
    }
    if file["side"].is_object() {
        script = script.side(turn(&file["side"]));
    }
    let names: Vec<&str> = elements(&file["models"]).map(text).collect();
    if !names.is_empty() {
        script = script.serves(&names);
    }
    elements(&file["lanes"]).map(lane).fold(script, LenientScript::lane)
}

fn lane(lane: &Value) -> Lane {
    let turns = elements(&lane["turns"]).map(turn);
    let mut new_lane = Lane::new(text(&lane["name"]), condition(&lane["when"]), turns);
    if lane["counted"] == true {
        new_lane = new_lane.select_by_order();
    }
    if lane["after"].is_object() {
        new_lane = new_lane.after(turn(&lane["after"]));
    }
    new_lane
}

fn condition(when: &Value) -> Match {
    let fields = when.as_object().into_iter().flatten();
    fields.fold(Match::default(), |condition, (name, value)| match name.as_str() {
        "first_user" => condition.first_user(text(value)),
        "last_user" => condition.last_user(text(value)),
        "any_text" => condition.any_text(text(value)),
        "system" => condition.system(text(value)),
        "model" => condition.model(text(value)),
        "path" => condition.path(text(value)),
        _ => condition.tools(*value == true),
    })
}

fn turn(turn: &Value) -> ModelReply {
    let reply = elements(&turn["parts"]).fold(ModelReply::new(), |reply, part| {
        if let Some(text) = part["text"].as_str() {
            return reply.say(text);
        }
        let tools: Vec<&str> = elements(&part["call"]).map(text).collect();
        reply.call_any(&tools, part["arguments"].clone())
    });
    let reply = match &turn["usage"] {
        Value::Null => reply,
        usage => reply.usage(number(&usage["input"]), number(&usage["output"]), 0),
    };
    let reply = if turn["always_fails"] == true { reply.always_fails() } else { reply };
    match turn["fault"].as_str() {
        Some("429") => reply.fault(Fault::rate_limited(1)),
        Some("cut") => reply.fault(Fault::CutMidText),
        Some("slow") => reply.fault(Fault::Slow(200)),
        Some(code) => reply.fault(Fault::status(code.parse().unwrap_or(500))),
        None => reply,
    }
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}
