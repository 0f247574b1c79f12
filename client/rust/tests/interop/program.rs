//! Processes of a test.

use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use maskd::{Client, Options, Stream, StreamOptions};
use tokio::time::sleep;

use crate::support::interop;

pub(crate) const WIDTH: u32 = 2080;

/// A process of a test, and the address that it serves.
pub(crate) struct Program {
    pub(crate) address: String,
    child: Child,
    _folder: tempfile::TempDir,
}

impl Program {
    pub(crate) async fn start(make: impl FnOnce(&Path) -> Command) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s");
        let mut command = make(&path);
        let child = command.spawn().expect("a program");
        let address = format!("unix:{}", path.display());
        let started = Self {
            address,
            child,
            _folder: folder,
        };
        for _ in 0..2000 {
            if path.exists() {
                return started;
            }
            sleep(Duration::from_millis(5)).await;
        }
        panic!("{command:?} does not listen");
    }

    /// A server with the vocabulary of the cases, or with the embedded one.
    pub(crate) async fn server(with_pairs: bool) -> Self {
        Self::start(|path| Self::serve(&format!("unix:{}", path.display()), with_pairs)).await
    }

    pub(crate) fn serve(address: &str, with_pairs: bool) -> Command {
        let program = std::env::var("MASKD_SERVER").expect("MASKD_SERVER");
        let mut command = Command::new(program);
        command.arg(format!("--listen={address}"));
        command.args(["--metrics_listen=", "--heap_mib=0"]);
        command.stderr(std::process::Stdio::null());
        if with_pairs {
            let file = interop().join("pairs.tiktoken");
            let flag = format!("pairs={},special=<end>:256,stop=<end>", file.display());
            command.arg(format!("--tokenizer={flag}"));
        }
        command
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Starts a server that has ended once more, at the same address.
    pub(crate) async fn start_again(&mut self) {
        let mut command = Self::serve(&self.address, true);
        self.child = command.spawn().expect("a program");
        self.connect().await;
    }

    /// A server that the word "deadly" ends.
    pub(crate) async fn mortal(server: &Self) -> Self {
        Self::before(server, "mortal.py", &["deadly"]).await
    }

    /// A script of the interop list that stands before a server.
    pub(crate) async fn before(server: &Self, script: &str, words: &[&str]) -> Self {
        let path = server.address.trim_start_matches("unix:").to_string();
        Self::start(|own| {
            let mut command = Command::new("python3");
            command
                .arg(interop().join(script))
                .arg(own)
                .arg(&path)
                .args(words);
            command
        })
        .await
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &id]).status();
        assert!(status.is_ok_and(|status| status.success()));
    }

    /// Halts the process, and waits until each of its threads stands.
    pub(crate) async fn stop(&self) {
        self.signal("STOP");
        for _ in 0..2000 {
            let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id()));
            let mut tasks = tasks.expect("a process").flatten();
            let runs = |stat: String| !stat.contains(") T ");
            if !tasks.any(|task| std::fs::read_to_string(task.path().join("stat")).is_ok_and(runs))
            {
                return;
            }
            sleep(Duration::from_millis(1)).await;
        }
        panic!("the server does not stand still");
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub(crate) async fn connect(&self) -> Client {
        let wait_for_server = Duration::from_secs(10);
        let options = Options {
            wait_for_server,
            ..Options::default()
        };
        Client::connect(&self.address, options)
            .await
            .expect("a server")
    }

    pub(crate) async fn open(&self) -> Stream {
        self.connect()
            .await
            .open_stream(StreamOptions::new(WIDTH))
            .await
            .expect("a stream")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}
