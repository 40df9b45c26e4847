-- Rows are added and never rewritten, but for the row in conversations, which says where a conversation stands.
-- Times are RFC 3339 in UTC, with Z.

CREATE TABLE conversations (
    id            TEXT NOT NULL PRIMARY KEY,
    project       ANY NOT NULL,      -- the project's folder: text, or a blob where the path is not UTF-8
    model         TEXT NOT NULL,
    parent        TEXT,              -- the conversation that started this subagent; it may not be stored yet, so no REFERENCES
    recipe        TEXT,
    created_at    TEXT NOT NULL,
    updated_at    TEXT NOT NULL,
    status        TEXT,              -- done, blocked, failed, max_turns, interrupted; NULL while running, or after a kill
    preview       TEXT,              -- the first thing that the person said, on one line
    epoch         INTEGER NOT NULL,  -- the messages of this epoch are the history; those of earlier ones were replaced
    next_sequence INTEGER NOT NULL,  -- the sequence of the next message, counted over all epochs
    turns         INTEGER NOT NULL   -- model responses so far, counted over all epochs
) STRICT;

-- Without the Z, 12:00:00 and 12:00:00.5 sort as text the way they follow in time.
CREATE INDEX conversations_by_time ON conversations (rtrim(updated_at, 'Z'));
CREATE INDEX conversations_by_parent ON conversations (parent) WHERE parent IS NOT NULL;

CREATE TABLE messages (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    epoch           INTEGER NOT NULL,
    sequence        INTEGER NOT NULL,
    at              TEXT NOT NULL,
    role            TEXT NOT NULL,   -- user, assistant
    origin          TEXT NOT NULL,   -- user, model, tools, hook:NAME, mutation:NAME, recipe:NAME
    blocks          TEXT NOT NULL,   -- a JSON array: text, reasoning, tool_use, tool_result
    PRIMARY KEY (conversation_id, epoch, sequence)
) STRICT;

-- Why an epoch began; the first epoch, 0, has no row.
CREATE TABLE history_changes (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    epoch           INTEGER NOT NULL,
    kind            TEXT NOT NULL,   -- mutate, compact, restore
    made_by         TEXT NOT NULL,   -- a hook's name, or user
    reason          TEXT,
    at              TEXT NOT NULL,
    PRIMARY KEY (conversation_id, epoch)
) STRICT;

-- Tokens of one exchange with the model; sequence is that of the exchange's first message.
CREATE TABLE usage (
    conversation_id    TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    sequence           INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    context_window     INTEGER NOT NULL,
    max_context_window INTEGER NOT NULL,
    estimated          INTEGER NOT NULL, -- 1 where the provider gave no figures
    PRIMARY KEY (conversation_id, sequence)
) STRICT;
