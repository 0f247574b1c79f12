package maskd

import (
	"google.golang.org/grpc/codes"

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
