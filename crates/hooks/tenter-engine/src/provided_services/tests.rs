//! Tests of the services that the engine provides or passes on.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::json;
use tenter_protocol::Message;
use tenter_protocol::runtime::{
    Completion, CompletionUsage, HistoryResult, ServiceCall, UserAnswer,
};

use super::*;
use crate::observe::{HookRun, Observer};
use crate::trust::TrustMode;
use crate::{Diagnostic, Directories, Engine, Severity};

const ALL: &str = "[history, model, ask, state, notify]";

/// Answers everything, and counts the calls.
#[derive(Default)]
struct Fake {
    calls: Mutex<Vec<String>>,
}

impl Fake {
    fn called(&self, what: &str) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(what.to_owned());
    }

    fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

impl Services for Fake {
    fn history(
        &self,
        by: &ServiceCaller<'_>,
        query: &HistoryQuery,
    ) -> Result<HistoryResult, ServiceError> {
        self.called(&format!("history of {:?} for {}", query.conv_id, by.hook));
        let texts = ["one", "two", "my key is ghp_0123456789abcdefghijklmnop"];
        Ok(HistoryResult { messages: texts.map(Message::user).into() })
    }

    fn complete(
        &self,
        _: &ServiceCaller<'_>,
        request: &CompletionRequest,
        _: &Cancel,
    ) -> Result<Completion, ServiceError> {
        self.called("complete");
        let usage = CompletionUsage { input_tokens: 1, output_tokens: 2, cost_usd: 0.3 };
        Ok(Completion { text: request.prompt.to_uppercase(), usage })
    }

    fn ask(
        &self,
        _: &ServiceCaller<'_>,
        question: &Question,
        _: &Cancel,
    ) -> Result<UserAnswer, ServiceError> {
        self.called("ask");
        Ok(UserAnswer { answer: question.choices.first().cloned().unwrap_or_default() })
    }
}

#[derive(Default)]
struct Notices(Mutex<Vec<Notice>>);

impl Observer for Notices {
    fn hook_ran(&self, _: &HookRun) {}
    fn noticed(&self, notice: &Notice) {
        self.0.lock().unwrap().push(notice.clone());
    }
}

/// An engine with one runtime hook.
struct Stage {
    _scratch: tempfile::TempDir,
    engine: Engine,
    fake: Arc<Fake>,
    services: Arc<dyn Services>,
    notices: Arc<Notices>,
    scope: Scope,
}

impl Stage {
    fn new(services: &str) -> Self {
        Self::with(services, "")
    }

    /// Adds a hook; `more` are further lines of the manifest.
    fn with(services: &str, more: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let project = scratch.path().join("project");
        hook(&project, services, more);
        let notices = Arc::new(Notices::default());
        let (engine, diagnostics) = Engine::builder(&project)
            .directories(Directories::in_home(scratch.path().join("home")))
            .clock(|| Timestamp::UNIX_EPOCH)
            .trust(TrustMode::All)
            .observer(Arc::clone(&notices) as Arc<dyn Observer>)
            .load();
        let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
        assert!(!diagnostics.iter().any(is_error), "{diagnostics:?}");
        let fake = Arc::new(Fake::default());
        let services = Arc::clone(&fake) as Arc<dyn Services>;
        let scope = Scope::new("child", &project).with_parent(Some("parent"));
        Self { _scratch: scratch, engine, fake, services, notices, scope }
    }

    #[expect(clippy::needless_pass_by_value, reason = "calls are shorter")]
    fn call(&self, method: &str, params: Value) -> Result<Value, ServiceError> {
        self.call_at(EventName::BeforeTool, true, method, &params)
    }

    fn call_at(
        &self,
        event: EventName,
        has_request: bool,
        method: &str,
        params: &Value,
    ) -> Result<Value, ServiceError> {
        let catalog = self.engine.catalog();
        let caller = EventCaller {
            settings: Weak::new(),
            hook: Arc::clone(&catalog.hooks()[0]),
            event,
            scope: self.scope.clone(),
            services: Some(Arc::clone(&self.services)),
        };
        let requester = Requester { settings: self.engine.settings(), at: &caller, has_request };
        let call = ServiceCall::read(method, Some(&RawJson::new(params))).unwrap()?;
        let answer = requester.answer(&call.service, &Cancel::new())?;
        Ok(answer.read().unwrap())
    }

    fn notices(&self) -> Vec<String> {
        let notices = self.notices.0.lock().unwrap();
        notices.iter().map(|notice| notice.text.clone()).collect()
    }
}

fn hook(project: &Path, services: &str, more: &str) {
    let directory = project.join(".agents/hooks/judge");
    fs::create_dir_all(directory.join("scripts")).unwrap();
    let manifest = format!(
        "---\nname: judge\ndescription: Judges.\ntrigger: before_tool\n{more}metadata:\n  runtime: serve\n  services: {services}\n---\n"
    );
    fs::write(directory.join("HOOK.md"), manifest).unwrap();
    let script = directory.join("scripts/run.sh");
    fs::write(&script, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
}

/// Returns one call of each service.
fn every_call() -> [(Service, &'static str, Value); 5] {
    [
        (Service::History, "history.get", json!({})),
        (Service::Model, "model.complete", json!({"prompt": "p"})),
        (Service::Ask, "ask", json!({"question": "?"})),
        (Service::State, "state.get", json!({"key": "k"})),
        (Service::Notify, "notify", json!({"text": "t"})),
    ]
}

#[test]
fn a_service_that_the_manifest_does_not_list_is_refused() {
    for listing in Service::ALL {
        let stage = Stage::new(&format!("[{}]", listing.as_str()));
        for (service, method, params) in every_call() {
            let result = stage.call(method, params);
            let is_refused = matches!(result, Err(ServiceError::Refused(_)));
            assert_eq!(is_refused, service != listing, "{method}: {result:?}");
        }
        assert!(stage.fake.calls().len() <= 1, "nothing else reaches the agent");
    }
}

#[test]
fn without_an_open_request_only_state_and_notices_are_answered() {
    let stage = Stage::new(ALL);
    for (service, method, mut params) in every_call() {
        if service == Service::State {
            params["scope"] = "project".into();
        }
        let result = stage.call_at(EventName::BeforeTool, false, method, &params);
        let none = matches!(result, Err(ServiceError::NoRequest));
        assert_eq!(none, !service.needs_no_request(), "{method}: {result:?}");
    }
    let session = stage.call_at(EventName::BeforeTool, false, "state.get", &json!({"key": "k"}));
    assert_eq!(session, Err(ServiceError::NoRequest), "there is no session");
}

#[test]
fn the_history_is_that_of_the_event_or_its_parent_and_masked() {
    let stage = Stage::new(ALL);
    let history = stage.call("history.get", json!({"last": 1})).unwrap();
    let messages = history["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 1);
    let content = messages[0]["content"].as_str().unwrap();
    assert!(content.contains("ghp_[") && !content.contains("0123456789"), "{content}");
    stage.call("history.get", json!({"conv_id": "parent"})).unwrap();
    let other = stage.call("history.get", json!({"conv_id": "other"}));
    assert!(matches!(other, Err(ServiceError::Refused(_))));
    let expected = ["child", "parent"].map(|id| format!("history of Some({id:?}) for judge"));
    assert_eq!(stage.fake.calls(), expected);
}

#[test]
fn a_model_call_beyond_the_budget_is_refused_and_reported_once() {
    let stage = Stage::new(ALL);
    let complete = || stage.call("model.complete", json!({"prompt": "yes?"}));
    for _ in 0..2 {
        assert_eq!(complete().unwrap()["text"], "YES?");
    }
    for _ in 0..2 {
        assert!(matches!(complete(), Err(ServiceError::Limit(_))), "0.60 USD are spent");
    }
    assert_eq!(stage.fake.calls(), ["complete", "complete"]);
    let notices = stage.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("0.50 USD"), "{notices:?}");
}

#[test]
fn questions_are_unsupported_at_the_end_of_a_session_and_for_asynchronous_hooks() {
    let question = json!({"question": "Which?", "choices": ["a", "b"]});
    let stage = Stage::new(ALL);
    assert_eq!(stage.call("ask", question.clone()).unwrap(), json!({"answer": "a"}));
    let at_end = stage.call_at(EventName::SessionEnd, true, "ask", &question);
    assert!(matches!(at_end, Err(ServiceError::Unsupported(_))));
    let stage = Stage::with(ALL, "async: true\n");
    assert!(matches!(stage.call("ask", question), Err(ServiceError::Unsupported(_))));
    assert!(stage.fake.calls().is_empty());
}

#[test]
fn invalid_questions_are_errors() {
    let stage = Stage::new(ALL);
    for question in [
        json!({"question": " "}),
        json!({"question": "x".repeat(2001)}),
        json!({"question": "?", "choices": ["a", ""]}),
        json!({"question": "?", "choices": vec!["a"; 21]}),
    ] {
        let result = stage.call("ask", question);
        assert!(matches!(result, Err(ServiceError::InvalidParams(_))), "{result:?}");
    }
}

#[test]
fn state_is_read_and_changed_by_key() {
    let stage = Stage::new(ALL);
    let call = |method: &str, params: Value| stage.call(method, params);
    assert_eq!(call("state.get", json!({"key": "k"})), Ok(json!({"value": null, "version": 0})));
    let set = json!({"key": "k", "value": {"a": 1}, "if_version": 0});
    assert_eq!(call("state.set", set.clone()), Ok(json!({"value": {"a": 1}, "version": 1})));
    assert!(matches!(call("state.set", set), Err(ServiceError::Conflict(_))));
    let other = json!({"key": "k", "scope": "project"});
    assert_eq!(call("state.get", other), Ok(json!({"value": null, "version": 0})));
    assert!(matches!(
        call("state.add", json!({"key": "k", "by": 1})),
        Err(ServiceError::InvalidParams(_))
    ));
    assert_eq!(call("state.delete", json!({"key": "k"})).unwrap()["version"], 0);
    assert_eq!(call("state.add", json!({"key": "k", "by": 2})).unwrap()["value"], 2);
    for key in ["", "a\u{0}b", "\0model", &"k".repeat(257)] {
        let result = call("state.get", json!({"key": key}));
        assert!(matches!(result, Err(ServiceError::InvalidParams(_))), "{key:?}");
    }
    let large = json!({"key": "k", "value": "x".repeat(1 << 20)});
    assert!(matches!(call("state.set", large), Err(ServiceError::Limit(_))));
}

#[test]
fn notices_are_clean_lines_and_limited() {
    let stage = Stage::new(ALL);
    let notify = |text: &str| stage.call("notify", json!({"text": text}));
    assert_eq!(notify("\x1b[31mthree\nfailures").unwrap(), Value::Null);
    assert!(matches!(notify("\x1b[31m \n"), Err(ServiceError::InvalidParams(_))));
    for _ in 0..9 {
        notify("more").unwrap();
    }
    assert!(matches!(notify("too much"), Err(ServiceError::Limit(_))));
    let notices = stage.notices();
    assert_eq!((notices[0].as_str(), notices.len()), ("three failures", 10));
    assert_eq!(stage.notices.0.lock().unwrap()[0].hook.as_deref(), Some("judge"));
}
