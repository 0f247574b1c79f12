package maskd

import (
	"encoding/binary"
	"math"

	"google.golang.org/grpc/codes"

	pb "maskd.io/maskd/maskdv1"
)

// maskReader reads the masks of a stream's replies, in every row form, and keeps the stream's dictionary.
// Every reply passes through it, in order. Nothing that a server sends is trusted: ids, slots and indices
// are checked before they are used; what is not as the protocol says is codes.Internal.
type maskReader struct {
	wordCount  int
	vocabSize  int
	dictionary []*Mask // nil: nothing put there yet
}

func newMaskReader(welcome *pb.Welcome) *maskReader {
	return &maskReader{
		wordCount:  int(welcome.GetMaskWords()),
		vocabSize:  int(welcome.GetTokenizer().GetVocabSize()),
		dictionary: make([]*Mask, welcome.GetDictionarySize()),
	}
}

// read turns a position into a mask that does not point into the message's memory.
func (r *maskReader) read(position *pb.Position) (Mask, error) {
	mask, err := r.readForm(position)
	if err != nil {
		return Mask{}, err
	}
	mask.vocabSize, mask.wordCount = r.vocabSize, r.wordCount
	if position.DictionarySlot != nil {
		if err := r.put(position.GetDictionarySlot(), mask); err != nil {
			return Mask{}, err
		}
	}
	if position.Temperature != nil || len(position.Biases) > 0 {
		err = r.readTuning(position, &mask)
	}
	return mask, err
}

func (r *maskReader) readForm(position *pb.Position) (Mask, error) {
	switch form := position.GetForm().(type) {
	case *pb.Position_Full:
		return Mask{form: FormFull}, nil
	case *pb.Position_Invalid:
		return Mask{form: FormInvalid}, nil
	case *pb.Position_Dense:
		return r.readDense(form.Dense)
	case *pb.Position_SameAs:
		found, err := r.find(form.SameAs)
		if err != nil {
			return Mask{}, err
		}
		return *found, nil
	case *pb.Position_AllowedIds:
		return r.readIDs(FormAllowedIDs, form.AllowedIds.GetIds())
	case *pb.Position_ForbiddenIds:
		return r.readIDs(FormForbiddenIDs, form.ForbiddenIds.GetIds())
	case *pb.Position_Delta:
		return r.readDelta(form.Delta)
	default:
		return Mask{}, errorf(codes.Internal, "a position of a form that was not offered to the server")
	}
}

func (r *maskReader) readDense(dense []byte) (Mask, error) {
	if len(dense) != 4*r.wordCount {
		return Mask{}, errorf(codes.Internal, "a mask of %d bytes where %d words are due", len(dense),
			r.wordCount)
	}
	words := make([]uint32, r.wordCount)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(dense[4*i:])
	}
	return Mask{form: FormDense, words: words}, nil
}

func (r *maskReader) readIDs(form Form, ids []int32) (Mask, error) {
	before := int32(-1)
	for _, id := range ids {
		if id <= before || int(id) >= r.vocabSize {
			return Mask{}, errorf(codes.Internal,
				"id %d in a list for %d tokens does not ascend or is none of them", id, r.vocabSize)
		}
		before = id
	}
	return Mask{form: form, ids: ids}, nil
}

func (r *maskReader) readDelta(delta *pb.MaskDelta) (Mask, error) {
	base, err := r.find(delta.GetBase())
	if err != nil {
		return Mask{}, err
	}
	indices, changed := delta.GetWordIndices(), delta.GetWords()
	if len(indices) != len(changed) {
		return Mask{}, errorf(codes.Internal, "a delta of %d indices and %d words", len(indices),
			len(changed))
	}
	words := make([]uint32, r.wordCount)
	if err := base.CopyTo(words); err != nil {
		return Mask{}, err
	}
	for i, index := range indices {
		if int64(index) >= int64(len(words)) {
			return Mask{}, errorf(codes.Internal, "a delta changes word %d of %d", index, len(words))
		}
		words[index] = changed[i]
	}
	return Mask{form: FormDense, words: words}, nil
}

func (r *maskReader) find(slot uint32) (*Mask, error) {
	if int64(slot) >= int64(len(r.dictionary)) || r.dictionary[slot] == nil {
		return nil, errorf(codes.Internal, "slot %d of a dictionary of %d holds no mask", slot,
			len(r.dictionary))
	}
	return r.dictionary[slot], nil
}

// put keeps a mask as words: a list that comes again and again is expanded once.
func (r *maskReader) put(slot uint32, mask Mask) error {
	if int64(slot) >= int64(len(r.dictionary)) || mask.Full() || mask.Invalid() {
		return errorf(codes.Internal, "slot %d of a dictionary of %d cannot hold what it is told", slot,
			len(r.dictionary))
	}
	mask.words = mask.Words()
	mask.temperature, mask.biases = nil, nil
	r.dictionary[slot] = &mask
	return nil
}

func (r *maskReader) readTuning(position *pb.Position, mask *Mask) error {
	if value := position.Temperature; value != nil {
		if !isFinite(*value) || *value < 0 {
			return errorf(codes.Internal, "a temperature of %g", *value)
		}
		mask.temperature = value
	}
	before := int32(-1)
	for _, bias := range position.GetBiases() {
		if bias.GetId() <= before || int(bias.GetId()) >= r.vocabSize || !isFinite(bias.GetBias()) {
			return errorf(codes.Internal,
				"a bias of %g for token %d is not finite, or its token none of %d in ascending order",
				bias.GetBias(), bias.GetId(), r.vocabSize)
		}
		before = bias.GetId()
	}
	mask.biases = position.GetBiases()
	return nil
}

func isFinite(value float32) bool {
	return !math.IsNaN(float64(value)) && !math.IsInf(float64(value), 0)
}
