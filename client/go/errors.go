package maskd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "maskd.io/maskd/maskdv1"
)

// Error is what went wrong with a call, a stream or a row.
type Error struct {
	// Code is canonical: codes.Unavailable where no server answers, codes.DeadlineExceeded where it does
	// not in time, codes.Internal where it breaks the protocol; else the call's own, of protos/maskd/v1.
	Code codes.Code
	// Message is for people.
	Message string
	// Reason is stable, in UPPER_SNAKE_CASE; empty where there is none.
	Reason string
	// Place is a JSON Pointer or line:column in the caller's own source, or a field of the request; empty
	// where there is none.
	Place string
	// RetryAfter is the time after which the same may succeed, where the refusal is for load; else 0.
	RetryAfter time.Duration
}

// Error says the code and the message.
func (e *Error) Error() string { return fmt.Sprintf("%v: %s", e.Code, e.Message) }

// GRPCStatus lets status.FromError and status.Code read the error.
func (e *Error) GRPCStatus() *status.Status { return status.New(e.Code, e.Message) }

// Is makes a deadline that has passed context.DeadlineExceeded, and a call given up context.Canceled.
func (e *Error) Is(target error) bool {
	return e.Code == codes.DeadlineExceeded && target == context.DeadlineExceeded ||
		e.Code == codes.Canceled && target == context.Canceled
}

// CodeOf is the code of an error of this package: codes.OK of nil, codes.Unknown of any other.
func CodeOf(err error) codes.Code {
	if err == nil {
		return codes.OK
	}
	var own *Error
	if errors.As(err, &own) {
		return own.Code
	}
	return codes.Unknown
}

func errorf(code codes.Code, format string, arguments ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, arguments...)}
}

// fromCall reads what gRPC says of a call, details included. Nil stays nil.
func fromCall(err error) error {
	if err == nil {
		return nil
	}
	said := status.Convert(err)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		said = status.FromContextError(err)
	}
	own := &Error{Code: said.Code(), Message: said.Message()}
	for _, detail := range said.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			own.Reason = detail.GetReason()
		case *errdetails.BadRequest:
			if fields := detail.GetFieldViolations(); len(fields) > 0 {
				own.Place = fields[0].GetField()
			}
		case *errdetails.RetryInfo:
			own.RetryAfter = detail.GetRetryDelay().AsDuration()
		}
	}
	return own
}

// fromRow reads a row's error. Nil stays nil.
func fromRow(row *pb.RowError) *Error {
	if row == nil {
		return nil
	}
	return &Error{
		Code:       codes.Code(row.GetCode()),
		Message:    row.GetMessage(),
		Reason:     row.GetReason(),
		Place:      row.GetPlace(),
		RetryAfter: time.Duration(row.GetRetryAfterMs()) * time.Millisecond,
	}
}
