//! The runs of a client. A scenario is one session with a client, rarely with several processes.

/// A purpose for which a client is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scenario {
    /// Hooks watch, deny and change calls of tools, add contexts, and make the agent continue.
    Tools,
    /// Hooks ask, guard a tool by its name, and say something to the user beside their answer.
    Decisions,
    /// A hook denies a call of the tool of an MCP server.
    Mcp,
    /// A hook denies a command in the text of a skill.
    Skill,
    /// A hook denies one of two calls, between hooks of another program.
    Others,
    /// Hooks fail.
    Failures,
    /// The history is replaced by a summary.
    Compaction,
    /// A subagent calls a tool.
    Subagent,
    /// A session continues in a second process.
    Resume,
    /// A hook denies one of two calls.
    Registered,
    /// The hooks are registered for the user and for the project.
    Twice,
    /// A hook rejects the message.
    Prompt,
    /// A rule of the user denies a call that a hook rewrites.
    UserRule,
    /// A hook confines one of three calls.
    Confined,
    /// The agent's own sandbox is on, and a call writes outside of the project.
    OwnSandbox,
    /// A hook exceeds the time limit of the agent.
    Deadline,
    /// The hooks are registered for all users of the machine, and the user disables hooks.
    Managed,
    /// The program is missing.
    Missing,
    /// The program is missing, and the agent is to block then.
    MissingClosed,
}

impl Scenario {
    /// Every scenario, the longest first.
    pub const ALL: [Self; 18] = [
        Self::Tools,
        Self::Decisions,
        Self::Failures,
        Self::Deadline,
        Self::Compaction,
        Self::Subagent,
        Self::Resume,
        Self::Mcp,
        Self::Skill,
        Self::Others,
        Self::Registered,
        Self::Twice,
        Self::Prompt,
        Self::UserRule,
        Self::Confined,
        Self::OwnSandbox,
        Self::Missing,
        Self::MissingClosed,
    ];

    /// Returns the name, which its directory has, too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Decisions => "decisions",
            Self::Mcp => "mcp",
            Self::Skill => "skill",
            Self::Others => "others",
            Self::Failures => "failures",
            Self::Compaction => "compaction",
            Self::Subagent => "subagent",
            Self::Resume => "resume",
            Self::Registered => "registered",
            Self::Twice => "twice",
            Self::Deadline => "deadline",
            Self::Prompt => "prompt",
            Self::UserRule => "user-rule",
            Self::Confined => "confined",
            Self::OwnSandbox => "sandbox",
            Self::Managed => "managed",
            Self::Missing => "missing",
            Self::MissingClosed => "missing-closed",
        }
    }
}
