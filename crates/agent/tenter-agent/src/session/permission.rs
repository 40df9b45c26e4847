//! Checks whether a call that hooks allowed has the user's permission.

use tenter_engine::{PermissionAnswer, PermissionSource};
use tenter_protocol::{Diagnostic, Severity, ToolCall, ToolResult};

use super::Session;
use crate::permission::{CallContext, PermissionMode, PermissionQuestion};
use crate::tools::ToolEffect;

impl Session<'_> {
    /// Checks whether a call has the user's permission, and asks them if necessary. `is_settled` if a hook allowed the call or asked
    /// the user about it: then only plan mode and rules can refuse it.
    ///
    /// # Errors
    /// The result of a call that does not run.
    pub(super) fn permit(&self, call: &ToolCall, is_settled: bool) -> Result<(), Box<ToolResult>> {
        let permissions = &self.agent.permissions;
        let mode = permissions.mode();
        // Nothing runs for a tool that does not exist.
        let Some(tool) = self.tools.registry.get(&call.name) else { return Ok(()) };
        let is_free = (mode == PermissionMode::All || is_settled) && !permissions.is_restricted();
        if is_free || tool.effect() == ToolEffect::Reads {
            return Ok(());
        }
        if let Some(why) = self.invalid_input(call) {
            let error = format!("the input does not fit: {why}");
            return Err(Box::new(ToolResult::failure(&call.name, error, self.now())));
        }
        let mode_asks = tool.effect().needs_permission(mode);
        let source = if mode_asks || permissions.is_restricted() {
            self.decide(call, is_settled, mode_asks)
        } else {
            PermissionSource::Mode
        };
        if is_settled && source.allows() {
            return Ok(());
        }
        self.hooks().permission_decided(call.clone(), mode.as_str(), &source);
        if source.allows() {
            return Ok(());
        }
        if self.cancel().is_cancelled() {
            return Err(Box::new(ToolResult::failure(&call.name, "interrupted", self.now())));
        }
        Err(Box::new(ToolResult::not_allowed(&call.name, &refusal(mode, &source), self.now())))
    }

    /// Lets rules or the user decide.
    fn decide(&self, call: &ToolCall, is_settled: bool, mode_asks: bool) -> PermissionSource {
        let file = self.changed_file(call);
        let facts = self.hooks().facts(call).facts.call;
        let (file, workspace) = (file.as_deref(), &self.workspace);
        let context = CallContext { call, file, facts: &facts, workspace };
        let is_from_subagent = self.conversation.parent().is_some();
        let question = PermissionQuestion { is_settled, mode_asks, is_from_subagent };
        let asker = self.agent.asker.as_ref();
        let (source, failure) = self.agent.permissions.decide(asker, context, question);
        if let Some(why) = failure {
            let message = format!("the rule applies in this session only: {why}");
            self.diagnose(&Diagnostic::new("rule-not-kept", Severity::Warning, message));
        }
        source
    }

    /// Returns the real path of the file that a call of a file tool changes.
    fn changed_file(&self, call: &ToolCall) -> Option<std::path::PathBuf> {
        let is_edit = self.tools.registry.get(&call.name)?.effect() == ToolEffect::Edits;
        let path = call.input.get("file_path")?.as_str().filter(|_| is_edit)?;
        self.workspace.resolve_to_read(path).ok()
    }
}

/// Returns why a call does not run, for the model and the user.
fn refusal(mode: PermissionMode, source: &PermissionSource) -> String {
    match source {
        PermissionSource::User {
            answer: PermissionAnswer::Unattended { .. },
            reason: Some(reason),
            ..
        } => format!("{reason}, and there is no user to ask"),
        PermissionSource::User { answer: PermissionAnswer::Unattended { .. }, .. } => format!(
            "the permission mode `{mode}` asks the user, and there is no user to ask; `--allow RULE` allows such calls, for example --allow 'bash(git status *)', and `--permissions all` allows every call"
        ),
        PermissionSource::User { reason: Some(reason), .. } => {
            format!("the user does not allow it: {reason}")
        }
        _ => "the user does not allow it".to_owned(),
    }
}
