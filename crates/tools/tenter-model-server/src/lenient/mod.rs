//! Lenient scripts: any client is answered, whatever it sends.

mod lane;
mod services;
mod side;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::Format;
use crate::exchange::{Delivery, Evidence, OtherRequest, RecordedRequest, Route};
use crate::http::HttpRequest;
use crate::player::{Player, Response, ScriptedResponse};
use crate::reading::Reading;
use crate::reply::ModelReply;
use crate::wire::failure;
pub use lane::{Lane, Match};

/// The lane of requests that no other lane matches.
const MAIN: &str = "main";

/// The lane of requests that offer no tools.
const SIDE: &str = "side";

/// Maximum number of bytes in the bodies of all requests, so that a client in a loop does not use up the memory.
const MAX_KEPT: u64 = 64 << 20;

/// Turns of a conversation for a client whose requests are not checked.
///
/// A request that matches a [`Lane`] gets that lane's turn. Another one that offers no tools is a side request (a title, a
/// summary) and gets a harmless answer: JSON by its schema if it has one. All others get the turns of the main conversation.
///
/// The number of model turns in the request selects its turn, so a retried request gets the same turn again. After the last turn,
/// every reply is `Done.`. Lists of models and counts of tokens are answered; any other path gets `{}`.
#[must_use]
#[derive(Debug, Clone)]
pub struct LenientScript {
    main: Lane,
    lanes: Vec<Lane>,
    side: Option<ModelReply>,
    models: Vec<String>,
}

impl LenientScript {
    /// Creates a script with these turns of the main conversation.
    pub fn new(turns: impl IntoIterator<Item = ModelReply>) -> Self {
        Self {
            main: Lane::new(MAIN, Match::default(), turns),
            lanes: Vec::new(),
            side: None,
            models: vec!["mock-model".to_owned()],
        }
    }

    /// Adds a lane. The first lane that matches a request answers it.
    pub fn lane(mut self, lane: Lane) -> Self {
        self.lanes.push(lane);
        self
    }

    /// Sets the reply after the last turn of the main conversation.
    pub fn after(mut self, reply: ModelReply) -> Self {
        self.main = self.main.after(reply);
        self
    }

    /// Selects the turns of the main conversation by their order; see [`Lane::select_by_order`].
    pub fn select_by_order(mut self) -> Self {
        self.main = self.main.select_by_order();
        self
    }

    /// Sets the reply to side requests.
    pub fn side(mut self, reply: ModelReply) -> Self {
        self.side = Some(reply);
        self
    }

    /// Sets the names in the list of models. By default there is one, `mock-model`.
    pub fn serves(mut self, names: &[&str]) -> Self {
        self.models = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }
}

impl From<LenientScript> for Box<dyn Player> {
    fn from(script: LenientScript) -> Self {
        Box::new(LenientPlayer::new(script))
    }
}

/// Plays a lenient script.
#[derive(Debug)]
struct LenientPlayer {
    script: LenientScript,
    /// Number of turns played in each lane, by the name of the lane.
    played_turns: HashMap<String, usize>,
    /// The turns whose faults have happened.
    failures: HashSet<(String, usize)>,
    serial: usize,
    bytes: u64,
}

/// The reply to a request, and where it is from.
struct Selected {
    lane: String,
    turn: Option<usize>,
    reply: ModelReply,
}

impl LenientPlayer {
    fn new(script: LenientScript) -> Self {
        Self { script, played_turns: HashMap::new(), failures: HashSet::new(), serial: 1, bytes: 0 }
    }
}

impl Player for LenientPlayer {
    /// Adds a turn to the main conversation.
    fn push(&mut self, reply: ModelReply) {
        self.script.main.push(reply);
    }

    fn unused(&self) -> usize {
        0
    }

    fn respond(
        &mut self,
        request: &HttpRequest,
        body: &Value,
        evidence: &mut Evidence,
    ) -> Response {
        self.bytes += request.body.len() as u64;
        if self.bytes > MAX_KEPT {
            let text = "the server keeps no more requests";
            return Response::Fixed(503, failure::rejection(Format::Chat, text));
        }
        let Some(route) = route(request, body) else {
            evidence.others.push(OtherRequest::new(request));
            return services::answer(request, &self.script.models);
        };
        let reading = Reading::new(route.format, body);
        let selection = self.select(request, &route, &reading);
        evidence.requests.push(RecordedRequest {
            lane: selection.lane,
            turn: selection.turn,
            ..RecordedRequest::new(request, route.format, body)
        });
        let serial = self.serial;
        self.serial += 1;
        let reply = selection.reply.for_tools(&reading.tools);
        Response::Scripted(Box::new(ScriptedResponse { reply, route, serial, llama: false }))
    }
}

impl LenientPlayer {
    /// Selects the reply to a request from the script.
    fn select(&mut self, request: &HttpRequest, route: &Route, reading: &Reading) -> Selected {
        let Self { script, played_turns: played, failures: failed, .. } = self;
        let mut lanes = script.lanes.iter();
        let matching = lanes.find(|lane| lane.matches(request.path(), &route.model, reading));
        let lane = match matching {
            Some(lane) => lane,
            None if side::is_side(reading) => {
                let reply = script.side.clone().unwrap_or_else(|| side::reply(reading));
                return Selected { lane: SIDE.to_owned(), turn: None, reply };
            }
            None => &script.main,
        };
        let name = lane.name().to_owned();
        let count = played.entry(name.clone()).or_default();
        let turn = if lane.is_counted() { *count } else { reading.model_turns() };
        let mut reply = lane.reply(turn);
        let is_retry = !reply.faults.is_empty() && !failed.insert((name.clone(), turn));
        if is_retry && !reply.fails_always {
            reply.faults.clear();
        }
        // The client repeats a request that failed.
        *count += usize::from(reply.is_whole());
        Selected { lane: name, turn: Some(turn), reply }
    }
}

/// Returns the route of a request for a reply, whatever comes before the end of its path.
fn route(request: &HttpRequest, body: &Value) -> Option<Route> {
    if request.method != "POST" {
        return None;
    }
    let path = request.path();
    let delivery = if body["stream"] == true { Delivery::Events } else { Delivery::Whole };
    let simple = |format| {
        let model = body["model"].as_str().unwrap_or_default().to_owned();
        Some(Route { format, model, delivery })
    };
    match path {
        _ if path.ends_with("/messages") => simple(Format::Anthropic),
        _ if path.ends_with("/responses") => simple(Format::Responses),
        _ if path.ends_with("/chat/completions") => simple(Format::Chat),
        _ => gemini(request),
    }
}

fn gemini(request: &HttpRequest) -> Option<Route> {
    let (rest, verb) = request.path().rsplit_once(':')?;
    let (_, model) = rest.rsplit_once('/')?;
    let delivery = match verb {
        "generateContent" => Delivery::Whole,
        "streamGenerateContent" if request.target.contains("alt=sse") => Delivery::Events,
        "streamGenerateContent" => Delivery::Array,
        _ => return None,
    };
    Some(Route { format: Format::Gemini, model: model.to_owned(), delivery })
}
