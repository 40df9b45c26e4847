//! The tools that a server lists, within limits.

use std::collections::BTreeSet;

use rmcp::model::{ListToolsRequest, PaginatedRequestParams, ServerResult, Tool};
use rmcp::service::PeerRequestOptions;
use rmcp::{Peer, RoleClient};
use serde_json::Value;
use tenter_base::{excerpt, one_line, sanitize};

use crate::definition::ServerDefinition;
use crate::errors::describe;
use crate::{names, schema};

/// Maximum number of tools of a server.
const MAX_TOOLS: usize = 128;
/// Maximum number of pages of a list.
const MAX_PAGES: usize = 32;
/// Maximum number of characters of a tool's description.
const MAX_DESCRIPTION: usize = 4000;
/// Maximum number of characters of a server's text about its tools.
const MAX_INSTRUCTIONS: usize = 4000;
/// Maximum number of bytes of the server's own name of a tool.
const MAX_OWN_NAME: usize = 256;

/// The tools of a server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listing {
    /// The tools that the model gets.
    pub(crate) tools: Vec<ListedTool>,
    /// The server's text about its tools.
    pub(crate) instructions: Option<String>,
    /// The problems with the list.
    pub(crate) warnings: Vec<String>,
}

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListedTool {
    /// The name by which the model calls it.
    pub(crate) name: String,
    /// The server's own name.
    pub(crate) own_name: String,
    /// The description that the model reads.
    pub(crate) description: String,
    /// The JSON Schema of its input.
    pub(crate) schema: Value,
}

/// Asks a server for its tools.
///
/// # Errors
/// The server does not answer, or answers something else.
pub(crate) async fn list(
    peer: &Peer<RoleClient>,
    definition: &ServerDefinition,
) -> Result<Listing, String> {
    let info = peer.peer_info();
    let has_tools = info.as_ref().is_none_or(|info| info.capabilities.tools.is_some());
    let tools = if has_tools { pages(peer, definition).await? } else { Vec::new() };
    let instructions = info.and_then(|info| info.instructions.clone());
    Ok(listing(definition, &tools, instructions.as_deref()))
}

async fn pages(
    peer: &Peer<RoleClient>,
    definition: &ServerDefinition,
) -> Result<Vec<Tool>, String> {
    let mut tools = Vec::new();
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let params =
            cursor.take().map(|at| PaginatedRequestParams::default().with_cursor(Some(at)));
        let request = ListToolsRequest { params, ..ListToolsRequest::default() };
        let options = PeerRequestOptions::with_timeout(definition.call_timeout);
        let handle = peer.send_request_with_option(request.into(), options).await;
        let answer = match handle {
            Ok(handle) => handle.await_response().await,
            Err(error) => Err(error),
        };
        let answer = answer.map_err(|error| describe(&error))?;
        let ServerResult::ListToolsResult(page) = answer else {
            return Err("its list of tools is not valid".to_owned());
        };
        tools.extend(page.tools);
        cursor = page.next_cursor;
        if cursor.is_none() || tools.len() > MAX_TOOLS {
            break;
        }
    }
    Ok(tools)
}

/// Returns the tools that the model gets, sanitised and within the limits.
fn listing(definition: &ServerDefinition, tools: &[Tool], instructions: Option<&str>) -> Listing {
    let mut warnings = Vec::new();
    let mut unique_names = BTreeSet::new();
    let own_names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    let missing = definition.selection.missing(&own_names);
    if !missing.is_empty() {
        let missing = excerpt::one_line(&missing.join(", "), 200);
        warnings.push(format!("it has no tool named {missing}"));
    }
    let mut selection: Vec<&Tool> = tools
        .iter()
        .filter(|tool| definition.selection.includes(&tool.name))
        .filter(|tool| (1..=MAX_OWN_NAME).contains(&tool.name.len()))
        .filter(|tool| unique_names.insert(tool.name.as_ref()))
        .collect();
    if selection.len() > MAX_TOOLS {
        warnings.push(format!("it has more than {MAX_TOOLS} tools; the others are left out"));
        selection.truncate(MAX_TOOLS);
    }
    let own_names: Vec<&str> = selection.iter().map(|tool| tool.name.as_ref()).collect();
    let names = names::for_tools(definition.name.as_str(), &own_names);
    let mut list = Vec::new();
    for (tool, name) in selection.into_iter().zip(names) {
        let Some(schema) = schema::plain(&tool.input_schema) else {
            let own = one_line(&tool.name, 60);
            warnings
                .push(format!("its tool {own} is left out: the schema of its input is too large"));
            continue;
        };
        let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
        list.push(ListedTool {
            name,
            own_name: tool.name.clone().into_owned(),
            description: bound(description, MAX_DESCRIPTION),
            schema,
        });
    }
    let instructions = instructions.map(|text| bound(text, MAX_INSTRUCTIONS));
    let instructions = instructions.filter(|text| !text.trim().is_empty());
    Listing { tools: list, instructions, warnings }
}

fn bound(text: &str, max: usize) -> String {
    excerpt::chars(sanitize(text).trim(), max).into_owned()
}
