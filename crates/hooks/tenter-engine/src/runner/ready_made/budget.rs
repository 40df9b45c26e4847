//! `budget`: denies when the calls, the time, the tokens or the cost of a session or a day are used up.

use serde::{Deserialize, Serialize};
use tenter_protocol::event::Usage;
use tenter_protocol::{Body, Reply};

use super::call::ReadyMadeCall;
use crate::ready_made::amount;

/// The share of a limit from which on the model is warned, in percent.
const WARNING: f64 = 80.0;
const MINUTE_MS: f64 = 60_000.0;

/// The amounts that are used up.
#[derive(Default, Clone, Serialize, Deserialize)]
struct Spent {
    calls: u64,
    /// The time of the first event, in milliseconds since 1970.
    start: i64,
    tokens: u64,
    cost_usd: f64,
    /// The tokens and the cost of the conversation that were counted last: agents report the sum so far.
    counted: (String, u64, f64),
    /// True if the model was warned.
    warned: bool,
}

/// A limit, and how much of it is used.
struct Limit {
    what: &'static str,
    used: f64,
    max: f64,
}

pub(super) fn reply(call: &ReadyMadeCall<'_>) -> Result<Reply, String> {
    let now = call.now();
    let conversation = &call.scope().conversation_id;
    let (usage, is_call) = match call.body() {
        Body::AfterTurn(turn) => (turn.usage, false),
        Body::BeforeStop(stop) => (stop.usage, false),
        Body::BeforeTool(_) => (None, true),
        _ => (None, false),
    };
    let max_cost = match call.text("usd") {
        "" => 0.0,
        text => amount(text)?,
    };
    let count = |totals: &mut Spent| {
        if totals.start == 0 {
            totals.start = now;
        }
        if let Some(usage) = usage {
            totals.count(conversation, usage);
        }
        let limits = totals.limits(now, max_cost, call);
        let is_over = limits.iter().any(Limit::is_over);
        let is_near = limits.iter().any(Limit::is_near);
        if is_call && !is_over {
            totals.calls += 1;
        }
        let warns = is_near && !is_over && !totals.warned && is_call;
        totals.warned |= warns;
        (limits, warns)
    };
    let (limits, warns) = if call.text("per") == "day" {
        let day = call.scope().time.get(..10).unwrap_or("day").to_owned();
        call.change_project_state(&day, count)?
    } else {
        call.change_state(count)?
    };
    let over: Vec<String> =
        limits.iter().filter(|limit| limit.is_over()).map(Limit::text).collect();
    let may_deny = matches!(call.body(), Body::BeforeTool(_) | Body::BeforeAgent { .. });
    if !over.is_empty() && may_deny {
        return Ok(super::deny(format!(
            "the budget is used up ({}); stop here, and say what is left to do. The user can raise it: `tenter hooks set budget`",
            over.join(", ")
        )));
    }
    if warns {
        let near: Vec<String> =
            limits.iter().filter(|limit| limit.is_near()).map(Limit::text).collect();
        return Ok(super::context(format!(
            "The budget is nearly used up: {}. Finish soon.",
            near.join(", ")
        )));
    }
    Ok(Reply::default())
}

impl Spent {
    /// Adds what a conversation used since it was counted last.
    fn count(&mut self, conversation: &str, usage: Usage) {
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        let cost = usage.cost_usd.unwrap_or(0.0);
        let (last_conversation, tokens_before, cost_before) = &self.counted;
        let is_same = last_conversation == conversation;
        let (tokens_before, cost_before) =
            if is_same { (*tokens_before, *cost_before) } else { (0, 0.0) };
        self.tokens = self.tokens.saturating_add(tokens.saturating_sub(tokens_before));
        self.cost_usd += (cost - cost_before).max(0.0);
        self.counted = (conversation.to_owned(), tokens, cost);
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a count of this size is never compared exactly"
    )]
    fn limits(&self, now: i64, max_cost: f64, call: &ReadyMadeCall<'_>) -> Vec<Limit> {
        let minutes = (now - self.start).max(0) as f64 / MINUTE_MS;
        let max = |name: &str| f64::from(call.number(name));
        let all = [
            Limit { what: "calls", used: self.calls as f64, max: max("calls") },
            Limit { what: "minutes", used: minutes, max: max("minutes") },
            Limit { what: "tokens", used: self.tokens as f64, max: max("tokens") },
            Limit { what: "USD", used: self.cost_usd, max: max_cost },
        ];
        all.into_iter().filter(|limit| limit.max > 0.0).collect()
    }
}

impl Limit {
    fn is_over(&self) -> bool {
        self.used >= self.max
    }

    fn is_near(&self) -> bool {
        self.used >= self.max * WARNING / 100.0
    }

    fn text(&self) -> String {
        let number = |value: f64| {
            if self.what == "USD" { format!("{value:.2}") } else { format!("{value:.0}") }
        };
        format!("{} of {} {}", number(self.used), number(self.max), self.what)
    }
}
