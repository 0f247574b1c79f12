use std::fmt;
use std::time::Duration;

use tonic_types::StatusExt;

use crate::v1;

/// Canonical codes, as gRPC has them.
pub use tonic::Code;

/// What went wrong with a call, a stream or a row.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// `Unavailable` where no server answers, `DeadlineExceeded` where it does not in time,
    /// `Internal` where it breaks the protocol; else the call's own, of `protos/maskd/v1`.
    pub code: Code,
    /// For people.
    pub message: String,
    /// Stable, in `UPPER_SNAKE_CASE`; empty where there is none.
    pub reason: String,
    /// A JSON Pointer or line:column in the caller's own source, or a field of the request; empty
    /// where there is none.
    pub place: String,
    /// After what time the same may succeed, where the refusal is for load.
    pub retry_after: Option<Duration>,
}

impl Error {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            code,
            message,
            reason: String::new(),
            place: String::new(),
            retry_after: None,
        }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    /// Says which server the error is of.
    pub(crate) fn at(mut self, address: &str) -> Self {
        self.message = format!("{address}: {}", self.message);
        self
    }

    /// What the error's causes say, each once: gRPC's own words seldom name the system's.
    pub(crate) fn with_causes(mut self, error: &dyn std::error::Error) -> Self {
        let mut cause = error.source();
        while let Some(each) = cause {
            let text = each.to_string();
            if !self.message.contains(&text) {
                self.message = format!("{}: {text}", self.message);
            }
            cause = each.source();
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.code, self.message)
    }
}

impl std::error::Error for Error {}

impl From<tonic::Status> for Error {
    fn from(status: tonic::Status) -> Self {
        let details = status.get_error_details();
        let violation = details
            .bad_request()
            .and_then(|each| each.field_violations.first());
        let error = Self {
            code: status.code(),
            message: status.message().to_string(),
            reason: details
                .error_info()
                .map(|each| each.reason.clone())
                .unwrap_or_default(),
            place: violation.map(|each| each.field.clone()).unwrap_or_default(),
            retry_after: details.retry_info().and_then(|each| each.retry_delay),
        };
        // A connection that breaks under a call is said by a source alone.
        let is_lost = error.code == Code::Unknown && std::error::Error::source(&status).is_some();
        let error = error.with_causes(&status);
        if is_lost {
            Self {
                code: Code::Unavailable,
                ..error
            }
        } else {
            error
        }
    }
}

impl From<v1::RowError> for Error {
    fn from(row: v1::RowError) -> Self {
        Self {
            code: Code::from_i32(row.code),
            message: row.message,
            reason: row.reason,
            place: row.place,
            retry_after: row
                .retry_after_ms
                .map(|ms| Duration::from_millis(ms.into())),
        }
    }
}
