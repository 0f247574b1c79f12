package maskd

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
)

// FailoverOptions says between which servers a stream may move, and when.
type FailoverOptions struct {
	// Addresses, at least one, as of Connect.
	Addresses []string
	// InOrder tries them as listed, and the stream stays where it is. Else it goes where there are few streams,
	// also later on: after a restart, or when a server has come to those of a name.
	InOrder bool
	// Stream is what the stream is for.
	Stream StreamOptions
	// Connect is how the servers are reached.
	Connect Options
	// StepTimeout: a server that has not answered a step for so long is given up. 0: 2 s.
	StepTimeout time.Duration
	// GiveUpAfter is how long a server that serves is looked for. 0: 10 s.
	GiveUpAfter time.Duration
	// CompileTimeout is how long the replayed rows' grammars may compile on the new server. 0: 10 s.
	CompileTimeout time.Duration
	// Retry has the waits between two rounds over the addresses, each with jitter.
	Retry RetryPolicy
	// LookEvery is how often the stream looks at the servers, at least. 0: 4 s.
	LookEvery time.Duration
	// Resolve gives the servers of an address. Nil: those that DNS has for a name.
	Resolve func(ctx context.Context, address string) ([]string, error)
}

// withDefaults is a copy with every default in its place. Error: InvalidArgument (no address).
func (o FailoverOptions) withDefaults() (FailoverOptions, error) {
	if len(o.Addresses) == 0 {
		return o, errorf(codes.InvalidArgument, "addresses: is empty")
	}
	o.Addresses = slices.Clone(o.Addresses)
	o.Connect = o.Connect.withDefaults()
	o.Retry = o.Retry.withDefaults()
	setDefault(&o.StepTimeout, 2*time.Second)
	setDefault(&o.GiveUpAfter, 10*time.Second)
	setDefault(&o.CompileTimeout, 10*time.Second)
	setDefault(&o.Stream.OpenTimeout, 10*time.Second)
	setDefault(&o.LookEvery, 4*time.Second)
	if o.Resolve == nil {
		o.Resolve = resolveByDNS
	}
	return o, nil
}

func (o *FailoverOptions) spreads() bool {
	return !o.InOrder && (len(o.Addresses) > 1 || isName(o.Addresses[0]))
}
