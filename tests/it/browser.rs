//! A headless Chromium, driven through the pipe of its developer tools: no port, no other program.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// A browser with one tab.
pub struct Browser {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    calls: u64,
    session: String,
    events: Vec<Value>,
    /// Removed when the browser is gone.
    _profile: TempDir,
}

impl Browser {
    /// The browser that was found when the tests were compiled.
    pub fn open_one() -> Browser {
        let found = option_env!("ORRERY_BROWSER").unwrap_or("chromium");
        Browser::start(Path::new(found))
    }

    fn start(program: &Path) -> Browser {
        let profile = TempDir::new().expect("a temporary folder");
        // The pipe of the tools is file 3 to the browser and file 4 from it.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1"])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let to = process.stdin.take().expect("a pipe");
        let from = BufReader::new(process.stdout.take().expect("a pipe"));
        let (session, events) = (String::new(), Vec::new());
        let mut browser =
            Browser { process, to, from, calls: 0, session, events, _profile: profile };
        let tab = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": tab["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", &attach);
        browser.session = attached["sessionId"].as_str().expect("a session").to_string();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Opens a file in a window of a width, in the `light` or the `dark` scheme.
    pub fn open(&mut self, path: &Path, width: u32, scheme: &str) {
        self.go(&format!("file://{}", path.display()), width, scheme);
    }

    /// Opens an address so.
    pub fn go(&mut self, url: &str, width: u32, scheme: &str) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let scheme = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", &scheme);
        let seen = self.events.len();
        self.call("Page.navigate", &json!({"url": url}));
        let is_loaded = |e: &Value| e["method"] == "Page.loadEventFired";
        while !self.events[seen..].iter().any(is_loaded) {
            let event = self.receive();
            self.events.push(event);
        }
    }

    /// Presses a key, such as `ArrowRight`, where the focus is.
    pub fn press(&mut self, key: &str) {
        let code = if key == "ArrowRight" { 39 } else { 9 };
        for kind in ["keyDown", "keyUp"] {
            let event =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// From now on the page looks as on paper.
    pub fn print(&mut self) {
        self.call("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let found = self.call("Runtime.evaluate", &json!({"expression": expression}));
        assert!(found["exceptionDetails"].is_null(), "{found}");
        found["result"]["value"].clone()
    }

    /// Ends it: every address that was asked for, and everything that the console was told.
    pub fn close(mut self) -> (Vec<String>, Vec<String>) {
        self.call("Browser.close", &json!({}));
        let _ = self.process.wait();
        let is = |e: &Value, name: &str| e["method"] == *name;
        let address = |e: &Value| e["params"]["request"]["url"].as_str().map(str::to_string);
        let sent = self.events.iter().filter(|e| is(e, "Network.requestWillBeSent"));
        let requests = sent.filter_map(address).collect();
        let words = ["Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"];
        let told = self.events.iter().filter(|e| words.iter().any(|name| is(e, name)));
        let complaints = told.map(|e| e["params"].to_string()).collect();
        (requests, complaints)
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": params});
        if !self.session.is_empty() && !method.starts_with("Browser.") {
            message["sessionId"] = json!(self.session);
        }
        let text = message.to_string() + "\0";
        self.to.write_all(text.as_bytes()).expect("a browser that listens");
        loop {
            let answer = self.receive();
            if answer["id"] == json!(self.calls) {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn receive(&mut self) -> Value {
        let mut text = Vec::new();
        self.from.read_until(0, &mut text).expect("a browser that answers");
        assert_eq!(text.pop(), Some(0), "the browser is gone");
        serde_json::from_slice(&text).expect("JSON")
    }
}

impl Drop for Browser {
    /// A test that failed leaves no browser behind.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
