//! `todo`: the agent's to-do list.

use schemars::JsonSchema;
use serde::Deserialize;
use tenter_protocol::tool_metadata::{Todo, TodoItem, TodoStatistics};

use super::error::ToolError;
use super::input::NonEmpty;
use super::tool::{ToolContext, ToolEffect, TypedTool};

pub(crate) struct TodoTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TodoInput {
    /// The whole new list. Omit it to read the list.
    #[serde(default)]
    todos: Option<Vec<TodoEntry>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoEntry {
    /// The task.
    content: NonEmpty,
    /// The state of the task.
    status: TodoStatus,
    /// The importance of the task. Default medium.
    #[serde(default)]
    priority: Priority,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TodoStatus {
    Pending,
    InProgress,
    Completed,
    Canceled,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Priority {
    High,
    #[default]
    Medium,
    Low,
}

impl TypedTool for TodoTool {
    const NAME: &'static str = "todo";
    const DESCRIPTION: &'static str = "Keep a to-do list of work that takes several steps. With `todos` the whole list is \
        replaced; without, it is read.";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Input = TodoInput;
    type Output = Todo;

    fn perform(&self, input: TodoInput, context: &ToolContext<'_>) -> Result<Todo, ToolError> {
        let mut list = context.workspace.todos();
        let action = if input.todos.is_some() { "write" } else { "read" };
        if let Some(entries) = input.todos {
            *list = (1_u64..).zip(entries).map(|(number, entry)| entry.numbered(number)).collect();
        }
        Ok(Todo {
            action: action.to_owned(),
            statistics: statistics(&list),
            todo_list: list.clone(),
        })
    }
}

impl TodoEntry {
    fn numbered(self, number: u64) -> TodoItem {
        TodoItem {
            id: number.to_string(),
            content: self.content.0,
            status: self.status.as_str().to_owned(),
            priority: self.priority.as_str().to_owned(),
        }
    }
}

impl TodoStatus {
    fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Canceled => "canceled",
        }
    }
}

impl Priority {
    fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

fn statistics(list: &[TodoItem]) -> TodoStatistics {
    let count = |status: TodoStatus| {
        list.iter().filter(|item| item.status == status.as_str()).count() as u64
    };
    TodoStatistics {
        total: list.len() as u64,
        completed: count(TodoStatus::Completed),
        in_progress: count(TodoStatus::InProgress),
        pending: count(TodoStatus::Pending),
    }
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Bench;
    use serde_json::json;

    #[test]
    fn the_list_is_written_whole_and_read_back() {
        let bench = Bench::new();
        assert_eq!(bench.succeed("todo", json!({})).text(), "The to-do list is empty.");
        let todos = json!([{"content": "look", "status": "completed"},
                           {"content": "leap", "status": "in_progress", "priority": "high"},
                           {"content": "rest", "status": "canceled", "priority": "low"}]);
        bench.succeed("todo", json!({"todos": todos}));
        let result = bench.succeed("todo", json!({"todos": null}));
        assert_eq!(
            result.text(),
            "1. [completed] look (medium)\n2. [in_progress] leap (high)\n3. [canceled] rest (low)"
        );
        let metadata = result.metadata.unwrap();
        assert_eq!(metadata["action"], json!("read"));
        assert_eq!(
            metadata["statistics"],
            json!({"total": 3, "completed": 1, "inProgress": 1, "pending": 0})
        );
        let emptied = bench.succeed("todo", json!({"todos": []})).metadata.unwrap();
        assert_eq!((&emptied["action"], &emptied["todoList"]), (&json!("write"), &json!([])));
    }

    #[test]
    fn an_invalid_item_leaves_the_list_unchanged() {
        let bench = Bench::new();
        bench.succeed("todo", json!({"todos": [{"content": "a", "status": "pending"}]}));
        for (entry, complaint) in [
            (
                json!({"content": "b", "status": "done"}),
                "unknown variant `done`, expected one of `pending`",
            ),
            (json!({"content": "", "status": "pending"}), "must not be empty"),
            (json!({"content": "b"}), "missing field `status`"),
            (json!({"content": "b", "status": "pending", "owner": "me"}), "unknown field `owner`"),
        ] {
            let error = bench.fail("todo", json!({"todos": [entry]}));
            assert!(error.contains("todos: ") && error.contains(complaint), "{error}");
        }
        assert_eq!(bench.succeed("todo", json!({})).text(), "1. [pending] a (medium)");
    }
}
