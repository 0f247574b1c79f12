package maskd

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "maskd.io/maskd/maskdv1"
)

func (f *FailoverStream) checkVocabulary(welcome *pb.Welcome) error {
	here := welcome.GetTokenizer()
	if f.vocabulary == nil {
		if here.GetHash() != "" {
			f.vocabulary = here
		}
		return nil
	}
	if here.GetHash() == f.vocabulary.GetHash() && here.GetVocabSize() == f.vocabulary.GetVocabSize() {
		return nil
	}
	return errorf(codes.FailedPrecondition,
		"%s: its tokenizer %q has %d tokens and the hash %s; the stream's has %d tokens and the hash %s",
		f.Address(), here.GetName(), here.GetVocabSize(), here.GetHash(), f.vocabulary.GetVocabSize(),
		f.vocabulary.GetHash())
}

func (f *FailoverStream) settle(ctx context.Context, stream *Stream) error {
	if err := f.checkVocabulary(stream.Welcome()); err != nil {
		return err
	}
	f.ledger.format = stream.Welcome().GetGrammarFormat()
	if err := f.replay(ctx, stream); err != nil {
		return err
	}
	for i, sent := range f.live() {
		if i == 0 {
			continue // went with the replay
		}
		if _, err := stream.submit(sent.step); err != nil {
			return err
		}
	}
	return nil
}

// replay opens the rows and sends the oldest unanswered step, if there is one. The replay's reply is dropped:
// what it says has been said of each row. A row that cannot go on here speaks against this server.
func (f *FailoverStream) replay(ctx context.Context, stream *Stream) error {
	oldest := &pb.Step{}
	for i, sent := range f.live() {
		f.ledger.writeTexts(sent.step)
		f.ledger.dropCloses(sent.step)
		if i == 0 {
			oldest = proto.CloneOf(sent.step) // another server may have to open other rows in it
		}
	}
	replay := NewStep().WaitForCompile(f.options.CompileTimeout)
	f.ledger.writeOpens(&replay.message, oldest)
	if _, err := stream.Submit(replay); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, f.options.CompileTimeout+f.options.StepTimeout)
	defer cancel()
	replayed, err := stream.Collect(limited)
	if err != nil {
		return err
	}
	if err := f.ledger.applyReplay(replayed.Rows); err != nil {
		return at(f.Address(), err)
	}
	if len(f.live()) == 0 {
		return nil
	}
	_, err = stream.submit(oldest)
	return err
}
