-- What a provider wants back, what an exchange cost and which model it was with, where a fork comes from, and an index
-- of what was said.

-- The same messages, each with a number that stays when the file is vacuumed: the index knows them by it.
CREATE TABLE numbered_messages (
    id              INTEGER PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    epoch           INTEGER NOT NULL,
    sequence        INTEGER NOT NULL,
    at              TEXT NOT NULL,
    role            TEXT NOT NULL,   -- user, assistant
    origin          TEXT NOT NULL,   -- user, model, tools, hook:NAME, mutation:NAME, recipe:NAME
    blocks          TEXT NOT NULL,   -- a JSON array: text, reasoning, image, tool_use, tool_result
    native          TEXT,            -- JSON: the message as the provider wants it back; NULL where it came from none
    UNIQUE (conversation_id, epoch, sequence)
) STRICT;
INSERT INTO numbered_messages (conversation_id, epoch, sequence, at, role, origin, blocks)
    SELECT conversation_id, epoch, sequence, at, role, origin, blocks FROM messages ORDER BY rowid;
DROP TABLE messages;
ALTER TABLE numbered_messages RENAME TO messages;

ALTER TABLE conversations ADD COLUMN forked_from TEXT; -- the conversation that this one is a copy of; it may be gone

ALTER TABLE usage ADD COLUMN model TEXT;               -- NULL where it was not recorded
ALTER TABLE usage ADD COLUMN cached_input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN cache_write_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN cost_usd REAL;            -- NULL where the model's prices are not known

-- The words of each message, by its id, without the text itself.
CREATE VIRTUAL TABLE message_text USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER message_text_goes_with_its_message AFTER DELETE ON messages BEGIN
    DELETE FROM message_text WHERE rowid = old.id;
END;
