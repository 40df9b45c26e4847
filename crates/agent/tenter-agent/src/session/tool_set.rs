//! The tools of a session, and their descriptions for the model. Tools of a source are added before a model request.

use super::{Agent, Session};
use crate::model::ToolSpec;
use crate::prompt::SectionWriter;
use crate::tools::{Registry, SourcedTools, Tool};

/// The tools of a session.
pub(super) struct ToolSet {
    /// The tools.
    pub(super) registry: Registry,
    /// The model's description of each tool.
    pub(super) specs: Vec<ToolSpec>,
    /// The system prompt, including the tools' guidance.
    pub(super) system: String,
    /// The revision of the source's tools among them, if there are any.
    revision: Option<u64>,
}

impl ToolSet {
    /// Creates the agent's own tools.
    pub(super) fn new(agent: &Agent, sections: &SectionWriter) -> Self {
        Self::with_source_tools(agent, sections, &SourcedTools::default(), None)
    }

    fn with_source_tools(
        agent: &Agent,
        sections: &SectionWriter,
        sourced: &SourcedTools,
        revision: Option<u64>,
    ) -> Self {
        let registry = agent.tools.with_source_tools(sourced);
        let spec = |tool: &dyn Tool| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.input_schema(),
        };
        let specs = registry.iter().map(spec).collect();
        let prompt = std::iter::once(agent.settings.system_prompt.render(sections));
        let guidance = registry.iter().filter_map(Tool::guidance);
        let instructions = sourced.instructions.iter().map(|instructions| {
            let attributes =
                [("name", instructions.server.as_str()), ("tools", instructions.prefix.as_str())];
            sections.section("mcp-server", &attributes, &instructions.text)
        });
        let system = prompt.chain(guidance).chain(instructions).collect::<Vec<_>>().join("\n\n");
        Self { registry, specs, system, revision }
    }
}

impl Session<'_> {
    /// Begins to obtain the tools of the agent's source, if it has one.
    pub(super) fn start_tool_source(&self) {
        if let Some(source) = self.agent.tools.source() {
            source.start();
        }
    }

    /// Makes the tools of the agent's source available as they are now. Does nothing for an agent without a source.
    pub(super) fn renew_tools(&mut self) {
        let Some(source) = self.agent.tools.source() else { return };
        let sourced = source.tools(self.cancel());
        for diagnostic in &sourced.diagnostics {
            self.diagnose_once(diagnostic);
        }
        if self.tools.revision != Some(sourced.revision) {
            let revision = Some(sourced.revision);
            self.tools = ToolSet::with_source_tools(self.agent, &self.sections, &sourced, revision);
        }
    }
}
