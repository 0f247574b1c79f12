//! All times are those of a simulated clock.

use std::time::Duration;

use tokio::time::Instant;

use crate::race::{Race, ATTEMPT_DELAY};
use crate::servers::ServerList;
use crate::{Code, Error};

/// Opens at once where the address is "there", fails at once where it is "refuses", else is silent.
async fn open_fake(address: String) -> Result<(), Error> {
    match address.as_str() {
        "there" => Ok(()),
        "refuses" => Err(Error::new(Code::Unavailable, "refused")),
        _ => std::future::pending().await,
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[tokio::test(start_paused = true)]
async fn the_next_attempt_begins_after_a_delay_or_a_failure() {
    let cases: [(&[&str], &[&str], Duration); 5] = [
        (&["there", "silent"], &["there"], Duration::ZERO),
        (
            &["silent", "silent", "silent", "there"],
            &["there"],
            3 * ATTEMPT_DELAY,
        ),
        (
            &["refuses", "refuses", "there"],
            &["refuses", "refuses", "there"],
            Duration::ZERO,
        ),
        (
            &["silent", "refuses", "there"],
            &["refuses", "there"],
            ATTEMPT_DELAY,
        ),
        (
            &["refuses", "refuses"],
            &["refuses", "refuses"],
            Duration::ZERO,
        ),
    ];
    for (addresses, expected, after) in cases {
        let began = Instant::now();
        let mut race = Race::new(owned(addresses), open_fake);
        let mut said = Vec::new();
        while let Some((address, opened)) = race.next().await {
            said.push(address);
            if opened.is_ok() {
                break;
            }
        }
        assert_eq!(said, expected);
        // The clock of tokio's tests goes by whole milliseconds.
        let error = began.elapsed().abs_diff(after);
        assert!(
            error < Duration::from_millis(10),
            "{addresses:?}: {error:?} off"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn servers_that_refuse_for_load_are_left_alone_for_as_long_as_they_say() {
    let mut servers = ServerList::new(owned(&["a", "b", "c"]));
    let refuse = |servers: &mut ServerList, address, seconds| {
        let error = Error {
            retry_after: Some(Duration::from_secs(seconds)),
            ..Error::new(Code::ResourceExhausted, "full")
        };
        servers.note(address, Some(&error));
    };
    let began = Instant::now();
    servers.go_on();
    refuse(&mut servers, "b", 3);
    servers.note("c", Some(&Error::new(Code::Unavailable, "gone")));
    assert_eq!(servers.to_ask(), ["c", "a"]);
    assert!(servers.first().is_none(), "a and c have said nothing");
    refuse(&mut servers, "a", 2);
    refuse(&mut servers, "c", 4);
    let first = servers.first().expect("all have refused");
    assert_eq!(first.until, began + Duration::from_secs(2));
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(servers.to_ask(), ["a"]);
}
