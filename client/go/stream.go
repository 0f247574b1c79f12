package maskd

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "maskd.io/maskd/maskdv1"
)

// MaxInFlight steps of a stream may be on their way at once.
const MaxInFlight = 64

const (
	protocolVersion   = 1
	defaultDictionary = 256
	// How long a step may wait for the one before it to leave. Only a server that has stopped reading makes
	// it wait.
	writeTimeout = 10 * time.Second
)

// StreamOptions says what a stream is for.
type StreamOptions struct {
	// Tokenizer by its name. Empty: the server's default.
	Tokenizer string
	// TokenizerHash that it must have; FailedPrecondition where it differs. Empty: any.
	TokenizerHash string
	// LogitsWidth is the tokens in a row of logits, at least the tokenizer's size.
	LogitsWidth uint32
	// DenseOnly has every mask come as words.
	DenseOnly bool
	// DictionarySize is how many masks are kept for the forms that refer to others; 0: 256.
	DictionarySize uint32
	// WantTemperature and WantBias have positions carry them.
	WantTemperature, WantBias bool
	// FirstStep is the number of the first step. 0: 1.
	FirstStep uint64
	// OpenTimeout is how long the server may take to say welcome. 0: 10 s.
	OpenTimeout time.Duration
}

// hello is what the stream begins with.
func (o StreamOptions) hello() *pb.Hello {
	hello := &pb.Hello{
		ProtocolVersion: protocolVersion,
		Tokenizer:       o.Tokenizer,
		TokenizerHash:   o.TokenizerHash,
		LogitsWidth:     o.LogitsWidth,
		WantTemperature: o.WantTemperature,
		WantBias:        o.WantBias,
	}
	if !o.DenseOnly {
		hello.RowForms = []pb.RowForm{pb.RowForm_ROW_FORM_SAME_AS, pb.RowForm_ROW_FORM_ALLOWED_IDS,
			pb.RowForm_ROW_FORM_FORBIDDEN_IDS, pb.RowForm_ROW_FORM_DELTA}
		hello.DictionarySize = o.DictionarySize
		setDefault(&hello.DictionarySize, defaultDictionary)
	}
	return hello
}

// checkWelcome holds the welcome to the hello: masks are made as large as it says.
func checkWelcome(hello *pb.Hello, welcome *pb.Welcome) error {
	width, size := int64(hello.GetLogitsWidth()), int64(welcome.GetTokenizer().GetVocabSize())
	if size >= 0 && size <= width && int64(welcome.GetMaskWords()) == (width+31)/32 &&
		welcome.GetDictionarySize() <= hello.GetDictionarySize() {
		return nil
	}
	return errorf(codes.Internal,
		"the server's welcome is not for %d logits and %d masks: %d tokens, %d words, %d masks", width,
		hello.GetDictionarySize(), size, welcome.GetMaskWords(), welcome.GetDictionarySize())
}

// Stream is a decode stream: one message a step goes out, one comes back, in order. Up to MaxInFlight steps
// may be submitted before the first is collected. An error of Submit or Collect is the stream's end, each
// later call gives it again; but DeadlineExceeded and Canceled of Collect are not final: the reply may still
// be collected. For one goroutine at a time. A goroutine of the stream's own reads replies as they come.
type Stream struct {
	connection *grpc.ClientConn
	call       pb.MaskService_DecodeClient
	cancel     context.CancelFunc
	welcome    *pb.Welcome
	masks      *maskReader

	request  pb.DecodeRequest
	next     uint64
	inFlight []uint64

	replies chan *Result  // closed at the end
	ended   chan struct{} // closed before, once `end` is set
	end     error
	goAway  atomic.Pointer[pb.GoAway]
}

func openStream(ctx context.Context, address string, connect Options, options StreamOptions) (*Stream, error) {
	connection, err := connect.dial(address)
	if err != nil {
		return nil, err
	}
	// The call outlives the caller's context, which is for the opening.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stream := &Stream{connection: connection, cancel: cancel, next: max(options.FirstStep, 1),
		replies: make(chan *Result, MaxInFlight), ended: make(chan struct{})}
	setDefault(&options.OpenTimeout, 10*time.Second)
	limited, done := context.WithTimeout(ctx, options.OpenTimeout)
	defer done()
	stop := context.AfterFunc(limited, cancel)
	err = stream.sayHello(life, options.hello())
	if !stop() && err != nil {
		err = fromCall(limited.Err())
	}
	if err != nil {
		cancel()
		_ = connection.Close()
		return nil, at(address, err)
	}
	go stream.receive()
	return stream, nil
}

func (s *Stream) sayHello(ctx context.Context, hello *pb.Hello) error {
	call, err := pb.NewMaskServiceClient(s.connection).Decode(ctx)
	if err != nil {
		return fromCall(err)
	}
	s.call = call
	request := &pb.DecodeRequest{Message: &pb.DecodeRequest_Hello{Hello: hello}}
	if err := call.Send(request); err != nil && err != io.EOF {
		return fromCall(err)
	}
	response, err := call.Recv()
	if err == io.EOF {
		return errorf(codes.Internal, "the server ended the stream without a welcome")
	}
	if err != nil {
		return fromCall(err)
	}
	if s.welcome = response.GetWelcome(); s.welcome == nil {
		return errorf(codes.Internal, "the server said something else than welcome")
	}
	s.masks = newMaskReader(s.welcome)
	return checkWelcome(hello, s.welcome)
}

// receive reads what the server says until it ends.
func (s *Stream) receive() {
	defer close(s.replies)
	defer close(s.ended)
	for {
		response, err := s.call.Recv()
		if err != nil {
			s.end = endOf(err)
			return
		}
		switch message := response.GetMessage().(type) {
		case *pb.DecodeResponse_GoAway:
			s.goAway.Store(message.GoAway)
		case *pb.DecodeResponse_Step:
			result, err := readReply(message.Step, s.masks)
			if err != nil {
				s.end = err
				s.cancel()
				return
			}
			select {
			case s.replies <- result:
			case <-s.call.Context().Done():
			}
		default:
			s.end = errorf(codes.Internal, "the server sent what nobody asked for")
			s.cancel()
			return
		}
	}
}

// errServerEnded is the end of a stream that its server ended without an error.
var errServerEnded = errorf(codes.Unavailable, "the server ended the stream")

func endOf(err error) error {
	if err == io.EOF {
		return errServerEnded
	}
	return fromCall(err)
}

// Welcome is the server's terms: tokenizer, words of a mask, limits.
func (s *Stream) Welcome() *pb.Welcome { return s.welcome }

// InFlight is how many steps are submitted and not collected.
func (s *Stream) InFlight() int { return len(s.inFlight) }

// GoAway is set once the server has said that it will stop: move the rows to another one. Else nil.
func (s *Stream) GoAway() *pb.GoAway { return s.goAway.Load() }

// Submit sends the step and gives its number, which its reply bears. The step may be cleared and reused at
// once. Errors: FailedPrecondition (too many in flight), ResourceExhausted (larger than the server takes; the
// stream goes on), the stream's end.
func (s *Stream) Submit(step *Step) (uint64, error) {
	if len(s.inFlight) >= MaxInFlight {
		return 0, errorf(codes.FailedPrecondition, "%d steps are in flight: collect first", MaxInFlight)
	}
	return s.submit(&step.message)
}

func (s *Stream) submit(step *pb.Step) (uint64, error) {
	step.Step = s.next
	if s.request.Message == nil {
		s.request.Message = &pb.DecodeRequest_Step{}
	}
	s.request.Message.(*pb.DecodeRequest_Step).Step = step
	if err := checkSize(s.welcome, &s.request); err != nil {
		return 0, err
	}
	timer := time.AfterFunc(writeTimeout, s.cancel)
	err := s.call.Send(&s.request)
	timer.Stop()
	if err != nil {
		s.cancel()
		<-s.ended
		return 0, s.end
	}
	s.inFlight = append(s.inFlight, s.next)
	s.next++
	return s.next - 1, nil
}

func checkSize(welcome *pb.Welcome, request *pb.DecodeRequest) error {
	limit := welcome.GetLimits().GetMaxStepBytes()
	if limit == 0 {
		return nil
	}
	if size := uint64(proto.Size(request)); size > limit {
		return errorf(codes.ResourceExhausted, "step: limit max_step_bytes is %d, %d needed", limit, size)
	}
	return nil
}

// Collect waits for the reply to the oldest step that is in flight. Errors: FailedPrecondition (none is),
// DeadlineExceeded and Canceled (of the context; try again), Internal (the server broke the protocol), the
// stream's end.
func (s *Stream) Collect(ctx context.Context) (*Result, error) {
	if len(s.inFlight) == 0 {
		return nil, errorf(codes.FailedPrecondition, "no step is in flight")
	}
	select {
	case result, open := <-s.replies:
		return s.collected(result, open)
	case <-ctx.Done():
		return nil, fromCall(ctx.Err())
	}
}

func (s *Stream) collected(result *Result, open bool) (*Result, error) {
	if !open {
		return nil, s.end
	}
	if due := s.inFlight[0]; result.Step != due {
		return nil, errorf(codes.Internal, "the reply to step %d was due, not %d", due, result.Step)
	}
	s.inFlight = append(s.inFlight[:0], s.inFlight[1:]...)
	return result, nil
}

// Close says goodbye and waits for the stream's end; replies in flight are dropped. Nil unless the server
// ended the stream with an error, or has not ended it when the context does.
func (s *Stream) Close(ctx context.Context) error {
	defer s.abandon()
	s.inFlight = nil
	if err := s.call.CloseSend(); err != nil {
		return fromCall(err)
	}
	for {
		select {
		case _, open := <-s.replies:
			if open {
				continue
			}
			if s.end == error(errServerEnded) {
				return nil
			}
			return s.end
		case <-ctx.Done():
			return fromCall(ctx.Err())
		}
	}
}

// abandon lets the call and its connection go.
func (s *Stream) abandon() {
	s.cancel()
	_ = s.connection.Close()
}
