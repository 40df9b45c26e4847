//! The pages in headless Chromium, which is driven over a pipe: JSON messages that end with a zero byte.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use tenter_testkit::{needs, wait_until};

use crate::scene::{Scene, run, with};

/// A page in a browser.
struct Browser {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: Value,
    calls: u64,
    _profile: TempDir,
}

impl Browser {
    /// Opens `address`; `None` if there is no Chromium.
    #[expect(clippy::disallowed_methods, reason = "a test starts a browser")]
    fn open(address: &str) -> Option<Self> {
        if !needs::has("chromium") {
            return None;
        }
        let profile = tempfile::tempdir().unwrap();
        // Chromium reads messages from descriptor 3 and writes to 4.
        let script = "exec 3<&0 4>&1 </dev/null >/dev/null 2>&1; exec chromium --headless --no-sandbox --disable-gpu \
            --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync \
            --remote-debugging-pipe --user-data-dir=\"$0\"";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(profile.path());
        command.env("PATH", needs::search_path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let output = BufReader::new(output);
        let mut browser =
            Self { process, input, output, session: Value::Null, calls: 0, _profile: profile };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        browser.session = browser.call("Target.attachToTarget", &attach)["sessionId"].clone();
        browser.visit(address);
        Some(browser)
    }

    /// Calls a method, and returns its result.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": params});
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut bytes = Vec::new();
            self.output.read_until(0, &mut bytes).unwrap();
            assert_eq!(bytes.pop(), Some(0), "the browser has ended");
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == self.calls {
                return answer["result"].clone();
            }
        }
    }

    /// Returns the value of an expression, or of its promise; null while a page is left.
    fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        self.call("Runtime.evaluate", &params)["result"]["value"].clone()
    }

    /// Opens an address, and waits until it is loaded.
    fn visit(&mut self, address: &str) {
        self.call("Page.navigate", &json!({"url": address}));
        let address = json!(address);
        self.wait_for(&format!(
            "location.href === {address} && document.readyState === 'complete'"
        ));
    }

    /// Waits until a condition holds.
    fn wait_for(&mut self, condition: &str) {
        wait_until(condition, || self.value(condition) == true);
    }

    /// Makes the window so wide, with this colour scheme.
    fn resize(&mut self, width: u32, scheme: &str) {
        let size = json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let scheme = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", &scheme);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn new_events_appear_live_in_their_call() {
    let scene = Scene::new();
    scene.record("a", &[run("a", 1, "guard", "none")]);
    let Some(mut browser) = Browser::open(&scene.address("/session/a")) else { return };
    assert_eq!(browser.value("document.querySelectorAll('.item').length"), 1);
    browser.value("document.querySelector('.item details, .item a').focus()");
    let call = json!({"reason": "not today"});
    scene.record("a", &[with(run("a", 2, "guard", "deny"), &call)]);
    browser.wait_for("document.querySelectorAll('.item').length === 2");
    let last = "document.querySelector('.item.blocked')";
    let text = browser.value(&format!("{last}.textContent"));
    assert!(text.as_str().unwrap().contains("not today"), "{text}");
    assert_eq!(browser.value("document.activeElement.className"), "hook", "the focus stays");
    let after = json!({"event": "after_tool", "hook": "logger"});
    scene.record("a", &[with(run("a", 2, "guard", "none"), &after)]);
    browser.wait_for(&format!("{last}.querySelectorAll('.row').length === 2"));
    assert_eq!(browser.value("document.querySelectorAll('.item').length"), 2);
    browser.visit(&scene.address("/"));
    scene.record("b", &[run("b", 3, "guard", "none")]);
    browser.wait_for("document.querySelectorAll('tbody tr').length === 2");
}

#[test]
fn a_filter_shows_only_what_it_chooses() {
    let scene = Scene::new();
    scene.record("a", &[run("a", 1, "guard", "none"), run("a", 2, "other", "deny")]);
    let Some(mut browser) = Browser::open(&scene.address("/session/a")) else { return };
    let choose = "document.querySelector('[name=decision]').value = 'deny'; document.querySelector('form').requestSubmit();";
    browser.value(choose);
    browser.wait_for(
        "location.search.includes('decision=deny') && document.readyState === 'complete'",
    );
    assert_eq!(browser.value("document.querySelectorAll('.item').length"), 1);
    assert_eq!(browser.value("document.querySelector('.hook').textContent"), "other");
    assert_eq!(browser.value("document.querySelector('[name=decision]').value"), "deny");
    scene.record("a", &[run("a", 3, "guard", "none"), run("a", 4, "third", "deny")]);
    browser.wait_for("document.querySelectorAll('.item').length === 2");
    let text = browser.value("document.querySelector('.timeline').textContent");
    assert!(!text.as_str().unwrap().contains("ls 3"), "{text}");
}

#[test]
fn markup_in_a_command_is_shown_as_text() {
    let scene = Scene::new();
    let command = "echo '<img src=x onerror=\"document.title=1\"><script>document.title=2</script></code></pre>&lt;'";
    let odd = json!({"tool_input": {"command": command}, "hook": command, "reason": command,
        "rewrite": {"before": {"command": command}, "after": {"command": "<b>"}}, "stderr": command});
    scene.record("a", &[with(run("a", 1, "guard", "rewrite"), &odd)]);
    let Some(mut browser) = Browser::open(&scene.address("/session/a")) else { return };
    assert_eq!(browser.value("document.querySelector('.call').textContent"), command);
    assert_eq!(browser.value("document.querySelector('a.hook').textContent"), command);
    scene.record("a", &[with(run("a", 2, "guard", "rewrite"), &odd)]);
    browser.wait_for("document.querySelectorAll('.item').length === 2");
    let calls = "[...document.querySelectorAll('.call')].map(call => call.textContent)";
    assert_eq!(browser.value(calls), json!([command, command]));
    assert_eq!(
        browser.value("document.querySelectorAll('main img, main script, main b').length"),
        0
    );
    assert_eq!(browser.value("document.title"), "a · Tenter");
}

#[test]
fn pages_fit_into_narrow_and_wide_windows_in_light_and_dark() {
    let scene = Scene::new();
    let long = json!({"tool_input": {"command": "x".repeat(3000)}, "reason": "y".repeat(500), "hook": "z".repeat(120),
        "rewrite": {"before": {"command": "x".repeat(300)}, "after": {"command": "a b\n".repeat(30)}}});
    let id = "0".repeat(64);
    scene
        .record(&id, &[with(run(&id, 1, "guard", "rewrite"), &long), run(&id, 2, "guard", "deny")]);
    let Some(mut browser) = Browser::open(&scene.address("/")) else { return };
    let session = format!("/session/{id}");
    let lists = ["/", "/?all=1", "/stopped", "/backtest", "/calls", "/hooks", "/hosts"];
    for path in lists.into_iter().chain([&*session, "/source/aa?name=guard"]) {
        let mut grounds = Vec::new();
        for (width, scheme) in [(400, "light"), (1600, "dark")] {
            browser.resize(width, scheme);
            browser.visit(&scene.address(path));
            let content_width = browser.value("document.documentElement.scrollWidth");
            assert!(
                content_width.as_u64().unwrap() <= u64::from(width),
                "{path} needs {content_width} of {width}"
            );
            grounds.push(browser.value("getComputedStyle(document.body).backgroundColor"));
            let unnamed = "[...document.querySelectorAll('a, button, input:not([type=hidden]), select')].filter(e => !(e.textContent.trim() || e.labels?.length)).length";
            assert_eq!(browser.value(unnamed), 0, "{path}: everything that can be used has a name");
        }
        assert_ne!(grounds[0], grounds[1], "{path}");
    }
    browser.visit(&scene.address("/"));
    let focus = json!({"type": "keyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9});
    browser.call("Input.dispatchKeyEvent", &focus);
    assert_eq!(browser.value("document.activeElement.textContent"), "Skip to the content");
}
