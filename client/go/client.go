package maskd

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	pb "maskd.io/maskd/maskdv1"
)

// RetryPolicy says when a failed unary call is tried again: all are idempotent. Unavailable and errors with
// a time of the server's own are, others are not; no wait begins that would pass the call's deadline.
type RetryPolicy struct {
	// MaxAttempts are tries in all; 1: never again. 0: 4.
	MaxAttempts int
	// FirstDelay is the wait before the second try, doubled before each later one. 0: 20 ms.
	FirstDelay time.Duration
	// MaxDelay is the longest wait. 0: 1 s.
	MaxDelay time.Duration
}

// Options of a connection. The zero value is right for a server on the same machine.
type Options struct {
	// TLS encrypts the connection. Nil: plain, for Unix sockets and trusted networks.
	TLS *tls.Config
	// Token is sent with every call as "authorization: Bearer TOKEN". Empty: none.
	Token string
	// WaitForServer is how long Connect goes on where nobody is there yet. 0: what the first try says is
	// the answer.
	WaitForServer time.Duration
	// CallTimeout is the time of one unary call, retries included, where its context has no deadline. 0: 30 s.
	CallTimeout time.Duration
	// Retry of unary calls.
	Retry RetryPolicy
	// MaxMessageBytes is the largest message that is received. 0: 64 MiB.
	MaxMessageBytes int
	// DialOptions are given to gRPC beside those that the other fields lead to.
	DialOptions []grpc.DialOption
}

func (o *Options) withDefaults() Options {
	options := Options{}
	if o != nil {
		options = *o
	}
	setDefault(&options.CallTimeout, 30*time.Second)
	setDefault(&options.MaxMessageBytes, 64<<20)
	options.Retry = options.Retry.withDefaults()
	return options
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	setDefault(&p.MaxAttempts, 4)
	setDefault(&p.FirstDelay, 20*time.Millisecond)
	setDefault(&p.MaxDelay, time.Second)
	return p
}

func setDefault[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}

// bearer is a token as gRPC's credentials of a call.
type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// A Unix socket needs no encryption, and which connections do is the caller's choice.
func (bearer) RequireTransportSecurity() bool { return false }

func (o Options) dial(address string) (*grpc.ClientConn, error) {
	if address == "" {
		return nil, errorf(codes.InvalidArgument, "address: is empty")
	}
	security := insecure.NewCredentials()
	if o.TLS != nil {
		security = credentials.NewTLS(o.TLS)
	}
	all := []grpc.DialOption{
		grpc.WithTransportCredentials(security),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(o.MaxMessageBytes)),
	}
	if path, isUnix := strings.CutPrefix(address, "unix:"); isUnix {
		// The name that TLS and HTTP/2 speak of; gRPC would make one of the path.
		all = append(all, grpc.WithAuthority("localhost"), grpc.WithContextDialer(dialUnix(path)))
		address = "passthrough:///" + path
	}
	if server, name, isNamed := strings.Cut(address, "@"); isNamed && !strings.HasPrefix(address, "passthrough:") {
		// A server that was found by a name is held to it.
		if _, port, err := net.SplitHostPort(server); err == nil {
			all = append(all, grpc.WithAuthority(net.JoinHostPort(name, port)))
			address = "passthrough:///" + server
		}
	}
	if o.Token != "" {
		all = append(all, grpc.WithPerRPCCredentials(bearer(o.Token)))
	}
	connection, err := grpc.NewClient(address, append(all, o.DialOptions...)...)
	if err != nil {
		return nil, errorf(codes.InvalidArgument, "address %q: %v", address, err)
	}
	return connection, nil
}

func dialUnix(path string) func(context.Context, string) (net.Conn, error) {
	path = strings.TrimPrefix(path, "//")
	return func(ctx context.Context, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
}

// Client is a client of one server. Any number of goroutines may use it at once; its streams live on their
// own.
type Client struct {
	address    string
	options    Options
	connection *grpc.ClientConn
	compile    pb.CompileServiceClient
	tokenizers pb.TokenizerServiceClient
}

// Connect makes a client and asks the server a question, so that whoever has a client has had an answer.
// Addresses are "unix:/run/maskd.sock" (an absolute path), "127.0.0.1:7411" or "dns:///maskd:7411". Nil
// options are the zero value. Errors: InvalidArgument (no address), Unavailable with the system's own words.
func Connect(ctx context.Context, address string, options *Options) (*Client, error) {
	all := options.withDefaults()
	connection, err := all.dial(address)
	if err != nil {
		return nil, err
	}
	client := &Client{
		address:    address,
		options:    all,
		connection: connection,
		compile:    pb.NewCompileServiceClient(connection),
		tokenizers: pb.NewTokenizerServiceClient(connection),
	}
	if err := client.greet(ctx); err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	return client, nil
}

// greet tries again for as long as nobody is there and time is left; a right that lacks stays lacking.
func (c *Client) greet(ctx context.Context) error {
	deadline := time.Now().Add(c.options.WaitForServer)
	for {
		limited, cancel := context.WithTimeout(ctx, max(time.Until(deadline), time.Second))
		_, err := c.tokenizers.GetTokenizer(limited, &pb.GetTokenizerRequest{})
		cancel()
		said := fromCall(err)
		if said == nil {
			return nil
		}
		isFinal := CodeOf(said) != codes.Unavailable || strings.Contains(err.Error(), os.ErrPermission.Error())
		if isFinal || time.Now().After(deadline) {
			return at(c.address, said)
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return at(c.address, said)
		}
		c.connection.ResetConnectBackoff()
	}
}

// at says which server an error is of.
func at(address string, err error) error {
	var own *Error
	if !errors.As(err, &own) {
		return err
	}
	named := *own
	named.Message = address + ": " + own.Message
	return &named
}

func sleep(ctx context.Context, howLong time.Duration) error {
	timer := time.NewTimer(howLong)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fromCall(ctx.Err())
	}
}

// Close ends the client's own connection. Streams go on.
func (c *Client) Close() error { return c.connection.Close() }

// call is one unary call with its retries.
func call[Request, Response any](ctx context.Context, c *Client, request *Request,
	method func(context.Context, *Request, ...grpc.CallOption) (*Response, error)) (*Response, error) {
	if _, isBounded := ctx.Deadline(); !isBounded {
		limited, cancel := context.WithTimeout(ctx, c.options.CallTimeout)
		defer cancel()
		ctx = limited
	}
	delay := c.options.Retry.FirstDelay
	for tries := 1; ; tries++ {
		response, err := method(ctx, request)
		said := fromCall(err)
		if said == nil {
			return response, nil
		}
		wait, again := waitBefore(said, delay)
		deadline, _ := ctx.Deadline()
		if !again || tries >= c.options.Retry.MaxAttempts || time.Now().Add(wait).After(deadline) {
			return nil, said
		}
		if sleep(ctx, wait) != nil {
			return nil, said
		}
		delay = min(2*delay, c.options.Retry.MaxDelay)
	}
}

// waitBefore says whether a call may be tried again, and when.
func waitBefore(err error, delay time.Duration) (time.Duration, bool) {
	var own *Error
	if !errors.As(err, &own) {
		return 0, false
	}
	if own.RetryAfter > 0 {
		return own.RetryAfter, true
	}
	return jittered(delay), own.Code == codes.Unavailable
}

// jittered is between half and all of a delay, so that many callers do not come back at once.
func jittered(delay time.Duration) time.Duration {
	return time.Duration((0.5 + rand.Float64()/2) * float64(delay))
}

// Compile compiles a grammar against the server's default tokenizer, or finds it in the cache.
func (c *Client) Compile(ctx context.Context, target Target) (*pb.CompileResponse, error) {
	return c.CompileFor(ctx, "", target)
}

// CompileFor is Compile for a tokenizer by its name.
func (c *Client) CompileFor(ctx context.Context, tokenizer string,
	target Target) (*pb.CompileResponse, error) {
	request := &pb.CompileRequest{Tokenizer: tokenizer}
	target.setOnCompile(request)
	return call(ctx, c, request, c.compile.Compile)
}

// Check runs a text through a grammar. What the grammar refuses is an answer, not an error.
func (c *Client) Check(ctx context.Context, target Target, text string) (*pb.CheckResponse, error) {
	request := &pb.CheckRequest{Input: &pb.CheckRequest_Text{Text: text}}
	target.setOnCheck(request)
	return c.CheckRequest(ctx, request)
}

// CheckRequest is Check of a request that the caller has filled: raw bytes, tokens, a tokenizer by name.
func (c *Client) CheckRequest(ctx context.Context, request *pb.CheckRequest) (*pb.CheckResponse, error) {
	return call(ctx, c, request, c.compile.Check)
}

// Explain says what the compiler understood of a grammar.
func (c *Client) Explain(ctx context.Context, target Target) (*pb.ExplainResponse, error) {
	request := &pb.ExplainRequest{}
	target.setOnExplain(request)
	return call(ctx, c, request, c.compile.Explain)
}

// ListTokenizers gives all vocabularies, the default first.
func (c *Client) ListTokenizers(ctx context.Context) ([]*pb.Tokenizer, error) {
	var all []*pb.Tokenizer
	request := &pb.ListTokenizersRequest{}
	for {
		page, err := call(ctx, c, request, c.tokenizers.ListTokenizers)
		if err != nil {
			return nil, err
		}
		all = append(all, page.GetTokenizers()...)
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return all, nil
		}
	}
}

// Tokenizer gives one vocabulary by its name; an empty name is the server's default.
func (c *Client) Tokenizer(ctx context.Context, name string) (*pb.Tokenizer, error) {
	request := &pb.GetTokenizerRequest{Name: name}
	response, err := call(ctx, c, request, c.tokenizers.GetTokenizer)
	return response.GetTokenizer(), err
}

// ListTokens gives every token in order of id.
func (c *Client) ListTokens(ctx context.Context, tokenizer string) ([]*pb.Token, error) {
	var all []*pb.Token
	request := &pb.ListTokensRequest{Tokenizer: tokenizer}
	for {
		page, err := call(ctx, c, request, c.tokenizers.ListTokens)
		if err != nil {
			return nil, err
		}
		all = append(all, page.GetTokens()...)
		if page.NextId == nil {
			return all, nil
		}
		if int(page.GetNextId()) != len(all) {
			return nil, errorf(codes.Internal, "the server's pages of tokens do not follow each other")
		}
		request.FirstId = page.GetNextId()
	}
}

// OpenStream opens a decode stream, on a connection of its own so that no other call's bytes delay a step,
// and says hello. Errors: those of MaskService.Decode, Unavailable, DeadlineExceeded.
func (c *Client) OpenStream(ctx context.Context, options StreamOptions) (*Stream, error) {
	return openStream(ctx, c.address, c.options, options)
}

var _ io.Closer = (*Client)(nil)
