CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
INSERT INTO session VALUES ('ses_df2efe518ffe33QCAIs6VMxxzu', NULL, '/home/ada/app');
INSERT INTO part VALUES ('prt_20d107a94001reFTIsbcc9tTTk', 'ses_df2efe518ffe33QCAIs6VMxxzu', 1795515513730, '{"type": "text"}');
INSERT INTO part VALUES ('prt_20d10993b001QJerYR5SxXG4k8', 'ses_df2efe518ffe33QCAIs6VMxxzu', 1795515521347, '{"type": "step-start"}');
INSERT INTO part VALUES ('prt_20d109964001MgynWScXrvgJoI', 'ses_df2efe518ffe33QCAIs6VMxxzu', 1795515521380, '{"type": "text"}');
INSERT INTO part VALUES ('prt_20d1099b3001OJ06FKMy8O7Zjt', 'ses_df2efe518ffe33QCAIs6VMxxzu', 1795515521459, '{"type": "tool", "tool": "bash", "callID": "call_t0_1_c40519a4", "state": {"status": "completed", "input": {"command": "echo hello-from-shell > shell.txt; cat shell.txt"}, "output": "hello-from-shell\n", "title": "run", "time": {"start": 1795515521645, "end": 1795515523098}}}');
INSERT INTO part VALUES ('prt_20d10a3b1001MdTQxIb5Znwo02', 'ses_df2efe518ffe33QCAIs6VMxxzu', 1795515524018, '{"type": "step-finish"}');
INSERT INTO part VALUES ('prt_20d10a649001DxjftbtOGuKAQt', 'ses_df2efe518ffe33QCAIs6VMxxzu', 1795515524682, '{"type": "patch"}');
