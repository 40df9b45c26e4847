//! `ORG/REPO` over HTTP, from a real git server on this machine instead of the hosting service.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use super::Repository;
use tenter_testkit::needs;

use crate::sandbox;

#[test]
fn a_hosted_plugin_is_fetched_by_branch_tag_and_commit() {
    let sandbox = sandbox();
    let Some(backend) = backend() else {
        needs::skipped("git-http", "git has no http-backend");
        return;
    };
    let repository = Repository::new(&sandbox, "guards");
    repository.git("tag v1");
    let first = repository.git("rev-parse HEAD");
    repository.write("recipes/review.md", "Second.\n");
    repository.commit();
    repository.git("clone --quiet --bare . ../guards.git");
    let address = serve(backend, sandbox.root().join("srv"));
    let config = format!("[url \"http://{address}/\"]\n\tinsteadOf = https://github.com/\n");
    std::fs::write(sandbox.home().join(".gitconfig"), config).unwrap();
    for (spec, text) in [
        ("ada/guards".to_owned(), "Second.\n"),
        ("ada/guards@v1".to_owned(), "Review it.\n"),
        (format!("ada/guards@{first}"), "Review it.\n"),
        (format!("ada/guards@{}", &first[..9]), "Review it.\n"),
    ] {
        let _ = sandbox.run(["plugin", "add", "--force", &spec]).expect_code(0);
        assert_eq!(sandbox.read(".kodelet/plugins/ada@guards/recipes/review.md"), text, "{spec}");
        assert!(
            sandbox
                .read(".kodelet/plugins/plugin.lock")
                .contains("\"https://github.com/ada/guards.git\"")
        );
    }
    sandbox.fails(1, "plugin add ada/missing", "not found");
}

#[expect(clippy::disallowed_methods, reason = "tests may look at the machine")]
fn backend() -> Option<PathBuf> {
    let output = Command::new("git").arg("--exec-path").output().ok()?;
    let directory = String::from_utf8(output.stdout).ok()?;
    Some(Path::new(directory.trim()).join("git-http-backend")).filter(|path| path.exists())
}

/// Serves the repositories below `directory` until the test ends, and says where.
fn serve(backend: PathBuf, directory: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (backend, directory) = (backend.clone(), directory.clone());
            thread::spawn(move || answer(stream, &backend, &directory));
        }
    });
    address
}

/// Answers one request, by the rules of CGI. The connection ends with the answer.
#[expect(clippy::disallowed_methods, reason = "a server of the test's own")]
fn answer(mut stream: TcpStream, backend: &Path, directory: &Path) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let head: Vec<String> =
        reader.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
    let Some(request) = head.first() else { return };
    let header = |name: &str| {
        let mut pairs = head.iter().skip(1).filter_map(|line| line.split_once(": "));
        pairs.find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
    };
    let mut words = request.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let mut child = Command::new(backend)
        .env("GIT_PROJECT_ROOT", directory)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(&body);
    let output = child.wait_with_output().unwrap().stdout;
    let text = String::from_utf8_lossy(&output);
    let status =
        text.strip_prefix("Status: ").and_then(|rest| rest.lines().next()).unwrap_or("200 OK");
    let _ =
        stream.write_all(format!("HTTP/1.1 {}\r\nConnection: close\r\n", status.trim()).as_bytes());
    let _ = stream.write_all(&output);
}
