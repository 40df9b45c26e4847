//! OpenAI's Responses, as documented: every event has its number and says which item, part and summary it belongs to.

use serde_json::{Value, json};

use super::{CREATED, WireItem, WireReply};
use crate::Format;
use crate::reply::StopReason;
use crate::stream::{Frame, FrameKind, pieces};

type Event = (Value, FrameKind);

pub(super) fn whole(answer: &WireReply) -> Value {
    response(answer, true)
}

pub(super) fn stream(answer: &WireReply) -> Vec<Frame> {
    let mut events = vec![
        (lifecycle(answer, "response.created"), FrameKind::Other),
        (lifecycle(answer, "response.in_progress"), FrameKind::Other),
    ];
    for (index, item) in answer.items(Format::Responses).iter().enumerate() {
        events.extend(item_events(answer, index, item));
    }
    let last =
        if status(answer) == "incomplete" { "response.incomplete" } else { "response.completed" };
    events.push((json!({"type": last, "response": response(answer, true)}), FrameKind::Finish));
    if answer.llama {
        strip(&mut events);
    } else {
        number(&mut events);
    }
    events.iter().map(|(event, mark)| Frame::with_type(event, *mark)).collect()
}

fn number(events: &mut [Event]) {
    for (number, (event, _)) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
}

/// Removes what llama.cpp leaves out: every number, and the event that repeats a call's arguments.
fn strip(events: &mut Vec<Event>) {
    events.retain(|(event, _)| event["type"] != "response.function_call_arguments.done");
    for (event, _) in events {
        if let Some(fields) = event.as_object_mut() {
            fields.retain(|name, _| {
                !matches!(name.as_str(), "output_index" | "content_index" | "logprobs")
            });
        }
    }
}

fn lifecycle(answer: &WireReply, kind: &str) -> Value {
    if answer.llama {
        let response =
            json!({"id": answer.id("resp_"), "object": "response", "status": "in_progress"});
        return json!({"type": kind, "response": response});
    }
    json!({"type": kind, "response": response(answer, false)})
}

/// Returns the status; llama.cpp reports a truncated reply as completed.
fn status(answer: &WireReply) -> &'static str {
    if answer.reply.stop == StopReason::Done || answer.llama { "completed" } else { "incomplete" }
}

fn response(answer: &WireReply, is_done: bool) -> Value {
    let output: Vec<Value> =
        answer.items(Format::Responses).iter().map(|item| finished(answer, item)).collect();
    if answer.llama {
        return json!({
            "id": answer.id("resp_"), "object": "response", "created_at": CREATED, "status": status(answer),
            "model": answer.model, "output": output, "usage": usage(answer),
        });
    }
    let request = answer.request;
    let reason = match answer.reply.stop {
        StopReason::Length if is_done => json!({"reason": "max_output_tokens"}),
        StopReason::Filtered if is_done => json!({"reason": "content_filter"}),
        _ => Value::Null,
    };
    json!({
        "id": answer.id("resp_"),
        "object": "response",
        "created_at": CREATED,
        "status": if is_done { status(answer) } else { "in_progress" },
        "background": false,
        "error": null,
        "incomplete_details": reason,
        "instructions": request["instructions"],
        "max_output_tokens": request["max_output_tokens"],
        "model": answer.model,
        "output": if is_done { output } else { Vec::new() },
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": {"effort": request["reasoning"]["effort"], "summary": request["reasoning"]["summary"]},
        "service_tier": "default",
        "store": request["store"] != false,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": if is_done { usage(answer) } else { Value::Null },
        "user": null,
        "metadata": {},
    })
}

fn usage(answer: &WireReply) -> Value {
    let usage = answer.usage();
    let mut figures = json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
    });
    if !answer.llama {
        figures["output_tokens_details"] = json!({"reasoning_tokens": answer.reasoning_tokens()});
    }
    figures
}

fn item_events(answer: &WireReply, index: usize, item: &WireItem) -> Vec<Event> {
    let addition = json!({
        "type": "response.output_item.added", "output_index": index, "item": begun(answer, item),
    });
    let end = json!({
        "type": "response.output_item.done", "output_index": index, "item": finished(answer, item),
    });
    let content = match item {
        WireItem::Reasoning { text, .. } => reasoning_events(&item_id(answer, item), index, text),
        WireItem::Text(text) => text_events(&item_id(answer, item), index, text),
        WireItem::Call { arguments, form, .. } if form.custom => {
            custom_call_events(&item_id(answer, item), index, arguments)
        }
        WireItem::Call { name, arguments, .. } => {
            call_events(&item_id(answer, item), index, name, arguments)
        }
    };
    [(addition, FrameKind::Other)]
        .into_iter()
        .chain(content)
        .chain([(end, FrameKind::Other)])
        .collect()
}

fn item_id(answer: &WireReply, item: &WireItem) -> String {
    match item {
        WireItem::Reasoning { .. } => answer.id("rs_"),
        WireItem::Text(_) => answer.id("msg_"),
        WireItem::Call { tag, form, .. } if form.custom => format!("ctc_{tag}"),
        WireItem::Call { tag, .. } => format!("fc_{tag}"),
    }
}

fn begun(answer: &WireReply, item: &WireItem) -> Value {
    let mut item_start = finished(answer, item);
    match item {
        WireItem::Reasoning { .. } => item_start["summary"] = json!([]),
        WireItem::Text(_) => {
            item_start["status"] = json!("in_progress");
            item_start["content"] = json!([]);
        }
        WireItem::Call { form, .. } => {
            item_start["status"] = json!("in_progress");
            item_start[if form.custom { "input" } else { "arguments" }] = json!("");
        }
    }
    item_start
}

/// Returns the finished reasoning, whose content is only sent encrypted, and only on request.
fn finished(answer: &WireReply, item: &WireItem) -> Value {
    let id = item_id(answer, item);
    let cut = answer.reply.stop != StopReason::Done && !answer.llama;
    let status = if cut { "incomplete" } else { "completed" };
    match item {
        WireItem::Reasoning { text, signature } => {
            let summary = json!([{"type": "summary_text", "text": text}]);
            let mut reasoning = json!({"id": id, "type": "reasoning", "summary": summary});
            if asks_for_encrypted(answer.request) {
                reasoning["encrypted_content"] = json!(signature);
            }
            reasoning
        }
        WireItem::Text(text) => json!({
            "id": id, "type": "message", "status": status, "role": "assistant", "content": [part(text)],
        }),
        WireItem::Call { id: call, name, arguments, form, .. } => {
            let (kind, field) = if form.custom {
                ("custom_tool_call", "input")
            } else {
                ("function_call", "arguments")
            };
            let mut item =
                json!({"id": id, "type": kind, "status": status, "call_id": call, "name": name});
            item[field] = json!(arguments);
            if let Some(namespace) = &form.namespace {
                item["namespace"] = json!(namespace);
            }
            item
        }
    }
}

pub(super) fn asks_for_encrypted(request: &Value) -> bool {
    let include = request["include"].as_array();
    include.is_some_and(|include| include.contains(&json!("reasoning.encrypted_content")))
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn reasoning_events(id: &str, index: usize, text: &str) -> Vec<Event> {
    let event = |kind: &str, key: &str, value: Value| {
        let mut event =
            json!({"type": kind, "item_id": id, "output_index": index, "summary_index": 0});
        event[key] = value;
        (event, FrameKind::Other)
    };
    let whole = json!({"type": "summary_text", "text": text});
    let empty = json!({"type": "summary_text", "text": ""});
    let delta = |piece| event("response.reasoning_summary_text.delta", "delta", json!(piece));
    [event("response.reasoning_summary_part.added", "part", empty)]
        .into_iter()
        .chain(pieces(text, 12).into_iter().map(delta))
        .chain([
            event("response.reasoning_summary_text.done", "text", json!(text)),
            event("response.reasoning_summary_part.done", "part", whole),
        ])
        .collect()
}

fn text_events(id: &str, index: usize, text: &str) -> Vec<Event> {
    let event = |kind: &str, key: &str, value: Value, mark: FrameKind| {
        let mut event =
            json!({"type": kind, "item_id": id, "output_index": index, "content_index": 0});
        event[key] = value;
        if kind.starts_with("response.output_text") {
            event["logprobs"] = json!([]);
        }
        (event, mark)
    };
    let delta = |piece| event("response.output_text.delta", "delta", json!(piece), FrameKind::Text);
    [event("response.content_part.added", "part", part(""), FrameKind::Other)]
        .into_iter()
        .chain(pieces(text, 12).into_iter().map(delta))
        .chain([
            event("response.output_text.done", "text", json!(text), FrameKind::Other),
            event("response.content_part.done", "part", part(text), FrameKind::Other),
        ])
        .collect()
}

fn call_events(id: &str, index: usize, name: &str, arguments: &str) -> Vec<Event> {
    let delta = |piece| {
        let kind = "response.function_call_arguments.delta";
        let delta = json!({"type": kind, "item_id": id, "output_index": index, "delta": piece});
        (delta, FrameKind::Arguments)
    };
    let end = json!({
        "type": "response.function_call_arguments.done",
        "item_id": id,
        "output_index": index,
        "name": name,
        "arguments": arguments,
    });
    pieces(arguments, 8).into_iter().map(delta).chain([(end, FrameKind::Other)]).collect()
}

fn custom_call_events(id: &str, index: usize, input: &str) -> Vec<Event> {
    let event = |kind: &str, field: &str, text: &str, mark: FrameKind| {
        let mut event = json!({"type": kind, "item_id": id, "output_index": index});
        event[field] = json!(text);
        (event, mark)
    };
    let delta = |piece: String| {
        event("response.custom_tool_call_input.delta", "delta", &piece, FrameKind::Arguments)
    };
    let end = event("response.custom_tool_call_input.done", "input", input, FrameKind::Other);
    pieces(input, 8).into_iter().map(delta).chain([end]).collect()
}
