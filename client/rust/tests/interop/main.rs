//! Runs the interop list of `tests/interop` against real servers (`MASKD_SERVER`: the program's
//! path).

mod failover;
mod program;
#[path = "../support/mod.rs"]
mod support;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use maskd::{
    Client, Code, Error, Grammar, GrammarId, Options, Step, StepResult, Stream, StreamOptions,
};
use program::Program;
use support::{expect_result, load_cases, load_golden, say_all, Case, Snapshots};
use tokio::time::{sleep, timeout};

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
        "wrong_vocabulary" => Box::pin(failover::wrong_vocabulary()),
        "failover" => Box::pin(failover::failover()),
        "two_deaths" => Box::pin(failover::two_deaths()),
        "drain" => Box::pin(failover::drain()),
        "balance" => Box::pin(failover::balance()),
        "lost_zone" => Box::pin(failover::lost_zone()),
        "queue_full" => Box::pin(failover::queue_full()),
        "slow_server" => Box::pin(failover::slow_server()),
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

/// On one thread: while the stream looks for its reply, timers and tasks go on.
#[tokio::test]
async fn others_run_while_it_is_awake() {
    if std::env::var("MASKD_SERVER").is_err() {
        return; // interop_list says so
    }
    let server = Program::server(true).await;
    let client = server.connect().await;
    let mut options = StreamOptions::new(4096);
    options.awake = Duration::from_secs(3600);
    let mut stream = client.open_stream(options).await.expect("a stream");
    server.stop().await;
    stream.submit(&mut Step::new()).await.expect("submitted");
    let task = tokio::spawn(async {});
    let limit = Duration::from_millis(50);
    assert!(timeout(limit, stream.collect()).await.is_err());
    assert!(task.is_finished());
    server.signal("CONT");
    assert_eq!(stream.collect().await.expect("collected").step, 1);
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
