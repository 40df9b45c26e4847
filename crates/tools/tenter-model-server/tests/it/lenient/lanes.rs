//! The lane that answers a request.

use serde_json::{Value, json};
use tenter_model_server::{Format, Lane, LenientScript, Match, ModelReply, ModelServer};

use tenter_testkit::api_client::{ask, continue_with, talk, ways};

#[test]
fn every_condition_recognizes_its_part_of_the_request() {
    let model = |format| match format {
        Format::Anthropic => "claude",
        Format::Responses | Format::Chat => "gpt",
        Format::Gemini => "gemini-3",
    };
    let path = |format| match format {
        Format::Anthropic => "/messages",
        Format::Responses => "/responses",
        Format::Chat => "/completions",
        Format::Gemini => "enerateContent",
    };
    for way in ways() {
        // The conversation: "First question.", a call, its result "fine", then "continue".
        let conditions = [
            (Match::default().first_user("First question"), true),
            (Match::default().first_user("continue"), false),
            (Match::default().last_user("continue"), true),
            (Match::default().last_user("First question"), false),
            (Match::default().any_text("fine"), true),
            (Match::default().any_text("First question"), true),
            (Match::default().any_text("nowhere"), false),
            (Match::default().system("Be brief"), true),
            (Match::default().system("First"), false),
            (Match::default().model(model(way.0)), true),
            (Match::default().model("llama"), false),
            (Match::default().path(path(way.0)), true),
            (Match::default().path("/embeddings"), false),
            (Match::default().tools(true), true),
            (Match::default().tools(false), false),
            (Match::default().tools(true).last_user("nowhere"), false),
            (Match::default(), true),
        ];
        let body = conversation(way);
        for (number, (condition, matches)) in conditions.into_iter().enumerate() {
            let script = LenientScript::new([])
                .after(ModelReply::text("main"))
                .lane(Lane::new("lane", condition.clone(), []).after(ModelReply::text("lane")));
            let server = ModelServer::start(script).unwrap();
            let speech = talk(&server, way, &body).text;
            assert_eq!(speech == "lane", matches, "{way:?}, condition {number}: {condition:?}");
        }
    }
}

fn conversation(way: (Format, bool)) -> Value {
    let mut body = ask(way.0, "First question.");
    let turns =
        [ModelReply::new().call("bash", json!({"command": "ls"})), ModelReply::text("Two.")];
    let server = ModelServer::start(LenientScript::new(turns)).unwrap();
    for _ in 0..2 {
        let speech = talk(&server, way, &body);
        continue_with(way.0, &mut body, &speech);
    }
    body
}
