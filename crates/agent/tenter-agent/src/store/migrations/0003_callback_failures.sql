-- How often the callback of a recipe has failed in a row, so that a conversation that is resumed remembers it.

CREATE TABLE callback_failures (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    recipe          TEXT NOT NULL,
    failures        INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, recipe)
) STRICT;
