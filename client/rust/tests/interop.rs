//! Runs the interop list of `tests/interop` against real servers (`MASKD_SERVER`: the program's
//! path).

mod support;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use maskd::{
    Client, Code, Error, FailoverOptions, FailoverStream, Grammar, GrammarId, Options, Resolver,
    State, Step, StepResult, Stream, StreamOptions,
};
use support::{expect_result, interop, load_cases, load_golden, say_all, Case, Snapshots};
use tokio::time::{sleep, timeout};

const WIDTH: u32 = 2080;

/// A process of a test, and the address that it serves.
struct Program {
    address: String,
    child: Child,
    _folder: tempfile::TempDir,
}

impl Program {
    async fn start(make: impl FnOnce(&Path) -> Command) -> Self {
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
    async fn server(with_pairs: bool) -> Self {
        Self::start(|path| Self::serve(&format!("unix:{}", path.display()), with_pairs)).await
    }

    fn serve(address: &str, with_pairs: bool) -> Command {
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

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Starts a server that has ended once more, at the same address.
    async fn start_again(&mut self) {
        let mut command = Self::serve(&self.address, true);
        self.child = command.spawn().expect("a program");
        self.connect().await;
    }

    /// A server that the word "deadly" ends.
    async fn mortal(server: &Self) -> Self {
        let path = server.address.trim_start_matches("unix:").to_string();
        Self::start(|own| {
            let mut command = Command::new("python3");
            command
                .arg(interop().join("mortal.py"))
                .arg(own)
                .args([&path, "deadly"]);
            command
        })
        .await
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &id]).status();
        assert!(status.is_ok_and(|status| status.success()));
    }

    /// Halts the process, and waits until each of its threads stands.
    async fn stop(&self) {
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

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    async fn connect(&self) -> Client {
        let wait_for_server = Duration::from_secs(10);
        let options = Options {
            wait_for_server,
            ..Options::default()
        };
        Client::connect(&self.address, options)
            .await
            .expect("a server")
    }

    async fn open(&self) -> Stream {
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

async fn run(stream: &mut Stream, step: &mut Step) -> StepResult {
    stream.submit(step).await.expect("submitted");
    stream.collect().await.expect("collected")
}

async fn session(address: &str, case: &Case) {
    let golden = load_golden(&case.name);
    let client = Client::connect(address, Options::default())
        .await
        .expect("a server");
    let mut stream = client.open_stream(case.options()).await.expect("a stream");
    let mut snapshots = Snapshots::new();
    let mut step = Step::new();
    for (verbs, want) in case.steps.iter().zip(&golden.steps) {
        say_all(&mut step, verbs, &snapshots);
        let result = run(&mut stream, &mut step).await;
        snapshots.extend(result.snapshots.iter().map(|open| (open.row, open.clone())));
        expect_result(&golden.masks, want, &result);
    }
    stream.close().await.expect("a goodbye");
}

async fn width_refused() {
    let server = Program::server(true).await;
    let refused = server
        .connect()
        .await
        .open_stream(StreamOptions::new(100))
        .await;
    let error = refused.expect_err("too narrow");
    assert_eq!(
        (error.code, error.place.as_str()),
        (Code::InvalidArgument, "hello.logits_width")
    );
}

async fn compile_and_check() {
    let server = Program::server(true).await;
    let client = server.connect().await;
    let grammar = Grammar::choice(r#"["red", "rose"]"#);
    let first = client.compile(grammar.clone()).await.expect("compiled");
    let id = GrammarId::from(first.grammar_id.clone());
    let second = client.compile(id.clone()).await.expect("found");
    assert!(!first.from_cache && second.from_cache && second.grammar_id == first.grammar_id);
    let explained = client.explain(grammar.clone()).await.expect("explained");
    assert_eq!(explained.forced_prefix, b"r");
    let taken = client.check(id, "rose").await.expect("checked");
    assert!(taken.accepted && taken.may_end);
    let stopped = client.check(grammar, "r!").await.expect("checked");
    assert_eq!(stopped.stop.expect("a stop").byte_offset, 1);
}

async fn compile_refused() {
    let server = Program::server(true).await;
    let client = server.connect().await;
    let wrong = Grammar::json_schema(r#"{"properties": {"a": {"type": "strng"}}}"#);
    let error = client.compile(wrong).await.expect_err("no such type");
    assert_eq!(
        (error.code, error.reason.as_str()),
        (Code::InvalidArgument, "INVALID_GRAMMAR")
    );
    assert_eq!(error.place, "/properties/a/type");
    let unknown = client.compile(GrammarId("0".repeat(64))).await;
    assert_eq!(unknown.expect_err("no such id").code, Code::NotFound);
    let unknown = client.compile_for("qwen", Grammar::json_object()).await;
    assert_eq!(unknown.expect_err("no such tokenizer").code, Code::NotFound);
}

async fn tokens() {
    let server = Program::server(true).await;
    let client = server.connect().await;
    let tokens = client.list_tokens("").await.expect("tokens");
    assert_eq!((tokens.len(), &tokens[97].text[..]), (2048, &b"a"[..]));
    assert_eq!(tokens[257].text, b"aa");
    let all = client.list_tokenizers().await.expect("tokenizers");
    let one = client.tokenizer("pairs").await.expect("a tokenizer");
    assert!(all == [one]);
}

/// A task that is aborted while it waits has given up; its connection is dropped with it.
async fn cancel() {
    let server = Program::server(true).await;
    let mut stream = server.open().await;
    server.stop().await;
    stream.submit(&mut Step::new()).await.expect("submitted");
    let waiting = tokio::spawn(async move { stream.collect().await });
    sleep(Duration::from_millis(50)).await;
    waiting.abort();
    assert!(waiting.await.expect_err("given up").is_cancelled());
    server.signal("CONT");
    run(&mut server.open().await, &mut Step::new()).await;
}

async fn deadline() {
    let server = Program::server(true).await;
    let mut stream = server.open().await;
    server.stop().await;
    stream.submit(&mut Step::new()).await.expect("submitted");
    let limit = Duration::from_millis(50);
    assert!(timeout(limit, stream.collect()).await.is_err());
    server.signal("CONT");
    assert_eq!(stream.collect().await.expect("collected").step, 1);
}

async fn go_away() {
    let server = Program::server(true).await;
    let mut stream = server.open().await;
    server.signal("TERM");
    for _ in 0..200 {
        run(&mut stream, &mut Step::new()).await;
        if stream.go_away().is_some() {
            run(&mut stream, &mut Step::new()).await;
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("no go-away");
}

async fn open_failover(servers: &[&Program]) -> FailoverStream {
    let addresses = servers.iter().map(|server| server.address.clone());
    let mut options = FailoverOptions::new(addresses, StreamOptions::new(WIDTH));
    options.in_order = true;
    options.give_up_after = Duration::from_secs(2);
    FailoverStream::open(options).await.expect("a stream")
}

async fn wrong_vocabulary() {
    let (mut pairs, bytes) = (Program::server(true).await, Program::server(false).await);
    let mut options = StreamOptions::new(WIDTH);
    options.tokenizer_hash = "0".repeat(64);
    let refused = bytes.connect().await.open_stream(options).await;
    assert_eq!(refused.expect_err("another").code, Code::FailedPrecondition);
    let mut stream = open_failover(&[&pairs, &bytes]).await;
    let pinned = stream
        .welcome()
        .tokenizer
        .clone()
        .expect("a tokenizer")
        .hash;
    pairs.kill();
    let error = match stream.submit(&mut Step::new()).await {
        Ok(_) => stream.collect().await.expect_err("another vocabulary"),
        Err(error) => error,
    };
    assert_eq!(error.code, Code::FailedPrecondition);
    let other = "549865214666861bd3f33839842e48cc81cc3f68229504f1958f5083842f8204";
    assert!(
        error.message.contains(&pinned) && error.message.contains(other),
        "{error}"
    );
}

/// What an engine says in a step: two rows, one of them forked from the other.
fn engine_step(number: i32) -> Step {
    let mut step = Step::new();
    let letter = i32::from(b'a') + number % 26;
    if number == 0 {
        step.open(1, Grammar::regex("([a-z][a-m]?[0-9]?)*"));
        step.wait_for_compile(Duration::from_secs(5));
        return step;
    }
    if number == 5 {
        step.fork(1, 2);
    }
    step.take(1, &[letter]);
    if number > 5 {
        step.take(2, &[letter, i32::from(b'5')]);
    }
    if number % 4 == 3 {
        step.rollback(1, 1);
    }
    step
}

/// All masks of a reply.
fn masks_of(result: &StepResult) -> Vec<String> {
    let said = |row: &maskd::Row| {
        assert!(row.error.is_none() && row.masks.len() == 1, "{row:?}");
        format!("{} {} {:?}", row.id, row.token_count, row.masks[0].words())
    };
    result.rows.iter().map(said).collect()
}

const ENGINE_STEPS: i32 = 40;

/// The masks of an engine whose server nothing happens to.
async fn undisturbed() -> Vec<String> {
    let server = Program::server(true).await;
    let mut stream = server.open().await;
    let mut masks = Vec::new();
    for number in 0..ENGINE_STEPS {
        masks.extend(masks_of(&run(&mut stream, &mut engine_step(number)).await));
    }
    masks
}

async fn failover() {
    let (mut a, b) = (Program::server(true).await, Program::server(true).await);
    let mut stream = open_failover(&[&a, &b]).await;
    let mut masks = Vec::new();
    for number in 0..ENGINE_STEPS {
        if number == 20 {
            a.stop().await;
        }
        stream
            .submit(&mut engine_step(number))
            .await
            .expect("submitted");
        if number == 20 {
            a.kill();
        }
        masks.extend(masks_of(&stream.collect().await.expect("collected")));
    }
    assert_eq!((stream.moves(), stream.address()), (1, b.address.as_str()));
    assert!(
        masks == undisturbed().await,
        "other masks than without a kill"
    );
}

async fn drain() {
    let (a, b) = (Program::server(true).await, Program::server(true).await);
    let c = Program::server(true).await;
    let mut stream = open_failover(&[&a, &b, &c]).await;
    let mut masks = Vec::new();
    for number in 0..ENGINE_STEPS {
        match number {
            10 => a.signal("TERM"),
            25 => b.signal("TERM"),
            _ => {}
        }
        stream
            .submit(&mut engine_step(number))
            .await
            .expect("submitted");
        sleep(Duration::from_millis(5)).await;
        masks.extend(masks_of(&stream.collect().await.expect("collected")));
    }
    assert_eq!(stream.address(), c.address);
    assert!(
        masks == undisturbed().await,
        "other masks than without a drain"
    );
}

async fn two_deaths() {
    let server = Program::server(true).await;
    let (a, b) = (
        Program::mortal(&server).await,
        Program::mortal(&server).await,
    );
    let mut c = Program::mortal(&server).await;
    let mut stream = open_failover(&[&a, &b, &c]).await;
    stream.submit(&mut engine_step(0)).await.expect("submitted");
    stream.collect().await.expect("collected");
    let mut deadly = Step::new();
    deadly.open(66, Grammar::regex("deadly[0-9]"));
    stream.submit(&mut deadly).await.expect("submitted");
    let result = stream.collect().await.expect("collected");
    assert_eq!(result.rows.len(), 1);
    let (row, error) = (
        &result.rows[0],
        result.rows[0].error.clone().expect("an error"),
    );
    assert_eq!(
        (row.id, row.state, error.code),
        (66, State::Failed, Code::Internal)
    );
    assert_eq!(error.reason, "SERVERS_ENDED");
    stream.submit(&mut engine_step(1)).await.expect("submitted");
    masks_of(&stream.collect().await.expect("collected"));
    assert!(!c.has_ended(), "the third got the step too");
}

/// Streams of a name, whose masks must be those of one that nothing happens to.
struct Engines {
    streams: Vec<FailoverStream>,
    undisturbed: Stream,
    number: i32,
}

impl Engines {
    async fn step(&mut self) {
        let expected = masks_of(&run(&mut self.undisturbed, &mut engine_step(self.number)).await);
        for stream in &mut self.streams {
            let mut step = engine_step(self.number);
            stream.submit(&mut step).await.expect("submitted");
            let result = stream.collect().await.expect("collected");
            assert!(masks_of(&result) == expected, "step {}", self.number);
        }
        self.number += 1;
        sleep(Duration::from_millis(10)).await;
    }

    fn are_even(&self, servers: &[Program]) -> bool {
        servers.iter().all(|server| {
            let is_here = |stream: &&FailoverStream| stream.address() == server.address;
            let count = self.streams.iter().filter(is_here).count();
            count == self.streams.len() / servers.len()
        })
    }

    async fn step_until_even(&mut self, servers: &[Program]) {
        let begin = Instant::now();
        while !self.are_even(servers) {
            assert!(begin.elapsed() < Duration::from_secs(60), "not even");
            self.step().await;
        }
    }
}

/// Twelve streams of a name that has three servers, which are restarted in turn, and then four.
async fn balance() {
    let mut servers = Vec::new();
    let known = Arc::new(Mutex::new(Vec::new()));
    for _ in 0..3 {
        servers.push(Program::server(true).await);
        servers.last().expect("a server").connect().await;
        let address = servers.last().expect("a server").address.clone();
        known.lock().expect("a list").push(address);
    }
    let other = Program::server(true).await;
    let (mut streams, undisturbed) = (Vec::new(), other.open().await);
    for _ in 0..12 {
        let stream = StreamOptions::new(WIDTH);
        let mut options = FailoverOptions::new(["dns:///maskd.test:7411"], stream);
        let known = Arc::clone(&known);
        options.resolve = Resolver::new(move |_| {
            let known = known.lock().expect("a list").clone();
            async { Ok(known) }
        });
        streams.push(FailoverStream::open(options).await.expect("a stream"));
    }
    let mut engines = Engines {
        streams,
        undisturbed,
        number: 0,
    };
    assert!(engines.are_even(&servers), "not even at the start");
    engines.step().await;
    for server in &mut servers {
        server.signal("TERM");
        while !server.has_ended() {
            engines.step().await;
        }
        server.start_again().await;
    }
    engines.step_until_even(&servers).await;
    servers.push(Program::server(true).await);
    let last = servers.last().expect("a server");
    last.connect().await;
    known.lock().expect("a list").push(last.address.clone());
    engines.step_until_even(&servers).await;
}

type Scenario = Pin<Box<dyn Future<Output = ()> + Send>>;

fn scenario(name: &str) -> Scenario {
    match name {
        "width_refused" => Box::pin(width_refused()),
        "compile_and_check" => Box::pin(compile_and_check()),
        "compile_refused" => Box::pin(compile_refused()),
        "tokens" => Box::pin(tokens()),
        "cancel" => Box::pin(cancel()),
        "deadline" => Box::pin(deadline()),
        "go_away" => Box::pin(go_away()),
        "wrong_vocabulary" => Box::pin(wrong_vocabulary()),
        "failover" => Box::pin(failover()),
        "two_deaths" => Box::pin(two_deaths()),
        "drain" => Box::pin(drain()),
        "balance" => Box::pin(balance()),
        other => panic!("this client has no scenario {other}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interop_list() {
    if std::env::var("MASKD_SERVER").is_err() {
        eprintln!("SKIPPED: MASKD_SERVER is not set: run scripts/test-clients rust");
        return;
    }
    let server = Program::server(true).await;
    server.connect().await;
    let mut failed = Vec::new();
    for case in load_cases() {
        let (name, address) = (case.name.clone(), server.address.clone());
        let run: Scenario = match case.kind.as_str() {
            "session" => Box::pin(async move { session(&address, &case).await }),
            _ => scenario(&name),
        };
        println!("{name}");
        if tokio::spawn(run).await.is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "failed: {failed:?}");
}

/// The cause and the address, at once.
#[tokio::test]
async fn nobody_there() {
    let nobody = Client::connect("unix:/no/such/socket", Options::default()).await;
    let error: Error = nobody.expect_err("nobody");
    assert_eq!(error.code, Code::Unavailable);
    assert!(error.message.contains("unix:/no/such/socket: "), "{error}");
    assert!(error.message.contains("No such file"), "{error}");
    let nowhere = Client::connect("", Options::default()).await;
    assert_eq!(nowhere.expect_err("no address").code, Code::InvalidArgument);
}
