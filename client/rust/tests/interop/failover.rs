//! What happens when servers end, are drained, refuse or are restarted.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use maskd::{
    Code, FailoverOptions, FailoverStream, Grammar, Resolver, State, Step, StepResult, Stream,
    StreamOptions,
};
use tokio::net::UnixListener;
use tokio::time::{sleep, timeout};

use crate::program::{Program, WIDTH};
use crate::run;

/// The addresses in order, with a short search.
fn in_order(addresses: impl IntoIterator<Item = String>) -> FailoverOptions {
    let mut options = FailoverOptions::new(addresses, StreamOptions::new(WIDTH));
    options.in_order = true;
    options.give_up_after = Duration::from_secs(2);
    options
}

async fn open_failover(servers: &[&Program]) -> FailoverStream {
    let options = in_order(servers.iter().map(|server| server.address.clone()));
    FailoverStream::open(options).await.expect("a stream")
}

pub(crate) async fn wrong_vocabulary() {
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

pub(crate) async fn failover() {
    let (a, b) = (Program::server(true).await, Program::server(true).await);
    let stream = open_failover(&[&a, &b]).await;
    expect_move(stream, a, &b, || {}).await;
}

/// Has an engine's server killed under a step: the stream goes on elsewhere, with the masks of one
/// that nothing happened to.
async fn expect_move(stream: FailoverStream, from: Program, to: &Program, killed: impl FnOnce()) {
    expect_move_within(Duration::from_secs(20), stream, from, to, killed).await;
}

/// The same where a call of the engine waits for `patience`, and is made again after that.
async fn expect_move_within(
    patience: Duration,
    mut stream: FailoverStream,
    mut from: Program,
    to: &Program,
    killed: impl FnOnce(),
) {
    let mut masks = Vec::new();
    let mut killed = Some(killed);
    for number in 0..ENGINE_STEPS {
        if number == 20 {
            from.stop().await;
        }
        stream
            .submit(&mut engine_step(number))
            .await
            .expect("submitted");
        if number == 20 {
            from.kill();
            killed.take().expect("one kill")();
        }
        let begin = Instant::now();
        let collected = loop {
            if let Ok(collected) = timeout(patience, stream.collect()).await {
                break collected.expect("collected");
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "not in time");
        };
        masks.extend(masks_of(&collected));
    }
    assert_eq!((stream.moves(), stream.address()), (1, to.address.as_str()));
    assert!(
        masks == undisturbed().await,
        "other masks than without a kill"
    );
}

/// Eight servers take connections and say nothing. Each would be given longer than the whole search
/// has.
pub(crate) async fn lost_zone() {
    let (a, b) = (Program::server(true).await, Program::server(true).await);
    let folder = tempfile::tempdir().expect("a folder");
    let mut zone = Vec::new();
    let mut addresses = vec![a.address.clone()];
    for number in 0..8 {
        let path = folder.path().join(number.to_string());
        zone.push(UnixListener::bind(&path).expect("a socket"));
        addresses.push(format!("unix:{}", path.display()));
    }
    addresses.push(b.address.clone());
    let mut options = in_order(addresses);
    options.step_timeout = Duration::from_secs(60);
    options.give_up_after = Duration::from_secs(20);
    let stream = FailoverStream::open(options).await.expect("a stream");
    expect_move(stream, a, &b, || {}).await;
}

/// A schema that compiles for many seconds: strings whose length is a multiple of each of five
/// numbers.
fn slow(tag: &str) -> Grammar {
    let property = |number: i32| {
        let pattern = |each: &i32| format!(r#"{{"pattern": "^{tag}{number}(?:.{{{each}}})*$"}}"#);
        let patterns: Vec<_> = [3, 5, 7, 11, 13].iter().map(pattern).collect();
        let all = patterns.join(",");
        format!(r#""p{number}": {{"type": "string", "allOf": [{all}]}}"#)
    };
    let properties: Vec<_> = (0..2000).map(property).collect();
    Grammar::json_schema(format!(r#"{{"properties": {{{}}}}}"#, properties.join(",")))
}

/// Opens slow grammars until one is refused for the compile queue.
async fn fill_queue(holder: &mut Stream) {
    for row in 0..10 {
        let mut step = Step::new();
        step.open(row, slow(&format!("{row}x")));
        let result = run(holder, &mut step).await;
        let Some(row) = result.rows.first().filter(|row| row.state == State::Failed) else {
            continue;
        };
        let error = row.error.as_ref().expect("an error");
        assert_eq!(error.reason, "COMPILE_QUEUE_FULL");
        assert!(error.retry_after.is_some());
        return;
    }
    panic!("the queue does not fill");
}

/// Before the server whose queue is full stands a program that ends when it is asked earlier than
/// that has said.
pub(crate) async fn queue_full() {
    let a = Program::server(true).await;
    let full = Program::start(|path| {
        let mut command = Program::serve(&format!("unix:{}", path.display()), true);
        command.args(["--compile_threads=1", "--compile_queue=1"]);
        command.arg("--max_compile_work=1000000000");
        command
    })
    .await;
    let mut early = Program::before(&full, "early.py", &["200"]).await;
    let mut holder = full.open().await;
    fill_queue(&mut holder).await;
    let mut options = in_order([a.address.clone(), early.address.clone()]);
    options.give_up_after = Duration::from_secs(20);
    let stream = FailoverStream::open(options).await.expect("a stream");
    expect_move(stream, a, &early, || {
        tokio::spawn(async move {
            sleep(Duration::from_millis(500)).await;
            drop(holder);
        });
    })
    .await;
    assert!(!early.has_ended(), "the server was asked before it said");
}

/// Each answer of the server to go to comes later than a call waits. It ends when it is asked twice.
pub(crate) async fn slow_server() {
    let (a, slow) = (Program::server(true).await, Program::server(true).await);
    let mut once = Program::before(&slow, "early.py", &["60000", "200"]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("l");
    let at = std::mem::replace(&mut once.address, format!("unix:{}", link.display()));
    let mut options = in_order([a.address.clone(), once.address.clone()]);
    options.step_timeout = Duration::from_secs(60);
    options.give_up_after = Duration::from_secs(60);
    let stream = FailoverStream::open(options).await.expect("a stream");
    // It is found from now on, or a stream that is slow to open would ask it too.
    std::os::unix::fs::symlink(at.trim_start_matches("unix:"), link).expect("a link");
    expect_move_within(Duration::from_millis(50), stream, a, &once, || {}).await;
}

pub(crate) async fn drain() {
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

pub(crate) async fn two_deaths() {
    let server = Program::server(true).await;
    let a = Program::mortal(&server).await;
    let mut b = Program::mortal(&server).await;
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
    // Of the two that are left the one that welcomes first is the second.
    assert!(
        !(b.has_ended() && c.has_ended()),
        "the third got the step too"
    );
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
pub(crate) async fn balance() {
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
